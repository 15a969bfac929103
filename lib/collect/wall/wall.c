// SPDX-License-Identifier: GPL-2.0-or-later
/* wall.c - runs the source "wall": its slots, its BPF programs and its samples (wall.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/chance.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/privileges.h"
#include "collect/engine/recording.h"
#include "collect/jvm/classname.h"
#include "collect/jvm/java.h"
#include "collect/parts/sources.h"
#include "collect/wall/wall.h"
#include "collect/wall/wall_priv.h"
#include "collect/wall/wallstack.h"
#include "wall/polls.h"
#include "wall/switches.h"

enum { WALK_SHARE = 2 };	/* of an interval, of CPU time: what walking takes beyond that waits */

struct wall *walls_switches(const struct collect *c)
{
	return c->walls && c->walls->no_bpf ? c->walls->wall : NULL;
}

/*
 * Look again without BPF: at what threads do now, not when the look began. If the recorder lost its CPU
 * meanwhile, short blocks would be over when their turn comes, and long ones not.
 */
static void catch_up(struct collect *c)
{
	if (c->walls->no_bpf)
		collect_merge(c, clock_mono_ns());
}

/* Return the filter of the clock: if the clock is only for us, let the BPF programs choose the threads. */
static int filter(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	if (!c->walls || o->ev.nr_events != o->ev.nr_aside || o->system_wide || o->nr_tids || o->sched)
		return 0;
	return wall_filter(c->walls->wall);
}

/*
 * Configure the events. With the filter, the clocks of CPUs need no program of their own: this one runs after
 * theirs, and counts.
 */
static void configure(struct collect *c, size_t nr_cpus, struct evconf *conf)
{
	wallrecords_configure(c, nr_cpus, conf);
	if (!filter(c))
		return;
	conf->filter_fd = filter(c);
	/* agents are not told which event it is: the only one */
	conf->trapped_fd = conf->nr_events == 1 ? wall_trapped(c->walls->wall) : 0;
	conf->odd_periods = false;
}

static bool walls_trap(struct collect *c, int pid)
{
	return filter(c) && !wall_trap(c->walls->wall, pid);
}

/* Read a slot, with all that can be known of it. */
static bool read_slot(const struct walls *w, uint32_t slot, struct wall_slot *s)
{
	if (w->no_bpf)
		wall_settle(w->wall, slot);
	return wall_read(w->wall, slot, s);
}

/* Read a slot where the account begins or ends, which must not be left out. */
static bool read_slot_surely(const struct walls *w, uint32_t slot, struct wall_slot *s)
{
	return read_slot(w, slot, s) || wall_read_surely(w->wall, slot, s);
}

/* ---- looks ---- */

/*
 * Return the thread whose account this is: the one that had the slot's number when the slot began. NULL: the
 * command is not there yet, only what will become it.
 */
static struct thread *walls_thread_of(struct collect *c, struct account *a, uint32_t slot,
				      const struct wall_slot *s)
{
	struct thread *th = tasks_at(&c->tasks, s->tid, s->born_ns);

	if (!th || th->proc->pid != (int)s->pid)
		th = tasks_get(&c->tasks, s->pid, s->tid, c->walls->look_ns);
	if (!c->o->delay_ns && (int)s->pid == c->child_pid && !th->proc->execed)
		return NULL;
	/* an exec that left the slot as it is: what goes on since a later time is not the old program's */
	if (a->thread && a->thread != th->id)
		account_settle(c, a, s, th->born_ns);
	a->thread = th->id;
	th->wall = slot;
	return th;
}

/* Find a block by /proc: it stands for what that says, however long the time between two scans. */
static uint64_t find_polled(struct collect *c, uint32_t slot, struct wall_slot *s, struct thread *th)
{
	wallpolls_map(c, c->walls->polls, th->proc);
	s->since_ns = wall_stands_ns(c->walls->wall, slot);
	return 1;
}

