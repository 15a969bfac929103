// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_hprof_text.c - what the JVM's old agent hprof wrote as text (java -agentlib:hprof=cpu=samples), and
 * --format hprof: stacks with numbers ("TRACE"), and tables that say how often each was met.
 *
 *	TRACE 300027: (thread=200001)
 *		java.util.zip.ZipFile.getEntry(ZipFile.java:310)
 *	CPU SAMPLES BEGIN (total = 126) Sun Nov 29 22:00:00 2026
 *	rank   self  accum   count trace method
 *	   1 53.97% 53.97%      68 300027 java.util.zip.ZipFile.getEntry
 *	CPU SAMPLES END
 *
 * Source: hprof_trace.c and hprof_site.c of JDK 8. Allocations ("SITES") are read as well; other tables are
 * not.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/sink.h"
#include "formats/text.h"

enum { MAX_FRAMES = 65536, MAX_WORDS = 12 };

struct trace {
	const char *frames, *end;	/* its lines */
};

enum table { TABLE_NONE, TABLE_SAMPLES, TABLE_TIMES, TABLE_SITES, NR_TABLES };

struct hprof {
	struct import *im;
	struct trace *traces;
	size_t nr_traces, alloc_traces;
	struct map trace_of;		/* number -> index */
	uint32_t events[NR_TABLES + 1];	/* + 1 */
	struct frame *stack;		/* [MAX_FRAMES], filled from its end */
	uint64_t nr_lines, nr_untraced, frames_left;
	uint64_t total_ms;		/* of CPU TIME, of which rows have shares */
};

/* ---- stacks ---- */

static void find_traces(struct hprof *h, const char *data, const char *end)
{
	const char *at = data, *before;
	struct import_text t;
	struct trace *open = NULL;

	while (at < end) {
		before = at;
		t = import_line(&at, end);
		if (import_begins(t, "TRACE ")) {
			*map_put(&h->trace_of, import_number((struct import_text){ t.s + 6, t.len - 6 })) =
				h->nr_traces;
			open = VEC_ADD(h->traces, h->nr_traces, h->alloc_traces);
			*open = (struct trace){ at, at };
		} else if (open && t.len && (*t.s == '\t' || *t.s == ' ')) {
			open->end = at;
		} else if (before != at) {
			open = NULL;
		}
	}
}

/* "\tjava.util.zip.ZipFile.getEntry(ZipFile.java:310)" */
static struct frame hprof_frame_of(struct hprof *h, struct import_text t)
{
	struct import_function fn = { FUNCTION_ANY, .module = { "", 0 }, .file = { "", 0 } };
	const char *open, *colon;
	uint64_t line = 0;

	while (t.len && isspace((unsigned char)*t.s))
		t = (struct import_text){ t.s + 1, t.len - 1 };
	open = memrchr(t.s, '(', t.len);
	if (open && t.len && t.s[t.len - 1] == ')') {
		struct import_text place = { open + 1, t.s + t.len - 1 - open - 1 };

		colon = memrchr(place.s, ':', place.len);
		if (colon) {
			line = import_number((struct import_text){ colon + 1,
								  place.s + place.len - colon - 1 });
			fn.file = (struct import_text){ place.s, colon - place.s };
		}
		if (colon || import_begins(place, "Unknown") || import_begins(place, "Native") ||
		    !place.len || memmem(place.s, place.len, ".java", 5)) {
			t.len = open - t.s;
			fn.kind = FUNCTION_JAVA;
		}
	}
	fn.name = t;
	if (!t.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	else if (frame_mark_is_text(t.s, t.len))
		fn.kind = FUNCTION_MARK;
	return (struct frame){ FRAME_NAMED, .function = import_function(h->im, &fn),
			       .line = line <= UINT32_MAX ? line : 0 };
}

static size_t fill_stack(struct hprof *h, const struct trace *x)
{
	const char *at = x->frames;
	size_t nr = 0;

	while (at < x->end && nr < MAX_FRAMES) {
		struct import_text t = import_line(&at, x->end);

		if (!import_begins(t, "\t<empty>"))
			h->stack[MAX_FRAMES - ++nr] = hprof_frame_of(h, t);
	}
	return nr;
}

/* ---- tables ---- */

static uint32_t hprof_event_of(struct hprof *h, enum table table)
{
	static const struct {
		const char *name, *unit;
	} events[NR_TABLES + 1] = {
		[TABLE_SAMPLES] = { "samples", "samples" }, [TABLE_TIMES] = { "times", "ns" },
		[TABLE_SITES] = { "live", "bytes" }, [NR_TABLES] = { "alloc", "bytes" },
	};

	if (!h->events[table])
		h->events[table] = 1 + import_event(h->im, (struct import_text){ events[table].name,
						    strlen(events[table].name) }, events[table].unit);
	return h->events[table] - 1;
}

static int put_value(struct hprof *h, enum table table, uint64_t trace, uint64_t weight, uint64_t n,
		     struct err *e)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .weight = weight, .more = (int64_t)n - 1 };
	uint32_t at = map_get(&h->trace_of, trace);
	size_t nr = 0;

	if (!weight && !n)
		return 0;
	if (at == MAP_NONE)
		h->nr_untraced++;
	else
		nr = fill_stack(h, &h->traces[at]);
	h->frames_left -= MIN(h->frames_left, (uint64_t)nr);
	if (!h->frames_left)
		return err_set(e, EINVAL, "damaged: its stacks are longer than such a file can have");
	s.event = hprof_event_of(h, table);
	s.stack = trace_write_stack(h->im->w, h->stack + MAX_FRAMES - nr, nr);
	import_sample(h->im, &s);
	return 0;
}

