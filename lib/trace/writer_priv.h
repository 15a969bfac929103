/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writer_priv.h - what meta.c and calls.c need of writer.c. */
#ifndef TRACE_WRITER_PRIV_H
#define TRACE_WRITER_PRIV_H

#include "trace/carry.h"
#include "trace/codec.h"
#include "trace/records.h"
#include "trace/writer.h"

/* Return where records other than samples go, or NULL after a failure; then one more is lost. */
struct records *writer_meta(struct trace_writer *w);
/* Return the same for what an instruction trace is made of. */
struct records *writer_branches(struct trace_writer *w);
/* Return the same for call trees, which have chunks of their own. */
struct records *writer_calls(struct trace_writer *w);
/* Return false if the file has all that it may have of samples and events of calls (file_bytes). */
bool writer_has_room(const struct trace_writer *w);
/* Ends the record begun at "at" and writes what is due. */
void writer_finish(struct trace_writer *w, struct records *p, size_t at, enum trf_type type);
/* Return where the records that later files need are kept, or NULL if there are no later files. */
struct carry *writer_carry(const struct trace_writer *w);
bool writer_keeps(const struct trace_writer *w);
/* Time for records that have none of their own: the latest sample's. */
uint64_t writer_now(const struct trace_writer *w);
/* Write any record of the table. */
void trace_write_record(struct trace_writer *w, const struct record_kind *k, const void *rec);

#endif
