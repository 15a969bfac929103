/* SPDX-License-Identifier: MIT */
/* native.h - what the native halves of Java classes (jni/) need of the library, beside arcprof.h. */
#ifndef API_NATIVE_H
#define API_NATIVE_H

#include <stddef.h>
#include <stdint.h>

struct arcprof_event_kind;
struct arcprof_recorder;

/* ---- arcprof.Label, which keeps labels itself: label.c ---- */

/*
 * Set the labels of the calling thread or (vthread not 0) of the virtual thread that it carries. nr: 1 at
 * first, and one more each time, for each of them.
 */
void arcprof_label_put(const struct arcprof_recorder *m, uint32_t nr, uint64_t vthread, const char *text,
		       size_t len);

/* ---- arcprof.Mark, of virtual threads: mark.c ---- */

/* Mark; vthread: the id of the virtual thread that the current one carries; 0: the current one. */
void arcprof_mark_of(uint64_t vthread, const char *name, uint64_t value);
void arcprof_phase_of(uint64_t vthread, uint64_t begun, const char *name);

/* ---- arcprof.Event, events with named values: emit.c ---- */

/*
 * vthread: the id of the virtual thread that it is of, 0: the current one. begun 0: a mark of this moment.
 * values: len bytes, fields without their names: a byte with the type, or 0, no value; then 8 bytes, or a
 * length of 2 bytes and a text. What does not hold together is not emitted.
 */
void arcprof_emit_values(const struct arcprof_event_kind *k, uint64_t vthread, uint64_t begun,
			 const void *values, size_t len);

#endif
