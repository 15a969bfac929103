/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary.h - the first answers (summary.c): what its parts share.
 *
 *	summary_stacks.c	the hottest stacks
 *	summary_waits.c		what threads wait for, and what they allocate
 *	summary_leaks.c		what keeps more and more objects
 *	summary_notes.c		what stands out
 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "base/hash.h"
#include "model/leaks.h"
#include "report/report.h"

enum { SUMMARY_WORTH_PERCENT = 1 };	/* what has less is not part of a first answer */

struct summary_opts {
	struct opt_list mine;
	uint64_t top_stacks;
};

/* what a function has of a metric; or a function with what its stacks end in */
struct summary_row {
	uint32_t where, what;	/* consumers; 0: none */
	uint64_t self;		/* by itself */
	uint64_t mine;		/* and by what it called that is not the program's own */
};

struct summary_rows {
	struct summary_row *list;
	size_t nr, alloc;
	struct map by_key;	/* where and what -> index */
	unsigned int metric;
};

struct summary {
	const struct view *v;
	const struct summary_opts *own;
	struct sheet sheet;
	bool *mine;		/* [consumer]: of the program's own code */
	bool any_mine;
	bool *idle;		/* [node] */
	bool *own_work;		/* [node]: of what arcprof did in the program */
	uint32_t *code, *owner;	/* [node]: its innermost function, and that of the program's own; 0: none */
	struct buf amount, name;	/* of a row */
};

/* Return the row of a function with what its stacks end in, made if it is new. */
struct summary_row *summary_row_of(struct summary_rows *r, uint32_t where, uint32_t what);
void summary_rows_release(struct summary_rows *r);
int summary_most_self_first(const void *p, const void *q);
void summary_sort(struct summary_rows *r, int (*compare)(const void *, const void *));

/*
 * Return what waits or allocates in a node: a function of the program's own, else the innermost one outside
 * the kernel.
 */
uint32_t summary_where(const struct summary *s, uint32_t node);

static inline bool summary_is_json(const struct summary *s)
{
	return s->v->o->format == FORMAT_JSON;
}

static inline bool summary_is_markdown(const struct summary *s)
{
	return s->v->o->format == FORMAT_MARKDOWN;
}

/* Begin a block: with its title in text, as an array of that key in JSON; end it. */
void summary_begin(struct summary *s, const char *key, const char *title);
void summary_end(struct summary *s);
/* Return a number with its unit, or a function's name. Both are valid until the next call. */
struct cell summary_amount(struct summary *s, unsigned int metric, uint64_t n);
const char *summary_name(struct summary *s, uint32_t consumer);
/* Append a native function's name without parameters and template arguments: "ns::f<>". */
void summary_put_short_native(const char *name, struct buf *b);
/* Return percent of the whole; 0 of nothing. */
double summary_percent(uint64_t part, uint64_t whole);
/* Set own_work[node] at and below what arcprof did in the program, of a tree of these consumers. */
void summary_mark_own(const struct model *m, const struct flow *f, bool *own_work);

void summary_put_stacks(struct summary *s, unsigned int metric);
void summary_put_waits(struct summary *s, unsigned int metric);
void summary_put_locks(struct summary *s);
/* Check whether the stacks of a metric end in classes of objects. */
bool summary_is_of_objects(const struct summary *s, unsigned int metric);
/* Print who allocates most of that; native: stacks end in functions that allocate. */
void summary_put_allocations(struct summary *s, unsigned int metric, bool is_native);

/* a finding, and the report that shows more of it */
struct summary_note {
	char *text;
	const char *command;	/* "report --account"; NULL: none does */
};

struct summary_notes {
	struct summary_note *list;
	size_t nr, alloc;
};

struct summary_facts {
	uint64_t total;			/* of the first metric that is not a wait and no object; of that: */
	uint64_t unresolved;		/* in functions without a name, */
	uint64_t interpreted, compiling;	/* in interpreted methods, in threads of compilers */
	uint64_t on_cpu_ns, runnable_ns;	/* of the event wall */
	bool has_java;
	enum leaks_lack lacks;		/* of the event live, */
	uint64_t live_n;		/* and so many samples are left */
};

/* Print leaks, for a view of a trace only. */
void summary_put_leaks(struct summary *s, struct summary_facts *facts);

/* Say what stands out of a view, worst first. To be released in any case. */
void summary_judge(struct summary_notes *n, const struct view *v, const struct summary_facts *f);
void summary_notes_release(struct summary_notes *n);

#endif
