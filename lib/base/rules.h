/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.h - ordered rules that say which events are kept: by event, thread, class, length and phase.
 *
 * Conditions, as Documentation/include/filters.adoc has them: "[EVENT:]thread=NAME", "[EVENT:]group=NAME", "[EVENT:]kind=virtual",
 * "[EVENT:]class=NAME", "phase=NAME", "EVENT>TIME", "EVENT<TIME", "EVENT". A list, from the command line,
 * has "+" or "-" before each; a later one is an exception to those before it. Lines of a file are in the
 * other order: the first that matches decides. What no rule about the same thing matches is kept if the
 * first of the list leaves out, or if the file only leaves out. The list comes before the file.
 *
 * Events of the groups "gc" and "safepoint" are of all threads: rules about threads say nothing of them,
 * unless they name one.
 *
 * What is asked of one thing at a time is for the caller to remember: that a thread is wanted, say.
 */
#ifndef BASE_RULES_H
#define BASE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum rule_of { RULE_EVENT, RULE_THREAD, RULE_GROUP, RULE_KIND, RULE_CLASS, RULE_LENGTH, RULE_PHASE, RULE_NR };

/* Sets of these. */
#define RULE_BIT(of) (1u << (of))
enum {
	RULES_OF_THREADS = RULE_BIT(RULE_THREAD) | RULE_BIT(RULE_GROUP) | RULE_BIT(RULE_KIND),
	RULES_ALL = RULE_BIT(RULE_NR) - 1,
};

#define RULES_VIRTUAL_GROUP "VirtualThreads"	/* the group in which Java has all virtual threads */

struct rule {
	enum rule_of of;
	bool keep, listed;		/* listed: not from a file */
	bool longer;			/* of RULE_LENGTH: than ns, or shorter */
	uint64_t ns;
	char *event;			/* NULL: all; that of RULE_EVENT and RULE_LENGTH, too */
	char *pattern;			/* NULL: of RULE_EVENT, RULE_LENGTH */
};

struct rules {
	struct rule *all;
	size_t nr, alloc;
	uint32_t has;			/* RULE_BIT() of each there is */
};

/* An event by its names; what is NULL it does not have. */
struct rule_event {
	const char *name, *group;	/* "pause" is of "gc", what perf event is first is of "cpu" */
};

/*
 * Add all rules of a list with commas, one condition of it, or one line of a file. Returns -EINVAL and
 * fills *e for an invalid one.
 */
int rules_list(struct rules *r, const char *text, struct err *e);
int rules_item(struct rules *r, const char *item, struct err *e);
int rules_line(struct rules *r, enum rule_of of, bool keep, const char *text, size_t len, struct err *e);
/* Remove the rules about that; return whether there were any. */
bool rules_drop(struct rules *r, enum rule_of of);
void rules_release(struct rules *r);

/* Append the subjects in a set: "thread, kind". */
void rules_put_words(uint32_t set, struct buf *b);

/*
 * Return the event that rule i names, if it is not one of arcprof's own; NULL: it names none, or one of
 * those.
 */
const char *rules_strange_event(const struct rules *r, size_t i);

/* Check whether the rules about one subject keep an event; for RULE_EVENT value is not used. */
bool rules_want(const struct rules *r, enum rule_of of, const struct rule_event *event, const char *value);
bool rules_want_length(const struct rules *r, const struct rule_event *event, uint64_t ns);
/* Do the same where several values are there at once: one that matches is enough. */
bool rules_want_any(const struct rules *r, enum rule_of of, const struct rule_event *event,
		    const char *const *values, size_t nr);
/* Check whether any rule about that subject concerns the event. */
bool rules_concern(const struct rules *r, enum rule_of of, const struct rule_event *event);

/* Appends all of them, as they can be given again: first the list, then lines. */
void rules_text(const struct rules *r, struct buf *b);

#endif
