// SPDX-License-Identifier: GPL-2.0-or-later
/* sheet_text.c - rows as text: columns of fixed width, names with their control characters escaped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/quote.h"
#include "report/sheet.h"

enum {
	CUT_LEAST = 16,		/* a name is not cut to less */
	LINE_USUAL = 200,	/* bytes, which are allocated at once */
};

static const char *before(const struct sheet_column *c, bool first)
{
	return c->before ? c->before : first ? "" : " ";
}

/* Pad the line from start on to the width. */
static void align(struct buf *line, size_t start, int width)
{
	size_t len = line->len - start, room = abs(width);
	char *at;

	if (len >= room)
		return;
	room -= len;
	buf_room(line, room);
	at = line->data + start;
	if (width > 0)
		memmove(at + room, at, len);
	memset(width > 0 ? at : at + len, ' ', room);
	line->len += room;
	line->data[line->len] = '\0';
}

/*
 * Print the line in the style where colours are wanted; the line itself has no escape sequence, so that
 * its length is its width.
 */
static void sheet_text_print_line(struct sheet *s, struct buf *line, enum term_style style)
{
	const char *on = style == TERM_PLAIN ? "" : term_style(style);

	while (s->trim && line->len && line->data[line->len - 1] == ' ')
		line->len--;
	if (*on) {
		fputs(on, s->out);
		buf_str(line, term_style(TERM_PLAIN));
	}
	buf_putc(line, '\n');
	fwrite(line->data, 1, line->len, s->out);
}

/* Print the names that columns belong to, each once over its neighbours. */
static void print_names(struct sheet *s, struct buf *line)
{
	bool any = false;
	size_t i, k;

	for (i = 0; i < s->nr_columns; i = k) {
		const char *of = s->columns[i].of;
		int width = 0;

		for (k = i; k < s->nr_columns && s->columns[k].of == of; k++)
			if (s->columns[k].head && !s->columns[k].cut)
				width += strlen(before(&s->columns[k], !line->len && k == i)) +
					 abs(s->columns[k].width);
		any |= of && width;
		if (width) {
			size_t start = line->len;

			quote_add(line, of ? of : "");
			align(line, start, width);
		}
	}
	if (any)
		sheet_text_print_line(s, line, TERM_PLAIN);
	buf_reset(line);
}

void sheet_text_begin(struct sheet *s)
{
	struct buf line = BUF_INIT;
	bool any = false;
	size_t i;

	print_names(s, &line);
	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (!c->head)
			continue;
		buf_fmt(&line, "%s%*s", before(c, !any), c->width, c->head);
		any = true;
	}
	if (any)
		sheet_text_print_line(s, &line, s->style);
	buf_release(&line);
}

/* Return the end of a character at or before at. */
static size_t cut_at(const char *s, size_t at)
{
	while (at && (s[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Append the name, shortened in the middle to the room in the line. */
static void put_cut(const struct sheet *s, const char *name, struct buf *line)
{
	size_t len = strlen(name), room = s->width > line->len ? s->width - line->len : 0, half;

	if (!s->width || len <= room || room < CUT_LEAST) {
		buf_add(line, name, len);
		return;
	}
	half = (room - 3) / 2;
	buf_add(line, name, cut_at(name, half));
	buf_str(line, "...");
	buf_str(line, name + cut_at(name, len - (room - 3 - half)));
}

static void sheet_text_put_text(const struct sheet *s, const struct sheet_column *c, const char *text,
				struct buf *line)
{
	struct buf b = BUF_INIT;

	if (c->cut)
		put_cut(s, quote_str(&b, text), line);
	else
		quote_add(line, text);
	buf_release(&b);
}

static void put_cell(const struct sheet *s, const struct sheet_column *c, const struct cell *cell,
		     struct buf *line)
{
	switch (cell->type) {
	case CELL_U64:
		if (c->unit)
			buf_fmt(line, "%.*f", c->decimals, cell->u64 / c->unit);
		else
			sheet_put_fixed(line, cell->u64, 0);
		break;
	case CELL_I64:
		buf_fmt(line, "%" PRId64, cell->i64);
		break;
	case CELL_REAL:
		buf_fmt(line, "%.*f", c->decimals, c->unit ? cell->real / c->unit : cell->real);
		break;
	case CELL_FIXED:
		sheet_put_fixed(line, cell->u64, c->decimals);
		break;
	case CELL_BOOL:
		buf_str(line, cell->yes ? "yes" : "no");
		break;
	case CELL_TEXT:
	case CELL_LABEL:
		sheet_text_put_text(s, c, cell->text, line);
		break;
	case CELL_WORD:
		quote_add(line, cell->word);
		break;
	case CELL_FIELDS:
		fields_put_text(line, cell->fields.bytes, cell->fields.len);
		break;
	case CELL_NONE:
		buf_str(line, "n/a");
		break;
	case CELL_LIST:
	case CELL_MADE:
	case CELL_ABSENT:
		buf_str(line, "-");
	}
}

void sheet_text_row(struct sheet *s, const char *key, const struct cell *cells)
{
	struct buf line = BUF_INIT;
	bool any = false;
	size_t i, start;

	buf_room(&line, LINE_USUAL);
	for (i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];

		if (c->note ? cells[i].type != CELL_TEXT : !c->head)
			continue;
		buf_str(&line, before(c, !any));
		start = line.len;
		if (cells[i].marked)
			buf_putc(&line, '~');
		put_cell(s, c, &cells[i], &line);
		align(&line, start, c->width);
		any = true;
	}
	if (any)
		sheet_text_print_line(s, &line, s->style);
	buf_release(&line);
}

/* ---- the same as a table of Markdown, as pull requests show it ---- */

void sheet_markdown_begin(struct sheet *s)
{
	size_t i;

	for (i = 0; i < s->nr_columns; i++)
		if (s->columns[i].head)
			fprintf(s->out, "| %s ", s->columns[i].head);
	fputs("|\n", s->out);
	for (i = 0; i < s->nr_columns; i++)
		if (s->columns[i].head)
			fputs(s->columns[i].width > 0 ? "|--:" : "|:--", s->out);
	fputs("|\n", s->out);
}

/* Append a name as code, in which only the bar and the backquote have a meaning. */
void sheet_put_markdown(struct buf *b, const char *name)
{
	struct buf quoted = BUF_INIT;
	const char *p;

	buf_putc(b, '`');
	for (p = quote_str(&quoted, name); *p; p++) {
		if (*p == '|')
			buf_putc(b, '\\');
		buf_putc(b, *p == '`' ? '\'' : *p);
	}
	buf_putc(b, '`');
	buf_release(&quoted);
}

void sheet_markdown_row(struct sheet *s, const char *key, const struct cell *cells)
{
	struct buf line = BUF_INIT;
	size_t i;

	for (i = 0; i < s->nr_columns; i++) {
		if (!s->columns[i].head)
			continue;
		buf_str(&line, "| ");
		if (cells[i].type == CELL_TEXT && s->columns[i].width < 0)
			sheet_put_markdown(&line, cells[i].text);
		else
			put_cell(s, &s->columns[i], &cells[i], &line);
		buf_putc(&line, ' ');
	}
	fprintf(s->out, "%s|\n", line.data ? line.data : "");
	buf_release(&line);
}
