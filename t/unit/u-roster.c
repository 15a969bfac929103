// SPDX-License-Identifier: GPL-2.0-or-later
/* u-roster.c - which sampled objects a heap dump has: written by the recorder, read from the trace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/roster.h"
#include "trace/roster.h"
#include "trace/writer.h"
#include "unit.h"

static const struct frame alloc_in_main[] = {
	{ FRAME_INTERP, .proc = 1, .method = 1, .bci = 5 }, { FRAME_NAMED, .function = 1 },
};
static const struct frame alloc_in_jdk[] = {
	{ FRAME_INTERP, .proc = 1, .method = 1, .bci = 9 },
	{ FRAME_INTERP, .proc = 1, .method = 2, .bci = 1 },
	{ FRAME_NAMED, .function = 1 },
};
static const struct frame native[] = { { FRAME_NAMED, .function = 1 } };

static void put_objects(struct buf *b)
{
	roster_put_context(b, alloc_in_main, 2, 2);
	roster_put_object(b, 7, 24);
	roster_put_object(b, 9, 1 << 20);
	roster_put_context(b, alloc_in_jdk, 3, 1);
	roster_put_object(b, 300000, 4096);
	roster_put_context(b, native, 1, 2);
	roster_put_object(b, 4, 16);
	roster_put_object(b, 7, 99);	/* a number once more */
}

static void write_method(struct trace_writer *w, uint32_t number, const char *class_name, const char *name)
{
	trace_write_method(w, &(struct rec_method){
		.proc = 1, .method = number, .class_name = class_name, .class_len = strlen(class_name),
		.name = name, .name_len = strlen(name), .sig = "()V", .sig_len = 3, .source = "", });
}

static void write_trace(const char *path, uint64_t cookie)
{
	struct rec_roster r = { .time_ns = 10, .proc = 1, .cookie = cookie, .interval = 4096 };
	struct trace_writer *w;
	struct buf b = BUF_INIT;
	struct err e;

	put_objects(&b);
	CHECK(!trace_writer_open(&w, path, &(struct trace_writer_opts){ 0 }, &e));
	trace_write_function(w, &(struct rec_function){
		.function = 1, .kind = FUNCTION_CLASS, .name = "shop.Order", .name_len = 10, .module = "",
		.file = "" });
	write_method(w, 1, "shop/Main", "order");
	write_method(w, 2, "java/util/ArrayList", "grow");
	r.objects = (const uint8_t *)b.data;
	r.objects_len = b.len;
	trace_write_roster(w, &r);
	r.cookie++;
	r.objects_len = 0;
	trace_write_roster(w, &r);
	CHECK(!trace_writer_close(w, &e));
	buf_release(&b);
}

static const char *method_of(const struct roster *r, const struct roster_sample *s)
{
	return consumer_name(&r->strings.consumers, r->sites[s->site].site);
}

TEST(rosters_say_where_samples_were_allocated)
{
	char path[] = "/tmp/u-roster.XXXXXX";
	struct trace_reader *t;
	struct roster r;
	struct err e;

	CHECK(mkstemp(path) >= 0);
	write_trace(path, 0x123456789abcdef0);
	CHECK(!trace_reader_open(&t, path, &e));
	CHECK(!roster_read(&r, t, 0x123456789abcdef0, &e));
	CHECK_U64(r.nr_samples, 4);
	CHECK_U64(r.interval, 4096);
	CHECK(!roster_sample(&r, 0) && !roster_sample(&r, 5));
	CHECK_STR(method_of(&r, roster_sample(&r, 9)), "shop.Main.order");
	CHECK_STR(method_of(&r, roster_sample(&r, 300000)), "shop.Main.order");	/* the JDK is not blamed */
	CHECK_U64(r.sites[roster_sample(&r, 4)->site].site, 0);
	CHECK_STR(consumer_name(&r.strings.consumers, r.sites[roster_sample(&r, 4)->site].leaf), "shop.Order");
	CHECK_U64(roster_sample(&r, 7)->size, 24);
	CHECK(fabs(roster_weight(&r, roster_sample(&r, 300000)) - 1 / (1 - exp(-1))) < 1e-9);
	CHECK(fabs(roster_weight(&r, roster_sample(&r, 9)) - 1) < 1e-9);
	roster_release(&r);
	CHECK(!roster_read(&r, t, 0x123456789abcdef1, &e));	/* a dump that has none of them */
	CHECK_U64(r.nr_samples, 0);
	roster_release(&r);
	CHECK(roster_read(&r, t, 1, &e) < 0);
	roster_release(&r);
	trace_reader_close(t);
	unlink(path);
}

/* Cut off anywhere, the objects before are read, and no others. */
TEST(rosters_truncated_anywhere)
{
	struct buf b = BUF_INIT;
	struct roster_object o;
	struct roster_walk w;
	size_t len, nr, before = 0;

	put_objects(&b);
	for (len = 0; len <= b.len; len++) {
		roster_walk(&w, (const uint8_t *)b.data, len);
		for (nr = 0; roster_next(&w, &o); nr++)
			CHECK(o.number);
		CHECK(nr >= before && nr <= 5);
		before = nr;
		roster_walk_release(&w);
	}
	CHECK_U64(before, 5);
	CHECK(!w.in.bad);
	roster_walk(&w, (const uint8_t *)"\xff\xff\xff\xff\x0f", 5);	/* more frames than bytes */
	CHECK(!roster_next(&w, &o) && w.in.bad);
	roster_walk_release(&w);
	buf_release(&b);
}
