// SPDX-License-Identifier: GPL-2.0-or-later
/* join.c - joins requests that cross processes by a label (join.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/join.h"
#include "model/select.h"

/* A value of the label in a model: nodes of it in several threads, and the best context so far. */
struct value {
	uint32_t name;			/* strtab id in places of "key=OUT"; 0: it calls nobody */
	bool serves;			/* it has an IN: */
	uint32_t place;			/* where an earlier model has that; FLOW_NONE: nowhere */
	uint32_t best;			/* node of this model */
	bool waited;			/* it was seen to */
	uint64_t weight;		/* of its wait, or of all of the thread's samples */
};

struct rewrite {
	struct join *j;
	struct model *m;
	struct map index;		/* consumer of the label -> index in values */
	struct value *values;
	size_t nr_values, alloc_values;
	uint32_t *label;		/* [node]: that of the label above it, or itself; FLOW_NONE: none */
	uint32_t *nr_children, *child;	/* [node]: how many, and one of them */
};

void join_init(struct join *j, const char *key)
{
	memset(j, 0, sizeof(*j));
	j->key = key;
	model_init(&j->places, 1, FLOW_SAMPLES);
}

void join_release(struct join *j)
{
	model_release(&j->places);
	map_release(&j->place_of);
}

static const struct consumer *join_consumer_at(const struct model *m, uint32_t node)
{
	return &m->consumers.items[m->flow.nodes[node].consumer];
}

/* "key=value", and not "[no key]". */
static bool join_is_value(const struct join *j, const struct model *m, uint32_t node)
{
	const struct consumer *c = join_consumer_at(m, node);
	const size_t len = strlen(j->key);
	const char *name = model_str(m, c->name);

	return c->kind == CONSUMER_LABEL && !strncmp(name, j->key, len) && name[len] == '=';
}

/* "key=IN>OUT", where either may be empty; "key=BOTH". */
static void split_value(const struct rewrite *x, const char *text, struct value *v)
{
	const char *value = text + strlen(x->j->key) + 1, *sign = strchr(value, '>');
	struct strtab *names = &x->j->places.consumers.names;
	uint32_t in = strtab_add(names, text, sign ? (size_t)(sign - text) : strlen(text)), at;
	char *out;

	*v = (struct value){ .serves = sign != value, .name = sign ? 0 : in };
	if (sign && sign[1]) {
		out = xasprintf("%s=%s", x->j->key, sign + 1);
		v->name = strtab_adds(names, out);
		free(out);
	}
	at = v->serves ? map_get(&x->j->place_of, in) : MAP_NONE;
	v->place = at == MAP_NONE ? FLOW_NONE : at;
}

static struct value *join_value_of(struct rewrite *x, uint32_t node)
{
	uint32_t *at = map_put(&x->index, x->m->flow.nodes[node].consumer);
	struct value *v;

	if (*at != MAP_NONE)
		return &x->values[*at];
	*at = x->nr_values;
	v = VEC_ADD(x->values, x->nr_values, x->alloc_values);
	split_value(x, model_str(x->m, join_consumer_at(x->m, node)->name), v);
	return v;
}

/* ---- the context that had a value open ---- */

static bool has_own(const struct model *m, uint32_t node)
{
	const uint64_t *base = flow_base(&m->flow, node);
	unsigned int i;

	for (i = 0; i < m->flow.nr_metrics && !base[i]; i++)
		;
	return m->flow.nodes[node].n || i < m->flow.nr_metrics;
}

/* Go down from the label while there is a single child without anything of the node's own. */
static uint32_t common_context(const struct rewrite *x, uint32_t node)
{
	while (!has_own(x->m, node) && x->nr_children[node] == 1 && !has_own(x->m, x->child[node]))
		node = x->child[node];
	return node;
}

/* Return the metric of all that is below the node. */
static uint64_t all_of(const struct model *m, uint32_t node)
{
	return flow_cum(&m->flow, node)[0];
}

/*
 * Return the longest wait, which comes first and may be in any metric: a model of several events has the
 * source wall.
 */
static uint64_t longest_of(const struct model *m, uint32_t node)
{
	uint64_t most = 0;
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		most = MAX(most, flow_base(&m->flow, node)[i]);
	return most;
}

static void find_best(struct rewrite *x)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		struct value *v;
		uint64_t weight;

		if (x->label[i] == i && join_is_value(x->j, x->m, i)) {
			v = join_value_of(x, i);
			if (!v->waited && (!v->best || all_of(x->m, i) > v->weight)) {
				v->best = common_context(x, i);
				v->weight = all_of(x->m, i);
			}
		} else if (x->label[i] && join_is_value(x->j, x->m, x->label[i]) &&
			   consumer_is_wait(x->m, f->nodes[i].consumer)) {
			v = join_value_of(x, x->label[i]);
			weight = longest_of(x->m, i);
			if (!v->waited || weight > v->weight) {
				v->best = f->nodes[i].parent;
				v->waited = true;
				v->weight = weight;
			}
		}
	}
}

