// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * polls.c - fills slots by looks at /proc (polls.h).
 *
 * Invariants:
 *  [1] the totals of a slot add up to since_ns less born_ns, as those of other slots do;
 *  [2] of what the kernel has counted, thread.charged is in the totals.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "wall/inner.h"
#include "wall/polls.h"
#include "wall/slots.h"

enum { TICK_NS = 10000000 };	/* what runs is charged that late */

void wall_use_polls(struct wall *w)
{
	w->switches->polls = true;
}

/* ---- /proc ---- */

/* Return word number n of text, from 0 on, or NULL if there are fewer. */
static const char *polls_word_at(const char *text, int n)
{
	while (n-- && text) {
		text = strchr(text, ' ');
		text += text != NULL;
	}
	return text;
}

static uint64_t polls_number_of(const char *word)
{
	return word ? strtoull(word, NULL, 10) : 0;
}

static uint64_t start_of(uint64_t ticks)
{
	uint64_t boot_ns = ticks * (1000000000 / MAX(sysconf(_SC_CLK_TCK), 1l));
	uint64_t mono_ns = clock_mono_ns(), asleep_ns = clock_read_ns(CLOCK_BOOTTIME) - mono_ns;

	return boot_ns - MIN(asleep_ns, boot_ns);
}

int wall_task_read(int pid, int tid, struct wall_task *task)
{
	enum { PARENT = 1, START = 19, STACK = 25 };	/* words from the state on */
	char text[1024], *name, *end;

	*task = (struct wall_task){ .state = '\0' };
	if (slots_read_proc(pid, tid, "stat", text, sizeof(text)) < 0)
		return -ESRCH;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name || end[1] != ' ' || !end[2])
		return -ESRCH;
	*end = '\0';
	snprintf(task->comm, sizeof(task->comm), "%s", name + 1);
	end += 2;
	task->state = *end;
	task->parent = (int)polls_number_of(polls_word_at(end, PARENT));
	task->start_ns = start_of(polls_number_of(polls_word_at(end, START)));
	task->stack = polls_number_of(polls_word_at(end, STACK));
	return *end == 'Z' || *end == 'X' ? -ESRCH : 0;
}

/* Return how often it has blocked; 0: not known. */
static uint64_t read_voluntary(const struct wall_slot *s)
{
	char text[4096];
	const char *line;

	if (slots_read_proc(s->pid, s->tid, "status", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nvoluntary_ctxt_switches:");
	return line ? strtoull(strchr(line, ':') + 1, NULL, 10) + 1 : 0;
}

/* ---- time ---- */

/*
 * Return where a wait for a CPU is counted: a thread that has run without a block since the latest look
 * lost its CPU.
 */
static __u64 *polls_wait_of(struct wall_slot *s, const struct thread *t, const struct run_counts *now,
			    bool ran_on)
{
	return ran_on && now->ran_ns != t->last.ran_ns ? &s->preempted_ns : &s->queued_ns[WALL_CLASS_OTHER];
}

/* Add to the totals what the kernel has counted since since_ns; return the rest of the time. [2] */
static uint64_t polls_charge(struct wall_slot *s, struct thread *t, const struct run_counts *now, bool ran_on,
			     uint64_t now_ns)
{
	uint64_t left = now_ns - s->since_ns, ran, waited;

	ran = MIN(now->ran_ns - MIN(t->charged.ran_ns, now->ran_ns), left);
	left -= ran;
	waited = MIN(now->waited_ns - MIN(t->charged.waited_ns, now->waited_ns), left);
	left -= waited;
	s->cpu_ns += ran;
	*polls_wait_of(s, t, now, ran_on) += waited;
	t->charged.ran_ns += ran;
	t->charged.waited_ns += waited;
	return left;
}

static void add_blocked(struct wall_slot *s, struct thread *t, uint64_t ns)
{
	s->blocked_ns[WALL_CLASS_OTHER] += ns;
	t->pending_ns += ns;
}

/* End the block in which the thread was last seen. */
static void end_seen_block(struct wall *w, struct wall_slot *s, struct thread *t)
{
	uint64_t end_ns = MAX(t->polled_ns, s->since_ns);

	t->past[t->nr_past++ % NR_PAST] = (struct wall_block){
		s->block_nr, t->stands_ns, end_ns, t->last.ran_ns
	};
	t->off_ns += end_ns - s->since_ns;
	t->nr_off++;
	s->nr_blocks++;
	s->since_ns = s->woken_ns = end_ns;
	store_release(&s->block_nr, s->block_nr + 1);
	slots_settle(w, s - w->switches->slots);
}

static void begin_block(struct wall_slot *s, struct thread *t, uint64_t now_ns, uint64_t left)
{
	s->since_ns = now_ns - left;
	t->stands_ns = s->since_ns - MIN(t->pending_ns, s->since_ns - s->born_ns);
	t->pending_ns = 0;
	t->voluntary = 0;
	/* all waits for CPUs before are counted */
	t->charged.waited_ns = MIN(t->charged.waited_ns, t->last.waited_ns);
	s->syscall = -1;
	s->class = WALL_CLASS_OTHER;
	s->regs = (struct wall_regs){ .pc = 0 };
	store_release(&s->block_nr, s->block_nr + 1);
	store_release(&s->state, WALL_BLOCKED);
}

/* Return whether it could run, and has not blocked since a scan found that before. */
static bool has_run_on(const struct wall_slot *s, struct thread *t)
{
	uint64_t before = t->voluntary;

	t->voluntary = read_voluntary(s);
	return before && before == t->voluntary;
}

/*
 * Note that it could run. What it runs now is not charged yet, nor is an open wait for a CPU; and what a
 * hypervisor takes never is.
 */
static void go_on_running(struct wall_slot *s, struct thread *t, const struct run_counts *now, bool ran_on,
			  uint64_t now_ns, uint64_t left)
{
	uint64_t uncharged = MIN(left, (uint64_t)TICK_NS);

	if (ran_on) {
		*polls_wait_of(s, t, now, true) += left - uncharged;
		t->charged.waited_ns += left - uncharged;
	} else {
		add_blocked(s, t, left - uncharged);
	}
	s->since_ns = now_ns - uncharged;
	store_release(&s->state, WALL_ON_CPU);
}

/* ---- looks ---- */

int wall_poll(struct wall *w, uint32_t slot, uint64_t now_ns, struct wall_task *task)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];
	struct asked a = { w->switches, t };
	struct run_counts now;
	uint64_t left;
	bool ran_on;
	int r;

	task->state = '\0';
	if (s->state == WALL_FREE || s->state == WALL_GONE || slots_read_counts(&a, s, &now))
		return -ESRCH;
	t->files.known = true;
	now_ns = MAX(now_ns, MAX(s->since_ns, t->polled_ns));
	if (s->state == WALL_BLOCKED && now.nr_runs == t->last.nr_runs && now.ran_ns == t->last.ran_ns) {
		t->polled_ns = now_ns;
		return 0;
	}
	r = wall_task_read(s->pid, s->tid, task);
	if (r)
		return r;
	if (s->state == WALL_BLOCKED)
		end_seen_block(w, s, t);
	ran_on = task->state == 'R' && has_run_on(s, t);
	left = polls_charge(s, t, &now, ran_on, now_ns);
	if (task->state == 'R')
		go_on_running(s, t, &now, ran_on, now_ns, left);
	t->last = now;
	t->polled_ns = now_ns;
	if (task->state != 'R')
		begin_block(s, t, now_ns, left);
	slots_stamp(w, slot);
	return 0;
}

