// SPDX-License-Identifier: MIT
/*
 * tree.c - enter and leave: one step in the tree of a thread.
 *
 * Invariants:
 *  [1] the children of a node are distinct in consumer, and form a ring: a function calls others
 *	mostly in the same order, so a child is put behind the last used one, and sought from there;
 *  [2] stack[0] is the root, the entries above it up to top are the open calls;
 *  [3] a call is counted in exactly one node, and what is consumed is charged to exactly one:
 *	where a node cannot be had it is [pruned] of the parent, else [pruned] of the thread;
 *  [4] the recorder finds the innermost open call from the root by the last used children, or in
 *	t->innermost. Calls that break the first rule, and all inside them, are stored with an inverted
 *	consumer, so that their ends take the long way and keep t->innermost.
 */
#include "callflow/process.h"
#include "callflow/wide.h"

enum {
	MAX_PAGES = 16,			/* taken from the pool at once */
	MAX_STACK = 1 << 24,		/* open calls */
	LOOK_BACK = 128,		/* levels searched for a repeating call */
	WIDE = 6,			/* children tried one by one before there is a table for them */
};

static const uint32_t page_words = CALLFLOW_PAGE / 8;

/* One more open call. One store: the compiler would make a detour through a vector register. */
static inline void callflow_tree_push(struct callflow_thread *t, struct callflow_open *top, uint32_t node,
				      uint32_t consumer, uint64_t frame)
{
	uint64_t *o = (uint64_t *)(top + 1);

	o[0] = (uint64_t)consumer << 32 | node;
	o[1] = frame;
	t->top = (uintptr_t)o;
}

static uint64_t depth_of(const struct callflow_thread *t)
{
	return top_of(t) - stack_of(t);
}

/* Push one more open call, to which the last used children do not lead [4]. */
static void push_apart(struct callflow_thread *t, struct callflow_open *top, uint32_t node, uint32_t consumer,
		       uint64_t frame)
{
	callflow_tree_push(t, top, node, ~consumer, frame);
	t->innermost = node;
}

/*
 * Calls from frames that were there before, and the first of a thread, go the long way in: as if the stack
 * were full. So that their ends go the long way, too, and this is done again, they are stored inverted.
 */
enum { FROM_OUTER = 1 };		/* their frame */

static bool is_outer(const struct callflow_thread *t, const struct callflow_open *o)
{
	return t->flags & CALLFLOW_THREAD_OUTER && (o == stack_of(t) || o->frame > FROM_OUTER);
}

static void set_limit(struct callflow_thread *t)
{
	uint32_t limit = t->stack_max - 1 < cf.area->max_depth ? t->stack_max - 1 : cf.area->max_depth;

	t->soft_top = (uintptr_t)(stack_of(t) + (is_outer(t, top_of(t)) ? 0 : limit));
}

/* Calls up to o are left open. */
static void cut_stack(struct callflow_thread *t, struct callflow_open *o)
{
	t->top = (uintptr_t)o;
	t->innermost = is_apart(o) && o->frame != FROM_OUTER ? o->node : 0;
	if (t->flags & CALLFLOW_THREAD_OUTER)
		set_limit(t);
}

/* --- nodes --- */

static uint32_t callflow_tree_owner_of(const struct callflow_thread *t)
{
	return t - cf.threads + 1;
}

/*
 * Gives t the next pages; a thread that needs many gets more at once. One that has three times what is left
 * prunes its tree first, so that there is something for the others.
 */
static bool take_pages(struct callflow_thread *t)
{
	struct callflow_area *a = cf.area;
	uint32_t want, first, limit = a->nr_pages - a->nr_reserved, given = load_relaxed(&a->next_page), i;

	if (t->free_pages) {
		t->free_pages--;
		t->free = t->free_end;
		t->free_end += page_words;
		return true;
	}
	want = t->grab ? (t->grab < MAX_PAGES ? t->grab * 2 : MAX_PAGES) : 1;
	if (given >= limit || t->own_pages / 3 > limit - given)
		return false;
	first = add_relaxed(&a->next_page, want) + 1;
	if (first >= limit)
		return false;
	if (first + want > limit)
		want = limit - first;
	for (i = 0; i < want; i++)
		store_relaxed(&cf.owners[first + i], callflow_tree_owner_of(t));
	t->own_pages += want;
	t->grab = want;
	t->free_pages = want - 1;
	t->free = first * page_words;
	t->free_end = t->free + page_words;
	return true;
}

