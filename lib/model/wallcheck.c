// SPDX-License-Identifier: GPL-2.0-or-later
/* wallcheck.c - checks that the wall time of each thread adds up (checks.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "model/checks.h"
#include "trace/walk.h"

enum state { ON_CPU, RUNNABLE, BLOCKED, NR_STATES };

struct process {
	uint32_t number;
	uint64_t life_ns;
	uint64_t counted[NR_STATES], sampled[NR_STATES];
	uint64_t woken_ns;		/* of waits whose wakers are known */
};

struct walls {
	struct map proc_of;		/* thread -> process, both of the trace */
	struct map by_number;		/* process -> index */
	struct process *list;
	size_t nr, alloc;
	uint32_t event, wakers, on_cpu, runnable;	/* UINT32_MAX: the trace has it not */
	uint64_t ended_ns, charged_ns;	/* of waits that threads ended; of samples of those */
	bool partial;			/* what was before was dropped */
	bool wakes;			/* it says who ended waits */
	bool imported;			/* what is called wall in it is another program's */
	/* it is not whole, or storing stopped: of a thread either samples or its account may be missing */
	bool cut;
};

static bool wallcheck_is(const char *s, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(s, text, len);
}

static int wallcheck_take_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct walls *w = ctx;
	unsigned int event;
	char text[32], rest;

	if (wallcheck_is(key, key_len, "reset.mono_ns"))
		w->partial = true;
	if (wallcheck_is(key, key_len, "import"))
		w->imported = true;
	snprintf(text, sizeof(text), "%.*s", (int)MIN(key_len, sizeof(text) - 1), key);
	if (sscanf(text, "event.%u%c", &event, &rest) != 1)
		return 0;
	if (wallcheck_is(val, val_len, "wall"))
		w->event = event;
	if (wallcheck_is(val, val_len, "wakers"))
		w->wakers = event;
	return 0;
}

/* Samples and sums of threads that were kept need not be of the same. */
static int take_filter(void *ctx, const struct rec_filter *r)
{
	((struct walls *)ctx)->partial = true;
	return 0;
}

static int wallcheck_take_thread(void *ctx, const struct rec_thread *r)
{
	struct walls *w = ctx;

	*map_put(&w->proc_of, r->thread) = r->proc;
	return 0;
}

static int wallcheck_take_function(void *ctx, const struct rec_function *r)
{
	struct walls *w = ctx;

	if (wallcheck_is(r->name, r->name_len, REASON_ON_CPU))
		w->on_cpu = r->function;
	else if (wallcheck_is(r->name, r->name_len, REASON_RUNNABLE))
		w->runnable = r->function;
	return 0;
}

static struct process *process_at(struct walls *w, uint32_t number)
{
	uint32_t *at = map_put(&w->by_number, number);

	if (*at == MAP_NONE) {
		*at = w->nr;
		*VEC_ADD(w->list, w->nr, w->alloc) = (struct process){ .number = number };
	}
	return &w->list[*at];
}

static struct process *wallcheck_process_of(struct walls *w, uint32_t thread)
{
	return process_at(w, map_get(&w->proc_of, thread));
}

static int take_wall(void *ctx, const struct rec_wall *r)
{
	struct process *p = wallcheck_process_of(ctx, r->thread);

	p->life_ns += r->time_ns - r->begin_ns;
	p->counted[ON_CPU] += r->cpu_ns;
	p->counted[RUNNABLE] += r->runnable_ns;
	p->counted[BLOCKED] += r->blocked_ns;
	return 0;
}

/* Take virtual threads; mounted time is in the lives of carriers. */
static int take_virtual(void *ctx, const struct rec_virtual *r)
{
	struct process *p = process_at(ctx, r->proc);

	p->life_ns += r->life_ns - r->mounted_ns;
	p->counted[RUNNABLE] += r->runnable_ns;
	p->counted[BLOCKED] += r->blocked_ns;
	return 0;
}

static int take_wake(void *ctx, const struct rec_wake *r)
{
	struct walls *w = ctx;

	w->wakes = true;
	wallcheck_process_of(w, r->thread)->woken_ns += r->weight;
	w->ended_ns += r->kind == WAKE_THREAD ? r->weight : 0;
	return 0;
}

