// SPDX-License-Identifier: GPL-2.0-or-later
/* holders.c - builds the tree of who waited for whom (holders.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/blame.h"
#include "model/filter.h"
#include "model/holders.h"

/* The time that threads at a function had waited for a lock of that class, or were waited for. */
struct holder_site {
	uint64_t key;			/* site_key() */
	uint32_t site;
	uint64_t ns;
};

struct take {
	struct holders *h;
	const struct selection *s;
	struct filter *kept;
	struct blame blame;
	uint32_t lock, charged;		/* events */
};

/* ---- from the trace ---- */

static bool holders_is_kept(struct take *t, const struct lock_row *l)
{
	bool kept = filter_wants_event(t->kept, &(struct filter_event){
		.event = { "lock", NULL }, .any_phase = true, .duration_ns = UINT64_MAX, .proc = l->proc,
		.class_name = l->class_name,
	});

	t->h->nr_left_out += !kept;
	return kept;
}

static uint32_t new_lock(struct take *t, const struct rec_lock_wait *r)
{
	struct holders *h = t->h;
	struct holder_lock l = {
		.name = { .proc = r->proc, .kind = r->kind, .identity = r->identity },
		.function = r->function,
	};

	locks_name_row(&h->names, &h->strings, r->function, &l.name);
	l.is_lock = locks_is_lock(&l.name);
	l.selected = select_number(&t->s->pids, l.name.pid) && select_name(&t->s->comms, l.name.process) &&
		     holders_is_kept(t, &l.name);
	VEC_GROW(h->locks, h->nr_locks, h->alloc_locks);
	h->locks[h->nr_locks] = l;
	return h->nr_locks++;
}

static uint32_t holders_lock_of(struct take *t, const struct rec_lock_wait *r)
{
	uint64_t class = (uint64_t)r->proc << 32 | r->function;
	uint32_t *at = map_put(&t->h->lock_of, hash_pair(class, (uint64_t)r->kind << 32 | r->identity));

	if (*at == MAP_NONE)
		*at = new_lock(t, r);
	return *at;
}

static int holders_take_wait(void *ctx, const struct rec_lock_wait *r)
{
	struct take *t = ctx;
	uint64_t from_ns = r->time_ns - MIN(r->ns, r->time_ns);
	uint32_t lock;

	if (r->kind >= LOCK_NR_WAITS || !r->thread)
		return 0;
	lock = holders_lock_of(t, r);
	/* a synchronizer that somebody had, once, is a lock */
	t->h->locks[lock].is_lock |= r->kind == LOCK_LOCK && r->owner;
	chains_add(&t->h->chains, &(struct chain_wait){
		.thread = r->thread, .what = lock + 1, .kind = r->owner ? WAKE_THREAD : WAKE_UNKNOWN,
		.by = r->owner, .from_ns = from_ns, .to_ns = r->time_ns, .seen_ns = from_ns + r->ns / 2,
		.weight = r->weight,
	});
	return 0;
}

/* Choose waits for locks as roots; other waits only show what holders do. */
static void choose_waits(struct holders *h)
{
	size_t i;

	for (i = 0; i < h->chains.nr_waits; i++) {
		struct chain_wait *w = &h->chains.waits[i];
		const struct holder_lock *l = &h->locks[w->what - 1];

		if (!l->is_lock || !l->selected)
			continue;
		w->part_ns = w->weight;
		w->part_from_ns = w->from_ns;
		w->part_to_ns = w->to_ns;
		h->ns += w->weight;
		h->nr_waits++;
	}
}

/* ---- where threads were ---- */

static uint64_t site_key(uint32_t thread, uint32_t function, bool charged)
{
	return hash_pair((uint64_t)thread << 32 | function, charged);
}