/* ---- moving ---- */

static uint32_t copy_consumer(const struct model *from, uint32_t consumer, struct model *to)
{
	struct consumer c = from->consumers.items[consumer];
	struct strtab *t = &to->consumers.names;

	c.name = strtab_adds(t, model_str(from, c.name));
	c.module = c.module ? strtab_adds(t, model_str(from, c.module)) : 0;
	c.detail = c.detail ? strtab_adds(t, model_str(from, c.detail)) : 0;
	return consumer_add(&to->consumers, &c);
}

/* Return the context of that node in another model's tree, made where it is not there. */
static uint32_t copy_context(const struct model *from, const struct flow *f, uint32_t node, struct model *to,
			     struct flow *out)
{
	uint32_t *path = NULL, at = FLOW_NONE;
	size_t nr = 0, alloc = 0;

	for (; node; node = f->nodes[node].parent)
		*VEC_ADD(path, nr, alloc) = f->nodes[node].consumer;
	while (nr)
		at = flow_child(out, at, copy_consumer(from, path[--nr], to));
	free(path);
	return at;
}

/* Make the path below the place of the value: [rpc], then what is above the label in its own tree. */
static uint32_t below_place(struct rewrite *x, const struct value *v, uint32_t label, struct flow *out)
{
	const struct model *places = &x->j->places;
	const struct flow *f = &x->m->flow;
	uint32_t heads[8], node, at = copy_context(places, &places->flow, v->place, x->m, out);
	size_t nr = 0;

	at = flow_child(out, at, consumer_add_name(&x->m->consumers, CONSUMER_LABEL, JOIN_NODE,
						   strlen(JOIN_NODE)));
	for (node = f->nodes[label].parent; node && nr < ARRAY_SIZE(heads); node = f->nodes[node].parent)
		heads[nr++] = f->nodes[node].consumer;
	while (nr)
		at = flow_child(out, at, heads[--nr]);
	return at;
}

static uint32_t new_place(struct rewrite *x, uint32_t node, const uint32_t *at, struct flow *out)
{
	uint32_t parent = at[x->m->flow.nodes[node].parent];
	const struct value *v;

	if (x->label[node] != node)
		return flow_child(out, parent, x->m->flow.nodes[node].consumer);
	v = join_is_value(x->j, x->m, node) ? join_value_of(x, node) : NULL;
	return v && v->place ? below_place(x, v, node, out) : parent;
}

/* Move the nodes to out; at[node]: the new node. */
static void move_nodes(struct rewrite *x, uint32_t *at, struct flow *out)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	flow_init(out, f->nr_metrics, f->n_means);
	out->repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++) {
		at[i] = new_place(x, i, at, out);
		flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
}

static void look_at_nodes(struct rewrite *x)
{
	const struct flow *f = &x->m->flow;
	uint32_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const uint32_t parent = f->nodes[i].parent;

		x->label[i] = !x->label[parent] && join_consumer_at(x->m, i)->kind == CONSUMER_LABEL ? i :
												  x->label[parent];
		x->nr_children[parent]++;
		x->child[parent] = i;
	}
}

/* Remember this model's contexts after it was joined, for later models. */
static void learn_places(struct rewrite *x, const uint32_t *at, const struct flow *out)
{
	struct model *places = &x->j->places;
	size_t i;

	for (i = 0; i < x->nr_values; i++) {
		const struct value *v = &x->values[i];

		x->j->nr_values += v->serves;
		x->j->nr_joined += !!v->place;
		if (v->name && at[v->best])
			*map_put(&x->j->place_of, v->name) =
				copy_context(x->m, out, at[v->best], places, &places->flow);
	}
	x->j->is_labelled = x->nr_values;
}

void join_model(struct join *j, struct model *m)
{
	const size_t nr = m->flow.nr_nodes;
	struct rewrite x = { .j = j, .m = m };
	uint32_t *at = xcalloc(nr, sizeof(*at));
	struct flow out;

	j->nr_values = j->nr_joined = 0;
	x.label = xcalloc(nr, sizeof(*x.label));
	x.nr_children = xcalloc(nr, sizeof(*x.nr_children));
	x.child = xcalloc(nr, sizeof(*x.child));
	look_at_nodes(&x);
	find_best(&x);
	move_nodes(&x, at, &out);
	learn_places(&x, at, &out);
	flow_finish(&out);
	model_take_flow(m, &out, NULL);
	map_release(&x.index);
	free(x.values);
	free(x.label);
	free(x.nr_children);
	free(x.child);
	free(at);
}
