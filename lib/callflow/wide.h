/* SPDX-License-Identifier: MIT */
/*
 * wide.h - the children of nodes with many: one table a thread, (parent, consumer) -> node.
 * The pair (parent, 0) says that all children of parent are in it.
 */
#ifndef CALLFLOW_WIDE_H
#define CALLFLOW_WIDE_H

#include <stdbool.h>
#include <stdint.h>

struct callflow_wide;

struct callflow_wide *wide_new(void);				/* NULL: no memory */
void wide_free(struct callflow_wide *w);			/* may be NULL */
/* Return the child of this consumer, or 0; w may be NULL. */
uint32_t wide_find(const struct callflow_wide *w, uint32_t parent, uint32_t consumer);
bool wide_add(struct callflow_wide *w, uint32_t parent, uint32_t consumer, uint32_t node);

#endif
