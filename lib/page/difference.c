// SPDX-License-Identifier: GPL-2.0-or-later
/* difference.c - what a page of two sides says beside its tree: js/difference.mjs reads it. */
#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "page/page.h"

static const char *const normalizations[] = {
	[DIFF_SIZE] = "size", [DIFF_TOTAL] = "total", [DIFF_SECOND] = "second", [DIFF_NONE] = "none",
};

uint64_t page_difference_value(const struct page_difference *p, uint32_t node, unsigned int m)
{
	const struct diff *d = p->d;

	return m < d->nr_runs ? d->runs[m].base[node] : d->runs[m - d->nr_runs].n[node];
}

/* "A", or "A 2" where a side has several runs. */
void page_difference_metric(const struct page_difference *p, unsigned int m, struct json *j)
{
	const struct diff *d = p->d;
	size_t run = m % d->nr_runs, i;
	unsigned int side = d->runs[run].side, number = 1;
	struct buf name = BUF_INIT;

	for (i = 0; i < run; i++)
		number += d->runs[i].side == side;
	buf_fmt(&name, "%s%c", m < d->nr_runs ? "" : "n of ", "AB"[side]);
	if (d->nr_of_side[side] > 1)
		buf_fmt(&name, " %u", number);
	json_str(j, "name", name.data);
	json_str(j, "unit", m < d->nr_runs ? d->unit : "count");
	json_bool(j, "shown", m < d->nr_runs);
	buf_release(&name);
}

static double divisor(const struct page_difference *p, const struct diff_run *r)
{
	return p->normalize == DIFF_SIZE ? r->size : p->normalize == DIFF_TOTAL ? (double)r->total :
	       p->normalize == DIFF_SECOND ? r->about.recorded_ns / 1e9 : 1;
}

static void json_files(const struct diff *d, struct json *j)
{
	unsigned int side;
	size_t i;

	json_array(j, "files");
	for (side = 0; side < DIFF_NR_SIDES; side++) {
		json_array(j, NULL);
		for (i = 0; i < d->nr_runs; i++)
			if (d->runs[i].side == side)
				json_str(j, NULL, d->runs[i].about.path);
		json_end(j);
	}
	json_end(j);
}

static void json_runs(const struct page_difference *p, struct json *j)
{
	size_t i;

	json_array(j, "runs");
	for (i = 0; i < p->d->nr_runs; i++) {
		json_object(j, NULL);
		json_u64(j, "side", p->d->runs[i].side);
		json_u64(j, "metric", i);
		json_double(j, "divisor", divisor(p, &p->d->runs[i]));
		json_end(j);
	}
	json_end(j);
}

static void json_sources(const struct diff *d, struct json *j)
{
	size_t i;

	json_array(j, "sources");
	for (i = 0; i < d->nr_runs; i++) {
		json_object(j, NULL);
		json_u64(j, "metric", i);
		json_bool(j, "counts_in_n", false);
		json_u64(j, "count_metric", d->nr_runs + i);
		json_bool(j, "timed", false);
		json_end(j);
	}
	json_end(j);
}

static void json_head(const struct diff *d, struct json *j)
{
	struct buf b = BUF_INIT;
	size_t i;

	json_array(j, "head");
	buf_fmt(&b, "difference of %s", d->name);
	json_str(j, NULL, b.data);
	for (i = 0; i < d->nr_runs; i++) {
		buf_reset(&b);
		buf_fmt(&b, "%c: %s", "AB"[d->runs[i].side], d->runs[i].about.path);
		if (!d->runs[i].about.lost_unknown)
			buf_fmt(&b, ", %" PRIu64 " lost", d->runs[i].about.lost);
		json_str(j, NULL, b.data);
	}
	if (d->filter) {
		buf_reset(&b);
		buf_fmt(&b, "filter: %s", d->filter);
		json_str(j, NULL, b.data);
	}
	json_end(j);
	buf_release(&b);
}

void page_difference_json(const struct page_difference *p, struct json *j)
{
	json_head(p->d, j);
	json_sources(p->d, j);
	json_object(j, "difference");
	json_str(j, "metric", p->d->name);
	json_str(j, "unit", p->d->unit);
	json_str(j, "normalize", normalizations[p->normalize]);
	json_files(p->d, j);
	json_runs(p, j);
	json_end(j);
}

int page_difference_print(const struct page_difference *p, FILE *out, struct err *e)
{
	struct buf data = BUF_INIT;
	int r;

	if (p->d->nr_runs > PAGE_MAX_RUNS)
		return err_set(e, E2BIG, "a page holds at most %d runs, not %zu", PAGE_MAX_RUNS,
			       p->d->nr_runs);
	page_difference_data(p, &data);
	r = page_print_data(&data, NULL, NULL, out, e);
	buf_release(&data);
	return r;
}
