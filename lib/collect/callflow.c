// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callflow.c - reads the call trees that processes keep in shared memory (callflow/area.h).
 *
 * The memory is theirs: it may change while it is read, and may hold anything. What it has is
 * copied once and checked then; where things lie is taken from our own layout, never from
 * the area's head. A node whose parent makes no sense becomes a root, and is counted.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "callflow/filter.h"
#include "collect/callflow.h"
#include "sym/demangle.h"
#include "trace/calls.h"
#include "trace/writer.h"

enum {
	CALIBRATE_NS = 10000000,
	BEING_DEFINED = UINT32_MAX,
	LOOK_EVERY_NS = 50000000,	/* at the CPU time of threads with open calls, */
	LOOK_SHARE = 100,		/* and for one part of so many of the time at most */
	MAX_PRUNE_MS = 1000,		/* to wait in all, whatever the process says */
	MAX_STEPS = 1 << 26,		/* to innermost calls */
};

static const uint32_t page_words = CALLFLOW_PAGE / 8;

struct callflow_proc {
	struct callflow_proc *next;
	struct jvm *jvm;
	struct proc *proc;
	struct callflow_area *area;	/* mapped */
	struct callflow_area own;	/* its head as we made it */
	struct tree {
		uint32_t number;	/* 0: not written yet */
		uint32_t nr_nodes;
		uint32_t thread;	/* in the trace */
		const struct thread *task;	/* of the kernel; NULL: none for itself */
		uint32_t root;		/* number of the node that has what came before the tree */
		/* on the wall, from the thread's birth to the tree's: CPU time counts from birth, too */
		uint64_t before_tsc;
		uint32_t looked_tid;	/* the kernel thread last looked at, as the process numbers it */
		uint64_t looked_ns;	/* and its CPU time then */
		uint32_t *up;		/* [number - 1]: parent; of nodes that a snapshot has */
		size_t nr_up, alloc_up;
		/* parent -> row of owed: what its [pruned] got and was written already */
		struct map owes;
		uint64_t *owed;		/* [row][1 + metrics] */
		size_t nr_owed, alloc_owed;
		uint64_t nr_folded, lost_events;	/* told already */
		uint64_t last_ns, charged[CALLFLOW_MAX_METRICS];	/* of its last event */
	} *trees;			/* [thread slot] */
	size_t nr_trees;
	struct page {
		uint32_t *numbers;	/* [node of the page]: number in its tree, 0 not defined */
		uint16_t *uses;		/* [node]: CALLFLOW_USES when it got its number */
		uint64_t *before;	/* [node][1 + metrics]: values as written; snapshots only */
	} *pages;			/* [nr_pages] */
	uint64_t *tails;		/* [ring]: events read */
	struct map consumers;		/* as the process numbers them -> number in the trace */
};

/* What is being written of one process. */
struct dump {
	struct callflows *f;
	struct callflow_proc *p;
	uint64_t time_ns, tsc;		/* the same moment */
	uint64_t ns_ratio;		/* ns a cycle, times 2^32 */
	uint64_t tsc_ratio;		/* cycles a ns, times 2^32 */
	bool last;
	uint32_t slot;
	struct tree *tree;
	uint64_t nr_steps;
	int waited_ms;
	uint32_t open_ref;		/* node of the tree's innermost open call, 0 none */
	uint64_t open_base[CALLFLOW_MAX_METRICS];	/* what it has consumed and was not charged yet */
	struct call_node nodes[CALL_RECORD_NODES];
	uint32_t nr_nodes;
	struct call_value values[CALL_RECORD_VALUES];
	uint32_t nr_values;
	struct call_event events[CALL_RECORD_EVENTS];
	uint32_t nr_events;
	uint32_t *chain;		/* of references, innermost first */
	size_t nr_chain, alloc_chain;
};

void callflows_init(struct callflows *f, const struct callflow_opts *o, struct tasks *t,
		    struct trace_writer *w, struct callflow_result *res)
{
	memset(f, 0, sizeof(*f));
	f->o = o;
	f->res = res;
	f->tasks = t;
	f->w = w;
	f->ns = f->written_ns = clock_mono_ns();
	f->tsc = arch_cycle_counter();
}

static bool has_events(const struct callflows *f)
{
	return f->o->layout.flags & CALLFLOW_EVENTS;
}

static void label_jvm(const struct callflows *f, uint32_t number)
{
	const struct callflow_costs *c = &f->o->calibration[1 + number];
	char key[48];
	uint32_t m;

	snprintf(key, sizeof(key), "call.java.%u", number);
	trace_write_label(f->w, key, "%s", c->jvm);
	for (m = 0; m < f->o->layout.nr_metrics; m++) {
		if (!*c->costs[m])
			continue;
		snprintf(key, sizeof(key), "call.java.%u.metric.%u", number, m);
		trace_write_label(f->w, key, "%s", c->costs[m]);
	}
}

