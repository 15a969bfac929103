// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-cut.c - waits are intervals: ranges of time that follow each other add up to the whole recording, and a
 * range of t seconds over k threads has k times t of wall.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/model.h"
#include "model/events.h"
#include "model/profile.h"
#include "model/checks.h"
#include "model/wakers.h"
#include "traces.h"
#include "unit.h"

#define MS 1000000ull
enum { START_MS = 5000, LENGTH_MS = 10000, NR_THREADS = 5, NR_EVENTS = 4, WALL = 0, BLAME, LOCK };

static const char *const event_names[NR_EVENTS] = { "wall", "blame", "lock", "throws" };

static const struct rec_sample *all_samples;
static size_t nr_all;

/* Waits that fill the lives of all threads, from one on to the next; of other events some of any length. */
static struct rec_sample *make_samples(size_t *nr)
{
	const uint64_t start = START_MS * MS, end = start + LENGTH_MS * MS;
	struct rec_sample *list = NULL;
	size_t alloc = 0;
	uint32_t thread;
	uint64_t at, ns;

	*nr = 0;
	for (thread = 1; thread <= NR_THREADS; thread++)
		for (at = start; at < end; at += ns) {
			ns = MIN(1 + unit_random() % (unit_random() % 8 ? 20 * MS : 4000 * MS), end - at);
			VEC_GROW(list, *nr + 1, alloc);
			list[*nr] = (struct rec_sample){ .time_ns = at + ns, .thread = thread, .weight = ns,
							 .cpu = UINT16_MAX, .user = true };
			list[*nr + 1] = list[*nr];
			list[*nr + 1].event = 1 + unit_random() % (NR_EVENTS - 1);
			list[*nr + 1].weight = unit_random() % 4 ? ns : unit_random() % (at + ns);
			*nr += 2;
		}
	return list;
}

static void write_names(struct trace_writer *w)
{
	char key[32];
	uint32_t i;

	for (i = 0; i < NR_EVENTS; i++) {
		snprintf(key, sizeof(key), "event.%u", i);
		trace_write_label(w, key, "%s", event_names[i]);
		snprintf(key, sizeof(key), "event.%u.unit", i);
		trace_write_label(w, key, "%s", i < NR_EVENTS - 1 ? "ns" : "exceptions");
	}
	trace_write_label(w, "start.mono_ns", "%llu", START_MS * MS);
	trace_write_label(w, "end.mono_ns", "%llu", (START_MS + LENGTH_MS) * MS);
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	for (i = 1; i <= NR_THREADS; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .tid = i, .name = (char[]){ 'A' + i }, .name_len = 1 });
	trace_write_function(w, &(struct rec_function){
		.function = 1, .kind = FUNCTION_REASON, .name = "[sleep]", .name_len = 7, .module = "",
		.file = "" });
}

static void write_phase(struct trace_writer *w, const char *name, uint32_t from_ms, uint32_t to_ms)
{
	trace_write_event(w, &(struct rec_event){
		.time_ns = (START_MS + from_ms) * MS, .proc = 1, .kind = EVENT_PHASE,
		.duration_ns = (to_ms - from_ms) * MS,
		.values = { EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN },
		.what = name, .what_len = strlen(name), .cause = "" });
}

static struct buf make_trace(void)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	const struct frame f = { FRAME_NAMED, .function = 1 };
	size_t i;

	write_names(w);
	write_phase(w, "load", 1000, 2500);
	write_phase(w, "load", 2000, 3000);
	write_phase(w, "serve", 3000, 8000);
	write_phase(w, "load", 4000, 4000);
	for (i = 0; i < nr_all; i++) {
		struct rec_sample r = all_samples[i];

		r.stack = trace_write_stack(w, &f, 1);
		trace_write_sample(w, &r);
		if (r.event == WALL)
			trace_write_wake(w, &(struct rec_wake){
				.time_ns = r.time_ns, .thread = r.thread, .function = 1, .kind = WAKE_TIMER,
				.ns = r.weight, .weight = r.weight });
	}
	return traces_close(w);
}

struct sums {
	uint64_t base[NR_EVENTS], times[NR_EVENTS], wakes_ns;
};

