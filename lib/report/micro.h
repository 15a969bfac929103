/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * micro.h - the hottest symbols of tprof by instruction, as Performance Inspector's tprof.micro has them.
 *
 * The trace is read again for them.  The rows of a symbol add up to its ticks; what has no offset is a row
 * that says why.
 */
#ifndef REPORT_MICRO_H
#define REPORT_MICRO_H

#include "model/annotate.h"
#include "report/report.h"

struct micro_symbol {		/* a row of tprof; the names live as long as its */
	const char *module, *name;
	uint64_t ticks;
};

/* A function of the view's model that such a row has ticks of. */
struct micro_function {
	uint32_t consumer, symbol;
};

struct micro {
	const struct view *v;
	uint64_t total;			/* ticks of the report */
	struct micro_symbol *symbols;	/* most ticks first; these vectors are the caller's */
	size_t nr_symbols;
	struct micro_function *functions;
	size_t nr_functions;
	/* micro_read() fills these */
	struct names names;
	struct model m;
	struct annotate a;
	uint32_t *symbol_of;		/* [function of a]: index in symbols */
};

/* Check whether the options allow it; return -EINVAL if not. */
int micro_check(const struct report_opts *o, struct err *e);
/*
 * Read what the caller did not set. x must be released also on failure. -EINVAL: the view is not of a trace.
 */
int micro_read(struct micro *x, struct err *e);
void micro_release(struct micro *x);

void micro_text(const struct micro *x, FILE *out);
/* Write the array "micro" into the open object. */
void micro_json(const struct micro *x, struct json *j);

#endif