static void add_site(struct holders *h, uint64_t key, uint32_t site, uint64_t ns)
{
	uint32_t *at = map_put(&h->site_of, hash_pair(key, site));

	if (*at == MAP_NONE) {
		VEC_GROW(h->sites, h->nr_sites, h->alloc_sites);
		*at = h->nr_sites;
		h->sites[h->nr_sites++] = (struct holder_site){ key, site, 0 };
	}
	h->sites[*at].ns += ns;
}

/* Take samples; their stacks end in the class of the lock. */
static int holders_take_samples(void *ctx, const struct rec_sample *s, size_t nr,
				const struct stack_epoch *ep)
{
	struct take *t = ctx;
	const struct frame *leaf;
	struct blamed b;
	size_t i;

	for (i = 0; i < nr; i++) {
		bool charged = s[i].event == t->charged;

		if ((!charged && s[i].event != t->lock) || !s[i].stack || s[i].stack >= ep->nr_nodes)
			continue;
		leaf = &ep->frames[ep->nodes[s[i].stack].frame];
		b = blame_stack(&t->blame, &s[i], ep);
		if (b.site && leaf->kind == FRAME_NAMED)
			add_site(t->h, site_key(s[i].thread, leaf->function, charged), b.site, s[i].weight);
	}
	return 0;
}

static void find_best_sites(struct holders *h)
{
	size_t i;

	for (i = 0; i < h->nr_sites; i++) {
		uint32_t *best = map_put(&h->best_of, h->sites[i].key);

		if (*best == MAP_NONE || h->sites[i].ns > h->sites[*best].ns)
			*best = i;
	}
}

static uint32_t holders_site_of(const struct holders *h, uint32_t thread, uint32_t lock, bool charged)
{
	uint32_t at = map_get(&h->best_of, site_key(thread, h->locks[lock].function, charged));

	return at == MAP_NONE ? 0 : h->sites[at].site;
}

/* ---- the tree ---- */

struct node {
	uint32_t step, parent;		/* numbers of steps; 0: none */
	uint64_t ns;			/* with all below */
};

static int by_parent_and_ns(const void *p, const void *q)
{
	const struct node *a = p, *b = q;

	return COMPARE(a->parent, b->parent) ?: COMPARE(b->ns, a->ns) ?: COMPARE(a->step, b->step);
}

static bool is_above(const struct chains *c, uint32_t at, uint32_t thread)
{
	for (; at; at = c->steps[at].parent)
		if (c->steps[at].thread == thread)
			return true;
	return false;
}

static enum holder_end holder_end_of(const struct chains *c, const struct chain_step *s)
{
	if (s->what)
		return HOLDER_WAITS;
	if (s->cut)
		return s->thread && is_above(c, s->parent, s->thread) ? HOLDER_CIRCLE : HOLDER_CUT;
	return s->kind == WAKE_THREAD ? HOLDER_RUNS : HOLDER_UNKNOWN;
}

/* Return whether to show a step: what is not a lock has no holder, so the wait for it suffices. */
static bool holders_is_shown(const struct holders *h, const struct chain_step *s)
{
	const struct chain_step *up = &h->chains.steps[s->parent];

	return s->what || s->cut || s->kind == WAKE_THREAD || (up->what && h->locks[up->what - 1].is_lock);
}

/* Returns the number of the row, from 1 on. */
static uint32_t holders_add_row(struct holders *h, const struct node *n, uint32_t parent)
{
	const struct chain_step *s = &h->chains.steps[n->step], *up = &h->chains.steps[s->parent];
	struct holder_row row = {
		.parent = parent, .level = parent ? h->rows[parent - 1].level + 1 : 0, .thread = s->thread,
		.lock = s->what ? s->what - 1 : 0, .end = holder_end_of(&h->chains, s), .ns = n->ns,
	};

	if (s->what)
		row.site = holders_site_of(h, s->thread, s->what - 1, false);
	else if (s->thread && up->what)
		row.site = holders_site_of(h, s->thread, up->what - 1, true);
	*VEC_ADD(h->rows, h->nr_rows, h->alloc_rows) = row;
	return h->nr_rows;
}

