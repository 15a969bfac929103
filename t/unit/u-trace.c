// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-trace.c - the trace file: what is written comes back, whatever the writer met.  With
 * UNIT_SAVE=<dir> the small traces made here and by its neighbours are kept there: they are
 * the seeds of the fuzz corpus and t/data.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/walk.h"
#include "traces.h"
#include "unit.h"

TEST(trace_every_record_comes_back_as_it_was)
{
	int round;

	for (round = 0; round < 6; round++) {
		struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = round & 1,
									     .epoch_bytes = round < 4 ? 0 :
									     300000 / UNIT_STRIDE });
		size_t nr = 20000 / UNIT_STRIDE, i;
		struct sample *samples = traces_random(nr);
		struct seen want = { 0 }, got = { .want = samples, .nr_want = nr };
		struct trace_reader *t;
		struct err e = { 0 };
		struct buf b;

		for (i = 0; i < nr; i++) {
			traces_write(w, &samples[i]);
			if (unit_random() % 10 == 0)
				traces_write_any(w, &want);
			if (unit_random() % 1000 == 0)
				trace_writer_flush(w);
		}
		CHECK_U64(trace_writer_lost(w), 0);
		b = traces_close(w);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
		CHECK_U64(got.nr_samples, nr);
		CHECK_U64(got.nr_meta, want.nr_meta);
		CHECK(seen_same(&got, &want));
		CHECK_U64(got.nr_damaged, 0);
		CHECK((got.last_epoch > 2) == (round >= 4));
		CHECK_STR(trace_reader_damage(t)->first, "");
		CHECK(!trace_reader_damage(t)->truncated);
		CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
		CHECK_U64(trace_reader_damage(t)->nr_bad_records, 0);
		trace_reader_close(t);
		seen_release(&want);
		seen_release(&got);
		buf_release(&b);
		free(samples);
	}
}

TEST(trace_two_passes_see_what_one_does)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	struct sample *samples = traces_random(500);
	struct seen want = { 0 }, names = { 0 }, got = { .want = samples, .nr_want = 500 };
	struct trace_sink meta = seen_all, only = { .samples = seen_samples };
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;
	size_t i;

	for (i = 0; i < 500; i++) {
		traces_write(w, &samples[i]);
		traces_write_any(w, &want);
	}
	b = traces_close(w);
	meta.samples = NULL;
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &meta, &names, &e), 0);
	CHECK_U64(trace_read(t, &only, &got, &e), 0);
	CHECK_U64(names.nr_meta, 500);
	CHECK_U64(got.nr_samples, 500);
	trace_reader_close(t);
	seen_release(&want);
	seen_release(&names);
	buf_release(&b);
	free(samples);
}

