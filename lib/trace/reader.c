// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reader.c - decodes records and gives them to the sink.
 *
 * Stacks.  The file numbers frames and nodes from 1 in each epoch.  Chunks may be missing, so the
 * reader has numbers of its own, without holes (numbers.h).
 *
 * Invariants, cited below as [n]:
 *  [1] a node's parent is below the node; its frame is below nr_frames.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/progress.h"
#include "trace/branch.h"
#include "trace/calls_read.h"
#include "trace/codec.h"
#include "trace/dispatch.h"
#include "trace/format.h"
#include "trace/numbers.h"
#include "trace/walk.h"

enum {
	RUN = 2048,			/* samples given at once */
	DAMAGED = 1,			/* our number of a root node, and frame, that stand for lost ones */
};

struct trace_reader {
	struct walk *walk;
	struct stack_epoch ep;
	struct stack_node *nodes;
	size_t nr_nodes, alloc_nodes;
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	struct numbers node_numbers, frame_numbers;
	bool truncated;			/* the last pass to the end found none */
	bool no_standing;		/* its samples are not given */
	bool goes_on;			/* stacks are kept from one pass to the next */

	const struct trace_sink *sink;
	void *ctx;
	uint64_t weights[256];
	struct rec_sample run[RUN];
	size_t nr_run;
	struct rec_sched sched[RUN];
	uint64_t nr_bad;		/* records, in this pass */
	const struct record_row *recent[64];	/* by code: most records are of few kinds */
	struct calls_reader calls;
};

static void reader_add_frame(struct trace_reader *t, const struct frame *f)
{
	*VEC_ADD(t->frames, t->nr_frames, t->alloc_frames) = *f;
}

static uint32_t reader_add_node(struct trace_reader *t, uint32_t parent, uint32_t frame)
{
	VEC_GROW(t->nodes, t->nr_nodes, t->alloc_nodes);
	t->nodes[t->nr_nodes] = (struct stack_node){ parent, frame };	/* [1] */
	return t->nr_nodes++;
}

static void new_epoch(struct trace_reader *t, uint32_t epoch)
{
	t->ep.epoch = epoch;
	t->nr_nodes = t->nr_frames = 0;
	numbers_reset(&t->node_numbers);
	numbers_reset(&t->frame_numbers);
	reader_add_frame(t, &(struct frame){ .kind = FRAME_NONE });
	reader_add_node(t, 0, 0);
	reader_add_frame(t, &(struct frame){ .kind = FRAME_MARK, .mark = MARK_DAMAGED });
	reader_add_node(t, 0, DAMAGED);
}

/* ---- stacks ---- */

static bool decode_frames(struct trace_reader *t, struct span *s)
{
	uint32_t first = span_u32(s), nr = span_u32(s), i;
	uint64_t last_b[FRAME_NR] = { 0 };

	/* A frame is at least five bytes. */
	if (s->bad || nr > span_left(s) / 5 || t->nr_frames + nr > TRF_MAX_FRAMES + 2 ||
	    !numbers_add(&t->frame_numbers, first, nr, t->nr_frames))
		return false;
	for (i = 0; i < nr; i++) {
		struct frame_words w;
		uint64_t diff, *last;
		struct frame f;

		w.kind = span_varint(s);
		w.a = span_varint(s);
		diff = span_varint(s);
		w.c = span_varint(s);
		w.d = span_varint(s);
		last = &last_b[w.kind < FRAME_NR ? w.kind : 0];
		w.b = *last += diff >> 1 ^ -(diff & 1);
		f = frame_from_words(&w);
		reader_add_frame(t, &f);	/* also of a bad record: its numbers are taken */
	}
	return !s->bad;
}

static uint32_t parent_of(struct trace_reader *t, uint32_t id, uint64_t up)
{
	uint32_t parent;

	if (up == id)
		return 0;
	parent = up && up < id ? numbers_local(&t->node_numbers, id - up) : UINT32_MAX;
	return parent == UINT32_MAX ? DAMAGED : parent;
}

static bool decode_nodes(struct trace_reader *t, struct span *s)
{
	uint32_t id = span_u32(s), runs = span_u32(s);

	while (runs-- && !s->bad) {
		uint64_t up = span_varint(s), n = span_varint(s);
		uint32_t parent;

		if (s->bad || !n || n > span_left(s) || t->nr_nodes + n > TRF_MAX_NODES + 2 || !id ||
		    n > UINT32_MAX - id)
			return false;
		parent = parent_of(t, id, up);
		if (!numbers_add(&t->node_numbers, id, n, t->nr_nodes))
			return false;
		for (; n; n--, id++) {
			uint32_t frame = numbers_local(&t->frame_numbers, span_varint(s));

			parent = reader_add_node(t, parent, frame == UINT32_MAX ? DAMAGED : frame);
		}
	}
	return !s->bad;
}

