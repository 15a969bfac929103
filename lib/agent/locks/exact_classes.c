// SPDX-License-Identifier: MIT
/*
 * exact_classes.c - puts the probes of locks (exact.h) into classes that lock something, whatever the class
 * of the lock: that is known only when it is locked.
 *
 * Loaded classes are asked for their bytecodes first: changing a class discards its compiled code, and most
 * lock nothing.
 */
#include "agent/calls/flow.h"
#include "agent/calls/numbers.h"
#include "agent/locks/exact.h"
#include "agent/ring.h"
#include "classfile/rewrite.h"

enum { BATCH = 50, OP_MONITORENTER = 0xc2, OP_MONITOREXIT = 0xc3 };

static jvmtiEnv *ti;

/*
 * Code in which a virtual thread is neither itself nor its carrier; Object, whose wait() calls another of its
 * own; and our own classes.
 */
static const char *const untouchable[] = {
	EXACT_HELPER, HELPER_CLASS, HELPER_INIT_CLASS, "java/lang/Object", "java/lang/BaseVirtualThread",
	"java/lang/VirtualThread*", "jdk/internal/vm/*",
};

static bool is_untouchable(const char *name, size_t len)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(untouchable); i++) {
		const char *u = untouchable[i];

		for (k = 0; u[k] && u[k] != '*' && k < len && u[k] == name[k]; k++)
			;
		if (u[k] == '*' || (!u[k] && k == len))
			return true;
	}
	return false;
}

static bool text_is(const struct classfile_text *t, const char *s)
{
	return t->len == str_len(s) && !memcmp(t->p, s, t->len);
}

/*
 * Since JDK 11 each change of a StampedLock's state is made by one of these methods; the last turns a lock
 * for writing into one for reading.
 */
static int32_t select_stamped(const struct classfile_method *m)
{
	static const struct {
		const char *name, *descriptor;
		int32_t answer;
	} methods[] = {
		{ "casState", "(JJ)Z", CLASSFILE_STAMPED },
		{ "releaseWrite", "(J)J", CLASSFILE_DISOWNS },
		{ "unlockWriteInternal", "(J)J", CLASSFILE_DISOWNS },
		{ "tryConvertToReadLock", "(J)J", CLASSFILE_LONG_STATE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(methods); i++)
		if (text_is(&m->name, methods[i].name) && text_is(&m->descriptor, methods[i].descriptor))
			return methods[i].answer;
	return CLASSFILE_LOCKS;
}

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	if (text_is(&m->class_name, "java/util/concurrent/locks/StampedLock"))
		return select_stamped(m);
	if (text_is(&m->class_name, "java/util/concurrent/locks/AbstractOwnableSynchronizer") &&
	    text_is(&m->name, "setExclusiveOwnerThread"))
		return CLASSFILE_OWNS;
	if (text_is(&m->class_name, "java/util/concurrent/locks/AbstractQueuedSynchronizer") &&
	    text_is(&m->name, "setState"))
		return CLASSFILE_STATE;
	if (text_is(&m->class_name, "java/util/concurrent/locks/AbstractQueuedLongSynchronizer") &&
	    text_is(&m->name, "setState"))
		return CLASSFILE_LONG_STATE;
	if (text_is(&m->class_name, "java/util/concurrent/locks/ReentrantReadWriteLock$Sync") &&
	    text_is(&m->name, "tryReleaseShared"))
		return CLASSFILE_SHARED;
	return CLASSFILE_LOCKS;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	struct names_method names = {
		.class_name = { m->class_name.p, m->class_name.len },
		.name = { m->name.p, m->name.len },
		.sig = { m->descriptor.p, m->descriptor.len },
	};

	numbers_refused(&names, classfile_reason_text(reason));
}

/*
 * Memory for the rewriter; what a large class needed is unmapped after it. Few classes lock, so one is
 * rewritten at a time.
 */
enum { CHUNK_BYTES = 1 << 20, MAX_CHUNKS = 64 };
static struct {
	char *p;
	size_t size, used;
} chunks[MAX_CHUNKS];
static size_t nr_chunks;
static struct sys_lock memory;

static void *get(void *ctx, size_t size)
{
	size_t want;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!nr_chunks || size > chunks[nr_chunks - 1].size - chunks[nr_chunks - 1].used) {
		want = size > CHUNK_BYTES ? (size + 4095) & ~(size_t)4095 : CHUNK_BYTES;
		if (nr_chunks == MAX_CHUNKS || !(chunks[nr_chunks].p = sys_pages(want)))
			return NULL;
		chunks[nr_chunks].size = want;
		chunks[nr_chunks++].used = 0;
	}
	chunks[nr_chunks - 1].used += size;
	return chunks[nr_chunks - 1].p + chunks[nr_chunks - 1].used - size;
}

static void drop_memory(void)
{
	for (; nr_chunks > 1; nr_chunks--)
		sys(__NR_munmap, chunks[nr_chunks - 1].p, chunks[nr_chunks - 1].size);
	chunks[0].used = 0;
}

