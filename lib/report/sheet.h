/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sheet.h - rows of typed cells, printed in the requested format.
 *
 * The caller fills the cells of a row once; the format does the rest: widths and units of text, quotes of
 * CSV, escapes of names.  What JSON has around the rows goes to sheet.json, which writes nothing in
 * other formats.
 */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/opt.h"
#include "base/term.h"
#include "report/format.h"

enum cell_type {
	CELL_NONE,		/* not known: "n/a", null, an empty field */
	CELL_ABSENT,		/* no such thing in this row: "-", no member, an empty field */
	CELL_U64,
	CELL_I64,
	CELL_REAL,
	CELL_FIXED,		/* u64 in units of the last of the column's decimals: exact */
	CELL_BOOL,
	CELL_TEXT,
	CELL_WORD,		/* a short text that the cell itself holds */
	CELL_LIST,		/* texts: in JSON an array; for columns of JSON alone */
	CELL_FIELDS,		/* named values (base/fields.h): in JSON an object, else their text */
	CELL_LABEL,		/* in place of a number, as "all": no member of JSON */
	CELL_MADE,		/* what put() writes into JSON; for columns of JSON alone */
};

struct cell {
	enum cell_type type;
	bool marked;		/* a number that may be off: text has "~" before it */
	union {
		uint64_t u64;
		int64_t i64;
		double real;
		bool yes;
		const char *text;
		char word[24];
		struct {
			const char *const *texts;
			size_t nr;
		} list;
		struct {
			const void *bytes;
			uint32_t len;
		} fields;
		/* The object that made the cell, and its part: borrowed until the table is complete. */
		struct {
			void (*put)(struct json *j, const char *key, const void *of, uint64_t at);
			const void *of;
			uint64_t at;
		} made;
	};
};

#define cell_none ((struct cell){ .type = CELL_NONE })
#define cell_absent ((struct cell){ .type = CELL_ABSENT })
#define cell_u64(v) ((struct cell){ .type = CELL_U64, .u64 = (v) })
#define cell_i64(v) ((struct cell){ .type = CELL_I64, .i64 = (v) })
#define cell_fixed(v) ((struct cell){ .type = CELL_FIXED, .u64 = (v) })
#define cell_bool(v) ((struct cell){ .type = CELL_BOOL, .yes = (v) })
#define cell_label(v) ((struct cell){ .type = CELL_LABEL, .text = (v) })
#define cell_made(f, v, n) ((struct cell){ .type = CELL_MADE, .made = { (f), (v), (n) } })
#define cell_list(v, n) ((struct cell){ .type = CELL_LIST, .list = { (v), (n) } })

/* Return a cell with fields, absent if there are none. */
static inline struct cell cell_fields(const void *bytes, uint32_t len)
{
	return len ? (struct cell){ .type = CELL_FIELDS, .fields = { bytes, len } } : cell_absent;
}

/* Return a cell with a text; NULL: not known. */
static inline struct cell cell_text(const char *s)
{
	return s ? (struct cell){ .type = CELL_TEXT, .text = s } : cell_none;
}

/* Return a cell with a number; NaN: not known. */
static inline struct cell cell_real(double v)
{
	return isnan(v) ? cell_none : (struct cell){ .type = CELL_REAL, .real = v };
}

/* Units of columns whose values are in nanoseconds, or in bytes. */
enum { UNIT_US = 1000, UNIT_MS = 1000000, UNIT_S = 1000000000, UNIT_KB = 1000 };

/* a column; one without key and head is left out */
struct sheet_column {
	const char *key;	/* of JSON, and the head of CSV; NULL: in neither */
	const char *head;	/* of text; NULL: not there */
	int width;		/* of text; negative: what is in it begins on the left */
	int decimals;		/* of text, for CELL_REAL and units; of all formats for CELL_FIXED */
	double unit;		/* of text, what the numbers are divided by; 0: nothing */
	const char *before;	/* of text, what is on its left; NULL: a blank, but nothing of the first */
	bool outer;		/* in JSON a member of the object around the rows, not of each row */
	bool note;		/* of text, in rows alone that have a text in it: others end before */
	bool value;		/* what formats of values alone print */
	const char *json;	/* the key of JSON where it is not that of CSV; "": not in JSON */
	/*
	 * The one of several things that the key or head is about. CSV has "key:of", and JSON an array of
	 * neighbours with the same key. Text shows its name once above the heads of neighbours with the
	 * same pointer.
	 */
	const char *of;
	int digits;		/* of CSV and JSON, for CELL_REAL; 0: all */
	bool cut;		/* of text, the last: cut in the middle where the line is too long */
};

