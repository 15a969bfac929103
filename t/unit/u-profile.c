// SPDX-License-Identifier: GPL-2.0-or-later
/* u-profile.c - a trace's callbacks, driven by hand, and the tree that must come of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/check.h"
#include "flow/input.h"
#include "model/profile.h"
#include "model/samples.h"
#include "trace/writer.h"
#include "unit.h"

#define STR(s) (s), sizeof(s) - 1

static struct names x;
static struct model m;
static struct origin origin;
static struct samples *samples;
static struct samples_seen seen;
static struct event_columns columns;

static struct {
	struct resolve_opts names;
	struct opt_list metrics;
	struct selection select;
} opts;

static void label(const char *key, const char *val)
{
	names_sink.label(&x, key, strlen(key), val, strlen(val));
}

static void method(uint32_t number, const char *class_name, const char *name)
{
	names_sink.method(&x,
			  &(struct rec_method){ .proc = 1, .method = number, .class_name = class_name,
			  .class_len = strlen(class_name), .name = name, .name_len = strlen(name), .sig = "(I)V",
			  .sig_len = 4, .source = "" });
}

static void symbol(uint32_t module, uint64_t off, uint64_t size, const char *name)
{
	names_sink.symbol(&x, &(struct rec_symbol){ off, size, module, name, strlen(name) });
}

/* One process with two threads, a library, the kernel, a Java method compiled twice. */
static void begin(void)
{
	static uint8_t build_id[] = { 1, 2, 3 };

	opts.names.no_files = true;
	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&x, &m, &opts.names);
	label("event.0", "cpu-clock");
	label("event.0.unit", "ns");
	label("event.0.rate_hz", "998.5");
	label("event.0.period", "1000");
	label("start.mono_ns", "1000000");
	label("end.mono_ns", "9000000");
	label("command", "demo --fast");
	names_sink.proc(&x, &(struct rec_proc){ .proc = 1, .pid = 42, .comm = "demo", .comm_len = 4 });
	names_sink.thread(&x, &(struct rec_thread){ .thread = 1, .proc = 1, .tid = 42, .name = STR("demo") });
	names_sink.thread(&x,
			  &(struct rec_thread){ .thread = 2, .proc = 1, .tid = 43, .java = true, .name = STR("pool-1") });
	names_sink.thread(&x, &(struct rec_thread){ .thread = 2, .proc = 1, .tid = 43, .name = STR("demo") });
	names_sink.module(&x, &(struct rec_module){ .module = 5, .path = STR("/usr/lib/libdemo.so"),
							  .build_id = build_id, .build_id_len = 3 });
	names_sink.module(&x, &(struct rec_module){ .module = 6, .flags = MODULE_KERNEL,
							  .path = STR("[kernel.kallsyms]") });
	symbol(5, 0x2000, 0x100, "_ZN4demo4loopEv");
	symbol(5, 0x1000, 0x100, "outer");
	symbol(6, 0xffffffff81000000, 0x40, "do_work");
}

/* The model is whole. */
static void finish(void)
{
	samples_free(samples, &seen);
	flow_finish(&m.flow);
	if (!opts.names.by_kind)
		names_settle_kinds(&x);
}

static void release(void)
{
	names_release(&x);
	model_release(&m);
}

static void end(const char *want)
{
	struct flow_check c[FLOW_NR_CHECKS];
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	finish();
	output_tree(&m, out);
	fclose(out);
	CHECK_STR(text, want);
	CHECK_U64(flow_check(&m.flow, c), 0);
	free(text);
	release();
}

static void start(void)
{
	const struct columns_opts co = { .metrics = &opts.metrics };
	struct window window;
	const struct samples_opts so = { .columns = &columns, .window = &window, .cpus = &opts.select.cpus };
	struct err e = { 0 };

	CHECK_U64(names_window(&x, &opts.select, &window, &e), 0);
	CHECK_U64(columns_of_samples(&columns, &x, &co, &e), 0);
	CHECK_U64(samples_new(&samples, &x, &so, &e), 0);
	if (e.code)
		printf("# %s\n", e.msg);
}

/* Samples of one stack each, frames outermost first, in an epoch of its own. */
static uint32_t epoch_nr;

static void sample(const struct frame *frames, uint32_t nr, struct rec_sample s)
{
	struct frame f[32] = { { 0 } };
	struct stack_node nodes[32] = { { 0 } };
	struct stack_epoch ep = { ++epoch_nr, nodes, nr + 1, f, nr + 1 };
	uint32_t i;

	for (i = 0; i < nr; i++) {
		f[i + 1] = frames[i];
		nodes[i + 1] = (struct stack_node){ i, i + 1 };
	}
	if (s.stack != UINT32_MAX)
		s.stack = nr;
	samples_take(samples, &s, 1, &ep);
}

