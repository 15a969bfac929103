// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * render.c - a page as text: the blocks of AsciiDoc that the pages are made of, and lines of a width.
 *
 * A list goes on after an empty line, and any other block ends it, unless "+" is in front of that.
 */
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "manual/inline.h"
#include "manual/manual.h"

#define NO_BREAK "\302\240"	/* a space, of UTF-8 */

enum { BODY = 7, SUBTITLE = 3, STEP = 4, MAX_LEVELS = 8, LEAST_WIDTH = 40 };

struct line {
	const char *s;
	size_t len;
};

struct renderer {
	const struct buf *page;
	const char *rest;		/* the lines to come */
	int width;
	FILE *out;
	char levels[MAX_LEVELS];	/* of lists: the first byte of what marks the items of each */
	int nr_levels;
	int number;			/* of the last item that is numbered */
	bool joined;			/* a "+" was in front */
	bool empty;			/* an empty line was in front */
	bool below_title;		/* nothing is below the title yet */
	bool marks;			/* examples have marks as well */
};

/* ---- lines of the page ---- */

static bool peek(const struct renderer *r, struct line *l)
{
	l->s = r->rest;
	l->len = strcspn(r->rest, "\n");
	return *r->rest;
}

static void skip(struct renderer *r, const struct line *l)
{
	r->rest = l->s + l->len;
	r->rest += *r->rest == '\n';
}

static bool is_line(const struct line *l, const char *text)
{
	return l->len == strlen(text) && !memcmp(l->s, text, l->len);
}

static bool manual_render_begins(const struct line *l, const char *text)
{
	return l->len >= strlen(text) && !memcmp(l->s, text, strlen(text));
}

static bool is_fence(const struct line *l)
{
	return is_line(l, "----") || is_line(l, "....") || is_line(l, "|===");
}

/* "[[id]]", "[source,java]", "[cols=...]" */
static bool is_attribute(const struct line *l)
{
	return l->len > 2 && l->s[0] == '[' && l->s[l->len - 1] == ']' && l->s[1] != '<';
}

/* ---- items of lists ---- */

struct item {
	char mark;			/* '*', '.', ':' or ';' */
	struct line term, text;
};

/* "term:: text" or "term;; text" */
static bool parse_term(const struct line *l, struct item *item)
{
	size_t i;

	for (i = 1; i + 2 <= l->len; i++) {
		char c = l->s[i];

		if ((c != ':' && c != ';') || l->s[i + 1] != c || (i + 2 < l->len && l->s[i + 2] != ' '))
			continue;
		item->mark = c;
		item->term = (struct line){ l->s, i };
		item->text = (struct line){ l->s + i + 2, l->len - i - 2 };
		return true;
	}
	return false;
}

static bool parse_item(const struct line *l, struct item *item)
{
	if (!manual_render_begins(l, "* ") && !manual_render_begins(l, ". "))
		return parse_term(l, item);
	item->mark = l->s[0];
	item->term = (struct line){ l->s, 0 };
	item->text = (struct line){ l->s + 2, l->len - 2 };
	return true;
}

/* Enter a level: an item continues the list with its mark that is open, or begins a list inside. */
static void enter_level(struct renderer *r, char mark)
{
	int i;

	for (i = 0; i < r->nr_levels && r->levels[i] != mark; i++)
		;
	if (i == r->nr_levels && mark == '.')
		r->number = 0;
	if (i == MAX_LEVELS)
		i--;
	r->levels[i] = mark;
	r->nr_levels = i + 1;
}

static int indent_of(const struct renderer *r)
{
	return BODY + r->nr_levels * STEP;
}

/* ---- output ---- */

/* Return the width of text without codes; bytes that continue a character of UTF-8 take no column. */
static int manual_render_width_of(const char *s, size_t len)
{
	int width = 0;

	for (; len; s++, len--)
		width += (*s & 0xc0) != 0x80 && (unsigned char)*s > INLINE_ITALIC_END;
	return width;
}

struct style {
	bool bold, italic;
};

static void put_style(const struct renderer *r, struct style s)
{
	if (s.bold)
		fputs(term_style(TERM_BOLD), r->out);
	if (s.italic)
		fputs(term_style(TERM_UNDERLINE), r->out);
}

static void switch_style(const struct renderer *r, char code, struct style *style)
{
	if (code == INLINE_BOLD || code == INLINE_BOLD_END)
		style->bold = code == INLINE_BOLD;
	else
		style->italic = code == INLINE_ITALIC;
	if (code == INLINE_BOLD_END || code == INLINE_ITALIC_END)
		fputs(term_style(TERM_PLAIN), r->out);
	put_style(r, *style);
}

