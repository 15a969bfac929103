// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hprof.c - the text of HPROF, the JDK's profiler up to JDK 8 (-agentlib:hprof): THREAD START, stacks as
 * TRACE, and below them a table for each thing that it measured and the model has: SITES (heap=sites), CPU
 * SAMPLES (cpu=samples), CPU TIME (cpu=times), MONITOR TIME (monitor=y).  As there, threads are merged
 * without thread=y, and stacks that differ only beyond depth=N frames are one TRACE.
 *
 * It knew no native frames: here they have a module in place of the source.  Programs that read it split
 * rows at blanks, which names of Java do not have, and others get "_" for.  What was not measured is "-".
 *
 * Source: JDK 8 demo/jvmti/hprof/src/hprof_io.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/export.h"
#include "report/hprof.h"

/* Values of a row: those of SITES, or the cost and how often. */
enum { LIVE, LIVE_OBJECTS, ALLOC, ALLOC_OBJECTS, NR_VALUES, COST = 0, COUNT };

enum { FIRST_THREAD = 200001 };

/* The metrics of SITES, that of MONITOR TIME, then what CPU SAMPLES can be of. */
const char *const hprof_events[] = {
	"live", "live-objects", "alloc", "objects", "lock",
	"cpu-clock", "task-clock", "cpu", "cycles", "instructions", "ref-cycles", "samples", NULL
};

struct row {
	uint32_t trace, class;		/* number of the trace, string of the class; 0: none */
	uint64_t values[NR_VALUES];
};

struct table {
	struct map row_of;		/* (trace, class) -> index */
	struct row *rows;
	size_t nr_rows, alloc_rows;
	uint64_t totals[NR_VALUES];
	int metrics[NR_VALUES];		/* -1: not in the model */
	unsigned int key;		/* rows are sorted by this value */
};

struct printer {
	struct view *v;
	FILE *out;
	struct export x;
	struct export_stacks stacks;
	struct strtab trace_ids;	/* thread and frames of a trace, as bytes: no two are the same */
	struct trace {
		uint32_t stack;		/* one that has these frames; 0: it has none */
		uint32_t thread;	/* consumer; 0: threads are merged */
		uint32_t number;	/* 0: it was not printed */
	} *traces;			/* [number of the trace - 1] */
	size_t nr_traces, alloc_traces, nr_printed;
	struct map thread_of;		/* consumer -> number of the thread, from 0 */
	struct buf scratch;
	bool threads;			/* each has traces of its own */
	uint64_t depth;			/* frames of a trace; 0: all */
	bool used[FLOW_MAX_METRICS];	/* metrics that a table shows */
};

static const char *str(const struct printer *p, uint32_t id)
{
	return export_str(&p->x, id);
}

/* ---- traces ---- */

/* Return the consumer of the node's thread, 0 if it is in none. */
static uint32_t thread_at(const struct printer *p, uint32_t node)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;

	while (node && p->v->m->consumers.items[nodes[node].consumer].kind != CONSUMER_THREAD)
		node = nodes[node].parent;
	return node ? nodes[node].consumer : 0;
}

/* Write what distinguishes traces: without a limit the number of the stack is as good as its frames. */
static void put_id(struct printer *p, uint32_t stack, uint32_t thread)
{
	uint64_t depth = p->depth, i;
	uint32_t s;

	buf_reset(&p->scratch);
	buf_add(&p->scratch, &thread, sizeof(thread));
	if (!depth)
		buf_add(&p->scratch, &stack, sizeof(stack));
	for (s = stack, i = 0; s && i < depth; s = p->stacks.list[s - 1].caller, i++)
		buf_add(&p->scratch, &p->stacks.list[s - 1].location, sizeof(uint32_t));
}

/* Return the number of a node's trace; of what is in no function, that of the trace without frames. */
static uint32_t find_trace(struct printer *p, uint32_t node)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;
	bool none = !node || export_is_root(p->v, nodes[node].consumer);
	uint32_t stack = none ? 0 : export_stack(&p->stacks, node);
	uint32_t thread = p->threads ? thread_at(p, node) : 0, id;

	put_id(p, stack, thread);
	id = strtab_add(&p->trace_ids, p->scratch.data, p->scratch.len);
	if (id > p->nr_traces)
		*VEC_ADD(p->traces, p->nr_traces, p->alloc_traces) = (struct trace){ stack, thread, 0 };
	return id;
}

/* ---- rows ---- */

static struct row *find_row(struct printer *p, struct table *t, uint32_t node)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;
	const struct consumer *c = &p->v->m->consumers.items[nodes[node].consumer];
	uint32_t class = 0, trace, *at;

	if (c->kind == CONSUMER_CLASS) {
		class = export_string(&p->x, model_str(p->v->m, c->name));
		node = nodes[node].parent;
	}
	trace = find_trace(p, node);
	at = map_put(&t->row_of, (uint64_t)trace << 32 | class);
	if (*at == MAP_NONE) {
		*at = t->nr_rows;
		*VEC_ADD(t->rows, t->nr_rows, t->alloc_rows) = (struct row){ trace, class, { 0 } };
	}
	return &t->rows[*at];
}

