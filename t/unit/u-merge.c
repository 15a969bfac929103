// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-merge.c - merged traces of random models: written and read they are what they were, and neither the order
 * of the models nor which were merged before others changes anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/check.h"
#include "flow/input.h"
#include "model/merge.h"
#include "model/profile.h"
#include "unit.h"

enum { NR_MODELS = 5, MAX_LEVEL = 7 };

/* A model and where it came from, as a command has it after reading a trace. */
struct subject {
	struct model m;
	struct origin origin;
	struct names names;
	struct trace_reader *t;		/* NULL: made here */
};

static void release(struct subject *s)
{
	if (s->t) {
		names_release(&s->names);
		trace_reader_close(s->t);
	}
	model_release(&s->m);
}

/* Names that differ in what changes from run to run, threads with numbers, and some of everything. */
static void put_name(struct buf *b, unsigned int level)
{
	static const char *const names[] = {
		"Main$$Lambda/0x%x.run\tjava", "f%u\tnative\t/lib/libc.so.6", "f%u\tnative\t/opt/libc.so.6",
		"sys_%u\tkernel", "A.m%u\tjava-compiled", "A.m%u\tjava-inlined", "odd\\t\\;%u\tany", "[arcprof]\tmark",
		"GeneratedMethodAccessor%u.invoke\tjava",
	};
	unsigned int which = unit_random() % ARRAY_SIZE(names), number = unit_random() % 3;
	bool process = !level;

	if (level < 2) {
		buf_fmt(b, "%s%u\t%s\t\t\t%llu", process ? "app" : "worker-", number, process ? "process" : "thread",
			(unsigned long long)(100 + unit_random() % 2) << 32 |
				(process ? 0 : 200 + unit_random() % 2));
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	buf_fmt(b, names[which], number);
#pragma GCC diagnostic pop
	buf_str(b, strchr(strchr(names[which], '\t') + 1, '\t') ? "\t\t0" : "\t\t\t0");
}

static void random_model(struct subject *s, unsigned int nr)
{
	static const char *const heads[] = {
		"# levels\n# n calls\n# metric cpu ns\n# metric alloc bytes\n",
		"# levels\n# n samples\n# metric cpu-clock ns\n",
		"# levels\n# n calls\n# metric cpu ns\n# metric cpu-clock ns samples\n# metric samples samples\n",
		("# levels\n# n samples\n# metric page-faults events\n# metric cpu-clock ns cpu-clock.samples\n"
		 "# metric cpu-clock.samples samples\n"),
	};
	static const unsigned int nr_columns[] = { 2, 1, 3, 3 };
	unsigned int which = unit_random() % ARRAY_SIZE(heads), level = 0, i, k;
	struct buf b = BUF_INIT;
	struct err e = { 0 };

	*s = (struct subject){ .origin = { .start_ns = 1000 + unit_random() % 3,
					   .duration_ns = unit_random() % 100, .lost = nr,
					   .host = unit_random() % 2 ? "one" : "two",
					   .command = unit_random() % 2 ? "run" : NULL } };
	buf_str(&b, heads[which]);
	for (i = 0; i < 1 + unit_random() % 60; i++) {
		buf_fmt(&b, "%u", level);
		for (k = 0; k <= nr_columns[which]; k++)
			buf_fmt(&b, "\t%u", (unsigned int)(unit_random() % 4 ? unit_random() % 9 : 0));
		buf_putc(&b, '\t');
		put_name(&b, level);
		buf_putc(&b, '\n');
		level = unit_random() % (MIN(level + 1, (unsigned int)MAX_LEVEL) + 1);
	}
	if (input_tree(&s->m, b.data, b.len, &e))
		CHECK_STR(e.msg, "");
	buf_release(&b);
}

static void read_back(struct subject *s, const char *path)
{
	const struct profile_opts o = { .all_events = true };
	struct flow_check c[FLOW_NR_CHECKS];
	struct err e = { 0 };

	*s = (struct subject){ .t = NULL };
	CHECK_U64(trace_reader_open(&s->t, path, &e), 0);
	if (profile_read(&s->names, &s->m, &s->origin, s->t, &o, &e))
		CHECK_STR(e.msg, "");
	CHECK_U64(flow_check(&s->m.flow, c), 0);
}

/* Merges nr subjects, writes the result and reads it. */
static void merged(struct subject *out, enum merge_op op, const struct subject *const *list, size_t nr)
{
	char path[] = "/tmp/arcprof-u-merge-XXXXXX", file[64];
	static const struct same_opts same = { .pids = false };
	struct merge g;
	struct err e = { 0 };
	size_t i;

	CHECK(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/trace", path);
	merge_init(&g, op, &same);
	for (i = 0; i < nr; i++)
		CHECK_U64(merge_add(&g, &list[i]->m, &list[i]->origin, &e), 0);
	CHECK_U64(merge_finish(&g, &e), 0);
	if (merge_write(&g, file, &e))
		CHECK_STR(e.msg, "");
	read_back(out, file);
	merge_release(&g);
	unlink(file);
	rmdir(path);
}

/* All that a merged trace says, as text. */
static char *text_of(const struct subject *s)
{
	char *text = NULL;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);

	output_tree(&s->m, out);
	for (i = 0; i < s->origin.nr_parts; i++) {
		const struct recording *r = &s->origin.parts[i];

		fprintf(out, "%llu %llu %llu %s %s\n", (unsigned long long)r->start_ns,
			(unsigned long long)r->duration_ns, (unsigned long long)r->lost, r->host ? r->host : "-",
			r->command ? r->command : "-");
	}
	fclose(out);
	return text;
}

static void shuffle(const struct subject **list, size_t nr)
{
	size_t i;

	for (i = nr; i > 1; i--) {
		size_t k = unit_random() % i;
		const struct subject *s = list[k];

		list[k] = list[i - 1];
		list[i - 1] = s;
	}
}

/* Merges some of them first, then the result with the others, until one is left. */
static char *in_any_grouping(enum merge_op op, const struct subject *models)
{
	const struct subject *list[NR_MODELS];
	struct subject made[NR_MODELS];
	size_t nr = NR_MODELS, nr_made = 0, i, k;
	char *text;

	for (i = 0; i < nr; i++)
		list[i] = &models[i];
	while (nr > 1) {
		shuffle(list, nr);
		k = 2 + unit_random() % (nr - 1);
		merged(&made[nr_made], op, list + nr - k, k);
		nr -= k - 1;
		list[nr - 1] = &made[nr_made++];
	}
	text = text_of(list[0]);
	while (nr_made)
		release(&made[--nr_made]);
	return text;
}

static void check_groupings(enum merge_op op)
{
	int round, again, i;

	for (round = 0; round < 25 / UNIT_STRIDE; round++) {
		struct subject models[NR_MODELS];
		char *first, *other;

		for (i = 0; i < NR_MODELS; i++)
			random_model(&models[i], i);
		first = in_any_grouping(op, models);
		for (again = 0; again < 6; again++) {
			other = in_any_grouping(op, models);
			CHECK_STR(other, first);
			free(other);
		}
		free(first);
		for (i = 0; i < NR_MODELS; i++)
			release(&models[i]);
	}
}

TEST(merge_adds_the_same_in_any_order_and_grouping)
{
	check_groupings(MERGE_ADD);
}

TEST(merge_has_the_same_minimum_in_any_order_and_grouping)
{
	check_groupings(MERGE_MINIMUM);
}

static uint64_t sum(const struct model *m, const char *metric)
{
	uint64_t total[FLOW_MAX_METRICS];
	unsigned int i;

	flow_totals(&m->flow, total);
	for (i = 0; i < m->nr_shown; i++)
		if (!strcmp(model_str(m, m->metrics[i].name), metric))
			return total[i];
	return 0;
}

TEST(merge_keeps_sums_and_takes_away_what_it_added)
{
	int round;

	for (round = 0; round < 50 / UNIT_STRIDE; round++) {
		struct subject a, b, both, again, none, zero;

		random_model(&a, 1);
		random_model(&b, 2);
		merged(&both, MERGE_ADD, (const struct subject *[]){ &a, &b }, 2);
		CHECK_U64(sum(&both.m, "cpu-clock"), sum(&a.m, "cpu-clock") + sum(&b.m, "cpu-clock"));
		CHECK_U64(sum(&both.m, "cpu"), sum(&a.m, "cpu") + sum(&b.m, "cpu"));
		merged(&again, MERGE_SUBTRACT, (const struct subject *[]){ &both, &b }, 2);
		CHECK_U64(sum(&again.m, "cpu-clock"), sum(&a.m, "cpu-clock"));
		CHECK_U64(again.origin.below_zero, 0);
		merged(&none, MERGE_SUBTRACT, (const struct subject *[]){ &a, &both }, 2);
		CHECK_U64(sum(&none.m, "cpu-clock"), 0);
		CHECK_U64(sum(&none.m, "minus-cpu-clock"), sum(&b.m, "cpu-clock"));
		CHECK_U64(sum(&none.m, "minus-cpu"), sum(&b.m, "cpu"));
		/* whatever is below zero on the way */
		merged(&zero, MERGE_SUBTRACT, (const struct subject *[]){ &both, &both, &b }, 3);
		CHECK_U64(sum(&zero.m, "cpu") - sum(&zero.m, "minus-cpu"), -sum(&b.m, "cpu"));
		release(&a);
		release(&b);
		release(&both);
		release(&again);
		release(&none);
		release(&zero);
	}
}