static bool take_reserve(struct callflow_thread *t)
{
	struct callflow_area *a = cf.area;
	uint32_t page;

	if (load_relaxed(&a->next_reserved) >= a->nr_reserved)
		return false;
	page = add_relaxed(&a->next_reserved, 1);
	if (page >= a->nr_reserved)
		return false;
	page = a->nr_pages - 1 - page;
	store_relaxed(&cf.owners[page], callflow_tree_owner_of(t));
	t->own_pages++;
	t->reserve = page * page_words;
	t->reserve_end = t->reserve + page_words;
	return true;
}

static uint32_t init_node(uint32_t ref, uint32_t parent, uint32_t consumer)
{
	struct callflow_node *n = node_at(ref), *p = node_at(parent);

	n->parent = parent;
	if (parent) {
		n->sibling = p->child ? node_at(p->child)->sibling : ref;
		if (p->child)
			node_at(p->child)->sibling = ref;
		p->child = ref;
	}
	store_release(&n->consumer, consumer);
	return ref;
}

/* Return a node for [pruned] or a root, also from those that are reserved for them. */
static uint32_t reserved_node(struct callflow_thread *t, uint32_t parent, uint32_t consumer)
{
	uint32_t ref;

	if (t->reserve_end - t->reserve < cf.node_words && !take_reserve(t))
		return 0;
	ref = t->reserve;
	t->reserve += cf.node_words;
	return init_node(ref, parent, consumer);
}

/* Return the node of a context that was pruned. */
static uint32_t used_node(struct callflow_thread *t, uint32_t parent, uint32_t consumer)
{
	uint32_t ref = t->free_nodes, m;
	struct callflow_node *n = node_at(ref);

	t->free_nodes = n->child;
	n->child = 0;
	n->calls = ((n->calls & CALLFLOW_USES) + CALLFLOW_USE) & CALLFLOW_USES;
	for (m = 0; m < cf.nr_metrics; m++)
		n->base[m] = 0;
	n->sibling = ref;
	return init_node(ref, parent, consumer);
}

uint32_t callflow_node_new(struct callflow_thread *t, uint32_t parent, uint32_t consumer)
{
	uint32_t ref;

	if (t->free_nodes)
		return used_node(t, parent, consumer);
	if (t->free_end - t->free < cf.node_words && !take_pages(t))
		return consumer >= CALLFLOW_MARK && consumer <= CALLFLOW_CONSUMER_LABEL_UNKNOWN ?
			       reserved_node(t, parent, consumer) : 0;
	ref = t->free;
	t->free += cf.node_words;
	return init_node(ref, parent, consumer);
}

/* --- children --- */

static uint32_t pruned_of(struct callflow_thread *t, uint32_t parent)
{
	uint32_t first = node_at(parent)->child, c = first;

	if (node_at(parent)->consumer == CALLFLOW_CONSUMER_PRUNED)
		return parent;
	if (first) {
		do {
			if (node_at(c)->consumer == CALLFLOW_CONSUMER_PRUNED)
				return c;
			c = node_at(c)->sibling;
		} while (c != first);
	}
	c = callflow_node_new(t, parent, CALLFLOW_CONSUMER_PRUNED);
	return c ? c : t->pruned;
}

static struct callflow_wide *wide_of(const struct callflow_thread *t)
{
	return (void *)(uintptr_t)t->wide;
}

void callflow_free_wide(struct callflow_thread *t)
{
	wide_free(wide_of(t));
	t->wide = 0;
}

/* Parent has many children: from now on they are found in a table. */
static bool make_wide(struct callflow_thread *t, uint32_t parent)
{
	uint32_t first = node_at(parent)->child, c = first;

	if (!t->wide)
		t->wide = (uintptr_t)wide_new();
	if (!wide_of(t) || !wide_add(wide_of(t), parent, 0, parent))
		return false;
	do {
		wide_add(wide_of(t), parent, node_at(c)->consumer, c);
		c = node_at(c)->sibling;
	} while (c != first);
	return true;
}

static bool is_wide(const struct callflow_thread *t, uint32_t parent)
{
	return wide_find(wide_of(t), parent, 0);
}

/* Search the first max nodes of the ring; tried: how many it looked at. */
static uint32_t find_in_ring(uint32_t first, uint32_t consumer, uint32_t max, uint32_t *tried)
{
	uint32_t c = first;

	*tried = 0;
	do {
		if (node_at(c)->consumer == consumer)
			return c;
		c = node_at(c)->sibling;
	} while (++*tried < max && c != first);
	return 0;
}

