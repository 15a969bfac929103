// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table.c - the rows of nodes and names.
 *
 * Each recording is first united with itself, so that its contexts which are the same are one, as they are
 * in a merged trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "fleet/id.h"
#include "fleet/table.h"
#include "flow/union.h"

void fleet_table_header(const char *columns, FILE *out)
{
	for (; *columns; columns++)
		putc(*columns == ',' ? '\t' : *columns, out);
	putc('\n', out);
}

void fleet_table_init(struct fleet_table *t, FILE *out, const struct same_opts *same)
{
	memset(t, 0, sizeof(*t));
	t->out = out;
	t->same = *same;
	strtab_init(&t->texts);
}

void fleet_table_release(struct fleet_table *t)
{
	strtab_release(&t->texts);
	map_release(&t->func_text);
	map_release(&t->path_at);
	free(t->paths);
	free(t->names);
}

void fleet_table_names(const struct fleet_table *t, FILE *out)
{
	size_t i;

	for (i = 0; i < t->nr_names; i++)
		fprintf(out, "%" PRId64 "\t%s\n", t->names[i].func,
			strtab_get(&t->texts, t->names[i].text));
}

/* ---- numbers ---- */

/*
 * The number of a function: that of its text, unless another function has it: then the next free one, so
 * that no two are taken for one in what is written here.
 */
static int64_t func_number(struct fleet_table *t, int64_t func, uint32_t text)
{
	uint32_t at;

	while ((at = map_get(&t->func_text, func)) != MAP_NONE && at != text) {
		t->nr_collisions++;
		func = func == -1 ? 1 : func + 1;
	}
	if (at == MAP_NONE) {
		*map_put(&t->func_text, func) = text;
		VEC_GROW(t->names, t->nr_names, t->alloc_names);
		t->names[t->nr_names++] = (struct fleet_name){ func, text };
	}
	return func;
}

static int64_t path_number(struct fleet_table *t, int64_t parent, int64_t func)
{
	int64_t path = fleet_path(parent, func);
	uint32_t at;

	while ((at = map_get(&t->path_at, path)) != MAP_NONE &&
	       (t->paths[at].parent != parent || t->paths[at].func != func)) {
		t->nr_collisions++;
		path = path == -1 ? 1 : path + 1;
	}
	if (at == MAP_NONE) {
		*map_put(&t->path_at, path) = t->nr_paths;
		VEC_GROW(t->paths, t->nr_paths, t->alloc_paths);
		t->paths[t->nr_paths++] = (struct fleet_path_key){ parent, func };
	}
	return path;
}

/* ---- rows of a recording ---- */

/* A node: its numbers, and the beginning of each of its rows. */
struct place {
	int64_t path, func;
	uint32_t depth, rl;
	const char *head;		/* columns up to tid; NULL below threads */
	uint32_t thread;		/* the node that has the head */
};

struct rows {
	struct fleet_table *t;
	const struct fleet_recording *r;
	const struct model *m;
	struct place *places;		/* [node] */
	uint8_t *keep;			/* [node]: has a row */
	struct place own;		/* when it has been needed */
	uint64_t *cum_n;		/* [node]: n of a source that has no metric, with all below */
	struct arena text;
	struct buf b;
};

static const char *text_of(struct rows *x, uint32_t string)
{
	fleet_text(&x->b, model_str(x->m, string));
	return arena_strndup(&x->text, x->b.data, x->b.len);
}

static const char *cell(struct rows *x, const char *s)
{
	fleet_text(&x->b, s ? s : "");
	return arena_strndup(&x->text, x->b.data, x->b.len);
}

/* What all processes or threads that are the same are called, whichever of them this recording has. */
static const char *head_name(struct rows *x, uint32_t consumer)
{
	struct strtab names;
	struct consumer c;
	const char *name;

	strtab_init(&names);
	same_identify(&x->t->same, x->m, consumer, &names, &c);
	name = cell(x, strtab_get(&names, c.name));
	strtab_release(&names);
	return name;
}

static bool is_head(uint32_t kind)
{
	return kind == CONSUMER_HOST || kind == CONSUMER_PROCESS || kind == CONSUMER_THREAD ||
	       kind == CONSUMER_LABEL;
}

/*
 * Return the labels of a recording with that of a thread: "endpoint=/cart", or "[no endpoint]", which is
 * none.
 */
static const char *with_label(const char *labels, const char *label, struct buf *all)
{
	size_t len = strcspn(label, "=");
	struct buf key = BUF_INIT;

	if (!label[len])
		return labels;
	buf_str(all, labels);
	buf_add(&key, label, len);
	labels_add(all, key.data, label + len + 1);
	buf_release(&key);
	return all->data;
}

