/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.h - what a command is, and the list of them. */
#ifndef CMD_H
#define CMD_H

#include "base/opt.h"

enum cmd_flags {
	CMD_PAGER = 1 << 0,		/* big text: stdout goes through the pager on a terminal */
	CMD_RUNS_PROGRAM = 1 << 1,	/* operands are a command line: options end at the first */
};

enum {
	EXIT_USAGE = 2,
	EXIT_ARCPROF_FAILED = 125,	/* as env(1): arcprof itself failed, not the program */
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
};

struct command {
	const char *name;
	const char *summary;		/* one line, no capital, no full stop */
	const char *operands;		/* for the usage line, or NULL */
	unsigned int flags;
	const struct opt *opts;
	size_t opts_size;		/* of the struct the table fills */
	/* Returns the exit status. */
	int (*run)(void *opts, int nr_operands, char **operands);
};

/* In the order help shows them; ends with NULL. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);

extern const struct command cmd_record, cmd_report, cmd_tprof, cmd_dump, cmd_doctor, cmd_help, cmd_version;

#endif