#define HEAD "# levels\n# n samples\n# metric cpu-clock ns\n"
#define DEMO "0\t0\t0\tdemo\tprocess\t\t\t180388626432\n"
#define THREAD_1 "1\t0\t0\tdemo\tthread\t\t\t180388626474\n"
#define THREAD_2 "1\t0\t0\tpool-1\tthread\t\t\t180388626475\n"
#define LIB "\t/usr/lib/libdemo.so\t\t0\n"

TEST(profile_native_frames_get_demangled_names_below_process_and_thread)
{
	const struct frame stack[] = {
		{ FRAME_NATIVE, .module = 5, .off = 0x1010 },
		{ FRAME_NATIVE, .module = 5, .off = 0x20ff },
		{ FRAME_KERNEL, .module = 6, .off = 0xffffffff81000004 },
	};

	begin();
	start();
	sample(stack, 2, (struct rec_sample){ .thread = 1, .weight = 1000 });
	sample(stack, 3, (struct rec_sample){ .thread = 1, .weight = 1000 });
	sample(stack, 2, (struct rec_sample){ .thread = 1, .weight = 700 });
	sample(stack, 1, (struct rec_sample){ .thread = 2, .weight = 1000 });
	end(HEAD DEMO THREAD_1 "2\t0\t0\touter\tnative" LIB "3\t2\t1700\tdemo::loop()\tnative" LIB
	    "4\t1\t1000\tdo_work\tkernel\t[kernel.kallsyms]\t\t0\n" THREAD_2 "2\t1\t1000\touter\tnative" LIB);
}

TEST(profile_has_where_it_came_from)
{
	begin();
	start();
	names_sink.lost(&x, &(struct rec_lost){ .cause = LOST_RING, .count = 7 });
	names_sink.lost(&x, &(struct rec_lost){ .cause = LOST_THROTTLED, .count = 2 });
	sample(NULL, 0, (struct rec_sample){ .thread = 1, .weight = 5 });
	finish();
	origin_fill(&origin, &x, seen.first_ns, seen.last_ns);
	origin_fill_recorded(&origin, &x, 0);
	CHECK_STR(origin.command, "demo --fast");
	CHECK_U64(origin.lost, 7);
	CHECK_U64(origin.throttled, 2);
	CHECK_U64(origin.duration_ns, 8000000);
	CHECK(origin.rate_hz == 998.5);
	CHECK_U64(origin.period, 1000);
	label("event.1", "faults");
	label("event.1.period", "7");
	origin_fill_recorded(&origin, &x, 1);
	CHECK(origin.rate_hz == 0);
	CHECK_U64(origin.period, 7);
	CHECK_STR(origin.period_event, "faults");
	CHECK_U64(seen.nr_read, 1);
	release();
}

TEST(profile_nothing_is_dropped_that_has_no_name)
{
	const struct frame unknown[] = {
		{ FRAME_NATIVE, .module = 5, .off = 0x1100 },
		{ FRAME_NATIVE, .module = 99, .off = 0x10 },
		{ FRAME_ANON, .proc = 1, .addr = 0x7000 },
	};
	const struct frame mark[] = { { FRAME_MARK, .mark = MARK_NO_UNWIND_INFO },
		{ FRAME_NATIVE, .module = 5, .off = 0x1000 } };

	begin();
	start();
	sample(NULL, 0, (struct rec_sample){ .thread = 1, .weight = 1 });
	sample(unknown, 1, (struct rec_sample){ .thread = 1, .weight = 2 });
	sample(unknown, 2, (struct rec_sample){ .thread = 1, .weight = 3 });
	sample(unknown, 3, (struct rec_sample){ .thread = 1, .weight = 4 });
	sample(mark, 2, (struct rec_sample){ .thread = 1, .weight = 5 });
	sample(mark, 2, (struct rec_sample){ .thread = 1, .weight = 6, .stack = UINT32_MAX });
	sample(NULL, 0, (struct rec_sample){ .thread = 77, .weight = 7 });
	end(HEAD DEMO "1\t1\t1\tdemo\tthread\t\t\t180388626474\n"
	    "2\t1\t2\t[unknown in libdemo.so]\tunresolved" LIB
	    "3\t1\t3\t[unknown in unknown module]\tunresolved\t\t\t0\n"
	    "4\t1\t4\t[unknown in anonymous memory]\tunresolved\t\t\t0\n"
	    "2\t0\t0\t[unwalkable: no unwind information]\tmark\t\t\t0\n"
	    "3\t1\t5\touter\tnative" LIB
	    "2\t1\t6\t[unwalkable: damaged part of the trace]\tmark\t\t\t0\n"
	    "0\t0\t0\t[unknown process]\tprocess\t\t\t0\n"
	    "1\t1\t7\t[unknown thread]\tthread\t\t\t0\n");
}

