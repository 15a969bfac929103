// SPDX-License-Identifier: GPL-2.0-or-later
/* u-lives.c - what the recorder makes of an agent's word on which objects live on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/live.h"
#include "trace/reader.h"
#include "trace/roster.h"
#include "unit.h"

enum { LIVE, OBJECTS, SURVIVED, FREED, UNKNOWN };

struct subject {
	struct collect *c;
	struct collect_opts o;
	struct collect_result res;
	struct source_conf conf;
	struct proc proc;
	struct java j;
};

static void begin(struct subject *s, const char *source)
{
	struct err e = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/u-lives.%d", (int)getpid());
	memset(s, 0, sizeof(*s));
	CHECK_U64(source_parse(source, &s->conf, &e), 0);
	s->o.sources = &s->conf;
	s->o.nr_sources = 1;
	s->c = xcalloc(1, sizeof(*s->c));
	s->c->o = &s->o;
	s->c->res = &s->res;
	s->proc.id = 1;
	s->j.proc = &s->proc;
	CHECK_U64(trace_writer_open(&s->c->w, path, &(struct trace_writer_opts){ 0 }, &e), 0);
}

static void end(struct subject *s)
{
	lives_end(s->c, &s->j);
	trace_writer_discard(s->c->w);
	sources_release(&s->c->sources);
	refused_release(&s->c->refused);
	free(s->c);
}

static uint64_t total(const struct subject *s, int event)
{
	return s->c->sources.totals ? s->c->sources.totals[event] : 0;
}

static void born(struct subject *s, uint32_t number, uint64_t time_ns, uint64_t size, uint64_t line)
{
	const struct frame frames[] = {
		{ FRAME_NAMED, .function = 1, .line = line }, { FRAME_NAMED, .function = 2 },
	};

	const struct jvm_sample sample = { .time_ns = time_ns, .value = size, .id = number };

	lives_born(s->c, &s->j, &sample, 1, frames, ARRAY_SIZE(frames));
}

static void gone(struct subject *s, enum jvm_gone why, uint32_t first, uint32_t nr)
{
	struct buf b = BUF_INIT;
	uint32_t i;

	for (i = 0; i < nr + nr % 2; i++)
		buf_varint(&b, i < nr ? first + i : 0);
	lives_gone(s->c, &s->j, &(struct jvm_gone_objects){
		.why = why, .numbers = (const uint8_t *)b.data, .numbers_len = b.len,
	});
	buf_release(&b);
}

/* After pauses that say nothing of the young, but for those of collectors of which each does. */
static void swept(struct subject *s, uint64_t time_ns, uint32_t pauses, enum jvm_collector collector,
		  uint64_t interval)
{
	lives_swept(s->c, &s->j, &(struct jvm_swept){
		.time_ns = time_ns, .pauses = pauses, .collector = collector, .interval = interval,
		.young_ns = collector == JVM_COLLECTS_AT_ONCE ? time_ns : 0,
	});
	lives_drained(s->c, &s->j);
}

TEST(lives_add_up_by_what_became_of_them)
{
	struct subject s;

	begin(&s, "live=0");
	born(&s, 1, 10, 100, 1);
	born(&s, 2, 20, 1000, 2);
	born(&s, 3, 30, 10000, 1);
	gone(&s, JVM_GONE_DIED, 2, 1);
	swept(&s, 100, 1, JVM_COLLECTS_AT_ONCE, 0);
	born(&s, 4, 200, 100000, 1);
	gone(&s, JVM_GONE_DIED, 3, 1);
	swept(&s, 150, 2, JVM_COLLECTS_AT_ONCE, 0);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, LIVE), 100);
	CHECK_U64(total(&s, OBJECTS), 1);
	CHECK_U64(total(&s, SURVIVED), 10000);
	CHECK_U64(total(&s, FREED), 10000);
	CHECK_U64(s.c->sources.unknown_bytes, 100000);
	CHECK_U64(total(&s, UNKNOWN), 100000);
	CHECK_U64(s.res.nr_lost, 0);
	end(&s);
}

/* The pauses of a collector that works beside the program say nothing by themselves; the dead do. */
TEST(lives_are_known_by_the_dead_beside_them)
{
	struct subject s;

	begin(&s, "live=0");
	born(&s, 1, 10, 100, 1);
	born(&s, 2, 20, 100, 1);
	born(&s, 3, 30, 100, 1);
	swept(&s, 40, 1, JVM_COLLECTS_BESIDE, 0);
	gone(&s, JVM_GONE_DIED, 2, 1);
	swept(&s, 50, 2, JVM_COLLECTS_BESIDE, 0);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, LIVE), 100);
	CHECK_U64(s.c->sources.unknown_bytes, 100);
	end(&s);

	begin(&s, "live=0");
	born(&s, 1, 10, 100, 1);
	born(&s, 2, 20, 1000, 1);
	lives_swept(s.c, &s.j, &(struct jvm_swept){
		.time_ns = 40, .pauses = 9, .collector = JVM_COLLECTS_BESIDE, .young_ns = 15,
	});
	lives_drained(s.c, &s.j);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, LIVE), 100);
	CHECK_U64(s.c->sources.unknown_bytes, 1000);
	end(&s);
}