/* Return the beginning of rows below that process and thread. */
static const char *make_head(struct rows *x, uint32_t node)
{
	const struct flow *f = &x->m->flow;
	const char *process = "", *thread = "", *labels = "", *host = cell(x, x->r->host);
	struct buf b = BUF_INIT, all = BUF_INIT;
	const char *label = "";
	uint64_t pid = 0, tid = 0;

	for (; node; node = f->nodes[node].parent) {
		const struct consumer *c = &x->m->consumers.items[f->nodes[node].consumer];

		if (c->kind == CONSUMER_THREAD) {
			thread = head_name(x, f->nodes[node].consumer);
			tid = (uint32_t)c->key;
		} else if (c->kind == CONSUMER_PROCESS) {
			process = head_name(x, f->nodes[node].consumer);
			labels = text_of(x, c->detail);
			pid = c->key >> 32 ? c->key >> 32 : c->key;
		} else if (c->kind == CONSUMER_LABEL) {
			label = text_of(x, c->name);
		} else {
			host = text_of(x, c->name);
		}
	}
	labels = with_label(labels, label, &all);
	buf_fmt(&b, "%" PRIu32 "\t%" PRId64 "\t", x->r->start_s, x->r->id);
	labels_value(labels, "service", &b);
	buf_putc(&b, '\t');
	labels_value(labels, "version", &b);
	buf_fmt(&b, "\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64, host, process, thread, labels, pid, tid);
	process = arena_strndup(&x->text, b.data, b.len);
	buf_release(&b);
	buf_release(&all);
	return process;
}

/* Return the number of the function; known[consumer]: what was found before, or 0. */
static int64_t func_of(struct rows *x, uint32_t consumer, int64_t *known)
{
	struct strtab names;
	struct consumer c;
	const char *kind, *name, *module, *detail;
	struct buf b = BUF_INIT;

	if (known[consumer])
		return known[consumer];
	strtab_init(&names);
	same_identify(&x->t->same, x->m, consumer, &names, &c);
	kind = consumer_kind_name(c.kind);
	name = cell(x, strtab_get(&names, c.name));
	module = cell(x, strtab_get(&names, c.module));
	detail = cell(x, strtab_get(&names, c.detail));
	buf_fmt(&b, "%s\t%s\t%s\t%s", kind, name, module, detail);
	known[consumer] = func_number(x->t, fleet_func(kind, module, name, detail),
				      strtab_add(&x->t->texts, b.data, b.len));
	buf_release(&b);
	strtab_release(&names);
	return known[consumer];
}

static void find_places(struct rows *x)
{
	const struct flow *f = &x->m->flow;
	int64_t *known = xcalloc(x->m->consumers.nr_items, sizeof(*known));
	uint32_t i;

	x->places[0] = (struct place){ .head = make_head(x, FLOW_NONE) };
	for (i = 1; i < f->nr_nodes; i++) {
		const struct place *up = &x->places[f->nodes[i].parent];
		struct place *p = &x->places[i];

		if (up->head && is_head(x->m->consumers.items[f->nodes[i].consumer].kind)) {
			*p = (struct place){ .head = make_head(x, i), .thread = i };
			continue;
		}
		p->func = func_of(x, f->nodes[i].consumer, known);
		p->path = path_number(x->t, up->path, p->func);
		p->thread = up->thread;
		p->depth = up->depth + 1;
		p->rl = f->rl[i];
	}
	free(known);
}

void fleet_table_heads(const struct same_opts *same, const struct fleet_recording *r, const struct model *m,
		       void (*head)(void *ctx, uint32_t node, const char *columns), void *ctx)
{
	struct fleet_table t = { .same = *same };
	struct rows x = { .t = &t, .r = r, .m = m };
	const struct flow *f = &m->flow;
	bool *above = xcalloc(f->nr_nodes, sizeof(*above));	/* nothing but heads, up to the root */
	uint32_t i;

	above[FLOW_NONE] = true;
	head(ctx, FLOW_NONE, make_head(&x, FLOW_NONE));
	for (i = 1; i < f->nr_nodes; i++) {
		above[i] = above[f->nodes[i].parent];
		above[i] &= is_head(m->consumers.items[f->nodes[i].consumer].kind);
		if (above[i])
			head(ctx, i, make_head(&x, i));
	}
	free(above);
	arena_release(&x.text);
	buf_release(&x.b);
}

/* Values of a source, and of one of its metrics or, with none, n itself. */
struct column {
	unsigned int source, metric;	/* nr_shown: n */
	const char *name, *unit;
};

static uint64_t base_of(const struct rows *x, const struct column *c, uint32_t node)
{
	return c->metric < x->m->nr_shown ? flow_base(&x->m->flow, node)[c->metric] :
					    model_node_n(x->m, c->source, node);
}

static uint64_t cum_of(const struct rows *x, const struct column *c, uint32_t node)
{
	return c->metric < x->m->nr_shown ? flow_cum(&x->m->flow, node)[c->metric] : x->cum_n[node];
}

/* Return the context of what a process or a thread consumed itself, so that all sums are complete. */
static const struct place *own_place(struct rows *x)
{
	static const char text[] = "mark\t" FLEET_OWN "\t\t";

	if (!x->own.func) {
		x->own.func = func_number(x->t, fleet_func("mark", "", FLEET_OWN, ""),
					  strtab_adds(&x->t->texts, text));
		x->own.path = path_number(x->t, 0, x->own.func);
		x->own.depth = x->own.rl = 1;
	}
	return &x->own;
}

static void put_row(struct rows *x, const struct column *c, uint32_t node)
{
	const struct flow *f = &x->m->flow;
	const struct place *p = &x->places[node], *up = &x->places[f->nodes[node].parent];
	const char *head = x->places[p->head ? node : p->thread].head;
	const char *source = model_str(x->m, x->m->sources[c->source].name);
	uint64_t base = base_of(x, c, node), cum = p->head ? base : cum_of(x, c, node);

	if (p->head) {
		p = own_place(x);
		up = &x->places[0];
	}
	fprintf(x->t->out, "%s\t%s\t%s\t%s\t", head, cell(x, source), c->name, c->unit);
	fprintf(x->t->out, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", p->path, up->path, p->func,
		up->func);
	fprintf(x->t->out, "%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t", p->depth, p->rl, up->rl);
	fprintf(x->t->out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", model_node_n(x->m, c->source, node),
		base, cum);
	x->t->nr_rows++;
}

/* A context has a row if it or one below it has something. */
static void choose_rows(struct rows *x, const struct column *c)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	memset(x->keep, 0, f->nr_nodes);
	for (i = f->nr_nodes - 1; i; i--) {
		x->keep[i] |= model_node_n(x->m, c->source, i) || base_of(x, c, i);
		x->keep[f->nodes[i].parent] |= x->keep[i];
	}
}