static void code(uint32_t compile_id, uint32_t root, uint32_t level, uint64_t addr, const struct buf *inl)
{
	names_sink.code(&x, &(struct rec_code){ .proc = 1, .method = root, .compile_id = compile_id,
		.level = level,
			.addr = addr, .size = 0x100, .inl = (const uint8_t *)(inl ? inl->data : NULL),
			.inl_len = inl ? inl->len : 0 });
}

/* nr_pcs, then pc delta, nr frames, (method, bci + 1) innermost first. */
static struct buf inline_records(void)
{
	static const uint64_t v[] = { 3, 0x10, 1, 1, 5,  0x10, 2, 2, 9, 1, 7,  0x20, 3, 3, 1, 2, 3, 1, 7 };
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		buf_varint(&b, v[i]);
	return b;
}

TEST(profile_java_frames_expand_what_is_inlined_at_their_pc)
{
	struct buf inl = inline_records();
	struct frame f = { FRAME_JIT, .proc = 1, .addr = 0x5000, .compile_id = 11, .method = 1 };
	static const uint64_t pcs[] = { 0x0f, 0x10, 0x1f, 0x20, 0x3f, 0x40 };
	size_t i;

	begin();
	method(1, "a/b/Root", "run");
	method(2, "a/b/Mid", "call");
	method(3, "a/b/Leaf$$Lambda.0x12", "get");
	code(11, 1, 4, 0x5000, &inl);
	start();
	for (i = 0; i < ARRAY_SIZE(pcs); i++) {
		f.addr = 0x5000 + pcs[i];
		sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 1ull << (4 * i) });
	}
	/* Past the last pc the root alone is known. */
	end(HEAD DEMO THREAD_2 "2\t2\t1048577\ta.b.Root.run\tjava-compiled\t\t\t0\n"
	    "3\t2\t272\ta.b.Mid.call\tjava-inlined\t\t\t0\n"
	    "4\t2\t69632\ta.b.Leaf$$Lambda/0x12.get\tjava-inlined\t\t\t0\n");
	buf_release(&inl);
}

TEST(profile_code_that_builds_a_frame_is_the_compiled_methods)
{
	struct buf inl = inline_records();
	struct frame f = {
		FRAME_JIT, .proc = 1, .addr = 0x500f, .compile_id = 11, .method = 1, .not_inlined = 1,
	};

	begin();
	method(1, "Root", "run");
	method(2, "Mid", "call");
	method(3, "Leaf", "get");
	code(11, 1, 4, 0x5000, &inl);
	start();
	sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 1 });
	end(HEAD DEMO THREAD_2 "2\t1\t1\tRoot.run\tjava-compiled\t\t\t0\n");
	buf_release(&inl);
}

TEST(profile_a_method_is_one_consumer_of_the_kind_it_mostly_was)
{
	const struct frame interp = { FRAME_INTERP, .proc = 1, .method = 1, .bci = 3 },
			   jit = { FRAME_JIT, .proc = 1, .addr = 0x5008, .compile_id = 11, .method = 1 },
			   gone = { FRAME_JIT, .proc = 1, .addr = 0x9999, .compile_id = 12, .method = 2 };
	int i, round;

	for (round = 0; round < 2; round++) {
		opts.names.by_kind = round;
		begin();
		method(1, "Root", "run");
		method(2, "Lost", "code");
		code(11, 1, 2, 0x5000, NULL);
		start();
		sample(&interp, 1, (struct rec_sample){ .thread = 2, .weight = 1000 });
		for (i = 0; i < 3; i++)
			sample(&jit, 1, (struct rec_sample){ .thread = 2, .weight = 1000 });
		sample(&gone, 1, (struct rec_sample){ .thread = 2, .weight = 1 });
		if (round)
			end(HEAD DEMO THREAD_2 "2\t1\t1000\tRoot.run\tjava-interpreted\t\t\t0\n"
			    "2\t3\t3000\tRoot.run\tjava-c1\t\t\t0\n2\t1\t1\tLost.code\tjava-compiled\t\t\t0\n");
		else
			end(HEAD DEMO THREAD_2 "2\t4\t4000\tRoot.run\tjava-compiled\t\t\t0\n"
			    "2\t1\t1\tLost.code\tjava-compiled\t\t\t0\n");
	}
	opts.names.by_kind = false;
}

