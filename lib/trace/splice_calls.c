// SPDX-License-Identifier: GPL-2.0-or-later
/* splice_calls.c - joins the call trees of segments (splice_calls.h). */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/calls_read.h"
#include "trace/codec.h"
#include "trace/splice_calls.h"

struct tree {
	uint32_t number;
	uint32_t offset, highest;	/* of nodes: that of the current segment, and the last number given */
	bool known;			/* what is in first is of a record */
	bool listed;			/* in changed */
	struct rec_call_tree sum;	/* of the segments before; of it, what counts */
	struct rec_call_tree last;	/* of the current one */
	uint64_t start_ns;		/* of the first */
	struct events {			/* of its calls, by those so far */
		uint32_t nr_metrics;
		uint32_t *open;		/* consumers, outermost first */
		size_t nr_open, alloc_open;
		uint64_t charged[CALL_MAX_METRICS];
		struct call_event told;	/* the last, if it ends nothing: held back until the next */
		bool has_told;
		struct call_event *begins;	/* CALL_OPEN, likewise */
		size_t nr_begins, alloc_begins;
	} ev;
};

struct splice_calls {
	struct map of;			/* number of a tree -> index */
	struct tree *trees;
	size_t nr, alloc;
	uint32_t *changed;		/* indices of trees that the current segment has */
	size_t nr_changed, alloc_changed;
	struct calls_reader reader;
	struct call_event *events;	/* of the current record, as they will be */
	size_t nr_events, alloc_events;
	struct records *out;		/* of the current chunk */
	bool bad;
};

struct splice_calls *splice_calls_new(void)
{
	return xcalloc(1, sizeof(struct splice_calls));
}

void splice_calls_free(struct splice_calls *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nr; i++) {
		free(s->trees[i].ev.open);
		free(s->trees[i].ev.begins);
	}
	free(s->events);
	calls_reader_release(&s->reader);
	map_release(&s->of);
	free(s->trees);
	free(s->changed);
	free(s);
}

static struct tree *splice_calls_tree(struct splice_calls *s, uint32_t number)
{
	uint32_t *at = map_put(&s->of, number);
	struct tree *t;

	if (*at == MAP_NONE) {
		*at = s->nr;
		*VEC_ADD(s->trees, s->nr, s->alloc) = (struct tree){ .number = number };
	}
	t = &s->trees[*at];
	if (!t->listed) {
		*VEC_ADD(s->changed, s->nr_changed, s->alloc_changed) = *at;
		t->listed = true;
	}
	return t;
}

static void add_counts(struct rec_call_tree *to, const struct rec_call_tree *r)
{
	to->kernel_cpu_ns += r->kernel_cpu_ns;
	to->popped += r->popped;
	to->inserted += r->inserted;
	to->over_range += r->over_range;
	to->folded += r->folded;
	to->folded_recursion += r->folded_recursion;
	to->thrown += r->thrown;
	to->missed += r->missed;
	to->mounts += r->mounts;
	to->lost_events += r->lost_events;
}

static void end_record(struct splice_calls *s, size_t at, enum trf_type type)
{
	s->bad |= !records_end(s->out, at, type);
}

/* ---- what changes ---- */

static int splice_call_nodes(void *ctx, const struct rec_call_nodes *r)
{
	struct splice_calls *s = ctx;
	struct tree *t = splice_calls_tree(s, r->tree);
	struct call_node *nodes = (struct call_node *)r->nodes;		/* the reader's, and ours by that */
	struct rec_call_nodes out = *r;
	uint32_t i;

	if (r->first + r->nr > UINT32_MAX - t->offset) {
		s->bad = true;
		return 0;
	}
	for (i = 0; i < r->nr; i++)
		nodes[i].parent += nodes[i].parent ? t->offset : 0;
	out.first += t->offset;
	t->highest = MAX(t->highest, out.first + r->nr - 1);
	end_record(s, calls_encode_nodes(s->out, &out), TRF_MIXED);
	return 0;
}

static int splice_call_values(void *ctx, const struct rec_call_values *r)
{
	struct splice_calls *s = ctx;
	struct tree *t = splice_calls_tree(s, r->tree);
	struct call_value *values = (struct call_value *)r->values;
	uint32_t i;

	for (i = 0; i < r->nr; i++) {
		if (values[i].node > UINT32_MAX - t->offset) {
			s->bad = true;
			return 0;
		}
		values[i].node += t->offset;
		t->highest = MAX(t->highest, values[i].node);
	}
	end_record(s, calls_encode_values(s->out, r), TRF_MIXED);
	return 0;
}

/* ---- events ---- */

static void splice_put_event(struct splice_calls *s, const struct call_event *e)
{
	*VEC_ADD(s->events, s->nr_events, s->alloc_events) = *e;
}

static void end_events(struct splice_calls *s, uint32_t tree, uint32_t nr_metrics)
{
	struct rec_call_events r = { .tree = tree, .nr_metrics = nr_metrics };
	size_t at;

	for (at = 0; at < s->nr_events; at += r.nr) {
		r.events = s->events + at;
		r.nr = MIN(s->nr_events - at, (size_t)CALL_RECORD_EVENTS);
		end_record(s, calls_encode_events(s->out, &r), TRF_MIXED);
	}
	s->nr_events = 0;
}

/* Return whether the file goes on where the one before ended. */
static bool meets(const struct events *ev)
{
	size_t i;

	if (ev->nr_begins != ev->nr_open + 1 || ev->begins[0].consumer ||
	    memcmp(ev->begins[0].charged, ev->charged, sizeof(ev->charged)) != 0)
		return false;
	for (i = 0; i < ev->nr_open && ev->begins[1 + i].consumer == ev->open[i]; i++)
		;
	return i == ev->nr_open;
}

