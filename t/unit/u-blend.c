// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-blend.c - samples of random stacks, some functions of which were counted, against what each context must
 * get by definition: what is in uncounted functions is the counted one's above them.
 */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "flow/check.h"
#include "flow/input.h"
#include "model/blend.h"
#include "unit.h"

enum { NR_PATHS = 60, MAX_DEPTH = 6, NR_COUNTED = 3 };

struct path {
	int names[MAX_DEPTH], depth;
	unsigned int value;
};

/* Functions a, b, c are counted; u and v are not. */
static const char letters[] = "abcuv";

static void put_head(struct buf *b, bool calls)
{
	buf_str(b, calls ? "# levels\n# n calls\n# metric cpu ns\n# metric alloc bytes\n" :
			   "# levels\n# n samples\n# metric cpu-clock ns\n");
	buf_fmt(b, "0\t0\t0%s\tapp\tprocess\t\t\t%llu\n", calls ? "\t0" : "",
		calls ? 7ull << 32 : 8ull << 32);
	buf_fmt(b, "1\t%d\t0%s\tworker-%d\tthread\t\t\t%d\n", calls, calls ? "\t0" : "", calls ? 1 : 2,
		calls ? 5 : 6);
}

/* One line for each level of the path; only the last has values. */
static void put_path(struct buf *b, const struct path *p, bool calls)
{
	int k, level = 2;

	for (k = 0; k < p->depth; k++) {
		bool last = k == p->depth - 1;

		if (calls && p->names[k] >= NR_COUNTED)
			continue;
		buf_fmt(b, "%d\t%u\t%u%s\tA.%c\tjava\t\t\t0\n", level++, calls || last,
			!calls && last ? p->value : 0, calls ? "\t3" : "", letters[p->names[k]]);
	}
}

static void random_path(struct path *p)
{
	int k;

	p->depth = 1 + unit_random() % MAX_DEPTH;
	p->value = unit_random() % 100;
	for (k = 0; k < p->depth; k++)
		p->names[k] = unit_random() % 5;
}

static void counted_path(const struct path *p, char *text)
{
	int k;

	for (k = 0; k < p->depth; k++)
		if (p->names[k] < NR_COUNTED)
			*text++ = letters[p->names[k]];
	*text = '\0';
}

static void path_of(const struct model *m, uint32_t node, char *text)
{
	char back[MAX_DEPTH + 1];
	int nr = 0;

	for (; node; node = m->flow.nodes[node].parent)
		if (m->consumers.items[m->flow.nodes[node].consumer].kind == CONSUMER_JAVA)
			back[nr++] = model_str(m, m->consumers.items[m->flow.nodes[node].consumer].name)[2];
	while (nr)
		*text++ = back[--nr];
	*text = '\0';
}

/* What the context of that path must have of the samples. */
static uint64_t expected(const struct path *paths, const char *want)
{
	char text[MAX_DEPTH + 1];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NR_PATHS; i++) {
		counted_path(&paths[i], text);
		sum += strcmp(text, want) ? 0 : paths[i].value;
	}
	return sum;
}

static void check(const struct model *m, const struct path *paths)
{
	struct flow_check c[FLOW_NR_CHECKS];
	char text[MAX_DEPTH + 1];
	size_t i;

	CHECK_U64(flow_check(&m->flow, c), 0);
	CHECK_U64(m->nr_shown, 2);	/* no times of probes */
	CHECK_STR(model_str(m, m->metrics[0].name), "alloc");
	CHECK_STR(model_str(m, m->metrics[1].name), "cpu-clock");
	for (i = 1; i < m->flow.nr_nodes; i++) {
		path_of(m, i, text);
		if (m->consumers.items[m->flow.nodes[i].consumer].kind == CONSUMER_PROCESS)
			continue;
		CHECK_U64(flow_base(&m->flow, i)[1], expected(paths, text));
	}
}

TEST(blend_gives_each_context_the_samples_below_it)
{
	int round, i;

	for (round = 0; round < 100; round++) {
		struct path paths[NR_PATHS];
		struct model calls, samples, both;
		struct buf c = BUF_INIT, s = BUF_INIT;
		uint64_t total = 0, missing = 0;
		struct blend blend;
		struct err e = { 0 };
		/* the calls of the last paths were not counted: nor were they in the other run */
		int nr_called = round % 2 ? NR_PATHS : NR_PATHS / 2;

		put_head(&c, true);
		put_head(&s, false);
		buf_str(&c, "2\t1\t0\t0\tA.a\tjava\t\t\t0\n2\t1\t0\t0\tA.b\tjava\t\t\t0\n2\t1\t0\t0\tA.c\tjava\t\t\t0\n");
		for (i = 0; i < NR_PATHS; i++) {
			random_path(&paths[i]);
			put_path(&s, &paths[i], false);
			if (i < nr_called)
				put_path(&c, &paths[i], true);
			total += paths[i].value;
		}
		CHECK_U64(input_tree(&calls, c.data, c.len, &e), 0);
		CHECK_U64(input_tree(&samples, s.data, s.len, &e), 0);
		if (blend_models(&both, &calls, &samples, &blend, &e))
			CHECK_STR(e.msg, "");
		check(&both, paths);
		for (i = 1; i < (int)both.flow.nr_nodes; i++)
			missing += both.flow.nodes[i].n || i < 3 ? 0 : flow_base(&both.flow, i)[1];
		CHECK(fabs(blend.unmatched - (total ? (double)missing / total : 0)) < 1e-9);
		CHECK(blend.outside == 0 && (nr_called < NR_PATHS || blend.unmatched == 0));
		model_release(&calls);
		model_release(&samples);
		model_release(&both);
		buf_release(&c);
		buf_release(&s);
	}
}

TEST(blend_keeps_apart_what_calls_cannot_have)
{
	static const char c[] = "# levels\n# n calls\n# metric cpu ns\n0\t0\t0\tapp\tprocess\t\t\t1\n"
				"1\t1\t0\tmain\tthread\t\t\t1\n2\t1\t5\tA.a\tjava\t\t\t0\n";
	static const char s[] = "# levels\n# n samples\n# metric cpu-clock ns\n0\t0\t0\tapp\tprocess\t\t\t1\n"
				"1\t1\t10\tmain\tthread\t\t\t1\n2\t1\t20\tA.a\tjava\t\t\t0\n"
				/* the outer part of this stack is not known, so neither is its context */
				"2\t0\t0\t[unwalkable: lost]\tmark\t\t\t0\n3\t1\t30\tA.a\tjava\t\t\t0\n"
				"1\t1\t40\tGC\tthread\t\t\t2\n2\t1\t0\tmark_roots\tnative\t\t\t0\n";
	struct model calls, samples, both;
	struct blend b;
	struct err e = { 0 };

	CHECK_U64(input_tree(&calls, c, strlen(c), &e), 0);
	CHECK_U64(input_tree(&samples, s, strlen(s), &e), 0);
	CHECK_U64(blend_models(&both, &calls, &samples, &b, &e), 0);
	CHECK(fabs(b.unmatched - .3) < 1e-9);
	CHECK(fabs(b.outside - .4) < 1e-9);
	model_release(&both);
	CHECK(blend_models(&both, &samples, &samples, &b, &e) < 0);
	model_release(&both);
	CHECK(blend_models(&both, &calls, &calls, &b, &e) < 0);
	model_release(&both);
	model_release(&calls);
	model_release(&samples);
}
