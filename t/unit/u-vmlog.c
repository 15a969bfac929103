// SPDX-License-Identifier: GPL-2.0-or-later
/* u-vmlog.c - lines of a JVM's log, as JDK 17 and 25 write them with each collector. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "jvm/proto.h"
#include "jvm/vmlog.h"
#include "unit.h"

static void put_value(struct buf *b, uint64_t v)
{
	if (v == UINT64_MAX)
		buf_str(b, " -");
	else
		buf_fmt(b, " %" PRIu64, v);
}

/* "kind time duration values [what] [cause]"; "none". */
static void check_line(const char *line, const char *want)
{
	size_t len = strlen(line);
	char *copy = xmalloc(len + 1);	/* what is read beyond it, the sanitizer sees */
	struct buf b = BUF_INIT;
	struct jvm_event e;

	memcpy(copy, line, len);
	if (!vmlog_line(copy, len, &e)) {
		buf_str(&b, "none");
	} else {
		buf_fmt(&b, "%u %" PRIu64, e.kind, e.time_ns);
		put_value(&b, e.duration_ns);
		put_value(&b, e.values[0]);
		put_value(&b, e.values[1]);
		put_value(&b, e.values[2]);
		buf_fmt(&b, " [%.*s] [%.*s]", (int)e.what_len, e.what, (int)e.cause_len, e.cause);
	}
	CHECK_STR(b.data, want);
	buf_release(&b);
	free(copy);
}

TEST(vmlog_pauses_have_their_cause_and_sizes)
{
	check_line("[9000000ns][30219][gc             ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->4M(64M) 5.664ms",
		   "0 3336000 5664000 15728640 4194304 67108864 [Pause Young (Normal)] [G1 Evacuation Pause]");
	check_line("[9000000ns][1][gc] GC(7) Pause Full (System.gc()) 32M->1M(10M) 3.204ms",
		   "0 5796000 3204000 33554432 1048576 10485760 [Pause Full] [System.gc()]");
	check_line("[9000000ns][1][gc] GC(1) Pause Young (Allocation Failure) 4416K->512K(15M) 1.100ms",
		   "0 7900000 1100000 4521984 524288 15728640 [Pause Young] [Allocation Failure]");
	check_line("[9000000ns][1][gc] GC(3) Pause Remark 10M->9M(30M) 1.000ms",
		   "0 8000000 1000000 10485760 9437184 31457280 [Pause Remark] []");
	check_line("[9000000ns][1][gc] GC(2) Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Allocation) 2M->1M(4M) 1.000ms",
		   "0 8000000 1000000 2097152 1048576 4194304 [Pause Young (Mixed)] [G1 Evacuation Pause]");
	check_line("[9000000ns][1][gc] GC(2) Pause Init Mark (unload classes) 0.250ms",
		   "0 8750000 250000 - - - [Pause Init Mark (unload classes)] []");
}

TEST(vmlog_concurrent_phases_and_cycles)
{
	check_line("[9000000ns][1][gc,marking   ] GC(3) Concurrent Scan Root Regions 0.265ms",
		   "1 8735000 265000 - - - [Concurrent Scan Root Regions] []");
	check_line("[9000000ns][1][gc,phases] GC(0) Y: Pause Mark Start 0.017ms",
		   "0 8983000 17000 - - - [Y: Pause Mark Start] []");
	check_line("[90000000ns][1][gc] GC(0) Major Collection (System.gc()) 20M(10%)->6M(3%) 0.041s",
		   "1 49000000 41000000 20971520 6291456 - [Major Collection] [System.gc()]");
	check_line("[9000000ns][1][gc] GC(0) Garbage Collection (Warmup) 20M(10%)->6M(3%)",
		   "1 9000000 - 20971520 6291456 - [Garbage Collection] [Warmup]");
	check_line("[9000000ns][1][gc] GC(3) Concurrent Mark Cycle", "none");
	check_line("[9000000ns][1][gc,phases] GC(3)   Pre Evacuate Collection Set: 0.1ms", "none");
	check_line("[9000000ns][1][gc,phases] GC(3) Phase 1: Mark live objects 1.100ms", "none");
	check_line("[9000000ns][1][gc] Using G1", "none");
}

