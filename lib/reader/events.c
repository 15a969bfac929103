// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - rows of what happened when: calls, their events, dispatches. */
#include <errno.h>
#include <string.h>

#include "reader/reader.h"

/* Return the text of a row in a column of the table; NULL: it has none there. */
static const char *reader_events_text_of(struct arcprof_trace *t, const struct query_table *table,
					 const char *column, uint32_t row)
{
	struct query_cell c = { .row = row };

	while (strcmp(table->columns[c.column].name, column))
		c.column++;
	return table->text(&t->data, &c);
}

/* Return a number, or otherwise if it is not known. */
static uint64_t reader_events_number_of(const struct arcprof_trace *t, const struct query_table *table,
					const char *column, uint32_t row, uint64_t otherwise)
{
	struct query_cell c = { .row = row };
	uint64_t v;

	while (strcmp(table->columns[c.column].name, column))
		c.column++;
	return table->number(&t->data, &c, &v) ? v : otherwise;
}

int arcprof_trace_call(struct arcprof_trace *t, uint32_t row, struct arcprof_call *x)
{
	const struct query_data *d = &t->data;
	const struct query_table *c = &query_calls;

	if (!reader_has(t, ARCPROF_TABLE_CALLS, row, d->nr_calls))
		return -ERANGE;
	*x = (struct arcprof_call){
		.time_ns = reader_events_number_of(t, c, "time", row, 0),
		.duration_ns = reader_events_number_of(t, c, "duration", row, ARCPROF_UNKNOWN),
		.base = d->calls[row].base, .cum = d->calls[row].cum,
		.thread = reader_events_number_of(t, c, "thread", row, 0), .function = d->calls[row].function,
		.parent = d->calls[row].parent == MAP_NONE ? ARCPROF_NONE : d->calls[row].parent,
		.level = d->calls[row].level,
		.name = reader_events_text_of(t, c, "name", row),
		.thread_name = reader_events_text_of(t, c, "thread_name", row),
		.how = reader_events_text_of(t, c, "how", row),
	};
	return 0;
}

int arcprof_trace_event(struct arcprof_trace *t, uint32_t row, struct arcprof_event *x)
{
	const struct query_data *d = &t->data;
	const struct query_table *c = &query_events;

	if (!reader_has(t, ARCPROF_TABLE_EVENTS, row, d->nr_events))
		return -ERANGE;
	*x = (struct arcprof_event){
		.time_ns = reader_events_number_of(t, c, "time", row, 0), .consumed = d->events[row].delta,
		.thread = d->events[row].thread, .function = d->events[row].function,
		.cpu = d->events[row].cpu,
		.kind = reader_events_text_of(t, c, "kind", row),
		.name = reader_events_text_of(t, c, "name", row),
		.thread_name = reader_events_text_of(t, c, "thread_name", row),
		.state = reader_events_text_of(t, c, "state", row),
	};
	return 0;
}

int arcprof_trace_dispatch(struct arcprof_trace *t, uint32_t row, struct arcprof_dispatch *x)
{
	const struct query_data *d = &t->data;
	const struct query_table *c = &query_dispatches;

	if (!reader_has(t, ARCPROF_TABLE_DISPATCHES, row, d->nr_dispatches))
		return -ERANGE;
	*x = (struct arcprof_dispatch){
		.time_ns = reader_events_number_of(t, c, "time", row, 0),
		.ran_ns = reader_events_number_of(t, c, "ran", row, ARCPROF_UNKNOWN),
		.waited_ns = reader_events_number_of(t, c, "waited", row, ARCPROF_UNKNOWN),
		.blocked_ns = reader_events_number_of(t, c, "blocked", row, ARCPROF_UNKNOWN),
		.out = d->dispatches[row].out, .in = d->dispatches[row].in, .cpu = d->dispatches[row].cpu,
		.number = reader_events_number_of(t, c, "number", row, 0),
		.interrupt = reader_events_text_of(t, c, "class", row),
		.state = reader_events_text_of(t, c, "state", row),
	};
	return 0;
}
