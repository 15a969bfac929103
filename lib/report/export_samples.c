// SPDX-License-Identifier: GPL-2.0-or-later
/* export_samples.c - the samples of a metric, thread by thread. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export.h"

static void add(struct export_samples *s, uint64_t time_ns, uint64_t weight, uint32_t node, uint32_t track)
{
	VEC_GROW(s->list, s->nr_list, s->alloc_list);
	s->list[s->nr_list++] = (struct export_sample){ time_ns, weight, node, track };
}

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
		VEC_GROW(s->tracks, s->nr_tracks, s->alloc_tracks);
		s->tracks[s->nr_tracks++] = (struct export_track){ .root = root ? i : FLOW_NONE };
	}
	return track_of;
}

static void add_timed(struct export_samples *s, const struct view *v, unsigned int metric,
		      const uint32_t *track_of)
{
	const struct flow_times *t = &v->m->times;
	size_t i;

	for (i = 0; i < t->nr_list; i++) {
		const struct flow_time *x = &t->list[i];

		if (x->metric == metric)
			add(s, x->time_ns > t->start_ns ? x->time_ns - t->start_ns : 0, x->weight, x->node,
			    track_of[x->node]);
	}
	s->timed = s->nr_list;
}

static void add_contexts(struct export_samples *s, const struct view *v, unsigned int metric,
			 const uint32_t *track_of)
{
	const struct flow *f = &v->m->flow;
	unsigned int source = v->m->metrics[metric].source;
	uint64_t weight;
	uint32_t i;

	s->by_n = !v->total[metric] && v->m->nr_shown == 1;
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		weight = s->by_n ? model_node_n(v->m, source, i) : flow_base(f, i)[metric];
		if (weight)
			add(s, 0, weight, i, track_of[i]);
	}
}

static int compare(const void *p, const void *q, void *ctx)
{
	const struct export_sample *a = p, *b = q;
	const uint32_t *rank = ctx;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return rank[a->node] < rank[b->node] ? -1 : rank[a->node] > rank[b->node];
}

static void sort(struct export_samples *s, const struct flow *f)
{
	uint32_t *rank = xcalloc(f->nr_nodes, sizeof(*rank)), i, nr = 0;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i))
		rank[i] = nr++;
	if (s->nr_list)
		qsort_r(s->list, s->nr_list, sizeof(*s->list), compare, rank);
	free(rank);
}

/* Finds the samples of each track; those without any are dropped. */
static void fill_tracks(struct export_samples *s)
{
	size_t i, nr = 0, at = 0;

	for (i = 0; i < s->nr_tracks; i++) {
		struct export_track t = { .root = s->tracks[i].root, .first = at };

		for (; at < s->nr_list && s->list[at].track == i; at++) {
			t.total += s->list[at].weight;
			s->list[at].track = nr;
		}
		t.nr = at - t.first;
		if (t.nr)
			s->tracks[nr++] = t;
	}
	s->nr_tracks = nr;
}

void export_samples_init(struct export_samples *s, const struct view *v, unsigned int metric)
{
	uint32_t *track_of;

	memset(s, 0, sizeof(*s));
	track_of = number_tracks(s, v);
	add_timed(s, v, metric, track_of);
	if (!s->timed)
		add_contexts(s, v, metric, track_of);
	sort(s, &v->m->flow);
	fill_tracks(s);
	free(track_of);
}

void export_samples_release(struct export_samples *s)
{
	free(s->tracks);
	free(s->list);
}
