// SPDX-License-Identifier: GPL-2.0-or-later
/* u-heap.c - a heap dump made by hand: sizes, retained sizes, damage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/check.h"
#include "heap/roster.h"
#include "heap/tree.h"
#include "heap/variables.h"
#include "jvm/roster.h"
#include "unit.h"

/* --- a writer of dumps --- */

static void be(struct buf *b, uint64_t v, unsigned int len)
{
	while (len--)
		buf_u8(b, v >> 8 * len);
}

static void id(struct buf *b, uint64_t v)
{
	be(b, v, 8);
}

static void record(struct buf *b, unsigned int tag, const struct buf *body)
{
	be(b, tag, 1);
	be(b, 0, 4);
	be(b, body->len, 4);
	buf_add(b, body->data, body->len);
}

static void text(struct buf *b, uint64_t nr, const char *s)
{
	struct buf body = BUF_INIT;

	id(&body, nr);
	buf_add(&body, s, strlen(s));
	record(b, HPROF_UTF8, &body);
	buf_release(&body);
}

static void load_class(struct buf *b, uint64_t class, uint64_t name)
{
	struct buf body = BUF_INIT;

	be(&body, 1, 4);
	id(&body, class);
	be(&body, 0, 4);
	id(&body, name);
	record(b, HPROF_LOAD_CLASS, &body);
	buf_release(&body);
}

/* A class with so many references as fields, all of that name. */
static void class(struct buf *b, uint64_t class, uint64_t super, unsigned int nr_refs, uint64_t field)
{
	unsigned int i;

	be(b, 0x20, 1);
	id(b, class);
	be(b, 0, 4);
	id(b, super);
	for (i = 0; i < 5; i++)
		id(b, 0);
	be(b, 8 * nr_refs, 4);
	be(b, 0, 2);
	be(b, 0, 2);
	be(b, nr_refs, 2);
	for (i = 0; i < nr_refs; i++) {
		id(b, field);
		be(b, HPROF_OBJECT, 1);
	}
}

static void instance(struct buf *b, uint64_t object, uint64_t class, unsigned int nr_refs,
		     const uint64_t *refs)
{
	unsigned int i;

	be(b, 0x21, 1);
	id(b, object);
	be(b, 0, 4);
	id(b, class);
	be(b, 8 * nr_refs, 4);
	for (i = 0; i < nr_refs; i++)
		id(b, refs[i]);
}

static void bytes(struct buf *b, uint64_t object, unsigned int nr)
{
	be(b, 0x23, 1);
	id(b, object);
	be(b, 0, 4);
	be(b, nr, 4);
	be(b, HPROF_BYTE, 1);
	while (nr--)
		be(b, 'x', 1);
}

static void root(struct buf *b, unsigned int kind, uint64_t object)
{
	be(b, kind, 1);
	id(b, object);
}

/*
 * Ten orders in a list, each with a line of its own; all lines share one product of 100 bytes. Every object
 * takes 16 bytes of header and its references of 8 bytes, one beside the other.
 */
enum { NAME_OBJECT = 1, NAME_ORDER, NAME_LINE, NAME_PRODUCT, NAME_BYTES, NAME_FIELD, NAME_CLASS,
	NAME_REFERENCE, NAME_REFERENT, NAME_OBJECTS };
enum { CLASS_OBJECT = 0x1000, CLASS_ORDER = 0x1100, CLASS_LINE = 0x1200, CLASS_PRODUCT = 0x1300,
	CLASS_BYTES = 0x1400, CLASS_CLASS = 0x1500, CLASS_REFERENCE = 0x1600, CLASS_OBJECTS = 0x1700 };
enum { ROSTER = 0x5000, NUMBERS = 0x5100, REFERENCE = 0x5200 };
enum { ORDERS = 10, FIRST = 0x2000, ORDER_SIZE = 32, LINE_SIZE = 24, PRODUCT = 0x4000, CONTENT = 0x4018,
	CONTENT_SIZE = 120 };

static uint64_t order(unsigned int i)
{
	return FIRST + i * (ORDER_SIZE + LINE_SIZE);
}

static uint64_t line(unsigned int i)
{
	return order(i) + ORDER_SIZE;
}