/* "14.39%": 1439 */
static uint64_t hundredths(struct import_text t)
{
	const char *point = memchr(t.s, '.', t.len);
	size_t left = point ? t.s + t.len - point - 1 : 0;

	return import_number(t) * 100 + (left >= 2 ? import_number((struct import_text){ point + 1, 2 }) : 0);
}

/*
 * "rank self accum count trace method", and of SITES "rank self accum bytes objs bytes objs trace class".  Of
 * CPU TIME the count is that of calls, and self a share of the total.
 */
static int read_row(struct hprof *h, enum table table, struct import_text t, struct err *e)
{
	uint64_t v[MAX_WORDS] = { 0 }, self = 0;
	const char *at = t.s, *end = t.s + t.len, *from;
	size_t nr = 0;
	int r;

	while (nr < MAX_WORDS) {
		while (at < end && isspace((unsigned char)*at))
			at++;
		for (from = at; at < end && !isspace((unsigned char)*at); at++)
			;
		if (from == at)
			break;
		if (nr == 1)
			self = hundredths((struct import_text){ from, at - from });
		v[nr++] = import_number((struct import_text){ from, at - from });
	}
	if (!v[0])			/* the names of the columns */
		return 0;
	self = h->total_ms * 100 * MIN(self, (uint64_t)10000);
	if (table != TABLE_SITES)
		return nr < 5 ? 0 : put_value(h, table, v[4], table == TABLE_TIMES ? self : v[3], v[3], e);
	if (nr < 8)
		return 0;
	r = put_value(h, TABLE_SITES, v[7], v[3], v[4], e);
	return r ? r : put_value(h, NR_TABLES, v[7], v[5], v[6], e);
}

/* "CPU TIME (ms) BEGIN (total = 5142) Tue Sep 03 22:54:53 2013" */
static uint64_t total_of(struct import_text t)
{
	const char *at = memmem(t.s, t.len, "(total = ", 9);
	uint64_t ms = at ? import_number((struct import_text){ at + 9, t.s + t.len - at - 9 }) : 0;

	return MIN(ms, (uint64_t)1 << 40);
}

static int read_tables(struct hprof *h, const char *data, const char *end, struct err *e)
{
	enum table table = TABLE_NONE;
	const char *at = data;
	int r = 0;

	while (!r && at < end) {
		struct import_text t = import_line(&at, end);

		if (memmem(t.s, t.len, " BEGIN", 6)) {
			h->total_ms = total_of(t);
			table = import_begins(t, "CPU SAMPLES") ? TABLE_SAMPLES :
				import_begins(t, "CPU TIME") ? TABLE_TIMES :
				import_begins(t, "SITES") ? TABLE_SITES : TABLE_NONE;
		} else if (memmem(t.s, t.len, " END", 4) && t.len < 24) {
			table = TABLE_NONE;
		} else if (table != TABLE_NONE) {
			r = read_row(h, table, t, e);
		}
	}
	if (!r && table != TABLE_NONE)
		import_note(h->im, "truncated, or not finished: its last table has no end");
	return r;
}

static int hprof_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct hprof h = { .im = im, .frames_left = (1 << 20) + 16 * len };
	unsigned int i, nr = 0;
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_LOST |
		      IMPORT_NO_MODES;
	h.stack = xcalloc(MAX_FRAMES, sizeof(*h.stack));
	find_traces(&h, data, data + len);
	r = read_tables(&h, data, data + len, e);
	for (i = 0; i < ARRAY_SIZE(h.events); i++)
		nr += h.events[i] != 0;
	if (!r && !nr)
		r = err_set(e, EINVAL, "it has no CPU samples, CPU times or sites of allocations");
	if (h.nr_untraced)
		import_note(im, "%" PRIu64 " rows are of stacks that the file does not have", h.nr_untraced);
	free(h.traces);
	free(h.stack);
	map_release(&h.trace_of);
	return r;
}

/* Return whether it is HPROF's text: after the version a date follows; in binary files, a zero. */
static bool hprof_is(const char *data, size_t len)
{
	return len > 20 && !memcmp(data, "JAVA PROFILE 1.0.", 17) && data[18] == ',';
}

const struct import_format import_hprof_text = {
	.name = "HPROF text",
	.what = "a profile of hprof, as text",
	.is_lines = true,
	.is = hprof_is,
	.read = hprof_read,
};
