/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - between write.c, which writes trace events, and write_profile.c, write_calls.c and
 * write_events.c, which have those of samples, calls and JVMs.
 */
#ifndef FORMATS_CHROME_WRITE_H
#define FORMATS_CHROME_WRITE_H

#include "base/json.h"
#include "report/export.h"

struct chrome {
	struct view *v;
	struct json j;
	struct export x;
	struct export_stacks stacks;
	struct map named;		/* pid, and pid and tid, that were named */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	uint64_t nr_events;
	bool has_instants;		/* samples that refer to "stackFrames" */
};

/* Threads that the kernel has no number for get one above all that it gives. */
enum { CHROME_UNNUMBERED = 1 << 30 };

/* Begins an event; json_end() completes it. */
void chrome_event(struct chrome *c, const char *phase, uint32_t pid, uint32_t tid);
/* Write a time since the start, in microseconds with three decimals. */
void chrome_time(struct chrome *c, const char *key, uint64_t ns);
/* Write a duration, in the same unit. */
void chrome_duration(struct chrome *c, uint64_t ns);
/* Tells the name of a process or a thread the first time; later names are ignored. */
void chrome_name_process(struct chrome *c, uint32_t pid, const char *name);
void chrome_name_thread(struct chrome *c, uint32_t pid, uint32_t tid, const char *name);

/* The thread or process of a track, on whose track things are shown; both have names then. */
struct chrome_place {
	uint32_t pid, tid;
};
struct chrome_place chrome_place(struct chrome *c, uint32_t root);
/* Return the name of the innermost function of a stack. */
const char *chrome_frame_name(const struct chrome *c, uint32_t stack);

/* Write samples of time as profiles of their threads. */
void chrome_put_profiles(struct chrome *c, const struct export_samples *s);
/* Write the calls of a trace that has each of them; having none is not an error. */
int chrome_put_calls(struct chrome *c, struct err *e);
/* Write events of JVMs and labels of threads; having none is not an error. */
int chrome_put_events(struct chrome *c, struct err *e);

#endif
