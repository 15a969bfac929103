// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-trace.c - the trace file: what is written comes back; what is damaged is counted and
 * costs nothing else.  With UNIT_SAVE=<dir> the small traces made here are kept there: they
 * are the seeds of the fuzz corpus and t/data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/reader.h"
#include "trace/schema.h"
#include "trace/walk.h"
#include "trace/writer.h"
#include "unit.h"

enum { MAX_FRAMES = 40 };

static char path[64];

static const char *temp_path(void)
{
	if (!path[0])
		snprintf(path, sizeof(path), "/tmp/u-trace.%d", (int)getpid());
	return path;
}

static struct trace_writer *create(const struct trace_writer_opts *o)
{
	struct trace_writer *w;
	struct err e = { 0 };

	unlink(temp_path());
	CHECK_U64(trace_writer_open(&w, temp_path(), o, &e), 0);
	if (!w) {
		printf("# %s\n", e.msg);
		_exit(1);
	}
	return w;
}

static void save(const char *name, const struct buf *b)
{
	const char *dir = getenv("UNIT_SAVE");
	char file[4096];
	FILE *f;

	if (!dir)
		return;
	snprintf(file, sizeof(file), "%s/%s", dir, name);
	f = fopen(file, "w");
	if (f) {
		fwrite(b->data, 1, b->len, f);
		fclose(f);
	}
}

/* Closes w and reads the file back. */
static struct buf close_and_load(struct trace_writer *w)
{
	struct buf b = BUF_INIT;
	struct err e = { 0 };

	CHECK_U64(trace_writer_close(w, &e), 0);
	CHECK_U64(io_read_file(temp_path(), &b, 1 << 30, &e), 0);
	unlink(temp_path());
	return b;
}

/* ---- what was written, and what comes back, as text ---- */

struct sample {
	struct rec_sample r;
	size_t nr;
	struct frame frames[MAX_FRAMES];	/* outermost first */
};

struct seen {
	struct buf meta;
	uint64_t nr_meta, nr_samples, nr_damaged;
	uint32_t last_epoch;
	const struct sample *want;	/* time_ns - 1000 is the index */
	size_t nr_want;
};

static void put(struct seen *s, const char *what, const void *p, size_t len)
{
	const uint8_t *c = p;

	buf_fmt(&s->meta, " %s[%zu]=%08lx", what, len, crc32(0, c, len));
}

#define LOG(name, fmt, ...)                                          \
	static int on_##name(void *ctx, const struct rec_##name *r)  \
	{                                                            \
		struct seen *s = ctx;                                \
		s->nr_meta++;                                        \
		buf_fmt(&s->meta, "\n" #name " " fmt, __VA_ARGS__);  \
		PUTS_##name                                          \
		return 0;                                            \
	}

#define T (unsigned long long)
#define PUTS_proc put(s, "comm", r->comm, r->comm_len);
#define PUTS_thread put(s, "name", r->name, r->name_len);
#define PUTS_end
#define PUTS_module put(s, "id", r->build_id, r->build_id_len); put(s, "path", r->path, r->path_len);
#define PUTS_map
#define PUTS_symbol put(s, "name", r->name, r->name_len);
#define PUTS_line put(s, "func", r->func, r->func_len); put(s, "file", r->file, r->file_len);
#define PUTS_method                                                                    \
	put(s, "class", r->class_name, r->class_len); put(s, "name", r->name, r->name_len); \
	put(s, "sig", r->sig, r->sig_len); put(s, "source", r->source, r->source_len);
#define PUTS_code put(s, "inl", r->inl, r->inl_len);
#define PUTS_code_gone
#define PUTS_stub put(s, "name", r->name, r->name_len);
#define PUTS_lost

LOG(proc, "%llx %x %x %x %d", T r->time_ns, r->proc, r->parent, r->pid, r->exec)
LOG(thread, "%llx %x %x %x %d", T r->time_ns, r->thread, r->proc, r->tid, r->java)
LOG(end, "%llx %x %x %x", T r->time_ns, r->proc, r->thread, r->status)
LOG(module, "%llx %x %x %llx %llx %llx %llx", T r->time_ns, r->module, r->flags, T r->dev, T r->inode, T r->size,
    T r->mtime_ns)
LOG(map, "%llx %x %x %llx %llx %llx", T r->time_ns, r->proc, r->module, T r->addr, T r->size, T r->pgoff)
LOG(symbol, "%x %llx %llx", r->module, T r->off, T r->size)
LOG(line, "%x %llx %x %x %x", r->module, T r->off, r->depth, r->nr_depth, r->line)
LOG(method, "%llx %x %x", T r->time_ns, r->proc, r->method)
LOG(code, "%llx %x %x %x %x %llx %x", T r->time_ns, r->proc, r->method, r->compile_id, r->level, T r->addr, r->size)
LOG(code_gone, "%llx %x %x %llx", T r->time_ns, r->proc, r->compile_id, T r->addr)
LOG(stub, "%llx %x %llx %llx", T r->time_ns, r->proc, T r->addr, T r->size)
LOG(lost, "%llx %x %x %llx", T r->time_ns, r->cause, r->stream, T r->count)

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct seen *s = ctx;

	s->nr_meta++;
	buf_fmt(&s->meta, "\nlabel %.*s=", (int)key_len, key);
	put(s, "val", val, val_len);
	return 0;
}

static bool is_damaged(const struct frame *f)
{
	return f->kind == FRAME_MARK && f->b == MARK_DAMAGED;
}

/* The stack is the one written, or says where it is damaged. */
static void check_stack(struct seen *s, const struct rec_sample *r, const struct sample *want,
			const struct stack_epoch *ep)
{
	uint32_t node = r->stack;
	size_t left = want->nr;

	if (node == UINT32_MAX) {
		s->nr_damaged++;
		return;
	}
	while (node) {
		const struct stack_node *n = &ep->nodes[node];
		const struct frame *f = &ep->frames[n->frame];

		if (node >= ep->nr_nodes || n->parent >= node || n->frame >= ep->nr_frames) {
			CHECK(!"a node within bounds");
			return;
		}
		if (!left || memcmp(f, &want->frames[left - 1], sizeof(*f))) {
			CHECK(is_damaged(f));
			s->nr_damaged++;
			return;
		}
		left--;
		node = n->parent;
	}
	CHECK_U64(left, 0);
}

