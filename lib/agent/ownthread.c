// SPDX-License-Identifier: MIT
/*
 * ownthread.c - the agent's own threads in a JVM: starts them, and remembers which they are, so that events
 * and profiles can tell them from the program's.
 */
#include "agent/ownthread.h"
#include "agent/sys.h"

/* Weak references, so that threads that have ended can go. Under the lock. */
enum { MOST = 64 };
static jweak threads[MOST];
static struct sys_lock lock;


/*
 * Must be called before the thread starts, as events report that. Threads beyond the table's size are known
 * by their names only.
 */
static void ownthread_remember(JNIEnv *env, jthread t)
{
	size_t i = 0;

	sys_lock(&lock);
	while (i < MOST && threads[i] && !(*env)->IsSameObject(env, threads[i], NULL))
		i++;
	if (i < MOST) {
		if (threads[i])
			(*env)->DeleteWeakGlobalRef(env, threads[i]);
		threads[i] = (*env)->NewWeakGlobalRef(env, t);
	}
	sys_unlock(&lock);
}

bool ownthread_is(JNIEnv *env, jthread thread)
{
	bool is = false;
	size_t i;

	if (!env || !thread)
		return false;
	sys_lock(&lock);
	for (i = 0; i < MOST && !is; i++)
		is = threads[i] && (*env)->IsSameObject(env, threads[i], thread);
	sys_unlock(&lock);
	return is;
}

static jthread ownthread_new_thread(JNIEnv *env)
{
	jclass cls = (*env)->FindClass(env, "java/lang/Thread");
	jmethodID init = cls ? (*env)->GetMethodID(env, cls, "<init>", "(Ljava/lang/String;)V") : NULL;
	jstring name = init ? (*env)->NewStringUTF(env, "arcprof") : NULL;
	jthread t = name ? (*env)->NewObject(env, cls, init, name) : NULL;

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return t;
}

bool ownthread_run(JNIEnv *env, jvmtiStartFunction run)
{
	static jvmtiEnv *ti;
	jthread t = ownthread_new_thread(env);
	JavaVM *jvm;

	if (!t || (*env)->GetJavaVM(env, &jvm) ||
	    (!ti && (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK))
		return false;
	ownthread_remember(env, t);
	return (*ti)->RunAgentThread(ti, t, run, NULL, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
}
