/* SPDX-License-Identifier: MIT */
/*
 * part.h - what a source of the agent is to those who turn sources on and off: a row of functions, which its
 * file defines. sources.c has the table of them. NULL: the source has nothing to do then.
 */
#ifndef AGENT_PART_H
#define AGENT_PART_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/proto.h"

struct part {
	enum jvm_source source;
	/* Forget what was sent: the session is that of another recorder. */
	void (*forget)(void);
	/* Begin, as the recorder asks. env NULL: the VM is not up yet. Return NULL, or why it cannot. */
	const char *(*on)(JavaVM *jvm, JNIEnv *env, uint64_t interval);
	/* The recorder listens now, and the VM was up before the session. */
	void (*go)(JNIEnv *env);
	/* The VM is up, in a session that began before. */
	void (*up)(JNIEnv *env);
	/* The recorder has asked: report what is counted. Called only while on. */
	void (*tell)(void);
	/* The VM ends, in a session. */
	void (*death)(JNIEnv *env);
	/*
	 * End, whether on or not: no sample begins any more. Return false if a thread of the source still
	 * runs.
	 */
	bool (*off)(JNIEnv *env);
	/* Return whether it must stay as it is until the session ends. NULL: no. */
	bool (*stays)(void);
};

/* Return whether the recorder asks for the source now, and with which interval. */
bool part_is_wanted(enum jvm_source source, uint64_t *interval);
/* Return true; for part.stays. */
bool part_stays(void);

/*
 * The parts in the order in which they begin; they end in the opposite one. Objects that live on come
 * before all that are allocated, as the VM is asked for both at once.
 */
#define PARTS(P) P(live) P(alloc) P(memory) P(lock) P(notify) P(throw) P(virtual) P(http) P(rmi) P(grpc) \
	P(sql)

#define EXTERN_PART(name) extern const struct part name##_part;
PARTS(EXTERN_PART)
#undef EXTERN_PART

#endif