/* Note a wait without its stack, as this user may not look at the process. */
static void look_without_stack(struct collect *c, struct account *a, struct wall_slot *s)
{
	const struct frame mark = { FRAME_MARK, .mark = MARK_NO_USER_STACK };

	wall_ask_where(s);
	waitfile_none(&c->walls->file);
	account_walked(c, a, s, &(struct walked){
		.thread = a->thread, .frames = &mark, .nr = 1, .look_ns = c->walls->look_ns, .gap_ns = 1,
		.reason = s->class == WALL_CLASS_OTHER ? "[blocked]" : wallstack_class(s->class) });
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
	if (c->walls->polls)
		gap_ns = find_polled(c, slot, s, th);
	if (r == -EACCES && c->walls->polls)
		return look_without_stack(c, a, s);
	if (r)
		return;
	if (s->class == WALL_CLASS_KERNEL)
		nr = 0;
	else
		nr = wallstack_walk(c, th->proc, wall_slot_at(c->walls->wall, slot), s, c->frames);
	if (!nr && s->class != WALL_CLASS_KERNEL)
		return;
	wallstack_reason(s, &reason, &c->walls->file);
	account_walked(c, a, s, &(struct walked){
		.thread = a->thread, .reason = reason.data, .frames = c->frames, .nr = nr,
		.look_ns = c->walls->look_ns, .gap_ns = gap_ns });
	buf_release(&reason);
}

/* Return whether the agent walks the thread: it does not know VM threads such as the collector's. */
static bool is_agents(const struct thread *th)
{
	const struct java *j = th->proc->java;

	return th->java && j && j->walls && !j->gone;
}

static void leave_to_agent(struct walls *w, uint32_t slot)
{
	*VEC_ADD(w->left, w->nr_left, w->alloc_left) = slot;
}

/*
 * Return whether enough was walked. If a thousand threads have blocked at once, walking all would take longer
 * than the time between two scans. Which of them must wait is random (walls_turn()), so the walked ones stand
 * for them.
 */
static bool has_walked_enough(struct walls *w)
{
	w->enough = w->enough || clock_read_ns(CLOCK_THREAD_CPUTIME_ID) >= w->walked_until_ns;
	return w->enough;
}

static void allow_walks(struct walls *w, uint64_t until_ns)
{
	w->walked_until_ns = until_ns;
	w->enough = false;
}

static void leave_for_later(struct walls *w, struct account *a, uint32_t block_nr, uint64_t before_ns)
{
	if (a->late_nr == block_nr)
		return;
	a->late_nr = block_nr;
	*VEC_ADD(w->late, w->nr_late, w->alloc_late) = (struct late){ a->slot, block_nr, before_ns };
}

static void look_at_slot(struct collect *c, uint32_t slot, uint64_t gap_ns)
{
	struct account *a = account_of(c->walls, slot);
	struct wall_slot s;
	struct thread *th;

	catch_up(c);
	if (!read_slot(c->walls, slot, &s) || s.state == WALL_FREE)
		return;
	if (account_given_back(a, &s))
		return;
	if (!a->used || a->born_ns != s.born_ns)
		account_begin(a, &s);
	account_follow_sites(c, a, &s);
	collect_merge(c, MIN(s.since_ns, c->walls->look_ns));
	th = walls_thread_of(c, a, slot, &s);
	if (a->block.nr && a->block.nr != s.block_nr)
		account_finish_block(c, a, &s);
	if (s.state == WALL_GONE) {
		account_settle(c, a, &s, s.since_ns);
		a->used = false;
		wall_give_back(c->walls->wall, slot);
	} else if (th && s.state == WALL_BLOCKED && s.block_nr != a->seen_nr) {
		if (is_agents(th))
			leave_to_agent(c->walls, slot);
		else if (has_walked_enough(c->walls))
			leave_for_later(c->walls, a, s.block_nr, c->walls->look_ns - gap_ns);
		else
			look_at_block(c, a, slot, &s, th, gap_ns);
	}
}

void walls_look_at(struct collect *c, uint32_t slot)
{
	if (!c->walls->beginning_ns)
		look_at_slot(c, slot, c->walls->interval_ns);
}

/*
 * Return whether no agent has walked a block after two scans of its own: the native part of its stack is
 * better than nothing.
 */
