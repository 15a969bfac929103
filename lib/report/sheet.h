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

#include "base/json.h"
#include "report/format.h"

enum cell_type {
	CELL_NONE,		/* not known: "n/a", null, an empty field */
	CELL_ABSENT,		/* no such thing in this row: "-", no member, an empty field */
	CELL_U64,
	CELL_I64,
	CELL_REAL,
	CELL_BOOL,
	CELL_TEXT,
	CELL_FIELDS,		/* named values (base/fields.h): in JSON an object, else their text */
	CELL_LABEL,		/* in place of a number, as "all": no member of JSON */
};

struct cell {
	enum cell_type type;
	union {
		uint64_t u64;
		int64_t i64;
		double real;
		bool yes;
		const char *text;
		struct {
			const void *bytes;
			uint32_t len;
		} fields;
	};
};

#define cell_none ((struct cell){ .type = CELL_NONE })
#define cell_absent ((struct cell){ .type = CELL_ABSENT })
#define cell_u64(v) ((struct cell){ .type = CELL_U64, .u64 = (v) })
#define cell_i64(v) ((struct cell){ .type = CELL_I64, .i64 = (v) })
#define cell_bool(v) ((struct cell){ .type = CELL_BOOL, .yes = (v) })
#define cell_label(v) ((struct cell){ .type = CELL_LABEL, .text = (v) })

/* None: absent. */
static inline struct cell cell_fields(const void *bytes, uint32_t len)
{
	return len ? (struct cell){ .type = CELL_FIELDS, .fields = { bytes, len } } : cell_absent;
}

/* NULL: not known. */
static inline struct cell cell_text(const char *s)
{
	return s ? (struct cell){ .type = CELL_TEXT, .text = s } : cell_none;
}

/* NaN: not known. */
static inline struct cell cell_real(double v)
{
	return isnan(v) ? cell_none : (struct cell){ .type = CELL_REAL, .real = v };
}

/* Units of columns whose values are in nanoseconds, or in bytes. */
enum { UNIT_US = 1000, UNIT_MS = 1000000, UNIT_S = 1000000000, UNIT_KB = 1000 };

/* One with neither key nor head is left out. */
struct sheet_column {
	const char *key;	/* of JSON, and the head of CSV; NULL: in neither */
	const char *head;	/* of text; NULL: not there */
	int width;		/* of text; negative: what is in it begins on the left */
	int decimals;		/* of text, for CELL_REAL and units */
	double unit;		/* of text, what the numbers are divided by; 0: nothing */
	const char *before;	/* of text, what separates it from the column on its left; NULL: a blank */
	bool outer;		/* in JSON a member of the object around the rows, not of each row */
	bool note;		/* of text, in rows alone that have a text in it: others end before */
	bool value;		/* what formats of values alone print */
};

struct sheet {
	const struct format *format;
	FILE *out;
	const struct sheet_column *columns;
	size_t nr_columns;
	struct json json;
};

void sheet_init(struct sheet *s, int format, FILE *out);
/* Of the rows that follow; the array is borrowed.  Prints the heads, where the format has them. */
void sheet_columns(struct sheet *s, const struct sheet_column *columns, size_t nr);
/* cells[nr_columns]; key: of the row's object in JSON, NULL in an array. */
void sheet_row(struct sheet *s, const char *key, const struct cell *cells);
/* Whether it is text for people, part of which need not be a table. */
bool sheet_is_text(const struct sheet *s);

/* For the list of formats. */
void sheet_text_begin(struct sheet *s);
void sheet_text_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_csv_begin(struct sheet *s);
void sheet_csv_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_json_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_hex_row(struct sheet *s, const char *key, const struct cell *cells);
void sheet_dec_row(struct sheet *s, const char *key, const struct cell *cells);

#endif
