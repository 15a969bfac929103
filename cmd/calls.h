/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - turns the options about call trees into a recording's settings.
 */
#ifndef CMD_CALLS_H
#define CMD_CALLS_H

#include "base/opt.h"
#include "collect/calls/callflow.h"
#include "collect/calls/callrules.h"

/* Options of these names. */
struct calls_opts {
	const char *callflow;		/* the filter; NULL: not given, "" without a list */
	const char *config;		/* file, or NULL */
	struct buf config_text;		/* what it has, once calls_load_config() has read it; the caller's */
	struct opt_list metrics;
	uint64_t call_memory;		/* bytes of tree per process */
	uint64_t call_depth;
	const char *call_prune;		/* "percent[/time]"; NULL: contexts stay while there is memory */
	uint64_t snapshot_ns;
	bool calltrace;			/* every event, too */
	struct opt_list traces;		/* of the events, only these */
	bool precise_time;		/* CALLFLOW_PRECISE */
	bool call_tier;			/* CALLFLOW_TIERS */
	bool call_sites;		/* CALLFLOW_SITES */
};

enum { CALLS_LABELS = 1 << 16 };	/* sets of labels of threads that calls can have, a process */

/* Return whether call trees are requested. */
bool calls_wanted(const struct calls_opts *c);
/* Fills *o; rules and slow own what it points to. -EINVAL or -errno: what is wrong with the options. */
int calls_prepare(const struct calls_opts *c, struct callflow_opts *o, struct callrules *rules,
		  struct slow_rules *slow, struct err *e);

/* Reads the file once, as it may be a pipe. */
int calls_load_config(struct calls_opts *c, struct err *e);
/* Parse rules: those of methods and threads go to *rules, those of events to rules->events. */
int calls_take_rules(const struct calls_opts *c, struct callrules *rules, struct err *e);
/* Parse both from a file. */
int calls_read_config(const char *path, struct callrules *rules, struct err *e);

#endif
