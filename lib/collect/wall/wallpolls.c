// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wallpolls.c - the source "wall" where perf events and BPF are refused: finds in /proc the processes and
 * threads to record, says of them what the kernel's records would, and has their slots filled at each look
 * (wall/polls.h).
 *
 * Not seen are threads that live shorter than the time between two looks, and processes whose parent had
 * ended by the time they were found.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/wall/wall_priv.h"
#include "wall/polls.h"

enum {
	SHARE = 10,			/* looks take this part of a CPU at most */
	MAPS_NS = 100000000,		/* mappings are read again after this long, */
	YOUNG_NS = 300000000,		/* and each time in the first moments of a program */
};

struct polled {
	int pid;
	uint64_t stack;			/* struct wall_task's; 0: not known yet */
	uint64_t since_ns, maps_ns;
};

struct wallpolls {
	struct polled *procs;
	size_t nr, alloc;
	struct map others;		/* pid -> look: processes that are not recorded */
	uint32_t look;			/* number of the one that goes on; 0: there was none */
	uint64_t first_ns, last_ns;	/* when there was one */
	uint64_t spent_ns;		/* CPU time of the last one */
};

struct wallpolls *wallpolls_new(struct collect *c)
{
	struct wallpolls *x = xcalloc(1, sizeof(*x));

	x->last_ns = clock_mono_ns();
	/* what is to execute the command: later, threads of that would be taken for its */
	if (c->child_pid)
		tasks_get(&c->tasks, c->child_pid, c->child_pid, x->last_ns);
	return x;
}

void wallpolls_free(struct wallpolls *x)
{
	if (!x)
		return;
	map_release(&x->others);
	free(x->procs);
	free(x);
}

static struct polled *wallpolls_find(const struct wallpolls *x, int pid)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		if (x->procs[i].pid == pid)
			return &x->procs[i];
	return NULL;
}

static void wallpolls_add(struct wallpolls *x, int pid, uint64_t stack, uint64_t now_ns)
{
	*VEC_ADD(x->procs, x->nr, x->alloc) =
		(struct polled){ .pid = pid, .stack = stack, .since_ns = now_ns };
}

/* ---- what records would tell ---- */

/* It was seen at the look before last_ns, and is not there any more: when it ended is not known better. */
static void thread_ends(struct collect *c, const struct wall_slot *s, uint32_t slot, uint64_t now_ns)
{
	uint64_t seen_ns = MAX(wall_polled_ns(c->walls->wall, slot), s->born_ns);
	uint64_t end_ns = seen_ns + (MAX(now_ns, seen_ns) - seen_ns) / 2;
	int tid = s->tid, pid = s->pid;

	tasks_exit(&c->tasks, pid, tid, end_ns);
	parts_exited(c, tid, end_ns);
}

/* End all threads of that process except its first one; with pid 0 all that the current look did not find. */
static void threads_end(struct collect *c, int pid, uint64_t now_ns)
{
	struct wall *w = c->walls->wall;
	uint32_t nr = wall_nr_used(w), i;

	for (i = 1; i < nr; i++) {
		const struct wall_slot *s = wall_slot_at(w, i);
		bool is_one = pid ? (int)s->pid == pid && (int)s->tid != pid : wall_polled_ns(w, i) < now_ns;

		if (s->state != WALL_FREE && s->state != WALL_GONE && is_one)
			thread_ends(c, s, i, now_ns);
	}
}

static void program_begins(struct collect *c, struct polled *p, const char *comm, uint64_t now_ns)
{
	threads_end(c, p->pid, now_ns);
	tasks_comm(&c->tasks, p->pid, p->pid, comm, true, now_ns);
	parts_executed(c, p->pid, now_ns);
	p->since_ns = now_ns;
	p->maps_ns = 0;
}

static uint64_t born_ns(const struct wallpolls *x, const struct wall_task *task, uint64_t now_ns)
{
	return MIN(MAX(task->start_ns, x->last_ns), now_ns);
}

static void thread_begins(struct collect *c, const struct wallpolls *x, int pid, int tid, uint64_t now_ns)
{
	const struct thread *th = tasks_find(&c->tasks, tid);
	struct wall_task task;
	uint64_t at_ns;

	if (wall_task_read(pid, tid, &task))
		return;
	at_ns = born_ns(x, &task, now_ns);
	if (!th || th->proc->pid != pid) {
		tasks_fork(&c->tasks, pid, pid, tid, pid, at_ns);
		tasks_comm(&c->tasks, pid, tid, task.comm, false, at_ns);
	}
	parts_forked(c, pid, tid, at_ns);
}

static void process_begins(struct collect *c, struct wallpolls *x, int pid, const struct wall_task *task,
			   uint64_t now_ns)
{
	const struct thread *th = tasks_find(&c->tasks, pid);
	const struct polled *parent = wallpolls_find(x, task->parent);
	bool is_program = parent->stack && task->stack && task->stack != parent->stack;
	uint64_t at_ns = born_ns(x, task, now_ns);

	if (!th || th->proc->pid != pid)
		tasks_fork(&c->tasks, pid, parent->pid, pid, parent->pid, at_ns);
	parts_forked(c, pid, pid, at_ns);
	wallpolls_add(x, pid, task->stack, now_ns);
	th = tasks_find(&c->tasks, pid);
	if (is_program && !th->proc->execed)
		program_begins(c, wallpolls_find(x, pid), task->comm, now_ns);
}

/* ---- processes ---- */

