/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - what threads of a recording have of an event by the count of who knows it all, beside what
 * samples have of that: CPU time as the kernel charges it, allocated bytes as the JVM counts them.
 */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H

#include "model/checks.h"
#include "model/names.h"
#include "model/origin.h"

/* The context of what has no sample. */
#define ACCOUNT_NOT_SAMPLED "[not sampled]"

/* what rows are of, as account_read() makes them */
enum account_rows { ACCOUNT_THREADS, ACCOUNT_CPUS, ACCOUNT_GROUPS };

/* [event]; events from there on have no account. */
enum { ACCOUNT_MAX_EVENTS = 64 };

/*
 * A thread of the kernel, from its birth to its end, whatever it executed, with the names that it had last.
 * Or what has no row of its own: the virtual threads of a process (tid 0), of which their carriers have all.
 */
struct account_thread {
	const char *process, *name;	/* the model's strings */
	uint32_t pid, tid;
	uint32_t number;		/* of the trace: the last; of virtual threads 0 */
	uint64_t counted;		/* when that is known; in the event's unit, as what samples have */
	uint64_t sampled, nr_samples;
	bool known;
	bool carries;			/* it may carry virtual threads: its process has samples of some */
};

struct account {
	struct names *names;
	struct names own;		/* of account_read() */
	struct model strings;		/* theirs */
	uint32_t event;
	const char *what;		/* "CPU time" */
	const char *by;			/* "charged by the kernel" */
	const char *unit;		/* "ns", "bytes" */
	uint64_t counted;		/* of all */
	uint64_t sampled;
	uint64_t nobodys;		/* of counted: of threads that nobody knows */
	uint64_t late;			/* of sampled: what may be after the end of threads; account_read() */
	uint64_t weight;		/* of a sample; 0: not known */
	enum account_rows rows;
	const char *why;		/* of what is missing; NULL: no line */
	struct account_thread *threads;	/* rows: in order of their beginning; of CPUs, of control groups */
	size_t nr, alloc;
};

/* the samples of a thread of the trace */
struct account_sampled {
	uint64_t amount, nr;
};

/* The same for all threads: [index in names.threads]; NULL: the event is not asked for. */
struct account_samples {
	struct account_sampled *of[ACCOUNT_MAX_EVENTS];
};

/* Return whether there is an account of the event. */
bool account_is_known(const struct names *x, uint32_t event);
/* Return whether that is CPU time, of a clock. */
bool account_is_cpu(const struct names *x, uint32_t event);
/* Return the amount of all threads then. */
uint64_t account_counted(const struct names *x, uint32_t event);
/* Return -ENODATA, with the message that there is no account of that event (NULL: of any), and why. */
int account_none(const struct names *x, const char *metric, struct err *e);
/*
 * Reads the account of the event of that name; NULL: of the first that has one. -ENODATA: there is none, and
 * why. To be released in any case.
 */
int account_read(struct account *a, struct trace_reader *t, const char *metric, struct err *e);
/* Make an account of a trace whose names x were read, and whose samples are sampled[index in x->threads]. */
void account_make(struct account *a, struct names *x, uint32_t event, const struct account_sampled *sampled);
void account_release(struct account *a);

/* Fill in what the first lines of reports say; weights: of all samples, [event]. */
void account_of_all(const struct names *x, const uint64_t weights[ACCOUNT_MAX_EVENTS], struct origin *origin);

/*
 * Add to the model, below each thread that has more than its samples, a context ACCOUNT_NOT_SAMPLED with
 * what is missing. The sum of the metric is then what was counted of all: what chance gave others too
 * much is subtracted from these.
 */
void account_add_missing(const struct account *a, unsigned int metric);

/*
 * Check each account: no more samples than was counted, but for chance, and no more counted of threads
 * than of all. Where nothing is known to be missing and the count is not of time, there must not be fewer
 * samples either. A trace without an account passes.
 */
int account_check(struct trace_reader *t, struct sums_check *out, struct err *e);

#endif
