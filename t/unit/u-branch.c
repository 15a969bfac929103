// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-branch.c - instruction traces: what is written comes back; instructions are what they are; calls
 * and returns are matched.  With UNIT_SAVE=<dir> the small trace made here is kept there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/insn.h"
#include "base/io.h"
#include "base/mem.h"
#include "flow/check.h"
#include "itrace/trail.h"
#include "model/branches.h"
#include "model/profile.h"
#include "trace/branch.h"
#include "trace/writer.h"
#include "unit.h"

static char scratch[64];

static void remove_file(void)
{
	unlink(scratch);
}

/* Gone when the test ends. */
static const char *temp_path(void)
{
	if (!scratch[0]) {
		snprintf(scratch, sizeof(scratch), "/tmp/u-branch.%d", (int)getpid());
		atexit(remove_file);
	}
	return scratch;
}

static struct trace_writer *create(void)
{
	struct trace_writer_opts o = { .compress = true };
	struct trace_writer *w;
	struct err e = { 0 };

	unlink(temp_path());
	CHECK_U64(trace_writer_open(&w, temp_path(), &o, &e), 0);
	if (!w)
		_exit(1);
	return w;
}

static uint64_t any(void)
{
	return unit_random() >> unit_random() % 64;
}

static struct branch any_branch(uint64_t start)
{
	return (struct branch){ .kind = unit_random() % BRANCH_KIND_NR, .len = unit_random() % 16,
		.start = start,
				.end = start + (unit_random() % 9 ? unit_random() % 300 : any()), .to = any(),
				.nr_insns = any() };
}

TEST(branch_runs_come_back_as_they_were_put)
{
	enum { NR = 5000 };
	struct branch *want = xcalloc(NR, sizeof(*want)), got;
	struct rec_branches r = { .nr = NR, .start = 0x401000 };
	struct branch_cursor c;
	struct buf b = BUF_INIT;
	int i;

	for (i = 0; i < NR; i++) {
		want[i] = any_branch(i ? want[i - 1].to : r.start);
		branch_put(&b, &want[i]);
	}
	r.bytes = (uint8_t *)b.data;
	r.len = b.len;
	for (i = 0, c = branch_cursor(&r); branch_next(&c, &got); i++)
		CHECK(got.kind == want[i].kind && got.len == want[i].len && got.start == want[i].start &&
		      got.end == want[i].end && got.to == want[i].to && got.nr_insns == want[i].nr_insns);
	CHECK_U64(i, NR);
	CHECK(!c.s.bad && !span_left(&c.s));
	/* Cut anywhere, it says so. */
	for (i = 0; i < 200; i++) {
		r.len = unit_random() % b.len;
		for (c = branch_cursor(&r); branch_next(&c, &got);)
			;
		CHECK(c.s.bad);
	}
	buf_release(&b);
	free(want);
}

/* ---- a trace with names, in which what runs is written by hand ---- */

enum {
	MAIN = 0x1000, F = 0x1100, G = 0x1200, STUB = 0x1300, HANDLER = 0x1400, OUTER = 0x1500, COLD
	= 0x1600, JIT = 0x9000
};

struct script {
	struct trace_writer *w;
	struct buf run;
	uint64_t start, at, nr, time_ns;
};

static void symbol(struct trace_writer *w, uint64_t off, const char *name)
{
	trace_write_symbol(w, &(struct rec_symbol){ .module = 1, .off = off, .size = 0x100, .name = name,
						    .name_len = strlen(name) });
}

static void begin(struct script *s, uint64_t at)
{
	s->start = s->at = at;
}

/* n instructions of 4 bytes, the last of which goes to "to". */
static void step(struct script *s, uint64_t n, enum branch_kind kind, uint64_t to)
{
	struct branch b = { .kind = kind, .len = 4, .start = s->at, .end = s->at + 4 * n, .to = to,
		.nr_insns = n };

	if (kind == BRANCH_INTERRUPT || kind == BRANCH_STOP)
		b.len = 0;
	branch_put(&s->run, &b);
	s->at = to;
	s->nr++;
}

static void end_run(struct script *s)
{
	trace_write_branches(s->w,
			     &(struct rec_branches){ .time_ns = ++s->time_ns, .thread = 1, .cpu = UINT16_MAX,
							   .start = s->start, .nr = s->nr,
							   .bytes = (uint8_t *)s->run.data,
							   .len = s->run.len });
	buf_reset(&s->run);
	s->start = s->at;
	s->nr = 0;
}

