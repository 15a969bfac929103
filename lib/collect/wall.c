// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/area.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "collect/java.h"
#include "collect/privileges.h"
#include "collect/sources.h"
#include "collect/state.h"
#include "collect/virtuals.h"
#include "collect/wall.h"
#include "collect/wallstack.h"
#include "collect/wallwake.h"
#include "wall/switches.h"
#include "wall/wall.h"

enum {
	QUEUE_SHARE = 20,	/* of an interval: less time in run queues waits for the next sample */
	PLACE_ON_CPU = WALL_NR_PLACES,
	NR_PLACES,
	MAX_FILES = 10000,	/* names of files in a recording; others have one for all */
	WALK_SHARE = 2,		/* of an interval, of CPU time: what walking takes beyond that waits */
};

/* Who ended a block. */
struct waker {
	enum wake_kind kind;
	uint32_t thread;		/* of the trace */
};

/* Where a thread was seen last when it did that: blocked in a class of calls or at a site, or ran. */
struct place {
	uint32_t thread;		/* in the trace; 0: it was not seen yet */
	uint32_t reason;		/* a function of the trace */
	struct waker waker;		/* of the last block there that is over */
	uint64_t set_ns;		/* when it was seen there */
	size_t nr, alloc;
	struct frame *frames;		/* outermost first */
	size_t nr_kernel;		/* 0: not known, or not yet */
	struct frame kernel[WALL_NR_ADDRS];	/* beneath them */
	uint32_t file;			/* a function of the trace; 0: none is known */
	struct wallwake_code code;	/* where the waker was */
};

/* A block that was walked, and goes on as far as is known. */
struct block {
	uint32_t nr;			/* 0: there is none */
	unsigned int place;		/* which has its stack */
	uint64_t since_ns;
	uint64_t gap_ns;		/* between the look that saw it and the one before */
	uint64_t look_ns;		/* when that was */
	uint64_t inode;			/* of the file that its place has; 0: not known */
};

struct account {			/* of a slot */
	bool used;
	uint64_t born_ns;		/* whose it is */
	uint64_t from_ns;		/* since when it counts */
	uint32_t thread;		/* in the trace; 0: not known yet */
	uint32_t seen_nr;		/* the block that was looked at last */
	struct wall_times from;		/* what it had done by then, */
	uint64_t from_blocks;		/* and how often it had blocked */
	struct wall_times told;		/* what was written, with that */
	uint64_t told_ns;		/* of what goes on, up to then */
	struct {
		uint32_t nr, class;
	} sites[WALL_NR_SITES];		/* as the slot had them last */
	struct block block;
	struct place *places[NR_PLACES];
};

struct walls {
	struct wall *wall;
	size_t source;			/* of the recording's */
	struct wallwakes *wakes;	/* NULL: not asked for */
	uint32_t clock;			/* the perf event whose samples say where on-CPU time goes */
	uint64_t interval_ns, look_ns;
	bool on;
	char *no_bpf;			/* why the recorder fills the slots itself; NULL: it does not */
	uint64_t nr_denied;		/* blocks whose stacks this user may not look at */
	struct account *accounts;	/* [alloc_accounts], by slot */
	size_t alloc_accounts;
	struct map reasons, files;	/* string -> function of the trace */
	size_t nr_files;
	unsigned int ephemeral;		/* ports from there on are given to clients */
	struct strtab texts;
	struct map classes;		/* (process, leaf of its agent) -> its name, in texts */
	/* Blocks that were found when there had been enough to walk. */
	struct late {
		uint32_t slot, block_nr;
		uint64_t before_ns;	/* the look before the one that found it */
	} *late;
	size_t nr_late, alloc_late;
	uint64_t nr_missed;		/* of them, over before their turn came */
	uint64_t walked_until_ns;	/* our CPU time when there is enough */
	uint32_t first;			/* slot that the next look begins with */
	/* Slots of threads that an agent is to walk; it may have ended, or know them no more. */
	uint32_t *left;
	size_t nr_left, alloc_left;
	uint32_t on_cpu, runnable;	/* functions */
	struct frame *stack;		/* MAX_FRAMES, and what a wait adds */
	struct waitfile file;
};

struct wall *walls_switches(const struct collect *c)
{
	return c->walls && c->walls->no_bpf ? c->walls->wall : NULL;
}

/*
 * Without BPF: what threads do now, not when the look began. Where the recorder is kept from a CPU meanwhile,
 * short blocks would be over when their turn comes, and long ones not.
 */
static void catch_up(struct collect *c)
{
	if (c->walls->no_bpf)
		collect_merge(c, clock_mono_ns());
}

/* Where the clock is only for us, which threads it is to sample our programs know best. */
int walls_filter(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	if (!c->walls || o->ev.nr_events != o->ev.nr_aside || o->system_wide || o->nr_tids || o->sched)
		return 0;
	return wall_filter(c->walls->wall);
}

/* All of it known, as far as it can be. */
static bool read_slot(const struct walls *w, uint32_t slot, struct wall_slot *s)
{
	if (w->no_bpf)
		wall_settle(w->wall, slot);
	return wall_read(w->wall, slot, s);
}

/* Where the account begins or ends: not to be left out. */
static bool read_slot_surely(const struct walls *w, uint32_t slot, struct wall_slot *s)
{
	return read_slot(w, slot, s) || wall_read_surely(w->wall, slot, s);
}

/* What its time is counted under: without BPF all calls alike. */
static unsigned int place_of(const struct walls *w, const struct wall_slot *s)
{
	return w->no_bpf ? WALL_CLASS_OTHER : wall_place(s, s->class, s->site);
}

