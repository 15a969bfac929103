// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callread.c - reads the memory in which processes keep call trees (callflow/area.h): nodes, threads,
 * consumers, and what open calls have consumed since the last step.
 *
 * The memory is theirs: it may change while it is read, and may contain anything. Values are
 * copied once, then checked; offsets come from our own layout, never from the head of the area.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/calls/calldump.h"
#include "collect/parts/threadlabels.h"
#include "sym/demangle.h"

enum {
	LOOK_EVERY_NS = 50000000,	/* at the CPU time of threads with open calls, */
	LOOK_SHARE = 100,		/* and for one part of so many of the time at most */
	MAX_STEPS = 1 << 26,		/* to innermost calls */
};

int area_host_tid(const struct callflow_proc *p, uint32_t tid)
{
	return p->jvm ? jvm_host_tid(p->jvm, tid) : (int)tid;
}

uint32_t *dump_number_of(struct dump *d, uint32_t ref)
{
	struct callflow_proc *p = d->p;
	uint32_t page = ref / area_page_words, i = ref % area_page_words / area_node_words(p);

	if (!page || page >= p->own.nr_pages || ref % area_page_words % area_node_words(p) ||
	    i >= area_page_nodes(p) || area_owner(p, page) != d->slot + 1)
		return NULL;
	if (!p->pages[page].numbers) {
		p->pages[page].numbers = xcalloc(area_page_nodes(p), sizeof(uint32_t));
		p->pages[page].uses = xcalloc(area_page_nodes(p), sizeof(uint16_t));
	}
	return &p->pages[page].numbers[i];
}

bool area_read_node(const struct callflow_proc *p, uint32_t ref, struct callflow_node *n, uint64_t *base)
{
	const struct callflow_node *x = area_at(p, p->own.pool_off + (uint64_t)ref * 8);
	uint32_t m;

	n->consumer = load_acquire(&x->consumer);
	if (!n->consumer)
		return false;
	n->parent = load_relaxed(&x->parent);
	n->calls = load_relaxed(&x->calls);
	for (m = 0; base && m < p->own.nr_metrics; m++)
		base[m] = load_relaxed(&x->base[m]);
	return true;
}

static uint64_t function_addr(const struct callflow_proc *p, uint32_t slot)
{
	const uint64_t *functions = area_at(p, p->own.functions_off);

	return slot < p->own.nr_functions ? load_relaxed(functions + slot) : 0;
}

static struct frame native_frame(struct callflow_proc *p, uint64_t addr)
{
	const struct map_entry *m = maps_find(&p->proc->maps, addr);

	if (m && m->module)
		return (struct frame){ FRAME_NATIVE, .module = m->module, .off = map_entry_off(m, addr) };
	return (struct frame){ FRAME_ANON, .proc = p->proc->id, .addr = addr };
}

/* "main:12", or "main+0x1c" without debug information; in what is inlined, the name and line of that. */
static void put_site(const struct module *m, uint64_t off, struct buf *b)
{
	enum { LEVELS = 64 };
	struct srcline lines[LEVELS];
	size_t nr = m && m->file ? symfile_lines(m->file, off, lines, LEVELS) : 0;
	struct symbol s;

	if (!m || !m->file || !symfile_symbol(m->file, off, &s)) {
		buf_fmt(b, "0x%" PRIx64, off);
		return;
	}
	demangle(nr && lines[0].func ? lines[0].func : s.name, b);
	if (nr && lines[0].line)
		buf_fmt(b, ":%u", lines[0].line);
	else if (off != s.off)
		buf_fmt(b, "+0x%" PRIx64, off - s.off);
}

/* Return the frame of a call site, which returns to addr and whose name says where it is. */
static struct frame site_frame(struct dump *d, uint32_t consumer, uint64_t addr)
{
	const struct map_entry *at = maps_find(&d->p->proc->maps, addr - 1);
	const struct module *m = at && at->module ? modules_at(d->f->modules, at->module) : NULL;
	struct rec_function r = {
		.function = sources_function(d->f->sources, d->p->proc, consumer),
		.kind = FUNCTION_NATIVE, .module = m ? m->path : "", .file = "",
	};
	struct buf name = BUF_INIT;

