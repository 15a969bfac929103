// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calltrees.c - writes call trees to the trace: nodes as they are met, values as they grow, and what
 * pruned contexts passed on. A node with an invalid parent becomes a root, and is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/calls/calldump.h"

enum { BEING_DEFINED = UINT32_MAX };

static void flush_nodes(struct dump *d)
{
	uint32_t last = callflows_has_files(d->f) ? d->tree->nr_in_file : d->tree->nr_nodes;
	struct rec_call_nodes r = {
		.time_ns = d->time_ns, .tree = d->tree->number, .first = last - d->nr_nodes + 1,
		.nr = d->nr_nodes, .nodes = d->nodes,
	};

	trace_write_call_nodes(d->f->w, &r);
	d->nr_nodes = 0;
}

static int by_node(const void *a, const void *b)
{
	const struct call_value *x = a, *y = b;

	return COMPARE(x->node, y->node);
}

static void flush_values(struct dump *d)
{
	struct rec_call_values r = {
		.time_ns = d->time_ns, .tree = d->tree->number, .nr_metrics = d->p->own.nr_metrics,
		.nr = d->nr_values, .values = d->values,
	};

	flush_nodes(d);
	if (d->nr_values)
		qsort(d->values, d->nr_values, sizeof(*d->values), by_node);
	trace_write_call_values(d->f->w, &r);
	d->nr_values = 0;
}

static uint16_t uses_of(const struct callflow_node *n)
{
	return (n->calls & CALLFLOW_USES) / CALLFLOW_USE;
}

static void calltrees_put_node(struct dump *d, uint32_t above, uint32_t consumer)
{
	if (d->nr_nodes == CALL_RECORD_NODES)
		flush_nodes(d);
	d->nodes[d->nr_nodes++] = (struct call_node){ above, dump_consumer(d, consumer) };
}

/* Note where the parents of a node are: its context may be pruned at the next snapshot, which needs them. */
static void note_up(struct dump *d, uint32_t ref, const struct callflow_node *n, uint32_t above)
{
	struct tree *t = d->tree;

	d->p->pages[ref / area_page_words].uses[ref % area_page_words / area_node_words(d->p)] = uses_of(n);
	if (callflows_has_files(d->f)) {
		*VEC_ADD(t->nodes, t->nr_nodes_known, t->alloc_nodes) =
			(struct tree_node){ .consumer = n->consumer };
	} else if (d->last && !t->nr_up) {
		return;
	}
	*VEC_ADD(t->up, t->nr_up, t->alloc_up) = above;
}

/*
 * Return its number in the current file, which gets the node and what is above it. Each file numbers
 * nodes anew, in the order in which they come.
 */
static uint32_t number_in_file(struct dump *d, uint32_t number)
{
	struct tree *t = d->tree;
	uint32_t at = number, above;

	if (!callflows_has_files(d->f))
		return number;
	for (d->nr_chain = 0; at && t->nodes[at - 1].file != d->f->file; at = t->up[at - 1])
		*VEC_ADD(d->chain, d->nr_chain, d->alloc_chain) = at;
	while (d->nr_chain) {
		at = d->chain[--d->nr_chain];
		above = t->up[at - 1];
		calltrees_put_node(d, above ? t->nodes[above - 1].number : 0, t->nodes[at - 1].consumer);
		t->nodes[at - 1].number = ++t->nr_in_file;
		t->nodes[at - 1].file = d->f->file;
	}
	return t->nodes[number - 1].number;
}

/* Defines the node at ref and what is above it; 0 when there is none. */
static uint32_t calltrees_define(struct dump *d, uint32_t ref)
{
	struct callflow_node n;
	uint32_t above = 0, *number;

	d->nr_chain = 0;
	while (ref) {
		number = dump_number_of(d, ref);
		if (!number || *number == BEING_DEFINED ||
		    (!*number && !area_read_node(d->p, ref, &n, NULL))) {
			d->f->res->nr_damaged++;
			break;
		}
		if (*number) {
			above = *number;
			break;
		}
		*number = BEING_DEFINED;
		*VEC_ADD(d->chain, d->nr_chain, d->alloc_chain) = ref;
		ref = n.parent;
	}
	while (d->nr_chain) {
		ref = d->chain[--d->nr_chain];
		number = dump_number_of(d, ref);
		if (!number || !area_read_node(d->p, ref, &n, NULL))
			return 0;	/* taken back meanwhile: harm is meant */
		if (!callflows_has_files(d->f))
			calltrees_put_node(d, above, n.consumer);
		note_up(d, ref, &n, above);
		above = *number = ++d->tree->nr_nodes;
		d->f->res->nr_nodes += n.consumer != CALLFLOW_CONSUMER_THREAD;
	}
	return above;
}

