// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * traps.c - the perf events of a JVM's threads that send them a signal, so that its agent walks their stacks.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/recording.h"

/*
 * End a set when the last task ended that it was opened on, or that inherited its events. This is checked
 * when another JVM comes, so that no more sets are open than are alive and ended since. Where records
 * were lost, an unknown child of a JVM may need the set when it executes a program.
 */
static void close_ended(struct collect *c)
{
	bool *used = xcalloc(c->ev.nr_sets + 1, sizeof(*used));
	struct map procs = MAP_INIT;
	size_t i;

	collect_merge(c, clock_mono_ns());
	evsets_forget_closed(&c->ev);
	for (i = 0; i < c->tasks.nr_all; i++) {
		const struct thread *th = c->tasks.threads[i];

		if (th->dead)
			continue;
		used[th->evset] = true;
		*map_put(&procs, th->proc->id) = 1;
	}
	for (i = 0; i < c->ev.nr_sets; i++) {
		const struct evset *s = &c->ev.sets[i];
		bool ended = s->kind == EVSET_TRAP ? s->proc && map_get(&procs, s->proc) == MAP_NONE :
			     s->kind == EVSET_LATENT && !used[i + 1] && !c->res->nr_lost;

		if (ended && !s->closed)
			evset_close(&c->ev, i + 1);
	}
	map_release(&procs);
	free(used);
}

bool traps_possible(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000, .disabled = 1, .exclude_kernel = 1, .sigtrap = 1,
		.remove_on_exec = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno != EINVAL && errno != E2BIG;
	close(fd);
	return true;
}

/*
 * Add traps to threads without them; return false if refused. A running JVM starts threads meanwhile: those
 * started by a thread with traps have inherited them, as the kernel's records say.
 */
static bool add_new_threads(struct collect *c, struct proc *p, uint32_t traps, bool *any, struct err *e)
{
	DIR *dir = io_open_threads(p->pid);
	bool ok = true;
	int tid, r;

	while (ok && (tid = io_next_number(dir))) {
		struct thread *th;

		collect_merge(c, clock_mono_ns());
		th = tasks_get(&c->tasks, p->pid, tid, clock_mono_ns());
		if (th->trap_ns)
			continue;
		r = evset_add(&c->ev, traps, tid, false, e);
		ok = !r || r == -ESRCH;
		th->trap_ns = clock_mono_ns();
		*any = true;
	}
	if (!dir) {
		err_set(e, errno, "%s", errno == ENOENT || errno == ESRCH ? "it has ended" : strerror(errno));
		return false;
	}
	closedir(dir);
	return ok;
}

static bool add_all_threads(struct collect *c, struct proc *p, uint32_t traps, struct err *e)
{
	bool ok, any;

	do {
		any = false;
		ok = add_new_threads(c, p, traps, &any, e);
	} while (ok && any);
	return ok;
}

bool traps_open_again(struct collect *c, struct proc *p, uint32_t traps)
{
	struct err ignored;
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++)
		if (c->tasks.threads[i]->proc == p)
			c->tasks.threads[i]->trap_ns = 0;
	return add_all_threads(c, p, traps, &ignored);
}

bool traps_open(struct collect *c, struct proc *p, struct err *e)
{
	uint32_t traps;
	bool ok;

	close_ended(c);
	traps = evset_new(&c->ev, EVSET_TRAP);
	c->ev.sets[traps - 1].proc = p->id;
	ok = add_all_threads(c, p, traps, e);
	if (!ok)
		evset_close(&c->ev, traps);
	else if (collect_is_on(c))
		evset_enable(&c->ev, traps, true);
	return ok;
}

static void enable_of(struct collect *c, const struct proc *p, bool on)
{
	size_t i;

	for (i = 0; i < c->ev.nr_sets; i++) {
		const struct evset *s = &c->ev.sets[i];

		if (s->kind == EVSET_TRAP && s->proc == p->id && !s->closed)
			evset_enable(&c->ev, i + 1, on);
	}
}

/*
 * Events on threads go where these go, unlike those on groups. Resuming a recording enables all of them, so
 * those outside are disabled each time.
 */
void traps_turn(struct collect *c)
{
	struct java *j;
	bool away;

	if (!c->o->groups || !collect_is_on(c))
		return;
	for (j = c->javas; j; j = j->next) {
		if (j->gone || !j->sampled)
			continue;
		away = !cgroups_have(c->o->groups, j->proc->pid);
		if (away || j->away)
			enable_of(c, j->proc, !away);
		j->away = away;
	}
}
