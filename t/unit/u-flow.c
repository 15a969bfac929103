// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-flow.c - the model against an oracle that keeps every context as its whole path and computes
 * recursion levels, cum and xarc rows from these paths, slowly and in the open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/arcs.h"
#include "flow/check.h"
#include "flow/events.h"
#include "flow/input.h"
#include "flow/ops.h"
#include "flow/order.h"
#include "unit.h"

enum { MAX_PATH = 40, MAX_CONTEXTS = 4000, NR_METRICS = 2, NR_NAMES = 6 };

struct context {
	uint32_t path[MAX_PATH];
	size_t len;
	uint64_t n, base[NR_METRICS];
};

struct oracle {
	struct context *list;
	size_t nr;
};

static struct context *find_context(struct oracle *o, const uint32_t *path, size_t len)
{
	size_t i;

	for (i = 0; i < o->nr; i++)
		if (o->list[i].len == len && !memcmp(o->list[i].path, path, len * sizeof(*path)))
			return &o->list[i];
	return NULL;
}

/* With all contexts above it: they exist too, though nothing was consumed there. */
static struct context *make_context(struct oracle *o, const uint32_t *path, size_t len)
{
	struct context *x;
	size_t k;

	for (k = 1; k <= len; k++) {
		if (find_context(o, path, k))
			continue;
		if (o->nr == MAX_CONTEXTS)
			abort();
		x = &o->list[o->nr++];
		memset(x, 0, sizeof(*x));
		memcpy(x->path, path, k * sizeof(*path));
		x->len = k;
	}
	return find_context(o, path, len);
}

static bool is_prefix(const struct context *a, const struct context *b)
{
	return a->len <= b->len && !memcmp(a->path, b->path, a->len * sizeof(*a->path));
}

static uint64_t oracle_cum(const struct oracle *o, const struct context *x, unsigned int m)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < o->nr; i++)
		if (is_prefix(x, &o->list[i]))
			sum += o->list[i].base[m];
	return sum;
}

static uint32_t own(const struct context *x)
{
	return x->path[x->len - 1];
}

static uint32_t oracle_rl(const struct context *x)
{
	uint32_t rl = 0;
	size_t i;

	for (i = 0; i < x->len; i++)
		rl += x->path[i] == own(x);
	return rl;
}

static size_t node_path(const struct flow *f, uint32_t i, uint32_t *path)
{
	uint32_t k;
	size_t len = 0, at;

	for (k = i; k; k = f->nodes[k].parent)
		len++;
	for (k = i, at = len; k; k = f->nodes[k].parent)
		path[--at] = f->nodes[k].consumer;
	return len;
}

/* A random stack of few names, so that recursion is everywhere. */
static size_t random_path(uint32_t *path, size_t max)
{
	size_t len = 1 + unit_random() % max, i;

	for (i = 0; i < len; i++)
		path[i] = 1 + unit_random() % NR_NAMES;
	return len;
}

static void random_tree(struct flow *f, struct oracle *o, size_t nr_stacks, size_t max_depth)
{
	uint64_t base[NR_METRICS], n;
	uint32_t path[MAX_PATH], node;
	struct context *x;
	size_t i, k, len;

	flow_init(f, NR_METRICS, FLOW_CALLS);
	for (i = 0; i < nr_stacks; i++) {
		len = random_path(path, max_depth);
		n = unit_random() % 5;
		base[0] = unit_random() % 100;
		base[1] = unit_random() % 3 ? 0 : unit_random() % 1000;
		for (node = FLOW_NONE, k = 0; k < len; k++)
			node = flow_child(f, node, path[k]);
		flow_add(f, node, n, base);
		if (!o)
			continue;
		x = make_context(o, path, len);
		x->n += n;
		x->base[0] += base[0];
		x->base[1] += base[1];
	}
	flow_finish(f);
}

static struct oracle new_oracle(void)
{
	return (struct oracle){ xcalloc(MAX_CONTEXTS, sizeof(struct context)), 0 };
}