static void open_script(struct script *s)
{
	static const char path[] = "/bin/prog";
	static const uint8_t code[] = { 0xc3 };

	memset(s, 0, sizeof(*s));
	s->w = create();
	s->time_ns = 1000;
	trace_write_label(s->w, "itrace.engine", "test");
	trace_write_label(s->w, "start.mono_ns", "1000");
	trace_write_label(s->w, "symbols", "complete");
	trace_write_proc(s->w, &(struct rec_proc){ 1000, 1, 0, 77, true, "prog", 4 });
	trace_write_thread(s->w, &(struct rec_thread){ 1000, 1, 1, 77, false, "prog", 4 });
	trace_write_module(s->w, &(struct rec_module){ .time_ns = 1000, .module = 1, .path = path,
		.path_len = 9 });
	trace_write_map(s->w, &(struct rec_map){ 1000, 1, 1, 0, 0x2000, 0 });
	trace_write_branch_code(s->w, &(struct rec_branch_code){ 1000, F, 1, code, sizeof(code) });
	symbol(s->w, MAIN, "main");
	symbol(s->w, F, "f");
	symbol(s->w, G, "g");
	symbol(s->w, STUB, "g@plt");
	symbol(s->w, HANDLER, "handler");
	symbol(s->w, OUTER, "outer");
	symbol(s->w, COLD, "f.cold");
}

/* Closes the trace and makes its model. */
static void model_with(struct script *s, struct model *m, struct names *x, const struct profile_opts *o)
{
	struct flow_check checks[FLOW_NR_CHECKS];
	struct origin origin;
	struct trace_reader *t;
	struct err e = { 0 };

	if (s->w) {
		end_run(s);
		CHECK_U64(trace_writer_close(s->w, &e), 0);
		buf_release(&s->run);
		s->w = NULL;
	}
	CHECK_U64(trace_reader_open(&t, temp_path(), &e), 0);
	CHECK_U64(profile_read(x, m, &origin, t, o, &e), 0);
	CHECK(branches_are_in(x));
	CHECK_U64(flow_check(&m->flow, checks), 0);
	trace_reader_close(t);
}

static void model_of(struct script *s, struct model *m, struct names *x, bool collapse_plt)
{
	const struct profile_opts o = { .names.no_files = true, .collapse_plt = collapse_plt };

	model_with(s, m, x, &o);
}

static void free_model(struct model *m, struct names *x)
{
	names_release(x);
	model_release(m);
}

/*
 * The node at a path such as "main/f", below the thread; n and base in "n base" form, "-" when there
 * is none.
 */
static const char *at(const struct model *m, const char *path)
{
	static char text[64];
	uint32_t node = FLOW_NONE, i;
	char full[128], *part, *save;

	snprintf(full, sizeof(full), "prog/prog/%s", path);
	for (part = strtok_r(full, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		for (i = 1; i < m->flow.nr_nodes; i++)
			if (m->flow.nodes[i].parent == node &&
			    !strcmp(consumer_name(&m->consumers, m->flow.nodes[i].consumer), part))
				break;
		if (i == m->flow.nr_nodes)
			return "-";
		node = i;
	}
	snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)m->flow.nodes[node].n,
		 (unsigned long long)flow_base(&m->flow, node)[0]);
	return text;
}

static void keep(const char *name)
{
	const char *dir = getenv("UNIT_SAVE");
	struct buf b = BUF_INIT;
	char file[4096];
	struct err e;
	FILE *f;

	if (!dir || io_read_file(temp_path(), &b, SIZE_MAX, &e))
		return;
	snprintf(file, sizeof(file), "%s/%s", dir, name);
	f = fopen(file, "w");
	if (f) {
		fwrite(b.data, 1, b.len, f);
		fclose(f);
	}
	buf_release(&b);
}

