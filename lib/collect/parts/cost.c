// SPDX-License-Identifier: GPL-2.0-or-later
/* cost.c - measures what the recorder itself takes, and lowers rates to keep a limit (cost.h). */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/control/rates.h"
#include "collect/engine/recording.h"
#include "collect/files/segments.h"
#include "collect/parts/cost.h"

enum { SECOND_NS = 1000000000 };

struct cost {
	uint64_t begun_cpu_ns, file_cpu_ns;	/* what it had taken when sampling, and the file, began */
	uint64_t looked_ns, looked_cpu_ns;	/* the current span */
	bool has_span;				/* one is over */
	bool is_left;				/* told that it takes too much */
	uint32_t lowered;
	struct ev_rate *rates;			/* [collect_nr_events()]: those that were asked for */
	uint64_t weighed_ns;		/* when memory was looked at */
	/* [enum cost_drop] when that may be dropped again, and how long that is after the last time */
	uint64_t drop_ns[COST_NR_DROPS], wait_ns[COST_NR_DROPS];
	bool is_beyond;				/* told that nothing is left to drop */
};

static uint64_t cpu_ns(void)
{
	struct rusage ended;

	if (getrusage(RUSAGE_CHILDREN, &ended))
		memset(&ended, 0, sizeof(ended));
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) +
		(uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * SECOND_NS +
		(uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * 1000;
}

static uint64_t resident_bytes(void)
{
	struct buf b = BUF_INIT;
	uint64_t pages = 0;

	if (!io_slurp("/proc/self/statm", &b) && b.len && sscanf(b.data, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	buf_release(&b);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint32_t cost_lowered(uint32_t lowered, uint64_t ns, uint64_t limit_ns)
{
	enum { FAR_LESS = 3 };		/* twice the rate is at most twice the cost */

	if (ns > limit_ns)
		return MIN(lowered + 1, (uint32_t)COST_MOST_LOWERED);
	return lowered && ns < limit_ns / FAR_LESS ? lowered - 1 : lowered;
}

/* ---- the rate ---- */

static struct ev_rate lower(const struct ev_rate *rate, uint32_t lowered)
{
	struct ev_rate r = { rate->freq_hz >> lowered, rate->period << lowered };

	if (rate->freq_hz && !r.freq_hz)
		r.freq_hz = 1;
	return r;
}

/* Take intervals that were set meanwhile as the requested ones. */
static void cost_follow(const struct collect *c, struct cost *x)
{
	size_t i, nr = collect_nr_events(&c->ev.conf);
	bool same = x->rates;

	for (i = 0; i < nr && same; i++) {
		struct ev_rate r = lower(&x->rates[i], x->lowered);

		same = r.freq_hz == c->ev.conf.rates[i].freq_hz && r.period == c->ev.conf.rates[i].period;
	}
	if (same)
		return;
	free(x->rates);
	x->rates = xmalloc((nr + 1) * sizeof(*x->rates));
	memcpy(x->rates, c->ev.conf.rates, nr * sizeof(*x->rates));
	x->lowered = 0;
}

/* Set the rates; return false if some keep their old ones, for the next span to try again. */
static bool cost_set_rates(struct collect *c, struct cost *x, uint32_t lowered)
{
	size_t i, nr = collect_nr_events(&c->ev.conf);
	struct err e;

	for (i = 0; i < nr; i++) {
		struct ev_rate r = lower(&x->rates[i], lowered);

		if (rates_set(c, i, &r, &e))
			return false;
	}
	x->lowered = lowered;
	return nr;
}

static void cost_tell(const struct collect *c, const struct cost *x, uint64_t ns, int what)
{
	if (c->o->cost.told)
		c->o->cost.told(&(struct cost_told){
			.percent = 100.0 * ns / SECOND_NS, .part = 1u << x->lowered, .what = what,
		});
}

static void cost_hold(struct collect *c, struct cost *x, uint64_t ns)
{
	uint64_t limit_ns = c->o->cost.limit_ns;
	uint32_t before, next;

	cost_follow(c, x);
	before = x->lowered;
	next = cost_lowered(before, ns, limit_ns);
	if (next != before && !c->only_jvms && cost_set_rates(c, x, next)) {
		cost_tell(c, x, ns, next > before ? COST_LOWERED : COST_RAISED);
	} else if (ns > limit_ns && !x->is_left) {
		x->is_left = true;
		cost_tell(c, x, ns, COST_LEFT);
	}
	if (ns <= limit_ns)
		x->is_left = false;
}

/* ---- memory ---- */

enum cost_drop cost_to_drop(uint64_t bytes, uint64_t limit_bytes)
{
	/* names that are dropped are read again, so all is dropped only when the limit is near */
	if (bytes > limit_bytes / 8 * 7)
		return COST_DROP_ALL;
	return bytes > limit_bytes / 8 * 5 ? COST_DROP_TABLES : COST_DROP_NOTHING;
}

/*
 * Return whether something may be dropped now. What is needed is read again at once, so where dropping does
 * not help for longer than it was waited for, it is done ever more rarely: CPU time is short as well.
 */
static bool cost_may_drop(struct cost *x, enum cost_drop drop, uint64_t now_ns)
{
	static const uint64_t least_ns = 10000000000, most_ns = 600000000000;
	uint64_t *at = &x->drop_ns[drop], *wait = &x->wait_ns[drop];

	if (now_ns < *at)
		return false;
	*wait = now_ns < *at + *wait ? MIN(2 * *wait, most_ns) : least_ns;
	*at = now_ns + *wait;
	return true;
}

static void cost_drop(struct collect *c, enum cost_drop drop, uint64_t now_ns)
{
	modules_trim(&c->modules, drop == COST_DROP_ALL ? 0 : c->o->cost.max_memory / 4);
	if (drop == COST_DROP_ALL) {
		trace_writer_drop_symbols(c->w);
		segments_end_early(c, now_ns);
	}
	malloc_trim(0);
}

static void cost_hold_memory(struct collect *c, struct cost *x, uint64_t now_ns)
{
	static const uint64_t every_ns = 2000000000;
	const uint64_t limit = c->o->cost.max_memory;
	enum cost_drop drop;
	uint64_t bytes;

	if (!limit || now_ns < x->weighed_ns + every_ns)
		return;
	x->weighed_ns = now_ns;
	if (c->jvm)
		jvm_server_unmap_pages(c->jvm);
	bytes = resident_bytes();
	drop = cost_to_drop(bytes, limit);
	if (drop == COST_DROP_NOTHING) {
		x->is_beyond = false;
	} else if (cost_may_drop(x, drop, now_ns)) {
		cost_drop(c, drop, now_ns);
	} else if (bytes > limit && !x->is_beyond) {
		x->is_beyond = true;
		if (c->o->cost.is_beyond)
			c->o->cost.is_beyond(bytes);
	}
}

/* ---- the recording ---- */

static void cost_begins(struct collect *c, uint64_t time_ns)
{
	struct cost *x = c->own[PART_cost] = xcalloc(1, sizeof(*x));

	x->begun_cpu_ns = x->file_cpu_ns = x->looked_cpu_ns = cpu_ns();
	x->looked_ns = clock_mono_ns();
}

static void turn(struct collect *c, uint64_t now_ns)
{
	struct cost *x = c->own[PART_cost];
	uint64_t cpu, ns;

	if (x)
		cost_hold_memory(c, x, now_ns);
	if (!x || !c->o->cost.limit_ns || c->paused || now_ns < x->looked_ns + c->o->cost.span_ns)
		return;
	cpu = cpu_ns();
	ns = (uint64_t)((double)(cpu - x->looked_cpu_ns) / (double)(now_ns - x->looked_ns) * SECOND_NS);
	if (x->has_span)
		cost_hold(c, x, ns);
	x->has_span = true;
	x->looked_ns = now_ns;
	x->looked_cpu_ns = cpu;
}

static void sums(struct collect *c, bool last)
{
	struct cost *x = c->own[PART_cost];
	uint64_t cpu;

	if (!x)
		return;
	cpu = cpu_ns();
	trace_write_label(c->w, "cost.cpu_ns", "%" PRIu64, cpu - x->file_cpu_ns);
	trace_write_label(c->w, "cost.resident_bytes", "%" PRIu64, resident_bytes());
	x->file_cpu_ns = cpu;
}

static void cost_close_part(struct collect *c)
{
	struct cost *x = c->own[PART_cost];

	if (x)
		free(x->rates);
	free(x);
	c->own[PART_cost] = NULL;
}

void cost_put(const struct collect *c, struct buf *b)
{
	const struct cost *x = c->own[PART_cost];
	uint64_t ns = x ? clock_mono_ns() - c->begun_ns : 0;

	if (ns)
		buf_fmt(b, "cost: %.2f %% of a CPU, %.1f MiB\n", 100.0 * (cpu_ns() - x->begun_cpu_ns) / ns,
			resident_bytes() / 1048576.0);
}

const struct part cost_part = { .begins = cost_begins, .turn = turn, .sums = sums, .close = cost_close_part };