static int on_samples(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	struct seen *s = ctx;
	size_t i;

	CHECK(ep->epoch >= s->last_epoch);
	s->last_epoch = ep->epoch;
	for (i = 0; i < nr; i++, s->nr_samples++) {
		const struct sample *want = &s->want[r[i].time_ns - 1000];

		if (r[i].time_ns - 1000 >= s->nr_want) {
			CHECK(!"a sample that was written");
			return 0;
		}
		CHECK_U64(r[i].thread, want->r.thread);
		CHECK_U64(r[i].event, want->r.event);
		CHECK_U64(r[i].cpu, want->r.cpu);
		CHECK_U64(r[i].user, want->r.user);
		CHECK_U64(r[i].weight, want->r.weight);
		check_stack(s, &r[i], want, ep);
	}
	return 0;
}

static const struct trace_sink all = {
	.label = on_label, .samples = on_samples, .proc = on_proc, .thread = on_thread, .end = on_end,
	.module = on_module, .map = on_map, .symbol = on_symbol, .line = on_line, .method = on_method,
	.code = on_code, .code_gone = on_code_gone, .stub = on_stub, .lost = on_lost,
};

/* ---- random records ---- */

static uint8_t noise[100000];

static uint64_t any(void)
{
	return unit_random() >> unit_random() % 64;
}

static const char *text(size_t *len)
{
	static bool filled;
	size_t i;

	for (i = 0; !filled && i < sizeof(noise); i++)
		noise[i] = unit_random() >> 7;
	filled = true;
	*len = unit_random() % 200 ? unit_random() % 30 : 1000 + unit_random() % 80000;
	return (char *)noise + unit_random() % (sizeof(noise) - *len);
}

#define WRITE(name, ...)                              \
	do {                                          \
		struct rec_##name r = { __VA_ARGS__ };\
		FILL_##name                           \
		trace_write_##name(w, &r);            \
		on_##name(s, &r);                     \
	} while (0)

#define FILL_proc r.comm = text(&r.comm_len);
#define FILL_thread r.name = text(&r.name_len);
#define FILL_end
#define FILL_module r.build_id = (uint8_t *)text(&r.build_id_len); r.path = text(&r.path_len);
#define FILL_map
#define FILL_symbol r.name = text(&r.name_len);
#define FILL_line r.func = text(&r.func_len); r.file = text(&r.file_len);
#define FILL_method                                                                \
	r.class_name = text(&r.class_len); r.name = text(&r.name_len);             \
	r.sig = text(&r.sig_len); r.source = text(&r.source_len);
#define FILL_code r.inl = (uint8_t *)text(&r.inl_len);
#define FILL_code_gone
#define FILL_stub r.name = text(&r.name_len);
#define FILL_lost

static void write_any(struct trace_writer *w, struct seen *s)
{
	switch (unit_random() % 13) {
	case 0: WRITE(proc, any(), any(), any(), any(), unit_random() & 1); break;
	case 1: WRITE(thread, any(), any(), any(), any(), unit_random() & 1); break;
	case 2: WRITE(end, any(), any(), any(), any()); break;
	case 3: WRITE(module, any(), any(), any(), any(), any(), any(), any()); break;
	case 4: WRITE(map, any(), any(), any(), any(), any(), any()); break;
	case 5: WRITE(symbol, any(), any(), any()); break;
	case 6: WRITE(line, any(), any(), any(), any(), any()); break;
	case 7: WRITE(method, any(), any(), any()); break;
	case 8: WRITE(code, any(), any(), any(), any(), any(), any(), any()); break;
	case 9: WRITE(code_gone, any(), any(), any(), any()); break;
	case 10: WRITE(stub, any(), any(), any(), any()); break;
	case 11: WRITE(lost, any(), any(), any(), any()); break;
	default: {
		char val[64];
		int len = snprintf(val, sizeof(val), "%llx", T any());

		trace_write_label(w, "some.key", "%s", val);
		on_label(s, "some.key", 8, val, len);
	}
	}
}

static struct sample *random_samples(size_t nr)
{
	struct sample *a = xcalloc(nr, sizeof(*a));
	size_t i, d;

	for (i = 0; i < nr; i++) {
		struct sample *s = &a[i], *like = i ? &a[unit_random() % i] : NULL;
		size_t shared;

		s->r = (struct rec_sample){ .time_ns = 1000 + i, .thread = any(), .cpu = any(),
					    .user = unit_random() & 1, .weight = 1000 };
		s->r.event = unit_random() % 50 ? unit_random() % 3 : any();
		if (unit_random() % 20 == 0)
			s->r.weight = any();
		s->nr = unit_random() % MAX_FRAMES;
		shared = like ? unit_random() % (like->nr + 1) : 0;
		for (d = 0; d < s->nr; d++)
			s->frames[d] = d < shared ? like->frames[d] :
				(struct frame){ any() % FRAME_NR, any(), any(), any(), any() };
	}
	return a;
}

static void write_sample(struct trace_writer *w, const struct sample *s)
{
	struct rec_sample r = s->r;

	r.stack = trace_write_stack(w, s->frames, s->nr);
	trace_write_sample(w, &r);
}

static void fill(struct trace_writer *w, const struct sample *samples, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		write_sample(w, &samples[i]);
		if (i % 500 == 0)
			trace_writer_flush(w);
	}
}

static void release_seen(struct seen *s)
{
	buf_release(&s->meta);
}

