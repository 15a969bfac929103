// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - tables of modules, functions and locations, and values of contexts. */
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/export.h"

void export_init(struct export *x, const struct view *v)
{
	memset(x, 0, sizeof(*x));
	x->v = v;
	strtab_init(&x->strings);
	strtab_init(&x->location_ids);
	x->location_at = xcalloc(v->m->flow.nr_nodes, sizeof(*x->location_at));
}

void export_release(struct export *x)
{
	strtab_release(&x->strings);
	strtab_release(&x->location_ids);
	map_release(&x->module_of);
	map_release(&x->function_of);
	map_release(&x->location_of);
	free(x->modules);
	free(x->functions);
	free(x->locations);
	free(x->location_at);
	buf_release(&x->escaped);
}

uint32_t export_string(struct export *x, const char *s)
{
	return strtab_adds(&x->strings, quote_str(&x->escaped, s));
}

/* ---- what samples refer to ---- */

/* Return the module, or NULL if its build-id is not known. */
static const struct name_module *export_find_module(const struct view *v, const char *path)
{
	const struct origin *origin = v->origin;
	size_t i;

	for (i = 0; i < origin->nr_modules; i++)
		if (origin->modules[i].build_id_len && !strcmp(origin->modules[i].path, path))
			return &origin->modules[i];
	return NULL;
}

/* Return the id of a module, 0 for none. */
static uint32_t add_module(struct export *x, uint32_t module)
{
	const char *path = model_str(x->v->m, module);
	const struct name_module *known;
	uint32_t *at;

	if (!module)
		return 0;
	at = map_put(&x->module_of, module);
	if (*at != MAP_NONE)
		return *at;
	known = export_find_module(x->v, path);
	VEC_GROW(x->modules, x->nr_modules, x->alloc_modules);
	x->modules[x->nr_modules] = (struct export_module){ .path = export_string(x, path) };
	if (known)
		hex_put(x->modules[x->nr_modules].build_id, known->build_id, known->build_id_len);
	x->nr_modules++;
	return *at = x->nr_modules;
}

/*
 * Set *file to the file of "file:line" and return the line. For a method without lines the place is "file
 * bci N", and the line 0.
 */
static uint64_t split_place(const char *place, struct buf *file)
{
	static const char digits[] = "0123456789", bci[] = " bci ";
	size_t end = strlen(place), nr = end;

	while (nr && strchr(digits, place[nr - 1]))
		nr--;
	if (nr && nr < end && place[nr - 1] == ':') {
		buf_add(file, place, nr - 1);
		return strtoull(place + nr, NULL, 10);
	}
	if (nr < end && nr >= strlen(bci) && !memcmp(place + nr - strlen(bci), bci, strlen(bci)))
		end = nr - strlen(bci);
	buf_add(file, place, end);
	return 0;
}

static uint32_t export_add_function(struct export *x, uint32_t name, uint32_t file)
{
	uint32_t *at = map_put(&x->function_of, names_pair(name, file));

	if (*at == MAP_NONE) {
		*VEC_ADD(x->functions, x->nr_functions, x->alloc_functions) =
			(struct export_function){ name, file };
		*at = x->nr_functions;
	}
	return *at;
}

static uint32_t add_location(struct export *x, uint32_t caller, uint32_t consumer)
{
	uint32_t *at = map_put(&x->location_of, names_pair(caller, consumer)), name;
	const struct consumer *c = &x->v->m->consumers.items[consumer];
	struct export_location l = { .caller = caller, .kind = c->kind };
	struct buf text = BUF_INIT;

	if (*at != MAP_NONE)
		return *at;
	if (export_is_root(x->v, consumer))
		view_name(x->v, consumer, &text);
	else
		buf_str(&text, model_str(x->v->m, c->name));
	name = export_string(x, text.data);
	buf_reset(&text);
	l.line = split_place(model_str(x->v->m, c->detail), &text);
	l.function = export_add_function(x, name, text.len ? export_string(x, text.data) : 0);
	l.module = caller ? x->locations[caller - 1].module : add_module(x, c->module);
	buf_release(&text);
	*at = strtab_add(&x->location_ids, (const char *)&l, sizeof(l));
	if (*at > x->nr_locations)
		*VEC_ADD(x->locations, x->nr_locations, x->alloc_locations) = l;
	return *at;
}

