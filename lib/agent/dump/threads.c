// SPDX-License-Identifier: MIT
/*
 * threads.c - looks at threads and writes what was seen (threads.h).
 *
 * Where each thread is of a moment of its own, what waits for a lock is looked at again, four times, a while
 * later: edges that stay the same are those of a deadlock (jvm/deadlock.h).
 *
 * Source: JDK 25 jdk.internal.vm.ThreadSnapshot and share/services/threadService.cpp; before,
 * sun.management.ThreadImpl.dumpThreads0() and java.lang.management.ThreadInfo.
 */
#include <errno.h>

#include "agent/dump/threads.h"
#include "agent/hotspot/vm.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "base/mix.h"
#include "jvm/encode.h"

enum { NR_ROUNDS = 4, ROUND_MS = 40, MAX_CHARS = JVM_MAX_STRING / 3, MANY = 0x7fffffff };

/* BlockerLockType and OwnedLockType, in their order. */
enum { BY_PARKING, BY_ENTERING, BY_WAITING };
enum { OWNED_LOCKED };

/* Classes and fields of the pictures; those of the other kind are NULL. */
struct view {
	bool atomic;			/* ThreadInfo, else ThreadSnapshot */
	jclass cls;
	jmethodID take;
	jfieldID frames, locks;
	jfieldID status, carrier, blocked_by, blocker, lock_type, lock_object;
	jfieldID state, ordinal, lock, lock_owner, lock_class, lock_hash;
	jfieldID lock_depth;
	jfieldID frame_class, frame_method, frame_file, frame_line;
};

/* a monitor that a thread holds, found by its identity hash */
struct held {
	uint32_t hash, thread, lock;	/* thread: its index in the look, plus 1; 0: a free place */
};

struct look {
	const struct threads_class *c;
	const struct view *v;
	const jthread *threads;
	const uint64_t *ids;
	size_t nr;
	jobject *pictures;		/* NULL: it has ended */
	struct held *held;
	size_t held_mask;
	bool itself;			/* a thread waits for what it has */
};

/* what a thread waits for */
struct wait {
	uint32_t role;			/* enum jvm_dump_role; 0: nothing */
	uint32_t hash;
	uint64_t owner;
	jobject object;			/* local; NULL where only its hash is known */
	jobject info;			/* a LockInfo; NULL where the object is known */
};

/* --- names --- */

static bool find_frames(JNIEnv *env, struct view *v)
{
	jclass f = threads_find_class(env, "java/lang/StackTraceElement");

	v->frame_class = threads_find_field(env, f, "declaringClass", "Ljava/lang/String;");
	v->frame_method = threads_find_field(env, f, "methodName", "Ljava/lang/String;");
	v->frame_file = threads_find_field(env, f, "fileName", "Ljava/lang/String;");
	v->frame_line = threads_find_field(env, f, "lineNumber", "I");
	return v->frame_class && v->frame_method && v->frame_file && v->frame_line;
}

static bool find_snapshot(JNIEnv *env, struct view *v)
{
	jclass s = threads_find_class(env, "jdk/internal/vm/ThreadSnapshot");
	jclass l = s ? threads_find_class(env, "jdk/internal/vm/ThreadSnapshot$ThreadLock") : NULL;

	if (!l)
		return false;
	v->cls = s;
	v->take = (*env)->GetStaticMethodID(env, s, "create",
					    "(Ljava/lang/Thread;)Ljdk/internal/vm/ThreadSnapshot;");
	threads_threw(env);
	v->frames = threads_find_field(env, s, "stackTrace", "[Ljava/lang/StackTraceElement;");
	v->locks = threads_find_field(env, s, "locks", "[Ljdk/internal/vm/ThreadSnapshot$ThreadLock;");
	v->status = threads_find_field(env, s, "threadStatus", "I");
	v->carrier = threads_find_field(env, s, "carrierThread", "Ljava/lang/Thread;");
	v->blocked_by = threads_find_field(env, s, "blockerTypeOrdinal", "I");
	v->blocker = threads_find_field(env, s, "blockerObject", "Ljava/lang/Object;");
	v->lock_depth = threads_find_field(env, l, "depth", "I");
	v->lock_type = threads_find_field(env, l, "typeOrdinal", "I");
	v->lock_object = threads_find_field(env, l, "obj", "Ljava/lang/Object;");
	return v->take && v->frames && v->locks && v->status && v->carrier && v->blocked_by && v->blocker &&
	       v->lock_depth && v->lock_type && v->lock_object;
}

