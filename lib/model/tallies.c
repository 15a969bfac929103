// SPDX-License-Identifier: GPL-2.0-or-later
/* tallies.c - compares the VM's own counts with what was recorded (tallies.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/tallies.h"

struct reading {
	struct tallies *t;
	const struct names *names;
};

static uint64_t tally_key_of(uint32_t proc, uint32_t kind)
{
	return (uint64_t)proc << 32 | kind;
}

/* Add the tally of another file of the same recording: one begins where the one before ended. */
static void add_to(struct tallies *t, struct tally *y, const struct rec_tally *r)
{
	y->begin_ns = MIN(y->begin_ns, r->begin_ns);
	y->end_ns = MAX(y->end_ns, r->time_ns);
	flow_sum(&y->n, r->n);
	flow_sum(&y->ns, r->ns);
	if (!*y->why)
		y->why = arena_strndup(&t->text, r->why, r->why_len);
}

static int take_tally(void *ctx, const struct rec_tally *r)
{
	const struct reading *k = ctx;
	struct tallies *t = k->t;
	uint32_t at = map_get(&k->names->proc_of, r->proc), *put;

	if (r->kind >= TALLY_NR)
		return 0;
	put = map_put(&t->by_proc, tally_key_of(r->proc, r->kind));
	if (*put != MAP_NONE) {
		add_to(t, &t->list[*put], r);
		return 0;
	}
	*put = t->nr;
	*VEC_ADD(t->list, t->nr, t->alloc) = (struct tally){
		.proc = r->proc, .kind = r->kind, .pid = at == MAP_NONE ? 0 : k->names->procs[at].pid,
		.begin_ns = r->begin_ns, .end_ns = r->time_ns, .n = r->n, .ns = r->ns,
		.why = arena_strndup(&t->text, r->why, r->why_len),
	};
	return 0;
}

static int tally_take_event(void *ctx, const struct rec_event *r)
{
	struct tallies *t = ((const struct reading *)ctx)->t;
	uint64_t ns = r->duration_ns == EVENT_UNKNOWN ? 0 : r->duration_ns, end_ns = r->time_ns + ns;
	uint32_t at = r->kind == EVENT_GC ?
		      map_get(&t->by_proc, tally_key_of(r->proc, TALLY_PAUSES)) : MAP_NONE;

	if (at == MAP_NONE || end_ns < t->list[at].begin_ns || end_ns > t->list[at].end_ns)
		return 0;
	t->list[at].recorded_n++;
	t->list[at].recorded_ns += ns;
	return 0;
}

static int tally_take_lock(void *ctx, const struct rec_lock *r)
{
	struct tallies *t = ((const struct reading *)ctx)->t;
	uint32_t at = map_get(&t->by_proc, tally_key_of(r->proc, TALLY_ENTERS));

	if (at != MAP_NONE && r->kind == LOCK_ENTER)
		t->list[at].recorded_n += r->n;
	return 0;
}

int tallies_read(struct tallies *t, const struct names *x, struct trace_reader *r, struct err *e)
{
	static const struct trace_sink tallies = { .tally = take_tally };
	static const struct trace_sink events = { .event = tally_take_event, .lock = tally_take_lock };
	struct reading k = { t, x };
	int ret;

	*t = (struct tallies){ 0 };
	ret = trace_read(r, &tallies, &k, e);
	if (!ret && t->nr)
		ret = trace_read(r, &events, &k, e);
	return ret;
}

void tallies_release(struct tallies *t)
{
	free(t->list);
	map_release(&t->by_proc);
	arena_release(&t->text);
}

/* Return the most time: a JVM takes a part of each pause for the log, which has whole microseconds. */
static uint64_t most_ns(const struct tally *y)
{
	enum { ROUNDED_NS = 2000, PART = 50 };

	return y->recorded_ns + y->recorded_ns / PART + y->recorded_n * ROUNDED_NS;
}

static void tally_check_one(const struct tally *y, struct sums_check *out)
{
	enum { AT_ENDS = 2 };
	uint64_t apart = y->n > y->recorded_n ? y->n - y->recorded_n : y->recorded_n - y->n;
	const char *what = y->kind == TALLY_PAUSES ? "pauses" : "waits for monitors";

	/* VMs count waits of several monitors at once without care, and those that are over */
	if (y->kind == TALLY_ENTERS && y->recorded_n > y->n)
		apart = 0;
	sums_check_that(out, apart <= AT_ENDS, "process %" PRIu32 ": %" PRIu64 " %s, %" PRIu64 " by the JVM's count",
			y->pid, y->recorded_n, what, y->n);
	if (y->kind == TALLY_PAUSES)
		sums_check_that(out, apart || y->ns <= most_ns(y),
				"process %" PRIu32 ": %s of %" PRIu64 " ns, %" PRIu64 " ns by the JVM's count", y->pid,
				what, y->recorded_ns, y->ns);
}

int tallies_check(struct trace_reader *r, struct sums_check *out, struct err *e)
{
	struct tallies t = { 0 };
	struct model strings;
	struct names names;
	size_t i;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = names_read_texts(&names, &strings, r, e);
	if (!ret)
		ret = tallies_read(&t, &names, r, e);
	/* what was reported just before this file began is in the file before it */
	for (i = 0; !ret && i < t.nr && !names_stopped_ns(&names) && !names.lost; i++)
		if (!*t.list[i].why && t.list[i].begin_ns >= names_label_u64(&names, "start.mono_ns"))
			tally_check_one(&t.list[i], out);
	tallies_release(&t);
	names_release(&names);
	model_release(&strings);
	return ret;
}