/* Take what was added since the last write, in the trace's units; return false if nothing was. */
static bool calltrees_take_value(struct dump *d, uint64_t *before, uint64_t calls, const uint64_t *base,
				 struct call_value *v)
{
	uint32_t m, nr = d->p->own.nr_metrics;
	bool any;

	v->calls = calls - (before ? before[0] : 0);
	any = v->calls;
	for (m = 0; m < nr; m++) {
		/* the last cycle of an open call may be charged or not, and what was written stays written */
		uint64_t added =
			before && base[m] < before[1 + m] ? 0 : base[m] - (before ? before[1 + m] : 0);

		any |= added;
		if (before)
			before[1 + m] += added;
		v->base[m] = dump_value(d, m, added);
	}
	if (before)
		before[0] = calls;
	return any;
}

/*
 * Add what no step has charged to the node: what the open call consumed, and what was before the tree
 * began.
 */
static void add_uncharged(const struct dump *d, uint32_t ref, uint32_t number, uint64_t *base)
{
	uint32_t m;

	for (m = 0; m < d->p->own.nr_metrics; m++) {
		if (ref == d->open_ref)
			base[m] += d->open_base[m];
		if (number && number == d->tree->root && d->p->own.metrics[m].kind == CALLFLOW_WALL)
			base[m] += d->tree->before_tsc;
	}
}

/* --- pruned contexts --- */

/* Return the row of what [pruned] of that node owes. */
static uint64_t *owed_by(struct dump *d, uint32_t parent)
{
	size_t width = 1 + d->p->own.nr_metrics;
	uint32_t *row = map_put(&d->tree->owes, parent);

	if (*row == MAP_NONE) {
		*row = d->tree->nr_owed++;
		if (d->tree->nr_owed > d->tree->alloc_owed) {
			d->tree->alloc_owed = 2 * d->tree->nr_owed;
			d->tree->owed =
				xrealloc(d->tree->owed, d->tree->alloc_owed * width * sizeof(uint64_t));
		}
		memset(d->tree->owed + *row * width, 0, width * sizeof(uint64_t));
	}
	return d->tree->owed + *row * width;
}

static void move_row(const struct dump *d, uint64_t *to, uint64_t *from)
{
	uint32_t m;

	for (m = 0; m <= d->p->own.nr_metrics; m++) {
		to[m] += from[m];
		from[m] = 0;
	}
}

struct gone {
	uint32_t number;
	uint64_t *before;
};

static int by_number_down(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;

	return x->number < y->number ? 1 : -1;
}

/* Return whether the node's context was pruned since the last snapshot: another one may be there. */
static bool calltrees_is_gone(const struct dump *d, uint32_t page, uint32_t i)
{
	struct callflow_node n;

	return !area_read_node(d->p, page * area_page_words + i * area_node_words(d->p), &n, NULL) ||
	       uses_of(&n) != d->p->pages[page].uses[i];
}

/*
 * Note that what pruned contexts had moved to [pruned] of the context above, which must not get what was
 * already written of them. Inner contexts come first, as all may have moved to an outer one.
 */
