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
#include "base/json.h"
#include "base/opt.h"
#include "flow/order.h"
#include "model/profile.h"
#include "model/select.h"
#include "model/origin.h"
#include "report/format.h"
#include "report/sheet.h"

enum report_fold { FOLD_NONE, FOLD_MODULE, FOLD_CLASS, FOLD_PACKAGE };
enum report_group { GROUP_NONE, GROUP_CGROUP, GROUP_CONTAINER };
enum report_sort {
	SORT_DEFAULT, SORT_CUM, SORT_BASE, SORT_N, SORT_NAME, SORT_WAIT, SORT_BLOCKED, SORT_LATENCY
};

/*
 * Options for struct report.follows that reports of a trace as it is have in common: of threads, labels and
 * groups of processes, time, and columns and their order. The last is for reports of calls.
 */
#define FOLLOWS_THREADS "pid tid comm thread "
#define FOLLOWS_GROUPS "label cgroup container "
#define FOLLOWS_TIMES "from from-zero to "
#define FOLLOWS_CHOICE "columns sort=column "
#define FOLLOWS_OF_CALLS FOLLOWS_THREADS FOLLOWS_GROUPS FOLLOWS_TIMES FOLLOWS_CHOICE \
	"module symbol limit metric signatures addresses "

/* why a report does not follow these options, to end a sentence; options: as in struct report.follows */
struct report_reason {
	const char *options, *why;
};

struct callflow_rules;
struct report;

struct report_opts {
	const struct report *report;
	const void *own;		/* the struct that report->opts fill */
	const char *argument;		/* of the report's option; NULL: it takes none */
	int format;			/* enum format_id */
	int sort;			/* enum report_sort */
	unsigned int sort_metric;
	uint64_t limit;			/* rows or stanzas; 0: all */
	struct sheet_choice choice;
	double prune;			/* percent */
	bool absolute, percent;		/* only these columns; neither: both */
	int width;			/* of the terminal; 0: names are never truncated */
	struct selection select;
	/* Folding. Functions that these rules exclude are part of their callers; NULL: none is. */
	const struct callflow_rules *methods;
	int fold;			/* enum report_fold */
	int group;			/* enum report_group: a level above processes */
	const char *hide;		/* functions that fit are part of their callers (as select.focus) */
	bool created;			/* who created objects, and which, in place of calls: created.h */
	bool merge_threads, merge_processes;
	const char *hprof;		/* its options, which hprof_parse() takes; NULL: not given */
	bool normalize_names;		/* functions whose names differ only in what runs make up are one */
	/* how a trace is read; a report without a model takes what it needs from it */
	const struct profile_opts *profile;	/* of the same selection */
};

struct view {
	struct model *m;		/* changed by view_init() */
	const struct origin *origin;
	const struct report_opts *o;
	struct trace_reader *trace;	/* what the model is from; NULL: a text */
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
	} stacks[FLOW_MAX_METRICS];	/* [source] */
	uint32_t pruned;		/* the [pruned] consumer */
	struct flow_order order;
	struct buf lacks;		/* what the format that was printed has no place for */
};

/* -EINVAL when the options do not fit the model. */
int view_init(struct view *v, struct model *m, const struct origin *origin, const struct report_opts *o,
	      struct err *e);
void view_release(struct view *v);

/* The contexts of a view in the order of its tree, at most as many as v->o->limit. */
struct contexts {
	const struct view *v;
	uint32_t node;
	uint32_t level;		/* of node; a root is at level 0 */
	uint64_t nr;		/* contexts so far */
};

bool contexts_next(struct contexts *w);
/* Return how many --limit left out, when all others were returned. */
uint64_t contexts_hidden(const struct contexts *w);

/*
 * A report: one row, defined in the file that prints it.  It prints either the view of a model, or a trace
 * as it is, without a model.
 */
struct report {
	const char *name;		/* also its option: --name */
	const char *help;		/* of that option */
	const char *argument;		/* what help calls its argument; NULL: it takes none */
	bool argument_optional;		/* then it is "" when there is none */
	bool argument_is_metrics;	/* their names, with commas; "calls" is n of calls */
	unsigned int formats;		/* a set: format.h */
	const char *legend;		/* at the end of text: what columns mean, which sums hold; or NULL */
	bool sorts_by_wait;		/* --sort also takes wait, blocked and latency */
	/*
	 * Which it follows of the options that all reports have and that select, fold or name what is shown:
	 * their names with spaces between. "sort" is by cum, base, n and name, "sort=column" by the name of a
	 * column. A report of a view names "sort=column" alone, and follows all others.
	 */
	const char *follows;
	const char *excludes;		/* of a view: those that it does not follow, as follows; or NULL */
	const struct report_reason *reasons;	/* why not others; ends with NULL. NULL: none */
	/* Options that only this report has, and the struct they fill; NULL: none. */
	const char *opts_title;		/* over them in help */
	const struct opt *opts;
	size_t opts_size;
	bool opts_select;		/* their lists select what is shown, as --pid does */
	/* -EINVAL: the options cannot be used together.  NULL: all can. */
	int (*check)(const struct report_opts *o, struct err *e);
	/* The members for a report of a view: what its model is made of, and printing it. */
	const char *const *events;	/* as in struct profile_opts; NULL: no certain ones */
	bool prefers_samples;		/* of a trace with calls and samples, the samples alone */
	bool no_samples;		/* no samples beside calls */
	bool needs_deltas;		/* as in struct profile_opts */
	bool hides_inlined;
	bool sorts_children;		/* those of each context, as --sort says */
	int (*print)(struct view *v, FILE *out, struct err *e);
	unsigned int filters;		/* RULE_BIT()s: what filters may be about; of a view all may */
	bool has_functions;		/* of a trace, and no rules leave any out */
	/*
	 * for a report of a trace as it is: what trace it needs, and how to print it; 1: the options select
	 * nothing
	 */
	const char *needs;
	int (*print_trace)(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);
	/*
	 * For a report of data that only some traces have, and without options of its own: the title of its
	 * rows in the page for a browser, and the array of JSON that has them. The page knows units by the
	 * names of members: _ns, _bytes, _percent; a share is of 1. NULL: not in the page.
	 */
	const char *page_title, *page_rows;
};