static void put_orders(struct buf *b)
{
	unsigned int i;

	for (i = 0; i < ORDERS; i++) {
		instance(b, order(i), CLASS_ORDER, 2,
			 (const uint64_t[]){ i + 1 < ORDERS ? order(i + 1) : 0, line(i) });
		instance(b, line(i), CLASS_LINE, 1, (const uint64_t[]){ PRODUCT });
	}
	instance(b, PRODUCT, CLASS_PRODUCT, 1, (const uint64_t[]){ CONTENT });
	bytes(b, CONTENT, 100);
	instance(b, CONTENT + CONTENT_SIZE, CLASS_OBJECT, 0, NULL);	/* for the size of what is before */
}

static void put_classes(struct buf *b)
{
	class(b, CLASS_OBJECT, 0, 0, 0);
	class(b, CLASS_ORDER, CLASS_OBJECT, 2, NAME_FIELD);
	class(b, CLASS_LINE, CLASS_OBJECT, 1, NAME_FIELD);
	class(b, CLASS_PRODUCT, CLASS_OBJECT, 1, NAME_FIELD);
	class(b, CLASS_BYTES, CLASS_OBJECT, 0, 0);
	class(b, CLASS_CLASS, CLASS_OBJECT, 0, 0);
}

static uint64_t reference(unsigned int i)
{
	return REFERENCE + i * 0x20;
}

/* What the agent makes: orders and lines are the samples 100, 101 ...; the last reference is cleared. */
static void put_roster(struct buf *b)
{
	static const uint32_t magic[] = ROSTER_MAGIC;
	const uint32_t head[] = { 0x9abcdef0, 0x12345678, 2 * ORDERS + 1, 0 };
	unsigned int i;

	for (i = 0; i <= 2 * ORDERS; i++)
		instance(b, reference(i), CLASS_REFERENCE, 1,
			 (const uint64_t[]){ i == 2 * ORDERS ? 0 : i % 2 ? line(i / 2) : order(i / 2) });
	be(b, 0x23, 1);
	id(b, NUMBERS);
	be(b, 0, 4);
	be(b, ROSTER_HEAD + 2 * ORDERS + 3, 4);
	be(b, HPROF_INT, 1);
	for (i = 0; i < 4; i++)
		be(b, magic[i], 4);
	for (i = 0; i < 4; i++)
		be(b, head[i], 4);
	for (i = 0; i < 2 * ORDERS + 3; i++)
		be(b, i <= 2 * ORDERS ? 100 + i : 0, 4);
	be(b, 0x22, 1);
	id(b, ROSTER);
	be(b, 0, 4);
	be(b, 1 + 2 * ORDERS + 3, 4);
	id(b, CLASS_OBJECTS);
	id(b, NUMBERS);
	for (i = 0; i < 2 * ORDERS + 3; i++)
		id(b, i <= 2 * ORDERS ? reference(i) : 0);
	root(b, HPROF_ROOT_JNI_GLOBAL, ROSTER);
	id(b, 0);
}

static void put_roster_classes(struct buf *b)
{
	class(b, CLASS_REFERENCE, CLASS_OBJECT, 1, NAME_REFERENT);
	class(b, CLASS_OBJECTS, CLASS_OBJECT, 0, 0);
}

static void make(struct buf *b, bool roster)
{
	struct buf segment = BUF_INIT;
	unsigned int i;

	buf_add(b, "JAVA PROFILE 1.0.2", 19);
	be(b, 8, 4);
	be(b, 1700000000000, 8);
	text(b, NAME_OBJECT, "java/lang/Object");
	text(b, NAME_ORDER, "shop/Order");
	text(b, NAME_LINE, "shop/Line");
	text(b, NAME_PRODUCT, "shop/Product");
	text(b, NAME_BYTES, "[B");
	text(b, NAME_FIELD, "next");
	text(b, NAME_CLASS, "java/lang/Class");
	for (i = 0; i < 4; i++)
		load_class(b, CLASS_OBJECT + i * 0x100, NAME_OBJECT + i);
	load_class(b, CLASS_BYTES, NAME_BYTES);
	load_class(b, CLASS_CLASS, NAME_CLASS);
	if (roster) {
		text(b, NAME_REFERENCE, "java/lang/ref/Reference");
		text(b, NAME_REFERENT, "referent");
		text(b, NAME_OBJECTS, "[Ljava/lang/Object;");
		load_class(b, CLASS_REFERENCE, NAME_REFERENCE);
		load_class(b, CLASS_OBJECTS, NAME_OBJECTS);
	}
	put_classes(&segment);
	if (roster)
		put_roster_classes(&segment);
	put_orders(&segment);
	if (roster)
		put_roster(&segment);
	for (i = 0; i < 6; i++)
		root(&segment, HPROF_ROOT_STICKY_CLASS, CLASS_OBJECT + i * 0x100);
	root(&segment, HPROF_ROOT_MONITOR, order(0));
	record(b, HPROF_HEAP_SEGMENT, &segment);
	buf_reset(&segment);
	record(b, HPROF_HEAP_END, &segment);
	buf_release(&segment);
}

