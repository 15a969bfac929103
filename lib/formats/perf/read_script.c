// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_script.c - what "perf script" prints: a line for each sample, and its frames below it, innermost
 * first.
 *
 *	java 4711/4712 [001] 1234.567890:     250000 cpu-clock:u:
 *		    7f3a10c0ffee fib+0x1e (/usr/bin/fib)
 *
 * Source: tools/perf/builtin-script.c. Which fields there are depends on -F: a name of a thread and a
 * number are needed, or a line is not a sample. One number is the thread's, two are those of process and
 * thread. Without callers the frame is at the end of the line.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/sink.h"
#include "formats/text.h"

enum { MAX_FRAMES = 65536, MAX_TOKENS = 24, MAX_EVENTS = 256 };

struct script_event {
	struct import_text name;
	bool weighed;			/* its samples have periods */
	uint32_t number;
};

struct header {
	struct import_text comm, event, rest;	/* rest: behind the event */
	uint32_t pid, tid, cpu;
	uint64_t time_ns, period;
	bool has_pid, has_time, has_period;
};

struct script {
	struct import *im;
	struct header h;		/* of the sample that is being read */
	uint32_t event;			/* of it */
	bool open;
	struct frame *frames;		/* innermost first */
	size_t nr_frames, alloc_frames;
	struct script_event *events;
	size_t nr_events, alloc_events;
	struct map proc_of;		/* pid -> number */
	uint64_t nr_lines, nr_bad, bad_line, first_ns, last_ns;
	bool has_proc, untimed, is_cut;
};

/* Read the next word; return false if there is none. */
static bool next_word(const char **at, const char *end, struct import_text *word)
{
	while (*at < end && import_is_blank(**at))
		++*at;
	word->s = *at;
	while (*at < end && !import_is_blank(**at))
		++*at;
	word->len = *at - word->s;
	return word->len;
}

/* Return whether t is all digits, of a number that is not too large. */
static bool whole_number(struct import_text t, uint64_t *v)
{
	size_t i;

	*v = 0;
	for (i = 0; i < t.len && isdigit((unsigned char)t.s[i]); i++)
		*v = *v * 10 + (t.s[i] - '0');
	return t.len && i == t.len && t.len < 19;
}

/* "1234.567890:" */
static bool is_time(struct import_text t, uint64_t *ns)
{
	const char *point = memchr(t.s, '.', t.len);
	struct import_text whole, part;
	uint64_t s, fraction;
	size_t i;

	if (!point || t.s[t.len - 1] != ':')
		return false;
	whole = (struct import_text){ t.s, point - t.s };
	part = (struct import_text){ point + 1, t.s + t.len - 1 - (point + 1) };
	if (!whole_number(whole, &s) || !whole_number(part, &fraction) || s > 1ull << 32 || part.len > 9)
		return false;
	for (i = part.len; i < 9; i++)
		fraction *= 10;
	*ns = s * 1000000000 + fraction;
	return true;
}

/* "12", or "12/13" */
static bool is_thread(struct import_text t, struct header *h)
{
	const char *slash = memchr(t.s, '/', t.len);
	struct import_text tid = t, pid = { t.s, slash ? slash - t.s : 0 };
	uint64_t v, p = 0;

	if (slash)
		tid = (struct import_text){ slash + 1, t.s + t.len - slash - 1 };
	/* perf has -1 for what it does not know */
	if (tid.len == 2 && !memcmp(tid.s, "-1", 2))
		v = 0;
	else if (!whole_number(tid, &v))
		return false;
	if (slash && !(pid.len == 2 && !memcmp(pid.s, "-1", 2)) && !whole_number(pid, &p))
		return false;
	if (v > INT32_MAX || p > INT32_MAX)
		return false;
	h->has_pid = slash;
	h->pid = p;
	h->tid = v;
	return true;
}

static bool is_cpu(struct import_text t, struct header *h)
{
	uint64_t v;

	if (t.len < 3 || *t.s != '[' || t.s[t.len - 1] != ']' ||
	    !whole_number((struct import_text){ t.s + 1, t.len - 2 }, &v))
		return false;
	h->cpu = MIN(v, (uint64_t)IMPORT_NO_CPU);
	return true;
}

/*
 * Read what follows thread, CPU and time: "250000 cycles:u:", and perhaps a frame, or the text of a
 * tracepoint.
 */
static bool read_event(struct header *h, const char *at, const char *end)
{
	struct import_text word;

	if (!next_word(&at, end, &word))
		return false;
	h->has_period = whole_number(word, &h->period);
	if (h->has_period && !next_word(&at, end, &word))
		return false;
	if (word.len < 2 || word.s[word.len - 1] != ':')
		return false;
	h->event = (struct import_text){ word.s, word.len - 1 };
	h->rest = import_trim(at, end);
	return true;
}

