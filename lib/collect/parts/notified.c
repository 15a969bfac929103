// SPDX-License-Identifier: GPL-2.0-or-later
/* notified.c - sums which threads woke which others by notify(). */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/locks.h"

enum { MAX_ROWS = 1 << 16 };	/* those of further threads become one row for each lock */

static struct notified_row *notified_row_of(struct notified *n, const struct notified_row *key)
{
	uint64_t lock = hash_pair((uint64_t)key->proc << 32 | key->function, key->identity);
	uint32_t *at = map_put(&n->by_key, hash_pair(lock, (uint64_t)key->notifier << 32 | key->waiter));

	if (*at == MAP_NONE) {
		VEC_GROW(n->rows, n->nr, n->alloc);
		n->rows[n->nr] = *key;
		n->rows[n->nr].n = n->rows[n->nr].ns = 0;
		*at = n->nr++;
	}
	return &n->rows[*at];
}

void notified_add(struct notified *n, const struct notified_row *wait)
{
	struct notified_row key = *wait, *row;

	if (n->nr >= MAX_ROWS)
		key.notifier = key.waiter = 0;
	row = notified_row_of(n, &key);
	row->n += wait->n;
	row->ns += wait->ns;
}

void notified_write(struct notified *n, struct collect *c)
{
	size_t i;

	for (i = 0; i < n->nr; i++) {
		const struct notified_row *r = &n->rows[i];

		trace_write_lock_notified(c->w, &(struct rec_lock_notified){
			.time_ns = clock_mono_ns(), .proc = r->proc, .function = r->function,
			.identity = r->identity, .notifier = r->notifier, .waiter = r->waiter, .n = r->n,
			.waited_ns = r->ns,
		});
	}
	n->nr = 0;
	map_reset(&n->by_key);
}

void notified_release(struct notified *n)
{
	map_release(&n->by_key);
	free(n->rows);
}
