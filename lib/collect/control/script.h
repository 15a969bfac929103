/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - commands for a recording one after the other, from a file: "arcprof ctl --file".
 *
 * A line is a command of "arcprof ctl", or one of
 *	wait TIME
 *	repeat N
 *	end		of what is repeated; up to eight may be inside each other
 * Empty lines, and what follows a #, say nothing. The whole file is read before any of it is done.
 */
#ifndef COLLECT_SCRIPT_H
#define COLLECT_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct script_step {
	enum { STEP_COMMAND, STEP_WAIT, STEP_REPEAT, STEP_END } what;
	uint64_t n;			/* ns to wait; times to repeat */
	char *command;			/* as script_parse_fn has it */
	size_t begin;			/* of STEP_END: the step after its STEP_REPEAT */
	unsigned int line;
};

struct script {
	struct script_step *steps;
	size_t nr_steps, alloc_steps;
};

/* makes a command for a recorder from its words; -EINVAL: invalid */
typedef int (*script_parse_fn)(int nr_words, char *const *words, struct buf *command, struct err *e);
/* Says it to the recorder. */
typedef int (*script_say_fn)(void *ctx, const char *command, struct err *e);

/*
 * Read a script; path "-": standard input. -EINVAL: *e says what is wrong in which line. s must be released
 * also on failure.
 */
int script_read(struct script *s, const char *path, script_parse_fn parse, struct err *e);
/* Parse a script from a text, which is changed; name is for *e. */
int script_parse(struct script *s, const char *name, char *text, script_parse_fn parse, struct err *e);
/* Ends with the first command that fails. */
int script_run(const struct script *s, const char *name, script_say_fn say, void *ctx, struct err *e);
void script_release(struct script *s);

#endif