/* all reports, in the order of help; x is the row report_x */
#define REPORT_LIST(R) R(xarc) R(xtree) R(xprof) R(correlate) R(rt) R(gen) R(calls) R(flow) R(condu) \
	R(tprof) R(account) R(threads) R(sched) R(wakers) R(locks) R(leaks) R(lifetimes) R(log) R(gc) R(jit) \
	R(classes) R(exceptions) R(marks) R(timeline) R(arc) R(annotate) R(summary)
#define REPORT_DECLARE(name) extern const struct report report_##name;
REPORT_LIST(REPORT_DECLARE)

extern const struct report *const reports[];	/* ends with NULL */

/* Begins the object that a report is: which version made it, and what report it is. */
void report_json_begin(struct json *j, const char *report);
/* Do the same, and open "source" with the command and the host of the recording. */
void report_json_source(struct json *j, const char *report, const struct names *x);
/* Write into the open object how many rows --limit left out; or print a line about them, if there are any. */
void report_json_hidden(struct json *j, uint64_t nr_hidden);
void report_print_hidden(uint64_t nr_hidden, FILE *out);

/* Append "3.21 s", "12.3 ms": three digits or more. */
void report_put_duration(struct buf *b, uint64_t ns);
/* Append "1.23 s of CPU time", "123 allocated bytes": n in that unit, of what; NULL: the number alone. */
void report_put_counted(struct buf *b, const char *unit, uint64_t n, const char *what);
/* Append "3.21 s", "12.3 MB", "1234": n in that unit, in few digits. */
void report_put_amount(struct buf *b, const char *unit, uint64_t n);
/*
 * Append what filters left out during the recording: a line for each of them, and how much; the same in
 * JSON.
 */
void report_put_filters(const struct name_filter *all, size_t nr, uint64_t begin_ns, struct buf *b);
void report_json_filters(const struct name_filter *all, size_t nr, uint64_t begin_ns, struct json *j);
/* Append the line about what was left out because it belongs to arcprof's own threads, if anything was. */
void report_put_own(const struct origin *o, struct buf *b);
/* Append a line about the filter with which the trace was read, if there is one; what: "event". */
void report_put_filter(const struct rules *r, uint64_t nr_left_out, const char *what, struct buf *b);
void report_print_filter(const struct rules *r, uint64_t nr_left_out, const char *what, FILE *out);
void report_json_filter(const struct rules *r, uint64_t nr_left_out, struct json *j);
/*
 * Append a line for each thing that was requested and not recorded; report_json_refused() writes an array of
 * them.
 */
void report_put_refused(const struct origin *origin, struct buf *b);
/*
 * Append "0 lost" and, if storing stopped, how long after the beginning and how many came after that. 0: it
 * did not stop; none came, or that is not known. report_put_lost_of() takes all that from a trace's names.
 */
void report_put_lost(uint64_t lost, uint64_t stopped_ns, uint64_t nr_after, struct buf *b);
void report_put_lost_of(const struct names *x, struct buf *b);
/* Write "stopped_ns" and "after_stop", if storing stopped. */
void report_json_stopped(uint64_t stopped_ns, uint64_t nr_after, struct json *j);
/* Write those and "lost". */
void report_json_lost_of(const struct names *x, struct json *j);
void report_json_refused(const struct origin *origin, struct json *j);

/* Prints the view as v->o says. */
int report_print(struct view *v, FILE *out, struct err *e);
/* Prints the trace by a report that makes no model.  1: the options select nothing. */
int report_print_trace(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

/* Return what --calls prints as JSON, for a page, or NULL for no call trace. For free(). */
char *report_calls_json(struct trace_reader *t, const struct report_opts *o);

/*
 * Return what reports with a page_title print as JSON, an array of {key, title, rows, data}, of the data that
 * the trace has. NULL: it has none, or only a part of it is selected. For free().
 */
char *report_tables_json(struct trace_reader *t, const struct report_opts *o);

/* Return what --summary prints as JSON, for a page of this view, or NULL if it says nothing. For free(). */
char *report_summary_json(const struct view *of);

/* Return the consumer that a function belongs to; itself where it belongs to nothing. */
uint32_t view_fold_consumer(struct model *m, uint32_t id, enum report_fold fold);

/* Append the name that a text report prints: processes and threads with their number. */
void view_name(const struct view *v, uint32_t consumer, struct buf *b);
/*
 * Append the labels of a process: " (a=b,c=d)", without its control group, and of its container what
 * tools for containers show.
 */
void view_labels(const char *labels, struct buf *b);

#endif
