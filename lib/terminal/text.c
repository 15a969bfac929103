// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - what a report prints, to scroll and search; and the list of reports. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "terminal/screens.h"

void text_release(struct text *t)
{
	buf_release(&t->b);
	free(t->lines);
	*t = (struct text){ .lines = NULL };
}

/* Move the content of b to t. */
void text_set(struct text *t, struct buf *b)
{
	size_t at = 0;

	text_release(t);
	t->b = *b;
	*b = (struct buf)BUF_INIT;
	while (at < t->b.len) {
		const char *end = memchr(t->b.data + at, '\n', t->b.len - at);

		*VEC_ADD(t->lines, t->nr_lines, t->alloc_lines) = at;
		at = end ? (size_t)(end - t->b.data) + 1 : t->b.len;
	}
	VEC_GROW(t->lines, t->nr_lines, t->alloc_lines);
	t->lines[t->nr_lines] = at;
}

static size_t terminal_text_nr_rows(struct browser *b, struct place *p)
{
	return p->text.nr_lines;
}

static void terminal_text_prepare(struct browser *b, struct place *p)
{
	struct buf out = BUF_INIT;
	struct err e;
	int rows;

	if (p->made)
		return;
	p->made = true;
	p->ask.range = b->range;
	tty_size(&rows, &p->ask.width);
	browser_wait(" (Ctrl-C: no longer)");
	tty_let_interrupt(true);
	if (b->source->print(b->source->ctx, &p->ask, &out, &e))
		buf_fmt(&out, "%s\n%s\n", e.msg, e.hint);
	tty_let_interrupt(false);
	text_set(&p->text, &out);
	p->first = p->cursor = p->left = 0;
}

static int terminal_text_head(struct browser *b, struct place *p, int line)
{
	return line;
}

/* Return the length of a sequence of base/term.h that s begins with, and its style; 0: none. */
static size_t style_at(const char *s, enum term_style *style)
{
	int i;

	for (i = 0; *s == '\033' && i < TERM_NR; i++) {
		const char *sequence = term_style(i);
		size_t len = strlen(sequence);

		if (len && !strncmp(s, sequence, len)) {
			*style = i;
			return len;
		}
	}
	return 0;
}

/* Copy a line without its end, with or without its sequences. */
static void get_line(const struct place *p, size_t i, bool plain, struct buf *out)
{
	const char *at = p->text.b.data + p->text.lines[i], *end = p->text.b.data + p->text.lines[i + 1];
	enum term_style ignored;
	size_t len;

	buf_reset(out);
	buf_str(out, "");
	for (; at < end && *at != '\n'; at += MAX(len, (size_t)1)) {
		len = plain ? style_at(at, &ignored) : 0;
		if (!len)
			buf_putc(out, *at == '\t' ? ' ' : *at);
	}
}

static const char *terminal_text_row_text(struct browser *b, struct place *p, size_t i)
{
	get_line(p, i, true, &b->name);
	return b->name.data;
}

static bool is_rest(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_$.", c));
}

/* Return where the line has that name, whole; its end if it has not. */
static size_t terminal_text_place_of(const char *line, const char *name, size_t len)
{
	const char *at;

	for (at = line; len && (at = strstr(at, name)); at++)
		if ((at == line || !(is_of_name(at[-1]) || at[-1] == ':')) && !is_of_name(at[len]))
			return at - line;
	return strlen(line);
}

/* Return the first function that a line names, the longest of the names there. */
static uint32_t consumer_of_line(struct browser *b, struct place *p, size_t i)
{
	const struct model *m = b->v->m;
	struct buf line = BUF_INIT;
	uint32_t found = 0;
	size_t first, most = 0, k;

	get_line(p, i, true, &line);
	first = line.len;
	for (k = 0; k < b->flat.nr; k++) {
		const struct consumer *c = &m->consumers.items[b->flat.rows[k].consumer];
		const char *name = model_str(m, c->name);
		size_t len = strlen(name), at = kind_is(c->kind, KIND_PLACE) ? line.len :
			terminal_text_place_of(line.data, name, len);

		if (at < first || (at == first && at < line.len && len > most)) {
			first = at;
			most = len;
			found = b->flat.rows[k].consumer;
		}
	}
	buf_release(&line);
	return found;
}

