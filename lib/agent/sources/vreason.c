// SPDX-License-Identifier: MIT
/*
 * vreason.c - what a virtual thread waits for that is on no carrier: as the methods say in which it left it.
 *
 * Sockets and pipes of java.net and java.nio wait in sun.nio.ch.Poller; which operation that is says the next
 * method outwards that has it in its name.
 *
 * Source: JDK 21 to 25, java/lang/VirtualThread.java, sun/nio/ch/Poller.java, NioSocketImpl.java,
 * SocketChannelImpl.java.
 */
#include "agent/agent.h"
#include "agent/leaf.h"
#include "agent/sources/virtual.h"
#include "agent/sys.h"
#include "base/mix.h"
#include "jvm/wall.h"

enum { NR_METHODS = 1 << 12, MAX_LOOKED = 32 };

enum meaning {
	UNKNOWN_METHOD, NOTHING, SLEEPS, OBJECT_WAIT, POLLS, ACCEPTS, CONNECTS, READS, WRITES,
};

/* cache of what methods mean; a slot has the latest method */
static struct known_method {
	uint64_t id_meaning;		/* address of its jmethodID << 8 | enum meaning */
} methods[NR_METHODS];

static bool vreason_begins(const char *name, const char *with)
{
	while (*with)
		if (*name++ != *with++)
			return false;
	return true;
}

static bool vreason_has(const char *name, const char *word)
{
	for (; *name; name++)
		if (vreason_begins(name, word))
			return true;
	return false;
}

/* Return what a method of a channel does. The first letter is left out, as in read() and blockingRead(). */
static enum meaning of_channel(const char *name)
{
	if (vreason_has(name, "ccept"))
		return ACCEPTS;
	if (vreason_has(name, "onnect"))
		return CONNECTS;
	if (vreason_has(name, "ead") || vreason_has(name, "eceive"))
		return READS;
	return vreason_has(name, "rite") || vreason_has(name, "end") ? WRITES : NOTHING;
}

static enum meaning of_names(const char *class, const char *name)
{
	if (str_eq(class, "Ljava/lang/VirtualThread;"))
		return vreason_begins(name, "sleep") ? SLEEPS : NOTHING;
	if (str_eq(class, "Ljava/lang/Object;"))
		return vreason_begins(name, "wait") ? OBJECT_WAIT : NOTHING;
	if (str_eq(class, "Lsun/nio/ch/Poller;"))
		return POLLS;
	return vreason_begins(class, "Lsun/nio/ch/") ? of_channel(name) : NOTHING;
}

static enum meaning vreason_ask(jvmtiEnv *ti, JNIEnv *env, jmethodID id)
{
	enum meaning m = NOTHING;
	char *class = NULL, *name = NULL;
	jclass cls = NULL;

	if ((*ti)->GetMethodDeclaringClass(ti, id, &cls) == JVMTI_ERROR_NONE &&
	    (*ti)->GetClassSignature(ti, cls, &class, NULL) == JVMTI_ERROR_NONE &&
	    (*ti)->GetMethodName(ti, id, &name, NULL, NULL) == JVMTI_ERROR_NONE)
		m = of_names(class, name);
	(*ti)->Deallocate(ti, (unsigned char *)class);
	(*ti)->Deallocate(ti, (unsigned char *)name);
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	return m;
}

static enum meaning meaning_of(jvmtiEnv *ti, JNIEnv *env, jmethodID id)
{
	uint64_t key = (uint64_t)(uintptr_t)id << 8, known;
	struct known_method *k = &methods[mix64(key) >> 52];
	enum meaning m;

	known = load_relaxed(&k->id_meaning);
	if ((known & ~0xffull) == key && known & 0xff)
		return known & 0xff;
	m = vreason_ask(ti, env, id);
	store_relaxed(&k->id_meaning, key | m);
	return m;
}

static uint32_t text_leaf(const char *text)
{
	return leaf_number(JVM_LEAF_REASON, text, str_len(text));
}

static struct virtual_reason io(enum meaning m)
{
	static const char *const names[] = {
		[POLLS] = "[poll]", [ACCEPTS] = "[accept: socket]", [CONNECTS] = "[connect: socket]",
		[READS] = "[read: socket]", [WRITES] = "[write: socket]",
	};

	return (struct virtual_reason){ WALL_IO, text_leaf(names[m]) };
}

/* Return the leaf of the class of what the thread is parked for. */
static uint32_t blocker_leaf(jvmtiEnv *ti, JNIEnv *env, jthread thread)
{
	static jfieldID field;
	jfieldID f = load_acquire(&field);
	jobject blocker = NULL;
	uint32_t leaf = 0;
	jclass cls;
	char *sig;

	if (!f) {
		cls = (*env)->FindClass(env, "java/lang/Thread");
		f = cls ? (*env)->GetFieldID(env, cls, "parkBlocker", "Ljava/lang/Object;") : NULL;
		if ((*env)->ExceptionCheck(env))
			(*env)->ExceptionClear(env);
		if (cls)
			(*env)->DeleteLocalRef(env, cls);
		store_release(&field, f);
	}
	if (f)
		blocker = (*env)->GetObjectField(env, thread, f);
	if (!blocker)
		return 0;
	cls = (*env)->GetObjectClass(env, blocker);
	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE) {
		leaf = leaf_number(JVM_LEAF_CLASS, sig, str_len(sig));
		(*ti)->Deallocate(ti, (unsigned char *)sig);
	}
	(*env)->DeleteLocalRef(env, cls);
	(*env)->DeleteLocalRef(env, blocker);
	return leaf;
}

static struct virtual_reason parked(jvmtiEnv *ti, JNIEnv *env, jthread thread, const jvmtiFrameInfo *f,
				    jint nr)
{
	bool polls = false;
	jint i;

	for (i = 0; i < nr && i < MAX_LOOKED; i++) {
		enum meaning m = meaning_of(ti, env, f[i].method);

		if (m == SLEEPS)
			return (struct virtual_reason){ WALL_SLEEP, 0 };
		polls |= m == POLLS;
		if (polls && m > POLLS)
			return io(m);
	}
	if (polls)
		return io(POLLS);
	return (struct virtual_reason){ WALL_PARK, blocker_leaf(ti, env, thread) };
}

struct virtual_reason virtual_reason(jvmtiEnv *ti, JNIEnv *env, jthread thread, enum virtual_state state,
				     const jvmtiFrameInfo *f, jint nr)
{
	if (state == VIRTUAL_YIELDED)
		return (struct virtual_reason){ WALL_UNKNOWN, 0 };
	if (state != VIRTUAL_BLOCKED)
		return parked(ti, env, thread, f, nr);
	return (struct virtual_reason){
		nr && meaning_of(ti, env, f[0].method) == OBJECT_WAIT ? WALL_WAIT : WALL_MONITOR, 0,
	};
}