/* What is to be told of a total. */
static uint64_t untold(uint64_t total_ns, uint64_t told_ns)
{
	return total_ns > told_ns ? total_ns - told_ns : 0;
}

/* ---- what goes into the trace ---- */

static uint32_t reason_of(struct collect *c, const char *text)
{
	uint32_t *at = map_put(&c->walls->reasons, strtab_adds(&c->walls->texts, text));

	if (*at == MAP_NONE)
		*at = sources_new_reason(c, text);
	return *at;
}

/* "": none. */
static uint32_t file_of(struct collect *c, const char *name)
{
	struct walls *w = c->walls;
	uint32_t *at;

	if (!*name)
		return 0;
	if (w->nr_files >= MAX_FILES)
		name = "[further files]";
	at = map_put(&w->files, strtab_adds(&w->texts, name));
	if (*at == MAP_NONE) {
		*at = sources_new_file(c, name);
		w->nr_files++;
	}
	return *at;
}

/* A stretch of ns that a thread spent there for that reason. */
static void write_time(struct collect *c, const struct place *p, uint32_t reason, uint64_t time_ns,
		       uint64_t ns)
{
	struct rec_sample r = { .time_ns = time_ns, .thread = p->thread, .cpu = UINT16_MAX, .user = true };
	struct walls *w = c->walls;
	bool waits = reason == p->reason;
	size_t nr = p->nr;

	if (!ns)
		return;
	if (nr)
		memcpy(w->stack, p->frames, nr * sizeof(*p->frames));
	if (waits && p->nr_kernel)
		memcpy(w->stack + nr, p->kernel, p->nr_kernel * sizeof(*p->kernel));
	nr += waits ? p->nr_kernel : 0;
	w->stack[nr++] = (struct frame){ FRAME_NAMED, .function = reason };
	if (waits && p->file)
		w->stack[nr++] = (struct frame){ FRAME_NAMED, .function = p->file };
	r.stack = trace_write_stack(c->w, w->stack, nr);
	sources_weighed(c, w->source, ns, &r);
}

/* A stretch that a thread was blocked; wake: how long the block was, and who ended it. */
static void write_blocked(struct collect *c, struct place *p, uint64_t ns, struct rec_wake wake)
{
	wake.thread = p->thread;
	wake.function = p->reason;
	wake.weight = ns;
	write_time(c, p, p->reason, wake.time_ns, ns);
	/* without BPF nobody tells */
	if (!ns || c->walls->no_bpf || !filters_keep_source(c, c->walls->source, p->thread, wake.time_ns))
		return;
	trace_write_wake(c->w, &wake);
	if (c->walls->wakes)
		wallwakes_write(c, c->walls->wakes, &wake, &p->code);
}

/* Time in run queues after it had been there; what is little waits. */
static void write_queue(struct collect *c, const struct place *p, uint64_t time_ns, uint64_t total_ns,
			uint64_t *told_ns)
{
	if (total_ns < *told_ns + c->walls->interval_ns / QUEUE_SHARE)
		return;
	write_time(c, p, c->walls->runnable, time_ns, total_ns - *told_ns);
	*told_ns = total_ns;
}

static struct place *set_place(struct account *a, unsigned int i, uint32_t thread, uint32_t reason,
			       const struct frame *frames, size_t nr)
{
	struct place *p = a->places[i];

	if (!p)
		p = a->places[i] = xcalloc(1, sizeof(*p));
	nr = MIN(nr, (size_t)MAX_FRAMES);
	if (p->alloc < nr) {
		p->alloc = nr;
		p->frames = xrealloc(p->frames, nr * sizeof(*frames));
	}
	if (nr)
		memcpy(p->frames, frames, nr * sizeof(*frames));
	p->nr = nr;
	p->thread = thread;
	p->reason = reason;
	p->set_ns = clock_mono_ns();
	p->nr_kernel = p->file = 0;
	return p;
}

static void free_place(struct place *p)
{
	if (p) {
		free(p->frames);
		free(p->code.frames);
	}
	free(p);
}

static void forget_places(struct account *a)
{
	size_t i;

	for (i = 0; i < NR_PLACES; i++) {
		free_place(a->places[i]);
		a->places[i] = NULL;
	}
}

static struct waker find_waker(struct collect *c, uint32_t who, uint64_t time_ns)
{
	switch (who) {
	case WALL_WAKER_UNKNOWN:
		return (struct waker){ WAKE_UNKNOWN, 0 };
	case WALL_WAKER_TIMER:
		return (struct waker){ WAKE_TIMER, 0 };
	case WALL_WAKER_INTERRUPT:
		return (struct waker){ WAKE_INTERRUPT, 0 };
	}
	if (who > INT32_MAX)
		return (struct waker){ WAKE_UNKNOWN, 0 };
	return (struct waker){ WAKE_THREAD, tasks_by_tid(&c->tasks, who, time_ns)->id };
}

/* The block is over, or the recording: it lasted until end_ns. t: all that the thread did by then. */
static void end_block(struct collect *c, struct account *a, const struct wall_times *t, uint64_t end_ns,
		      struct waker waker)
{
	struct block *b = &a->block;
	struct place *p = a->places[b->place];
	uint64_t from = MAX(b->since_ns, a->from_ns), len = end_ns > from ? end_ns - from : 0;
	uint64_t *told = &a->told.blocked_ns[b->place], left = untold(t->blocked_ns[b->place], *told);
	struct rec_wake wake = {
		.time_ns = end_ns, .kind = waker.kind, .waker = waker.thread, .ns = len,
		.seen_ns = MIN(b->look_ns > from ? b->look_ns - from : 0, len),
	};