/* Names of threads have blanks: they end where a thread's number and what follows it can be read. */
static bool read_header(struct header *h, const char *line, const char *end)
{
	const char *at = line, *after;
	struct import_text word, next;
	unsigned int i;

	for (i = 0; i < MAX_TOKENS && next_word(&at, end, &word); i++) {
		*h = (struct header){ .cpu = IMPORT_NO_CPU, .comm = { "", 0 } };
		if (!i || !is_thread(word, h))
			continue;
		h->comm = import_trim(line, word.s);
		after = at;
		if (!next_word(&after, end, &next))
			return false;
		if (is_cpu(next, h) && !next_word(&after, end, &next))
			return false;
		h->has_time = is_time(next, &h->time_ns);
		if (!h->has_time)
			after = next.s;
		if (read_event(h, after, end) && (h->has_time || !import_is_blank(*line)))
			return true;
	}
	return false;
}

/* ---- frames ---- */

/* "fib+0x1e" without the offset. */
static struct import_text cut_offset(struct import_text t)
{
	size_t at = t.len;

	while (at && isxdigit((unsigned char)t.s[at - 1]))
		at--;
	if (at > 3 && at < t.len && !memcmp(t.s + at - 3, "+0x", 3))
		t.len = at - 3;
	return t;
}

static enum function_kind script_kind_of(struct import_text name, struct import_text module, bool inlined)
{
	if (!name.len || import_ends(name, "[unknown]"))
		return FUNCTION_UNRESOLVED;
	if (inlined)
		return FUNCTION_NATIVE_INLINED;
	if (frame_mark_is_text(name.s, name.len))
		return FUNCTION_MARK;
	if (module.len && *module.s == '[' && !import_ends(module, "[vdso]") && !import_ends(module, "[unknown]"))
		return FUNCTION_KERNEL;
	return import_ends(module, ".map") || !module.len ? FUNCTION_ANY : FUNCTION_NATIVE;
}

/* Return whether it begins as a frame: an address, and a name after it. */
static bool is_frame(struct import_text t)
{
	size_t i;

	for (i = 0; i < t.len && isxdigit((unsigned char)t.s[i]); i++)
		;
	return i && i + 1 < t.len && import_is_blank(t.s[i]);
}

/* "7f3a10c0ffee fib+0x1e (/usr/bin/fib)" */
static bool read_frame(struct script *x, struct import_text t, struct frame *f)
{
	struct import_function fn = { .module = { "", 0 }, .file = { "", 0 } };
	const char *at = t.s, *end = t.s + t.len, *open;
	struct import_text address;
	bool inlined;
	size_t i;

	if (!next_word(&at, end, &address))
		return false;
	for (i = 0; i < address.len && isxdigit((unsigned char)address.s[i]); i++)
		;
	if (i < address.len)
		return false;
	t = import_trim(at, end);
	inlined = import_ends(t, " (inlined)");
	for (open = t.s + t.len; open > t.s && open[-1] != '('; open--)
		;
	if (t.len && t.s[t.len - 1] == ')' && open > t.s) {
		if (!inlined)
			fn.module = (struct import_text){ open, t.s + t.len - 1 - open };
		t = import_trim(t.s, open - 1);
	} else if (!t.len || t.s[t.len - 1] == ')') {
		return false;
	}
	if (import_ends(fn.module, " (deleted)"))
		fn.module.len -= strlen(" (deleted)");
	fn.name = cut_offset(t);
	fn.kind = script_kind_of(fn.name, fn.module, inlined);
	if (import_ends(fn.module, "[unknown]"))
		fn.module.len = 0;
	if (fn.kind == FUNCTION_UNRESOLVED)
		fn.name = (struct import_text){ "[unknown]", 9 };
	*f = (struct frame){ FRAME_NAMED, .function = import_function(x->im, &fn) };
	return true;
}

static void script_add_frame(struct script *x, struct frame f)
{
	if (x->nr_frames == MAX_FRAMES) {
		x->is_cut = true;
		return;
	}
	*VEC_ADD(x->frames, x->nr_frames, x->alloc_frames) = f;
}

/* ---- samples ---- */

/* Find the event, or add it; return false if there are more than any file has. */
static bool find_event(struct script *x, const struct header *h)
{
	bool clock = import_begins(h->event, "cpu-clock") || import_begins(h->event, "task-clock");
	size_t i;

	for (i = 0; i < x->nr_events; i++)
		if (x->events[i].weighed == h->has_period && x->events[i].name.len == h->event.len &&
		    !memcmp(x->events[i].name.s, h->event.s, h->event.len)) {
			x->event = x->events[i].number;
			return true;
		}
	if (x->nr_events == MAX_EVENTS)
		return false;
	x->event = import_event(x->im, h->event, !h->has_period ? "samples" : clock ? "ns" : "events");
	*VEC_ADD(x->events, x->nr_events, x->alloc_events) =
		(struct script_event){ h->event, h->has_period, x->event };
	return true;
}