/* What a witness tells holds for the young as well. */
TEST(lives_of_generational_zgc_wait_for_a_major_collection)
{
	struct subject s;
	uint32_t i;

	begin(&s, "live=0");
	for (i = 1; i <= 1000; i++)
		born(&s, i, i, 16, 1);
	swept(&s, 2000, 60, JVM_COLLECTS_OLD_LATE, 0);
	gone(&s, JVM_GONE_DIED, 301, 299);
	swept(&s, 3000, 61, JVM_COLLECTS_OLD_LATE, 0);
	lives_swept(s.c, &s.j, &(struct jvm_swept){
		.time_ns = 4000, .pauses = 62, .collector = JVM_COLLECTS_OLD_LATE, .whole_ns = 700,
	});
	lives_drained(s.c, &s.j);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, OBJECTS), 300 + 101);
	/* after that it was attached to */
	CHECK_U64(s.c->refused.nr_lines, 2);
	CHECK(strstr(s.c->refused.lines[1], "generational ZGC"));
	end(&s);
}

struct rosters {
	uint64_t nr, contexts, sizes, numbers, cookies;
};

static int take_roster(void *ctx, const struct rec_roster *r)
{
	struct rosters *x = ctx;
	struct roster_object o;
	struct roster_walk w;

	x->nr++;
	x->cookies += r->cookie;
	roster_walk(&w, r->objects, r->objects_len);
	while (roster_next(&w, &o)) {
		x->sizes += o.size;
		x->numbers += o.number;
	}
	CHECK(!w.in.bad);
	x->contexts += w.nr_contexts;
	roster_walk_release(&w);
	return 0;
}

/* The log is read before the rings: of the first sample even, and with several sweeps at once. */
TEST(lives_whose_end_comes_before_their_sample_are_gone)
{
	const struct jvm_swept sweep = {
		.time_ns = 100, .pauses = 3, .collector = JVM_COLLECTS_AT_ONCE, .young_ns = 100,
	};
	uint8_t numbers[] = { 1, 2 };
	struct subject s;
	uint32_t i;

	begin(&s, "live=0");
	lives_gone(s.c, &s.j, &(struct jvm_gone_objects){
		.why = JVM_GONE_DIED, .numbers = numbers, .numbers_len = sizeof(numbers),
	});
	for (i = 0; i < 3; i++)
		lives_swept(s.c, &s.j, &sweep);
	lives_drained(s.c, &s.j);
	for (i = 1; i <= 3; i++)
		born(&s, i, i, 10, 1);
	lives_drained(s.c, &s.j);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, OBJECTS), 1);
	CHECK_U64(s.res.nr_lost, 0);
	end(&s);
}

/* Those that are watched when the dump is made: not those that are gone before, nor those that come after. */
TEST(lives_are_written_for_a_heap_dump)
{
	static const struct trace_sink sink = { .roster = take_roster };
	struct rosters x = { 0 };
	struct trace_reader *t;
	struct subject s;
	char path[64];
	uint32_t i;
	struct err e;

	begin(&s, "live=0");
	for (i = 1; i <= 10000; i++)
		born(&s, i, i, 16, i % 2);
	gone(&s, JVM_GONE_DIED, 1, 1000);
	swept(&s, 20000, 1, JVM_COLLECTS_AT_ONCE, 0);
	lives_roster(&s.j, &(struct jvm_roster){ .time_ns = 30000, .cookie = 5, .nr = 9000 });
	gone(&s, JVM_GONE_DIED, 5000, 5001);
	swept(&s, 40000, 2, JVM_COLLECTS_AT_ONCE, 0);
	born(&s, 20000, 50000, 16, 1);
	snprintf(path, sizeof(path), "/tmp/u-lives.%d", (int)getpid());
	CHECK(!trace_writer_close(s.c->w, &e));
	CHECK(!trace_reader_open(&t, path, &e));
	CHECK(!trace_read(t, &sink, &x, &e));
	trace_reader_close(t);
	unlink(path);		/* what was read is not written over */
	CHECK(!trace_writer_open(&s.c->w, path, &(struct trace_writer_opts){ 0 }, &e));
	unlink(path);
	CHECK_U64(x.sizes, 9000 * 16);
	CHECK_U64(x.numbers, (1001 + 10000) * 9000 / 2);
	CHECK_U64(x.cookies, 5 * x.nr);
	CHECK(x.contexts >= 2 && x.contexts <= 4);	/* of two, those that are long in pieces */
	lives_end(s.c, &s.j);
	lives_roster(&s.j, &(struct jvm_roster){ .cookie = 6 });	/* nothing is known any more */
	end(&s);
}

