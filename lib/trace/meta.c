// SPDX-License-Identifier: GPL-2.0-or-later
/* meta.c - writes everything that is not a sample, a stack or the values of a call tree. */
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "trace/writer_priv.h"

static void put_meta_label(struct records *p, const char *key, const struct buf *val)
{
	records_str(p, key, strlen(key));
	records_str(p, val->data, val->len);
}

static void keep_label(struct trace_writer *w, const char *key, const struct buf *val, bool in_file)
{
	struct records p = { .type = TRF_META };
	size_t at = records_begin(&p, TRF_MAJOR_LABEL, 0, clock_mono_ns());

	put_meta_label(&p, key, val);
	if (records_end(&p, at, TRF_MIXED))
		carry_keep_label(writer_carry(w), key, p.b.data, p.b.len, in_file);
	buf_release(&p.b);
}

void trace_write_label(struct trace_writer *w, const char *key, const char *fmt, ...)
{
	struct records *p = writer_meta(w);
	struct buf val = BUF_INIT;
	va_list ap;
	size_t at;

	if (!p && !writer_keeps(w))
		return;
	va_start(ap, fmt);
	buf_vfmt(&val, fmt, ap);
	va_end(ap);
	if (writer_keeps(w))
		keep_label(w, key, &val, p);
	if (p) {
		at = records_begin(p, TRF_MAJOR_LABEL, 0, clock_mono_ns());
		put_meta_label(p, key, &val);
		writer_finish(w, p, at, TRF_MIXED);
	}
	buf_release(&val);
}

static size_t encode_meta(struct records *p, const struct record_kind *k, const void *rec, uint64_t time_ns,
			  enum trf_type *type)
{
	size_t at = records_begin(p, k->code.major, record_minor(k, rec), time_ns);

	*type = record_encode(&p->b, k, rec);
	return at;
}

/* Keep a record as it is in the file, or would be if writing had not failed. */
static void keep_meta(struct trace_writer *w, const struct record_kind *k, const void *rec, uint64_t time_ns,
		      bool in_file)
{
	struct records p = { .type = TRF_META };
	enum trf_type type;
	size_t at = encode_meta(&p, k, rec, time_ns, &type);

	if (records_end(&p, at, type))
		carry_keep(writer_carry(w), k->number, rec, p.b.data, p.b.len, in_file);
	buf_release(&p.b);
}

static bool meta_is_there(struct trace_writer *w, const struct record_kind *k, const void *rec)
{
	const struct rec_symbol *r = rec;

	return k->number == RECORD_symbol && carry_has_symbol(writer_carry(w), r->module, r->off);
}

void trace_write_record(struct trace_writer *w, const struct record_kind *k, const void *rec)
{
	bool carried = writer_carry(w) && k->chunk == CHUNK_META;
	struct records *p = k->chunk == CHUNK_META ? writer_meta(w) :
			    k->chunk == CHUNK_CALLS ? writer_calls(w) : writer_branches(w);
	uint64_t time_ns = writer_now(w);
	enum trf_type type;
	size_t at;

	if (k->timed)
		memcpy(&time_ns, rec, sizeof(time_ns));
	if (carried && meta_is_there(w, k, rec))
		return;
	if (writer_carry(w) && p)
		carry_needs(writer_carry(w), k->number, rec);
	if (carried)
		keep_meta(w, k, rec, time_ns, p);
	if (!p)
		return;
	at = encode_meta(p, k, rec, time_ns, &type);
	writer_finish(w, p, at, type);
}

#define RECORD(s, ...) \
	void trace_write_##s(struct trace_writer *w, const struct rec_##s *r) \
	{ \
		trace_write_record(w, &record_kinds[RECORD_##s], r); \
	}
#include "trace/table.h"

void trace_write_branches(struct trace_writer *w, const struct rec_branches *r)
{
	struct records *p = writer_branches(w);
	uint32_t what = r->kernel ? TRF_BRANCH_KERNEL : TRF_BRANCH_USER;
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_BRANCH, (uint32_t)r->cpu << 16 | what, r->time_ns);
	buf_u32(&p->b, r->thread);
	buf_u64(&p->b, r->start);
	buf_varint(&p->b, r->nr);
	buf_add(&p->b, r->bytes, r->len);
	writer_finish(w, p, at, TRF_MIXED);
}
