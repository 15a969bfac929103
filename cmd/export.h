/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export.h - traces as rows of tables, for export and fleet. */
#ifndef CMD_EXPORT_H
#define CMD_EXPORT_H

#include "base/opt.h"
#include "fleet/table.h"

/*
 * Adds the trace at path: 0, 1 if it was damaged, which has been said, or -errno. *rec gets its number and
 * its start, and no host. No metrics: all of them.
 */
int export_trace(struct fleet_table *t, const char *path, const struct opt_list *metrics, bool calibrate,
		 struct fleet_recording *rec, struct err *e);

/* The number of a recording: of the bytes of its file, wherever it lies. */
int trace_number(const char *path, int64_t *id, struct err *e);

#endif
