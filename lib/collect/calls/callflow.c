// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * callflow.c - the memory in which processes keep call trees (callflow/area.h), from its creation to the
 * last read, and when its contents are written to the trace.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomic.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "callflow/filter.h"
#include "collect/calls/calldump.h"
#include "sym/demangle.h"
#include "trace/writer.h"

enum {
	CALIBRATE_NS = 10000000,
	CLOCK_READINGS = 8,
	MAX_PRUNE_MS = 1000,		/* to wait in all, whatever the process says */
	/* of snapshots that nobody asked for: the time between them, a share of the time, bytes per second */
	REST_NS = 2000000000, REST_SHARE = 100, REST_BYTES = 64 << 10,
};

/*
 * Read both clocks at one moment. Losing the CPU between two readings takes milliseconds, so the best of
 * several is kept.
 */
static void read_clocks(uint64_t *ns, uint64_t *tsc)
{
	uint64_t before, after, least = UINT64_MAX, now;
	int i;

	for (i = 0; i < CLOCK_READINGS; i++) {
		before = arch_cycle_counter();
		now = clock_mono_ns();
		after = arch_cycle_counter();
		if (after - before >= least)
			continue;
		least = after - before;
		*ns = now;
		*tsc = before + least / 2;
	}
}

void callflows_init(struct callflows *f, const struct callflow_opts *o, struct tasks *t, struct modules *m,
		    struct trace_writer *w, struct callflow_result *res)
{
	memset(f, 0, sizeof(*f));
	f->o = o;
	f->res = res;
	f->tasks = t;
	f->modules = m;
	f->w = w;
	read_clocks(&f->ns, &f->tsc);
	f->written_ns = f->ns;
	f->rest_ns = REST_NS;
}

static void put_unless_empty(struct trace_writer *w, const char *key, const char *value)
{
	if (*value)
		trace_write_label(w, key, "%s", value);
}

static void label_jvm(const struct callflows *f, uint32_t number)
{
	const struct callflow_costs *c = &f->o->calibration[1 + number];
	char key[64];
	uint32_t m;
	int tier;

	snprintf(key, sizeof(key), "call.java.%u", number);
	trace_write_label(f->w, key, "%s", c->jvm);
	for (m = 0; m < f->o->layout.nr_metrics; m++)
		for (tier = 0; tier < CALIBRATION_NR_TIERS; tier++) {
			snprintf(key, sizeof(key), "call.java.%u.metric.%u%s%s", number, m, tier ? "." : "",
				 calibration_tier_name(tier));
			put_unless_empty(f->w, key, c->costs[tier][m]);
		}
}

void callflows_labels(const struct callflows *f)
{
	uint32_t m;

	if (!f->o)
		return;
	trace_write_label(f->w, "callflow", "%s", callflows_have_events(f) ? "trees, events" : "trees");
	trace_write_label(f->w, "callflow.depth", "%" PRIu32, f->o->layout.max_depth);
	if (f->o->layout.flags & CALLFLOW_PRECISE)
		trace_write_label(f->w, "callflow.precise", "yes");
	if (f->o->layout.flags & CALLFLOW_TIERS)
		trace_write_label(f->w, "callflow.tiers", "yes");
	if (f->o->layout.flags & CALLFLOW_SITES)
		trace_write_label(f->w, "callflow.sites", "yes");
	if (f->o->slow)
		trace_write_label(f->w, "call.trace", "slow calls");
	for (m = 0; m < f->o->layout.nr_metrics; m++) {
		char key[48];

		snprintf(key, sizeof(key), "call.metric.%u", m);
		trace_write_label(f->w, key, "%s", f->o->names[m]);
		snprintf(key, sizeof(key), "call.metric.%u.unit", m);
		trace_write_label(f->w, key, "%s", f->o->units[m]);
		snprintf(key, sizeof(key), "call.metric.%u.calibration", m);
		put_unless_empty(f->w, key, f->o->calibration[0].costs[CALIBRATION_ANY_TIER][m]);
	}
	for (m = 0; m < f->o->nr_calibrated_jvms; m++)
		label_jvm(f, m);
	put_unless_empty(f->w, "call.uncalibrated", f->o->uncalibrated[0]);
	put_unless_empty(f->w, "call.java.uncalibrated", f->o->uncalibrated[1]);
	put_unless_empty(f->w, "call.calibrated.in", f->o->measured_in[0]);
	put_unless_empty(f->w, "call.java.calibrated.in", f->o->measured_in[1]);
}

static uint64_t ratio(uint64_t a, uint64_t b)
{
	return b ? (uint64_t)(((unsigned __int128)a << 32) / b) : 0;
}

/*
 * Return cycles per ns, times 2^32, over all the time since the start. With events it stays as it was first,
 * as their times must not step back.
 */