TEST(vmlog_safepoints_of_both_versions)
{
	check_line("[9000000ns][1][safepoint   ] Safepoint \"ThreadDump\", Time since last: 472095 ns, Reaching safepoint: 2195 ns, At safepoint: 37887 ns, Leaving safepoint: 5628 ns, Total: 40082 ns, Threads: 0 runnable, 10 total",
		   "2 8959918 40082 2195 37887 - [ThreadDump] []");
	check_line("[9000000ns][1][safepoint   ] Safepoint \"Cleanup\", Time since last: 1 ns, Reaching safepoint: 5 ns, Cleanup: 2 ns, At safepoint: 3 ns, Total: 10 ns",
		   "2 8999990 10 5 3 - [Cleanup] []");
	check_line("[9000000ns][1][safepoint] Safepoint \"x, Total: 3 ns", "none");
	/* a thread with a longer number has written before */
	check_line("[9000000ns ][461  ][safepoint] Safepoint \"x\", Total: 10 ns", "2 8999990 10 - - - [x] []");
	check_line("[9000000 ns][461  ][safepoint] Safepoint \"x\", Total: 10 ns", "none");
}

TEST(vmlog_compilations_and_their_end)
{
	check_line("[5ns][30226][jit,compilation]    7       3       java.lang.String::coder (15 bytes)",
		   "3 5 - 3 15 7 [java.lang.String::coder] []");
	check_line("[5ns][1][jit,compilation]   16 % !   4       G::main @ 10 (97 bytes)",
		   "3 5 - 4 97 16 [G::main] [OSR]");
	check_line("[5ns][1][jit,compilation]   20  s    n 0      java.lang.Thread::start0 (native)",
		   "3 5 - 0 - 20 [java.lang.Thread::start0] [native wrapper]");
	check_line("[5ns][1][jit,compilation]   21     n 0       X::y (native)   (static)",
		   "3 5 - 0 - 21 [X::y] [native wrapper]");
	check_line("[5ns][1][jit,compilation]    9       3       java.util.ArrayList::add (25 bytes)   made not entrant: not used",
		   "5 5 - 3 25 9 [java.util.ArrayList::add] [not used]");
	check_line("[5ns][1][jit,compilation]    9       3       java.util.ArrayList::add (25 bytes)   made not entrant",
		   "5 5 - 3 25 9 [java.util.ArrayList::add] []");
	check_line("[5ns][1][jit,compilation]   33   !   4       A::b (900 bytes)   COMPILE SKIPPED: out of nodes parsing method (retry at different tier)",
		   "4 5 - 4 900 33 [A::b] [out of nodes parsing method (retry at different tier)]");
	check_line("[5ns][1][jit,compilation]   33", "none");
	check_line("[5ns][1][deoptimization ] cid=  16 osr level=4 G.main([Ljava/lang/String;)V trap_bci=13 osr_bci=10 unstable_if reinterpret pc=0x1 relative_pc=0x2",
		   "6 5 - 4 13 16 [G.main([Ljava/lang/String;)V] [unstable_if reinterpret]");
	check_line("[5ns][1][class,unload] unloading class Foo$Bar 0x0000000801234567", "8 5 - - - - [Foo$Bar] []");
}

/* "id duration kind;" of each event. */
static void put_event(void *ctx, struct jvm_event *e)
{
	struct buf *b = ctx;

	buf_fmt(b, "%" PRIu64, e->values[2]);
	put_value(b, e->duration_ns);
	buf_fmt(b, " %u;", e->kind);
	CHECK(!memcmp(e->what, "a.B::c", 6));
}

static void check_compilations(const char *const *lines, size_t nr, const char *want)
{
	struct buf b = BUF_INIT;
	struct vmlog v = { .fd = -1 };
	size_t i;

	for (i = 0; i < nr; i++)
		vmlog_take(&v, lines[i], strlen(lines[i]), put_event, &b);
	compiles_flush(&v.compiles, put_event, &b);
	CHECK_STR(b.data ? b.data : "", want);
	buf_release(&b);
	vmlog_close(&v);
}

#define BEGIN(at, tid, id, osr, tier) \
	"[" at "ns][" tid "][jit,compilation] " id " " osr " " tier " a.B::c (5 bytes)"
#define DONE(at, tid, what) "[" at "ns][" tid "][nmethod,install] Installing " what

