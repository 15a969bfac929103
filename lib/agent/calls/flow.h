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
 * flow.c: ask the VM for what callflow needs, in a JVMTI environment of its own, so that nothing is asked for
 * without callflow. A VM that lacks it is left alone, and the trace says so. The area must be attached. env
 * is NULL when the VM is not up yet: everything then begins with it.
 */
void flow_on(JavaVM *jvm, JNIEnv *env);
/*
 * Remove the probes and the area. Returns false if code of ours still ran after a long wait; the area stays
 * then.
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
/* Define the classes and bind the probes that the area asks for, unless that was done before. */
bool helper_define(JNIEnv *env);
/* Define a class of the boot loader. Returns a global reference, NULL if the VM refused it. */
struct image;
jclass helper_add_class(JNIEnv *env, const char *name, const struct image *c);
/*
 * Call bind() from a Java method of the boot loader, which may bind natives of any class without a warning of
 * the VM.
 */
void helper_bind(JNIEnv *env, void (JNICALL *bind)(JNIEnv *env, jclass cls));

/* probe.c: the probes, and which kernel thread a JNIEnv is. */
void JNICALL probe_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_thrown(JNIEnv *env, jclass cls, jint method);
void JNICALL probe_caught(JNIEnv *env, jclass cls, jint method);
/* Charge the innermost open call with nr executed bytecodes. */
void JNICALL probe_count(JNIEnv *env, jclass cls, jint nr);
/*
 * Switch the probes on or off. Other code that works for callflow runs between probe_begin(), which returns
 * whether it may, and probe_end().
 */
void probe_on(bool attached);
void probe_off(void);
bool probe_begin(void);
void probe_end(void);
/* Wait until no thread is in a probe, or between probe_begin() and probe_end(). Returns false on timeout. */
bool probe_wait_quiet(void);
/*
 * Return the calling thread's entry, created if need be. born: it has just started. NULL: there is no room.
 */
struct callflow_kthread *probe_kthread(JNIEnv *env, bool born);
/* Do the same at any time: for probes. */
struct callflow_kthread *probe_own_kthread(JNIEnv *env);
/* Return the calling thread's entry, NULL if it has none: for calls that do not begin a tree. */
struct callflow_kthread *probe_known_kthread(JNIEnv *env);
/*
 * Return whether the exception of the VM's event is not new: the handler with which probes watch a method has
 * rethrown it. Must be called once for each exception.
 */
bool probe_rethrew(JNIEnv *env);
/* Must be called when the calling thread ends, or detaches from Java. */
void probe_thread_end(JNIEnv *env);

/* probe.c: callbacks for hooks in native code */
extern const struct callflow_host native_host;

/*
 * bracket.c: the probes with CALLFLOW_BRACKETS: the outermost selected call on a thread is traced instruction
 * by instruction, from entry to exit; a virtual thread's on each of its carriers. Without the flag the other
 * functions do nothing.
 */
void JNICALL bracket_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL bracket_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL bracket_thrown(JNIEnv *env, jclass cls, jint method);
/* Must be called after a mount, before an unmount, and at the end of a thread. */
void bracket_mounted(const struct callflow_kthread *k);
void bracket_unmounting(const struct callflow_kthread *k);
void bracket_thread_end(struct callflow_kthread *k);

/* probe.c: the probes with CALLFLOW_TIMED */
void JNICALL timed_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL timed_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL timed_thrown(JNIEnv *env, jclass cls, jint method);

/* probe.c: the probes with CALLFLOW_TIERS */
void JNICALL tier_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL tier_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL tier_thrown(JNIEnv *env, jclass cls, jint method);

/*
 * probe.c: the probes with CALLFLOW_SITES, with or without CALLFLOW_TIERS; and a line or bytecode index of
 * the caller, of which there are 16 bits.
 */
void JNICALL site_enter(JNIEnv *env, jclass cls, jint method);
void JNICALL site_exit(JNIEnv *env, jclass cls, jint method);
void JNICALL site_thrown(JNIEnv *env, jclass cls, jint method);
void JNICALL site_line(JNIEnv *env, jclass cls, jint line);
void JNICALL site_bci(JNIEnv *env, jclass cls, jint bci);

/*
 * tier.c: tier_on() comes before the probes are bound, tier_try() gets the frame of a native method that Java
 * called. tier_works() then says whether tiers are known in this VM.
 */
void tier_on(void);
void tier_try(const void *frame);
bool tier_works(void);
/*
 * Return how the code runs that called the probe with this frame: __builtin_frame_address(0) of the function
 * that is bound to the native method. The value is shifted to its place in a consumer.
 */
uint32_t tier_of(const void *frame);

/*
 * flow.c: return a callflow_thread for this Java thread (NULL: the calling one), with its Java name; flags
 * are added to CALLFLOW_THREAD_JAVA. NULL: a rule excludes it or, with *no_room set, the table is full.
 */
struct callflow_thread *flow_new_thread(JNIEnv *env, jthread thread, uint32_t tid, uint32_t flags,
					bool *no_room);
/* Turn the native thread t, which is the calling one, into one of Java's. */
void flow_adopt_thread(JNIEnv *env, struct callflow_thread *t);
/* Return the JavaThread of a JNIEnv; 0 before the VM is up. */
uintptr_t flow_java_thread(JNIEnv *env);

/* instrument.c: selects classes, and makes their new bytes. */
void instrument_init(JNIEnv *env);
void JNICALL instrument_hook(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint len, const unsigned char *data, jint *new_len,
			     unsigned char **new_data);
/* Replace the bytes of a hidden class by those with probes, until instrument_hidden_done(). */
struct instrumented {
	const void *data;
	jint len;
	struct arena *arena;		/* owned by instrument.c */
};
void instrument_hidden(jvmtiEnv *ti, JNIEnv *env, jclass lookup, struct instrumented *in);
void instrument_hidden_done(struct instrumented *in);
/* hidden.c: pass hidden classes to instrument_hidden(). Returns false if this VM does not allow it. */
bool hidden_on(jvmtiEnv *ti);
void hidden_off(void);
/*
 * Put probes into classes loaded before the hook was enabled, as long as there is a recorder; undo: take the
 * probes out, with the hook disabled again.
 */
void instrument_loaded(JNIEnv *env, jvmtiEnv *ti, bool undo);

/*
 * outercalls.c: calls that were open before. When the loaded classes have their probes, each thread is asked
 * for them at its first call.
 */
void outercalls_on(JavaVM *jvm, jvmtiEnv *ti);
void outercalls_ready(void);

/* vthread.c: virtual threads on their carriers; does nothing in a VM that has none. */
void vthread_want(jvmtiEnv *ti, jvmtiCapabilities *want);
void *vthread_on_end(void);
void vthread_enable(jvmtiEnv *ti);

/* objects.c: each allocated object, if that metric is recorded; JDK 11 and later. */
void objects_want(jvmtiEnv *ti, jvmtiCapabilities *want);
void *objects_on_alloc(void);
void objects_prepare(jvmtiEnv *ti);	/* after the capabilities were granted */
void objects_enable(jvmtiEnv *ti);
void objects_disable(jvmtiEnv *ti);

/*
 * quiesce.c: wait until every other thread of the process has been seen waiting, or has run for some
 * milliseconds, since the call: then none is inside code that was switched off, if that takes microseconds
 * and does not wait. Returns false after max_ms.
 */
bool quiesce_wait(int max_ms);

#endif
