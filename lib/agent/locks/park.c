// SPDX-License-Identifier: MIT
/*
 * park.c - Unsafe.park(), in which platform threads wait for locks of java.util.concurrent and conditions
 * (lock.h). JVMTI has no event for it, so the native method is replaced by one that calls the original.
 *
 * HotSpot keeps the address of a native method behind its Method (methods.h). It is trusted if it lies in
 * libjvm's code.
 *
 * Source: oops/method.hpp, Method::native_function_addr().
 */
#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/hotspot/methods.h"
#include "agent/hotspot/vm.h"
#include "agent/locks/lock.h"
#include "agent/sys.h"

typedef void JNICALL park_fn(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);

static park_fn *vm_park;		/* the original */
static bool is_replaced;
static jclass unsafe_class, owned_class;
static jclass stamped_class;		/* locks that do not name their owner; NULL: none */
static jfieldID blocker_field, owner_field, id_field, eetop_field;
/* of ReentrantReadWriteLock; readers_class NULL: not known of this JDK */
static jclass readers_class;
static jfieldID first_field, last_field, count_field, reader_field;
static JavaVM *jvm;
static jvmtiEnv *ti;

/* ---- what a thread is parked for ---- */

/* Return the latest reader, if it still has the lock and is mounted; else NULL. */
static jthread last_reader(JNIEnv *env, jobject lock)
{
	jobject counter = (*env)->GetObjectField(env, lock, last_field);
	struct owner o = { 0 };
	bool is_carrier;

	if (counter && (*env)->GetIntField(env, counter, count_field) > 0)
		o = owners_of_id((*env)->GetLongField(env, counter, reader_field));
	if (counter)
		(*env)->DeleteLocalRef(env, counter);
	return o.tid ? owners_thread(env, &o, &is_carrier) : NULL;
}

/*
 * Return a reader of a ReentrantReadWriteLock: the first while it has the lock, else the latest. The lock
 * does not name others.
 */
static jthread reader_of(JNIEnv *env, jobject lock)
{
	jthread first;

	if (!readers_class || !(*env)->IsInstanceOf(env, lock, readers_class))
		return NULL;
	first = (*env)->GetObjectField(env, lock, first_field);
	return first ? first : last_reader(env, lock);
}

jthread park_owner(JNIEnv *env, jobject lock, struct owner *o)
{
	jthread thread = (*env)->GetObjectField(env, lock, owner_field);

	*o = (struct owner){ 0 };
	if (!thread)
		thread = reader_of(env, lock);
	if (thread)
		*o = owners_of_thread((*env)->GetLongField(env, thread, eetop_field),
				      (*env)->GetLongField(env, thread, id_field));
	return thread;
}

jobject park_blocker(JNIEnv *env, jthread thread)
{
	jobject blocker = (*env)->GetObjectField(env, thread, blocker_field);

	if (!blocker || (*env)->IsInstanceOf(env, blocker, owned_class))
		return blocker;
	(*env)->DeleteLocalRef(env, blocker);
	return NULL;
}

bool park_describe(JNIEnv *env, jthread thread, bool is_virtual, struct lock_wait *w)
{
	jobject blocker = blocker_field ? (*env)->GetObjectField(env, thread, blocker_field) : NULL;
	struct owner o = { 0 };
	jthread owner = NULL;
	bool owned, is_lock, ok;

	if (!blocker)
		return false;
	owned = (*env)->IsInstanceOf(env, blocker, owned_class);
	is_lock = owned || (stamped_class && (*env)->IsInstanceOf(env, blocker, stamped_class));
	if (owned)
		owner = park_owner(env, blocker, &o);
	ok = lock_describe(env, blocker, is_lock ? JVM_WAIT_LOCK : JVM_WAIT_PARK, w);
	w->owner = o.tid;
	w->owner_vthread = o.vthread;
	w->owned = owner;
	if (ok && owner && is_virtual)
		w->lock = (*env)->NewGlobalRef(env, blocker);
	if (owner)
		(*env)->DeleteLocalRef(env, owner);
	(*env)->DeleteLocalRef(env, blocker);
	return ok;
}

/*
 * Begin a wait of the calling thread. Returns a local reference to it, to be kept until the wait ends, as
 * some VMs have its id nowhere else. NULL: the wait is not to be reported.
 */
static jthread begin_own(JNIEnv *env)
{
	struct lock_wait w;
	jthread self = NULL;

	if ((*ti)->GetCurrentThread(ti, &self) != JVMTI_ERROR_NONE || !self)
		return NULL;
	if (park_describe(env, self, false, &w)) {
		lock_begin(env, self, &w);
		return self;
	}
	(*env)->DeleteLocalRef(env, self);
	return NULL;
}

