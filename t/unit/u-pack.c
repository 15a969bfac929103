// SPDX-License-Identifier: GPL-2.0-or-later
/* What an agent packs into a journal, unpacked again. */
#include <stdlib.h>
#include <string.h>

#include "agent/sys.h"
#include "jvm/journal_read.h"
#include "unit.h"

#define sys_pages(n) calloc(1, n)
#include "agent/session/lz.c"
#include "agent/session/pack.c"

enum { MOST = 1 << 20, DEPTH = 30, STACK = 1024 };

static struct lz *lz_new(void)
{
	struct lz *z = calloc(1, sizeof(*z));

	z->window = calloc(1, LZ_WINDOW);
	return z;
}

static void lz_free(struct lz *z)
{
	free(z->window);
	free(z);
}

/* Returns the bytes that it took. */
static size_t there_and_back(struct lz *z, struct unpack *u, const uint8_t *data, size_t len)
{
	uint8_t *packed = malloc(lz_most(len) + 4);
	const uint32_t raw = (uint32_t)len;
	size_t n = lz_pack(z, data, len, packed + 4);
	struct unpacked out;

	memcpy(packed, &raw, sizeof(raw));
	CHECK(n <= lz_most(len));
	if (raw / JOURNAL_LZ_RATIO < n) {
		CHECK(unpack_lz(u, packed, n + 4, &out));
		CHECK(out.len == len && !memcmp(out.data, data, len));
	} else {		/* as journals have it then */
		unpack_keep(u, data, len);
	}
	free(packed);
	return n;
}

/* Bytes of few kinds, and pieces of what was before, near and far. */
static void invent(uint8_t *data, size_t from, size_t len)
{
	size_t i = from;

	while (i < from + len) {
		size_t n = 1 + unit_random() % 300, back = 1 + unit_random() % 400000, k;

		for (k = 0; k < n && i < from + len; k++, i++)
			data[i] = back < i ? data[i - back] : (uint8_t)unit_random() & 7;
		for (k = 0; k < n % 40 && i < from + len; k++, i++)
			data[i] = (uint8_t)unit_random();
	}
}

TEST(pack_compresses_chunk_after_chunk_and_back)
{
	uint8_t *data = calloc(1, 4 * MOST);
	struct unpack *u = unpack_new();
	struct lz *z = lz_new();
	size_t at, len, nr = 0;

	for (at = 0; at < 3 * MOST; at += len, nr++) {
		len = 1 + unit_random() % (nr % 5 ? 3000 : 200000);
		invent(data, at, len);
		there_and_back(z, u, data + at, len);
	}
	/* the same again is little, unless it was forgotten */
	at = there_and_back(z, u, data, 200000);
	len = there_and_back(z, u, data, 200000);
	CHECK(len < at / 10);
	lz_forget(z);
	unpack_forget(u);
	CHECK(there_and_back(z, u, data, 200000) > 10 * len);
	lz_free(z);
	unpack_free(u);
	free(data);
}

TEST(pack_refuses_what_is_not_a_compressed_chunk)
{
	uint8_t data[3000], packed[4000], copy[4000];
	struct unpack *u = unpack_new();
	struct lz *z = lz_new();
	const uint32_t raw = sizeof(data);
	struct unpacked out;
	size_t n, i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i % 50 ? i / 7 : unit_random());
	n = 4 + lz_pack(z, data, sizeof(data), packed + 4);
	memcpy(packed, &raw, sizeof(raw));
	for (i = 0; i < n; i++)
		CHECK(!unpack_lz(u, packed, i, &out));
	for (i = 0; i < 2000; i++) {		/* whatever it is, the sanitizers watch */
		memcpy(copy, packed, n);
		copy[unit_random() % n] = (uint8_t)unit_random();
		unpack_forget(u);
		unpack_lz(u, copy, n, &out);
	}
	lz_free(z);
	unpack_free(u);
}

/* --- records --- */

struct made {			/* a sample as a ring has it */
	struct jvm_rec_sample r;
	struct jvm_rec_frame frames[DEPTH + 2];
	struct jvm_rec_segment inner;
	uint8_t inner_stack[40];
	struct jvm_rec_segment root;
	uint8_t root_stack[STACK];
};