/* One record of each kind, written as a recorder would: what the manual page shows. */
static void write_one_of_each(struct trace_writer *w)
{
	static const struct frame frames[] = {
		{ FRAME_NATIVE, .module = 1, .off = 0x1234 },
		{ FRAME_JIT, .proc = 1, .addr = 0x7f0000001010, .compile_id = 42, .method = 1 },
		{ FRAME_INTERP, .proc = 1, .method = 1, .bci = 7 },
		{ FRAME_STUB, .proc = 1, .addr = 0x7f0000100000 },
		{ FRAME_ANON, .proc = 1, .addr = 0x7e0000000000 },
		{ FRAME_KERNEL, .module = 2, .off = 0xffffffff81000010 },
	}, cut[] = {
		{ FRAME_MARK, .mark = MARK_NO_UNWIND_INFO }, { FRAME_NATIVE, .module = 1, .off = 0x1300 },
	};
	static const uint8_t id[] = { 0xde, 0xad, 0xbe, 0xef }, inl[] = { 1, 16, 1, 1, 8 };
	static const uint8_t lines[] = { 0, 20, 8, 4, 10, 3 };	/* 0: line 10, 4: line 12, 9: line 10 */

	const uint64_t t = clock_mono_ns();

	trace_write_label(w, "event.0", "cpu-clock");
	trace_write_label(w, "sched.scope", "system");
	trace_write_label(w, "sched.states", "yes");
	trace_write_label(w, "sched.irq", "yes");
	trace_write_proc(w, &(struct rec_proc){ t + 5, 1, 0, 4711, false, "sh", 2 });
	trace_write_proc(w, &(struct rec_proc){ t + 6, 2, 1, 4712, false, "sh", 2 });
	trace_write_proc(w, &(struct rec_proc){ t + 7, 3, 2, 4712, true, "java", 4 });
	trace_write_cgroup(w, &(struct rec_cgroup){ t + 7, 3, "/shop", 5 });
	trace_write_resource(w, &(struct rec_resource){ t + 7, 3, "service=shop", 12 });
	trace_write_thread(w, &(struct rec_thread){ t + 7, 1, 3, 4712, false, "java", 4 });
	trace_write_thread(w, &(struct rec_thread){ t + 8, 1, 3, 4712, true, "main", 4 });
	trace_write_module(w, &(struct rec_module){ t + 8, 1, 0, 0x801, 77, 9000, 0, id, 4, "/usr/bin/java",
		13 });
	trace_write_module(w, &(struct rec_module){ t + 8, 2, MODULE_KERNEL, 0, 0, 0, 0, id, 0, "[kernel.kallsyms]", 17 });
	trace_write_map(w, &(struct rec_map){ t + 8, 3, 1, 0x400000, 0x2000, 0x1000 });
	trace_write_method(w, &(struct rec_method){ t + 9, 3, 1, "Main", 4, "run", 3, "()V", 3, "Main.java",
		9 });
	trace_write_method_lines(w, &(struct rec_method_lines){ t + 9, 3, 1, lines, sizeof(lines) });
	trace_write_code(w, &(struct rec_code){ t + 9, 0x7f0000001000, 3, 1, 42, 4, 64, inl, sizeof(inl) });
	trace_write_code_bytes(w, &(struct rec_code_bytes){ t + 9, 0x7f0000001000, 3, 42, id, sizeof(id) });
	trace_write_stub(w, &(struct rec_stub){ t + 9, 0x7f0000100000, 32, 3, "StubRoutines (1)", 16 });
	trace_write_stub_lines(w, &(struct rec_stub_lines){ t + 9, 0x7f0000100000, 3, "stub.s", 6, lines,
		sizeof(lines) });
	trace_write_bracket(w, &(struct rec_bracket){ t + 9, 3, 1, 7 });
	trace_write_recorded(w, &(struct rec_recorded){ t + 9, 0, "cpu-clock", 9 });
	trace_write_trigger(w, &(struct rec_trigger){ t + 9, 3, "rss>2G", 6, "2.1 GiB", 7 });
	trace_write_sample(w, &(struct rec_sample){ t + 10, 1, trace_write_stack(w, frames, 6), 1000000, 0, 3,
		false });
	trace_write_sample(w, &(struct rec_sample){ t + 11, 1, trace_write_stack(w, frames, 4), 1000000, 0, 3,
		true });
	trace_write_sample(w, &(struct rec_sample){ t + 12, 1, trace_write_stack(w, cut, 2), 1, 300, 2,
		true });
	trace_write_code_gone(w, &(struct rec_code_gone){ t + 13, 0x7f0000001000, 3, 42 });
	trace_write_end(w, &(struct rec_end){ t + 14, 0, 1, 0 });
	trace_write_end(w, &(struct rec_end){ t + 15, 3, 0, 256 });
	trace_write_lost(w, &(struct rec_lost){ t + 16, LOST_RING, 3, 12 });
	trace_write_sched(w, &(struct rec_sched){ t + 9, 1, 2, 3, SCHED_SWITCH, SCHED_SLEEP });
	trace_write_sched(w, &(struct rec_sched){ t + 500, 1, 2, 0, SCHED_WAKE, 0 });
	trace_write_sched(w, &(struct rec_sched){ t + 700, 2, 1, 3, SCHED_SWITCH, SCHED_RUNNABLE });
	trace_write_sched(w, &(struct rec_sched){ t + 800, 1, sched_intr(SCHED_INTR_DEVICE, 24), 3,
		SCHED_INTR, 0 });
	trace_write_sched(w, &(struct rec_sched){ t + 900, 1, sched_intr(SCHED_INTR_DEVICE, 24), 3,
		SCHED_INTR_END, 0 });
	trace_write_symbol(w, &(struct rec_symbol){ 0x1200, 0x200, 1, "main", 4 });
	trace_write_line(w, &(struct rec_line){ 0x1234, 1, 0, 2, 17, "inlined", 7, "main.c", 6 });
	trace_write_line(w, &(struct rec_line){ 0x1234, 1, 1, 2, 30, "", 0, "main.c", 6 });
}

