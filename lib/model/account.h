/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - the CPU time that the kernel charged threads of a recording, beside what samples have of it.
 */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H

#include "model/names.h"
#include "model/origin.h"

/* The context of what has no sample. */
#define ACCOUNT_NOT_SAMPLED "[not sampled]"

/*
 * A thread of the kernel, from its birth to its end, whatever it executed, with the names that it had last.
 * Or what has no row of its own: the virtual threads of a process (tid 0), whose carriers are charged.
 */
struct account_thread {
	const char *process, *name;	/* the model's strings */
	uint32_t pid, tid;
	uint32_t number;		/* of the trace: the last; of virtual threads 0 */
	uint64_t cpu_ns;		/* charged, when that is known */
	uint64_t sampled_ns, nr_samples;
	bool known;
	bool carries;			/* virtual threads of its process have samples */
};

struct account {
	struct names *names;
	struct names own;		/* of account_read() */
	struct model strings;		/* theirs */
	uint64_t charged_ns;		/* by the kernel, to all */
	uint64_t sampled_ns;
	uint64_t nobodys_ns;		/* of charged_ns: of threads that nobody knows */
	const char *why;		/* of what is missing; NULL: nothing is said */
	struct account_thread *threads;	/* in order of their beginning */
	size_t nr, alloc;
};

/* What samples have of a thread of the trace. */
struct account_sampled {
	uint64_t ns, nr;
};

/* -ENODATA: the trace has no account. To be released in any case. */
int account_read(struct account *a, struct trace_reader *t, struct err *e);
/* The same of a trace whose names x are read, and whose samples are sampled[index in x->threads]. */
int account_make(struct account *a, struct names *x, const struct account_sampled *sampled, struct err *e);
void account_release(struct account *a);

/* What the first lines of reports say; first_weight: of all samples of the first event. */
void account_of_all(const struct names *x, uint64_t first_weight, struct origin *origin);

/*
 * Into the model: below each thread that was charged more than its samples have, a context
 * ACCOUNT_NOT_SAMPLED with what is missing, so that the sum of the metric is what the kernel charged to all.
 * What chance gave others too much is taken from these.
 */
void account_add_missing(const struct account *a, unsigned int metric);

struct account_check {
	uint64_t nr_checked, nr_bad;
	char first[160];		/* of the bad ones */
};

/*
 * No more samples than the kernel charged, but for chance; and no more charged to threads than to all. A
 * trace without an account passes.
 */
int account_check(struct trace_reader *t, struct account_check *out, struct err *e);

#endif