TEST(trace_every_record_comes_back_as_it_was)
{
	int round;

	for (round = 0; round < 6; round++) {
		struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = round & 1,
									     .epoch_bytes = round < 4 ? 0 : 300000 });
		size_t nr = 20000, i;
		struct sample *samples = random_samples(nr);
		struct seen want = { 0 }, got = { .want = samples, .nr_want = nr };
		struct trace_reader *t;
		struct err e = { 0 };
		struct buf b;

		for (i = 0; i < nr; i++) {
			write_sample(w, &samples[i]);
			if (unit_random() % 10 == 0)
				write_any(w, &want);
			if (unit_random() % 1000 == 0)
				trace_writer_flush(w);
		}
		CHECK_U64(trace_writer_lost(w), 0);
		b = close_and_load(w);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &all, &got, &e), 0);
		CHECK_U64(got.nr_samples, nr);
		CHECK_U64(got.nr_meta, want.nr_meta);
		CHECK(got.meta.len == want.meta.len && !memcmp(got.meta.data, want.meta.data, got.meta.len));
		CHECK_U64(got.nr_damaged, 0);
		CHECK((got.last_epoch > 2) == (round >= 4));
		CHECK_STR(trace_reader_damage(t)->first, "");
		CHECK(!trace_reader_damage(t)->truncated);
		CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
		CHECK_U64(trace_reader_damage(t)->nr_bad_records, 0);
		trace_reader_close(t);
		release_seen(&want);
		release_seen(&got);
		buf_release(&b);
		free(samples);
	}
}

TEST(trace_two_passes_see_what_one_does)
{
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
	struct sample *samples = random_samples(500);
	struct seen want = { 0 }, names = { 0 }, got = { .want = samples, .nr_want = 500 };
	struct trace_sink meta = all, only = { .samples = on_samples };
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;
	size_t i;

	for (i = 0; i < 500; i++) {
		write_sample(w, &samples[i]);
		write_any(w, &want);
	}
	b = close_and_load(w);
	meta.samples = NULL;
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &meta, &names, &e), 0);
	CHECK_U64(trace_read(t, &only, &got, &e), 0);
	CHECK_U64(names.nr_meta, 500);
	CHECK_U64(got.nr_samples, 500);
	trace_reader_close(t);
	release_seen(&want);
	release_seen(&names);
	buf_release(&b);
	free(samples);
}

/* One record of each kind, written as a recorder would: what the manual page shows. */
static void write_one_of_each(struct trace_writer *w)
{
	static const struct frame frames[] = {
		{ FRAME_NATIVE, 1, 0x1234, 0, 0 }, { FRAME_JIT, 1, 0x7f0000001010, 42, 1 },
		{ FRAME_INTERP, 1, 1, 7, 0 }, { FRAME_STUB, 1, 0x7f0000100000, 0, 0 },
		{ FRAME_ANON, 1, 0x7e0000000000, 0, 0 }, { FRAME_KERNEL, 2, 0xffffffff81000010, 0, 0 },
	}, cut[] = { { FRAME_MARK, 0, MARK_NO_UNWIND_INFO, 0, 0 }, { FRAME_NATIVE, 1, 0x1300, 0, 0 } };
	static const uint8_t id[] = { 0xde, 0xad, 0xbe, 0xef }, inl[] = { 1, 16, 1, 1, 8 };

	const uint64_t t = clock_mono_ns();

	trace_write_label(w, "event.0", "cpu-clock");
	trace_write_label(w, "sched.scope", "system");
	trace_write_label(w, "sched.states", "yes");
	trace_write_label(w, "sched.irq", "yes");
	trace_write_proc(w, &(struct rec_proc){ t + 5, 1, 0, 4711, false, "sh", 2 });
	trace_write_proc(w, &(struct rec_proc){ t + 6, 2, 1, 4712, false, "sh", 2 });
	trace_write_proc(w, &(struct rec_proc){ t + 7, 3, 2, 4712, true, "java", 4 });
	trace_write_thread(w, &(struct rec_thread){ t + 7, 1, 3, 4712, false, "java", 4 });
	trace_write_thread(w, &(struct rec_thread){ t + 8, 1, 3, 4712, true, "main", 4 });
	trace_write_module(w, &(struct rec_module){ t + 8, 1, 0, 0x801, 77, 9000, 0, id, 4, "/usr/bin/java", 13 });
	trace_write_module(w, &(struct rec_module){ t + 8, 2, MODULE_KERNEL, 0, 0, 0, 0, id, 0, "[kernel.kallsyms]", 17 });
	trace_write_map(w, &(struct rec_map){ t + 8, 3, 1, 0x400000, 0x2000, 0x1000 });
	trace_write_method(w, &(struct rec_method){ t + 9, 3, 1, "Main", 4, "run", 3, "()V", 3, "Main.java", 9 });
	trace_write_code(w, &(struct rec_code){ t + 9, 3, 1, 42, 4, 0x7f0000001000, 64, inl, sizeof(inl) });
	trace_write_stub(w, &(struct rec_stub){ t + 9, 3, 0x7f0000100000, 32, "StubRoutines (1)", 16 });
	trace_write_sample(w, &(struct rec_sample){ t + 10, 1, trace_write_stack(w, frames, 6), 1000000, 0, 3, false });
	trace_write_sample(w, &(struct rec_sample){ t + 11, 1, trace_write_stack(w, frames, 4), 1000000, 0, 3, true });
	trace_write_sample(w, &(struct rec_sample){ t + 12, 1, trace_write_stack(w, cut, 2), 1, 300, 2, true });
	trace_write_code_gone(w, &(struct rec_code_gone){ t + 13, 3, 42, 0x7f0000001000 });
	trace_write_end(w, &(struct rec_end){ t + 14, 0, 1, 0 });
	trace_write_end(w, &(struct rec_end){ t + 15, 3, 0, 256 });
	trace_write_lost(w, &(struct rec_lost){ t + 16, LOST_RING, 3, 12 });
	trace_write_sched(w, &(struct rec_sched){ t + 9, 1, 2, 3, SCHED_SWITCH, SCHED_SLEEP });
	trace_write_sched(w, &(struct rec_sched){ t + 500, 1, 2, 0, SCHED_WAKE, 0 });
	trace_write_sched(w, &(struct rec_sched){ t + 700, 2, 1, 3, SCHED_SWITCH, SCHED_RUNNABLE });
	trace_write_sched(w, &(struct rec_sched){ t + 800, 1, sched_intr(SCHED_INTR_DEVICE, 24), 3, SCHED_INTR, 0 });
	trace_write_sched(w, &(struct rec_sched){ t + 900, 1, sched_intr(SCHED_INTR_DEVICE, 24), 3, SCHED_INTR_END, 0 });
	trace_write_symbol(w, &(struct rec_symbol){ 1, 0x1200, 0x200, "main", 4 });
	trace_write_line(w, &(struct rec_line){ 1, 0x1234, 0, 2, 17, "inlined", 7, "main.c", 6 });
	trace_write_line(w, &(struct rec_line){ 1, 0x1234, 1, 2, 30, "", 0, "main.c", 6 });
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
		struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = compress });
		struct trace_sink sink = { .samples = nothing_samples };
		struct trace_reader *t;
		uint64_t nr = 0;
		struct err e = { 0 };
		struct buf b;

		write_one_of_each(w);
		b = close_and_load(w);
		save(compress ? "one-of-each-zlib" : "one-of-each", &b);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &nr, &e), 0);
		CHECK_U64(nr, 3);
		CHECK(!trace_reader_damage(t)->truncated);
		trace_reader_close(t);
		buf_release(&b);
	}
}

