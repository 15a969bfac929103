// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_massif.c - a file of valgrind's massif: what the heap had at several moments, of which some have a
 * tree of who allocated it.
 *
 * Source: massif/ms_print.in of valgrind. The tree begins with the functions that allocate, and below each
 * are its callers. One moment is read, the peak: the sums of several would be of nothing that ever was.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/text.h"
#include "formats/valgrind/read.h"

enum { MAX_FRAMES = 4096 };

struct snapshot {
	uint64_t number, time, bytes, extra;
	bool peak;
	const char *tree;		/* its first line; NULL: it has none */
};

struct level {
	uint64_t left;			/* bytes that no caller has yet */
	struct frame frame;
};

struct massif {
	struct import *im;
	struct snapshot best;
	uint64_t nr_snapshots, nr_announced;	/* nodes of the tree that are still to come */
	struct import_text command, unit;
	struct level *levels;		/* [MAX_FRAMES] */
	size_t nr_levels;
	struct frame *stack;		/* [MAX_FRAMES] */
	uint32_t event;
};

static bool massif_begins(struct import_text t, const char *with, struct import_text *rest)
{
	size_t len = strlen(with);

	if (!import_begins(t, with))
		return false;
	*rest = (struct import_text){ t.s + len, t.len - len };
	return true;
}

/* ---- which moment ---- */

static void end_snapshot(struct massif *m, const struct snapshot *s)
{
	bool better = s->peak > m->best.peak || (s->peak == m->best.peak && s->bytes > m->best.bytes);

	if (s->tree && (!m->best.tree || better))
		m->best = *s;
}

static void find_peak(struct massif *m, const char *data, size_t len)
{
	const char *at = data, *end = data + len;
	struct snapshot s = { .tree = NULL };
	struct import_text t, rest;

	while (at < end) {
		t = import_line(&at, end);
		if (massif_begins(t, "snapshot=", &rest)) {
			end_snapshot(m, &s);
			s = (struct snapshot){ .number = import_number(rest) };
			m->nr_snapshots++;
		} else if (massif_begins(t, "time=", &rest)) {
			s.time = import_number(rest);
		} else if (massif_begins(t, "mem_heap_B=", &rest)) {
			s.bytes = import_number(rest);
		} else if (massif_begins(t, "mem_heap_extra_B=", &rest)) {
			s.extra = import_number(rest);
		} else if (massif_begins(t, "heap_tree=", &rest)) {
			s.peak = rest.len >= 4 && !memcmp(rest.s, "peak", 4);
			if (rest.len < 5 || memcmp(rest.s, "empty", 5) != 0)
				s.tree = at;
		} else if (massif_begins(t, "cmd: ", &rest)) {
			m->command = rest;
		} else if (massif_begins(t, "time_unit: ", &rest)) {
			m->unit = rest;
		}
	}
	end_snapshot(m, &s);
}

/* ---- its tree ---- */

/* Leaves levels down to that many: what no caller had is of the stack so far. The first is not a function. */
static void leave_node(struct massif *m, size_t nr)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = m->event, .more = -1 };
	size_t i;

	while (m->nr_levels > nr) {
		s.weight = m->levels[m->nr_levels - 1].left;
		for (i = 1; i < m->nr_levels; i++)	/* the last one is the outermost */
			m->stack[m->nr_levels - 1 - i] = m->levels[i].frame;
		m->nr_levels--;
		if (!s.weight)
			continue;
		s.stack = trace_write_stack(m->im->w, m->stack, m->nr_levels);
		import_sample(m->im, &s);
	}
}

static struct frame frame_of(struct massif *m, struct import_text t)
{
	static const struct import_function few = { FUNCTION_MARK, .name = { "[below massif's threshold]", 26 },
						    .module = { "", 0 }, .file = { "", 0 } };

	if (t.len > 3 && !memcmp(t.s, "in ", 3))	/* "in 3 places, all below massif's threshold (1.00%)" */
		return (struct frame){ FRAME_NAMED, .function = import_function(m->im, &few) };
	return valgrind_frame(m->im, t);
}

