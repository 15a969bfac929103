// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree.c - how fast trees are built: events as text and as calls of the builder, on a small tree
 * and on one of millions of nodes, and folded stacks.  One core, the best of several rounds.
 *
 * usage: tree [<million events>]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "flow/events.h"
#include "flow/input.h"

enum { MAX_DEPTH = 60, NR_THREADS = 4, SWITCH_EVERY = 1000, ROUNDS = 5 };

struct event {
	uint64_t value;
	uint32_t fn, kind;	/* 0 enter, 1 leave, 2 switch to thread fn */
};

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* A walk: each function calls a few others, mostly the first of them. */
static uint32_t callee(uint32_t fn, uint32_t fanout, uint32_t nr_fns)
{
	uint32_t k = next_random() % 8 ? 0 : next_random() % fanout;

	return (fn * 7919 + k * 104729 + 1) % nr_fns;
}

static struct event *make_events(size_t nr, uint32_t fanout, uint32_t nr_fns, uint32_t max_depth)
{
	struct event *ev = xmalloc(nr * sizeof(*ev));
	uint32_t stack[NR_THREADS][MAX_DEPTH + 1], depth[NR_THREADS] = { 0 }, t = 0;
	uint64_t now = 1000000;
	size_t i;

	for (i = 0; i < NR_THREADS; i++)
		stack[i][0] = i;
	for (i = 0; i < nr; i++) {
		now += next_random() % 50;
		if (i % SWITCH_EVERY == 0) {
			t = next_random() % NR_THREADS;
			ev[i] = (struct event){ now, t, 2 };
		} else if (depth[t] && (depth[t] == max_depth || next_random() % 100 < 50)) {
			ev[i] = (struct event){ now, stack[t][depth[t]--], 1 };
		} else {
			stack[t][depth[t] + 1] = callee(stack[t][depth[t]], fanout, nr_fns);
			ev[i] = (struct event){ now, stack[t][++depth[t]], 0 };
		}
	}
	return ev;
}

static void put_name(struct buf *b, uint32_t fn, bool is_long)
{
	buf_fmt(b, is_long ? "com.example.application.module%u.Component.operation%u(I)V" : "m%u_function%u",
		fn % 37,
		fn);
}

static void make_text(const struct event *ev, size_t nr, bool is_long, struct buf *b)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		buf_fmt(b, "%llu ", (unsigned long long)ev[i].value);
		buf_str(b, ev[i].kind == 2 ? "pidtid " : ev[i].kind ? "< " : "> ");
		if (ev[i].kind == 2)
			buf_fmt(b, "thread%u", ev[i].fn);
		else
			put_name(b, ev[i].fn, is_long);
		buf_putc(b, '\n');
	}
}

static double cpu_now(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static void report(const char *what, size_t nr, double best, size_t nodes)
{
	printf("%-28s %8.1f M/s   %zu nodes\n", what, nr / best / 1e6, nodes);
}

static void binary(const char *what, const struct event *ev, size_t nr)
{
	double best = 1e9, t;
	size_t i, nodes = 0;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		struct flow_events b;
		struct flow f;

		flow_init(&f, 1, FLOW_CALLS);
		flow_events_init(&b, &f);
		t = cpu_now();
		for (i = 0; i < nr; i++) {
			if (ev[i].kind == 0)
				flow_events_enter(&b, ev[i].fn + 100, &ev[i].value);
			else if (ev[i].kind == 1)
				flow_events_leave(&b, ev[i].fn + 100, &ev[i].value);
			else
				flow_events_switch(&b, ev[i].fn + 1, &ev[i].value);
		}
		flow_events_finish(&b);
		t = cpu_now() - t;
		best = MIN(best, t);
		nodes = f.nr_nodes;
		flow_events_release(&b);
		flow_release(&f);
	}
	report(what, nr, best, nodes);
}

static void text(const char *what, const struct event *ev, size_t nr, bool is_long)
{
	struct buf b = BUF_INIT;
	double best = 1e9, t;
	size_t nodes = 0;
	struct err e;
	int round;

	make_text(ev, nr, is_long, &b);
	for (round = 0; round < ROUNDS; round++) {
		struct model m;

		t = cpu_now();
		if (input_events(&m, b.data, b.len, &e)) {
			printf("%s\n", e.msg);
			exit(1);
		}
		t = cpu_now() - t;
		best = MIN(best, t);
		nodes = m.flow.nr_nodes;
		model_release(&m);
	}
	report(what, nr, best, nodes);
	buf_release(&b);
}

int main(int argc, char **argv)
{
	size_t nr = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10) * 1000000;
	struct event *ev = make_events(nr, 3, 1000, 12);
	struct event *big = make_events(nr, 5000, 50000, MAX_DEPTH);

	binary("events, small tree", ev, nr);
	binary("events, large tree", big, nr);
	text("text, small tree", ev, nr, false);
	text("text, long names", ev, nr, true);
	text("text, large tree", big, nr, false);
	free(ev);
	free(big);
	return 0;
}
