// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_cpuprofile.c - a .cpuprofile, as "node --cpu-prof", Chrome's developer tools and V8's inspector
 * write it: a tree of functions, the node of each sample, and the times between samples.
 *
 * Source: the type Profile in v8/include/js_protocol.pdl. A node lists the nodes that it called, which V8
 * writes later; some programs write the caller of a node instead ("parent").
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/v8/read.h"

struct callee {
	uint32_t caller, id;		/* node, and what the file calls the other one */
};

struct cpuprofile {
	struct import *im;
	struct import_nodes nodes;
	struct map node_of;		/* id -> node */
	enum v8_function *what;		/* [node - 1] */
	uint64_t *hits;			/* the same: samples, in a file that does not have them one by one */
	size_t nr_what, alloc_what, nr_hits, alloc_hits;
	struct callee *callees;
	size_t nr_callees, alloc_callees;
	struct jsonin samples, deltas;
	double start_us, end_us;
	struct v8_scratch scratch;
};

/* ---- the tree ---- */

static uint32_t as_id(double v)
{
	return v >= 0 && v < UINT32_MAX ? v : UINT32_MAX;
}

static void add_callee(struct cpuprofile *p, uint32_t caller, uint32_t id)
{
	*VEC_ADD(p->callees, p->nr_callees, p->alloc_callees) = (struct callee){ caller, id };
}

static void add_node(struct cpuprofile *p, struct jsonin *j)
{
	struct v8_frame f = { .frame = { 0 } };
	uint32_t node = import_nodes_add(&p->nodes, f.frame, 0);
	struct import_text key;
	double hits = 0;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "id")) {
			*map_put(&p->node_of, as_id(jsonin_number(j))) = node;
		} else if (jsonin_is(key, "callFrame")) {
			f = v8_frame_read(p->im, j, &p->scratch);
		} else if (jsonin_is(key, "parent")) {
			/* Turned around below, when all ids are known. */
			p->nodes.items[node - 1].caller = as_id(jsonin_number(j));
		} else if (jsonin_is(key, "hitCount")) {
			hits = jsonin_number(j);
		} else if (jsonin_is(key, "children") && jsonin_peek(j) == '[') {
			jsonin_open(j, '[');
			while (jsonin_element(j))
				add_callee(p, node, as_id(jsonin_number(j)));
		} else {
			jsonin_skip(j);
		}
	if (!f.frame.kind)
		j->bad = true;
	p->nodes.items[node - 1].frame = f.frame;
	p->nodes.items[node - 1].hidden = f.what == V8_ROOT;
	*VEC_ADD(p->what, p->nr_what, p->alloc_what) = f.what;
	*VEC_ADD(p->hits, p->nr_hits, p->alloc_hits) = hits > 0 && hits < 0x1p52 ? hits : 0;
}

static void cpuprofile_read_tree(struct cpuprofile *p, struct jsonin j)
{
	uint32_t node;
	size_t i;

	jsonin_open(&j, '[');
	while (jsonin_element(&j))
		add_node(p, &j);
	for (i = 0; i < p->nodes.nr_items; i++) {
		uint32_t *caller = &p->nodes.items[i].caller;

		node = *caller ? map_get(&p->node_of, *caller) : 0;
		*caller = node == MAP_NONE ? 0 : node;
	}
	for (i = 0; i < p->nr_callees; i++) {
		node = map_get(&p->node_of, p->callees[i].id);
		if (node != MAP_NONE)
			p->nodes.items[node - 1].caller = p->callees[i].caller;
	}
}

/* ---- samples ---- */

