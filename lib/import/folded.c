// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * folded.c - stacks as lines of text: "outermost;...;innermost COUNT".
 *
 * Sources: FlameGraph's stackcollapse-*.pl and flamegraph.pl, async-profiler's "collapsed" with thread
 * names and annotations, and folded.c of lib/report.  A line without a number counts once.  "#" begins a
 * comment; "# metric NAME [UNIT]" says what the number is (flow/input.h).  Suffixes tell what kind of code
 * a function ran as: _[k] kernel, _[j] compiled, _[i] inlined, _[0] interpreted, _[1] compiled by C1.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "import/sink.h"

enum { MAX_FRAMES = 65536 };

struct folded {
	struct import *im;
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	struct buf name;			/* scratch */
	bool counts;				/* the numbers are samples */
	bool has_proc, has_thread;		/* some line has one */
	uint64_t nr_lines, nr_stacks;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct import_text trim(const char *s, const char *end)
{
	while (s < end && is_blank(*s))
		s++;
	while (s < end && is_blank(end[-1]))
		end--;
	return (struct import_text){ s, end - s };
}

/* Cuts the number off the end of the line, which is trimmed. False: there is none. */
static bool cut_number(struct import_text *line, struct import_text *number)
{
	size_t at = line->len;

	while (at && isdigit((unsigned char)line->s[at - 1]))
		at--;
	if (at == line->len || !at || !is_blank(line->s[at - 1]))
		return false;
	*number = (struct import_text){ line->s + at, line->len - at };
	*line = trim(line->s, line->s + at);
	return line->len;
}

static int parse_number(const struct import_text *t, uint64_t *v, struct err *e)
{
	size_t i;

	*v = 0;
	for (i = 0; i < t->len; i++)
		if (__builtin_mul_overflow(*v, (uint64_t)10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(t->s[i] - '0'), v))
			return err_set(e, EINVAL, "the number is too large");
	return 0;
}

static bool ends_with(const struct import_text *t, const char *end)
{
	size_t len = strlen(end);

	return t->len > len && !memcmp(t->s + t->len - len, end, len);
}

static bool has(const struct import_text *t, const char *what)
{
	return memmem(t->s, t->len, what, strlen(what));
}

/* The levels above functions, as far as the line has any; they are cut off. */
static uint32_t cut_thread(struct folded *f, struct import_text *stack)
{
	const char *end = memchr(stack->s, ';', stack->len), *next;
	struct import_text first = trim(stack->s, end ? end : stack->s + stack->len), second;
	uint32_t pid, tid, proc;

	if (import_cut_id(&first, " [pid ", &pid) && end) {
		f->has_proc = true;
		proc = import_proc(f->im, pid, first);
		stack->len -= end + 1 - stack->s;
		stack->s = end + 1;
		next = memchr(stack->s, ';', stack->len);
		second = trim(stack->s, next ? next : stack->s + stack->len);
		tid = 0;
		if (import_cut_id(&second, " [tid ", &tid)) {
			stack->len -= (next ? next + 1 : stack->s + stack->len) - stack->s;
			stack->s = next ? next + 1 : stack->s + stack->len;
		} else {
			second.len = 0;
		}
		f->has_thread = true;
		return import_thread(f->im, proc, tid, second);
	}
	if (end && first.len && *first.s == '[' && import_cut_id(&first, " tid=", &tid)) {
		f->has_thread = true;
		stack->len -= end + 1 - stack->s;
		stack->s = end + 1;
		return import_thread(f->im, 0, tid, (struct import_text){ first.s + 1, first.len - 1 });
	}
	return 0;
}

static enum function_kind kind_of(struct import_text *t)
{
	static const struct {
		const char *suffix;
		enum function_kind kind;
	} suffixes[] = {
		{ "_[k]", FUNCTION_KERNEL },	      { "_[j]", FUNCTION_JAVA_COMPILED },
		{ "_[0]", FUNCTION_JAVA_INTERPRETED }, { "_[1]", FUNCTION_JAVA_COMPILED },
		{ "_[i]", FUNCTION_JAVA_INLINED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (ends_with(t, suffixes[i].suffix)) {
			t->len -= strlen(suffixes[i].suffix);
			if (suffixes[i].kind != FUNCTION_JAVA_INLINED)
				return suffixes[i].kind;
			return has(t, "::") || !(has(t, ".") || has(t, "/")) ? FUNCTION_NATIVE_INLINED :
									       FUNCTION_JAVA_INLINED;
		}
	if (t->len > 12 && (!memcmp(t->s, "[unwalkable:", 12) || !memcmp(t->s, "[unwalkable ", 12)))
		return FUNCTION_MARK;
	if (t->len == 9 && !memcmp(t->s, "[unknown]", 9))
		return FUNCTION_UNRESOLVED;
	return t->len > 12 && !memcmp(t->s, "[unknown in ", 12) ? FUNCTION_UNRESOLVED : FUNCTION_ANY;
}

/* Classes of async-profiler have slashes. */
static struct import_text dotted(struct folded *f, struct import_text t)
{
	size_t i;

	buf_reset(&f->name);
	for (i = 0; i < t.len; i++) {
		bool hidden = i + 2 < t.len && t.s[i + 1] == '0' && t.s[i + 2] == 'x';

		buf_putc(&f->name, t.s[i] == '/' && !hidden ? '.' : t.s[i]);
	}
	return (struct import_text){ f->name.data, f->name.len };
}

static int add_frame(struct folded *f, const char *s, const char *end, struct err *e)
{
	struct import_function fn = { .name = trim(s, end) };

	if (f->nr_frames == MAX_FRAMES)
		return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
	fn.kind = kind_of(&fn.name);
	if (fn.kind >= FUNCTION_JAVA && fn.kind <= FUNCTION_JAVA_INLINED)
		fn.name = dotted(f, fn.name);
	if (!fn.name.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	VEC_GROW(f->frames, f->nr_frames, f->alloc_frames);
	f->frames[f->nr_frames++] =
		(struct frame){ FRAME_NAMED, .function = import_function(f->im, &fn) };
	return 0;
}

static int add_stack(struct folded *f, struct import_text line, struct err *e)
{
	struct import_text number = { "1", 1 };
	struct rec_sample s = { .cpu = IMPORT_NO_CPU };
	const char *at, *end, *next;
	int r;

	cut_number(&line, &number);
	if ((r = parse_number(&number, &s.weight, e)))
		return r;
	s.thread = cut_thread(f, &line);
	f->nr_frames = 0;
	end = line.s + line.len;
	for (at = line.s; at < end && !r; at = next + 1) {
		next = memchr(at, ';', end - at);
		next = next ? next : end;
		if ((r = add_frame(f, at, next, e)))
			return r;
	}
	f->nr_stacks++;
	if (!s.weight)
		return 0;
	s.more = f->counts ? (int64_t)s.weight - 1 : -1;
	s.stack = trace_write_stack(f->im->w, f->frames, f->nr_frames);
	trace_write_sample(f->im->w, &s);
	return 0;
}

/* "# metric NAME [UNIT]", before all stacks; the rest are comments. */
static void take_comment(struct folded *f, struct import_text line)
{
	static const char metric[] = "metric ";
	struct import_text t = trim(line.s + 1, line.s + line.len), unit = { "", 0 };
	const char *blank;
	char text[64];

	if (f->im->nr_events || t.len <= strlen(metric) || memcmp(t.s, metric, strlen(metric)))
		return;
	t = trim(t.s + strlen(metric), t.s + t.len);
	blank = memchr(t.s, ' ', t.len);
	if (blank) {
		unit = trim(blank, t.s + t.len);
		t.len = blank - t.s;
	}
	snprintf(text, sizeof(text), "%.*s", (int)MIN(unit.len, sizeof(text) - 1), unit.s);
	import_event(f->im, t, text);
	f->counts = t.len == 7 && !memcmp(t.s, "samples", 7);
}

/*
 * Without a directive the number is taken for samples, as every such tool does; but arcprof, which writes a
 * process first, writes what its first metric counts.
 */
static void name_metric(struct folded *f, const struct import_text *line)
{
	const char *end = memchr(line->s, ';', line->len);
	struct import_text first = trim(line->s, end ? end : line->s + line->len);
	uint32_t pid;

	f->counts = !import_cut_id(&first, " [pid ", &pid);
	if (f->counts)
		import_event(f->im, (struct import_text){ "samples", 7 }, "samples");
	else
		import_event(f->im, (struct import_text){ "value", 5 }, "value");
	if (!f->counts)
		import_note(f->im, "the file does not say what its numbers count");
}

static int add_line(struct folded *f, const char *s, const char *end, struct err *e)
{
	struct import_text line = trim(s, end);

	f->nr_lines++;
	if (!line.len)
		return 0;
	if (*line.s == '#') {
		take_comment(f, line);
		return 0;
	}
	if (!f->im->nr_events)
		name_metric(f, &line);
	return add_stack(f, line, e) ? err_wrap(e, "line %llu", (unsigned long long)f->nr_lines) : 0;
}

static int folded_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct folded f = { .im = im };
	const char *at, *next, *end = data + len;
	int r = 0;

	for (at = data; at < end && !r; at = next + 1) {
		next = memchr(at, '\n', end - at);
		next = next ? next : end;
		r = add_line(&f, at, next, e);
	}
	if (!r && !f.nr_stacks)
		r = err_set(e, EINVAL, "no stacks in it");
	im->unknown = IMPORT_NO_TIMES | IMPORT_NO_LOST | IMPORT_NO_MODES | (f.has_proc ? 0 : IMPORT_NO_PROCESSES) |
		      (f.has_thread ? 0 : IMPORT_NO_THREADS) | (f.counts ? 0 : IMPORT_NO_COUNTS);
	free(f.frames);
	buf_release(&f.name);
	return r;
}

/* Text of which every line has several functions, or a number at its end. */
static bool folded_is(const char *data, size_t len)
{
	const char *at, *next, *end = data + len;
	size_t nr = 0;

	if (memchr(data, '\0', len))
		return false;
	for (at = data; at < end; at = next + 1) {
		struct import_text line, number;

		next = memchr(at, '\n', end - at);
		if (!next && nr)
			break;		/* the rest of it may be missing */
		next = next ? next : end;
		line = trim(at, next);
		if (!line.len || *line.s == '#')
			continue;
		nr++;
		if (!memchr(line.s, ';', line.len) && !cut_number(&line, &number))
			return false;
	}
	return nr;
}

const struct import_format import_folded = {
	.name = "folded stacks",
	.what = "a file of folded stacks",
	.is = folded_is,
	.read = folded_read,
};