/* Put a character; a no-break space becomes a space once lines are broken. */
static void put_char(const struct renderer *r, const char **s, struct style *style)
{
	switch (**s) {
	case INLINE_BOLD:
	case INLINE_BOLD_END:
	case INLINE_ITALIC:
	case INLINE_ITALIC_END:
		switch_style(r, **s, style);
		break;
	default:
		if (!strncmp(*s, NO_BREAK, 2)) {
			putc(' ', r->out);
			++*s;
		} else {
			putc(**s, r->out);
		}
	}
	++*s;
}

static void new_line(const struct renderer *r, int indent, struct style style)
{
	if (style.bold || style.italic)
		fputs(term_style(TERM_PLAIN), r->out);
	fprintf(r->out, "\n%*s", indent, "");
	put_style(r, style);
}

/* Return how much of the word must stay together: a list of values may be broken between two. */
static size_t piece_of(const char *s)
{
	size_t len = strcspn(s, " \t\n|");

	while (s[len] == '|' && !strncmp(s + len + 1, NO_BREAK, 2))
		len += 1 + strcspn(s + len + 1, " \t\n|");
	return len + (s[len] == '|');
}

/* Put text with codes, from column at of a line on; further lines begin at indent. */
static void put_wrapped(const struct renderer *r, const char *s, int at, int indent)
{
	struct style style = { false, false };
	bool first = true, space = false;
	const char *end;
	size_t len;

	for (; *s; space = false) {
		len = strspn(s, " \t\n");
		s += len;
		space = len && !first;
		end = s + piece_of(s);
		if (s == end)
			break;
		if (!first && at + space + manual_render_width_of(s, end - s) > r->width) {
			new_line(r, indent, style);
			at = indent;
		} else if (space) {
			putc(' ', r->out);
			at++;
		}
		at += manual_render_width_of(s, end - s);
		while (s < end)
			put_char(r, &s, &style);
		first = false;
	}
}

static void manual_render_put_text(const struct renderer *r, const struct line *l, int at, int indent)
{
	struct buf b = BUF_INIT;

	buf_add(&b, l->s, l->len);
	inline_marks(&b, r->page);
	put_wrapped(r, b.data ? b.data : "", at, indent);
	buf_release(&b);
}

/* Put an empty line between this block and what is above it, unless that is its title. */
static void separate(struct renderer *r)
{
	if (!r->below_title)
		putc('\n', r->out);
	r->below_title = r->empty = r->joined = false;
}

/* ---- blocks ---- */

static void put_title(struct renderer *r, struct line l, int indent)
{
	l.len -= strspn(l.s, "= ");
	l.s += strspn(l.s, "= ");
	r->nr_levels = 0;
	separate(r);
	fprintf(r->out, "%*s%s%.*s%s\n", indent, "", term_style(TERM_BOLD), (int)l.len, l.s,
		term_style(TERM_PLAIN));
	r->below_title = indent || l.s > r->page->data + 2;	/* not of the first line */
}

static void put_example_line(const struct renderer *r, const struct line *l, int indent)
{
	struct style style = { false, false };
	struct buf b = BUF_INIT;
	const char *s;

	buf_add(&b, l->s, l->len);
	if (r->marks)
		inline_marks(&b, r->page);
	if (l->len)
		fprintf(r->out, "%*s", indent, "");
	for (s = b.data ? b.data : ""; *s;)
		put_char(r, &s, &style);
	putc('\n', r->out);
	buf_release(&b);
}

static void put_example(struct renderer *r, const struct line *fence)
{
	const char *end = fence->s;
	struct line l;

	separate(r);
	while (peek(r, &l)) {
		skip(r, &l);
		if (l.len == 4 && !memcmp(l.s, end, 4))
			break;
		put_example_line(r, &l, indent_of(r) + STEP);
	}
	r->marks = false;
}

