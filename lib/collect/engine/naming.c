// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naming.c - names of what was hit: of modules and their lines, and of code that has no file. It takes long
 * where files are large, so it reads the rings meanwhile, and stops for a signal.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/engine/symbols.h"

/* How programs that make code are asked for its names: for a file /tmp/perf-PID.map. */
static const struct {
	const char *program, *how;
} runtimes[] = {
	{ "node", "node --perf-basic-prof" },
	{ "deno", "deno run --v8-flags=--perf-basic-prof" },
	{ "dotnet", "DOTNET_PerfMapEnabled=1 in the environment" },
	{ "beam.smp", "erl +JPperf true" },
	{ "wasmtime", "wasmtime --profile=perfmap" },
};

const char *collect_how_named(int pid)
{
	char path[32], exe[256];
	const char *name;
	ssize_t len;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	exe[MAX(len, (ssize_t)0)] = '\0';
	name = strrchr(exe, '/');
	for (i = 0; name && i < ARRAY_SIZE(runtimes); i++)
		if (!strcmp(name + 1, runtimes[i].program))
			return runtimes[i].how;
	return NULL;
}

void collect_name_anonymous(struct collect *c, struct proc *p)
{
	if (p->had_agent || !p->has_anon_hits || p->map_written)
		return;
	p->map_written = true;
	if (!symbols_write_perf_map(c->w, p) && p->how_named)
		c->res->how_named = p->how_named;
}

void collect_name_anonymous_hits(struct collect *c)
{
	struct proc *p;

	for (p = c->tasks.procs; p; p = p->next)
		collect_name_anonymous(c, p);
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

/* At the end, unless a signal has come since. */
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
