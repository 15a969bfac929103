/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lifetimes.h - how long the sampled objects of a recording lived that died (record -e live,lifetime), by
 * class and by the method that is to be blamed for them (blame.h). A lifetime ends where the object was found
 * dead: at the first collection after its end that looked at it, so all are a little too long.
 */
#ifndef MODEL_LIFETIMES_H
#define MODEL_LIFETIMES_H

#include "model/names.h"
#include "model/select.h"

struct lifetime_row {
	uint32_t proc, pid;
	uint32_t class_name, site;	/* consumers of strings; 0: not known */
	uint64_t samples;
	uint64_t died, ns;		/* objects that these stand for, and their lifetimes together */
	uint64_t young;			/* objects of these that the first look at all objects found dead */
	uint64_t p50_ns, p90_ns;	/* of the objects */
};

/* The agent has looked at all objects, after a collection. */
struct lifetime_sweep {
	uint64_t time_ns;
	uint32_t proc, pid;
	uint32_t pauses;		/* of the collector since the recording began */
	uint64_t died, live;		/* objects that this look found dead, and those that it left */
	bool whole;			/* after a collection of the old, too */
};

/* The number of objects of a class that were alive after collections, those at points_ns. */
enum { LIFETIMES_POINTS = 8 };

struct lifetime_class {
	uint32_t proc, pid;
	uint32_t class_name;		/* consumer of strings; 0: not known */
	uint64_t live[LIFETIMES_POINTS];
};

struct lifetimes {
	struct names names;
	struct model strings;		/* theirs */
	struct lifetime_row *rows;	/* most objects first */
	size_t nr_rows, alloc_rows;
	uint64_t died, young;		/* of all rows */
	uint64_t nr_left_out;		/* samples, by the filter */
	struct lifetime_sweep *sweeps;	/* by process and time */
	size_t nr_sweeps, alloc_sweeps;
	uint64_t start_ns;		/* of the trace */
	/* of lifetimes_by_class() */
	struct lifetime_class *classes;	/* most at the last point first */
	size_t nr_classes, alloc_classes;
	uint64_t points_ns[LIFETIMES_POINTS];	/* by time */
	size_t nr_points;
	bool points_are_whole;		/* collections of the whole heap alone */
	/* how rows are found */
	struct lifetime *all;
	size_t nr, alloc;
	struct map row_of, class_of;
};

/*
 * Read lifetimes; s selects by process, thread and filter. -ENODATA: they were not recorded. m must be
 * released also on failure.
 */
int lifetimes_read(struct lifetimes *m, struct trace_reader *t, const struct selection *s, struct err *e);
/*
 * Count what was alive after collections by class: after each of the whole heap, if there were two of
 * these, else after any. Of more than LIFETIMES_POINTS collections as many are chosen, the first and the
 * last among them.
 */
void lifetimes_by_class(struct lifetimes *m);
void lifetimes_release(struct lifetimes *m);

#endif
