/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measures.h - sheets whose rows say what consumers or contexts of a view consumed.
 *
 *	measures_init()
 *	measures_own(), measures_consumer(), measures_add()	the columns, in this order
 *	measures_begin()	prints what is before the rows
 *	measures_row()
 *	measures_end()
 */
#ifndef REPORT_MEASURES_H
#define REPORT_MEASURES_H

#include "report/report.h"
#include "report/sheet.h"

enum measure_of {
	OF_BASE,
	OF_CUM,
	OF_CUM2,			/* cum of contexts that have the same consumer above them */
	OF_NR
};

enum measure_what {
	MEASURE_OWN,			/* of measures_own() */
	MEASURE_NAME, MEASURE_KIND,	/* these six of measures_consumer() */
	MEASURE_MODULE, MEASURE_DETAIL, MEASURE_PID, MEASURE_TID,
	MEASURE_N,			/* of the first source; JSON alone */
	MEASURE_COUNT,			/* n of each source, once, before what its metrics have */
	MEASURE_PERCENT,		/* of the total of the metric; text alone */
	MEASURE_VALUE,			/* in text in the unit that the first lines name */
	MEASURE_PER_CALL,		/* of samples, where the calls are of another recording; no JSON */
	MEASURE_MARGIN,			/* half of the interval of the former, in percent; text alone */
	MEASURE_DELTA,			/* what calibration took from base */
};

/* Describes a column that each metric has, or each source. */
struct measure {
	enum measure_what what;
	enum measure_of of;
	const char *head;		/* of text, for counts that of calls; NULL: not there */
	int width;			/* at least */
	const char *key;		/* of CSV and JSON; NULL: in neither */
	/*
	 * The key of JSON where it is another one.  Then there is no "n" beside the array of counts, and an
	 * array of values leaves out what calibration took.
	 */
	const char *json;
};

/* columns that are the same in all reports */
#define MEASURES_COUNT { MEASURE_COUNT, .head = "Calls", .width = 7, .key = "n" }
#define MEASURES_PBASE { MEASURE_PERCENT, OF_BASE, "%Base", 7 }
#define MEASURES_PCUM { MEASURE_PERCENT, OF_CUM, "%Cum", 7 }
#define MEASURES_BASE_CALL { MEASURE_PER_CALL, OF_BASE, "Base/Call", 9, "base_per_call" }, \
	{ MEASURE_MARGIN, OF_BASE, "+-%", 5 }
#define MEASURES_CUM_CALL { MEASURE_PER_CALL, OF_CUM, "Cum/Call", 9, "cum_per_call" }, \
	{ MEASURE_MARGIN, OF_CUM, "+-%", 5 }

/* Says what a row is about. */
struct measured {
	uint32_t consumer;
	uint64_t n;
	const uint64_t *of[OF_NR];	/* [metric]; only those of columns are read */
	const char *name;		/* of CSV in place of the consumer's own; NULL: that */
	bool bold;			/* of text: stands out */
};

struct measures {
	const struct view *v;
	struct sheet sheet;
	struct sheet_column *columns;
	struct cell *cells;		/* of a row */
	struct measures_column {
		enum measure_what what;
		enum measure_of of;
		unsigned int at;	/* metric, or source */
		bool used;		/* the format has it */
	} *list;
	size_t nr, alloc_columns, alloc_cells, alloc_list;
	struct metric_unit {
		uint64_t divisor;
		int decimals;
		const char *unit;
	} units[FLOW_MAX_METRICS];
	char *names[FLOW_MAX_METRICS];	/* copies: what is shown twice has two groups */
	struct buf name;		/* of the consumer of a row */
	bool exceeds;			/* a percentage was above 100 */
};

void measures_init(struct measures *t, const struct view *v, FILE *out);

/* Add columns whose cells the report makes; their texts are borrowed. */
void measures_own(struct measures *t, const struct sheet_column *columns, size_t nr);
/* Add name, kind and module of the consumer, which only CSV and JSON have. */
void measures_consumer(struct measures *t);
/* Add one group of measures for each metric.  Must be called once. */
void measures_add(struct measures *t, const struct measure *list, size_t nr);

/* Print the first lines, the units and the heads; rows is the key of the rows in JSON. */
void measures_begin(struct measures *t, const char *rows);
/* own has the cells of the columns of measures_own() in their order; key is that of sheet_row(). */
void measures_row(struct measures *t, const char *key, const struct cell *own, const struct measured *r);
/* Write how many rows --limit left out behind JSON's rows, whose array the caller has ended; release t. */
void measures_end(struct measures *t, uint64_t nr_hidden);
/* Return the name of a consumer as CSV or JSON has it; it is valid until the next call. */
struct cell measures_name(struct measures *t, uint32_t consumer);
/* Write what a row has of measures_consumer() into the open object of JSON. */
void measures_json_consumer(struct measures *t, uint32_t consumer);

/* Return the width of n of the whole view, but at least that. */
int measures_width_n(const struct view *v, int least);
/* Return the head of n in text, which is the given one if n counts calls. */
const char *measures_head_n(enum flow_n kind, const char *calls);
/* Return whether options hide percentages. */
bool measures_hide_percent(const struct view *v);
/* Return value in percent of total, with two decimals; 0 when total is 0. */
struct cell measures_percent(uint64_t value, uint64_t total);
/* Append the same. */
void measures_put_percent(struct buf *b, uint64_t value, uint64_t total);

#endif