/*
 * Find the classes of ThreadInfo. The native half of ThreadImpl is loaded by the initializer of another
 * class.
 */
static bool find_info(JNIEnv *env, struct view *v)
{
	jclass helper = threads_find_class(env, "sun/management/ManagementFactoryHelper");
	jclass impl = helper ? threads_find_class(env, "sun/management/ThreadImpl") : NULL;
	jclass i = impl ? threads_find_class(env, "java/lang/management/ThreadInfo") : NULL;
	jclass lock = i ? threads_find_class(env, "java/lang/management/LockInfo") : NULL;
	jclass monitor = lock ? threads_find_class(env, "java/lang/management/MonitorInfo") : NULL;
	jclass e = monitor ? threads_find_class(env, "java/lang/Enum") : NULL;

	/* a field is asked for, because that initializes the class */
	if (!e || !(*env)->GetStaticFieldID(env, helper, "jvm", "Lsun/management/VMManagement;")) {
		threads_threw(env);
		return false;
	}
	v->atomic = true;
	v->cls = impl;
	v->take = (*env)->GetStaticMethodID(env, impl, "dumpThreads0",
					    "([JZZI)[Ljava/lang/management/ThreadInfo;");
	threads_threw(env);
	v->frames = threads_find_field(env, i, "stackTrace", "[Ljava/lang/StackTraceElement;");
	v->locks = threads_find_field(env, i, "lockedMonitors", "[Ljava/lang/management/MonitorInfo;");
	v->state = threads_find_field(env, i, "threadState", "Ljava/lang/Thread$State;");
	v->ordinal = threads_find_field(env, e, "ordinal", "I");
	v->lock = threads_find_field(env, i, "lock", "Ljava/lang/management/LockInfo;");
	v->lock_owner = threads_find_field(env, i, "lockOwnerId", "J");
	v->lock_class = threads_find_field(env, lock, "className", "Ljava/lang/String;");
	v->lock_hash = threads_find_field(env, lock, "identityHashCode", "I");
	v->lock_depth = threads_find_field(env, monitor, "stackDepth", "I");
	return v->take && v->frames && v->locks && v->state && v->ordinal && v->lock && v->lock_owner &&
	       v->lock_class && v->lock_hash && v->lock_depth;
}

static bool find_view(JNIEnv *env, struct view *v)
{
	*v = (struct view){ 0 };
	if (!find_frames(env, v))
		return false;
	return find_snapshot(env, v) || find_info(env, v);
}

/* --- helpers --- */

static uint32_t dump_threads_hash_of(const struct threads_class *c, jobject o)
{
	jint hash = 0;

	if (o)
		(*c->ti)->GetObjectHashCode(c->ti, o, &hash);
	return hash;
}

/* Copy the text of a String, at most MAX_CHARS of it, in modified UTF-8. */
static uint32_t dump_threads_text_of(JNIEnv *env, jstring s, char *buf)
{
	jint len = s ? (*env)->GetStringLength(env, s) : 0;

	buf[0] = '\0';
	len = len < MAX_CHARS ? len : MAX_CHARS;
	if (len)
		(*env)->GetStringUTFRegion(env, s, 0, len, buf);
	threads_threw(env);
	return str_len(buf);
}

static uint32_t text_in(JNIEnv *env, jobject o, jfieldID f, char *buf)
{
	jstring s = (*env)->GetObjectField(env, o, f);
	uint32_t len = dump_threads_text_of(env, s, buf);

	(*env)->DeleteLocalRef(env, s);
	return len;
}

