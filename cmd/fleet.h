/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.h - between fleet.c and what it is made of: fleet_push.c owns the spool (spool.h). */
#ifndef CMD_FLEET_H
#define CMD_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "fleet/fetch.h"
#include "fleet/http.h"
#include "fleet/prune.h"
#include "folder.h"
#include "report/sheet.h"

struct fleet_opts {
	const char *spool, *metric, *where, *since, *until, *output, *against;
	uint64_t retry_ns, every_ns, timeout_ns, max_answer, earlier_ns, spool_size;
	uint64_t shift_ns;		/* how much earlier --since and --until are meant; no option */
	bool merge_numbers, otlp;
	const char *listen, *token_file;
	uint64_t max_request;
	bool xprof;
	const char *function;
	struct opt_list labels;
	int table;			/* index in fleet_tables[] */
	uint64_t keep_nodes_ns, keep_hours_ns, keep_days_ns;	/* 0: all */
	uint64_t limit;
	struct sheet_choice choice;
	int format;
};

/* The server of that URL, with the bounds that the options set it. */
struct http_server fleet_server(const struct fleet_opts *o, const char *url);

/* Get --since and --until, in seconds since 1970, earlier by shift_ns; 0: not given. */
int fleet_times(const struct fleet_opts *o, uint64_t *since_s, uint64_t *until_s, struct err *e);

/* --table: nodes first, which has the rows of recordings; NULL at the end. */
extern const char *const fleet_tables[];

/*
 * Appends the condition that --where and --label make together, for a server or for a folder (fleet/where.h);
 * nothing without them. -EINVAL: not a label.
 */
int fleet_condition(struct buf *b, const struct fleet_opts *o, bool of_server, struct err *e);

/*
 * Find which of a server's rows the options choose. where is the caller's to release, and f has a
 * pointer into it.
 */
int fleet_choose(const struct fleet_opts *o, const struct http_server *server, struct fetch *f,
		 struct buf *where, struct err *e);

/* Fetches from a URL or a folder into output; returns the exit status. */
int fleet_fetch(const struct fleet_opts *o, const char *from, const char *output);

/*
 * Run the commands that fetch and show the result. operands: the URL or folder, then options. Return the exit
 * status.
 */
int fleet_report(const struct fleet_opts *o, int nr_operands, char **operands);
int fleet_diff(const struct fleet_opts *o, int nr_operands, char **operands);
int fleet_view(const struct fleet_opts *o, int nr_operands, char **operands);
int fleet_budget(const struct fleet_opts *o, int nr_operands, char **operands);

/* Shows what the server makes itself: a flat profile, or the stanza of a function. */
int fleet_ask(const struct fleet_opts *o, const struct http_server *server, struct err *e);

/*
 * Spool the traces, then send everything in the spool. operands: the URL, then traces. Return the exit
 * status.
 */
int fleet_push(const struct fleet_opts *o, int nr_operands, char **operands);

/* Drops old rows of a server. operands: the URL. Exit status. */
int fleet_prune(const struct fleet_opts *o, int nr_operands, char **operands);

#endif
