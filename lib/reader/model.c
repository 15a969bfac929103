// SPDX-License-Identifier: GPL-2.0-or-later
/* model.c - rows of what the trace names, of functions, contexts, samples and stacks. */
#include <errno.h>
#include <string.h>

#include "reader/reader.h"

static uint64_t model_since_start(const struct query_data *d, uint64_t time_ns)
{
	uint64_t v;

	return query_data_time(d, time_ns, &v) ? v : ARCPROF_UNKNOWN;
}

/* Return the name of a function; one without a name is called "". */
static const char *model_name_of(const struct query_data *d, uint32_t consumer)
{
	return model_str(&d->model, d->model.consumers.items[consumer].name);
}

int arcprof_trace_label(struct arcprof_trace *t, uint32_t row, struct arcprof_label *x)
{
	const struct names *n = &t->data.names;

	if (!reader_has(t, ARCPROF_TABLE_LABELS, row, n->nr_labels))
		return -ERANGE;
	*x = (struct arcprof_label){ n->labels[row].key, n->labels[row].val };
	return 0;
}

const char *arcprof_trace_label_of(const struct arcprof_trace *t, const char *key)
{
	return names_label(&t->data.names, key);
}

int arcprof_trace_metric(struct arcprof_trace *t, uint32_t row, struct arcprof_metric *x)
{
	const struct query_data *d = &t->data;
	const struct model *m = &d->model;
	const struct model_source *source;

	if (!reader_has(t, ARCPROF_TABLE_METRICS, row, m->nr_shown))
		return -ERANGE;
	source = &m->sources[m->metrics[row].source];
	*x = (struct arcprof_metric){
		.name = query_data_str(d, m->metrics[row].name),
		.unit = query_data_str(d, m->metrics[row].unit),
		.source = query_data_str(d, source->name), .counts = model_kind_name(source->kind),
		.n = model_n(m, m->metrics[row].source, d->total_n, d->total), .total = d->total[row],
	};
	return 0;
}

int arcprof_trace_process(struct arcprof_trace *t, uint32_t row, struct arcprof_process *x)
{
	const struct query_data *d = &t->data;
	const struct query_life *l;
	const struct name_proc *p;

	if (!reader_has(t, ARCPROF_TABLE_PROCESSES, row, d->names.nr_procs))
		return -ERANGE;
	l = &d->procs[row];
	p = &d->names.procs[row];
	*x = (struct arcprof_process){
		.number = p->number, .pid = p->pid, .parent = l->parent, .function = l->function,
		.name = model_str(&d->model, p->comm),
		.start_ns = model_since_start(d, l->start_ns), .end_ns = model_since_start(d, l->end_ns),
	};
	return 0;
}

int arcprof_trace_thread(struct arcprof_trace *t, uint32_t row, struct arcprof_thread_row *x)
{
	const struct query_data *d = &t->data;
	const struct query_life *l;
	const struct name_thread *n;

	if (!reader_has(t, ARCPROF_TABLE_THREADS, row, d->names.nr_threads))
		return -ERANGE;
	l = &d->threads[row];
	n = &d->names.threads[row];
	*x = (struct arcprof_thread_row){
		.number = l->number, .tid = n->tid, .process = n->proc, .function = l->function,
		.name = model_name_of(d, l->function), .is_java = n->java,
		.start_ns = model_since_start(d, l->start_ns), .end_ns = model_since_start(d, l->end_ns),
	};
	return 0;
}

int arcprof_trace_module(struct arcprof_trace *t, uint32_t row, struct arcprof_module *x)
{
	const struct name_module *m;

	if (!reader_has(t, ARCPROF_TABLE_MODULES, row, t->data.names.nr_modules))
		return -ERANGE;
	m = &t->data.names.modules[row];
	*x = (struct arcprof_module){
		.number = m->number, .is_kernel = !!(m->flags & MODULE_KERNEL), .path = m->path,
		.build_id = m->build_id, .build_id_len = m->build_id_len,
	};
	return 0;
}

/* ---- functions and contexts ---- */

/* Set n by metric, from this n and these values. */
static void fill_n(const struct model *m, uint64_t n, const uint64_t *values, uint64_t *to)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		to[i] = model_n(m, m->metrics[i].source, n, values);
}

static void fill_sums(struct arcprof_trace *t, uint32_t consumer, struct arcprof_function *x)
{
	const struct query_data *d = &t->data;
	unsigned int width = d->model.flow.nr_metrics, bytes = d->model.nr_shown * sizeof(uint64_t);
	const uint64_t *s = d->flat_sums + (size_t)consumer * 3 * width;

	x->nr_nodes = t->nr_nodes_of[consumer];
	fill_n(&d->model, d->flat_n[consumer], s, x->n);
	memcpy(x->base, s, bytes);
	memcpy(x->cum, s + width, bytes);
	memcpy(x->cum_recursive, s + 2 * width, bytes);
}

