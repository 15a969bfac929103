// SPDX-License-Identifier: GPL-2.0-or-later
/* wallaccount.c - writes the time of threads, blocked and running, as samples (wall_priv.h). */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/sources.h"
#include "collect/wall/wall_priv.h"
#include "collect/wall/wallstack.h"

enum {
	QUEUE_SHARE = 20,	/* of an interval: less time in run queues waits for the next sample */
	MAX_FILES = 10000,	/* names of files in a recording; others have one for all */
};

/* Return what its time is counted under: without BPF all calls alike. */
static unsigned int wallaccount_place_of(const struct walls *w, const struct wall_slot *s)
{
	return w->no_bpf ? WALL_CLASS_OTHER : wall_place(s, s->class, s->site);
}

/* ---- what goes into the trace ---- */

uint32_t walls_reason(struct collect *c, const char *text)
{
	uint32_t *at = map_put(&c->walls->reasons, strtab_adds(&c->walls->texts, text));

	if (*at == MAP_NONE)
		*at = sources_new_reason(c, text);
	return *at;
}

/* Return the function that stands for a file; for "" 0, none. */
static uint32_t wallaccount_file_of(struct collect *c, const char *name)
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

/* Return the place for that reason, in the trace. */
static uint32_t wallaccount_stack_of(struct collect *c, const struct place *p, uint32_t reason)
{
	struct walls *w = c->walls;
	bool waits = reason == p->reason;
	size_t nr = p->nr;

	if (nr)
		memcpy(w->stack, p->frames, nr * sizeof(*p->frames));
	if (waits && p->nr_kernel)
		memcpy(w->stack + nr, p->kernel, p->nr_kernel * sizeof(*p->kernel));
	nr += waits ? p->nr_kernel : 0;
	w->stack[nr++] = (struct frame){ FRAME_NAMED, .function = reason };
	if (waits && p->file)
		w->stack[nr++] = (struct frame){ FRAME_NAMED, .function = p->file };
	return trace_write_stack(c->w, w->stack, nr);
}

static void write_weighed(struct collect *c, const struct ran *at, uint64_t ns)
{
	struct rec_sample r = {
		.time_ns = at->time_ns, .thread = at->thread, .stack = at->stack, .cpu = UINT16_MAX,
		.user = true,
	};

	if (sources_weighed(c, c->walls->source, ns, &r))
		stack_count_marks(c, at->marks);
}

void walls_write_time(struct collect *c, const struct place *p, uint32_t reason, uint64_t time_ns,
		      uint64_t ns)
{
	if (ns)
		write_weighed(c, &(struct ran){ time_ns, p->thread, wallaccount_stack_of(c, p, reason),
			      p->marks }, ns);
}

void walls_write_blocked(struct collect *c, struct place *p, uint64_t ns, struct rec_wake wake)
{
	wake.thread = p->thread;
	wake.function = p->reason;
	wake.weight = ns;
	walls_write_time(c, p, p->reason, wake.time_ns, ns);
	/* without BPF nothing reports it */
	if (!ns || c->walls->no_bpf || !filters_keep_source(c, c->walls->source, p->thread, wake.time_ns))
		return;
	trace_write_wake(c->w, &wake);
	if (c->walls->wakes)
		wallwakes_write(c, c->walls->wakes, &wake, &p->code);
}

void walls_write_queue(struct collect *c, const struct place *p, uint64_t time_ns, uint64_t total_ns,
		       uint64_t *told_ns)
{
	if (total_ns < *told_ns + c->walls->interval_ns / QUEUE_SHARE)
		return;
	walls_write_time(c, p, c->walls->runnable, time_ns, total_ns - *told_ns);
	*told_ns = total_ns;
}

struct place *account_set_place(struct account *a, unsigned int i, uint32_t thread, uint32_t reason,
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
	p->marks = stack_marks(frames, nr);
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

void account_forget_places(struct account *a)
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
static void wallaccount_end_block(struct collect *c, struct account *a, const struct wall_times *t,
				  uint64_t end_ns, struct waker waker)
{
	struct block *b = &a->block;
	struct place *p = a->places[b->place];
	uint64_t from = MAX(b->since_ns, a->from_ns), len = end_ns > from ? end_ns - from : 0;
	uint64_t *told = &a->told.blocked_ns[b->place], left = wall_untold(t->blocked_ns[b->place], *told);
	struct rec_wake wake = {
		.time_ns = end_ns, .kind = waker.kind, .waker = waker.thread, .ns = len,
		.seen_ns = MIN(b->look_ns > from ? b->look_ns - from : 0, len),
	};

	if (waker.kind == WAKE_THREAD && c->walls->wakes)
		wallwakes_find(c, c->walls->wakes, c->walls->wall, a->slot, b->nr, &p->code);
	/* what is left is of all short blocks since the last sample of one */
	if (end_ns - b->since_ns < b->gap_ns || len > left)
		len = left;
	walls_write_blocked(c, p, len, wake);
	*told += len;
	if (waker.kind != WAKE_NOT_ENDED) {
		/* it waited for a CPU after it was woken */
		end_ns += wall_untold(t->queued_ns[b->place], a->told.queued_ns[b->place]);
		end_ns = MIN(end_ns, clock_mono_ns());
		p->waker = waker;
	}
	walls_write_queue(c, p, end_ns, t->queued_ns[b->place], &a->told.queued_ns[b->place]);
	b->nr = 0;
}

void account_set_where(struct collect *c, struct account *a, const struct wall_where *at)
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
		p->file = wallaccount_file_of(c, peer.len ? peer.data : "");
	else if (at->inode != a->block.inode)
		p->file = 0;	/* the descriptor was another's when it was asked for */
	buf_release(&peer);
}

