// SPDX-License-Identifier: GPL-2.0-or-later
/* browser.c - goes from screen to screen as the keys say. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "base/screen.h"
#include "model/annotate.h"
#include "terminal/screens.h"

static const struct screen_kind_row *const kinds[] = {
	[SCREEN_TEXT] = &screen_text, [SCREEN_LIST] = &screen_list, [SCREEN_REPORTS] = &screen_reports,
	[SCREEN_STANZA] = &screen_stanza,
};

static const char keys_text[] =
	" Go\n"
	"   1 2 3 4          first answers, functions, processes and threads, reports\n"
	"   Enter, Right     open the callers and callees of a function, also in text\n"
	"   Backspace, Left  back\n"
	"   Up Down k j      a row; Page Up, Page Down, b, Space: a page; Home End g G\n"
	"   Left Right       in a text: to its sides\n"
	"   q                quit\n"
	"\n"
	" Look\n"
	"   /  n  N          search in names or text; the next, the one before\n"
	"   f                list only what has a text in its name or module\n"
	"   s                sort by base, cum, n, name; a report: by one of its columns\n"
	"   m                the next metric\n"
	"   c                only code of the program itself, or all\n"
	"   e                also functions that only lead into threads\n"
	"   a                source lines and instructions of the function\n"
	"   r                print the report again, as wide as the terminal is now\n"
	"   t                choose a part of the time\n"
	"   w                the whole time again\n"
	"\n"
	" Base: of the function itself; Cum: with all that it calls. Parent, Child: who\n"
	" calls it, what it calls; with r: where the function is above itself already.\n";

static struct place *current(struct browser *b)
{
	return b->depth ? &b->stack[b->depth - 1] : &b->tabs[b->tab];
}

static void browser_say(struct browser *b, const char *text)
{
	buf_reset(&b->message);
	quote_add(&b->message, text);
}

void browser_wait(const char *more)
{
	struct buf line = BUF_INIT;
	int rows, columns;

	tty_size(&rows, &columns);
	buf_fmt(&line, " reading the trace ...%-*s", columns, more);
	tty_put(rows - 1, 0, columns, TERM_BOLD, 0, line.data);
	tty_end();
	buf_release(&line);
}

void browser_put_range(const struct browser_range *r, struct buf *out)
{
	buf_str(out, " from ");
	report_put_duration(out, r->from_ns);
	buf_str(out, " to ");
	if (r->to_ns)
		report_put_duration(out, r->to_ns);
	else
		buf_str(out, "the end");
}

/* ---- drawing ---- */

static void put_title(const struct browser *b, struct buf *out)
{
	const struct origin *o = b->v->origin;
	const struct model *m = b->v->m;

	buf_str(out, " ");
	quote_add(out, b->source->name);
	if (o->duration_ns) {
		buf_str(out, "  ");
		report_put_duration(out, o->duration_ns);
	}
	if (b->range.from_ns || b->range.to_ns) {
		buf_str(out, ",");
		browser_put_range(&b->range, out);
	}
	buf_str(out, "  ");
	report_put_amount(out, model_str(m, m->metrics[b->metric].unit), b->v->total[b->metric]);
	buf_str(out, " of ");
	quote_add(out, model_str(m, m->metrics[b->metric].name));
	if (o->command) {
		buf_str(out, "  ");
		quote_add(out, o->command);
	}
}

static void draw_title(struct browser *b, int columns)
{
	struct buf title = BUF_INIT;

	put_title(b, &title);
	buf_fmt(&title, "%*s", columns, "");
	tty_put(0, 0, columns, TERM_PLAIN, TTY_REVERSE, title.data);
	buf_release(&title);
}

static void draw_tabs(struct browser *b, int columns)
{
	struct buf word = BUF_INIT;
	int i, at = 1;

	for (i = 0; i < TAB_NR; i++) {
		buf_reset(&word);
		buf_fmt(&word, "%d %s", i + 1, b->tabs[i].title);
		at += tty_put(1, at, columns - at, i == b->tab ? TERM_BOLD : TERM_DIM,
			      i == b->tab ? TTY_UNDERLINE : 0, word.data) + 2;
	}
	if (b->depth)
		tty_put(1, at, columns - at, TERM_BOLD, TTY_UNDERLINE, current(b)->title);
	tty_put(1, MAX(columns - 16, at), 16, TERM_DIM, 0, "? keys   q quit");
	buf_release(&word);
}

