/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screens.h - what the screens of the browser share: browser.c has the keys and goes from one to the other,
 * list.c, stanza.c and text.c draw one kind each, strip.c the time.
 */
#ifndef TERMINAL_SCREENS_H
#define TERMINAL_SCREENS_H

#include "flow/arcs.h"
#include "flow/flat.h"
#include "terminal/browser.h"
#include "terminal/tty.h"

enum { TYPED_MAX = 128, DEPTH_MAX = 200, STRIP_BINS = 1024 };

enum screen_kind { SCREEN_TEXT, SCREEN_LIST, SCREEN_REPORTS, SCREEN_STANZA };

/* Lines of text, with the escape sequences of base/term.h in them. */
struct text {
	struct buf b;
	size_t *lines;			/* where they begin; [nr_lines] is the end */
	size_t nr_lines, alloc_lines;
};

/* A screen, as it was left. */
struct place {
	enum screen_kind kind;
	const char *title;
	bool of_threads;		/* a list of processes and threads, not of functions */
	uint32_t consumer;		/* whose stanza it is */
	struct browser_ask ask;		/* of a text; sort is the text's own */
	struct text text;
	bool made;			/* the text is there */
	size_t cursor, first;		/* rows */
	size_t left;			/* columns of a text that are scrolled away */
};

enum { TAB_SUMMARY, TAB_FUNCTIONS, TAB_THREADS, TAB_REPORTS, TAB_NR };

/* The consumption over the time of the whole recording. */
struct strip {
	double bins[FLOW_MAX_METRICS][STRIP_BINS];
	uint64_t duration_ns;		/* 0: nothing is known of times */
	bool choosing;			/* the keys move the cursor */
	bool has_mark;			/* one end is fixed, */
	unsigned int mark, cursor;	/* a bin; the cursor is the other end */
};

struct browser {
	const struct browser_source *source;
	const struct view *v;
	struct browser_range range;
	struct flat flat;
	bool is_sorted;			/* the flat profile, like this: */
	enum flow_sort sorted_by;
	unsigned int sorted_metric;
	struct arcs arcs;
	bool has_arcs;
	unsigned int metric;
	enum flow_sort by;
	bool mine_only, with_entries;	/* what of the functions is listed */
	char filter[TYPED_MAX], search[TYPED_MAX];
	uint32_t *rows;			/* of the list: indices of flat.rows, in its order */
	size_t nr_rows;
	size_t nr_entries;		/* functions that are not listed: they only lead into threads */
	bool rows_of_threads, rows_made;
	struct strip strip;
	struct place tabs[TAB_NR];
	int tab;
	struct place stack[DEPTH_MAX];	/* above the tab */
	int depth;
	struct buf message;		/* in the last line, until the next key */
	struct buf name, cells;		/* scratch */
};

/* ---- what each kind of screen can do ---- */

struct screen_kind_row {
	/* Brings what it shows up to date; before the others. */
	void (*prepare)(struct browser *b, struct place *p);
	size_t (*nr_rows)(struct browser *b, struct place *p);
	/* Draws what is above the rows from that line on; returns the next line. */
	int (*head)(struct browser *b, struct place *p, int line);
	void (*row)(struct browser *b, struct place *p, size_t row, int line, bool selected);
	/* The text of a row, for search; valid until the next call. */
	const char *(*row_text)(struct browser *b, struct place *p, size_t row);
	/* The function or thread of a row; 0: none. */
	uint32_t (*consumer)(struct browser *b, struct place *p, size_t row);
};

extern const struct screen_kind_row screen_list, screen_stanza, screen_text, screen_reports;

/* Return a name with its control characters escaped, in b->name. */
const char *browser_name(struct browser *b, uint32_t consumer);
/* Append "12.34 56.78 1.23 s 4.56 s 1234": what a row consumed of the metric, as wide as the heads. */
void browser_put_cells(struct browser *b, const struct arc_sums *x, struct buf *out);
void browser_put_heads(struct browser *b, struct buf *out);
/* Return the colour of a function's kind; a large base is highlighted. */
enum term_style browser_style(const struct browser *b, uint32_t consumer, const uint64_t *base);
struct flow_order browser_order(const struct browser *b, enum flow_sort by);

/* Append " from 1.25 s to 3.21 s". */
void browser_put_range(const struct browser_range *r, struct buf *out);
/* Says in the last line that it takes a moment, and what else. */
void browser_wait(const char *more);

/* Return the row-th report that a trace may have. */
const struct report *screen_report(size_t row);

/* Go to the first row of a stanza that is the function itself. */
size_t stanza_self(struct browser *b, uint32_t consumer);

void text_set(struct text *t, struct buf *b);
void text_release(struct text *t);

/* Fills in the bins from the times of a view of the whole recording. */
void strip_fill(struct strip *s, const struct view *v);
/* Draw it in a line; range: what is selected. */
void strip_draw(const struct browser *b, int line);
/* Describe what is chosen now, in the form of browser_put_range(); columns: of the screen. */
void strip_put_range(const struct strip *s, int columns, struct buf *out);
/* Returns whether the key was one of it; *done: the range was chosen, and is in *range. */
bool strip_key(struct strip *s, int key, int columns, struct browser_range *range, bool *done);

#endif
