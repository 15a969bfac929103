// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-trace.c - any bytes as a trace: the reader, the decoder by schema, the library for programs, and a report
 * of it as the command line makes it. Mutations are those of mutate.c, or
 * nothing changed would ever get past the first checksum.
 *
 * An input may take 5 s of CPU time a report at most, and as much memory as is in proportion to it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "library.h"
#include "mutate.h"
#include "model/footprint.h"
#include "model/sched.h"
#include "reports.h"
#include "trace/branch.h"
#include "trace/codec.h"
#include "trace/reader.h"
#include "trace/schema.h"
#include "trace/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sink_of_all;

static void touch(const void *p, size_t len)
{
	const uint8_t *c = p;

	while (len--)
		sink_of_all += *c++;
}

static int on_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	touch(key, key_len);
	touch(val, val_len);
	return 0;
}

/* A stack must be walkable without any check. */
static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t node = s[i].stack;
		struct frame_words w;

		if (node == UINT32_MAX)
			continue;
		if (node >= ep->nr_nodes)
			abort();
		for (; node; node = ep->nodes[node].parent) {
			if (ep->nodes[node].parent >= node || ep->nodes[node].frame >= ep->nr_frames)
				abort();
			w = frame_words(&ep->frames[ep->nodes[node].frame]);
			sink_of_all += w.b;
		}
	}
	return 0;
}

static int on_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	touch(r, nr * sizeof(*r));
	return 0;
}

static int touch_record(const struct record_kind *k, const void *rec)
{
	uint32_t i, nr;
	const struct record_field *f = k->fields(&nr);

	for (i = 0; i < nr; i++, f++) {
		const void *p;
		size_t len;

		if (f->op != FIELD_BYTES && f->op != FIELD_PAIRS)
			continue;
		memcpy(&p, (const char *)rec + f->off, sizeof(p));
		memcpy(&len, (const char *)rec + f->len_off, sizeof(len));
		touch(p, len);
	}
	return 0;
}

