// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lifetimes.c - how long threads lived while the source "wall" was recorded, by the kernel's records of their
 * forks and exits, against which its samples are measured: these come from slots that are filled when threads
 * are switched. The trace gets records "thread.counted", and the total as label event.N.counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/sources.h"
#include "trace/format.h"

struct lifetimes {
	size_t source;
	uint64_t file_ns;		/* when the current file began; 0: it is the first */
	uint64_t ns;			/* of all threads, in this file */
};

/*
 * Return whether all threads are recorded from the first to the last moment. Virtual threads, which run
 * beside those of the kernel, have no records.
 */
static bool lifetimes_is_wanted(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	return sources_find(c, "wall") < o->nr_sources && !sources_is_recorded(c, JVM_SOURCE_VIRTUAL) &&
	       !o->system_wide && !o->groups && !o->nr_tids && !c->flight && !walls_polled(c) &&
	       switches_are_none(o);
}

static void ready(struct collect *c)
{
	struct lifetimes *l;

	if (!lifetimes_is_wanted(c))
		return;
	l = c->own[PART_lifetimes] = xcalloc(1, sizeof(*l));
	l->source = sources_find(c, "wall");
}

static bool lifetimes_was_kept(const struct collect *c, const struct lifetimes *l)
{
	return l && walls_begun_ns(c) && !c->paused && !filters_were_set(c) &&
	       c->switches.sources[l->source].nr_times <= 1;
}

/*
 * Return whether the thread is the future program before its exec: it has no samples (wall.c), and may wait
 * for a CPU for long.
 */
static bool is_before_program(const struct collect *c, const struct thread *th)
{
	return c->child_pid && th->proc->pid == c->child_pid && !th->proc->execed;
}

static void lifetimes_count(struct collect *c, struct thread *th, uint64_t end_ns)
{
	struct lifetimes *l = c->own[PART_lifetimes];
	uint64_t begin_ns = MAX(th->born_ns, MAX(walls_begun_ns(c), l->file_ns));

	if (!walls_begun_ns(c) || th->lived || !th->tid || end_ns <= begin_ns || is_before_program(c, th) ||
	    !collect_is_recorded(c, th))
		return;
	th->lived = th->dead;
	l->ns += end_ns - begin_ns;
	trace_write_counted(c->w, &(struct rec_counted){
		.time_ns = end_ns, .thread = th->id, .event = sources_event(c, l->source),
		.amount = end_ns - begin_ns,
	});
}

/* Count the thread, and what it was before it executed another program: that began when this ended. */
static void thread_exited(struct collect *c, int tid, uint64_t time_ns)
{
	struct thread *th = c->own[PART_lifetimes] ? tasks_any(&c->tasks, tid) : NULL;

	for (; th && th->dead && !th->lived; th = th->older)
		lifetimes_count(c, th, th->dead_ns);
}

/* Write a label of this file alone. */
static void lifetimes_label(const struct collect *c, const struct lifetimes *l, const char *what,
			    const char *value)
{
	trace_writer_keep(c->w, false);
	sources_label(c, sources_event(c, l->source), what, "%s", value);
	trace_writer_keep(c->w, true);
}

/*
 * Write the sums at the end of a file, or of the recording. Several files have no sum if one of them has
 * none.
 */
static void lifetimes_end_file(struct collect *c, uint64_t now_ns)
{
	struct lifetimes *l = c->own[PART_lifetimes];
	const char *why = walls_missing(c);
	char ns[24];
	size_t i;

	if (!l)
		return;
	if (!lifetimes_was_kept(c, l)) {
		if (c->segments)
			lifetimes_label(c, l, "counted", ACCOUNT_NONE);
		c->res->uncounted_source[l->source] = true;
		return;
	}
	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];

		/* of one that has ended unseen it is not known when */
		if (th->dead || !tasks_is_gone(th))
			lifetimes_count(c, th, th->dead ? MIN(th->dead_ns, now_ns) : now_ns);
	}
	snprintf(ns, sizeof(ns), "%" PRIu64, l->ns);
	lifetimes_label(c, l, "counted", ns);
	c->res->counted_of_source[l->source] += l->ns;
	if (why)
		lifetimes_label(c, l, "missing", why);
	l->file_ns = now_ns;
	l->ns = 0;
}

static void lifetimes_stand(struct collect *c)
{
	lifetimes_end_file(c, c->merged_ns);
}

static void lifetimes_close_part(struct collect *c)
{
	free(c->own[PART_lifetimes]);
	c->own[PART_lifetimes] = NULL;
}

const struct part lifetimes_part = {
	.ready = ready, .exited = thread_exited, .ended = lifetimes_end_file, .stand = lifetimes_stand,
	.close = lifetimes_close_part,
};
