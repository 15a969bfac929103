/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - the CPU time that the kernel charged threads of a recording, beside what samples have of it.
 */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H

#include "model/names.h"
#include "model/origin.h"

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
	struct names names;
	struct model strings;		/* theirs */
	uint64_t charged_ns;		/* by the kernel, to all */
	uint64_t sampled_ns;
	uint64_t nobodys_ns;		/* of charged_ns: of threads that nobody knows */
	const char *why;		/* of what is missing; NULL: nothing is said */
	struct account_thread *threads;	/* in order of their beginning */
	size_t nr, alloc;
	struct map of_thread;		/* index in names.threads -> index in threads */
};

/* -ENODATA: the trace has no account. To be released in any case. */
int account_read(struct account *a, struct trace_reader *t, struct err *e);
void account_release(struct account *a);

/* What the first lines of reports say; first_weight: of all samples of the first event. */
void account_of_all(const struct names *x, uint64_t first_weight, struct origin *origin);

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
