// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - stacks as lines of text: "outermost;...;innermost COUNT".
 *
 * Sources: FlameGraph's stackcollapse-*.pl and flamegraph.pl, async-profiler's "collapsed" with thread
 * names and annotations, and read.c of lib/report.  A line without a number counts once.  Numbers may have
 * a fraction, as flamegraph.pl reads them: all are then counted in thousandths or less.  "#" begins a
 * comment; "# metric NAME [UNIT]" says what the number is (flow/input.h).  Suffixes tell what kind of code
 * a function ran as: _[k] kernel, _[j] compiled, _[i] inlined, _[0] interpreted, _[1] compiled by C1.
 *
 * The format has no mark of its own, so the whole file is looked at before it is read: struct scan.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/consumer.h"
#include "formats/sink.h"
#include "formats/text.h"

enum { MAX_FRAMES = 65536, BAD_OF = 10 };

struct scan {
	uint64_t nr_lines;			/* blank ones and comments included */
	uint64_t nr_stacks, nr_sure;	/* lines that could be stacks, and that hardly are anything else */
	uint64_t nr_bad, bad_line;		/* that are none; bad_line: the first of them, from 1 */
	const char *bad;			/* what is wrong with it */
	uint64_t nr_numbered, nr_pairs;		/* with a number, with another one before it */
	unsigned int decimals;			/* of the number that has most of them */
};

struct folded {
	struct import *im;
	struct scan scan;
	uint64_t scale;				/* what numbers are multiplied by */
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	struct buf name;			/* scratch */
	bool counts;				/* the numbers are samples */
	bool has_proc, has_thread;		/* some line has one */
};

/* "12", "12." and "12.5". */
static bool is_number(const struct import_text *t)
{
	size_t i = 0;

	while (i < t->len && isdigit((unsigned char)t->s[i]))
		i++;
	if (i && i < t->len && t->s[i] == '.')
		for (i++; i < t->len && isdigit((unsigned char)t->s[i]); i++)
			;
	return t->len && i == t->len;
}

/* Set the last word of a trimmed line; return false if it has only one word. */
static bool last_word(const struct import_text *line, struct import_text *word)
{
	size_t at = line->len;

	while (at && !import_is_blank(line->s[at - 1]))
		at--;
	*word = (struct import_text){ line->s + at, line->len - at };
	return at;
}

/* Cuts the number off the end of the line, which is trimmed. False: there is none. */
static bool cut_number(struct import_text *line, struct import_text *number)
{
	struct import_text word, rest;

	if (!last_word(line, &word) || !is_number(&word))
		return false;
	rest = import_trim(line->s, word.s);
	if (!rest.len)
		return false;
	*number = word;
	*line = rest;
	return true;
}

/* Return how many decimals the number has, without zeros at the end. */
static unsigned int decimals_of(const struct import_text *number)
{
	const char *point = memchr(number->s, '.', number->len), *end = number->s + number->len;

	while (point && end[-1] == '0')
		end--;
	return point ? end - point - 1 : 0;
}

/* Read the number times scale, a power of ten; further decimals are rounded. */
static int parse_number(const struct import_text *t, uint64_t scale, uint64_t *v, struct err *e)
{
	bool fraction = false, large = false;
	size_t i;

	*v = 0;
	for (i = 0; i < t->len && !(fraction && scale == 1); i++) {
		if (t->s[i] == '.') {
			fraction = true;
			continue;
		}
		scale = fraction ? scale / 10 : scale;
		large |= __builtin_mul_overflow(*v, (uint64_t)10, v) ||
			 __builtin_add_overflow(*v, (uint64_t)(t->s[i] - '0'), v);
	}
	large |= __builtin_mul_overflow(*v, scale, v);
	if (i < t->len && t->s[i] >= '5' && t->s[i] <= '9')
		++*v;
	return large ? err_set(e, EINVAL, "the number is too large") : 0;
}

static bool folded_ends_with(const struct import_text *t, const char *end)
{
	size_t len = strlen(end);

	return t->len > len && !memcmp(t->s + t->len - len, end, len);
}

static bool has(const struct import_text *t, const char *what)
{
	return memmem(t->s, t->len, what, strlen(what));
}

