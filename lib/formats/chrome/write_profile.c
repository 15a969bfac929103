// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_profile.c - the samples of one metric as V8 writes CPU profiles: events "Profile" and "ProfileChunk" of
 * each thread. Perfetto, speedscope and the Firefox Profiler read these, and no other samples of the format
 * alike.
 *
 * A sample holds until the next one, so that it says how long a function ran, and where nothing did, a
 * function "(idle)" holds. Weights decide, times follow: what a sample weighs ends when it was taken, and
 * where two overlap, the later one is moved. The Firefox Profiler counts one sample each half a millisecond
 * and knows no weights: what weighs more is repeated.
 *
 * Source: v8/src/profiler/profile-generator.cc; importers of these programs.
 */
#include <string.h>

#include "base/mem.h"
#include "formats/chrome/write.h"

enum {
	STEP_NS = 500000,		/* between two samples, to the Firefox Profiler */
	MAX_REPEATS = 20,		/* of a sample: waits may last for hours */
	CHUNK = 1 << 14,		/* samples */
	IDLE = 1,			/* number of the node "(idle)" */
};

struct profile {
	struct chrome *c;
	struct chrome_place place;
	uint32_t id;
	struct map node_of;		/* stack -> number, from IDLE + 1 */
	uint32_t nr_nodes;
	struct profile_node { uint32_t id, parent, stack; } *nodes;	/* of this chunk; stack 0: idle */
	uint32_t *samples;
	uint64_t *deltas_us;
	size_t nr_new, alloc_nodes, nr_samples, alloc_samples, alloc_deltas;
	uint64_t last_us, begin_us;	/* the latest sample; the first of the chunk */
	uint32_t *path;			/* scratch: stacks from a leaf up */
	size_t nr_path, alloc_path;
};

static void begin_event(struct profile *p, const char *name, uint64_t us)
{
	struct json *j = &p->c->j;
	char id[24];

	snprintf(id, sizeof(id), "0x%x", p->id);
	chrome_event(p->c, "P", p->place.pid, p->place.tid);
	json_str(j, "cat", "disabled-by-default-v8.cpu_profiler");
	json_str(j, "name", name);
	json_str(j, "id", id);
	json_u64(j, "ts", us);
	json_object(j, "args");
	json_object(j, "data");
}

static void end_event(struct profile *p)
{
	json_end(&p->c->j);
	json_end(&p->c->j);
	json_end(&p->c->j);
}

static void put_nodes(struct profile *p)
{
	struct json *j = &p->c->j;
	size_t i;

	json_array(j, "nodes");
	for (i = 0; i < p->nr_new; i++) {
		const struct profile_node *n = &p->nodes[i];

		json_object(j, NULL);
		json_u64(j, "id", n->id);
		if (n->parent)
			json_u64(j, "parent", n->parent);
		json_object(j, "callFrame");
		json_str(j, "functionName", n->stack ? chrome_frame_name(p->c, n->stack) : "(idle)");
		json_u64(j, "scriptId", 0);
		json_str(j, "url", "");
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_chunk(struct profile *p)
{
	struct json *j = &p->c->j;
	size_t i;

	if (!p->nr_samples)
		return;
	begin_event(p, "ProfileChunk", p->begin_us);
	json_object(j, "cpuProfile");
	put_nodes(p);
	json_array(j, "samples");
	for (i = 0; i < p->nr_samples; i++)
		json_u64(j, NULL, p->samples[i]);
	json_end(j);
	json_end(j);
	json_array(j, "timeDeltas");
	for (i = 0; i < p->nr_samples; i++)
		json_u64(j, NULL, p->deltas_us[i]);
	json_end(j);
	end_event(p);
	p->nr_new = p->nr_samples = 0;
}

/*
 * Let the node hold from that time on. Times are rounded to whole microseconds, so that errors do not add up.
 */
static void put_point(struct profile *p, uint32_t node, uint64_t ns)
{
	uint64_t us = (ns + 500) / 1000;

	if (p->nr_samples == CHUNK)
		put_chunk(p);
	if (!p->nr_samples)
		p->begin_us = us;
	VEC_GROW(p->samples, p->nr_samples, p->alloc_samples);
	VEC_GROW(p->deltas_us, p->nr_samples, p->alloc_deltas);
	p->samples[p->nr_samples] = node;
	p->deltas_us[p->nr_samples++] = us - p->last_us;
	p->last_us = us;
}

static uint32_t profile_add_node(struct profile *p, uint32_t stack, uint32_t parent)
{
	*VEC_ADD(p->nodes, p->nr_new, p->alloc_nodes) =
		(struct profile_node){ ++p->nr_nodes, parent, stack };
	return p->nr_nodes;
}

/* Return the node of a stack; callers are written before callees. */
static uint32_t node_of(struct profile *p, uint32_t stack)
{
	uint32_t at, node = 0;

	for (p->nr_path = 0, at = stack; at; at = p->c->stacks.list[at - 1].caller) {
		node = map_get(&p->node_of, at);
		if (node != MAP_NONE)
			break;
		node = 0;
		*VEC_ADD(p->path, p->nr_path, p->alloc_path) = at;
	}
	while (p->nr_path) {
		at = p->path[--p->nr_path];
		node = profile_add_node(p, at, node);
		*map_put(&p->node_of, at) = node;
	}
	return node;
}

static void put_track(struct profile *p, const struct export_samples *s, const struct export_track *t)
{
	uint64_t end_ns = 0, begin_ns, repeat_ns;
	size_t i;

	begin_event(p, "Profile", 0);
	json_u64(&p->c->j, "startTime", 0);
	end_event(p);
	profile_add_node(p, 0, 0);
	put_point(p, IDLE, 0);
	for (i = t->first; i < t->first + t->nr; i++) {
		const struct export_sample x = export_sample(s, i);
		uint32_t node = node_of(p, export_stack(&p->c->stacks, x.node));

		begin_ns = x.time_ns - MIN(x.weight, x.time_ns);
		/* a gap that is shorter would take a sample from the Firefox Profiler */
		if (begin_ns < end_ns || begin_ns - end_ns < STEP_NS)
			begin_ns = end_ns;
		else if (end_ns)
			put_point(p, IDLE, end_ns);
		end_ns = begin_ns + x.weight;
		for (repeat_ns = begin_ns; repeat_ns < end_ns && repeat_ns - begin_ns < STEP_NS * MAX_REPEATS;
		     repeat_ns += STEP_NS)
			put_point(p, node, repeat_ns);
	}
	put_point(p, IDLE, end_ns);
	put_chunk(p);
}

void chrome_put_profiles(struct chrome *c, const struct export_samples *s)
{
	struct profile p = { .c = c };
	size_t i;

	for (i = 0; i < s->nr_tracks; i++) {
		p.place = chrome_place(c, s->tracks[i].root);
		p.id++;
		p.nr_nodes = 0;
		p.last_us = 0;
		map_reset(&p.node_of);
		put_track(&p, s, &s->tracks[i]);
	}
	map_release(&p.node_of);
	free(p.nodes);
	free(p.samples);
	free(p.deltas_us);
	free(p.path);
}