void account_finish_block(struct collect *c, struct account *a, const struct wall_slot *s)
{
	struct wall_where at;
	const struct wall_done *d = wall_done_of(s, a->block.nr);
	uint64_t end_ns = a->block.since_ns + (d ? d->ns : 0);
	struct waker none = { WAKE_UNKNOWN, 0 };
	struct wall_times done;

	if (wall_where_of(c->walls->wall, a->slot, a->block.nr, &at))
		account_set_where(c, a, &at);
	wall_times_over(s, &done);
	/* without d nothing is known of its length but that it was short */
	wallaccount_end_block(c, a, &done, end_ns, d ? find_waker(c, d->waker, end_ns) : none);
}

static uint32_t class_of_place(const struct account *a, unsigned int place)
{
	return place < WALL_NR_CLASSES ? place : a->sites[place - WALL_NR_CLASSES].class;
}

/* Return the place, or where the thread did the same kind of thing; NULL: it was never seen in it. */
static struct place *like_place(const struct account *a, unsigned int place)
{
	unsigned int i;

	for (i = 0; i < WALL_NR_PLACES && !a->places[place]; i++)
		if (a->places[i] && class_of_place(a, i) == class_of_place(a, place))
			return a->places[i];
	return a->places[place];
}

/* Give all that it used until then to these samples, in equal parts. */
static void share_out(struct collect *c, struct account *a, uint64_t cpu_ns)
{
	uint64_t left = wall_untold(cpu_ns, a->told.cpu_ns), ns;
	size_t i;

	for (i = 0; i < a->nr_ran; i++) {
		ns = left / (a->nr_ran - i);
		left -= ns;
		if (ns)
			write_weighed(c, &a->ran[i], ns);
	}
	if (a->nr_ran)
		a->told.cpu_ns = MAX(a->told.cpu_ns, cpu_ns);
	a->nr_ran = 0;
}

/* The stack is written now, while all of it has names. */
void account_ran(struct collect *c, struct account *a, uint64_t time_ns, uint64_t cpu_ns)
{
	const struct place *p = a->places[PLACE_ON_CPU];

	a->ran[a->nr_ran++] = (struct ran){
		time_ns, p->thread, wallaccount_stack_of(c, p, p->reason), p->marks
	};
	if (a->nr_ran == NR_RAN)
		share_out(c, a, cpu_ns);
}

/* Charge what came after the last sample of its kind to where that was; without one, it has no stack. */
static void wallaccount_write_rest(struct collect *c, struct account *a, const struct wall_times *t,
				   uint64_t now_ns)
{
	uint32_t runnable = c->walls->runnable;
	struct place none, *p;
	unsigned int i;

	for (i = 0; i < WALL_NR_PLACES; i++) {
		const char *reason = c->walls->no_bpf ? "[blocked]" : wallstack_class(class_of_place(a, i));
		struct rec_wake wake = { .time_ns = now_ns };

		none = (struct place){ .thread = a->thread, .reason = walls_reason(c, reason) };
		p = like_place(a, i);
		p = p ? p : &none;
		wake.kind = p->waker.kind;
		wake.waker = p->waker.thread;
		walls_write_blocked(c, p, wall_untold(t->blocked_ns[i], a->told.blocked_ns[i]), wake);
		walls_write_time(c, p, runnable, now_ns, wall_untold(t->queued_ns[i], a->told.queued_ns[i]));
	}
	share_out(c, a, t->cpu_ns);
	none = (struct place){ .thread = a->thread, .reason = c->walls->on_cpu };
	p = a->places[PLACE_ON_CPU] ? a->places[PLACE_ON_CPU] : &none;
	walls_write_time(c, p, p->reason, now_ns, wall_untold(t->cpu_ns, a->told.cpu_ns));
	walls_write_time(c, p, runnable, now_ns, wall_untold(t->preempted_ns, a->told.preempted_ns));
	a->told = *t;
}