static int nothing_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	uint64_t *n = ctx;

	*n += nr;
	return 0;
}

TEST(trace_one_of_each_is_small_and_whole)
{
	int compress;

	for (compress = 0; compress < 2; compress++) {
		struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = compress });
		struct trace_sink sink = { .samples = nothing_samples };
		struct trace_reader *t;
		uint64_t nr = 0;
		struct err e = { 0 };
		struct buf b;

		write_one_of_each(w);
		b = traces_close(w);
		traces_save(compress ? "one-of-each-zlib" : "one-of-each", &b);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &nr, &e), 0);
		CHECK_U64(nr, 3);
		CHECK(!trace_reader_damage(t)->truncated);
		trace_reader_close(t);
		buf_release(&b);
	}
}

/* ---- the writer's troubles ---- */

TEST(trace_full_disk_keeps_what_was_written_and_counts_the_rest)
{
	size_t nr = 20000;
	struct sample *samples = traces_random(nr);
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	struct rlimit limit = { 300000, 300000 };
	struct seen got = { .want = samples, .nr_want = nr };
	struct trace_reader *t;
	struct err e = { 0 };
	uint64_t lost;

	setrlimit(RLIMIT_FSIZE, &limit);	/* SIGXFSZ would kill: the writer must not let it */
	traces_fill(w, samples, nr);
	CHECK_U64(-trace_writer_error(w), EFBIG);
	trace_writer_flush(w);
	lost = trace_writer_lost(w);
	CHECK_U64(-trace_writer_close(w, &e), EFBIG);
	CHECK(strstr(e.msg, "File too large"));
	CHECK_U64(trace_reader_open(&t, traces_path(), &e), 0);
	CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
	CHECK_U64(got.nr_samples + lost, nr);
	CHECK(got.nr_samples > 1000);
	CHECK_U64(got.nr_damaged, 0);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	trace_reader_close(t);
	seen_release(&got);
	unlink(traces_path());
	free(samples);
}

TEST(trace_device_that_takes_nothing_is_an_error_at_once)
{
	struct trace_writer *w;
	struct err e = { 0 };

	CHECK_U64(-trace_writer_open(&w, "/dev/full", &(struct trace_writer_opts){ .compress = true }, &e),
		  ENOSPC);
	CHECK(strstr(e.msg, "/dev/full: writing the trace at offset 0: No space left"));
	CHECK(!w);
}

struct counts {
	uint64_t samples, symbols, after, stopped_ns, last_ns;
	unsigned int nr_told;
};

static int count_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct counts *c = ctx;
	size_t i;

	c->samples += nr;
	for (i = 0; i < nr; i++)
		c->last_ns = MAX(c->last_ns, s[i].time_ns);
	return 0;
}

static int count_symbol(void *ctx, const struct rec_symbol *r)
{
	((struct counts *)ctx)->symbols++;
	return 0;
}

