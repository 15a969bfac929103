// SPDX-License-Identifier: GPL-2.0-or-later
/* data.c - reads a trace for the tables of SQL (data.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "flow/order.h"
#include "query/data.h"
#include "query/heap.h"

void query_data_init(struct query_data *d, struct trace_reader *t, const struct profile_opts *o,
		     uint64_t memory_bytes, uint64_t *used_bytes)
{
	memset(d, 0, sizeof(*d));
	d->t = t;
	d->profile = o;
	d->memory_bytes = memory_bytes;
	d->used_bytes = used_bytes;
	buf_room(&d->scratch, 1);	/* so that its address is its own */
}

void query_data_release(struct query_data *d)
{
	query_log_release(d);
	query_events_release(d);
	query_samples_release(d);
	query_nodes_release(d);
	query_names_release(d);
	map_release(&d->function_by_name);
	free(d->procs);
	free(d->threads);
	free(d->order);
	free(d->rank);
	free(d->last);
	free(d->level);
	free(d->process);
	free(d->thread);
	if (d->has_model) {
		names_release(&d->names);
		model_release(&d->model);
	}
	query_heap_release(d);
	buf_release(&d->scratch);
	memset(d, 0, sizeof(*d));
}

int query_data_charge(struct query_data *d, uint64_t bytes, struct err *e)
{
	if (bytes > d->memory_bytes || *d->used_bytes > d->memory_bytes - bytes) {
		err_set(e, ENOMEM, "the rows of the %s take more than %" PRIu64 " MiB of memory",
			d->heap ? "heap" : "trace", d->memory_bytes >> 20);
		err_hint(e, "--memory allows more%s",
			 d->heap ? "" : "; --from and --to read a part of the time");
		return -ENOMEM;
	}
	*d->used_bytes += bytes;
	return 0;
}

/* Sort as the tree of contexts is shown without options. */
static void sort_children(struct model *m)
{
	const struct flow_order order = { &m->consumers, FLOW_BY_CUM, 0, m->flow.nr_metrics,
		model_counter(m, m->metrics[0].source) };

	flow_sort_children(&m->flow, &order);
}

/* Set what a node has from the ones above it. */
static void describe_node(struct query_data *d, uint32_t at)
{
	const struct flow_node *n = &d->model.flow.nodes[d->order[at]];
	uint32_t kind = d->model.consumers.items[n->consumer].kind;

	if (n->parent) {
		uint32_t parent = d->rank[n->parent];

		d->level[at] = d->level[parent] + 1;
		d->process[at] = d->process[parent];
		d->thread[at] = d->thread[parent];
	}
	if (kind == CONSUMER_PROCESS)
		d->process[at] = n->consumer;
	else if (kind == CONSUMER_THREAD)
		d->thread[at] = n->consumer;
}

static void number_nodes(struct query_data *d)
{
	const struct flow *f = &d->model.flow;
	uint32_t i, at;

	d->order = xcalloc(f->nr_nodes, sizeof(*d->order));
	d->rank = xcalloc(f->nr_nodes, sizeof(*d->rank));
	d->last = xcalloc(f->nr_nodes, sizeof(*d->last));
	d->level = xcalloc(f->nr_nodes, sizeof(*d->level));
	d->process = xcalloc(f->nr_nodes, sizeof(*d->process));
	d->thread = xcalloc(f->nr_nodes, sizeof(*d->thread));
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		at = d->nr_nodes++;
		d->order[at] = i;
		d->rank[i] = at;
		d->last[at] = at;
		describe_node(d, at);
	}
	for (at = d->nr_nodes; at-- > 0;) {
		uint32_t parent = f->nodes[d->order[at]].parent;

		if (parent)
			d->last[d->rank[parent]] = MAX(d->last[d->rank[parent]], d->last[at]);
	}
}

/* Name all processes and threads, even without a sample: so the number of a consumer depends on no query. */
static void name_lives(struct query_data *d)
{
	struct names *x = &d->names;
	uint32_t proc;
	size_t i;

	d->procs = xcalloc(x->nr_procs + 1, sizeof(*d->procs));
	d->threads = xcalloc(x->nr_threads + 1, sizeof(*d->threads));
	for (i = 0; i < x->nr_procs; i++) {
		d->procs[i].number = x->procs[i].number;
		d->procs[i].function = names_process(x, x->procs[i].number);
	}
	for (i = 0; i < x->thread_of.alloc; i++) {
		const struct map_slot *s = &x->thread_of.slots[i];

		if (s->val != MAP_NONE)
			d->threads[s->val].number = s->key;
	}
	for (i = 0; i < x->nr_threads; i++)
		d->threads[i].function = names_thread(x, d->threads[i].number, &proc);
}

static bool query_data_is_function(const struct consumer *c)
{
	return !kind_is(c->kind, KIND_PLACE);
}

static void list_functions(struct query_data *d)
{
	const struct consumers *c = &d->model.consumers;
	uint32_t i, *at;

	d->nr_functions = c->nr_items - 1;
	for (i = 1; i < c->nr_items; i++) {
		if (!query_data_is_function(&c->items[i]))
			continue;
		at = map_put(&d->function_by_name, names_pair(c->items[i].name, c->items[i].module));
		if (*at == MAP_NONE)
			*at = i;
	}
}

uint32_t query_data_function(const struct query_data *d, uint32_t consumer)
{
	const struct consumer *c = &d->model.consumers.items[consumer];
	uint32_t at;

	if (consumer <= d->nr_functions)
		return consumer;
	at = map_get(&d->function_by_name, names_pair(c->name, c->module));
	return at == MAP_NONE ? 0 : at;
}

static void find_start(struct query_data *d)
{
	uint64_t real_ns;

	trace_reader_start(d->t, &d->start_ns, &real_ns);
	if (names_label_u64(&d->names, "start.mono_ns"))
		d->start_ns = names_label_u64(&d->names, "start.mono_ns");
}

int query_data_model(struct query_data *d, struct err *e)
{
	uint64_t rows;
	int r;

	if (d->has_model)
		return 0;
	r = d->heap ? query_heap_model(d, e) :
		      profile_read(&d->names, &d->model, &d->origin, d->t, d->profile, e);
	if (!r) {
		rows = d->model.flow.nr_nodes * 6 * sizeof(uint32_t) +
			d->model.times.nr_list * sizeof(*d->model.times.list);
		r = query_data_charge(d, rows, e);
	}
	if (r) {
		names_release(&d->names);
		model_release(&d->model);
		e->code = r == -ENODATA ? EINVAL : e->code;	/* it is not one table that is empty */
		return -e->code;
	}
	d->has_model = true;
	if (!d->heap)
		find_start(d);
	name_lives(d);
	sort_children(&d->model);
	number_nodes(d);
	list_functions(d);
	d->total_n = flow_totals(&d->model.flow, d->total);
	return 0;
}

unsigned int query_data_nr_metrics(const struct query_data *d)
{
	return d->has_model ? d->model.nr_shown : 0;
}