/* ---- damage ---- */

struct place {
	size_t off, len;
	uint64_t samples, meta;
};

/* A trace of many small chunks, and where they are. */
static struct buf small_trace(struct sample **samples, size_t nr, struct place **places, size_t *nr_places,
			      bool compress)
{
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = compress, .epoch_bytes = 40000 });
	struct walk_chunk c;
	struct walk *walk;
	struct err e = { 0 };
	struct buf b;
	size_t i, alloc = 0;

	*samples = random_samples(nr);
	for (i = 0; i < nr; i++) {
		write_sample(w, &(*samples)[i]);
		if (i % 8 == 0)
			trace_write_map(w, &(struct rec_map){ .time_ns = i, .proc = i });
		if (i % 10 == 9)
			trace_writer_flush(w);
	}
	b = close_and_load(w);
	*places = NULL;
	*nr_places = 0;
	CHECK_U64(walk_open_memory(&walk, b.data, b.len, &e), 0);
	while (walk_next(walk, &c, &e) > 0) {
		VEC_GROW(*places, *nr_places, alloc);
		(*places)[(*nr_places)++] = (struct place){
			c.off, sizeof(c.h) + c.h.stored_len, walk_is(&c, TRF_SAMPLES) ? c.h.nr_records : 0,
			walk_is(&c, TRF_META) ? c.h.nr_records : 0
		};
	}
	walk_close(walk);
	return b;
}

TEST(trace_cut_anywhere_keeps_the_whole_chunks_before)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, cut, i;
	struct buf b = small_trace(&samples, 60, &places, &nr_places, true);

	save("cut-me", &b);
	for (cut = 0; cut < b.len; cut++) {
		struct seen got = { .want = samples, .nr_want = 60 };
		uint64_t want_samples = 0, want_meta = 0, end = 64;
		struct trace_reader *t;
		struct err e = { 0 };
		int r = trace_reader_open_memory(&t, b.data, cut, &e);

		if (cut < 64) {
			CHECK_U64(-r, EINVAL);
			continue;
		}
		CHECK_U64(trace_read(t, &all, &got, &e), 0);
		for (i = 0; i < nr_places && places[i].off + places[i].len <= cut; i++) {
			want_samples += places[i].samples;
			want_meta += places[i].meta;
			end = places[i].off + places[i].len;
		}
		CHECK_U64(got.nr_samples, want_samples);
		CHECK_U64(got.nr_meta, want_meta);
		CHECK_U64(got.nr_damaged, 0);
		CHECK(trace_reader_damage(t)->truncated);
		CHECK_U64(trace_reader_damage(t)->nr_bytes, cut - end);
		CHECK_U64(trace_reader_damage(t)->nr_places, cut > end);
		trace_reader_close(t);
		release_seen(&got);
	}
	buf_release(&b);
	free(samples);
	free(places);
}

struct edit {
	size_t from, to;		/* bytes of the original that are gone or changed; to may be from */
	size_t insert;			/* random bytes put in their place */
};

static struct buf damaged_copy(const struct buf *b, const struct edit *ed)
{
	struct buf c = BUF_INIT;
	size_t i;

	buf_add(&c, b->data, ed->from);
	for (i = 0; i < ed->insert; i++)
		buf_u8(&c, i < ed->to - ed->from ? (uint8_t)b->data[ed->from + i] ^ (1 + unit_random() % 255) :
						   unit_random() >> 9);
	buf_add(&c, b->data + ed->to, b->len - ed->to);
	return c;
}

static struct edit random_edit(size_t len)
{
	struct edit ed = { .from = unit_random() % len };
	size_t n = unit_random() % 3 ? 1 + unit_random() % 4 : unit_random() % 3000;

	ed.to = MIN(len, ed.from + n);
	switch (unit_random() % 3) {
	case 0:			/* changed */
		ed.insert = ed.to - ed.from;
		break;
	case 1:			/* deleted */
		break;
	default:		/* inserted */
		ed.insert = MAX(n, 1u);
		ed.to = ed.from;
	}
	return ed;
}

static bool touches(const struct edit *ed, size_t off, size_t len)
{
	if (ed->from == ed->to)
		return ed->insert && ed->from > off && ed->from < off + len;
	return ed->from < off + len && ed->to > off;
}

/* What really changed: an edit may put back the bytes that were there. */
static struct edit difference(const struct buf *b, const struct buf *c)
{
	size_t least = MIN(b->len, c->len), head = 0, tail = 0;

	while (head < least && b->data[head] == c->data[head])
		head++;
	while (tail < least - head && b->data[b->len - 1 - tail] == c->data[c->len - 1 - tail])
		tail++;
	return (struct edit){ .from = head, .to = b->len - tail, .insert = c->len - tail - head };
}