static void compare_trees(const struct flow *f, struct oracle *o)
{
	uint32_t path[MAX_PATH];
	struct context *x;
	unsigned int m;
	uint32_t i;

	CHECK_U64(f->nr_nodes - 1, o->nr);
	for (i = 1; i < f->nr_nodes; i++) {
		x = find_context(o, path, node_path(f, i, path));
		CHECK(x != NULL);
		if (!x)
			return;
		CHECK_U64(f->nodes[i].n, x->n);
		CHECK_U64(f->rl[i], oracle_rl(x));
		for (m = 0; m < NR_METRICS; m++) {
			CHECK_U64(flow_base(f, i)[m], x->base[m]);
			CHECK_U64(flow_cum(f, i)[m], oracle_cum(o, x, m));
		}
	}
}

/* What a row of kind of consumer c's stanza should say about other; false when there is no row. */
static bool oracle_row(const struct oracle *o, enum arc_rows kind, uint32_t c, uint32_t other, uint64_t *n,
		       uint64_t *base, uint64_t *cum)
{
	bool r = kind == ARC_RPARENTS || kind == ARC_RCHILDREN,
	     up = kind == ARC_PARENTS || kind == ARC_RPARENTS;
	bool found = false;
	unsigned int m;
	size_t i;

	*n = 0;
	memset(base, 0, NR_METRICS * sizeof(*base));
	memset(cum, 0, NR_METRICS * sizeof(*cum));
	for (i = 0; i < o->nr; i++) {
		const struct context *x = &o->list[i];
		struct context parent = *x;
		uint32_t parent_name = x->len > 1 ? x->path[x->len - 2] : 0;

		parent.len--;
		if (up && !(own(x) == c && parent_name == other && (oracle_rl(x) > 1) == r))
			continue;
		if (!up &&
		    !(own(x) == other && parent_name == c && parent.len && (oracle_rl(&parent) > 1) == r))
			continue;
		found = true;
		*n += x->n;
		for (m = 0; m < NR_METRICS; m++) {
			base[m] += x->base[m];
			cum[m] += oracle_cum(o, x, m);
		}
	}
	return found;
}

static const struct arc *find_row(const struct arc_stanza *s, enum arc_rows kind, uint32_t other)
{
	uint32_t i;

	for (i = 0; i < s->nr_rows[kind]; i++)
		if (s->rows[kind][i].consumer == other)
			return &s->rows[kind][i];
	return NULL;
}

static void compare_arcs(const struct flow *f, const struct oracle *o)
{
	uint64_t n, base[NR_METRICS], cum[NR_METRICS];
	struct arcs a;
	uint32_t c, other;
	unsigned int m;
	int kind;

	arcs_init(&a, f);
	for (c = 1; c <= NR_NAMES; c++) {
		const struct arc_stanza *s = c < flow_nr_consumers(f) && a.stanza_of[c] != UINT32_MAX ?
						     &a.stanzas[a.stanza_of[c]] : NULL;

		for (kind = 0; s && kind < ARC_NR; kind++)
			for (other = 0; other <= NR_NAMES; other++) {
				bool want = oracle_row(o, kind, c, other, &n, base, cum);
				const struct arc *row = find_row(s, kind, other);

				/* Only a root: no parent row. */
				if (kind == ARC_PARENTS && !other && want && !s->nr_rows[kind])
					continue;
				CHECK(want == (row != NULL));
				if (!row)
					continue;
				CHECK_U64(row->sums.n, n);
				for (m = 0; m < NR_METRICS; m++) {
					CHECK_U64(row->sums.base[m], base[m]);
					CHECK_U64(row->sums.cum[m], cum[m]);
				}
			}
	}
	arcs_release(&a);
}