/* Write the events that were held back before one of another kind, or drop them where the files meet. */
static void splice_settle_events(struct splice_calls *s, struct events *ev)
{
	bool drops = ev->nr_begins && meets(ev);
	size_t i;

	if (ev->has_told && !drops)
		splice_put_event(s, &ev->told);
	ev->has_told = false;
	for (i = 0; i < ev->nr_begins && !drops; i++) {
		const struct call_event *e = &ev->begins[i];

		splice_put_event(s, e);
		ev->nr_open = e->consumer ? ev->nr_open : 0;
		if (!e->consumer)
			continue;
		*VEC_ADD(ev->open, ev->nr_open, ev->alloc_open) = e->consumer;
	}
	ev->nr_begins = 0;
}

/* Follow the events as readers do. */
static void splice_follow_event(struct events *ev, const struct call_event *e)
{
	size_t at = ev->nr_open;

	memcpy(ev->charged, e->charged, sizeof(ev->charged));
	if (e->kind == CALL_ENTERED) {
		*VEC_ADD(ev->open, ev->nr_open, ev->alloc_open) = e->consumer;
	} else if (e->kind == CALL_UNWOUND) {
		ev->nr_open -= MIN(ev->nr_open, (size_t)e->consumer);
	} else {
		while (at && ev->open[at - 1] != e->consumer)
			at--;
		ev->nr_open = at ? at - 1 : ev->nr_open;
	}
}

static void splice_call_event(struct splice_calls *s, struct events *ev, const struct call_event *e)
{
	if (e->kind == CALL_OPEN) {
		*VEC_ADD(ev->begins, ev->nr_begins, ev->alloc_begins) = *e;
		return;
	}
	splice_settle_events(s, ev);
	splice_follow_event(ev, e);
	if (e->kind == CALL_UNWOUND && !e->consumer) {
		ev->told = *e;
		ev->has_told = true;
	} else {
		splice_put_event(s, e);
	}
}

static int splice_call_events(void *ctx, const struct rec_call_events *r)
{
	struct splice_calls *s = ctx;
	struct tree *t = splice_calls_tree(s, r->tree);
	uint32_t i;

	t->ev.nr_metrics = r->nr_metrics;
	for (i = 0; i < r->nr; i++)
		splice_call_event(s, &t->ev, &r->events[i]);
	end_events(s, r->tree, r->nr_metrics);
	return 0;
}

void splice_calls_end(struct splice_calls *s, struct records *out)
{
	size_t i;

	s->out = out;
	for (i = 0; i < s->nr; i++) {
		splice_settle_events(s, &s->trees[i].ev);
		end_events(s, s->trees[i].number, s->trees[i].ev.nr_metrics);
	}
}

/* ---- records ---- */

static void splice_call_tree(struct splice_calls *s, const struct rec_call_tree *r)
{
	const struct record_kind *k = &record_kinds[RECORD_call_tree];
	struct tree *t = splice_calls_tree(s, r->tree);
	struct rec_call_tree out = *r;
	size_t at;

	if (!t->known)
		t->start_ns = r->start_ns;
	t->known = true;
	t->last = *r;
	add_counts(&out, &t->sum);
	out.start_ns = t->start_ns;
	at = records_begin(s->out, k->code.major, record_minor(k, &out), r->time_ns);
	end_record(s, at, record_encode(&s->out->b, k, &out));
}

static void splice_calls_record(struct splice_calls *s, struct walk_record *r, const uint8_t *p, size_t len)
{
	static const struct trace_sink sink = {
		.call_nodes = splice_call_nodes, .call_values = splice_call_values,
		.call_events = splice_call_events
	};
	const struct record_row *row = record_find(r->major, r->minor);
	union trace_record rec;
	bool bad = false;

	if (r->major == TRF_MAJOR_CALLS && (r->minor == TRF_CALLS_NODES || r->minor == TRF_CALLS_VALUES ||
					    r->minor == TRF_CALLS_EVENTS)) {
		calls_decode(&s->reader, r, &sink, s, &bad);
		s->bad |= bad;
	} else if (row && row->kind && row->kind->number == RECORD_call_tree) {
		if (record_decode(&rec, row, r->time_ns, r->body))
			splice_call_tree(s, &rec.call_tree);
		else
			s->bad = true;
	} else {
		buf_add(&s->out->b, p, len);
		records_note(s->out, r->time_ns);
	}
}

bool splice_calls_chunk(struct splice_calls *s, const uint8_t *raw, size_t len, struct records *out)
{
	struct span span = span_init(raw, len);
	struct walk_record r = { 0 };
	int got;

	s->out = out;
	s->bad = false;
	while ((got = walk_record(&span, raw, &r)) > 0)
		splice_calls_record(s, &r, raw + r.off, span.p - (raw + r.off));
	return !s->bad && !got;
}

void splice_calls_next(struct splice_calls *s)
{
	size_t i;

	for (i = 0; i < s->nr_changed; i++) {
		struct tree *t = &s->trees[s->changed[i]];

		add_counts(&t->sum, &t->last);
		t->last = (struct rec_call_tree){ .tree = 0 };
		t->offset = t->highest;
		t->listed = false;
		t->ev.nr_begins = 0;	/* cut off behind them: nothing follows */
	}
	s->nr_changed = 0;
}
