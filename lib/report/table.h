/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - rows and columns: text and CSV of every report come from one list of columns.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "base/json.h"
#include "base/term.h"
#include "report/report.h"

struct row {
	const char *source;	/* xarc: Self, Parent, ... */
	const char *stanza;	/* xarc: the consumer the row is about */
	uint64_t id;
	int64_t parent;		/* -1: none */
	uint64_t index;
	uint32_t level, rl;
	uint64_t n;
	uint64_t cee;		/* rt: calls from the context */
	const uint64_t *base, *cum, *cum2;	/* [metric] */
	uint32_t consumer;
	const struct correlated *correlated;	/* correlate */
};

struct table;

enum column_kind {
	COLUMN_OTHER,
	COLUMN_N,		/* as wide as the total of n of the first source */
	COLUMN_COUNT,		/* n of a source, once, before the columns of its metrics */
	COLUMN_PERCENT,
	COLUMN_VALUE,		/* as wide as the total of the metric */
	COLUMN_PER_CALL,	/* of samples, where the calls are of another recording */
};

struct column {
	const char *head;	/* of text; of what shows n when that counts calls, else it is "Samples" */
	const char *name;	/* of CSV, and for users */
	enum column_kind kind;
	int width;		/* at least; a blank goes before */
	bool per_metric;
	void (*cell)(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
};

struct table {
	const struct view *v;
	FILE *out;
	const struct column *const *columns;	/* ends with NULL */
	struct table_column {
		const struct column *c;
		unsigned int metric;	/* of COLUMN_COUNT: the source */
		int width;
	} *list;
	size_t nr_list;
	struct buf line;
	enum term_style style;		/* of the row in it */
	struct metric_unit {
		uint64_t divisor;
		int decimals;
		const char *unit;
	} units[FLOW_MAX_METRICS];
};

/* n of each source: the first of the columns of metrics. */
extern const struct column column_count;
/* The same in all reports: of text, and of CSV. */
extern const struct column column_pbase, column_pcum;
/* Costs of a call (percall.c): the margin, in percent, is that of base or cum. */
extern const struct column column_base_call, column_base_margin, column_cum_call, column_cum_margin;
extern const struct column csv_base_call, csv_cum_call;
extern const struct column csv_name, csv_kind, csv_module, csv_base, csv_cum;

/*
 * The columns once, or once per metric; a group of per_metric columns repeats as a group. Of those,
 * COLUMN_COUNT is there once for each source.
 */
void table_init(struct table *t, const struct view *v, FILE *out, const struct column *const *columns);
void table_release(struct table *t);
/* Line(s) over the columns; name is the head of what follows them ("Function"). */
void table_head(struct table *t, const char *name);
/* The cells of one row into t->line, for the caller to finish with table_end(). */
void table_cells(struct table *t, const struct row *r);
/* Appends the name, cut to the terminal when asked, and prints the line. */
void table_end(struct table *t, const char *name);

void table_csv_head(struct table *t);
void table_csv(struct table *t, const struct row *r);

/* " Units :: ms; Total :: 12.5", for each metric. */
void table_units(struct table *t);

/* What cells can hold; a column list picks from them. */
void cell_source(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_n(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_pcum2(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_base(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_cum(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_level(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_rl(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_index(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_stanza(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_id(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_parent(const struct table *t, const struct row *r, unsigned int m, struct buf *b);
void cell_raw_cum2(const struct table *t, const struct row *r, unsigned int m, struct buf *b);

/* value * 100 / total as "%7.2f" would have it; 0 when total is. */
void put_percent(struct buf *b, uint64_t value, uint64_t total);
void put_u64(struct buf *b, uint64_t v);

/* Prints the lines that head every text report. */
void head_text(const struct view *v, FILE *out);
/* Less of the CPU time that the kernel charged has samples than chance explains, and than is worth a word. */
bool head_is_short(const struct origin *o);
/* Opens the JSON object and writes what all reports have. */
void head_json(const struct view *v, struct json *j);
/* "n":.., "base":[..], "cum":[..] into the open object, "ns":[..] of several sources before base. */
void json_sums(struct json *j, const struct view *v, uint64_t n, const uint64_t *base, const uint64_t *cum);
/* "name", and with kind "kind" and "module", "pid" and "tid". */
void json_consumer(struct json *j, const struct view *v, uint32_t consumer, bool kind);

#endif
