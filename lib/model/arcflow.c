// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arcflow.c - matches calls and returns.
 *
 * Each thread has a stack of open functions with the address that each will return to.  What
 * ended a block says what happens before the next one is charged to the innermost function:
 *  - a call opens a function (but one to the next instruction only asks for its address);
 *  - a return closes up to the function whose caller continues there;
 *  - a return to elsewhere, or an indirect jump, into the middle of an open function closes up to
 *    that one: longjmp, a caught exception, an unwound stack;
 *  - any other way into another function replaces the innermost one: a tail call;
 *  - a signal opens its handler, and leaving it closes up to the interrupted function;
 *  - a return from the outermost known function shows its caller, and puts that above; between
 *    brackets the caller replaces it, because each bracket starts with an empty stack;
 *  - the bracket of a Java method begins in its probe: the method is open before anything is.  Compiled code
 *    that is returned to from there is the method's, even if it was compiled as a part of another one.
 *
 * Invariant, cited below as [1]: the innermost open function is the one the block runs in.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "model/arcflow.h"
#include "model/branches.h"
#include "model/profile.h"

struct arcflow_frame {
	uint32_t node;
	uint32_t block;		/* the node of the block that ran in it last; 0: blocks have none */
	uint32_t function;	/* consumer */
	uint64_t ret;		/* where its caller goes on; 0 unknown */
	bool handler;		/* entered by a signal */
	bool bracket;		/* the method whose call is traced, in whatever code it runs */
};

struct arcflow_thread {
	uint32_t root;		/* the thread's node */
	uint32_t process, thread;	/* consumers */
	struct arcflow_frame *stack;
	size_t nr_stack, alloc_stack;
	enum branch_kind last;	/* how the block before ended; BRANCH_STOP at first */
	uint64_t last_end, last_to;
};

struct arcflow {
	struct model *m;
	struct names *names;
	bool collapse_plt;		/* a linkage stub is part of its caller */
	bool blocks;		/* each block of a function is a node below it, and above what it calls */
	bool brackets;		/* pieces: what called them is not known, and not the same each time */
	struct arcflow_thread *threads;
	size_t nr_threads, alloc_threads;
	struct map thread_of;	/* number of the trace -> index in threads */
	struct flow_repairs repairs;
	uint64_t nr_insns;
};

#define PROBES "java.lang.ArcProbe."	/* of the agent, at the ends of methods */

enum { SEARCH_MAX = 8192 };	/* open functions looked at: a bound for hostile traces */

/* Prepare to build the tree of m anew; the strings of names are those of m. */
static void arcflow_init(struct arcflow *a, struct names *names, bool collapse_plt, bool blocks)
{
	unsigned int calls;

	memset(a, 0, sizeof(*a));
	a->m = names->m;
	a->names = names;
	a->collapse_plt = collapse_plt;
	a->blocks = blocks;
	a->brackets = names_label(names, "itrace.bracket");
	model_clear(a->m);
	calls = model_add_source(a->m, FLOW_CALLS, "calls");
	model_add_metric(a->m, calls, "instructions", "instructions");
	if (blocks)
		model_add_metric(a->m, calls, "blocks", "blocks");
	model_begin(a->m);
}

static void arcflow_release(struct arcflow *a)
{
	size_t i;

	for (i = 0; i < a->nr_threads; i++)
		free(a->threads[i].stack);
	free(a->threads);
	map_release(&a->thread_of);
	memset(a, 0, sizeof(*a));
}

static struct arcflow_thread *arcflow_get_thread(struct arcflow *a, uint32_t number)
{
	uint32_t *at = map_put(&a->thread_of, number), proc;
	/* A root of its own: a thread's number may be used again, and then two have one consumer. */
	const struct consumer root = { .kind = CONSUMER_THREAD, .key = names_pair(UINT32_MAX, number) };
	struct arcflow_thread *t;

