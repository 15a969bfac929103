// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_file.c - the text that callgrind, and cachegrind, write.
 *
 * Source: "Callgrind Format Specification" of valgrind's manual. Names are given once and then by number
 * ("fn=(12)"); positions may be relative to the line before ("+3", "-1", "*"). What is inlined has no name of
 * its own, only lines of other files (fi=, fe=).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/callgrind/read.h"

enum { MAX_POSITIONS = 2 };

#define MOST (1ull << 62)		/* of a number: doubles and their sums have room for it */

/* Classes of compressed names. */
enum names { NAMES_FILE, NAMES_FUNCTION, NAMES_OBJECT, NAMES_NR };

struct parser {
	struct callgrind *c;
	struct map names[NAMES_NR];		/* number -> text */
	size_t nr_positions, line_position;	/* of them the line */
	uint64_t position[MAX_POSITIONS];
	uint32_t object, file, function;	/* of the lines that come; function: index + 1 */
	uint32_t called_object, called;	/* the same of the next call; index + 1 */
	struct import_text clocks[CALLGRIND_MAX_EVENTS];	/* events in nanoseconds */
	size_t nr_clocks;
	bool is_call;				/* the next line is what a call consumed */
	uint64_t calls;
};

struct cursor {
	const char *p, *end;
};

