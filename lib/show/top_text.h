/* SPDX-License-Identifier: GPL-2.0-or-later */
/* top_text.h - the screen of arcprof top as lines of text. */
#ifndef SHOW_TOP_TEXT_H
#define SHOW_TOP_TEXT_H

#include "base/buf.h"
#include "show/top_procs.h"
#include "show/top_rows.h"

struct top_text {
	const struct model *model;
	const struct top_rows *rows;
	const struct top_procs *procs;
	const char *targets;		/* what is recorded, not escaped */
	const char *event;		/* the sampled event */
	enum top_sort sort;
	uint64_t elapsed_ns, nr_lost;	/* of the interval */
	uint32_t nr_cpus;
	size_t nr_procs, nr_rows;	/* shown at most */
	size_t first_row;
	bool frozen;
	const char *filter;		/* "": none */
	bool typing;			/* the filter */
	bool keys;			/* a line says which */
};

void top_text(const struct top_text *t, struct buf *b);
/* Print what keys do, in place of the rest. */
void top_text_help(struct buf *b);
/* Return the number of lines beside those of processes and rows. */
int top_text_head_lines(const struct top_text *t);

#endif
