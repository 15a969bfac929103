// SPDX-License-Identifier: GPL-2.0-or-later
/* roster.c - see roster.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/roster.h"
#include "trace/roster.h"

static uint32_t site_index(struct roster *r, const struct roster_walk *w)
{
	const struct blame b = { .names = &r->names, .what = BLAME_METHOD };
	struct blamed s = blame_frames(&b, w->frames, w->nr_frames, r->time_ns);
	uint32_t *at = map_put(&r->site_of, (uint64_t)s.leaf << 32 | s.site);

	if (*at == MAP_NONE) {
		VEC_GROW(r->sites, r->nr_sites, r->alloc_sites);
		*at = r->nr_sites;
		r->sites[r->nr_sites++] = s;
	}
	return *at;
}

/* Add the first sample of a number: an honest recorder has no second. */
static void add_sample(struct roster *r, uint32_t site, const struct roster_object *o)
{
	uint32_t *at = map_put(&r->sample_of, o->number);

	if (*at != MAP_NONE || !o->number)
		return;
	VEC_GROW(r->samples, r->nr_samples, r->alloc_samples);
	*at = r->nr_samples;
	r->samples[r->nr_samples++] = (struct roster_sample){ site, o->size };
}

static int take_roster(void *ctx, const struct rec_roster *x)
{
	struct roster *r = ctx;
	uint32_t nr_contexts = 0, site = 0;
	struct roster_object o;
	struct roster_walk w;

	if (x->cookie != r->cookie)
		return 0;
	r->found = true;
	r->interval = x->interval;
	r->time_ns = x->time_ns;
	roster_walk(&w, x->objects, x->objects_len);
	while (roster_next(&w, &o)) {
		if (w.nr_contexts != nr_contexts)
			site = site_index(r, &w);
		nr_contexts = w.nr_contexts;
		add_sample(r, site, &o);
	}
	roster_walk_release(&w);
	return 0;
}

int roster_read(struct roster *r, struct trace_reader *t, uint64_t cookie, struct err *e)
{
	static const struct trace_sink sink = { .roster = take_roster };
	int result;

	*r = (struct roster){ .cookie = cookie };
	result = names_read_texts(&r->names, &r->strings, t, e);
	if (!result)
		result = trace_read(t, &sink, r, e);
	if (!result && !r->found)
		result = err_set(e, ENODATA, "it is not the recording that was on when the dump was made, or has ended before");
	return result;
}

void roster_release(struct roster *r)
{
	free(r->sites);
	free(r->samples);
	map_release(&r->sample_of);
	map_release(&r->site_of);
	names_release(&r->names);
	model_release(&r->strings);
}

const struct roster_sample *roster_sample(const struct roster *r, uint32_t number)
{
	uint32_t at = number ? map_get(&r->sample_of, number) : MAP_NONE;

	return at == MAP_NONE ? NULL : &r->samples[at];
}

double roster_weight(const struct roster *r, const struct roster_sample *s)
{
	double p = r->interval ? -expm1(-(double)s->size / (double)r->interval) : 1;

	return p > 0 ? 1 / p : 0;
}
