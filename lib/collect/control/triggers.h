/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * triggers.h - conditions that are watched during a recording ("record --when"): which are met is written
 * to the trace, each once in the time of the holdoff. What none of them needs is not looked at: of a
 * recording without conditions nothing is.
 */
#ifndef COLLECT_TRIGGERS_H
#define COLLECT_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/control/condition.h"

struct collect;
struct jvm_event;

struct trigger_opts {
	const struct condition *conditions;	/* the caller's, as long as it records */
	size_t nr_conditions;
	uint64_t holdoff_ns;
	/* A condition was met; cause has names that others gave. May be NULL. */
	void (*met)(const struct condition *w, const char *cause);
	/* A dump failed. May be NULL. */
	void (*missed)(const struct condition *w, const struct err *e);
};

/* Return which events of JVMs (enum jvm_tell) the conditions need: they are recorded then. */
uint32_t triggers_tell(const struct trigger_opts *o);

/* Begin to watch what the options say; c->triggers NULL: nothing. */
void triggers_open(struct collect *c);

/* Take an event of a JVM, in process proc of the trace. */
void triggers_event(struct collect *c, const struct jvm_event *r, uint32_t proc);
/* Trigger condition number when: a call of a timed method (timedcalls.h) took long, or is taking long. */
void triggers_call(struct collect *c, size_t when, uint32_t proc, const char *cause);
/* Handle a signal to the recorder; return false if no condition is for it. */
bool triggers_signal(struct collect *c, int sig);
/* Watch how a running JVM ends. */
void triggers_jvm(struct collect *c, int pid);
/*
 * Return a descriptor that is readable when a process that was there from the start ends, or -1 if no
 * condition concerns it.
 */
int triggers_fd(const struct collect *c, int pid);
/* Called at the end of the recording: check what happened since the last turn. */
void triggers_last(struct collect *c);
/* Note that the program has ended, with a status as of waitpid(). */
void triggers_ended(struct collect *c, int status);

#endif
