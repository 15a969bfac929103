/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notified.h - which threads ended waits of which others by notify(), lock by lock; zeroed to begin with. */
#ifndef COLLECT_NOTIFIED_H
#define COLLECT_NOTIFIED_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct collect;

struct notified {
	struct map by_key;		/* lock and threads -> index */
	struct notified_row {
		uint32_t proc, function, identity;	/* the lock */
		uint32_t notifier, waiter;		/* threads */
		uint64_t n, ns;				/* waits */
	} *rows;
	size_t nr, alloc;
};

void notified_add(struct notified *n, const struct notified_row *wait);
/* A file is at its end: write its rows and begin anew. */
void notified_write(struct notified *n, struct collect *c);
void notified_release(struct notified *n);

#endif
