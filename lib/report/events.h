/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.h - what the reports of events share: how they are read, and their first line. */
#ifndef REPORT_EVENTS_H
#define REPORT_EVENTS_H

#include <stdio.h>

#include "base/json.h"
#include "model/events.h"
#include "model/select.h"
#include "model/tallies.h"
#include "report/report.h"
#include "report/sheet.h"

/* for struct report */
#define FOLLOWS_EVENTS FOLLOWS_THREADS FOLLOWS_GROUPS FOLLOWS_TIMES
extern const struct report_reason event_reasons[];
/* Read the events that the report's options select; this releases *v on failure. */
int event_report_read(struct events *v, struct events_opts *eo, uint32_t kinds, struct trace_reader *t,
		      const struct report_opts *o, struct err *e);
/* Print what was recorded, how much, and what is missing. */
void event_report_head(const struct events *v, FILE *out);
/* Write the same in JSON, opening an object. */
void event_report_json(const struct events *v, struct json *j, const char *report);
/* Print a line for each thing that could not be recorded: the labels "refused.N". */
void event_put_refused(const struct names *x, FILE *out);
/* Append "15.0 MiB", "976 B". */
void event_put_bytes(struct buf *b, uint64_t bytes);

/* ---- loads.c: what --classes and --gc show below their rows, in text and JSON ---- */

/* Print which methods classes were loaded for, and which took longest. */
void loads_put(const struct events *v, struct sheet *s);
/* Print which threads were last at safepoints, if that was recorded. */
void lasts_put(const struct events *v, struct sheet *s);

/* ---- what JVMs count of themselves, in the heads of reports of what was recorded of that ---- */

/* Print tallies of a kind (enum tally_kind), of the processes selected: a line each; the array "counted". */
void tallies_put(const struct tallies *t, uint32_t kind, const struct selection *select, FILE *out);
void tallies_json(const struct tallies *t, uint32_t kind, const struct selection *select, struct json *j);

#endif
