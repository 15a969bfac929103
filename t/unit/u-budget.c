// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits are judged as their definition says, computed here from the paths of every context. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/input.h"
#include "report/verdict.h"
#include "unit.h"

enum { NR_PATHS = 40, MAX_DEPTH = 6 };

struct path {
	int names[MAX_DEPTH], depth;	/* 0 to 3: functions a to d */
	unsigned int n, cpu;
};

static void random_tree(struct path *paths, struct buf *text)
{
	int i, k;

	buf_str(text, "# n calls\n# metric cpu ns\n");
	for (i = 0; i < NR_PATHS; i++) {
		struct path *p = &paths[i];

		p->depth = 1 + unit_random() % MAX_DEPTH;
		p->n = unit_random() % 5;
		p->cpu = unit_random() % 100;
		for (k = 0; k < p->depth; k++) {
			p->names[k] = unit_random() % 4;
			buf_fmt(text, "%s%c", k ? ";" : "", 'a' + p->names[k]);
		}
		buf_fmt(text, "\t%u\t%u\n", p->n, p->cpu);
	}
}

static bool among(const char *set, int name)
{
	return strchr(set, 'a' + name);
}

/* base and n: the innermost is of the set; cum: any is that is not above all of "within". */
static bool counts(const struct path *p, enum limit_of of, const char *set, const char *within)
{
	int k, from = 0, last = p->depth - 1;

	while (*within && from < p->depth && !among(within, p->names[from]))
		from++;
	if (from == p->depth)
		return false;
	if (of != LIMIT_CUM)
		return among(set, p->names[last]);
	for (k = from; k < p->depth; k++)
		if (among(set, p->names[k]))
			return true;
	return false;
}

static uint64_t nr_operations(const struct path *paths, const char *set)
{
	uint64_t n = 0;
	int i, k;

	for (i = 0; i < NR_PATHS; i++) {
		for (k = 0; !among(set, paths[i].names[k]) && k + 1 < paths[i].depth; k++)
			;
		if (k + 1 == paths[i].depth && among(set, paths[i].names[k]))
			n += paths[i].n;
	}
	return n;
}

static struct verdict judged(struct judge *j, const char *line)
{
	struct limits l;
	struct err e;
	struct verdict v = { .state = VERDICT_ERROR };

	if (!limits_parse(&l, line, strlen(line), &e))
		v = judge_limit(j, &l.list[0]);
	limits_release(&l);
	return v;
}

TEST(limits_are_on_what_their_definition_says)
{
	static const char *const sets[] = { "a", "bc", "d", "abcd" };
	static const char *const ofs[] = { "base cpu", "cum cpu", "n" };
	int round;

	for (round = 0; round < 200; round++) {
		const char *set = sets[unit_random() % 4], *per = sets[unit_random() % 4];
		struct path paths[NR_PATHS];
		struct buf text = BUF_INIT;
		struct model m;
		struct judge j;
		struct err e;
		unsigned int of;

		random_tree(paths, &text);
		CHECK_U64(input_tree(&m, text.data, text.len, &e), 0);
		judge_init(&j, &m);
		for (of = 0; of < 3; of++) {
			uint64_t plain = 0, within = 0, ops = nr_operations(paths, per);
			struct verdict v;
			char line[100];
			int i;

			for (i = 0; i < NR_PATHS; i++) {
				unsigned int value = of == LIMIT_N ? paths[i].n : paths[i].cpu;

				plain += counts(&paths[i], of, set, "") ? value : 0;
				within += counts(&paths[i], of, set, per) ? value : 0;
			}
			snprintf(line, sizeof(line), "[%s] %s <= 5%s", set, ofs[of], of == LIMIT_N ? "" : "ns");
			v = judged(&j, line);
			CHECK(v.state != VERDICT_ERROR && v.exact && v.value == plain);
			CHECK_U64(v.state, plain <= 5 ? VERDICT_KEPT : VERDICT_VIOLATED);
			snprintf(line, sizeof(line), "[%s] %s > 5%s per [%s]", set, ofs[of],
				 of == LIMIT_N ? "" : "ns", per);
			v = judged(&j, line);
			CHECK((v.state == VERDICT_ERROR) == !ops);
			CHECK(!ops || v.value == (double)within / ops);
		}
		judge_release(&j);
		model_release(&m);
		buf_release(&text);
	}
}

