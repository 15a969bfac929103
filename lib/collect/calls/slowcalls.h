/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slowcalls.h - of an event trace, only calls of some methods that took long, each with all that was in
 * it ("record --trace").
 *
 * The events of a tree are kept back from the first call of a method that a rule names to its end. As soon
 * as the call has taken as long as its rule says, they are passed on, and so is all that follows in it; if
 * it ends earlier, only the slow calls of other rules within it are.
 */
#ifndef COLLECT_SLOWCALLS_H
#define COLLECT_SLOWCALLS_H

#include "base/hash.h"
#include "callflow/filter.h"
#include "collect/calls/callrules.h"
#include "trace/calls.h"

enum {
	SLOW_MAX_RULES = 64,
	SLOW_UNKNOWN = UINT32_MAX,	/* as the number of a rule: the method's name is not known yet */
};

struct slow_rule {
	const char *text;		/* as given, borrowed: "com.example.App.serve>10ms" */
	struct callrules pattern;
	uint64_t least_ns;
	uint64_t nr_calls, nr_slow;	/* that ended */
	struct {
		uint64_t nr_calls, nr_slow;
	} before;			/* what earlier files have of them */
};

struct slow_rules {
	struct slow_rule rules[SLOW_MAX_RULES];
	uint32_t nr;
	uint64_t nr_words;		/* kept back now, of all trees */
	uint64_t nr_cut;		/* events of slow calls that were not kept, as there were too many */
	uint64_t nr_cut_before;		/* what earlier files have of it */
};

/* "PATTERN>TIME"; text is borrowed. -EINVAL: what is wrong with it. */
int slow_rules_add(struct slow_rules *s, const char *text, struct err *e);
void slow_rules_release(struct slow_rules *s);
/*
 * Return the number, from 1, of the rule with the least time that the method or function falls under; 0
 * none.
 */
uint32_t slow_rules_method(const struct slow_rules *s, const struct callflow_method *m);
uint32_t slow_rules_function(const struct slow_rules *s, const char *module, const char *name);

/* The events of a tree that are held back; begins as all zeros. */
struct slow_tree {
	struct slow_call {
		uint64_t start_ns;
		uint32_t consumer, rule;	/* rule: from 1, or SLOW_UNKNOWN */
		uint32_t depth;			/* 1: the outermost */
		size_t at;			/* its event in words; SIZE_MAX: passed on, or cut */
	} *calls;			/* open, outermost first */
	size_t nr_calls, alloc_calls;
	uint32_t depth, kept;		/* calls open, from calls[0]; those of them that were not cut */
	uint32_t nr_cut;		/* of its events, since calls[0] began */
	bool passing;			/* calls[0] is slow: nothing is kept back */
	uint64_t *words;		/* of each event: time, kind and consumer, nr_metrics values */
	size_t nr_words, alloc_words;
};

/* consumers are as the measured process numbers them. */
struct slow_sink {
	void *ctx;
	uint32_t nr_metrics;
	uint32_t (*rule)(void *ctx, uint32_t consumer);	/* from 1, 0 none, SLOW_UNKNOWN */
	void (*pass)(void *ctx, const struct call_event *e);
};

/* Take the next event of the tree. */
void slow_take(struct slow_rules *s, struct slow_tree *t, const struct call_event *e,
	       const struct slow_sink *sink);
void slow_tree_release(struct slow_rules *s, struct slow_tree *t);

#endif
