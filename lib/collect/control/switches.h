/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switches.h - what is recorded now, and what was when: "arcprof ctl enable" and "disable", pauses, windows.
 *
 * Each event of the recording has a switch, which somebody has set or not; it is on when it is set, no
 * pause is on and the window is open. To be off is to cost nothing: perf events are disabled, and JVMs not
 * asked. The times of a switch are the intervals in which every process had applied it: an event that is
 * turned off is off before the messages are sent; one that is turned on is on when all have answered. Samples
 * of other moments are dropped, so that the trace has all of what happened while an event was on, and nothing
 * else. It says when that was in records "recorded", of events that were not on all the time.
 */
#ifndef COLLECT_SWITCHES_H
#define COLLECT_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "jvm/server.h"

struct collect;
struct collect_opts;

/* On and off changes kept per event: a sample may arrive late, when its thread goes on. */
enum { SWITCH_TIMES = 4096 };

struct switched {
	bool set;			/* by name */
	bool fixed;			/* on all the time: live objects, native memory */
	bool on;			/* now */
	const struct event_time *time;	/* NULL: it is set by hand alone */
	uint64_t set_ns, clear_ns;	/* when that sets it, and clears it; 0: it does not, or not yet */
	/* when it last changed, the latest last */
	uint64_t times[SWITCH_TIMES];
	size_t nr_times;
};

struct switches {
	struct switched *perf;		/* [events of the recording that are in the trace] */
	struct switched sources[16];	/* [COLLECT_MAX_SOURCES] */
	struct switched tells[32];	/* [bit of enum jvm_tell] */
	struct switched calls;		/* exact ones */
	uint64_t next[16];		/* [COLLECT_MAX_SOURCES]: intervals that are to come, + 1 */
	size_t nr_next;
	bool begun, shut;		/* the window is shut */
	uint64_t turn_ns;		/* when the window opens or shuts next; 0: there is none */
	bool marked;			/* the recording's start_mark came */
	bool *marks;			/* [times]: theirs did */
	uint64_t nr_dropped;		/* samples of the first perf event, while all was not yet told */
	bool has_asked;			/* agents for a change: */
	struct jvm_server_opts asked;	/* what they were asked for last */
};

int switches_init(struct collect *c, struct err *e);
void switches_release(struct switches *s);
/* Begin recording: after --delay, or with the program. */
void switches_begin(struct collect *c, uint64_t now_ns);
/*
 * Begin the parts whose own event is on. Agents walk waiting threads once, and are asked to when they are
 * heard, as what they report before is lost.
 */
void switches_begin_parts(struct collect *c, uint64_t now_ns);
/* Fill in what agents are asked for at first. */
void switches_ask(struct collect *c, struct jvm_server_opts *o);
/*
 * Sets the events of a list with commas, or none of it; "alloc=64k" sets the interval, too. An event that
 * is not in the recording is added if agents can report it. Returns when all have done so; what is left to
 * say is added to *reply.
 */
int switches_set(struct collect *c, const char *names, bool on, struct buf *reply, struct err *e);
/*
 * Sets intervals of events of the recording, "cpu-clock=10ms,alloc=64k", or none of them. What is on stays
 * on, but that of a source is off until all agents have the new one.
 */
int switches_set_intervals(struct collect *c, const char *settings, struct buf *reply, struct err *e);
/* Check whether no delay, window or filter is asked for: all is to be recorded, from first to last. */
bool switches_are_none(const struct collect_opts *o);
/*
 * Ask agents again for what they do already, so that they send their counts, and wait at most wait_ms for
 * their answers. What they have sent is then to be drained.
 */
void switches_ask_again(struct collect *c, int wait_ms);
/* Must be called after a pause began or ended. */
void switches_pause(struct collect *c);
/* Write what is off at the beginning of a new file. */
void switches_next_file(struct collect *c, uint64_t now_ns);
/* Open or close the window when it is due, and turn events with times of their own. */
void switches_turn(struct collect *c, uint64_t now_ns);
/* Return when that is next, or 0 for never. */
uint64_t switches_due_ns(const struct collect *c);
/* Note that a program set a mark, or ended a phase. */
void switches_mark(struct collect *c, const char *name, size_t len);
/* Called at the end: report what was to begin at a mark that never came. */
void switches_missing(struct collect *c);

/*
 * Return whether exact calls are recorded from the start of each process, rather than from the beginning of
 * the recording.
 */
bool switches_calls_from_start(const struct collect *c);
/* Return whether there is an event that no pause or window can turn off. */
bool switches_any_fixed(const struct collect *c);
/* Append what is on, what is off, and the intervals: a line for each. */
void switches_list(const struct collect *c, struct buf *b);

/* ---- switched.c ---- */

/* Check whether it is to be on now, as it is set, and pauses and windows are. */
bool switches_want(const struct collect *c, const struct switched *s);
/* Check whether it was recorded at that time: a perf event, a source by its index, one enum jvm_tell. */
bool switches_perf(const struct collect *c, uint32_t event, uint64_t time_ns);
bool switches_source(const struct collect *c, size_t source, uint64_t time_ns);
bool switches_tell(const struct collect *c, uint32_t tell, uint64_t time_ns);
/* Return the latest moment when the source was recorded. */
uint64_t switches_source_end(const struct collect *c, size_t source);
/* Check whether perf event number event is to run now: it is recorded, or wall needs it. */
bool switches_runs(const struct collect *c, size_t event);
#endif