TEST(profile_hostile_inline_records_give_the_root)
{
	static const char bad[] = "\xff\xff\xff\xff\x0f\x01\x01";
	struct buf b = BUF_INIT;
	const struct frame f = { FRAME_JIT, .proc = 1, .addr = 0x5001, .compile_id = 11, .method = 1 };
	size_t cut;

	begin();
	method(1, "Root", "run");
	buf_add(&b, bad, sizeof(bad) - 1);
	code(11, 1, 4, 0x5000, &b);
	start();
	sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 1 });
	end(HEAD DEMO THREAD_2 "2\t1\t1\tRoot.run\tjava-compiled\t\t\t0\n");
	buf_release(&b);
	b = inline_records();
	for (cut = 0; cut < b.len; cut++) {
		struct buf part = { b.data, cut, 0 };
		struct frame at = f;

		begin();
		code(11, 1, 4, 0x5000, &part);
		start();
		for (at.addr = 0x5000; at.addr < 0x5050; at.addr++)
			sample(&at, 1, (struct rec_sample){ .thread = 2, .weight = 1 });
		finish();
		release();
	}
	buf_release(&b);
}

TEST(profile_stubs_resolve_by_address_and_time)
{
	const struct frame stub = { FRAME_STUB, .proc = 1, .addr = 0x800010 };

	begin();
	names_sink.stub(&x, &(struct rec_stub){ 100, 0x800000, 0x100, 1, STR("Interpreter") });
	names_sink.stub(&x, &(struct rec_stub){ 500, 0x800000, 0x40, 1, STR("I2C/C2I adapters") });
	start();
	sample(&stub, 1, (struct rec_sample){ .time_ns = 200, .thread = 2, .weight = 1 });
	sample(&stub, 1, (struct rec_sample){ .time_ns = 600, .thread = 2, .weight = 10 });
	sample(&stub, 1, (struct rec_sample){ .time_ns = 50, .thread = 2, .weight = 100 });
	end(HEAD DEMO THREAD_2 "2\t2\t101\tInterpreter\tstub\t\t\t0\n2\t1\t10\tI2C/C2I adapters\tstub\t\t\t0\n");
}

/* As a sample has it that is in an epoch with others: code takes the place of other code there. */
TEST(profile_the_same_stack_has_other_names_later)
{
	const struct frame f = { FRAME_ANON, .proc = 1, .addr = 0x800010 };
	struct frame frames[] = { { 0 }, f };
	struct stack_node nodes[] = { { 0 }, { 0, 1 } };
	struct stack_epoch ep = { ++epoch_nr, nodes, 2, frames, 2 };
	const uint64_t times[] = { 100, 200, 300 };
	size_t i;

	begin();
	for (i = 0; i < 100; i++)	/* more than are looked at below an address */
		names_sink.stub(&x, &(struct rec_stub){ 50 + i, 0x800000, 0x100, 1, STR("old") });
	names_sink.stub(&x, &(struct rec_stub){ 200, 0x800000, 0x100, 1, STR("new") });
	names_sink.stub(&x, &(struct rec_stub){ 50, 0x900000, 0x100, 1, STR("other") });
	CHECK(names_varies(&x, &f));
	CHECK(!names_varies(&x, &(struct frame){ FRAME_ANON, .proc = 1, .addr = 0x900010 }));
	CHECK(!names_varies(&x, &(struct frame){ FRAME_ANON, .proc = 1, .addr = 0xa00010 }));
	CHECK(!names_varies(&x, &(struct frame){ FRAME_NATIVE, .module = 1, .off = 0x10 }));
	start();
	for (i = 0; i < ARRAY_SIZE(times); i++)
		samples_take(samples, &(struct rec_sample){ .time_ns = times[i], .thread = 2, .weight = 1,
			     .stack = 1 }, 1, &ep);
	end(HEAD DEMO THREAD_2 "2\t1\t1\told\tnative\t[anonymous memory]\t\t0\n"
	    "2\t2\t2\tnew\tnative\t[anonymous memory]\t\t0\n");
}