static void decode_stack_chunk(struct trace_reader *t, const uint8_t *raw, size_t len)
{
	struct span s = span_init(raw, len);
	struct walk_record r = { 0 };
	int got;

	while ((got = walk_record(&s, raw, &r)) > 0) {
		bool ok = true;

		if (r.major == TRF_MAJOR_STACK && r.minor == TRF_STACK_FRAMES)
			ok = decode_frames(t, &r.body);
		else if (r.major == TRF_MAJOR_STACK && r.minor == TRF_STACK_NODES)
			ok = decode_nodes(t, &r.body);
		t->nr_bad += !ok;
	}
	t->nr_bad += got < 0;
}

/* ---- samples ---- */

static int give_run(struct trace_reader *t)
{
	size_t nr = t->nr_run;

	t->nr_run = 0;
	if (!nr || !t->sink->samples)
		return 0;
	t->ep.nodes = t->nodes;
	t->ep.nr_nodes = t->nr_nodes;
	t->ep.frames = t->frames;
	t->ep.nr_frames = t->nr_frames;
	return t->sink->samples(t->ctx, t->run, nr, &t->ep);
}

static int decode_sample(struct trace_reader *t, struct walk_record *r)
{
	struct rec_sample *s = &t->run[t->nr_run];
	uint32_t kind = r->minor & TRF_TPROF_KIND;

	s->time_ns = r->time_ns;
	s->thread = span_u32(&r->body);
	s->stack = span_u32(&r->body);
	s->event = r->minor >> 8 & 0xff;
	s->cpu = r->minor >> 16;
	s->user = (r->minor & TRF_TPROF_USER) == TRF_TPROF_USER;
	s->more = 0;
	if (kind == TRF_TPROF_PLAIN) {
		s->weight = t->weights[s->event];
	} else {
		s->weight = span_u64(&r->body);
		if (kind == TRF_TPROF_WIDE || kind == TRF_TPROF_SUM)
			s->event = span_u32(&r->body);
		else
			t->weights[s->event] = s->weight;
		if (kind == TRF_TPROF_SUM)
			s->more = span_u64(&r->body) - 1;
	}
	if (r->body.bad) {
		t->nr_bad++;
		return 0;
	}
	if (s->stack)
		s->stack = numbers_local(&t->node_numbers, s->stack);
	return ++t->nr_run == RUN ? give_run(t) : 0;
}

/* ---- dispatches ---- */

static int decode_run(struct trace_reader *t, struct walk_record *r)
{
	uint32_t left = span_u32(&r->body);
	uint64_t time_ns = r->time_ns;
	size_t nr = 0;
	int ret = 0;

	if (left > span_left(&r->body) / TRF_DISPATCH_MIN_BYTES) {
		t->nr_bad++;
		return 0;
	}
	while (left && !ret) {
		if (!dispatch_decode(&r->body, time_ns, &t->sched[nr])) {
			t->nr_bad++;
			break;
		}
		time_ns = t->sched[nr++].time_ns;
		if (!--left || nr == RUN) {
			ret = t->sink->sched(t->ctx, t->sched, nr);
			nr = 0;
		}
	}
	return ret || !nr ? ret : t->sink->sched(t->ctx, t->sched, nr);
}

static int decode_sched_chunk(struct trace_reader *t, const uint8_t *raw, size_t len)
{
	struct span s = span_init(raw, len);
	struct walk_record r = { 0 };
	int got, ret = 0;

	while (!ret && (got = walk_record(&s, raw, &r)) > 0)
		if (r.major == TRF_MAJOR_DISPATCH && r.minor == TRF_DISPATCH_RUN)
			ret = decode_run(t, &r);
	t->nr_bad += !ret && got < 0;
	return ret;
}

/* ---- everything else ---- */

static bool reader_cut(struct trace_reader *t, const struct walk_record *r)
{
	t->nr_bad += r->body.bad;
	return r->body.bad;
}

/* The callbacks by the kind of record. */
#define RECORD(s, ...) \
	static int give_##s(const struct trace_sink *sink, void *ctx, const union trace_record *r) \
	{ \
		return sink->s ? sink->s(ctx, &r->s) : 0; \
	}
#include "trace/table.h"

static int (*const give[NR_RECORD_KINDS])(const struct trace_sink *, void *, const union trace_record *) = {
#define RECORD(s, ...) [RECORD_##s] = give_##s,
#include "trace/table.h"
};

