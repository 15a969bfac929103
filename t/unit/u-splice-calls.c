// SPDX-License-Identifier: GPL-2.0-or-later
/* u-splice-calls.c - call trees of segments become those of one file. */
#include <string.h>

#include "base/mem.h"
#include "trace/calls_read.h"
#include "trace/codec.h"
#include "trace/splice_calls.h"
#include "unit.h"

/* A segment with a tree of two nodes, the second of which has calls. */
static void put_segment(struct records *p, uint32_t tree, uint64_t calls, uint64_t popped, uint64_t start_ns)
{
	const struct call_node nodes[] = { { 0, 1 }, { 1, 2 } };
	const struct call_value value = { .node = 2, .calls = calls, .base = { 10 * calls } };
	const struct record_kind *k = &record_kinds[RECORD_call_tree];
	const struct rec_call_tree r = { .tree = tree, .popped = popped, .start_ns = start_ns, .name = "" };
	size_t at;

	records_end(p, calls_encode_nodes(p, &(struct rec_call_nodes){ 5, tree, 1, 2, nodes }), TRF_MIXED);
	records_end(p, calls_encode_values(p, &(struct rec_call_values){ 5, tree, 1, 1, &value }), TRF_MIXED);
	at = records_begin(p, k->code.major, record_minor(k, &r), 5);
	records_end(p, at, record_encode(&p->b, k, &r));
}

struct seen {
	uint32_t first[8], parent[8], nr;	/* of records of nodes; the second node's parent */
	uint64_t calls[8];			/* [node] */
	struct rec_call_tree tree;		/* the last */
};

static int on_nodes(void *ctx, const struct rec_call_nodes *r)
{
	struct seen *s = ctx;

	CHECK_U64(r->nr, 2);
	CHECK_U64(r->nodes[0].parent, 0);
	s->first[s->nr] = r->first;
	s->parent[s->nr++] = r->nodes[1].parent;
	return 0;
}

static int on_values(void *ctx, const struct rec_call_values *r)
{
	struct seen *s = ctx;

	if (r->values[0].node < 8)
		s->calls[r->values[0].node] += r->values[0].calls;
	return 0;
}

static void read_back(const struct records *p, struct seen *s)
{
	const struct trace_sink sink = { .call_nodes = on_nodes, .call_values = on_values };
	struct span span = span_init(p->b.data, p->b.len);
	struct calls_reader reader = { 0 };
	struct walk_record r = { 0 };
	union trace_record rec;
	bool bad;

	while (walk_record(&span, (const uint8_t *)p->b.data, &r) > 0) {
		const struct record_row *row = record_find(r.major, r.minor);

		if (row->kind && record_decode(&rec, row, r.time_ns, r.body))
			s->tree = rec.call_tree;
		else
			calls_decode(&reader, &r, &sink, s, &bad);
	}
	calls_reader_release(&reader);
}

TEST(splice_calls_numbers_nodes_behind_those_before_and_adds_counts)
{
	struct splice_calls *s = splice_calls_new();
	struct records out = { .type = TRF_CALLS };
	struct seen seen = { .nr = 0 };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		struct records in = { .type = TRF_CALLS };

		put_segment(&in, 7, 100 + i, 1 << i, 1000 * (i + 1));
		put_segment(&in, 7, 0, 1 << i, 1000 * (i + 1));	/* again, as a snapshot does: no more calls */
		CHECK(splice_calls_chunk(s, (const uint8_t *)in.b.data, in.b.len, &out));
		splice_calls_next(s);
		buf_release(&in.b);
	}
	read_back(&out, &seen);
	CHECK_U64(seen.nr, 6);
	for (i = 0; i < 6; i++) {
		CHECK_U64(seen.first[i], 1 + i / 2 * 2);
		CHECK_U64(seen.parent[i], seen.first[i]);
	}
	CHECK_U64(seen.calls[2], 100);
	CHECK_U64(seen.calls[4], 101);
	CHECK_U64(seen.calls[6], 102);
	/* the last of each segment counts, and the first begin */
	CHECK_U64(seen.tree.popped, 7);
	CHECK_U64(seen.tree.start_ns, 1000);
	buf_release(&out.b);
	splice_calls_free(s);
}

TEST(splice_calls_says_what_it_leaves_out)
{
	const struct call_value value = { .node = UINT32_MAX, .calls = 1 };
	struct splice_calls *s = splice_calls_new();
	struct records in = { .type = TRF_CALLS }, out = { .type = TRF_CALLS };
	size_t len;

	records_end(&in, calls_encode_values(&in, &(struct rec_call_values){ 5, 1, 0, 1, &value }),
		    TRF_MIXED);
	CHECK(splice_calls_chunk(s, (const uint8_t *)in.b.data, in.b.len, &out));
	splice_calls_next(s);
	records_reset(&out);
	/* there is no number behind the last one */
	CHECK(!splice_calls_chunk(s, (const uint8_t *)in.b.data, in.b.len, &out));
	CHECK_U64(out.b.len, 0);
	for (len = 1; len < in.b.len; len++) {
		struct splice_calls *x = splice_calls_new();

		CHECK(!splice_calls_chunk(x, (const uint8_t *)in.b.data, len, &out));
		splice_calls_free(x);
	}
	buf_release(&in.b);
	buf_release(&out.b);
	splice_calls_free(s);
}