static void make_dump(struct buf *b)
{
	make(b, false);
}

static int read_tree(const struct buf *b, struct heap *h, struct model *m, struct heap_tree_facts *facts)
{
	static const struct heap_tree_opts o = { .keep_soft = true };
	struct err e;
	int r = heap_open_memory(h, b->data, b->len, &e);

	if (r)
		model_init(m, 1, FLOW_OBJECTS);
	return r ? r : heap_tree(h, &o, m, facts, &e);
}

/* n, base and cum of the context whose consumer has that name, the only one. */
static bool find(const struct model *m, const char *name, uint64_t *n, uint64_t *base, uint64_t *cum)
{
	uint32_t i;

	for (i = flow_next(&m->flow, FLOW_NONE); i; i = flow_next(&m->flow, i)) {
		if (strcmp(consumer_name(&m->consumers, m->flow.nodes[i].consumer), name) != 0)
			continue;
		*n = m->flow.nodes[i].n;
		*base = *flow_base(&m->flow, i);
		*cum = *flow_cum(&m->flow, i);
		return true;
	}
	return false;
}

TEST(heap_tree_of_a_planted_graph)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct flow_check c[FLOW_NR_CHECKS];
	uint64_t n, base, cum;
	struct model m;
	struct heap h;

	make_dump(&b);
	CHECK_U64(read_tree(&b, &h, &m, &facts), 0);
	CHECK_U64(h.layout.reference, 8);
	CHECK_U64(h.layout.header, 16);
	CHECK(find(&m, "shop.Order", &n, &base, &cum));
	CHECK_U64(n, ORDERS);
	CHECK_U64(base, ORDERS * ORDER_SIZE);
	CHECK_U64(cum, ORDERS * (ORDER_SIZE + LINE_SIZE) + 24 + CONTENT_SIZE);
	CHECK(find(&m, "shop.Line", &n, &base, &cum));
	CHECK_U64(n, ORDERS);
	CHECK_U64(cum, ORDERS * LINE_SIZE);	/* none of them alone holds the product */
	CHECK(find(&m, "shop.Product", &n, &base, &cum));
	CHECK_U64(cum, 24 + CONTENT_SIZE);
	CHECK(find(&m, "byte[]", &n, &base, &cum));
	CHECK_U64(base, CONTENT_SIZE);
	CHECK_U64(facts.nr_lost, 1);
	CHECK_U64(flow_check(&m.flow, c), 0);
	model_release(&m);
	heap_release(&h);
	buf_release(&b);
}

