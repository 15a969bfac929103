// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event.c - names of events.  Codes: perf_event_open(2); files below
 * /sys/bus/event_source/devices: Documentation/ABI/testing/sysfs-bus-event_source-devices-*.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/near.h"
#include "pmu/event.h"

#define SYSFS_PMUS "/sys/bus/event_source/devices"

struct name_code {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
};

static const struct name_code generic[] = {
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
};

static const char *const cache_names[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch",
	"node" };
static const char *const cache_ops[] = { "load", "store", "prefetch" };

/* "dTLB-load-misses", "LLC-stores": cache | op << 8 | result << 16. */
static bool parse_cache(const char *name, struct pmu_event *ev)
{
	size_t c, o;

	for (c = 0; c < ARRAY_SIZE(cache_names); c++) {
		size_t len = strlen(cache_names[c]);

		if (strncmp(name, cache_names[c], len) || name[len] != '-')
			continue;
		for (o = 0; o < ARRAY_SIZE(cache_ops); o++) {
			const char *rest = name + len + 1;
			size_t olen = strlen(cache_ops[o]);
			bool miss;

			if (strncmp(rest, cache_ops[o], olen))
				continue;
			rest += olen;
			miss = !strcmp(rest, "-misses");
			if (!miss && strcmp(rest, "s") && strcmp(rest, "es"))
				continue;
			ev->attr.type = PERF_TYPE_HW_CACHE;
			ev->attr.config = c | o << 8 | (uint64_t)miss << 16;
			return true;
		}
	}
	return false;
}

static bool parse_generic(const char *name, struct pmu_event *ev)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(generic); i++) {
		const struct name_code *g = &generic[i];

		if (strcmp(name, g->name) && (!g->alias || strcmp(name, g->alias)))
			continue;
		ev->attr.type = g->type;
		ev->attr.config = g->config;
		ev->clock = g->type == PERF_TYPE_SOFTWARE && g->config <= PERF_COUNT_SW_TASK_CLOCK;
		return true;
	}
	return false;
}

static bool parse_raw(const char *name, struct pmu_event *ev)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return false;
	ev->attr.type = PERF_TYPE_RAW;
	ev->attr.config = strtoull(name + 1, &end, 16);
	return !*end;
}

int pmu_format_set(const char *format, uint64_t val, struct perf_event_attr *attr, struct err *e)
{
	uint64_t *word = !strncmp(format, "config1:", 8) ? (uint64_t *)&attr->config1 :
			 !strncmp(format, "config2:", 8) ? (uint64_t *)&attr->config2 :
			 !strncmp(format, "config:", 7)	 ? (uint64_t *)&attr->config : NULL;
	const char *p = strchr(format, ':');

	if (!word || !p)
		return err_set(e, EINVAL, "unknown format '%.40s'", format);
	for (p++; isdigit((unsigned char)*p);) {	/* "0-7,32-35": low bits of val first */
		char *end;
		unsigned long lo = strtoul(p, &end, 10), hi = lo, bit;

		if (*end == '-')
			hi = strtoul(end + 1, &end, 10);
		if (hi > 63 || lo > hi)
			return err_set(e, EINVAL, "bad bit range in format '%.40s'", format);
		for (bit = lo; bit <= hi; bit++, val >>= 1)
			*word = (*word & ~(1ull << bit)) | (val & 1) << bit;
		p = *end == ',' ? end + 1 : end;
	}
	return val ? err_set(e, ERANGE, "value does not fit format '%.40s'", format) : 0;
}

static int sysfs_read(struct buf *b, const char *pmu, const char *dir, const char *file)
{
	char path[512];
	int r;

	buf_reset(b);
	snprintf(path, sizeof(path), "%s/%s/%s%s%s", SYSFS_PMUS, pmu, dir, *dir ? "/" : "", file);
	r = io_slurp(path, b);
	if (!r && b->len && b->data[b->len - 1] == '\n')
		b->data[--b->len] = '\0';
	return r;
}