static int put_column(struct rows *x, const struct column *c, struct err *e)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	choose_rows(x, c);
	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = model_node_n(x->m, c->source, i), base = base_of(x, c, i);

		if ((n | base | cum_of(x, c, i)) > INT64_MAX)
			return err_set(e, ERANGE, "values of %s are above 2^63", c->name);
		/* of processes and threads only what they consumed themselves */
		if (x->keep[i] && (!x->places[i].head || n || base))
			put_row(x, c, i);
	}
	return 0;
}

static void sum_n(struct rows *x, unsigned int source)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	memset(x->cum_n, 0, f->nr_nodes * sizeof(*x->cum_n));
	for (i = f->nr_nodes - 1; i; i--) {
		x->cum_n[i] += model_node_n(x->m, source, i);
		x->cum_n[f->nodes[i].parent] += x->cum_n[i];
	}
}

static int put_model(struct rows *x, struct err *e)
{
	const struct model *m = x->m;
	unsigned int i;
	int r = 0;

	for (i = 0; !r && i < m->nr_shown; i++) {
		const struct column c = { m->metrics[i].source, i, text_of(x, m->metrics[i].name),
					  text_of(x, m->metrics[i].unit) };

		r = put_column(x, &c, e);
	}
	for (i = 0; !r && i < m->nr_sources; i++) {
		const char *name = model_kind_name(m->sources[i].kind);
		const struct column c = { i, m->nr_shown, name, name };

		if (model_has_metrics(m, i))
			continue;
		sum_n(x, i);
		r = put_column(x, &c, e);
	}
	return r;
}

int fleet_table_add(struct fleet_table *t, const struct fleet_recording *r, const struct model *m,
		    struct err *e)
{
	const struct union_opts uo = { .identify = same_identify, .ctx = &t->same };
	struct rows x = { .t = t, .r = r };
	struct model_union u;
	struct model whole;
	int ret;

	union_init(&u, &whole, &uo);
	ret = union_add(&u, m, 0, NULL, e);
	union_finish(&u);
	union_release(&u);
	if (!ret) {
		x.m = &whole;
		x.places = xcalloc(whole.flow.nr_nodes, sizeof(*x.places));
		x.keep = xcalloc(whole.flow.nr_nodes, 1);
		x.cum_n = xcalloc(whole.flow.nr_nodes, sizeof(*x.cum_n));
		find_places(&x);
		ret = put_model(&x, e);
	}
	free(x.places);
	free(x.keep);
	free(x.cum_n);
	arena_release(&x.text);
	buf_release(&x.b);
	model_release(&whole);
	return ret;
}