	r.module_len = strlen(r.module);
	put_site(m, at ? map_entry_off(at, addr - 1) : addr - 1, &name);
	r.name = name.data;
	r.name_len = name.len;
	trace_write_function(d->f->w, &r);
	buf_release(&name);
	return (struct frame){ FRAME_NAMED, .function = r.function };
}

/* Return the frame of a site in Java, unchecked: readers see whether there is such a method. */
static struct frame java_site(const struct callflow_proc *p, uint64_t site)
{
	return (struct frame){ FRAME_SITE, .proc = p->proc->id,
			       .method = site >> CALLFLOW_PLACE_BITS & CALLFLOW_NUMBER,
			       .place = site & ((1 << CALLFLOW_PLACE_BITS) - 1) };
}

/* Note that the current file needs the consumer; return whether it did not have it yet. */
static bool note_in_file(struct callflows *f, uint32_t consumer)
{
	bool before;

	if (!callflows_has_files(f))
		return false;
	while (consumer >= f->nr_consumer_file)
		*VEC_ADD(f->consumer_file, f->nr_consumer_file, f->alloc_consumer_file) = 0;
	before = f->consumer_file[consumer] == f->file;
	f->consumer_file[consumer] = f->file;
	return !before;
}

/* Write labels of threads; they are in the memory of the process, and may be anything. */
static void callread_write_labels(struct dump *d, uint32_t number, uint32_t consumer)
{
	const struct callflow_area *own = &d->p->own;
	const struct callflow_label *l = area_at(d->p, own->labels_off);
	struct rec_call_label r = { .time_ns = d->time_ns, .consumer = number };
	uint32_t slot = consumer - CALLFLOW_LABEL_FIRST;
	uint64_t place = slot < own->nr_labels ? load_acquire(&l[slot].place) : 0, at = place >> 16;
	struct buf text = BUF_INIT, b = BUF_INIT;

	if (!place || at > own->label_bytes || (place & 0xffff) - 1 > own->label_bytes - at) {
		r.flags = THREAD_LABEL_UNKNOWN;
	} else {
		buf_add(&text, area_at(d->p, own->label_texts_off + at), (place & 0xffff) - 1);
		buf_add(&text, "", 1);
		threadlabels_put(&b, text.data);
	}
	r.labels = b.data ? b.data : "";
	r.labels_len = b.len;
	trace_write_call_label(d->f->w, &r);
	buf_release(&text);
	buf_release(&b);
}

/* Return the frame of a method; an invalid tier becomes an unknown one. */
static struct frame method_frame(const struct callflow_proc *p, uint32_t consumer)
{
	static const enum frame_tier tiers[] = {
		[CALLFLOW_TIER_INTERPRETED] = FRAME_TIER_INTERPRETED, [CALLFLOW_TIER_C1] = FRAME_TIER_C1,
		[CALLFLOW_TIER_C2] = FRAME_TIER_C2, [CALLFLOW_TIER_INLINED] = FRAME_TIER_INLINED,
	};
	uint32_t tier = (consumer & CALLFLOW_TIER) >> CALLFLOW_TIER_SHIFT;

	return (struct frame){ FRAME_METHOD, .proc = p->proc->id, .method = consumer & CALLFLOW_NUMBER,
			       .tier = tier < ARRAY_SIZE(tiers) ? tiers[tier] : FRAME_TIER_UNKNOWN };
}