static uint64_t tsc_ratio(struct callflows *f)
{
	uint64_t ns = 0, tsc = 0;

	if (f->ratio)
		return f->ratio;
	read_clocks(&ns, &tsc);
	if (callflows_have_events(f))
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

/* Wait until the ratio is accurate: its error is the time to read two clocks, divided by the time between. */
static void wait_for_ratio(const struct callflows *f)
{
	uint64_t passed = clock_mono_ns() - f->ns;

	if (passed < CALIBRATE_NS)
		clock_sleep_ns(CALIBRATE_NS - passed);
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
	proc->nr_thread_holders++;
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

/* Look only at slots in use: most processes have few threads, and there is room for very many. */
static uint32_t nr_slots(struct callflow_proc *p)
{
	p->nr_slots = MAX(p->nr_slots, MIN(load_relaxed(&p->area->next_thread), p->own.nr_threads));
	return p->nr_slots;
}

static void free_proc(const struct callflows *f, struct callflow_proc *p)
{
	uint32_t i, nr = nr_slots(p);

	for (i = 0; i < p->own.nr_pages; i++) {
		free(p->pages[i].numbers);
		free(p->pages[i].uses);
		free(p->pages[i].before);
	}
	for (i = 0; i < nr; i++) {
		free(p->trees[i].up);
		free(p->trees[i].owed);
		free(p->trees[i].nodes);
		free(p->trees[i].open);
		map_release(&p->trees[i].owes);
		if (f->o->slow)
			slow_tree_release(f->o->slow, &p->trees[i].slow);
	}
	p->proc->nr_thread_holders--;
	munmap(p->area, p->own.bytes);
	free(p->pages);
	free(p->tails);
	free(p->trees);
	map_release(&p->consumers);
	map_release(&p->slow);
	free(p);
}

static struct dump *new_dump(struct callflows *f, struct callflow_proc *p)
{
	struct dump *d = xcalloc(1, sizeof(*d));

	d->f = f;
	d->p = p;
	read_clocks(&d->time_ns, &d->tsc);
	d->tsc_ratio = tsc_ratio(f);
	d->ns_ratio = ratio((uint64_t)1 << 32, d->tsc_ratio);
	return d;
}

static void drain_proc(struct callflows *f, struct callflow_proc *p)
{
	struct dump *d = new_dump(f, p);
	uint32_t i;

	for (i = 0; i < p->own.nr_rings; i++)
		dump_drain_ring(d, i);
	free(d->chain);
	free(d->read);
	free(d);
}

void callflows_drain(struct callflows *f)
{
	struct callflow_proc *p;

	if (!f->o || !f->procs)
		return;
	callflows_look(f);
	for (p = f->procs; p && callflows_have_events(f); p = p->next)
		drain_proc(f, p);
}

/* --- all trees --- */

static void list_pages(const struct callflow_proc *p, struct page_list *l)
{
	uint32_t page, slot;

	l->first = xcalloc(p->own.nr_threads, sizeof(*l->first));
	l->next = xcalloc(p->own.nr_pages, sizeof(*l->next));
	for (page = p->own.nr_pages - 1; page; page--) {
		slot = area_owner(p, page);
		if (!slot || slot > p->own.nr_threads)
			continue;
		l->next[page] = l->first[slot - 1];
		l->first[slot - 1] = page;
	}
}

/*
 * Return whether the tree is not being pruned. With the area's reading, it will not be. A snapshot goes
 * without one that is: the next one has it. The last look waits, as does one that decides what is recorded,
 * and not for a process that was killed in the middle, which lacks at most one context.
 */
static bool stays(struct dump *d, uint32_t slot)
{
	const struct callflow_thread *t = area_thread(d->p, slot);
	bool pruning;

	while ((pruning = load_seq_cst(&t->pruning)) && (d->last || d->f->turns) &&
	       d->waited_ms++ < MAX_PRUNE_MS && tasks_is_alive(d->p->proc))
		clock_sleep_ns(1000000);
	if (!pruning)
		return true;
	d->f->res->nr_damaged += d->last || d->f->turns;
	return d->last;
}

/* last: its values are not asked for again; ends_file: not for this file. */
static void dump_proc(struct callflows *f, struct callflow_proc *p, bool last, bool ends_file)
{
	struct dump *d = new_dump(f, p);
	struct page_list l;
	uint32_t slot, nr;

	d->last = last;
	d->ends_file = ends_file;
	store_seq_cst(&p->area->reading, 1);
	if (callflows_have_cpu(f))
		area_look_at_all(p);
	list_pages(p, &l);
	for (slot = 0, nr = nr_slots(p); slot < nr; slot++) {
		if (l.first[slot] && stays(d, slot))
			dump_tree(d, slot, &l);
	}
	if (!last)
		store_release(&p->area->reading, 0);
	free(l.first);
	free(l.next);
	free(d->chain);
	free(d->read);
	free(d);
}

static void write_lost(struct callflows *f, struct callflow_proc *p)
{
	uint32_t m;
	uint64_t lost = load_relaxed(&p->area->lost_calls);
	struct rec_lost r = { .time_ns = clock_mono_ns(), .cause = LOST_CALLS, .stream = p->proc->id };

	f->res->slow_threads += load_relaxed(&p->area->slow_threads);
	f->res->merged_threads += load_relaxed(&p->area->merged_threads);
	f->res->lost_calls += lost;
	for (m = 0; m < f->o->layout.nr_metrics; m++)
		f->res->refused_threads[m] += load_relaxed(&p->area->metrics[m].refused);
	r.count = lost + f->res->lost_events;
	f->res->lost_events = 0;	/* told */
	f->res->told_events += r.count - lost;
	if (r.count)
		trace_write_lost(f->w, &r);
}

/* --- the life of an area --- */

static struct callflow_proc *callflow_proc_of(struct callflows *f, const struct jvm *jvm)
{
	struct callflow_proc *p;

	for (p = f->procs; p && p->jvm != jvm; p = p->next)
		;
	return p;
}

/*
 * Return the module's file without its directory, and the function's name as people write it; "" not
 * known.
 */
static const char *function_at(const struct callflows *f, const struct callflow_proc *p, uint64_t addr,
			       struct buf *name)
{
	const struct map_entry *at = p ? maps_find(&p->proc->maps, addr) : NULL;
	const struct module *m = at && at->module ? modules_at(f->modules, at->module) : NULL;
	const char *base = m ? strrchr(m->path, '/') : NULL;
	struct symbol s;

	if (m && m->file && symfile_symbol(m->file, map_entry_off(at, addr), &s))
		demangle(s.name, name);
	else
		buf_str(name, "");
	return base ? base + 1 : m ? m->path : "";
}

bool callflows_function(struct callflows *f, struct jvm *jvm, uint64_t addr)
{
	struct buf name = BUF_INIT;
	const char *module = function_at(f, callflow_proc_of(f, jvm), addr, &name);
	bool wanted;

	wanted = callflow_wants_function(f->o->layout.rules, module, strlen(module), name.data, name.len);
	buf_release(&name);
	return wanted;
}

void callflows_method(struct callflows *f, struct jvm *jvm, const struct jvm_method *m)
{
	struct callflow_proc *p = f->o && f->o->slow ? callflow_proc_of(f, jvm) : NULL;
	const struct callflow_method x = {
		{ m->class_name, m->class_len }, { m->name, m->name_len }, { m->sig, m->sig_len },
	};

	if (p)
		*map_put(&p->slow, m->method) = slow_rules_method(f->o->slow, &x);
}

uint32_t dump_slow_rule(void *ctx, uint32_t consumer)
{
	const struct dump *d = ctx;
	const uint64_t *functions = area_at(d->p, d->p->own.functions_off);
	uint32_t rule = map_get(&d->p->slow, consumer & ~CALLFLOW_TIER), slot = consumer & CALLFLOW_VALUE;
	struct buf name = BUF_INIT;
	const char *module;

	if (rule != MAP_NONE)
		return rule;
	if ((consumer & CALLFLOW_KIND) == CALLFLOW_METHOD)
		return SLOW_UNKNOWN;	/* until the agent's word is read */
	rule = 0;
	if ((consumer & CALLFLOW_KIND) == CALLFLOW_NATIVE && slot < d->p->own.nr_functions) {
		module = function_at(d->f, d->p, load_relaxed(functions + slot), &name);
		rule = slow_rules_function(d->f->o->slow, module, name.data);
		buf_release(&name);
	}
	*map_put(&d->p->slow, consumer) = rule;
	return rule;
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
	dump_proc(f, p, true, false);
	write_lost(f, p);
	free_proc(f, p);
}

/* Flush what was written at once: it is for those who read what a killed recorder left. */
static void store_unasked(struct callflows *f, uint64_t now_ns)
{
	uint64_t bytes = trace_writer_bytes(f->w);

	callflows_store(f);
	trace_writer_flush(f->w);
	bytes = trace_writer_bytes(f->w) - bytes;
	f->rest_ns = MAX(MAX((clock_mono_ns() - now_ns) * REST_SHARE, bytes * 1000000000 / REST_BYTES),
			 (uint64_t)REST_NS);
}

void callflows_snapshot(struct callflows *f)
{
	uint64_t now_ns = clock_mono_ns();

	if (!f->o || !f->procs || f->shut)
		return;
	if (f->o->snapshot_ns && now_ns - f->written_ns >= f->o->snapshot_ns)
		callflows_store(f);
	else if (!f->o->snapshot_ns && now_ns - f->written_ns >= f->rest_ns)
		store_unasked(f, now_ns);
}

static void store(struct callflows *f, bool ends_file)
{
	struct callflow_proc *p;

	f->written_ns = clock_mono_ns();
	for (p = f->procs; p; p = p->next)
		dump_proc(f, p, false, ends_file);
}

void callflows_store(struct callflows *f)
{
	store(f, false);
}

void callflows_end_file(struct callflows *f)
{
	struct rec_lost r = { .cause = LOST_CALLS };

	callflows_drain(f);
	store(f, true);
	if (!f->procs || !f->res->lost_events)
		return;
	r.time_ns = clock_mono_ns();
	r.stream = f->procs->proc->id;
	r.count = f->res->lost_events;
	f->res->told_events += r.count;
	f->res->lost_events = 0;
	trace_write_lost(f->w, &r);
}

uint64_t callflows_turn(struct callflows *f, bool on)
{
	f->turns = true;
	f->turn_ns = clock_mono_ns();
	f->cuts_ns = 0;
	f->nr_cuts = 0;
	callflows_store(f);
	f->shut = !on;
	return f->turn_ns + (f->nr_cuts ? f->cuts_ns / f->nr_cuts : 0);
}

void callflows_in_files(struct callflows *f)
{
	f->file = 1;
}

void callflows_next_file(struct callflows *f, uint64_t now_ns)
{
	struct callflow_proc *p;
	uint32_t slot, nr;

	f->file++;
	f->file_ns = now_ns;
	for (p = f->procs; p; p = p->next) {
		for (slot = 0, nr = nr_slots(p); slot < nr; slot++) {
			struct tree *t = &p->trees[slot];

			t->before = t->counts;
			t->nr_in_file = 0;
		}
	}
}

/* Count nodes in use. They are read without a lock: while they change, they hold the old or the new value. */
static void count_proc(struct callflow_proc *p, struct callflow_count *n)
{
	uint32_t page, i, slot, nr = nr_slots(p);

	for (page = 1; page < p->own.nr_pages; page++)
		for (i = 0; area_owner(p, page) && i < area_page_nodes(p); i++) {
			struct callflow_node x;
			uint32_t kind;

			if (!area_read_node(p, page * area_page_words + i * area_node_words(p), &x, NULL))
				continue;
			kind = x.consumer & CALLFLOW_KIND;
			n->nr_calls += kind != CALLFLOW_MARK || x.consumer == CALLFLOW_CONSUMER_PRUNED ?
				       x.calls & CALLFLOW_CALLS : 0;
			n->nr_contexts += kind != CALLFLOW_MARK;
		}
	for (slot = 0; slot < nr; slot++) {
		struct callflow_thread t;

		n->nr_threads += area_read_thread(p, slot, &t);
	}
}

void callflows_count(const struct callflows *f, struct callflow_count *n)
{
	struct callflow_proc *p;

	memset(n, 0, sizeof(*n));
	for (p = f->procs; p; p = p->next)
		count_proc(p, n);
}

static void label_slow(struct callflows *f)
{
	struct slow_rules *s = f->o->slow;
	char key[48];
	uint32_t i;

	for (i = 0; i < s->nr; i++) {
		struct slow_rule *r = &s->rules[i];

		snprintf(key, sizeof(key), "call.trace.%u", i);
		trace_write_label(f->w, key, "%s", r->text);
		snprintf(key, sizeof(key), "call.trace.%u.calls", i);
		trace_write_label(f->w, key, "%" PRIu64, r->nr_calls - r->before.nr_calls);
		snprintf(key, sizeof(key), "call.trace.%u.slow", i);
		trace_write_label(f->w, key, "%" PRIu64, r->nr_slow - r->before.nr_slow);
		r->before.nr_calls = r->nr_calls;
		r->before.nr_slow = r->nr_slow;
	}
	if (s->nr_cut != s->nr_cut_before)
		trace_write_label(f->w, "call.trace.cut", "%" PRIu64, s->nr_cut - s->nr_cut_before);
	s->nr_cut_before = s->nr_cut;
}

void callflows_label_file(struct callflows *f)
{
	if (f->o && f->o->slow)
		label_slow(f);
}

void callflows_finish(struct callflows *f)
{
	while (f->procs)
		callflows_end(f, f->procs->jvm);
	callflows_label_file(f);
}

void callflows_release(struct callflows *f)
{
	free(f->consumer_file);
	while (f->procs) {
		struct callflow_proc *p = f->procs;

		f->procs = p->next;
		free_proc(f, p);
	}
}