TEST(limits_on_samples_are_violated_only_by_the_whole_interval)
{
	static const char tree[] = "# n samples\n# metric cpu ns\na\t300\t300000\nb\t700\t700000\nc\t0\t0\n";
	static const struct {
		const char *line;
		enum verdict_state state;
	} cases[] = {
		/* 300 of 1000 are 27.2 to 32.9 % */
		{ "a base cpu <= 27%", VERDICT_VIOLATED }, { "a base cpu <= 28%", VERDICT_UNDECIDED },
		{ "a base cpu <= 32%", VERDICT_UNDECIDED }, { "a base cpu <= 33%", VERDICT_KEPT },
		{ "a base cpu >= 33%", VERDICT_VIOLATED }, { "a base cpu >= 27%", VERDICT_KEPT },
		{ "a base cpu = 30%", VERDICT_UNDECIDED }, { "a base cpu = 40%", VERDICT_VIOLATED },
		/* 300 events are 268 to 336 */
		{ "a base cpu < 268us", VERDICT_UNDECIDED }, { "a base cpu < 267us", VERDICT_VIOLATED },
		{ "a base cpu < 337us", VERDICT_KEPT },
		/* no sample of 1000 is up to 0.38 %, up to 3.84 samples */
		{ "c base cpu <= 0.39%", VERDICT_KEPT }, { "c base cpu <= 0.3%", VERDICT_UNDECIDED },
		{ "c base cpu <= 3900ns", VERDICT_KEPT }, { "c base cpu <= 3us", VERDICT_UNDECIDED },
		{ "[total] base cpu >= 2s", VERDICT_VIOLATED },
		/* samples are not calls */
		{ "a n <= 1000", VERDICT_ERROR }, { "a base cpu <= 1s per b", VERDICT_ERROR },
		{ "x* base cpu <= 1s", VERDICT_ERROR }, { "a base wall <= 1s", VERDICT_ERROR },
		{ "a base cpu <= 5", VERDICT_ERROR }, { "a base cpu <= 5B", VERDICT_ERROR },
	};
	struct model m;
	struct judge j;
	struct err e;
	size_t i;

	CHECK_U64(input_tree(&m, tree, strlen(tree), &e), 0);
	judge_init(&j, &m);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_U64(judged(&j, cases[i].line).state, cases[i].state);
	judge_release(&j);
	model_release(&m);
}

TEST(limits_that_are_none_are_refused_with_their_line)
{
	static const char *const bad[] = {
		"a", "a n", "a n <=", "a n <= x", "a n <= -1", "a n <= 1e3", "a n <= 0x10", "a n <= 3 ms", "a n <= 3 per",
		"a n <= 3 per call", "a n <= 3 per b c", "a base", "a base cpu", "a cum cpu ! 3s", "a base cpu <= 3parsecs",
		"a base cpu <= 30% per b", "[total] base cpu <= 3s per call", "\"a n <= 3", "\"\" n <= 3", "\"a\"n <= 3",
		"a n <= 3 of b", "a total cpu <= 3s",
	};
	struct buf text = BUF_INIT;
	struct limits l;
	struct err e;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		buf_reset(&text);
		buf_fmt(&text, "# one\na n <= 3\n%s\n", bad[i]);
		CHECK(limits_parse(&l, text.data, text.len, &e) < 0);
		CHECK(!strncmp(e.msg, "line 3: ", 8));
		limits_release(&l);
	}
	CHECK(limits_parse(&l, "# none\n", 7, &e) < 0);
	limits_release(&l);
	CHECK(limits_parse(&l, "a n <= 3\0\n", 10, &e) < 0);
	limits_release(&l);
	buf_release(&text);
}
