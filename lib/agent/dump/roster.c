// SPDX-License-Identifier: MIT
/*
 * roster.c - see live.h.
 *
 * An OutOfMemoryError could end the program, so there must be far more room than the roster takes.
 */
#include "agent/agent.h"
#include "agent/ring.h"
#include "agent/sources/live.h"

enum {
	PIECE = 1024,			/* numbers copied at once */
	OBJECT_BYTES = 64 + 8 + 4,	/* at most: a weak reference, its element, a number */
	SPARE_FACTOR = 2, SPARE_BYTES = 4 << 20,
	ROSTER_S = 900,			/* a dump that takes longer than this is not believed in */
};

static jobject held;			/* a global reference; NULL: none is there */
static uint64_t held_cookie, held_ns;
static int maker;			/* tid of who makes one */

struct making {
	JNIEnv *env;
	jclass weak;
	jmethodID init;
	jobjectArray objects;
	jintArray numbers;
	uint32_t nr;			/* in objects */
	jint piece[PIECE];		/* numbers of the last ones, not yet in the array */
	uint32_t nr_piece;
};

bool roster_is_being_made_here(void)
{
	return load_relaxed(&maker) && load_relaxed(&maker) == sys_tid();
}

/* Return how many bytes the heap can still allocate, including growth; negative: not known. */
static int64_t free_bytes(JNIEnv *env)
{
	static const char *const names[] = { "maxMemory", "totalMemory", "freeMemory" };
	jclass c = (*env)->FindClass(env, "java/lang/Runtime");
	jmethodID get = c ? (*env)->GetStaticMethodID(env, c, "getRuntime", "()Ljava/lang/Runtime;") : NULL;
	jobject runtime = get ? (*env)->CallStaticObjectMethod(env, c, get) : NULL;
	int64_t v[3] = { 0 };
	unsigned int i;

	for (i = 0; runtime && i < 3; i++) {
		jmethodID m = (*env)->GetMethodID(env, c, names[i], "()J");

		if (!m)
			return -1;
		v[i] = (*env)->CallLongMethod(env, runtime, m);
	}
	return runtime ? v[0] - v[1] + v[2] : -1;
}

static bool find_classes(struct making *m)
{
	JNIEnv *env = m->env;

	m->weak = (*env)->FindClass(env, "java/lang/ref/WeakReference");
	m->init = m->weak ? (*env)->GetMethodID(env, m->weak, "<init>", "(Ljava/lang/Object;)V") : NULL;
	return m->init;
}

static bool new_arrays(struct making *m, uint32_t nr)
{
	JNIEnv *env = m->env;
	jclass object = (*env)->FindClass(env, "java/lang/Object");

	m->numbers = object ? (*env)->NewIntArray(env, ROSTER_HEAD + nr) : NULL;
	m->objects = m->numbers ? (*env)->NewObjectArray(env, 1 + nr, object, NULL) : NULL;
	if (m->objects)
		(*env)->SetObjectArrayElement(env, m->objects, 0, m->numbers);
	return m->objects;
}

static void write_piece(struct making *m)
{
	(*m->env)->SetIntArrayRegion(m->env, m->numbers, ROSTER_HEAD + m->nr - m->nr_piece, m->nr_piece,
				     m->piece);
	m->nr_piece = 0;
}

/* Return false after an exception. */
static bool roster_add(struct making *m, const struct tracked *t)
{
	JNIEnv *env = m->env;
	jobject object = (*env)->NewLocalRef(env, t->ref), weak;

	if (!object)
		return true;	/* it has died */
	weak = (*env)->NewObject(env, m->weak, m->init, object);
	(*env)->DeleteLocalRef(env, object);
	if (!weak)
		return false;
	(*env)->SetObjectArrayElement(env, m->objects, 1 + m->nr++, weak);
	(*env)->DeleteLocalRef(env, weak);
	m->piece[m->nr_piece++] = t->number;
	if (m->nr_piece == PIECE)
		write_piece(m);
	return !(*env)->ExceptionCheck(env);
}

static void finish(struct making *m, uint64_t cookie)
{
	static const uint32_t magic[] = ROSTER_MAGIC;
	jint head[ROSTER_HEAD] = { 0 };

	write_piece(m);
	memcpy(head, magic, sizeof(magic));
	head[ROSTER_COOKIE] = (jint)cookie;
	head[ROSTER_COOKIE + 1] = (jint)(cookie >> 32);
	head[ROSTER_NR] = (jint)m->nr;
	(*m->env)->SetIntArrayRegion(m->env, m->numbers, 0, ROSTER_HEAD, head);
}

static bool make(struct making *m, const struct tracked *objects, uint32_t nr, uint64_t cookie)
{
	uint32_t i;

	if (!find_classes(m) || !new_arrays(m, nr))
		return false;
	for (i = 0; i < nr; i++)
		if (!roster_add(m, &objects[i]))
			return false;
	finish(m, cookie);
	held = (*m->env)->NewGlobalRef(m->env, m->objects);
	return held;
}

static bool roster_has_room(JNIEnv *env, uint32_t nr)
{
	return free_bytes(env) > (int64_t)nr * OBJECT_BYTES * SPARE_FACTOR + SPARE_BYTES;
}

enum jvm_roster_answer roster_make(JNIEnv *env, const struct tracked *objects, uint32_t nr, uint64_t cookie)
{
	enum { REFS = 16 };
	static struct making m;
	bool made = false;

	roster_let_go(env, 0);
	if ((*env)->PushLocalFrame(env, REFS)) {
		(*env)->ExceptionClear(env);
		return JVM_ROSTER_NO_ROOM;
	}
	m = (struct making){ .env = env };
	store_relaxed(&maker, sys_tid());
	if (roster_has_room(env, nr))
		made = make(&m, objects, nr, cookie);
	store_relaxed(&maker, 0);
	(*env)->ExceptionClear(env);
	(*env)->PopLocalFrame(env, NULL);
	if (!made)
		return JVM_ROSTER_NO_ROOM;
	held_cookie = cookie;
	held_ns = sys_now();
	send_roster(NULL, &(struct jvm_roster){ .time_ns = held_ns, .cookie = cookie, .nr = m.nr });
	return JVM_ROSTER_DONE;
}

void roster_let_go(JNIEnv *env, uint64_t cookie)
{
	if (!held || (cookie && cookie != held_cookie))
		return;
	(*env)->DeleteGlobalRef(env, held);
	held = NULL;
}

void roster_expire(JNIEnv *env)
{
	if (held && sys_now() - held_ns > ROSTER_S * 1000000000ull)
		roster_let_go(env, 0);
}