void callflows_labels(const struct callflows *f)
{
	uint32_t m;

	if (!f->o)
		return;
	trace_write_label(f->w, "callflow", "%s", has_events(f) ? "trees, events" : "trees");
	trace_write_label(f->w, "callflow.depth", "%" PRIu32, f->o->layout.max_depth);
	if (f->o->layout.flags & CALLFLOW_PRECISE)
		trace_write_label(f->w, "callflow.precise", "yes");
	for (m = 0; m < f->o->layout.nr_metrics; m++) {
		char key[48];

		snprintf(key, sizeof(key), "call.metric.%u", m);
		trace_write_label(f->w, key, "%s", f->o->names[m]);
		snprintf(key, sizeof(key), "call.metric.%u.unit", m);
		trace_write_label(f->w, key, "%s", f->o->units[m]);
		if (!*f->o->calibration[0].costs[m])
			continue;
		snprintf(key, sizeof(key), "call.metric.%u.calibration", m);
		trace_write_label(f->w, key, "%s", f->o->calibration[0].costs[m]);
	}
	for (m = 0; m < f->o->nr_calibrated_jvms; m++)
		label_jvm(f, m);
}

static uint64_t ratio(uint64_t a, uint64_t b)
{
	return b ? (uint64_t)(((unsigned __int128)a << 32) / b) : 0;
}

/*
 * Cycles a ns, times 2^32, over all the time since the start. With events it is what it was first: their
 * values must not step back.
 */
static uint64_t tsc_ratio(struct callflows *f)
{
	uint64_t ns = clock_mono_ns(), tsc = arch_cycle_counter();

	if (f->ratio)
		return f->ratio;
	if (has_events(f))
		f->ratio = ratio(tsc - f->tsc, ns - f->ns);
	return ratio(tsc - f->tsc, ns - f->ns);
}

/* --- making an area --- */

int callflow_make_area(const struct callflow_layout *l, struct callflow_area **out, uint64_t *bytes)
{
	int fd = memfd_create("arcprof-calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p;

	*bytes = callflow_layout_bytes(l);
	if (fd < 0)
		return -1;
	p = ftruncate(fd, *bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ?
	    MAP_FAILED : mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED) {
		close(fd);
		return -1;
	}
	callflow_layout_write(l, p);
	*out = p;
	return fd;
}

/* A ratio is good to the time it takes to read two clocks, over the time between. */
static void wait_for_ratio(const struct callflows *f)
{
	uint64_t passed = clock_mono_ns() - f->ns;
	struct timespec wait = { 0 };

	if (passed >= CALIBRATE_NS)
		return;
	wait.tv_nsec = CALIBRATE_NS - passed;
	nanosleep(&wait, NULL);
}

int callflows_new(struct callflows *f, struct jvm *jvm, struct proc *proc, uint64_t *bytes)
{
	struct callflow_layout l = f->o->layout;
	struct callflow_area *area;
	struct callflow_proc *p;
	int fd;

	if (!l.tsc_ratio) {
		wait_for_ratio(f);
		l.tsc_ratio = tsc_ratio(f);
	}
	fd = callflow_make_area(&l, &area, bytes);
	if (fd < 0)
		return -1;
	p = xcalloc(1, sizeof(*p));
	p->jvm = jvm;
	p->proc = proc;
	proc->nr_holders++;
	p->area = area;
	p->own = *area;
	p->tails = xcalloc(l.nr_rings + 1, sizeof(*p->tails));
	p->trees = xcalloc(l.nr_threads, sizeof(*p->trees));
	p->pages = xcalloc(area->nr_pages, sizeof(*p->pages));
	p->next = f->procs;
	f->procs = p;
	f->res->nr_procs++;
	return fd;
}

static void free_proc(struct callflow_proc *p)
{
	uint32_t i;

	for (i = 0; i < p->own.nr_pages; i++) {
		free(p->pages[i].numbers);
		free(p->pages[i].uses);
		free(p->pages[i].before);
	}
	for (i = 0; i < p->own.nr_threads; i++) {
		free(p->trees[i].up);
		free(p->trees[i].owed);
		map_release(&p->trees[i].owes);
	}
	p->proc->nr_holders--;
	munmap(p->area, p->own.bytes);
	free(p->pages);
	free(p->tails);
	free(p->trees);
	map_release(&p->consumers);
	free(p);
}

/* --- reading it --- */

static int host_tid(const struct callflow_proc *p, uint32_t tid)
{
	return p->jvm ? jvm_host_tid(p->jvm, tid) : (int)tid;
}

static uint64_t to_ns(const struct dump *d, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * d->ns_ratio >> 32);
}

static uint64_t to_tsc(const struct dump *d, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * d->tsc_ratio >> 32);
}

static const void *at(const struct callflow_proc *p, uint64_t off)
{
	return (const uint8_t *)p->area + off;
}

static uint32_t owner_of(const struct callflow_proc *p, uint32_t page)
{
	return __atomic_load_n((const uint32_t *)at(p, p->own.owners_off) + page, __ATOMIC_RELAXED);
}

static uint32_t node_words(const struct callflow_proc *p)
{
	return p->own.node_bytes / 8;
}

/* The number of the node at ref, 0 not defined yet; NULL: no node of the tree in hand can be there. */
static uint32_t *number_of(struct dump *d, uint32_t ref)
{
	struct callflow_proc *p = d->p;
	uint32_t page = ref / page_words, i = ref % page_words / node_words(p);

	if (!page || page >= p->own.nr_pages || ref % page_words % node_words(p) ||
	    i >= page_words / node_words(p) || owner_of(p, page) != d->slot + 1)
		return NULL;
	if (!p->pages[page].numbers) {
		p->pages[page].numbers = xcalloc(page_words / node_words(p), sizeof(uint32_t));
		p->pages[page].uses = xcalloc(page_words / node_words(p), sizeof(uint16_t));
	}
	return &p->pages[page].numbers[i];
}