TEST(vmlog_compilations_last_until_their_thread_installs_the_code)
{
	static const char *const two_threads[] = {
		BEGIN("10", "1", "7", "", "3"), BEGIN("20", "2", "8", "%", "4"),
		DONE("25", "3", "method (3) a.B.c()V"),
		DONE("30", "1", "method (3) a.B.c(Ljava/lang/String;)V "),
		"[34ns][2][jit,compilation] 7 3 a.B::c (5 bytes) made not entrant",
		DONE("50", "2", "osr method (4) a.B.c()V @ 3"),
		DONE("60", "2", "osr method (4) a.B.c()V @ 3"),
	};
	static const char *const none_fits[] = {
		BEGIN("10", "1", "1", "", "3"), DONE("30", "1", "method (4) a.B.c()V"),
		BEGIN("40", "1", "2", "", "3"), DONE("50", "1", "osr method (3) a.B.c()V @ 1"),
		BEGIN("60", "1", "3", "", "3"), DONE("70", "1", "method (3) a.B.cc()V"),
		BEGIN("80", "1", "4", "", "3"), DONE("70", "1", "method (3) a.B.c()V"),
		BEGIN("90", "1", "5", "", "3"), DONE("95", "1", "method (3) a.B.c"),
	};
	static const char *const given_up[] = {
		BEGIN("10", "1", "1", "", "4"), "[30ns][1][jit,compilation] 1 4 a.B::c (5 bytes) COMPILE SKIPPED: x",
		BEGIN("40", "1", "2", "", "4"), "[50ns][1][jit,compilation] 1 4 a.B::c (5 bytes) COMPILE SKIPPED: x",
	};
	static const char *const untiered[] = {
		"[5ns][9][jit,compilation] 1 n a.B::c (native)",
		"[10ns][1][jit,compilation] 2 a.B::c (5 bytes)", DONE("17", "1", "method (4) a.B.c()V"),
	};

	check_compilations(two_threads, ARRAY_SIZE(two_threads), "7 20 3;7 - 5;8 30 3;");
	check_compilations(none_fits, ARRAY_SIZE(none_fits), "1 - 4;1 - 3;2 - 4;2 - 3;3 - 4;3 - 3;4 - 4;4 - 3;5 - 3;");
	check_compilations(given_up, ARRAY_SIZE(given_up), "1 20 3;1 - 4;1 - 4;2 - 3;");
	check_compilations(untiered, ARRAY_SIZE(untiered), "1 - 3;2 7 3;");
}

struct got {
	int nr;
	uint64_t last_ns;
};

static void count(void *ctx, struct jvm_event *e)
{
	struct got *g = ctx;

	g->nr++;
	g->last_ns = e->time_ns;
}

TEST(vmlog_compilations_of_any_number_of_threads)
{
	struct vmlog v = { .fd = -1 };
	struct got g = { 0 };
	char line[100];
	int i;

	for (i = 1; i <= 1000; i++) {
		snprintf(line, sizeof(line), BEGIN("10", "%d", "7", "", "3"), i);
		vmlog_take(&v, line, strlen(line), count, &g);
	}
	CHECK_U64(g.nr, 1000 - 256);
	vmlog_close(&v);
}

/* "class begin duration own source;" of each load. */
static void put_load(void *ctx, struct jvm_event *e)
{
	buf_fmt(ctx, "%.*s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.*s;", (int)e->what_len, e->what, e->time_ns,
		e->duration_ns, e->values[0], (int)e->cause_len, e->cause);
	CHECK_U64(e->kind, JVM_EVENT_CLASS_TIME);
}

static void check_loads(const char *const *lines, size_t nr, const char *want)
{
	struct buf b = BUF_INIT;
	struct vmlog v = { .fd = -1 };
	size_t i;

	for (i = 0; i < nr; i++)
		vmlog_take(&v, lines[i], strlen(lines[i]), put_load, &b);
	CHECK_STR(b.data ? b.data : "", want);
	buf_release(&b);
	vmlog_close(&v);
}

/* What JDK 17 and 25 say. */
#define STEP(at, tid, add, action, name) \
	"[" at "ns][" tid "][class,load,placeholders] find_and_" add " " action " '" name "', loader x"
#define STEP25(at, tid, add, action, name) \
	"[" at "ns][" tid "][class,load,placeholders] entry " name " : find_and_" add " " action " "
#define LOADED(at, tid, name) "[" at "ns][" tid "][class,load             ] " name " source: jrt:/java.base"