static void hprof_add(struct printer *p, struct table *t, uint32_t node, const uint64_t *values)
{
	struct row *r = NULL;
	unsigned int i;

	for (i = 0; i < NR_VALUES; i++) {
		if (!values[i])
			continue;
		r = r ? r : find_row(p, t, node);
		r->values[i] += values[i];
		t->totals[i] += values[i];
	}
}

static int hprof_compare(const void *a, const void *b, void *ctx)
{
	const struct row *x = a, *y = b;
	const struct table *t = ctx;

	return COMPARE(y->values[t->key], x->values[t->key]) ?: COMPARE(x->trace, y->trace) ?:
	       COMPARE(x->class, y->class);
}

static void hprof_sort(struct table *t)
{
	if (t->nr_rows)
		qsort_r(t->rows, t->nr_rows, sizeof(*t->rows), hprof_compare, t);
}

static void table_release(struct table *t)
{
	map_release(&t->row_of);
	free(t->rows);
}

/* ---- stacks ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const struct export_location *location_of(const struct printer *p, uint32_t stack)
{
	return &p->x.locations[p->stacks.list[stack - 1].location - 1];
}

static const char *function_of(const struct printer *p, uint32_t stack)
{
	return str(p, p->x.functions[location_of(p, stack)->function - 1].name);
}

static void hprof_put_word(const struct printer *p, const char *name)
{
	for (; *name; name++)
		fputc(*name == ' ' ? '_' : *name, p->out);
}

static void hprof_put_frame(const struct printer *p, uint32_t stack)
{
	const struct export_location *l = location_of(p, stack);
	uint32_t file = p->x.functions[l->function - 1].file;
	const char *source = file ? last_part(str(p, file)) : "<Unknown Source>";

	fputc('\t', p->out);
	hprof_put_word(p, function_of(p, stack));
	fputc('(', p->out);
	if (l->line)
		fprintf(p->out, "%s:%" PRIu32 ")\n", source, l->line);
	else if (l->module)
		fprintf(p->out, "%s:Native method)\n", last_part(str(p, p->x.modules[l->module - 1].path)));
	else
		fprintf(p->out, "%s:Unknown line)\n", source);
}

static void put_trace(struct printer *p, struct trace *t)
{
	uint64_t depth = p->depth, nr = 0;
	uint32_t stack = t->stack;

	t->number = HPROF_EMPTY_TRACE + (stack || t->thread ? ++p->nr_printed : 0);
	fprintf(p->out, "TRACE %" PRIu32 ":", t->number);
	if (t->thread)
		fprintf(p->out, " (thread=%" PRIu32 ")", FIRST_THREAD + map_get(&p->thread_of, t->thread));
	fputc('\n', p->out);
	if (!stack)
		fputs("\t<empty>\n", p->out);
	for (; stack && (!depth || nr < depth); stack = p->stacks.list[stack - 1].caller, nr++)
		hprof_put_frame(p, stack);
}

/* Print the TRACEs of rows that were not printed before. */
static void put_traces(struct printer *p, const struct table *t)
{
	size_t i;

	for (i = 0; i < t->nr_rows; i++)
		if (!p->traces[t->rows[i].trace - 1].number)
			put_trace(p, &p->traces[t->rows[i].trace - 1]);
}

static uint32_t hprof_number_of(const struct printer *p, const struct row *r)
{
	return p->traces[r->trace - 1].number;
}

static uint32_t hprof_stack_of(const struct printer *p, const struct row *r)
{
	return p->traces[r->trace - 1].stack;
}

/* ---- threads ---- */

/* Return the Java thread group of the thread, "" if not known. */
static const char *group_of(const struct printer *p, const struct consumer *thread)
{
	const struct origin *o = p->v->origin;
	size_t i;

	for (i = 0; i < o->nr_threads; i++)
		if (o->threads[i].tid == export_tid(thread) && o->threads[i].name == thread->name)
			return model_str(p->v->m, o->threads[i].group);
	return "";
}

/* Print one line for each thread that the view has. */
static void hprof_put_threads(struct printer *p)
{
	const struct flow *f = &p->v->m->flow;
	uint32_t i, *number;

	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		const struct consumer *c = &p->v->m->consumers.items[f->nodes[i].consumer];

		if (c->kind != CONSUMER_THREAD)
			continue;
		number = map_put(&p->thread_of, f->nodes[i].consumer);
		if (*number != MAP_NONE)
			continue;
		*number = p->thread_of.nr - 1;
		fprintf(p->out, "THREAD START (obj=0, id = %" PRIu32 ", name=\"%s\"", FIRST_THREAD + *number,
			quote_str(&p->scratch, model_str(p->v->m, c->name)));
		fprintf(p->out, ", group=\"%s\")\n", quote_str(&p->scratch, group_of(p, c)));
	}
}