	if (waker.kind == WAKE_THREAD && c->walls->wakes)
		wallwakes_find(c, c->walls->wakes, c->walls->wall, a - c->walls->accounts, b->nr, &p->code);
	/* what is left is of all short blocks since the last sample of one */
	if (end_ns - b->since_ns < b->gap_ns || len > left)
		len = left;
	write_blocked(c, p, len, wake);
	*told += len;
	write_queue(c, p, end_ns, t->queued_ns[b->place], &a->told.queued_ns[b->place]);
	if (waker.kind != WAKE_NOT_ENDED)
		p->waker = waker;
	b->nr = 0;
}

/* The kernel's side of the block that is open. */
static void set_where(struct collect *c, struct account *a, const struct wall_where *at)
{
	struct place *p = a->places[a->block.place];
	size_t i, nr = MIN(at->nr_addrs, (uint32_t)WALL_NR_ADDRS);
	uint64_t addrs[WALL_NR_ADDRS];
	struct buf peer = BUF_INIT;

	for (i = 0; i < nr; i++)
		addrs[i] = at->addrs[i];
	p->nr_kernel = stack_kernel(c, addrs, nr, p->kernel);
	waitfile_peer(at, c->walls->ephemeral, &peer);
	if (at->family)
		p->file = file_of(c, peer.len ? peer.data : "");
	else if (at->inode != a->block.inode)
		p->file = 0;	/* the descriptor was another's when it was asked for */
	buf_release(&peer);
}

/* The block that was walked has ended, and others may have come after it. */
static void finish_block(struct collect *c, struct account *a, const struct wall_slot *s)
{
	uint32_t slot = a - c->walls->accounts;
	struct wall_where at;
	const struct wall_done *d = wall_done_of(s, a->block.nr);
	uint64_t end_ns = a->block.since_ns + (d ? d->ns : 0);
	struct waker none = { WAKE_UNKNOWN, 0 };
	struct wall_times done;

	if (wall_where_of(c->walls->wall, slot, a->block.nr, &at))
		set_where(c, a, &at);
	wall_times_over(s, &done);
	/* without d nothing is known of its length but that it was short */
	end_block(c, a, &done, end_ns, d ? find_waker(c, d->waker, end_ns) : none);
}

static uint32_t class_of_place(const struct account *a, unsigned int place)
{
	return place < WALL_NR_CLASSES ? place : a->sites[place - WALL_NR_CLASSES].class;
}

/* The place, or where the thread did the same kind of thing; NULL: it was never seen in it. */
static struct place *like_place(const struct account *a, unsigned int place)
{
	unsigned int i;

	for (i = 0; i < WALL_NR_PLACES && !a->places[place]; i++)
		if (a->places[i] && class_of_place(a, i) == class_of_place(a, place))
			return a->places[i];
	return a->places[place];
}

/* What came after the last sample of its kind goes where that was; without one, it has no stack. */
static void write_rest(struct collect *c, struct account *a, const struct wall_times *t, uint64_t now_ns)
{
	uint32_t runnable = c->walls->runnable;
	struct place none, *p;
	unsigned int i;

	for (i = 0; i < WALL_NR_PLACES; i++) {
		const char *reason = c->walls->no_bpf ? "[blocked]" : wallstack_class(class_of_place(a, i));

		none = (struct place){ .thread = a->thread, .reason = reason_of(c, reason) };
		p = like_place(a, i);
		p = p ? p : &none;
		write_blocked(c, p, untold(t->blocked_ns[i], a->told.blocked_ns[i]), (struct rec_wake){
			.time_ns = now_ns, .kind = p->waker.kind, .waker = p->waker.thread });
		write_time(c, p, runnable, now_ns, untold(t->queued_ns[i], a->told.queued_ns[i]));
	}
	none = (struct place){ .thread = a->thread, .reason = c->walls->on_cpu };
	p = a->places[PLACE_ON_CPU] ? a->places[PLACE_ON_CPU] : &none;
	write_time(c, p, p->reason, now_ns, untold(t->cpu_ns, a->told.cpu_ns));
	write_time(c, p, runnable, now_ns, untold(t->preempted_ns, a->told.preempted_ns));
	a->told = *t;
}

/* ---- accounts ---- */

/* A slot that was never looked at, or is another thread's by now. */
static void begin_account(struct account *a, const struct wall_slot *s)
{
	size_t i;

	forget_places(a);
	*a = (struct account){ .used = true, .born_ns = s->born_ns, .from_ns = s->born_ns };
	for (i = 0; i < WALL_NR_SITES; i++) {
		a->sites[i].nr = s->sites[i].nr;
		a->sites[i].class = s->sites[i].class;
	}
}

/* Another has taken the site: its times and its stack are its class's. False: it has no stack. */
static bool leave_site(struct account *a, unsigned int place)
{
	unsigned int class = class_of_place(a, place);
	struct place *p = a->places[place];

	wall_times_move(&a->told, class, place);
	wall_times_move(&a->from, class, place);
	a->places[place] = NULL;
	if (p && a->block.nr && a->block.place == class) {
		free_place(p);
	} else if (p) {
		free_place(a->places[class]);
		a->places[class] = p;
	}
	if (a->block.place == place)
		a->block.place = class;
	return p;
}

