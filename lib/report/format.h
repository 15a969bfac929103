/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - the one list of output formats, for all commands: formats.c.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stdbool.h>

#include "base/opt.h"

/* Formats that code refers to; rows of the list after these need no constant. */
enum format_id {
	FORMAT_TEXT,
	FORMAT_HEX,		/* of values alone */
	FORMAT_DEC,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_JUNIT,		/* of verdicts alone */
	FORMAT_MARKDOWN,
	FORMAT_SVG,		/* of plots alone */
	FORMAT_TREE,		/* from here on: of the whole tree of contexts, in place of a report */
	FORMAT_HTML,
	FORMAT_HPROF,		/* the text of the JDK's old profiler: of threads, locks and heaps, too */
	FORMAT_JFR,		/* these two consist of what has a time */
	FORMAT_CHROME,
};

/* what a trace can have beside samples of one metric; formats.c has the names */
enum format_fact {
	FACT_METRICS, FACT_TIMES, FACT_CALLS, FACT_JVM, FACT_MARKS, FACT_LABELS, FACT_LINES, FACT_BUILD_IDS,
	FACT_DISPATCHES,
	FACT_NR
};
#define FACT_BIT(fact) (1u << (fact))

struct view;
struct sheet;
struct cell;

struct format {
	const char *name;
	bool binary;		/* unsuitable for a terminal */
	bool detailed;		/* shows lines and inlined functions: contexts differ by these */
	bool lines;		/* shows lines alone */
	const char *const *events;	/* shows these events, if the trace has any of them; ends with NULL */
	bool signatures;	/* names Java methods with their signatures */
	bool timed;		/* shows each sample's time, and all events as well */
	bool all_events;	/* shows all events, and of these alone the first with its n */
	bool labels;		/* has a place for the labels of threads */
	unsigned int lacks;	/* FACT_BIT() of what it has no place for: manual and message say it */
	/* Print rows (sheet.h); without begin there are no heads. */
	void (*begin)(struct sheet *s);
	void (*row)(struct sheet *s, const char *key, const struct cell *cells);
	/* Used by formats from FORMAT_TREE on. */
	int (*print_tree)(struct view *v, FILE *out, struct err *e);
};

/* Sets of formats: which of the list a command or report has. */
#define FORMAT_BIT(id) (1u << (id))
#define FORMATS_TEXT_JSON (FORMAT_BIT(FORMAT_TEXT) | FORMAT_BIT(FORMAT_JSON))
#define FORMATS_TABLE (FORMATS_TEXT_JSON | FORMAT_BIT(FORMAT_CSV))
#define FORMATS_THREADS (FORMATS_TABLE | FORMAT_BIT(FORMAT_HPROF))
#define FORMATS_VALUE (FORMATS_TEXT_JSON | FORMAT_BIT(FORMAT_HEX) | FORMAT_BIT(FORMAT_DEC))
#define FORMATS_OF_TREE (~0u << FORMAT_TREE)
#define FORMATS_OF_TIMES (FORMAT_BIT(FORMAT_JFR) | FORMAT_BIT(FORMAT_CHROME))

const struct format *format_get(int id);
/* Return the name of a format, NULL for an unknown number. */
const char *format_name(unsigned int id);
/* Return "source lines" and so on, as the manual's table and messages have it. */
const char *format_fact_name(enum format_fact fact);

static inline bool format_in(unsigned int set, int id)
{
	return set >> id & 1;
}

static inline bool format_is_of_tree(int id)
{
	return id >= FORMAT_TREE;
}

/* --format of a command whose formats are that set; s.f is an int, an index into the list. */
#define OPT_FORMAT(s, f, set, h) OPT_SHARED_ENUM(0, "format", s, f, format_name, set, "text", h)

int folded_print(struct view *v, FILE *out, struct err *e);
int pprof_print(struct view *v, FILE *out, struct err *e);
int speedscope_print(struct view *v, FILE *out, struct err *e);
int jfr_print(struct view *v, FILE *out, struct err *e);
int callgrind_print(struct view *v, FILE *out, struct err *e);
int otlp_print(struct view *v, FILE *out, struct err *e);
int otlp_json_print(struct view *v, FILE *out, struct err *e);
int firefox_print(struct view *v, FILE *out, struct err *e);
int chrome_print(struct view *v, FILE *out, struct err *e);
int hprof_print(struct view *v, FILE *out, struct err *e);
extern const char *const hprof_events[];
int html_print(struct view *v, FILE *out, struct err *e);	/* lib/page */

#endif
