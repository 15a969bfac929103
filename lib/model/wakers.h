/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakers.h - who ended the waits of threads (record -e wall), and what those waited for meanwhile.
 *
 * Chains of these are those of chains.h, whose "what" is the reason.
 *
 * Where wakers were (record -e wall,wakers) is a sample of theirs for each wait that a thread ended, of the
 * same time and weight.
 */
#ifndef MODEL_WAKERS_H
#define MODEL_WAKERS_H

#include "model/chains.h"
#include "model/names.h"
#include "model/select.h"
#include "trace/record.h"

enum { WAKERS_MAX_FRAMES = 4096 };	/* of a waker, the innermost */

struct waker_row {			/* waits of a thread for one reason that one waker ended */
	uint32_t thread, function, kind, waker;	/* as in struct rec_wake */
	uint64_t ns, n;			/* of n samples */
};

/* A place in the code: what called it, and a function. */
struct waker_place {
	uint32_t parent;	/* 0: none */
	uint32_t consumer;	/* of the model */
};

/* Waits of a row that the waker ended when it was there. */
struct waker_code {
	uint32_t row;			/* of rows */
	uint32_t place;			/* 0: that is not known */
	uint64_t ns, n;
};

struct wakers {
	struct names names;
	struct model strings;		/* theirs */
	struct waker_row *rows;		/* most time first, those that had not ended last */
	size_t nr_rows, alloc_rows;
	struct chains chains;
	bool has_codes;			/* it was recorded where wakers were */
	struct waker_place *places;	/* parents first; [0] is none */
	size_t nr_places, alloc_places;
	struct waker_code *codes;	/* most time first */
	size_t nr_codes, alloc_codes;
	uint64_t ns;			/* of all rows, and of all chains */
	uint64_t interval_ns;		/* between two looks; 0: not known */
	uint64_t nr_threads;		/* that waited */
	uint64_t nr_left_out;		/* waits, by the filter */
	/* how they are found */
	struct map row_of, place_of, code_of;
};

/*
 * Read waits; s selects by process, thread and filter whose waits are in rows and chains, and by time those
 * that ended in it. -ENODATA: the trace does not have any. m must be released also on failure.
 */
int wakers_read(struct wakers *m, struct trace_reader *t, const struct selection *s, struct err *e);
void wakers_release(struct wakers *m);

const char *wakers_reason(const struct wakers *m, uint32_t function);
/* Return the name of a function. */
const char *wakers_function(const struct wakers *m, uint32_t consumer);
/* Return "timer" and the like; for WAKE_THREAD "thread". */
const char *wakers_kind(uint32_t kind);

#endif
