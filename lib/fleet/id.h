/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * id.h - what functions and contexts are called in tables: 64-bit numbers that every arcprof gives them,
 * on every machine.  Documentation/technical/fleet.adoc defines them and has test vectors; they never
 * change.
 *
 * They are SipHash-2-4 with the key 0, as signed numbers, because not every engine has others. 0 is none.
 */
#ifndef FLEET_ID_H
#define FLEET_ID_H

#include "base/buf.h"

/* The name of the function, of kind mark, that stands for what threads and processes consumed themselves. */
#define FLEET_OWN "[thread]"

/* Return the id of a function, made of the fleet_text() of what same_identify() (model/same.h) returns. */
int64_t fleet_func(const char *kind, const char *module, const char *name, const char *detail);
/* Return the id of a context, made of its parent's path (0: the parent is a thread) and its function. */
int64_t fleet_path(int64_t parent, int64_t func);
/* Return the id of a recording, made of any bytes. */
int64_t fleet_trace(const void *data, size_t len);

/*
 * Set *b to s as tables store it: control characters, backslashes and invalid UTF-8 become '?', so that
 * no engine needs escapes.
 */
void fleet_text(struct buf *b, const char *s);

#endif
