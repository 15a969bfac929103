// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_heapprofile.c - a .heapprofile, as "node --heap-prof" and Chrome's developer tools write it: sampled
 * allocations that were still alive, as a tree of the functions that made them.
 *
 * Source: the type SamplingHeapProfile in v8/include/js_protocol.pdl. Nodes are nested, so that they are read
 * with a stack of our own, whatever the depth.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/v8/read.h"

enum { MAX_FRAMES = 65536 };

struct heapprofile {
	struct import *im;
	struct import_nodes nodes;
	double *bytes;			/* [node - 1] */
	size_t nr_bytes, alloc_bytes;
	uint32_t *open;			/* nodes that the cursor is in */
	size_t nr_open, alloc_open;
	struct v8_scratch scratch;
};

static int enter_node(struct heapprofile *p, struct jsonin *j, struct err *e)
{
	struct frame none = { 0 };
	uint32_t caller = p->nr_open ? p->open[p->nr_open - 1] : 0;

	if (p->nr_open == MAX_FRAMES)
		return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
	jsonin_open(j, '{');
	*VEC_ADD(p->open, p->nr_open, p->alloc_open) = import_nodes_add(&p->nodes, none, caller);
	*VEC_ADD(p->bytes, p->nr_bytes, p->alloc_bytes) = 0;
	return 0;
}

static void read_member(struct heapprofile *p, struct jsonin *j, struct import_text key)
{
	uint32_t node = p->open[p->nr_open - 1];

	if (jsonin_is(key, "callFrame")) {
		struct v8_frame f = v8_frame_read(p->im, j, &p->scratch);

		p->nodes.items[node - 1].frame = f.frame;
		p->nodes.items[node - 1].hidden = f.what == V8_ROOT;
	} else if (jsonin_is(key, "selfSize")) {
		p->bytes[node - 1] = jsonin_number(j);
	} else {
		jsonin_skip(j);
	}
}

static int heapprofile_read_tree(struct heapprofile *p, struct jsonin *j, struct err *e)
{
	struct import_text key;
	int r = enter_node(p, j, e);

	while (!r && p->nr_open && !j->bad) {
		if (jsonin_member(j, &key)) {
			if (!jsonin_is(key, "children") || jsonin_peek(j) != '[') {
				read_member(p, j, key);
				continue;
			}
			jsonin_open(j, '[');
		} else {
			p->nr_open--;
			if (!p->nr_open)
				break;
		}
		if (jsonin_element(j))		/* else the node that has this list goes on */
			r = enter_node(p, j, e);
	}
	return r;
}

static int write_samples(struct heapprofile *p, struct err *e)
{
	uint32_t event = import_event(p->im, (struct import_text){ "memory", 6 }, "bytes");
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = event, .more = -1 };
	size_t i;
	int r;

	for (i = 0; i < p->nr_bytes; i++) {
		if (!p->nodes.items[i].frame.kind)
			return err_set(e, EINVAL, "damaged: a node without a \"callFrame\"");
		if (!(p->bytes[i] >= 0) || p->bytes[i] >= 0x1p62)
			return err_set(e, EINVAL, "damaged: a size of %g", p->bytes[i]);
		if (!p->bytes[i])
			continue;
		if ((r = import_nodes_stack(&p->nodes, i + 1, &s.stack, e)))
			return r;
		s.weight = llround(p->bytes[i]);
		import_sample(p->im, &s);
	}
	return 0;
}

static int heapprofile_read_root(struct heapprofile *p, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;
	int r = 0;

	jsonin_open(&j, '{');
	while (!r && jsonin_member(&j, &key))
		if (jsonin_is(key, "head") && !p->nr_bytes)
			r = heapprofile_read_tree(p, &j, e);
		else
			jsonin_skip(&j);
	if (!r && j.bad)
		r = err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			    (size_t)(j.p - j.start));
	if (!r && !p->nr_bytes)
		r = err_set(e, EINVAL, "damaged: it has no \"head\"");
	return r ? r : write_samples(p, e);
}

static int heapprofile_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct heapprofile p = { .im = im };
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_COUNTS |
		      IMPORT_NO_LOST | IMPORT_NO_MODES;
	import_nodes_init(&p.nodes, im, len);
	r = heapprofile_read_root(&p, data, len, e);
	import_nodes_release(&p.nodes);
	free(p.bytes);
	free(p.open);
	v8_scratch_release(&p.scratch);
	return r;
}

static bool heapprofile_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;

	jsonin_open(&j, '{');
	return jsonin_member(&j, &key) && (jsonin_is(key, "head") || jsonin_is(key, "samples")) &&
	       memmem(data, len, "\"callFrame\"", 11) && memmem(data, len, "\"selfSize\"", 10);
}

const struct import_format import_heapprofile = {
	.name = "heapprofile",
	.what = "a heap profile of V8 (.heapprofile)",
	.is = heapprofile_is,
	.read = heapprofile_read,
};