static bool is_forgotten(struct collect *c, uint32_t slot)
{
	/* intervals: an agent's looks are up to one and a half apart, and it begins after us */
	enum { PATIENCE = 4 };
	struct walls *w = c->walls;
	struct account *a = account_of(w, slot);
	struct wall_slot s;
	struct thread *th;

	if (!a->used || !read_slot(w, slot, &s) || a->born_ns != s.born_ns || s.state != WALL_BLOCKED ||
	    s.block_nr == a->seen_nr)
		return true;
	/* it may have begun after the look did */
	if (w->look_ns < MAX(s.since_ns, a->from_ns) + PATIENCE * w->interval_ns)
		return false;
	account_follow_sites(c, a, &s);
	th = walls_thread_of(c, a, slot, &s);
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

/* Check a late one; return false if it is not due yet. */
static bool look_at_late(struct collect *c, const struct late *x)
{
	struct walls *w = c->walls;
	struct account *a = account_of(w, x->slot);
	struct wall_slot s;
	struct thread *th;

	if (w->enough)
		return false;
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
	account_follow_sites(c, a, &s);
	th = walls_thread_of(c, a, x->slot, &s);
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

/* Rotate the first slot, so that none is always last. */
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

/* Look at the threads when it is time to. */
static void walls_look(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;
	uint64_t before;

	if (!w || !w->on || now_ns < w->due_ns)
		return;
	before = w->look_ns;
	catch_up(c);
	w->look_ns = now_ns;
	w->due_ns = now_ns + chance_around(&w->random, w->interval_ns);	/* no program is in step with us */
	/* other clocks have a turn of their own for that: a clock begins again with each change */
	if (filter(c))
		evsets_vary_periods(&c->ev);
	if (w->polls) {
		wallpolls_look(c, w->polls, now_ns);
		w->due_ns = MAX(w->due_ns, now_ns + wallpolls_pause_ns(w->polls));
	}
	wall_look(w->wall, now_ns);
	allow_walks(w, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + w->interval_ns / WALK_SHARE);
	look_at_all_late(c);
	look_at_new(c, before);
	w->looked_ns = now_ns;
	look_at_left(c);
	if (w->wakes)
		wallwakes_turn(c, w->wakes, now_ns);
}

/* ---- what agents walk ---- */

static uint64_t class_key(const struct proc *p, uint32_t leaf)
{
	return (uint64_t)p->id << 32 | leaf;
}

static void take_leaf(struct collect *c, const struct java *j, const struct jvm_leaf *leaf)
{
	struct walls *w = c->walls;
	struct buf name = BUF_INIT;

	if (!w)
		return;
	if (leaf->kind == JVM_LEAF_CLASS)
		classname_put(&name, leaf->name, leaf->name_len);
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

static void forget_processes(struct collect *c, const struct map *procs)
{
	if (c->walls)
		map_filter(&c->walls->classes, has_process, (void *)procs);
}

/* Return the name of a leaf, NULL if it is not known. */
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
	p.reason = s->ready ? w->runnable : walls_reason(c, text.data);
	if (s->ready)
		walls_write_time(c, &p, p.reason, s->time_ns, s->ns);
	else
		walls_write_blocked(c, &p, s->ns, wake);
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
 * Find the block of a sample. Without BPF an agent knows only the time. If the block was long, it is known;
 * else it counts as a short one at that time, without a number.
 */
static void find_block(const struct walls *w, const struct jvm_sample *s, struct jvm_wall *v)
{
	struct wall_block b = { .since_ns = s->time_ns };

	if (w->polls)		/* the moment is not enough: only looks have seen blocks */
		wall_block_of(w->wall, v->slot, v->since_ns, &b);
	else
		wall_block_at(w->wall, v->slot, s->time_ns, &b);
	v->block_nr = b.nr;
	v->since_ns = b.since_ns;
	v->class = wall_class_of_call(v->syscall);
}

/* Read the state of the thread again, as it may be older than the reported block. */
static void poll_again(struct walls *w, uint32_t slot)
{
	struct wall_task task;

	if (w->polls)
		wall_poll(w->wall, slot, clock_mono_ns(), &task);
}

/* Return the slot of the thread that the agent names, with its account. */
static struct account *account_of_java(struct collect *c, const struct thread *th, const struct jvm_wall *v,
				       struct wall_slot *now)
{
	struct walls *w = c->walls;
	struct account *a;

	if (!w || !w->on || !v->slot || v->slot >= wall_nr_used(w->wall))
		return NULL;
	a = account_of(w, v->slot);
	poll_again(w, v->slot);
	if (!read_slot(w, v->slot, now) || (int)now->tid != th->tid)
		return NULL;
	/* the agent may see a new thread before we do */
	if ((!a->used || a->born_ns != now->born_ns) && now->state != WALL_GONE)
		account_begin(a, now);
	if (!a->used || a->born_ns != now->born_ns)
		return NULL;
	account_follow_sites(c, a, now);
	return a;
}

/*
 * Return whether the agent's walk is of this block. It is not for one that is yet to come, or that we
 * walked ourselves, before the agent was there or knew the thread, and that is not over.
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
		account_finish_block(c, a, &now);
	then = now;
	then.block_nr = v.block_nr;
	then.since_ns = v.since_ns;
	then.class = v.class;
	then.site = v.site;
	then.syscall = v.syscall;
	memcpy(then.args, v.args, sizeof(then.args));
	java_reason(c, th->proc, &v, &then, &reason);
	account_walked(c, a, &then, &(struct walked){
		.thread = thread, .reason = reason.data, .frames = frames, .nr = nr,
		.look_ns = s->time_ns, .gap_ns = w->polls && v.block_nr ? 1 : v.interval_ns });
	buf_release(&reason);
	if (v.block_nr)
		a->seen_nr = v.block_nr;
	if (now.block_nr != v.block_nr)
		account_finish_block(c, a, &now);
}

/* Return whether it is the slot of that thread. If so, th has it from now on, and the slot an account. */
static bool link_slot(struct collect *c, const struct thread *th, uint32_t slot)
{
	struct walls *w = c->walls;
	struct account *a;
	struct wall_slot s;

	if (!read_slot(w, slot, &s) || s.state == WALL_FREE || (int)s.tid != th->tid ||
	    s.born_ns < w->beginning_ns)
		return false;
	a = account_of(w, slot);
	if (account_given_back(a, &s))
		return false;
	if (!a->used || a->born_ns != s.born_ns)
		account_begin(a, &s);
	account_follow_sites(c, a, &s);
	return walls_thread_of(c, a, slot, &s) == th;
}

static struct account *linked_account(struct walls *w, const struct thread *th)
{
	struct account *a = th->wall ? account_of(w, th->wall) : NULL;

	return a && a->used && a->thread == th->id ? a : NULL;
}

/*
 * Return the account of a thread that runs. No look may have found its slot, as none has come since it
 * began. A slot is stamped when it gets another thread, so only those stamped since the last look come into
 * question.
 */
static struct account *account_of_running(struct collect *c, const struct thread *th)
{
	struct walls *w = c->walls;
	struct account *a = linked_account(w, th);
	uint32_t nr = wall_nr_used(w->wall), slot;

	for (slot = 1; slot < nr && !a; slot++)
		if (wall_is_new(wall_stamp_of(w->wall, slot), w->looked_ns) && link_slot(c, th, slot))
			a = linked_account(w, th);
	return a && a->born_ns >= w->beginning_ns ? a : NULL;
}

/* Take a sample of the clock that shows where on-CPU time goes. */
static void take_cpu_sample(struct collect *c, const struct thread *th, const struct rec_sample *s,
			    const struct frame *frames, size_t nr, bool is_kept)
{
	struct walls *w = c->walls;
	struct wall_slot slot;
	struct wall_times t, over;
	struct account *a;
	struct place *p;
	uint64_t now_ns, cpu_ns;

	if (!w || !w->on || s->event != w->clock || !switches_source(c, w->source, s->time_ns))
		return;
	a = account_of_running(c, th);
	if (!a)
		return;
	/*
	 * before it is read: what a later look finds is not less. Without BPF the slot is of the sample's
	 * time: the thread may have left the CPU since.
	 */
	now_ns = w->no_bpf ? s->time_ns : clock_mono_ns();
	if (!wall_read(w->wall, th->wall, &slot) || s->time_ns < slot.born_ns)
		return;
	wall_times_at(&slot, now_ns, &t);
	wall_times_level(&t, &a->told);
	/* what it has done since belongs to the next */
	if (wall_cpu_at(&slot, s->time_ns, &cpu_ns))
		t.cpu_ns = MIN(t.cpu_ns, cpu_ns);
	/* it may seem to wait for a CPU, and have one: wall.bpf.c says why */
	wall_times_over(&slot, &over);
	p = account_set_place(a, PLACE_ON_CPU, s->thread, w->on_cpu, frames, nr);
	account_ran(c, a, s->time_ns, t.cpu_ns);
	a->told_ns = now_ns;
	walls_write_queue(c, p, s->time_ns, over.preempted_ns, &a->told.preempted_ns);
}

void walls_timed(struct collect *c, const struct thread *th, const struct rec_sample *s,
		 const struct frame *frames, size_t nr)
{
	if (th->wall)
		poll_again(c->walls, th->wall);
	take_cpu_sample(c, th, s, frames, nr, false);
}

/* ---- the beginning and the end ---- */

static void take_where(void *ctx, const struct wall_where *at)
{
	struct collect *c = ctx;
	struct account *a = at->slot < c->walls->alloc_accounts ? c->walls->accounts[at->slot] : NULL;

	if (a && a->used && a->block.nr == at->block_nr)
		account_set_where(c, a, at);
}

/* Find where blocks that are open are. */
static void find_wheres(struct collect *c)
{
	wall_each_where(c->walls->wall, take_where, c);
}

/* Look at threads that have come and gone since the last scan, however long ago that is. */
static void look_again(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;

	w->look_ns = MIN(w->look_ns, now_ns - w->interval_ns);
	w->due_ns = 0;
	walls_look(c, now_ns);
	/* there is no later */
	allow_walks(w, UINT64_MAX);
	look_at_all_late(c);
}

/* Begin all accounts. */
static void begin_accounts(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;
	struct wall_slot s;
	uint32_t i, nr;

	if (!w || w->on)
		return;
	w->on = true;
	w->begun_ns = w->begun_ns ? w->begun_ns : now_ns;
	w->look_ns = w->looked_ns = 0;
	w->due_ns = now_ns + chance_around(&w->random, w->interval_ns);
	w->beginning_ns = now_ns;
	catch_up(c);
	if (w->polls)
		wallpolls_look(c, w->polls, now_ns);
	w->beginning_ns = 0;
	nr = wall_nr_used(w->wall);
	for (i = 1; i < nr && w->no_bpf; i++)
		wall_cut(w->wall, i, now_ns);
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);
		uint64_t at_ns;

		if (!read_slot_surely(w, i, &s) || s.state == WALL_FREE || account_given_back(a, &s))
			continue;
		/* it has begun since, and samples of it have come already */
		if (a->used && a->born_ns == s.born_ns && s.born_ns >= now_ns)
			continue;
		account_begin(a, &s);
		/* what it seems to run is charged by the next look of polls, maybe as something else */
		at_ns = w->polls && s.state == WALL_ON_CPU ? s.since_ns : now_ns;
		a->from_ns = wall_moment(&s, at_ns);
		wall_times_at(&s, at_ns, &a->from);
		a->from_blocks = s.nr_blocks;
		a->told = a->from;
	}
}

uint64_t walls_begun_ns(const struct collect *c)
{
	return c->walls ? c->walls->begun_ns : 0;
}

/* Look at all threads once more, before something is written. Return the number of slots; 0: it is off. */
static uint32_t look_up_to(struct collect *c, uint64_t now_ns)
{
	struct walls *w = c->walls;

	if (!w || !w->on)
		return 0;
	look_again(c, now_ns);
	find_wheres(c);
	virtuals_write(c);
	return wall_nr_used(w->wall);
}

static bool read_own_slot(const struct walls *w, uint32_t slot, const struct account *a, struct wall_slot *s)
{
	return a->used && read_slot_surely(w, slot, s) && a->born_ns == s->born_ns;
}

/* It does no more: what was open is written. */
static void end_accounts(struct collect *c, uint64_t now_ns)
{
	uint32_t i, nr = look_up_to(c, now_ns);
	struct walls *w = c->walls;
	struct wall_slot s;

	if (!nr)
		return;
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);

		if (read_own_slot(w, i, a, &s))
			account_settle(c, a, &s, s.state == WALL_GONE ? s.since_ns : now_ns);
	}
	if (w->wakes)
		wallwakes_turn(c, w->wakes, UINT64_MAX);
	w->on = false;
}