/* A site with a stack was left: it stands for those without that were left since the last. */
static void write_left(struct collect *c, struct account *a, const struct wall_slot *s, unsigned int class)
{
	struct place *p = a->places[class];
	struct wall_times t;

	if (a->block.nr && a->block.place == class)	/* it is written with that */
		return;
	wall_times_over(s, &t);
	write_blocked(c, p, untold(t.blocked_ns[class], a->told.blocked_ns[class]), (struct rec_wake){
		.time_ns = c->walls->look_ns, .kind = p->waker.kind, .waker = p->waker.thread });
	write_time(c, p, c->walls->runnable, c->walls->look_ns,
		   untold(t.queued_ns[class], a->told.queued_ns[class]));
	a->told.blocked_ns[class] = MAX(a->told.blocked_ns[class], t.blocked_ns[class]);
	a->told.queued_ns[class] = MAX(a->told.queued_ns[class], t.queued_ns[class]);
}

/* s is of this account's thread. */
static void follow_sites(struct collect *c, struct account *a, const struct wall_slot *s)
{
	unsigned int i, left = 0;	/* classes of sites with a stack, as bits */

	for (i = 0; i < WALL_NR_SITES; i++) {
		if (a->sites[i].nr == s->sites[i].nr)
			continue;
		if (leave_site(a, WALL_NR_CLASSES + i))
			left |= 1u << a->sites[i].class;
		a->sites[i].nr = s->sites[i].nr;
		a->sites[i].class = s->sites[i].class;
	}
	for (; left; left &= left - 1)
		write_left(c, a, s, __builtin_ctz(left));
}

/* And not taken yet. To give it back once more would make two threads share it. */
static bool is_given_back(const struct account *a, const struct wall_slot *s)
{
	return s->state == WALL_GONE && !a->used && a->born_ns == s->born_ns;
}

static struct account *account_of(struct walls *w, uint32_t slot)
{
	size_t old = w->alloc_accounts;

	if (slot >= old) {
		w->alloc_accounts = MAX((size_t)slot + 1, old * 2);
		w->accounts = xrealloc(w->accounts, w->alloc_accounts * sizeof(*w->accounts));
		memset(w->accounts + old, 0, (w->alloc_accounts - old) * sizeof(*w->accounts));
	}
	return &w->accounts[slot];
}

/* What its samples must add up to. */
static void write_account(struct collect *c, const struct account *a, const struct wall_times *t,
			  uint64_t end_ns, uint64_t nr_blocks)
{
	struct rec_wall r = {
		.time_ns = end_ns, .begin_ns = a->from_ns, .thread = a->thread,
		.cpu_ns = t->cpu_ns - a->from.cpu_ns,
		.runnable_ns = t->preempted_ns - a->from.preempted_ns,
		.nr_blocks = nr_blocks - a->from_blocks,
	};
	unsigned int i;

	for (i = 0; i < WALL_NR_PLACES; i++) {
		r.runnable_ns += t->queued_ns[i] - a->from.queued_ns[i];
		r.blocked_ns += t->blocked_ns[i] - a->from.blocked_ns[i];
	}
	if (filters_keep_source(c, c->walls->source, a->thread, end_ns))
		trace_write_wall(c->w, &r);
}

/* All up to now_ns is written; s was read then. What was walked goes on to be where it was. */
static void tell_account(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns)
{
	const struct waker nobody = { WAKE_NOT_ENDED, 0 };
	struct wall_times t;

	follow_sites(c, a, s);
	/* a sample may have come since an exec, before that was handled */
	now_ns = MAX(now_ns, a->told_ns);
	wall_times_at(s, now_ns, &t);
	if (!c->walls->no_bpf)
		wall_times_charged(s, now_ns, &t);
	wall_times_level(&t, &a->told);
	if (a->block.nr && a->block.nr != s->block_nr)
		finish_block(c, a, s);
	else if (a->block.nr && s->state == WALL_BLOCKED)
		end_block(c, a, &t, now_ns, nobody);
	else if (a->block.nr)
		end_block(c, a, &t, s->woken_ns, find_waker(c, s->waker, s->woken_ns));
	if (!a->thread)
		return;
	write_rest(c, a, &t, now_ns);
	/* of an end before from_ns the kernel may have told late */
	write_account(c, a, &t, MAX(wall_moment(s, now_ns), a->from_ns), s->nr_blocks);
	a->from_ns = MAX(wall_moment(s, now_ns), a->from_ns);
	a->from = t;
	a->from_blocks = s->nr_blocks;
}

/* The same, and no more is known of it. */
static void settle(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns)
{
	tell_account(c, a, s, now_ns);
	if (a->thread)
		forget_places(a);
}

/* What was seen before since_ns may have no names in the next file, but where the thread is now. */
static void forget_old_places(struct account *a, uint64_t since_ns)
{
	size_t i;

	for (i = 0; i < NR_PLACES; i++) {
		if (!a->places[i] || a->places[i]->set_ns >= since_ns || (a->block.nr && a->block.place == i))
			continue;
		free_place(a->places[i]);
		a->places[i] = NULL;
	}
}

static void forget_codes(struct account *a)
{
	size_t i;

	for (i = 0; i < NR_PLACES; i++)
		if (a->places[i])
			a->places[i]->code.nr = 0;
}

/* NULL: the command is not there yet, only what will become it. */
static struct thread *thread_of(struct collect *c, struct account *a, uint32_t slot,
				const struct wall_slot *s)
{
	struct thread *th = tasks_any(&c->tasks, s->tid);

	if (!th || th->proc->pid != (int)s->pid)
		th = tasks_get(&c->tasks, s->pid, s->tid, c->walls->look_ns);
	if (!c->o->start_ns && (int)s->pid == c->child_pid && !th->proc->execed)
		return NULL;
	/* an exec: what goes on since a later time is not the old program's */
	if (a->thread && a->thread != th->id)
		settle(c, a, s, th->born_ns);
	a->thread = th->id;
	th->wall = slot;
	return th;
}