	if (*at != MAP_NONE)
		return &a->threads[*at];
	*at = a->nr_threads;
	t = VEC_ADD(a->threads, a->nr_threads, a->alloc_threads);
	memset(t, 0, sizeof(*t));
	t->thread = names_thread(a->names, number, &proc);
	t->process = names_process(a->names, proc);
	t->root = flow_child(&a->m->flow, FLOW_NONE, consumer_add(&a->m->consumers, &root));
	a->m->flow.nodes[t->root].n = 1;
	t->last = BRANCH_STOP;
	return t;
}

/* ---- the stack ---- */

static struct arcflow_frame *top(struct arcflow_thread *t)
{
	return &t->stack[t->nr_stack - 1];
}

static uint32_t parent_node(const struct arcflow_thread *t)
{
	const struct arcflow_frame *x = t->nr_stack ? &t->stack[t->nr_stack - 1] : NULL;

	return !x ? t->root : x->block ? x->block : x->node;
}

static void open_function(struct arcflow *a, struct arcflow_thread *t, uint32_t function, uint64_t ret,
			  bool handler)
{
	uint32_t node = flow_child(&a->m->flow, parent_node(t), function);

	a->m->flow.nodes[node].n++;
	VEC_GROW(t->stack, t->nr_stack, t->alloc_stack);
	t->stack[t->nr_stack++] = (struct arcflow_frame){ .node = node, .function = function, .ret = ret,
		.handler = handler };
}

/* Replace the innermost function by the target of a tail call: its caller waits for this one. */
static void replace_function(struct arcflow *a, struct arcflow_thread *t, uint32_t function)
{
	struct arcflow_frame old = *top(t);

	t->nr_stack--;
	open_function(a, t, function, old.ret, old.handler);
}

/* Leaves nr_left functions open; one of those closed is closed by its own return. */
static void close_to(struct arcflow *a, struct arcflow_thread *t, size_t nr_left)
{
	a->repairs.popped += t->nr_stack - nr_left - (t->nr_stack > nr_left);
	t->nr_stack = nr_left;
}

/* Insert the caller of everything that this thread did so far, which is known only now. */
static void put_above(struct arcflow *a, struct arcflow_thread *t, uint32_t function)
{
	struct flow *f = &a->m->flow;
	uint32_t was = t->root, root = flow_insert_above(f, was, function);

	f->nodes[root].n = 1;
	f->nodes[was].n = 1;
	a->repairs.inserted++;
	t->root = root;
	t->nr_stack = 0;
	*VEC_ADD(t->stack, t->nr_stack, t->alloc_stack) =
		(struct arcflow_frame){ .node = was, .function = function };
}

/*
 * Return how many calls are open when the one that is searched for is the innermost, or 0 if it is not
 * open.
 */
static size_t arcflow_search(const struct arcflow_thread *t,
			     bool (*is_it)(const struct arcflow_frame *x, uint64_t key), uint64_t key)
{
	size_t i, end = t->nr_stack > SEARCH_MAX ? t->nr_stack - SEARCH_MAX : 0;

	for (i = t->nr_stack; i > end; i--)
		if (is_it(&t->stack[i - 1], key))
			return i;
	return 0;
}

static bool returns_to(const struct arcflow_frame *x, uint64_t addr)
{
	return x->ret == addr;
}

static bool frame_is_function(const struct arcflow_frame *x, uint64_t function)
{
	return x->function == function;
}

static bool is_handler(const struct arcflow_frame *x, uint64_t unused)
{
	return x->handler;
}

/* ---- ways from block to block ---- */

static void go(struct arcflow *a, struct arcflow_thread *t, const struct site *to, bool indirect)
{
	size_t at;

	if (top(t)->function == to->consumer)
		return;
	at = indirect && to->off ? arcflow_search(t, frame_is_function, to->consumer) : 0;
	if (at)
		close_to(a, t, at);
	else
		replace_function(a, t, to->consumer);
}