static bool walls_is_wanted(const struct collect *c)
{
	return c->walls && switches_want(c, &c->switches.sources[c->walls->source]);
}

static bool turned_on(struct collect *c, uint64_t now_ns)
{
	if (!walls_is_wanted(c))
		return false;
	begin_accounts(c, now_ns);
	return true;
}

static void turned_off(struct collect *c, uint64_t now_ns)
{
	if (!walls_is_wanted(c))
		end_accounts(c, now_ns);
}

static void walls_ask(const struct collect *c, struct jvm_server_opts *o)
{
	if (sources_find(c, "wall") < c->o->nr_sources && !(c->walls && c->walls->on))
		o->off |= JVM_WALL;
}

/* Write everything up to now_ns; what is open continues in the next file. */
static void walls_cut(struct collect *c, uint64_t now_ns)
{
	uint32_t i, nr = look_up_to(c, now_ns);
	struct walls *w = c->walls;
	struct wall_slot s;

	if (!nr)
		return;
	for (i = 1; i < nr; i++) {
		struct account *a = account_of(w, i);
		struct block block = a->block;

		if (!read_own_slot(w, i, a, &s)) {
			a->nr_ran = 0;	/* their stacks are of this file */
			continue;
		}
		account_tell(c, a, &s, s.state == WALL_GONE ? s.since_ns : now_ns);
		if (block.nr == s.block_nr && s.state == WALL_BLOCKED)
			a->block = block;	/* it goes on, from now on */
		account_forget_old(a, c->since.begun_ns);
		account_forget_codes(a);
	}
	if (w->wakes)
		wallwakes_turn(c, w->wakes, UINT64_MAX);
}