/* Search a parent with many children; without memory for a table, all of them are tried. */
static uint32_t find_in_table(struct callflow_thread *t, uint32_t parent, uint32_t consumer)
{
	uint32_t c = wide_find(wide_of(t), parent, consumer), tried;

	if (c || is_wide(t, parent))
		return c;
	if (make_wide(t, parent))
		return wide_find(wide_of(t), parent, consumer);
	return find_in_ring(node_at(parent)->child, consumer, UINT32_MAX, &tried);
}

/* Return the child of parent for consumer, or 0. */
static inline __attribute__((always_inline)) uint32_t find_child(struct callflow_thread *t, uint32_t parent,
								  uint32_t consumer)
{
	uint32_t first = node_at(parent)->child, tried, c;

	if (!first)
		return 0;
	c = find_in_ring(first, consumer, WIDE, &tried);
	if (!c && tried == WIDE)
		c = find_in_table(t, parent, consumer);
	return c;
}

/* Return the node where a call of consumer in parent is counted. */
static __attribute__((noinline)) uint32_t child_of(struct callflow_thread *t, uint32_t parent,
						   uint32_t consumer)
{
	uint32_t c = find_child(t, parent, consumer);

	if (c)
		return c;
	if (node_at(parent)->consumer != CALLFLOW_CONSUMER_PRUNED && consumer != CALLFLOW_CONSUMER_PRUNED)
		c = callflow_context_new(t, parent, consumer);
	if (!c) {
		t->folded++;
		return pruned_of(t, parent);
	}
	if (is_wide(t, parent))
		wide_add(wide_of(t), parent, consumer, c);
	return c;
}

/* --- depth --- */

void callflow_set_stack(struct callflow_thread *t, struct callflow_open *stack, uint32_t max, uint64_t depth)
{
	t->stack = (uintptr_t)stack;
	t->stack_max = max;
	t->top = (uintptr_t)(stack + depth);
	set_limit(t);
}

static bool grow_stack(struct callflow_thread *t)
{
	struct callflow_open *old = stack_of(t), *bigger;
	uint32_t max = t->stack_max, i;

	if (max >= MAX_STACK || !(bigger = callflow_pages(callflow_stack_bytes(2 * max), false)))
		return false;
	for (i = 0; i < max; i++)
		bigger[i] = old[i];
	for (i = 0; cf.flags & CALLFLOW_SITES && i < max; i++)
		((uint32_t *)(bigger + 2 * max))[i] = ((const uint32_t *)(old + max))[i];
	callflow_set_stack(t, bigger, 2 * max, depth_of(t));
	callflow_free_pages(old, callflow_stack_bytes(max));
	return true;
}

/*
 * At this depth only existing contexts are used. What is open further out keeps its
 * last used child.
 */
static uint32_t fold_deep(struct callflow_thread *t, uint32_t consumer)
{
	const struct callflow_open *top = top_of(t), *o;
	uint32_t c, used;

	if (node_at(top->node)->consumer != CALLFLOW_CONSUMER_PRUNED) {
		if ((c = find_child(t, top->node, consumer))) {
			t->folded_recursion++;
			return c;
		}
		for (o = top; o > stack_of(t) && top - o < LOOK_BACK; o--) {
			if (callflow_is_call_of(o, consumer) && node_at(o->node)->consumer == consumer) {
				t->folded_recursion++;
				return o->node;
			}
		}
	}
	t->folded++;
	used = node_at(top->node)->child;
	c = pruned_of(t, top->node);
	if (used)
		node_at(top->node)->child = used;
	return c;
}

/* Push a call in a node that child_of() returned. */
static inline void push_child(struct callflow_thread *t, struct callflow_open *top, uint32_t c,
			      uint32_t consumer, uint64_t frame)
{
	node_at(c)->calls++;
	if (t->innermost || node_at(c)->parent != top->node) {
		bool from_outer = frame == FROM_OUTER;

		push_apart(t, top, c, from_outer ? ~consumer : consumer, from_outer ? 0 : frame);
	} else {
		node_at(top->node)->child = c;
		callflow_tree_push(t, top, c, consumer, frame);
	}
}

/* --- frames from before --- */

void callflow_has_outside(const struct callflow_outside *o)
{
	cf.outside = o;
}

void callflow_look_outside(struct callflow_thread *t)
{
	if (!cf.outside)
		return;
	t->flags |= CALLFLOW_THREAD_OUTER;
	set_limit(t);
}

void callflow_put_outer(struct callflow_thread *t, uint32_t consumer, struct callflow_outer o)
{
	struct callflow_open *top = top_of(t);

	if (depth_of(t) + 1 >= t->stack_max || depth_of(t) >= cf.area->max_depth)
		return;
	push_child(t, top, child_of(t, top->node, consumer), consumer, (uint64_t)o.place << 48 | o.id);
	if (cf.flags & CALLFLOW_SITES)
		*site_of_top(t) = 0;	/* its code has no probes */
	if (cf.flags & CALLFLOW_EVENTS)
		callflow_event(t, CALLFLOW_ENTERED, consumer);
}

