/* SPDX-License-Identifier: MIT */
/*
 * given.h - probes with what methods were given (struct classfile_given), which sources of samples put into
 * classes of libraries. They call a class in java.lang (java/), which every class can see; it is defined when
 * it is first wanted, and stays, turned off, when it is not.
 *
 * That class has two static methods beside those that the probes call: turn(long), which the agent calls with
 * a random number, or 0 when a source ends that turned it on; and missed(), a native, which tells what was
 * not as expected.
 */
#ifndef AGENT_GIVEN_H
#define AGENT_GIVEN_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hashes.h"
#include "agent/sys.h"
#include "classfile/rewrite.h"
#include "jvm/proto.h"

/* a class that probes call */
struct given_class {
	const char *name;		/* java/lang/ArcCall */
	const jbyte *file, *file_end;	/* its class file; empty where there was no compiler */
	struct classfile_given calls;
	/* Registers its natives; a Java method of the boot loader calls it. */
	void (JNICALL *bind)(JNIEnv *env, jclass cls);
	/* Called before it is turned on. */
	void (*prepare)(JNIEnv *env);
	jclass class;			/* given.c's: NULL until it is defined */
};

/* A method with probes. type: its descriptor, or how that begins, with a '*'. */
struct given_method {
	const char *class;		/* NULL: of all that may have it */
	const char *name, *type;
	int32_t answer;			/* CLASSFILE_GIVEN() */
};

struct given {
	enum jvm_source source;
	struct given_class *helper;
	const struct given_method *methods;
	size_t nr_methods;
	/*
	 * Check whether a class that is being loaded may have such methods, and whether one that is loaded
	 * has; sig: Ljava/lang/String;. NULL: those that the methods name.
	 */
	bool (*may_have)(const char *name, const unsigned char *data, size_t len);
	bool (*has)(JNIEnv *env, jclass cls, const char *sig);

	/* given.c's own: */
	jvmtiEnv *ti;			/* NULL: it is off */
	uint32_t nr_missed;
	struct hashes probed;		/* names of classes with probes */
	struct sys_lock lock;		/* of them */
};

/*
 * Define the class and put the probes in, or do nothing while the VM is not up yet (env NULL): then
 * given_up() does it. Return NULL, or why it cannot be.
 */
const char *given_on(struct given *g, JavaVM *jvm, JNIEnv *env);
void given_up(struct given *g, JNIEnv *env);
/* Take the probes out, and turn the class off; nothing where it is off. */
void given_off(struct given *g, JNIEnv *env);
/*
 * Report a missed call, for missed(): the first, the tenth, the hundredth and so on, as a million may be
 * missed.
 */
void given_missed(struct given *g, JNIEnv *env, jstring why);

#endif