/* ---- tables ---- */

static void put_site(const struct printer *p, const struct table *t, size_t i, uint64_t sum)
{
	const struct row *r = &t->rows[i];
	const struct hprof_site site = {
		.rank = i + 1, .self = r->values[t->key], .accum = sum, .total = t->totals[t->key],
		.trace = hprof_number_of(p, r), .class = r->class ? str(p, r->class) : "<Unknown>",
		.has_live = t->metrics[LIVE] >= 0, .has_live_objects = t->metrics[LIVE_OBJECTS] >= 0,
		.has_alloc = t->metrics[ALLOC] >= 0, .has_alloc_objects = t->metrics[ALLOC_OBJECTS] >= 0,
		.live = r->values[LIVE], .live_objects = r->values[LIVE_OBJECTS],
		.alloc = r->values[ALLOC], .alloc_objects = r->values[ALLOC_OBJECTS],
	};

	hprof_put_site(&site, p->out);
}

static void put_sites(struct printer *p, struct table *t)
{
	uint64_t sum = 0;
	size_t i;

	put_traces(p, t);
	hprof_begin_sites(t->key == LIVE ? "live bytes" : "allocated bytes", p->v->origin->start_ns, p->out);
	for (i = 0; i < t->nr_rows; i++) {
		sum += t->rows[i].values[t->key];
		put_site(p, t, i, sum);
	}
	fputs("SITES END\n", p->out);
}

static void put_method(const struct printer *p, uint32_t stack)
{
	hprof_put_word(p, function_of(p, stack));
	fputc('\n', p->out);
}

/* The last column. */
static void put_what(const struct printer *p, const struct row *r, bool monitor)
{
	if (monitor)
		fprintf(p->out, "%s (Java)\n", r->class ? str(p, r->class) : "<Unknown>");
	else if (!hprof_stack_of(p, r))
		fputs("<empty_trace>\n", p->out);
	else
		put_method(p, hprof_stack_of(p, r));
}

/* name: what the record is called; the total is in units of unit, which its name may follow. */
static void hprof_put_times(struct printer *p, struct table *t, const char *name, uint64_t unit,
			    const char *of)
{
	bool monitor = *of;
	uint64_t sum = 0;
	size_t i;

	put_traces(p, t);
	fprintf(p->out, "%s BEGIN (total = %" PRIu64 "%s) ", name, t->totals[t->key] / unit, of);
	hprof_put_date(p->v->origin->start_ns, p->out);
	if (t->nr_rows)
		fprintf(p->out, "rank   self  accum   count trace %s\n", monitor ? "monitor" : "method");
	for (i = 0; i < t->nr_rows; i++) {
		const struct row *r = &t->rows[i];

		sum += r->values[t->key];
		fprintf(p->out, "%4zu %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu32 " ", i + 1,
			hprof_percent(r->values[t->key], t->totals[t->key]),
			hprof_percent(sum, t->totals[t->key]), r->values[COUNT], hprof_number_of(p, r));
		put_what(p, r, monitor);
	}
	fprintf(p->out, "%s END\n", name);
}

/* ---- what the model has ---- */

static int find_metric(const struct model *m, const char *name)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (!strcmp(model_str(m, m->metrics[i].name), name))
			return i;
	return -1;
}

/* Samples are of what programs execute: "cycles:u" is one of these. */
static bool is_executed(const char *name)
{
	const char *const *e;
	size_t len;

	for (e = hprof_events + NR_VALUES + 1; *e; e++) {
		len = strlen(*e);
		if (!strncmp(name, *e, len) && (!name[len] || strchr(":/.", name[len])))
			return true;
	}
	return false;
}

/*
 * Return the first metric of calls that is a time or, of samples, the first that shows what programs execute.
 */
static int find_cpu(const struct model *m, bool calls)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++) {
		bool is_ns = !strcmp(model_str(m, m->metrics[i].unit), "ns");

		if ((m->sources[m->metrics[i].source].kind == FLOW_CALLS) == calls &&
		    (calls ? is_ns : is_executed(model_str(m, m->metrics[i].name))))
			return i;
	}
	return -1;
}