static int count_after(void *ctx, const struct rec_lost *r)
{
	struct counts *c = ctx;

	CHECK_U64(r->cause, LOST_STOPPED);
	CHECK(!c->nr_told || r->time_ns == c->stopped_ns);
	CHECK(c->nr_told || !r->count);		/* when it stops, for those whose end is missing */
	c->nr_told++;
	c->stopped_ns = r->time_ns;
	c->after += r->count;
	return 0;
}

TEST(trace_mode_normal_stops_samples_at_its_limit_and_names_them_still)
{
	int compress;

	for (compress = 0; compress < 2; compress++) {
		size_t nr = 30000, i;
		struct sample *samples = traces_random(nr);
		struct trace_writer *w = traces_create(&(struct trace_writer_opts){ TRACE_NORMAL, 500000, 0,
			compress });
		const struct trace_sink sink = { .samples = count_samples, .symbol = count_symbol,
			.lost = count_after };
		uint64_t nr_after, nr_sched;
		struct counts got = { 0 };
		struct trace_reader *t;
		struct err e = { 0 };
		struct buf b;

		traces_fill(w, samples, nr);
		CHECK_U64(trace_writer_lost(w), 0);
		CHECK(trace_writer_stopped(w, &nr_after, &nr_sched) > 0);
		CHECK_U64(nr_sched, 0);
		CHECK(trace_writer_bytes(w) <= 500000);
		CHECK(trace_writer_bytes(w) >= 480000);
		CHECK_U64(trace_writer_error(w), 0);
		for (i = 0; i < 10000; i++)
			trace_write_symbol(w, &(struct rec_symbol){ i * 16, 16, 1, "some_function", 13 });
		b = traces_close(w);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &got, &e), 0);
		CHECK_U64(got.samples + got.after, nr);
		CHECK_U64(got.after, nr_after);
		CHECK(got.after > 0);
		CHECK_U64(got.nr_told, 2);
		CHECK(got.stopped_ns >= got.last_ns);
		CHECK_U64(got.symbols, 10000);
		CHECK(!trace_reader_damage(t)->truncated);
		trace_reader_close(t);
		buf_release(&b);
		free(samples);
	}
}

TEST(trace_every_chunk_is_found_from_the_end_by_the_indices)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	uint64_t nr_chunks = 0, nr_listed = 0, sum = 0, listed_sum = 0, at = 0, next;
	struct walk_chunk c;
	struct walk *walk;
	struct err e = { 0 };
	struct buf b;
	int i;

	for (i = 0; i < 10000; i++) {
		trace_write_sample(w, &(struct rec_sample){ .time_ns = i });
		trace_writer_flush(w);
	}
	b = traces_close(w);
	CHECK_U64(walk_open_memory(&walk, b.data, b.len, &e), 0);
	while (walk_next(walk, &c, &e) > 0) {
		struct span s = span_init(walk_payload(walk, &c), c.h.raw_len);

		if (walk_is(&c, TRF_END)) {
			span_bytes(&s, 16);
			at = span_u64(&s);
			break;
		}
		nr_chunks++;
		sum += c.off;
	}
	/* The last index, then the one that each lists first. */
	for (sum -= at, nr_chunks--; at; at = next) {
		struct walk_record r = { 0 };
		struct span s;
		const uint8_t *raw;

		next = 0;
		walk_rewind(walk);
		while (walk_next(walk, &c, &e) > 0 && c.off != at)
			;
		raw = walk_payload(walk, &c);
		s = span_init(raw, c.h.raw_len);
		CHECK(walk_is(&c, TRF_INDEX));
		while (walk_record(&s, raw, &r) > 0) {
			uint64_t off = span_u64(&r.body);

			span_bytes(&r.body, 16);
			if (span_u32(&r.body) == 'i' + ('n' << 8) + ('d' << 16) + ((uint32_t)'x' << 24)) {
				CHECK(!next && r.off == 0);
				next = off;
			}
			nr_listed++;
			listed_sum += off;
		}
	}
	CHECK_U64(nr_listed, nr_chunks);
	CHECK_U64(listed_sum, sum);
	walk_close(walk);
	buf_release(&b);
}

