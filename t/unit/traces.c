// SPDX-License-Identifier: GPL-2.0-or-later
/* traces.c - random traces, and what comes back of them. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io.h"
#include "base/mem.h"
#include "trace/writer_priv.h"
#include "traces.h"
#include "unit.h"

static char path[64];

const char *traces_path(void)
{
	if (!path[0])
		snprintf(path, sizeof(path), "/tmp/u-trace.%d", (int)getpid());
	return path;
}

struct trace_writer *traces_create(const struct trace_writer_opts *o)
{
	struct trace_writer *w;
	struct err e = { 0 };

	unlink(traces_path());
	CHECK_U64(trace_writer_open(&w, traces_path(), o, &e), 0);
	if (!w) {
		printf("# %s\n", e.msg);
		_exit(1);
	}
	return w;
}

void traces_save(const char *name, const struct buf *b)
{
	const char *dir = getenv("UNIT_SAVE");
	char file[4096];
	FILE *f;

	if (!dir)
		return;
	snprintf(file, sizeof(file), "%s/%s", dir, name);
	f = fopen(file, "w");
	if (f) {
		fwrite(b->data, 1, b->len, f);
		fclose(f);
	}
}

/* Closes w and reads the file back. */
struct buf traces_close(struct trace_writer *w)
{
	struct buf b = BUF_INIT;
	struct err e = { 0 };

	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(io_read_file(traces_path(), &b, 1 << 30, &e), 0);
	unlink(traces_path());
	return b;
}

/* ---- what was written, and what comes back, as text ---- */

static void put(struct buf *b, const void *p, size_t len)
{
	buf_fmt(b, " [%zu]=%08lx", len, crc32(0, p, len));
}

static void put_field(struct buf *b, const struct record_field *f, const char *rec)
{
	const uint8_t *p;
	uint64_t v = 0;
	size_t len;

	if (f->op == FIELD_BYTES || f->op == FIELD_PAIRS) {
		memcpy(&p, rec + f->off, sizeof(p));
		memcpy(&len, rec + f->len_off, sizeof(len));
		put(b, p, len);
		return;
	}
	memcpy(&v, rec + f->off, f->op == FIELD_U32 ? 4 : 8);
	buf_fmt(b, " %llx", (unsigned long long)v);
}

void traces_put_record(struct buf *b, const struct record_kind *k, const void *rec)
{
	uint32_t i, nr;
	const struct record_field *fields = k->fields(&nr);
	uint64_t time_ns = 0;

	if (k->timed)
		memcpy(&time_ns, rec, sizeof(time_ns));
	buf_fmt(b, "\n%u/%x %llx", k->number, record_minor(k, rec), (unsigned long long)time_ns);
	for (i = 0; i < nr; i++)
		put_field(b, &fields[i], rec);
}

static int note(struct seen *s, const struct record_kind *k, const void *rec)
{
	s->nr_meta++;
	traces_put_record(&s->records[k->chunk], k, rec);
	return 0;
}