/* Its place is set. */
static void open_block(const struct walls *w, struct account *a, const struct wall_slot *s, uint64_t look_ns,
		       uint64_t gap_ns)
{
	a->block = (struct block){
		.nr = s->block_nr, .place = place_of(w, s), .since_ns = s->since_ns, .gap_ns = gap_ns,
		.look_ns = look_ns, .inode = w->file.inode,
	};
}

static void look_at_block(struct collect *c, struct account *a, uint32_t slot, struct wall_slot *s,
			  struct thread *th, uint64_t gap_ns)
{
	struct buf reason = BUF_INIT;
	size_t nr;
	int r;

	a->seen_nr = s->block_nr;
	wall_mark(c->walls->wall, slot, s->block_nr);
	r = c->walls->no_bpf ? wall_ask_again(c->walls->wall, slot, s) : 0;
	c->walls->nr_denied += r == -EACCES;
	if (r)
		return;
	if (s->class == WALL_CLASS_KERNEL)
		nr = 0;
	else
		nr = wallstack_walk(c, th->proc, wall_slot_at(c->walls->wall, slot), s, c->frames);
	if (!nr && s->class != WALL_CLASS_KERNEL)
		return;
	stack_count_marks(c, c->frames, nr);
	wallstack_reason(s, &reason, &c->walls->file);
	set_place(a, place_of(c->walls, s), a->thread, reason_of(c, reason.data), c->frames, nr)->file =
		file_of(c, c->walls->file.name);
	open_block(c->walls, a, s, c->walls->look_ns, gap_ns);
	buf_release(&reason);
}

/* Does the agent of its JVM walk the thread? Others of a JVM, the collector's say, it does not know. */
static bool is_agents(const struct thread *th)
{
	const struct java *j = th->proc->java;

	return th->java && j && j->walls && !j->gone;
}

static void leave_to_agent(struct walls *w, uint32_t slot)
{
	VEC_GROW(w->left, w->nr_left, w->alloc_left);
	w->left[w->nr_left++] = slot;
}

/*
 * Where a thousand threads have blocked at once, walking them all would take longer than the time between two
 * looks. Which of them have to wait is chance (walls_turn()), so what is walked stands for them.
 */
static bool has_walked_enough(const struct walls *w)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID) >= w->walked_until_ns;
}

static void leave_for_later(struct walls *w, uint32_t slot, uint32_t block_nr, uint64_t before_ns)
{
	VEC_GROW(w->late, w->nr_late, w->alloc_late);
	w->late[w->nr_late++] = (struct late){ slot, block_nr, before_ns };
}

static void look_at_slot(struct collect *c, uint32_t slot, uint64_t gap_ns)
{
	struct account *a = account_of(c->walls, slot);
	struct wall_slot s;
	struct thread *th;

	catch_up(c);
	if (!read_slot(c->walls, slot, &s) || s.state == WALL_FREE)
		return;
	if (is_given_back(a, &s))
		return;
	if (!a->used || a->born_ns != s.born_ns)
		begin_account(a, &s);
	follow_sites(c, a, &s);
	collect_merge(c, MIN(s.since_ns, c->walls->look_ns));
	th = thread_of(c, a, slot, &s);
	if (a->block.nr && a->block.nr != s.block_nr)
		finish_block(c, a, &s);
	if (s.state == WALL_GONE) {
		settle(c, a, &s, s.since_ns);
		a->used = false;
		wall_give_back(c->walls->wall, slot);
	} else if (th && s.state == WALL_BLOCKED && s.block_nr != a->seen_nr) {
		if (is_agents(th))
			leave_to_agent(c->walls, slot);
		else if (has_walked_enough(c->walls))
			leave_for_later(c->walls, slot, s.block_nr, c->walls->look_ns - gap_ns);
		else
			look_at_block(c, a, slot, &s, th, gap_ns);
	}
}

/*
 * A block that no agent has walked after two looks of its own: the native part of its stack is better than
 * nothing.
 */
static bool is_forgotten(struct collect *c, uint32_t slot)
{
	enum { PATIENCE = 4 };		/* intervals: an agent's looks are up to one and a half apart */
	struct walls *w = c->walls;
	struct account *a = account_of(w, slot);
	struct wall_slot s;
	struct thread *th;

	if (!a->used || !read_slot(w, slot, &s) || a->born_ns != s.born_ns || s.state != WALL_BLOCKED ||
	    s.block_nr == a->seen_nr)
		return true;
	/* it may have begun after the look did */
	if (w->look_ns < s.since_ns + PATIENCE * w->interval_ns)
		return false;
	follow_sites(c, a, &s);
	th = thread_of(c, a, slot, &s);
	if (th)
		look_at_block(c, a, slot, &s, th, w->interval_ns);
	return true;
}

static void look_at_left(struct collect *c)
{
	struct walls *w = c->walls;
	size_t i, nr = 0;

	for (i = 0; i < w->nr_left; i++)
		if (!is_forgotten(c, w->left[i]))
			w->left[nr++] = w->left[i];
	w->nr_left = nr;
}

/* False: its turn has not come yet. */
static bool look_at_late(struct collect *c, const struct late *x)
{
	struct walls *w = c->walls;
	struct account *a = account_of(w, x->slot);
	struct wall_slot s;
	struct thread *th;

	catch_up(c);
	if (!a->used || !read_slot(w, x->slot, &s) || a->born_ns != s.born_ns || s.state != WALL_BLOCKED ||
	    s.block_nr != x->block_nr) {
		w->nr_missed++;
		return true;
	}
	if (s.block_nr == a->seen_nr)
		return true;
	if (has_walked_enough(w))
		return false;
	follow_sites(c, a, &s);
	th = thread_of(c, a, x->slot, &s);
	if (th)
		look_at_block(c, a, x->slot, &s, th, w->look_ns - x->before_ns);
	return true;
}