/* ---- events ---- */

struct heard {
	struct call_event events[32];
	uint32_t nr;
};

static int on_events(void *ctx, const struct rec_call_events *r)
{
	struct heard *h = ctx;
	uint32_t i;

	CHECK_U64(r->tree, 7);
	for (i = 0; i < r->nr && h->nr < 32; i++)
		h->events[h->nr++] = r->events[i];
	return 0;
}

static void splice_events(struct splice_calls *s, const struct call_event *events, uint32_t nr,
			  struct records *out)
{
	const struct rec_call_events r = { 7, 1, nr, events };
	struct records in = { .type = TRF_CALLS };

	records_end(&in, calls_encode_events(&in, &r), TRF_MIXED);
	CHECK(splice_calls_chunk(s, (const uint8_t *)in.b.data, in.b.len, out));
	splice_calls_next(s);
	buf_release(&in.b);
}

static void hear(const struct records *p, struct heard *h)
{
	const struct trace_sink sink = { .call_events = on_events };
	struct span span = span_init(p->b.data, p->b.len);
	struct calls_reader reader = { 0 };
	struct walk_record r = { 0 };
	bool bad;

	h->nr = 0;
	while (walk_record(&span, (const uint8_t *)p->b.data, &r) > 0) {
		calls_decode(&reader, &r, &sink, h, &bad);
		CHECK(!bad);
	}
	calls_reader_release(&reader);
}

/* Time, kind, consumer and what was charged: three files of one tree. */
static const struct call_event first_file[] = {
	{ 10, CALL_ENTERED, 1, { 0 } }, { 20, CALL_ENTERED, 2, { 5 } }, { 30, CALL_UNWOUND, 0, { 9 } },
};
static const struct call_event second_file[] = {
	{ 30, CALL_OPEN, 0, { 9 } }, { 30, CALL_OPEN, 1, { 9 } }, { 30, CALL_OPEN, 2, { 9 } },
	{ 40, CALL_LEFT, 2, { 15 } }, { 50, CALL_UNWOUND, 0, { 16 } },
};
static const struct call_event third_file[] = {
	{ 50, CALL_OPEN, 0, { 16 } }, { 50, CALL_OPEN, 1, { 16 } },
	{ 60, CALL_LEFT, 1, { 20 } },
};

TEST(splice_calls_makes_the_events_of_segments_one_list)
{
	static const uint32_t times[] = { 10, 20, 40, 60 };
	struct splice_calls *s = splice_calls_new();
	struct records out = { .type = TRF_CALLS };
	struct heard h;
	uint32_t i;

	splice_events(s, first_file, ARRAY_SIZE(first_file), &out);
	splice_events(s, second_file, ARRAY_SIZE(second_file), &out);
	splice_events(s, third_file, ARRAY_SIZE(third_file), &out);
	splice_calls_end(s, &out);
	hear(&out, &h);
	CHECK_U64(h.nr, 4);
	for (i = 0; i < 4; i++)
		CHECK_U64(h.events[i].time_ns, times[i]);
	CHECK_U64(h.events[2].charged[0], 15);
	buf_release(&out.b);
	splice_calls_free(s);
}

TEST(splice_calls_keeps_what_is_open_behind_a_gap)
{
	static const uint32_t kinds[] = {
		CALL_ENTERED, CALL_ENTERED, CALL_UNWOUND, CALL_OPEN, CALL_OPEN, CALL_LEFT,
	};
	struct splice_calls *s = splice_calls_new();
	struct records out = { .type = TRF_CALLS };
	struct heard h;
	uint32_t i;

	splice_events(s, first_file, ARRAY_SIZE(first_file), &out);
	splice_events(s, third_file, ARRAY_SIZE(third_file), &out);
	splice_calls_end(s, &out);
	hear(&out, &h);
	CHECK_U64(h.nr, 6);
	for (i = 0; i < 6; i++)
		CHECK_U64(h.events[i].kind, kinds[i]);
	/* the end that the last file reports stays as well */
	records_reset(&out);
	splice_events(s, first_file, ARRAY_SIZE(first_file), &out);
	splice_calls_end(s, &out);
	hear(&out, &h);
	CHECK_U64(h.nr, 3);
	buf_release(&out.b);
	splice_calls_free(s);
}
