// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff-power.c - how often "arcprof diff" marks what changed, and what did not, in comparisons drawn at
 * random from recordings of equal runs and of runs with a planted change: difference.sh makes these. Beside
 * it stands the bound: what a test would find that is told which function to look at, and how much runs
 * vary; "in all rows" is that with the weight that its share gives the function among the others.
 *
 *	diff-power [-v] <folder> <program> <draws> <plant>=<function>...
 *
 * Recordings are <folder>/<program>-<plant>-<n>.data, and those of equal runs have the plant "base"; twice
 * as many pairs of these are drawn. With -v each mark that is wrong, and each miss, has a line.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "diff/choice.h"
#include "diff/noise.h"
#include "report/report.h"

/* A recording, read once and compared many times. */
struct run {
	struct trace_reader *t;
	struct names names;
	struct model model;
	struct origin origin;
	struct view view;
	const char *path;
};

struct runs {
	struct run *list;
	size_t nr;
	glob_t paths;
};

/* A plant, and the function that it changes. */
struct plant {
	char *name, *function;
	struct runs runs;
};

/* What happened to a plant in all draws. */
struct tally {
	unsigned int found, others, draws;
	unsigned int one_run, tiers, inlined, by_chance;	/* why it was not marked */
	double *changes;					/* [found] */
};

/* What is known of the planted function from all runs at once. */
struct truth {
	double effect;			/* ln */
	double sampling[DIFF_NR_SIDES];	/* variance of one run */
	double variance;		/* of ln from run to run, beside that */
	double share;
};

static const struct same_opts same = { .thread_digits = true };
static bool verbose;
static uint64_t seed = 0x5eed0006;

static size_t draw_below(size_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % limit;
}

static void read_run(struct run *r, const char *path)
{
	static const struct profile_opts po = { .names.by_kind = true, .times = true, .whole_functions = true,
						.calibrate = true };
	static const struct report_opts ro = { .report = &report_xprof, .profile = &po };
	struct err e = { 0 };

	r->path = path;
	if (trace_reader_open(&r->t, path, &e) ||
	    profile_read(&r->names, &r->model, &r->origin, r->t, &po, &e) ||
	    view_init(&r->view, &r->model, &r->origin, &ro, &e)) {
		fprintf(stderr, "%s: %s\n", path, e.msg);
		exit(1);
	}
}

static void read_runs(struct runs *all, const char *folder, const char *program, const char *plant)
{
	char *pattern = xasprintf("%s/%s-%s-*.data", folder, program, plant);
	size_t i;

	if (glob(pattern, 0, NULL, &all->paths)) {
		fprintf(stderr, "diff-power: no recording fits %s\n", pattern);
		exit(1);
	}
	free(pattern);
	all->nr = all->paths.gl_pathc;
	all->list = xcalloc(all->nr, sizeof(*all->list));
	for (i = 0; i < all->nr; i++)
		read_run(&all->list[i], all->paths.gl_pathv[i]);
}

static void release_runs(struct runs *all)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		struct run *r = &all->list[i];

		view_release(&r->view);
		names_release(&r->names);
		model_release(&r->model);
		trace_reader_close(r->t);
	}
	free(all->list);
	globfree(&all->paths);
}