static int set_term(const char *pmu, char *term, struct perf_event_attr *attr, int depth, struct err *e)
{
	struct buf b = BUF_INIT;
	char *eq = strchr(term, '='), *save, *t;
	uint64_t val = 1;
	int r = 0;

	if (eq) {
		*eq = '\0';
		val = strtoull(eq + 1, NULL, 0);
	}
	if (!strcmp(term, "config") || !strcmp(term, "config1") || !strcmp(term, "config2")) {
		char whole[32];

		snprintf(whole, sizeof(whole), "%s:0-63", term);
		return pmu_format_set(whole, val, attr, e);
	}
	if (!sysfs_read(&b, pmu, "format", term)) {
		r = pmu_format_set(b.data, val, attr, e);
	} else if (!eq && !depth && !sysfs_read(&b, pmu, "events", term)) {
		for (t = strtok_r(b.data, ",", &save); t && !r; t = strtok_r(NULL, ",", &save))
			r = set_term(pmu, t, attr, 1, e);
	} else {
		r = err_set(e, EINVAL, "PMU '%s' has no term or event '%s'", pmu, term);
	}
	buf_release(&b);
	return r;
}

/* "pmu/term,term=val/" */
static int parse_sysfs(const char *name, struct pmu_event *ev, struct err *e)
{
	char *copy = xstrdup(name), *terms = strchr(copy, '/'), *end, *save, *t;
	struct buf b = BUF_INIT;
	int r = 0;

	*terms++ = '\0';
	end = strrchr(terms, '/');
	if (!end || end[1]) {
		r = err_set(e, EINVAL, "event '%s' does not end in '/'", name);
	} else if (sysfs_read(&b, copy, "", "type")) {
		r = err_set(e, ENOENT, "event '%s': this machine has no PMU '%s'", name, copy);
		err_hint(e, "'arcprof doctor' lists the PMUs there are");
	} else {
		*end = '\0';
		ev->attr.type = strtoul(b.data, NULL, 10);
		for (t = strtok_r(terms, ",", &save); t && !r; t = strtok_r(NULL, ",", &save))
			r = set_term(copy, t, &ev->attr, 0, e);
	}
	buf_release(&b);
	free(copy);
	return r;
}

static int parse_tracepoint(const char *name, struct pmu_event *ev, struct err *e)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	const char *colon = strchr(name, ':');
	struct buf b = BUF_INIT;
	char path[512];
	size_t i;
	int r = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(roots) && r; i++) {
		snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", roots[i], (int)(colon - name), name,
			 colon + 1);
		buf_reset(&b);
		r = io_slurp(path, &b);
	}
	if (!r) {
		ev->attr.type = PERF_TYPE_TRACEPOINT;
		ev->attr.config = strtoull(b.data, NULL, 10);
	} else if (r == -EACCES) {
		err_set(e, EACCES, "tracepoint '%s': tracefs is not readable for this user", name);
		err_hint(e, "run as root, or: sudo mount -o remount,mode=755 /sys/kernel/tracing");
	} else {
		r = err_set(e, ENOENT, "unknown event '%s'", name);
		err_hint(e, "tracepoints need tracefs mounted on /sys/kernel/tracing");
	}
	buf_release(&b);
	return r;
}

/* "mem:ADDR[/LEN][:rwx]" */
static int parse_breakpoint(const char *name, struct pmu_event *ev, struct err *e)
{
	char *end;

	ev->attr.type = PERF_TYPE_BREAKPOINT;
	ev->attr.bp_addr = strtoull(name + 4, &end, 0);
	ev->attr.bp_len = HW_BREAKPOINT_LEN_4;
	ev->attr.bp_type = 0;
	if (*end == '/')
		ev->attr.bp_len = strtoul(end + 1, &end, 0);
	if (*end == ':')
		for (end++; *end && strchr("rwx", *end); end++)
			ev->attr.bp_type |= *end == 'r' ? HW_BREAKPOINT_R :
					    *end == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_X;
	if (*end)
		return err_set(e, EINVAL, "breakpoint '%s': want mem:ADDR[/LEN][:rwx]", name);
	if (!ev->attr.bp_type)
		ev->attr.bp_type = HW_BREAKPOINT_RW;
	if (ev->attr.bp_type == HW_BREAKPOINT_X)
		ev->attr.bp_len = sizeof(long);
	return 0;
}