static void settle_pruned(struct dump *d, const struct page_list *l)
{
	size_t nr = 0, alloc = 0, k, width = 1 + d->p->own.nr_metrics;
	struct gone *gone = NULL;
	uint32_t page, i;

	for (page = l->first[d->slot]; page; page = l->next[page]) {
		struct page *x = &d->p->pages[page];

		for (i = 0; x->numbers && i < area_page_nodes(d->p); i++) {
			if (!x->numbers[i] || x->numbers[i] > d->tree->nr_up ||
			    !calltrees_is_gone(d, page, i))
				continue;
			*VEC_ADD(gone, nr, alloc) =
				(struct gone){ x->numbers[i], x->before ? x->before + i * width : NULL };
			x->numbers[i] = 0;
		}
	}
	if (nr)
		qsort(gone, nr, sizeof(*gone), by_number_down);
	for (k = 0; k < nr; k++) {
		uint32_t up = d->tree->up[gone[k].number - 1];

		if (gone[k].before)
			move_row(d, owed_by(d, up), gone[k].before);
		if (map_get(&d->tree->owes, gone[k].number) != MAP_NONE) {
			uint64_t *own;

			owed_by(d, up);		/* makes room, and may move the rows */
			own = owed_by(d, gone[k].number);
			move_row(d, owed_by(d, up), own);
		}
	}
	free(gone);
}

/*
 * Count what a [pruned] owes as written. It gets a number even if that is all it has: when its place is
 * another context's, the number shows that something was written.
 */
static void settle_owed(struct dump *d, uint32_t ref, const struct callflow_node *n, uint64_t *before)
{
	const uint32_t *parent =
		n->consumer == CALLFLOW_CONSUMER_PRUNED ? dump_number_of(d, n->parent) : NULL;
	uint32_t *number = dump_number_of(d, ref);

	if (!parent || !*parent || map_get(&d->tree->owes, *parent) == MAP_NONE)
		return;
	move_row(d, before, owed_by(d, *parent));
	if (!*number)
		calltrees_define(d, ref);
}

static void dump_node(struct dump *d, struct read_node *x)
{
	struct callflow_proc *p = d->p;
	const uint32_t width = 1 + p->own.nr_metrics, page = x->page, i = x->i;
	uint32_t ref = page * area_page_words + i * area_node_words(p);
	uint32_t *number = dump_number_of(d, ref);
	uint64_t *base = x->base, *before = NULL;
	struct call_value v = { 0 };

	if (!number)
		return;
	if ((!d->last || d->tree->nr_owed) && !p->pages[page].before)
		p->pages[page].before = xcalloc(area_page_nodes(p), width * sizeof(uint64_t));
	if (p->pages[page].before)
		before = p->pages[page].before + i * width;
	if (d->tree->nr_owed)
		settle_owed(d, ref, &x->n, before);
	add_uncharged(d, ref, *number, base);
	if (!calltrees_take_value(d, before, x->n.calls & CALLFLOW_CALLS, base, &v))
		return;
	v.node = *number ? *number : calltrees_define(d, ref);
	if (!v.node || d->f->shut)
		return;
	if (x->n.consumer != CALLFLOW_CONSUMER_THREAD)
		d->f->res->nr_calls += v.calls;
	v.node = number_in_file(d, v.node);
	d->tree->file = d->f->file;
	if (d->nr_values == CALL_RECORD_VALUES)
		flush_values(d);
	d->values[d->nr_values++] = v;
}

/*
 * Return until when the thread is charged: to the dump's time, or to a step that it took since; without wall
 * time, which says when, to now. The step's time is the process's word, so it is not believed beyond now.
 */
static uint64_t charged_until(const struct dump *d, const struct callflow_thread *t)
{
	uint64_t now_ns = clock_mono_ns();
	uint32_t m;

	for (m = 0; m < d->p->own.nr_metrics; m++)
		if (d->p->own.metrics[m].kind == CALLFLOW_WALL)
			return MAX(d->time_ns, MIN(now_ns, dump_time(d, load_relaxed(&t->last[m]))));
	return now_ns;
}

/*
 * Write all nodes in use, AT_ONCE at a time. If the thread took a step after its open call's share was
 * computed, the node of that call already has the share.
 */