/* Return whether the node is part of the code of its parent. */
static bool has_code_of_parent(const struct export *x, uint32_t node)
{
	const struct flow_node *n = &x->v->m->flow.nodes[node];

	return n->parent && kind_is(x->v->m->consumers.items[n->consumer].kind, KIND_INLINED) &&
		!export_is_root(x->v, x->v->m->flow.nodes[n->parent].consumer);
}

uint32_t export_location(struct export *x, uint32_t node, uint32_t *caller)
{
	const struct flow_node *nodes = x->v->m->flow.nodes;
	uint32_t code = node, at;

	while (has_code_of_parent(x, code))
		code = nodes[code].parent;
	*caller = nodes[code].parent;
	while (!x->location_at[node]) {
		/* the outermost that has none: each needs that of the one around it */
		for (at = node; at != code && !x->location_at[nodes[at].parent];)
			at = nodes[at].parent;
		x->location_at[at] = add_location(x, at == code ? 0 : x->location_at[nodes[at].parent],
						  nodes[at].consumer);
	}
	return x->location_at[node];
}

/* ---- processes and threads ---- */

bool export_is_root(const struct view *v, uint32_t consumer)
{
	uint32_t kind = v->m->consumers.items[consumer].kind;

	const struct profile_opts *o = v->o->profile;

	return kind_is(kind, KIND_PLACE) &&
	       (kind != CONSUMER_LABEL || (o && o->all_labels && !o->by_label));
}

static const struct consumer *consumer_at(const struct view *v, uint32_t node)
{
	return &v->m->consumers.items[v->m->flow.nodes[node].consumer];
}

uint32_t export_thread(const struct view *v, uint32_t node)
{
	while (node && consumer_at(v, node)->kind == CONSUMER_LABEL)
		node = v->m->flow.nodes[node].parent;
	return node;
}

void export_labels_init(struct export_labels *l, const struct view *v, uint32_t root, bool own)
{
	*l = (struct export_labels){ .v = v, .node = root, .own = own };
}

bool export_labels_next(struct export_labels *l)
{
	while (!l->next || !labels_next(&l->next, &l->key, &l->value)) {
		const struct consumer *c = consumer_at(l->v, l->node);

		if (!l->node || (l->own && c->kind == CONSUMER_PROCESS))
			return false;
		l->next = c->kind == CONSUMER_PROCESS ? model_str(l->v->m, c->detail) :
			  c->kind == CONSUMER_LABEL ? model_str(l->v->m, c->name) : NULL;
		if (l->next && *l->next == '[')		/* "[labels unknown]" */
			l->next = NULL;
		l->node = l->v->m->flow.nodes[l->node].parent;
	}
	return true;
}

void export_labels_release(struct export_labels *l)
{
	buf_release(&l->key);
	buf_release(&l->value);
}

uint32_t export_process(const struct view *v, uint32_t node)
{
	const struct flow_node *nodes = v->m->flow.nodes;

	while (node && v->m->consumers.items[nodes[node].consumer].kind != CONSUMER_PROCESS)
		node = nodes[node].parent;
	return node;
}

void export_root_name(const struct view *v, uint32_t root, struct buf *b)
{
	const struct flow_node *nodes = v->m->flow.nodes;
	uint32_t path[3], nr = 0;

	for (; root && nr < ARRAY_SIZE(path); root = nodes[root].parent)
		path[nr++] = root;
	while (nr) {
		view_name(v, nodes[path[--nr]].consumer, b);
		if (nr)
			buf_putc(b, ' ');
	}
}

/* ---- values ---- */

unsigned int export_nr_values(const struct view *v)
{
	return v->m->flow.nr_metrics - v->m->nr_deltas;
}

bool export_has_n(const struct view *v)
{
	const struct model *m = v->m;

	return strcmp(model_kind_name(m->flow.n_means), model_str(m, m->metrics[0].name)) != 0;
}

uint64_t export_n(const struct view *v, uint32_t node)
{
	const struct flow_node *n = &v->m->flow.nodes[node];
	bool calls = v->m->flow.n_means == FLOW_CALLS && v->origin->is_trace;

	return calls && export_is_root(v, n->consumer) ? 0 : n->n;
}

const char *export_unit(const char *unit)
{
	return !strcmp(unit, "ns") ? "nanoseconds" :
	       !*unit || !strcmp(unit, "events") || !strcmp(unit, "samples") ? "count" : unit;
}

void export_lacks(struct view *v, const char *fmt, ...)
{
	va_list ap;

	if (v->lacks.len)
		buf_str(&v->lacks, "; ");
	va_start(ap, fmt);
	buf_vfmt(&v->lacks, fmt, ap);
	va_end(ap);
}
