// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * intake.c - takes in what the kernel and agents have recorded, in the order in which one needs the other: at
 * each turn of the loop, and before a file ends.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/allocated.h"
#include "collect/parts/tallies.h"

static uint32_t number_of_virtual(void *ctx, uint32_t proc, uint64_t vthread)
{
	const struct collect *c = ctx;

	return tasks_find_virtual(&c->tasks, proc, vthread);
}

void collect_write_labels(struct collect *c, uint64_t until_ns)
{
	if (c->labels)
		threadlabels_write(c->labels, until_ns, c->w, number_of_virtual, c);
	c->labels_ns = until_ns;
}

/* Labels of samples that are so old that all has been told. */
static void write_old_labels(struct collect *c)
{
	enum { TURN_NS = 500000000 };
	const uint64_t until_ns = c->drained_ns - MIN(c->drained_ns, (uint64_t)THREADLABELS_LATE_NS);

	if (until_ns >= c->labels_ns + TURN_NS)
		collect_write_labels(c, until_ns);
}

static void note_sample(void *ctx, const struct rec_sample *r)
{
	struct collect *c = ctx;

	if (switches_tell(c, JVM_TELL_LABEL, r->time_ns))
		threadlabels_sample(c->labels, r->thread, r->time_ns);
}

void collect_open_labels(struct collect *c)
{
	if (!(c->o->jvm_events & JVM_TELL_LABEL))
		return;
	c->labels = threadlabels_new();
	trace_writer_on_sample(c->w, note_sample, c);
}

void collect_drain(struct collect *c, uint64_t now_ns, bool all)
{
	uint64_t until = all ? UINT64_MAX : c->drained_ns;

	collect_merge(c, until);
	agents_drain(c, all);
	walls_turn(c, now_ns);
	agents_join(c, until, all);
	if (!all)
		tasks_forget(&c->tasks, until);
	callflows_drain(&c->calls);
	callflows_snapshot(&c->calls);
	write_old_labels(c);
	c->drained_ns = now_ns;
}

void collect_take_in(struct collect *c, uint64_t until_ns)
{
	collect_merge(c, until_ns);
	agents_drain(c, false);
	/* not later: the half of a younger sample may be there while an older one's is on its way */
	agents_join(c, MIN(c->drained_ns, until_ns), false);
	if (c->labels)
		threadlabels_write(c->labels, until_ns, c->w, number_of_virtual, c);
}

void collect_ask_counts(struct collect *c, int wait_ms)
{
	c->asked_ns = clock_mono_ns();
	if (c->javas && (allocated_is_kept(c) || tallies_are_kept(c)))
		switches_ask_again(c, wait_ms);
}