TEST(vmlog_loads_last_from_the_first_question_to_the_end)
{
	/* by a loader in Java, which asks the boot loader first, with a superclass within */
	static const char *const java[] = {
		STEP("10", "1", "add", "LOAD_INSTANCE", "a/B"), STEP("12", "1", "remove", "LOAD_INSTANCE", "a/B"),
		STEP("20", "1", "add", "LOAD_SUPER", "a/B"),
		STEP("30", "1", "add", "LOAD_INSTANCE", "a/C"), STEP("31", "1", "remove", "LOAD_INSTANCE", "a/C"),
		STEP("40", "1", "add", "LOAD_SUPER", "a/C"), STEP("41", "1", "remove", "LOAD_SUPER", "a/C"),
		LOADED("45", "1", "a.C"), STEP("46", "1", "add", "DEFINE_CLASS", "a/C"),
		STEP("49", "1", "remove", "DEFINE_CLASS", "a/C"),
		STEP("50", "1", "remove", "LOAD_SUPER", "a/B"), LOADED("70", "1", "a.B"),
	};
	/* by the boot loader, in two threads */
	static const char *const boot[] = {
		STEP25("10", "1", "add", "LOAD_INSTANCE", "a/B"), STEP25("15", "2", "add", "LOAD_INSTANCE", "a/C"),
		LOADED("20", "1", "a.B"), STEP25("25", "1", "remove", "LOAD_INSTANCE", "a/B"),
		LOADED("30", "2", "a.C"), STEP25("32", "2", "remove", "LOAD_INSTANCE", "a/C"),
	};
	/* in vain; then in vain while another was loaded, and again; never asked for */
	static const char *const vain[] = {
		STEP("10", "1", "add", "LOAD_INSTANCE", "a/B"), STEP("11", "1", "remove", "LOAD_INSTANCE", "a/B"),
		STEP("20", "1", "add", "LOAD_INSTANCE", "a/C"), LOADED("22", "1", "a.C"),
		STEP("23", "1", "remove", "LOAD_INSTANCE", "a/C"),
		STEP("30", "1", "add", "LOAD_INSTANCE", "a/B"), LOADED("34", "1", "a.B"),
		STEP("35", "1", "remove", "LOAD_INSTANCE", "a/B"),
		STEP25("40", "1", "add", "DETECT_CIRCULARITY", "a/H"),
		STEP25("41", "1", "remove", "DETECT_CIRCULARITY", "a/H"), LOADED("44", "1", "a.H/0x0012"),
		STEP25("50", "1", "add", "DEFINE_CLASS", "a/D"), LOADED("51", "1", "a.D"),
		STEP("60", "1", "add", "NONSENSE", "a/B"), STEP("61", "1", "add", "LOAD_INSTANCE", ""),
	};

	check_loads(java, ARRAY_SIZE(java), "a.C 30 15 15 jrt:/java.base;a.B 10 60 45 jrt:/java.base;");
	check_loads(boot, ARRAY_SIZE(boot), "a.B 10 15 15 jrt:/java.base;a.C 15 17 17 jrt:/java.base;");
	check_loads(vain, ARRAY_SIZE(vain), "a.C 20 3 3 jrt:/java.base;a.B 30 5 5 jrt:/java.base;");
}

