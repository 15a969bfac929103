/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - gathers the records of a chunk. Each begins with records_begin(), gets its
 * payload by the buf_ functions on b, and is complete with records_end().
 */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "trace/format.h"

struct records {
	const char *type;		/* of the chunk, TRF_META and the like */
	struct buf b;
	uint64_t first_ns, last_ns;
	uint32_t nr;
	uint32_t stream;
	uint32_t flags;		/* of the chunk: TRF_STANDING, or 0 */
};

/* Begin a record; return where it begins. */
size_t records_begin(struct records *p, uint16_t major, uint32_t minor, uint64_t time_ns);
/* Pad the record begun at "at" and fill in its length; return false if it was too long to keep. */
bool records_end(struct records *p, size_t at, enum trf_type type);
void records_str(struct records *p, const char *s, size_t len);
/* Count a record that was added whole. */
void records_note(struct records *p, uint64_t time_ns);
void records_reset(struct records *p);

#endif