static int cpuprofile_read_samples(struct cpuprofile *p, struct err *e)
{
	uint32_t events[2] = { 0, 0 };
	struct v8_samples s = { .im = p->im, .nodes = &p->nodes, .what = p->what, .events = events };
	struct jsonin *j = &p->samples, *d = &p->deltas;
	double at_us = p->start_us;
	uint32_t node;
	int r = 0;

	jsonin_open(j, '[');
	jsonin_open(d, '[');
	while (!r && jsonin_element(j)) {
		uint32_t id = as_id(jsonin_number(j));

		node = map_get(&p->node_of, id);
		if (j->bad || !jsonin_element(d))
			return err_set(e, EINVAL, "damaged: it has more samples than times");
		at_us += jsonin_number(d);
		if (node == MAP_NONE)
			return err_set(e, EINVAL, "damaged: a sample of node %u, which there is not", id);
		r = v8_samples_take(&s, at_us, node, e);
	}
	if (!r && (j->bad || d->bad || jsonin_element(d)))
		r = err_set(e, EINVAL, "damaged: it has other numbers of samples and of times");
	if (!r)
		r = v8_samples_end(&s, MAX(p->end_us, s.at_us), e);
	if (!r && s.first_us) {
		trace_write_label(p->im->w, "start.mono_ns", "%.0f", 1 + s.first_us * 1e3);
		trace_write_label(p->im->w, "end.mono_ns", "%.0f", 1 + s.at_us * 1e3);
	}
	return r;
}

/* Read how many samples each node had, from a file without samples. */
static int read_hits(struct cpuprofile *p, struct err *e)
{
	uint32_t event = import_event(p->im, (struct import_text){ "samples", 7 }, "samples");
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = event };
	size_t i;
	int r;

	for (i = 0; i < p->nr_hits; i++) {
		if (!p->hits[i] || p->what[i] == V8_IDLE)
			continue;
		if ((r = import_nodes_stack(&p->nodes, i + 1, &s.stack, e)))
			return r;
		s.weight = p->hits[i];
		s.more = p->hits[i] - 1;
		import_sample(p->im, &s);
	}
	p->im->unknown |= IMPORT_NO_TIMES;
	return 0;
}

static int cpuprofile_read_root(struct cpuprofile *p, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len), nodes = { 0 };
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key))
		if (jsonin_is(key, "nodes"))
			nodes = jsonin_skip(&j);
		else if (jsonin_is(key, "samples"))
			p->samples = jsonin_skip(&j);
		else if (jsonin_is(key, "timeDeltas"))
			p->deltas = jsonin_skip(&j);
		else if (jsonin_is(key, "startTime"))
			p->start_us = jsonin_number(&j);
		else if (jsonin_is(key, "endTime"))
			p->end_us = jsonin_number(&j);
		else
			jsonin_skip(&j);
	if (j.bad)
		return err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			       (size_t)(j.p - j.start));
	if (!nodes.p)
		return err_set(e, EINVAL, "damaged: it has no \"nodes\"");
	cpuprofile_read_tree(p, nodes);
	if (p->nr_what != p->nodes.nr_items || !p->nr_what)
		return err_set(e, EINVAL, "damaged: its nodes cannot be read");
	return p->samples.p && p->deltas.p ? cpuprofile_read_samples(p, e) : read_hits(p, e);
}

static int cpuprofile_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct cpuprofile p = { .im = im };
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_LOST | IMPORT_NO_MODES;
	import_nodes_init(&p.nodes, im, len);
	r = cpuprofile_read_root(&p, data, len, e);
	import_nodes_release(&p.nodes);
	map_release(&p.node_of);
	free(p.what);
	free(p.hits);
	free(p.callees);
	v8_scratch_release(&p.scratch);
	return r;
}

static bool cpuprofile_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;
	bool is = false;

	jsonin_open(&j, '{');
	while (!is && jsonin_member(&j, &key)) {
		if (jsonin_is(key, "nodes") && jsonin_peek(&j) == '[')
			is = memmem(data, len, "\"callFrame\"", 11);
		jsonin_skip(&j);
	}
	return is;
}

const struct import_format import_cpuprofile = {
	.name = "cpuprofile",
	.what = "a CPU profile of V8 (.cpuprofile)",
	.is = cpuprofile_is,
	.read = cpuprofile_read,
};
