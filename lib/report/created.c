// SPDX-License-Identifier: GPL-2.0-or-later
/* created.c - turns a tree of allocations into one of creators and created classes (created.h). */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "report/created.h"
#include "report/report.h"

/* The state of one node of the tree before: */
struct place {
	uint32_t at;		/* where its own numbers go, or those of what is below it */
	uint32_t creator;	/* consumer: who is the creator of an object right below it; 0: nobody */
};

static bool is_of_objects(const char *metric)
{
	static const char *const names[] = {
		"alloc", "objects", "live", "live-objects", "live-unknown", "survived", "freed", "died",
		"lifetime",
	};
	size_t len = strcspn(metric, "."), i;	/* "alloc.sampled" beside calls */

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !strncmp(names[i], metric, len))
			return true;
	return false;
}

static int check_metrics(const struct model *m, struct err *e)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++) {
		const char *name = model_str(m, m->metrics[i].name);

		if (!is_of_objects(name))
			return err_set(e, EINVAL, "--created shows what objects are, such as --metric alloc,objects: '%s' is not",
				       name);
	}
	return 0;
}

/*
 * Return the creator that code stands for: its class, the consumer that objects of it are; else its
 * module, or itself.
 */
static uint32_t creator_of(struct model *m, uint32_t id)
{
	uint32_t kind = m->consumers.items[id].kind, folded = view_fold_consumer(m, id, FOLD_CLASS);
	struct consumer c = m->consumers.items[folded];

	if (c.kind != CONSUMER_FOLDED || c.module || *model_str(m, c.name) == '[' ||
	    !(kind_is(kind, KIND_JAVA) || kind == CONSUMER_ANY))
		return folded;
	c.kind = CONSUMER_CLASS;
	return consumer_add(&m->consumers, &c);
}

static uint32_t *creators_of(struct model *m)
{
	size_t nr = m->consumers.nr_items, i;
	uint32_t *creator = xcalloc(nr, sizeof(*creator));

	for (i = 1; i < nr; i++)
		if (!kind_is(m->consumers.items[i].kind, KIND_PLACE))
			creator[i] = creator_of(m, i);
	return creator;
}

/* Add the node of an object below its creator. */
static uint32_t add_object(const struct flow *f, uint32_t i, const struct place *up, struct flow *out)
{
	uint32_t at = up->creator ? flow_child(out, up->at, up->creator) : up->at;

	at = flow_child(out, at, f->nodes[i].consumer);
	flow_add(out, at, f->nodes[i].n, flow_base(f, i));
	return at;
}

int created_fold(struct model *m, struct err *e)
{
	const struct flow *f = &m->flow;
	struct place *places;
	uint32_t *where, *creator;
	struct flow out;
	size_t i, nr = 0;
	int r = check_metrics(m, e);

	if (r)
		return r;
	places = xcalloc(f->nr_nodes, sizeof(*places));
	where = xcalloc(f->nr_nodes, sizeof(*where));
	creator = creators_of(m);
	flow_init(&out, f->nr_metrics, f->n_means);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t c = f->nodes[i].consumer, kind = m->consumers.items[c].kind;
		const struct place *up = &places[f->nodes[i].parent];

		places[i] = *up;
		if (kind_is(kind, KIND_PLACE))
			places[i] = (struct place){ flow_child(&out, up->at, c), 0 };
		else if (kind != CONSUMER_CLASS)
			places[i].creator = creator[c];
		else
			where[i] = add_object(f, i, up, &out);
		nr += kind == CONSUMER_CLASS;
	}
	flow_finish(&out);
	model_take_flow(m, &out, where);
	free(places);
	free(where);
	free(creator);
	return nr || m->flow.nr_nodes <= 1 ? 0 : err_set(e, ENODATA, "the trace has no objects with a class");
}