static void rewrite_locks(const unsigned char *data, jint len, jint *new_len, unsigned char **new_data)
{
	static const struct classfile_locks locks = {
		.enter = "enter", .entered = "entered", .exit = "exit", .waited = "waited",
		.notify = "notify", .notify_all = "notifyAll", .owns = "owns", .state = "state",
		.stamped = "stamped",
	};
	const struct classfile_probe probe = {
		.helper = EXACT_HELPER, .locks = &locks, .select = select_method, .skipped = skipped,
		.mem = get,
	};
	struct classfile_out out;
	unsigned char *copy;

	if (classfile_rewrite(data, len, &probe, &out) || !out.data ||
	    (*ti)->Allocate(ti, out.len, &copy) != JVMTI_ERROR_NONE)
		return;
	memcpy(copy, out.data, out.len);
	*new_len = out.len;
	*new_data = copy;
}

static void JNICALL on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			    jobject domain, jint len, const unsigned char *data, jint *new_len,
			    unsigned char **new_data)
{
	struct classfile_text t = { name, name ? str_len(name) : 0 };

	if (!name)
		t = classfile_name(data, len);
	if (!t.p || is_untouchable(t.p, t.len) || log_closed())
		return;
	sys_lock(&memory);
	rewrite_locks(data, len, new_len, new_data);
	drop_memory();
	sys_unlock(&memory);
}

/* ---- loaded classes ---- */

/* Return whether the method may lock: a byte that could be such an instruction is enough. */
static bool locks_in(jmethodID m)
{
	unsigned char *code = NULL;
	jint flags, len, i;
	bool found = false;

	if ((*ti)->GetMethodModifiers(ti, m, &flags) != JVMTI_ERROR_NONE)
		return false;
	if (flags & (CLASSFILE_ACC_NATIVE | CLASSFILE_ACC_ABSTRACT))
		return false;
	if (flags & CLASSFILE_ACC_SYNCHRONIZED)
		return true;
	if ((*ti)->GetBytecodes(ti, m, &len, &code) != JVMTI_ERROR_NONE)
		return false;
	for (i = 0; i < len && !found; i++)
		found = code[i] == OP_MONITORENTER || code[i] == OP_MONITOREXIT;
	(*ti)->Deallocate(ti, code);
	return found;
}

static bool class_locks(jclass cls)
{
	jmethodID *methods;
	bool found = false;
	jint nr, i;

	/* a class that is not linked yet has no methods to ask */
	if ((*ti)->GetClassMethods(ti, cls, &nr, &methods) != JVMTI_ERROR_NONE)
		return true;
	for (i = 0; i < nr && !found; i++)
		found = locks_in(methods[i]);
	(*ti)->Deallocate(ti, (void *)methods);
	return found;
}

/* Return whether the class is one that select_method() knows. */
static bool is_sync(const char *sig)
{
	return str_eq(sig, "Ljava/util/concurrent/locks/AbstractOwnableSynchronizer;") ||
	       str_eq(sig, "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;") ||
	       str_eq(sig, "Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer;") ||
	       str_eq(sig, "Ljava/util/concurrent/locks/ReentrantReadWriteLock$Sync;") ||
	       str_eq(sig, "Ljava/util/concurrent/locks/StampedLock;");
}

static bool locks_something(jclass cls)
{
	jboolean modifiable = JNI_FALSE;
	char *sig = NULL;
	bool want;

	if ((*ti)->IsModifiableClass(ti, cls, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
	    (*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE || !sig)
		return false;
	want = sig[0] == 'L' && !is_untouchable(sig + 1, str_len(sig) - 2);
	if (want && !is_sync(sig))
		want = class_locks(cls);
	(*ti)->Deallocate(ti, (void *)sig);
	return want;
}

static void retransform(jclass *classes, jint nr)
{
	jint i;

	if (nr && (*ti)->RetransformClasses(ti, nr, classes) != JVMTI_ERROR_NONE)
		for (i = 0; i < nr; i++)
			(*ti)->RetransformClasses(ti, 1, &classes[i]);
}

static void all_loaded(JNIEnv *env, bool undo)
{
	jclass *classes, batch[BATCH];
	jint i, nr, nr_batch = 0;

	if ((*ti)->GetLoadedClasses(ti, &nr, &classes) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr && (undo || !log_closed()); i++) {
		if (locks_something(classes[i]))
			batch[nr_batch++] = classes[i];
		if (nr_batch == BATCH || i == nr - 1) {
			retransform(batch, nr_batch);
			nr_batch = 0;
		}
	}
	for (i = 0; i < nr; i++)
		(*env)->DeleteLocalRef(env, classes[i]);
	(*ti)->Deallocate(ti, (void *)classes);
}

bool exact_classes_on(JavaVM *jvm, JNIEnv *env)
{
	jvmtiCapabilities have, want;
	jvmtiEventCallbacks cb;

	memset(&have, 0, sizeof(have));
	memset(&want, 0, sizeof(want));
	memset(&cb, 0, sizeof(cb));
	cb.ClassFileLoadHook = on_load;
	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return false;
	want.can_retransform_classes = want.can_get_bytecodes = 1;
	if ((*ti)->GetPotentialCapabilities(ti, &have) == JVMTI_ERROR_NONE)
		want.can_retransform_any_class = have.can_retransform_any_class;
	if ((*ti)->AddCapabilities(ti, &want) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL) !=
		    JVMTI_ERROR_NONE) {
		(*ti)->DisposeEnvironment(ti);
		return false;
	}
	all_loaded(env, false);
	return true;
}

void exact_classes_off(JNIEnv *env)
{
	(*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	all_loaded(env, true);
	(*ti)->DisposeEnvironment(ti);
}
