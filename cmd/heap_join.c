// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_join.c - see heap_join.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/roster.h"
#include "heap_join.h"
#include "input.h"
#include "model/roster.h"

/* Return the names of sites in the heap's strings, [site]. */
static uint32_t *name_sites(struct heap *h, const struct roster *r)
{
	static const char unknown[] = "[no Java method]";
	uint32_t *names = xcalloc(r->nr_sites + 1, sizeof(*names));
	size_t i;

	for (i = 0; i < r->nr_sites; i++) {
		uint32_t site = r->sites[i].site;

		names[i] = strtab_adds(&h->names,
				       site ? consumer_name(&r->strings.consumers, site) : unknown);
	}
	return names;
}

static void heap_join_take(struct heap_join *j, struct heap *h, const struct roster *r)
{
	uint32_t *number = heap_samples(h), *names = name_sites(h, r), i;

	j->interval = r->interval;
	j->nr_recorded = r->nr_samples;
	j->origins = (struct heap_origins){
		.place = xcalloc((size_t)h->ids.nr + 1, sizeof(*j->origins.place)),
		.weight = xcalloc((size_t)h->ids.nr + 1, sizeof(*j->origins.weight)),
		.all = !r->interval,
	};
	for (i = 0; i < h->ids.nr; i++) {
		const struct roster_sample *s = roster_sample(r, number[i]);

		j->nr_unknown += number[i] && !s;
		if (!s)
			continue;
		j->origins.place[i] = names[s->site];
		j->origins.weight[i] = (float)roster_weight(r, s);
	}
	free(names);
	free(number);
}

int heap_join(struct heap_join *j, struct heap *h, const char *path, struct err *e)
{
	struct trace_reader *t = NULL;
	struct roster r;
	uint64_t cookie;
	int result;

	*j = (struct heap_join){ 0 };
	if (!heap_has_samples(h, &cookie)) {
		err_set(e, ENODATA, "the dump does not say which objects were sampled");
		err_hint(e, "make it while 'arcprof record -e live' is on: arcprof heap dump --samples");
		return -ENODATA;
	}
	result = input_open(&t, path, NULL, e);
	if (result)
		return result;
	result = roster_read(&r, t, cookie, e);
	if (result)
		err_wrap(e, "%s", path);
	else
		heap_join_take(j, h, &r);
	roster_release(&r);
	trace_reader_close(t);
	return result;
}

void heap_join_release(struct heap_join *j)
{
	free(j->origins.place);
	free(j->origins.weight);
}

static double heap_join_percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

char *heap_join_note(const struct heap_join *j, const struct heap *h, const struct heap_origin_facts *f)
{
	const double all = (double)h->bytes;
	struct buf b = BUF_INIT;

	if (j->origins.all)
		buf_fmt(&b, "%" PRIu64 " objects, %.1f %% of the heap, were allocated while all were recorded; the rest is [not sampled]",
			f->nr, heap_join_percent(f->bytes, all));
	else
		buf_fmt(&b, "%" PRIu64 " samples, one each %" PRIu64 " bytes, stand for %.1f %% of the heap; what holds %.1f %% of that is [not sampled]",
			f->nr, j->interval, heap_join_percent(f->bytes, all),
			heap_join_percent(f->held_by_unknown, f->bytes));
	if (j->nr_unknown)
		buf_fmt(&b, "; %zu more samples are not in the recording", j->nr_unknown);
	return b.data;
}

void heap_join_facts(const struct heap_join *j, const struct heap *h, const struct heap_origin_facts *f,
		     struct origin_fact facts[HEAP_JOIN_FACTS])
{
	const struct origin_fact all[HEAP_JOIN_FACTS] = {
		{ "samples", f->nr }, { "interval_bytes", j->interval },
		{ "sampled_percent", heap_join_percent(f->bytes, (double)h->bytes) },
		{ "held_by_known_bytes", f->held_by_known }, { "held_by_unknown_bytes", f->held_by_unknown },
		{ "samples_not_recorded", j->nr_unknown },
	};

	memcpy(facts, all, sizeof(all));
}
