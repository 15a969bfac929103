// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-union.c - unions of random models against a list of contexts as text, added up slowly; and that the
 * order of inputs, and which of them are united first, change no sum.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/check.h"
#include "flow/union.h"
#include "model/same.h"
#include "unit.h"

enum { MAX_TEXT = 400, MAX_LIST = 20000 };

/* One value of one context: "java Main.main;java A.run=cpu:ns:samples" */
struct sum {
	char *what;
	uint64_t value;
};

struct sums {
	struct sum *list;
	size_t nr_list, alloc_list;
};

static void put_sum(struct sums *s, const char *what, uint64_t value)
{
	VEC_GROW(s->list, s->nr_list, s->alloc_list);
	s->list[s->nr_list++] = (struct sum){ xstrdup(what), value };
}

static int compare_sums(const void *p, const void *q)
{
	const struct sum *a = p, *b = q;

	return strcmp(a->what, b->what);
}

/* Sorted, and one of each; those of nothing go. */
static void add_up(struct sums *s)
{
	size_t i, nr = 0;

	if (s->nr_list)
		qsort(s->list, s->nr_list, sizeof(*s->list), compare_sums);
	for (i = 0; i < s->nr_list; i++) {
		if (nr && !strcmp(s->list[nr - 1].what, s->list[i].what)) {
			s->list[nr - 1].value += s->list[i].value;
			free(s->list[i].what);
		} else {
			s->list[nr++] = s->list[i];
		}
	}
	s->nr_list = nr;
}

static void release_sums(struct sums *s)
{
	size_t i;

	for (i = 0; i < s->nr_list; i++)
		free(s->list[i].what);
	free(s->list);
	memset(s, 0, sizeof(*s));
}

static void put_consumer(struct buf *b, const struct model *m, uint32_t id, bool same)
{
	const struct consumer *c = &m->consumers.items[id];
	struct buf name = BUF_INIT, module = BUF_INIT;

	buf_reset(&name);
	buf_str(&name, model_str(m, c->name));
	buf_str(&module, model_str(m, c->module));
	if (same) {
		same_name(model_str(m, c->name), c->kind, &name);
		same_module(model_str(m, c->module), &module);
	}
	buf_fmt(b, "%s(%s)", name.data, module.data);
	buf_release(&name);
	buf_release(&module);
}

static void put_path(struct buf *b, const struct model *m, uint32_t node, bool same)
{
	uint32_t path[MAX_TEXT], nr = 0;

	for (; node; node = m->flow.nodes[node].parent)
		path[nr++] = m->flow.nodes[node].consumer;
	while (nr) {
		put_consumer(b, m, path[--nr], same);
		buf_putc(b, ';');
	}
}

/* side: appended to the names of metrics and sources; "": none. */
static void put_sums(struct sums *s, const struct model *m, const char *side, bool same)
{
	struct buf path = BUF_INIT;
	unsigned int k;
	size_t i, len;

	for (i = 1; i < m->flow.nr_nodes; i++) {
		buf_reset(&path);
		put_path(&path, m, i, same);
		len = path.len;
		for (k = 0; k < m->nr_shown + m->nr_sources; k++) {
			const struct model_metric *x = &m->metrics[k];
			unsigned int source = k < m->nr_shown ? x->source : k - m->nr_shown;
			uint64_t v = k < m->nr_shown ? flow_base(&m->flow, i)[k] : model_node_n(m, source, i);

			path.len = len;
			buf_fmt(&path, "=%s%s", model_str(m, m->sources[source].name), side);
			if (k < m->nr_shown)
				buf_fmt(&path, ":%s%s:%s", model_str(m, x->name), side,
					model_str(m, x->unit));
			put_sum(s, path.data, v);
		}
	}
	buf_release(&path);
}

static void drop_zeros(struct sums *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_list; i++)
		if (s->list[i].value)
			s->list[nr++] = s->list[i];
		else
			free(s->list[i].what);
	s->nr_list = nr;
}

static void check_same(struct sums *a, struct sums *b)
{
	size_t i;

	add_up(a);
	add_up(b);
	drop_zeros(a);
	drop_zeros(b);
	CHECK_U64(a->nr_list, b->nr_list);
	for (i = 0; i < a->nr_list && i < b->nr_list; i++) {
		CHECK_STR(a->list[i].what, b->list[i].what);
		CHECK_U64(a->list[i].value, b->list[i].value);
		if (strcmp(a->list[i].what, b->list[i].what))
			break;
	}
	release_sums(a);
	release_sums(b);
}