/* More stubs and anonymous code than the table of frames has room for at first, then methods. */
TEST(profile_many_stubs_leave_room_for_other_frames)
{
	struct frame stub = { .proc = 1 }, method = { FRAME_METHOD, .proc = 1 };
	uint32_t i;

	begin();
	names_sink.stub(&x, &(struct rec_stub){ 100, 0x800000, 0x1000, 1, STR("Interpreter") });
	start();
	for (i = 0; i < 6000; i++) {
		stub.kind = i & 1 ? FRAME_STUB : FRAME_ANON;
		stub.addr = 0x800000 + i;
		sample(&stub, 1, (struct rec_sample){ .time_ns = i, .thread = 2, .weight = 1 });
	}
	for (method.method = 0; method.method < 1500; method.method++)
		sample(&method, 1, (struct rec_sample){ .time_ns = i, .thread = 2, .weight = 1 });
	/* The stub twice, 1904 addresses outside of it, 1500 methods. */
	CHECK_U64(x.nr_frames, 2 + 1904 + 1500);
	finish();
	release();
}

/* What the consumer of a bytecode's frame is called with --lines. */
static const char *place_of(uint32_t bci)
{
	const struct frame f = { FRAME_INTERP, .proc = 1, .method = 1, .bci = bci };
	const struct resolved *r;
	uint32_t at = names_resolve(&x, &f, 0);

	r = &x.frames[at];
	return model_str(&m, m.consumers.items[x.levels[r->first].consumer].detail);
}

TEST(profile_java_frames_have_the_line_of_their_bytecode)
{
	/* 0: 100, 4: 102, 20: 90, 10: 300, 10: 301, 30: none; as a compiler may write a loop's head last */
	static const uint8_t table[] = { 0, 0xc8, 1,  8, 4,  32, 23,  19, 0xa4, 3,  0, 2,  40, 0xd9, 4 };

	opts.names.lines = true;
	begin();
	names_sink.method(&x, &(struct rec_method){ .proc = 1, .method = 1, .class_name = STR("a/Loop"),
			  .name = STR("run"), .sig = STR("()V"), .source = STR("Loop.java") });
	CHECK_STR(place_of(3), "Loop.java bci 3");
	names_sink.method_lines(&x, &(struct rec_method_lines){ .proc = 1, .method = 1, .table = table,
			  .len = sizeof(table) });
	names_sink.method_lines(&x, &(struct rec_method_lines){ .proc = 1, .method = 9, .table = table,
		.len = 3 });
	CHECK_STR(place_of(0), "Loop.java:100");
	CHECK_STR(place_of(4), "Loop.java:102");
	CHECK_STR(place_of(9), "Loop.java:102");
	CHECK_STR(place_of(10), "Loop.java:300");
	CHECK_STR(place_of(11), "Loop.java:301");
	CHECK_STR(place_of(20), "Loop.java:90");
	CHECK_STR(place_of(29), "Loop.java:90");
	CHECK_STR(place_of(30), "Loop.java bci 30");
	release();
}

static const char *place_in_stub(uint64_t addr, uint64_t time_ns)
{
	const struct frame f = { FRAME_ANON, .proc = 1, .addr = addr };
	uint32_t at = names_resolve(&x, &f, time_ns);
	const struct resolved *r = &x.frames[at];

	return model_str(&m, m.consumers.items[x.levels[r->first].consumer].detail);
}

TEST(profile_code_of_runtimes_has_lines_of_several_files)
{
	static const uint8_t a[] = { 0, 20, 8, 4 }, b[] = { 16, 14 }, c[] = { 40, 2 };

	opts.names.lines = true;
	begin();
	names_sink.stub(&x, &(struct rec_stub){ 100, 0x800000, 0x100, 1, STR("f") });
	names_sink.stub_lines(&x, &(struct rec_stub_lines){ 100, 0x800000, 1, STR("a.js"), a, sizeof(a) });
	names_sink.stub_lines(&x, &(struct rec_stub_lines){ 100, 0x800000, 1, STR("b.js"), b, sizeof(b) });
	names_sink.stub_lines(&x, &(struct rec_stub_lines){ 100, 0x800000, 1, STR("a.js"), c, sizeof(c) });
	names_sink.stub_lines(&x, &(struct rec_stub_lines){ 100, 0x800040, 1, STR("no.js"), a, sizeof(a) });
	names_sink.stub(&x, &(struct rec_stub){ 500, 0x800000, 0x100, 1, STR("g") });
	CHECK_STR(place_in_stub(0x800000, 100), "a.js:10");
	CHECK_STR(place_in_stub(0x800004, 100), "a.js:12");
	CHECK_STR(place_in_stub(0x800007, 100), "a.js:12");
	CHECK_STR(place_in_stub(0x800008, 100), "b.js:7");
	CHECK_STR(place_in_stub(0x800013, 100), "b.js:7");
	CHECK_STR(place_in_stub(0x800014, 100), "a.js:1");
	CHECK_STR(place_in_stub(0x800014, 500), "");
	release();
}