/* False: there is no node yet. base is for nr_metrics values. */
static bool read_node(const struct callflow_proc *p, uint32_t ref, struct callflow_node *n, uint64_t *base)
{
	const struct callflow_node *x = at(p, p->own.pool_off + (uint64_t)ref * 8);
	uint32_t m;

	n->consumer = __atomic_load_n(&x->consumer, __ATOMIC_ACQUIRE);
	if (!n->consumer)
		return false;
	n->parent = __atomic_load_n(&x->parent, __ATOMIC_RELAXED);
	n->calls = __atomic_load_n(&x->calls, __ATOMIC_RELAXED);
	for (m = 0; base && m < p->own.nr_metrics; m++)
		base[m] = __atomic_load_n(&x->base[m], __ATOMIC_RELAXED);
	return true;
}

static struct frame native_frame(struct callflow_proc *p, uint32_t slot)
{
	struct frame f = { .kind = FRAME_ANON, .a = p->proc->id };
	const struct map_entry *m;

	if (slot < p->own.nr_functions)
		f.b = __atomic_load_n((const uint64_t *)at(p, p->own.functions_off) + slot, __ATOMIC_RELAXED);
	m = maps_find(&p->proc->maps, f.b);
	if (m && m->module)
		f = (struct frame){ .kind = FRAME_NATIVE, .a = m->module, .b = f.b - m->start + m->pgoff };
	return f;
}

/* Its number in the trace; 0 is the thread itself. */
static uint32_t consumer_number(struct dump *d, uint32_t consumer)
{
	struct rec_call_consumer r = { 0 };
	uint32_t *number;

	if (consumer == CALLFLOW_CONSUMER_THREAD)
		return 0;
	number = map_put(&d->p->consumers, consumer);
	if (*number != MAP_NONE)
		return *number;
	switch (consumer & CALLFLOW_KIND) {
	case CALLFLOW_METHOD:
		r.frame = (struct frame){ .kind = FRAME_METHOD, .a = d->p->proc->id, .b = consumer };
		break;
	case CALLFLOW_NATIVE:
		r.frame = native_frame(d->p, consumer & CALLFLOW_VALUE);
		break;
	default:
		r.frame = (struct frame){ .kind = FRAME_MARK, .b = MARK_NONE };
		if (consumer == CALLFLOW_CONSUMER_PRUNED)
			r.frame.b = MARK_PRUNED;
		else
			d->f->res->nr_damaged++;
	}
	r.consumer = *number = ++d->f->nr_consumers;
	trace_write_call_consumer(d->f->w, &r);
	return r.consumer;
}

/* --- writing it --- */

static void flush_nodes(struct dump *d)
{
	struct rec_call_nodes r = {
		.time_ns = d->time_ns, .tree = d->tree->number, .first = d->tree->nr_nodes - d->nr_nodes + 1,
		.nr = d->nr_nodes, .nodes = d->nodes,
	};

	trace_write_call_nodes(d->f->w, &r);
	d->nr_nodes = 0;
}

