// SPDX-License-Identifier: GPL-2.0-or-later
/* u-reader.c - the library that reads traces: what it refuses, and what rows say of each other. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "reader/arcprof-trace.h"
#include "traces.h"
#include "unit.h"

static struct arcprof_trace *open_data(const char *path, const struct arcprof_options *o)
{
	struct arcprof_trace *t;
	struct arcprof_error e;

	CHECK_U64(arcprof_trace_open(&t, unit_source(path), o, &e), 0);
	return t;
}

static int64_t rows(struct arcprof_trace *t, enum arcprof_table table)
{
	struct arcprof_error e;
	int64_t nr = arcprof_trace_rows(t, table, &e);

	CHECK_STR(e.text, "");
	return nr;
}

TEST(reader_says_why_it_cannot_open)
{
	const struct arcprof_options unknown = { .metrics = "cycles,nope" };
	const struct arcprof_options backwards = { .from_ns = 5, .to_ns = 4 };
	struct arcprof_trace *t = (void *)1;
	struct arcprof_error e;

	CHECK_U64(-arcprof_trace_open(&t, "/nonexistent/trace", NULL, &e), ENOENT);
	CHECK(!t && e.code == ENOENT && strstr(e.text, "/nonexistent/trace"));
	CHECK_U64(-arcprof_trace_open(&t, "/dev/null", NULL, &e), EINVAL);
	CHECK(strstr(e.text, "empty"));
	CHECK_U64(-arcprof_trace_open_fd(&t, -1, NULL, &e), EBADF);
	CHECK_U64(-arcprof_trace_open(&t, unit_source("t/data/calls/trace"), &unknown, &e), EINVAL);
	CHECK(strstr(e.text, "unknown metric 'cycles'"));
	CHECK_U64(-arcprof_trace_open(&t, unit_source("t/data/calls/trace"), &backwards, &e), EINVAL);
	arcprof_trace_close(NULL);
}

TEST(reader_gives_only_rows_of_tables_that_were_read)
{
	struct arcprof_trace *t = open_data("t/data/events/trace", NULL);
	struct arcprof_function f;
	struct arcprof_frame frame;
	struct arcprof_sample s;
	struct arcprof_event x;
	struct arcprof_error e;
	struct arcprof_node n;
	struct arcprof_call c;

	CHECK_U64(-arcprof_trace_node(t, 0, &n), ERANGE);
	CHECK_U64(-arcprof_trace_function(t, 1, &f), ERANGE);
	CHECK_U64(-arcprof_trace_sample(t, 0, &s), ERANGE);
	CHECK_U64(-arcprof_trace_stack(t, 1, &frame, 1), ERANGE);
	CHECK_U64(-arcprof_trace_call(t, 0, &c), ERANGE);
	CHECK_U64(-arcprof_trace_event(t, 0, &x), ERANGE);
	CHECK_U64(-arcprof_trace_rows(t, ARCPROF_NR_TABLES, &e), EINVAL);
	CHECK_U64(-arcprof_trace_node(t, rows(t, ARCPROF_TABLE_NODES), &n), ERANGE);
	CHECK_U64(-arcprof_trace_function(t, 0, &f), ERANGE);
	CHECK_U64(-arcprof_trace_function(t, rows(t, ARCPROF_TABLE_FUNCTIONS) + 1, &f), ERANGE);
	CHECK_U64(-arcprof_trace_stack(t, rows(t, ARCPROF_TABLE_STACKS) + 1, &frame, 1), ERANGE);
	CHECK_U64(-arcprof_trace_sample(t, rows(t, ARCPROF_TABLE_SAMPLES), &s), ERANGE);
	CHECK_U64(-arcprof_trace_call(t, rows(t, ARCPROF_TABLE_CALLS), &c), ERANGE);
	CHECK_U64(arcprof_trace_node(t, 0, &n), 0);
	CHECK_U64(arcprof_trace_function(t, n.function, &f), 0);
	CHECK_STR(f.kind, "process");
	CHECK_STR(n.name, f.name);
	arcprof_trace_close(t);
}

TEST(reader_says_why_a_table_is_empty_and_what_takes_too_much_memory)
{
	const struct arcprof_options little = { .memory_bytes = 4096 };
	struct arcprof_trace *t = open_data("t/data/mixed/trace", NULL);
	struct arcprof_error e;

	CHECK_U64(arcprof_trace_rows(t, ARCPROF_TABLE_CALLS, &e), 0);
	CHECK(*e.text && e.code == ENODATA);
	arcprof_trace_close(t);
	CHECK_U64(-arcprof_trace_open(&t, unit_source("t/data/events/trace"), &little, &e), ENOMEM);
	CHECK(strstr(e.text, "memory"));
}

TEST(reader_fills_no_more_frames_than_there_is_room_for)
{
	struct arcprof_trace *t = open_data("t/data/java/trace", NULL);
	struct arcprof_frame all[128], some[3] = { { .name = "before" }, { 0 }, { .name = "untouched" } };
	int64_t nr = rows(t, ARCPROF_TABLE_SAMPLES), i, n = 0;
	struct arcprof_sample s;

	CHECK(rows(t, ARCPROF_TABLE_STACKS) > 0);
	for (i = 0; i < nr && n < 3; i++) {
		CHECK_U64(arcprof_trace_sample(t, i, &s), 0);
		n = s.stack ? arcprof_trace_stack(t, s.stack, all, 128) : 0;
	}
	CHECK(n >= 3 && n <= 128);
	CHECK_U64(arcprof_trace_stack(t, s.stack, some, 2), n);
	CHECK_STR(some[0].name, all[0].name);
	CHECK_STR(some[1].name, all[1].name);
	CHECK_STR(some[2].name, "untouched");
	CHECK_U64(arcprof_trace_stack(t, s.stack, NULL, 0), n);
	arcprof_trace_close(t);
}

TEST(reader_of_bytes_of_a_descriptor_and_of_a_file_is_the_same)
{
	struct arcprof_trace *t[3];
	struct buf b = BUF_INIT;
	struct arcprof_error e;
	struct arcprof_node x, y;
	struct err err;
	int64_t i, k;

	t[0] = open_data("t/data/merged/trace", NULL);
	CHECK_U64(io_read_file(unit_source("t/data/merged/trace"), &b, 1 << 24, &err), 0);
	CHECK_U64(arcprof_trace_open_memory(&t[1], b.data, b.len, NULL, &e), 0);
	CHECK_U64(arcprof_trace_open_fd(&t[2], open(unit_source("t/data/merged/trace"), O_RDONLY), NULL, &e),
		  0);
	for (k = 1; k < 3; k++) {
		CHECK_U64(rows(t[k], ARCPROF_TABLE_NODES), rows(t[0], ARCPROF_TABLE_NODES));
		for (i = 0; i < rows(t[0], ARCPROF_TABLE_NODES); i++) {
			CHECK_U64(arcprof_trace_node(t[0], i, &x), 0);
			CHECK_U64(arcprof_trace_node(t[k], i, &y), 0);
			CHECK_STR(x.name, y.name);
			CHECK_U64(x.parent, y.parent);
			CHECK(!memcmp(x.cum, y.cum, sizeof(x.cum)));
		}
	}
	CHECK_STR(arcprof_trace_label_of(t[0], "merged.op"), "add");
	CHECK(!arcprof_trace_label_of(t[0], "nope"));
	for (k = 0; k < 3; k++)
		arcprof_trace_close(t[k]);
	buf_release(&b);
}

TEST(reader_reports_damage)
{
	struct arcprof_trace *t;
	struct buf b = BUF_INIT;
	struct arcprof_error e;
	struct err err;

	CHECK_U64(io_read_file(unit_source("t/data/mixed/trace"), &b, 1 << 24, &err), 0);
	CHECK_U64(arcprof_trace_open_memory(&t, b.data, b.len, NULL, &e), 0);
	CHECK(!arcprof_trace_damage(t));
	arcprof_trace_close(t);
	b.data[b.len / 2] ^= 0x55;
	CHECK_U64(arcprof_trace_open_memory(&t, b.data, b.len, NULL, &e), 0);
	CHECK(strstr(arcprof_trace_damage(t), "wrong checksum") || strstr(arcprof_trace_damage(t), "chunk"));
	arcprof_trace_close(t);
	CHECK_U64(arcprof_trace_open_memory(&t, b.data, b.len / 2, NULL, &e), 0);
	CHECK(arcprof_trace_damage(t));
	arcprof_trace_close(t);
	buf_release(&b);
}

/* ---- address to name ---- */