uint32_t dump_consumer(struct dump *d, uint32_t consumer)
{
	struct rec_call_consumer r = { 0 };
	uint32_t *number;
	uint64_t addr;

	if (consumer == CALLFLOW_CONSUMER_THREAD)
		return 0;
	number = map_put(&d->p->consumers, consumer);
	if (*number != MAP_NONE && !note_in_file(d->f, *number))
		return *number;
	switch (consumer & CALLFLOW_KIND) {
	case CALLFLOW_METHOD:
		r.frame = method_frame(d->p, consumer);
		break;
	case CALLFLOW_NATIVE:
		addr = function_addr(d->p, consumer & CALLFLOW_VALUE);
		if (!(addr & CALLFLOW_SITE))
			r.frame = native_frame(d->p, addr);
		else if (addr & CALLFLOW_SITE_JAVA)
			r.frame = java_site(d->p, addr);
		else
			r.frame = site_frame(d, consumer, addr & ~CALLFLOW_SITE);
		break;
	case CALLFLOW_CLASS:
		r.frame = (struct frame){
			FRAME_NAMED,
			.function = sources_function(d->f->sources, d->p->proc,
						     consumer & CALLFLOW_VALUE),
		};
		break;
	default:
		r.frame = (struct frame){ FRAME_MARK, .mark = MARK_NONE };
		if (consumer == CALLFLOW_CONSUMER_PRUNED)
			r.frame.mark = MARK_PRUNED;
		else if (callflow_is_label(consumer))
			r.frame.mark = MARK_LABELS;
		else
			d->f->res->nr_damaged++;
	}
	if (*number == MAP_NONE) {
		*number = ++d->f->nr_consumers;
		note_in_file(d->f, *number);
	}
	r.consumer = *number;
	trace_write_call_consumer(d->f->w, &r);
	if (r.frame.mark == MARK_LABELS)
		callread_write_labels(d, r.consumer, consumer);
	return r.consumer;
}

bool area_read_thread(const struct callflow_proc *p, uint32_t slot, struct callflow_thread *t)
{
	const struct callflow_thread *x = area_at(p, p->own.threads_off);

	if (load_acquire(&x[slot].state) == CALLFLOW_FREE)
		return false;
	memcpy(t, &x[slot], sizeof(*t));
	t->name[CALLFLOW_NAME - 1] = '\0';
	return true;
}

/* --- open calls --- */

/*
 * Return when the thread began to exist, or 0 if that is not known. An exec gives it a new image, but the
 * kernel goes on counting its CPU time.
 */
static uint64_t birth_ns(const struct thread *th)
{
	while (th->proc->execed && th->older && th->older->dead && th->older->dead_ns == th->born_ns)
		th = th->older;
	return th->provisional ? 0 : th->born_ns;
}

void dump_note_birth(struct dump *d, const struct callflow_thread *t)
{
	uint64_t born;

	if (!d->tree->task || !(t->flags & CALLFLOW_THREAD_FROM_BIRTH))
		return;
	born = birth_ns(d->tree->task);
	if (born && born < t->start_ns)
		d->tree->before_tsc = dump_tsc(d, t->start_ns - born);
}

/*
 * Return the node of the innermost open call: callflow/area.h says where that is. 0: there is no sense in
 * it.
 */
static uint32_t innermost(struct dump *d, const struct callflow_thread *t)
{
	uint64_t depth = (t->top - t->stack) / sizeof(struct callflow_open);
	uint32_t ref = t->at;

	if (t->innermost)
		return t->innermost;
	if (t->top < t->stack || depth > d->p->own.max_depth || (d->nr_steps += depth) > MAX_STEPS)
		return 0;
	for (; depth && dump_number_of(d, ref); depth--) {
		const struct callflow_node *x = area_at(d->p, d->p->own.pool_off + (uint64_t)ref * 8);

		ref = load_relaxed(&x->child);
	}
	return dump_number_of(d, ref) ? ref : 0;
}

static bool has_clocks(const struct callflow_proc *p)
{
	return p->own.nr_metrics && metric_is_tsc(p->own.metrics[0].kind);
}

/* Return whether the thread has taken no step since: each advances the clock that it charged last. */
bool dump_stands(const struct dump *d, const struct callflow_thread *t)
{
	const struct callflow_thread *x = area_thread(d->p, d->slot);

	return load_acquire(&x->last[0]) == t->last[0] && x->top == t->top &&
	       x->running_on == t->running_on && x->state == t->state;
}

