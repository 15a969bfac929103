/* SPDX-License-Identifier: MIT */
/* emit.h - events with named values, for the half of arcprof.Event that is native. */
#ifndef API_EMIT_H
#define API_EMIT_H

#include <stddef.h>
#include <stdint.h>

struct arcprof_event_kind;

/*
 * vthread: the id of the virtual thread that it is of, 0: the current one. begun 0: a mark of this moment.
 * values: len bytes, fields without their names: a byte with the type, or 0, no value; then 8 bytes, or a
 * length of 2 bytes and a text. What does not hold together is not emitted.
 */
void arcprof_emit_values(const struct arcprof_event_kind *k, uint64_t vthread, uint64_t begun,
			 const void *values, size_t len);

#endif
