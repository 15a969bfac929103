/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callrules.h - the user's rules about what to measure, compiled for callflow/filter.h.
 *
 * A list, from the command line: "+pattern,-pattern,pattern"; a later item is an exception to those
 * before it.  A file: one rule per line, "include_method PATTERN", "exclude_method PATTERN",
 * "include_thread PATTERN", "exclude_thread PATTERN", and the same of class, kind, phase and event, which
 * say which events are kept, as rules of threads do beside; "#" begins a comment; the first rule
 * that matches decides.  What no rule matches is included if the rules only exclude, and
 * excluded if the first of a list, or any of a file, includes. A file of JPMT (jpmt.h) has its own rules.
 */
#ifndef COLLECT_CALLRULES_H
#define COLLECT_CALLRULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct rules;

struct callrules {
	struct buf b;			/* compiled */
	uint32_t nr;
	bool methods, threads;		/* there are rules about these */
	bool rest_methods, rest_threads;	/* what no rule matches is included */
	bool jpmt;			/* the last file was one of JPMT */
	struct rules *events;		/* get what a file says of events (base/rules.h); NULL: nobody does */
};

/* Parse a list, which precedes what the file says. All return 0, or -EINVAL with the error. */
int callrules_list(struct callrules *r, const char *text, struct err *e);
int callrules_file(struct callrules *r, const char *name, const char *text, size_t len, struct err *e);
/* Adds the rule for the rest; r->b is complete then, and empty when there is no rule. */
void callrules_end(struct callrules *r);
void callrules_release(struct callrules *r);

/*
 * jpmt.c: the configuration file of JPMT: where to write, seven things that are recorded or not, and rules
 * of methods and threads. The first that matches decides; what none matches is a thread that counts, and a
 * method that does not. Case does not matter, and what is not there is "no".
 *
 * Source: Harkema, Quartel, van der Mei and Gijsen, A Java Performance Monitoring Tool, section II.
 */
enum jpmt_wish {
	JPMT_OBJECT_ALLOCATION, JPMT_GARBAGE_COLLECTION, JPMT_MONITOR_WAITING, JPMT_MONITOR_CONTENTION,
	JPMT_METHOD_INVOCATION, JPMT_BYTECODE_REWRITING, JPMT_LTT_PROCESS_SCHEDULING, JPMT_NR
};

struct jpmt {
	bool found;			/* there is a line of its own: else it is not a file of JPMT */
	char *output;			/* the caller's to free; NULL: it does not say */
	bool yes[JPMT_NR];
};

/*
 * Reads all but the rules, which callrules_file() takes, from a text called name. -EINVAL: a directive of a
 * file of JPMT is wrong; *j has what came before.
 */
int jpmt_read(struct jpmt *j, const char *name, const char *text, size_t len, struct err *e);
void jpmt_release(struct jpmt *j);
/* Return whether a line that begins with this word is a directive, and not a rule. */
bool jpmt_is_directive(const char *word, size_t len);

#endif