/* Java methods A.f, of whose call it is the trace, and B.main, with compiled code. */
static void open_bracket(struct script *s)
{
	open_script(s);
	trace_write_label(s->w, "itrace.bracket", "yes");
	trace_write_method(s->w, &(struct rec_method){ .proc = 1, .method = 9, .class_name = "A",
		.class_len = 1, .name = "f", .name_len = 1 });
	trace_write_method(s->w, &(struct rec_method){ .proc = 1, .method = 10, .class_name = "B",
		.class_len = 1, .name = "main", .name_len = 4 });
	trace_write_code(s->w, &(struct rec_code){ .proc = 1, .method = 10, .compile_id = 3, .addr = JIT,
		.size = 0x100 });
	trace_write_stub(s->w, &(struct rec_stub){ 1000, JIT + 0x100, 0x100, 1, "Interpreter", 11 });
	trace_write_bracket(s->w, &(struct rec_bracket){ 900, 1, 2, 10 });
	trace_write_bracket(s->w, &(struct rec_bracket){ 1000, 1, 1, 9 });
	trace_write_bracket(s->w, &(struct rec_bracket){ 5000, 1, 1, 10 });
}

TEST(branch_the_method_of_a_bracket_is_above_what_it_calls)
{
	struct script s;
	struct names x;
	struct model m;

	open_bracket(&s);
	begin(&s, F);					/* in the probe */
	step(&s, 3, BRANCH_RETURN, JIT + 0x10);		/* A.f was compiled as a part of B.main */
	step(&s, 2, BRANCH_CALL, G);
	step(&s, 5, BRANCH_RETURN, JIT + 0x18);
	step(&s, 1, BRANCH_COND, JIT + 0x40);
	step(&s, 1, BRANCH_STOP, JIT + 0x44);
	end_run(&s);
	begin(&s, F);					/* once more, interpreted */
	step(&s, 3, BRANCH_RETURN, JIT + 0x110);
	step(&s, 7, BRANCH_CALL, G);
	step(&s, 5, BRANCH_RETURN, JIT + 0x110 + 28);
	step(&s, 1, BRANCH_STOP, JIT + 0x130);
	model_of(&s, &m, &x, false);
	CHECK_STR(at(&m, "A.f"), "2 4");
	CHECK_STR(at(&m, "A.f/f"), "2 6");
	CHECK_STR(at(&m, "A.f/g"), "1 5");
	CHECK_STR(at(&m, "A.f/Interpreter"), "1 8");
	CHECK_STR(at(&m, "A.f/Interpreter/g"), "1 5");
	CHECK_STR(at(&m, "B.main"), "-");
	free_model(&m, &x);
}

TEST(branch_calls_tail_calls_and_returns_are_matched)
{
	struct script s;
	struct names x;
	struct model m;

	open_script(&s);
	begin(&s, MAIN);
	step(&s, 3, BRANCH_CALL, F);			/* main calls f */
	step(&s, 2, BRANCH_JUMP, G);			/* which ends in a jump to g */
	step(&s, 5, BRANCH_COND, G + 0x40);
	step(&s, 1, BRANCH_RETURN, MAIN + 12);		/* g returns to main */
	step(&s, 2, BRANCH_CALL, MAIN + 20);		/* main asks where it is */
	step(&s, 2, BRANCH_CALL_INDIRECT, F);
	step(&s, 1, BRANCH_COND, COLD);			/* the cold part of f */
	step(&s, 4, BRANCH_JUMP, F + 0x20);
	step(&s, 1, BRANCH_RETURN, MAIN + 28);
	end_run(&s);					/* a run's end changes nothing */
	step(&s, 2, BRANCH_CALL, STUB);			/* g by its linkage stub */
	step(&s, 1, BRANCH_JUMP_INDIRECT, G);
	step(&s, 3, BRANCH_RETURN, MAIN + 36);
	step(&s, 6, BRANCH_EXIT, 0);
	model_of(&s, &m, &x, false);
	keep("branches");
	CHECK_STR(at(&m, "main"), "1 15");
	CHECK_STR(at(&m, "main/f"), "2 8");
	CHECK_STR(at(&m, "main/g"), "2 9");
	CHECK_STR(at(&m, "main/g@plt"), "1 1");
	CHECK_STR(at(&m, "main/main"), "-");
	free_model(&m, &x);
	model_of(&s, &m, &x, true);
	CHECK_STR(at(&m, "main"), "1 16");
	CHECK_STR(at(&m, "main/g"), "2 9");
	CHECK_STR(at(&m, "main/g@plt"), "-");
	free_model(&m, &x);
	/* as above, block by block */
	model_with(&s, &m, &x, &(struct profile_opts){ .names.no_files = true, .blocks = true });
	CHECK_STR(at(&m, "main"), "1 0");
	CHECK_STR(at(&m, "main/main+0x0"), "0 3");
	CHECK_STR(at(&m, "main/main+0x0/f"), "1 0");
	CHECK_STR(at(&m, "main/main+0x0/f/f+0x0"), "0 2");
	CHECK_STR(at(&m, "main/main+0x0/g/g+0x0"), "0 5");
	CHECK_STR(at(&m, "main/main+0x0/g/g+0x40"), "0 1");
	CHECK_STR(at(&m, "main/main+0xc"), "0 2");
	CHECK_STR(at(&m, "main/main+0x14"), "0 2");
	CHECK_STR(at(&m, "main/main+0x14/f/f+0x0"), "0 1");
	CHECK_STR(at(&m, "main/main+0x14/f/f.cold+0x0"), "0 4");
	CHECK_STR(at(&m, "main/main+0x14/f/f+0x20"), "0 1");
	CHECK_STR(at(&m, "main/main+0x1c/g@plt/g@plt+0x0"), "0 1");
	CHECK_STR(at(&m, "main/main+0x1c/g/g+0x0"), "0 3");
	CHECK_STR(at(&m, "main/main+0x24"), "0 6");
	free_model(&m, &x);
}