static size_t visible_rows(int first_line)
{
	int rows, columns;

	tty_size(&rows, &columns);
	return MAX(rows - 1 - first_line, 1);
}

/* Keep the cursor on a row, and on the screen. */
static void keep_in_view(struct place *p, size_t nr, size_t visible)
{
	p->cursor = MIN(p->cursor, nr ? nr - 1 : 0);
	if (p->cursor < p->first)
		p->first = p->cursor;
	if (p->cursor >= p->first + visible)
		p->first = p->cursor - visible + 1;
	p->first = MIN(p->first, nr > visible ? nr - visible : 0);
}

static void draw_rows(struct browser *b, struct place *p, int line)
{
	const struct screen_kind_row *k = kinds[p->kind];
	size_t nr = k->nr_rows(b, p), visible = visible_rows(line), i;

	keep_in_view(p, nr, visible);
	for (i = p->first; i < nr && i < p->first + visible; i++)
		k->row(b, p, i, line + (int)(i - p->first), i == p->cursor);
	if (!nr)
		tty_put(line, 1, 60, TERM_DIM, 0, "nothing");
}

/* Draw the last line: what is typed, a message, or where this is in the whole. */
static void draw_foot(struct browser *b, struct place *p, const char *prompt, const char *typed)
{
	size_t nr = kinds[p->kind]->nr_rows(b, p);
	int rows, columns, at;
	struct buf foot = BUF_INIT;

	tty_size(&rows, &columns);
	if (prompt) {
		buf_fmt(&foot, "%s", prompt);
		quote_add(&foot, typed);
		at = tty_put(rows - 1, 0, columns - 1, TERM_BOLD, 0, foot.data);
		tty_put(rows - 1, at, 1, TERM_PLAIN, TTY_REVERSE, " ");
	} else if (b->message.len) {
		tty_put(rows - 1, 0, columns, TERM_BOLD, 0, b->message.data);
	} else if (b->strip.choosing) {
		strip_put_range(&b->strip, columns, &foot);
		buf_str(&foot, b->strip.has_mark ? "  Left Right: the other end, Enter: take it, Escape: not" :
			"  Left Right: move, Space: it begins here, Escape: not");
		tty_put(rows - 1, 0, columns, TERM_BOLD, 0, foot.data);
	} else if (nr) {
		buf_fmt(&foot, "%zu of %zu", p->cursor + 1, nr);
		tty_put(rows - 1, MAX(columns - (int)foot.len - 1, 0), columns, TERM_DIM, 0, foot.data);
	}
	buf_release(&foot);
}

static bool has_strip(const struct browser *b, const struct place *p)
{
	return b->strip.duration_ns && (p->kind == SCREEN_LIST || p->kind == SCREEN_STANZA);
}

static void draw_with(struct browser *b, const char *prompt, const char *typed)
{
	struct place *p = current(b);
	int rows, columns, line = 2;

	kinds[p->kind]->prepare(b, p);
	tty_size(&rows, &columns);
	tty_begin();
	draw_title(b, columns);
	draw_tabs(b, columns);
	if (has_strip(b, p))
		strip_draw(b, line++);
	line = kinds[p->kind]->head(b, p, line);
	draw_rows(b, p, line);
	draw_foot(b, p, prompt, typed);
	tty_end();
}

/* ---- from screen to screen ---- */

static void close_place(struct place *p)
{
	text_release(&p->text);
	free((char *)p->ask.sort);
	*p = (struct place){ .title = p->title, .kind = p->kind, .of_threads = p->of_threads,
			     .ask = { .report = p->ask.report } };
}

static void go_back(struct browser *b)
{
	if (b->depth)
		close_place(&b->stack[--b->depth]);
}

