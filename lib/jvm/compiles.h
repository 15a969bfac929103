/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiles.h - compilations that are going on, by compiler thread: the VM's log has their begin and, by the
 * same thread, the installation of the code, which makes the duration.
 *
 * A thread compiles one method at a time. When it begins the next, the one before has installed nothing:
 * it is handed over without a duration, and as JVM_EVENT_NOT_COMPILED, if the VM is known to log
 * installations.
 */
#ifndef JVM_COMPILES_H
#define JVM_COMPILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/record.h"

struct compile;

struct compiles {		/* zero: none */
	struct compile *list;
	size_t nr, alloc;
	bool has_installed;
};

/* A line of the log about installed code; the name is "java.lang.String.coder()B", not terminated. */
struct installed {
	uint64_t time_ns;
	uint64_t tier;
	uint32_t thread;
	bool osr;
	const char *name;
	size_t name_len;
};

typedef void compiles_fn(void *ctx, struct jvm_event *e);

/* Keeps *e, a JVM_EVENT_COMPILE, until it is known how long it took; its cause is a fixed text. */
void compiles_begin(struct compiles *c, const struct jvm_event *e, compiles_fn *event, void *ctx);
/* Hands over the compilation that it ends; does nothing when none fits. */
void compiles_installed(struct compiles *c, const struct installed *i, compiles_fn *event, void *ctx);
/* *e is a JVM_EVENT_NOT_COMPILED: the same for the compilation that was given up. */
void compiles_given_up(struct compiles *c, const struct jvm_event *e, compiles_fn *event, void *ctx);
/* Hands over all, without durations: the rest of the log is missing. */
void compiles_flush(struct compiles *c, compiles_fn *event, void *ctx);
/* Forgets all. */
void compiles_release(struct compiles *c);

#endif