TEST(trace_damage_costs_the_damaged_chunks_only)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i;
	struct buf b = small_trace(&samples, 400, &places, &nr_places, true);
	int round;

	for (round = 0; round < 6000; round++) {
		struct seen got = { .want = samples, .nr_want = 400 };
		struct edit ed = random_edit(b.len);
		struct buf c = damaged_copy(&b, &ed);
		uint64_t want_samples = 0, want_meta = 0;
		const struct trace_damage *d;
		struct trace_reader *t;
		struct err e = { 0 };
		bool any_touched, between;

		ed = difference(&b, &c);
		any_touched = touches(&ed, 0, 64);
		between = ed.from == ed.to && ed.insert;
		for (i = 0; i < nr_places; i++) {
			if (touches(&ed, places[i].off, places[i].len)) {
				any_touched = true;
				continue;
			}
			want_samples += places[i].samples;
			want_meta += places[i].meta;
		}
		CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
		if (!t)
			break;
		CHECK_U64(trace_read(t, &all, &got, &e), 0);
		CHECK_U64(got.nr_samples, want_samples);
		CHECK_U64(got.nr_meta, want_meta);
		d = trace_reader_damage(t);
		CHECK((d->nr_places > 0) == (any_touched || between));
		CHECK((d->first[0] != 0) == (any_touched || between));
		trace_reader_close(t);
		release_seen(&got);
		buf_release(&c);
	}
	buf_release(&b);
	free(samples);
	free(places);
}

/* A file is read through a window; memory is not.  Both must see the same, at any speed of light. */
TEST(trace_damage_in_a_large_file_is_searched_in_one_go)
{
	enum { NR = 60000, JUNK = 20 << 20 };
	struct sample *samples = random_samples(NR);
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = false });
	struct seen from_file = { .want = samples, .nr_want = NR }, from_memory = from_file;
	struct trace_damage damage;
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b, c = BUF_INIT;
	uint64_t start;
	size_t i;
	int fd;

	fill(w, samples, NR);
	b = close_and_load(w);
	buf_add(&c, b.data, b.len / 2);
	for (i = 0; i < JUNK / 64 * 63; i++)	/* begins of magics, then whole ones */
		buf_putc(&c, i % 3 ? (char)i : TRF_CHUNK_MAGIC[0]);
	for (; i < JUNK; i += 8)
		buf_add(&c, TRF_CHUNK_MAGIC, 8);
	buf_add(&c, b.data + b.len / 2, b.len - b.len / 2);
	fd = open(temp_path(), O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_U64(io_write_all(fd, c.data, c.len), 0);
	close(fd);

	start = clock_mono_ns();
	CHECK_U64(trace_reader_open(&t, temp_path(), &e), 0);
	CHECK_U64(trace_read(t, &all, &from_file, &e), 0);
	CHECK(clock_mono_ns() - start < 10000000000);
	damage = *trace_reader_damage(t);
	trace_reader_close(t);
	CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
	CHECK_U64(trace_read(t, &all, &from_memory, &e), 0);
	CHECK_U64(from_file.nr_samples, from_memory.nr_samples);
	CHECK(from_file.nr_samples > NR * 9 / 10);
	CHECK_U64(damage.nr_bytes, trace_reader_damage(t)->nr_bytes);
	CHECK(damage.nr_bytes >= JUNK);
	CHECK_U64(damage.nr_places, 1);
	CHECK_STR(damage.first, trace_reader_damage(t)->first);
	trace_reader_close(t);
	unlink(temp_path());
	buf_release(&b);
	buf_release(&c);
	free(samples);
}

TEST(trace_missing_chunk_is_noticed_by_its_number)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i = 3;
	struct buf b = small_trace(&samples, 100, &places, &nr_places, false), c;
	struct edit ed;
	struct seen got = { .want = samples, .nr_want = 100 };
	struct trace_reader *t;
	struct err e = { 0 };

	while (!places[i].samples)
		i++;
	ed = (struct edit){ places[i].off, places[i].off + places[i].len, 0 };
	c = damaged_copy(&b, &ed);
	CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
	CHECK_U64(trace_read(t, &all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 100 - places[i].samples);
	CHECK_U64(trace_reader_damage(t)->nr_places, 1);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	CHECK(strstr(trace_reader_damage(t)->first, "1 chunks are missing"));
	trace_reader_close(t);
	release_seen(&got);
	buf_release(&b);
	buf_release(&c);
	free(samples);
	free(places);
}

/* Whatever the bytes are, a stack can be walked. */
static int walk_stacks(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t node = r[i].stack;

		while (node && node != UINT32_MAX) {
			if (node >= ep->nr_nodes || ep->nodes[node].parent >= node ||
			    ep->nodes[node].frame >= ep->nr_frames) {
				CHECK(!"a stack that can be walked");
				break;
			}
			node = ep->nodes[node].parent;
		}
	}
	return 0;
}

TEST(trace_random_changes_with_right_checksums_do_no_harm)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i;
	struct buf b = small_trace(&samples, 200, &places, &nr_places, false);
	const struct trace_sink sink = {
		.proc = on_proc, .thread = on_thread, .end = on_end, .module = on_module, .map = on_map,
		.symbol = on_symbol, .line = on_line, .method = on_method, .code = on_code, .stub = on_stub,
		.lost = on_lost, .label = on_label, .samples = walk_stacks,
	};
	int round;

	for (round = 0; round < 3000; round++) {
		struct buf c = BUF_INIT;
		struct seen got = { 0 };
		struct trace_reader *t;
		struct err e = { 0 };

		buf_add(&c, b.data, b.len);
		for (i = 0; i < nr_places; i++) {
			uint8_t *at = (uint8_t *)c.data + places[i].off, *payload = at + sizeof(struct trf_chunk);
			size_t hits = unit_random() % 4;
			struct trf_chunk h;

			memcpy(&h, at, sizeof(h));
			while (hits-- && h.stored_len)
				payload[unit_random() % h.stored_len] = unit_random() >> 11;
			h.payload_crc = crc32(0, payload, h.stored_len);
			h.crc = crc32(0, (void *)&h, offsetof(struct trf_chunk, crc));
			memcpy(at, &h, sizeof(h));
		}
		CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &got, &e), 0);
		CHECK_U64(trace_read(t, &(struct trace_sink){ .samples = NULL }, &got, &e), 0);
		trace_reader_close(t);
		release_seen(&got);
		buf_release(&c);
	}
	buf_release(&b);
	free(samples);
	free(places);
}

/* ---- what this version does not know ---- */

