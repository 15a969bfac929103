/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaks.h - of a recording of live objects (record -e live): what keeps more and more of them.
 *
 * A row is a class, and the method that is to be blamed for its objects: the innermost one that is
 * not a constructor and not of the JDK. Half of the time is compared with the state at its beginning: how
 * many of the objects that were allocated in it are left, and how many of those before it are gone. That is
 * so until the time up to which the old were looked at; garbage that was found late makes growth seem
 * smaller, never larger.
 *
 * Where a JVM has counted all objects of a class, and the estimate agrees with that within three standard
 * errors, the rows of the class are scaled to it: what is estimated then is only their shares. Where it does
 * not agree, objects are older than the sampling.
 *
 * What was allocated after the last collection that would show it may be alive, or not. It is in no estimate,
 * but the upper bound is as if all of it did.
 */
#ifndef MODEL_LEAKS_H
#define MODEL_LEAKS_H

#include "model/growth.h"
#include "model/names.h"

enum leak_grows {
	LEAK_NO,
	LEAK_MAYBE,		/* but no collection has looked at its old objects */
	LEAK_YES,
};

/* The object is from before the trace, which is a segment of a recording. */
#define LEAK_PAUSES_UNKNOWN UINT32_MAX

struct leak_row {
	uint32_t proc, pid;
	uint32_t class_name, site;	/* consumers of the model; site 0: all, or none */
	enum leak_grows grows;
	double confidence;		/* that it grows, 0 to 1: 1 - the false discovery rate */
	uint64_t n;			/* samples of what is left */
	double bytes;			/* that; of a class whose total is known, scaled to it */
	struct growth_range range;
	double variance;		/* of bytes, before that */
	/* of objects that came after the last collection: not in bytes, but in range.high */
	double unknown, unknown_variance;
	double class_bytes;		/* of all objects of the class, as the JVM counts them; or NAN */
	bool scaled;
	double a_second, a_collection;	/* growth, bytes */
	struct growth_range a_second_range;
	uint64_t since_ns;		/* since when, after the start */
	uint64_t oldest_ns, median_ns;	/* age */
	uint32_t oldest_pauses;		/* the same in pauses of the collector, or LEAK_PAUSES_UNKNOWN */
	/* objects of the second half that are left, and of the first that are gone: samples */
	uint64_t came, went;
};

struct leaks_opts {
	bool by_class;			/* all methods together */
	const struct opt_list *library;	/* as struct blame has it */
};

struct leaks {
	struct names names;
	struct model strings;		/* theirs */
	struct leak_row *rows;		/* those that grow first, the most bytes per second first */
	size_t nr_rows, alloc_rows, nr_growing, nr_maybe;
	struct growth_age ages[GROWTH_AGES];	/* of what is left */
	double bytes;			/* of all that is left */
	struct growth_range range;	/* with the error of sampling, and high with unknown */
	double unknown;			/* bytes of objects that no collection has looked at */
	uint64_t n;
	uint64_t interval;		/* bytes; the largest; 0: everything is a sample */
	uint64_t compared_ns;		/* the time from which growth is known, of the process with most */
	uint64_t whole_ns;		/* until when the old were looked at, since the start; 0: never */
	uint64_t totals_ns;		/* when JVMs counted objects, since the start; 0: never */
	uint32_t pauses;		/* of all collectors */
	uint64_t nr_unpaired;		/* records that contradict each other */
	uint64_t nr_left_out;		/* sampled objects, by the filter */
	/* how rows are found */
	struct leak_object *objects, *unknowns;
	struct leak_process *processes;
	struct leak_class *classes;
	size_t nr_objects, alloc_objects, nr_unknowns, alloc_unknowns;
	size_t nr_processes, alloc_processes, nr_classes, alloc_classes;
	struct map row_of, process_of, class_of;
};

/*
 * Read live objects; s selects by process, thread and filter. -ENODATA: the trace does not have any. m must
 * be released also on failure.
 */
int leaks_read(struct leaks *m, struct trace_reader *t, const struct selection *s,
	       const struct leaks_opts *o, struct err *e);
void leaks_release(struct leaks *m);

/* what is missing to know whether anything grows, and how another recording would have it */
enum leaks_lack {
	LEAKS_LACK_NOTHING,
	LEAKS_LACK_COLLECTION,		/* none has told which objects live: record --live-gc */
	LEAKS_LACK_LOOK,		/* none has looked at old objects: the same */
	LEAKS_LACK_SAMPLES,		/* there are few, and nothing is seen to grow: record -e live=16k */
};

enum leaks_lack leaks_lack(const struct leaks *m);

#endif
