/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unfreed.h - of a recording of native memory (record -e native-memory): the blocks that were not freed, and
 * how old they are.
 *
 * A row is the function that allocates, such as malloc, and the one that is to be blamed (blame.h), of a
 * process. Blocks are as old as the time from their allocation until their process ended, or the recording
 * did.
 *
 * Nothing tells when blocks were freed, so growth has bounds only, those of the second half of the time in
 * which the process was seen to allocate. What came in it and is left is the most that the row can have
 * grown by. The lower bound is that, less all that came in the first half and is gone: some of it was gone by
 * then. Where nothing is freed, both are the same.
 *
 * Of what the table of blocks had no room for it is not known whether it was freed: upper bounds are as if
 * none of it was, and the share that was freed is of the others.
 */
#ifndef MODEL_UNFREED_H
#define MODEL_UNFREED_H

#include "model/growth.h"
#include "model/names.h"

struct unfreed_row {
	uint32_t proc, pid;
	uint32_t call, site;		/* consumers of the model; 0: not known */
	uint64_t n;			/* samples of what is left */
	double bytes, variance;
	struct growth_range range;
	double allocated;		/* bytes, of all that was allocated there */
	uint64_t nr_allocated;		/* samples of it */
	/* of allocated, what could not be followed, as the table was full: not in bytes, but in range.high */
	double unknown, unknown_variance;
	uint64_t nr_unknown;
	uint64_t oldest_ns, median_ns, newest_ns;	/* ages; 0 where n is 0 */
	/*
	 * bytes per second, with sampling errors; low is NAN: it may have shrunk; both are: no time to tell
	 */
	struct growth_range a_second;
};

struct unfreed {
	struct names names;
	struct model strings;		/* theirs */
	struct unfreed_row *rows;	/* the most bytes first; only those with something left, or unknown */
	size_t nr_rows, alloc_rows;
	double bytes, allocated, unknown;	/* in all */
	uint64_t n;
	uint64_t interval;		/* bytes; 0: everything is a sample */
	uint64_t nr_left_out;		/* samples, by the filter */
	struct growth_age ages[GROWTH_AGES];
	/* how rows are found */
	struct unfreed_block *blocks, *all;	/* those that are left, and all that were allocated */
	struct unfreed_end *ends;	/* of processes */
	size_t nr_blocks, alloc_blocks, nr_all, alloc_all, nr_ends, alloc_ends;
	struct map row_of, end_of;
};

/*
 * Read native memory; s selects by process, thread and filter; library is as in struct blame. -ENODATA: the
 * trace does not have any. u must be released also on failure.
 */
int unfreed_read(struct unfreed *u, struct trace_reader *t, const struct selection *s,
		 const struct opt_list *library, struct err *e);
void unfreed_release(struct unfreed *u);

#endif