/* "  n2: 1024 0x10919B: fill (tree.c:12)"; false: it is none, the tree has ended. */
static bool read_level(struct massif *m, struct import_text t, struct err *e, int *r)
{
	size_t depth = 0, at;
	uint64_t bytes, nr_callers;

	while (depth < t.len && t.s[depth] == ' ')
		depth++;
	at = depth;
	if (at == t.len || t.s[at++] != 'n')
		return false;
	nr_callers = import_number((struct import_text){ t.s + at, t.len - at });
	while (at < t.len && isdigit((unsigned char)t.s[at]))
		at++;
	if (at + 2 > t.len || memcmp(t.s + at, ": ", 2) != 0)
		return false;
	at += 2;
	bytes = import_number((struct import_text){ t.s + at, t.len - at });
	while (at < t.len && isdigit((unsigned char)t.s[at]))
		at++;
	if (depth > m->nr_levels || depth >= MAX_FRAMES) {
		*r = err_set(e, EINVAL, "damaged: a caller of nothing, or more than %d functions in a stack", MAX_FRAMES);
		return false;
	}
	leave_node(m, depth);
	if (depth && bytes > m->levels[depth - 1].left) {
		*r = err_set(e, EINVAL, "damaged: callers have more bytes than what they called");
		return false;
	}
	if (depth)
		m->levels[depth - 1].left -= bytes;
	m->nr_announced += nr_callers - 1;
	t = (struct import_text){ t.s + MIN(at + 1, t.len), t.len - MIN(at + 1, t.len) };
	m->levels[m->nr_levels++] = (struct level){ bytes, depth ? frame_of(m, t) : (struct frame){ 0 } };
	return true;
}

static int massif_read_tree(struct massif *m, const char *end, struct err *e)
{
	const char *at = m->best.tree;
	int r = 0;

	m->nr_announced = 1;
	while (at < end && read_level(m, import_line(&at, end), e, &r))
		;
	leave_node(m, 0);
	if (!r && m->nr_announced)
		import_note(m->im, "truncated: the tree of who allocated what is not whole, and there may have been larger ones");
	return r;
}

/* ---- the whole ---- */

static int massif_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct massif m = { .im = im, .command = { "", 0 }, .unit = { "", 0 } };
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_COUNTS |
		      IMPORT_NO_LOST | IMPORT_NO_MODES;
	find_peak(&m, data, len);
	if (!m.best.tree)
		return err_set(e, EINVAL, "none of its %" PRIu64 " snapshots has a tree of who allocated what",
			       m.nr_snapshots);
	m.levels = xcalloc(MAX_FRAMES, sizeof(*m.levels));
	m.stack = xcalloc(MAX_FRAMES, sizeof(*m.stack));
	m.event = import_event(im, (struct import_text){ "memory", 6 }, "bytes");
	r = massif_read_tree(&m, data + len, e);
	if (m.command.len)
		trace_write_label(im->w, "command", "%.*s", (int)MIN(m.command.len, (size_t)4096),
				  m.command.s);
	import_note(im, "the heap %s: snapshot %" PRIu64 " of %" PRIu64 ", at %" PRIu64 " %.*s, without %" PRIu64 " bytes that malloc took for itself",
		    m.best.peak ? "at its peak" : "where it is largest in detail", m.best.number,
		    m.nr_snapshots, m.best.time, (int)MIN(m.unit.len, (size_t)16), m.unit.s, m.best.extra);
	free(m.levels);
	free(m.stack);
	return r;
}

static bool massif_is(const char *data, size_t len)
{
	return len > 6 && !memcmp(data, "desc: ", 6) && memmem(data, len, "\ntime_unit: ", 12);
}

const struct import_format import_massif = {
	.name = "massif",
	.what = "a file of valgrind's massif",
	.is_lines = true,
	.is = massif_is,
	.read = massif_read,
};
