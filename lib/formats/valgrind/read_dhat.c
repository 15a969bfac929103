// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_dhat.c - a file of valgrind's dhat, or of programs with Rust's dhat: what each place allocated in
 * all, had when the heap was largest, and still had at the end.
 *
 * Source: dhat/dh_main.c of valgrind, whose comment describes the format; version 2.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jsonin.h"
#include "formats/valgrind/read.h"

enum { MAX_FRAMES = 4096, NR_VALUES = 3 };

static const struct value {
	const char *amount, *blocks, *event;
} values[NR_VALUES] = {
	{ "tb", "tbk", "alloc" },
	{ "gb", "gbk", "peak" },
	{ "eb", "ebk", "end" },
};

struct dhat {
	struct import *im;
	struct frame *frames;		/* of "ftbl" */
	size_t nr_frames, alloc_frames;
	struct frame *stack;		/* [MAX_FRAMES], filled from its end */
	uint32_t events[NR_VALUES];	/* + 1 */
	const char *unit;
	struct buf text;
};

static void read_frames(struct dhat *d, struct jsonin j)
{
	jsonin_open(&j, '[');
	while (jsonin_element(&j)) {
		struct frame f = valgrind_frame(d->im, jsonin_text(jsonin_string(&j), &d->text));

		*VEC_ADD(d->frames, d->nr_frames, d->alloc_frames) = f;
	}
}

/* Read the stack at the cursor, innermost frame first; return how many frames it has. */
static size_t dhat_read_stack(struct dhat *d, struct jsonin *j, struct err *e, int *r)
{
	size_t nr = 0;
	double at;

	jsonin_open(j, '[');
	while (jsonin_element(j)) {
		at = jsonin_number(j);
		if (!(at >= 0) || at >= (double)d->nr_frames)
			*r = err_set(e, EINVAL, "damaged: frame %g, of which there are %zu", at,
				     d->nr_frames);
		else if (nr < MAX_FRAMES)
			d->stack[MAX_FRAMES - ++nr] = d->frames[(size_t)at];
	}
	return nr;
}

static int write_values(struct dhat *d, const double amounts[NR_VALUES], const double blocks[NR_VALUES],
			size_t nr, struct err *e)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU };
	size_t i;

	for (i = 0; i < NR_VALUES; i++) {
		if (isnan(amounts[i]))
			continue;
		if (!(amounts[i] >= 0) || amounts[i] >= 0x1p62 || !(blocks[i] >= 0) || blocks[i] >= 0x1p62)
			return err_set(e, EINVAL, "damaged: %g bytes in %g blocks", amounts[i], blocks[i]);
		if (!d->events[i])
			d->events[i] = 1 + import_event(d->im,
							(struct import_text){ values[i].event,
									      strlen(values[i].event) },
							d->unit);
		if (!amounts[i] && !blocks[i])
			continue;
		s.event = d->events[i] - 1;
		s.weight = llround(amounts[i]);
		s.more = (int64_t)blocks[i] - 1;
		s.stack = trace_write_stack(d->im->w, d->stack + MAX_FRAMES - nr, nr);
		import_sample(d->im, &s);
	}
	return 0;
}

static int read_place(struct dhat *d, struct jsonin *j, struct err *e)
{
	double amounts[NR_VALUES] = { NAN, NAN, NAN }, blocks[NR_VALUES] = { 0, 0, 0 };
	struct import_text key;
	size_t nr = 0, i;
	int r = 0;

	jsonin_open(j, '{');
	while (!r && jsonin_member(j, &key)) {
		double *to = NULL;

		for (i = 0; i < NR_VALUES; i++)
			if (jsonin_is(key, values[i].amount))
				to = &amounts[i];
			else if (jsonin_is(key, values[i].blocks))
				to = &blocks[i];
		if (to)
			*to = jsonin_number(j);
		else if (jsonin_is(key, "fs"))
			nr = dhat_read_stack(d, j, e, &r);
		else
			jsonin_skip(j);
	}
	return r || j->bad ? r : write_values(d, amounts, blocks, nr, e);
}

static int read_places(struct dhat *d, struct jsonin j, struct err *e)
{
	int r = 0;

	jsonin_open(&j, '[');
	while (!r && jsonin_element(&j))
		r = read_place(d, &j, e);
	return r ? r : j.bad ? err_set(e, EINVAL, "damaged: a place that allocates cannot be read") : 0;
}

static void write_command(struct dhat *d, struct import_text t)
{
	trace_write_label(d->im->w, "command", "%.*s", (int)MIN(t.len, (size_t)4096), t.s);
}

static int dhat_read_root(struct dhat *d, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len), places = { 0 }, frames = { 0 };
	struct import_text key, mode = { "heap", 4 };

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key))
		if (jsonin_is(key, "pps") && jsonin_peek(&j) == '[')
			places = jsonin_skip(&j);
		else if (jsonin_is(key, "ftbl") && jsonin_peek(&j) == '[')
			frames = jsonin_skip(&j);
		else if (jsonin_is(key, "mode") && jsonin_peek(&j) == '"')
			mode = jsonin_string(&j);
		else if (jsonin_is(key, "cmd") && jsonin_peek(&j) == '"')
			write_command(d, jsonin_text(jsonin_string(&j), &d->text));
		else
			jsonin_skip(&j);
	if (j.bad)
		return err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			       (size_t)(j.p - j.start));
	if (!places.p || !frames.p)
		return err_set(e, EINVAL, "damaged: it has no \"pps\" or no \"ftbl\"");
	d->unit = jsonin_is(mode, "ad-hoc") ? "units" : "bytes";
	read_frames(d, frames);
	return read_places(d, places, e);
}

static int dhat_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct dhat d = { .im = im };
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_LOST |
		      IMPORT_NO_MODES;
	d.stack = xcalloc(MAX_FRAMES, sizeof(*d.stack));
	r = dhat_read_root(&d, data, len, e);
	free(d.frames);
	free(d.stack);
	buf_release(&d.text);
	return r;
}

static bool dhat_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;

	jsonin_open(&j, '{');
	return jsonin_member(&j, &key) && jsonin_is(key, "dhatFileVersion");
}

const struct import_format import_dhat = {
	.name = "dhat",
	.what = "a file of dhat",
	.is = dhat_is,
	.read = dhat_read,
};