static void check_all(const struct flow *f)
{
	struct flow_check c[FLOW_NR_CHECKS];
	unsigned int i;

	flow_check(f, c);
	for (i = 0; i < FLOW_NR_CHECKS; i++) {
		if (c[i].nr_bad)
			printf("# violated: %s\n", c[i].what);
		CHECK_U64(c[i].nr_bad, 0);
	}
}

TEST(flow_trees_with_recursion_agree_with_their_paths)
{
	int round;

	for (round = 0; round < 30; round++) {
		struct oracle o = new_oracle();
		struct flow f;

		random_tree(&f, &o, 1 + unit_random() % 60, 1 + unit_random() % 12);
		compare_trees(&f, &o);
		compare_arcs(&f, &o);
		check_all(&f);
		flow_release(&f);
		free(o.list);
	}
}

TEST(flow_check_finds_a_wrong_number)
{
	struct flow_check c[FLOW_NR_CHECKS];
	struct flow f;

	random_tree(&f, NULL, 200, 8);
	CHECK_U64(flow_check(&f, c), 0);
	flow_cum(&f, f.nr_nodes / 2)[0]++;
	CHECK(flow_check(&f, c) > 0);
	flow_cum(&f, f.nr_nodes / 2)[0]--;
	f.rl[f.nr_nodes - 1]++;
	CHECK(flow_check(&f, c) > 0);
	f.rl[f.nr_nodes - 1]--;
	f.nodes[f.nr_nodes / 2].n++;
	CHECK_U64(flow_check(&f, c), 0);	/* n of a node is free: nothing else says it */
	f.nodes[f.nr_nodes / 2].sibling = 0;
	f.nodes[f.nodes[1].parent].child = 0;
	CHECK(flow_check(&f, c) > 0);
	flow_release(&f);
}

TEST(flow_a_hundred_thousand_frames_deep)
{
	uint64_t one = 1;
	uint32_t node = FLOW_NONE, i;
	struct arcs a;
	struct flow f;

	flow_init(&f, 1, FLOW_SAMPLES);
	for (i = 0; i < 100000; i++)
		node = flow_child(&f, node, 1 + i % 3);
	flow_add(&f, node, 1, &one);
	flow_finish(&f);
	CHECK_U64(f.rl[node], 33334);
	CHECK_U64(flow_cum(&f, 1)[0], 1);
	check_all(&f);
	arcs_init(&a, &f);
	CHECK_U64(a.nr_stanzas, 3);
	CHECK_U64(a.stanzas[0].self.cum[0], 1);
	CHECK_U64(a.stanzas[0].rself.cum[0], 33333);
	arcs_release(&a);
	flow_release(&f);
}

/* The events builder against the same with paths: each thread its list of contexts. */
struct thread_oracle {
	struct oracle o;
	uint32_t open[MAX_PATH];
	size_t nr_open;
};

static void oracle_charge(struct thread_oracle *t, uint64_t d0, uint64_t d1)
{
	struct context *x = make_context(&t->o, t->open, t->nr_open);

	x->base[0] += d0;
	x->base[1] += d1;
}

/* All contexts get the consumer as second element, below the thread. */
static void oracle_insert(struct thread_oracle *t, uint32_t c)
{
	uint32_t thread = t->open[0];
	uint64_t n = t->o.list[0].n;
	size_t i;

	for (i = 0; i < t->o.nr; i++) {
		struct context *x = &t->o.list[i];

		memmove(x->path + 2, x->path + 1, (x->len - 1) * sizeof(*x->path));
		x->path[1] = c;
		x->len++;
	}
	t->o.list[0].n = 1;
	make_context(&t->o, &thread, 1)->n = n;
	/* The thread's own context leads the list. */
	for (i = t->o.nr - 1; i > 0; i--) {
		struct context x = t->o.list[i];

		t->o.list[i] = t->o.list[i - 1];
		t->o.list[i - 1] = x;
	}
	t->nr_open = 1;
}