/* After the session nothing is reported, but the reference is still deleted. */
static void end_own(JNIEnv *env, jthread self)
{
	struct lock_wait w;
	bool on = sample_begin();

	if (lock_end(env, self, &w) && on)
		lock_tell(&w);
	if (on)
		sample_end();
	(*env)->DeleteLocalRef(env, self);
}

/* Reports know this function by its name and leave it out (WAY_THROUGH, trace/record.h). */
static void JNICALL park_through(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
	jthread self = NULL;
	uint32_t session;

	if (lock_is_on(&session) && sample_begin()) {
		self = begin_own(env);
		sample_end();
	}
	vm_park(env, unsafe, absolute, time);
	if (self)
		end_own(env, self);
}

/* ---- the native method ---- */

static const char *unsafe_name(void)
{
	return vm.is_8 ? "sun/misc/Unsafe" : "jdk/internal/misc/Unsafe";
}

static park_fn *find_park(jmethodID id)
{
	uintptr_t method = methods_find(id, unsafe_name(), "park", "(ZJ)V"), code;

	if (!method || !vm.size.method || !sys_peek_all(&code, method + vm.size.method, 8) ||
	    code < vm.text_lo || code >= vm.text_hi)
		return NULL;
	return (park_fn *)code;
}

static void bind(JNIEnv *env, park_fn *to)
{
	JNINativeMethod m = { (char *)"park", (char *)"(ZJ)V", (void *)to };

	(*env)->RegisterNatives(env, unsafe_class, &m, 1);
}

static void JNICALL bind_ours(JNIEnv *env, jclass cls)
{
	bind(env, park_through);
}

static void JNICALL bind_theirs(JNIEnv *env, jclass cls)
{
	bind(env, vm_park);
}

static jclass class_for_good(JNIEnv *env, const char *name)
{
	jclass cls = (*env)->FindClass(env, name);

	return cls ? (*env)->NewGlobalRef(env, cls) : NULL;
}

static void find_readers(JNIEnv *env)
{
	static const char counter_name[] = "java/util/concurrent/locks/ReentrantReadWriteLock$Sync$HoldCounter",
		counter_sig[] = "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync$HoldCounter;";
	jclass sync = (*env)->FindClass(env, "java/util/concurrent/locks/ReentrantReadWriteLock$Sync");
	jclass counter = sync ? (*env)->FindClass(env, counter_name) : NULL;

	first_field = counter ? (*env)->GetFieldID(env, sync, "firstReader", "Ljava/lang/Thread;") : NULL;
	last_field = first_field ? (*env)->GetFieldID(env, sync, "cachedHoldCounter", counter_sig) : NULL;
	count_field = last_field ? (*env)->GetFieldID(env, counter, "count", "I") : NULL;
	reader_field = count_field ? (*env)->GetFieldID(env, counter, "tid", "J") : NULL;
	if (reader_field)
		readers_class = (*env)->NewGlobalRef(env, sync);
}

static bool park_find_fields(JNIEnv *env)
{
	jclass thread = (*env)->FindClass(env, "java/lang/Thread");

	if (!thread)
		return false;
	id_field = (*env)->GetFieldID(env, thread, "tid", "J");
	eetop_field = id_field ? (*env)->GetFieldID(env, thread, "eetop", "J") : NULL;
	owned_class = eetop_field ?
		class_for_good(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer") : NULL;
	owner_field = owned_class ? (*env)->GetFieldID(env, owned_class, "exclusiveOwnerThread",
						       "Ljava/lang/Thread;") : NULL;
	blocker_field = owner_field ? (*env)->GetFieldID(env, thread, "parkBlocker", "Ljava/lang/Object;") : NULL;
	return blocker_field;
}

static bool find_all(JNIEnv *env)
{
	jmethodID park;

	if (!park_find_fields(env) || (*env)->GetJavaVM(env, &jvm) ||
	    (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	unsafe_class = class_for_good(env, unsafe_name());
	park = unsafe_class ? (*env)->GetMethodID(env, unsafe_class, "park", "(ZJ)V") : NULL;
	vm_park = park ? find_park(park) : NULL;
	if (vm_park) {
		stamped_class = class_for_good(env, "java/util/concurrent/locks/StampedLock");
		find_readers(env);
	}
	return vm_park;
}

bool park_on(JNIEnv *env)
{
	static bool looked;

	if (!looked) {
		looked = true;
		find_all(env);
		if ((*env)->ExceptionCheck(env))
			(*env)->ExceptionClear(env);
	}
	if (!vm_park)
		return false;
	if (!is_replaced)
		helper_bind(env, bind_ours);
	is_replaced = true;
	return true;
}

void park_off(JNIEnv *env)
{
	if (is_replaced)
		helper_bind(env, bind_theirs);
	is_replaced = false;
}