/* What a report has of the range; to 0: all from there on. */
static struct sums sums_of(struct trace_reader *t, uint64_t from_ns, uint64_t to_ns,
			   const struct rules *filter)
{
	const struct selection select = { .from_ns = from_ns, .to_ns = to_ns, .filter = filter };
	const struct profile_opts o = {
		.names.no_files = true, .all_events = true, .times = true, .select = &select,
	};
	uint64_t total[FLOW_MAX_METRICS];
	struct sums_check c[FLOW_MAX_METRICS];
	struct sums s = { .wakes_ns = 0 };
	struct origin origin;
	struct wakers wakers;
	struct names names;
	struct model m;
	struct err e = { 0 };
	size_t i;

	CHECK_U64(profile_read(&names, &m, &origin, t, &o, &e), 0);
	flow_totals(&m.flow, total);
	memcpy(s.base, total, sizeof(s.base));
	for (i = 0; i < m.times.nr_list; i++)
		s.times[m.times.list[i].metric] += m.times.list[i].weight;
	if (!filter) {
		CHECK_U64(sources_check(&m, &names, t, &o, c, &e), 0);
		for (i = 0; i < m.nr_sources; i++)
			CHECK_U64(c[i].nr_bad, 0);
	}
	names_release(&names);
	model_release(&m);
	CHECK_U64(wakers_read(&wakers, t, &select, &e), 0);
	s.wakes_ns = wakers.ns;
	wakers_release(&wakers);
	return s;
}

static void add(struct sums *to, const struct sums *s)
{
	size_t i;

	for (i = 0; i < NR_EVENTS; i++) {
		to->base[i] += s->base[i];
		to->times[i] += s->times[i];
	}
	to->wakes_ns += s->wakes_ns;
}

/* By definition: what of each sample is after one time and before another. */
static uint64_t overlap(uint32_t event, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < nr_all; i++) {
		const struct rec_sample *r = &all_samples[i];
		uint64_t begin = MAX(r->time_ns - r->weight, from_ns), end = MIN(r->time_ns, to_ns);

		if (r->event == event)
			sum += end > begin ? end - begin : 0;
	}
	return sum;
}

static void check_equal(const struct sums *a, const struct sums *b)
{
	size_t i;

	for (i = 0; i < NR_EVENTS; i++) {
		CHECK_U64(a->base[i], b->base[i]);
		CHECK_U64(a->times[i], b->times[i]);
	}
	CHECK_U64(a->wakes_ns, b->wakes_ns);
}

TEST(cut_ranges_add_up_and_each_has_what_was_in_it)
{
	struct rec_sample *list = make_samples(&nr_all);
	struct trace_reader *t;
	struct sums all, sum, s;
	struct buf b;
	struct err e;
	int round, i;

	all_samples = list;
	b = make_trace();
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	all = sums_of(t, 0, 0, NULL);
	CHECK_U64(all.base[WALL], NR_THREADS * LENGTH_MS * MS);
	CHECK_U64(all.wakes_ns, all.base[WALL]);
	for (round = 0; round < 10; round++) {
		uint64_t x = 1 + unit_random() % (LENGTH_MS * MS), y = 1 + unit_random() % (LENGTH_MS * MS);
		uint64_t ends[] = { 0, MIN(x, y), MAX(x, y) + 1, 0 };

		memset(&sum, 0, sizeof(sum));
		for (i = 0; i < 3; i++) {
			uint64_t from = i ? START_MS * MS + ends[i] : 0;
			uint64_t to = ends[i + 1] ? START_MS * MS + ends[i + 1] : UINT64_MAX;

			s = sums_of(t, ends[i], ends[i + 1], NULL);
			CHECK_U64(s.base[LOCK], overlap(LOCK, from, to));
			CHECK_U64(s.base[BLAME], overlap(BLAME, from, to));
			CHECK_U64(s.base[WALL], overlap(WALL, from, to));
			add(&sum, &s);
		}
		/* threads x seconds */
		CHECK_U64(s.base[WALL], NR_THREADS * (LENGTH_MS * MS - MIN(ends[2], LENGTH_MS * MS)));
		check_equal(&sum, &all);
	}
	trace_reader_close(t);
	buf_release(&b);
	free(list);
}

TEST(cut_phases_add_up_and_have_the_time_that_they_took)
{
	struct rec_sample *list = make_samples(&nr_all);
	static const char *const texts[] = { "phase=load", "-phase=load", "phase=serve" };
	const uint64_t took_ms[] = { 2000, LENGTH_MS - 2000, 5000 };
	struct sums all, sums[ARRAY_SIZE(texts)], sum = { .wakes_ns = 0 };
	struct rules rules = { 0 };
	struct trace_reader *t;
	struct buf b;
	struct err e;
	size_t i;

	all_samples = list;
	b = make_trace();
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	all = sums_of(t, 0, 0, NULL);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		CHECK_U64(rules_list(&rules, texts[i], &e), 0);
		sums[i] = sums_of(t, 0, 0, &rules);
		CHECK_U64(sums[i].base[WALL], NR_THREADS * took_ms[i] * MS);
		CHECK_U64(sums[i].times[WALL], sums[i].base[WALL]);
		CHECK_U64(sums[i].wakes_ns, sums[i].base[WALL]);
		rules_release(&rules);
		memset(&rules, 0, sizeof(rules));
	}
	add(&sum, &sums[0]);
	add(&sum, &sums[1]);
	check_equal(&sum, &all);
	trace_reader_close(t);
	buf_release(&b);
	free(list);
}

