/* SPDX-License-Identifier: MIT */
/*
 * flow.h - exact callflow in a JVM: what stands between the rewriter of class files
 * (classfile/rewrite.h), the call trees (callflow/callflow.h) and HotSpot.
 *
 * Why it is so: Documentation/technical/callflow-java.adoc.
 */
#ifndef AGENT_FLOW_H
#define AGENT_FLOW_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "callflow/host.h"

/*
 * flow.c: asks the VM for what callflow needs, in a JVMTI environment of its own, so that
 * nothing is asked for without callflow. A VM that cannot do it is left alone, and the trace says
 * so. The area is attached. env is NULL when the VM is not up yet: everything then begins with it.
 */
void flow_on(JavaVM *jvm, JNIEnv *env);
/*
 * Everything as before: classes without probes, no area. False: something of ours still ran long after, and
 * the area stays.
 */
bool flow_off(JNIEnv *env);

/* helper.c: the classes of the probes. */
#define HELPER_CLASS "java/lang/ArcProbe"
#define HELPER_INIT_CLASS "arcprof/Init"
#define HELPER_ENTER "enter"
#define HELPER_EXIT "exit"
#define HELPER_THROWN "thrown"
#define HELPER_CAUGHT "caught"
#define HELPER_COUNT "count"
#define HELPER_LINE "line"
#define HELPER_BCI "bci"
/* Defines them and binds the probes that the area asks for, unless that was done before. */
bool helper_define(JNIEnv *env);
/* Defines a class of the boot loader: a global reference, NULL: the VM refused it. */
struct image;
jclass helper_add_class(JNIEnv *env, const char *name, const struct image *c);
/*
 * Calls bind() from a Java method of the boot loader: it may bind natives of any class without the VM's
 * warning.
 */
void helper_bind(JNIEnv *env, void (JNICALL *bind)(JNIEnv *env, jclass cls));