TEST(vmlog_loads_begin_with_a_loaders_search_else_with_the_bytes)
{
#define SEARCH(at, sp, name) "[" at "ns][1][arcprof,load] searches " sp " " name
#define GIVES(at, sp, name) "[" at "ns][1][arcprof,load] gives " sp " " name
#define GAVE(at, sp, name) "[" at "ns][1][arcprof,load] gave " sp " " name
	/* by a loader that looks before its parent does, and asks the VM for one of its own meanwhile */
	static const char *const child_first[] = {
		SEARCH("10", "f00", "a.B"),
		STEP("12", "1", "add", "LOAD_INSTANCE", "a/H"), LOADED("14", "1", "a.H"),
		STEP("15", "1", "remove", "LOAD_INSTANCE", "a/H"),
		SEARCH("20", "e00", "a.B"),
		STEP("21", "1", "add", "LOAD_INSTANCE", "a/B"), STEP("22", "1", "remove", "LOAD_INSTANCE", "a/B"),
		GIVES("30", "f10", "a/B"), STEP("31", "1", "add", "LOAD_SUPER", "a/B"),
		STEP("33", "1", "remove", "LOAD_SUPER", "a/B"), LOADED("40", "1", "a.B"),
		GAVE("50", "f10", "a/B"),
	};
	/* in vain, then again from the same place, and from one further up; another one meanwhile in vain */
	static const char *const vain[] = {
		SEARCH("10", "f00", "a.B"), SEARCH("20", "f00", "a.B"), SEARCH("25", "e00", "a.C"),
		SEARCH("30", "f80", "a.B"), GIVES("31", "f00", "a/B"), LOADED("32", "1", "a.B"),
		GAVE("33", "f00", "a/B"), GIVES("40", "f00", "a/C"), LOADED("41", "1", "a.C"),
		GAVE("42", "f00", "a/C"),
	};
	/* not searched for; a hidden one; a line that is not ours */
	static const char *const given[] = {
		GIVES("10", "f00", "a/B"), LOADED("12", "1", "a.B"), GAVE("13", "f00", "a/B"),
		GIVES("20", "f00", "a/H"), LOADED("22", "1", "a.H/0x0012"), GAVE("23", "f00", "a/H"),
		/* without a name, a superclass within; from an archive; with bytes that are none */
		GIVES("24", "f00", "?"), STEP("25", "1", "add", "LOAD_SUPER", "a/E"),
		STEP("25", "1", "add", "LOAD_INSTANCE", "a/F"), LOADED("26", "1", "a.F"),
		STEP("26", "1", "remove", "LOAD_INSTANCE", "a/F"),
		STEP("27", "1", "remove", "LOAD_SUPER", "a/E"), LOADED("28", "1", "a.E"), GAVE("29", "f00", "?"),
		GIVES("29", "f00", "?"), LOADED("29", "1", "a.L/0x8"), GAVE("30", "f00", "?"),
		GIVES("30", "f00", "?"), GAVE("30", "f00", "?"),
		SEARCH("30", "", "a.B"), SEARCH("31", "f00", ""), GAVE("32", "f00", "a/D"),
		"[33ns][1][arcprof,load] takes f00 a/B", LOADED("34", "1", "a.B"),
	};

	check_loads(child_first, ARRAY_SIZE(child_first), "a.H 12 3 3 jrt:/java.base;a.B 10 40 37 jrt:/java.base;");
	check_loads(vain, ARRAY_SIZE(vain), "a.B 30 3 3 jrt:/java.base;a.C 40 2 2 jrt:/java.base;");
	check_loads(given, ARRAY_SIZE(given), "a.B 10 3 3 jrt:/java.base;a.H/0x0012 20 3 3 jrt:/java.base;"
		    "a.F 25 1 1 jrt:/java.base;a.E 24 5 4 jrt:/java.base;a.L/0x8 29 1 1 jrt:/java.base;");
}

TEST(vmlog_loads_without_end_take_no_room)
{
	struct vmlog v = { .fd = -1 };
	struct buf b = BUF_INIT;
	char line[160];
	int i;

	for (i = 0; i < 5000; i++) {
		snprintf(line, sizeof(line), STEP("%d", "%d", "%s", "LOAD_INSTANCE", "a/B%d"), i, i / 100,
			 i & 1 ? "add" : "remove", i);
		vmlog_take(&v, line, strlen(line), put_load, &b);
	}
	snprintf(line, sizeof(line), LOADED("9000", "49", "a.B4999"));
	vmlog_take(&v, line, strlen(line), put_load, &b);
	snprintf(line, sizeof(line), STEP("9001", "49", "remove", "LOAD_INSTANCE", "a/B4999"));
	vmlog_take(&v, line, strlen(line), put_load, &b);
	CHECK_STR(b.data ? b.data : "", "a.B4999 4999 4002 4002 jrt:/java.base;");
	buf_release(&b);
	vmlog_close(&v);
}

/* "last [cause];" of each safepoint. */
static void put_last_of(void *ctx, struct jvm_event *e)
{
	put_value(ctx, e->values[2]);
	buf_fmt(ctx, " [%.*s];", (int)e->cause_len, e->cause);
}