static void look_at_all_late(struct collect *c)
{
	struct walls *w = c->walls;
	size_t i, nr = 0;

	for (i = 0; i < w->nr_late; i++)
		if (!look_at_late(c, &w->late[i]))
			w->late[nr++] = w->late[i];
	w->nr_late = nr;
}

/* Another slot is the first each time, so that none comes late always. */
static void look_at_new(struct collect *c, uint64_t before_ns)
{
	enum { STRIDE = 40503 };	/* odd, and unlike any number of threads */
	struct walls *w = c->walls;
	uint64_t gap_ns = before_ns ? w->look_ns - before_ns : w->interval_ns;
	uint32_t nr = wall_nr_used(w->wall), i, slot;

	w->first = nr > 1 ? (w->first + STRIDE) % (nr - 1) : 0;
	for (i = 0; i + 1 < nr; i++) {
		slot = 1 + (w->first + i) % (nr - 1);
		if (wall_is_new(wall_stamp_of(w->wall, slot), before_ns))
			look_at_slot(c, slot, gap_ns);
	}
}

void walls_turn(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;
	uint64_t before;

	if (!w || !w->on || now_ns < w->look_ns + w->interval_ns)
		return;
	before = w->look_ns;
	catch_up(c);
	w->look_ns = now_ns;
	wall_look(w->wall, now_ns);
	w->walked_until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + w->interval_ns / WALK_SHARE;
	look_at_all_late(c);
	look_at_new(c, before);
	look_at_left(c);
	if (w->wakes)
		wallwakes_turn(c, w->wakes, now_ns);
}

/* ---- what agents walk ---- */

static uint64_t class_key(const struct proc *p, uint32_t leaf)
{
	return (uint64_t)p->id << 32 | leaf;
}

void walls_leaf(struct collect *c, const struct java *j, const struct jvm_leaf *leaf)
{
	struct walls *w = c->walls;
	struct buf name = BUF_INIT;

	if (!w)
		return;
	if (leaf->kind == JVM_LEAF_CLASS)
		sources_class_name(&name, leaf->name, leaf->name_len);
	else
		buf_add(&name, leaf->name, leaf->name_len);
	*map_put(&w->classes, class_key(j->proc, leaf->leaf)) =
		strtab_adds(&w->texts, name.data ? name.data : "");
	buf_release(&name);
}

static bool has_process(void *procs, uint64_t key, uint32_t text)
{
	return map_get(procs, key >> 32) != MAP_NONE;
}

void walls_forget(struct collect *c, const struct map *procs)
{
	if (c->walls)
		map_filter(&c->walls->classes, has_process, (void *)procs);
}

/* NULL: not known. */
static const char *leaf_name(const struct walls *w, const struct proc *p, uint32_t leaf)
{
	uint32_t name = leaf ? map_get(&w->classes, class_key(p, leaf)) : MAP_NONE;

	return name == MAP_NONE ? NULL : strtab_get(&w->texts, name);
}

bool walls_write_unmounted(struct collect *c, const struct walls_unmounted *s)
{
	struct place p = { .thread = s->thread, .nr = MIN(s->nr, (size_t)MAX_FRAMES), .frames = s->frames };
	struct rec_wake wake = { .time_ns = s->time_ns, .ns = s->length_ns, .seen_ns = s->length_ns };
	struct walls *w = c->walls;
	struct buf text = BUF_INIT;
	const char *leaf;

	if (!w || !w->on)
		return false;
	leaf = s->java ? leaf_name(w, s->java->proc, s->leaf) : NULL;
	if (s->reason == WALL_NR_REASONS)
		buf_str(&text, "[blocked]");
	else if (s->reason == WALL_IO && leaf)
		buf_str(&text, leaf);
	else
		wallstack_java_reason(s->reason, leaf, &text);
	p.reason = s->ready ? w->runnable : reason_of(c, text.data);
	if (s->ready)
		write_time(c, &p, p.reason, s->time_ns, s->ns);
	else
		write_blocked(c, &p, s->ns, wake);
	buf_release(&text);
	return true;
}

static void java_reason(struct collect *c, const struct proc *p, const struct jvm_wall *v,
			const struct wall_slot *s, struct buf *text)
{
	waitfile_none(&c->walls->file);
	if (v->reason == WALL_UNKNOWN)
		wallstack_reason(s, text, &c->walls->file);
	else
		wallstack_java_reason(v->reason, leaf_name(c->walls, p, v->leaf), text);
}

/*
 * Without BPF an agent knows the moment alone. Which block that was in is known if it was long; else it
 * counts as a short one of that moment, with no number.
 */
static void find_block(const struct walls *w, const struct jvm_sample *s, struct jvm_wall *v)
{
	struct wall_block b = { 0, s->time_ns, 0 };

	wall_block_at(w->wall, v->slot, s->time_ns, &b);
	v->block_nr = b.nr;
	v->since_ns = b.since_ns;
	v->class = wall_class_of_call(v->syscall);
}

/* The slot of the thread that the agent says, and an account of it. */
static struct account *account_of_java(struct collect *c, const struct thread *th, const struct jvm_wall *v,
				       struct wall_slot *now)
{
	struct walls *w = c->walls;
	struct account *a;

	if (!w || !w->on || !v->slot || v->slot >= wall_nr_used(w->wall))
		return NULL;
	a = account_of(w, v->slot);
	if (!read_slot(w, v->slot, now) || (int)now->tid != th->tid)
		return NULL;
	/* the agent may see a new thread before we do */
	if ((!a->used || a->born_ns != now->born_ns) && now->state != WALL_GONE)
		begin_account(a, now);
	if (!a->used || a->born_ns != now->born_ns)
		return NULL;
	follow_sites(c, a, now);
	return a;
}