TEST(profile_inlined_native_functions_stand_in_their_symbol)
{
	const struct frame f = { FRAME_NATIVE, .module = 5, .off = 0x1004 };
	int round;

	for (round = 0; round < 3; round++) {
		opts.names.lines = round == 1;
		opts.names.hide_inlined = round == 2;
		begin();
		names_sink.line(&x, &(struct rec_line){ 0x1004, 5, 0, 2, 12, STR("_ZN4demo5innerEv"),
			STR("i.h") });
		names_sink.line(&x, &(struct rec_line){ 0x1004, 5, 1, 2, 80, STR(""), STR("o.c") });
		start();
		sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 3 });
		if (round == 0)
			end(HEAD DEMO THREAD_2 "2\t0\t0\touter\tnative" LIB "3\t1\t3\tdemo::inner()\tnative-inlined" LIB);
		else if (round == 1)
			end(HEAD DEMO THREAD_2 "2\t0\t0\touter\tnative\t/usr/lib/libdemo.so\to.c:80\t0\n"
			    "3\t1\t3\tdemo::inner()\tnative-inlined\t/usr/lib/libdemo.so\ti.h:12\t0\n");
		else
			end(HEAD DEMO THREAD_2 "2\t1\t3\touter\tnative" LIB);
	}
	opts.names.hide_inlined = false;
}

TEST(profile_time_window_cpus_and_events_are_chosen)
{
	char *name = (char *)"page-faults", *cpu = (char *)"3";
	struct opt_list metrics = { &name, 1, 0 }, cpus = { &cpu, 1, 0 };
	struct err e = { 0 };

	opts.select.from_ns = 1000;
	opts.select.to_ns = 2000;
	opts.metrics = metrics;
	opts.select.cpus = cpus;
	begin();
	label("event.1", "page-faults");
	start();
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1000999, .thread = 1, .weight = 1, .cpu = 3,
		.event = 1 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1001000, .thread = 1, .weight = 2, .cpu = 3,
		.event = 1 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1001999, .thread = 1, .weight = 4, .cpu = 3,
		.event = 1 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1001999, .thread = 1, .weight = 8, .cpu = 2,
		.event = 1 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1001999, .thread = 1, .weight = 16, .cpu = 3,
		.event = 0 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1002000, .thread = 1, .weight = 32, .cpu = 3,
		.event = 1 });
	sample(NULL, 0, (struct rec_sample){ .time_ns = 1001500, .thread = 1, .weight = 64, .cpu = 3,
		.event = 9 });
	end("# levels\n# n samples\n# metric page-faults events\n" DEMO "1\t2\t6\tdemo\tthread\t\t\t180388626474\n");
	CHECK_U64(seen.nr_read, 5);	/* of the event that was asked for */
	CHECK_U64(seen.nr_unknown, 1);	/* of an event the trace does not name */
	name = (char *)"cycles";
	begin();
	CHECK(columns_of_samples(&columns, &x, &(struct columns_opts){ .metrics = &metrics }, &e) < 0);
	CHECK_STR(e.msg, "unknown metric 'cycles' (the trace has: cpu-clock)");
	release();
}

static void two_events(void)
{
	const struct frame f = { FRAME_NATIVE, .module = 5, .off = 0x1004 };
	int i;

	begin();
	label("event.1", "faults");
	start();
	sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 1000, .event = 0 });
	sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 2000, .event = 0 });
	for (i = 0; i < 7; i++)
		sample(&f, 1, (struct rec_sample){ .thread = 2, .weight = 3, .event = 1 });
}

TEST(profile_of_several_events_the_first_is_shown)
{
	two_events();
	end(HEAD DEMO "1\t0\t0\tpool-1\tthread\t\t\t180388626475\n2\t2\t3000\touter\tnative" LIB);
	CHECK_U64(seen.nr_read, 2);
	two_events();
	finish();
	CHECK(columns.column_of[1] < 0);
	CHECK_U64(seen.nr_of_event[1], 7);
	release();
}

