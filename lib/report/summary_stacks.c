// SPDX-License-Identifier: GPL-2.0-or-later
/* summary_stacks.c - the hottest stacks of all threads together, each in a few lines. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "flow/ops.h"
#include "model/roles.h"
#include "report/summary.h"

enum {
	LINE = 80,		/* where standard output is not a terminal */
	INDENT = 22,
	FRAMES = 12,		/* of a stack in text; if there are more, so many of its root: */
	FRAMES_ROOT = 3,
};

/*
 * Build the tree without processes, threads and the ways into the program, so that the same stack of several
 * threads is one; direct recursion is one frame, too.
 */
static void merge_stacks(const struct summary *s, struct flow *out)
{
	const struct model *m = s->v->m;
	uint32_t *to = xcalloc(m->consumers.nr_items, sizeof(*to)), top = 0;
	size_t i;

	for (i = 1; i < m->consumers.nr_items; i++) {
		uint32_t kind = m->consumers.items[i].kind;

		if (kind_is(kind, KIND_PLACE) && kind != CONSUMER_THREAD && kind != CONSUMER_LABEL)
			top = to[i] = top ? top : i;
		else
			to[i] = kind_is(kind, KIND_PLACE) || role_is_entry(m, i) ? FLOW_DROP : i;
	}
	flow_map(&m->flow, to, true, out, NULL);
	free(to);
}

/* Return what follows the bracket that closes the one at at, or the end. */
static const char *summary_stacks_behind(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		depth += !!strchr("<({", *at);
		depth -= !!strchr(">)}", *at) && !(*at == '>' && at[-1] == '-');
		if (!depth)
			return at + 1;
	}
	return at;
}

/* Return the length of an operator's name, whose signs are not brackets; 0: there is none at at. */
static size_t operator_len(const char *begin, const char *at)
{
	static const char word[] = "operator";
	size_t len = strlen(word);

	if ((at != begin && at[-1] != ':') || strncmp(at, word, len))
		return 0;
	return len + (!strncmp(at + len, "()", 2) ? 2 : strspn(at + len, "<>=!+-*/%^&|~[],"));
}

/*
 * "bool ns::f<int>(int) const" -> "ns::f<>", "f(int)::{lambda(int)#1}::operator()(int)" ->
 * "f::{lambda}::operator()", "main.(*T).f" as it is.
 */
void summary_put_short_native(const char *name, struct buf *b)
{
	static const char unnamed[] = "(anonymous namespace)";
	const char *begin = role_qualified_name(name), *at = begin, *next;
	size_t len;

	while (*at) {
		next = at + 1;
		len = operator_len(begin, at);
		if (len) {
			next = at + len;
		} else if (*at == '(' && !strncmp(at, unnamed, strlen(unnamed))) {
			next = at + strlen(unnamed);
		} else if (*at == '(') {
			next = summary_stacks_behind(at);
			if (*next != '.' && strncmp(next, "::", 2))
				return;
			len = *next == ':' ? 0 : next - at;
			buf_add(b, at, len);
			at = next;
			continue;
		} else if (*at == '{' || (*at == '<' && at != begin)) {
			next = summary_stacks_behind(at);
			buf_add(b, at, *at == '{' ? strcspn(at, "(<}") : 1);
			at = next - (next > at + 1);
		} else if (*at == '<') {
			next = summary_stacks_behind(at);
		}
		buf_add(b, at, next - at);
		at = next;
	}
}

/* "pkg.Class.method(int)" -> "Class.method", "C$$Lambda+0x1a.f" -> "C$$Lambda.f". */
static void put_short(const struct summary *s, uint32_t consumer, struct buf *b)
{
	const struct consumer *c = &s->v->m->consumers.items[consumer];
	const char *name = model_str(s->v->m, c->name), *from = name, *dot;
	size_t len = *name == '(' || *name == '[' ? strlen(name) : strcspn(name, "(");
	struct buf part = BUF_INIT;
	const char *number;
	int dots = 0;

	if (kind_is(c->kind, KIND_NATIVE) && *name != '[') {
		summary_put_short_native(name, &part);
		quote_add(b, part.len ? part.data : name);
		buf_release(&part);
		return;
	}
	for (dot = name + len; kind_is(c->kind, KIND_JAVA) && dot > name; dot--)
		if (dot[-1] == '.' && ++dots == 2) {
			from = dot;
			break;
		}
	number = kind_is(c->kind, KIND_JAVA) ? memmem(from, name + len - from, "+0x", 3) : NULL;
	if (number) {
		buf_add(&part, from, number - from);
		from = number + 3 + strspn(number + 3, "0123456789abcdef");
	}
	buf_add(&part, from, name + len - from);
	quote_add(b, part.data);
	buf_release(&part);
}

struct line {
	struct buf text;
	size_t width, column, indent;
};