/* The choice of what a sheet shows, and in which order; all zero: the report's own. */
struct sheet_choice {
	/* columns in this order, by their names in CSV, JSON or text; none: all */
	struct opt_list columns;
	/* The column to sort each table by; "+", "-" before its name: upwards, downwards. NULL: none */
	const char *sort;
	uint64_t limit;		/* rows of each table, if they are sorted; 0: all */
	struct sheet_found *found;	/* of sheet_hold(); NULL: unknown columns are not an error */
};

/* --columns and --sort of a command; s.f is a struct sheet_choice. */
#define OPT_COLUMNS(s, f) \
	OPT_LIST(0, "columns", s, f.columns, "name", \
		 "show only these columns, in this order, by their names in CSV or text")
#define OPT_CHOICE(s, f) OPT_COLUMNS(s, f), \
	OPT_STR(0, "sort", s, f.sort, "column", NULL, "sort rows by this column")

struct sheet {
	const struct format *format;
	FILE *out;
	const struct sheet_column *columns;
	size_t nr_columns;
	struct json json;
	size_t width;		/* of lines of text with a column that is cut; 0: without end */
	enum term_style style;	/* of the next lines of text, the heads included */
	bool trim;		/* lines of text have no blanks at their ends */
	const char *table;	/* what the next columns are of, where there are several tables; or NULL */
	struct sheet_chosen *chosen;	/* sheet_choice.c; NULL: nothing was */
};

void sheet_init(struct sheet *s, int format, FILE *out);
/*
 * Print only what the user chose, which is borrowed; call this before the first columns. The caller then
 * also calls sheet_end_rows() after the rows of each table, before anything else is printed, and
 * sheet_end() at the end.
 */
void sheet_choose(struct sheet *s, const struct sheet_choice *choice);
/* End the rows: sorted ones are printed now. */
void sheet_end_rows(struct sheet *s);
/* Return how many rows the choice's limit left out so far. */
uint64_t sheet_nr_hidden(const struct sheet *s);
/* End the rows, and release what sheet_choose() took. */
void sheet_end(struct sheet *s);

/* Holds what is printed with a choice until it is known whether such columns exist. */
struct sheet_held {
	struct sheet_choice choice;	/* for sheet_choose() */
	FILE *out, *to;
	char *text;
	size_t len;
};

/* Return where to print; without a choice that is out itself. */
FILE *sheet_hold(struct sheet_held *h, const struct sheet_choice *choice, FILE *out);
/*
 * Print what waits, unless r is negative; must be called once. Return r, or -EINVAL if there were tables and
 * none had a column that was chosen.
 */
int sheet_let_go(struct sheet_held *h, int r, struct err *e);
/* Check a choice that cannot wait: return -EINVAL if a table with these columns lacks a chosen one. */
int sheet_check(const struct sheet_choice *choice, int format, const struct sheet_column *columns, size_t nr,
		struct err *e);

/*
 * Set the columns of the following rows, and print the heads in formats that have them; the array is
 * borrowed.
 */
void sheet_columns(struct sheet *s, const struct sheet_column *columns, size_t nr);
/* Set the columns without printing heads. */
void sheet_set_columns(struct sheet *s, const struct sheet_column *columns, size_t nr);
/* Print a row, cells[nr_columns]; key: of its object in JSON, NULL in an array. */
void sheet_row(struct sheet *s, const char *key, const struct cell *cells);
/* Write into the open object of JSON; other formats leave it out. */
void sheet_member(struct sheet *s, const char *key, const struct cell *cell);
/* Return whether the output is text for people, which may have more than a table. */
bool sheet_is_text(const struct sheet *s);
/* Append a name as code in Markdown. */
void sheet_put_markdown(struct buf *b, const char *name);
/* Append a number with that many decimals, given in units of the last one. */
void sheet_put_fixed(struct buf *b, uint64_t v, int decimals);

/* Take the columns of sheet_set_columns(), and a row, for a choice. */
void sheet_chosen_columns(struct sheet *s);
void sheet_chosen_row(struct sheet *s, const char *key, const struct cell *cells);

/* functions for the list of formats */
void sheet_text_begin(struct sheet *s);
void sheet_text_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_markdown_begin(struct sheet *s);
void sheet_markdown_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_csv_begin(struct sheet *s);
void sheet_csv_row(struct sheet *s, const char *key, const struct cell *cells);
/* Return the key of the column in rows of JSON, NULL if it is not in them. */
const char *sheet_json_key(const struct sheet_column *c);
void sheet_json_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_hex_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_dec_row(struct sheet *s, const char *key, const struct cell *cells);

#endif
