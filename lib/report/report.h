/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - a model, where it came from, and how to show it.  No report opens a file.
 *
 *	view_init()		filters, folds and prunes the model as asked
 *	report_print()		prints the view as one of the reports
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "base/opt.h"
#include "flow/order.h"

enum report_name {
	REPORT_XARC,
	REPORT_XTREE,
	REPORT_XPROF,
	REPORT_RT,
	REPORT_GEN,
	REPORT_TPROF,
	REPORT_THREADS,
	REPORT_SCHED,
	REPORT_ARC
};
enum report_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_TREE };
enum report_fold { FOLD_NONE, FOLD_MODULE, FOLD_CLASS, FOLD_PACKAGE };
enum report_sort {
	SORT_DEFAULT, SORT_CUM, SORT_BASE, SORT_N, SORT_NAME, SORT_WAIT, SORT_BLOCKED, SORT_LATENCY
};

/* As from_ns of a window: the trace's zero point, which "arcprof ctl zero" set last. */
#define REPORT_FROM_ZERO UINT64_MAX

/* What the model was made from; strings belong to whoever made it. */
struct report_source {
	const char *command, *host, *machine;	/* NULL: not known */
	uint64_t start_ns;		/* CLOCK_REALTIME; 0: not known */
	uint64_t duration_ns;		/* 0: not known */
	uint64_t lost;			/* samples that are not in the model */
	uint64_t throttled;		/* times the kernel held the event back */
	uint64_t nr_local_modules;	/* named by this machine's files, not by the trace */
	double rate_hz;			/* samples per second of CPU time; 0: not known */
	const char *rate_mode;		/* "user", "kernel": of the time in that code; NULL: of all */
	bool tick_bound;		/* of CPU timers: at most one sample a tick */
	uint64_t period;		/* of the first event; 0: not known */
	uint32_t nr_cpus;
	bool is_trace;			/* not a text input */
	const char *const *refused;	/* what was asked for and not recorded, and why */
	size_t nr_refused;
	const char *not_shown;		/* samples of other events, which were not asked for; NULL: none */
	const char *calibration;	/* of exact calls: what was done, or why not; NULL for others */
	uint64_t over_corrected;	/* contexts and metrics that were left with nothing */
	uint64_t nr_missing;		/* samples in calls that the tree of calls does not have */
	/* samples of the first event, before the selection by time and CPU; 0: n */
	uint64_t nr_read;
};

struct report_opts {
	enum report_name name;
	enum report_format format;
	int sort;			/* enum report_sort */
	unsigned int sort_metric;
	uint64_t limit;			/* rows or stanzas; 0: all */
	double prune;			/* percent */
	bool absolute, percent;		/* only these columns; neither: both */
	int width;			/* of the terminal; 0: names are never cut */
	/* Selection: a path must have one of each list that is not empty. */
	const struct opt_list *pids, *tids, *comms, *threads, *modules, *symbols;
	/* Folding. */
	int fold;			/* enum report_fold */
	bool merge_threads, merge_processes, no_inline, no_kernel, by_kind;
	/* threads and sched */
	const struct opt_list *cpus;
	uint64_t from_ns, to_ns;	/* after the start; 0: all; from_ns may be REPORT_FROM_ZERO */
	const struct opt_list *gen_events;	/* kinds of events that gen shows; empty: all */
	/* tprof */
	double clip;			/* percent */
	const struct opt_list *stanzas;
};

struct view {
	struct model *m;		/* changed by view_init() */
	const struct report_source *src;
	const struct report_opts *o;
	uint64_t total[FLOW_MAX_METRICS];	/* of what the view has, [pruned] included */
	uint64_t total_n;
	uint64_t read_n;		/* before filters */
	/* share of total in contexts where calibration took as much as is left, 0 to 1 */
	double marked[FLOW_MAX_METRICS];
	double own;			/* share of samples in arcprof's own work in the programs, 0 to 1 */
	double shown;			/* share of what was read that has rows of its own, 0 to 1 */
	uint64_t nr_threads;
	uint64_t roots_n;		/* of total_n, processes' and threads' own */
	struct view_stacks {
		uint64_t n;
		uint64_t complete_n, no_stack_n;	/* with complete stacks; with none asked */
		struct view_mark {		/* incomplete stacks by reason, most first */
			uint32_t name;
			uint64_t n;
		} *marks;
		size_t nr_marks, alloc_marks;
	} stacks, beside;		/* of n; of the samples in a tree of calls */
	uint32_t pruned;		/* the [pruned] consumer */
	struct flow_order order;
};

/* -EINVAL when the options do not fit the model. */
int view_init(struct view *v, struct model *m, const struct report_source *src, const struct report_opts *o,
	      struct err *e);
void view_release(struct view *v);

/* Selection by lists of numbers, and of names with the shell's patterns; a list that is empty has nothing. */
bool report_number_listed(const struct opt_list *l, uint32_t nr);
bool report_name_listed(const struct opt_list *l, const char *name);
/* The same of a module, by its path or the last part of that. */
bool report_module_listed(const struct opt_list *l, const char *path);
/*
 * Do the lists of numbers and names of o, those that have something, have this process and thread of
 * the model?
 */
bool report_thread_selected(const struct report_opts *o, const struct model *m, uint32_t process,
			    uint32_t thread);
/* Is the consumer listed as a symbol, or what it is in as a module? */
bool report_has_symbol(const struct report_opts *o, const struct model *m, uint32_t consumer);
bool report_has_module(const struct report_opts *o, const struct model *m, uint32_t consumer);
/* "3.21 s", "12.3 ms": three digits or more. */
void report_put_duration(struct buf *b, uint64_t ns);

/* Prints the report that v->o names. */
int report_print(struct view *v, FILE *out, struct err *e);

/* The name a text report prints: processes and threads with their number. */
void view_name(const struct view *v, uint32_t consumer, struct buf *b);

#endif