/*
 * Not one that is yet to come; or that we walked ourselves, before the agent was there or knew the thread,
 * and that is not over.
 */
static bool is_expected(const struct account *a, const struct wall_slot *now, uint32_t nr)
{
	return !nr || ((int32_t)(now->block_nr - nr) >= 0 &&
		       ((int32_t)(nr - a->seen_nr) > 0 || nr == a->block.nr));
}

void walls_java(struct collect *c, struct thread *th, const struct jvm_sample *s, uint32_t thread,
		const struct frame *frames, size_t nr)
{
	struct jvm_wall v = *s->wall;
	struct wall_slot now, then;
	struct buf reason = BUF_INIT;
	struct walls *w = c->walls;
	struct account *a;

	if (v.wakes) {
		if (w && w->wakes && w->on && v.block_nr)
			wallwakes_java(c, w->wakes, (const uint32_t[]){ v.slot, v.block_nr }, frames, nr);
		return;
	}
	a = account_of_java(c, th, &v, &now);
	if (a && w->no_bpf)
		find_block(w, s, &v);
	else if (!v.block_nr)
		return;
	if (!a || !is_expected(a, &now, v.block_nr))
		return;
	if (!a->thread)
		a->thread = th->id;
	if (a->block.nr && a->block.nr != v.block_nr)
		finish_block(c, a, &now);
	then = now;
	then.block_nr = v.block_nr;
	then.since_ns = v.since_ns;
	then.class = v.class;
	then.site = v.site;
	then.syscall = v.syscall;
	memcpy(then.args, v.args, sizeof(then.args));
	java_reason(c, th->proc, &v, &then, &reason);
	stack_count_marks(c, frames, nr);
	set_place(a, place_of(w, &then), thread, reason_of(c, reason.data), frames, nr)->file =
		file_of(c, w->file.name);
	open_block(w, a, &then, s->time_ns, v.interval_ns);
	buf_release(&reason);
	if (v.block_nr)
		a->seen_nr = v.block_nr;
	if (now.block_nr != v.block_nr)
		finish_block(c, a, &now);
}

void walls_cpu_sample(struct collect *c, const struct thread *th, const struct rec_sample *s,
		      const struct frame *frames, size_t nr)
{
	struct walls *w = c->walls;
	struct wall_slot slot;
	struct wall_times t, over;
	struct account *a;
	struct place *p;
	uint64_t now_ns;

	if (!w || !w->on || !th->wall || s->event != w->clock || !switches_source(c, w->source, s->time_ns))
		return;
	a = account_of(w, th->wall);
	/*
	 * before it is read: what a later look finds is not less. Without BPF the slot is of the sample's
	 * time: the thread may have left the CPU since.
	 */
	now_ns = w->no_bpf ? s->time_ns : clock_mono_ns();
	if (!a->used || a->thread != th->id || !wall_read(w->wall, th->wall, &slot))
		return;
	wall_times_at(&slot, now_ns, &t);
	wall_times_level(&t, &a->told);
	/* it may seem to wait for a CPU, and have one: wall.bpf.c says why */
	wall_times_over(&slot, &over);
	p = set_place(a, PLACE_ON_CPU, s->thread, w->on_cpu, frames, nr);
	write_time(c, p, p->reason, s->time_ns, untold(t.cpu_ns, a->told.cpu_ns));
	a->told.cpu_ns = MAX(a->told.cpu_ns, t.cpu_ns);
	a->told_ns = now_ns;
	write_queue(c, p, s->time_ns, over.preempted_ns, &a->told.preempted_ns);
}

/* ---- the beginning and the end ---- */

static void take_where(void *ctx, const struct wall_where *at)
{
	struct collect *c = ctx;
	struct account *a = at->slot < c->walls->alloc_accounts ? &c->walls->accounts[at->slot] : NULL;

	if (a && a->used && a->block.nr == at->block_nr)
		set_where(c, a, at);
}

/* Of blocks that go on. */
static void find_wheres(struct collect *c)
{
	wall_each_where(c->walls->wall, take_where, c);
}

/* At those that have come and gone since the last look, however long ago that is. */
static void look_again(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;

	w->look_ns = MIN(w->look_ns, now_ns - w->interval_ns);
	walls_turn(c, now_ns);
	/* there is no later */
	w->walked_until_ns = UINT64_MAX;
	look_at_all_late(c);
}

void walls_begin(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;
	struct wall_slot s;
	uint32_t i, nr;

	if (!w || w->on)
		return;
	w->on = true;
	w->look_ns = 0;
	catch_up(c);
	nr = wall_nr_used(w->wall);
	for (i = 1; i < nr && w->no_bpf; i++)
		wall_cut(w->wall, i, now_ns);
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);

		if (!read_slot_surely(w, i, &s) || s.state == WALL_FREE || is_given_back(a, &s))
			continue;
		begin_account(a, &s);
		a->from_ns = wall_moment(&s, now_ns);
		wall_times_at(&s, now_ns, &a->from);
		a->from_blocks = s.nr_blocks;
		a->told = a->from;
	}
}

void walls_end(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;
	struct wall_slot s;
	uint32_t i, nr;

	if (!w || !w->on)
		return;
	look_again(c, now_ns);
	find_wheres(c);
	virtuals_write(c);
	nr = wall_nr_used(w->wall);
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);

		if (a->used && read_slot_surely(w, i, &s) && a->born_ns == s.born_ns)
			settle(c, a, &s, s.state == WALL_GONE ? s.since_ns : now_ns);
	}
	if (w->wakes)
		wallwakes_turn(c, w->wakes, UINT64_MAX);
	w->on = false;
}