/* What the agent made is not shown, and says which object is which sample. */
TEST(heap_has_no_roster_and_its_samples)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	uint64_t n, base, cum, cookie;
	uint32_t *samples, i;
	struct model m;
	struct heap h;

	make(&b, true);
	CHECK_U64(read_tree(&b, &h, &m, &facts), 0);
	CHECK_U64(h.ids.nr, 6 + 2 * ORDERS + 3 + 2);	/* two classes more */
	CHECK(find(&m, "shop.Order", &n, &base, &cum));
	CHECK_U64(n, ORDERS);
	CHECK_U64(base, ORDERS * ORDER_SIZE);
	CHECK_U64(h.layout.header, 16);
	CHECK_U64(heap_size(&h, ids_find(&h.ids, CONTENT)), CONTENT_SIZE);
	CHECK_U64(heap_size(&h, ids_find(&h.ids, line(0))), LINE_SIZE);
	CHECK_U64(cum, ORDERS * (ORDER_SIZE + LINE_SIZE) + 24 + CONTENT_SIZE);
	CHECK(!find(&m, "java.lang.ref.Reference", &n, &base, &cum));
	CHECK(!find(&m, "java.lang.Object[]", &n, &base, &cum) && !find(&m, "int[]", &n, &base, &cum));
	CHECK(heap_has_samples(&h, &cookie));
	CHECK_U64(cookie, 0x123456789abcdef0);
	samples = heap_samples(&h);
	for (i = 0; i < ORDERS; i++) {
		CHECK_U64(samples[ids_find(&h.ids, order(i))], 100 + 2 * i);
		CHECK_U64(samples[ids_find(&h.ids, line(i))], 101 + 2 * i);
	}
	CHECK_U64(samples[ids_find(&h.ids, PRODUCT)], 0);
	free(samples);
	model_release(&m);
	heap_release(&h);
	buf_release(&b);
}

/* The tree by place of allocation: lines are not samples, orders stand for two and a half each. */
TEST(heap_tree_by_origin)
{
	struct heap_tree_opts o = { .keep_soft = true };
	struct heap_origins origins;
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct flow_check c[FLOW_NR_CHECKS];
	uint64_t n, base, cum;
	struct model m;
	struct heap h;
	uint32_t i, at;
	struct err e;

	make(&b, false);
	CHECK(!heap_open_memory(&h, b.data, b.len, &e));
	origins = (struct heap_origins){ .place = xcalloc(h.ids.nr, 4), .weight = xcalloc(h.ids.nr, 4) };
	o.origins = &origins;
	at = strtab_adds(&h.names, "Main.order");
	for (i = 0; i < ORDERS; i++) {
		origins.place[ids_find(&h.ids, order(i))] = at;
		origins.weight[ids_find(&h.ids, order(i))] = 2.5;
	}
	origins.place[ids_find(&h.ids, CONTENT)] = strtab_adds(&h.names, "Main.picture");
	origins.weight[ids_find(&h.ids, CONTENT)] = 1;
	CHECK(!heap_tree(&h, &o, &m, &facts, &e));
	CHECK(find(&m, "Main.order: shop.Order", &n, &base, &cum));
	CHECK_U64(n, ORDERS * 5 / 2);
	CHECK_U64(base, ORDERS * 5 / 2 * ORDER_SIZE);
	CHECK_U64(cum, base + CONTENT_SIZE);
	CHECK(find(&m, "Main.picture: byte[]", &n, &base, &cum));
	CHECK(find(&m, "[not sampled] shop.Product", &n, &base, &cum));	/* lines hold nothing */
	CHECK_U64(n, 0);
	CHECK_U64(cum, CONTENT_SIZE);
	CHECK_U64(facts.origins.nr, ORDERS + 1);
	CHECK(facts.origins.held_by_unknown == CONTENT_SIZE);
	CHECK(facts.origins.held_by_known == ORDERS * 5 / 2 * ORDER_SIZE);
	CHECK_U64(flow_check(&m.flow, c), 0);
	model_release(&m);
	o.shape = HEAP_CONTAINMENT;
	origins.all = true;		/* then the rest counts as well, once */
	CHECK(!heap_tree(&h, &o, &m, &facts, &e));
	CHECK(find(&m, "[not sampled] shop.Line", &n, &base, &cum));
	CHECK_U64(n, ORDERS);
	CHECK_U64(flow_totals(&m.flow, &base), h.ids.nr + ORDERS * 3 / 2);
	CHECK_U64(flow_check(&m.flow, c), 0);
	model_release(&m);
	free(origins.place);
	free(origins.weight);
	heap_release(&h);
	buf_release(&b);
}

