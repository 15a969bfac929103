// SPDX-License-Identifier: GPL-2.0-or-later
/* f-roster.c - any bytes as the objects of a record "roster", and their frames as those of allocations. */
#include <stdlib.h>

#include "model/blame.h"
#include "trace/roster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct resolve_opts no_files = { .no_files = true };
	uint32_t contexts = 0;
	struct roster_object o;
	struct roster_walk w;
	struct names names;
	struct blame b = { .names = &names, .what = BLAME_METHOD };
	struct model m;
	size_t nr = 0;

	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&names, &m, &no_files);
	roster_walk(&w, data, len);
	while (roster_next(&w, &o)) {
		/* an object takes two bytes at least, and a frame five */
		if (++nr > len / 2 || w.nr_frames > len / 5)
			abort();
		if (w.nr_contexts != contexts)
			blame_frames(&b, w.frames, w.nr_frames, 0);
		contexts = w.nr_contexts;
	}
	roster_walk_release(&w);
	names_release(&names);
	model_release(&m);
	return 0;
}
