// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * input_stacks.c - folded stacks: "a;b;c N".  What a line shares with the one before is not
 * looked up again, for such files are usually sorted.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/input.h"
#include "flow/text.h"

struct frame_end {
	size_t end;		/* offset in the line just past the name */
	uint32_t node;
};

struct parser {
	struct text t;
	struct model *m;
	struct text_names names;
	unsigned int nr_values;
	int samples_column;	/* -1: none */
	const char *prev;	/* the line before, and its frames */
	size_t prev_len;
	struct frame_end *frames;
	size_t nr_frames, alloc_frames;
};

/* Takes up to max numbers off the end of the line; returns how many, and *len of what is left. */
static unsigned int trailing_numbers(const char *line, size_t *len, uint64_t *values, unsigned int max)
{
	unsigned int nr = 0, i;
	uint64_t found[FLOW_MAX_METRICS];

	while (nr < max) {
		const char *end = line + *len, *p = end, *at;

		while (p > line && (unsigned char)(p[-1] - '0') < 10)
			p--;
		at = p;
		if (p == end || p == line || p[-1] != ' ' || !text_u64(&at, end, &found[nr]) || at != end)
			break;
		*len = p - 1 - line;
		nr++;
	}
	for (i = 0; i < nr; i++)
		values[i] = found[nr - 1 - i];
	return nr;
}

/* Drops the frames the line does not share with the one before; returns the offset to go on at. */
static size_t shared_prefix(struct parser *x, const char *line, size_t len)
{
	size_t i, max = MIN(len, x->prev_len), same;

	for (same = 0; same < max && line[same] == x->prev[same]; same++)
		;
	for (i = x->nr_frames; i; i--) {
		size_t end = x->frames[i - 1].end;

		if (end <= same && (end == len || line[end] == ';'))
			break;
	}
	x->nr_frames = i;
	return i ? MIN(x->frames[i - 1].end + 1, len + 1) : 0;
}

static int one_line(struct parser *x, struct err *e)
{
	uint64_t values[FLOW_MAX_METRICS];
	size_t len, at, end;
	const char *line = text_line(&x->t, &len), *semi;
	uint32_t node;

	if (!len || *line == '#')
		return 0;
	if (trailing_numbers(line, &len, values, x->nr_values) != x->nr_values || !len)
		return text_bad(&x->t, e, "want a stack and %u number%s", x->nr_values,
				plural(x->nr_values));
	at = shared_prefix(x, line, len);
	node = x->nr_frames ? x->frames[x->nr_frames - 1].node : FLOW_NONE;
	for (; at <= len; at = end + 1) {
		semi = memchr(line + at, ';', len - at);
		end = semi ? (size_t)(semi - line) : len;
		if (end == at) {
			x->nr_frames = 0;
			return text_bad(&x->t, e, "empty name in the stack");
		}
		node = flow_child(&x->m->flow, node,
				  text_consumer(&x->names, &x->m->consumers, line + at, end - at));
		*VEC_ADD(x->frames, x->nr_frames, x->alloc_frames) = (struct frame_end){ end, node };
	}
	x->prev = line;
	x->prev_len = len;
	flow_add(&x->m->flow, node, x->samples_column < 0 ? 1 : values[x->samples_column], values);
	return 0;
}

static int samples_column(const struct text *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_metrics; i++)
		if (t->metrics[i].name_len == 7 && !memcmp(t->metrics[i].name, "samples", 7))
			return i;
	return t->nr_metrics ? -1 : 0;
}

int input_stacks(struct model *m, const char *data, size_t len, struct err *e)
{
	struct parser x = { .m = m, .nr_values = 1 };
	uint64_t values[FLOW_MAX_METRICS];
	int r;

	text_init(&x.t, data, len);
	r = text_directives(&x.t, e);
	if (x.t.nr_metrics) {
		x.nr_values = x.t.nr_metrics;
	} else if (!r && x.t.p < x.t.end) {
		struct text ahead = x.t;
		const char *line = text_line(&ahead, &len);

		x.nr_values = trailing_numbers(line, &len, values, FLOW_MAX_METRICS);
		x.nr_values = MAX(x.nr_values, 1u);
	}
	x.samples_column = samples_column(&x.t);
	model_init(m, x.nr_values, FLOW_SAMPLES);
	text_name_metrics(&x.t, m, "samples", "samples");
	while (!r && x.t.p < x.t.end)
		r = one_line(&x, e);
	flow_finish(&m->flow);
	free(x.frames);
	free(x.names.consumers);
	return r;
}