static struct arcprof_trace *open_written(struct trace_writer *w, struct buf *b)
{
	struct arcprof_trace *t;
	struct arcprof_error e;

	*b = traces_close(w);
	CHECK_U64(arcprof_trace_open_memory(&t, b->data, b->len, NULL, &e), 0);
	return t;
}

static void write_module(struct trace_writer *w, uint32_t module, const char *path, const char *function)
{
	const struct rec_module m = { .time_ns = 1000, .module = module, .path = path,
				      .path_len = strlen(path) };
	const struct rec_symbol s = { .module = module, .off = 0x100, .size = 0x80, .name = function,
				      .name_len = strlen(function) };

	trace_write_module(w, &m);
	trace_write_symbol(w, &s);
}

static void write_process(struct trace_writer *w, uint32_t proc, uint32_t parent, uint64_t time_ns)
{
	const struct rec_proc p = { .time_ns = time_ns, .proc = proc, .parent = parent, .pid = 10 + proc,
				    .comm = "app", .comm_len = 3 };

	trace_write_proc(w, &p);
}

static void write_map(struct trace_writer *w, uint32_t proc, uint32_t module, uint64_t time_ns)
{
	const struct rec_map m = { .time_ns = time_ns, .proc = proc, .module = module, .addr = 0x10000,
				   .size = 0x1000, .pgoff = 0x100 };

	trace_write_map(w, &m);
}

