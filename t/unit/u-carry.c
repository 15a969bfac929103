// SPDX-License-Identifier: GPL-2.0-or-later
/* u-carry.c - several files of one recording: each has what it needs, and nothing else. */
#include <string.h>

#include "base/mem.h"
#include "trace/carry.h"
#include "trace/format.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "unit.h"

enum { MAX_FILES = 8 };

struct files {
	struct buf bytes[MAX_FILES];
	size_t nr;
};

/* A file begins with its header, in one piece. */
static void take(void *ctx, const void *p, size_t len)
{
	struct files *f = ctx;

	if (len == sizeof(struct trf_header) && !memcmp(p, TRF_MAGIC, 8))
		f->bytes[f->nr++] = (struct buf)BUF_INIT;
	buf_add(&f->bytes[f->nr - 1], p, len);
}

struct count {
	size_t nr_procs, nr_threads, nr_modules, nr_methods, nr_codes, nr_functions, nr_maps, nr_symbols;
	size_t nr_samples, nr_labels, nr_lost;
};

#define COUNT(kind, member) \
	static int on_##kind(void *ctx, const struct rec_##kind *r) \
	{ \
		((struct count *)ctx)->member++; \
		return 0; \
	}
COUNT(proc, nr_procs)
COUNT(thread, nr_threads)
COUNT(module, nr_modules)
COUNT(method, nr_methods)
COUNT(code, nr_codes)
COUNT(function, nr_functions)
COUNT(map, nr_maps)
COUNT(symbol, nr_symbols)

static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	size_t i;

	for (i = 0; i < nr; i++)
		CHECK(s[i].stack && s[i].stack < ep->nr_nodes);
	((struct count *)ctx)->nr_samples += nr;
	return 0;
}

static int on_lost(void *ctx, const struct rec_lost *r)
{
	CHECK_U64(r->cause, LOST_FILE);
	((struct count *)ctx)->nr_lost += r->count;
	return 0;
}

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	((struct count *)ctx)->nr_labels++;
	return 0;
}

static struct count read_file(const struct files *f, size_t i)
{
	static const struct trace_sink sink = {
		.proc = on_proc, .thread = on_thread, .module = on_module, .method = on_method,
		.code = on_code,
		.function = on_function, .map = on_map, .symbol = on_symbol, .samples = on_samples,
		.label = on_label, .lost = on_lost,
	};
	struct trace_reader *t;
	struct count c = { 0 };
	struct err e;

	CHECK_U64(trace_reader_open_memory(&t, f->bytes[i].data, f->bytes[i].len, &e), 0);
	CHECK_U64(trace_read(t, &sink, &c, &e), 0);
	CHECK_STR(trace_reader_damage(t)->first, "");
	CHECK(!trace_reader_damage(t)->truncated);
	trace_reader_close(t);
	return c;
}

static struct trace_writer *create_bounded(struct files *f, uint64_t file_bytes)
{
	struct trace_writer *w;
	struct err e;

	CHECK_U64(trace_writer_open(&w, "trace", &(struct trace_writer_opts){ .carry = true, .take = take,
		.take_ctx = f, .file_bytes = file_bytes }, &e), 0);
	return w;
}

static struct trace_writer *create(struct files *f)
{
	return create_bounded(f, 0);
}

static void next(struct trace_writer *w)
{
	struct err e;
	bool opened;

	CHECK_U64(trace_writer_next(w, "trace", &opened, &e), 0);
	CHECK(opened);
}

/* One inlined call of method 2 in method 1, at offset 4. */
static const uint8_t inl[] = { 1, 4, 2, 2, 1, 1, 1 };