/* Write Lpkg/Name; as pkg.Name; arrays stay as they are, as in Class.getName(). */
static uint32_t dump_threads_class_of(const struct threads_class *c, jobject o, char *buf)
{
	jclass cls = (*c->env)->GetObjectClass(c->env, o);
	uint32_t i, len = 0;
	char *sig = NULL;

	if (!(*c->ti)->GetClassSignature(c->ti, cls, &sig, NULL) && sig) {
		bool plain = sig[0] == 'L';

		len = str_len(sig) - (plain ? 2 : 0);
		len = len < JVM_MAX_STRING ? len : JVM_MAX_STRING - 1;
		for (i = 0; i < len; i++)
			buf[i] = sig[i + plain] == '/' ? '.' : sig[i + plain];
		(*c->ti)->Deallocate(c->ti, (void *)sig);
	}
	buf[len] = '\0';
	(*c->env)->DeleteLocalRef(c->env, cls);
	return len;
}

static jint length_of(JNIEnv *env, jobjectArray a)
{
	return a ? (*env)->GetArrayLength(env, a) : 0;
}

/* --- taking pictures --- */

static jobject take_one(const struct look *l, jthread t)
{
	JNIEnv *env = l->c->env;
	jobject p = (*env)->CallStaticObjectMethod(env, l->v->cls, l->v->take, t);

	return threads_threw(env) ? NULL : p;
}

static bool take_infos(struct look *l)
{
	JNIEnv *env = l->c->env;
	jlongArray ids = (*env)->NewLongArray(env, l->nr);
	jobjectArray all = NULL;
	size_t i;

	if (ids) {
		(*env)->SetLongArrayRegion(env, ids, 0, l->nr, (const jlong *)l->ids);
		all = (*env)->CallStaticObjectMethod(env, l->v->cls, l->v->take, ids, JNI_TRUE, JNI_FALSE,
						     MANY);
	}
	if (threads_threw(env) || (size_t)length_of(env, all) != l->nr)
		return false;
	for (i = 0; i < l->nr; i++)
		l->pictures[i] = (*env)->GetObjectArrayElement(env, all, i);
	(*env)->DeleteLocalRef(env, ids);
	(*env)->DeleteLocalRef(env, all);
	return true;
}

static jobject lock_object(const struct look *l, jobject lock)
{
	return (*l->c->env)->GetObjectField(l->c->env, lock, l->v->lock_object);
}

/*
 * Return whether thread i holds what its ThreadSnapshot lists: that includes monitors that it released in
 * wait(), or waits to get back, which are those that it waits for.
 */
static bool really_holds(const struct look *l, jobject picture, jobject lock, jobject object)
{
	JNIEnv *env = l->c->env;
	jobject blocker;
	bool same;

	if (!object || (*env)->GetIntField(env, lock, l->v->lock_type) != OWNED_LOCKED)
		return false;
	blocker = (*env)->GetObjectField(env, picture, l->v->blocker);
	same = blocker && (*env)->IsSameObject(env, blocker, object);
	(*env)->DeleteLocalRef(env, blocker);
	return !same;
}

static void note_held(struct look *l, uint32_t hash, size_t thread, size_t lock)
{
	size_t at = mix64(hash);

	while (l->held[at & l->held_mask].thread)
		at++;
	l->held[at & l->held_mask] = (struct held){ hash, thread + 1, lock };
}

/* Return the number of locks in the picture of thread i; with note, also note what it holds. */
static size_t locks_of(struct look *l, size_t i, bool note)
{
	JNIEnv *env = l->c->env;
	jobjectArray locks = (*env)->GetObjectField(env, l->pictures[i], l->v->locks);
	jint k, nr = length_of(env, locks);

	for (k = 0; k < nr && note; k++) {
		jobject lock = (*env)->GetObjectArrayElement(env, locks, k), o = lock_object(l, lock);

		if (really_holds(l, l->pictures[i], lock, o))
			note_held(l, dump_threads_hash_of(l->c, o), i, k);
		(*env)->DeleteLocalRef(env, o);
		(*env)->DeleteLocalRef(env, lock);
	}
	(*env)->DeleteLocalRef(env, locks);
	return nr;
}