/* "f+16 /lib/one 0x110", and of what is inlined the names alone. */
static void check_at(struct arcprof_trace *t, uint32_t process, uint64_t time_ns, uint64_t address,
		     const char *want)
{
	struct arcprof_frame f[4];
	struct buf b = BUF_INIT;
	uint64_t offset = 0;
	int64_t nr = arcprof_trace_a2n(t, &(struct arcprof_address){ process, time_ns, address }, f,
				       ARRAY_SIZE(f), &offset), i;

	buf_str(&b, "");
	if (nr > 0)
		buf_fmt(&b, "%s+%u %s 0x%x", f[0].name, (unsigned)offset, f[0].module ? f[0].module : "-",
			(unsigned)f[0].address);
	for (i = 1; i < nr && i < (int64_t)ARRAY_SIZE(f); i++)
		buf_fmt(&b, " %s", f[i].name);
	CHECK_STR(b.data, want);
	buf_release(&b);
}

TEST(reader_says_what_was_at_an_address_at_a_time)
{
	const struct rec_stub stub = { .time_ns = 1500, .proc = 1, .addr = 0x50000, .size = 64, .name = "jit",
				       .name_len = 3 };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct arcprof_mapping m;
	struct arcprof_frame none;
	struct arcprof_trace *t;
	struct buf b;

	trace_write_label(w, "start.mono_ns", "1000");
	write_module(w, 1, "/lib/one", "f");
	write_module(w, 2, "/lib/two", "g");
	write_process(w, 1, 0, 1000);
	write_map(w, 1, 1, 1100);
	write_process(w, 2, 1, 1200);	/* a child, which keeps what its parent had */
	write_map(w, 1, 2, 1300);
	trace_write_stub(w, &stub);
	t = open_written(w, &b);
	CHECK_U64(-arcprof_trace_a2n(t, &(struct arcprof_address){ 1, 0, 0x10010 }, &none, 1, NULL), ERANGE);
	CHECK_U64(rows(t, ARCPROF_TABLE_MAPPINGS), 2);
	CHECK_U64(arcprof_trace_mapping(t, 1, &m), 0);
	CHECK(m.process == 1 && m.module == 2 && m.time_ns == 300);
	CHECK(m.address == 0x10000 && m.size == 0x1000 && m.offset == 0x100);
	CHECK_U64(-arcprof_trace_mapping(t, 2, &m), ERANGE);
	check_at(t, 1, 200, 0x10010, "f+16 /lib/one 0x110");
	check_at(t, 1, 300, 0x10010, "g+16 /lib/two 0x110");
	check_at(t, 1, 250, 0x10010, "f+16 /lib/one 0x110");
	check_at(t, 1, ARCPROF_UNKNOWN, 0x10010, "g+16 /lib/two 0x110");
	check_at(t, 2, ARCPROF_UNKNOWN, 0x10010, "f+16 /lib/one 0x110");
	/* before the first mapping it is what came first */
	check_at(t, 1, 0, 0x10010, "f+16 /lib/one 0x110");
	check_at(t, 1, 300, 0x10200, "[unknown in two]+768 /lib/two 0x300");
	check_at(t, 1, 600, 0x50010, "jit+16 [anonymous memory] 0x50010");
	check_at(t, 1, 300, 0x90000, "");
	check_at(t, 7, 300, 0x10010, "");
	check_at(t, 1, 300, 1ull << 63, "");
	arcprof_trace_close(t);
	buf_release(&b);
}

