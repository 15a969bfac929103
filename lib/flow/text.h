/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - what the three text inputs share: lines, numbers and directives. */
#ifndef FLOW_TEXT_H
#define FLOW_TEXT_H

#include "base/err.h"
#include "flow/model.h"

struct text {
	const char *p, *end;	/* what is not read yet */
	const char *line;	/* start of the current line */
	size_t line_nr;		/* of the current line, from 1 */
	/* The contents of the directives. */
	struct text_metric {
		const char *name, *unit, *counter;
		size_t name_len, unit_len, counter_len;
	} metrics[FLOW_MAX_METRICS];
	unsigned int nr_metrics;
	bool n_given, levels, nodes, own_clock;
	enum flow_n n_means;
};

void text_init(struct text *t, const char *data, size_t len);
/* Return the next line, without its end and without a carriage return before it; NULL at the end. */
const char *text_line(struct text *t, size_t *len);
/* Reads comments and directives up to the first line that is neither; 0 or -EINVAL. */
int text_directives(struct text *t, struct err *e);
/* Set the error "line N: ...". */
int text_bad(const struct text *t, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Parse a decimal number, moving *p past it; return false if there is none or it needs more than 64 bits. */
bool text_u64(const char **p, const char *end, uint64_t *v);

/* Names the metrics as the directives did, else def_name and def_unit for the first. */
void text_name_metrics(const struct text *t, struct model *m, const char *def_name, const char *def_unit);

/* strtab id -> consumer of kind ANY without module, made when new. */
struct text_names {
	uint32_t *consumers;
	size_t alloc_consumers;
};
uint32_t text_consumer(struct text_names *x, struct consumers *c, const char *name, size_t len);

#endif