static bool note_all_held(struct look *l)
{
	size_t i, nr = 0, room = 2;

	for (i = 0; i < l->nr; i++)
		nr += l->pictures[i] ? locks_of(l, i, false) : 0;
	while (room < 2 * nr)
		room *= 2;
	if ((*l->c->ti)->Allocate(l->c->ti, room * sizeof(*l->held), (void *)&l->held))
		return false;
	memset(l->held, 0, room * sizeof(*l->held));
	l->held_mask = room - 1;
	for (i = 0; i < l->nr; i++)
		if (l->pictures[i])
			locks_of(l, i, true);
	return true;
}

static void look_release(struct look *l)
{
	size_t i;

	for (i = 0; l->pictures && i < l->nr; i++)
		(*l->c->env)->DeleteLocalRef(l->c->env, l->pictures[i]);
	(*l->c->ti)->Deallocate(l->c->ti, (void *)l->pictures);
	(*l->c->ti)->Deallocate(l->c->ti, (void *)l->held);
}

/* Take the pictures; return false without memory. *l must be released in any case. */
static bool look_take(struct look *l)
{
	size_t i;

	if ((*l->c->ti)->Allocate(l->c->ti, (l->nr + 1) * sizeof(*l->pictures), (void *)&l->pictures))
		return false;
	memset(l->pictures, 0, l->nr * sizeof(*l->pictures));
	if (l->v->atomic)
		return take_infos(l);
	for (i = 0; i < l->nr; i++)
		l->pictures[i] = take_one(l, l->threads[i]);
	return note_all_held(l);
}

/* --- what a thread waits for --- */

/* Return the thread that holds the monitor of an object. */
static uint64_t holder_of(const struct look *l, jobject object, uint32_t hash)
{
	JNIEnv *env = l->c->env;
	size_t at = mix64(hash);
	const struct held *h;
	uint64_t id = 0;

	for (; !id && (h = &l->held[at & l->held_mask])->thread; at++) {
		jobjectArray locks;
		jobject lock, o;

		if (h->hash != hash)
			continue;
		locks = (*env)->GetObjectField(env, l->pictures[h->thread - 1], l->v->locks);
		lock = (*env)->GetObjectArrayElement(env, locks, h->lock);
		o = lock_object(l, lock);
		if ((*env)->IsSameObject(env, o, object))
			id = l->ids[h->thread - 1];
		(*env)->DeleteLocalRef(env, o);
		(*env)->DeleteLocalRef(env, lock);
		(*env)->DeleteLocalRef(env, locks);
	}
	return id;
}

static void snapshot_wait(const struct look *l, size_t i, jobject p, struct wait *w)
{
	static const uint8_t roles[] = {
		[BY_PARKING] = JVM_DUMP_PARKS, [BY_ENTERING] = JVM_DUMP_ENTERS, [BY_WAITING] = JVM_DUMP_WAITS,
	};
	JNIEnv *env = l->c->env;
	uint32_t by = (*env)->GetIntField(env, p, l->v->blocked_by);

	w->object = (*env)->GetObjectField(env, p, l->v->blocker);
	if (!w->object || by >= ARRAY_SIZE(roles))
		return;
	w->role = roles[by];
	w->hash = dump_threads_hash_of(l->c, w->object);
	w->owner = w->role == JVM_DUMP_PARKS ? threads_park_owner(l->c, w->object, l->ids[i]) :
		   holder_of(l, w->object, w->hash);
}

/* Thread.State, in its order. */
static const uint32_t state_bits[] = {
	0, JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE,
	JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER,
	JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_WAITING_INDEFINITELY,
	JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT,
	JVMTI_THREAD_STATE_TERMINATED,
};

/*
 * Return the state of a thread whose innermost method is one of Object.wait(), Unsafe.park() and
 * Thread.sleep().
 */
