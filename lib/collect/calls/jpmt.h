/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jpmt.h - the configuration file of JPMT: where to write, seven things that are recorded or not, and rules
 * of methods and threads. The first that matches decides; what none matches is a thread that counts, and a
 * method that does not. Case does not matter, and what is not there is "no".
 *
 * Source: Harkema, Quartel, van der Mei and Gijsen, A Java Performance Monitoring Tool, section II.
 */
#ifndef COLLECT_JPMT_H
#define COLLECT_JPMT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum jpmt_wish {
	JPMT_OBJECT_ALLOCATION, JPMT_GARBAGE_COLLECTION, JPMT_MONITOR_WAITING, JPMT_MONITOR_CONTENTION,
	JPMT_METHOD_INVOCATION, JPMT_BYTECODE_REWRITING, JPMT_LTT_PROCESS_SCHEDULING, JPMT_NR
};

struct jpmt {
	bool found;			/* there is a line of its own: else it is no file of JPMT */
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