static void write_names(struct trace_writer *w, uint32_t proc)
{
	uint32_t i;

	trace_write_label(w, "host", "here");
	trace_write_proc(w, &(struct rec_proc){ .time_ns = 1, .proc = proc, .pid = 7, .comm = "x",
						.comm_len = 1 });
	trace_write_thread(w, &(struct rec_thread){ .time_ns = 1, .thread = proc, .proc = proc, .tid = 7,
						    .name = "x", .name_len = 1 });
	trace_write_module(w, &(struct rec_module){ .time_ns = 1, .module = 1, .path = "/x", .path_len = 2 });
	trace_write_map(w, &(struct rec_map){ 1, proc, 1, 4096, 4096, 0 });
	for (i = 1; i <= 3; i++)
		trace_write_method(w, &(struct rec_method){ .time_ns = 1, .proc = proc, .method = i,
			.class_name = "C", .class_len = 1, .name = "m", .name_len = 1, .sig = "",
			.source = "" });
	trace_write_code(w, &(struct rec_code){ .time_ns = 1, .proc = proc, .method = 1, .compile_id = 9,
		.level = 4, .addr = 0x1000, .size = 64, .inl = inl, .inl_len = sizeof(inl) });
	trace_write_function(w, &(struct rec_function){ .function = 1, .name = "f", .name_len = 1,
		.module = "", .file = "" });
}

static void write_sample(struct trace_writer *w, uint32_t proc)
{
	const struct frame frames[] = {
		{ FRAME_NATIVE, .module = 1, .off = 0x42 },
		{ FRAME_JIT, .proc = proc, .addr = 0x1003, .method = 1, .compile_id = 9 },
		{ FRAME_NAMED, .function = 1 },
	};
	struct rec_sample s = { .time_ns = 5, .thread = proc, .weight = 1 };

	s.stack = trace_write_stack(w, frames, ARRAY_SIZE(frames));
	trace_write_sample(w, &s);
}

static void name(void *ctx, uint32_t module, uint64_t off, bool kernel)
{
	struct trace_writer *w = ctx;

	trace_write_symbol(w, &(struct rec_symbol){ 0x40, 16, module, "s", 1 });
	trace_writer_named(w, module, off, kernel, 0x40);
}

TEST(carry_each_file_has_the_names_of_its_samples_once)
{
	struct files f = { .nr = 0 };
	struct trace_writer *w = create(&f);
	struct count c;
	struct err e;
	size_t i;

	write_names(w, 1);
	write_sample(w, 1);
	CHECK_U64(trace_writer_nr_unnamed(w), 1);
	trace_writer_each_address(w, name, w);
	next(w);
	for (i = 0; i < 3; i++)
		write_sample(w, 1);
	CHECK_U64(trace_writer_nr_unnamed(w), 0);	/* known from the file before */
	next(w);
	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(f.nr, 3);
	for (i = 0; i < 2; i++) {
		c = read_file(&f, i);
		CHECK_U64(c.nr_samples, i ? 3 : 1);
		CHECK_U64(c.nr_labels, 1);
		CHECK_U64(c.nr_procs, 1);
		CHECK_U64(c.nr_threads, 1);
		CHECK_U64(c.nr_modules, 1);
		CHECK_U64(c.nr_maps, 1);
		CHECK_U64(c.nr_methods, i ? 2 : 3);	/* the code's own, and what is inlined in it */
		CHECK_U64(c.nr_codes, 1);
		CHECK_U64(c.nr_functions, 1);
		CHECK_U64(c.nr_symbols, 1);
	}
	c = read_file(&f, 2);
	CHECK_U64(c.nr_labels, 1);
	CHECK_U64(c.nr_procs + c.nr_threads + c.nr_modules + c.nr_methods + c.nr_codes + c.nr_samples, 0);
	for (i = 0; i < f.nr; i++)
		buf_release(&f.bytes[i]);
}

TEST(carry_symbols_that_are_dropped_are_asked_for_again)
{
	struct files f = { .nr = 0 };
	struct trace_writer *w = create(&f);
	struct err e;
	size_t i;

	write_names(w, 1);
	for (i = 0; i < 3; i++) {
		write_sample(w, 1);
		CHECK_U64(trace_writer_nr_unnamed(w), i != 2);
		trace_writer_each_address(w, name, w);
		if (i == 0)	/* for the next file, and no longer */
			trace_writer_drop_symbols(w);
		next(w);
	}
	CHECK_U64(trace_writer_close(w, &e), 0);
	for (i = 0; i < 3; i++)
		CHECK_U64(read_file(&f, i).nr_symbols, 1);
	for (i = 0; i < f.nr; i++)
		buf_release(&f.bytes[i]);
}

static void drop(void *ctx, const void *record, size_t len)
{
}