/* ---- events ---- */

static void write_pause(struct trace_writer *w, uint32_t kind, uint64_t from_ns, uint64_t ns)
{
	trace_write_event(w, &(struct rec_event){
		.time_ns = START_MS * MS + from_ns, .proc = 1, .kind = kind, .duration_ns = ns,
		.values = { ns / 3, ns - ns / 3, EVENT_UNKNOWN }, .what = "x", .what_len = 1, .cause = "" });
}

static uint64_t durations(struct trace_reader *t, uint64_t from_ns, uint64_t to_ns, uint64_t *parts)
{
	const struct selection select = { .from_ns = from_ns, .to_ns = to_ns };
	const struct events_opts o = { .kinds = UINT32_MAX, .select = &select };
	uint64_t sum = 0;
	struct events v;
	struct err e;
	size_t i;

	CHECK_U64(events_read(&v, t, &o, &e), 0);
	for (i = 0; i < v.nr; i++) {
		CHECK(v.list[i].time_ns >= v.window.from_ns && v.list[i].time_ns < v.window.to_ns);
		sum += v.list[i].duration_ns;
		if (v.list[i].kind == EVENT_SAFEPOINT) {
			CHECK_U64(v.list[i].values[0] + v.list[i].values[1], v.list[i].duration_ns);
			*parts += v.list[i].values[0];
		}
	}
	events_release(&v);
	return sum;
}

TEST(cut_pauses_add_up)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	uint64_t all_ns, reach_ns = 0, from, ns;
	struct trace_reader *t;
	struct buf b;
	struct err e;
	int i;

	write_names(w);
	trace_write_label(w, "jvm_events", "gc,safepoint");
	for (i = 0; i < 50; i++) {
		from = unit_random() % (LENGTH_MS * MS);
		ns = 1 + unit_random() % (3000 * MS);
		write_pause(w, EVENT_GC, from, ns);
		write_pause(w, EVENT_SAFEPOINT, from, ns);
	}
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	all_ns = durations(t, 0, 0, &reach_ns);
	for (i = 0; i < 20; i++) {
		uint64_t cut = 1 + unit_random() % (LENGTH_MS * MS), parts = 0;

		CHECK_U64(durations(t, 0, cut, &parts) + durations(t, cut, 0, &parts), all_ns);
		CHECK_U64(parts, reach_ns);
	}
	trace_reader_close(t);
	buf_release(&b);
}

TEST(cut_a_wait_that_began_before_the_clock_loses_nothing)
{
	static const struct rec_sample r = { 100, 1, 0, UINT64_MAX / 2, WALL, UINT16_MAX, true, 0 };
	struct sums all, a, c;
	struct trace_reader *t;
	struct buf b;
	struct err e;

	all_samples = &r;
	nr_all = 1;
	b = make_trace();
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	all = sums_of(t, 0, 0, NULL);
	CHECK_U64(all.base[WALL], r.weight);
	a = sums_of(t, 0, 5, NULL);
	c = sums_of(t, 5, 0, NULL);
	add(&a, &c);
	check_equal(&a, &all);
	trace_reader_close(t);
	buf_release(&b);
}

/* ---- calls ---- */

static uint64_t calls_of(struct trace_reader *t, uint64_t from_ns, uint64_t to_ns, uint64_t *total)
{
	const struct selection select = { .from_ns = from_ns, .to_ns = to_ns };
	const struct profile_opts o = {
		.names.no_files = true, .replay = true, .no_samples = true, .select = &select,
	};
	struct origin origin;
	struct names names;
	struct model m;
	struct err e = { 0 };
	uint64_t n;

	CHECK_U64(profile_read(&names, &m, &origin, t, &o, &e), 0);
	n = flow_totals(&m.flow, total);
	names_release(&names);
	model_release(&m);
	return n;
}

TEST(cut_calls_that_are_replayed_add_up)
{
	uint64_t all[FLOW_MAX_METRICS] = { 0 }, n;
	struct trace_reader *t;
	struct err e;
	int round, i;

	CHECK_U64(trace_reader_open(&t, unit_source("t/data/events/trace"), &e), 0);
	n = calls_of(t, 0, 0, all);
	for (round = 0; round < 10; round++) {
		uint64_t cut = 1 + unit_random() % (140 * MS), total[FLOW_MAX_METRICS] = { 0 };
		uint64_t sum[FLOW_MAX_METRICS] = { 0 }, before = calls_of(t, 0, cut, total);

		CHECK(before <= n);
		memcpy(sum, total, sizeof(sum));
		CHECK_U64(before + calls_of(t, cut, 0, total), n);
		for (i = 0; i < 3; i++)		/* cpu, wall, dispatches */
			CHECK_U64(sum[i] + total[i], all[i]);
	}
	trace_reader_close(t);
}