#define RECORD(s, ...) \
	static int on_##s(void *ctx, const struct rec_##s *r) \
	{ \
		return note(ctx, &record_kinds[RECORD_##s], r); \
	}
#include "trace/table.h"

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct seen *s = ctx;

	s->nr_meta++;
	buf_fmt(&s->records[CHUNK_META], "\nlabel %.*s=", (int)key_len, key);
	put(&s->records[CHUNK_META], val, val_len);
	return 0;
}

static bool is_damaged(const struct frame *f)
{
	return f->kind == FRAME_MARK && f->mark == MARK_DAMAGED;
}

/* The stack is the one written, or says where it is damaged. */
static void check_stack(struct seen *s, const struct rec_sample *r, const struct sample *want,
			const struct stack_epoch *ep)
{
	uint32_t node = r->stack;
	size_t left = want->nr;

	if (node == UINT32_MAX) {
		s->nr_damaged++;
		return;
	}
	while (node) {
		const struct stack_node *n = &ep->nodes[node];
		const struct frame *f = &ep->frames[n->frame];

		if (node >= ep->nr_nodes || n->parent >= node || n->frame >= ep->nr_frames) {
			CHECK(!"a node within bounds");
			return;
		}
		if (!left || !frame_equal(f, &want->frames[left - 1])) {
			CHECK(is_damaged(f));
			s->nr_damaged++;
			return;
		}
		left--;
		node = n->parent;
	}
	CHECK_U64(left, 0);
}

int seen_samples(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	struct seen *s = ctx;
	size_t i;

	CHECK(ep->epoch >= s->last_epoch);
	s->last_epoch = ep->epoch;
	for (i = 0; i < nr; i++, s->nr_samples++) {
		const struct sample *want = &s->want[r[i].time_ns - 1000];

		if (r[i].time_ns - 1000 >= s->nr_want) {
			CHECK(!"a sample that was written");
			return 0;
		}
		CHECK_U64(r[i].thread, want->r.thread);
		CHECK_U64(r[i].event, want->r.event);
		CHECK_U64(r[i].cpu, want->r.cpu);
		CHECK_U64(r[i].user, want->r.user);
		CHECK_U64(r[i].weight, want->r.weight);
		CHECK_U64(r[i].more, want->r.more);
		check_stack(s, &r[i], want, ep);
	}
	return 0;
}

const struct trace_sink seen_all = {
	.label = on_label, .samples = seen_samples,
#define RECORD(s, ...) .s = on_##s,
#include "trace/table.h"
};

/* ---- random records ---- */

static uint8_t noise[100000];

static uint64_t any(void)
{
	return unit_random() >> unit_random() % 64;
}

static const char *text(size_t *len)
{
	static bool filled;
	size_t i;

	for (i = 0; !filled && i < sizeof(noise); i++)
		noise[i] = unit_random() >> 7;
	filled = true;
	*len = unit_random() % 200 ? unit_random() % 30 : 1000 + unit_random() % 80000;
	return (char *)noise + unit_random() % (sizeof(noise) - *len);
}

static const uint8_t pairs[] = { 0, 0xd2, 0x09, 4, 3, 0x81, 1, 0 };

static void fill_field(const struct record_field *f, char *rec)
{
	uint64_t v = any();
	const char *p = (const char *)pairs;
	size_t len = sizeof(pairs);

	if (f->op == FIELD_BYTES || f->op == FIELD_PAIRS) {
		if (f->op == FIELD_BYTES)
			p = text(&len);
		memcpy(rec + f->off, &p, sizeof(p));
		memcpy(rec + f->len_off, &len, sizeof(len));
		return;
	}
	if (f->key)
		v |= 1;
	memcpy(rec + f->off, &v, f->op == FIELD_U32 ? 4 : 8);
}

void traces_any_record(const struct record_row *row, union trace_record *rec)
{
	const struct record_kind *k = row->kind;
	uint64_t time_ns = any();
	uint32_t i, nr;
	const struct record_field *fields = k->fields(&nr);

	memset(rec, 0, sizeof(*rec));
	if (k->timed)
		memcpy(rec, &time_ns, sizeof(time_ns));
	if (row->flag_off)
		((char *)rec)[row->flag_off] = true;
	for (i = 0; i < nr; i++)
		fill_field(&fields[i], (char *)rec);
}

void traces_write_any(struct trace_writer *w, struct seen *s)
{
	const struct record_row *row = &record_rows[unit_random() % nr_record_rows];
	union trace_record rec;
	char val[64];
	int len;

	if (row->kind) {
		traces_any_record(row, &rec);
		trace_write_record(w, row->kind, &rec);
		note(s, row->kind, &rec);
		return;
	}
	len = snprintf(val, sizeof(val), "%llx", (unsigned long long)any());
	trace_write_label(w, "some.key", "%s", val);
	on_label(s, "some.key", 8, val, len);
}

static struct frame any_frame(void)
{
	return frame_from_words(&(struct frame_words){ any() % FRAME_NR, any(), any(), any(), any() });
}

struct sample *traces_random(size_t nr)
{
	struct sample *a = xcalloc(nr, sizeof(*a));
	size_t i, d;

	for (i = 0; i < nr; i++) {
		struct sample *s = &a[i], *like = i ? &a[unit_random() % i] : NULL;
		size_t shared;

		s->r = (struct rec_sample){ .time_ns = 1000 + i, .thread = any(), .cpu = any(),
					    .user = unit_random() & 1, .weight = 1000 };
		s->r.event = unit_random() % 50 ? unit_random() % 3 : any();
		if (unit_random() % 20 == 0)
			s->r.weight = any();
		if (unit_random() % 20 == 0)
			s->r.more = unit_random() % 2 ? -1 : (int64_t)any();
		s->nr = unit_random() % MAX_FRAMES;
		shared = like ? unit_random() % (like->nr + 1) : 0;
		for (d = 0; d < s->nr; d++)
			s->frames[d] = d < shared ? like->frames[d] : any_frame();
	}
	return a;
}

void traces_write(struct trace_writer *w, const struct sample *s)
{
	struct rec_sample r = s->r;

	r.stack = trace_write_stack(w, s->frames, s->nr);
	trace_write_sample(w, &r);
}

void traces_fill(struct trace_writer *w, const struct sample *samples, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		traces_write(w, &samples[i]);
		if (i % 500 == 0)
			trace_writer_flush(w);
	}
}

bool seen_same(const struct seen *a, const struct seen *b)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(a->records); i++) {
		const struct buf *x = &a->records[i], *y = &b->records[i];

		if (x->len != y->len || (x->len && memcmp(x->data, y->data, x->len)))
			return false;
	}
	return true;
}

void seen_release(struct seen *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->records); i++)
		buf_release(&s->records[i]);
}
