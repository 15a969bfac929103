// SPDX-License-Identifier: GPL-2.0-or-later
/* virtuals.c - writes waits of unmounted virtual threads (wall_priv.h). */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "jvm/wall.h"

#define ALL_OF_THEM (~0ull - 1)		/* no Java thread has this id */
#define MAX_NS (1ull << 50)		/* what is more is not believed of one sample */

struct of_process {
	uint32_t proc;
	uint32_t all;			/* the thread of the trace that has what is nobody's; 0: none yet */
	uint64_t blocked_ns, runnable_ns;	/* that samples stand for, in this file */
	uint64_t told_ns;		/* of lives, in files before */
	uint64_t sampled_blocked_ns, sampled_runnable_ns;	/* in all files */
	uint64_t dropped_ns;		/* while wall was off */
	bool is_over;
	struct jvm_virtual_total total;	/* then */
	bool written;
};

struct virtuals {
	struct map by_proc;
	struct of_process *list;
	size_t nr, alloc;
	uint64_t nr_threads, life_ns, mounted_ns;	/* of those that are over */
};

static struct of_process *virtuals_process_of(struct collect *c, const struct java *j)
{
	struct virtuals *v = c->own[PART_virtuals];
	uint32_t *at;

	if (!v)
		c->own[PART_virtuals] = v = xcalloc(1, sizeof(*v));
	at = map_put(&v->by_proc, j->proc->id);
	if (*at == MAP_NONE) {
		VEC_GROW(v->list, v->nr, v->alloc);
		*at = v->nr;
		v->list[v->nr++] = (struct of_process){ .proc = j->proc->id };
	}
	return &v->list[*at];
}

static void virtuals_write_sample(struct collect *c, struct of_process *p, const struct walls_unmounted *s)
{
	if (!walls_write_unmounted(c, s)) {
		p->dropped_ns += s->ns;
		return;
	}
	if (s->ready) {
		p->runnable_ns += s->ns;
		p->sampled_runnable_ns += s->ns;
	} else {
		p->blocked_ns += s->ns;
		p->sampled_blocked_ns += s->ns;
	}
}

static void take_wait(void *ctx, struct jvm *jvm, const struct jvm_virtual_wait *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	struct walls_unmounted s = {
		.java = j, .time_ns = r->time_ns, .ns = r->weight_ns, .length_ns = r->ns, .reason = r->reason,
		.leaf = r->leaf, .ready = r->ready, .frames = c->frames,
	};
	struct of_process *p;

	if (!sources_is_recorded(c, JVM_SOURCE_VIRTUAL) || !c->walls || r->weight_ns > MAX_NS ||
	    r->reason >= WALL_NR_REASONS)
		return;
	collect_merge(c, MIN(r->time_ns, clock_mono_ns()));
	p = virtuals_process_of(c, j);
	s.thread = tasks_virtual(&c->tasks, j->proc, r->vthread, NULL, r->time_ns);
	s.nr = stack_methods(c, j, r->frames, r->frames_len, r->cut);
	virtuals_write_sample(c, p, &s);
}

static void take_total(void *ctx, struct jvm *jvm, const struct jvm_virtual_total *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	struct of_process *p;

	if (!sources_is_recorded(c, JVM_SOURCE_VIRTUAL))
		return;
	p = virtuals_process_of(c, j);
	if (p->is_over)
		return;
	p->is_over = true;
	p->total = *r;
	if (r->nr_lost)
		refused_text(&c->refused, "%" PRIu64 " comings and goings of virtual threads: there were too many of these at once",
			     r->nr_lost);
	if (r->nr_threads)
		refused_text(&c->refused, "when virtual threads that waited could go on: the time in the scheduler's queue is part of the wait");
	if (r->nr_threads)
		p->all = tasks_pseudo(&c->tasks, j->proc, ALL_OF_THEM, "[virtual threads]", r->time_ns);
}

/* Write what no sample stands for. */
static void virtuals_write_rest(struct collect *c, struct of_process *p)
{
	const struct jvm_virtual_total *t = &p->total;
	uint64_t blocked = t->blocked_ns - MIN(t->blocked_ns, p->sampled_blocked_ns + p->dropped_ns);
	uint64_t runnable = t->runnable_ns - MIN(t->runnable_ns, p->sampled_runnable_ns);
	struct walls_unmounted s = {
		.thread = p->all, .time_ns = MIN(t->time_ns, clock_mono_ns()), .reason = WALL_NR_REASONS,
		.frames = c->frames,
	};

	s.ns = blocked;
	if (s.ns && p->all)
		virtuals_write_sample(c, p, &s);
	s.ns = runnable;
	s.ready = true;
	if (s.ns && p->all)
		virtuals_write_sample(c, p, &s);
}

static void virtuals_count(struct virtuals *v, const struct jvm_virtual_total *t)
{
	v->nr_threads += t->nr_threads;
	v->life_ns += t->life_ns;
	v->mounted_ns += t->mounted_ns;
}

static void write_process(struct collect *c, struct of_process *p)
{
	const struct jvm_virtual_total *t = &p->total;
	struct rec_virtual r = { .proc = p->proc };

	if (p->is_over)
		virtuals_write_rest(c, p);
	r.time_ns = clock_mono_ns();
	r.blocked_ns = p->blocked_ns;
	r.runnable_ns = p->runnable_ns;
	r.life_ns = r.blocked_ns + r.runnable_ns;
	if (p->is_over) {
		r.nr_threads = t->nr_threads;
		r.nr_waits = t->nr_waits;
		r.nr_lost = t->nr_lost;
		r.mounted_ns = t->mounted_ns;
		r.life_ns = t->life_ns - MIN(t->life_ns, p->told_ns + p->dropped_ns);
	}
	if (r.life_ns || r.nr_threads)
		trace_write_virtual(c->w, &r);
	p->told_ns += r.life_ns;
	p->blocked_ns = p->runnable_ns = 0;
	p->written = p->is_over;
	if (p->is_over)
		virtuals_count(c->own[PART_virtuals], t);
}

void virtuals_write(struct collect *c)
{
	const struct virtuals *v = c->own[PART_virtuals];
	size_t i;

	for (i = 0; v && i < v->nr; i++)
		if (!v->list[i].written)
			write_process(c, &v->list[i]);
	if (!v || !v->nr_threads)
		return;
	trace_write_label(c->w, "virtual.threads", "%" PRIu64, v->nr_threads);
	trace_write_label(c->w, "virtual.life_ns", "%" PRIu64, v->life_ns);
	trace_write_label(c->w, "virtual.mounted_ns", "%" PRIu64, v->mounted_ns);
}

static void virtuals_close_part(struct collect *c)
{
	struct virtuals *v = c->own[PART_virtuals];

	if (!v)
		return;
	map_release(&v->by_proc);
	free(v->list);
	free(v);
	c->own[PART_virtuals] = NULL;
}

static const struct jvm_callbacks from_agents = { .virtual_wait = take_wait, .virtual_total = take_total };

const struct part virtuals_part = { .agent = &from_agents, .close = virtuals_close_part };
