/* SPDX-License-Identifier: GPL-2.0-or-later */
/* histogram.h - how many objects of each class a JVM has, as itself counts them after a whole collection. */
#ifndef COLLECT_HISTOGRAM_H
#define COLLECT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct collect;

struct histogram_row {
	const char *name;		/* as the JVM writes it: "[B"; borrowed for the call */
	size_t name_len;
	uint64_t objects, bytes;
};

/* Rows of a JVM's answer, which may be anything; other lines are skipped. */
void histogram_parse(const char *text, size_t len, void (*row)(void *ctx, const struct histogram_row *r),
		     void *ctx);

/*
 * Have each JVM whose objects are watched, before it must stop, collect all garbage and count what is
 * left. Wait until its agent has looked at its objects, and write the totals. This takes seconds.
 */
void histograms_take(struct collect *c);

#endif