static struct place *go_to(struct browser *b, enum screen_kind kind, const char *title)
{
	struct place *p;

	if (b->depth == DEPTH_MAX) {	/* the oldest is forgotten */
		close_place(&b->stack[0]);
		memmove(b->stack, b->stack + 1, (DEPTH_MAX - 1) * sizeof(b->stack[0]));
		b->depth--;
	}
	p = &b->stack[b->depth++];
	*p = (struct place){ .kind = kind, .title = title };
	return p;
}

static void go_to_tab(struct browser *b, int tab)
{
	while (b->depth)
		go_back(b);
	b->tab = tab;
}

static void open_stanza(struct browser *b, uint32_t consumer)
{
	struct place *p;
	size_t visible = visible_rows(5);

	if (!consumer)
		return;
	p = go_to(b, SCREEN_STANZA, "Callers, callees");
	p->consumer = consumer;
	p->cursor = stanza_self(b, consumer);
	p->first = p->cursor > visible / 2 ? p->cursor - visible / 2 : 0;
}

static void open_row(struct browser *b, struct place *p)
{
	const struct screen_kind_row *k = kinds[p->kind];

	if (p->cursor >= k->nr_rows(b, p))
		return;
	if (p->kind == SCREEN_REPORTS) {
		const struct report *r = screen_report(p->cursor);

		go_to(b, SCREEN_TEXT, r->name)->ask.report = r;
		return;
	}
	if (p->kind == SCREEN_TEXT && !k->consumer(b, p, p->cursor))
		browser_say(b, " this line names no function");
	else if (p->kind != SCREEN_STANZA || k->consumer(b, p, p->cursor) != p->consumer)
		open_stanza(b, k->consumer(b, p, p->cursor));
}

static void annotate(struct browser *b, struct place *p)
{
	const struct model *m = b->v->m;
	uint32_t consumer = p->kind == SCREEN_STANZA ? p->consumer :
			    p->cursor < kinds[p->kind]->nr_rows(b, p) ?
				    kinds[p->kind]->consumer(b, p, p->cursor) : 0;

	if (!consumer || !annotate_is_function(&m->consumers.items[consumer])) {
		browser_say(b, " this is no function, which alone has lines");
		return;
	}
	p = go_to(b, SCREEN_TEXT, "Source");
	p->ask.report = &report_annotate;
	p->ask.argument = model_str(m, m->consumers.items[consumer].name);
	if (m->sources[m->metrics[b->metric].source].kind != FLOW_CALLS)
		p->ask.metric = model_str(m, m->metrics[b->metric].name);
}

static void show_keys(struct browser *b)
{
	struct place *p = go_to(b, SCREEN_TEXT, "Keys");
	struct buf text = BUF_INIT;

	buf_str(&text, keys_text);
	text_set(&p->text, &text);
	p->made = true;
}

static void forget_rows(struct browser *b)
{
	b->rows_made = false;
}

/* Forget what depends on the view, or on the range. */
static void forget(struct browser *b)
{
	int i;

	go_to_tab(b, b->tab);
	for (i = 0; i < TAB_NR; i++)
		close_place(&b->tabs[i]);
	flat_release(&b->flat);
	b->is_sorted = false;
	if (b->has_arcs)
		arcs_release(&b->arcs);
	b->has_arcs = false;
	forget_rows(b);
}

/* ---- what the keys do ---- */

static int read_range(struct browser *b, const struct browser_range *range, struct err *e)
{
	int r = b->source->read(b->source->ctx, range, &b->v, e);

	if (r)
		return r;
	b->range = *range;
	b->metric = MIN(b->metric, b->v->m->nr_shown - 1);
	flat_init(&b->flat, &b->v->m->flow);
	return 0;
}

/* -errno: not even the whole could be read again. */
static int change_range(struct browser *b, const struct browser_range *range, struct err *e)
{
	int r;

	browser_wait("");
	forget(b);
	r = read_range(b, range, e);
	if (!r)
		return 0;
	browser_say(b, e->msg);
	return read_range(b, &(struct browser_range){ 0, 0 }, e);
}

