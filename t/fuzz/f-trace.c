// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-trace.c - any bytes as a trace: the reader, the decoder by schema, and what makes calls and arc
 * files of branches.  Then the same bytes
 * with every checksum put right, or nothing changed would ever get past the first check.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/sched.h"
#include "report/itrace.h"
#include "trace/branch.h"
#include "trace/reader.h"
#include "trace/schema.h"
#include "trace/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sink_of_all;

static void touch(const void *p, size_t len)
{
	const uint8_t *c = p;

	while (len--)
		sink_of_all += *c++;
}

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	touch(key, key_len);
	touch(val, val_len);
	return 0;
}

/* A stack must be walkable without any check. */
static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t node = s[i].stack;

		if (node == UINT32_MAX)
			continue;
		if (node >= ep->nr_nodes)
			abort();
		for (; node; node = ep->nodes[node].parent) {
			if (ep->nodes[node].parent >= node || ep->nodes[node].frame >= ep->nr_frames)
				abort();
			sink_of_all += ep->frames[ep->nodes[node].frame].b;
		}
	}
	return 0;
}

static int on_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	touch(r, nr * sizeof(*r));
	return 0;
}

static int on_proc(void *ctx, const struct rec_proc *r) { touch(r->comm, r->comm_len); return 0; }
static int on_thread(void *ctx, const struct rec_thread *r) { touch(r->name, r->name_len); return 0; }
static int on_symbol(void *ctx, const struct rec_symbol *r) { touch(r->name, r->name_len); return 0; }
static int on_code(void *ctx, const struct rec_code *r) { touch(r->inl, r->inl_len); return 0; }
static int on_stub(void *ctx, const struct rec_stub *r) { touch(r->name, r->name_len); return 0; }

static int on_module(void *ctx, const struct rec_module *r)
{
	touch(r->build_id, r->build_id_len);
	touch(r->path, r->path_len);
	return 0;
}

static int on_line(void *ctx, const struct rec_line *r)
{
	touch(r->func, r->func_len);
	touch(r->file, r->file_len);
	return 0;
}

static int on_method(void *ctx, const struct rec_method *r)
{
	touch(r->class_name, r->class_len);
	touch(r->name, r->name_len);
	touch(r->sig, r->sig_len);
	touch(r->source, r->source_len);
	return 0;
}

/* Every branch of a run that is given can be read. */
static int on_branches(void *ctx, const struct rec_branches *r)
{
	struct branch_cursor c = branch_cursor(r);
	struct branch b;

	while (branch_next(&c, &b))
		sink_of_all += b.to;
	if (c.s.bad || span_left(&c.s))
		abort();
	return 0;
}

static int on_branch_code(void *ctx, const struct rec_branch_code *r) { touch(r->bytes, r->len); return 0; }

static void on_number(void *ctx, const struct schema_field *f, uint64_t v) { sink_of_all += v; }
static void on_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len) { touch(p, len); }
static void on_group(void *ctx, const struct schema_field *f) { touch(f->name, 1); }
static void on_element(void *ctx, bool begin) { sink_of_all += begin; }
static void on_group_end(void *ctx) { sink_of_all++; }

static void by_schema(const uint8_t *data, size_t len)
{
	static const struct schema_visitor v = { on_number, on_bytes, on_group, on_element, on_group_end };
	struct schema *schema;
	struct walk_chunk c;
	struct walk *w;
	struct err e;

	if (walk_open_memory(&w, data, len, &e))
		return;
	schema = schema_new();
	while (walk_next(w, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(w, &c);
		struct span s = span_init(raw, raw ? c.h.raw_len : 0);
		struct walk_record r = { 0 };

		while (walk_record(&s, raw, &r) > 0) {
			const struct schema_kind *k;

			if (r.major == TRF_MAJOR_FILE && r.minor == TRF_FILE_SCHEMA)
				schema_learn(schema, r.body, &e);
			k = schema_find(schema, r.major, r.minor);
			if (k)
				schema_visit(k, r.minor, r.body, &v, NULL);
		}
	}
	schema_free(schema);
	walk_close(w);
}

static void repair(uint8_t *data, size_t len)
{
	struct trf_header file;
	size_t i;

	if (len >= sizeof(file)) {
		memcpy(&file, data, sizeof(file));
		file.crc = crc32(0, data, offsetof(struct trf_header, crc));
		memcpy(data, &file, sizeof(file));
	}
	for (i = 0; i + sizeof(struct trf_chunk) <= len; i++) {
		struct trf_chunk h;

		if (memcmp(data + i, TRF_CHUNK_MAGIC, sizeof(h.magic)))
			continue;
		memcpy(&h, data + i, sizeof(h));
		if (h.stored_len <= len - i - sizeof(h))
			h.payload_crc = crc32(0, data + i + sizeof(h), h.stored_len);
		h.crc = crc32(0, (const uint8_t *)&h, offsetof(struct trf_chunk, crc));
		memcpy(data + i, &h, sizeof(h));
	}
}

/* Whatever dispatches say, each moment of a thread and a CPU is in one column. */
static void times_add_up(struct trace_reader *t)
{
	struct buf first = BUF_INIT;
	struct sched_model m;
	uint64_t nr[2];
	struct err e;

	if (!sched_read(&m, t, 0, 0, NULL, NULL, &e) && sched_check(&m, &nr[0], &nr[1], &first))
		abort();
	buf_release(&first);
	sched_release(&m);
}

static void as_itrace(struct trace_reader *t)
{
	const struct resolve_opts no_files = { .no_files = true };
	const struct opt_list all = { 0 };
	const struct itrace_model_opts o = { .fold_plt = true };
	struct arc_opts arc = {
		.rows = ARC_INSTRUCTIONS, .names = no_files, .pids = &all, .tids = &all, .comms = &all,
		.threads = &all, .modules = &all, .symbols = &all,
	};
	static FILE *null;
	struct report_source src;
	struct names x;
	struct model m;
	struct err e;

	if (!null)
		null = fopen("/dev/null", "w");
	model_init(&m, 1, FLOW_CALLS);
	names_init(&x, &m, &no_files);
	if (!trace_read(t, &names_sink, &x, &e) && branches_are_in(&x)) {
		itrace_model(&x, &src, t, &o, &e);
		arc_print(t, &arc, null, &e);
	}
	names_release(&x);
	model_release(&m);
}

static void read_it(const uint8_t *data, size_t len)
{
	static const struct trace_sink sink = {
		.label = on_label, .samples = on_samples, .proc = on_proc, .thread = on_thread, .module = on_module,
		.sched = on_sched, .symbol = on_symbol, .line = on_line, .method = on_method, .code = on_code, .stub = on_stub,
		.branches = on_branches, .branch_code = on_branch_code,
	};
	struct trace_reader *t;
	struct err e;

	if (!trace_reader_open_memory(&t, data, len, &e)) {
		trace_read(t, &sink, NULL, &e);
		times_add_up(t);
		as_itrace(t);
		trace_reader_close(t);
	}
	by_schema(data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	read_it(data, len);
	memcpy(copy, data, len);
	repair(copy, len);
	read_it(copy, len);
	free(copy);
	return 0;
}