static void add_chunk(struct buf *b, const char *type, uint32_t seq, const struct buf *payload, uint32_t flags)
{
	struct trf_chunk c = { .flags = flags, .stored_len = payload->len, .raw_len = payload->len, .nr_records = 1,
			       .seq = seq };

	memcpy(c.magic, TRF_CHUNK_MAGIC, 8);
	memcpy(c.type, type, 4);
	c.payload_crc = crc32(0, (uint8_t *)payload->data, payload->len);
	c.crc = crc32(0, (uint8_t *)&c, offsetof(struct trf_chunk, crc));
	buf_add(b, &c, sizeof(c));
	buf_add(b, payload->data, payload->len);
}

static void add_header(struct buf *b, uint16_t version)
{
	struct trf_header h = { .version = version, .header_size = sizeof(h), .start_mono_ns = 1000000000,
				.start_real_ns = 1000000000000000000 };

	memcpy(h.magic, TRF_MAGIC, 8);
	h.crc = crc32(0, (uint8_t *)&h, offsetof(struct trf_header, crc));
	buf_add(b, &h, sizeof(h));
}

static void add_record(struct buf *b, uint16_t major, uint32_t minor, const struct buf *payload)
{
	struct trf_record h = { (sizeof(h) + payload->len + 3) & ~3, major, minor, 1500000000 };

	h.type_len |= TRF_MIXED;
	buf_add(b, &h, sizeof(h));
	buf_add(b, payload->data, payload->len);
	while (b->len & 3)
		buf_u8(b, 0);
}

/* A file of the future: a record and a chunk nobody has heard of, the record described. */
static struct buf future_trace(const char *type)
{
	struct buf b = BUF_INIT, p = BUF_INIT, schema = BUF_INIT, data = BUF_INIT;
	static const char fields[] = "n:m8.4 kind:u8 hits:u16 debt:i32:cents list:v *list( id:x32 tags:u8 *tags( tag:s ) )";

	buf_u32(&p, 0x1234);
	buf_u32(&p, 0x42);
	buf_u32(&p, 0xff);
	buf_varint(&p, 7);
	buf_add(&p, "novelty", 7);
	buf_varint(&p, strlen(fields));
	buf_add(&p, fields, strlen(fields));
	add_record(&schema, TRF_MAJOR_FILE, TRF_FILE_SCHEMA, &p);
	buf_reset(&p);
	buf_u8(&p, 9);
	buf_u16(&p, 500);
	buf_u32(&p, (uint32_t)-5);
	buf_varint(&p, 2);
	buf_u32(&p, 0xbeef);
	buf_u8(&p, 2);
	buf_add(&p, "\3one\3two", 8);
	buf_u32(&p, 0xcafe);
	buf_u8(&p, 0);
	add_record(&data, 0x1234, 0x742, &p);
	buf_reset(&p);
	buf_u32(&p, 0x11223344);
	add_record(&data, 0x4321, 1, &p);	/* not described */
	add_header(&b, TRF_VERSION);
	add_chunk(&b, TRF_SCHEMA, 0, &schema, 0);
	add_chunk(&b, TRF_META, 1, &data, 0);
	add_chunk(&b, type, 2, &data, 0);
	buf_release(&p);
	buf_release(&schema);
	buf_release(&data);
	return b;
}

TEST(trace_unknown_records_and_optional_chunks_are_passed_over)
{
	struct buf b = future_trace("xtra");
	struct seen got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };

	save("future", &b);
	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(trace_read(t, &all, &got, &e), 0);
	CHECK_U64(got.nr_meta, 0);
	CHECK_U64(trace_reader_damage(t)->nr_places, 0);
	CHECK_U64(trace_reader_damage(t)->nr_bad_records, 0);
	trace_reader_close(t);
	buf_release(&b);
}

TEST(trace_unknown_required_chunk_is_an_error_that_says_so)
{
	struct buf b = future_trace("Xtra");
	struct seen got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };

	CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
	CHECK_U64(-trace_read(t, &all, &got, &e), EPROTO);
	CHECK(strstr(e.msg, "newer arcprof") && strstr(e.msg, "'Xtra'") && strstr(e.msg, "version 1"));
	trace_reader_close(t);
	buf_release(&b);
}

TEST(trace_other_version_is_an_error_that_says_so)
{
	struct buf b = BUF_INIT;
	struct trace_reader *t;
	struct err e = { 0 };

	add_header(&b, 7);
	CHECK_U64(-trace_reader_open_memory(&t, b.data, b.len, &e), EPROTO);
	CHECK_STR(e.msg, "trace: trace version 7, this arcprof reads version 1");
	buf_release(&b);
}

static void say_number(void *ctx, const struct schema_field *f, uint64_t v)
{
	buf_fmt(ctx, " %s=%lld%s", f->name, (long long)v, f->unit);
}

static void say_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len)
{
	buf_fmt(ctx, " %s=%.*s", f->name, (int)len, (const char *)p);
}

static void say_group(void *ctx, const struct schema_field *f) { buf_str(ctx, " ["); }
static void say_element(void *ctx, bool begin) { buf_str(ctx, begin ? " {" : " }"); }
static void say_group_end(void *ctx) { buf_str(ctx, " ]"); }