void walls_cut(struct collect *c, uint64_t since_ns, uint64_t now_ns)
{
	struct walls *w = c->walls;
	struct wall_slot s;
	uint32_t i, nr;

	if (!w || !w->on)
		return;
	look_again(c, now_ns);
	find_wheres(c);
	virtuals_write(c);
	nr = wall_nr_used(w->wall);
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);
		struct block block = a->block;

		if (!a->used || !read_slot_surely(w, i, &s) || a->born_ns != s.born_ns)
			continue;
		tell_account(c, a, &s, s.state == WALL_GONE ? s.since_ns : now_ns);
		if (block.nr == s.block_nr && s.state == WALL_BLOCKED)
			a->block = block;	/* it goes on, from now on */
		forget_old_places(a, since_ns);
		forget_codes(a);
	}
	if (w->wakes)
		wallwakes_turn(c, w->wakes, UINT64_MAX);
}

void walls_finish(struct collect *c)
{
	const struct walls *w = c->walls;
	uint32_t nr = w ? wall_nr_refused(w->wall) : 0;

	if (nr)
		refused_walls(&c->refused, nr);
	if (w && w->nr_missed)
		refused_text(&c->refused, "stacks of %llu waits: so many threads began to wait at once that these were over before they were walked; others of the same thread stand for them",
			     (unsigned long long)w->nr_missed);
	if (!w || !w->no_bpf)
		return;
	refused_text(&c->refused, "wakers, kernel frames and peers of waits, and what those were for that no sample hit (%s)", w->no_bpf);
	if (!wall_counts_delays())
		refused_text(&c->refused, "waiting for a CPU after a wake-up, which is in the blocked time: this kernel does not count it");
	if (c->res->nr_lost_sched)
		refused_text(&c->refused, "%llu switches of threads, whose states are wrong there: a buffer was full",
			     (unsigned long long)c->res->nr_lost_sched);
	if (w->nr_denied)
		refused_text(&c->refused, "stacks of %llu waits: this user may not look at the process (ptrace)",
			     (unsigned long long)w->nr_denied);
}

/* Those of JVMs that are yet to say hello. */
static void tell_agents(struct collect *c)
{
	struct wall_maps m;

	wall_maps(c->walls->wall, &m);
	if (c->jvm)
		jvm_server_use_wall(c->jvm, &(struct jvm_wall_maps){
			.slots_fd = m.slots_fd, .stamps_fd = m.stamps_fd, .marks_fd = m.marks_fd,
			.wakes_fd = m.wakes_fd, .anchors_fd = m.anchors_fd,
			.nr_slots = m.nr_slots, .interval_ns = c->walls->interval_ns,
			.own_user_only = privileges_of_several(c->o), .late = c->walls->no_bpf });
}

int walls_open(struct collect *c, struct err *e)
{
	const struct collect_opts *o = c->o;
	struct wall_opts opts = {
		.all = o->system_wide,
		.pids = c->child_pid ? &c->child_pid : o->pids, .nr_pids = c->child_pid ? 1 : o->nr_pids,
		.tids = o->tids, .nr_tids = o->nr_tids,
		.wakes = sources_find(c, "wakers") < o->nr_sources,
	};
	size_t source = sources_find(c, "wall");
	struct walls *w;
	int r;

	if (source == o->nr_sources)
		return 0;
	if (!arcprof_area_same_numbers())
		return err_set(e, ENOTSUP, "wall: processes cannot be named from inside a container: their numbers are others");
	w = xcalloc(1, sizeof(*w));
	w->source = source;
	w->wakes = opts.wakes ? wallwakes_new(sources_find(c, "wakers")) : NULL;
	while (w->clock < o->ev.nr_events && !o->ev.events[w->clock].clock)
		w->clock++;
	w->interval_ns = o->sources[source].interval;
	opts.interval_ns = w->interval_ns;
	r = wall_open(&w->wall, &opts, e);
	if (r && !o->system_wide) {
		w->no_bpf = xstrdup(e->msg);
		r = wall_open_switches(&w->wall, &opts, e);
	}
	if (r) {
		free(w->no_bpf);
		free(w);
		return err_wrap(e, "wall");
	}
	c->walls = w;
	if (w->no_bpf && c->child_pid)
		wall_thread_begins(w->wall, c->child_pid, c->child_pid, clock_mono_ns());
	tell_agents(c);
	strtab_init(&w->texts);
	w->stack = xcalloc(MAX_FRAMES + WALL_NR_ADDRS + 2, sizeof(*w->stack));
	w->ephemeral = waitfile_ephemeral();
	w->on_cpu = reason_of(c, REASON_ON_CPU);
	w->runnable = reason_of(c, REASON_RUNNABLE);
	return 0;
}

void walls_close(struct collect *c)
{
	struct walls *w = c->walls;
	size_t i;

	if (!w)
		return;
	wall_close(w->wall);
	wallwakes_free(w->wakes);
	for (i = 0; i < w->alloc_accounts; i++)
		forget_places(&w->accounts[i]);
	free(w->accounts);
	free(w->stack);
	map_release(&w->reasons);
	map_release(&w->files);
	map_release(&w->classes);
	free(w->left);
	free(w->late);
	free(w->no_bpf);
	strtab_release(&w->texts);
	free(w);
	c->walls = NULL;
}

int walls_most_ms(const struct collect *c)
{
	return c->walls ? (int)MIN(c->walls->interval_ns / 1000000, 1000ull) : 0;
}