uint64_t wall_polled_ns(const struct wall *w, uint32_t slot)
{
	return w->switches->threads[slot].polled_ns;
}

uint64_t wall_stands_ns(const struct wall *w, uint32_t slot)
{
	return w->switches->threads[slot].stands_ns;
}

bool wall_stays(struct wall *w, const struct wall_slot *s)
{
	struct thread *t = &w->switches->threads[s - w->switches->slots];
	struct asked a = { w->switches, t };
	struct run_counts now;

	return !slots_read_counts(&a, s, &now) && now.nr_runs == t->last.nr_runs &&
	       now.ran_ns == t->last.ran_ns;
}

bool wall_block_of(const struct wall *w, uint32_t slot, uint64_t ran_ns, struct wall_block *b)
{
	const struct thread *t = &w->switches->threads[slot];
	const struct wall_slot *s = &w->switches->slots[slot];
	size_t i;

	if (s->state == WALL_BLOCKED && ran_ns == t->last.ran_ns) {
		*b = (struct wall_block){ s->block_nr, t->stands_ns, 0, ran_ns };
		return true;
	}
	for (i = 0; i < MIN(t->nr_past, (uint64_t)NR_PAST); i++) {
		if (t->past[i].ran_ns != ran_ns)
			continue;
		*b = t->past[i];
		return true;
	}
	return false;
}

/* ---- what the files of this room ask ---- */

void polls_begin(struct wall *w, uint32_t slot, uint64_t now_ns)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];

	if (slots_read_counts(NULL, s, &t->last))
		return;
	t->charged = t->last;
	t->polled_ns = t->stands_ns = now_ns;
}

void polls_end(struct wall *w, uint32_t slot, uint64_t time_ns)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];

	if (s->state != WALL_BLOCKED)
		return;
	t->polled_ns = MAX(t->polled_ns, time_ns);
	end_seen_block(w, s, t);
	s->state = WALL_ON_CPU;
}

void polls_exec(struct wall *w, uint32_t slot, uint64_t time_ns)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];
	struct run_counts now;
	uint64_t left;

	if (s->state == WALL_BLOCKED)
		end_seen_block(w, s, t);
	if (time_ns <= s->since_ns || slots_read_counts(NULL, s, &now))
		return;
	left = polls_charge(s, t, &now, false, time_ns);
	t->last = now;
	add_blocked(s, t, left);
	s->since_ns = time_ns;
	s->state = WALL_ON_CPU;
}