/* Note how many threads are missing. */
static void sums(struct collect *c, bool last)
{
	const struct walls *w = c->walls;
	uint32_t nr = w ? wall_nr_refused(w->wall) : 0;

	if (nr)
		refused_walls(&c->refused, nr);
	if (w && w->nr_missed)
		refused_text(&c->refused, "stacks of %llu waits: so many threads began to wait at once that these were over before they were walked; others of the same thread stand for them",
			     (unsigned long long)w->nr_missed);
	if (w && w->no_reading)
		refused_text(&c->refused, "%s", w->no_reading);
	if (!w || !w->no_bpf)
		return;
	refused_text(&c->refused, "%s", w->no_bpf);
	if (w->polls)
		c->res->wall_interval_ns = wallpolls_interval_ns(w->polls);
	if (w->polls)
		refused_text(&c->refused, "switches of threads, and where native code ran: %s. States of threads are by /proc, sampled every %.1f ms; threads that lived shorter may be missing", w->no_records, (double)wallpolls_interval_ns(w->polls) / 1e6);
	if (!wall_counts_delays())
		refused_text(&c->refused, "waiting for a CPU after a wake-up, which is in the blocked time: this kernel does not count it");
	if (c->res->nr_lost_sched)
		refused_text(&c->refused, "%llu switches of threads, whose states are wrong there: a buffer was full",
			     (unsigned long long)c->res->nr_lost_sched);
	if (w->nr_denied)
		refused_text(&c->refused, "stacks of %llu waits: this user may not look at the process (ptrace)",
			     (unsigned long long)w->nr_denied);
}