static bool is_there(void *look, uint64_t pid, uint32_t seen)
{
	(void)pid;
	return seen == *(uint32_t *)look;
}

/*
 * False: it is not known yet who its parent is. What was there when the recording began is recorded only if
 * it was named, or is the command's.
 */
static bool wallpolls_judge(struct collect *c, struct wallpolls *x, int pid, uint64_t now_ns)
{
	struct wall_task task;

	if (x->look == 1 && !(c->child_pid && tasks_descends(pid, c->child_pid)))
		return true;
	if (wall_task_read(pid, pid, &task))
		return true;
	if (wallpolls_find(x, task.parent)) {
		process_begins(c, x, pid, &task, now_ns);
		return true;
	}
	return task.parent <= 0 || map_get(&x->others, task.parent) != MAP_NONE;
}

static void find_processes(struct collect *c, struct wallpolls *x, uint64_t now_ns)
{
	DIR *dir = opendir("/proc");
	int pid;

	while ((pid = io_next_number(dir))) {
		if (wallpolls_find(x, pid))
			continue;
		if (map_get(&x->others, pid) != MAP_NONE || wallpolls_judge(c, x, pid, now_ns))
			*map_put(&x->others, pid) = x->look;
	}
	io_close_folder(dir);
	map_filter(&x->others, is_there, &x->look);
}

static void begin_with(struct collect *c, struct wallpolls *x, int pid, uint64_t now_ns)
{
	struct wall_task task;
	struct thread *th;

	if (wallpolls_find(x, pid) || wall_task_read(pid, pid, &task))
		return;
	wallpolls_add(x, pid, task.stack, now_ns);
	th = tasks_get(&c->tasks, pid, pid, now_ns);
	/* it was let go, and executes what it is to */
	if (pid == c->child_pid && !th->proc->execed)
		program_begins(c, wallpolls_find(x, pid), task.comm, now_ns);
}

/* ---- looks ---- */

/* Threads change their names when they have begun. */
static void follow_name(struct collect *c, int pid, int tid, const char *comm, uint64_t now_ns)
{
	const struct thread *th = tasks_find(&c->tasks, tid);

	if (th && !th->java && strcmp(th->comm, comm))
		tasks_comm(&c->tasks, pid, tid, comm, false, now_ns);
}

/* Not before the recording began, though it may have started threads by the time of the first look. */
static bool is_begun_by_us(const struct collect *c, int pid)
{
	return pid == c->child_pid && !c->o->delay_ns && !c->o->start_mark;
}

static void look_at_thread(struct collect *c, struct wallpolls *x, int pid, int tid, uint64_t now_ns)
{
	struct wall *w = c->walls->wall;
	uint32_t slot = wall_slot_of(w, tid);
	struct wall_task task;
	struct polled *p;

	if (!slot && x->look == 1 && !is_begun_by_us(c, pid))
		wall_thread_found(w, pid, tid);
	else if (!slot)
		thread_begins(c, x, pid, tid, now_ns);
	slot = wall_slot_of(w, tid);
	if (!slot || wall_poll(w, slot, now_ns, &task) || !task.state)
		return;
	p = wallpolls_find(x, pid);
	if (tid == pid && task.stack && p->stack && p->stack != task.stack)
		program_begins(c, p, task.comm, now_ns);
	if (tid == pid && task.stack)
		p->stack = task.stack;
	follow_name(c, pid, tid, task.comm, now_ns);
	walls_look_at(c, wall_slot_of(w, tid));
}

/* False: there is none any more. */
static bool look_at_process(struct collect *c, struct wallpolls *x, int pid, uint64_t now_ns)
{
	DIR *dir = io_open_threads(pid);
	size_t nr = 0;
	int tid;

	for (; (tid = io_next_number(dir)); nr++)
		look_at_thread(c, x, pid, tid, now_ns);
	io_close_folder(dir);
	return nr;
}

void wallpolls_look(struct collect *c, struct wallpolls *x, uint64_t now_ns)
{
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t i, nr = 0;

	if (!x->look++) {
		x->first_ns = now_ns;
		x->last_ns = MIN(now_ns, x->last_ns);
		for (i = 0; i < c->o->nr_pids; i++)
			begin_with(c, x, c->o->pids[i], now_ns);
		if (c->child_pid)
			begin_with(c, x, c->child_pid, now_ns);
	}
	find_processes(c, x, now_ns);
	for (i = 0; i < x->nr; i++) {
		struct polled p = x->procs[i];

		if (look_at_process(c, x, p.pid, now_ns))
			x->procs[nr++] = x->procs[i];
	}
	x->nr = nr;
	threads_end(c, 0, now_ns);
	x->last_ns = now_ns;
	x->spent_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

uint64_t wallpolls_pause_ns(const struct wallpolls *x)
{
	return x->spent_ns * SHARE;
}

void wallpolls_map(struct collect *c, struct wallpolls *x, struct proc *p)
{
	struct polled *at = wallpolls_find(x, p->pid);
	uint64_t now_ns = clock_mono_ns();

	if (!at || p->java || (now_ns > at->since_ns + YOUNG_NS && now_ns < at->maps_ns + MAPS_NS))
		return;
	at->maps_ns = now_ns;
	tasks_rescan_maps(&c->tasks, p);
}

uint64_t wallpolls_interval_ns(const struct wallpolls *x)
{
	return x->look > 1 ? (x->last_ns - x->first_ns) / (x->look - 1) : 0;
}
