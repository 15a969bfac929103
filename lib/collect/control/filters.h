/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filters.h - which events of a recording are stored: rules (base/rules.h) that it began with, or that
 * "arcprof ctl set filter" has set since. They are asked when an event comes, before anything is added up or
 * written, so that all sums are of what is kept; what is left out is counted by event. An event goes by the
 * rules of its time, as far as one change back.
 *
 * Names of threads and classes are kept whether there is a filter or not, since one may come. What was found
 * of each is remembered: a sample costs a look-up, however many threads and rules there are.
 */
#ifndef COLLECT_FILTERS_H
#define COLLECT_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/rules.h"
#include "jvm/record.h"

struct collect;

/* Numbers of events here: perf events, sources, and events of JVMs by their kind. */
enum { FILTERS_PERF = 0, FILTERS_SOURCE = 40, FILTERS_EVENT = 56, FILTERS_NR = FILTERS_EVENT + 32 };

struct filters {
	const struct rules *now;	/* NULL: all is kept */
	struct rules set[2];		/* by ctl: now, and before; the other way round after each change */
	const struct rules *before;
	uint64_t since_ns;		/* when now became it */
	uint32_t generation;
	struct map threads, classes;	/* numbers of the trace -> index in list */
	struct known {			/* a thread or a class */
		char *name, *group;	/* group: of a Java thread, NULL: not known */
		bool java, virtual;
		uint32_t generation;	/* of what follows */
		uint64_t asked, wanted;	/* bits of events */
		uint32_t next_free;	/* index + 1 */
	} *list;
	size_t nr_list, alloc_list;
	uint32_t first_free;
	size_t nr_forgotten;
	uint64_t left_out[FILTERS_NR];
};

/* -EINVAL: they name an event that there is not. */
int filters_init(struct collect *c, struct err *e);
void filters_release(struct filters *f);
/* Write the rules in force at the beginning of a file; and how much was left out at its end. */
void filters_begin_file(struct collect *c, uint64_t time_ns);
void filters_end_file(struct collect *c);
/* Set what is kept from now on: a list of conditions, or "none". On -EINVAL nothing changes. */
int filters_set(struct collect *c, const char *text, struct err *e);
/* Return whether that has been set since the recording began. */
bool filters_were_set(const struct collect *c);
/* Append the line for "arcprof ctl status", if anything is filtered. */
void filters_list(const struct collect *c, struct buf *b);

/* Set the name of a thread; "": it has none. A name from Java is not replaced. */
void filters_thread(struct filters *f, uint32_t thread, const char *name, bool java, bool virtual);
/* Set the thread group in Java, which is known of virtual threads. */
void filters_group(struct filters *f, uint32_t thread, const char *name);
void filters_forget_thread(struct filters *f, uint32_t thread);
void filters_class(struct filters *f, uint32_t function, const char *name);
void filters_forget_class(struct filters *f, uint32_t function);

/* Return whether an event is wanted, and count it if not; must be called once for each event. */
bool filters_want_perf(struct collect *c, uint32_t event, uint32_t thread, uint64_t time_ns);
/* Do the same for a source; function: the class, 0: none. */
bool filters_want_source(struct collect *c, size_t source, uint32_t thread, uint32_t function,
			 uint64_t time_ns);
/* Do the same for what belongs to such an event, without counting it. */
bool filters_keep_source(struct collect *c, size_t source, uint32_t thread, uint64_t time_ns);
bool filters_want_wait(struct collect *c, size_t source, uint32_t thread, uint32_t function,
		       const struct jvm_wait *r);
/*
 * Do the same for an event; thread: the number of its thread, 0 none; it is computed only if there are rules.
 */
bool filters_want_event(struct collect *c, uint32_t thread, const struct jvm_event *r);
bool filters_have_rules(const struct collect *c, uint64_t time_ns);
/* Return whether what is charged at that time, during a wait, can belong to a wait that will not be kept. */
bool filters_of_waits(const struct collect *c, uint64_t time_ns);

#endif
