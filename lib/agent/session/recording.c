// SPDX-License-Identifier: MIT
/*
 * recording.c - the class arcprof.Recording, defined in the boot loader where the agent is loaded by its
 * option, so that programs find it by its name without arcprof.jar. Its native methods are here, also those
 * of the class that a program brings along and that loads this library.
 */
#include "agent/agent.h"
#include "agent/session/journal.h"
#include "agent/session/recording.h"
#include "agent/sys.h"

/* compiled from lib/api/java/arcprof/Recording.java; empty without a compiler */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"recording_class_file:\n"
#ifdef RECORDING_CLASS
	".incbin \"" RECORDING_CLASS "\"\n"
#endif
	"recording_class_file_end:\n"
	".popsection\n");
extern const jbyte recording_class_file[] __attribute__((visibility("hidden")));
extern const jbyte recording_class_file_end[] __attribute__((visibility("hidden")));

static jstring as_string(JNIEnv *env, const struct message *t)
{
	return t->len ? (*env)->NewStringUTF(env, t->s) : NULL;
}

/* Return a number above 0, or in said[0] why the recording could not begin. */
static jint JNICALL recording_start(JNIEnv *env, jclass cls, jstring file, jstring events, jobjectArray said)
{
	struct message why = { .len = 0 };
	const char *f = (*env)->GetStringUTFChars(env, file, NULL);
	const char *e = f ? (*env)->GetStringUTFChars(env, events, NULL) : NULL;
	static struct sys_lock lock;
	static struct options w;		/* too large for any stack */
	uint32_t nr = 0;
	JavaVM *jvm;

	sys_lock(&lock);
	if (e && !(*env)->GetJavaVM(env, &jvm) && options_parse_events(&w, f, e, &why))
		nr = session_record(jvm, env, &w, &why);
	sys_unlock(&lock);
	if (e)
		(*env)->ReleaseStringUTFChars(env, events, e);
	if (f)
		(*env)->ReleaseStringUTFChars(env, file, f);
	if (!nr && !(*env)->ExceptionCheck(env))
		(*env)->SetObjectArrayElement(env, said, 0, as_string(env, &why));
	return (jint)nr;
}

/* Return what was lost, or null. */
static jstring JNICALL recording_stop(JNIEnv *env, jclass cls, jint nr)
{
	struct message said = { .len = 0 };

	session_stop(env, (uint32_t)nr, &said);
	return as_string(env, &said);
}

static bool recording_bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"start", (char *)"(Ljava/lang/String;Ljava/lang/String;[Ljava/lang/String;)I",
		  (void *)recording_start },
		{ (char *)"stop", (char *)"(I)Ljava/lang/String;", (void *)recording_stop },
	};

	return cls && (*env)->RegisterNatives(env, cls, m, ARRAY_SIZE(m)) == JNI_OK;
}

static void recording_define(JNIEnv *env)
{
	const jsize len = (jsize)(recording_class_file_end - recording_class_file);
	jclass cls = NULL;

	if (len)
		cls = (*env)->DefineClass(env, "arcprof/Recording", NULL, recording_class_file, len);
	recording_bind(env, cls);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
}

static void JNICALL recording_on_init(jvmtiEnv *ti, JNIEnv *env, jthread thread)
{
	recording_define(env);
	(*ti)->DisposeEnvironment(ti);
}

void recording_offer(JavaVM *jvm, JNIEnv *env)
{
	jvmtiEventCallbacks cb;
	jvmtiEnv *ti;

	if (env) {
		recording_define(env);
		return;
	}
	memset(&cb, 0, sizeof(cb));
	cb.VMInit = recording_on_init;
	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) == JNI_OK &&
	    (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE)
		(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
}

/* Called by System.load() of the class that comes with the program. */
__attribute__((visibility("default"))) JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *jvm, void *reserved)
{
	JNIEnv *env;

	if ((*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return JNI_ERR;
	recording_bind(env, (*env)->FindClass(env, "arcprof/Recording"));
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return JNI_VERSION_1_6;
}