TEST(trace_mode_wrap_is_refused)
{
	struct trace_writer *w;
	struct err e = { 0 };

	CHECK_U64(-trace_writer_open(&w, traces_path(), &(struct trace_writer_opts){ .mode = TRACE_WRAP },
				     &e), EOPNOTSUPP);
	CHECK_U64(access(traces_path(), F_OK), (uint64_t)-1);
}

TEST(trace_existing_file_is_kept_as_old_and_nothing_else_is_touched)
{
	const struct trace_writer_opts o = { .compress = true };
	char old[80], target[80];
	struct trace_writer *w;
	struct stat st;
	struct err e = { 0 };

	snprintf(old, sizeof(old), "%s.old", traces_path());
	snprintf(target, sizeof(target), "%s.target", traces_path());
	umask(0);
	trace_writer_close(traces_create(&o), &e);
	CHECK_U64(stat(traces_path(), &st), 0);
	CHECK_U64(st.st_mode & 07777, 0600);
	CHECK_U64(trace_writer_open(&w, traces_path(), &o, &e), 0);
	trace_writer_close(w, &e);
	CHECK_U64(access(old, F_OK), 0);

	unlink(traces_path());			/* a link, even to nowhere, is not followed */
	CHECK_U64(symlink(target, traces_path()), 0);
	CHECK_U64(-trace_writer_open(&w, traces_path(), &o, &e), EEXIST);
	CHECK_U64(access(target, F_OK), (uint64_t)-1);

	unlink(traces_path());			/* nor is a folder moved away */
	CHECK_U64(mkdir(traces_path(), 0700), 0);
	CHECK_U64(-trace_writer_open(&w, traces_path(), &o, &e), EISDIR);
	rmdir(traces_path());

	trace_writer_close(traces_create(&o), &e);	/* nor one overwritten by the old file */
	unlink(old);
	CHECK_U64(mkdir(old, 0700), 0);
	CHECK_U64(-trace_writer_open(&w, traces_path(), &o, &e), EEXIST);
	CHECK_U64(access(traces_path(), F_OK), 0);
	rmdir(old);
	unlink(traces_path());
}

/* Files whose names begin with that of the trace. */
static size_t nr_files(void)
{
	char pattern[80];
	glob_t g;
	size_t nr;

	snprintf(pattern, sizeof(pattern), "%s*", traces_path());
	nr = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;
	if (nr)
		globfree(&g);
	return nr;
}

TEST(trace_that_never_began_costs_no_older_one)
{
	const struct trace_writer_opts o = { .compress = true };
	struct trace_writer *w;
	struct stat before, after;
	struct err e = { 0 };

	trace_writer_close(traces_create(&o), &e);
	CHECK_U64(stat(traces_path(), &before), 0);
	CHECK_U64(trace_writer_open(&w, traces_path(), &o, &e), 0);
	CHECK_U64(nr_files(), 2);
	trace_writer_discard(w);
	CHECK_U64(stat(traces_path(), &after), 0);
	CHECK_U64(after.st_ino, before.st_ino);
	CHECK_U64(nr_files(), 1);
	unlink(traces_path());
}

