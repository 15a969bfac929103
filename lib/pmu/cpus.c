// SPDX-License-Identifier: GPL-2.0-or-later
/* cpus.c - parses lists of CPUs (cpus.h). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "pmu/cpus.h"

void cpus_release(struct cpus *c)
{
	free(c->cpu);
	memset(c, 0, sizeof(*c));
}

static void add_one(struct cpus *c, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < c->nr_cpu; i++)
		if (c->cpu[i] == cpu)
			return;
	*VEC_ADD(c->cpu, c->nr_cpu, c->alloc_cpu) = cpu;
}

int cpus_add(struct cpus *c, const char *text, struct err *e)
{
	const char *p = text;
	unsigned long lo, hi;
	char *end = NULL;

	lo = hi = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;
	if (end && *end == '-') {
		p = end + 1;
		end = NULL;
		hi = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;
	}
	if (!end || *end || hi < lo || hi > CPUS_MAX)
		return err_set(e, EINVAL, "'%s' is not a CPU or a range of CPUs", text);
	for (; lo <= hi; lo++)
		add_one(c, lo);
	return 0;
}

/* Add the CPUs of the lines "cpu0 ...", "cpu1 ..." of /proc/stat. */
static void add_stat_lines(struct cpus *c, const char *p)
{
	for (; p; p = strchr(p, '\n'), p += !!p)
		if (!strncmp(p, "cpu", 3) && isdigit((unsigned char)p[3]))
			add_one(c, strtoul(p + 3, NULL, 10));
}

void cpus_online(struct cpus *c)
{
	struct buf b = BUF_INIT;
	char *item, *save = NULL;
	long nr, cpu;
	struct err e;

	c->nr_cpu = 0;
	if (!io_slurp("/sys/devices/system/cpu/online", &b) && b.len)
		for (item = strtok_r(b.data, ",\n", &save); item; item = strtok_r(NULL, ",\n", &save))
			if (cpus_add(c, item, &e))
				break;
	buf_reset(&b);
	if (!c->nr_cpu && !io_slurp("/proc/stat", &b))	/* no sysfs in a bare chroot or container */
		add_stat_lines(c, b.data);
	nr = c->nr_cpu ? 0 : MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
	for (cpu = 0; cpu < nr; cpu++)
		add_one(c, cpu);
	buf_release(&b);
}

static int by_cpu_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return COMPARE(x, y);
}

int cpus_in_dir(struct cpus *c, const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	struct err ignored;

	c->nr_cpu = 0;
	if (!d)
		return err_errno(e, "%s", dir);
	while ((de = readdir(d)))
		if (isdigit((unsigned char)de->d_name[0]) && !strchr(de->d_name, '-'))
			cpus_add(c, de->d_name, &ignored);
	closedir(d);
	if (!c->nr_cpu)
		return err_set(e, ENOENT, "%s: has no CPU in it", dir);
	qsort(c->cpu, c->nr_cpu, sizeof(*c->cpu), by_cpu_number);
	return 0;
}