TEST(branch_handlers_longjmp_and_callers_from_before_are_matched)
{
	struct script s;
	struct names x;
	struct model m;

	open_script(&s);
	begin(&s, G + 0x10);				/* attached in g */
	step(&s, 2, BRANCH_RETURN, MAIN + 0x40);	/* which main had called */
	step(&s, 3, BRANCH_CALL, F);
	step(&s, 1, BRANCH_INTERRUPT, HANDLER);
	step(&s, 2, BRANCH_CALL, G);
	step(&s, 4, BRANCH_RETURN, HANDLER + 8);
	step(&s, 1, BRANCH_IRET, F + 4);		/* back to what was interrupted */
	step(&s, 1, BRANCH_CALL, G);
	step(&s, 1, BRANCH_INTERRUPT, HANDLER);
	step(&s, 1, BRANCH_JUMP_INDIRECT, MAIN + 0x80);	/* out of the handler into main */
	step(&s, 7, BRANCH_RETURN, OUTER + 0x20);	/* and main had been called by outer */
	step(&s, 1, BRANCH_STOP, OUTER + 0x24);
	end_run(&s);
	begin(&s, F);					/* nobody knows how it came there */
	step(&s, 9, BRANCH_STOP, F + 36);
	model_of(&s, &m, &x, false);
	CHECK_STR(at(&m, "outer"), "1 1");
	CHECK_STR(at(&m, "outer/main"), "1 10");
	CHECK_STR(at(&m, "outer/main/g"), "1 2");
	CHECK_STR(at(&m, "outer/main/f"), "1 2");
	CHECK_STR(at(&m, "outer/main/f/handler"), "1 3");
	CHECK_STR(at(&m, "outer/main/f/handler/g"), "1 4");
	CHECK_STR(at(&m, "outer/main/f/g"), "1 1");
	CHECK_STR(at(&m, "outer/main/f/g/handler"), "1 1");
	CHECK_STR(at(&m, "f"), "1 9");
	CHECK_U64(m.flow.repairs.inserted, 2);
	free_model(&m, &x);
}

TEST(branch_any_branches_keep_the_total)
{
	static const uint64_t places[] = { MAIN, F, G, STUB, HANDLER, OUTER, COLD, 0x9000 };
	uint64_t total = 0, cum[FLOW_MAX_METRICS];
	struct script s;
	struct names x;
	struct model m;
	int i;

	open_script(&s);
	begin(&s, MAIN);
	for (i = 0; i < 3000; i++) {
		uint64_t n = unit_random() % 20;

		total += n;
		step(&s, n, unit_random() % BRANCH_KIND_NR,
		     places[unit_random() % ARRAY_SIZE(places)] + unit_random() % 3 * 8);
		if (unit_random() % 100 == 0)
			end_run(&s);
	}
	model_of(&s, &m, &x, unit_random() & 1);
	flow_totals(&m.flow, cum);
	CHECK_U64(cum[0], total);
	free_model(&m, &x);
}

/* ---- instructions ---- */

static void check_insn(const char *bytes, size_t len, enum insn_kind kind, uint8_t flags, int64_t rel)
{
	struct insn in;

	CHECK(insn_decode_x86((const uint8_t *)bytes, len, &in));
	CHECK_U64(in.len, len);
	CHECK_U64(in.kind, kind);
	CHECK_U64(in.flags, flags);
	CHECK_U64(in.rel, rel);
}

