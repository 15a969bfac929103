// SPDX-License-Identifier: MIT
/*
 * label.c - the class arcprof.Label, defined in the boot loader where labels are recorded: every class loader
 * finds it there by its name, and nothing of arcprof needs to be on the program's class path. Its native
 * methods are here.
 *
 * Threads write to the rings at any time, so the session ends when none of them is about to.
 */
#include <jni.h>

#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/ring.h"
#include "agent/session/recording.h"
#include "agent/sys.h"
#include "base/atomic.h"

enum { MAX_TEXT = 510, WAIT_MS = 1000 };

/* compiled from lib/api/java/arcprof/Label.java; empty without a compiler */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"label_class_file:\n"
#ifdef LABEL_CLASS
	".incbin \"" LABEL_CLASS "\"\n"
#endif
	"label_class_file_end:\n"
	".popsection\n");
extern const jbyte label_class_file[] __attribute__((visibility("hidden")));
extern const jbyte label_class_file_end[] __attribute__((visibility("hidden")));

static jclass label_class;
static bool on;
static uint32_t nr_inside;	/* threads that look whether it is on, or write */

static jboolean JNICALL is_on(JNIEnv *env, jclass cls)
{
	return load_relaxed(&on);
}

/* The class caches the number: there is no thread-local storage here, and a system call takes 100 ns. */
static jint JNICALL get_tid(JNIEnv *env, jclass cls)
{
	return sys_tid();
}

static void agent_label_write_labels(const struct jvm_labels *r)
{
	struct jvm_ring *ring = ring_of((int)r->thread);

	if (!send_labels(ring, r))
		ring_count_lost(ring);
}

/* Calls are counted with the labels of their time. */
static void label_calls(JNIEnv *env, const struct jvm_labels *r)
{
	struct callflow_kthread *k;

	if (!probe_begin())
		return;
	k = callflow_area() && callflow_area()->nr_labels ? probe_kthread(env, false) : NULL;
	if (k)
		callflow_label(k, r->text, r->text_len);
	probe_end();
}

static void JNICALL agent_label_put(JNIEnv *env, jclass cls, jint tid, jlong vthread, jint nr,
				    jbyteArray text)
{
	const jsize len = (*env)->GetArrayLength(env, text);
	jbyte copy[MAX_TEXT];
	struct jvm_labels r = {
		.thread = (uint32_t)tid, .nr = (uint32_t)nr, .vthread = (uint64_t)vthread,
		.text = (const char *)copy, .text_len = (uint32_t)len,
	};

	if (len > MAX_TEXT || !load_relaxed(&on))
		return;
	(*env)->GetByteArrayRegion(env, text, 0, len, copy);
	__atomic_fetch_add(&nr_inside, 1, __ATOMIC_SEQ_CST);
	r.time_ns = sys_now();
	if (load_seq_cst(&on)) {
		agent_label_write_labels(&r);
		label_calls(env, &r);
	}
	__atomic_fetch_sub(&nr_inside, 1, __ATOMIC_RELEASE);
}

static jclass agent_label_define(JNIEnv *env)
{
	const jsize len = (jsize)(label_class_file_end - label_class_file);
	jclass cls = len ? (*env)->DefineClass(env, "arcprof/Label", NULL, label_class_file, len) : NULL;

	return cls ? (*env)->NewGlobalRef(env, cls) : NULL;
}

void label_on(JNIEnv *env)
{
	const JNINativeMethod m[] = {
		{ (char *)"isOn", (char *)"()Z", (void *)is_on },
		{ (char *)"tid", (char *)"()I", (void *)get_tid },
		{ (char *)"put", (char *)"(IJI[B)V", (void *)agent_label_put },
	};

	if (!(ring_ctl()->tell & JVM_TELL_LABEL))
		return;
	if (!label_class) {
		label_class = agent_label_define(env);
		if (label_class)
			(*env)->RegisterNatives(env, label_class, m, ARRAY_SIZE(m));
	}
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	store_seq_cst(&on, label_class != NULL);
}

bool label_off(void)
{
	int ms;

	store_seq_cst(&on, false);
	for (ms = 0; load_acquire(&nr_inside) && ms < WAIT_MS; ms++)
		sys_sleep_ms(1);
	return !load_acquire(&nr_inside);
}
