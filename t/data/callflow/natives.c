/* The library of t/workloads/Natives.java, built with hooks. */
#include <jni.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>

#define KEEP __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

static JavaVM *vm;
static jclass natives;
static jmp_buf out;
static volatile int sink;

PLAIN static void call(JNIEnv *env, const char *name, int n)
{
	(*env)->CallStaticVoidMethod(env, natives, (*env)->GetStaticMethodID(env, natives, name, "(I)V"), n);
}

KEEP static void leaf(void)
{
	sink++;
}

/* Two leaves, and back() with the same number. */
JNIEXPORT void JNICALL Java_Natives_work(JNIEnv *env, jclass cls, jint n)
{
	leaf();
	leaf();
	call(env, "back", n);
	sink++;
}

KEEP static void deep(int n)
{
	if (!n)
		longjmp(out, 1);
	deep(n - 1);
	sink++;
}

/* Five deep() that never return, then a leaf. */
JNIEXPORT void JNICALL Java_Natives_jump(JNIEnv *env, jclass cls)
{
	if (!setjmp(out))
		deep(4);
	leaf();
}

/* Four thrower() that an exception ends, then a leaf. */
JNIEXPORT void JNICALL Java_Natives_catches(JNIEnv *env, jclass cls)
{
	call(env, "thrower", 3);
	(*env)->ExceptionClear(env);
	leaf();
}

/* A thread that is Java's for a while. */
KEEP static void *run(void *arg)
{
	JNIEnv *env;
	int i;

	leaf();
	for (i = 0; i < 2; i++) {
		(*vm)->AttachCurrentThread(vm, (void **)&env, NULL);
		call(env, "back", 1);
		(*vm)->DetachCurrentThread(vm);
		leaf();
	}
	return NULL;
}

JNIEXPORT void JNICALL Java_Natives_thread(JNIEnv *env, jclass cls)
{
	pthread_t t;

	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *jvm, void *reserved)
{
	JNIEnv *env;

	vm = jvm;
	(*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8);
	natives = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "Natives"));
	return JNI_VERSION_1_8;
}
