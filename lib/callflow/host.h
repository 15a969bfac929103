/* SPDX-License-Identifier: MIT */
/*
 * host.h - one process, one set of trees: how native code with hooks of its own (libarcprof-hookit.a in a
 * JNI library) steps the trees that the JVM agent keeps.
 *
 * Both are made of this room's code, each with its own copy of what it knows of the process; the host's is
 * the one that is used. The recorder, which knows both, tells the guest where this table lies.
 */
#ifndef CALLFLOW_HOST_H
#define CALLFLOW_HOST_H

#include "callflow/callflow.h"

struct callflow_host {
	uint32_t version;		/* CALLFLOW_VERSION */
	uint32_t bytes;			/* of this struct */
	const struct callflow_area *(*area)(void);
	bool (*forked)(void);
	/* The calling kernel thread's, made when it has none; NULL: no room. Not in a signal handler. */
	struct callflow_kthread *(*kthread)(void);
	/* It ends, or the process does; as callflow_kthread_end() and _note(). */
	void (*end)(struct callflow_kthread *k);
	void (*note)(struct callflow_kthread *k);
	uint32_t (*function)(uint64_t addr);
	void (*enter)(struct callflow_kthread *k, uint32_t consumer, uint64_t frame);
	void (*leave)(struct callflow_kthread *k, uint32_t consumer, uint64_t frame);
	void (*label)(struct callflow_kthread *k, const char *text, size_t len);
};

#endif