/* probe.c: the probes, and which kernel thread a JNIEnv is. */
void JNICALL probe_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_thrown(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_caught(JNIEnv *env, jclass cls, jint method);
/* Charge the innermost open call with that many executed bytecodes. */
void JNICALL probe_count(JNIEnv *env, jclass cls, jint nr);
/*
 * Probes work, or do nothing. What else works for callflow goes between probe_begin(), which says
 * whether it may, and probe_end().
 */
void probe_on(bool attached);
void probe_off(void);
bool probe_begin(void);
void probe_end(void);
/* Waits until no thread is in a probe, or between the two, any more; false: in vain. */
bool probe_wait_quiet(void);
/* The calling thread's; created if it has none yet. born: it has just started. NULL if there is no room. */
struct callflow_kthread *probe_kthread(JNIEnv *env, bool born);
/* The same, at any time: a probe. */
struct callflow_kthread *probe_own_kthread(JNIEnv *env);
/* The same, but NULL when it has none yet: where the call is not one to begin with. */
struct callflow_kthread *probe_known_kthread(JNIEnv *env);
/*
 * Whether the exception that the VM tells of now is no new one: the handler with which the probes watch a
 * method has thrown it again.  To be asked once for each.
 */
bool probe_rethrew(JNIEnv *env);
/* The calling thread ends, or Java's part of it. */
void probe_thread_end(JNIEnv *env);

/* probe.c: what functions of native code that have hooks use. */
extern const struct callflow_host native_host;

/*
 * bracket.c: the probes with CALLFLOW_BRACKETS: the outermost call on a thread that is wanted is traced
 * instruction by instruction, from entry to exit; a virtual thread's on each of its carriers. The other
 * functions do nothing without.
 */
void JNICALL bracket_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL bracket_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL bracket_thrown(JNIEnv *env, jclass cls, jint method);
/* After a mount and before an unmount, the end of a thread. */
void bracket_mounted(const struct callflow_kthread *k);
void bracket_unmounting(const struct callflow_kthread *k);
void bracket_thread_end(struct callflow_kthread *k);

/* probe.c: the same with CALLFLOW_TIMED. */
void JNICALL timed_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL timed_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL timed_thrown(JNIEnv *env, jclass cls, jint method);

/* probe.c: the same with CALLFLOW_TIERS. */
void JNICALL tier_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL tier_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL tier_thrown(JNIEnv *env, jclass cls, jint method);

/*
 * probe.c: the same with CALLFLOW_SITES, whether or not with CALLFLOW_TIERS; and a line or bytecode index of
 * the caller, of which there are 16 bits.
 */
void JNICALL site_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL site_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL site_thrown(JNIEnv *env, jclass cls, jint method);
void JNICALL site_line(JNIEnv *env, jclass cls, jint line);
void JNICALL site_bci(JNIEnv *env, jclass cls, jint bci);

/*
 * tier.c: tier_on() before the probes are bound, tier_try() with the frame of a native method that Java
 * called. Then tier_works() says whether tiers are known in this VM.
 */
void tier_on(void);
void tier_try(const void *frame);
bool tier_works(void);
/*
 * How the code runs that has called the probe whose frame this is: __builtin_frame_address(0), of a function
 * that a native method is bound to. Already shifted to its place in a consumer.
 */
uint32_t tier_of(const void *frame);

/*
 * flow.c: a callflow_thread of this Java thread (NULL: the calling one), named as Java names it;
 * flags beside CALLFLOW_THREAD_JAVA. NULL: a rule excludes it, or with *no_room there is none.
 */
struct callflow_thread *flow_new_thread(JNIEnv *env, jthread thread, uint32_t tid, uint32_t flags,
					bool *no_room);
/* The calling thread's, which native code made, is one of Java's from now on. */
void flow_adopt_thread(JNIEnv *env, struct callflow_thread *t);
/* JavaThread of a JNIEnv; 0 before the VM is up. */
uintptr_t flow_java_thread(JNIEnv *env);

/* instrument.c: which classes, and their new bytes. */
void instrument_init(JNIEnv *env);
void JNICALL instrument_hook(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint len, const unsigned char *data, jint *new_len,
			     unsigned char **new_data);
/* The bytes of a hidden class that is being defined become those with probes, until done. */
struct instrumented {
	const void *data;
	jint len;
	struct arena *arena;		/* instrument.c's */
};
void instrument_hidden(jvmtiEnv *ti, JNIEnv *env, jclass lookup, struct instrumented *in);
void instrument_hidden_done(struct instrumented *in);
/* hidden.c: they come to instrument_hidden(); false: this VM does not let us. */
bool hidden_on(jvmtiEnv *ti);
void hidden_off(void);
/*
 * What was loaded before the hook was enabled, as long as there is a recorder; undo: with the hook disabled
 * again, takes the probes out.
 */
void instrument_loaded(JNIEnv *env, jvmtiEnv *ti, bool undo);

/*
 * outer.c: calls that were open before. Threads are asked for them when the loaded classes have
 * their probes, each at its first call.
 */
void outer_on(JavaVM *jvm, jvmtiEnv *ti);
void outer_ready(void);

/* vthread.c: virtual threads on their carriers; nothing happens in a VM that has none. */
void vthread_want(jvmtiEnv *ti, jvmtiCapabilities *want);
void *vthread_on_end(void);
void vthread_enable(jvmtiEnv *ti);

/* objects.c: each allocated object, when that metric is asked; JDK 11 and later. */
void objects_want(jvmtiEnv *ti, jvmtiCapabilities *want);
void *objects_on_alloc(void);
void objects_prepare(jvmtiEnv *ti);	/* has what it wants */
void objects_enable(jvmtiEnv *ti);
void objects_disable(jvmtiEnv *ti);

/*
 * quiet.c: when is no thread inside code that was switched off? Returns when every thread of the process but
 * the calling one has been seen waiting, or has run for some milliseconds, since the call; false: not within
 * so long. For code that takes microseconds and does not wait.
 */
bool quiet_wait(int max_ms);

#endif
