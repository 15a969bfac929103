// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - collapsed stacks, for flame graph tools: a line for each context with a base,
 * "process;thread;outer;inner value".
 *
 * The format has no escapes.  Readers split the line at its last blank and the rest at each ';', and
 * some take a second number before the value for the value of a profile to compare with; so no
 * name has a ';', nor ends in a blank and a number.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/report.h"

struct folded {
	const struct view *v;
	struct buf path, name, escaped;
	struct open_context {
		uint32_t node;
		size_t len;	/* of the path to it */
	} *open;
	size_t nr_open, alloc_open;
};

/* Appends the name of a frame. */
static void put_frame(struct folded *x, uint32_t consumer)
{
	size_t start = x->path.len, end, i;

	buf_reset(&x->name);
	view_name(x->v, consumer, &x->name);
	buf_str(&x->path, quote_str(&x->escaped, x->name.data ? x->name.data : ""));
	for (i = start; i < x->path.len; i++)
		if (x->path.data[i] == ';')
			x->path.data[i] = ':';
	for (end = x->path.len; end > start && strchr("0123456789.", x->path.data[end - 1]); end--)
		;
	if (end < x->path.len && end > start && x->path.data[end - 1] == ' ')
		x->path.data[end - 1] = '_';
}

/* Makes the path that of the node, which comes after its parent and the subtrees of its older siblings. */
static void enter_node(struct folded *x, uint32_t node)
{
	const struct flow_node *n = &x->v->m->flow.nodes[node];

	while (x->nr_open && x->open[x->nr_open - 1].node != n->parent)
		x->nr_open--;
	x->path.len = x->nr_open ? x->open[x->nr_open - 1].len : 0;
	if (x->nr_open)
		buf_putc(&x->path, ';');
	put_frame(x, n->consumer);
	*VEC_ADD(x->open, x->nr_open, x->alloc_open) = (struct open_context){ node, x->path.len };
}

int folded_print(struct view *v, FILE *out, struct err *e)
{
	const struct flow *f = &v->m->flow;
	unsigned int metric = v->o->sort_metric, source = v->m->metrics[metric].source;
	bool by_n = !v->total[metric];
	struct folded x = { .v = v };
	uint64_t value;
	uint32_t i;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		enter_node(&x, i);
		value = by_n ? model_node_n(v->m, source, i) : flow_base(f, i)[metric];
		if (value)
			fprintf(out, "%s %" PRIu64 "\n", x.path.data, value);
	}
	free(x.open);
	buf_release(&x.path);
	buf_release(&x.name);
	buf_release(&x.escaped);
	return 0;
}
