/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splice_calls.h - call trees of the segments of a recording, as those of one file.
 *
 * Each segment numbers the nodes of a tree anew, and has of everything else what was added in it: nodes get
 * the numbers behind those of the segments before, and what is counted for a tree is added up. A context
 * that several segments have is there several times, which means the same as once. The calls with which
 * the events of a segment begin are left out if they are those with which the segment before ended, and so
 * is what that said of them at its end.
 */
#ifndef TRACE_SPLICE_CALLS_H
#define TRACE_SPLICE_CALLS_H

#include "trace/records.h"
#include "trace/walk.h"

struct splice_calls;

struct splice_calls *splice_calls_new(void);
void splice_calls_free(struct splice_calls *s);
/*
 * Appends the records of a chunk of calls. False: some of it makes no sense, or is more than there are
 * numbers for, and is left out.
 */
bool splice_calls_chunk(struct splice_calls *s, const uint8_t *raw, size_t len, struct records *out);
/* End the segment. */
void splice_calls_next(struct splice_calls *s);
/* End, appending what was held back. */
void splice_calls_end(struct splice_calls *s, struct records *out);

#endif