/* The steps that have the same parent: nodes[at] to before nodes[end]. */
struct children {
	uint32_t at, end;
};

/* Sort steps by their parents; of[step] are the children of each, of[0] those without a parent. */
static struct node *sort_steps(const struct chains *c, struct children *of)
{
	struct node *nodes = xcalloc(c->nr_steps, sizeof(*nodes));
	size_t i;

	for (i = 0; i < c->nr_steps; i++)
		nodes[i] = (struct node){ i, c->steps[i].parent, c->steps[i].ns };
	for (i = c->nr_steps; i-- > 1;)	/* a parent comes before its children */
		nodes[nodes[i].parent].ns += nodes[i].ns;
	qsort(nodes + 1, c->nr_steps - 1, sizeof(*nodes), by_parent_and_ns);
	for (i = c->nr_steps; i-- > 1;) {
		struct children *x = &of[nodes[i].parent];

		x->end = x->end ? x->end : i + 1;
		x->at = i;
	}
	return nodes;
}

static void holders_make_rows(struct holders *h)
{
	const struct chains *c = &h->chains;
	struct children *of = xcalloc(c->nr_steps, sizeof(*of)), open[CHAINS_MAX_DEPTH + 4];
	struct node *nodes = sort_steps(c, of);
	uint32_t rows[ARRAY_SIZE(open)] = { 0 };
	size_t nr = 1;

	open[0] = of[0];
	while (nr) {
		const struct node *n;

		if (open[nr - 1].at == open[nr - 1].end) {
			nr--;
			continue;
		}
		n = &nodes[open[nr - 1].at++];
		if (!n->ns || !holders_is_shown(h, &c->steps[n->step]))
			continue;
		rows[nr] = holders_add_row(h, n, rows[nr - 1]);
		open[nr++] = of[n->step];
	}
	free(of);
	free(nodes);
}

static int read_waits(struct take *t, struct trace_reader *reader, struct err *e)
{
	static const struct trace_sink waits = { .lock_wait = holders_take_wait };
	static const struct trace_sink samples = { .samples = holders_take_samples };
	struct holders *h = t->h;
	int r = trace_read(reader, &waits, t, e);

	if (r)
		return r;
	if (!h->chains.nr_waits)
		return err_set(e, ENODATA, "which wait was for which lock was not recorded: earlier versions did not");
	choose_waits(h);
	r = trace_read(reader, &samples, t, e);
	if (r)
		return r;
	find_best_sites(h);
	chains_sort(&h->chains);
	chains_make(&h->chains);
	holders_make_rows(h);
	return 0;
}

int holders_read(struct holders *h, struct trace_reader *t, const struct selection *s, struct err *e)
{
	struct take take = { .h = h, .s = s };
	int r;

	memset(h, 0, sizeof(*h));
	r = names_read_texts(&h->names, &h->strings, t, e);
	if (r)
		return r;
	take.blame = (struct blame){ .names = &h->names, .what = BLAME_FUNCTION };
	take.lock = names_find_event(&h->names, "lock");
	take.charged = names_find_event(&h->names, "blame");
	if (take.lock == UINT32_MAX) {
		err_set(e, ENODATA, "waits for locks were not recorded");
		err_hint(e, "arcprof record -e lock");
		return -ENODATA;
	}
	r = filter_new(&take.kept, &h->names, s->filter, t, e);
	if (!r)
		r = read_waits(&take, t, e);
	blame_release(&take.blame);
	filter_free(take.kept);
	return r;
}

void holders_release(struct holders *h)
{
	names_release(&h->names);
	model_release(&h->strings);
	chains_release(&h->chains);
	map_release(&h->lock_of);
	map_release(&h->site_of);
	map_release(&h->best_of);
	free(h->locks);
	free(h->rows);
	free(h->sites);
}