/* ---- random models ---- */

static uint32_t random_consumer(struct model *m)
{
	static const uint32_t kinds[] = { CONSUMER_JAVA_COMPILED, CONSUMER_JAVA_INTERPRETED,
		CONSUMER_JAVA_INLINED, CONSUMER_NATIVE, CONSUMER_NATIVE_INLINED, CONSUMER_KERNEL };
	static const char *const java[] = { "Main.main", "Main$$Lambda/0x%x.run", "jdk.proxy%x.$Proxy%x.call",
		"a.GeneratedMethodAccessor%x.invoke" };
	static const char *const native[] = { "f", "g.constprop.%x", "h", "h.cold" };
	struct consumer c = { .kind = kinds[unit_random() % ARRAY_SIZE(kinds)] };
	unsigned int nr = unit_random() % 3 + 1, which = unit_random() % 4;
	char text[64];

	snprintf(text, sizeof(text), c.kind >= CONSUMER_JAVA ? java[which] : native[which], nr, nr);
	c.name = strtab_adds(&m->consumers.names, text);
	if (c.kind < CONSUMER_JAVA) {
		snprintf(text, sizeof(text), "/lib%u/libz.so.1.2.%u", nr, nr);
		c.module = strtab_adds(&m->consumers.names, text);
	}
	return consumer_add(&m->consumers, &c);
}

/* Metrics by number, so that inputs share some of them. */
static void random_metrics(struct model *m)
{
	static const char *const names[] = { "cpu", "cycles", "alloc" };
	unsigned int i, has = unit_random() % 7 + 1;

	model_init(m, 1, FLOW_SAMPLES);
	model_clear(m);
	if (unit_random() % 3 == 0)
		model_add_metric(m, model_add_source(m, FLOW_CALLS, "calls"), "cpu", "ns");
	for (i = 0; i < 3; i++)
		if (has >> i & 1 || (i == 2 && !m->nr_sources))
			model_add_metric(m, model_add_source(m, FLOW_SAMPLES, names[i]), names[i],
					 i == 2 ? "bytes" : "ns");
	model_begin(m);
}

static void random_model(struct model *m, unsigned int nr_stacks)
{
	uint64_t base[FLOW_MAX_METRICS];
	unsigned int i, k, depth;
	uint32_t node;

	random_metrics(m);
	for (i = 0; i < nr_stacks; i++) {
		depth = 1 + unit_random() % 12;
		for (node = FLOW_NONE; depth--;)
			node = flow_child(&m->flow, node, random_consumer(m));
		for (k = 0; k < m->flow.nr_metrics; k++)
			base[k] = unit_random() % 1000;
		flow_add(&m->flow, node, unit_random() % 10, base);
	}
	model_finish(m);
}

static void check_tree(const struct model *m)
{
	struct flow_check c[FLOW_NR_CHECKS];

	CHECK_U64(flow_check(&m->flow, c), 0);
}

static const struct union_opts added = { .identify = same_identify };

static void unite(struct model *out, const struct model *inputs, const unsigned int *order, unsigned int nr)
{
	struct model_union u;
	unsigned int i;
	struct err e;

	union_init(&u, out, &added);
	for (i = 0; i < nr; i++)
		CHECK_U64(union_add(&u, &inputs[order[i]], 0, NULL, &e), 0);
	union_finish(&u);
	union_release(&u);
	check_tree(out);
}

TEST(union_has_the_sums_of_its_inputs)
{
	struct model m[3], out;
	struct sums want = { 0 }, got = { 0 };
	unsigned int round, i;

	memset(m, 0, sizeof(m));	/* compilers that unroll few rounds see none that fills it */
	for (round = 0; round < 60 / UNIT_STRIDE; round++) {
		const unsigned int nr = round % 4, order[] = { 0, 1, 2 };

		for (i = 0; i < nr; i++) {
			random_model(&m[i], unit_random() % 40);
			put_sums(&want, &m[i], "", true);
		}
		unite(&out, m, order, nr);
		put_sums(&got, &out, "", true);
		check_same(&want, &got);
		for (i = 0; i < nr; i++)
			model_release(&m[i]);
		model_release(&out);
	}
}

/* By name, not by number: that is what differs. */
static void check_equal(const struct model *a, const struct model *b)
{
	struct sums x = { 0 }, y = { 0 };

	CHECK_U64(a->flow.nr_nodes, b->flow.nr_nodes);
	CHECK_U64(a->sources[0].kind, b->sources[0].kind);
	CHECK_U64(a->consumers.nr_items, b->consumers.nr_items);
	put_sums(&x, a, "", false);
	put_sums(&y, b, "", false);
	check_same(&x, &y);
}