/* Lets the user change a line; false: it was cancelled. live: the list follows each key. */
static bool type(struct browser *b, const char *prompt, char *text, bool live)
{
	char before[TYPED_MAX];
	size_t len = 0;
	int key;

	memcpy(before, text, TYPED_MAX);
	text[0] = '\0';
	for (;;) {
		if (live)
			forget_rows(b);
		draw_with(b, prompt, text);
		key = tty_key();
		if (key == KEY_ENTER)
			return true;
		if (key == KEY_ESCAPE || key == KEY_INTERRUPT || key == KEY_END) {
			memcpy(text, before, TYPED_MAX);
			forget_rows(b);
			return false;
		}
		if (key == KEY_BACKSPACE) {	/* a whole character */
			while (len && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
				len--;
			len -= len > 0;
		} else if (key >= ' ' && key < KEY_UP && len + 1 < TYPED_MAX) {
			text[len++] = (char)key;
		}
		text[len] = '\0';
	}
}

/* Goes to the next row that has the text, from the cursor on or back. */
static void browser_find(struct browser *b, struct place *p, bool back)
{
	const struct screen_kind_row *k = kinds[p->kind];
	size_t nr = k->nr_rows(b, p), i;

	for (i = 1; *b->search && i <= nr; i++) {
		size_t row = back ? (p->cursor + nr - i) % nr : (p->cursor + i) % nr;

		if (!strcasestr(k->row_text(b, p, row), b->search))
			continue;
		p->cursor = row;
		return;
	}
	browser_say(b, " not found");
}

static void browser_sort(struct browser *b, struct place *p)
{
	static const enum flow_sort next[] = {
		[FLOW_BY_BASE] = FLOW_BY_CUM, [FLOW_BY_CUM] = FLOW_BY_N, [FLOW_BY_N] = FLOW_BY_NAME,
		[FLOW_BY_NAME] = FLOW_BY_BASE,
	};
	char column[TYPED_MAX] = "";

	if (p->kind == SCREEN_LIST) {
		b->by = next[b->by];
		p->cursor = p->first = 0;
		forget_rows(b);
	} else if (p->kind == SCREEN_TEXT && p->ask.report) {
		if (!type(b, " sort by the column: ", column, false))
			return;
		free((char *)p->ask.sort);
		p->ask.sort = *column ? xstrdup(column) : NULL;
		p->made = false;
	}
}

static void next_metric(struct browser *b)
{
	b->metric = (b->metric + 1) % b->v->m->nr_shown;
	if (b->has_arcs) {
		struct flow_order order = browser_order(b, FLOW_BY_CUM);
		struct arcs *a = &b->arcs;
		size_t i;

		arcs_sort(a, &order);
		for (i = 0; i < (size_t)b->depth; i++)
			if (b->stack[i].kind == SCREEN_STANZA)
				b->stack[i].cursor = stanza_self(b, b->stack[i].consumer);
	}
	forget_rows(b);
}

static void move(struct browser *b, struct place *p, int key)
{
	const struct screen_kind_row *k = kinds[p->kind];
	size_t nr = k->nr_rows(b, p), page = visible_rows(5);

	switch (key) {
	case KEY_UP: case 'k': p->cursor -= MIN(p->cursor, (size_t)1); break;
	case KEY_DOWN: case 'j': p->cursor++; break;
	case KEY_PAGE_UP: case 'b': p->cursor -= MIN(p->cursor, page); break;
	case KEY_PAGE_DOWN: case ' ': p->cursor += page; break;
	case KEY_HOME: case 'g': p->cursor = 0; break;
	case 'G': case KEY_BOTTOM: p->cursor = nr; break;
	}
	p->cursor = MIN(p->cursor, nr ? nr - 1 : 0);
}

static void go_aside(struct browser *b, struct place *p, int key)
{
	enum { STEP = 8 };

	if (p->kind != SCREEN_TEXT && key == KEY_RIGHT)
		open_row(b, p);
	else if (p->kind != SCREEN_TEXT || (key == KEY_LEFT && !p->left))
		go_back(b);
	else
		p->left = key == KEY_RIGHT ? p->left + STEP : p->left - MIN(p->left, (size_t)STEP);
}

/* Handle a key that changes what is listed. */
static bool change_list(struct browser *b, struct place *p, int key)
{
	switch (key) {
	case 's': browser_sort(b, p); break;
	case 'm': next_metric(b); break;
	case 'c': b->mine_only = !b->mine_only; break;
	case 'e': b->with_entries = !b->with_entries; break;
	case 'f':
		if (p->kind == SCREEN_LIST)
			type(b, " only names with: ", b->filter, true);
		break;
	default: return false;
	}
	forget_rows(b);
	return true;
}

static bool browser_look(struct browser *b, struct place *p, int key)
{
	switch (key) {
	case '/':
		if (type(b, "/", b->search, false))
			browser_find(b, p, false);
		break;
	case 'n': case 'N': browser_find(b, p, key == 'N'); break;
	case 'a': annotate(b, p); break;
	case 'r': p->made = p->made && !p->ask.report; break;
	case '?': show_keys(b); break;
	case 't':
		b->strip.choosing = has_strip(b, p);
		if (!b->strip.choosing)
			browser_say(b,
				    b->strip.duration_ns ? " only in lists" : " it is not known when this was");
		break;
	default: return change_list(b, p, key);
	}
	return true;
}

static void handle(struct browser *b, int key)
{
	struct place *p = current(b);

	if (key >= '1' && key < '1' + TAB_NR)
		go_to_tab(b, key - '1');
	else if (key == KEY_BACKSPACE || key == KEY_ESCAPE)
		go_back(b);
	else if (key == KEY_ENTER)
		open_row(b, p);
	else if (key == KEY_LEFT || key == KEY_RIGHT)
		go_aside(b, p, key);
	else if (!browser_look(b, p, key))
		move(b, p, key);
}

static int browser_loop(struct browser *b, struct err *e)
{
	const struct browser_range whole = { 0, 0 };
	struct browser_range range;
	int key, rows, columns, r = 0;
	bool done;

	for (;;) {
		draw_with(b, NULL, NULL);
		key = tty_key();
		if (key == KEY_NONE)
			continue;
		buf_reset(&b->message);
		done = false;
		tty_size(&rows, &columns);
		if (key == KEY_END || key == KEY_INTERRUPT || key == 'q')
			return 0;
		if (key == 'w' && (b->range.from_ns || b->range.to_ns))
			r = change_range(b, &whole, e);
		else if (b->strip.choosing && strip_key(&b->strip, key, columns, &range, &done))
			r = done ? change_range(b, &range, e) : 0;
		else
			handle(b, key);
		if (r)
			return r;
	}
}

static void set_tabs(struct browser *b)
{
	b->tabs[TAB_SUMMARY] = (struct place){ .kind = SCREEN_TEXT, .title = "Summary",
					       .ask = { .report = &report_summary } };
	b->tabs[TAB_FUNCTIONS] = (struct place){ .kind = SCREEN_LIST, .title = "Functions" };
	b->tabs[TAB_THREADS] = (struct place){ .kind = SCREEN_LIST, .title = "Threads", .of_threads = true };
	b->tabs[TAB_REPORTS] = (struct place){ .kind = SCREEN_REPORTS, .title = "Reports" };
}

int browser_possible(struct err *e)
{
	return tty_possible(e);
}

int browser_run(const struct browser_source *s, struct err *e)
{
	struct browser *b;
	int r = tty_possible(e);

	if (r)
		return r;
	b = xcalloc(1, sizeof(*b));

	b->source = s;
	b->by = FLOW_BY_BASE;
	set_tabs(b);
	r = read_range(b, &b->range, e);
	if (!r) {
		strip_fill(&b->strip, b->v);
		r = tty_open(e);
	}
	if (!r) {
		r = browser_loop(b, e);
		tty_close();
	}
	forget(b);
	free(b->rows);
	buf_release(&b->message);
	buf_release(&b->name);
	buf_release(&b->cells);
	free(b);
	return r;
}