/* What the walk counts that numbers objects is what two walks find. */
static void check_counts(const struct buf *b)
{
	struct heap h, counted;
	struct err e;
	size_t i;
	int r = heap_open_memory(&h, b->data, b->len, &e);

	CHECK_U64(heap_count_open_memory(&counted, b->data, b->len, &e), (uint64_t)r);
	if (!r) {
		CHECK(!heap_read(&h, &(struct heap_read_opts){ 0 }, &e));
		CHECK(!heap_count(&counted, &e));
		CHECK_U64(counted.bytes, h.bytes);
		CHECK_U64(counted.nr_classes, h.nr_classes);
		for (i = 0; i < h.nr_classes; i++) {
			CHECK_U64(counted.classes[i].nr, h.classes[i].nr);
			CHECK_U64(counted.classes[i].bytes, h.classes[i].bytes);
		}
	}
	heap_release(&counted);
	heap_release(&h);
}

TEST(heap_counts_in_one_walk)
{
	struct buf b = BUF_INIT;
	struct heap h;
	struct err e;
	size_t whole, i;

	make(&b, false);
	CHECK(!heap_count_open_memory(&h, b.data, b.len, &e));
	CHECK(!heap_count(&h, &e));
	CHECK(!h.class);		/* one was enough */
	heap_release(&h);
	whole = b.len;
	for (b.len = 0; b.len < whole; b.len += UNIT_STRIDE)
		check_counts(&b);
	b.len = whole;
	for (i = 0; i < whole; i += UNIT_STRIDE) {	/* such as ids that no object can have */
		b.data[i] ^= 1 << i % 8;
		check_counts(&b);
		b.data[i] ^= 1 << i % 8;
	}
	buf_reset(&b);
	make(&b, true);
	check_counts(&b);
	buf_release(&b);
}

/* Cut off anywhere, it has what is before; and the objects' sum is that of the tree. */
TEST(heap_truncated_anywhere)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct flow_check c[FLOW_NR_CHECKS];
	struct model m;
	struct heap h;
	size_t whole, read = 0, before = 0;
	uint64_t total;

	make_dump(&b);
	whole = b.len;
	for (b.len = (whole - 1) % UNIT_STRIDE; b.len < whole; b.len += UNIT_STRIDE) {
		if (!read_tree(&b, &h, &m, &facts)) {
			CHECK_U64(flow_check(&m.flow, c), 0);
			CHECK_U64(flow_totals(&m.flow, &total), h.ids.nr);
			CHECK_U64(total, h.bytes);
			CHECK(h.ids.nr >= before);
			before = h.ids.nr;
			read++;
		}
		model_release(&m);
		heap_release(&h);
	}
	CHECK(read > 100 / UNIT_STRIDE);
	CHECK_U64(before, 6 + 2 * ORDERS + 3);
	b.len = whole;
	buf_release(&b);
}

/* Bytes that are changed cost what they are part of, and are counted. */
TEST(heap_damaged_anywhere)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct flow_check c[FLOW_NR_CHECKS];
	struct model m;
	struct heap h;
	uint64_t total;
	int round;

	for (round = 0; round < 3000 / UNIT_STRIDE; round++) {
		int nr = 1 + unit_random() % 4;

		buf_reset(&b);
		make(&b, round % 2);
		while (nr--)
			b.data[unit_random() % b.len] = unit_random();
		if (!read_tree(&b, &h, &m, &facts)) {
			CHECK_U64(flow_check(&m.flow, c), 0);
			CHECK_U64(flow_totals(&m.flow, &total), h.ids.nr);
			CHECK_U64(total, h.bytes);
		}
		model_release(&m);
		heap_release(&h);
	}
	buf_release(&b);
}

/* In the middle of a segment, what follows is found again. */
TEST(heap_goes_on_after_damage)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct model m;
	struct heap h;
	char *at, key[9] = { 0x21, 0, 0, 0, 0, 0, 0, (char)(0x2000 >> 8), 0 };

	make_dump(&b);
	at = memmem(b.data, b.len, key, sizeof(key));
	CHECK(at);
	memset(at, 0x7e, 60);	/* order 0 and part of its line */
	CHECK_U64(read_tree(&b, &h, &m, &facts), 0);
	CHECK_U64(h.damage.nr, 1);
	CHECK(h.damage.bytes >= 60 && h.damage.bytes < 120);
	CHECK_U64(h.ids.nr, 6 + 2 * ORDERS + 3 - 2);
	model_release(&m);
	heap_release(&h);
	buf_release(&b);
}