TEST(union_does_not_depend_on_the_order_or_the_grouping)
{
	static const unsigned int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 }, { 0, 2, 1 } };
	const unsigned int pair[] = { 0, 1 };
	struct model m[3], first, other, half[2];
	unsigned int round, i;

	for (round = 0; round < 40 / UNIT_STRIDE; round++) {
		for (i = 0; i < 3; i++)
			random_model(&m[i], unit_random() % 40);
		unite(&first, m, orders[0], 3);
		for (i = 1; i < ARRAY_SIZE(orders); i++) {
			unite(&other, m, orders[i], 3);
			check_equal(&first, &other);
			model_release(&other);
		}
		unite(&half[0], m, orders[1], 2);	/* 2 and 1, then 0 */
		half[1] = m[0];
		unite(&other, half, pair, 2);
		check_equal(&first, &other);
		model_release(&other);
		model_release(&half[0]);
		model_release(&first);
		for (i = 0; i < 3; i++)
			model_release(&m[i]);
	}
}

static const char *const ab[] = { "A", "B" };
static const struct union_opts beside = { .sides = ab, .identify = same_identify };

/* What where[] and union_has() say of one input. */
static void check_where(const struct model_union *u, unsigned int side, const struct model *from,
			const uint32_t *where)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	size_t i;

	for (i = 1; i < from->flow.nr_nodes; i++) {
		buf_reset(&a);
		buf_reset(&b);
		put_path(&a, from, i, true);
		put_path(&b, u->m, where[i], true);
		CHECK_STR(a.data, b.data);
		CHECK(union_has(u, side, where[i]));
	}
	buf_release(&a);
	buf_release(&b);
}

static uint64_t nr_of_side(const struct model_union *u, unsigned int side)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 1; i < u->m->flow.nr_nodes; i++)
		nr += union_has(u, side, i);
	return nr;
}

TEST(union_keeps_sides_apart)
{
	struct model m[2], out;
	struct sums want = { 0 }, got = { 0 };
	struct model_union u;
	uint32_t *where[2];
	unsigned int round, i;
	struct err e;

	for (round = 0; round < 40 / UNIT_STRIDE; round++) {
		union_init(&u, &out, &beside);
		for (i = 0; i < 2; i++) {
			random_model(&m[i], 1 + unit_random() % 40);
			while (m[i].nr_shown > 2) {
				model_release(&m[i]);
				random_model(&m[i], 1 + unit_random() % 40);
			}
			where[i] = xmalloc(m[i].flow.nr_nodes * sizeof(*where[i]));
			CHECK_U64(union_add(&u, &m[i], i, where[i], &e), 0);
			put_sums(&want, &m[i], i ? ".B" : ".A", true);
		}
		union_finish(&u);
		check_tree(&out);
		put_sums(&got, &out, "", true);
		check_same(&want, &got);
		for (i = 0; i < 2; i++) {
			const char *name = model_str(&m[i], m[i].metrics[0].name);
			unsigned int column = union_column(&u, i, name);

			CHECK(column < out.nr_shown);
			CHECK_U64(flow_cum(&out.flow, 0)[column], flow_cum(&m[i].flow, 0)[0]);
			check_where(&u, i, &m[i], where[i]);
			CHECK(nr_of_side(&u, i) <= m[i].flow.nr_nodes - 1);
			free(where[i]);
			model_release(&m[i]);
		}
		CHECK_U64(union_column(&u, 0, "none such"), out.nr_shown);
		union_release(&u);
		model_release(&out);
	}
}