static const struct record_row *find_record_row(struct trace_reader *t, uint32_t major, uint32_t minor)
{
	const struct record_row **recent = &t->recent[(major ^ minor) % ARRAY_SIZE(t->recent)];

	if (!*recent || !record_is(*recent, major, minor))
		*recent = record_find(major, minor);
	return *recent;
}

static int decode_by_row(struct trace_reader *t, const struct record_row *row, const struct walk_record *r)
{
	union trace_record rec;

	if (!record_decode(&rec, row, r->time_ns, r->body)) {
		t->nr_bad++;
		return 0;
	}
	return give[row->kind->number](t->sink, t->ctx, &rec);
}

/* Decode branches; padding ends the bytes of a run: what is left over is not a branch. */
static int decode_branches(struct trace_reader *t, struct walk_record *r)
{
	struct rec_branches p = { .time_ns = r->time_ns, .cpu = r->minor >> 16 };
	struct branch_cursor c;
	struct branch b;

	p.kernel = (r->minor & TRF_BRANCH_WHAT) == TRF_BRANCH_KERNEL;
	p.thread = span_u32(&r->body);
	p.start = span_u64(&r->body);
	p.nr = span_varint(&r->body);
	p.bytes = r->body.p;
	p.len = span_left(&r->body);
	for (c = branch_cursor(&p); !r->body.bad && branch_next(&c, &b);)
		;
	r->body.bad |= c.s.bad;
	p.len -= r->body.bad ? 0 : span_left(&c.s);
	return reader_cut(t, r) || !t->sink->branches ? 0 : t->sink->branches(t->ctx, &p);
}

static int decode_label(struct trace_reader *t, struct walk_record *r)
{
	size_t key_len, val_len;
	const char *key = span_str(&r->body, &key_len);
	const char *val = span_str(&r->body, &val_len);

	return reader_cut(t, r) || !t->sink->label ? 0 : t->sink->label(t->ctx, key, key_len, val, val_len);
}

static int decode_calls(struct trace_reader *t, struct walk_record *r)
{
	bool bad;
	int ret = calls_decode(&t->calls, r, t->sink, t->ctx, &bad);

	t->nr_bad += bad;
	return ret;
}

/* Records of an unknown kind are ignored. */
static int decode_record(struct trace_reader *t, struct walk_record *r)
{
	const struct record_row *row;

	if (r->major == TRF_MAJOR_TPROF)
		return decode_sample(t, r);
	row = find_record_row(t, r->major, r->minor);
	if (!row)
		return 0;
	if (row->kind)
		return decode_by_row(t, row, r);
	switch (r->major) {
	case TRF_MAJOR_BRANCH:
		return decode_branches(t, r);
	case TRF_MAJOR_LABEL:
		return decode_label(t, r);
	case TRF_MAJOR_CALLS:
		return decode_calls(t, r);
	}
	return 0;
}

static int decode_chunk(struct trace_reader *t, const uint8_t *raw, size_t len)
{
	struct span s = span_init(raw, len);
	struct walk_record r = { 0 };
	int got, ret = 0, i;

	for (i = 0; i < 256; i++)
		t->weights[i] = 1;
	while (!ret && (got = walk_record(&s, raw, &r)) > 0) {
		if (r.major != TRF_MAJOR_TPROF && t->nr_run)
			ret = give_run(t);
		if (!ret)
			ret = decode_record(t, &r);
	}
	if (ret)
		return ret;
	t->nr_bad += got < 0;
	return give_run(t);
}

/* ---- chunks ---- */

/* Return whether the sink takes a record of the table that is written to such chunks. */
static bool wants(const struct trace_sink *sink, enum record_chunk chunk)
{
#define RECORD(s, where, ...) || (chunk == CHUNK_##where && sink->s)
	return false
#include "trace/table.h"
		;
}

static bool wants_meta(const struct trace_sink *s)
{
	return s->label || wants(s, CHUNK_META);
}

static bool wants_branches(const struct trace_sink *s)
{
	return s->branches || wants(s, CHUNK_BRANCHES);
}

static bool wants_calls(const struct trace_sink *s)
{
	return s->call_consumer || s->call_nodes || s->call_values || s->call_events || wants(s, CHUNK_CALLS);
}