static bool is_probe(const struct arcflow *a, const struct site *s)
{
	return !strncmp(consumer_name(&a->m->consumers, s->consumer), PROBES, strlen(PROBES));
}

/* Return whether control left all that was called since the bracket began, for code that no call led to. */
static bool comes_to_method(const struct arcflow *a, const struct arcflow_thread *t, const struct site *to)
{
	return t->nr_stack && t->stack[0].bracket && t->nr_stack <= 2 && to->jit && !is_probe(a, to);
}

static void arcflow_go_back(struct arcflow *a, struct arcflow_thread *t, const struct site *to)
{
	size_t at = arcflow_search(t, returns_to, t->last_to);

	if (at) {
		close_to(a, t, at - 1);
	} else if (comes_to_method(a, t, to)) {
		close_to(a, t, 1);
		top(t)->function = to->consumer;
	} else if (!a->brackets && t->nr_stack == 1 && !top(t)->ret && to->off &&
		   top(t)->function != to->consumer) {
		put_above(a, t, to->consumer);
	} else {
		go(a, t, to, true);
	}
}

static void leave_handler(struct arcflow *a, struct arcflow_thread *t)
{
	size_t at = arcflow_search(t, is_handler, 0);

	if (at > 1)
		close_to(a, t, at - 1);
}

static void arcflow_follow(struct arcflow *a, struct arcflow_thread *t, const struct site *to)
{
	switch (t->last) {
	case BRANCH_CALL:
	case BRANCH_CALL_INDIRECT:
		if (t->last_to == t->last_end)
			go(a, t, to, false);
		else
			open_function(a, t, to->consumer, t->last_end, false);
		break;
	case BRANCH_INTERRUPT:
		open_function(a, t, to->consumer, 0, true);
		break;
	case BRANCH_RETURN:
		arcflow_go_back(a, t, to);
		break;
	case BRANCH_IRET:
		leave_handler(a, t);
		break;
	case BRANCH_JUMP_INDIRECT:
		go(a, t, to, true);
		break;
	default:
		go(a, t, to, false);
	}
	if (!t->nr_stack)
		open_function(a, t, to->consumer, 0, false);
	else if (top(t)->function != to->consumer)	/* [1] */
		replace_function(a, t, to->consumer);
}

static bool goes_on(const struct arcflow_thread *t, const struct block *b)
{
	return t->nr_stack && t->last != BRANCH_STOP && t->last != BRANCH_EXEC && t->last_to == b->b.start;
}

static bool is_jump(enum branch_kind kind)
{
	return kind == BRANCH_JUMP || kind == BRANCH_JUMP_INDIRECT;
}

static void open_bracket(struct arcflow *a, struct arcflow_thread *t, const struct block *b)
{
	uint32_t method = a->brackets ? names_bracket(a->names, b->thread, b->time_ns) : 0;

	if (!method)
		return;
	open_function(a, t, method, 0, false);
	top(t)->bracket = true;
}

/* "main+0x1c": a part of a function by its own name. */
static uint32_t block_consumer(struct arcflow *a, const struct block *b)
{
	struct consumers *k = &a->m->consumers;
	struct consumer c = {
		.kind = b->kernel ? CONSUMER_KERNEL : b->site.jit ? CONSUMER_JAVA_COMPILED : CONSUMER_NATIVE,
		.module = k->items[b->site.symbol].module,
	};
	struct buf name = BUF_INIT;

	buf_fmt(&name, "%s+0x%" PRIx64, b->site.symbol ? consumer_name(k, b->site.symbol) : "[unknown]",
		b->site.off);
	c.name = strtab_add(&k->names, name.data, name.len);
	buf_release(&name);
	return consumer_add(k, &c);
}

static void arcflow_charge(struct arcflow *a, struct arcflow_thread *t, const struct block *b)
{
	struct flow *f = &a->m->flow;
	uint32_t node = top(t)->node;

	if (a->blocks) {
		top(t)->block = node = flow_child(f, node, block_consumer(a, b));
		flow_base(f, node)[1]++;
	}
	flow_base(f, node)[0] += b->b.nr_insns;
}

