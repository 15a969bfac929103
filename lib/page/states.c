// SPDX-License-Identifier: GPL-2.0-or-later
/* states.c - adds up the states of threads over equal parts of the time; pauses of JVMs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/events.h"
#include "page/states.h"

static uint64_t begin_of(const struct page_states *s, unsigned int cell)
{
	return (unsigned __int128)s->span_ns * cell / STATES_CELLS;
}

static unsigned int cell_of(const struct page_states *s, uint64_t ns)
{
	return MIN((unsigned __int128)ns * STATES_CELLS / s->span_ns, (unsigned __int128)STATES_CELLS - 1);
}

static void take_state(void *ctx, const struct sched_thread *t, enum sched_bucket b, uint64_t from_ns,
		       uint64_t to_ns)
{
	struct page_states *s = ctx;
	size_t thread = t - s->sched.threads, was = s->nr_threads;
	uint64_t from = MAX(from_ns, s->start_ns) - s->start_ns, to = MAX(to_ns, s->start_ns) - s->start_ns;
	unsigned int cell;

	if (thread >= was) {
		s->nr_threads = MAX(thread + 1, 2 * was);
		s->cells = xrealloc(s->cells, s->nr_threads * STATES_CELLS * sizeof(*s->cells));
		memset(s->cells + was * STATES_CELLS, 0,
		       (s->nr_threads - was) * STATES_CELLS * sizeof(*s->cells));
	}
	to = MIN(to, s->span_ns);
	for (; from < to; from = begin_of(s, cell + 1)) {
		uint64_t end;

		cell = cell_of(s, from);
		if (begin_of(s, cell + 1) <= from)	/* rounding */
			cell++;
		end = cell + 1 < STATES_CELLS ? MIN(to, begin_of(s, cell + 1)) : to;
		s->cells[thread * STATES_CELLS + MIN(cell, STATES_CELLS - 1u)][b] += end - from;
		if (end == to)
			break;
	}
}

void page_states_read(struct page_states *s, const struct view *v, uint64_t start_ns, uint64_t span_ns)
{
	const struct sched_opts opts = { .select = &v->o->select, .state = take_state, .state_ctx = s };
	struct err e;

	*s = (struct page_states){ .start_ns = start_ns, .span_ns = MAX(span_ns, STATES_CELLS) };
	if (v->trace && sched_read(&s->sched, v->trace, &opts, &e))
		sched_release(&s->sched);
	s->nr_threads = MIN(s->nr_threads, s->sched.nr_threads);
}

void page_states_release(struct page_states *s)
{
	if (s->sched.nr_threads)
		sched_release(&s->sched);
	free(s->cells);
}

unsigned int page_states_share(const struct page_states *s, size_t thread, unsigned int cell,
			       enum sched_bucket b)
{
	uint64_t length = begin_of(s, cell + 1) - begin_of(s, cell);

	if (thread >= s->nr_threads || !length)
		return 0;
	return MIN(s->cells[thread * STATES_CELLS + cell][b] * STATES_WHOLE / length, (uint64_t)STATES_WHOLE);
}

void page_pauses_json(const struct view *v, uint64_t start_ns, struct json *j)
{
	enum { MOST = 20000 };
	const struct events_opts o = { .kinds = 1u << EVENT_GC, .select = &v->o->select };
	struct events x;
	struct err e;
	size_t i;

	if (!v->trace)
		return;
	if (!events_read(&x, v->trace, &o, &e) && x.nr) {
		json_array(j, "pauses");
		for (i = 0; i < MIN(x.nr, (size_t)MOST); i++) {
			const struct event *at = &x.list[i];

			if (at->duration_ns == EVENT_UNKNOWN)
				continue;
			json_object(j, NULL);
			json_u64(j, "pid", x.names.m->consumers.items[at->process].key >> 32);
			json_u64(j, "at_ns", at->time_ns - MIN(at->time_ns, start_ns));
			json_u64(j, "ns", at->duration_ns);
			json_end(j);
		}
		json_end(j);
	}
	events_release(&x);
}