/* What is gone is kept to the end of the next file. */
TEST(carry_forgets_what_is_gone_and_nothing_else)
{
	struct carry *c = carry_new(drop, NULL);
	const struct rec_proc p = { .proc = 1 }, q = { .proc = 2 };
	const struct rec_code code = { .proc = 1, .compile_id = 9, .addr = 64, .size = 64 };
	struct trf_record r = { sizeof(r), 0, 0, 0 };
	size_t with_both, with_one, round;

	carry_keep(c, RECORD_proc, &q, &r, sizeof(r), true);
	with_one = carry_bytes(c);
	for (round = 0; round < 100; round++) {
		carry_keep(c, RECORD_proc, &p, &r, sizeof(r), true);
		carry_keep(c, RECORD_code, &code, &r, sizeof(r), true);
		with_both = carry_bytes(c);
		CHECK(with_both > with_one);
		carry_forget_proc(c, 1);
		carry_next(c, false);
		CHECK_U64(carry_bytes(c), with_both);
		carry_next(c, false);
		CHECK_U64(carry_bytes(c), with_one);
	}
	carry_free(c);
}

TEST(carry_forgets_a_module_with_its_symbols_and_lines)
{
	struct carry *c = carry_new(drop, NULL);
	const struct rec_module stays = { .module = 1 }, goes = { .module = 2 };
	const struct rec_symbol symbol = { .module = 2, .off = 64 }, other = { .module = 1, .off = 64 };
	const struct rec_line line = { .module = 2, .off = 80 };
	const struct rec_function function = { .function = 7 };
	struct trf_record r = { sizeof(r), 0, 0, 0 };
	size_t before, with;

	carry_keep(c, RECORD_module, &stays, &r, sizeof(r), true);
	carry_keep(c, RECORD_symbol, &other, &r, sizeof(r), true);
	before = carry_bytes(c);
	carry_keep(c, RECORD_module, &goes, &r, sizeof(r), true);
	carry_keep(c, RECORD_symbol, &symbol, &r, sizeof(r), true);
	carry_keep(c, RECORD_line, &line, &r, sizeof(r), true);
	carry_keep(c, RECORD_function, &function, &r, sizeof(r), true);
	with = carry_bytes(c);
	carry_forget_module(c, 2);
	carry_forget_function(c, 7);
	carry_next(c, false);
	CHECK_U64(carry_bytes(c), with);
	carry_next(c, false);
	CHECK_U64(carry_bytes(c), before);
	/* what is said of a module that is gone does not stay for ever */
	carry_keep(c, RECORD_symbol, &symbol, &r, sizeof(r), true);
	carry_next(c, false);
	CHECK_U64(carry_bytes(c), before);
	CHECK(carry_next(c, true));
	CHECK(carry_bytes(c) < before);
	carry_free(c);
}

TEST(carry_a_file_that_is_bounded_counts_what_exceeds_it_and_the_next_begins_anew)
{
	enum { BYTES = 200000, NR = 30000 };
	struct frame frame = { .kind = FRAME_NATIVE, .module = 1 };
	struct trace_writer *w;
	struct files f = { 0 };
	struct count c[2];
	size_t i, k;
	struct err e;

	w = create_bounded(&f, BYTES);
	for (k = 0; k < 2; k++) {
		/* names do not count, however many there are */
		for (i = 0; i < 10000; i++)
			trace_write_label(w, "key", "%zu", i);
		CHECK(!trace_writer_is_full(w));
		for (i = 0; i < (k ? 1000 : NR); i++) {
			struct rec_sample s = { .time_ns = i, .weight = 1 };

			frame.off = i;
			s.stack = trace_write_stack(w, &frame, 1);
			trace_write_sample(w, &s);
		}
		CHECK(trace_writer_is_full(w) == !k);
		if (!k)
			next(w);
	}
	CHECK_U64(trace_writer_close(w, &e), 0);
	for (k = 0; k < 2; k++)
		c[k] = read_file(&f, k);
	CHECK_U64(c[0].nr_samples + c[0].nr_lost, NR);
	CHECK(c[0].nr_lost > 0 && c[0].nr_samples > BYTES / 100);
	CHECK_U64(c[1].nr_samples, 1000);
	CHECK_U64(c[1].nr_lost, 0);
	for (i = 0; i < f.nr; i++)
		buf_release(&f.bytes[i]);
}