static void callgrind_skip_blanks(struct cursor *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

static struct import_text word(struct cursor *s)
{
	struct import_text t;

	callgrind_skip_blanks(s);
	t.s = s->p;
	while (s->p < s->end && !strchr(" \t\r", *s->p))
		s->p++;
	t.len = s->p - t.s;
	return t;
}

/* Read a number: decimal, or hexadecimal after 0x. */
static bool callgrind_number(struct cursor *s, uint64_t *v)
{
	const char *from;
	unsigned int base = 10;

	if (s->end - s->p > 2 && s->p[0] == '0' && (s->p[1] | 32) == 'x') {
		base = 16;
		s->p += 2;
	}
	for (from = s->p, *v = 0; s->p < s->end; s->p++) {
		int c = *s->p, digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ?
			(c | 32) - 'a' + 10 : 99;

		if (digit >= (int)base)
			break;
		if (__builtin_mul_overflow(*v, (uint64_t)base, v) ||
		    __builtin_add_overflow(*v, (uint64_t)digit, v))
			return false;
	}
	return s->p > from;
}

static bool at_blank(const struct cursor *s)
{
	return s->p == s->end || strchr(" \t\r", *s->p);
}

/* ---- the graph ---- */

static uint32_t new_values(struct callgrind *c)
{
	uint32_t at = c->nr_values;
	size_t i;

	for (i = 0; i < c->nr_events; i++)
		*VEC_ADD(c->values, c->nr_values, c->alloc_values) = 0;
	return at;
}

/* Add a name. A level of recursion that callgrind separates ("fib'2") is the function, called by itself. */
static uint32_t add_text(struct callgrind *c, enum names class, struct import_text t)
{
	size_t len = t.len;

	while (class == NAMES_FUNCTION && len && isdigit((unsigned char)t.s[len - 1]))
		len--;
	if (len > 1 && len < t.len && t.s[len - 1] == '\'')
		t.len = len - 1;
	return strtab_add(&c->texts, t.s, t.len);
}

static uint32_t get_function(struct callgrind *c, uint32_t name, uint32_t module)
{
	uint32_t *at = map_put(&c->function_of, (uint64_t)name << 32 | module);

	if (*at == MAP_NONE) {
		*at = c->nr_functions;
		*VEC_ADD(c->functions, c->nr_functions, c->alloc_functions) =
			(struct callgrind_function){ name, module, 0, 0, 0 };
	}
	return *at;
}

static uint64_t *get_cost(struct callgrind *c, uint32_t function, uint32_t file, uint32_t line)
{
	uint32_t *at = map_put(&c->cost_of, hash_pair((uint64_t)function << 32 | file, line));

	if (*at == MAP_NONE) {
		uint32_t values = new_values(c);

		VEC_GROW(c->costs, c->nr_costs, c->alloc_costs);
		c->costs[c->nr_costs] =
			(struct callgrind_cost){ c->functions[function].costs, file, line, values };
		*at = c->nr_costs;
		c->functions[function].costs = ++c->nr_costs;
	}
	return &c->values[c->costs[*at].values];
}

static struct callgrind_arc *get_arc(struct callgrind *c, uint32_t from, uint32_t to)
{
	uint32_t *at = map_put(&c->arc_of, (uint64_t)from << 32 | to);

	if (*at == MAP_NONE) {
		uint32_t values = new_values(c);

		VEC_GROW(c->arcs, c->nr_arcs, c->alloc_arcs);
		c->arcs[c->nr_arcs] = (struct callgrind_arc){ c->functions[from].arcs, to, 0, values };
		*at = c->nr_arcs;
		c->functions[from].arcs = ++c->nr_arcs;
	}
	return &c->arcs[*at];
}

/* ---- lines ---- */

/* "(12) name", which gives the number the name; "(12)", which has it; or a name. */
static bool name(struct parser *p, enum names class, struct cursor s, uint32_t *text)
{
	struct import_text t;
	uint64_t id = UINT64_MAX;
	uint32_t *at;

	callgrind_skip_blanks(&s);
	if (s.p < s.end && *s.p == '(' && s.p + 1 < s.end && isdigit((unsigned char)s.p[1])) {
		s.p++;
		if (!callgrind_number(&s, &id) || s.p == s.end || *s.p++ != ')')
			return false;
		callgrind_skip_blanks(&s);
	}
	while (s.end > s.p && strchr(" \t\r", s.end[-1]))
		s.end--;
	t = (struct import_text){ s.p, s.end - s.p };
	if (id == UINT64_MAX) {
		*text = add_text(p->c, class, t);
		return true;
	}
	at = map_put(&p->names[class], id);
	if (t.len)
		*at = add_text(p->c, class, t);
	*text = *at;
	return *at != MAP_NONE;
}

static const char *callgrind_unit_of(const struct parser *p, struct import_text event)
{
	size_t i;

	for (i = 0; i < p->nr_clocks; i++)
		if (p->clocks[i].len == event.len && !memcmp(p->clocks[i].s, event.s, event.len))
			return "ns";
	return event.len == 2 && !memcmp(event.s, "Ir", 2) ? "instructions" : "events";
}

/* Add what a part says before its lines ("summary:") or behind them ("totals:") that they add up to. */
static void add_said(struct callgrind *c, struct import_text key, struct cursor s)
{
	size_t at = key.len == 7 && !memcmp(key.s, "totals:", 7);
	uint64_t v;

	if (!at && (key.len != 8 || memcmp(key.s, "summary:", 8) != 0))
		return;
	if (!at && c->nr_costs)		/* of programs that write it last, and round */
		return;
	callgrind_skip_blanks(&s);
	if (callgrind_number(&s, &v) && v <= MOST && c->said[at] <= MOST)
		c->said[at] += v;
}

/* "positions: instr line", "events: Ir Dr", ... ; true: it is of the head. */
static bool head_line(struct parser *p, struct import_text key, struct cursor s, bool *bad)
{
	struct callgrind *c = p->c;
	struct import_text t;

	if (key.len == 10 && !memcmp(key.s, "positions:", 10)) {
		p->nr_positions = p->line_position = 0;
		while ((t = word(&s)).len && p->nr_positions < MAX_POSITIONS) {
			if (t.len == 4 && !memcmp(t.s, "line", 4))
				p->line_position = p->nr_positions;
			p->nr_positions++;
		}
		*bad = !p->nr_positions;
		return true;
	}
	if (key.len == 7 && !memcmp(key.s, "events:", 7)) {
		size_t nr = 0;

		while ((t = word(&s)).len && nr < CALLGRIND_MAX_EVENTS) {
			c->units[nr] = callgrind_unit_of(p, t);
			c->events[nr++] = t;
		}
		*bad = !nr || t.len || (c->nr_events && nr != c->nr_events);
		c->nr_events = nr;
		return true;
	}
	if (key.len == 6 && !memcmp(key.s, "event:", 6)) {	/* with a long name */
		t = word(&s);
		if (memmem(s.p, s.end - s.p, "(nanoseconds)", 13) && p->nr_clocks < CALLGRIND_MAX_EVENTS)
			p->clocks[p->nr_clocks++] = t;
		return true;
	}
	if (key.len == 4 && !memcmp(key.s, "cmd:", 4)) {
		callgrind_skip_blanks(&s);
		c->command = (struct import_text){ s.p, s.end - s.p };
		return true;
	}
	add_said(c, key, s);
	return key.len && key.s[key.len - 1] == ':';
}

/* "fn=", "cfi=" and the like; *bad: the number has no name. */
static bool name_line(struct parser *p, const char *line, const char *end, bool *bad)
{
	static const struct {
		const char *key;
		enum names class;
	} keys[] = {
		{ "fl=", NAMES_FILE }, { "fi=", NAMES_FILE }, { "fe=", NAMES_FILE },
		{ "fn=", NAMES_FUNCTION }, { "ob=", NAMES_OBJECT }, { "cfl=", NAMES_FILE },
		{ "cfi=", NAMES_FILE }, { "cfn=", NAMES_FUNCTION }, { "cob=", NAMES_OBJECT },
		{ "jfi=", NAMES_FILE }, { "jfn=", NAMES_FUNCTION },
	};
	uint32_t text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t len = strlen(keys[i].key);

		if ((size_t)(end - line) < len || memcmp(line, keys[i].key, len))
			continue;
		*bad = !name(p, keys[i].class, (struct cursor){ line + len, end }, &text);
		if (*bad)
			return true;
		if (i <= 2)
			p->file = text;
		else if (i == 3)
			p->function = get_function(p->c, text, p->object) + 1;
		else if (i == 4)
			p->object = text;
		else if (i == 7)
			p->called = 1 + get_function(p->c, text,
						     p->called_object ? p->called_object : p->object);
		else if (i == 8)
			p->called_object = text;
		return true;
	}
	return false;
}

