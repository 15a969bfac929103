// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naming.c - names of what was hit: of modules and their lines, and of code that has no file. It takes long
 * where files are large, so it reads the rings meanwhile, and stops for a signal.
 */
#include "base/clock.h"
#include "collect/engine/jitfiles.h"
#include "collect/engine/recording.h"
#include "collect/engine/runtimes.h"
#include "collect/engine/symbols.h"

static void name_anonymous(struct collect *c, struct proc *p, size_t max_bytes)
{
	if (p->has_anon_hits && !p->had_agent && !p->replaced_ns)
		jitfiles_read(p->jit, p->id, c->w, max_bytes);
}

/*
 * Return whether the runtime's names are missing. One that interprets runs in many programs: only the
 * recorded program is checked then.
 */
static bool lacks_names(const struct collect *c, const struct proc *p)
{
	if (!p->runtime || p->had_agent || jitfiles_has_names(p->jit))
		return false;
	return p->has_anon_hits || (runtime_interprets(p->runtime) && (p->pid == c->child_pid ||
		(c->o->nr_pids && collect_attached(c, p))));
}

void collect_name_anonymous(struct collect *c, struct proc *p)
{
	name_anonymous(c, p, SIZE_MAX);
	if (lacks_names(c, p))
		c->res->unnamed |= 1u << p->runtime;
}

void collect_name_anonymous_hits(struct collect *c)
{
	struct proc *p;

	for (p = c->tasks.procs; p; p = p->next)
		collect_name_anonymous(c, p);
}

void collect_name_new_code(struct collect *c, uint64_t now_ns)
{
	enum { BETWEEN_NS = 100000000, AT_ONCE_BYTES = 4 << 20 };
	struct proc *p;

	if (now_ns < c->named_ns + BETWEEN_NS)
		return;
	c->named_ns = now_ns;
	for (p = c->tasks.procs; p; p = p->next)
		name_anonymous(c, p, AT_ONCE_BYTES);
}

/*
 * Names take long where files are large or many, and rings fill meanwhile. Where more is sampled than can be
 * read, they get half of the time.
 */
static bool read_rings(void *ctx)
{
	enum { LATE_NS = 10000000 };
	const uint64_t now_ns = clock_mono_ns();
	struct collect *c = ctx;

	if (now_ns <= c->merged_ns + 2 * LATE_NS || now_ns < c->naming_until_ns)
		return true;
	collect_merge(c, now_ns - LATE_NS);
	c->naming_until_ns = 2 * clock_mono_ns() - now_ns;
	return true;
}

/* Return whether to wait at the end, unless a signal has come since. */
static bool is_awaited(void *ctx)
{
	return !collect_signal_waits();
}

void collect_name_hits(struct collect *c, bool at_end, bool fetch)
{
	struct symbols_result sym;

	c->modules.fetch = fetch;
	symbols_write_modules(&c->modules, c->w, c->o->lines, at_end ? is_awaited : read_rings, c, &sym);
	c->res->kernel_hidden |= sym.kernel_hidden;
	if (sym.cut && !c->res->cut_names) {
		c->res->cut_names = true;
		refused_text(&c->refused, "names of some code: a signal came while they were looked up");
	}
}

void collect_count_strange(struct collect *c)
{
	struct proc *p;

	for (p = c->tasks.procs; p; p = p->next) {
		if (p->had_agent || !p->has_libjvm || !p->has_anon_hits || p->strange)
			continue;
		p->strange = true;
		c->res->nr_strange_jvms++;
	}
}