TEST(trace_goes_through_a_pipe)
{
	struct sample *samples = traces_random(300);
	struct seen got = { .want = samples, .nr_want = 300 };
	struct trace_writer *w;
	struct trace_reader *t;
	struct err e = { 0 };
	int fds[2], out, in;

	CHECK_U64(pipe(fds), 0);
	CHECK(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) > 0);
	out = dup(STDOUT_FILENO);
	in = dup(STDIN_FILENO);
	fflush(stdout);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	if (!trace_writer_open(&w, "-", &(struct trace_writer_opts){ .compress = true }, &e)) {
		traces_fill(w, samples, 300);
		trace_writer_close(w, &e);
	}
	dup2(out, STDOUT_FILENO);
	dup2(fds[0], STDIN_FILENO);
	CHECK_U64(trace_reader_open(&t, "-", &e), 0);
	dup2(in, STDIN_FILENO);
	CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 300);
	CHECK(!trace_reader_damage(t)->truncated);
	trace_reader_close(t);
	free(samples);
}

TEST(trace_what_was_flushed_survives_any_death)
{
	struct sample *samples = traces_random(1000);
	struct seen got = { .want = samples, .nr_want = 1000 };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	struct trace_reader *t;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < 900; i++)
		traces_write(w, &samples[i]);
	trace_writer_flush(w);
	CHECK_U64(trace_writer_commit(w, &e), 0);
	for (; i < 1000; i++)
		traces_write(w, &samples[i]);
	CHECK_U64(trace_reader_open(&t, traces_path(), &e), 0);	/* w is never closed */
	CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 900);
	CHECK(trace_reader_damage(t)->truncated);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	trace_reader_close(t);
	trace_writer_close(w, &e);
	unlink(traces_path());
	free(samples);
}

static void note_address(void *ctx, uint32_t module, uint64_t off, bool kernel)
{
	uint64_t *sums = ctx;

	sums[0]++;
	sums[1] += module * 1000003ull + off + kernel;
}

TEST(trace_addresses_are_named_once_in_all_epochs)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .epoch_bytes = 50000 });
	uint64_t sums[2] = { 0 }, want = 0;
	struct err e = { 0 };
	uint32_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 5000; i++) {
			struct frame f[] = {
				{ FRAME_NATIVE, .module = 1 + i % 3, .off = i },
				{ FRAME_KERNEL, .module = 7, .off = i % 100 },
				{ FRAME_JIT, .proc = 1, .addr = i, .compile_id = 1, .method = 1 },
			};

			trace_write_sample(w, &(struct rec_sample){ .stack = trace_write_stack(w, f, 3) });
			if (!round)
				want += f[0].module * 1000003ull + i +
					(i < 100 ? 7 * 1000003ull + i + 1 : 0);
		}
	}
	trace_writer_each_address(w, note_address, sums);
	CHECK_U64(sums[0], 5100);
	CHECK_U64(sums[1], want);
	/* and then only those that are new */
	trace_write_stack(w, &(struct frame){ FRAME_NATIVE, .module = 9, .off = 9 }, 1);
	trace_writer_each_address(w, note_address, sums);
	CHECK_U64(sums[0], 5101);
	trace_writer_close(w, &e);
	unlink(traces_path());
}

TEST(trace_record_too_large_is_lost_and_counted)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	char *name = xcalloc(1, 3 << 20);
	const struct trace_sink sink = { .symbol = count_symbol };
	struct counts got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;

	trace_write_symbol(w, &(struct rec_symbol){ 0, 1, 1, name, 3 << 20 });
	trace_write_symbol(w, &(struct rec_symbol){ 0, 1, 1, name, 1 << 20 });
	trace_write_symbol(w, &(struct rec_symbol){ 0, 1, 1, "x", 1 });
	CHECK_U64(trace_writer_lost(w), 1);
	b = traces_close(w);
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &sink, &got, &e), 0);
	CHECK_U64(got.symbols, 2);
	trace_reader_close(t);
	buf_release(&b);
	free(name);
}

