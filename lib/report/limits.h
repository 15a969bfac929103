/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.h - the file of limits that "arcprof budget" reads: Documentation/arcprof-budget.adoc. */
#ifndef REPORT_LIMITS_H
#define REPORT_LIMITS_H

#include "base/err.h"
#include "base/mem.h"
#include "base/opt.h"

enum limit_of { LIMIT_BASE, LIMIT_CUM, LIMIT_N };
enum limit_op { LIMIT_AT_MOST, LIMIT_LESS, LIMIT_AT_LEAST, LIMIT_MORE, LIMIT_EQUAL };
enum limit_per {
	LIMIT_PER_NOTHING,
	LIMIT_PER_CALL,
	LIMIT_PER_FUNCTION,
	LIMIT_PER_SECOND,	/* this and the next of growth alone */
	LIMIT_PER_TOTAL,
};

/* what a unit measures; values of metrics with other units are counts */
enum limit_unit_kind { LIMIT_COUNT, LIMIT_TIME, LIMIT_SIZE, LIMIT_SHARE };

struct limit_unit {
	const char *name;
	enum limit_unit_kind kind;
	double factor;		/* to ns, bytes, one, or a share from 0 to 1 */
};

struct limit {
	size_t line;
	const char *text;	/* the line itself, without comment and outer blanks */
	const char *function;	/* a pattern; NULL: [total] */
	enum limit_of of;
	const char *metric;	/* NULL: n */
	bool grows;		/* the limit is on the growth against a baseline, in percent of that */
	enum limit_op op;
	double value;		/* in unit, >= 0 */
	const struct limit_unit *unit;
	enum limit_per per;
	const char *per_function;
};

struct limits {
	struct limit *list;
	size_t nr, alloc;
	struct opt_list metrics;	/* those that limits name, each once */
	struct arena text;
};

/* -EINVAL: "line N: ..."; release it all the same.  A file without a limit is one that limits nothing. */
int limits_parse(struct limits *l, const char *data, size_t len, struct err *e);
void limits_release(struct limits *l);

const char *limit_op_name(enum limit_op op);
/* Return the unit of a metric: nanoseconds, bytes, or counts. */
const struct limit_unit *limit_unit_of(const char *metric_unit);

#endif
