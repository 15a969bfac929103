// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_gclog.c - HotSpot's log of its garbage collector since JDK 9 (-Xlog:gc, gc*, safepoint): pauses,
 * what is done beside the program, and safepoints, as events.
 *
 *	[0.156s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(64M) 12.866ms
 *	[0.156s][info][safepoint   ] Safepoint "Cleanup", Time since last: 1 ns, Reaching safepoint: 2 ns, ...
 *
 * Source: gcTraceTime.cpp and safepoint.cpp of the JDK. A line is written when what it reports has ended.
 * Without the uptime in seconds or milliseconds, which is a default, a line has no time.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/sink.h"
#include "formats/text.h"

struct gclog {
	struct import *im;
	uint32_t proc;
	uint64_t first_ns, last_ns, nr_events;
	bool has_gc, has_safepoint;
};

struct line {
	uint64_t end_ns;		/* 0: the line has no uptime */
	struct import_text text;	/* behind the decorations */
};

/*
 * Read a decimal number at the beginning; *len: its length, 0: there is none. HotSpot writes numbers as the
 * locale has them, perhaps with a comma.
 */
static double gclog_number(struct import_text t, size_t *len)
{
	char text[32], *end;
	size_t n = 0;
	double v;

	while (n < t.len && n < sizeof(text) - 1 &&
	       (isdigit((unsigned char)t.s[n]) || t.s[n] == '.' || t.s[n] == ',')) {
		text[n] = t.s[n] == ',' ? '.' : t.s[n];
		n++;
	}
	text[n] = '\0';
	v = strtod(text, &end);
	*len = end - text;
	return v;
}

/* "[0.156s][info][gc]": the first number of seconds or milliseconds is the uptime. False: there are none. */
static bool cut_decorations(struct import_text t, struct line *l)
{
	const char *close;
	size_t len;

	*l = (struct line){ .end_ns = 0 };
	if (!t.len || *t.s != '[')
		return false;
	while (t.len && *t.s == '[' && (close = memchr(t.s, ']', t.len))) {
		struct import_text d = { t.s + 1, close - t.s - 1 };
		double v = gclog_number(d, &len);

		if (!l->end_ns && len && v < 1e9) {
			if (d.len == len + 1 && d.s[len] == 's')
				l->end_ns = llround(v * 1e9);
			else if (d.len == len + 2 && !memcmp(d.s + len, "ms", 2))
				l->end_ns = llround(v * 1e6);
		}
		t = (struct import_text){ close + 1, t.s + t.len - close - 1 };
	}
	if (!t.len || *t.s != ' ')
		return false;
	l->text = (struct import_text){ t.s + 1, t.len - 1 };
	return true;
}

/* ---- collections ---- */

/* "6M": bytes. Returns what follows, or NULL. */
static const char *read_size(const char *s, const char *end, uint64_t *bytes)
{
	size_t len;
	double v = gclog_number((struct import_text){ s, end - s }, &len);
	const char *unit = s + len;

	if (!len || unit >= end || v > 1e9)
		return NULL;
	*bytes = llround(v * (*unit == 'K' ? 1024.0 : *unit == 'M' ? 1048576.0 :
			      *unit == 'G' ? 1073741824.0 : 1.0));
	return unit + 1;
}

/* "6M->6M(64M)" at the end; false: it is something else. */
static bool read_sizes(struct import_text t, struct rec_event *r)
{
	const char *end = t.s + t.len, *at = read_size(t.s, end, &r->values[0]);

	if (!at || end - at < 3 || memcmp(at, "->", 2) != 0 ||
	    !(at = read_size(at + 2, end, &r->values[1])) || at >= end || *at != '(')
		return false;
	return read_size(at + 1, end, &r->values[2]);
}

static void write_event(struct gclog *g, const struct line *l, struct rec_event *r)
{
	r->proc = g->proc;
	r->time_ns = l->end_ns - MIN(r->duration_ns, l->end_ns - 1);
	g->first_ns = g->first_ns ? MIN(g->first_ns, r->time_ns) : r->time_ns;
	g->last_ns = MAX(g->last_ns, l->end_ns);
	g->nr_events++;
	trace_write_event(g->im->w, r);
}

/* Cut off the last word. */
static struct import_text cut_word(struct import_text *t)
{
	size_t at = t->len;
	struct import_text word;

	while (at && t->s[at - 1] != ' ')
		at--;
	word = (struct import_text){ t->s + at, t->len - at };
	t->len = at ? at - 1 : 0;
	return word;
}

/* Return where the parenthesis at the end opens, as in "(System.gc())", or NULL. */
static const char *find_open(struct import_text t)
{
	const char *at = t.s + t.len;
	size_t depth = 0;

	if (!t.len || at[-1] != ')')
		return NULL;
	while (at > t.s) {
		at--;
		depth += *at == ')';
		depth -= *at == '(';
		if (!depth)
			return at;
	}
	return NULL;
}

/* "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(64M) 12.866ms" */
static void take_gc(struct gclog *g, const struct line *l, struct import_text t)
{
	struct rec_event r = { .kind = EVENT_GC, .what = "", .cause = "",
			       .values = { EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN } };
	const char *close = memchr(t.s, ')', t.len), *open;
	struct import_text word, rest;
	size_t len;
	double ms;

	if (!close || t.s + t.len - close < 3)
		return;
	t = (struct import_text){ close + 2, t.s + t.len - close - 2 };
	if (import_begins(t, "Concurrent "))
		r.kind = EVENT_GC_CONCURRENT;
	else if (!import_begins(t, "Pause "))
		return;
	word = cut_word(&t);
	ms = gclog_number(word, &len);
	if (!len || word.len != len + 2 || memcmp(word.s + len, "ms", 2) != 0 || ms > 1e9)
		return;
	r.duration_ns = llround(ms * 1e6);
	rest = t;
	word = cut_word(&rest);
	if (read_sizes(word, &r))
		t = rest;
	else
		r.values[0] = r.values[1] = r.values[2] = EVENT_UNKNOWN;
	open = find_open(t);
	if (open && open > t.s && r.kind == EVENT_GC) {
		r.cause = open + 1;
		r.cause_len = t.s + t.len - 1 - r.cause;
		t.len = open - 1 - t.s;
	}
	r.what = t.s;
	r.what_len = t.len;
	g->has_gc = true;
	write_event(g, l, &r);
}

/* ---- safepoints ---- */

/* Return the number after "KEY: ", or EVENT_UNKNOWN. */
static uint64_t value_of(struct import_text t, const char *key)
{
	const char *at = memmem(t.s, t.len, key, strlen(key));
	size_t len;
	double v;

	if (!at)
		return EVENT_UNKNOWN;
	at += strlen(key);
	v = gclog_number((struct import_text){ at, t.s + t.len - at }, &len);
	return len && v < 0x1p60 ? (uint64_t)llround(v) : EVENT_UNKNOWN;
}

/* "Safepoint "Cleanup", ..., Reaching safepoint: 2 ns, At safepoint: 3 ns, Total: 5 ns" */
static void take_safepoint(struct gclog *g, const struct line *l, struct import_text t)
{
	struct rec_event r = { .kind = EVENT_SAFEPOINT, .what = "", .cause = "" };
	const char *name = t.s + strlen("Safepoint \""), *close = memchr(name, '"', t.s + t.len - name);

	r.values[0] = value_of(t, "Reaching safepoint: ");
	r.values[1] = value_of(t, "At safepoint: ");
	r.values[2] = EVENT_UNKNOWN;
	r.duration_ns = value_of(t, "Total: ");
	if (!close || r.duration_ns == EVENT_UNKNOWN)
		return;
	r.what = name;
	r.what_len = close - name;
	g->has_safepoint = true;
	write_event(g, l, &r);
}

/* ---- the whole ---- */

static int gclog_read(struct import *im, const char *data, size_t len, struct err *e)
{
	const struct import_text nobody = { "JVM", 3 };
	struct gclog g = { .im = im };
	const char *at = data, *end = data + len;
	struct line l;

	im->unknown = IMPORT_NO_THREADS | IMPORT_NO_COUNTS | IMPORT_NO_LOST | IMPORT_NO_MODES;
	g.proc = import_proc(im, 0, nobody);
	while (at < end) {
		if (!cut_decorations(import_chop(import_line(&at, end)), &l) || !l.end_ns)
			continue;
		if (import_begins(l.text, "GC("))
			take_gc(&g, &l, l.text);
		else if (import_begins(l.text, "Safepoint \""))
			take_safepoint(&g, &l, l.text);
	}
	if (!g.nr_events) {
		err_set(e, EINVAL, "no collections and no safepoints in it that have an uptime and a duration");
		err_hint(e, "-Xlog:gc*,safepoint writes them");
		return -EINVAL;
	}
	trace_write_label(im->w, "jvm_events", "%s%s%s", g.has_gc ? "gc" : "",
			  g.has_gc && g.has_safepoint ? "," : "", g.has_safepoint ? "safepoint" : "");
	trace_write_label(im->w, "start.mono_ns", "%" PRIu64, g.first_ns);
	trace_write_label(im->w, "end.mono_ns", "%" PRIu64, g.last_ns);
	import_note(im, "a log has events, and no samples: --gc and --log show them");
	return 0;
}

/*
 * Return whether it is such a log: the first line has decorations, and one line is about a collection or a
 * safepoint.
 */
static bool gclog_is(const char *data, size_t len)
{
	const char *at = data, *end = data + len;
	struct line l;

	if (!len || *data != '[' || memchr(data, '\0', len) ||
	    !cut_decorations(import_chop(import_line(&at, end)), &l))
		return false;
	for (at = data; at < end;)
		if (cut_decorations(import_chop(import_line(&at, end)), &l) &&
		    (import_begins(l.text, "GC(") || import_begins(l.text, "Safepoint \"") ||
		     import_begins(l.text, "Using ")))
			return true;
	return false;
}

const struct import_format import_gclog = {
	.name = "GC log",
	.what = "a log of HotSpot's garbage collector",
	.is_lines = true,
	.is = gclog_is,
	.read = gclog_read,
};
