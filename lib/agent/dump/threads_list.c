// SPDX-License-Identifier: MIT
/*
 * threads_list.c - which threads there are, platform and virtual (threads.h).
 *
 * The VM keeps no list of virtual threads; their containers do: the root's for those that were started one
 * by one, others for executors and scopes.
 *
 * Source: JDK 21+ jdk.internal.vm.ThreadContainers, ThreadContainer.
 */
#include "agent/dump/threads.h"
#include "agent/sys.h"

enum { MAX_NESTING = 32 };

bool threads_threw(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return false;
	(*env)->ExceptionClear(env);
	return true;
}

jclass threads_find_class(JNIEnv *env, const char *name)
{
	jclass cls = (*env)->FindClass(env, name);

	threads_threw(env);
	return cls;
}

jfieldID threads_find_field(JNIEnv *env, jclass cls, const char *name, const char *sig)
{
	jfieldID f = cls ? (*env)->GetFieldID(env, cls, name, sig) : NULL;

	threads_threw(env);
	return f;
}

static jint threads_list_constant(JNIEnv *env, jclass cls, const char *name)
{
	jfieldID f = (*env)->GetStaticFieldID(env, cls, name, "I");

	return threads_threw(env) ? -1 : (*env)->GetStaticIntField(env, cls, f);
}

/* Find the field of a platform thread's status, which has the bits of JVMTI's. */
static void find_status(struct threads_class *c)
{
	jclass holder = threads_find_class(c->env, "java/lang/Thread$FieldHolder");

	c->holder = holder ? threads_find_field(c->env, c->thread, "holder", "Ljava/lang/Thread$FieldHolder;") :
		    NULL;
	c->status = threads_find_field(c->env, c->holder ? holder : c->thread, "threadStatus", "I");
}

static uint32_t status_of(const struct threads_class *c, jthread t)
{
	jobject holder = c->holder ? (*c->env)->GetObjectField(c->env, t, c->holder) : NULL;
	uint32_t status = 0;

	if (holder || !c->holder)
		status = (*c->env)->GetIntField(c->env, holder ? holder : t, c->status);
	(*c->env)->DeleteLocalRef(c->env, holder);
	return status;
}

static void find_virtual_state(struct threads_class *c)
{
	jclass cls = c->virtual ? threads_find_class(c->env, "java/lang/VirtualThread") : NULL;

	c->state = NULL;
	if (!cls)
		return;
	c->parked = threads_list_constant(c->env, cls, "PARKED");
	c->pinned = threads_list_constant(c->env, cls, "PINNED");
	c->blocked = threads_list_constant(c->env, cls, "BLOCKED");
	if (c->blocked >= 0)
		c->state = threads_find_field(c->env, cls, "state", "I");
}

/* The state is read from the object: JVMTI takes 20 us for it, and holds virtual threads up meanwhile. */
uint32_t threads_waiting(const struct threads_class *c, jthread t)
{
	jint state;

	if (!c->virtual || !(*c->env)->IsInstanceOf(c->env, t, c->virtual))
		return status_of(c, t);
	state = c->state ? (*c->env)->GetIntField(c->env, t, c->state) : -1;
	if (state < 0)
		return 0;
	return state == c->blocked ? JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER :
	       state == c->parked || state == c->pinned ? JVMTI_THREAD_STATE_PARKED : 0;
}

