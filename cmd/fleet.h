/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.h - between fleet.c and fleet_push.c, which owns the spool (spool.h). */
#ifndef CMD_FLEET_H
#define CMD_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "folder.h"

struct fleet_opts {
	const char *spool, *metric, *where, *since, *until, *output;
	uint64_t retry_ns, every_ns;
	bool digits, otlp;
	bool xprof;
	const char *function;
	uint64_t limit;
	int format;
};

/* --since and --until, in seconds since 1970; 0: not given. */
int fleet_times(const struct fleet_opts *o, uint64_t *since_s, uint64_t *until_s, struct err *e);

/* Shows what the server makes itself: a flat profile, or the stanza of a function. */
int fleet_ask(const struct fleet_opts *o, const char *url, struct err *e);

/* Spools the traces, then sends all that is in the spool. operands: the URL, then traces. Exit status. */
int fleet_push(const struct fleet_opts *o, int nr_operands, char **operands);

#endif