/* The innermost frame is native code, the outermost the thread's root; pc makes Java frames differ. */
static void make(struct made *m, uint32_t tid, uint64_t time_ns, uint32_t pc)
{
	const uint64_t native = (uint64_t)JVM_NATIVE << JVM_FRAME_PC_BITS;
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->r = (struct jvm_rec_sample){
		.h = { sizeof(*m), JVM_REC_SAMPLE }, .time_ns = time_ns, .tid = tid,
		.event = JVM_SOURCE_ALLOC, .flags = JVM_SAMPLE_SOURCE, .value = 24 + pc, .leaf = 3,
		.nr_frames = DEPTH + 2, .nr_segments = 2,
	};
	m->inner = (struct jvm_rec_segment){
		.pc = 0x7f0000001000 + pc, .sp = 0x7ffe00000000, .len = 37,
		.flags = JVM_SEG_VALID | JVM_SEG_EXACT,
	};
	m->root = (struct jvm_rec_segment){
		.pc = 0x7f0000002000, .sp = 0x7ffe10000000 + 4096ull * tid, .len = STACK,
		.end = 0x7ffe10000000 + 4096ull * tid + STACK, .flags = JVM_SEG_TO_ROOT,
	};
	memset(m->inner_stack, (int)pc, 37);
	memset(m->root_stack, (int)tid, STACK);
	m->frames[0] = (struct jvm_rec_frame){ native | m->inner.pc, .segment = 0 };
	for (i = 1; i <= DEPTH; i++)
		m->frames[i] = (struct jvm_rec_frame){
			(uint64_t)JVM_COMPILED << JVM_FRAME_PC_BITS |
				(0x7fff00000000 + i * 64 + (i < 3 ? pc : 0)), { i }, { i * 3 },
		};
	m->frames[DEPTH + 1] = (struct jvm_rec_frame){ native | m->root.pc, .segment = 1 };
}

static struct pack *pack_new(void)
{
	struct pack *p = calloc(1, sizeof(*p));

	CHECK(pack_init(p));
	return p;
}

static void pack_free(struct pack *p)
{
	free(p->nodes);
	free(p->slots);
	free(p->segments);
	free(p->scratch);
	free(p);
}

TEST(pack_writes_a_stack_once_and_samples_are_what_they_were)
{
	uint8_t *items = malloc(MOST), *at = items, *was;
	struct unpack *u = unpack_new();
	struct pack *p = pack_new();
	struct unpacked out;
	struct made m;
	uint32_t i;

	for (i = 0; i < 100; i++) {
		make(&m, 100 + i % 3, 5000000000 + i * 1000, i % 4);
		was = at;
		at = pack_record(p, &m, sizeof(m), JVM_REC_SAMPLE, at);
		CHECK((size_t)(at - was) <= pack_most(sizeof(m)));
		/* but for the native code that was interrupted: */
		CHECK(i < 12 || (size_t)(at - was) < 24 + sizeof(m.inner) + sizeof(m.inner_stack));
	}
	CHECK(unpack_items(u, items, (size_t)(at - items), (size_t)(at - items), &out));
	CHECK_U64(out.len, 100 * sizeof(m));
	for (i = 0; i < 100; i++) {
		make(&m, 100 + i % 3, 5000000000 + i * 1000, i % 4);
		CHECK(!memcmp(out.data + i * sizeof(m), &m, sizeof(m)));
	}
	/* the next chunk refers to it */
	pack_begin(p);
	make(&m, 100, 6000000000, 0);
	at = pack_record(p, &m, sizeof(m), JVM_REC_SAMPLE, items);
	CHECK((size_t)(at - items) < 32 + sizeof(m.inner) + sizeof(m.inner_stack));
	CHECK(unpack_items(u, items, (size_t)(at - items), (size_t)(at - items), &out));
	CHECK(out.len == sizeof(m) && !memcmp(out.data, &m, sizeof(m)));
	/* which a reader that was told to forget does not know */
	unpack_forget(u);
	CHECK(!unpack_items(u, items, (size_t)(at - items), (size_t)(at - items), &out));
	pack_free(p);
	unpack_free(u);
	free(items);
}