int arcprof_trace_function(struct arcprof_trace *t, uint32_t number, struct arcprof_function *x)
{
	const struct query_data *d = &t->data;
	const struct consumer *c;

	if (!number || !reader_has(t, ARCPROF_TABLE_FUNCTIONS, number - 1, d->nr_functions))
		return -ERANGE;
	c = &d->model.consumers.items[number];
	*x = (struct arcprof_function){
		.name = model_name_of(d, number), .kind = consumer_kind_name(c->kind),
		.module = query_data_str(d, c->module), .detail = query_data_str(d, c->detail),
	};
	if (c->kind == CONSUMER_PROCESS || c->kind == CONSUMER_THREAD)
		x->pid = c->key >> 32;
	if (c->kind == CONSUMER_THREAD)
		x->tid = c->key;
	if (number < t->nr_consumers)
		fill_sums(t, number, x);
	return 0;
}

int arcprof_trace_node(struct arcprof_trace *t, uint32_t row, struct arcprof_node *x)
{
	const struct query_data *d = &t->data;
	const struct flow *f = &d->model.flow;
	unsigned int bytes = d->model.nr_shown * sizeof(uint64_t);
	const struct flow_node *n;
	uint32_t node;

	if (!reader_has(t, ARCPROF_TABLE_NODES, row, d->nr_nodes))
		return -ERANGE;
	node = d->order[row];
	n = &f->nodes[node];
	*x = (struct arcprof_node){
		.parent = n->parent ? d->rank[n->parent] : ARCPROF_NONE, .last = d->last[row],
		.level = d->level[row], .recursion = f->rl[node], .function = n->consumer,
		.process = d->process[row], .thread = d->thread[row], .name = model_name_of(d, n->consumer),
	};
	fill_n(&d->model, n->n, flow_base(f, node), x->n);
	memcpy(x->base, flow_base(f, node), bytes);
	memcpy(x->cum, flow_cum(f, node), bytes);
	return 0;
}

/* ---- samples and stacks ---- */

int arcprof_trace_sample(struct arcprof_trace *t, uint32_t row, struct arcprof_sample *x)
{
	const struct query_data *d = &t->data;
	const struct flow_time *s;

	if (!reader_has(t, ARCPROF_TABLE_SAMPLES, row, d->model.times.nr_list))
		return -ERANGE;
	s = &d->model.times.list[row];
	*x = (struct arcprof_sample){
		.time_ns = model_since_start(d, s->time_ns), .weight = s->weight, .thread = s->thread,
		.cpu = s->cpu, .metric = s->metric, .node = d->rank[s->node], .is_user = s->user,
		.stack = s->stack == UINT32_MAX ? 0 : s->stack,
	};
	return 0;
}

struct arcprof_frame reader_frame(const struct query_data *d, const struct frame *f,
				  const struct query_level *l)
{
	const struct consumer *c = &d->model.consumers.items[l->consumer];
	bool has_address = f->kind != FRAME_MARK && f->kind != FRAME_NAMED && f->kind != FRAME_SITE &&
			   f->kind != FRAME_NONE;
	uint32_t function = query_data_function(d, l->consumer);

	return (struct arcprof_frame){
		.name = model_name_of(d, l->consumer),
		/* a function may be a context or not, and by then of no kind */
		.kind = consumer_kind_name(d->model.consumers.items[function ? function : l->consumer].kind),
		.code = frame_kind_name(f->kind == FRAME_NONE ? FRAME_MARK : f->kind),
		.module = query_data_str(d, c->module), .line = l->line,
		.file = l->file ? model_str(&d->line_model, l->file) : NULL,
		.function = function, .is_inlined = l->level > 0,
		.address = has_address ? f->addr : 0,
	};
}

int64_t arcprof_trace_stack(struct arcprof_trace *t, uint32_t number, struct arcprof_frame *frames,
			    uint32_t max)
{
	const struct query_data *d = &t->data;
	uint32_t at, i, first, end;
	int64_t nr = 0, left;

	if (!number || !reader_has(t, ARCPROF_TABLE_STACKS, number - 1, d->nr_stacks))
		return -ERANGE;
	for (at = number; at; at = d->stacks[at - 1].parent)
		nr += t->first_level[d->stacks[at - 1].frame + 1] - t->first_level[d->stacks[at - 1].frame];
	for (at = number, left = nr; at; at = d->stacks[at - 1].parent) {
		first = t->first_level[d->stacks[at - 1].frame];
		end = t->first_level[d->stacks[at - 1].frame + 1];
		left -= end - first;
		for (i = first; i < end && left + (i - first) < max; i++)
			frames[left + (i - first)] =
				reader_frame(d, &d->frames[d->levels[i].frame], &d->levels[i]);
	}
	return nr;
}