/* Break the line before a word that has no room in it. */
static void line_add(struct line *l, const char *word)
{
	if (l->column > l->indent && l->column + 1 + strlen(word) > l->width) {
		buf_fmt(&l->text, "\n%*s", (int)l->indent, "");
		l->column = l->indent;
	} else if (l->column > l->indent) {
		buf_putc(&l->text, ' ');
		l->column++;
	}
	buf_str(&l->text, word);
	l->column += strlen(word);
}

static bool is_place(const struct summary *s, const struct flow *f, uint32_t node)
{
	return kind_is(s->v->m->consumers.items[f->nodes[node].consumer].kind, KIND_PLACE);
}

/* Append the frames from the leaf to the root, without the middle of many. */
static void summary_stacks_put_frames(const struct summary *s, const struct flow *f, uint32_t node,
				      struct line *l)
{
	struct buf word = BUF_INIT;
	size_t nr = 0, i = 0;
	uint32_t at;

	for (at = node; at && !is_place(s, f, at); at = f->nodes[at].parent)
		nr++;
	for (at = node; i < nr; at = f->nodes[at].parent, i++) {
		if (nr > FRAMES && i == FRAMES - FRAMES_ROOT) {
			buf_reset(&word);
			buf_fmt(&word, "< [%zu more]", nr - FRAMES);
			line_add(l, word.data);
		}
		if (nr > FRAMES && i >= FRAMES - FRAMES_ROOT && i < nr - FRAMES_ROOT)
			continue;
		buf_reset(&word);
		buf_str(&word, i ? "< " : "");
		put_short(s, f->nodes[at].consumer, &word);
		line_add(l, word.data);
	}
	if (!nr)
		line_add(l, "[no stack]");
	buf_release(&word);
}

static void json_frames(struct json *j, const struct summary *s, const struct flow *f, uint32_t at)
{
	const struct consumers *c = &s->v->m->consumers;

	json_array(j, "frames");
	for (; at && !is_place(s, f, at); at = f->nodes[at].parent)
		json_str(j, NULL, consumer_name(c, f->nodes[at].consumer));
	json_end(j);
}

static void put_lines(struct summary *s, const struct flow *f, uint32_t node, unsigned int metric)
{
	struct line l = { .width = s->v->o->width ? s->v->o->width : LINE, .indent = INDENT };
	double share = summary_percent(flow_base(f, node)[metric], s->v->total[metric]);
	const char *amount = summary_amount(s, metric, flow_base(f, node)[metric]).text;
	struct buf code = BUF_INIT;

	if (summary_is_markdown(s)) {
		l.width = SIZE_MAX;
		l.indent = 0;
		summary_stacks_put_frames(s, f, node, &l);
		sheet_put_markdown(&code, l.text.data);
		fprintf(s->sheet.out, "- %.1f %%, %s: %s\n", share, amount, code.data);
	} else {
		buf_fmt(&l.text, "%9.1f %10s  ", share, amount);
		l.column = l.indent;
		summary_stacks_put_frames(s, f, node, &l);
		fprintf(s->sheet.out, "%s\n", l.text.data);
	}
	buf_release(&code);
	buf_release(&l.text);
}

static void summary_stacks_put_stack(struct summary *s, const struct flow *f, uint32_t node,
				     unsigned int metric)
{
	uint64_t n = flow_base(f, node)[metric];
	struct json *j = &s->sheet.json;

	if (!summary_is_json(s)) {
		put_lines(s, f, node, metric);
		return;
	}
	json_object(j, NULL);
	json_str(j, "metric", model_str(s->v->m, s->v->m->metrics[metric].name));
	json_u64(j, "self", n);
	json_frames(j, s, f, node);
	json_end(j);
}

/* Return the next hottest node after last that is not left out; equal ones come in the order of the tree. */
static uint32_t next_hottest(const struct flow *f, unsigned int metric, const bool *left_out, uint32_t last)
{
	uint64_t below = last ? flow_base(f, last)[metric] : UINT64_MAX, most = 0, n;
	uint32_t found = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		n = flow_base(f, i)[metric];
		if (!left_out[i] && (n < below || (n == below && i > last)) && n > most) {
			most = n;
			found = i;
		}
	}
	return found;
}

void summary_put_stacks(struct summary *s, unsigned int metric)
{
	struct flow f;
	uint32_t node = 0;
	uint64_t i;
	bool *left_out;

	merge_stacks(s, &f);
	left_out = xcalloc(f.nr_nodes, sizeof(*left_out));
	summary_mark_own(s->v->m, &f, left_out);
	summary_begin(s, "stacks", "Hottest stacks, all threads, the innermost function first");
	for (i = 0; i < s->own->top_stacks && (node = next_hottest(&f, metric, left_out, node)); i++)
		summary_stacks_put_stack(s, &f, node, metric);
	summary_end(s);
	free(left_out);
	flow_release(&f);
}
