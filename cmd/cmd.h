/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.h - the description of a command, and the list of all commands. */
#ifndef CMD_H
#define CMD_H

#include "base/err.h"
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

/* Return one of these three, for why a command that runs a program failed. */
int command_failure(const struct err *e);

struct command {
	const char *name;
	const char *summary;		/* one line, no capital, no full stop */
	const char *operands;		/* for the usage line, or NULL */
	unsigned int flags;
	const struct opt *opts;
	size_t opts_size;		/* of the struct the table fills */
	/* Instead of these: joins several tables; run() gets the block of all their structs. */
	void (*join_opts)(struct opt_join *j);
	/* with CMD_PAGER: returns whether the result is printed on the terminal; NULL: always */
	bool (*prints)(const void *opts);
	/* Returns the exit status. */
	int (*run)(void *opts, int nr_operands, char **operands);
};

/* Commands under the title that help shows over them, in its order. */
struct command_group {
	const char *title;
	const struct command *list[12];		/* ends with NULL */
};

extern const struct command_group command_groups[];	/* ends with a NULL title */

/* Options that every command understands, before its name and after it. */
struct common_opts {
	bool help, version, verbose, quiet, no_pager;
	int color;				/* enum term_color */
};

extern const struct opt common_opts[];		/* fills a struct common_opts */

/* A command's options followed by the common ones, and one block of memory for both structs. */
struct command_opts {
	struct opt *table;
	void *values;				/* the command's struct */
	struct common_opts *common;		/* in the same block */
};

/* Join the command's own options; the caller frees j->table. */
void command_own_opts(const struct command *c, struct opt_join *j);
/* Prepare options, all zero; opt_parse(o->table, o->values, ...) fills both. */
void command_opts_init(struct command_opts *o, const struct command *c);
void command_opts_release(struct command_opts *o);

const struct command *command_find(const char *name);	/* NULL: none */
/* Return the known command nearest to a mistyped one, or NULL. */
const char *command_nearest(const char *name);
/* Return a hint for users of a command's name in perf(1) and similar tools, or NULL. */
const char *command_elsewhere(const char *name);
#define DEFAULT_INPUT "arcprof.data"
/*
 * Find the file that a command reads, which may be named without --input, and not beside --import (NULL:
 * there is none). Return 0, or EXIT_USAGE after reporting an error.
 */
int command_input(const char **input, const char *import, int nr_operands, char **operands);
/* Check the same for a command whose arguments are other things. */
int command_check_input(const char *input, const char *import);
/* Search the folder of --symfs from now on; NULL: none. Return 0, or EXIT_USAGE after reporting an error. */
int command_symfs(const char *dir);
/* Print "usage: ..." and the options, as -h shows them. */
void command_print_help(const struct command *c, FILE *out);
/* Print what "arcprof --help" prints: usage, commands by group, global options. */
void arcprof_print_help(FILE *out);

/*
 * Says on stderr what of the trace at path could not be read.  Returns the exit status: 0 when all of
 * it could, to its end.
 */
struct trace_damage;
int warn_of_damage(const char *path, const struct trace_damage *d);

/*
 * Print the pages of the manual that belong to no command, as "arcprof help" takes their names, a line
 * each.
 */
void help_print_pages(FILE *out);

/* Run a whole command line, as main() does, in a process that ends then.  Returns its exit status. */
int arcprof_run(int argc, char **argv);

/*
 * Run "arcprof --dump <what> [<command>]": print what the tables say, for the Makefile and the completions.
 */
int describe(int argc, char **argv);
/*
 * Print a part of the manual pages that is made of the tables, such as "record-synopsis". Returns false
 * if no part has that name.
 */
bool describe_part(const char *name, FILE *out);

extern const struct command cmd_record, cmd_report, cmd_diff, cmd_budget, cmd_merge, cmd_view, cmd_query,
	cmd_top, cmd_tprof, cmd_aboveidle, cmd_msr, cmd_cpi, cmd_mpevt, cmd_ptt, cmd_itrace, cmd_calibrate,
	cmd_ctl, cmd_dump, cmd_export, cmd_fleet, cmd_doctor, cmd_heap, cmd_threads, cmd_memory,
	cmd_agent, cmd_mcp, cmd_help, cmd_version;

#endif
