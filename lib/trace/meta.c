// SPDX-License-Identifier: GPL-2.0-or-later
/* meta.c - writes everything that is not a sample, a stack or the values of a call tree. */
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "trace/writer_priv.h"

void trace_write_label(struct trace_writer *w, const char *key, const char *fmt, ...)
{
	struct records *p = writer_meta(w);
	struct buf val = BUF_INIT;
	va_list ap;
	size_t at;

	if (!p)
		return;
	va_start(ap, fmt);
	buf_vfmt(&val, fmt, ap);
	va_end(ap);
	at = records_begin(p, TRF_MAJOR_LABEL, 0, clock_mono_ns());
	records_str(p, key, strlen(key));
	records_str(p, val.data, val.len);
	writer_finish(w, p, at, TRF_MIXED);
	buf_release(&val);
}

void trace_write_record(struct trace_writer *w, const struct record_kind *k, const void *rec)
{
	struct records *p = k->chunk == CHUNK_META ? writer_meta(w) :
			    k->chunk == CHUNK_CALLS ? writer_calls(w) : writer_branches(w);
	uint64_t time_ns = writer_now(w);
	size_t at;

	if (!p)
		return;
	if (k->timed)
		memcpy(&time_ns, rec, sizeof(time_ns));
	at = records_begin(p, k->code.major, record_minor(k, rec), time_ns);
	writer_finish(w, p, at, record_encode(&p->b, k, rec));
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
