// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * part.c - calls the hooks of a recording's parts, in the order that part.h promises.
 */
#include "collect/engine/part.h"
#include "collect/engine/recording.h"

void parts_take(const struct collect *c, struct jvm_callbacks *cb)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++) {
		const struct jvm_callbacks *p = c->parts[i]->agent;

		if (!p)
			continue;
		if (p->program)
			cb->program = p->program;
#define RECORD(s, ...) \
		if (p->s) \
			cb->s = p->s;
#include "jvm/table.h"
	}
}

const struct part *parts_of_source(const struct collect *c, uint32_t source)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->java_sample && c->parts[i]->source == source)
			return c->parts[i];
	return NULL;
}

#define CALL(c, i, hook, ...) \
	if ((c)->parts[i]->hook) \
		(c)->parts[i]->hook(c, ##__VA_ARGS__)
#define CALL_ALL(c, hook, ...) \
	for (size_t i = 0; i < (c)->nr_parts; i++) \
		CALL(c, i, hook, ##__VA_ARGS__)
#define CALL_ALL_BACKWARDS(c, hook, ...) \
	for (size_t i = (c)->nr_parts; i--;) \
		CALL(c, i, hook, ##__VA_ARGS__)
/* Until one fails. */
#define TRY_ALL(c, hook, ...) \
	for (size_t i = 0; i < (c)->nr_parts; i++) { \
		int r = (c)->parts[i]->hook ? (c)->parts[i]->hook(c, ##__VA_ARGS__) : 0; \
\
		if (r) \
			return r; \
	}

int parts_open(struct collect *c, struct err *e)
{
	TRY_ALL(c, open, e);
	return 0;
}

void parts_configure(struct collect *c, size_t nr_cpus, struct evconf *conf)
{
	CALL_ALL(c, configure, nr_cpus, conf);
}

int parts_open_events(struct collect *c, struct err *e)
{
	TRY_ALL(c, open_events, e);
	return 0;
}

int parts_watch(struct collect *c, int tid, struct err *e)
{
	TRY_ALL(c, watch, tid, e);
	return 0;
}

void parts_labels(struct collect *c)
{
	CALL_ALL(c, labels);
}

void parts_ready(struct collect *c)
{
	CALL_ALL(c, ready);
}

bool parts_count(const struct collect *c)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		any |= c->parts[i]->counts && c->parts[i]->counts(c);
	return any;
}

void parts_ask(const struct collect *c, struct jvm_server_opts *o)
{
	CALL_ALL(c, ask, o);
}

void parts_turned_off(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, turned_off, now_ns);
}

bool parts_turned_on(struct collect *c, uint64_t now_ns)
{
	bool asks = false;
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		asks |= c->parts[i]->turned_on && c->parts[i]->turned_on(c, now_ns);
	return asks;
}

void parts_leaf(struct collect *c, const struct java *j, const struct jvm_leaf *leaf)
{
	CALL_ALL(c, leaf, j, leaf);
}

void parts_begin(struct collect *c, uint64_t time_ns)
{
	CALL_ALL(c, begins, time_ns);
}

bool parts_record(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
		  uint64_t time_ns)
{
	bool taken = false;
	size_t i;

	for (i = 0; i < c->nr_parts && !taken; i++)
		taken = c->parts[i]->record && c->parts[i]->record(c, ring, h, time_ns);
	return taken;
}

bool parts_trap(struct collect *c, int pid)
{
	bool any = false;
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		any |= c->parts[i]->trap && c->parts[i]->trap(c, pid);
	return any;
}

void parts_sampled(struct collect *c, const struct java *j, const struct jvm_sample *s)
{
	CALL_ALL(c, sampled, j, s);
}

void parts_forked(struct collect *c, int pid, int tid, uint64_t time_ns)
{
	CALL_ALL(c, forked, pid, tid, time_ns);
}

void parts_executed(struct collect *c, int pid, uint64_t time_ns)
{
	CALL_ALL(c, executed, pid, time_ns);
}

void parts_exited(struct collect *c, int tid, uint64_t time_ns)
{
	CALL_ALL(c, exited, tid, time_ns);
}

void parts_sample(struct collect *c, const struct thread *th, const struct rec_sample *s,
		  const struct frame *frames, size_t nr, bool is_kept)
{
	CALL_ALL(c, sample, th, s, frames, nr, is_kept);
}

void parts_taken_in(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, taken_in, now_ns);
}

uint64_t parts_due_ns(const struct collect *c)
{
	uint64_t first = 0, due;
	size_t i;

	for (i = 0; i < c->nr_parts; i++) {
		due = c->parts[i]->due_ns ? c->parts[i]->due_ns(c) : 0;
		if (due && (!first || due < first))
			first = due;
	}
	return first;
}

void parts_turn(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, turn, now_ns);
}

void parts_end(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, ends, now_ns);
}

void parts_ended(struct collect *c, uint64_t now_ns)
{
	CALL_ALL_BACKWARDS(c, ended, now_ns);
}

void parts_cut(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, cut, now_ns);
}

void parts_end_file(struct collect *c, uint64_t until_ns, bool last)
{
	CALL_ALL(c, end_file, until_ns, last);
}

void parts_sums(struct collect *c, bool last)
{
	CALL_ALL(c, sums, last);
}

void parts_stand(struct collect *c)
{
	CALL_ALL(c, stand);
}

void parts_next_file(struct collect *c, uint64_t now_ns)
{
	CALL_ALL(c, next_file, now_ns);
}

void parts_forget(struct collect *c, const struct map *procs)
{
	CALL_ALL(c, forget, procs);
}

void parts_close(struct collect *c)
{
	CALL_ALL_BACKWARDS(c, close);
}