static uint32_t innermost_bits(const struct look *l, jobject p)
{
	JNIEnv *env = l->c->env;
	jobjectArray frames = (*env)->GetObjectField(env, p, l->v->frames);
	jobject f = length_of(env, frames) ? (*env)->GetObjectArrayElement(env, frames, 0) : NULL;
	char name[JVM_MAX_STRING] = "";

	if (f)
		text_in(env, f, l->v->frame_method, name);
	(*env)->DeleteLocalRef(env, f);
	(*env)->DeleteLocalRef(env, frames);
	if (str_eq(name, "park"))
		return JVMTI_THREAD_STATE_PARKED;
	if (str_eq(name, "sleep") || str_eq(name, "sleep0"))
		return JVMTI_THREAD_STATE_SLEEPING;
	return str_eq(name, "wait") || str_eq(name, "wait0") ? JVMTI_THREAD_STATE_IN_OBJECT_WAIT : 0;
}

static uint32_t state_of(const struct look *l, jobject p)
{
	JNIEnv *env = l->c->env;
	uint32_t ordinal, bits;
	jobject state;

	if (!l->v->atomic)
		return (*env)->GetIntField(env, p, l->v->status);
	state = (*env)->GetObjectField(env, p, l->v->state);
	ordinal = state ? (*env)->GetIntField(env, state, l->v->ordinal) : 0;
	(*env)->DeleteLocalRef(env, state);
	bits = ordinal < ARRAY_SIZE(state_bits) ? state_bits[ordinal] : 0;
	return bits & JVMTI_THREAD_STATE_WAITING ? bits | innermost_bits(l, p) : bits;
}

/* Find a reader, which ThreadInfo does not have; the thread may be parked for something else by now. */
static uint64_t reader_for(const struct look *l, size_t i, uint32_t hash)
{
	JNIEnv *env = l->c->env;
	jobject blocker = (*env)->GetObjectField(env, l->threads[i], l->c->blocker), after;
	bool same = blocker && dump_threads_hash_of(l->c, blocker) == hash;
	uint64_t id = same ? threads_park_owner(l->c, blocker, l->ids[i]) : 0;

	after = (*env)->GetObjectField(env, l->threads[i], l->c->blocker);
	same = same && (*env)->IsSameObject(env, after, blocker);
	(*env)->DeleteLocalRef(env, after);
	(*env)->DeleteLocalRef(env, blocker);
	return same ? id : 0;
}

static void info_wait(const struct look *l, size_t i, jobject p, uint32_t state, struct wait *w)
{
	JNIEnv *env = l->c->env;
	jlong owner = (*env)->GetLongField(env, p, l->v->lock_owner);

	w->info = (*env)->GetObjectField(env, p, l->v->lock);
	if (!w->info)
		return;
	w->role = state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER ? JVM_DUMP_ENTERS :
		  state & JVMTI_THREAD_STATE_PARKED ? JVM_DUMP_PARKS : JVM_DUMP_WAITS;
	w->hash = (*env)->GetIntField(env, w->info, l->v->lock_hash);
	w->owner = owner > 0 ? (uint64_t)owner : w->role == JVM_DUMP_PARKS ? reader_for(l, i, w->hash) : 0;
}

/* Return what thread i waits for; wait_release() releases it. */
static struct wait dump_threads_wait_of(const struct look *l, size_t i, uint32_t state)
{
	struct wait w = { 0 };

	if (l->v->atomic)
		info_wait(l, i, l->pictures[i], state, &w);
	else
		snapshot_wait(l, i, l->pictures[i], &w);
	return w;
}

static void wait_release(const struct look *l, struct wait *w)
{
	(*l->c->env)->DeleteLocalRef(l->c->env, w->object);
	(*l->c->env)->DeleteLocalRef(l->c->env, w->info);
}

/* --- writing --- */

void threads_flush(struct threads_out *out)
{
	const char *p = out->buf;

	while (out->used && !out->failed) {
		long n = sys(__NR_pwrite64, out->fd, p, out->used, out->at);

		if (n == -EINTR)
			continue;
		out->failed = n <= 0;
		if (out->failed)
			break;
		p += n;
		out->at += n;
		out->used -= n;
	}
	out->used = 0;
}

/* Return room for a record of that many bytes. */
static void *room(struct threads_out *out, size_t size)
{
	void *p;

	if (out->used + size > THREADS_BUFFER)
		threads_flush(out);
	p = out->buf + out->used;
	out->used += size;
	return p;
}