TEST(trace_schema_in_the_file_decodes_what_is_unknown)
{
	static const struct schema_visitor v = { say_number, say_bytes, say_group, say_element, say_group_end };
	struct buf b = future_trace("xtra"), out = BUF_INIT;
	struct schema *s = schema_new();
	struct walk_chunk c;
	struct walk *w;
	struct err e = { 0 };

	CHECK_U64(walk_open_memory(&w, b.data, b.len, &e), 0);
	while (walk_next(w, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(w, &c);
		struct span span = span_init(raw, c.h.raw_len);
		struct walk_record r = { 0 };

		if (!walk_is(&c, TRF_META) && !walk_is(&c, TRF_SCHEMA))
			continue;
		while (walk_record(&span, raw, &r) > 0) {
			const struct schema_kind *k = schema_find(s, r.major, r.minor);

			if (r.major == TRF_MAJOR_FILE)
				CHECK_U64(schema_learn(s, r.body, &e), 0);
			else if (r.major == 0x1234)
				CHECK(schema_visit(k, r.minor, r.body, &v, &out));
			else
				CHECK(!k);
		}
	}
	CHECK_STR(out.data, " n=7 kind=9 hits=500 debt=-5cents list=2 [ { id=48879 tags=2 [ { tag=one } { tag=two } ] }"
			    " { id=51966 tags=0 [ ] } ]");
	walk_close(w);
	schema_free(s);
	buf_release(&b);
	buf_release(&out);
}

TEST(trace_schema_that_makes_no_sense_is_refused)
{
	static const char *const bad[] = { "a", ":u8", "*n( a:u8 )", "n:u8 *n( a:u8", ")", "n:s *n( a:u8 )",
					   "n:u8 *n( *n( *n( a:u8 ) ) )" };
	struct schema *s = schema_new();
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct buf p = BUF_INIT;

		buf_add(&p, "\1\0\0\0\1\0\0\0\1\0\0\0\1x", 14);
		buf_varint(&p, strlen(bad[i]));
		buf_str(&p, bad[i]);
		CHECK_U64(-schema_learn(s, span_init(p.data, p.len), &e), EILSEQ);
		buf_release(&p);
	}
	CHECK_U64(schema_nr(s), 0);
	schema_free(s);
}

TEST(trace_own_schema_describes_every_own_record_to_its_last_byte)
{
	static const struct schema_visitor v = { say_number, say_bytes, say_group, say_element, say_group_end };
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = false });
	struct schema *s = schema_new();
	struct sample *samples = random_samples(300);
	struct seen ignored = { 0 };
	struct buf out = BUF_INIT, b;
	struct walk_chunk c;
	struct walk *walk;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < 300; i++) {
		write_sample(w, &samples[i]);
		write_any(w, &ignored);
	}
	b = close_and_load(w);
	CHECK_U64(walk_open_memory(&walk, b.data, b.len, &e), 0);
	while (walk_next(walk, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(walk, &c);
		struct span span = span_init(raw, c.h.raw_len);
		struct walk_record r = { 0 };
		uint32_t nr = 0;

		for (; walk_record(&span, raw, &r) > 0; nr++) {
			const struct schema_kind *k;

			if (walk_is(&c, TRF_SCHEMA))
				CHECK_U64(schema_learn(s, r.body, &e), 0);
			k = schema_find(s, r.major, r.minor);
			CHECK(k != NULL);
			CHECK(k && schema_visit(k, r.minor, r.body, &v, &out));
			buf_reset(&out);
		}
		CHECK_U64(nr, c.h.nr_records);
	}
	walk_close(walk);
	schema_free(s);
	release_seen(&ignored);
	buf_release(&b);
	buf_release(&out);
	free(samples);
}

/* ---- the writer's troubles ---- */

TEST(trace_full_disk_keeps_what_was_written_and_counts_the_rest)
{
	size_t nr = 20000;
	struct sample *samples = random_samples(nr);
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
	struct rlimit limit = { 300000, 300000 };
	struct seen got = { .want = samples, .nr_want = nr };
	struct trace_reader *t;
	struct err e = { 0 };
	uint64_t lost;

	setrlimit(RLIMIT_FSIZE, &limit);	/* SIGXFSZ would kill: the writer must not let it */
	fill(w, samples, nr);
	CHECK_U64(-trace_writer_error(w), EFBIG);
	trace_writer_flush(w);
	lost = trace_writer_lost(w);
	CHECK_U64(-trace_writer_close(w, &e), EFBIG);
	CHECK(strstr(e.msg, "File too large"));
	CHECK_U64(trace_reader_open(&t, temp_path(), &e), 0);
	CHECK_U64(trace_read(t, &all, &got, &e), 0);
	CHECK_U64(got.nr_samples + lost, nr);
	CHECK(got.nr_samples > 1000);
	CHECK_U64(got.nr_damaged, 0);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	trace_reader_close(t);
	release_seen(&got);
	unlink(temp_path());
	free(samples);
}

TEST(trace_device_that_takes_nothing_is_an_error_at_once)
{
	struct trace_writer *w;
	struct err e = { 0 };

	CHECK_U64(-trace_writer_open(&w, "/dev/full", &(struct trace_writer_opts){ .compress = true }, &e), ENOSPC);
	CHECK(strstr(e.msg, "/dev/full: writing the trace at offset 0: No space left"));
	CHECK(!w);
}

struct counts {
	uint64_t samples, symbols, lost;
};

static int count_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	((struct counts *)ctx)->samples += nr;
	return 0;
}

static int count_symbol(void *ctx, const struct rec_symbol *r)
{
	((struct counts *)ctx)->symbols++;
	return 0;
}

static int count_lost(void *ctx, const struct rec_lost *r)
{
	struct counts *c = ctx;

	CHECK_U64(r->cause, LOST_FILE);
	c->lost += r->count;
	return 0;
}

TEST(trace_mode_normal_stops_samples_at_its_limit_and_names_them_still)
{
	int compress;

	for (compress = 0; compress < 2; compress++) {
		size_t nr = 30000, i;
		struct sample *samples = random_samples(nr);
		struct trace_writer *w = create(&(struct trace_writer_opts){ TRACE_NORMAL, 500000, 0, compress });
		const struct trace_sink sink = { .samples = count_samples, .symbol = count_symbol, .lost = count_lost };
		struct counts got = { 0 };
		struct trace_reader *t;
		struct err e = { 0 };
		struct buf b;

		fill(w, samples, nr);
		CHECK(trace_writer_bytes(w) <= 500000);
		CHECK(trace_writer_bytes(w) >= 480000);
		CHECK_U64(trace_writer_error(w), 0);
		for (i = 0; i < 10000; i++)
			trace_write_symbol(w, &(struct rec_symbol){ 1, i * 16, 16, "some_function", 13 });
		b = close_and_load(w);
		CHECK_U64(trace_reader_open_memory(&t, b.data, b.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &got, &e), 0);
		CHECK_U64(got.samples + got.lost, nr);
		CHECK(got.lost > 0);
		CHECK_U64(got.symbols, 10000);
		CHECK(!trace_reader_damage(t)->truncated);
		trace_reader_close(t);
		buf_release(&b);
		free(samples);
	}
}