/* The mapping of that module; 0: it has none. */
static uint64_t address_of(struct arcprof_trace *t, const struct arcprof_frame *f, uint32_t process)
{
	int64_t nr = rows(t, ARCPROF_TABLE_MAPPINGS), nr_modules = rows(t, ARCPROF_TABLE_MODULES), i, k;
	struct arcprof_mapping m;
	struct arcprof_module x;

	if (!strcmp(f->code, "jit") || !strcmp(f->code, "stub"))
		return f->address;
	for (i = 0; i < nr; i++) {
		CHECK_U64(arcprof_trace_mapping(t, i, &m), 0);
		for (k = 0; k < nr_modules; k++)
			if (!arcprof_trace_module(t, k, &x) && x.number == m.module &&
			    m.process == process && f->module && !strcmp(x.path, f->module) &&
			    f->address >= m.offset && f->address - m.offset < m.size)
				return m.address + f->address - m.offset;
	}
	return 0;
}

TEST(reader_finds_the_frames_of_stacks_by_their_addresses)
{
	struct arcprof_trace *t = open_data("t/data/java/trace", NULL);
	int64_t nr = rows(t, ARCPROF_TABLE_SAMPLES), i, k, n, found, nr_checked = 0, nr_inlined = 0;
	struct arcprof_frame f[128], at[16];
	struct arcprof_thread_row thread;
	struct arcprof_address a;
	struct arcprof_sample s;

	CHECK(rows(t, ARCPROF_TABLE_STACKS) > 0 && rows(t, ARCPROF_TABLE_THREADS) > 0);
	for (i = 0; i < nr; i++) {
		CHECK_U64(arcprof_trace_sample(t, i, &s), 0);
		if (!s.stack || arcprof_trace_thread(t, s.thread - 1, &thread))
			continue;
		n = arcprof_trace_stack(t, s.stack, f, 128);
		for (k = 0; k < n && k < 128; k += found) {
			a = (struct arcprof_address){ thread.process, s.time_ns };
			a.address = f[k].is_inlined ? 0 : address_of(t, &f[k], thread.process);
			found = 1;
			if (!a.address)
				continue;
			found = arcprof_trace_a2n(t, &a, at, 16, NULL);
			CHECK(found > 0 && found <= 16);
			CHECK_STR(at[0].name, f[k].name);
			CHECK_STR(at[found - 1].name, f[k + found - 1].name);
			CHECK_U64(at[found - 1].line, f[k + found - 1].line);
			nr_inlined += found > 1;
			nr_checked++;
		}
	}
	CHECK(nr_checked > 100 && nr_inlined > 0);
	arcprof_trace_close(t);
}
