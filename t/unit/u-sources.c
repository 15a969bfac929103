// SPDX-License-Identifier: GPL-2.0-or-later
/* u-sources.c - what --check says of the sources of stored traces, and of models that are wrong. */
#include <string.h>

#include "model/checks.h"
#include "model/profile.h"
#include "trace/reader.h"
#include "unit.h"

struct subject {
	struct trace_reader *t;
	struct names names;
	struct model m;
	struct origin origin;
	struct sums_check c[FLOW_MAX_METRICS];
};

static void check(struct subject *s, const struct profile_opts *o)
{
	struct err e = { 0 };

	CHECK_U64(sources_check(&s->m, &s->names, s->t, o, s->c, &e), 0);
}

static void begin(struct subject *s, const char *path, const struct profile_opts *o)
{
	struct err e = { 0 };

	memset(s, 0, sizeof(*s));
	CHECK_U64(trace_reader_open(&s->t, unit_source(path), &e), 0);
	CHECK_U64(profile_read(&s->names, &s->m, &s->origin, s->t, o, &e), 0);
	check(s, o);
}

static void end(struct subject *s)
{
	names_release(&s->names);
	model_release(&s->m);
	trace_reader_close(s->t);
}

TEST(sources_of_samples_are_those_of_the_trace)
{
	const struct profile_opts o = { .names.no_files = true };
	struct subject s;

	begin(&s, "t/data/mixed/trace", &o);
	CHECK_U64(s.m.nr_sources, 1);
	CHECK_U64(s.c[0].nr_checked, 2);
	CHECK_U64(s.c[0].nr_bad, 0);
	s.m.flow.nodes[5].n++;
	check(&s, &o);
	CHECK_U64(s.c[0].nr_bad, 1);
	CHECK_STR(s.c[0].first, "n: 101 in the model, 100 in the trace");
	s.m.flow.nodes[5].n--;
	flow_base(&s.m.flow, 5)[0] += 7;
	check(&s, &o);
	CHECK_STR(s.c[0].first, "cpu-clock: 100000007 in the model, 100000000 in the trace");
	end(&s);
}

TEST(sources_of_calls_and_samples_are_checked_apart)
{
	const struct profile_opts o = { .names.no_files = true };
	struct subject s;

	begin(&s, "t/data/calls/trace", &o);
	CHECK_U64(s.m.nr_sources, 2);
	CHECK_U64(s.c[0].nr_checked, 3);	/* n, cpu, wall */
	CHECK_U64(s.c[1].nr_checked, 2);
	CHECK_U64(s.c[0].nr_bad + s.c[1].nr_bad, 0);
	flow_base(&s.m.flow, 9)[model_counter(&s.m, 1)]++;
	check(&s, &o);
	CHECK_U64(s.c[0].nr_bad, 0);
	CHECK_STR(s.c[1].first, "n: 12 in the model, 11 in the trace");
	flow_base(&s.m.flow, 9)[1]++;
	s.m.flow.nodes[9].n++;
	check(&s, &o);
	CHECK_U64(s.c[0].nr_bad, 2);
	CHECK_U64(s.c[1].nr_bad, 1);
	end(&s);
}

TEST(sources_are_checked_in_the_window_and_of_the_events_that_are_shown)
{
	char *name = (char *)"wall", *cpu = (char *)"0";
	struct opt_list metrics = { &name, 1, 0 }, cpus = { &cpu, 1, 0 };
	const struct selection part = { .from_ns = 100000000, .to_ns = 300000000 }, cpu_0 = { .cpus = cpus };
	struct profile_opts o = { .names.no_files = true, .metrics = metrics, .select = &part };
	struct subject s;

	begin(&s, "t/data/calls/trace", &o);
	CHECK_U64(s.m.nr_sources, 1);
	CHECK_U64(s.c[0].nr_checked, 2);
	CHECK_U64(s.c[0].nr_bad, 0);
	end(&s);
	o = (struct profile_opts){ .names.no_files = true, .samples = true, .select = &cpu_0 };
	begin(&s, "t/data/calls/trace", &o);
	CHECK_U64(s.m.sources[0].kind, FLOW_SAMPLES);
	CHECK_U64(s.c[0].nr_checked, 2);
	CHECK_U64(s.c[0].nr_bad, 0);
	end(&s);
}
