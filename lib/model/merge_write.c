// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * merge_write.c - writes a merged model as a trace.
 *
 * Everything is in an order that follows from names alone, so that the same result is written the same way
 * however it came about: metrics (times first), children, consumers (as they turn up), recordings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/order.h"
#include "model/merge.h"
#include "trace/writer.h"

enum { NODES_BYTES = 64 << 10 };	/* of a record */

struct out {
	const struct model *m;
	struct trace_writer *w;
	unsigned int sources[FLOW_MAX_METRICS], metrics[FLOW_MAX_METRICS];	/* of the model, in order */
	uint32_t *numbers;		/* [consumer]; 0: not written yet */
	uint32_t nr_consumers, nr_nodes;
	struct rec_tree_nodes nodes;	/* being filled */
	struct buf b;
};

/* ---- order ---- */

/* Calls come first. */
static int compare_sources(const void *p, const void *q, void *ctx)
{
	const struct model *m = ctx;
	const struct model_source *a = &m->sources[*(const unsigned int *)p],
				  *b = &m->sources[*(const unsigned int *)q];

	if (a->kind != b->kind)
		return a->kind == FLOW_CALLS ? -1 : 1;
	return strcmp(model_str(m, a->name), model_str(m, b->name));
}

static bool metric_is_time(const struct model *m, const struct model_metric *x)
{
	return !strcmp(model_str(m, x->unit), "ns");
}

/* Order metrics so that those of a source are together. */
static int compare_metrics(const void *p, const void *q, void *ctx)
{
	const struct model *m = ctx;
	const struct model_metric *a = &m->metrics[*(const unsigned int *)p],
				  *b = &m->metrics[*(const unsigned int *)q];
	int r = compare_sources(&a->source, &b->source, ctx);

	if (r)
		return r;
	if (metric_is_time(m, a) != metric_is_time(m, b))
		return metric_is_time(m, a) ? -1 : 1;
	r = strcmp(model_str(m, a->name), model_str(m, b->name));
	return r ? r : strcmp(model_str(m, a->unit), model_str(m, b->unit));
}

static void set_order(struct out *o)
{
	unsigned int i;

	for (i = 0; i < o->m->nr_sources; i++)
		o->sources[i] = i;
	for (i = 0; i < o->m->nr_shown; i++)
		o->metrics[i] = i;
	qsort_r(o->sources, o->m->nr_sources, sizeof(*o->sources), compare_sources, (void *)o->m);
	qsort_r(o->metrics, o->m->nr_shown, sizeof(*o->metrics), compare_metrics, (void *)o->m);
}

