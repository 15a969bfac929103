// SPDX-License-Identifier: GPL-2.0-or-later
/* u-footprint.c - where memory was, of traces that say what no recorder does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/footprint.h"
#include "resident/hotspot.h"
#include "traces.h"
#include "unit.h"

static void record(struct trace_writer *w, uint32_t proc, double time, uint32_t kind, const char *text,
		   uint64_t resident, uint64_t committed)
{
	trace_write_footprint(w, &(struct rec_footprint){
		.time_ns = (uint64_t)(time * 1e9), .proc = proc, .kind = kind, .resident = resident,
		.committed = committed, .mapped = committed, .text = text, .text_len = strlen(text),
	});
}

static int read_back(struct footprints_read *f, struct trace_writer *w, uint64_t pid)
{
	struct buf b = traces_close(w);
	struct trace_reader *t;
	struct err e;
	int r;

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	r = footprints_read(f, t, pid, &e);
	trace_reader_close(t);
	buf_release(&b);
	return r;
}

static struct trace_writer *begin(void)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });

	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	trace_write_proc(w, &(struct rec_proc){ .proc = 2, .pid = 8, .comm = "q", .comm_len = 1 });
	return w;
}

TEST(footprints_are_read_by_process_and_time)
{
	struct trace_writer *w = begin();
	struct footprints_read f;

	record(w, 2, 1, FOOTPRINT_PROCESS, "VM\n1", FOOTPRINT_IS_JVM, 0);
	record(w, 2, 1, FOOTPRINT_PART, "java_heap", 100, 200);
	record(w, 2, 1, FOOTPRINT_PART, "malloc", 10, 20);
	record(w, 2, 1, FOOTPRINT_CATEGORY, "Java Heap", 1, 2);
	record(w, 2, 1, FOOTPRINT_BUFFERS, "", 3, 300);
	record(w, 1, 1.5, FOOTPRINT_PROCESS, "", FOOTPRINT_NOT_READ, 5);
	record(w, 1, 1.5, FOOTPRINT_NOT_ASKED, "why", 0, 0);
	record(w, 2, 3, FOOTPRINT_PROCESS, "", FOOTPRINT_IS_JVM, 0);
	record(w, 2, 3, FOOTPRINT_PART, "java_heap", 300, 400);
	CHECK(!read_back(&f, w, 0));
	CHECK_U64(f.nr, 3);
	CHECK(f.list[0].r.pid == 7 && f.list[1].r.pid == 8 && f.list[2].r.pid == 8);
	CHECK_U64(f.list[1].r.total.rss, 110);
	CHECK_U64(f.list[1].r.parts[RESIDENT_HEAP].mapped, 200);
	CHECK_U64(f.list[2].r.parts[RESIDENT_HEAP].rss, 300);
	CHECK_STR(f.list[1].r.jvm, "VM?1");
	CHECK_STR(f.list[1].r.name, "q");
	CHECK(f.list[1].r.is_jvm && !f.list[1].r.not_read && f.list[0].r.not_read && !f.list[0].r.is_jvm);
	CHECK_STR(f.list[0].r.not_asked, "why");
	CHECK(f.list[1].r.buffers.nr == 3 && f.list[1].r.buffers.bytes == 300 && !*f.list[1].r.buffers.why);
	CHECK_STR(f.list[2].r.buffers.why, "not recorded");
	CHECK(f.list[1].r.nmt.nr == 1 && f.list[1].r.nmt.items[0].mapped == 2);
	footprints_release(&f);
}

TEST(footprints_take_no_more_than_there_is_room_for)
{
	struct trace_writer *w = begin();
	struct footprints_read f;
	char text[400];
	int i;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	record(w, 1, 1, FOOTPRINT_PART, "java_heap", 1, 1);	/* of no reading */
	record(w, 1, 1, FOOTPRINT_PROCESS, text, UINT64_MAX, UINT64_MAX);
	record(w, 2, 1, FOOTPRINT_PART, "java_heap", 1, 1);	/* of another process */
	record(w, 1, 1, FOOTPRINT_PART, text, 5, 5);		/* a part that we do not know */
	record(w, 1, 1, FOOTPRINT_NOT_ASKED, text, 0, 0);
	record(w, 1, 1, 77, text, 0, 0);
	for (i = 0; i < 100; i++)
		record(w, 1, 1, FOOTPRINT_CATEGORY, text, 1, 1);
	CHECK(!read_back(&f, w, 7));
	CHECK_U64(f.nr, 1);
	CHECK_U64(f.list[0].r.total.rss, 5);
	CHECK_U64(f.list[0].r.parts[RESIDENT_UNKNOWN].rss, 5);
	CHECK_U64(f.list[0].r.nmt.nr, ARRAY_SIZE(f.list[0].r.nmt.items));
	CHECK_U64(strlen(f.list[0].r.jvm), sizeof(f.list[0].r.jvm) - 1);
	footprints_release(&f);
	w = begin();
	record(w, 1, 1, FOOTPRINT_PROCESS, "", 0, 0);
	CHECK(read_back(&f, w, 9) == -ENODATA);
	footprints_release(&f);
}

/* ---- fields of classes in HotSpot's stream ---- */

static size_t put5(uint8_t *to, uint32_t v)
{
	size_t n = 0;

	while (v >= 191 && n < 4) {
		to[n++] = (uint8_t)(1 + 191 + ((v - 191) & 63));
		v = (v - 191) >> 6;
	}
	to[n++] = (uint8_t)(1 + v);
	return n;
}

static bool is_300(void *ctx, uint32_t name)
{
	++*(int *)ctx;
	return name == 300;
}

/* Two fields: one with all that is optional, and then the one that is looked for. */
TEST(buffers_find_a_field_in_the_stream_and_stay_in_it)
{
	static const uint32_t values[] = { 2, 0, 5, 6, 112, 9, 1 | 4 | 16, 70000, 8, 7,
					   300, 6, 123456, 9, 2 };
	uint8_t stream[100];
	uint32_t offset;
	size_t len = 0, i;
	int nr = 0;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		len += put5(stream + len, values[i]);
	CHECK(buffers_field_in_stream(stream, len, is_300, &nr, &offset));
	CHECK_U64(offset, 123456);
	CHECK_U64(nr, 2);
	for (i = 0; i < len; i++) {
		uint8_t *cut = memcpy(xmalloc(i + 1), stream, i);

		CHECK(!buffers_field_in_stream(cut, i, is_300, &nr, &offset));
		free(cut);
	}
}
