/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rotate.h - a recording in several files, each a trace of its own.
 *
 * What was recorded is in the file that was open when it was taken in. What goes on at a change (a block of
 * a thread in "wall") is cut in two there; what is known when it is over (a wait for a lock, a collection)
 * belongs to the file in which it ends. So the files add up to what one would have had.
 */
#ifndef COLLECT_ROTATE_H
#define COLLECT_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct collect;

/* what counts had reached when the current file was begun */
struct file_begin {
	uint64_t begun_ns;
	uint64_t number;		/* from 0 */
	uint64_t nr_samples;		/* of the first perf event, also those that were dropped */
	uint64_t *counts;		/* of perf events; NULL: 0 */
	uint64_t *next_counts;		/* of the next file, which is to begin; NULL: as they are now */
};

/*
 * Close the current file and go on in another. Only between two turns of the loop, and with a writer that
 * carries. 0; -errno: the one before is not whole; *opened false: there is no other, and samples are lost
 * until this is called again.
 */
int collect_rotate(struct collect *c, const char *path, bool *opened, struct err *e);

#endif
