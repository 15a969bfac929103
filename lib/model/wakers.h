/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakers.h - who ended the waits of threads (record -e wall), and what those waited for meanwhile.
 *
 * A chain is a wait, then what the thread that ended it waited for while it lasted, and so on.  The time of a
 * wait is divided: the part of it in which its waker waited, too, goes to the chain on from there, and
 * what is left to the chain that ends there.  So chains and rows add up to the same.  A wait that was sampled
 * stands for others as short as it is, and goes as a whole where the moment goes when it was seen: at
 * that moment all threads are looked at.
 *
 * Where wakers were (record -e wall,wakers) is a sample of theirs for each wait that a thread ended, of the
 * same time and weight.
 */
#ifndef MODEL_WAKERS_H
#define MODEL_WAKERS_H

#include "base/hash.h"
#include "model/names.h"
#include "model/select.h"
#include "trace/record.h"

enum { WAKERS_MAX_DEPTH = 16,
	WAKERS_MAX_FRAMES = 4096 };	/* of a waker, the innermost */

struct waker_thread {
	const char *name, *process;	/* as long as the model */
	uint32_t pid, tid;		/* tid 0: a virtual thread */
};

struct waker_row {			/* waits of a thread for one reason that one waker ended */
	uint32_t thread, function, kind, waker;	/* as in struct rec_wake */
	uint64_t ns, n;			/* of n samples */
};

/* A step of a chain: the thread waited for that reason; or, without a function, it is the end. */
struct waker_step {
	uint32_t parent;	/* the step whose wait this ended; 0: none */
	uint32_t thread, function;
	uint32_t kind;		/* of an end: what that is; WAKE_THREAD: the thread, which did not wait */
	bool cut;		/* of an end: the thread waited, but the chain is too long, or a circle */
	uint64_t ns;		/* of an end: the time of the chain */
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
	struct waker_step *steps;	/* parents first; [0] is none, [1] the end of what is too much */
	size_t nr_steps, alloc_steps;
	uint32_t *chains;		/* steps that are ends, in the same order */
	size_t nr_chains;
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
	struct wakers_wait *waits;
	size_t nr_waits, alloc_waits;
	struct map row_of, step_of, of_thread, place_of, code_of;
	uint64_t nr_left;		/* steps that chains may still take */
};

/*
 * s selects by process, thread and filter whose waits are in rows and chains, and by time those that ended
 * in it.  -ENODATA: the trace does not have any.  To be released in any case.
 */
int wakers_read(struct wakers *m, struct trace_reader *t, const struct selection *s, struct err *e);
void wakers_release(struct wakers *m);

/* 0 and unknown numbers: "[unknown thread]". */
struct waker_thread wakers_thread(const struct wakers *m, uint32_t thread);
const char *wakers_reason(const struct wakers *m, uint32_t function);
/* A function's name. */
const char *wakers_function(const struct wakers *m, uint32_t consumer);
/* "timer"; WAKE_THREAD: "thread". */
const char *wakers_kind(uint32_t kind);

#endif
