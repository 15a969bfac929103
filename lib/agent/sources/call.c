// SPDX-License-Identifier: MIT
#include "agent/session/label.h"
#include "agent/sources/call.h"
#include "agent/sources/sources.h"

/* Compiled from java/ArcCall.java; without a compiler it is empty. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"call_class_file:\n"
#ifdef CALL_CLASS
	".incbin \"" CALL_CLASS "\"\n"
#endif
	"call_class_file_end:\n"
	".popsection\n");
extern const jbyte call_class_file[] __attribute__((visibility("hidden")));
extern const jbyte call_class_file_end[] __attribute__((visibility("hidden")));

static struct given *source_of(jint what)
{
	return what < CALL_EXECUTE ? &http : what < CALL_BLOCKING ? &rmi : &grpc;
}

static void JNICALL called(JNIEnv *env, jclass cls, jlong ns, jint what)
{
	sources_sample(source_of(what)->source, ns > 0 ? (uint64_t)ns : 1, 0, 0);
}

static void JNICALL missed(JNIEnv *env, jclass cls, jstring why, jint what)
{
	given_missed(source_of(what), env, why);
}

static void JNICALL call_bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"called", (char *)"(JI)V", (void *)called },
		{ (char *)"missed", (char *)"(Ljava/lang/String;I)V", (void *)missed },
	};

	(*env)->RegisterNatives(env, call_class.class, m, ARRAY_SIZE(m));
}

struct given_class call_class = {
	.name = "java/lang/ArcCall", .file = call_class_file, .file_end = call_class_file_end,
	.calls = { "enter", "leave", "result" }, .bind = call_bind,
	.prepare = label_on,		/* it looks for the class of labels */
};