/*
 * Find, before a call from the root or from an outer frame, which outer frames there are. Returns true to
 * be asked again at the next one.
 */
static bool ask_outside(struct callflow_thread *t)
{
	struct callflow_open *o = top_of(t);
	uint64_t nr;

	if (o == stack_of(t) && !cf.outside->find(t))
		return true;
	if (o != stack_of(t)) {
		for (; o > stack_of(t); o--) {
			struct callflow_outer f = { .id = o->frame & (((uint64_t)1 << 48) - 1),
				.place = o->frame >> 48 };

			if (cf.outside->is_there(f))
				break;
		}
		nr = top_of(t) - o;
		cut_stack(t, o);
		if (cf.flags & CALLFLOW_EVENTS && nr)
			callflow_event(t, CALLFLOW_UNWOUND, nr);
	}
	if (t->top != t->stack)
		return true;
	t->flags &= ~CALLFLOW_THREAD_OUTER;	/* none, or none any more */
	set_limit(t);
	return false;
}

/*
 * Enter when the stack is full, or at the depth limit. If it cannot grow, a call above has no
 * entry: the last one becomes theirs, with a consumer that makes leave() look.
 */
static __attribute__((noinline)) void enter_deep(struct callflow_thread *t, uint32_t consumer, uint64_t frame)
{
	bool outer = !t->beyond && is_outer(t, top_of(t)) && ask_outside(t);
	struct callflow_open *top = top_of(t);
	uint32_t c;

	if (t->beyond || (depth_of(t) + 1 >= t->stack_max && !grow_stack(t))) {
		if (!t->beyond++) {
			t->below = *top;
			*top = (struct callflow_open){ pruned_of(t, top->node), 0, 0 };
			t->innermost = top->node;
		}
		t->folded++;
		node_at(top->node)->calls++;
		return;
	}
	top = top_of(t);
	if (depth_of(t) < cf.area->max_depth) {
		push_child(t, top, child_of(t, top->node, consumer), outer ? ~consumer : consumer,
			   outer ? FROM_OUTER : frame);
		if (t->flags & CALLFLOW_THREAD_OUTER)
			set_limit(t);
		return;
	}
	c = fold_deep(t, consumer);
	node_at(c)->calls++;
	push_apart(t, top, c, consumer, frame);
}

static __attribute__((noinline)) void enter_slow(struct callflow_thread *t, uint32_t consumer, uint64_t frame)
{
	struct callflow_open *top = top_of(t);

	if (t->top >= t->soft_top)
		enter_deep(t, consumer, frame);
	else
		push_child(t, top, child_of(t, top->node, consumer), consumer, frame);
}

/*
 * Enter by the short way: what was called last, or what was called after it. It makes no call except a last
 * one, and needs no stack of its own. At the depth limit a node may also be open further out, and keeps its
 * last used child [4].
 */
static inline __attribute__((always_inline)) void enter_tree(struct callflow_thread *t, uint32_t consumer,
							     uint64_t frame)
{
	struct callflow_open *top = top_of(t);
	struct callflow_node *p = node_at(top->node), *n;
	uint32_t c = p->child;

	n = node_at(c);
	if (likely(n->consumer == consumer)) {
		if (unlikely(t->top >= t->soft_top)) {
			enter_deep(t, consumer, frame);
			return;
		}
	} else {
		c = n->sibling;
		n = node_at(c);
		if (unlikely(n->consumer != consumer)) {
			enter_slow(t, consumer, frame);
			return;
		}
		if (unlikely(t->top >= t->soft_top)) {
			enter_deep(t, consumer, frame);
			return;
		}
		p->child = c;
	}
	n->calls++;
	callflow_tree_push(t, top, c, consumer, frame);
}

/*
 * Insert a call that was left without having been entered: it was open before the first event. The thread's
 * node becomes the consumer's, with all that is in it, and a new one for the thread goes above.
 */
static void insert_above(struct callflow_thread *t, uint32_t consumer)
{
	uint32_t old = t->root, root = reserved_node(t, 0, CALLFLOW_CONSUMER_THREAD);

	t->inserted++;
	cut_stack(t, stack_of(t));
	if (!root) {
		node_at(t->pruned)->calls++;
		t->folded++;
		return;
	}
	node_at(root)->calls = node_at(old)->calls & CALLFLOW_CALLS;
	node_at(root)->child = old;
	node_at(old)->parent = root;
	node_at(old)->sibling = old;
	node_at(old)->calls = 1;
	store_release(&node_at(old)->consumer, consumer);
	t->root = t->at = root;
	stack_of(t)[0].node = root;
}

