// SPDX-License-Identifier: GPL-2.0-or-later
/* calls.c - writes what is in call trees (calls.h). */
#include "trace/calls.h"
#include "trace/writer_priv.h"

void trace_write_call_consumer(struct trace_writer *w, const struct rec_call_consumer *r)
{
	const struct frame_words frame = frame_words(&r->frame);
	struct records *p = writer_calls(w);
	size_t at;

	if (!p)
		return;
	trace_writer_note(w, &r->frame);
	at = records_begin(p, TRF_MAJOR_CALLS, TRF_CALLS_CONSUMER, writer_now(w));
	buf_u32(&p->b, r->consumer);
	buf_varint(&p->b, frame.kind);
	buf_varint(&p->b, frame.a);
	buf_varint(&p->b, frame.b);
	writer_finish(w, p, at, TRF_MIXED);
}

size_t calls_encode_nodes(struct records *p, const struct rec_call_nodes *r)
{
	size_t at = records_begin(p, TRF_MAJOR_CALLS, TRF_CALLS_NODES, r->time_ns);
	uint32_t i;

	buf_u32(&p->b, r->tree);
	buf_u32(&p->b, r->first);
	buf_u32(&p->b, r->nr);
	for (i = 0; i < r->nr; i++) {
		buf_varint(&p->b, (uint32_t)(r->first + i - r->nodes[i].parent));
		buf_varint(&p->b, r->nodes[i].consumer);
	}
	return at;
}

void trace_write_call_nodes(struct trace_writer *w, const struct rec_call_nodes *r)
{
	struct records *p = writer_calls(w);

	if (p && r->nr)
		writer_finish(w, p, calls_encode_nodes(p, r), TRF_MIXED);
}

size_t calls_encode_values(struct records *p, const struct rec_call_values *r)
{
	size_t at = records_begin(p, TRF_MAJOR_CALLS, TRF_CALLS_VALUES, r->time_ns);
	uint32_t i, m, before = 0;

	buf_u32(&p->b, r->tree);
	buf_u32(&p->b, r->nr_metrics);
	buf_u32(&p->b, r->nr);
	for (i = 0; i < r->nr; i++) {
		buf_varint(&p->b, r->values[i].node - before);
		buf_varint(&p->b, r->values[i].calls);
		for (m = 0; m < r->nr_metrics; m++)
			buf_varint(&p->b, r->values[i].base[m]);
		before = r->values[i].node;
	}
	return at;
}

void trace_write_call_values(struct trace_writer *w, const struct rec_call_values *r)
{
	struct records *p = writer_calls(w);

	if (p && r->nr)
		writer_finish(w, p, calls_encode_values(p, r), TRF_MIXED);
}

size_t calls_encode_events(struct records *p, const struct rec_call_events *r)
{
	const struct call_event zero = { .time_ns = r->nr ? r->events[0].time_ns : 0 }, *before = &zero;
	size_t at = records_begin(p, TRF_MAJOR_CALLS, TRF_CALLS_EVENTS, zero.time_ns);
	uint32_t i, m;

	buf_u32(&p->b, r->tree);
	buf_u32(&p->b, r->nr_metrics);
	buf_u32(&p->b, r->nr);
	for (i = 0; i < r->nr; before = &r->events[i++]) {
		const struct call_event *e = &r->events[i];

		buf_varint(&p->b, e->kind);
		buf_varint(&p->b, e->consumer);
		buf_varint(&p->b, e->time_ns - before->time_ns);
		for (m = 0; m < r->nr_metrics; m++)
			buf_varint(&p->b, e->charged[m] - before->charged[m]);
	}
	return at;
}

bool trace_write_call_events(struct trace_writer *w, const struct rec_call_events *r)
{
	struct records *p = writer_has_room(w) ? writer_calls(w) : NULL;

	if (p && r->nr)
		writer_finish(w, p, calls_encode_events(p, r), TRF_MIXED);
	return p;
}