/* What points into code or into the stack is all that unwinding looks for. */
TEST(pack_leaves_data_out_of_native_stacks)
{
	static const struct pack_range code[] = {
		{ 0x1000, 0x2000 }, { 0x5000, 0x6000 }, { 0x8000, 0x9000 },
	};
	static const uint64_t other[] = { 0, 1, 0xfff, 0x2000, 0x4fff, 0x9000, 0x7ffe00000000 - 8, ~0ull };
	uint64_t good[] = { 0x1000, 0x5fff, 0x8123, 0x12000000008888, 0, 0 }, words[STACK / 8];
	uint8_t *items = malloc(MOST), *end;
	struct unpack *u = unpack_new();
	struct pack *p = pack_new();
	const struct made *got;
	struct unpacked out;
	struct made m;
	size_t i;

	p->code = code;
	p->nr_code = 3;
	make(&m, 100, 1, 0);
	good[4] = m.root.sp;
	good[5] = m.root.sp + STACK;
	for (i = 0; i < STACK / 8; i++)
		words[i] = i % 2 ? good[i / 2 % 6] : other[i / 2 % 8];
	memcpy(m.root_stack, words, STACK);
	end = pack_record(p, &m, sizeof(m), JVM_REC_SAMPLE, items);
	CHECK(unpack_items(u, items, (size_t)(end - items), (size_t)(end - items), &out));
	CHECK_U64(out.len, sizeof(m));
	got = (const void *)out.data;
	memcpy(words, got->root_stack, STACK);
	for (i = 0; i < STACK / 8; i++)
		CHECK_U64(words[i], i % 2 ? good[i / 2 % 6] : 0);
	CHECK(!memcmp(&got->root, &m.root, sizeof(m.root)));
	pack_free(p);
	unpack_free(u);
	free(items);
}

struct some {			/* any record of a fixed size */
	struct jvm_rec h;
	uint64_t time_ns, a, b, c;
};

TEST(pack_writes_records_by_what_differs)
{
	uint8_t *items = malloc(MOST), *at = items;
	struct unpack *u = unpack_new();
	struct pack *p = pack_new();
	struct unpacked out;
	struct some s;
	uint64_t i;

	for (i = 0; i < 100; i++) {
		s = (struct some){ { sizeof(s), JVM_REC_wait }, 1000 + i, 1ull << 50, i, 77 };
		at = pack_record(p, &s, sizeof(s), JVM_REC_wait, at);
	}
	CHECK((size_t)(at - items) < 100 * 10);
	CHECK(unpack_items(u, items, (size_t)(at - items), (size_t)(at - items), &out));
	CHECK_U64(out.len, 100 * sizeof(s));
	for (i = 0; i < 100; i++) {
		s = (struct some){ { sizeof(s), JVM_REC_wait }, 1000 + i, 1ull << 50, i, 77 };
		CHECK(!memcmp(out.data + i * sizeof(s), &s, sizeof(s)));
	}
	pack_free(p);
	unpack_free(u);
	free(items);
}

/* It says so before a reader would refuse what is too much. */
TEST(pack_is_full_in_time)
{
	uint8_t *items = malloc(MOST);
	struct unpack *u = unpack_new();
	struct pack *p = pack_new();
	struct unpacked out;
	struct made m;
	uint32_t i = 0;

	for (; !pack_is_full(p); i++) {
		uint8_t *end;

		make(&m, 100 + i, 1, i);
		pack_begin(p);
		end = pack_record(p, &m, sizeof(m), JVM_REC_SAMPLE, items);
		CHECK(unpack_items(u, items, (size_t)(end - items), (size_t)(end - items), &out));
	}
	CHECK(i > 1000 && i <= JOURNAL_SEGMENTS);
	pack_forget(p);
	CHECK(!pack_is_full(p));
	pack_free(p);
	unpack_free(u);
	free(items);
}

TEST(pack_refuses_items_that_are_damaged)
{
	static uint8_t items[64 << 10], copy[64 << 10];
	struct unpack *u = unpack_new();
	struct pack *p = pack_new();
	uint8_t *at = items;
	struct unpacked out;
	struct made m;
	size_t len;
	uint32_t i;

	for (i = 0; i < 10; i++) {
		make(&m, 100, 1000 + i, i);
		at = pack_record(p, &m, sizeof(m), JVM_REC_SAMPLE, at);
	}
	len = (size_t)(at - items);
	for (i = 0; i < 5000; i += UNIT_STRIDE) {
		memcpy(copy, items, len);
		copy[unit_random() % len] = (uint8_t)unit_random();
		unpack_forget(u);
		unpack_items(u, copy, 1 + unit_random() % len, len, &out);
	}
	pack_free(p);
	unpack_free(u);
}