bool threads_class_find(struct threads_class *c, jvmtiEnv *ti, JNIEnv *env)
{
	c->env = env;
	c->ti = ti;
	c->thread = threads_find_class(env, "java/lang/Thread");
	c->virtual = threads_find_class(env, "java/lang/BaseVirtualThread");
	c->carrier = threads_find_class(env, "jdk/internal/misc/CarrierThread");
	c->ownable = threads_find_class(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
	c->id = threads_find_field(env, c->thread, "tid", "J");
	c->eetop = threads_find_field(env, c->thread, "eetop", "J");
	c->blocker = threads_find_field(env, c->thread, "parkBlocker", "Ljava/lang/Object;");
	c->owner = threads_find_field(env, c->ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
	find_status(c);
	find_virtual_state(c);
	return c->status && c->id && c->eetop && c->blocker && c->owner;
}

/* Return the id of the thread in the field; 0: NULL. */
static uint64_t id_in(const struct threads_class *c, jobject o, jfieldID field)
{
	jobject t = (*c->env)->GetObjectField(c->env, o, field);
	uint64_t id = t ? (*c->env)->GetLongField(c->env, t, c->id) : 0;

	(*c->env)->DeleteLocalRef(c->env, t);
	return id;
}

/* Return whether that thread was the last to take the lock for reading, and still has it. */
static bool reads_last(const struct threads_class *c, jclass cls, jobject sync, uint64_t self)
{
	static const char name[] = "java/util/concurrent/locks/ReentrantReadWriteLock$Sync$HoldCounter";
	static const char sig[] = "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync$HoldCounter;";
	JNIEnv *env = c->env;
	jfieldID last = threads_find_field(env, cls, "cachedHoldCounter", sig);
	jclass counter = last ? threads_find_class(env, name) : NULL;
	jfieldID count = threads_find_field(env, counter, "count", "I");
	jfieldID tid = threads_find_field(env, counter, "tid", "J");
	jobject held = count && tid ? (*env)->GetObjectField(env, sync, last) : NULL;
	bool is = held && (*env)->GetIntField(env, held, count) > 0 &&
		  (uint64_t)(*env)->GetLongField(env, held, tid) == self;

	(*env)->DeleteLocalRef(env, held);
	(*env)->DeleteLocalRef(env, counter);
	return is;
}

/* Return a reader of a lock without a writer; other synchronizers have none. */
static uint64_t reader_of(const struct threads_class *c, jobject sync, uint64_t self)
{
	JNIEnv *env = c->env;
	jclass cls = threads_find_class(env, "java/util/concurrent/locks/ReentrantReadWriteLock$Sync");
	jfieldID first;
	uint64_t id = 0;

	if (cls && (*env)->IsInstanceOf(env, sync, cls)) {
		first = threads_find_field(env, cls, "firstReader", "Ljava/lang/Thread;");
		id = first ? id_in(c, sync, first) : 0;
		if (id != self && reads_last(c, cls, sync, self))
			id = self;
	}
	(*env)->DeleteLocalRef(env, cls);
	return id;
}

uint64_t threads_park_owner(const struct threads_class *c, jobject blocker, uint64_t self)
{
	uint64_t id;

	if (!blocker || !(*c->env)->IsInstanceOf(c->env, blocker, c->ownable))
		return 0;
	id = id_in(c, blocker, c->owner);
	return id ? id : reader_of(c, blocker, self);
}

static bool make_room(const struct threads_class *c, struct threads_list *l, size_t more)
{
	struct threads_list new = *l;

	if (l->nr + more <= l->room)
		return true;
	new.room = l->room + l->room / 2 + more;
	if ((*c->ti)->Allocate(c->ti, new.room * sizeof(*l->threads), (void *)&new.threads))
		return false;
	if ((*c->ti)->Allocate(c->ti, new.room * sizeof(*l->ids), (void *)&new.ids)) {
		(*c->ti)->Deallocate(c->ti, (void *)new.threads);
		return false;
	}
	memcpy(new.threads, l->threads, l->nr * sizeof(*l->threads));
	memcpy(new.ids, l->ids, l->nr * sizeof(*l->ids));
	(*c->ti)->Deallocate(c->ti, (void *)l->threads);
	(*c->ti)->Deallocate(c->ti, (void *)l->ids);
	*l = new;
	return true;
}

/* Add a thread; takes over the reference. */
static void threads_list_add(const struct threads_class *c, struct threads_list *l, jthread t)
{
	l->threads[l->nr] = t;
	l->ids[l->nr++] = (*c->env)->GetLongField(c->env, t, c->id);
}

bool threads_list_platform(const struct threads_class *c, struct threads_list *l)
{
	jthread *all;
	jint i, nr;
	bool ok;

	if ((*c->ti)->GetAllThreads(c->ti, &nr, &all))
		return false;
	ok = make_room(c, l, nr);
	for (i = 0; i < nr; i++) {
		if (ok)
			threads_list_add(c, l, all[i]);
		else
			(*c->env)->DeleteLocalRef(c->env, all[i]);
	}
	(*c->ti)->Deallocate(c->ti, (void *)all);
	return ok;
}

/* --- virtual threads --- */

struct containers {
	const struct threads_class *c;
	struct threads_list *l;
	jmethodID threads, children, to_array;
};

/* Return the array from that method of a container; NULL if it threw. */
static jobjectArray list_of(const struct containers *k, jobject container, jmethodID which)
{
	JNIEnv *env = k->c->env;
	jobject stream = (*env)->CallObjectMethod(env, container, which);
	jobject array = NULL;

	if (!threads_threw(env) && stream)
		array = (*env)->CallObjectMethod(env, stream, k->to_array);
	threads_threw(env);
	(*env)->DeleteLocalRef(env, stream);
	return array;
}

static bool add_virtual(const struct containers *k, jobjectArray array)
{
	JNIEnv *env = k->c->env;
	jint i, nr = (*env)->GetArrayLength(env, array);

	if (!make_room(k->c, k->l, nr))
		return false;
	for (i = 0; i < nr; i++) {
		jobject t = (*env)->GetObjectArrayElement(env, array, i);

		if (t && (*env)->IsInstanceOf(env, t, k->c->virtual))
			threads_list_add(k->c, k->l, t);
		else
			(*env)->DeleteLocalRef(env, t);
	}
	return true;
}

/* Add the threads of a container and of those in it. */
static bool threads_list_walk(const struct containers *k, jobject container, int depth)
{
	JNIEnv *env = k->c->env;
	jobjectArray array = list_of(k, container, k->threads);
	bool ok = array && add_virtual(k, array);
	jint i, nr;

	(*env)->DeleteLocalRef(env, array);
	if (!ok || depth >= MAX_NESTING)
		return ok;
	array = list_of(k, container, k->children);
	nr = array ? (*env)->GetArrayLength(env, array) : 0;
	for (i = 0; i < nr && ok; i++) {
		jobject child = (*env)->GetObjectArrayElement(env, array, i);

		ok = !child || threads_list_walk(k, child, depth + 1);
		(*env)->DeleteLocalRef(env, child);
	}
	(*env)->DeleteLocalRef(env, array);
	return ok;
}

static jobject root_container(JNIEnv *env, jclass containers, bool *tracked)
{
	jmethodID root = (*env)->GetStaticMethodID(env, containers, "root",
						   "()Ljdk/internal/vm/ThreadContainer;");
	jmethodID all = root ? (*env)->GetStaticMethodID(env, containers, "trackAllThreads", "()Z") : NULL;
	jobject r = NULL;

	if (!threads_threw(env))
		r = (*env)->CallStaticObjectMethod(env, containers, root);
	if (r && !threads_threw(env))
		*tracked = (*env)->CallStaticBooleanMethod(env, containers, all);
	return threads_threw(env) ? NULL : r;
}

bool threads_list_virtual(const struct threads_class *c, struct threads_list *l)
{
	JNIEnv *env = c->env;
	jclass containers = c->virtual ? threads_find_class(env, "jdk/internal/vm/ThreadContainers") : NULL;
	jclass container = containers ? threads_find_class(env, "jdk/internal/vm/ThreadContainer") : NULL;
	jclass stream = container ? threads_find_class(env, "java/util/stream/Stream") : NULL;
	struct containers k = { c, l };
	bool tracked = false, ok = true;
	jobject root;

	if (!stream)
		return true;
	k.threads = (*env)->GetMethodID(env, container, "threads", "()Ljava/util/stream/Stream;");
	if (k.threads)
		k.children = (*env)->GetMethodID(env, container, "children", "()Ljava/util/stream/Stream;");
	if (k.children)
		k.to_array = (*env)->GetMethodID(env, stream, "toArray", "()[Ljava/lang/Object;");
	if (!threads_threw(env) && (root = root_container(env, containers, &tracked)))
		ok = threads_list_walk(&k, root, 0);
	l->untracked = !tracked;
	return ok;
}

void threads_list_release(const struct threads_class *c, struct threads_list *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		(*c->env)->DeleteLocalRef(c->env, l->threads[i]);
	(*c->ti)->Deallocate(c->ti, (void *)l->threads);
	(*c->ti)->Deallocate(c->ti, (void *)l->ids);
	*l = (struct threads_list){ 0 };
}