static void oracle_leave(struct thread_oracle *t, uint32_t c)
{
	size_t i;

	for (i = t->nr_open; i > 1 && t->open[i - 1] != c; i--)
		;
	if (i > 1)
		t->nr_open = i - 1;
	else
		oracle_insert(t, c);
}

static void random_events(struct flow_events *b, struct thread_oracle *t, uint32_t nr_threads, int nr_events,
			  bool nested)
{
	uint64_t now[NR_METRICS] = { unit_random() % 100, 0 };
	uint32_t cur = 0, c;
	int i;

	t[0].open[0] = 1000;
	t[0].nr_open = 1;
	make_context(&t[0].o, t[0].open, 1)->n = 1;
	flow_events_switch(b, 1000, now);
	for (i = 0; i < nr_events; i++) {
		uint64_t d0 = unit_random() % 10, d1 = unit_random() % 3;

		if (nested && t[cur].nr_open == 1)	/* nothing to leave: enter */
			c = 1 + unit_random() % NR_NAMES;
		else
			c = 0;
		now[0] += d0;
		now[1] += d1;
		oracle_charge(&t[cur], d0, d1);
		if (unit_random() % 10 == 0) {
			cur = unit_random() % nr_threads;
			flow_events_switch(b, 1000 + cur, now);
			if (!t[cur].nr_open) {
				t[cur].open[0] = 1000 + cur;
				t[cur].nr_open = 1;
				make_context(&t[cur].o, t[cur].open, 1)->n = 1;
			}
			continue;
		}
		if (c || (t[cur].nr_open < 12 && unit_random() % 2)) {
			c = 1 + unit_random() % NR_NAMES;
			flow_events_enter(b, c, now);
			t[cur].open[t[cur].nr_open++] = c;
			make_context(&t[cur].o, t[cur].open, t[cur].nr_open)->n++;
		} else {
			c = nested ? t[cur].open[t[cur].nr_open - 1] : 1 + unit_random() % NR_NAMES;
			flow_events_leave(b, c, now);
			oracle_leave(&t[cur], c);
		}
	}
}

static void events_round(int nr_events, bool nested)
{
	enum { NR_THREADS = 3 };
	struct thread_oracle t[NR_THREADS] = { 0 };
	struct oracle all = new_oracle();
	struct flow_events b;
	struct flow f;
	size_t i, k;

	for (i = 0; i < NR_THREADS; i++)
		t[i].o = new_oracle();
	flow_init(&f, NR_METRICS, FLOW_CALLS);
	flow_events_init(&b, &f);
	random_events(&b, t, NR_THREADS, nr_events, nested);
	flow_events_finish(&b);
	flow_finish(&f);
	for (i = 0; i < NR_THREADS; i++)
		for (k = 0; k < t[i].o.nr; k++)
			all.list[all.nr++] = t[i].o.list[k];
	compare_trees(&f, &all);
	check_all(&f);
	if (nested)
		CHECK_U64(f.repairs.inserted + f.repairs.popped, 0);
	flow_events_release(&b);
	flow_release(&f);
	for (i = 0; i < NR_THREADS; i++)
		free(t[i].o.list);
	free(all.list);
}

TEST(events_well_nested_give_the_tree_of_their_paths)
{
	int round;

	for (round = 0; round < 30; round++)
		events_round(1 + unit_random() % 300, true);
}

TEST(events_out_of_order_are_repaired_as_documented)
{
	int round;

	for (round = 0; round < 60; round++)
		events_round(1 + unit_random() % 30, false);
}

static void parse_events(struct model *m, const char *text)
{
	struct err e = { 0 };

	if (input_events(m, text, strlen(text), &e))
		printf("# %s\n", e.msg);
	CHECK_U64(e.code, 0);
}