/* Return the CPU time of the kernel thread that t runs on; 0 not known. */
static uint64_t kernel_cpu(const struct dump *d, const struct callflow_thread *t)
{
	uint64_t ns = d->tree->looked_tid == t->running_on ? d->tree->looked_ns : 0;

	return MAX(ns, t->seen_cpu_ns);
}

/* Return when the thread or its process ended; UINT64_MAX: they go on. */
static uint64_t death_ns(const struct dump *d)
{
	const struct thread *th = d->tree->task ? d->tree->task : tasks_any(d->f->tasks, d->p->proc->pid);

	return th && th->dead ? th->dead_ns : UINT64_MAX;
}

/* Return when the tree ended: the process may have ended, which is not noticed at once. */
static uint64_t end_tsc(const struct dump *d)
{
	uint64_t death = death_ns(d);

	return death < d->time_ns && death > d->f->ns ? d->tsc - dump_tsc(d, d->time_ns - death) : d->tsc;
}

bool dump_looked_last(const struct dump *d)
{
	enum { LATEST_NS = 1000000 };
	uint64_t death = death_ns(d);

	return death == UINT64_MAX || d->tree->looked_at_ns + LATEST_NS > death;
}

void dump_charge_open(struct dump *d, struct callflow_thread *t)
{
	int tries;
	uint32_t m;

	d->open_ref = 0;
	for (tries = 0; tries < 4 && t->state == CALLFLOW_LIVE && has_clocks(d->p); tries++) {
		d->open_ref = innermost(d, t);
		if (dump_stands(d, t))
			break;
		d->open_ref = 0;
		area_read_thread(d->p, d->slot, t);
	}
	for (m = 0; d->open_ref && m < d->p->own.nr_metrics; m++) {
		uint64_t v = t->last[m];

		if (d->p->own.metrics[m].kind == CALLFLOW_WALL)
			v = end_tsc(d);
		else if (d->p->own.metrics[m].kind == CALLFLOW_CPU && t->running_on)
			v = dump_tsc(d, kernel_cpu(d, t));
		d->open_base[m] = v > t->last[m] ? v - t->last[m] : 0;
	}
}

static uint64_t read_cpu_ns(const struct callflow_proc *p, uint32_t tid)
{
	struct buf b = BUF_INIT;
	uint64_t ns = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", p->proc->pid, area_host_tid(p, tid));
	if (!io_slurp(path, &b) && b.data)
		ns = strtoull(b.data, NULL, 10);
	buf_release(&b);
	return ns;
}

/* Read the kernel thread of a tree, for a virtual thread that of its carrier. */
static void callread_look_at(const struct callflow_proc *p, uint32_t slot)
{
	const struct callflow_thread *t = area_thread(p, slot);
	uint32_t tid = load_relaxed(&t->tid);
	uint64_t ns;

	if (load_acquire(&t->state) != CALLFLOW_LIVE)
		return;
	if (!tid)
		tid = load_relaxed(&t->running_on);
	ns = tid ? read_cpu_ns(p, tid) : 0;
	if (!ns)
		return;
	p->trees[slot].looked_tid = tid;
	p->trees[slot].looked_ns = ns;
	p->trees[slot].looked_at_ns = clock_mono_ns();
}

bool callflows_have_cpu(const struct callflows *f)
{
	return f->o->layout.nr_metrics && f->o->layout.metrics[0].kind == CALLFLOW_CPU;
}

void area_look_at_all(const struct callflow_proc *p)
{
	uint32_t slot, nr = load_relaxed(&p->area->next_thread);

	for (slot = 0; slot < nr && slot < p->own.nr_threads; slot++)
		callread_look_at(p, slot);
}

void callflows_look(struct callflows *f)
{
	uint64_t begin = clock_mono_ns();
	struct callflow_proc *p;

	if (!callflows_have_cpu(f) || begin < f->look_ns)
		return;
	for (p = f->procs; p; p = p->next)
		area_look_at_all(p);
	f->look_ns = begin + MAX((uint64_t)LOOK_EVERY_NS, LOOK_SHARE * (clock_mono_ns() - begin));
}