static void print_sites(struct printer *p)
{
	const struct model *m = p->v->m;
	struct table t = { .row_of = MAP_INIT };
	uint64_t values[NR_VALUES];
	unsigned int k;
	uint32_t i;

	for (k = 0; k < NR_VALUES; k++) {
		t.metrics[k] = find_metric(m, hprof_events[k]);
		if (t.metrics[k] >= 0)
			p->used[t.metrics[k]] = true;
	}
	if (t.metrics[LIVE] < 0 && t.metrics[ALLOC] < 0)
		return;
	t.key = t.metrics[LIVE] >= 0 ? LIVE : ALLOC;
	for (i = flow_next(&m->flow, FLOW_NONE); i; i = flow_next(&m->flow, i)) {
		for (k = 0; k < NR_VALUES; k++)
			values[k] = t.metrics[k] >= 0 ? flow_base(&m->flow, i)[t.metrics[k]] : 0;
		hprof_add(p, &t, i, values);
	}
	if (t.key == LIVE && !t.totals[LIVE] && t.metrics[ALLOC] >= 0)
		t.key = ALLOC;		/* no collection has looked at any yet */
	hprof_sort(&t);
	put_sites(p, &t);
	table_release(&t);
}

/* Samples weigh the same; calls cost what the metric says, in ms. */
static void print_cpu(struct printer *p, bool calls)
{
	const struct model *m = p->v->m;
	int metric = find_cpu(m, calls);
	struct table t = { .row_of = MAP_INIT, .key = calls ? COST : COUNT };
	uint64_t values[NR_VALUES] = { 0 };
	uint32_t i;

	if (metric < 0)
		return;
	p->used[metric] = true;
	for (i = flow_next(&m->flow, FLOW_NONE); i; i = flow_next(&m->flow, i)) {
		if (export_is_root(p->v, m->flow.nodes[i].consumer) && calls)
			continue;	/* a thread that began is not a call */
		values[COST] = calls ? flow_base(&m->flow, i)[metric] : 0;
		values[COUNT] = model_node_n(m, m->metrics[metric].source, i);
		hprof_add(p, &t, i, values);
	}
	hprof_sort(&t);
	hprof_put_times(p, &t, calls ? "CPU TIME (ms)" : "CPU SAMPLES", calls ? 1000000 : 1, "");
	table_release(&t);
}

/* Waits for locks: how long and how many, by who waited where for which class of lock. */
static void print_monitors(struct printer *p)
{
	const struct model *m = p->v->m;
	int metric = find_metric(m, "lock");
	struct table t = { .row_of = MAP_INIT, .key = COST };
	uint64_t values[NR_VALUES] = { 0 };
	uint32_t i;

	if (metric < 0)
		return;
	p->used[metric] = true;
	for (i = flow_next(&m->flow, FLOW_NONE); i; i = flow_next(&m->flow, i)) {
		values[COST] = flow_base(&m->flow, i)[metric];
		values[COUNT] = model_node_n(m, m->metrics[metric].source, i);
		hprof_add(p, &t, i, values);
	}
	hprof_sort(&t);
	hprof_put_times(p, &t, "MONITOR TIME", 1000000, " ms");
	table_release(&t);
}

static void say_what_lacks(struct printer *p)
{
	const struct model *m = p->v->m;
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (!p->used[i])
			export_lacks(p->v, "metric %s", model_str(m, m->metrics[i].name));
	if (p->v->origin->not_shown)
		export_lacks(p->v, "%s", p->v->origin->not_shown);
}

/* Take the options given here, else those of the recording. */
static void take_options(struct printer *p)
{
	const char *recorded = p->v->origin->hprof;
	struct err ignored;

	if (p->v->o->hprof)
		hprof_parse(p->v->o->hprof, &p->threads, &p->depth, &ignored);	/* it was checked */
	else if (recorded && hprof_parse(recorded, &p->threads, &p->depth, &ignored))
		p->depth = 0;
}

int hprof_print(struct view *v, FILE *out, struct err *e)
{
	struct printer p = { .v = v, .out = out, .thread_of = MAP_INIT };
	const struct model *m = v->m;

	if (find_metric(m, "live") < 0 && find_metric(m, "alloc") < 0 && find_metric(m, "lock") < 0 &&
	    find_cpu(m, false) < 0 && find_cpu(m, true) < 0) {
		err_set(e, EINVAL, "HPROF has no table for the metric %s",
			model_str(m, m->metrics[v->o->sort_metric].name));
		err_hint(e, "it has tables of CPU time, calls, Java objects and waits for locks");
		return -EINVAL;
	}
	take_options(&p);
	export_init(&p.x, v);
	export_stacks_init(&p.stacks, &p.x);
	strtab_init(&p.trace_ids);
	hprof_put_head(v->origin->start_ns, out);
	hprof_put_threads(&p);
	print_sites(&p);
	print_cpu(&p, false);
	print_cpu(&p, true);
	print_monitors(&p);
	say_what_lacks(&p);
	export_stacks_release(&p.stacks);
	export_release(&p.x);
	strtab_release(&p.trace_ids);
	map_release(&p.thread_of);
	buf_release(&p.scratch);
	free(p.traces);
	return 0;
}
