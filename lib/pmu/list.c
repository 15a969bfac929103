// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * list.c - the events that have names on this machine: those that perf knows everywhere, those of caches, and
 * those of which the kernel's PMUs say in sysfs what they are made of.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/event.h"

#define SYSFS_PMUS "bus/event_source/devices"

enum { MAX_TEXT = 512 };

/* Descriptions of the generic events, in any order. */
static const struct {
	const char *name, *what;
} described[] = {
	{ "cpu-clock", "time of a CPU, by its timer" },
	{ "task-clock", "time of a thread on CPUs" },
	{ "page-faults", "accesses to pages that were not mapped" },
	{ "minor-faults", "page faults without reading from a disk" },
	{ "major-faults", "page faults that read from a disk" },
	{ "context-switches", "threads that left a CPU" },
	{ "cpu-migrations", "threads that went to another CPU" },
	{ "alignment-faults", "unaligned accesses that the kernel repaired" },
	{ "emulation-faults", "instructions that the kernel emulated" },
	{ "dummy", "nothing" },
	{ "cycles", "cycles of the CPU's clock while it is not halted" },
	{ "instructions", "instructions that retired" },
	{ "cache-references", "accesses to the last level cache" },
	{ "cache-misses", "accesses that missed the last level cache" },
	{ "branches", "branch instructions that retired" },
	{ "branch-misses", "branches that were predicted wrongly" },
	{ "bus-cycles", "cycles of the bus" },
	{ "stalled-cycles-frontend", "cycles in which no instruction was ready" },
	{ "stalled-cycles-backend", "cycles in which instructions waited for results or units" },
	{ "ref-cycles", "cycles of a clock that does not change with the frequency" },
};

static const char *describe_event(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(described); i++)
		if (!strcmp(described[i].name, name))
			return described[i].what;
	return "";
}

static void list_caches(pmu_list_fn *fn, void *ctx)
{
	static const struct {
		const char *name, *what, *ops;
	} caches[] = {
		{ "L1-dcache", "the first level data cache", "lsp" },
		{ "L1-icache", "the first level instruction cache", "lp" },
		{ "LLC", "the last level cache", "lsp" }, { "dTLB", "the data TLB", "lsp" },
		{ "iTLB", "the instruction TLB", "l" }, { "branch", "the branch predictor", "l" },
		{ "node", "local memory", "lsp" },
	};
	static const struct {
		char op;
		const char *one, *all, *what;
	} ops[] = { { 'l', "load", "loads", "reads from" }, { 's', "store", "stores", "writes to" },
		    { 'p', "prefetch", "prefetches", "prefetches of" } };
	char name[64], what[128];
	size_t c, o;

	for (c = 0; c < ARRAY_SIZE(caches); c++)
		for (o = 0; o < ARRAY_SIZE(ops); o++) {
			if (!strchr(caches[c].ops, ops[o].op))
				continue;
			snprintf(name, sizeof(name), "%s-%s", caches[c].name, ops[o].all);
			snprintf(what, sizeof(what), "%s %s", ops[o].what, caches[c].what);
			fn(ctx, name, what);
			snprintf(name, sizeof(name), "%s-%s-misses", caches[c].name, ops[o].one);
			snprintf(what, sizeof(what), "%s %s that missed", ops[o].what, caches[c].what);
			fn(ctx, name, what);
		}
}

/*
 * Read a file without its end of line; return false if it cannot be read, or is longer than such a file is.
 */
static bool read_sysfs_line(struct buf *b, const char *path)
{
	buf_reset(b);
	if (io_slurp(path, b) || !b->len || b->len > MAX_TEXT)
		return false;
	while (b->len && (b->data[b->len - 1] == '\n' || b->data[b->len - 1] == ' '))
		b->data[--b->len] = '\0';
	return b->len;
}

/* Return whether it is an event: files beside it have its unit and scale, as in "tsc.unit". */
static bool is_event_file(const char *file)
{
	return *file != '.' && !strchr(file, '.');
}

static void list_pmu(const char *root, const char *pmu, pmu_list_fn *fn, void *ctx)
{
	struct buf text = BUF_INIT, unit = BUF_INIT, what = BUF_INIT;
	char dir[600], path[900], name[300];
	struct dirent *d;
	DIR *events;

	snprintf(dir, sizeof(dir), "%s/%s/%s/events", root, SYSFS_PMUS, pmu);
	events = opendir(dir);
	while (events && (d = readdir(events))) {
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		if (!is_event_file(d->d_name) || !read_sysfs_line(&text, path))
			continue;
		snprintf(path, sizeof(path), "%s/%s.unit", dir, d->d_name);
		buf_reset(&what);
		buf_fmt(&what, "%s of %s", text.data, pmu);
		if (read_sysfs_line(&unit, path))
			buf_fmt(&what, ", in %s", unit.data);
		snprintf(name, sizeof(name), "%.100s/%.180s/", pmu, d->d_name);
		fn(ctx, name, what.data);
	}
	if (events)
		closedir(events);
	buf_release(&text);
	buf_release(&unit);
	buf_release(&what);
}

void pmu_list(const char *root, pmu_list_fn *fn, void *ctx)
{
	char path[300];
	const char *name;
	struct dirent *d;
	DIR *pmus;
	size_t i;

	for (i = 0; (name = pmu_event_generic(i)); i++)
		fn(ctx, name, describe_event(name));
	list_caches(fn, ctx);
	snprintf(path, sizeof(path), "%s/%s", root, SYSFS_PMUS);
	pmus = opendir(path);
	while (pmus && (d = readdir(pmus)))
		if (d->d_name[0] != '.')
			list_pmu(root, d->d_name, fn, ctx);
	if (pmus)
		closedir(pmus);
}