/* Return the thread. The first name of a process's threads is that of the process. */
static uint32_t script_thread_of(struct script *x, const struct header *h)
{
	uint32_t *at, proc = 0;

	if (h->has_pid) {
		x->has_proc = true;
		at = map_put(&x->proc_of, h->pid);
		if (*at == MAP_NONE)
			*at = import_proc(x->im, h->pid, h->comm);
		proc = *at;
	}
	return import_thread(x->im, proc, h->tid, h->comm);
}

static void end_sample(struct script *x)
{
	struct rec_sample s = { .cpu = x->h.cpu, .weight = x->h.has_period ? x->h.period : 1 };
	struct frame f;
	size_t i;

	if (!x->open)
		return;
	x->open = false;
	if (!x->nr_frames && read_frame(x, x->h.rest, &f))
		script_add_frame(x, f);
	if (x->is_cut)
		x->frames[x->nr_frames - 1] =
			(struct frame){ FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH };
	for (i = 0; i < x->nr_frames / 2; i++) {
		f = x->frames[i];
		x->frames[i] = x->frames[x->nr_frames - 1 - i];
		x->frames[x->nr_frames - 1 - i] = f;
	}
	s.event = x->event;
	s.thread = script_thread_of(x, &x->h);
	x->untimed |= !x->h.has_time;
	if (x->h.has_time) {
		s.time_ns = MAX(x->h.time_ns, (uint64_t)1);
		x->first_ns = x->first_ns ? MIN(x->first_ns, s.time_ns) : s.time_ns;
		x->last_ns = MAX(x->last_ns, s.time_ns);
	}
	s.stack = trace_write_stack(x->im->w, x->frames, x->nr_frames);
	import_sample(x->im, &s);
	x->nr_frames = 0;
	x->is_cut = false;
}

static void note_bad(struct script *x)
{
	if (!x->nr_bad++)
		x->bad_line = x->nr_lines;
}

/*
 * Return whether it is a frame that is not indented, as some programs print it: its address is long, and a
 * module ends it.
 */
static bool is_unindented(struct import_text t)
{
	size_t i;

	for (i = 0; i < t.len && isxdigit((unsigned char)t.s[i]); i++)
		;
	return i >= 8 && is_frame(t) && t.s[t.len - 1] == ')';
}

static void read_line(struct script *x, const char *line, const char *end)
{
	struct import_text t = import_trim(line, end);
	struct header h;
	struct frame f;

	x->nr_lines++;
	if (!t.len) {
		end_sample(x);
	} else if (*line == '#') {
		;
	} else if (read_header(&h, line, end)) {
		end_sample(x);
		x->h = h;
		x->open = find_event(x, &h);
		if (!x->open)
			note_bad(x);
	} else if (x->open && (import_is_blank(*line) || is_unindented(t)) && read_frame(x, t, &f)) {
		script_add_frame(x, f);
	} else {
		note_bad(x);
	}
}

static int script_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct script x = { .im = im };
	const char *at, *next, *end = data + len;
	int r = 0;

	for (at = data; at < end; at = next + 1) {
		next = memchr(at, '\n', end - at);
		next = next ? next : end;
		read_line(&x, at, next);
	}
	end_sample(&x);
	if (!x.nr_events)
		r = err_set(e, EINVAL, "no samples in it");
	if (x.nr_bad)
		import_note(im, "left out: %" PRIu64 " of %" PRIu64 " lines, which are neither samples nor frames; the first is line %" PRIu64,
			    x.nr_bad, x.nr_lines, x.bad_line);
	if (x.first_ns && !x.untimed) {
		trace_write_label(im->w, "start.mono_ns", "%" PRIu64, x.first_ns);
		trace_write_label(im->w, "end.mono_ns", "%" PRIu64, x.last_ns);
	}
	im->unknown = IMPORT_NO_LOST | IMPORT_NO_MODES | (x.has_proc ? 0 : IMPORT_NO_PROCESSES) |
		      (x.untimed ? IMPORT_NO_TIMES : 0);
	free(x.frames);
	free(x.events);
	map_release(&x.proc_of);
	return r;
}

/*
 * Return whether the first line that is not a comment is a sample; without a time, as other text may be, it
 * must have a frame.
 */
static bool script_is(const char *data, size_t len)
{
	const char *at = data, *end = data + len;
	struct import_text line, next;
	struct header h;

	while (at < end) {
		line = import_line(&at, end);
		if (!import_trim(line.s, line.s + line.len).len || *line.s == '#')
			continue;
		if (!read_header(&h, line.s, line.s + line.len))
			return false;
		next = at < end ? import_line(&at, end) : (struct import_text){ "", 0 };
		return h.has_time || (is_frame(h.rest) && import_ends(h.rest, ")")) ||
		       is_frame(import_trim(next.s, next.s + next.len));
	}
	return false;
}

const struct import_format import_perf_script = {
	.name = "perf script",
	.what = "what 'perf script' printed",
	.is_lines = true,
	.is = script_is,
	.read = script_read,
};