TEST(vmlog_the_last_at_a_safepoint)
{
#define SP(text) "[10ns][5][safepoint   ] " text
#define RUNS(hex) SP("Thread: 0x00007f1adc11ac00  [0x" hex "] State: _running _at_poll_safepoint 0")
#define STARTS SP("Safepoint synchronization initiated using futex wait barrier. (14 threads)")
#define DONE_SP SP("Safepoint \"X\", Time since last: 1 ns, Reaching safepoint: 5 ns, At safepoint: 3 ns, Total: 10 ns")
#define POLLS(at, tid) "[" at "ns][" tid "][safepoint   ] ... found polling page loop exception at pc = 0x1, stub =0x2"
	static const char *const lines[] = {
		/* one is left when the VM looks last */
		STARTS, RUNS("a"), RUNS("1b"), RUNS("a"), RUNS("1b"), RUNS("1b"), DONE_SP,
		/* of two, the one that polled last; though it did before the last look */
		STARTS, RUNS("a"), RUNS("1b"), POLLS("3", "27"), POLLS("4", "10"), DONE_SP,
		STARTS, RUNS("a"), RUNS("1b"), POLLS("6", "27"), RUNS("a"), RUNS("1b"), POLLS("4", "10"), DONE_SP,
		/* of two, of which one said nothing; nobody ran; from here on */
		STARTS, RUNS("a"), RUNS("1b"), POLLS("3", "27"), DONE_SP, STARTS, DONE_SP, DONE_SP,
		STARTS, SP("   JavaThread state: _thread_in_Java"), RUNS("1z"), RUNS(""), DONE_SP,
	};
	struct vmlog v = { .fd = -1 };
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		vmlog_take(&v, lines[i], strlen(lines[i]), put_last_of, &b);
	CHECK_STR(b.data, " 27 []; 10 []; 27 []; - [one of 2 was last]; - []; - []; - [];");
	buf_release(&b);
	vmlog_close(&v);
}

TEST(vmlog_lines_are_refused_wherever_they_are_cut)
{
	static const char *const lines[] = {
		"[9ns][1][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 15M->4M(64M) 5.664ms",
		"[9ns][1][gc] GC(0) Pause 99999999999999999999M->4M(64M) 5.664ms",
		"[9ns][1][gc] GC(0) Pause 17592186044416M->4M(64M) 99999999999999999999.1s",
		"[9ns][1][gc] GC(0) Pause )(()) 1.1ms",
		"[9ns][1][safepoint] Safepoint \"a\", Total: 99999999999999999999 ns",
		"[9ns][1][jit,compilation] 7 % s ! 3 a::b @ 3 (5 bytes) made not entrant: x",
		"[9ns][1][deoptimization] cid=1 level=4 a.b(c) trap_bci=3 x y pc=1",
	};
	struct jvm_event e;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		for (len = 0; len <= strlen(lines[i]); len++) {
			char *copy = xmalloc(len + 1);

			memcpy(copy, lines[i], len);
			if (vmlog_line(copy, len, &e))
				CHECK(e.kind < JVM_EVENT_NR && e.what_len <= len && e.cause_len <= len);
			free(copy);
		}
}

TEST(vmlog_a_line_is_read_when_it_is_whole)
{
	static const char line[] = "[7ns][1][safepoint] Safepoint \"a\", Total: 3 ns\n";
	struct buf scratch = BUF_INIT;
	struct got g = { 0 };
	struct vmlog v;

	CHECK(vmlog_open(&v));
	CHECK_U64(write(v.fd, line, 20), 20);
	CHECK_U64(vmlog_drain(&v, true, &scratch, count, &g), 0);
	CHECK_U64(g.nr, 0);
	CHECK_U64(write(v.fd, line + 20, strlen(line) - 20), strlen(line) - 20);
	CHECK_U64(vmlog_drain(&v, true, &scratch, count, &g), 0);
	CHECK_U64(vmlog_drain(&v, true, &scratch, count, &g), 0);
	CHECK_U64(g.nr, 1);
	CHECK_U64(g.last_ns, 4);
	buf_release(&scratch);
	vmlog_close(&v);
}

TEST(vmlog_a_line_without_an_end_is_skipped_and_counted)
{
	static const char line[] = "\n[7ns][1][safepoint] Safepoint \"a\", Total: 3 ns\n";
	struct buf scratch = BUF_INIT, junk = BUF_INIT;
	struct got g = { 0 };
	struct vmlog v;

	CHECK(vmlog_open(&v));
	memset(buf_room(&junk, 1 << 20), 'x', 1 << 20);
	CHECK_U64(write(v.fd, junk.data, 1 << 20), 1 << 20);
	CHECK_U64(write(v.fd, line, strlen(line)), strlen(line));
	CHECK_U64(vmlog_drain(&v, true, &scratch, count, &g), 1);
	CHECK_U64(g.nr, 1);
	buf_release(&scratch);
	buf_release(&junk);
	vmlog_close(&v);
}
