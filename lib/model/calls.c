// SPDX-License-Identifier: GPL-2.0-or-later
/* calls.c - reads call trees and events of a trace (calls.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/calls.h"
#include "model/threadlabels.h"

void calls_init(struct calls *c, struct names *x)
{
	const char *mark = frame_mark_name(MARK_DAMAGED);

	*c = (struct calls){ .names = x };
	c->damaged = consumer_add_name(&x->m->consumers, CONSUMER_MARK, mark, strlen(mark));
}

void calls_release(struct calls *c)
{
	free(c->trees);
	free(c->functions);
	map_release(&c->tree_of);
	map_release(&c->function_of);
	map_release(&c->thread_of);
}

/* ---- trees and functions ---- */

static uint32_t tree_index(struct calls *c, uint32_t number)
{
	uint32_t *at = map_put(&c->tree_of, number);

	if (*at == MAP_NONE) {
		*at = c->nr_trees;
		*VEC_ADD(c->trees, c->nr_trees, c->alloc_trees) = (struct rec_call_tree){ .tree = number };
	}
	return *at;
}

static void learn_tree(struct calls *c, const struct rec_call_tree *r)
{
	uint32_t at = tree_index(c, r->tree), *thread;

	c->trees[at] = *r;
	c->trees[at].name = arena_strndup(&c->names->text, r->name, r->name_len);
	if (!r->thread || r->flags & CALL_TREE_VIRTUAL)
		return;
	thread = map_put(&c->thread_of, r->thread);
	if (*thread == MAP_NONE)
		*thread = c->nr_threads++;
}

static void learn_function(struct calls *c, const struct rec_call_consumer *r)
{
	uint32_t *at = map_put(&c->function_of, r->consumer);

	if (*at == MAP_NONE) {
		*at = c->nr_functions;
		VEC_GROW(c->functions, c->nr_functions, c->alloc_functions);
		c->nr_functions++;
	}
	c->functions[*at] = (struct call_function){ .frame = r->frame };
}

static void learn_label(struct calls *c, const struct rec_call_label *r)
{
	uint32_t at = map_get(&c->function_of, r->consumer);

	if (at == MAP_NONE)
		return;
	c->functions[at].is_label = c->has_labels = true;
	c->functions[at].labels = r->flags & THREAD_LABEL_UNKNOWN ? THREADLABELS_UNKNOWN :
				  threadlabels_text(c->names, r->labels, r->labels_len);
}

const struct call_function *calls_label(const struct calls *c, uint32_t function)
{
	uint32_t at = c->has_labels ? map_get(&c->function_of, function) : MAP_NONE;

	return at != MAP_NONE && c->functions[at].is_label ? &c->functions[at] : NULL;
}

bool calls_is_pruned(const struct calls *c, uint32_t function)
{
	uint32_t at = map_get(&c->function_of, function);

	return at != MAP_NONE && c->functions[at].frame.kind == FRAME_MARK &&
	       c->functions[at].frame.mark == MARK_PRUNED;
}

/* Return whether a call site has that frame; of native functions it is known by its name alone. */
static bool is_frame_of_site(const struct names *x, const struct frame *f)
{
	uint32_t at = f->kind == FRAME_NAMED ? map_get(&x->function_of, f->function) : MAP_NONE;

	return f->kind == FRAME_SITE || (at != MAP_NONE && x->functions[at].kind == CONSUMER_NATIVE);
}

uint8_t *calls_sites(const struct calls *c, size_t *nr)
{
	uint8_t *sites = xcalloc(*nr = c->names->m->consumers.nr_items, 1);
	size_t i;

	for (i = 0; i < c->nr_functions; i++)
		if (c->functions[i].consumer)
			sites[c->functions[i].consumer] |= is_frame_of_site(c->names, &c->functions[i].frame);
	return sites;
}

uint32_t calls_consumer(struct calls *c, uint32_t function)
{
	uint32_t at = map_get(&c->function_of, function);
	struct names *x = c->names;
	struct call_function *f;
	struct name_run r;

	if (at == MAP_NONE || c->functions[at].frame.kind == FRAME_NONE)
		return c->damaged;
	f = &c->functions[at];
	if (!f->consumer) {	/* what is inlined at the first instruction is not called by that name */
		r = names_consumers(x, &f->frame, 0);
		f->consumer = r.nr ? x->levels[r.first].consumer : c->damaged;
	}
	return f->consumer;
}