TEST(trace_very_deep_stack_is_cut_at_the_outside_and_marked)
{
	enum { DEEP = TRF_MAX_DEPTH + 100 };
	struct frame *f = xcalloc(DEEP, sizeof(*f));
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = true });
	size_t i;
	struct err e = { 0 };

	for (i = 0; i < DEEP; i++)
		f[i] = (struct frame){ FRAME_NATIVE, .module = 1, .off = i };
	CHECK_U64(trace_write_stack(w, f, DEEP), TRF_MAX_DEPTH);
	CHECK_U64(trace_write_stack(w, f, DEEP), TRF_MAX_DEPTH);
	trace_writer_close(w, &e);
	unlink(traces_path());
	free(f);
}

TEST(trace_frame_keeps_the_words_of_its_kind_and_no_others)
{
	static const struct frame_words all[] = {
		[FRAME_NATIVE] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_KERNEL] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_ANON] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_JIT] = { 0, UINT32_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX },
		[FRAME_INTERP] = { 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 },
		[FRAME_STUB] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_MARK] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_METHOD] = { 0, UINT32_MAX, UINT32_MAX, 0, 0 },
		[FRAME_NAMED] = { 0, UINT32_MAX, UINT64_MAX, 0, 0 },
		[FRAME_SITE] = { 0, UINT32_MAX, ((uint64_t)FRAME_PLACES << 32) - 1, 0, 0 },
	};
	uint32_t kind;

	CHECK_U64(ARRAY_SIZE(all), FRAME_NR);
	for (kind = 0; kind < FRAME_NR; kind++) {
		const struct frame f = frame_from_words(
			&(struct frame_words){ kind, UINT32_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX });
		const struct frame_words got = frame_words(&f);
		struct frame_words want = all[kind];

		want.kind = kind;
		CHECK(!memcmp(&got, &want, sizeof(got)));
	}
}

TEST(trace_frame_of_a_method_has_its_tier_above_its_number)
{
	const struct frame f = { FRAME_METHOD, .proc = 1, .method = UINT32_MAX, .tier = FRAME_TIER_INLINED };
	const struct frame_words w = frame_words(&f);
	const struct frame back = frame_from_words(&w);

	CHECK_U64(w.b, 4ull << 32 | UINT32_MAX);
	CHECK(frame_equal(&f, &back));
	CHECK_U64(frame_from_words(&(struct frame_words){ FRAME_METHOD, 1, 5ull << 32, 0, 0 }).tier,
		  FRAME_TIER_UNKNOWN);
}

TEST(trace_frame_of_an_unknown_kind_is_a_mark_without_a_reason)
{
	const struct frame f = frame_from_words(&(struct frame_words){ FRAME_NR, 1, 2, 3, 4 });

	CHECK_U64(f.kind, FRAME_MARK);
	CHECK_U64(f.mark, MARK_NONE);
}

TEST(trace_a_mark_says_how_many_frames_are_missing)
{
	static const struct {
		uint32_t count;
		const char *text;
	} all[] = {
		{ 0, "[... frames ...]" },
		{ 1, "[... 1 frame ...]" },
		{ 99, "[... 99 frames ...]" },
		{ 100, "[... about 100 frames ...]" },
		{ 1299, "[... about 1200 frames ...]" },
		{ UINT32_MAX, "[... about 4200000000 frames ...]" },
	};
	char buf[FRAME_MARK_TEXT];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		const struct frame f = { FRAME_MARK, .count = all[i].count, .mark = MARK_LEFT_OUT };

		CHECK_STR(frame_mark_text(&f, buf), all[i].text);
		CHECK(frame_mark_is_text(all[i].text, strlen(all[i].text)));
	}
	CHECK(frame_mark_is_text("[unwalkable: x]", 15));
	CHECK(!frame_mark_is_text("[unwalkable:", 12));
	CHECK(!frame_mark_is_text("[pruned]", 8));
}

TEST(trace_every_mark_has_a_name)
{
	uint32_t i;

	for (i = 0; i < MARK_NR + 2; i++)
		CHECK(frame_mark_name(i) && frame_mark_name(i)[0] == '[');
}
