/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input.h - the file that a command reads: a trace, or with --import a profile of another program. */
#ifndef CMD_INPUT_H
#define CMD_INPUT_H

#include "base/opt.h"
#include "trace/reader.h"

struct walk;

/* The row of --import, for the struct member of that name. */
#define OPT_IMPORT(s, member)                                            \
	OPT_STR(0, "import", s, member, "file", NULL,                    \
		"read the profile <file> of another program instead: perf.data, folded, and others")

/*
 * Opens the trace at path, or the segments of a recording in the folder at path as one, or the journal there
 * (jvm/journal.h), or, if import is not NULL, the profile there as a trace. The error of a path that is such
 * a profile has a hint.
 */
int input_open(struct trace_reader **t, const char *path, const char *import, struct err *e);
/* Open a file of either kind, for commands with several. */
int input_open_any(struct trace_reader **t, const char *path, struct err *e);
struct model;

/* parses the model of a text: input_events(), input_stacks() or input_tree() */
typedef int input_parse(struct model *m, const char *data, size_t len, struct err *e);
int input_text(struct model *m, const char *path, input_parse *parse, struct err *e);
/* Open it as input_open() does, to be read chunk by chunk. */
int input_walk(struct walk **w, const char *path, const char *import, struct err *e);

#endif