/* Put a row of a table as an item: the first cell, and beneath it the others. */
static void manual_render_put_row(struct renderer *r, const struct line *l)
{
	size_t len = l->len - 1, first;
	struct line term, rest;
	struct buf b = BUF_INIT;
	const char *s;

	term.s = l->s + 1;
	first = memchr(term.s, '|', len) ? (size_t)((const char *)memchr(term.s, '|', len) - term.s) : len;
	term.len = first;
	for (s = term.s + first + 1; s < l->s + l->len; s++)
		buf_fmt(&b, *s == '|' ? "; " : "%c", *s);
	rest = (struct line){ b.data ? b.data : "", b.len };
	fprintf(r->out, "%*s", indent_of(r), "");
	manual_render_put_text(r, &term, indent_of(r), indent_of(r) + STEP);
	fprintf(r->out, "\n%*s", indent_of(r) + STEP, "");
	manual_render_put_text(r, &rest, indent_of(r) + STEP, indent_of(r) + STEP);
	putc('\n', r->out);
	buf_release(&b);
}

/* Put a table without its first row, the head of the columns, which rows make clear. */
static void put_table(struct renderer *r)
{
	bool head = true;
	struct line l;

	separate(r);
	while (peek(r, &l)) {
		skip(r, &l);
		if (is_line(&l, "|==="))
			break;
		if (l.len > 1 && !head)
			manual_render_put_row(r, &l);
		head = head && l.len < 2;
	}
}

/* Take the lines of a paragraph, or those that continue the text of an item. */
static struct line take_text(struct renderer *r, const char *begin, bool in_list)
{
	struct item other;
	struct line l;

	while (peek(r, &l) && l.len && !is_line(&l, "+") && !is_fence(&l) &&
	       !(in_list && (parse_item(&l, &other) || is_attribute(&l))))
		skip(r, &l);
	return (struct line){ begin, r->rest - begin };
}

static void put_item(struct renderer *r, struct item *item)
{
	const struct line *term = &item->term;
	bool short_term;
	int indent;

	if (r->empty || r->joined)
		separate(r);
	r->below_title = false;
	enter_level(r, item->mark);
	indent = indent_of(r);
	short_term = term->len < STEP;
	fprintf(r->out, "%*s", indent - STEP, "");
	if (item->mark == '*')
		fputs("*   ", r->out);
	else if (item->mark == '.')
		fprintf(r->out, "%2d. ", ++r->number);
	else
		manual_render_put_text(r, term, indent - STEP, indent);
	item->text = take_text(r, item->text.s, true);
	if (term->len && strspn(item->text.s, " \t\n") < item->text.len)
		fprintf(r->out, short_term ? "%*s" : "\n%*s", short_term ? STEP - (int)term->len : indent, "");
	manual_render_put_text(r, &item->text, indent, indent);
	putc('\n', r->out);
}

static void put_paragraph(struct renderer *r, const struct line *l)
{
	struct line text;

	if (!r->joined)
		r->nr_levels = 0;
	separate(r);
	if (l->s[0] == ' ' || l->s[0] == '\t') {	/* as it is */
		for (text = *l; peek(r, &text) && text.len; skip(r, &text)) {
			text.s++;
			text.len--;
			put_example_line(r, &text, indent_of(r) + STEP);
		}
		return;
	}
	text = take_text(r, l->s, false);
	fprintf(r->out, "%*s", indent_of(r), "");
	manual_render_put_text(r, &text, indent_of(r), indent_of(r));
	putc('\n', r->out);
}

static void put_block(struct renderer *r, const struct line *l)
{
	struct item item;

	if (manual_render_begins(l, "= ")) {
		skip(r, l);
		put_title(r, *l, 0);
	} else if (manual_render_begins(l, "== ") || manual_render_begins(l, "=== ")) {
		skip(r, l);
		put_title(r, *l, l->s[2] == '=' ? SUBTITLE : 0);
	} else if (is_attribute(l)) {
		r->marks = strstr(l->s, "quotes") && strstr(l->s, "quotes") < l->s + l->len;
		skip(r, l);
	} else if (is_fence(l)) {
		skip(r, l);
		if (l->s[0] == '|')
			put_table(r);
		else
			put_example(r, l);
	} else if (parse_item(l, &item)) {
		skip(r, l);
		put_item(r, &item);
	} else {
		put_paragraph(r, l);
	}
}

void manual_print(const struct buf *page, int width, FILE *out)
{
	struct renderer r = { .page = page, .rest = page->len ? page->data : "",
			      .width = MAX(width, (int)LEAST_WIDTH), .out = out, .below_title = true };
	struct line l;

	while (peek(&r, &l)) {
		if (!l.len) {
			r.empty = true;
			skip(&r, &l);
		} else if (is_line(&l, "+")) {	/* behind an empty line of the list around */
			r.nr_levels -= r.empty && r.nr_levels > 1;
			r.joined = true;
			skip(&r, &l);
		} else {
			put_block(&r, &l);
		}
	}
}
