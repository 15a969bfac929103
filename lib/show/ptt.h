/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ptt.h - prints snapshots of "arcprof ptt" as text, CSV or JSON. */
#ifndef SHOW_PTT_H
#define SHOW_PTT_H

#include "base/opt.h"
#include "ptt/ptt.h"
#include "report/sheet.h"

enum { PTT_NAME_LEN = 40 };

struct ptt_show {
	FILE *out;
	int format;			/* enum format_id */
	bool cpi, cpus, alive;		/* alive: leave out threads that have ended */
	bool all_ended;			/* of a program that has: no need to say it of each thread */
	const char *backend;
	char counters[PTT_MAX_COUNTERS][PTT_NAME_LEN];
	size_t nr_counters;
	int *fields;			/* columns, of enum ptt_field */
	size_t nr_fields;
	int sort;			/* enum ptt_field, or PTT_BY_* */
	bool ascending;
	struct sheet_choice choice;	/* columns alone: sort is that of processes and threads, too */
	const int *pids;		/* only these; none: all */
	size_t nr_pids;
	struct sheet sheet;
	struct sheet_column *columns;	/* [nr_columns] */
	struct cell *cells;		/* of a row */
	size_t nr_columns;
	uint64_t unix_ns;		/* of the snapshot that is shown */
	uint64_t nr_printed;
};

enum { PTT_BY_PID = -1, PTT_BY_TID = -2, PTT_BY_NAME = -3 };

/*
 * Fills counters, fields and sort: of what s knows, the columns that list names, or all.
 * -EINVAL: the metric is unknown, or the session does not measure it.
 */
int ptt_show_init(struct ptt_show *sh, struct ptt *p, const struct ptt_snapshot *s,
		  const struct opt_list *columns, const char *sort, struct err *e);
void ptt_show_release(struct ptt_show *sh);

void ptt_show_start(struct ptt_show *sh);
void ptt_show_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s);
void ptt_show_end(struct ptt_show *sh);

/*
 * Number of a field whose name users write ("time", "dispatches"), or -1: it is not a name of those
 * before PTT_COUNTER.
 */
int ptt_field_named(const char *name);
const char *ptt_field_name(int field);

#endif