static int arcflow_block(void *ctx, const struct block *b)
{
	struct arcflow *a = ctx;
	struct arcflow_thread *t = arcflow_get_thread(a, b->thread);

	a->nr_insns += b->b.nr_insns;
	if (a->collapse_plt && b->site.plt && goes_on(t, b) && is_jump(b->b.kind)) {
		/* The target of the stub is what the caller called. */
		arcflow_charge(a, t, b);
		t->last_to = b->b.to;
		return 0;
	}
	if (goes_on(t, b)) {
		arcflow_follow(a, t, &b->site);
	} else if (!t->nr_stack || a->brackets || top(t)->function != b->site.consumer) {
		/* what was between is unknown */
		close_to(a, t, 0);
		open_bracket(a, t, b);
		open_function(a, t, b->site.consumer, 0, false);
	}
	arcflow_charge(a, t, b);
	t->last = b->b.kind;
	t->last_end = b->b.end;
	t->last_to = b->b.to;
	return 0;
}

/* ---- the end ---- */

/* Return the node of the thread in the tree that is shown, under its process. */
static uint32_t thread_node(struct flow *to, const struct arcflow_thread *t)
{
	uint32_t process = flow_child(to, FLOW_NONE, t->process);

	to->nodes[process].n = 1;
	return flow_child(to, process, t->thread);
}

/* Put each process above its threads. */
static void add_processes(struct arcflow *a)
{
	struct flow *from = &a->m->flow, to;
	uint32_t *node = xcalloc(from->nr_nodes, sizeof(*node)),
		 *thread = xcalloc(from->nr_nodes, sizeof(*thread));
	uint32_t *renumbered = xcalloc(from->nr_nodes, sizeof(*renumbered)), i;
	size_t k;

	flow_renumber(from, renumbered);
	for (k = 0; k < a->nr_threads; k++)
		thread[renumbered[a->threads[k].root]] = k + 1;
	flow_init(&to, from->nr_metrics, from->n_means);
	for (i = 1; i < from->nr_nodes; i++) {
		const struct flow_node *x = &from->nodes[i];

		node[i] = thread[i] ? thread_node(&to, &a->threads[thread[i] - 1]) :
				      flow_child(&to, node[x->parent], x->consumer);
		flow_add(&to, node[i], x->n, flow_base(from, i));
	}
	free(renumbered);
	free(thread);
	free(node);
	model_take_flow(a->m, &to, NULL);
}

/* Return whether a traced method was left, in its probe, which asked for the end of the trace. */
static bool ended_in_probe(const struct arcflow *a, struct arcflow_thread *t)
{
	return a->brackets && t->nr_stack && t->stack[0].bracket && t->last == BRANCH_STOP &&
	       top(t)->function == a->m->own;
}

static void arcflow_finish(struct arcflow *a)
{
	size_t i;

	for (i = 0; i < a->nr_threads; i++)
		if (!ended_in_probe(a, &a->threads[i]))
			a->repairs.closed += a->threads[i].nr_stack;
	add_processes(a);
	a->m->flow.repairs = a->repairs;
	flow_finish(&a->m->flow);
}

int itrace_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct window *w,
		const struct profile_opts *o, struct err *e)
{
	struct branches b;
	struct arcflow a;
	int r;

	x->o.hide_inlined = true;		/* what was called, not what was written */
	branches_init(&b, x, w);
	arcflow_init(&a, x, o->collapse_plt, o->blocks);
	r = branches_read(&b, t, arcflow_block, &a, e);
	arcflow_finish(&a);
	if (!x->o.by_kind)
		names_settle_kinds(x);
	origin_fill(origin, x, 0, b.last_ns);
	arcflow_release(&a);
	branches_release(&b);
	return r;
}