/* where in a line the next piece begins, and how much of the line is scrolled away */
struct pen {
	int line;
	size_t column, left;
	enum term_style style;
	bool selected;
};

static void put_piece(struct pen *at, const char *text, size_t len, bool found)
{
	char *copy = xstrndup(text, len), *piece = copy;
	int rows, columns;

	tty_size(&rows, &columns);
	for (; *piece && at->column < at->left; piece++)
		at->column += !is_rest(piece[1]);
	if (*piece)
		at->column += tty_put(at->line, at->column - at->left, columns, at->style,
				      found != at->selected ? TTY_REVERSE : 0, piece);
	free(copy);
}

/* Return how much of s is one piece: up to an escape sequence, or to what is searched for; or that itself. */
static size_t piece_len(const char *s, const char *search, bool *found)
{
	const char *escape = strchr(s, '\033'), *hit = *search ? strcasestr(s, search) : NULL;
	size_t len = escape ? (size_t)(escape - s) : strlen(s);

	*found = hit == s && strlen(search) <= len;
	if (*found)
		return strlen(search);
	return hit && (size_t)(hit - s) < len ? (size_t)(hit - s) : len;
}

static void terminal_text_row(struct browser *b, struct place *p, size_t i, int line, bool selected)
{
	struct pen pen = { .line = line, .left = p->left, .selected = selected };
	const char *at;
	size_t len;
	bool found;

	get_line(p, i, false, &b->cells);
	for (at = b->cells.data; *at; at += len) {
		len = style_at(at, &pen.style);
		if (len)
			continue;
		len = MAX(piece_len(at, b->search, &found), (size_t)1);
		put_piece(&pen, at, len, found);
	}
}

static uint32_t no_consumer(struct browser *b, struct place *p, size_t i)
{
	return 0;
}

const struct screen_kind_row screen_text = {
	.prepare = terminal_text_prepare, .nr_rows = terminal_text_nr_rows, .head = terminal_text_head,
	.row = terminal_text_row, .row_text = terminal_text_row_text, .consumer = consumer_of_line,
};

/* ---- reports ---- */

/* Return whether to offer a report: those that need nothing else, and are not what the other screens are. */
static bool is_offered(const struct report *r)
{
	return r != &report_summary && r != &report_xarc && r != &report_xprof && r != &report_annotate &&
	       (!r->argument || r->argument_optional);
}

const struct report *screen_report(size_t row)
{
	size_t i;

	for (i = 0; reports[i]; i++)
		if (is_offered(reports[i]) && !row--)
			return reports[i];
	return NULL;
}

static void prepare_nothing(struct browser *b, struct place *p)
{
}

static size_t nr_reports(struct browser *b, struct place *p)
{
	size_t i, nr = 0;

	for (i = 0; reports[i]; i++)
		nr += is_offered(reports[i]);
	return nr;
}

static const char *report_text(struct browser *b, struct place *p, size_t i)
{
	const struct report *r = screen_report(i);

	buf_reset(&b->name);
	buf_fmt(&b->name, " %-12s %s", r->name, r->help);
	return b->name.data;
}

static int reports_head(struct browser *b, struct place *p, int line)
{
	int rows, columns;

	tty_size(&rows, &columns);
	tty_put(line, 0, columns, TERM_PLAIN, 0, " What 'arcprof report' prints; not every trace has each:");
	return line + 1;
}

static void report_row(struct browser *b, struct place *p, size_t i, int line, bool selected)
{
	int rows, columns;

	tty_size(&rows, &columns);
	tty_put(line, 0, columns, TERM_PLAIN, selected ? TTY_REVERSE : 0, report_text(b, p, i));
}

const struct screen_kind_row screen_reports = {
	.prepare = prepare_nothing, .nr_rows = nr_reports, .head = reports_head, .row = report_row,
	.row_text = report_text, .consumer = no_consumer,
};