/* Cuts ":u", ":k" or ":uk" off a copy of the name. */
static void cut_modifier(char *name, struct pmu_event *ev)
{
	char *colon = strrchr(name, ':');

	if (!colon || !colon[1] || strspn(colon + 1, "uk") != strlen(colon + 1))
		return;
	ev->attr.exclude_kernel = !strchr(colon + 1, 'k');
	ev->attr.exclude_user = !strchr(colon + 1, 'u');
	*colon = '\0';
}

/* "cycles:pp": an event of the CPU, with a modifier of perf's that asks for precise addresses. */
static bool wants_precise(const char *bare)
{
	char event[sizeof(((struct pmu_event *)0)->name)];
	const char *colon = strrchr(bare, ':');
	struct pmu_event ignored = { 0 };

	if (!colon || !strpbrk(colon, "pP") || colon[1 + strspn(colon + 1, "ukpP")])
		return false;
	snprintf(event, sizeof(event), "%.*s", (int)(colon - bare), bare);
	return parse_generic(event, &ignored) || parse_cache(event, &ignored) || parse_raw(event, &ignored);
}

static int unknown_event(const char *name, struct err *e)
{
	struct near near = near_init(name);
	unsigned int i;

	for (i = 0; pmu_event_generic(i); i++)
		near_try(&near, pmu_event_generic(i));
	err_set(e, EINVAL, "unknown event '%s'", name);
	if (near.best)
		err_hint(e, "did you mean '%s'?", near.best);
	else
		err_hint(e, "cpu, wall, lock, alloc, jvm, cycles, rHEX, PMU/term/, group:tracepoint, ...; see arcprof-record(1)");
	return -EINVAL;
}

int pmu_event_parse(const char *name, struct pmu_event *ev, struct err *e)
{
	char bare[sizeof(ev->name)];
	int r = 0;

	memset(ev, 0, sizeof(*ev));
	if (strlen(name) >= sizeof(ev->name))
		return err_set(e, EINVAL, "event name '%.40s...' is too long", name);
	strcpy(ev->name, name);
	strcpy(bare, name);
	cut_modifier(bare, ev);
	ev->attr.size = sizeof(ev->attr);
	if (!strncmp(bare, "mem:", 4))
		r = parse_breakpoint(bare, ev, e);
	else if (strchr(bare, '/'))
		r = parse_sysfs(bare, ev, e);
	else if (!parse_generic(bare, ev) && !parse_cache(bare, ev) && !parse_raw(bare, ev)) {
		if (wants_precise(bare))
			r = err_set(e, EINVAL, "event '%s': no event is sampled precisely (:p); :u and :k are known", name);
		else if (strchr(bare, ':'))
			r = parse_tracepoint(bare, ev, e);
		else
			r = unknown_event(name, e);
	}
	ev->unit = ev->clock ? "ns" : "events";
	return r;
}

const char *pmu_event_generic(unsigned int i)
{
	return i < ARRAY_SIZE(generic) ? generic[i].name : NULL;
}

/* Return whether it opens on the calling thread. */
static bool event_works(const struct pmu_event *ev)
{
	struct perf_event_attr attr = ev->attr;
	int fd;

	attr.disabled = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

void pmu_event_default(struct pmu_event *ev)
{
	struct err e;

	pmu_event_parse("cycles", ev, &e);
	ev->attr.exclude_kernel = 1;	/* only whether the counter exists */
	if (!event_works(ev))
		pmu_event_parse("cpu-clock", ev, &e);
	ev->attr.exclude_kernel = 0;
}