/* And among the classes, which come first: that of lines is lost, and none behind it. */
TEST(heap_goes_on_with_the_next_class)
{
	struct buf b = BUF_INIT;
	struct heap_tree_facts facts;
	struct model m;
	struct heap h;
	char *at, key[9] = { 0x20, 0, 0, 0, 0, 0, 0, (char)(CLASS_LINE >> 8), 0 };

	make_dump(&b);
	at = memmem(b.data, b.len, key, sizeof(key));
	CHECK(at);
	memset(at, 0x7e, 20);
	CHECK_U64(read_tree(&b, &h, &m, &facts), 0);
	CHECK_U64(h.damage.nr, 1);
	CHECK(h.damage.bytes >= 20 && h.damage.bytes < 100);
	CHECK(!heap_class_by_id(&h, CLASS_LINE) || !heap_class_by_id(&h, CLASS_LINE)->raw.fields);
	CHECK(heap_class_by_id(&h, CLASS_PRODUCT)->raw.fields);
	CHECK_U64(h.ids.nr, 5 + 2 * ORDERS + 3);
	model_release(&m);
	heap_release(&h);
	buf_release(&b);
}

/* A wrong length costs the array that has it, and not all that it would take in; a segment's head itself. */
TEST(heap_goes_on_behind_what_is_wrong)
{
	enum { OBJECTS = 4000 };
	struct buf b = BUF_INIT, segment = BUF_INIT;
	struct err e;
	struct heap h;
	size_t length, head;
	unsigned int i;

	buf_add(&b, "JAVA PROFILE 1.0.2", 19);
	be(&b, 8, 4);
	be(&b, 1700000000000, 8);
	put_classes(&segment);
	length = segment.len + 13;
	bytes(&segment, CONTENT, 100);
	for (i = 0; i < OBJECTS; i++)
		instance(&segment, 0x10000 + 16 * i, CLASS_OBJECT, 0, NULL);
	segment.data[length + 1] = 1;		/* 65636: in the middle of an object */
	record(&b, HPROF_HEAP_SEGMENT, &segment);
	buf_reset(&segment);
	head = b.len;
	for (i = 0; i < OBJECTS; i++)
		instance(&segment, 0x100000 + 16 * i, CLASS_OBJECT, 0, NULL);
	record(&b, HPROF_HEAP_SEGMENT, &segment);
	memset(b.data + head, 0x7e, 9);
	buf_reset(&segment);
	record(&b, HPROF_HEAP_END, &segment);
	CHECK_U64(heap_open_memory(&h, b.data, b.len, &e), 0);
	CHECK_U64(h.damage.nr, 2);
	CHECK_U64(h.damage.bytes, 18 + 100 + 9);
	CHECK_U64(h.ids.nr, 6 + 2 * OBJECTS);
	heap_release(&h);
	buf_release(&segment);
	buf_release(&b);
}

TEST(heap_open_says_what_is_wrong)
{
	static const struct {
		const char *data;
		size_t len;
		const char *msg;
	} bad[] = {
		{ "", 0, "not a heap dump" }, { "JAVA PROFILE 1.0.2", 19, "truncated in its header" },
		{ "JAVA PROFILE 1.0.2\0\0\0\0\7\0\0\0\0\0\0\0\0", 31, "identifiers of 7 bytes" },
		{ "JAVA PROFILE 1.0.2\0\0\0\0\10\0\0\0\0\0\0\0\0", 31, "without objects" },
	};
	struct heap h;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_U64(heap_open_memory(&h, bad[i].data, bad[i].len, &e), (uint64_t)-EINVAL);
		CHECK(strstr(e.msg, bad[i].msg));
		heap_release(&h);
	}
}

/* Segments of some megabytes: small instances, and arrays of up to three windows of the walk. */
static void make_large_dump(struct buf *b)
{
	static char fields[2000];
	struct buf segment = BUF_INIT;
	unsigned int i, n;

	buf_add(b, "JAVA PROFILE 1.0.2", 19);
	be(b, 8, 4);
	be(b, 1700000000000, 8);
	for (i = 0; i < 4000; i++) {
		n = i * 7919 % sizeof(fields);
		memset(fields, i, n);
		be(&segment, 0x21, 1);
		id(&segment, 0x10000 + i * 8);
		be(&segment, 0, 4);
		id(&segment, CLASS_ORDER);
		be(&segment, n, 4);
		buf_add(&segment, fields, n);
		if (i % 500 == 0)
			bytes(&segment, 0x90000 + i * 8, i * 200);
		if (i % 100 == 0)
			root(&segment, HPROF_ROOT_MONITOR, 0x10000 + i * 8);
		if (i % 700 && i != 3999)
			continue;
		record(b, HPROF_HEAP_SEGMENT, &segment);
		buf_reset(&segment);
	}
	record(b, HPROF_HEAP_END, &segment);
	buf_release(&segment);
}