#define RECORD(s, ...) \
	static int on_##s(void *ctx, const struct rec_##s *r) \
	{ \
		return touch_record(&record_kinds[RECORD_##s], r); \
	}
#include "trace/table.h"

/* Every branch of a run that is given can be read. */
static int on_branches(void *ctx, const struct rec_branches *r)
{
	struct branch_cursor c = branch_cursor(r);
	struct branch b;

	while (branch_next(&c, &b))
		sink_of_all += b.to;
	if (c.s.bad || span_left(&c.s))
		abort();
	return 0;
}

static void on_number(void *ctx, const struct schema_field *f, uint64_t v) { sink_of_all += v; }
static void on_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len) { touch(p, len); }
static void on_group(void *ctx, const struct schema_field *f) { touch(f->name, 1); }
static void on_element(void *ctx, bool begin) { sink_of_all += begin; }
static void on_group_end(void *ctx) { sink_of_all++; }

static void by_schema(const uint8_t *data, size_t len)
{
	static const struct schema_visitor v = { on_number, on_bytes, on_group, on_element, on_group_end };
	struct schema *schema;
	struct walk_chunk c;
	struct walk *w;
	struct err e;

	if (walk_open_memory(&w, data, len, &e))
		return;
	schema = schema_new();
	while (walk_next(w, &c, &e) > 0) {
		const uint8_t *raw = walk_payload(w, &c);
		struct span s = span_init(raw, raw ? c.h.raw_len : 0);
		struct walk_record r = { 0 };

		while (walk_record(&s, raw, &r) > 0) {
			const struct schema_kind *k;

			if (r.major == TRF_MAJOR_FILE && r.minor == TRF_FILE_SCHEMA)
				schema_learn(schema, r.body, &e);
			k = schema_find(schema, r.major, r.minor);
			if (k)
				schema_visit(k, r.minor, r.body, &v, NULL);
		}
	}
	schema_free(schema);
	walk_close(w);
}

/* Whatever dispatches say, each moment of a thread and a CPU is in one column. */
static void times_add_up(struct trace_reader *t)
{
	struct sched_model m;
	struct sums_check c = { 0 };
	struct err e;

	if (!sched_read(&m, t, NULL, &e))
		sched_check(&m, &c);
	if (c.nr_bad)
		abort();
	sched_release(&m);
}

/* Whatever was read of memory, the parts are the whole. */
static void memory_adds_up(struct trace_reader *t)
{
	struct footprints_read f;
	struct err e;
	size_t i, k;

	if (!footprints_read(&f, t, 0, &e))
		for (i = 0; i < f.nr; i++) {
			uint64_t sum = 0;

			for (k = 0; k < RESIDENT_NR_PARTS; k++)
				sum += f.list[i].r.parts[k].rss;
			if (sum != f.list[i].r.total.rss)
				abort();
		}
	footprints_release(&f);
}

static void read_it(const uint8_t *data, size_t len)
{
	static const struct trace_sink sink = {
		.label = on_label, .samples = on_samples, .sched = on_sched, .branches = on_branches,
#define RECORD(s, ...) .s = on_##s,
#include "trace/table.h"
	};
	struct trace_reader *t;
	struct err e;

	if (!trace_reader_open_memory(&t, data, len, &e)) {
		trace_read(t, &sink, NULL, &e);
		times_add_up(t);
		memory_adds_up(t);
		trace_reader_close(t);
	}
	by_schema(data, len);
}

/* ---- bounds ---- */

enum { REPORT_CPU_S = 5, MEMORY_BASE = 32 << 20, MEMORY_FACTOR = 64 };

/* Of a sanitizer's runtime; without one memory is not counted. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
					      void (*on_free)(const volatile void *)) __attribute__((weak));
size_t __sanitizer_get_allocated_size(const volatile void *p) __attribute__((weak));

static size_t now_bytes, peak_bytes;

static void on_malloc(const volatile void *p, size_t len)
{
	now_bytes += len;
	if (now_bytes > peak_bytes)
		peak_bytes = now_bytes;
}

static void on_free(const volatile void *p)
{
	size_t len = p ? __sanitizer_get_allocated_size(p) : 0;

	now_bytes -= len < now_bytes ? len : now_bytes;
}

/* Payloads of a trace as they are when they are decompressed. */
static size_t raw_bytes(const uint8_t *data, size_t len)
{
	size_t sum = len;
	struct walk_chunk c;
	struct walk *w;
	struct err e;

	if (walk_open_memory(&w, data, len, &e))
		return sum;
	while (walk_next(w, &c, &e) > 0)
		sum += c.h.raw_len - c.h.stored_len;
	walk_close(w);
	return sum;
}

static void begin_bounds(void)
{
	static const struct itimerval limit = { .it_value = { .tv_sec = REPORT_CPU_S } };
	static bool installed;

	if (!installed && __sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
	installed = true;
	now_bytes = peak_bytes = 0;
	setitimer(ITIMER_PROF, &limit, NULL);	/* SIGPROF ends what takes longer */
}

static void check_bounds(const uint8_t *data, size_t len)
{
	static const struct itimerval off;
	size_t limit = MEMORY_BASE + MEMORY_FACTOR * raw_bytes(data, len);

	setitimer(ITIMER_PROF, &off, NULL);
	if (peak_bytes > limit) {
		dprintf(STDERR_FILENO, "%zu bytes of memory for a trace of %zu, %zu when decompressed\n",
			peak_bytes, len,
			raw_bytes(data, len));
		abort();
	}
}

/* ---- what a fuzzer calls ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_len, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t len, const uint8_t *other, size_t other_len,
				 uint8_t *out, size_t max_len, unsigned int seed);

/* Takes the mutation m when it fits, else leaves what is there. */
static size_t give(uint8_t *to, size_t len, size_t max_len, uint8_t *m, size_t m_len)
{
	if (m_len <= max_len) {
		memcpy(to, m, m_len);
		len = m_len;
	}
	free(m);
	return len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max_len, unsigned int seed)
{
	size_t m_len;
	uint8_t *m = mutate_trace(data, len, seed, &m_len);

	return give(data, len, max_len, m, m_len);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t len, const uint8_t *other, size_t other_len,
				 uint8_t *out, size_t max_len, unsigned int seed)
{
	size_t m_len;
	uint8_t *m = mutate_cross(data, len, other, other_len, seed, &m_len);

	return give(out, 0, max_len, m, m_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t mode = len > MUTATE_MODE_AT ? data[MUTATE_MODE_AT] : 0;
	size_t i;

	begin_bounds();
	read_it(data, len);
	check_bounds(data, len);
	begin_bounds();
	library_read(data, len);
	check_bounds(data, len);
	for (i = mode ? mode - 1 : 0; i < (mode ? mode : reports_nr()); i++) {
		begin_bounds();
		reports_run(data, len, i);
		check_bounds(data, len);
	}
	return 0;
}
