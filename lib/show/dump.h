/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.h - the records of a trace as they are, as "arcprof dump" shows them. */
#ifndef SHOW_DUMP_H
#define SHOW_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/walk.h"

struct dump_opts {
	uint32_t majors[16];		/* only records with these codes; none: all but the schema */
	size_t nr_majors;
	bool chunks;			/* the chunks in place of their records */
	bool schema;			/* only what describes records; the code of these is in majors */
	bool raw;			/* and the bytes of each record */
	int format;			/* FORMAT_TEXT or FORMAT_JSON */
};

/*
 * Print the whole trace to out. Damage is shown where it is; walk_damage() has the sum. Negative when reading
 * failed, *e is filled then.
 */
int dump_print(struct walk *walk, const struct dump_opts *o, FILE *out, struct err *e);

#endif