/* Cut off the levels above functions, as far as the line has any; return the thread. */
static uint32_t cut_thread(struct folded *f, struct import_text *stack)
{
	const char *end = memchr(stack->s, ';', stack->len), *next;
	struct import_text first = import_trim(stack->s, end ? end : stack->s + stack->len), second;
	uint32_t pid, tid, proc;

	if (import_cut_id(&first, " [pid ", &pid) && end) {
		f->has_proc = true;
		proc = import_proc(f->im, pid, first);
		stack->len -= end + 1 - stack->s;
		stack->s = end + 1;
		next = memchr(stack->s, ';', stack->len);
		second = import_trim(stack->s, next ? next : stack->s + stack->len);
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

static enum function_kind folded_kind_of(struct import_text *t)
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
		if (folded_ends_with(t, suffixes[i].suffix)) {
			t->len -= strlen(suffixes[i].suffix);
			if (suffixes[i].kind != FUNCTION_JAVA_INLINED)
				return suffixes[i].kind;
			return has(t, "::") || !(has(t, ".") || has(t, "/")) ? FUNCTION_NATIVE_INLINED :
									       FUNCTION_JAVA_INLINED;
		}
	if (frame_mark_is_text(t->s, t->len) || (t->len > 12 && !memcmp(t->s, "[unwalkable ", 12)))
		return FUNCTION_MARK;
	if (t->len == 9 && !memcmp(t->s, "[unknown]", 9))
		return FUNCTION_UNRESOLVED;
	return t->len > 12 && !memcmp(t->s, "[unknown in ", 12) ? FUNCTION_UNRESOLVED : FUNCTION_ANY;
}

/* Return a class with dots; async-profiler writes slashes. */
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

static int folded_add_frame(struct folded *f, const char *s, const char *end, struct err *e)
{
	struct import_function fn = { .name = import_trim(s, end) };

	if (f->nr_frames == MAX_FRAMES)
		return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
	fn.kind = folded_kind_of(&fn.name);
	if (kind_is(consumer_kind_of(fn.kind), KIND_JAVA))
		fn.name = dotted(f, fn.name);
	if (!fn.name.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	VEC_GROW(f->frames, f->nr_frames, f->alloc_frames);
	f->frames[f->nr_frames++] =
		(struct frame){ FRAME_NAMED, .function = import_function(f->im, &fn) };
	return 0;
}

/* ---- which lines are stacks ---- */

/* Return whether the word is meant as a number but cannot be read: "-5", "1e3", "0x10", "nan". */
static bool is_odd_number(const struct import_text *word)
{
	size_t sign = word->len && strchr("+-.", *word->s) ? 1 : 0;

	if (word->len - sign == 3 && (!memcmp(word->s + sign, "nan", 3) || !memcmp(word->s + sign, "inf", 3)))
		return true;
	return word->len > sign && isdigit((unsigned char)word->s[sign]);
}

/*
 * Return why a line without a number is not a stack; what is between its semicolons must look like functions.
 */
static const char *why_no_stack(const struct import_text *stack)
{
	const char *at, *end = stack->s + stack->len, *next;
	struct import_text word;

	if (last_word(stack, &word) && is_odd_number(&word))
		return "its number cannot be read";
	if (!memchr(stack->s, ';', stack->len))
		return "it has no number at its end";
	for (at = stack->s; at < end; at = next + 1) {
		next = memchr(at, ';', end - at);
		next = next ? next : end;
		if (!import_trim(at, next).len)
			return "it has no number at its end";
	}
	return end[-1] == ';' ? "it has no number at its end" : NULL;
}

/* Return why a trimmed line that is not empty is not a stack, or NULL if it is one. */
static const char *classify(struct scan *sc, struct import_text line)
{
	struct import_text stack = line, number, other;
	bool numbered = cut_number(&stack, &number);
	uint64_t v;
	struct err e;

	if (memchr(stack.s, '\t', stack.len))
		return "it has tabs";
	if (!numbered)
		return why_no_stack(&stack);
	if (parse_number(&number, 1, &v, &e))
		return "the number is too large";
	sc->nr_numbered++;
	sc->nr_sure += memchr(stack.s, ';', stack.len) || !last_word(&stack, &other);
	sc->nr_pairs += cut_number(&stack, &other);
	sc->decimals = MAX(sc->decimals, decimals_of(&number));
	return NULL;
}

static void scan_line(struct scan *sc, const char *s, const char *end)
{
	struct import_text line = import_trim(s, end);
	const char *bad;

	sc->nr_lines++;
	if (!line.len || *line.s == '#')
		return;
	sc->nr_stacks++;
	bad = classify(sc, line);
	if (bad && !sc->nr_bad++) {
		sc->bad_line = sc->nr_lines;
		sc->bad = bad;
	}
}

/* Scan the lines; head: the last may be cut off. */
static void scan_lines(struct scan *sc, const char *data, size_t len, bool head)
{
	const char *at, *next, *end = data + len;

	for (at = data; at < end; at = next + 1) {
		next = memchr(at, '\n', end - at);
		if (!next && head) {	/* the rest of it is missing */
			bool only = !sc->nr_stacks && memchr(at, ';', end - at);

			sc->nr_stacks += only;
			sc->nr_numbered += only;
			sc->nr_sure += only;
			if (!sc->nr_stacks)
				scan_line(sc, at, end);
			break;
		}
		next = next ? next : end;
		scan_line(sc, at, next);
	}
}

/*
 * Return whether the text is folded stacks: nine of ten lines are, and most of these in a way that other text
 * is not.
 */
static bool is_folded(const struct scan *sc)
{
	bool numbered = sc->nr_numbered, few = sc->nr_bad * BAD_OF <= sc->nr_stacks;

	return sc->nr_stacks &&
	       (numbered ? few && sc->nr_sure * 2 >= sc->nr_stacks - sc->nr_bad : !sc->nr_bad);
}

static int check_scan(const struct scan *sc, struct err *e)
{
	if (!sc->nr_stacks)
		return err_set(e, EINVAL, "no stacks in it");
	if (!is_folded(sc))
		return err_set(e, EINVAL, "line %" PRIu64 " is no folded stack, \"outermost;...;innermost number\": %s",
			       sc->nr_bad ? sc->bad_line : sc->nr_lines,
			       sc->nr_bad ? sc->bad : "few lines have functions joined by semicolons");
	if (sc->nr_pairs && sc->nr_pairs == sc->nr_numbered)
		return err_set(e, EINVAL, "each line has two numbers: a comparison of two profiles cannot be shown");
	return 0;
}

int import_folded_refuse(const char *data, size_t len, struct err *e)
{
	struct scan sc = { .nr_lines = 0 };
	const char *zero = len ? memchr(data, '\0', MIN(len, (size_t)IMPORT_HEAD_BYTES)) : NULL;

	if (zero)
		return err_set(e, EINVAL, "no text, with a zero byte at offset %zu: not a profile of a known format",
			       (size_t)(zero - data));
	scan_lines(&sc, data, MIN(len, (size_t)IMPORT_HEAD_BYTES), len > IMPORT_HEAD_BYTES);
	return check_scan(&sc, e) ? err_wrap(e, "not a profile of a known format") :
				    err_set(e, EINVAL, "not a profile of a known format");
}

/* ---- stacks ---- */

static int add_stack(struct folded *f, struct import_text line, struct err *e)
{
	struct import_text number = { "1", 1 };
	struct rec_sample s = { .cpu = IMPORT_NO_CPU };
	const char *at, *end, *next;
	int r;

	cut_number(&line, &number);
	if ((r = parse_number(&number, f->scale, &s.weight, e)))
		return r;
	s.thread = cut_thread(f, &line);
	f->nr_frames = 0;
	end = line.s + line.len;
	for (at = line.s; at < end && !r; at = next + 1) {
		next = memchr(at, ';', end - at);
		next = next ? next : end;
		if ((r = folded_add_frame(f, at, next, e)))
			return r;
	}
	if (!s.weight)
		return 0;
	s.more = f->counts ? (int64_t)s.weight - 1 : -1;
	s.stack = trace_write_stack(f->im->w, f->frames, f->nr_frames);
	import_sample(f->im, &s);
	return 0;
}

/* Choose a factor that turns the numbers into integers, and the unit that they then have. */
static void choose_scale(struct folded *f, const char *unit, char text[128])
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} times[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	unsigned int decimals = f->scan.decimals;
	size_t i;

	f->scale = !decimals ? 1 : decimals <= 3 ? 1000 : decimals <= 6 ? 1000000 : 1000000000;
	for (i = 0; i < ARRAY_SIZE(times) && decimals; i++)
		if (!strcmp(unit, times[i].unit)) {
			f->scale = times[i].ns;
			snprintf(text, 128, "ns");
			return;
		}
	snprintf(text, 128, "%s%s%s", f->scale == 1 ? "" : f->scale == 1000 ? "thousandths" :
		 f->scale == 1000000 ? "millionths" : "billionths", f->scale > 1 && *unit ? " of " : "", unit);
}

/* "# metric NAME [UNIT]", before all stacks; the rest are comments. */
static void take_comment(struct folded *f, struct import_text line)
{
	static const char metric[] = "metric ";
	struct import_text t = import_trim(line.s + 1, line.s + line.len), unit = { "", 0 };
	const char *blank;
	char text[64], scaled[128];

	if (f->im->nr_events || t.len <= strlen(metric) || memcmp(t.s, metric, strlen(metric)))
		return;
	t = import_trim(t.s + strlen(metric), t.s + t.len);
	blank = memchr(t.s, ' ', t.len);
	if (blank) {
		unit = import_trim(blank, t.s + t.len);
		t.len = blank - t.s;
	}
	snprintf(text, sizeof(text), "%.*s", (int)MIN(unit.len, sizeof(text) - 1), unit.s);
	choose_scale(f, text, scaled);
	import_event(f->im, t, scaled);
	f->counts = t.len == 7 && !memcmp(t.s, "samples", 7) && f->scale == 1;
}

/*
 * Name the metric. Without a directive the numbers are samples, as in all such tools, unless they have
 * fractions. arcprof, which writes a process first, writes what its first metric counts.
 */
static void name_metric(struct folded *f, const struct import_text *line)
{
	const char *end = memchr(line->s, ';', line->len);
	struct import_text first = import_trim(line->s, end ? end : line->s + line->len);
	bool own;
	uint32_t pid;
	char text[128];

	choose_scale(f, "", text);
	own = import_cut_id(&first, " [pid ", &pid);
	f->counts = !own && f->scale == 1;
	if (f->counts)
		import_event(f->im, (struct import_text){ "samples", 7 }, "samples");
	else
		import_event(f->im, (struct import_text){ "value", 5 }, f->scale > 1 ? text : "value");
	if (own)
		import_note(f->im, "the file does not say what its numbers count");
	else if (!f->counts)
		import_note(f->im, "the numbers have fractions, so they do not count samples: they are shown in %s",
			    text);
}

static int add_line(struct folded *f, const char *s, const char *end, struct err *e)
{
	struct import_text line = import_trim(s, end);
	struct scan again = { .nr_lines = 0 };

	if (!line.len)
		return 0;
	if (*line.s == '#') {
		take_comment(f, line);
		return 0;
	}
	if (f->scan.nr_bad && classify(&again, line))
		return 0;
	if (!f->im->nr_events)
		name_metric(f, &line);
	return add_stack(f, line, e);
}

static int read_lines(struct folded *f, const char *data, size_t len, struct err *e)
{
	const char *at, *next, *end = data + len;
	uint64_t nr = 0;
	int r = 0;

	for (at = data; at < end && !r; at = next + 1) {
		next = memchr(at, '\n', end - at);
		next = next ? next : end;
		nr++;
		if ((r = add_line(f, at, next, e)))
			err_wrap(e, "line %" PRIu64, nr);
	}
	return r;
}

static int folded_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct folded f = { .im = im, .scale = 1 };
	int r;

	scan_lines(&f.scan, data, len, false);
	r = check_scan(&f.scan, e);
	if (!r)
		r = read_lines(&f, data, len, e);
	if (f.scan.nr_bad)
		import_note(im, "left out: %" PRIu64 " of %" PRIu64 " lines, which are no stacks; the first is line %" PRIu64 ": %s",
			    f.scan.nr_bad, f.scan.nr_stacks, f.scan.bad_line, f.scan.bad);
	im->unknown = IMPORT_NO_TIMES | IMPORT_NO_LOST | IMPORT_NO_MODES |
		      (f.has_proc ? 0 : IMPORT_NO_PROCESSES) |
		      (f.has_thread ? 0 : IMPORT_NO_THREADS) | (f.counts ? 0 : IMPORT_NO_COUNTS);
	free(f.frames);
	buf_release(&f.name);
	return r;
}

/*
 * Return whether the text is JSON, whose long strings have semicolons; but a function may be called "{main}".
 */
static bool looks_like_json(const char *data, size_t len)
{
	size_t at = 0;

	while (at < len && isspace((unsigned char)data[at]))
		at++;
	if (at == len || (data[at] != '{' && data[at] != '['))
		return false;
	for (at++; at < len && isspace((unsigned char)data[at]); at++)
		;
	return at < len && (data[at] == '"' || data[at] == '{');
}

static bool folded_is(const char *data, size_t len)
{
	struct scan sc = { .nr_lines = 0 };

	if (memchr(data, '\0', len) || looks_like_json(data, len))
		return false;
	scan_lines(&sc, data, len, len >= IMPORT_HEAD_BYTES);
	return is_folded(&sc);
}

const struct import_format import_folded = {
	.name = "folded stacks",
	.what = "a file of folded stacks",
	.is_lines = true,
	.is = folded_is,
	.read = folded_read,
};