TEST(lives_weigh_more_when_they_are_thinned)
{
	struct subject s;
	uint32_t i;

	begin(&s, "live=64");
	for (i = 1; i <= 1000; i++)
		born(&s, i, i, 6400000, 1);	/* so large that each is a sample */
	swept(&s, 2000, 1, JVM_COLLECTS_AT_ONCE, 64);
	gone(&s, JVM_GONE_THINNED, 1, 500);
	swept(&s, 2000, 1, JVM_COLLECTS_AT_ONCE, 3200000);
	lives_end(s.c, &s.j);
	CHECK(total(&s, OBJECTS) >= 500 && total(&s, OBJECTS) <= 700);	/* 500 / (1 - e^-2) */
	CHECK(total(&s, OBJECTS) >= 560);
	end(&s);
}

/* Records take two ways, and an agent may say anything. */
TEST(lives_survive_what_agents_say)
{
	struct subject s;
	uint32_t i, round;

	begin(&s, "live=0");
	gone(&s, JVM_GONE_DIED, 1, 10);		/* nothing is known of it yet */
	swept(&s, 5, 1, JVM_COLLECTS_AT_ONCE, 0);
	for (i = 1; i <= 10; i++)
		born(&s, i, i, 16, i);
	gone(&s, JVM_GONE_DIED, 5, 1);		/* told before: it is not there */
	gone(&s, JVM_GONE_NR, 100, 7);
	born(&s, 50, 6, 16, 1);
	born(&s, 50, 7, 16, 1);			/* twice */
	born(&s, 0, 7, 16, 1);
	born(&s, 51, 7, 0, 1);
	swept(&s, 100, 0, JVM_COLLECTS_NR, 1);
	lives_gone(s.c, &s.j, &(struct jvm_gone_objects){
		.numbers = (const uint8_t *)"\xff\xff\xff\xff\xff\xff\x01\x32\x32\xff", .numbers_len = 10,
	});
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 1000; i++)
			born(&s, 1000 + round * 1000 + i, 200 + round, 24, i);
		gone(&s, i % 2 ? JVM_GONE_DIED : JVM_GONE_LOST, 1000 + round * 1000, 1000);
		gone(&s, JVM_GONE_DIED, 1000 + round * 1000, 1000);
		swept(&s, 201 + round, 10 - round, JVM_COLLECTS_G1, UINT64_MAX);
	}
	CHECK(s.j.lives);
	lives_end(s.c, &s.j);
	CHECK(!s.j.lives);
	lives_end(s.c, &s.j);
	end(&s);
}

TEST(lives_are_known_up_to_a_whole_collection)
{
	struct subject s;

	begin(&s, "live=0");
	born(&s, 1, 10, 100, 1);
	born(&s, 2, 500, 1000, 1);
	CHECK_U64(lives_nr_sweeps(&s.j), 0);
	swept(&s, 100, 1, JVM_COLLECTS_BESIDE, 0);
	CHECK_U64(lives_nr_sweeps(&s.j), 1);
	lives_collected(&s.j, 400);
	lives_end(s.c, &s.j);
	CHECK_U64(total(&s, LIVE), 100);
	end(&s);
}

static void add_row(void *ctx, const struct histogram_row *r)
{
	buf_fmt(ctx, "%.*s %llu %llu,", (int)r->name_len, r->name, (unsigned long long)r->objects,
		(unsigned long long)r->bytes);
}

TEST(histograms_have_what_lines_say)
{
	static const char text[] =
		"0\n num     #instances         #bytes  class name (module)\n"
		"-------------------------------------------------------\n"
		"   1:            18           1234  [B (java.base@17.0.15)\n"
		"   2:             3             48  a.B$C\n"
		"   3:             3\n   4:  x  1  D\n   5: 99999999999999999999 1 E\n   6:  1  2  \n"
		"Total            21           1282\n   7:   1    2 F";
	struct buf b = BUF_INIT;

	histogram_parse(text, sizeof(text) - 1, add_row, &b);
	CHECK_STR(b.data, "[B 18 1234,a.B$C 3 48,F 1 2,");
	buf_release(&b);
}