/* Read a position: absolute, or relative to that of the previous line. */
static bool position(struct cursor *s, uint64_t *at)
{
	uint64_t v;
	char sign;

	callgrind_skip_blanks(s);
	if (s->p == s->end)
		return false;
	sign = *s->p;
	if (sign == '*') {
		s->p++;
		return at_blank(s);
	}
	if (sign == '+' || sign == '-')
		s->p++;
	if (!callgrind_number(s, &v) || !at_blank(s))
		return false;
	*at = sign == '+' ? *at + v : sign == '-' ? *at - v : v;
	return true;
}

/* Read the costs of a line of the function, or of a call from there; costs missing at the end are 0. */
static bool cost_line(struct parser *p, struct cursor s)
{
	struct callgrind *c = p->c;
	uint64_t *to, v, line;
	size_t i;

	for (i = 0; i < p->nr_positions; i++)
		if (!position(&s, &p->position[i]))
			return false;
	if (!p->function || !c->nr_events)
		return false;
	line = p->position[p->line_position];
	if (p->is_call) {
		struct callgrind_arc *arc = get_arc(c, p->function - 1, p->called - 1);

		arc->calls = MIN(arc->calls + p->calls, MOST);
		to = &c->values[arc->values];
	} else {
		to = get_cost(c, p->function - 1, p->file, line <= UINT32_MAX ? line : 0);
	}
	p->is_call = false;
	for (i = 0; callgrind_skip_blanks(&s), s.p < s.end; i++) {
		if (i == c->nr_events || !callgrind_number(&s, &v) || !at_blank(&s) ||
		    __builtin_add_overflow(to[i], v, &to[i]) || to[i] > MOST)
			return false;
	}
	return true;
}

/* "calls=COUNT POSITION": the line after it says what they consumed. */
static bool calls_line(struct parser *p, struct cursor s)
{
	callgrind_skip_blanks(&s);
	if (!callgrind_number(&s, &p->calls) || p->calls > MOST || !p->called)
		return false;
	p->is_call = true;
	return true;
}

static bool take_line(struct parser *p, const char *at, const char *end)
{
	struct cursor s = { at, end };
	bool bad = false;
	struct import_text key;

	callgrind_skip_blanks(&s);
	if (s.p == end || *s.p == '#')
		return true;
	if (isdigit((unsigned char)*s.p) || strchr("+-*", *s.p))
		return cost_line(p, s);
	if (end - s.p > 6 && !memcmp(s.p, "calls=", 6)) {
		s.p += 6;
		bad = !calls_line(p, s);
		p->called_object = 0;
		return !bad;
	}
	if (name_line(p, s.p, end, &bad))
		return !bad;
	key = word(&s);
	return (head_line(p, key, s, &bad) && !bad) || (key.len > 5 && !memcmp(key.s, "jump=", 5)) ||
	       (key.len > 5 && !memcmp(key.s, "jcnd=", 5)) || (key.len > 4 && !memcmp(key.s, "rec", 3));
}

int callgrind_parse(struct callgrind *c, const char *data, size_t len, struct err *e)
{
	struct parser p = { .c = c, .nr_positions = 1 };
	const char *at, *next, *end = data + len;
	unsigned long long nr = 1;
	size_t i;
	int r = 0;

	strtab_init(&c->texts);
	for (at = data; at < end && !r; at = next + 1, nr++) {
		next = memchr(at, '\n', end - at);
		next = next ? next : end;
		if (!take_line(&p, at, next))
			r = err_set(e, EINVAL, "line %llu cannot be read", nr);
	}
	if (!r && !c->nr_costs)
		r = err_set(e, EINVAL, "no function in it consumed anything");
	for (i = 0; i < NAMES_NR; i++)
		map_release(&p.names[i]);
	return r;
}

void callgrind_release(struct callgrind *c)
{
	strtab_release(&c->texts);
	free(c->functions);
	free(c->costs);
	free(c->arcs);
	free(c->values);
	map_release(&c->function_of);
	map_release(&c->cost_of);
	map_release(&c->arc_of);
}