const char *walls_missing(const struct collect *c)
{
	const struct walls *w = c->walls;

	if (w && wall_nr_refused(w->wall))
		return "there were more threads at once than there is room for";
	if (w && w->no_bpf && c->res->nr_lost_sched)
		return "records of switches were lost";
	if (w && w->polls)
		return "threads were looked for in /proc";
	return NULL;
}

/* Set up agents of JVMs that are yet to say hello. */
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

static void say_lack(const struct collect *c, struct walls *w, const struct err *why)
{
	w->no_bpf = xasprintf("wakers, kernel frames and peers of waits, and what those were for that no sample hit (%s)",
			      why->msg);
	if (c->o->lacks)
		c->o->lacks(w->no_bpf, why->hint);
}

/*
 * Check whether stacks can be read from the threads' memory: any process may read its own, if it may use this
 * call.
 */
static void try_reading(const struct collect *c, struct walls *w)
{
	char byte = 0, copy;
	struct iovec local = { &copy, 1 }, remote = { &byte, 1 };

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1)
		return;
	w->no_reading = xasprintf("callers of waits but those of Java methods: a system call filter forbids to read other processes' memory (process_vm_readv: %s)",
				  strerror(errno));
	if (c->o->lacks)
		c->o->lacks(w->no_reading, "start the container with --cap-add SYS_PTRACE --security-opt seccomp=unconfined");
}