/* ---- accounts ---- */

void account_begin(struct account *a, const struct wall_slot *s)
{
	size_t i;

	account_forget_places(a);
	*a = (struct account){ .slot = a->slot, .used = true, .born_ns = s->born_ns, .from_ns = s->born_ns };
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
	struct rec_wake wake = {
		.time_ns = c->walls->look_ns, .kind = p->waker.kind, .waker = p->waker.thread,
	};
	struct wall_times t;

	if (a->block.nr && a->block.place == class)	/* it is written with that */
		return;
	wall_times_over(s, &t);
	walls_write_blocked(c, p, wall_untold(t.blocked_ns[class], a->told.blocked_ns[class]), wake);
	walls_write_time(c, p, c->walls->runnable, c->walls->look_ns,
			 wall_untold(t.queued_ns[class], a->told.queued_ns[class]));
	a->told.blocked_ns[class] = MAX(a->told.blocked_ns[class], t.blocked_ns[class]);
	a->told.queued_ns[class] = MAX(a->told.queued_ns[class], t.queued_ns[class]);
}

void account_follow_sites(struct collect *c, struct account *a, const struct wall_slot *s)
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

bool account_given_back(const struct account *a, const struct wall_slot *s)
{
	return s->state == WALL_GONE && !a->used && a->born_ns == s->born_ns;
}

struct account *account_of(struct walls *w, uint32_t slot)
{
	size_t old = w->alloc_accounts;

	if (slot >= old) {
		w->alloc_accounts = MAX((size_t)slot + 1, old * 2);
		w->accounts = xrealloc(w->accounts, w->alloc_accounts * sizeof(*w->accounts));
		memset(w->accounts + old, 0, (w->alloc_accounts - old) * sizeof(*w->accounts));
	}
	if (!w->accounts[slot]) {
		w->accounts[slot] = xcalloc(1, sizeof(**w->accounts));
		w->accounts[slot]->slot = slot;
	}
	return w->accounts[slot];
}

/* Write what its samples must add up to. */
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

void account_tell(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns)
{
	const struct waker nobody = { WAKE_NOT_ENDED, 0 };
	struct wall_times t;

	account_follow_sites(c, a, s);
	/* a sample may have come since an exec, before that was handled */
	now_ns = MAX(now_ns, a->told_ns);
	wall_times_at(s, now_ns, &t);
	if (!c->walls->no_bpf)
		wall_times_charged(s, now_ns, &t);
	wall_times_level(&t, &a->told);
	if (a->block.nr && a->block.nr != s->block_nr)
		account_finish_block(c, a, s);
	else if (a->block.nr && s->state == WALL_BLOCKED)
		wallaccount_end_block(c, a, &t, now_ns, nobody);
	else if (a->block.nr)
		wallaccount_end_block(c, a, &t, s->woken_ns, find_waker(c, s->waker, s->woken_ns));
	if (!a->thread)
		return;
	wallaccount_write_rest(c, a, &t, now_ns);
	/* the kernel may have reported an end before from_ns late */
	write_account(c, a, &t, MAX(wall_moment(s, now_ns), a->from_ns), s->nr_blocks);
	a->from_ns = MAX(wall_moment(s, now_ns), a->from_ns);
	a->from = t;
	a->from_blocks = s->nr_blocks;
}

void account_settle(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns)
{
	account_tell(c, a, s, now_ns);
	if (a->thread)
		account_forget_places(a);
}

void account_forget_old(struct account *a, uint64_t since_ns)
{
	size_t i;

	for (i = 0; i < NR_PLACES; i++) {
		if (!a->places[i] || a->places[i]->set_ns >= since_ns || (a->block.nr && a->block.place == i))
			continue;
		free_place(a->places[i]);
		a->places[i] = NULL;
	}
}

void account_forget_codes(struct account *a)
{
	size_t i;

	for (i = 0; i < NR_PLACES; i++)
		if (a->places[i])
			a->places[i]->code.nr = 0;
}

void account_walked(struct collect *c, struct account *a, const struct wall_slot *s, const struct walked *k)
{
	const struct walls *w = c->walls;
	unsigned int place = wallaccount_place_of(w, s);

	account_set_place(a, place, k->thread, walls_reason(c, k->reason), k->frames, k->nr)->file =
		wallaccount_file_of(c, w->file.name);
	a->block = (struct block){
		.nr = s->block_nr, .place = place, .since_ns = s->since_ns, .gap_ns = k->gap_ns,
		.look_ns = k->look_ns, .inode = w->file.inode,
	};
}