TEST(insn_kinds_that_objdump_does_not_distinguish)
{
	struct insn in;

	check_insn("\xf3\xaa", 2, INSN_PLAIN, INSN_REPEATS, 0);
	check_insn("\xf2\x48\xaf", 3, INSN_PLAIN, INSN_REPEATS, 0);
	check_insn("\xf3\xc3", 2, INSN_RETURN, 0, 0);
	check_insn("\xf3\x0f\xb8\xc0", 4, INSN_PLAIN, 0, 0);	/* popcnt: its prefix repeats nothing */
	check_insn("\x66\x9c", 2, INSN_PLAIN, INSN_PUSHES_FLAGS, 0);
	check_insn("\x8e\xd0", 2, INSN_PLAIN, INSN_SHADOWS, 0);
	check_insn("\xeb\xfe", 2, INSN_JUMP, 0, 0);
	check_insn("\x0f\x84\x00\x01\x00\x00", 6, INSN_COND, 0, 262);
	CHECK(!insn_decode_x86((const uint8_t *)"\xe8\x00", 2, &in));
	CHECK_U64(in.len, 0);
}

TEST(exclusive_stretches_have_the_exits_they_have)
{
	/* compare and swap: ldaxr; cmp; b.ne out; stlxr; (cbnz back) */
	static const uint32_t cas[] = { 0x885ffc10, 0x6b00021f, 0x54000061, 0x8811fc41, 0x35ffff91,
		0xd65f03c0 };
	/* add: ldxr; add; stxr; cbnz back */
	static const uint32_t add[] = { 0x885f7c02, 0x0b010042, 0x88037c02, 0x35ffffa3 };
	/* no store at all */
	static const uint32_t lone[] = { 0x885f7c02, 0xd65f03c0 };
	struct exclusive x;

	CHECK(exclusive_plan(&x, 0x1000, (const uint8_t *)cas, sizeof(cas)));
	CHECK_U64(x.nr_stops, 2);
	CHECK_U64(x.stops[0].addr, 0x1014);
	CHECK_U64(x.stops[0].nr_insns, 3);
	CHECK(x.stops[0].branch);
	CHECK_U64(x.stops[1].addr, 0x1010);
	CHECK_U64(x.stops[1].nr_insns, 4);
	CHECK(!x.stops[1].branch);
	CHECK(exclusive_plan(&x, 0x1000, (const uint8_t *)add, sizeof(add)));
	CHECK_U64(x.nr_stops, 1);
	CHECK_U64(x.stops[0].addr, 0x100c);
	CHECK_U64(x.stops[0].nr_insns, 3);
	CHECK(!exclusive_plan(&x, 0x1000, (const uint8_t *)lone, sizeof(lone)));
	CHECK(!exclusive_plan(&x, 0x1000, (const uint8_t *)add, 8));
}

TEST(insn_exclusive_regions_of_a64)
{
	static const struct {
		uint32_t word;
		uint8_t flags;
	} list[] = {
		{ 0x885ffc02, INSN_EXCLUSIVE_LOAD },	/* ldaxr w2, [x0] */
		{ 0xc85f7c02, INSN_EXCLUSIVE_LOAD },	/* ldxr x2, [x0] */
		{ 0x085f7c02, INSN_EXCLUSIVE_LOAD },	/* ldxrb w2, [x0] */
		{ 0xc87f0c02, INSN_EXCLUSIVE_LOAD },	/* ldxp x2, x3, [x0] */
		{ 0x88037c01, INSN_EXCLUSIVE_STORE },	/* stxr w3, w1, [x0] */
		{ 0xc8240c02, INSN_EXCLUSIVE_STORE },	/* stxp w4, x2, x3, [x0] */
		{ 0x88dffc02, 0 },			/* ldar w2, [x0] */
		{ 0x889ffc02, 0 },			/* stlr w2, [x0] */
		{ 0x88a07c41, 0 },			/* cas w0, w1, [x2] */
		{ 0x08207c82, 0 },			/* casp w0, w1, w2, w3, [x4] */
	};
	struct insn in;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		CHECK(insn_decode_arm64((const uint8_t *)&list[i].word, 4, &in));
		CHECK_U64(in.flags, list[i].flags);
		CHECK_U64(in.kind, INSN_PLAIN);
	}
}
