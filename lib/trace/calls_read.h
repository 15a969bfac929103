/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls_read.h - decodes call tree records for the reader; table.h has the rest. */
#ifndef TRACE_CALLS_READ_H
#define TRACE_CALLS_READ_H

#include "trace/reader.h"
#include "trace/walk.h"

struct calls_reader {
	struct call_node *nodes;
	struct call_value *values;
	struct call_event *events;
	size_t alloc_nodes, alloc_values, alloc_events;
};

void calls_reader_release(struct calls_reader *c);
/* Returns what the sink's callback returned, or 0 without one; sets *bad when the record is invalid. */
int calls_decode(struct calls_reader *c, struct walk_record *r, const struct trace_sink *sink, void *ctx,
		 bool *bad);

#endif
