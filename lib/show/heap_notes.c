// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_notes.c - collects and prints what is wrong with a heap dump (heap.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "show/heap.h"

void heap_add_note(struct heap_notes *n, char *text)
{
	n->items[n->nr++] = text;
}

void heap_notes_release(struct heap_notes *n)
{
	while (n->nr)
		free(n->items[--n->nr]);
}

static void note_damage(struct heap_notes *n, const struct heap *h)
{
	if (h->damage.truncated)
		heap_add_note(n, xasprintf("the dump is truncated at byte %zu: objects behind that are missing",
				      h->dump.len));
	if (h->damage.nr)
		heap_add_note(n, xasprintf("%" PRIu64 " damaged place%s, the first at byte %" PRIu64 ": %" PRIu64 " bytes were skipped",
				      h->damage.nr, plural(h->damage.nr), h->damage.first_at,
				      h->damage.bytes));
	if (h->ids.nr_odd)
		heap_add_note(n, xasprintf("%" PRIu64 " object%s with ids unlike those of all others: left out",
				      h->ids.nr_odd, plural(h->ids.nr_odd)));
	if (h->ids.nr_twice)
		heap_add_note(n, xasprintf("%" PRIu64 " object%s with the id of another one: left out",
				      h->ids.nr_twice, plural(h->ids.nr_twice)));
	if (h->nr_classless)
		heap_add_note(n, xasprintf("%" PRIu64 " object%s of classes that the dump does not have",
				      h->nr_classless, plural(h->nr_classless)));
}

static const char assumed_layout[] = "the ids of its objects are no addresses, which would tell sizes: sizes are those of HotSpot with compressed references (headers of 12 bytes, references of 4, multiples of 8)";

static void note_sizes(struct heap_notes *n, const struct heap *h)
{
	if (h->layout.assumed)
		heap_add_note(n, xstrdup(assumed_layout));
}

void heap_note_dump(struct heap_notes *n, const struct heap *h)
{
	note_damage(n, h);
	note_sizes(n, h);
}

void heap_warn(const char *path, const struct heap *h)
{
	struct heap_notes n = { .nr = 0 };
	size_t i;

	heap_note_dump(&n, h);
	for (i = 0; i < n.nr; i++)
		log_warn("%s: %s", path, n.items[i]);
	heap_notes_release(&n);
}