/* Exact calls beside samples: calls come first, whichever was added first. */
TEST(union_joins_sources_and_knows_what_both_have)
{
	uint64_t calls[] = { 7 }, ticks[] = { 1000 };
	struct model m[2], out;
	struct model_union u;
	unsigned int i;
	uint32_t a, b;
	struct err e;

	model_init(&m[0], 1, FLOW_SAMPLES);
	model_set_metric(&m[0], 0, "cpu", 3, "ns", 2);
	model_init(&m[1], 1, FLOW_CALLS);
	model_set_metric(&m[1], 0, "time", 4, "ns", 2);
	for (i = 0; i < 2; i++) {
		a = consumer_add_name(&m[i].consumers, CONSUMER_JAVA, "a", 1);
		b = consumer_add_name(&m[i].consumers, CONSUMER_JAVA, i ? "b" : "c", 1);
		a = flow_child(&m[i].flow, FLOW_NONE, a);
		flow_add(&m[i].flow, a, 5, i ? calls : ticks);
		flow_add(&m[i].flow, flow_child(&m[i].flow, a, b), 3, i ? calls : ticks);
		model_finish(&m[i]);
	}
	union_init(&u, &out, &added);
	for (i = 0; i < 2; i++)
		CHECK_U64(union_add(&u, &m[i], i, NULL, &e), 0);
	union_finish(&u);
	CHECK_U64(out.flow.nr_nodes, 4);
	CHECK_U64(out.sources[0].kind, FLOW_CALLS);
	CHECK_U64(out.flow.nodes[1].n, 5);
	CHECK_U64(model_node_n(&out, 1, 1), 5);
	CHECK_U64(flow_base(&out.flow, 1)[union_column(&u, 0, "cpu")], 1000);
	CHECK_U64(flow_base(&out.flow, 1)[union_column(&u, 1, "time")], 7);
	CHECK(union_has(&u, 0, 1) && union_has(&u, 1, 1));
	CHECK(union_has(&u, 0, 2) && !union_has(&u, 1, 2));
	CHECK(!union_has(&u, 0, 3) && union_has(&u, 1, 3));
	union_release(&u);
	model_release(&out);
	model_release(&m[0]);
	model_release(&m[1]);
}

TEST(union_refuses_more_metrics_than_fit_and_keeps_what_it_had)
{
	struct model m, out;
	struct model_union u;
	unsigned int i;
	struct err e;
	char name[] = "a";
	int r = 0;

	union_init(&u, &out, &added);
	for (i = 0; i < FLOW_MAX_METRICS - 2; i++) {
		name[0] = 'a' + i;
		model_init(&m, 2, FLOW_SAMPLES);
		model_set_metric(&m, 0, name, 1, "ns", 2);
		model_set_metric(&m, 1, "both", 4, "ns", 2);
		flow_child(&m.flow, FLOW_NONE, consumer_add_name(&m.consumers, CONSUMER_ANY, name, 1));
		model_finish(&m);
		r = union_add(&u, &m, 0, NULL, &e);
		model_release(&m);
		CHECK_U64(r, 0);
	}
	model_init(&m, 2, FLOW_SAMPLES);
	model_set_metric(&m, 0, "G", 1, "ns", 2);
	model_set_metric(&m, 1, "H", 1, "ns", 2);
	model_finish(&m);
	CHECK_U64(union_add(&u, &m, 0, NULL, &e), (uint64_t)-E2BIG);
	model_release(&m);
	union_finish(&u);
	CHECK_U64(out.nr_shown, FLOW_MAX_METRICS - 1);
	CHECK_U64(out.flow.nr_nodes, FLOW_MAX_METRICS - 1);
	union_release(&u);
	model_release(&out);
}

/* What members do not agree in is that of the identity. */
TEST(union_shows_what_the_members_agree_in)
{
	struct model m, out;
	struct model_union u;
	unsigned int round;
	struct err e;

	for (round = 1; round <= 2; round++) {
		union_init(&u, &out, &added);
		for (unsigned int i = 0; i < round; i++) {
			struct consumer c = { .kind = i ? CONSUMER_JAVA_INLINED : CONSUMER_JAVA_COMPILED };
			struct consumer p = { .kind = CONSUMER_PROCESS, .key = (uint64_t)(7 + i) << 32 };

			model_init(&m, 1, FLOW_SAMPLES);
			p.name = strtab_adds(&m.consumers.names, "java");
			c.name = strtab_adds(&m.consumers.names, i ? "A$$Lambda/0x2.x" : "A$$Lambda/0x1.x");
			flow_child(&m.flow, flow_child(&m.flow, 0, consumer_add(&m.consumers, &p)),
				   consumer_add(&m.consumers, &c));
			model_finish(&m);
			CHECK_U64(union_add(&u, &m, 0, NULL, &e), 0);
			model_release(&m);
		}
		union_finish(&u);
		CHECK_U64(out.consumers.items[1].key, round == 1 ? 7ull << 32 : 0);
		CHECK_U64(out.consumers.items[2].kind, round == 1 ? CONSUMER_JAVA_COMPILED : CONSUMER_JAVA);
		CHECK_STR(consumer_name(&out.consumers, 2), round == 1 ? "A$$Lambda/0x1.x" : "A$$Lambda.x");
		union_release(&u);
		model_release(&out);
	}
}