/* The whole model in its text form, children by name: equal models give equal text. */
static char *canonical(struct model *m)
{
	struct flow_order o = { &m->consumers, FLOW_BY_NAME, 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	flow_sort_children(&m->flow, &o);
	output_tree(m, out);
	fclose(out);
	return text;
}

#define HEAD "# levels\n# n calls\n# metric metric units\n"

static void check_model(struct model *m, const char *want)
{
	char *got = canonical(m);

	CHECK_STR(got, want);
	free(got);
	model_release(m);
}

TEST(events_leave_without_enter_goes_above_what_was_seen)
{
	struct model m;

	parse_events(&m, "0 pidtid T\n1 > A\n3 < A\n6 < X\n7 > B\n");
	CHECK_U64(m.flow.repairs.inserted, 1);
	CHECK_U64(m.flow.repairs.closed, 1);
	check_model(&m, HEAD "0\t1\t1\tT_pidtid\tthread\t\t\t0\n1\t1\t0\tB\n1\t1\t4\tX\n2\t1\t2\tA\n");
}

TEST(events_threads_stay_in_order_of_appearance_after_repairs)
{
	char *text = NULL;
	struct model m;
	size_t len;
	FILE *out;

	parse_events(&m, "0 pidtid S\n1 > A\n2 pidtid T\n3 > B\n4 pidtid S\n5 < X\n6 < Y\n7 pidtid U\n8 < Z\n");
	out = open_memstream(&text, &len);
	output_tree(&m, out);
	fclose(out);
	CHECK_STR(text, HEAD "0\t1\t1\tS_pidtid\tthread\t\t\t0\n1\t1\t1\tY\n2\t1\t1\tX\n3\t1\t2\tA\n"
			     "0\t1\t1\tT_pidtid\tthread\t\t\t0\n1\t1\t1\tB\n"
			     "0\t1\t0\tU_pidtid\tthread\t\t\t0\n1\t1\t1\tZ\n");
	free(text);
	model_release(&m);
}

TEST(events_leave_of_an_outer_frame_pops_to_it)
{
	struct model m;

	parse_events(&m, "0 pidtid T\n0 > A\n1 > B\n3 > C\n6 < A\n10 > D\n11 < D\n");
	CHECK_U64(m.flow.repairs.popped, 2);
	CHECK_U64(m.flow.repairs.inserted + m.flow.repairs.closed, 0);
	check_model(&m, HEAD "0\t1\t4\tT_pidtid\tthread\t\t\t0\n1\t1\t1\tA\n2\t1\t2\tB\n3\t1\t3\tC\n1\t1\t1\tD\n");
}

TEST(events_a_switch_charges_the_thread_that_ran)
{
	struct model m;

	parse_events(&m, "0 pidtid S\n0 > A\n5 pidtid T\n5 > B\n8 pidtid S\n10 < A\n");
	CHECK_U64(m.flow.repairs.closed, 1);
	check_model(&m, HEAD "0\t1\t0\tS_pidtid\tthread\t\t\t0\n1\t1\t7\tA\n"
			     "0\t1\t0\tT_pidtid\tthread\t\t\t0\n1\t1\t3\tB\n");
}

TEST(events_with_a_clock_a_thread_charge_nobody_at_a_switch)
{
	struct model m;

	parse_events(&m, "# clock thread\n10 pidtid S\n10 > A\n500 pidtid T\n500 > B\n503 < B\n15 pidtid S\n17 < A\n");
	check_model(&m, HEAD "0\t1\t0\tS_pidtid\tthread\t\t\t0\n1\t1\t7\tA\n"
			     "0\t1\t0\tT_pidtid\tthread\t\t\t0\n1\t1\t3\tB\n");
}

enum { PRUNED = NR_NAMES + 1 };

TEST(prune_keeps_sums_and_drops_only_what_is_small)
{
	int round;

	for (round = 0; round < 30; round++) {
		uint64_t before[NR_METRICS], after[NR_METRICS], n;
		double percent = unit_random() % 200 / 10.0;
		struct flow f, out;
		uint32_t i;

		random_tree(&f, NULL, 80, 8);
		n = flow_totals(&f, before);
		flow_prune(&f, percent, PRUNED, &out, NULL);
		CHECK_U64(flow_totals(&out, after), n);
		CHECK(!memcmp(before, after, sizeof(before)));
		for (i = 1; i < out.nr_nodes; i++) {
			const uint64_t *cum = flow_cum(&out, i);

			if (out.nodes[i].consumer == PRUNED)
				CHECK(!out.nodes[i].child);
			else
				CHECK(cum[0] * 100.0 >= before[0] * percent ||
				      cum[1] * 100.0 >= before[1] * percent);
		}
		check_all(&out);
		if (percent == 0)
			CHECK_U64(out.nr_nodes, f.nr_nodes);
		flow_release(&out);
		flow_release(&f);
	}
}

TEST(map_and_filter_keep_what_they_say)
{
	uint32_t to[NR_NAMES + 1] = { 0, 1, 1, 2, FLOW_DROP, 3, 3 };
	uint32_t has[NR_NAMES + 1] = { 0, 0, 0, 1, 0, 2, 0 };
	uint64_t before[NR_METRICS], after[NR_METRICS], want[NR_METRICS] = { 0 }, n;
	uint32_t path[MAX_PATH], i;
	struct flow f, out;
	size_t len, k;

	random_tree(&f, NULL, 300, 8);
	n = flow_totals(&f, before);
	flow_map(&f, to, true, &out, NULL);
	CHECK_U64(flow_totals(&out, after), n);
	CHECK(!memcmp(before, after, sizeof(before)));
	for (i = 1; i < out.nr_nodes; i++) {
		CHECK(out.nodes[i].consumer <= 4);
		CHECK(out.nodes[i].consumer != 4 || !out.nodes[i].parent);
		CHECK(!out.nodes[i].parent ||
		      out.nodes[i].consumer != out.nodes[out.nodes[i].parent].consumer);
	}
	check_all(&out);
	flow_release(&out);
	for (i = 1; i < f.nr_nodes; i++) {
		uint8_t mask = 0;

		len = node_path(&f, i, path);
		for (k = 0; k < len; k++)
			mask |= has[path[k]];
		if (mask == 3)
			want[0] += flow_base(&f, i)[0];
	}
	flow_filter(&f, has, 3, 0, &out, NULL);
	flow_totals(&out, after);
	CHECK_U64(after[0], want[0]);
	check_all(&out);
	flow_release(&out);
	flow_release(&f);
}

/* As a database answers: in any order, several rows of one node, and escapes of its own. */
TEST(nodes_in_any_order_are_a_tree)
{
	static const char rows[] =
		"# nodes\n# n calls\n# metric metric units\n"
		"30\t20\t1\t4\tit\\'s\tjava\t\t\t0\n"
		"20\t10\t1\t3\tB\n"
		"-7\t\t5\t6\tC\tnative\tlibc.so\n"
		"20\t10\t2\t1\tB\n"
		"10\t0\t1\t2\tA\n";
	struct model m;
	struct err e;

	CHECK(!input_tree(&m, rows, strlen(rows), &e));
	check_model(&m, HEAD "0\t1\t2\tA\n1\t3\t4\tB\n2\t1\t4\tit's\tjava\t\t\t0\n"
			     "0\t5\t6\tC\tnative\tlibc.so\t\t0\n");
}

/* However deep, and whatever comes first: nothing recurses. */
TEST(nodes_may_be_a_chain_with_its_end_first)
{
	char *text = NULL;
	struct model m;
	struct err e;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int i;

	fputs("# nodes\n", out);
	for (i = 200000; i; i--)
		fprintf(out, "%d\t%d\t1\t1\tf\n", i, i - 1);
	fclose(out);
	CHECK(!input_tree(&m, text, len, &e));
	CHECK_U64(m.flow.nr_nodes, 200001);
	CHECK_U64(m.flow.rl[200000], 200000);
	free(text);
	model_release(&m);
}
