// SPDX-License-Identifier: GPL-2.0-or-later
/* u-reader.c - the library that reads traces: what it refuses, and what rows say of each other. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "reader/arcprof-trace.h"
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

TEST(reader_tells_damage)
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