TEST(trace_every_chunk_is_found_from_the_end_by_the_indices)
{
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
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
	b = close_and_load(w);
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

	CHECK_U64(-trace_writer_open(&w, temp_path(), &(struct trace_writer_opts){ .mode = TRACE_WRAP }, &e), EOPNOTSUPP);
	CHECK_U64(access(temp_path(), F_OK), (uint64_t)-1);
}

TEST(trace_existing_file_is_kept_as_old_and_nothing_else_is_touched)
{
	const struct trace_writer_opts o = { .compress = true };
	char old[80], target[80];
	struct trace_writer *w;
	struct stat st;
	struct err e = { 0 };

	snprintf(old, sizeof(old), "%s.old", temp_path());
	snprintf(target, sizeof(target), "%s.target", temp_path());
	umask(0);
	trace_writer_close(create(&o), &e);
	CHECK_U64(stat(temp_path(), &st), 0);
	CHECK_U64(st.st_mode & 07777, 0600);
	CHECK_U64(trace_writer_open(&w, temp_path(), &o, &e), 0);
	trace_writer_close(w, &e);
	CHECK_U64(access(old, F_OK), 0);

	unlink(temp_path());			/* a link, even to nowhere, is not followed */
	CHECK_U64(symlink(target, temp_path()), 0);
	CHECK_U64(-trace_writer_open(&w, temp_path(), &o, &e), EEXIST);
	CHECK_U64(access(target, F_OK), (uint64_t)-1);

	unlink(temp_path());			/* nor is a folder moved away */
	CHECK_U64(mkdir(temp_path(), 0700), 0);
	CHECK_U64(-trace_writer_open(&w, temp_path(), &o, &e), EEXIST);
	rmdir(temp_path());

	trace_writer_close(create(&o), &e);	/* nor one overwritten by the old file */
	unlink(old);
	CHECK_U64(mkdir(old, 0700), 0);
	CHECK_U64(-trace_writer_open(&w, temp_path(), &o, &e), EEXIST);
	CHECK_U64(access(temp_path(), F_OK), 0);
	rmdir(old);
	unlink(temp_path());
}

TEST(trace_goes_through_a_pipe)
{
	struct sample *samples = random_samples(300);
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
		fill(w, samples, 300);
		trace_writer_close(w, &e);
	}
	dup2(out, STDOUT_FILENO);
	dup2(fds[0], STDIN_FILENO);
	CHECK_U64(trace_reader_open(&t, "-", &e), 0);
	dup2(in, STDIN_FILENO);
	CHECK_U64(trace_read(t, &all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 300);
	CHECK(!trace_reader_damage(t)->truncated);
	trace_reader_close(t);
	free(samples);
}

TEST(trace_what_was_flushed_survives_any_death)
{
	struct sample *samples = random_samples(1000);
	struct seen got = { .want = samples, .nr_want = 1000 };
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
	struct trace_reader *t;
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < 900; i++)
		write_sample(w, &samples[i]);
	trace_writer_flush(w);
	for (; i < 1000; i++)
		write_sample(w, &samples[i]);
	CHECK_U64(trace_reader_open(&t, temp_path(), &e), 0);	/* w is never closed */
	CHECK_U64(trace_read(t, &all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 900);
	CHECK(trace_reader_damage(t)->truncated);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	trace_reader_close(t);
	trace_writer_close(w, &e);
	unlink(temp_path());
	free(samples);
}

static void note_address(void *ctx, uint32_t module, uint64_t off, bool kernel)
{
	uint64_t *sums = ctx;

	sums[0]++;
	sums[1] += module * 1000003ull + off + kernel;
}

TEST(trace_addresses_are_told_once_over_all_epochs)
{
	struct trace_writer *w = create(&(struct trace_writer_opts){ .epoch_bytes = 50000 });
	uint64_t sums[2] = { 0 }, want = 0;
	struct err e = { 0 };
	uint32_t i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 5000; i++) {
			struct frame f[] = {
				{ FRAME_NATIVE, 1 + i % 3, i, 0, 0 },
				{ FRAME_KERNEL, 7, i % 100, 0, 0 },
				{ FRAME_JIT, 1, i, 1, 1 },
			};

			trace_write_sample(w, &(struct rec_sample){ .stack = trace_write_stack(w, f, 3) });
			if (!round)
				want += f[0].a * 1000003ull + i + (i < 100 ? 7 * 1000003ull + i + 1 : 0);
		}
	}
	trace_writer_each_address(w, note_address, sums);
	CHECK_U64(sums[0], 5100);
	CHECK_U64(sums[1], want);
	trace_writer_close(w, &e);
	unlink(temp_path());
}

TEST(trace_record_too_large_is_lost_and_counted)
{
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
	char *name = xcalloc(1, 3 << 20);
	const struct trace_sink sink = { .symbol = count_symbol };
	struct counts got = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b;

	trace_write_symbol(w, &(struct rec_symbol){ 1, 0, 1, name, 3 << 20 });
	trace_write_symbol(w, &(struct rec_symbol){ 1, 0, 1, name, 1 << 20 });
	trace_write_symbol(w, &(struct rec_symbol){ 1, 0, 1, "x", 1 });
	CHECK_U64(trace_writer_lost(w), 1);
	b = close_and_load(w);
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
	struct trace_writer *w = create(&(struct trace_writer_opts){ .compress = true });
	size_t i;
	struct err e = { 0 };

	for (i = 0; i < DEEP; i++)
		f[i] = (struct frame){ FRAME_NATIVE, 1, i, 0, 0 };
	CHECK_U64(trace_write_stack(w, f, DEEP), TRF_MAX_DEPTH);
	CHECK_U64(trace_write_stack(w, f, DEEP), TRF_MAX_DEPTH);
	trace_writer_close(w, &e);
	unlink(temp_path());
	free(f);
}

TEST(trace_every_mark_and_cause_has_a_name)
{
	uint32_t i;

	for (i = 0; i < MARK_NR + 2; i++)
		CHECK(frame_mark_name(i) && frame_mark_name(i)[0] == '[');
	for (i = 0; i < LOST_NR + 2; i++)
		CHECK(lost_cause_name(i) && lost_cause_name(i)[0]);
}
