/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locks.h - the locks of a trace that threads have waited for (record -e lock). */
#ifndef MODEL_LOCKS_H
#define MODEL_LOCKS_H

#include "base/buf.h"
#include "model/checks.h"
#include "model/names.h"

struct lock_row {		/* one lock, and one way to wait for it */
	uint32_t proc, pid;
	uint32_t kind;		/* enum lock_wait */
	uint32_t identity;	/* 0: several locks of the class */
	const char *class_name, *process;	/* as long as the locks_model */
	uint32_t waiters;
	uint64_t n, ns, max_ns;		/* all 0: nobody waited, but acquisitions were counted */
	uint64_t p50_ns, p99_ns;	/* within 6 %, never above max_ns */
	/* The thread that had it during most of the time; NULL: not known of any. */
	const char *owner;
	uint32_t owner_tid;	/* 0: virtual */
	uint64_t owner_ns;	/* that was waited for it */
	/* acquisitions, where they were counted (record --lock-exact) */
	bool counted;
	uint64_t nonrec, rec, held_ns, counted_ns;
	uint64_t measured, cpu_ns;	/* so many holds consumed so much CPU time (record --lock-cpu) */
	uint64_t reads;		/* given back by who had it for reading, also counted */
	uint64_t notify, notify_all, idle;	/* calls; of both, those that found nobody waiting */
	/* as the record says: what --check compares */
	uint64_t buckets_n, owners_ns;
};

/* Waits for a lock that one thread had and another ended by notify(). */
struct notified {
	uint32_t proc, pid, identity;
	const char *class_name, *process;	/* as long as the locks_model */
	const char *notifier, *waiter;		/* NULL: several threads; "": it has no name */
	uint32_t notifier_tid, waiter_tid;	/* 0: virtual */
	uint64_t n, ns;
};

struct locks_model {
	struct names names;
	struct model strings;	/* theirs */
	struct lock_row *rows;
	size_t nr_rows, alloc_rows;
	struct map by_key;		/* what names a lock -> its latest row */
	struct notified *notified;
	size_t nr_notified, alloc_notified;
	struct map by_threads;		/* what names a lock and two threads -> one of these */
	uint32_t event;		/* of the samples */
	struct filter *kept;
	uint64_t start_ns;
	uint64_t blamed_ns;	/* sum of the event "blame" */
	uint64_t nr_left_out;	/* rows, by the filter */
	bool has_blame;
	bool no_end;			/* it was cut off: what is added up at the end is missing */
};

/* Read locks; filter: of events and classes, or NULL. -ENODATA: waits were not recorded. */
int locks_read(struct locks_model *m, struct trace_reader *t, const struct rules *filter, struct err *e);
void locks_model_release(struct locks_model *m);

/* Fill the names of the row's class, which is that function of the trace, and of its process. */
void locks_name_row(const struct names *x, const struct model *strings, uint32_t function,
		    struct lock_row *row);

/*
 * Append "java.lang.Object@1b2c3d4", as its toString() says; and "worker-3 87 %", the thread that had it
 * most.
 */
void locks_put_name(const struct lock_row *r, struct buf *b);
void locks_put_owner(const struct lock_row *r, struct buf *b);

/*
 * Return whether it is a lock: a synchronizer that never had an owner, such as a latch or a semaphore, is
 * not.
 */
bool locks_is_lock(const struct lock_row *r);

/*
 * Check that no row contradicts itself, the sum of all against the source, and locks against what their
 * owners were charged with.
 */
void locks_check(const struct locks_model *m, struct sums_check *out);

#endif