static int compare_strings(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int merge_write_compare_parts(const void *p, const void *q)
{
	const struct recording *a = p, *b = q;

	return COMPARE(a->start_ns, b->start_ns) ?: compare_strings(a->host, b->host) ?:
	       compare_strings(a->command, b->command) ?: COMPARE(a->duration_ns, b->duration_ns) ?:
	       COMPARE(a->lost, b->lost);
}

/* ---- records ---- */

static void write_parts(struct merge *g, struct trace_writer *w)
{
	size_t i;

	if (g->nr_parts)
		qsort(g->parts, g->nr_parts, sizeof(*g->parts), merge_write_compare_parts);
	for (i = 0; i < g->nr_parts; i++) {
		const struct recording *p = &g->parts[i];
		const char *host = p->host ? p->host : "", *command = p->command ? p->command : "";

		trace_write_tree_part(w, &(struct rec_tree_part){ p->start_ns, p->duration_ns, p->lost, host,
								  strlen(host), command, strlen(command) });
	}
}

static void write_sources(const struct out *o)
{
	uint64_t total[FLOW_MAX_METRICS], n = flow_totals(&o->m->flow, total);
	unsigned int i;

	for (i = 0; i < o->m->nr_sources; i++) {
		const struct model_source *s = &o->m->sources[o->sources[i]];
		const char *name = model_str(o->m, s->name), *kind = model_kind_name(s->kind);

		trace_write_tree_source(o->w, &(struct rec_tree_source){
			i + 1, model_n(o->m, o->sources[i], n, total), name, strlen(name), kind,
			strlen(kind) });
	}
}

static void write_metrics(const struct out *o)
{
	uint64_t total[FLOW_MAX_METRICS];
	unsigned int i, source;

	flow_totals(&o->m->flow, total);
	for (i = 0; i < o->m->nr_shown; i++) {
		const struct model_metric *x = &o->m->metrics[o->metrics[i]];
		const char *name = model_str(o->m, x->name), *unit = model_str(o->m, x->unit);

		for (source = 0; o->sources[source] != x->source; source++)
			;
		trace_write_tree_metric(o->w, &(struct rec_tree_metric){
			i + 1, source + 1, total[o->metrics[i]], name, strlen(name), unit, strlen(unit) });
	}
}

static uint32_t merge_consumer_number(struct out *o, uint32_t consumer)
{
	const struct consumer *c = &o->m->consumers.items[consumer];
	const char *kind = consumer_kind_name(c->kind), *name = model_str(o->m, c->name),
		   *module = model_str(o->m, c->module), *detail = model_str(o->m, c->detail);

	if (o->numbers[consumer])
		return o->numbers[consumer];
	o->numbers[consumer] = ++o->nr_consumers;
	trace_write_tree_consumer(o->w, &(struct rec_tree_consumer){
		.consumer = o->nr_consumers, .key = c->key, .kind = kind, .kind_len = strlen(kind),
		.name = name, .name_len = strlen(name), .module = module, .module_len = strlen(module),
		.detail = detail, .detail_len = strlen(detail) });
	return o->nr_consumers;
}

static void write_nodes(struct out *o)
{
	o->nodes.nodes = (const uint8_t *)o->b.data;
	o->nodes.len = o->b.len;
	if (o->nodes.nr)
		trace_write_tree_nodes(o->w, &o->nodes);
	o->nodes = (struct rec_tree_nodes){ 0 };
	buf_reset(&o->b);
}

static void merge_write_add_node(struct out *o, uint32_t node, uint32_t level, uint32_t up)
{
	uint32_t number = merge_consumer_number(o, o->m->flow.nodes[node].consumer);
	unsigned int i;

	if (!o->nodes.nr) {
		o->nodes.first = o->nr_nodes + 1;
		o->nodes.level = level;
	}
	o->nodes.nr++;
	o->nr_nodes++;
	buf_varint(&o->b, up);
	buf_varint(&o->b, number);
	for (i = 0; i < o->m->nr_sources; i++)
		buf_varint(&o->b, model_node_n(o->m, o->sources[i], node));
	for (i = 0; i < o->m->nr_shown; i++)
		buf_varint(&o->b, flow_base(&o->m->flow, node)[o->metrics[i]]);
	if (o->b.len >= NODES_BYTES)
		write_nodes(o);
}

static void write_tree(struct out *o)
{
	const struct flow *f = &o->m->flow;
	uint32_t node, next, level = 0, up = 0;

	for (node = flow_next(f, FLOW_NONE); node; node = next) {
		merge_write_add_node(o, node, level, up);
		next = flow_next(f, node);
		level++;
		for (up = 0; next && node != f->nodes[next].parent; up++) {
			node = f->nodes[node].parent;
			level--;
		}
	}
	write_nodes(o);
}

static void merge_write_write_labels(const struct merge *g, struct trace_writer *w)
{
	trace_write_label(w, "merged", "%zu", g->nr_parts);
	trace_write_label(w, "merged.op", "%s", merge_op_name(g->op));
	if (g->op == MERGE_SUBTRACT)
		trace_write_label(w, "merged.below_zero", "%" PRIu64, g->below_zero);
}

int merge_write(struct merge *g, const char *path, struct err *e)
{
	static const struct trace_writer_opts wo = { .compress = true, .whole = true };
	const struct flow_order by_name = { .consumers = &g->m.consumers, .by = FLOW_BY_NAME };
	struct out o = { .m = &g->m };
	int r = trace_writer_open(&o.w, path, &wo, e);

	if (r)
		return r;
	flow_sort_children(&g->m.flow, &by_name);
	set_order(&o);
	o.numbers = xcalloc(g->m.consumers.nr_items, sizeof(*o.numbers));
	merge_write_write_labels(g, o.w);
	write_parts(g, o.w);
	write_sources(&o);
	write_metrics(&o);
	write_tree(&o);
	free(o.numbers);
	buf_release(&o.b);
	return trace_writer_close(o.w, e);
}
