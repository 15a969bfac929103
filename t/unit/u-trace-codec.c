// SPDX-License-Identifier: GPL-2.0-or-later
/* u-trace-codec.c - the table of records: what every row must be, and do. */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "trace/codec.h"
#include "traces.h"
#include "unit.h"

/* Decodes the first len bytes, which lie at the end of a block of memory. */
static bool decodes(const struct buf *b, size_t len, const struct record_row *row, uint64_t time_ns,
		    struct buf *said)
{
	uint8_t *copy = xmalloc(len + 1);
	union trace_record rec;
	bool whole;

	memcpy(copy + 1, b->data, len);
	whole = record_decode(&rec, row, time_ns, span_init(copy + 1, len));
	if (whole)
		traces_put_record(said, row->kind, &rec);
	free(copy);
	return whole;
}

static void check_row(const struct record_row *row)
{
	const struct record_kind *k = row->kind;
	struct buf b = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	union trace_record rec;
	uint64_t time_ns = 0;
	uint32_t minor;
	size_t len;

	traces_any_record(row, &rec);
	if (k->timed)
		memcpy(&time_ns, &rec, sizeof(time_ns));
	traces_put_record(&want, k, &rec);
	minor = record_minor(k, &rec);
	record_encode(&b, k, &rec);
	row = record_find(k->code.major, minor);	/* perhaps another variant */
	CHECK(row && row->kind == k);
	CHECK(decodes(&b, b.len, row, time_ns, &got));
	CHECK_STR(got.data, want.data);
	for (len = 0; len < b.len; len += b.len - len < 1000 ? 1 : 997)
		CHECK(!decodes(&b, len, row, time_ns, &got));
	buf_release(&b);
	buf_release(&want);
	buf_release(&got);
}

TEST(codec_every_record_comes_back_and_no_truncated_one)
{
	unsigned int i, round;

	for (round = 0; round < 20; round++)
		for (i = 0; i < nr_record_rows; i++)
			if (record_rows[i].kind)
				check_row(&record_rows[i]);
}

TEST(codec_record_whose_key_is_0_is_refused)
{
	const struct record_row *row = record_find(TRF_MAJOR_CALLS, 2);
	struct buf b = BUF_INIT, said = BUF_INIT;
	struct rec_call_tree tree = { .tree = 1 };

	record_encode(&b, row->kind, &tree);
	CHECK(decodes(&b, b.len, row, 0, &said));
	b.data[0] = 0;
	CHECK(!decodes(&b, b.len, row, 0, &said));
	buf_release(&b);
	buf_release(&said);
}

TEST(codec_every_variant_is_written_and_read_as_what_it_is)
{
	static const struct {
		union trace_record rec;
		enum record_number number;
		uint32_t minor;
	} want[] = {
		{ { .proc = { .parent = 0 } }, RECORD_proc, 0x34 },
		{ { .proc = { .parent = 7 } }, RECORD_proc, 0x63 },
		{ { .proc = { .parent = 7, .exec = true } }, RECORD_proc, 0x81 },
		{ { .proc = { .exec = true } }, RECORD_proc, 0x81 },
		{ { .thread = { .java = false } }, RECORD_thread, 0x66 },
		{ { .thread = { .java = true } }, RECORD_thread, 0x42 },
		{ { .end = { .proc = 1 } }, RECORD_end, 0x65 },
		{ { .end = { .thread = 1 } }, RECORD_end, 0x67 },
		{ { .lost = { .cause = LOST_AGENT } }, RECORD_lost, LOST_AGENT },
		{ { .symbol = { .module = 5 } }, RECORD_symbol, 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct record_kind *k = &record_kinds[want[i].number];
		uint32_t minor = record_minor(k, &want[i].rec);
		struct buf b = BUF_INIT;
		union trace_record got;

		CHECK_U64(minor, want[i].minor);
		record_encode(&b, k, &want[i].rec);
		CHECK(record_decode(&got, record_find(k->code.major, minor), 0, span_init(b.data, b.len)));
		if (k->number == RECORD_proc)
			CHECK_U64(got.proc.exec, want[i].rec.proc.exec);
		if (k->number == RECORD_thread)
			CHECK_U64(got.thread.java, want[i].rec.thread.java);
		buf_release(&b);
	}
}

TEST(codec_no_code_is_that_of_two_rows)
{
	unsigned int i, k;

	for (i = 0; i < nr_record_rows; i++) {
		for (k = 0; k < i; k++) {
			const struct record_code *a = &record_rows[i].code, *b = &record_rows[k].code;
			uint32_t both = a->minor_mask & b->minor_mask;

			CHECK(a->major != b->major || (a->minor & both) != (b->minor & both));
		}
		CHECK(record_find(record_rows[i].code.major, record_rows[i].code.minor) == &record_rows[i]);
	}
}

/* Counts what the fields take of each byte of the struct. */
static void cover(uint8_t *covered, size_t off, size_t len)
{
	while (len--)
		covered[off++]++;
}

TEST(codec_every_member_of_a_struct_is_one_field)
{
	uint32_t i, n, nr;

	for (n = 0; n < NR_RECORD_KINDS; n++) {
		const struct record_kind *k = &record_kinds[n];
		const struct record_field *f = k->fields(&nr);
		uint8_t covered[sizeof(union trace_record)] = { 0 };
		size_t gap = 0;

		cover(covered, 0, k->timed ? sizeof(uint64_t) : 0);
		for (i = 0; i < nr_record_rows; i++)
			if (record_rows[i].kind == k && record_rows[i].flag_off)
				cover(covered, record_rows[i].flag_off, sizeof(bool));
		for (i = 0; i < nr; i++, f++) {
			cover(covered, f->off, f->op == FIELD_U32 ? 4 : 8);
			if (f->op == FIELD_BYTES || f->op == FIELD_PAIRS)
				cover(covered, f->len_off, sizeof(size_t));
		}
		for (i = 0; i < k->size; i++) {
			CHECK(covered[i] <= 1);
			gap = covered[i] ? 0 : gap + 1;
			CHECK(gap <= 4);	/* what alignment leaves */
		}
	}
}

TEST(codec_manual_page_has_a_line_for_every_row)
{
	struct buf page = BUF_INIT, line = BUF_INIT;
	unsigned int i, nr_lines = 0, major, minor;
	struct err e = { 0 };
	char *p, *save = NULL;
	char name[32];

	CHECK_U64(io_read_file(unit_source("Documentation/arcprof-trace.adoc"), &page, 1 << 20, &e), 0);
	for (i = 0; i < nr_record_rows; i++) {
		const struct record_row *r = &record_rows[i];
		char code[32];

		buf_reset(&line);
		snprintf(code, sizeof(code), "%x/%x", r->code.major, r->code.minor);
		buf_fmt(&line, "\n%-8s %-14s %s\n", code, r->name, r->fields);
		if (!strstr(page.data, line.data))
			printf("# not in the page:%s", line.data);
		CHECK(strstr(page.data, line.data));
	}
	for (p = strtok_r(page.data, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		nr_lines += sscanf(p, "%x/%x %31s", &major, &minor, name) == 3;
	CHECK_U64(nr_lines, nr_record_rows);
	buf_release(&page);
	buf_release(&line);
}
