/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - what "arcprof calibrate" found, in a text file: a row for each metric of each set of metrics,
 * by client and CPU.
 *
 *	client <tab> CPU <tab> metrics <tab> metric <tab> within <tab> between <tab> spread <tab> used
 *
 * The costs are thousandths of the metric's unit a call: within is charged to the function that is
 * called, between to its caller. spread is by how much the median of the runs exceeds the lowest, which
 * was taken, in thousandths; used is 1 when that is little, or was accepted. "#" begins a
 * comment. The trace has "within between spread".
 */
#ifndef CALIBRATE_TABLE_H
#define CALIBRATE_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { CALIBRATION_NAME = 128, CALIBRATION_STABLE = 200 };	/* spread up to which a metric is stable */

struct calibration_cost {
	uint64_t within, between, spread;
};

struct calibration_row {
	char client[CALIBRATION_NAME], cpu[CALIBRATION_NAME], metrics[CALIBRATION_NAME], metric[CALIBRATION_NAME];
	struct calibration_cost cost;
	bool used;
};

struct calibration {
	struct calibration_row *rows;
	size_t nr_rows, alloc_rows;
};

void calibration_release(struct calibration *c);
/* -EINVAL with the line's number; what came before it stays. */
int calibration_parse(struct calibration *c, const char *text, size_t len, struct err *e);
/* In place of the row with the same names, or a new one. */
void calibration_put(struct calibration *c, const struct calibration_row *r);
/* NULL: not measured. */
const struct calibration_row *calibration_find(const struct calibration *c, const char *client, const char *cpu,
					       const char *metrics, const char *metric);
/* "within between spread"; false: that is not what the text says. */
bool calibration_cost(const char *text, struct calibration_cost *out);

/* $XDG_DATA_HOME/arcprof/calibration, or in ~/.local/share; -ENOENT: there is no home. */
int calibration_path(struct buf *path, struct err *e);
/* A file that is not there is an empty table. */
int calibration_load(struct calibration *c, const char *path, struct err *e);
/* Replaces the file as a whole; folders are made. */
int calibration_store(const struct calibration *c, const char *path, struct err *e);

/* This machine's processor, and the hooks that this arcprof has: their names in the table. */
void calibration_cpu(char *out);
void calibration_hookit(char *out);
/* The trainer's bytes; *len 0: this build has none. */
const void *calibration_trainer(size_t *len);

#endif