void calls_thread(struct calls *c, uint32_t tree, uint32_t *process, uint32_t *thread)
{
	const struct rec_call_tree *r = &c->trees[tree];
	struct names *x = c->names;
	uint32_t proc, at;

	*thread = names_thread(x, r->thread, &proc);
	if (!r->thread || r->name_len || r->flags & CALL_TREE_VIRTUAL) {
		struct consumer k = { .kind = CONSUMER_THREAD };

		at = map_get(&x->proc_of, r->proc);
		k.name = strtab_adds(&x->m->consumers.names, r->name_len ? r->name : "[no name]");
		if (r->thread && !(r->flags & CALL_TREE_VIRTUAL))
			k.key = x->m->consumers.items[*thread].key;
		else
			k.key = names_pair(at == MAP_NONE ? 0 : x->procs[at].pid, r->java_id);
		*thread = consumer_add(&x->m->consumers, &k);
		proc = r->proc;
	}
	*process = names_process(x, proc ? proc : r->proc);
}

uint32_t calls_root(struct calls *c, uint32_t tree)
{
	struct flow *f = &c->names->m->flow;
	uint32_t process, thread;

	calls_thread(c, tree, &process, &thread);
	return flow_child(f, flow_child(f, FLOW_NONE, process), thread);
}

/* ---- a pass ---- */

struct pass {
	struct calls *c;
	const struct calls_sink *sink;
	void *ctx;
};

static int calls_take_tree(void *ctx, const struct rec_call_tree *r)
{
	learn_tree(((struct pass *)ctx)->c, r);
	return 0;
}

static int calls_take_function(void *ctx, const struct rec_call_consumer *r)
{
	learn_function(((struct pass *)ctx)->c, r);
	return 0;
}

static int calls_take_label(void *ctx, const struct rec_call_label *r)
{
	learn_label(((struct pass *)ctx)->c, r);
	return 0;
}

static int calls_take_nodes(void *ctx, const struct rec_call_nodes *r)
{
	struct pass *p = ctx;

	return p->sink->nodes(p->ctx, tree_index(p->c, r->tree), r);
}

static int calls_take_values(void *ctx, const struct rec_call_values *r)
{
	struct pass *p = ctx;

	return p->sink->values(p->ctx, tree_index(p->c, r->tree), r);
}

static int calls_take_events(void *ctx, const struct rec_call_events *r)
{
	struct pass *p = ctx;

	return p->sink->events(p->ctx, tree_index(p->c, r->tree), r);
}

static int calls_take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct pass *p = ctx;

	return p->sink->sched(p->ctx, r, nr);
}

/* ---- samples of entries and returns ---- */

static void learn_probed(struct calls *c)
{
	uint32_t i;

	probed_find(&c->probed, c->names);
	for (i = 1; i <= c->probed.nr_functions; i++) {
		learn_function(c, &(struct rec_call_consumer){ i, { .kind = FRAME_NAMED } });
		c->functions[c->nr_functions - 1].consumer = probed_consumer(&c->probed, c->names, i);
	}
}

/* A thread's tree has its number. A weight above 1 has calls whose samples were lost. */
static int calls_take_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct pass *p = ctx;
	int r = 0;
	size_t i;

	(void)ep;
	for (i = 0; i < nr && !r; i++) {
		struct probed_event x = { 0 };
		struct call_event e;

		if (s[i].event < PROBED_MAX_EVENTS)
			x = p->c->probed.events[s[i].event];
		if (!x.function || !s[i].thread)
			continue;
		if (map_get(&p->c->tree_of, s[i].thread) == MAP_NONE)
			learn_tree(p->c, &(struct rec_call_tree){ .tree = s[i].thread, .thread = s[i].thread,
								  .name = "" });
		e = (struct call_event){ s[i].time_ns, x.kind, x.function, { 0 } };
		if (p->sink->events)
			r = p->sink->events(p->ctx, tree_index(p->c, s[i].thread),
					    &(struct rec_call_events){ s[i].thread, 0, 1, &e });
	}
	return r;
}

int calls_read(struct calls *c, struct trace_reader *t, const struct calls_sink *sink, void *ctx,
	       struct err *e)
{
	static const struct calls_sink nothing = { .nodes = NULL };
	struct trace_sink records = { .samples = NULL };
	struct pass p = { c, sink ? sink : &nothing, ctx };
	int r;

	if (!c->complete) {
		records.call_tree = calls_take_tree;
		records.call_consumer = calls_take_function;
		records.call_label = calls_take_label;
		learn_probed(c);
	}
	if (c->probed.nr_functions && (!c->complete || p.sink->events))
		records.samples = calls_take_samples;
	records.call_nodes = p.sink->nodes ? calls_take_nodes : NULL;
	records.call_values = p.sink->values ? calls_take_values : NULL;
	records.call_events = p.sink->events ? calls_take_events : NULL;
	records.sched = p.sink->sched ? calls_take_sched : NULL;
	r = trace_read(t, &records, &p, e);
	c->complete = true;
	return r;
}
