// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cleanup.c - drops state of processes, threads and files that are gone, so that a long recording does not
 * grow.
 */
#include "base/mem.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/recording.h"

enum {
	MANY_FILES = 256,		/* new ones, for which it pays to look between two changes */
	MANY_VIRTUAL = 1 << 16,		/* virtual threads; half of them are kept then */
	TABLE_BYTES = 48 << 20,		/* of symbols, lines and unwind rules */
	TRIM_NS = 2000000000,		/* between two looks at how much that is */
};

#define LOOK_NS 10000000000		/* between two looks at who has ended */

/* what is unused for longer than a thread's last samples can be late */
#define UNUSED_NS (2 * TASKS_LATE_NS)

static void forget_files(struct collect *c, uint64_t now_ns)
{
	const struct proc *p;
	size_t i;

	for (p = c->tasks.procs; p; p = p->next)
		for (i = 0; i < p->maps.nr_entries; i++)
			if (p->maps.entries[i].module)
				modules_use(&c->modules, p->maps.entries[i].module, now_ns);
	modules_forget(&c->modules, now_ns - MIN(now_ns, UNUSED_NS), c->w);
}

/*
 * Name code without a file in processes that have ended: their runtime's names are lost otherwise. The agent
 * has named that of a JVM, though samples may be older than the agent.
 */
static void name_ended(struct collect *c, uint64_t now_ns)
{
	struct proc *p;

	collect_count_strange(c);
	for (p = c->tasks.procs; p; p = p->next) {
		if (p->nr_live || !p->has_anon_hits || p->java || p->dead_ns + TASKS_LATE_NS > now_ns)
			continue;
		collect_name_anonymous(c, p);
		jitfiles_free(p->jit);
		p->jit = NULL;
		p->has_anon_hits = false;
	}
}

/* Check which threads have ended. Lost records include ends of threads, whose state would stay for ever. */
static void look_who_ended(struct collect *c, uint64_t now_ns)
{
	if (c->looked_lost == c->res->nr_lost || now_ns < c->looked_ns + LOOK_NS)
		return;
	c->looked_lost = c->res->nr_lost;
	c->looked_ns = now_ns;
	collect_merge(c, now_ns);
	tasks_look_again(&c->tasks, now_ns);
}

void cleanup_turn(struct collect *c, uint64_t now_ns)
{
	look_who_ended(c, now_ns);
	if (now_ns >= c->trimmed_ns + TRIM_NS) {
		c->trimmed_ns = now_ns;
		modules_trim(&c->modules, TABLE_BYTES);
		name_ended(c, now_ns);
	}
	if (c->modules.nr_new < MANY_FILES)
		return;
	collect_name_hits(c, false, false);
	forget_files(c, now_ns);
}

void cleanup_at_change(struct collect *c, uint64_t now_ns)
{
	struct map procs = MAP_INIT;
	const struct proc *p;

	forget_files(c, now_ns);
	for (p = c->tasks.procs; p; p = p->next)
		*map_put(&procs, p->id) = 1;
	tasks_forget_virtual(&c->tasks, &procs, MANY_VIRTUAL);
	parts_forget(c, &procs);
	map_release(&procs);
}