TEST(profile_samples_of_several_events_are_counted_apart)
{
	char *names[] = { (char *)"faults", (char *)"cpu-clock" };
	struct opt_list metrics = { names, 2, 0 };

	opts.metrics = metrics;
	two_events();
	end("# levels\n# n samples\n# metric faults events\n# metric cpu-clock ns cpu-clock.samples\n"
	    "# metric cpu-clock.samples samples\n0\t0\t0\t0\t0\tdemo\tprocess\t\t\t180388626432\n1\t0\t0\t0\t0\tpool-1\tthread\t\t\t180388626475\n"
	    "2\t7\t21\t3000\t2\touter\tnative" LIB);
	CHECK_U64(seen.nr_read, 7);
}

/* Many threads share the stacks of one epoch: each gets its own nodes, counts are exact. */
TEST(profile_threads_that_share_stacks_have_their_own_counts)
{
	enum { NR_NODES = 200, NR_THREADS = 7, NR_SAMPLES = 20000 };
	struct frame f[NR_NODES] = { { 0 } };
	struct stack_node nodes[NR_NODES] = { { 0 } };
	struct stack_epoch ep = { 1000, nodes, NR_NODES, f, NR_NODES };
	static uint64_t want[NR_THREADS + 1];
	struct rec_sample s;
	uint64_t total = 0;
	uint32_t i;

	begin();
	for (i = 3; i <= NR_THREADS; i++)
		names_sink.thread(&x, &(struct rec_thread){ .thread = i, .proc = 1, .tid = 50 + i,
								  .name = STR("worker") });
	start();
	for (i = 1; i < NR_NODES; i++) {
		f[i] = (struct frame){ FRAME_NATIVE, .module = 5, .off = 0x1000 + i % 50 * 0x50 };
		nodes[i] = (struct stack_node){ unit_random() % i, i };
	}
	for (i = 0; i < NR_SAMPLES; i++) {
		s = (struct rec_sample){ .thread = 1 + unit_random() % NR_THREADS,
			.stack = unit_random() % NR_NODES,
					 .weight = unit_random() % 4 ? 1000 : unit_random() % 5000 };
		want[s.thread] += s.weight;
		total += s.weight;
		if (i == NR_SAMPLES / 2)
			ep.epoch++;
		samples_take(samples, &s, 1, &ep);
	}
	finish();
	CHECK_U64(flow_cum(&m.flow, FLOW_NONE)[0], total);
	for (i = m.flow.nodes[1].child; i; i = m.flow.nodes[i].sibling) {
		uint32_t tid = m.consumers.items[m.flow.nodes[i].consumer].key,
			 number = tid < 50 ? tid - 41 : tid - 50;

		CHECK_U64(flow_cum(&m.flow, i)[0], want[number]);
	}
	CHECK_U64(seen.nr_read, NR_SAMPLES);
	release();
}

static const char *trace_path(void)
{
	static char path[4096];
	const char *save = getenv("UNIT_SAVE");

	snprintf(path, sizeof(path), save ? "%s/mixed" : "%s/u-profile-mixed", save ? save : "/tmp");
	return path;
}