/* Return the state from the innermost frame f; NULL: not known. */
static enum state wallcheck_state_of(const struct walls *w, const struct frame *f)
{
	if (!f || f->kind != FRAME_NAMED)
		return BLOCKED;
	return f->function == w->on_cpu ? ON_CPU : f->function == w->runnable ? RUNNABLE : BLOCKED;
}

static int wallcheck_take_samples(void *ctx, const struct rec_sample *r, size_t nr,
				  const struct stack_epoch *ep)
{
	struct walls *w = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct frame *f = NULL;

		w->charged_ns += r[i].event == w->wakers ? r[i].weight : 0;
		if (r[i].event != w->event)
			continue;
		if (r[i].stack < ep->nr_nodes)
			f = &ep->frames[ep->nodes[r[i].stack].frame];
		wallcheck_process_of(w, r[i].thread)->sampled[wallcheck_state_of(w, f)] += r[i].weight;
	}
	return 0;
}

static void wallcheck_compare(const struct walls *w, const struct process *p, struct sums_check *out)
{
	static const char *const names[NR_STATES] = { "on CPUs", "runnable", "blocked" };
	uint64_t sum = p->counted[ON_CPU] + p->counted[RUNNABLE] + p->counted[BLOCKED];
	int i;

	sums_check_that(out, sum == p->life_ns, "process %" PRIu32 ": states of %" PRIu64 " ns in lives of %" PRIu64 " ns",
			p->number, sum, p->life_ns);
	if (w->cut)
		return;
	if (w->wakes)
		sums_check_that(out, p->woken_ns == p->counted[BLOCKED],
				"process %" PRIu32 ": waits with wakers of %" PRIu64 " ns, blocked %" PRIu64 " ns",
				p->number, p->woken_ns, p->counted[BLOCKED]);
	for (i = 0; i < NR_STATES; i++)
		sums_check_that(out, p->counted[i] == p->sampled[i],
				"process %" PRIu32 " %s: samples of %" PRIu64 " ns, counted %" PRIu64 " ns",
				p->number, names[i], p->sampled[i], p->counted[i]);
}

/* Compare sums of all processes, not of each: a waker may be in another one. */
static void compare_wakers(const struct walls *w, struct sums_check *out)
{
	if (w->wakers == UINT32_MAX || w->cut)
		return;
	sums_check_that(out, w->ended_ns == w->charged_ns,
			"waits of %" PRIu64 " ns were ended by threads, and samples of wakers are %" PRIu64 " ns",
			w->ended_ns, w->charged_ns);
}

/* Note what was recorded only at times, which has other sums. */
static int take_recorded(void *ctx, const struct rec_recorded *r)
{
	struct walls *w = ctx;

	if (wallcheck_is(r->event, r->event_len, "wakers"))
		w->wakers = UINT32_MAX;
	return 0;
}

static int wallcheck_take_lost(void *ctx, const struct rec_lost *r)
{
	struct walls *w = ctx;

	w->cut |= r->cause == LOST_FILE || r->cause == LOST_STOPPED;
	return 0;
}

int wall_check(struct trace_reader *t, struct sums_check *out, struct err *e)
{
	static const struct trace_sink names = {
		.label = wallcheck_take_label, .thread = wallcheck_take_thread, .filter = take_filter,
		.function = wallcheck_take_function, .recorded = take_recorded, .lost = wallcheck_take_lost,
	};
	static const struct trace_sink records = {
		.wall = take_wall, .virtual = take_virtual, .wake = take_wake,
		.samples = wallcheck_take_samples,
	};
	struct walls w = {
		.event = UINT32_MAX, .wakers = UINT32_MAX, .on_cpu = UINT32_MAX, .runnable = UINT32_MAX,
	};
	int r = trace_read(t, &names, &w, e);
	const struct trace_damage *damage;
	size_t i;

	memset(out, 0, sizeof(*out));
	if (!r && w.event != UINT32_MAX && !w.partial && !w.imported)
		r = trace_read(t, &records, &w, e);
	damage = trace_reader_damage(t);
	w.cut |= damage->truncated || damage->nr_places || damage->nr_bytes || damage->nr_bad_records;
	for (i = 0; i < w.nr && !r; i++)
		wallcheck_compare(&w, &w.list[i], out);
	if (!r && w.nr)
		compare_wakers(&w, out);
	map_release(&w.proc_of);
	map_release(&w.by_number);
	free(w.list);
	return r;
}