static int by_node(const void *a, const void *b)
{
	const struct call_value *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
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

/* A snapshot's nodes may be gone at the next one: where their parents were is needed then. */
static void note_up(struct dump *d, uint32_t ref, const struct callflow_node *n, uint32_t above)
{
	struct tree *t = d->tree;

	d->p->pages[ref / page_words].uses[ref % page_words / node_words(d->p)] = uses_of(n);
	if (d->last && !t->nr_up)
		return;
	VEC_GROW(t->up, t->nr_up, t->alloc_up);
	t->up[t->nr_up++] = above;
}

/* Defines the node at ref and what is above it; 0 when there is none. */
static uint32_t define(struct dump *d, uint32_t ref)
{
	struct callflow_node n;
	uint32_t above = 0, *number;

	d->nr_chain = 0;
	while (ref) {
		number = number_of(d, ref);
		if (!number || *number == BEING_DEFINED || (!*number && !read_node(d->p, ref, &n, NULL))) {
			d->f->res->nr_damaged++;
			break;
		}
		if (*number) {
			above = *number;
			break;
		}
		*number = BEING_DEFINED;
		VEC_GROW(d->chain, d->nr_chain, d->alloc_chain);
		d->chain[d->nr_chain++] = ref;
		ref = n.parent;
	}
	while (d->nr_chain) {
		ref = d->chain[--d->nr_chain];
		number = number_of(d, ref);
		if (!number || !read_node(d->p, ref, &n, NULL))	/* taken back meanwhile: harm is meant */
			return 0;
		if (d->nr_nodes == CALL_RECORD_NODES)
			flush_nodes(d);
		d->nodes[d->nr_nodes++] = (struct call_node){ above, consumer_number(d, n.consumer) };
		note_up(d, ref, &n, above);
		above = *number = ++d->tree->nr_nodes;
		d->f->res->nr_nodes += n.consumer != CALLFLOW_CONSUMER_THREAD;
	}
	return above;
}

static bool is_tsc(uint32_t kind)
{
	return kind == CALLFLOW_WALL || kind == CALLFLOW_CPU;
}

/* What was added since it was written last, in the trace's units; false: nothing. */
static bool take_value(struct dump *d, uint64_t *before, uint64_t calls, const uint64_t *base,
		       struct call_value *v)
{
	uint32_t m, nr = d->p->own.nr_metrics;
	bool any;

	v->calls = calls - (before ? before[0] : 0);
	any = v->calls;
	for (m = 0; m < nr; m++) {
		/* What an open call was charged is not known to the last cycle: what was told stays told. */
		uint64_t added =
			before && base[m] < before[1 + m] ? 0 : base[m] - (before ? before[1 + m] : 0);

		any |= added;
		if (before)
			before[1 + m] += added;
		if (is_tsc(d->p->own.metrics[m].kind))
			added = (uint64_t)((unsigned __int128)added * d->ns_ratio >> 32);
		v->base[m] = added;
	}
	if (before)
		before[0] = calls;
	return any;
}

/* What no step has charged to the node: of the open call, and of before the tree began. */
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

/* Pages of one thread, in a list. */
struct page_list {
	uint32_t *first;	/* [slot]: page, 0 none */
	uint32_t *next;		/* [page] */
};

static void list_pages(const struct callflow_proc *p, struct page_list *l)
{
	uint32_t page, slot;

	l->first = xcalloc(p->own.nr_threads, sizeof(*l->first));
	l->next = xcalloc(p->own.nr_pages, sizeof(*l->next));
	for (page = p->own.nr_pages - 1; page; page--) {
		slot = owner_of(p, page);
		if (!slot || slot > p->own.nr_threads)
			continue;
		l->next[page] = l->first[slot - 1];
		l->first[slot - 1] = page;
	}
}

/* --- pruned contexts --- */

/* Row of what [pruned] of that node owes. */
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

/* The node's context was pruned since the last snapshot: another one may be there. */
static bool is_gone(const struct dump *d, uint32_t page, uint32_t i)
{
	struct callflow_node n;

	return !read_node(d->p, page * page_words + i * node_words(d->p), &n, NULL) ||
	       uses_of(&n) != d->p->pages[page].uses[i];
}

/*
 * What pruned contexts had went to [pruned] of the one above, together with what was written of
 * them: that much it will not be given again. Those further in first, as all may have gone on to a
 * context further out.
 */
static void settle_pruned(struct dump *d, const struct page_list *l)
{
	size_t nr = 0, alloc = 0, k, width = 1 + d->p->own.nr_metrics;
	struct gone *gone = NULL;
	uint32_t page, i;

	for (page = l->first[d->slot]; page; page = l->next[page]) {
		struct page *x = &d->p->pages[page];

		for (i = 0; x->numbers && i < page_words / node_words(d->p); i++) {
			if (!x->numbers[i] || x->numbers[i] > d->tree->nr_up || !is_gone(d, page, i))
				continue;
			VEC_GROW(gone, nr, alloc);
			gone[nr++] = (struct gone){ x->numbers[i], x->before ? x->before + i * width : NULL };
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

/* What a [pruned] owes counts as written. */
static void settle_owed(struct dump *d, const struct callflow_node *n, uint64_t *before)
{
	const uint32_t *parent = n->consumer == CALLFLOW_CONSUMER_PRUNED ? number_of(d, n->parent) : NULL;

	if (parent && *parent && map_get(&d->tree->owes, *parent) != MAP_NONE)
		move_row(d, before, owed_by(d, *parent));
}

static void dump_node(struct dump *d, uint32_t page, uint32_t i)
{
	struct callflow_proc *p = d->p;
	uint32_t ref = page * page_words + i * node_words(p), *number = number_of(d, ref), width;
	uint64_t base[CALLFLOW_MAX_METRICS], *before = NULL;
	struct callflow_node n;
	struct call_value v = { 0 };

	if (!number || !read_node(p, ref, &n, base))
		return;
	width = 1 + p->own.nr_metrics;
	if ((!d->last || d->tree->nr_owed) && !p->pages[page].before)
		p->pages[page].before = xcalloc(page_words / node_words(p), width * sizeof(uint64_t));
	if (p->pages[page].before)
		before = p->pages[page].before + i * width;
	if (d->tree->nr_owed)
		settle_owed(d, &n, before);
	add_uncharged(d, ref, *number, base);
	if (!take_value(d, before, n.calls & CALLFLOW_CALLS, base, &v))
		return;
	v.node = *number ? *number : define(d, ref);
	if (!v.node)
		return;
	if (n.consumer != CALLFLOW_CONSUMER_THREAD)
		d->f->res->nr_calls += v.calls;
	if (d->nr_values == CALL_RECORD_VALUES)
		flush_values(d);
	d->values[d->nr_values++] = v;
}

/* The area's own account of a thread, copied. */
static bool read_thread(const struct callflow_proc *p, uint32_t slot, struct callflow_thread *t)
{
	const struct callflow_thread *x = at(p, p->own.threads_off);

	if (__atomic_load_n(&x[slot].state, __ATOMIC_ACQUIRE) == CALLFLOW_FREE)
		return false;
	memcpy(t, &x[slot], sizeof(*t));
	t->name[CALLFLOW_NAME - 1] = '\0';
	return true;
}

static uint32_t trace_thread(struct dump *d, const struct callflow_thread *t)
{
	int tid = t->tid;

	if (t->flags & CALLFLOW_THREAD_VIRTUAL)
		return t->java_id ? tasks_virtual(d->f->tasks, d->p->proc, t->java_id, NULL, t->start_ns) : 0;
	if (tid <= 0)
		return 0;
	d->tree->task = tasks_get_at(d->f->tasks, d->p->proc, host_tid(d->p, tid), t->start_ns);
	return d->tree->task->id;
}

/* --- open calls --- */

/*
 * When the thread began to exist. An exec gives it a new image, but the kernel goes on counting its CPU
 * time; 0: not known.
 */
static uint64_t birth_ns(const struct thread *th)
{
	while (th->proc->execed && th->older && th->older->dead && th->older->dead_ns == th->born_ns)
		th = th->older;
	return th->provisional ? 0 : th->born_ns;
}

/* CPU time from before its first call is in the tree, and so the time on the wall must be. */
static void note_birth(struct dump *d, const struct callflow_thread *t)
{
	uint64_t born;

	if (!d->tree->task || !(t->flags & CALLFLOW_THREAD_FROM_BIRTH))
		return;
	born = birth_ns(d->tree->task);
	if (born && born < t->start_ns)
		d->tree->before_tsc = to_tsc(d, t->start_ns - born);
}

/* The node of the innermost open call: callflow/area.h says where that is. 0: there is no sense in it. */
static uint32_t innermost(struct dump *d, const struct callflow_thread *t)
{
	uint64_t depth = (t->top - t->stack) / sizeof(struct callflow_open);
	uint32_t ref = t->root;

	if (t->innermost)
		return t->innermost;
	if (t->top < t->stack || depth > d->p->own.max_depth || (d->nr_steps += depth) > MAX_STEPS)
		return 0;
	for (; depth && number_of(d, ref); depth--)
		ref = __atomic_load_n(
			&((const struct callflow_node *)at(d->p, d->p->own.pool_off + (uint64_t)ref * 8))
				 ->child,
			__ATOMIC_RELAXED);
	return number_of(d, ref) ? ref : 0;
}

static bool has_clocks(const struct callflow_proc *p)
{
	return p->own.nr_metrics && is_tsc(p->own.metrics[0].kind);
}

/* Each step moves the clock that it charged last: as long as that stands, so does the rest. */
static bool stands(const struct dump *d, const struct callflow_thread *t)
{
	const struct callflow_thread *x =
		(const struct callflow_thread *)at(d->p, d->p->own.threads_off) + d->slot;

	return __atomic_load_n(&x->last[0], __ATOMIC_ACQUIRE) == t->last[0] && x->top == t->top &&
	       x->running_on == t->running_on && x->state == t->state;
}

/* The CPU time of the kernel thread that t runs on; 0 not known. */
static uint64_t kernel_cpu(const struct dump *d, const struct callflow_thread *t)
{
	uint64_t ns = d->tree->looked_tid == t->running_on ? d->tree->looked_ns : 0;

	return MAX(ns, t->seen_cpu_ns);
}

/* The process may have ended, and that is not noticed at once. */
static uint64_t end_tsc(const struct dump *d)
{
	const struct thread *th = d->tree->task ? d->tree->task : tasks_any(d->f->tasks, d->p->proc->pid);

	if (th && th->dead && th->dead_ns < d->time_ns && th->dead_ns > d->f->ns)
		return d->f->tsc + to_tsc(d, th->dead_ns - d->f->ns);
	return d->tsc;
}

/*
 * Charges what the tree's open call has consumed since the last step. A thread that makes steps all the time
 * has nothing to be charged. Counters and what was allocated are known to the process alone.
 */
static void charge_open(struct dump *d, struct callflow_thread *t)
{
	int tries;
	uint32_t m;

	d->open_ref = 0;
	for (tries = 0; tries < 4 && t->state == CALLFLOW_LIVE && has_clocks(d->p); tries++) {
		d->open_ref = innermost(d, t);
		if (stands(d, t))
			break;
		d->open_ref = 0;
		read_thread(d->p, d->slot, t);
	}
	for (m = 0; d->open_ref && m < d->p->own.nr_metrics; m++) {
		uint64_t v = t->last[m];

		if (d->p->own.metrics[m].kind == CALLFLOW_WALL)
			v = end_tsc(d);
		else if (d->p->own.metrics[m].kind == CALLFLOW_CPU && t->running_on)
			v = to_tsc(d, kernel_cpu(d, t));
		d->open_base[m] = v > t->last[m] ? v - t->last[m] : 0;
	}
}

static uint64_t read_cpu_ns(const struct callflow_proc *p, uint32_t tid)
{
	struct buf b = BUF_INIT;
	uint64_t ns = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", p->proc->pid, host_tid(p, tid));
	if (!io_slurp(path, &b) && b.data)
		ns = strtoull(b.data, NULL, 10);
	buf_release(&b);
	return ns;
}

/* A kernel thread's own tree stands for it, a virtual one's for what it runs on. */
static void look_at(const struct callflow_proc *p, uint32_t slot)
{
	const struct callflow_thread *t = (const struct callflow_thread *)at(p, p->own.threads_off) + slot;
	uint32_t tid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
	uint64_t ns;

	if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != CALLFLOW_LIVE)
		return;
	if (!tid)
		tid = __atomic_load_n(&t->running_on, __ATOMIC_RELAXED);
	ns = tid ? read_cpu_ns(p, tid) : 0;
	if (!ns)
		return;
	p->trees[slot].looked_tid = tid;
	p->trees[slot].looked_ns = ns;
}

static bool has_cpu(const struct callflows *f)
{
	return f->o->layout.nr_metrics && f->o->layout.metrics[0].kind == CALLFLOW_CPU;
}

static void look_at_all(const struct callflow_proc *p)
{
	uint32_t slot, nr = __atomic_load_n(&p->area->next_thread, __ATOMIC_RELAXED);

	for (slot = 0; slot < nr && slot < p->own.nr_threads; slot++)
		look_at(p, slot);
}

/* A process that is killed leaves nobody to ask: what its threads had consumed a moment before must do. */
static void look_sometimes(struct callflows *f)
{
	uint64_t begin = clock_mono_ns();
	struct callflow_proc *p;

	if (!has_cpu(f) || begin < f->look_ns)
		return;
	for (p = f->procs; p; p = p->next)
		look_at_all(p);
	f->look_ns = begin + MAX((uint64_t)LOOK_EVERY_NS, LOOK_SHARE * (clock_mono_ns() - begin));
}

/* --- trees --- */

static uint64_t kernel_cpu_of_tree(const struct dump *d, const struct callflow_thread *t)
{
	uint64_t ns = MAX(d->tree->looked_tid == t->tid ? d->tree->looked_ns : 0, t->seen_cpu_ns);

	if (t->state != CALLFLOW_LIVE || !t->tid || t->flags & CALLFLOW_THREAD_SEVERAL ||
	    ns <= t->cpu_origin_ns)
		return t->kernel_cpu_ns;
	return MAX(t->kernel_cpu_ns, ns - t->cpu_origin_ns);
}

static void write_tree(struct dump *d, const struct callflow_thread *t)
{
	struct rec_call_tree r = {
		.time_ns = d->time_ns, .tree = d->tree->number, .proc = d->p->proc->id,
		.thread = d->tree->thread,
		.flags = t->flags & CALLFLOW_THREAD_VIRTUAL ? CALL_TREE_VIRTUAL : 0, .java_id = t->java_id,
		.start_ns = t->start_ns, .end_ns = t->end_ns, .kernel_cpu_ns = kernel_cpu_of_tree(d, t),
		.popped = t->popped,
		.inserted = t->inserted, .over_range = t->over_range, .folded = t->folded,
		.folded_recursion = t->folded_recursion, .thrown = t->thrown, .missed = t->missed,
		.mounts = t->mounts, .lost_events = t->lost_events,
		.name = t->name, .name_len = strlen(t->name),
	};

	r.start_ns -= MIN(r.start_ns, to_ns(d, d->tree->before_tsc));
	if (t->state != CALLFLOW_LIVE)
		r.open = t->left_open;
	else if (t->top >= t->stack)
		r.open = (t->top - t->stack) / sizeof(struct callflow_open) + t->beyond;
	if (r.name_len == 0 || (d->tree->thread && !(t->flags & CALLFLOW_THREAD_JAVA)))
		r.name_len = 0;
	trace_write_call_tree(d->f->w, &r);
}

/* Of that slot; what the process says of it, copied. */
static struct callflow_thread begin_tree(struct dump *d, uint32_t slot)
{
	struct callflow_thread t;

	d->slot = slot;
	d->tree = &d->p->trees[slot];
	if (!read_thread(d->p, slot, &t))
		memset(&t, 0, sizeof(t));
	if (!d->tree->number) {
		d->tree->number = ++d->f->nr_trees;
		d->tree->thread = trace_thread(d, &t);
		note_birth(d, &t);
		d->f->res->nr_trees++;
	}
	if (t.flags & CALLFLOW_THREAD_SEVERAL)
		d->tree->thread = 0;
	d->f->res->nr_folded += t.folded - MIN(t.folded, d->tree->nr_folded);
	d->f->res->lost_events += t.lost_events - MIN(t.lost_events, d->tree->lost_events);
	d->tree->nr_folded = t.folded;
	d->tree->lost_events = t.lost_events;
	write_tree(d, &t);
	return t;
}

/* --- events --- */

static struct callflow_ring *ring_at(const struct callflow_proc *p, uint32_t i)
{
	return (void *)((uint8_t *)p->area + p->own.rings_off +
			i * callflow_ring_bytes(p->own.ring_events, p->own.nr_metrics));
}

static void flush_events(struct dump *d)
{
	struct rec_call_events r = {
		.tree = d->tree ? d->tree->number : 0, .nr_metrics = d->p->own.nr_metrics,
		.nr = d->nr_events, .events = d->events,
	};

	trace_write_call_events(d->f->w, &r);
	d->f->res->nr_events += d->nr_events;
	d->nr_events = 0;
}

static void take_event(struct dump *d, const struct callflow_event *x, const uint64_t *charged)
{
	uint32_t slot = x->what >> CALLFLOW_EVENT_THREAD & (CALLFLOW_EVENT_THREADS - 1), consumer = x->what,
		 m;
	struct call_event *e;

	if (slot >= d->p->own.nr_threads) {
		d->f->res->nr_damaged++;
		return;
	}
	if (!d->tree || slot != d->slot || d->nr_events == CALL_RECORD_EVENTS) {
		flush_events(d);
		d->slot = slot;
		d->tree = &d->p->trees[slot];
		if (!d->tree->number)
			begin_tree(d, slot);
	}
	e = &d->events[d->nr_events++];
	e->kind = x->what >> CALLFLOW_EVENT_KIND & 3;
	e->consumer = e->kind == CALL_UNWOUND ? consumer : consumer_number(d, consumer);
	/* Never back: neither a thread that moves between rings nor harm may do that. */
	e->time_ns = MAX(d->f->ns + to_ns(d, x->tsc - d->f->tsc), d->tree->last_ns);
	d->tree->last_ns = e->time_ns;
	for (m = 0; m < d->p->own.nr_metrics; m++) {
		uint64_t before = d->p->own.metrics[m].kind == CALLFLOW_WALL ? d->tree->before_tsc : 0;

		e->charged[m] =
			is_tsc(d->p->own.metrics[m].kind) ? to_ns(d, charged[m] + before) : charged[m];
		e->charged[m] = d->tree->charged[m] = MAX(e->charged[m], d->tree->charged[m]);
	}
}

static void drain_ring(struct dump *d, uint32_t i)
{
	const struct callflow_proc *p = d->p;
	struct callflow_ring *r = ring_at(p, i);
	uint32_t size = p->own.ring_events, bytes = callflow_event_bytes(p->own.nr_metrics);
	uint64_t tail = p->tails[i], charged[CALLFLOW_MAX_METRICS];

	for (;; tail++) {
		const struct callflow_event *x =
			(const void *)((uint8_t *)r + CALLFLOW_PAGE + (tail & (size - 1)) * bytes);
		struct callflow_event copy;

		copy.what = __atomic_load_n(&x->what, __ATOMIC_ACQUIRE);
		if (copy.what >> CALLFLOW_EVENT_LAP != callflow_event_lap(tail, size))
			break;
		copy.tsc = __atomic_load_n(&x->tsc, __ATOMIC_RELAXED);
		memcpy(charged, x->charged, p->own.nr_metrics * sizeof(*charged));
		take_event(d, &copy, charged);
		if (!(tail & 1023))
			__atomic_store_n(&r->tail, tail + 1, __ATOMIC_RELEASE);
	}
	d->p->tails[i] = tail;
	__atomic_store_n(&r->tail, tail, __ATOMIC_RELEASE);
	flush_events(d);
}

static struct dump *new_dump(struct callflows *f, struct callflow_proc *p)
{
	struct dump *d = xcalloc(1, sizeof(*d));

	d->f = f;
	d->p = p;
	d->time_ns = clock_mono_ns();
	d->tsc = arch_cycle_counter();
	d->tsc_ratio = tsc_ratio(f);
	d->ns_ratio = ratio((uint64_t)1 << 32, d->tsc_ratio);
	return d;
}

static void drain_proc(struct callflows *f, struct callflow_proc *p)
{
	struct dump *d = new_dump(f, p);
	uint32_t i;

	for (i = 0; i < p->own.nr_rings; i++)
		drain_ring(d, i);
	free(d->chain);
	free(d);
}

void callflows_drain(struct callflows *f)
{
	struct callflow_proc *p;

	if (!f->o || !f->procs)
		return;
	look_sometimes(f);
	for (p = f->procs; p && has_events(f); p = p->next)
		drain_proc(f, p);
}

/* --- all trees --- */

/* With events, what an open call consumed since the last one is told by another, which ends no call. */
static void tell_open(struct dump *d, const struct callflow_thread *t)
{
	struct call_event *e = &d->events[d->nr_events];
	uint32_t m;

	if (!d->last || !has_events(d->f) || !d->open_ref || t->top <= t->stack)
		return;
	*e = (struct call_event){ .time_ns = MAX(d->time_ns, d->tree->last_ns), .kind = CALL_UNWOUND };
	for (m = 0; m < d->p->own.nr_metrics; m++)
		e->charged[m] = d->tree->charged[m] +
			(is_tsc(d->p->own.metrics[m].kind) ? to_ns(d, d->open_base[m]) : d->open_base[m]);
	d->nr_events++;
	flush_events(d);
}

static void dump_tree(struct dump *d, uint32_t slot, const struct page_list *l)
{
	struct callflow_thread t = begin_tree(d, slot);
	uint32_t page, i;

	if (!d->tree->root)
		d->tree->root = define(d, t.root);
	if (d->tree->nr_up)
		settle_pruned(d, l);
	charge_open(d, &t);
	tell_open(d, &t);
	for (page = l->first[slot]; page; page = l->next[page])
		for (i = 0; i < page_words / node_words(d->p); i++)
			dump_node(d, page, i);
	flush_values(d);
}

/*
 * Is the tree not being pruned? With the area's reading, it will not be. A snapshot goes without
 * one that is: the next one has it. The last look waits, and not for a process that was killed in
 * the middle, which lacks at most one context.
 */
static bool stays(struct dump *d, uint32_t slot)
{
	const struct callflow_thread *t =
		(const struct callflow_thread *)at(d->p, d->p->own.threads_off) + slot;
	const struct timespec ms = { .tv_nsec = 1000000 };
	bool pruning;

	while ((pruning = __atomic_load_n(&t->pruning, __ATOMIC_SEQ_CST)) && d->last &&
	       d->waited_ms++ < MAX_PRUNE_MS && tasks_is_alive(d->p->proc))
		nanosleep(&ms, NULL);
	if (!pruning)
		return true;
	d->f->res->nr_damaged += d->last;
	return d->last;
}

/* last: its values are not asked for again. */
static void dump_proc(struct callflows *f, struct callflow_proc *p, bool last)
{
	struct dump *d = new_dump(f, p);
	struct page_list l;
	uint32_t slot;

	d->last = last;
	__atomic_store_n(&p->area->reading, 1, __ATOMIC_SEQ_CST);
	if (has_cpu(f))
		look_at_all(p);
	list_pages(p, &l);
	for (slot = 0; slot < p->own.nr_threads; slot++) {
		if (l.first[slot] && stays(d, slot))
			dump_tree(d, slot, &l);
	}
	if (!last)
		__atomic_store_n(&p->area->reading, 0, __ATOMIC_RELEASE);
	free(l.first);
	free(l.next);
	free(d->chain);
	free(d);
}

static void write_lost(struct callflows *f, struct callflow_proc *p)
{
	uint32_t m;
	uint64_t lost = __atomic_load_n(&p->area->lost_calls, __ATOMIC_RELAXED);
	struct rec_lost r = { .time_ns = clock_mono_ns(), .cause = LOST_CALLS, .stream = p->proc->id };

	f->res->slow_threads += __atomic_load_n(&p->area->slow_threads, __ATOMIC_RELAXED);
	f->res->lost_calls += lost;
	for (m = 0; m < f->o->layout.nr_metrics; m++)
		f->res->refused_threads[m] += __atomic_load_n(&p->area->metrics[m].refused, __ATOMIC_RELAXED);
	r.count = lost + f->res->lost_events;
	f->res->lost_events = 0;	/* told */
	f->res->told_events += r.count - lost;
	if (r.count)
		trace_write_lost(f->w, &r);
}

/* --- the life of an area --- */

bool callflows_function(struct callflows *f, struct jvm *jvm, struct modules *modules, uint64_t addr)
{
	const struct callflow_rules *rules = f->o->layout.rules;
	struct callflow_proc *p;
	const struct map_entry *at;
	const struct module *m;
	struct buf name = BUF_INIT;
	const char *base;
	struct symbol s;
	bool wanted;

	for (p = f->procs; p && p->jvm != jvm; p = p->next)
		;
	at = p ? maps_find(&p->proc->maps, addr) : NULL;
	m = at && at->module ? modules_at(modules, at->module) : NULL;
	if (!m)
		return callflow_wants_function(rules, "", 0, "", 0);
	base = strrchr(m->path, '/');
	base = base ? base + 1 : m->path;
	if (m->file && symfile_symbol(m->file, addr - at->start + at->pgoff, &s))
		demangle(s.name, &name);
	wanted = callflow_wants_function(rules, base, strlen(base), name.data ? name.data : "", name.len);
	buf_release(&name);
	return wanted;
}


void callflows_end(struct callflows *f, struct jvm *jvm)
{
	struct callflow_proc **at, *p;

	for (at = &f->procs; (p = *at) && p->jvm != jvm; at = &p->next)
		;
	if (!p)
		return;
	*at = p->next;
	drain_proc(f, p);
	dump_proc(f, p, true);
	write_lost(f, p);
	free_proc(p);
}

void callflows_snapshot(struct callflows *f)
{
	if (f->o && f->o->snapshot_ns && clock_mono_ns() - f->written_ns >= f->o->snapshot_ns)
		callflows_store(f);
}

void callflows_store(struct callflows *f)
{
	struct callflow_proc *p;

	f->written_ns = clock_mono_ns();
	for (p = f->procs; p; p = p->next)
		dump_proc(f, p, false);
}

/*
 * Nodes in use are read as they are: what they hold while they change is what they held before, or
 * hold after.
 */
static void count_proc(const struct callflow_proc *p, struct callflow_count *n)
{
	uint32_t page, i, slot;

	for (page = 1; page < p->own.nr_pages; page++)
		for (i = 0; owner_of(p, page) && i < page_words / node_words(p); i++) {
			struct callflow_node x;
			uint32_t kind;

			if (!read_node(p, page * page_words + i * node_words(p), &x, NULL))
				continue;
			kind = x.consumer & CALLFLOW_KIND;
			n->nr_calls += kind != CALLFLOW_MARK || x.consumer == CALLFLOW_CONSUMER_PRUNED ?
				       x.calls & CALLFLOW_CALLS : 0;
			n->nr_contexts += kind != CALLFLOW_MARK;
		}
	for (slot = 0; slot < p->own.nr_threads; slot++) {
		struct callflow_thread t;

		n->nr_threads += read_thread(p, slot, &t);
	}
}

void callflows_count(const struct callflows *f, struct callflow_count *n)
{
	const struct callflow_proc *p;

	memset(n, 0, sizeof(*n));
	for (p = f->procs; p; p = p->next)
		count_proc(p, n);
}

void callflows_finish(struct callflows *f)
{
	while (f->procs)
		callflows_end(f, f->procs->jvm);
}

void callflows_release(struct callflows *f)
{
	while (f->procs) {
		struct callflow_proc *p = f->procs;

		f->procs = p->next;
		free_proc(p);
	}
}
