/* SPDX-License-Identifier: GPL-2.0-or-later */
/* train_trace.h - reads from a call trace of the trainer what counting costs from one event to the next. */
#ifndef CMD_TRAIN_TRACE_H
#define CMD_TRAIN_TRACE_H

#include "trace/calls.h"
#include "train.h"

struct trace_reader;

/*
 * The costs of each metric, as the trace numbers them; calls: of each loop in a turn. -ENODATA: the trainer's
 * calls are not in the trace.
 */
int train_read_trace(const struct training *t, struct trace_reader *reader, uint32_t calls,
		     struct calibration_cost out[static CALL_MAX_METRICS], struct err *e);

#endif
