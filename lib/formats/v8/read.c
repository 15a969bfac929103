// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - reads V8's call frames, and samples with time deltas (read.h). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "formats/v8/read.h"

void v8_scratch_release(struct v8_scratch *x)
{
	buf_release(&x->name);
	buf_release(&x->url);
}

struct v8_frame v8_frame_read(struct import *im, struct jsonin *j, struct v8_scratch *x)
{
	struct import_function fn = { FUNCTION_ANY, .name = { "", 0 }, .module = { "", 0 }, .file = { "", 0 } };
	struct v8_frame f = { .what = V8_FUNCTION };
	struct import_text key;
	double line = -1;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "functionName"))
			fn.name = jsonin_text(jsonin_string(j), &x->name);
		else if (jsonin_is(key, "url"))
			fn.file = jsonin_text(jsonin_string(j), &x->url);
		else if (jsonin_is(key, "lineNumber"))
			line = jsonin_number(j);
		else
			jsonin_skip(j);
	if (fn.file.len > 7 && !memcmp(fn.file.s, "file://", 7))
		fn.file = (struct import_text){ fn.file.s + 7, fn.file.len - 7 };
	if (jsonin_is(fn.name, "(root)"))
		f.what = V8_ROOT;
	else if (jsonin_is(fn.name, "(idle)"))
		f.what = V8_IDLE;
	else if (!fn.name.len)
		fn.name = (struct import_text){ "(anonymous)", 11 };
	if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	/* V8 counts lines from 0. */
	f.frame = (struct frame){ FRAME_NAMED, .function = import_function(im, &fn),
				  .line = fn.file.len && line >= 0 && line < UINT32_MAX ? line + 1 : 0 };
	return f;
}

/* Work is the first event, which reports show. */
static uint32_t event_of(struct v8_samples *s, bool idle)
{
	static const struct import_text names[] = { { "cpu", 3 }, { "idle", 4 } };
	unsigned int i;

	for (i = 0; i <= idle; i++)
		if (!s->events[i])
			s->events[i] = 1 + import_event(s->im, names[i], "ns");
	return s->events[idle] - 1;
}

int v8_samples_end(struct v8_samples *s, double at_us, struct err *e)
{
	struct rec_sample r = { .cpu = IMPORT_NO_CPU, .thread = s->thread };
	int err;

	if (!(at_us >= 0) || at_us >= 0x1p52)
		return err_set(e, EINVAL, "damaged: a sample at %g us", at_us);
	at_us = MAX(at_us, s->at_us);
	if (s->node) {
		r.event = event_of(s, s->what[s->node - 1] == V8_IDLE);
		r.weight = llround((at_us - s->at_us) * 1e3);
		r.time_ns = 1 + llround(s->at_us * 1e3);
		if ((err = import_nodes_stack(s->nodes, s->node, &r.stack, e)))
			return err;
		import_sample(s->im, &r);
	}
	s->at_us = at_us;
	s->node = 0;
	return 0;
}

int v8_samples_take(struct v8_samples *s, double at_us, uint32_t node, struct err *e)
{
	bool first = !s->node;
	int r = v8_samples_end(s, at_us, e);

	if (first && !s->first_us)
		s->first_us = s->at_us;
	s->node = node;
	return r;
}