/* Handle the exit of a call that is not open. */
static void leave_unentered(struct callflow_thread *t, uint32_t consumer)
{
	if (t->at != t->root || (cf.sees_entries && (consumer & CALLFLOW_KIND) == CALLFLOW_METHOD &&
				 !(t->flags & CALLFLOW_THREAD_LATE))) {
		t->inserted++;
		return;
	}
	if (t->flags & CALLFLOW_THREAD_LATE && load_relaxed(&cf.area->lost_calls))
		add_relaxed(&cf.area->lost_calls, -1ull);	/* now it is counted */
	t->popped += depth_of(t);
	insert_above(t, consumer);
}

static __attribute__((noinline)) void leave_slow(struct callflow_thread *t, uint32_t consumer)
{
	struct callflow_open *o = top_of(t);

	if (t->beyond) {
		if (!--t->beyond) {
			*o = t->below;
			cut_stack(t, o);
		}
		return;
	}
	for (; o > stack_of(t) && !callflow_is_call_of(o, consumer); o--)
		;
	if (o == stack_of(t)) {
		leave_unentered(t, consumer);
		return;
	}
	t->popped += top_of(t) - o;
	cut_stack(t, o - 1);
}

static inline __attribute__((always_inline)) void leave_tree(struct callflow_thread *t, uint32_t consumer)
{
	struct callflow_open *top = top_of(t);

	if (unlikely(top->consumer != consumer))
		leave_slow(t, consumer);
	else
		t->top = (uintptr_t)(top - 1);
}

/* --- objects and labels --- */

/* The child of the open context for objects of that class; 0: there is no room. */
static uint32_t class_node(struct callflow_thread *t, uint32_t consumer)
{
	uint32_t parent = top_of(t)->node, used = node_at(parent)->child, c;

	if (node_at(parent)->consumer == CALLFLOW_CONSUMER_PRUNED)
		return 0;
	c = find_child(t, parent, consumer);
	if (c)
		return c;
	c = callflow_node_new(t, parent, consumer);
	if (!c && callflow_prune(t)) {
		used = 0;	/* it may be gone */
		c = callflow_node_new(t, parent, consumer);
	}
	if (c && is_wide(t, parent))
		wide_add(wide_of(t), parent, consumer, c);
	if (used)
		node_at(parent)->child = used;	/* [4], and the short way in goes on */
	return c;
}

void callflow_charge_object(struct callflow_kthread *k, uint32_t class_number, uint64_t bytes)
{
	struct callflow_thread *t = k->cur;
	uint32_t node, m;

	if (!t)
		return;
	node = class_number ? class_node(t, CALLFLOW_CLASS | class_number) : 0;
	for (m = 0; m < cf.nr_metrics; m++) {
		uint64_t v = 1;

		if (cf.metrics[m].kind == CALLFLOW_ALLOC_BYTES && node && cf.alloc_bytes) {
			v = bytes;
			t->last[m] += v;	/* the next step has the rest */
		} else if (cf.metrics[m].kind != CALLFLOW_ALLOC_OBJECTS) {
			continue;
		}
		node_at(node ? node : top_of(t)->node)->base[m] += v;
		t->charged[m] += v;
	}
}

/* Return the node of the thread's calls with these labels. */
static uint32_t label_node(struct callflow_thread *t, uint32_t consumer)
{
	uint64_t folded = t->folded;
	uint32_t c = child_of(t, t->root, consumer);

	if (node_at(c)->consumer != consumer)
		c = child_of(t, t->root, CALLFLOW_CONSUMER_LABEL_UNKNOWN);
	t->folded = folded;
	return c;
}

/* Move an open call, further in than top, to the context that it has below top's node. */
static void move_open(struct callflow_thread *t, struct callflow_open *top, struct callflow_open *o)
{
	uint32_t consumer = consumer_of(o), c;
	bool deep = top - stack_of(t) >= cf.area->max_depth;

	t->top = (uintptr_t)top;
	o->node = c = deep ? fold_deep(t, consumer) : child_of(t, top->node, consumer);
	if (deep || t->innermost || node_at(c)->parent != top->node) {	/* as push_child() has it */
		o->consumer = ~consumer;
		o->frame = o->frame == FROM_OUTER ? 0 : o->frame;
		t->innermost = c;
	} else {
		node_at(top->node)->child = c;
		t->innermost = is_apart(o) && o->frame != FROM_OUTER ? c : 0;
	}
}