#define EMIT(kind) \
	static void emit_##kind(struct threads_out *out, const struct jvm_dump_##kind *r) \
	{ \
		size_t size = jvm_size_dump_##kind(r); \
		struct jvm_rec *rec; \
\
		if (out->fd < 0) { \
			send_dump_##kind(NULL, r); \
			return; \
		} \
		rec = room(out, size); \
		jvm_encode_dump_##kind(rec, size, r); \
		*rec = (struct jvm_rec){ size, JVM_REC_dump_##kind }; \
	}
EMIT(begin)
EMIT(thread)
EMIT(frame)
EMIT(lock)
EMIT(edge)
EMIT(end)

static void emit_frame_of(const struct look *l, jobject f, struct threads_out *out)
{
	char class[JVM_MAX_STRING], method[JVM_MAX_STRING], file[JVM_MAX_STRING];
	JNIEnv *env = l->c->env;
	struct jvm_dump_frame r = {
		.time_ns = sys_now(), .class_name = class, .name = method, .source = file,
	};
	jint line = (*env)->GetIntField(env, f, l->v->frame_line);

	r.line = line > 0 ? (uint32_t)line : line == -2 ? JVM_DUMP_NATIVE : 0;
	r.class_len = text_in(env, f, l->v->frame_class, class);
	r.name_len = text_in(env, f, l->v->frame_method, method);
	r.source_len = text_in(env, f, l->v->frame_file, file);
	emit_frame(out, &r);
}

static void emit_frames(const struct look *l, jobject p, struct threads_out *out)
{
	JNIEnv *env = l->c->env;
	jobjectArray frames = (*env)->GetObjectField(env, p, l->v->frames);
	jint i, nr = length_of(env, frames);

	for (i = 0; i < nr; i++) {
		jobject f = (*env)->GetObjectArrayElement(env, frames, i);

		if (f)
			emit_frame_of(l, f, out);
		(*env)->DeleteLocalRef(env, f);
	}
	(*env)->DeleteLocalRef(env, frames);
}

static void emit_wait(const struct look *l, const struct wait *w, struct threads_out *out)
{
	char class[JVM_MAX_STRING];
	struct jvm_dump_lock r = {
		.time_ns = sys_now(), .owner = w->owner, .role = w->role, .hash = w->hash,
		.class_name = class,
	};

	if (!w->role)
		return;
	r.class_len = w->object ? dump_threads_class_of(l->c, w->object, class) :
		      text_in(l->c->env, w->info, l->v->lock_class, class);
	emit_lock(out, &r);
}

static void emit_held(const struct look *l, jobject p, jobject lock, struct threads_out *out)
{
	char class[JVM_MAX_STRING];
	JNIEnv *env = l->c->env;
	struct jvm_dump_lock r = { .time_ns = sys_now(), .role = JVM_DUMP_HOLDS, .class_name = class };
	jobject o;

	r.depth = (*env)->GetIntField(env, lock, l->v->lock_depth);
	if (l->v->atomic) {
		r.hash = (*env)->GetIntField(env, lock, l->v->lock_hash);
		r.class_len = text_in(env, lock, l->v->lock_class, class);
		emit_lock(out, &r);
		return;
	}
	o = lock_object(l, lock);
	if (really_holds(l, p, lock, o)) {
		r.hash = dump_threads_hash_of(l->c, o);
		r.class_len = dump_threads_class_of(l->c, o, class);
		emit_lock(out, &r);
	}
	(*env)->DeleteLocalRef(env, o);
}

static void emit_all_held(const struct look *l, jobject p, struct threads_out *out)
{
	JNIEnv *env = l->c->env;
	jobjectArray locks = (*env)->GetObjectField(env, p, l->v->locks);
	jint i, nr = length_of(env, locks);

	for (i = 0; i < nr; i++) {
		jobject lock = (*env)->GetObjectArrayElement(env, locks, i);

		if (lock)
			emit_held(l, p, lock, out);
		(*env)->DeleteLocalRef(env, lock);
	}
	(*env)->DeleteLocalRef(env, locks);
}

static bool dump_threads_is_virtual(const struct threads_class *c, jthread t)
{
	return c->virtual && (*c->env)->IsInstanceOf(c->env, t, c->virtual);
}

/* Return the kernel's number of a platform thread, if the agent knows the VM well enough; else 0. */
static int dump_threads_tid_of(const struct threads_class *c, jthread t)
{
	uintptr_t thread = dump_threads_is_virtual(c, t) ? 0 : (*c->env)->GetLongField(c->env, t, c->eetop);

	return thread && vm.ok ? vm_thread_tid(thread) : 0;
}

uint64_t threads_cpu_ns(const struct threads_class *c, jthread t)
{
	return sys_thread_cpu(dump_threads_tid_of(c, t));
}

static uint64_t carrier_of(const struct look *l, jobject p)
{
	JNIEnv *env = l->c->env;
	jobject carrier = l->v->atomic ? NULL : (*env)->GetObjectField(env, p, l->v->carrier);
	uint64_t id = carrier ? (*env)->GetLongField(env, carrier, l->c->id) : 0;

	(*env)->DeleteLocalRef(env, carrier);
	return id;
}

static void emit_thread_of(const struct look *l, size_t i, uint32_t state, struct threads_out *out)
{
	const struct threads_class *c = l->c;
	jvmtiThreadInfo info = { 0 };
	jvmtiThreadGroupInfo group = { 0 };
	struct jvm_dump_thread r = {
		.time_ns = sys_now(), .id = l->ids[i], .thread = dump_threads_tid_of(c, l->threads[i]),
		.state = state, .flags = dump_threads_is_virtual(c, l->threads[i]) ? JVM_DUMP_VIRTUAL : 0,
		.carrier = carrier_of(l, l->pictures[i]), .name = "", .group = "",
	};

	r.cpu_ns = sys_thread_cpu(r.thread);
	if (!(*c->ti)->GetThreadInfo(c->ti, l->threads[i], &info) && info.name) {
		r.flags |= info.is_daemon ? JVM_DUMP_DAEMON : 0;
		r.priority = info.priority;
		r.name = info.name;
		r.name_len = str_len(info.name);
	}
	if (info.thread_group && !(*c->ti)->GetThreadGroupInfo(c->ti, info.thread_group, &group) &&
	    group.name) {
		r.group = group.name;
		r.group_len = str_len(group.name);
	}
	emit_thread(out, &r);
	(*c->ti)->Deallocate(c->ti, (void *)info.name);
	(*c->ti)->Deallocate(c->ti, (void *)group.name);
	(*c->env)->DeleteLocalRef(c->env, group.parent);
	(*c->env)->DeleteLocalRef(c->env, info.thread_group);
	(*c->env)->DeleteLocalRef(c->env, info.context_class_loader);
}

/* --- taking pictures again --- */

/*
 * Pick the threads of *from that wait without a timeout for what another one holds; return false without
 * memory.
 */
static bool pick_blocked(const struct look *from, struct look *to, struct threads_list *list)
{
	const struct threads_class *c = from->c;
	bool itself = false;
	size_t i;

	*list = (struct threads_list){ 0 };
	if ((*c->ti)->Allocate(c->ti, (from->nr + 1) * sizeof(*list->threads), (void *)&list->threads) ||
	    (*c->ti)->Allocate(c->ti, (from->nr + 1) * sizeof(*list->ids), (void *)&list->ids))
		return false;
	for (i = 0; i < from->nr; i++) {
		uint32_t state = from->pictures[i] ? state_of(from, from->pictures[i]) : 0;
		struct wait w = { 0 };

		if (from->pictures[i] && !(state & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT))
			w = dump_threads_wait_of(from, i, state);
		if (w.owner && w.role != JVM_DUMP_WAITS) {
			list->threads[list->nr] = from->threads[i];
			list->ids[list->nr++] = from->ids[i];
			itself |= w.owner == from->ids[i];
		}
		wait_release(from, &w);
	}
	*to = (struct look){ .c = c, .v = from->v, .threads = list->threads, .ids = list->ids,
		.nr = list->nr, .itself = itself };
	return true;
}

static void emit_edges(struct look *l, uint32_t round, struct threads_out *out)
{
	size_t i;

	for (i = 0; i < l->nr; i++) {
		struct wait w;

		if (!l->pictures[i])
			continue;
		w = dump_threads_wait_of(l, i, state_of(l, l->pictures[i]));
		if (w.owner && w.role != JVM_DUMP_WAITS)
			emit_edge(out, &(struct jvm_dump_edge){
				.time_ns = sys_now(), .id = l->ids[i], .owner = w.owner,
				.cpu_ns = threads_cpu_ns(l->c, l->threads[i]), .round = round, .hash = w.hash,
			});
		wait_release(l, &w);
	}
}

/* Take pictures of blocked threads again; return how often that was done. */
static uint32_t look_again(const struct look *first, struct threads_out *out)
{
	struct threads_list list;
	struct look again;
	uint32_t round = 0;
	bool ok = pick_blocked(first, &again, &list);

	while (ok && (again.nr > 1 || again.itself) && round < NR_ROUNDS) {
		sys_sleep_ms(ROUND_MS);
		again.pictures = NULL;
		again.held = NULL;
		ok = look_take(&again);
		if (ok)
			emit_edges(&again, ++round, out);
		look_release(&again);
	}
	(*first->c->ti)->Deallocate(first->c->ti, (void *)list.threads);
	(*first->c->ti)->Deallocate(first->c->ti, (void *)list.ids);
	return round;
}

/* --- the whole dump --- */

static void emit_one(const struct look *l, size_t i, struct threads_out *out)
{
	jobject p = l->pictures[i];
	uint32_t state = state_of(l, p);
	struct wait w = dump_threads_wait_of(l, i, state);

	emit_thread_of(l, i, state, out);
	emit_wait(l, &w, out);
	wait_release(l, &w);
	emit_all_held(l, p, out);
	emit_frames(l, p, out);
}

/*
 * Return how many threads the pictures show: ThreadInfo has no virtual threads, which are last in the list.
 */
static size_t nr_shown(const struct threads_class *c, const struct threads_list *l, const struct view *v)
{
	size_t nr = l->nr;

	while (v->atomic && nr && dump_threads_is_virtual(c, l->threads[nr - 1]))
		nr--;
	return nr;
}

static void put_dump_end(struct threads_out *out, struct jvm_dump_end *r, const char *why)
{
	r->time_ns = sys_now();
	r->why = why;
	r->why_len = str_len(why);
	emit_end(out, r);
}

static void show(struct look *l, struct jvm_dump_end *r, struct threads_out *out)
{
	size_t i;

	if (!look_take(l)) {
		put_dump_end(out, r, "the JVM has no memory left for it");
		return;
	}
	for (i = 0; i < l->nr; i++) {
		if (l->pictures[i])
			emit_one(l, i, out);
		else
			r->lost++;
	}
	if (!l->v->atomic)
		r->rounds = look_again(l, out);
	put_dump_end(out, r, "");
}

void threads_show(const struct threads_class *c, const struct threads_list *list, uint32_t flags,
		  struct threads_out *out)
{
	struct jvm_dump_end r = { 0 };
	struct look l = { .c = c, .threads = list->threads, .ids = list->ids };
	struct view v;
	bool known = find_view(c->env, &v);

	l.v = &v;
	l.nr = known ? nr_shown(c, list, &v) : 0;
	r.hidden = known ? list->nr - l.nr : 0;
	flags |= (v.atomic ? JVM_DUMP_ATOMIC : 0) | (list->untracked ? JVM_DUMP_UNTRACKED : 0);
	emit_begin(out, &(struct jvm_dump_begin){ .time_ns = sys_now(), .flags = flags, .nr_threads = l.nr });
	if (known) {
		show(&l, &r, out);
		look_release(&l);
	} else {
		put_dump_end(out, &r, "the JVM has neither jdk.internal.vm.ThreadSnapshot (JDK 25) nor the module java.management");
	}
}
