/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - between write.c, which writes a profile of the Firefox Profiler, and write_markers.c, which has
 * what is not a sample: events of JVMs, marks and labels of threads.
 */
#ifndef FORMATS_FIREFOX_WRITE_H
#define FORMATS_FIREFOX_WRITE_H

#include "base/json.h"
#include "model/events.h"
#include "report/export.h"

enum { FIREFOX_NS_DECIMALS = 6 };	/* of a number of milliseconds that is one of nanoseconds */

struct firefox_markers {
	bool has_events;		/* v is one that was read */
	struct events v;
	struct firefox_marker {
		size_t track;		/* index in the samples' tracks */
		bool is_labels;
		struct event x;
	} *list;			/* by track, and each by time */
	size_t nr, alloc;
	size_t at;			/* the first of the next track */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
};

/*
 * Finds a track for each: that of its thread, else the first of its process, else the first.  Not an error:
 * the trace has none.
 */
int firefox_markers_init(struct firefox_markers *m, struct view *v, const struct export_samples *s,
			 struct err *e);
void firefox_markers_release(struct firefox_markers *m);
/* Return how many markers a track has, and write them. Must be called once for each track, in their order. */
size_t firefox_markers_of(const struct firefox_markers *m, size_t track);
void firefox_put_markers(struct firefox_markers *m, struct json *j, struct export *x, size_t track);
/* Write which values markers have. */
void firefox_put_schema(struct json *j);

#endif