/* Move open calls below that node; they were counted where they began. */
static void move_stack(struct callflow_thread *t, uint32_t node)
{
	struct callflow_open *top = top_of(t), *o;
	uint64_t folded = t->folded, recursion = t->folded_recursion;

	if (t->beyond)
		*top = t->below;
	stack_of(t)->node = t->at = node;
	t->innermost = 0;
	for (o = stack_of(t) + 1; o <= top; o++)
		move_open(t, o - 1, o);
	t->top = (uintptr_t)top;
	if (t->beyond) {
		t->below = *top;
		*top = (struct callflow_open){ pruned_of(t, top->node), 0, 0 };
		t->innermost = top->node;
	}
	t->folded = folded;
	t->folded_recursion = recursion;
	set_limit(t);
}

void callflow_label(struct callflow_kthread *k, const char *text, size_t len)
{
	struct callflow_thread *t = k->cur;
	uint32_t node;

	if (!t || !cf.area->nr_labels)
		return;
	callflow_charge_now(k);
	node = len ? label_node(t, callflow_label_consumer(text, len)) : t->root;
	if (node != t->at)
		move_stack(t, node);
	if (cf.flags & CALLFLOW_LATE_READ)
		callflow_skip_step(k);
}

/* --- a step --- */

static bool lies_below(uint64_t frame, uint64_t other)
{
	return frame >> CALLFLOW_SITE_BITS < other >> CALLFLOW_SITE_BITS;
}

static bool same_place(uint64_t frame, uint64_t other)
{
	return frame >> CALLFLOW_SITE_BITS == other >> CALLFLOW_SITE_BITS;
}

/* The first of the open calls up to o that share its frame. */
static struct callflow_open *first_of_frame(const struct callflow_thread *t, struct callflow_open *o)
{
	while (o - 1 > stack_of(t) && o[-1].frame == o->frame)
		o--;
	return o;
}

static bool same_site(uint64_t frame, uint64_t other)
{
	return !((frame ^ other) & ((1u << CALLFLOW_SITE_BITS) - 1));
}

static void drop_to(struct callflow_thread *t, struct callflow_open *o)
{
	uint64_t nr = top_of(t) - o;

	t->popped += nr;
	cut_stack(t, o);
	if (cf.flags & CALLFLOW_EVENTS && nr)
		callflow_event(t, CALLFLOW_UNWOUND, nr);
}

/*
 * Close, before an entry, calls whose frames are gone: those below the new one, left by longjmp(), and
 * those at its place that return elsewhere. If something below it was left, also close the same function:
 * it did not call itself, it is called again.
 */
static __attribute__((noinline)) void drop_before_enter(struct callflow_thread *t, uint64_t frame,
							uint32_t consumer)
{
	struct callflow_open *o = top_of(t), *first;
	bool left = false;

	if (t->beyond)
		return;
	for (; o > stack_of(t) && o->frame && lies_below(o->frame, frame); o--)
		left = true;
	for (; o > stack_of(t) && same_place(o->frame, frame) && o->frame != frame; o--)
		;
	if (left && o > stack_of(t) && o->frame == frame) {
		first = first_of_frame(t, o);
		if (callflow_is_call_of(first, consumer))
			o = first - 1;
	}
	drop_to(t, o);
}

static bool is_call_of(const struct callflow_open *o, uint32_t consumer, uint64_t frame)
{
	return callflow_is_call_of(o, consumer) && same_site(o->frame, frame);
}

/*
 * Do the same before an exit. But a function that ends in a jump to the hook has given back its frame by
 * then, and looks as if it lay below. Of the calls that do, the outermost may be the one.
 */
static __attribute__((noinline)) void drop_before_leave(struct callflow_thread *t, uint64_t frame,
							uint32_t consumer)
{
	struct callflow_open *o = top_of(t);

	if (t->beyond)
		return;
	for (; o > stack_of(t) && o->frame && lies_below(o->frame, frame); o--)
		;
	if (o == top_of(t))
		return;
	/* Two that fit: without others inside, the inner one has given its frame back. */
	if (is_call_of(o + 1, consumer, frame) &&
	    !(o + 1 != top_of(t) && o->frame && same_place(o->frame, frame) &&
	      is_call_of(o, consumer, frame)))
		o++;
	drop_to(t, o);
}

static inline __attribute__((always_inline)) void charge_one(struct callflow_thread *t,
							     struct callflow_node *n, int m, uint64_t v)
{
	n->base[m] += v - t->last[m];
	t->last[m] = v;
}

/*
 * Charge what the clocks say; return false, without charging, if the thread lost its CPU meanwhile, or its
 * CPU time seems to step back.
 */
