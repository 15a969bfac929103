// SPDX-License-Identifier: GPL-2.0-or-later
/* export_stacks.c - stacks as a tree, in which what is inlined is a frame of its own. */
#include <string.h>

#include "base/mem.h"
#include "report/export.h"

void export_stacks_init(struct export_stacks *s, struct export *x)
{
	memset(s, 0, sizeof(*s));
	s->x = x;
	s->at = xcalloc(x->v->m->flow.nr_nodes, sizeof(*s->at));
}

void export_stacks_release(struct export_stacks *s)
{
	map_release(&s->number_of);
	free(s->list);
	free(s->at);
}

static uint32_t export_stacks_add_stack(struct export_stacks *s, uint32_t caller, uint32_t location)
{
	uint32_t *at = map_put(&s->number_of, (uint64_t)caller << 32 | location);

	if (*at == MAP_NONE) {
		*VEC_ADD(s->list, s->nr_list, s->alloc_list) = (struct export_stack){ caller, location };
		*at = s->nr_list;
	}
	return *at;
}

uint32_t export_stack(struct export_stacks *s, uint32_t node)
{
	const struct view *v = s->x->v;
	const struct flow_node *nodes = v->m->flow.nodes;
	uint32_t at, caller, unused;

	while (!s->at[node]) {
		/* the outermost that has none: each needs that of its caller */
		for (at = node;; at = caller) {
			caller = nodes[at].parent;
			if (!caller || export_is_root(v, nodes[caller].consumer)) {
				caller = FLOW_NONE;
				break;
			}
			if (s->at[caller])
				break;
		}
		s->at[at] = export_stacks_add_stack(s, caller ? s->at[caller] : 0,
						    export_location(s->x, at, &unused));
	}
	return s->at[node];
}
