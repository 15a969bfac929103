// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - speedscope's own file format, JSON: for each metric and each thread a profile of
 * sampled stacks.
 *
 * A frame is a function, wherever in it the code was: to speedscope frames that differ in their lines
 * are different functions.  Frames are numbered as they come up, so the table of them is the last
 * member.
 *
 * Source: the schema https://www.speedscope.app/file-format-schema.json.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/export.h"
#include "version.h"

struct speedscope {
	struct view *v;
	struct json j;
	struct export x;
	struct map frame_of;		/* name and file, as ids of strings -> index */
	struct speedscope_frame {
		uint32_t name, file;
	} *frames;
	size_t nr_frames, alloc_frames;
	uint32_t *stack;		/* of a sample, innermost first */
	size_t nr_stack, alloc_stack;
};

static void push(struct speedscope *s, uint32_t location)
{
	const struct export_location *l = &s->x.locations[location - 1];
	const struct export_function *f = &s->x.functions[l->function - 1];
	uint32_t file = f->file || !l->module ? f->file : s->x.modules[l->module - 1].path;
	uint32_t *at = map_put(&s->frame_of, (uint64_t)f->name << 32 | file);

	if (*at == MAP_NONE) {
		VEC_GROW(s->frames, s->nr_frames, s->alloc_frames);
		*at = s->nr_frames;
		s->frames[s->nr_frames++] = (struct speedscope_frame){ f->name, file };
	}
	*VEC_ADD(s->stack, s->nr_stack, s->alloc_stack) = *at;
}

static void put_stack(struct speedscope *s, uint32_t node)
{
	const struct flow_node *nodes = s->v->m->flow.nodes;
	uint32_t location, caller, at = node;

	s->nr_stack = 0;
	do {
		for (location = export_location(&s->x, at, &caller); location;
		     location = s->x.locations[location - 1].caller)
			push(s, location);
		at = caller;
	} while (at && !export_is_root(s->v, nodes[at].consumer));
	json_array(&s->j, NULL);
	while (s->nr_stack)
		json_u64(&s->j, NULL, s->stack[--s->nr_stack]);
	json_end(&s->j);
}

/* Return the first sample after i with another stack: the same stack in succession is one sample. */
static size_t next_stack(const struct export_samples *l, size_t i, size_t end, uint64_t *weight)
{
	const uint32_t node = export_sample(l, i).node;
	struct export_sample x;

	for (*weight = 0; i < end && (x = export_sample(l, i)).node == node; i++)
		*weight += x.weight;
	return i;
}

static const char *unit(const char *unit)
{
	return !strcmp(unit, "ns") ? "nanoseconds" : !strcmp(unit, "bytes") ? "bytes" : "none";
}

static void put_profile(struct speedscope *s, unsigned int metric, const struct export_samples *l,
			const struct export_track *t)
{
	const struct model *m = s->v->m;
	size_t i, end = t->first + t->nr;
	struct buf name = BUF_INIT;
	uint64_t weight;

	export_root_name(s->v, t->root, &name);
	if (m->nr_shown > 1 || !name.len)
		buf_fmt(&name, "%s%s", name.len ? ": " : "", model_str(m, m->metrics[metric].name));
	json_object(&s->j, NULL);
	json_str(&s->j, "type", "sampled");
	json_str(&s->j, "name", export_str(&s->x, export_string(&s->x, name.data)));
	json_str(&s->j, "unit", l->by_n ? "none" : unit(model_str(m, m->metrics[metric].unit)));
	json_u64(&s->j, "startValue", 0);
	json_u64(&s->j, "endValue", t->total);
	json_array(&s->j, "samples");
	for (i = t->first; i < end; i = next_stack(l, i, end, &weight))
		put_stack(s, export_sample(l, i).node);
	json_end(&s->j);
	json_array(&s->j, "weights");
	for (i = t->first; i < end;) {
		i = next_stack(l, i, end, &weight);
		json_u64(&s->j, NULL, weight);
	}
	json_end(&s->j);
	json_end(&s->j);
	buf_release(&name);
}

static void put_frames(struct speedscope *s)
{
	size_t i;

	json_object(&s->j, "shared");
	json_array(&s->j, "frames");
	for (i = 0; i < s->nr_frames; i++) {
		json_object(&s->j, NULL);
		json_str(&s->j, "name", export_str(&s->x, s->frames[i].name));
		if (s->frames[i].file)
			json_str(&s->j, "file", export_str(&s->x, s->frames[i].file));
		json_end(&s->j);
	}
	json_end(&s->j);
	json_end(&s->j);
}

int speedscope_print(struct view *v, FILE *out, struct err *e)
{
	struct speedscope s = { .v = v };
	struct export_samples l;
	unsigned int m;
	size_t i;

	json_init(&s.j, out);
	export_init(&s.x, v);
	json_object(&s.j, NULL);
	json_str(&s.j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&s.j, "exporter", "arcprof " ARCPROF_VERSION);
	if (v->origin->command)
		json_str(&s.j, "name", export_str(&s.x, export_string(&s.x, v->origin->command)));
	json_u64(&s.j, "activeProfileIndex", 0);
	json_array(&s.j, "profiles");
	for (m = 0; m < v->m->nr_shown; m++) {
		export_samples_init(&l, v, m);
		for (i = 0; i < l.nr_tracks; i++)
			put_profile(&s, m, &l, &l.tracks[i]);
		export_samples_release(&l);
	}
	json_end(&s.j);
	put_frames(&s);
	json_end(&s.j);
	export_lacks(v, "idle time");
	export_release(&s.x);
	map_release(&s.frame_of);
	free(s.frames);
	free(s.stack);
	return 0;
}