static inline __attribute__((always_inline)) bool charge_clocks(struct callflow_kthread *k,
								struct callflow_thread *t, uint64_t tsc,
								bool wall, bool cpu)
{
	struct callflow_node *n = node_at(top_of(t)->node);

	if (cpu) {
		uint64_t v = tsc + k->off_tsc;

		if (unlikely(*k->seq != k->seen || v < k->high))
			return false;
		k->high = v;
		charge_one(t, n, 0, v);
	}
	if (wall)
		charge_one(t, n, cpu, tsc);
	return true;
}

static void charge_general(struct callflow_kthread *k)
{
	if (cf.mode != STEP_PRECISE ||
	    !charge_clocks(k, k->cur, cpu_tsc_after_all(), cf.has_wall, cf.has_cpu))
		callflow_charge_now(k);
}

static __attribute__((noinline)) void enter_general(struct callflow_kthread *k, uint32_t consumer,
						    uint64_t frame)
{
	charge_general(k);
	if (frame)
		drop_before_enter(k->cur, frame, consumer);
	enter_tree(k->cur, consumer, frame);
	if (cf.flags & CALLFLOW_EVENTS)
		callflow_event(k->cur, CALLFLOW_ENTERED, consumer);
	if (cf.flags & CALLFLOW_LATE_READ)
		callflow_skip_step(k);
}

static __attribute__((noinline)) void leave_general(struct callflow_kthread *k, uint32_t consumer,
						    uint64_t frame)
{
	charge_general(k);
	if (frame)
		drop_before_leave(k->cur, frame, consumer);
	leave_tree(k->cur, consumer);
	if (cf.flags & CALLFLOW_EVENTS)
		callflow_event(k->cur, k->throwing ? CALLFLOW_LEFT_THROWING : CALLFLOW_LEFT, consumer);
	if (cf.flags & CALLFLOW_LATE_READ)
		callflow_skip_step(k);
}

static inline __attribute__((always_inline)) bool charge_shortly(struct callflow_kthread *k,
								 struct callflow_thread *t)
{
	switch (cf.mode) {
	case STEP_WALL_CPU:
		return charge_clocks(k, t, cpu_tsc(), true, true);
	case STEP_CALLS:
		return true;
	case STEP_WALL:
		return charge_clocks(k, t, cpu_tsc(), true, false);
	case STEP_CPU:
		return charge_clocks(k, t, cpu_tsc(), false, true);
	default:
		return false;
	}
}

/* Count a lost call, of a thread without a tree. */
static __attribute__((noinline, cold)) void lose(const struct callflow_kthread *k)
{
	if (k->no_room)
		add_relaxed(&cf.area->lost_calls, 1);
}

/* Do what else a step does, when there is nothing to charge. */
static inline void tell_step(struct callflow_kthread *k, enum callflow_event_kind kind, uint32_t consumer)
{
	if (cf.flags & CALLFLOW_EVENTS)
		callflow_event(k->cur, kind, consumer);
	if (cf.flags & CALLFLOW_LATE_READ)
		callflow_skip_step(k);
}

void callflow_enter_more(struct callflow_kthread *k, uint32_t consumer)
{
	enter_tree(k->cur, consumer, 0);
	tell_step(k, CALLFLOW_ENTERED, consumer);
}

void callflow_leave_more(struct callflow_kthread *k, uint32_t consumer)
{
	leave_tree(k->cur, consumer);
	tell_step(k, CALLFLOW_LEFT, consumer);
}

void callflow_enter(struct callflow_kthread *k, uint32_t consumer)
{
	struct callflow_thread *t = k->cur;

	if (unlikely(!t)) {
		lose(k);
		return;
	}
	if (likely(charge_shortly(k, t)))
		enter_tree(t, consumer, 0);
	else
		enter_general(k, consumer, 0);
}

void callflow_leave(struct callflow_kthread *k, uint32_t consumer)
{
	struct callflow_thread *t = k->cur;

	if (unlikely(!t))
		return;
	if (likely(charge_shortly(k, t)))
		leave_tree(t, consumer);
	else
		leave_general(k, consumer, 0);
}

/* Check for the usual entry, below the innermost open call or in its frame. */
static inline __attribute__((always_inline)) bool is_entered_below(const struct callflow_thread *t,
								   uint64_t frame)
{
	uint64_t top = top_of(t)->frame;

	return lies_below(frame, top) || top == frame || !top || !frame;
}

