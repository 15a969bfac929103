// SPDX-License-Identifier: GPL-2.0-or-later
/* u-modules.c - files that are mapped: known once, and forgotten when nobody has them mapped any more. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/engine/modules.h"
#include "traces.h"
#include "unit.h"

struct mapped {
	struct trace_writer *w;
	struct modules modules;
	char path[512];
	struct module_id id;		/* of this program's code */
	uint64_t off;			/* in the file, of a function in it */
};

static bool take_line(struct mapped *m, const char *line)
{
	uint64_t here = (uintptr_t)take_line, off;
	unsigned int major, minor;
	char perms[8];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %511s", &m->id.start,
		   &m->id.end, perms, &off, &major, &minor, &m->id.inode, m->path) != 8 ||
	    here < m->id.start || here >= m->id.end)
		return false;
	m->id.dev = makedev(major, minor);
	m->id.path = m->path;
	m->id.pid = getpid();
	m->off = here - m->id.start + off;
	return true;
}

static void begin(struct mapped *m)
{
	const struct trace_writer_opts o = { .compress = true };
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[1024];

	memset(m, 0, sizeof(*m));
	CHECK(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = take_line(m, line);
	fclose(maps);
	CHECK(found);
	m->w = traces_create(&o);
	modules_init(&m->modules, m->w, false);
}

static void end(struct mapped *m)
{
	struct buf b;

	modules_release(&m->modules);
	b = traces_close(m->w);
	buf_release(&b);
}

static size_t nr_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t nr = 0;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

TEST(modules_are_closed_when_nobody_has_them_mapped_and_get_another_number_later)
{
	struct mapped m;
	uint32_t last = 0, number, kernel;
	size_t files, i;

	begin(&m);
	kernel = m.modules.kernel;
	files = nr_files();
	for (i = 0; i < 50; i++) {
		number = modules_get(&m.modules, &m.id, m.w);
		CHECK(number > last);
		CHECK_U64(modules_get(&m.modules, &m.id, m.w), number);
		CHECK(modules_unwind(&m.modules, number));
		CHECK_U64(nr_files(), files + 1);
		modules_forget(&m.modules, 0, m.w);
		CHECK(modules_at(&m.modules, number));		/* it is not that long ago */
		modules_use(&m.modules, number, clock_mono_ns() + 1000000000);
		modules_forget(&m.modules, clock_mono_ns() + 500000000, m.w);
		CHECK(modules_at(&m.modules, number));
		modules_forget(&m.modules, clock_mono_ns() + 2000000000, m.w);
		CHECK(!modules_at(&m.modules, number));
		CHECK(!modules_file(&m.modules, number));
		CHECK(modules_at(&m.modules, kernel));
		CHECK_U64(nr_files(), files);
		CHECK_U64(m.modules.nr_items, 1);
		last = number;
	}
	end(&m);
}

TEST(modules_tables_that_were_dropped_are_made_again)
{
	struct symbol before, after;
	struct mapped m;
	uint32_t number;
	char name[256];

	begin(&m);
	number = modules_get(&m.modules, &m.id, m.w);
	CHECK(symfile_symbol(modules_file(&m.modules, number), m.off, &before));
	snprintf(name, sizeof(name), "%s", before.name);
	CHECK(!strcmp(name, "take_line"));
	CHECK(symfile_table_bytes(modules_file(&m.modules, number)) > 1000);
	CHECK(modules_unwind(&m.modules, number));
	modules_trim(&m.modules, 1 << 30);
	CHECK(symfile_table_bytes(modules_file(&m.modules, number)) > 1000);
	modules_trim(&m.modules, 0);
	CHECK_U64(symfile_table_bytes(modules_file(&m.modules, number)), 0);
	CHECK(!modules_at(&m.modules, number)->unwind);
	CHECK(symfile_symbol(modules_file(&m.modules, number), m.off, &after));
	CHECK(!strcmp(name, after.name));
	CHECK_U64(after.off, before.off);
	CHECK(modules_unwind(&m.modules, number));
	end(&m);
}