static int read_chunk(struct trace_reader *t, const struct walk_chunk *c, struct err *e)
{
	bool stacks = walk_is(c, TRF_STACKS), samples = walk_is(c, TRF_SAMPLES);
	bool branches = walk_is(c, TRF_BRANCHES), calls = walk_is(c, TRF_CALLS);
	const uint8_t *raw;
	char type[5];

	if (walk_is(c, TRF_SCHED)) {
		raw = t->sink->sched ? walk_payload(t->walk, c) : NULL;
		return raw ? decode_sched_chunk(t, raw, c->h.raw_len) : 0;
	}
	if (!stacks && !samples && !branches && !calls && !walk_is(c, TRF_META)) {
		if (c->h.type[0] & 0x20)	/* lower-case */
			return 0;
		return err_set(e, EPROTO,
			       "%s: needs a newer arcprof: chunk %u is of the unknown type '%s' (this one reads version %u)",
			       walk_path(t->walk), c->h.seq, walk_type_text(&c->h, type), TRF_VERSION);
	}
	if (branches ? !wants_branches(t->sink) : calls ? !wants_calls(t->sink) :
	    stacks || samples ? !t->sink->samples : !wants_meta(t->sink))
		return 0;
	if (t->no_standing && c->h.flags & TRF_STANDING)
		return 0;
	if ((stacks || samples) && c->h.stream != t->ep.epoch)
		new_epoch(t, c->h.stream);
	raw = walk_payload(t->walk, c);
	if (!raw)
		return 0;
	if (!stacks)
		return decode_chunk(t, raw, c->h.raw_len);
	decode_stack_chunk(t, raw, c->h.raw_len);
	return 0;
}

int trace_read(struct trace_reader *t, const struct trace_sink *sink, void *ctx, struct err *e)
{
	struct trace_damage *d = walk_damage(t->walk);
	uint64_t bad_before = d->nr_bad_records;
	struct progress progress;
	struct walk_chunk c;
	int r;

	t->sink = sink;
	t->ctx = ctx;
	t->nr_bad = 0;
	t->nr_run = 0;
	if (!t->goes_on)
		new_epoch(t, 0);
	walk_rewind(t->walk);
	progress_start(&progress, "reading", walk_size(t->walk));
	while ((r = walk_next(t->walk, &c, e)) > 0) {
		progress_update(&progress, c.off);
		r = read_chunk(t, &c, e);
		if (r)
			break;
	}
	progress_end(&progress);
	/* Whoever had enough did not see the end: keep what a whole pass found. */
	if (r)
		d->truncated = t->truncated;
	t->truncated = d->truncated;
	/* A pass over metadata only sees no bad sample: keep what another pass found. */
	d->nr_bad_records = MAX(t->nr_bad, bad_before);
	if (t->nr_bad && !d->first[0])
		snprintf(d->first, sizeof(d->first), "%" PRIu64 " records in whole chunks are invalid",
			 t->nr_bad);
	return r;
}

void trace_reader_start(const struct trace_reader *t, uint64_t *mono_ns, uint64_t *real_ns)
{
	const struct trf_header *h = walk_header(t->walk);

	*mono_ns = h->start_mono_ns;
	*real_ns = h->start_real_ns;
}

const struct trace_damage *trace_reader_damage(const struct trace_reader *t)
{
	return walk_damage(t->walk);
}

/* ---- opening ---- */

static int opened(struct trace_reader **tp, struct walk *w)
{
	*tp = xcalloc(1, sizeof(**tp));
	(*tp)->walk = w;
	return 0;
}

int trace_reader_open(struct trace_reader **tp, const char *path, struct err *e)
{
	struct walk *w;
	int r = walk_open(&w, path, e);

	*tp = NULL;
	return r ? r : opened(tp, w);
}

int trace_reader_open_fd(struct trace_reader **tp, int fd, const char *path, struct err *e)
{
	struct walk *w;
	int r = walk_open_fd(&w, fd, path, e);

	*tp = NULL;
	return r ? r : opened(tp, w);
}

int trace_reader_open_memory(struct trace_reader **tp, const void *data, size_t len, struct err *e)
{
	struct walk *w;
	int r = walk_open_memory(&w, data, len, e);

	*tp = NULL;
	return r ? r : opened(tp, w);
}

void trace_reader_no_standing(struct trace_reader *t)
{
	t->no_standing = true;
}

void trace_reader_go_on(struct trace_reader *t, const void *data, size_t len)
{
	t->goes_on = true;
	walk_go_on(t->walk, data, len);
}

void trace_reader_close(struct trace_reader *t)
{
	if (!t)
		return;
	walk_close(t->walk);
	free(t->nodes);
	free(t->frames);
	numbers_release(&t->node_numbers);
	numbers_release(&t->frame_numbers);
	calls_reader_release(&t->calls);
	free(t);
}