static int open_part(struct collect *c, struct err *e)
{
	const struct collect_opts *o = c->o;
	struct err why = { 0 };
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
	w = xcalloc(1, sizeof(*w));
	w->source = source;
	w->wakes = opts.wakes ? wallwakes_new(sources_find(c, "wakers")) : NULL;
	while (w->clock < o->ev.nr_events && !o->ev.events[w->clock].clock)
		w->clock++;
	w->interval_ns = o->sources[source].interval;
	w->random = clock_mono_ns() | 1;
	opts.interval_ns = w->interval_ns;
	r = wall_open(&w->wall, &opts, e);
	if (r && !o->system_wide) {
		why = *e;
		r = wall_open_switches(&w->wall, &opts, e);
	}
	if (r) {
		free(w);
		return err_wrap(e, "wall");
	}
	c->walls = w;
	if (why.code)
		say_lack(c, w, &why);
	try_reading(c, w);
	if (w->no_bpf && c->child_pid)
		wall_thread_begins(w->wall, c->child_pid, c->child_pid, clock_mono_ns());
	tell_agents(c);
	strtab_init(&w->texts);
	w->stack = xcalloc(MAX_FRAMES + WALL_NR_ADDRS + 2, sizeof(*w->stack));
	w->ephemeral = waitfile_ephemeral();
	w->on_cpu = walls_reason(c, REASON_ON_CPU);
	w->runnable = walls_reason(c, REASON_RUNNABLE);
	return 0;
}

bool walls_polled(const struct collect *c)
{
	return c->walls && c->walls->polls;
}

/*
 * Stop using BPF, which does not suffice alone: perf events would report who begins and ends, and what is
 * mapped.
 */
static int leave_bpf(struct collect *c, struct err *e)
{
	struct wall_opts opts = { .interval_ns = c->walls->interval_ns };
	struct wall *old = c->walls->wall;
	int r;

	if (c->walls->no_bpf)
		return 0;
	r = wall_open_switches(&c->walls->wall, &opts, e);
	if (r) {
		c->walls->wall = old;
		return r;
	}
	wall_close(old);
	say_lack(c, c->walls, &(struct err){ .msg = "perf events are missing" });
	if (c->child_pid)
		wall_thread_begins(c->walls->wall, c->child_pid, c->child_pid, clock_mono_ns());
	tell_agents(c);
	return 0;
}

int walls_use_polls(struct collect *c, const struct err *why, struct err *e)
{
	int r;

	if (!wall_counts_delays())
		return err_set(e, ENOTSUP, "wall: %s; and this kernel does not count what threads run (/proc/PID/schedstat)",
			       why->msg);
	r = leave_bpf(c, e);
	if (r)
		return r;
	wall_use_polls(c->walls->wall);
	c->walls->polls = wallpolls_new(c);
	c->walls->no_records = xstrdup(why->msg);
	return 0;
}

static void walls_close_part(struct collect *c)
{
	struct walls *w = c->walls;
	size_t i;

	if (!w)
		return;
	wall_close(w->wall);
	wallwakes_free(w->wakes);
	for (i = 0; i < w->alloc_accounts; i++) {
		if (w->accounts[i])
			account_forget_places(w->accounts[i]);
		free(w->accounts[i]);
	}
	free(w->accounts);
	free(w->stack);
	map_release(&w->reasons);
	map_release(&w->files);
	map_release(&w->classes);
	free(w->left);
	free(w->late);
	free(w->no_bpf);
	free(w->no_records);
	wallpolls_free(w->polls);
	free(w->no_reading);
	strtab_release(&w->texts);
	free(w);
	c->walls = NULL;
}

static uint64_t due_ns(const struct collect *c)
{
	return c->walls && c->walls->on ? c->walls->due_ns : 0;
}

const struct part wall_part = {
	.open = open_part, .configure = configure, .watch = wallrecords_watch, .record = wallrecords_take,
	.trap = walls_trap, .taken_in = walls_look, .due_ns = due_ns, .cut = walls_cut, .sums = sums,
	.forked = wallrecords_fork, .executed = wallrecords_exec, .exited = wallrecords_exit,
	.ask = walls_ask, .turned_off = turned_off, .turned_on = turned_on, .leaf = take_leaf,
	.sample = take_cpu_sample, .ended = end_accounts, .forget = forget_processes,
	.close = walls_close_part,
};
