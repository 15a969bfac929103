// SPDX-License-Identifier: GPL-2.0-or-later
/* meta.c - writes everything that is not a sample or a stack: one function a kind of record. */
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

void trace_write_proc(struct trace_writer *w, const struct rec_proc *r)
{
	struct records *p = writer_meta(w);
	uint32_t minor = r->exec ? TRF_MTE_EXEC : r->parent ? TRF_MTE_FORK : TRF_MTE_PROC;
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, minor, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->parent);
	buf_u32(&p->b, r->pid);
	records_str(p, r->comm, r->comm_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_thread(struct trace_writer *w, const struct rec_thread *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, r->java ? TRF_MTE_JAVA_THREAD : TRF_MTE_THREAD, r->time_ns);
	buf_u32(&p->b, r->thread);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->tid);
	records_str(p, r->name, r->name_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_end(struct trace_writer *w, const struct rec_end *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, r->thread ? TRF_MTE_THREAD_END : TRF_MTE_PROC_END, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->thread);
	buf_u32(&p->b, r->status);
	writer_finish(w, p, at, TRF_INTS);
}

void trace_write_module(struct trace_writer *w, const struct rec_module *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_MODULE, r->time_ns);
	buf_u32(&p->b, r->module);
	buf_u32(&p->b, r->flags);
	buf_u64(&p->b, r->dev);
	buf_u64(&p->b, r->inode);
	buf_u64(&p->b, r->size);
	buf_u64(&p->b, r->mtime_ns);
	records_str(p, (const char *)r->build_id, r->build_id_len);
	records_str(p, r->path, r->path_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_map(struct trace_writer *w, const struct rec_map *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_MAP, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->module);
	buf_u64(&p->b, r->addr);
	buf_u64(&p->b, r->size);
	buf_u64(&p->b, r->pgoff);
	writer_finish(w, p, at, TRF_INTS);
}

void trace_write_symbol(struct trace_writer *w, const struct rec_symbol *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_SYMBOL, TRF_SYMBOL_NAME, writer_now(w));
	buf_u64(&p->b, r->off);
	buf_u64(&p->b, r->size);
	buf_u32(&p->b, r->module);
	records_str(p, r->name, r->name_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_line(struct trace_writer *w, const struct rec_line *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_SYMBOL, TRF_SYMBOL_LINE, writer_now(w));
	buf_u64(&p->b, r->off);
	buf_u32(&p->b, r->module);
	buf_u32(&p->b, r->depth);
	buf_u32(&p->b, r->nr_depth);
	buf_u32(&p->b, r->line);
	records_str(p, r->func, r->func_len);
	records_str(p, r->file, r->file_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_method(struct trace_writer *w, const struct rec_method *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_METHOD, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->method);
	records_str(p, r->class_name, r->class_len);
	records_str(p, r->name, r->name_len);
	records_str(p, r->sig, r->sig_len);
	records_str(p, r->source, r->source_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_method_lines(struct trace_writer *w, const struct rec_method_lines *r)
{
	struct records *p = writer_meta(w);
	size_t at, i, ends = 0;

	if (!p)
		return;
	for (i = 0; i < r->len; i++)
		ends += !(r->table[i] & 0x80);	/* of varints, two a pair */
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_METHOD_LINES, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->method);
	buf_varint(&p->b, ends / 2);
	buf_add(&p->b, r->table, r->len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_code(struct trace_writer *w, const struct rec_code *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_CODE, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->method);
	buf_u32(&p->b, r->compile_id);
	buf_u32(&p->b, r->level);
	buf_u32(&p->b, r->size);
	records_str(p, (const char *)r->inl, r->inl_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_code_gone(struct trace_writer *w, const struct rec_code_gone *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_CODE_GONE, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->compile_id);
	writer_finish(w, p, at, TRF_INTS);
}

void trace_write_bracket(struct trace_writer *w, const struct rec_bracket *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_BRACKET, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->thread);
	buf_u32(&p->b, r->method);
	writer_finish(w, p, at, TRF_INTS);
}

void trace_write_stub(struct trace_writer *w, const struct rec_stub *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_MTE, TRF_MTE_STUB, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u64(&p->b, r->size);
	buf_u32(&p->b, r->proc);
	records_str(p, r->name, r->name_len);
	writer_finish(w, p, at, TRF_MIXED);
}

void trace_write_lost(struct trace_writer *w, const struct rec_lost *r)
{
	struct records *p = writer_meta(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_LOST, r->cause, r->time_ns);
	buf_u32(&p->b, r->cause);
	buf_u32(&p->b, r->stream);
	buf_u64(&p->b, r->count);
	writer_finish(w, p, at, TRF_INTS);
}

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

void trace_write_branch_code(struct trace_writer *w, const struct rec_branch_code *r)
{
	struct records *p = writer_branches(w);
	size_t at;

	if (!p)
		return;
	at = records_begin(p, TRF_MAJOR_BRANCH, TRF_BRANCH_CODE, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u32(&p->b, r->proc);
	records_str(p, (const char *)r->bytes, r->len);
	writer_finish(w, p, at, TRF_MIXED);
}
