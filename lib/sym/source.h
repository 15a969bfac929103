/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - the text of a source file, where this machine has it. */
#ifndef SYM_SOURCE_H
#define SYM_SOURCE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/opt.h"

struct source {
	char *path;			/* where it was found; NULL: it was not */
	uint64_t mtime_ns;		/* CLOCK_REALTIME, of its last change */
	struct buf text;
	uint32_t *starts;		/* [line - 1]: where it begins in text */
	size_t nr_lines, alloc_lines;
};

/*
 * Finds the file that a compiler calls name, which may be relative, and of Java has no folder: package is
 * then that of the class ("java/util"), else "".  In dirs each end of its path is tried, the longest first;
 * then the path as it is.  Only regular files of up to 16 MiB are read.
 */
void source_open(struct source *s, const char *name, const char *package, const struct opt_list *dirs);
/* Open a file in dirs alone, and below them: "../passwd" is not found. For names that others chose. */
void source_open_below(struct source *s, const char *name, const char *package, const struct opt_list *dirs);
void source_release(struct source *s);
/* Copy line nr, counted from 1, as a string without its newline to *line; return false if there is none. */
bool source_line(const struct source *s, uint32_t nr, struct buf *line);

#endif
