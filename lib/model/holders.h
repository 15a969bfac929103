/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holders.h - who waited for locks that others had, while these waited for others in turn (record -e lock).
 *
 * Waits are the sampled ones, of which chains.h makes a tree; "what" is a lock. Below a wait is the thread
 * that had the lock when it began, for as long as that waited itself, and for what: another lock, a condition
 * or an Object.wait(), in which it kept the lock. What is left of the wait is an end: the thread had the
 * lock, and is not known to have waited.
 */
#ifndef MODEL_HOLDERS_H
#define MODEL_HOLDERS_H

#include "model/chains.h"
#include "model/locks.h"
#include "model/names.h"
#include "model/select.h"

enum holder_end {
	HOLDER_WAITS,		/* none: it is a wait */
	HOLDER_RUNS,		/* the thread had the lock */
	HOLDER_UNKNOWN,		/* the owner of the lock is not known */
	HOLDER_CIRCLE,		/* the thread is above in the tree */
	HOLDER_CUT,		/* there is more, but the chain is too long */
};

/* A row of the tree, in the order in which it is shown: most time first. */
struct holder_row {
	uint32_t parent;	/* index + 1; 0: the wait that all is about */
	uint32_t level;		/* of it 0 */
	uint32_t thread;	/* 0: not known */
	uint32_t lock;		/* of locks, of a wait alone */
	enum holder_end end;
	/*
	 * The consumer of the innermost function of its own (blame.h) where that thread was most: of a wait,
	 * when it waited for locks of that class; of an end, while others waited for it. 0: not known.
	 */
	uint32_t site;
	uint64_t ns;		/* with all below */
};

struct holder_lock {
	struct lock_row name;		/* what names it, and nothing more */
	uint32_t function;		/* the number of its class */
	bool is_lock;			/* somebody can have it: locks_is_lock() */
	bool selected;
};

struct holders {
	struct names names;
	struct model strings;		/* theirs */
	struct holder_lock *locks;
	size_t nr_locks, alloc_locks;
	struct holder_row *rows;
	size_t nr_rows, alloc_rows;
	uint64_t ns;			/* of those at level 0 */
	uint64_t nr_waits;		/* that these are made of */
	uint64_t nr_left_out;		/* by the filter */
	struct chains chains;
	/* how they are found */
	struct map lock_of, site_of, best_of;
	struct holder_site *sites;
	size_t nr_sites, alloc_sites;
};

/*
 * Read waits; s selects by process and filter whose waits are at level 0. -ENODATA: the trace does not have
 * any. h must be released also on failure.
 */
int holders_read(struct holders *h, struct trace_reader *t, const struct selection *s, struct err *e);
void holders_release(struct holders *h);

#endif