static void write_names(struct trace_writer *w, const struct buf *inl)
{
	static const char *const labels[][2] = {
		{ "command", "java -cp classes Demo" }, { "host", "example" }, { "arch", "x86_64" },
		{ "cpus", "4" },
		{ "event.0", "cpu-clock" }, { "event.0.unit", "ns" }, { "event.0.period", "1000000" },
		{ "callgraph", "dwarf" }, { "start.realtime_ns", "1700000000123456789" }, { "start.mono_ns", "5000000" },
		{ "refused.0", "kernel frames: kernel.perf_event_paranoid is 2" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(labels); i++)
		trace_write_label(w, labels[i][0], "%s", labels[i][1]);
	trace_write_proc(w,
			 &(struct rec_proc){ .time_ns = 5000000, .proc = 1, .pid = 4242,
				 .comm = STR("java") });
	trace_write_thread(w, &(struct rec_thread){ .time_ns = 5000000, .thread = 1, .proc = 1, .tid = 4242,
		.name = STR("java") });
	trace_write_thread(w, &(struct rec_thread){ .time_ns = 5000001, .thread = 2, .proc = 1, .tid = 4243,
		.java = true,
						    .name = STR("main") });
	trace_write_module(w, &(struct rec_module){ .module = 1, .flags = MODULE_KERNEL, .path = STR("[kernel.kallsyms]") });
	trace_write_module(w, &(struct rec_module){ .module = 2, .path = STR("/usr/lib/jvm/lib/libjvm.so") });
	trace_write_method(w, &(struct rec_method){ 0, 1, 1, STR("demo/Demo"), STR("main"), STR("([Ljava/lang/String;)V"),
						    STR("Demo.java") });
	trace_write_method(w, &(struct rec_method){ 0, 1, 2, STR("demo/Demo"), STR("fib"), STR("(I)I"), STR("Demo.java") });
	trace_write_method(w, &(struct rec_method){ 0, 1, 3, STR("java/lang/Math"), STR("max"), STR("(II)I"),
		STR("Math.java") });
	trace_write_code(w, &(struct rec_code){ 6000000, 0x7f0000001000, 1, 2, 77, 4, 0x200,
		(const uint8_t *)inl->data,
						inl->len });
	trace_write_stub(w, &(struct rec_stub){ 5000000, 0x7f0000000000, 0x1000, 1, STR("Interpreter") });
}

/* main interpreted; fib compiled and calling itself, with Math.max inlined; some of everything else. */
static void write_samples(struct trace_writer *w)
{
	const struct frame start_thread = { FRAME_NATIVE, .module = 2, .off = 0x500 },
			   main = { FRAME_INTERP, .proc = 1, .method = 1, .bci = 7 },
			   fib = { FRAME_JIT, .proc = 1, .addr = 0x7f000000100f, .method = 2,
				   .compile_id = 77 },
			   max = { FRAME_JIT, .proc = 1, .addr = 0x7f0000001010, .method = 2,
				   .compile_id = 77 },
			   kernel = { FRAME_KERNEL, .module = 1, .off = 0xffffffff81000010 },
			   stub = { FRAME_STUB, .proc = 1, .addr = 0x7f0000000123 },
			   mark = { FRAME_MARK, .mark = MARK_JAVA_STUB },
			   nowhere = { FRAME_NATIVE, .module = 2, .off = 0x9000 };
	const struct frame stacks[][7] = {
		{ start_thread, main, fib, fib, fib, max }, { start_thread, main, fib, fib },
		{ start_thread, main, fib, fib, max },
		{ start_thread, main, fib, fib, fib, kernel }, { start_thread, main, stub },
		{ start_thread, main }, { mark, fib },
		{ start_thread, nowhere },
	};
	static const uint8_t depth[] = { 6, 4, 5, 6, 3, 2, 2, 2 };
	static const uint8_t share[] = { 40, 25, 15, 8, 5, 3, 1, 2 };
	uint64_t now = 7000000;
	uint32_t i, k;

	for (i = 0; i < ARRAY_SIZE(stacks); i++)
		for (k = 0; k < share[i]; k++)
			trace_write_sample(w,
					   &(struct rec_sample){ .time_ns = now += 1000000,
						   .thread = i == 7 ? 1 : 2,
					   .stack = trace_write_stack(w, stacks[i], depth[i]),
					   .weight = 1000000,
					   .cpu = k % 4, .user = i != 3 });
	trace_write_sample(w, &(struct rec_sample){ .time_ns = now, .thread = 1, .weight = 1000000,
		.user = true });
}

static void write_symbols(struct trace_writer *w)
{
	trace_write_symbol(w,
			   &(struct rec_symbol){ 0x400, 0x200, 2, STR("_ZL19thread_native_entryP6Thread") });
	trace_write_symbol(w,
			   &(struct rec_symbol){ 0xffffffff81000000, 0x100, 1, STR("asm_exc_page_fault") });
	trace_write_lost(w, &(struct rec_lost){ 200000000, LOST_RING, 0, 3 });
	trace_write_label(w, "event.0.rate_hz", "%s", "998.7");
	trace_write_label(w, "end.mono_ns", "%s", "110000000");
}

/* t/data/mixed/trace is what this writes; the golden reports are made of it. */
TEST(profile_mixed_trace_reads_back)
{
	static const uint64_t v[] = { 2, 0x10, 1, 2, 5, 0x20, 2, 3, 1, 2, 9 };
	const struct profile_opts po = { .names.no_files = true };
	struct trace_writer *w;
	struct trace_reader *t;
	struct buf inl = BUF_INIT;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		buf_varint(&inl, v[i]);
	remove(trace_path());
	CHECK_U64(trace_writer_open(&w, trace_path(), &(struct trace_writer_opts){ .compress = false }, &e),
		  0);
	write_names(w, &inl);
	write_samples(w);
	write_symbols(w);
	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(trace_reader_open(&t, trace_path(), &e), 0);
	CHECK_U64(profile_read(&x, &m, &origin, t, &po, &e), 0);
	CHECK_U64(flow_cum(&m.flow, FLOW_NONE)[0], 100000000);
	CHECK_U64(origin.nr_read, 100);
	CHECK_U64(origin.lost, 3);
	release();
	trace_reader_close(t);
	buf_release(&inl);
}