static void dump_nodes(struct dump *d, const struct callflow_thread *t, const struct page_list *l)
{
	enum { AT_ONCE = 1 << 16 };
	uint32_t page, i, nr = area_page_nodes(d->p);
	size_t k;

	for (page = l->first[d->slot]; page;) {
		for (d->nr_read = 0; page && d->nr_read < AT_ONCE; page = l->next[page])
			for (i = 0; i < nr; i++) {
				const uint32_t ref = page * area_page_words + i * area_node_words(d->p);
				struct read_node *x;

				VEC_GROW(d->read, d->nr_read, d->alloc_read);
				x = &d->read[d->nr_read];
				x->page = page;
				x->i = i;
				d->nr_read += area_read_node(d->p, ref, &x->n, x->base);
				if (ref == d->open_ref && !dump_stands(d, t)) {
					d->open_ref = 0;
					d->cut_ns = charged_until(d, area_thread(d->p, d->slot));
				}
			}
		for (k = 0; k < d->nr_read; k++)
			dump_node(d, &d->read[k]);
	}
}

/* --- trees --- */

/*
 * 0: not known. Of a process that was killed, or ended by _exit(), the last look was some time ago: what its
 * threads were charged with since is not an error.
 */
static uint64_t kernel_cpu_of_tree(const struct dump *d, const struct callflow_thread *t)
{
	bool looked = d->tree->looked_tid == t->tid && dump_looked_last(d);
	uint64_t ns = MAX(looked ? d->tree->looked_ns : 0, t->seen_cpu_ns);

	if (t->state != CALLFLOW_LIVE || !t->tid || t->flags & CALLFLOW_THREAD_SEVERAL ||
	    ns <= t->cpu_origin_ns)
		return t->kernel_cpu_ns;
	return MAX(t->kernel_cpu_ns, ns - t->cpu_origin_ns);
}

static struct callflow_counts counts_of(const struct dump *d, const struct callflow_thread *t)
{
	return (struct callflow_counts){
		.kernel_cpu_ns = kernel_cpu_of_tree(d, t), .popped = t->popped, .inserted = t->inserted,
		.over_range = t->over_range, .folded = t->folded, .folded_recursion = t->folded_recursion,
		.thrown = t->thrown, .missed = t->missed, .mounts = t->mounts, .lost_events = t->lost_events,
	};
}

/* Return the difference within the current file; a hostile process may count backwards. */
static uint64_t calltrees_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void write_tree(struct dump *d, const struct callflow_thread *t)
{
	const struct callflow_counts now = counts_of(d, t), *before = &d->tree->before;
	struct rec_call_tree r = {
		.time_ns = d->time_ns, .tree = d->tree->number, .proc = d->p->proc->id,
		.thread = d->tree->thread,
		.flags = t->flags & CALLFLOW_THREAD_VIRTUAL ? CALL_TREE_VIRTUAL : 0, .java_id = t->java_id,
		.start_ns = t->start_ns, .end_ns = t->end_ns,
		.kernel_cpu_ns = calltrees_since(now.kernel_cpu_ns, before->kernel_cpu_ns),
		.popped = calltrees_since(now.popped, before->popped),
		.inserted = calltrees_since(now.inserted, before->inserted),
		.over_range = calltrees_since(now.over_range, before->over_range),
		.folded = calltrees_since(now.folded, before->folded),
		.folded_recursion = calltrees_since(now.folded_recursion, before->folded_recursion),
		.thrown = calltrees_since(now.thrown, before->thrown),
		.missed = calltrees_since(now.missed, before->missed),
		.mounts = calltrees_since(now.mounts, before->mounts),
		.lost_events = calltrees_since(now.lost_events, before->lost_events),
		.name = t->name, .name_len = strlen(t->name),
	};

	d->tree->counts = now;
	d->tree->end_ns = t->end_ns;
	r.start_ns -= MIN(r.start_ns, dump_ns(d, d->tree->before_tsc));
	r.start_ns = MAX(r.start_ns, d->f->file_ns);
	if (t->state != CALLFLOW_LIVE)
		r.open = t->left_open;
	else if (t->top >= t->stack)
		r.open = (t->top - t->stack) / sizeof(struct callflow_open) + t->beyond;
	if (r.name_len == 0 || (d->tree->thread && !(t->flags & CALLFLOW_THREAD_JAVA)))
		r.name_len = 0;
	trace_write_call_tree(d->f->w, &r);
}