static void check_window(const struct hprof *file, const struct hprof *memory, bool data)
{
	struct hprof_items a, b;
	struct hprof_item x, y;
	size_t nr = 0;

	hprof_items(&a, file, NULL, NULL);
	hprof_items(&b, memory, NULL, NULL);
	hprof_items_by_window(&a, data);
	CHECK(a.window);
	while (hprof_items_next(&b, &y)) {
		CHECK(hprof_items_next(&a, &x));
		CHECK_U64(x.kind, y.kind);
		CHECK_U64(x.id, y.id);
		CHECK_U64(a.p - file->data, b.p - memory->data);
		if (y.kind != HPROF_ROOT) {
			CHECK_U64(x.n, y.n);
			CHECK(!memcmp(x.data, y.data, y.n));
		}
		nr++;
	}
	CHECK(!hprof_items_next(&a, &x));
	CHECK_U64(nr, 4000 + 8 + 40);
	CHECK(!a.walk.damage.nr && !a.walk.damage.truncated);
	hprof_items_release(&a);
}

TEST(heap_walk_by_window)
{
	int fd = memfd_create("dump", 0);
	char path[32];
	struct hprof file, memory;
	struct buf b = BUF_INIT;
	struct err e;

	make_large_dump(&b);
	CHECK(write(fd, b.data, b.len) == (ssize_t)b.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(!hprof_open(&file, path, &e));
	CHECK(!hprof_open_bytes(&memory, b.data, b.len, &e));
	check_window(&file, &memory, false);
	check_window(&file, &memory, true);
	hprof_close(&file);
	hprof_close(&memory);
	close(fd);
	buf_release(&b);
}

/* Objects and variables in the order of slots; a string of objects a variable fits. */
static struct variables_fit fit(uint32_t nr_objects, uint32_t nr, const uint16_t *slots,
				const char *const *fits)
{
	struct variables_fit f = { .nr_objects = nr_objects, .nr_variables = nr };
	uint32_t j;
	const char *p;

	for (j = 0; j < nr; j++) {
		f.slot[j] = slots[j];
		for (p = fits[j]; *p; p++)
			f.fits[j] |= 1ull << (*p - 'a');
	}
	return f;
}

TEST(heap_variables_are_named_where_type_and_order_leave_one)
{
	static const uint16_t slots[] = { 0, 1, 2 }, one_slot[] = { 1, 1, 1 };
	struct variables_fit f = fit(1, 2, slots, (const char *[]){ "", "a" });

	CHECK(variables_match(&f, 1) == 1);
	/* two of its type */
	f = fit(1, 2, slots, (const char *[]){ "a", "a" });
	CHECK(variables_match(&f, 1) == -1);
	/* the first can only be what the second is not */
	f = fit(2, 2, slots, (const char *[]){ "ab", "b" });
	CHECK(variables_match(&f, 1) == 0);
	CHECK(variables_match(&f, 2) == 1);
	/* in order */
	f = fit(3, 3, slots, (const char *[]){ "abc", "abc", "abc" });
	CHECK(variables_match(&f, 2) == 1);
	/* an object more than there are variables: one of them has no name */
	f = fit(2, 1, slots, (const char *[]){ "ab" });
	CHECK(variables_match(&f, 1) == -1);
	/* unless both are the same, as what is locked is there twice */
	CHECK(variables_match(&f, 3) == 0);
	/* one after the other in one slot */
	f = fit(2, 2, one_slot, (const char *[]){ "a", "b" });
	CHECK(variables_match(&f, 1) == -1);
	f = fit(0, 2, slots, (const char *[]){ "", "" });
	CHECK(variables_match(&f, 1) == -1);
}
