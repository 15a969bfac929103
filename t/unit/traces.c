// SPDX-License-Identifier: GPL-2.0-or-later
/* traces.c - random traces, and what comes back of them. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io.h"
#include "base/mem.h"
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

static void put(struct seen *s, const char *what, const void *p, size_t len)
{
	const uint8_t *c = p;

	buf_fmt(&s->meta, " %s[%zu]=%08lx", what, len, crc32(0, c, len));
}

#define LOG(name, fmt, ...)                                          \
	static int on_##name(void *ctx, const struct rec_##name *r)  \
	{                                                            \
		struct seen *s = ctx;                                \
		s->nr_meta++;                                        \
		buf_fmt(&s->meta, "\n" #name " " fmt, __VA_ARGS__);  \
		PUTS_##name                                          \
		return 0;                                            \
	}

#define T (unsigned long long)
#define PUTS_proc put(s, "comm", r->comm, r->comm_len);
#define PUTS_thread put(s, "name", r->name, r->name_len);
#define PUTS_end
#define PUTS_module put(s, "id", r->build_id, r->build_id_len); put(s, "path", r->path, r->path_len);
#define PUTS_map
#define PUTS_symbol put(s, "name", r->name, r->name_len);
#define PUTS_line put(s, "func", r->func, r->func_len); put(s, "file", r->file, r->file_len);
#define PUTS_method                                                                    \
	put(s, "class", r->class_name, r->class_len); put(s, "name", r->name, r->name_len); \
	put(s, "sig", r->sig, r->sig_len); put(s, "source", r->source, r->source_len);
#define PUTS_method_lines put(s, "table", (const char *)r->table, r->len);
#define PUTS_code put(s, "inl", r->inl, r->inl_len);
#define PUTS_code_gone
#define PUTS_stub put(s, "name", r->name, r->name_len);
#define PUTS_bracket
#define PUTS_lost

LOG(proc, "%llx %x %x %x %d", T r->time_ns, r->proc, r->parent, r->pid, r->exec)
LOG(thread, "%llx %x %x %x %d", T r->time_ns, r->thread, r->proc, r->tid, r->java)
LOG(end, "%llx %x %x %x", T r->time_ns, r->proc, r->thread, r->status)
LOG(module, "%llx %x %x %llx %llx %llx %llx", T r->time_ns, r->module, r->flags, T r->dev, T r->inode,
	T r->size,
	T r->mtime_ns)
LOG(map, "%llx %x %x %llx %llx %llx", T r->time_ns, r->proc, r->module, T r->addr, T r->size, T r->pgoff)
LOG(symbol, "%x %llx %llx", r->module, T r->off, T r->size)
LOG(line, "%x %llx %x %x %x", r->module, T r->off, r->depth, r->nr_depth, r->line)
LOG(method, "%llx %x %x", T r->time_ns, r->proc, r->method)
LOG(method_lines, "%llx %x %x", T r->time_ns, r->proc, r->method)
LOG(code, "%llx %x %x %x %x %llx %x", T r->time_ns, r->proc, r->method, r->compile_id, r->level, T r->addr,
	r->size)
LOG(code_gone, "%llx %x %x %llx", T r->time_ns, r->proc, r->compile_id, T r->addr)
LOG(stub, "%llx %x %llx %llx", T r->time_ns, r->proc, T r->addr, T r->size)
LOG(bracket, "%llx %x %x %x", T r->time_ns, r->proc, r->thread, r->method)
LOG(lost, "%llx %x %x %llx", T r->time_ns, r->cause, r->stream, T r->count)

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct seen *s = ctx;

	s->nr_meta++;
	buf_fmt(&s->meta, "\nlabel %.*s=", (int)key_len, key);
	put(s, "val", val, val_len);
	return 0;
}

static bool is_damaged(const struct frame *f)
{
	return f->kind == FRAME_MARK && f->b == MARK_DAMAGED;
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
		if (!left || memcmp(f, &want->frames[left - 1], sizeof(*f))) {
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
		check_stack(s, &r[i], want, ep);
	}
	return 0;
}

const struct trace_sink seen_all = {
	.label = on_label, .samples = seen_samples, .proc = on_proc, .thread = on_thread, .end = on_end,
	.module = on_module, .map = on_map, .symbol = on_symbol, .line = on_line, .method = on_method,
	.method_lines = on_method_lines,
	.code = on_code, .code_gone = on_code_gone, .stub = on_stub, .bracket = on_bracket, .lost = on_lost,
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

#define WRITE(name, ...)                              \
	do {                                          \
		struct rec_##name r = { __VA_ARGS__ };\
		FILL_##name                           \
		trace_write_##name(w, &r);            \
		on_##name(s, &r);                     \
	} while (0)

#define FILL_proc r.comm = text(&r.comm_len);
#define FILL_thread r.name = text(&r.name_len);
#define FILL_end
#define FILL_module r.build_id = (uint8_t *)text(&r.build_id_len); r.path = text(&r.path_len);
#define FILL_map
#define FILL_symbol r.name = text(&r.name_len);
#define FILL_line r.func = text(&r.func_len); r.file = text(&r.file_len);
#define FILL_method                                                                \
	r.class_name = text(&r.class_len); r.name = text(&r.name_len);             \
	r.sig = text(&r.sig_len); r.source = text(&r.source_len);
#define FILL_method_lines r.table = pairs; r.len = sizeof(pairs);
#define FILL_code r.inl = (uint8_t *)text(&r.inl_len);
#define FILL_code_gone
#define FILL_stub r.name = text(&r.name_len);
#define FILL_bracket
#define FILL_lost

void traces_write_any(struct trace_writer *w, struct seen *s)
{
	switch (unit_random() % 15) {
	case 0: WRITE(proc, any(), any(), any(), any(), unit_random() & 1); break;
	case 1: WRITE(thread, any(), any(), any(), any(), unit_random() & 1); break;
	case 2: WRITE(end, any(), any(), any(), any()); break;
	case 3: WRITE(module, any(), any(), any(), any(), any(), any(), any()); break;
	case 4: WRITE(map, any(), any(), any(), any(), any(), any()); break;
	case 5: WRITE(symbol, any(), any(), any()); break;
	case 6: WRITE(line, any(), any(), any(), any(), any()); break;
	case 7: WRITE(method, any(), any(), any()); break;
	case 8: WRITE(code, any(), any(), any(), any(), any(), any(), any()); break;
	case 9: WRITE(code_gone, any(), any(), any(), any()); break;
	case 10: WRITE(stub, any(), any(), any(), any()); break;
	case 11: WRITE(lost, any(), any(), any(), any()); break;
	case 12: WRITE(bracket, any(), any(), any(), any()); break;
	case 13: WRITE(method_lines, any(), any(), any()); break;
	default: {
		char val[64];
		int len = snprintf(val, sizeof(val), "%llx", T any());

		trace_write_label(w, "some.key", "%s", val);
		on_label(s, "some.key", 8, val, len);
	}
	}
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
		s->nr = unit_random() % MAX_FRAMES;
		shared = like ? unit_random() % (like->nr + 1) : 0;
		for (d = 0; d < s->nr; d++)
			s->frames[d] = d < shared ? like->frames[d] :
				(struct frame){ any() % FRAME_NR, any(), any(), any(), any() };
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

void seen_release(struct seen *s)
{
	buf_release(&s->meta);
}