/* Check for the usual exit, in the frame of the entry or, after that was popped, not above the caller's. */
static inline __attribute__((always_inline)) bool is_left_in_place(const struct callflow_thread *t,
								   uint64_t frame)
{
	const struct callflow_open *top = top_of(t);

	if (top->frame == frame || !top->frame || !frame || lies_below(frame, top->frame))
		return true;
	return same_site(top->frame, frame) && (!top[-1].frame || !lies_below(top[-1].frame, frame));
}

static __attribute__((noinline)) void enter_elsewhere(struct callflow_thread *t, uint32_t consumer,
						      uint64_t frame)
{
	drop_before_enter(t, frame, consumer);
	enter_tree(t, consumer, frame);
}

static __attribute__((noinline)) void leave_elsewhere(struct callflow_thread *t, uint32_t consumer,
						      uint64_t frame)
{
	drop_before_leave(t, frame, consumer);
	leave_tree(t, consumer);
}

/*
 * The clock is read before anything that takes longer in some frames than in others. What is not
 * usual is called last, so that what is usual needs no registers of its callers.
 */
static inline __attribute__((always_inline)) void step_in(struct callflow_kthread *k, uint32_t consumer,
							  uint64_t frame)
{
	struct callflow_thread *t = k->cur;

	if (unlikely(!t))
		lose(k);
	else if (unlikely(!charge_shortly(k, t)))
		enter_general(k, consumer, frame);
	else if (unlikely(!is_entered_below(t, frame)))
		enter_elsewhere(t, consumer, frame);
	else
		enter_tree(t, consumer, frame);
}

static inline __attribute__((always_inline)) void step_out(struct callflow_kthread *k, uint32_t consumer,
							   uint64_t frame)
{
	struct callflow_thread *t = k->cur;

	if (unlikely(!t))
		return;
	if (unlikely(!charge_shortly(k, t)))
		leave_general(k, consumer, frame);
	else if (unlikely(!is_left_in_place(t, frame)))
		leave_elsewhere(t, consumer, frame);
	else
		leave_tree(t, consumer);
}

void callflow_enter_frame(struct callflow_kthread *k, uint32_t consumer, uint64_t frame)
{
	step_in(k, consumer, frame);
}

void callflow_leave_frame(struct callflow_kthread *k, uint32_t consumer, uint64_t frame)
{
	step_out(k, consumer, frame);
}

static __attribute__((noinline)) void enter_unknown(struct callflow_kthread *k, uint64_t addr, uint64_t frame)
{
	callflow_enter_frame(k, callflow_function(addr), frame);
}

static __attribute__((noinline)) void leave_unknown(struct callflow_kthread *k, uint64_t addr, uint64_t frame)
{
	callflow_leave_frame(k, callflow_function(addr), frame);
}

void callflow_enter_function(struct callflow_kthread *k, uint64_t addr, uint64_t frame)
{
	uint32_t consumer = callflow_known_function(addr);

	if (likely(consumer))
		step_in(k, consumer, frame);
	else
		enter_unknown(k, addr, frame);
}

void callflow_leave_function(struct callflow_kthread *k, uint64_t addr, uint64_t frame)
{
	uint32_t consumer = callflow_known_function(addr);

	if (likely(consumer))
		step_out(k, consumer, frame);
	else
		leave_unknown(k, addr, frame);
}

void callflow_leave_top(struct callflow_kthread *k)
{
	struct callflow_thread *t = k->cur;

	if (t && t->top != t->stack)
		callflow_leave(k,
			       t->innermost || is_apart(top_of(t)) ? ~top_of(t)->consumer :
								     top_of(t)->consumer);
}

void callflow_thrown(struct callflow_kthread *k, uint32_t consumer)
{
	if (unlikely(!k->cur))
		return;
	k->cur->thrown++;
	callflow_charge_event(k, CALLFLOW_THROWN, 1);
	k->throwing = true;
	callflow_leave(k, consumer);
	k->throwing = false;
}

void callflow_unwind(struct callflow_kthread *k, uint64_t depth)
{
	struct callflow_thread *t = k->cur;
	uint64_t open = callflow_depth(k);

	if (!t || open <= depth)
		return;
	callflow_charge_now(k);
	t->popped += open - depth;
	if (cf.flags & CALLFLOW_EVENTS)
		callflow_event(t, CALLFLOW_UNWOUND, open - depth);
	if (t->beyond && depth > depth_of(t)) {
		t->beyond = depth - depth_of(t);
		return;
	}
	if (t->beyond) {
		*top_of(t) = t->below;
		t->beyond = 0;
	}
	if (cf.flags & CALLFLOW_TIMED)
		callflow_end_timed(top_of(t), stack_of(t) + depth, cpu_tsc());
	cut_stack(t, stack_of(t) + depth);
}