static uint32_t trace_thread(struct dump *d, const struct callflow_thread *t)
{
	int tid = t->tid;

	if (t->flags & CALLFLOW_THREAD_VIRTUAL)
		return t->java_id ? tasks_virtual(d->f->tasks, d->p->proc, t->java_id, NULL, t->start_ns) : 0;
	if (tid <= 0)
		return 0;
	d->tree->task = tasks_get_at(d->f->tasks, d->p->proc, area_host_tid(d->p, tid), t->start_ns);
	return d->tree->task->id;
}

/* Leave out what the thread counted since the last write, as it is not recorded. */
static void skip_counts(const struct dump *d, const struct callflow_thread *t)
{
	const struct callflow_counts now = counts_of(d, t), *last = &d->tree->counts;
	struct callflow_counts *b = &d->tree->before;

	b->kernel_cpu_ns += calltrees_since(now.kernel_cpu_ns, last->kernel_cpu_ns);
	b->popped += calltrees_since(now.popped, last->popped);
	b->inserted += calltrees_since(now.inserted, last->inserted);
	b->over_range += calltrees_since(now.over_range, last->over_range);
	b->folded += calltrees_since(now.folded, last->folded);
	b->folded_recursion += calltrees_since(now.folded_recursion, last->folded_recursion);
	b->thrown += calltrees_since(now.thrown, last->thrown);
	b->missed += calltrees_since(now.missed, last->missed);
	b->mounts += calltrees_since(now.mounts, last->mounts);
	b->lost_events += calltrees_since(now.lost_events, last->lost_events);
	d->tree->counts = now;
}

struct callflow_thread dump_begin_tree(struct dump *d, uint32_t slot)
{
	struct callflow_thread t;
	bool is_new;

	d->slot = slot;
	d->tree = &d->p->trees[slot];
	if (!area_read_thread(d->p, slot, &t))
		memset(&t, 0, sizeof(t));
	is_new = !d->tree->number;
	if (is_new) {
		d->tree->number = ++d->f->nr_trees;
		d->tree->thread = trace_thread(d, &t);
		dump_note_birth(d, &t);
		d->f->res->nr_trees++;
	}
	if (t.flags & CALLFLOW_THREAD_SEVERAL)
		d->tree->thread = 0;
	d->f->res->nr_folded += t.folded - MIN(t.folded, d->tree->nr_folded);
	d->f->res->lost_events += t.lost_events - MIN(t.lost_events, d->tree->lost_events);
	d->tree->nr_folded = t.folded;
	d->tree->lost_events = t.lost_events;
	if (d->f->shut)
		skip_counts(d, &t);
	if (!callflows_has_files(d->f) && (!d->f->shut || is_new || d->last))
		write_tree(d, &t);
	return t;
}

void dump_name_tree(struct dump *d)
{
	struct callflow_thread t;

	if (area_read_thread(d->p, d->slot, &t))
		write_tree(d, &t);
}

/*
 * Return whether the tree belongs into this file: without this, each file would have more threads that have
 * ended.
 */
static bool is_in_file(const struct dump *d, const struct callflow_thread *t)
{
	const struct callflow_counts now = counts_of(d, t);

	return d->tree->file == d->f->file || d->tree->end_ns != t->end_ns ||
	       memcmp(&now, &d->tree->counts, sizeof(now));
}

void dump_tree(struct dump *d, uint32_t slot, const struct page_list *l)
{
	const bool over = d->last && d->f->shut;
	struct callflow_thread t;
	bool is_open;

	if (over && !d->p->trees[slot].number)
		return;
	t = dump_begin_tree(d, slot);
	if (!d->tree->root)
		d->tree->root = calltrees_define(d, t.root);
	if (d->tree->nr_up)
		settle_pruned(d, l);
	dump_charge_open(d, &t);
	dump_tell_open(d, &t);
	is_open = d->open_ref;
	d->cut_ns = charged_until(d, &t);
	if (!over)
		dump_nodes(d, &t, l);
	if (is_open) {
		d->f->cuts_ns += d->cut_ns - d->f->turn_ns;
		d->f->nr_cuts++;
	}
	flush_values(d);
	if (callflows_has_files(d->f) && is_in_file(d, &t))
		write_tree(d, &t);
}
