// SPDX-License-Identifier: GPL-2.0-or-later
/* calls_read.c - decodes records of call trees (calls_read.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/calls_read.h"

void calls_reader_release(struct calls_reader *c)
{
	free(c->nodes);
	free(c->values);
	free(c->events);
	memset(c, 0, sizeof(*c));
}

static int decode_consumer(struct walk_record *r, const struct trace_sink *sink, void *ctx, bool *bad)
{
	struct rec_call_consumer p = { 0 };
	struct frame_words w = { 0 };

	p.consumer = span_u32(&r->body);
	w.kind = span_varint(&r->body);
	w.a = span_varint(&r->body);
	w.b = span_varint(&r->body);
	p.frame = frame_from_words(&w);
	*bad = r->body.bad || !p.consumer;
	return *bad || !sink->call_consumer ? 0 : sink->call_consumer(ctx, &p);
}

static int decode_nodes(struct calls_reader *c, struct walk_record *r, const struct trace_sink *sink,
			void *ctx, bool *bad)
{
	struct rec_call_nodes p = { .time_ns = r->time_ns };
	uint32_t i;

	p.tree = span_u32(&r->body);
	p.first = span_u32(&r->body);
	p.nr = span_u32(&r->body);
	*bad = r->body.bad || !p.tree || !p.first || p.nr > span_left(&r->body) / 2 ||
		p.nr > UINT32_MAX - p.first;
	if (*bad)
		return 0;
	if (p.nr > c->alloc_nodes) {
		c->alloc_nodes = p.nr;
		c->nodes = xrealloc(c->nodes, p.nr * sizeof(*c->nodes));
	}
	for (i = 0; i < p.nr; i++) {
		c->nodes[i].parent = p.first + i - (uint32_t)span_varint(&r->body);
		c->nodes[i].consumer = span_varint(&r->body);
	}
	p.nodes = c->nodes;
	*bad = r->body.bad;
	return *bad || !sink->call_nodes ? 0 : sink->call_nodes(ctx, &p);
}

/*
 * Read the head of nr rows with nr_others numbers and one for each metric. Returns false if the record is
 * too short for them.
 */
static bool take_head(struct span *s, uint32_t nr_others, uint32_t *tree, uint32_t *nr_metrics, uint32_t *nr)
{
	*tree = span_u32(s);
	*nr_metrics = span_u32(s);
	*nr = span_u32(s);
	return !s->bad && *tree && *nr_metrics <= CALL_MAX_METRICS &&
		*nr <= span_left(s) / (nr_others + *nr_metrics);
}

static int decode_values(struct calls_reader *c, struct walk_record *r, const struct trace_sink *sink,
			 void *ctx, bool *bad)
{
	struct rec_call_values p = { .time_ns = r->time_ns };
	uint32_t i, m, node = 0;

	*bad = !take_head(&r->body, 2, &p.tree, &p.nr_metrics, &p.nr);
	if (*bad)
		return 0;
	if (p.nr > c->alloc_values) {
		c->alloc_values = p.nr;
		c->values = xrealloc(c->values, p.nr * sizeof(*c->values));
	}
	for (i = 0; i < p.nr; i++) {
		struct call_value *v = &c->values[i];

		*v = (struct call_value){ .node = node += span_varint(&r->body) };
		v->calls = span_varint(&r->body);
		for (m = 0; m < p.nr_metrics; m++)
			v->base[m] = span_varint(&r->body);
		*bad |= !v->node;
	}
	p.values = c->values;
	*bad |= r->body.bad;
	return *bad || !sink->call_values ? 0 : sink->call_values(ctx, &p);
}

static int decode_events(struct calls_reader *c, struct walk_record *r, const struct trace_sink *sink,
			 void *ctx, bool *bad)
{
	struct call_event e = { .time_ns = r->time_ns };
	struct rec_call_events p = { 0 };
	uint32_t i, m;

	*bad = !take_head(&r->body, 3, &p.tree, &p.nr_metrics, &p.nr);
	if (*bad)
		return 0;
	if (p.nr > c->alloc_events) {
		c->alloc_events = p.nr;
		c->events = xrealloc(c->events, p.nr * sizeof(*c->events));
	}
	for (i = 0; i < p.nr; i++) {
		e.kind = span_varint(&r->body);
		e.consumer = span_varint(&r->body);
		e.time_ns += span_varint(&r->body);
		for (m = 0; m < p.nr_metrics; m++)
			e.charged[m] += span_varint(&r->body);
		*bad |= e.kind >= CALL_EVENT_NR;
		c->events[i] = e;
	}
	p.events = c->events;
	*bad |= r->body.bad;
	return *bad || !sink->call_events ? 0 : sink->call_events(ctx, &p);
}

int calls_decode(struct calls_reader *c, struct walk_record *r, const struct trace_sink *sink, void *ctx,
		 bool *bad)
{
	*bad = false;
	switch (r->minor) {
	case TRF_CALLS_CONSUMER:
		return decode_consumer(r, sink, ctx, bad);
	case TRF_CALLS_NODES:
		return decode_nodes(c, r, sink, ctx, bad);
	case TRF_CALLS_VALUES:
		return decode_values(c, r, sink, ctx, bad);
	case TRF_CALLS_EVENTS:
		return sink->call_events ? decode_events(c, r, sink, ctx, bad) : 0;
	}
	return 0;
}
