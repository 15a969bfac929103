// SPDX-License-Identifier: GPL-2.0-or-later
/* idle.c - reads what CPUs did from /proc/stat (idle.h). */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/idle.h"

#define PROC_STAT "/proc/stat"

/* Columns of a line of /proc/stat; old kernels lack the last ones. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NR_COLUMNS };

uint64_t idle_tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return 1000000000 / (hz > 0 ? hz : 100);
}

void idle_release(struct idle_stat *s)
{
	free(s->cpus);
	memset(s, 0, sizeof(*s));
}

/* "cpuN user nice ..."; false: the line is something else. */
static bool parse_cpuidle_line(const char *line, struct idle_cpu *c)
{
	uint64_t v[NR_COLUMNS] = { 0 };
	char *end;
	int i;

	if (strncmp(line, "cpu", 3) || !isdigit((unsigned char)line[3]))
		return false;
	c->cpu = strtoul(line + 3, &end, 10);
	for (i = 0; i < NR_COLUMNS && *end == ' '; i++)
		v[i] = strtoull(end, &end, 10);
	if (i <= IDLE)
		return false;
	c->idle = v[IDLE] + v[IOWAIT];
	c->busy = v[USER] + v[NICE] + v[SYSTEM] + v[STEAL];
	c->intr = v[IRQ] + v[SOFTIRQ];
	c->steal = v[STEAL];
	return true;
}

int idle_parse(const char *text, struct idle_stat *s, struct err *e)
{
	const char *line = text;
	struct idle_cpu c;

	s->nr_cpus = 0;
	while (line && *line) {
		if (parse_cpuidle_line(line, &c))
			*VEC_ADD(s->cpus, s->nr_cpus, s->alloc_cpus) = c;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!s->nr_cpus)
		return err_set(e, ENODATA, PROC_STAT ": has no line of a CPU");
	return 0;
}

int idle_read(struct idle_stat *s, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = io_read_file(PROC_STAT, &b, 64 << 20, e);

	s->time_ns = clock_mono_ns();
	if (!r)
		r = idle_parse(b.data ? b.data : "", s, e);
	buf_release(&b);
	return r;
}

const struct idle_cpu *idle_find(const struct idle_stat *s, uint32_t cpu)
{
	size_t i;

	/* Most machines have no hole in the numbers. */
	if (cpu < s->nr_cpus && s->cpus[cpu].cpu == cpu)
		return &s->cpus[cpu];
	for (i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].cpu == cpu)
			return &s->cpus[i];
	return NULL;
}

static uint64_t idle_since(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

void idle_diff(const struct idle_stat *before, const struct idle_stat *after, struct idle_stat *diff)
{
	size_t i;

	diff->nr_cpus = 0;
	diff->time_ns = idle_since(before->time_ns, after->time_ns);
	for (i = 0; i < after->nr_cpus; i++) {
		const struct idle_cpu *a = &after->cpus[i], *b = idle_find(before, a->cpu);

		if (!b)
			continue;
		*VEC_ADD(diff->cpus, diff->nr_cpus, diff->alloc_cpus) = (struct idle_cpu){
			.cpu = a->cpu,
			.idle = idle_since(b->idle, a->idle),
			.busy = idle_since(b->busy, a->busy),
			.intr = idle_since(b->intr, a->intr),
			.steal = idle_since(b->steal, a->steal),
		};
	}
}

struct idle_share idle_share(const struct idle_cpu *d)
{
	uint64_t all = d->idle + d->busy + d->intr;
	struct idle_share s = { 0 };

	if (!all)
		return s;
	s.idle = 100.0 * d->idle / all;
	s.busy = 100.0 * d->busy / all;
	s.intr = 100.0 * d->intr / all;
	s.known = true;
	return s;
}

struct idle_share idle_mean(const struct idle_stat *diff)
{
	struct idle_share sum = { 0 };
	size_t i, nr = 0;

	for (i = 0; i < diff->nr_cpus; i++) {
		struct idle_share s = idle_share(&diff->cpus[i]);

		if (!s.known)
			continue;
		sum.idle += s.idle;
		sum.busy += s.busy;
		sum.intr += s.intr;
		nr++;
	}
	if (!nr)
		return sum;
	sum.idle /= nr;
	sum.busy /= nr;
	sum.intr /= nr;
	sum.known = true;
	return sum;
}
