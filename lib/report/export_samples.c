// SPDX-License-Identifier: GPL-2.0-or-later
/* export_samples.c - the samples of a metric, thread by thread. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export.h"

/* Makes the tracks, in the order of the tree; returns the track of each node. */
static uint32_t *number_tracks(struct export_samples *s, const struct view *v)
{
	const struct flow *f = &v->m->flow;
	uint32_t *track_of = xcalloc(f->nr_nodes, sizeof(*track_of)), i, outside = MAP_NONE;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		bool root = export_is_root(v, f->nodes[i].consumer);
		uint32_t parent = f->nodes[i].parent;

		if (!root && (parent || outside != MAP_NONE)) {
			track_of[i] = parent ? track_of[parent] : outside;
			continue;
		}
		if (!root)
			outside = s->nr_tracks;
		track_of[i] = s->nr_tracks;
		*VEC_ADD(s->tracks, s->nr_tracks, s->alloc_tracks) =
			(struct export_track){ .root = root ? i : FLOW_NONE };
	}
	return track_of;
}

/*
 * Numbers the samples by track, in each as they are by time: there may be many, so they stay where they are,
 * and only their indexes are sorted. 4 G of them are 128 GB.
 */
static void order_timed(struct export_samples *s, struct flow_times *t, unsigned int metric)
{
	size_t *next = xcalloc(s->nr_tracks + 1, sizeof(*next)), i, at = 0;

	flow_times_sort_by_time(t);
	for (i = 0; i < t->nr_list; i++)
		if (t->list[i].metric == metric)
			next[s->track_of[t->list[i].node]]++;
	for (i = 0; i < s->nr_tracks; i++) {
		s->tracks[i].first = at;
		s->tracks[i].nr = next[i];
		at += next[i];
		next[i] = s->tracks[i].first;
	}
	s->nr = at;
	s->order = xmalloc((at + 1) * sizeof(*s->order));
	for (i = 0; i < t->nr_list; i++) {
		const struct flow_time *x = &t->list[i];

		if (x->metric != metric)
			continue;
		s->order[next[s->track_of[x->node]]++] = i;
		s->tracks[s->track_of[x->node]].total += x->weight;
	}
	free(next);
}

/* Add contexts in the order of the tree, where a track's contexts need not be neighbours. */
static void add_contexts(struct export_samples *s, const struct view *v, unsigned int metric)
{
	const struct flow *f = &v->m->flow;
	unsigned int source = v->m->metrics[metric].source;
	uint64_t weight;
	uint32_t i, track;

	s->by_n = !v->total[metric] && v->m->nr_shown == 1;
	for (track = 0; track < s->nr_tracks; track++)
		s->tracks[track].nr = 0;
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		weight = s->by_n ? model_node_n(v->m, source, i) : flow_base(f, i)[metric];
		if (!weight)
			continue;
		*VEC_ADD(s->list, s->nr, s->alloc_list) = (struct export_sample){ 0, weight, i };
		s->tracks[s->track_of[i]].nr++;
		s->tracks[s->track_of[i]].total += weight;
	}
}

static int export_samples_compare(const void *p, const void *q, void *ctx)
{
	const struct export_sample *a = p, *b = q;
	const struct export_samples *s = ((const void *const *)ctx)[0];
	const uint32_t *rank = ((const void *const *)ctx)[1];

	return COMPARE(s->track_of[a->node], s->track_of[b->node]) ?:
	       COMPARE(rank[a->node], rank[b->node]);
}

static void sort_contexts(struct export_samples *s, const struct flow *f)
{
	uint32_t *rank = xcalloc(f->nr_nodes, sizeof(*rank)), i, nr = 0;
	const void *ctx[] = { s, rank };
	size_t at = 0;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i))
		rank[i] = nr++;
	if (s->nr)
		qsort_r(s->list, s->nr, sizeof(*s->list), export_samples_compare, ctx);
	for (i = 0; i < s->nr_tracks; i++) {
		s->tracks[i].first = at;
		at += s->tracks[i].nr;
	}
	free(rank);
}

/* Tracks without samples are dropped. */
static void drop_empty(struct export_samples *s, const struct flow *f)
{
	uint32_t *where = xcalloc(s->nr_tracks + 1, sizeof(*where)), i, nr = 0;

	for (i = 0; i < s->nr_tracks; i++) {
		where[i] = nr;
		if (s->tracks[i].nr)
			s->tracks[nr++] = s->tracks[i];
	}
	s->nr_tracks = nr;
	for (i = 0; i < f->nr_nodes; i++)
		s->track_of[i] = where[s->track_of[i]];
	free(where);
}

void export_samples_init(struct export_samples *s, const struct view *v, unsigned int metric)
{
	memset(s, 0, sizeof(*s));
	s->track_of = number_tracks(s, v);
	s->times = &v->m->times;
	order_timed(s, &v->m->times, metric);
	s->timed = s->nr;
	if (!s->timed) {
		add_contexts(s, v, metric);
		sort_contexts(s, &v->m->flow);
	}
	drop_empty(s, &v->m->flow);
}

struct export_sample export_sample(const struct export_samples *s, size_t i)
{
	const struct flow_time *x;

	if (!s->timed)
		return s->list[i];
	x = &s->times->list[s->order[i]];
	return (struct export_sample){ x->time_ns > s->times->start_ns ? x->time_ns - s->times->start_ns : 0,
				       x->weight, x->node };
}

static int compare_ranks(const void *p, const void *q, void *ctx)
{
	const struct export_samples *s = ((const void *const *)ctx)[0];
	const struct flow_time *list = s->times->list;
	const uint32_t *rank = ((const void *const *)ctx)[1], *a = p, *b = q;

	return COMPARE(rank[list[*a].node], rank[list[*b].node]) ?: COMPARE(*a, *b);	/* by time */
}

static int compare_rank_of_contexts(const void *p, const void *q, void *ctx)
{
	const struct export_sample *a = p, *b = q;
	const uint32_t *rank = ctx;

	return COMPARE(rank[a->node], rank[b->node]);
}

void export_samples_regroup(struct export_samples *s, const uint32_t *rank)
{
	const void *ctx[] = { s, rank };
	size_t i;

	for (i = 0; i < s->nr_tracks; i++) {
		const struct export_track *t = &s->tracks[i];

		if (s->timed)
			qsort_r(s->order + t->first, t->nr, sizeof(*s->order), compare_ranks, ctx);
		else
			qsort_r(s->list + t->first, t->nr, sizeof(*s->list), compare_rank_of_contexts,
				(void *)rank);
	}
}

void export_samples_release(struct export_samples *s)
{
	free(s->tracks);
	free(s->track_of);
	free(s->order);
	free(s->list);
}