/* Puts nr runs drawn at random at the beginning of the order. */
static void shuffle(size_t *order, size_t of, size_t nr)
{
	size_t i, k, swap;

	for (i = 0; i < nr; i++) {
		k = i + draw_below(of - i);
		swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
}

static size_t *order_new(size_t nr)
{
	size_t *order = xcalloc(nr, sizeof(*order)), i;

	for (i = 0; i < nr; i++)
		order[i] = i;
	return order;
}

static void add_run(struct diff *d, unsigned int side, const struct run *r)
{
	const struct diff_about about = {
		.path = r->path, .duration_ns = r->origin.duration_ns, .recorded_ns = r->origin.duration_ns,
		.has_jit = r->names.nr_methods > 0,
	};
	struct err e = { 0 };

	if (!diff_add(d, side, &r->model, &about, &e))
		return;
	fprintf(stderr, "%s: %s\n", r->path, e.msg);
	exit(1);
}

static void compare_end(struct diff *d, struct diff_rows *x)
{
	rows_release(x);
	diff_release(d);
}

/* Compares n runs of a, those that of_a begins with, with n of b. */
static void compare(struct diff *d, struct diff_rows *x, struct noise *noise, const struct runs *a,
		    const size_t *of_a, const struct runs *b, const size_t *of_b, size_t n)
{
	size_t i;

	diff_init(d, NULL, &same);
	for (i = 0; i < n; i++)
		add_run(d, DIFF_A, &a->list[of_a[i]]);
	for (i = 0; i < n; i++)
		add_run(d, DIFF_B, &b->list[of_b[i]]);
	diff_finish(d);
	rows_init(x, d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	noise_fill(noise, x);
}

static void print_row(const char *what, const struct diff *d, const struct diff_row *row)
{
	static const char *const doubts[] = { "", ", few runs", ", compiled late" };

	if (verbose)
		printf("  %s: %s: %.2f %%, n %ju %ju, %+.0f %% (%+.0f to %+.0f), error %.3f, p %.2g, q %.2g%s%s%s\n",
		       what, consumer_name(&d->m.consumers, row->consumer), 100 * row->share,
		       (uintmax_t)row->n[DIFF_A], (uintmax_t)row->n[DIFF_B], 100 * choice_change(row),
		       100 * row->low, 100 * row->high, row->error, row->p, row->q,
		       doubts[row->doubt], row->inlined_differently ? ", inlined differently" : "",
		       row->of_last_tier ? ", last tier" : "");
}

/* ---- equal runs ---- */

static void compare_equal_runs(const struct runs *base, size_t n, unsigned int draws)
{
	size_t *order = order_new(base->nr), k;
	unsigned int i, alarms = 0, rows = 0, is;
	struct diff_rows x;
	struct noise noise;
	struct diff d;

	for (i = 0; i < draws; i++) {
		shuffle(order, base->nr, 2 * n);
		compare(&d, &x, &noise, base, order, base, order + n, n);
		for (is = 0, k = 0; k < x.nr; k++)
			if (x.list[k].changed) {
				print_row("alarm", &d, &x.list[k]);
				is++;
			}
		rows += is;
		alarms += is > 0;
		compare_end(&d, &x);
	}
	printf("%zu+%zu: %u of %u equal pairs have a mark (%.1f %%, %.2f rows each)\n", n, n, alarms, draws,
	       100. * alarms / draws, (double)rows / draws);
	free(order);
}

/* ---- plants ---- */

static const struct diff_row *row_of(const struct diff *d, const struct diff_rows *x, const char *function)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		if (!strcmp(consumer_name(&d->m.consumers, x->list[i].consumer), function))
			return &x->list[i];
	return NULL;
}

static void count_plant(struct tally *t, const struct diff *d, const struct diff_rows *x,
			const char *function)
{
	const struct diff_row *row = row_of(d, x, function);
	size_t i;

	t->draws++;
	for (i = 0; i < x->nr; i++)
		t->others += x->list[i].changed && &x->list[i] != row;
	if (row && row->changed) {
		t->changes[t->found++] = choice_change(row);
		return;
	}
	if (row)
		print_row("missed", d, row);
	t->one_run += row && row->doubt == DIFF_ONE_RUN;
	t->tiers += row && row->doubt == DIFF_TIERS;
	t->inlined += row && !row->doubt && row->inlined_differently;
	t->by_chance += !row || (!row->doubt && !row->inlined_differently);
}

static int compare_doubles(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return a < b ? -1 : a > b;
}

/* Return the chance that a normal variable exceeds z. */
static double normal_above(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/* Return what a normal variable is beyond, in either direction, with chance p. */
static double beyond(double p)
{
	double low = 0, high = 40;
	int i;

	for (i = 0; i < 60; i++)
		*(2 * normal_above((low + high) / 2) > p ? &low : &high) = (low + high) / 2;
	return high;
}

/* Return how often a change like that is beyond what chance makes with probability p. */
static double bound(const struct truth *t, size_t n, double p)
{
	double v = (t->sampling[DIFF_A] + t->sampling[DIFF_B] + 2 * t->variance) / n;

	return normal_above(beyond(p) - fabs(t->effect) / sqrt(v));
}

/* Learns from all runs, of the code of the last tier or of all. */
static struct truth truth_of(const struct diff *d, const struct diff_rows *x, const struct diff_row *row,
			     bool late)
{
	double mean[DIFF_NR_SIDES] = { 0 }, n[DIFF_NR_SIDES] = { 0 }, squares = 0, *y;
	struct truth t = { 0 };
	size_t i;

	y = xcalloc(d->nr_runs, sizeof(*y));
	for (i = 0; i < d->nr_runs; i++) {
		const struct diff_run *r = &d->runs[i];
		double of_n = row_n(x, row, r) - (late ? row_saved_of(row, r->saved_n) : 0);

		y[i] = log((of_n + .5) / row_divisor(x, row, r));
		mean[r->side] += y[i] / d->nr_of_side[r->side];
		n[r->side] += of_n / d->nr_of_side[r->side];
	}
	for (i = 0; i < d->nr_runs; i++)
		squares += pow(y[i] - mean[d->runs[i].side], 2) - 1 / (n[d->runs[i].side] + .5);
	for (i = 0; i < DIFF_NR_SIDES; i++)
		t.sampling[i] = 1 / (n[i] + .5);
	t.variance = MAX(0., squares / (d->nr_runs - DIFF_NR_SIDES));
	t.effect = mean[DIFF_B] - mean[DIFF_A];
	t.share = row->share;
	free(y);
	return t;
}

static void print_bound(const struct runs *base, const struct runs *planted, const char *function, size_t n)
{
	struct diff_rows x;
	struct diff d;
	struct truth t, of_late;
	const struct diff_row *row;
	size_t i;

	diff_init(&d, NULL, &same);
	for (i = 0; i < base->nr; i++)
		add_run(&d, DIFF_A, &base->list[i]);
	for (i = 0; i < planted->nr; i++)
		add_run(&d, DIFF_B, &planted->list[i]);
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	row = row_of(&d, &x, function);
	if (row) {
		t = truth_of(&d, &x, row, false);
		of_late = truth_of(&d, &x, row, true);
		if (bound(&of_late, n, .05) > bound(&t, n, .05))
			t = of_late;
		printf("; bound %.0f %%, in all rows %.0f %%", 100 * bound(&t, n, .05),
		       100 * bound(&t, n, NOISE_FDR * t.share));
		printf(" (%+.0f %%, runs vary by %.1f %%, samples by %.1f %%)", 100 * expm1(t.effect),
		       100 * sqrt(t.variance), 100 * sqrt(t.sampling[DIFF_A]));
	}
	compare_end(&d, &x);
}

static void compare_plant(const struct runs *base, const struct plant *p, size_t n, unsigned int draws)
{
	const struct runs *planted = &p->runs;
	struct tally t = { .changes = xcalloc(draws, sizeof(double)) };
	size_t *of_base = order_new(base->nr), *of_plant = order_new(planted->nr);
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	unsigned int i;

	for (i = 0; i < draws; i++) {
		shuffle(of_base, base->nr, n);
		shuffle(of_plant, planted->nr, n);
		compare(&d, &x, &noise, base, of_base, planted, of_plant, n);
		count_plant(&t, &d, &x, p->function);
		compare_end(&d, &x);
	}
	qsort(t.changes, t.found, sizeof(*t.changes), compare_doubles);
	printf("  %-4s %3.0f %% found", p->name, 100. * t.found / draws);
	if (t.found)
		printf(" (%+.0f %%)", 100 * t.changes[t.found / 2]);
	printf(", %.2f others; missed: %u chance, %u few runs, %u late, %u inlined", (double)t.others / draws,
	       t.by_chance, t.one_run, t.tiers, t.inlined);
	print_bound(base, planted, p->function, n);
	printf("\n");
	free(t.changes);
	free(of_base);
	free(of_plant);
}

/* Splits "<plant>=<function>"; false: it is neither. */
static bool read_plant(struct plant *p, char *text, const char *folder, const char *program)
{
	p->name = text;
	p->function = strchr(text, '=');
	if (!p->function)
		return false;
	*p->function++ = '\0';
	read_runs(&p->runs, folder, program, p->name);
	return true;
}

static void compare_all(const char *program, const struct runs *base, const struct plant *plants, size_t nr,
			unsigned int draws)
{
	static const size_t sizes[] = { 1, 3, 5 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (2 * sizes[i] > base->nr)
			continue;
		printf("%s ", program);
		compare_equal_runs(base, sizes[i], 2 * draws);
		for (k = 0; k < nr; k++)
			if (plants[k].runs.nr >= sizes[i])
				compare_plant(base, &plants[k], sizes[i], draws);
	}
}

int main(int argc, char **argv)
{
	struct plant *plants;
	struct runs base;
	unsigned int draws;
	int i, nr;

	verbose = argc > 1 && !strcmp(argv[1], "-v");
	argv += verbose;
	argc -= verbose;
	nr = argc - 4;
	if (nr < 0 || !(draws = strtoul(argv[3], NULL, 10))) {
		fputs("usage: diff-power [-v] <folder> <program> <draws> <plant>=<function>...\n", stderr);
		return 2;
	}
	read_runs(&base, argv[1], argv[2], "base");
	plants = xcalloc(nr + 1, sizeof(*plants));
	for (i = 0; i < nr; i++)
		if (!read_plant(&plants[i], argv[4 + i], argv[1], argv[2]))
			return 2;
	compare_all(argv[2], &base, plants, nr, draws);
	for (i = 0; i < nr; i++)
		release_runs(&plants[i].runs);
	release_runs(&base);
	free(plants);
	return 0;
}
