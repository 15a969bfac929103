// SPDX-License-Identifier: GPL-2.0-or-later
/* steady.c - finds code that cannot change while a process runs (steady.h). */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "itrace/trail.h"

static void steady_add(struct steady *s, int pid, uint64_t start, uint64_t end)
{
	size_t i;

	for (i = 0; i < s->nr_ranges && s->ranges[i].pid; i++)
		;
	if (i == s->nr_ranges) {
		VEC_GROW(s->ranges, s->nr_ranges, s->alloc_ranges);
		s->nr_ranges++;
	}
	s->ranges[i] = (struct steady_range){ pid, start, end };
}

/* Return whether it is private, executable, never written, and of a file or the kernel's own. */
static bool is_steady(const char *perms, uint64_t inode, const char *rest)
{
	return !strcmp(perms, "r-xp") && (inode || !strncmp(rest, "[vdso]", 6));
}

void steady_maps(struct steady *s, int pid, const char *text)
{
	const char *line;

	steady_forget(s, pid);
	for (line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		uint64_t start, end, inode;
		char perms[5];
		int at = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64 " %n", &start, &end, perms,
			   &inode, &at) == 4 &&
		    at && is_steady(perms, inode, line + at))
			steady_add(s, pid, start, end);
	}
}

void steady_forget(struct steady *s, int pid)
{
	size_t i;

	for (i = 0; i < s->nr_ranges; i++)
		if (s->ranges[i].pid == pid)
			s->ranges[i].pid = 0;
}

static uint64_t bytes_in(const struct steady_range *r, int pid, uint64_t addr)
{
	return r->pid == pid && addr >= r->start && addr < r->end ? r->end - addr : 0;
}

uint64_t steady_bytes(struct steady *s, int pid, uint64_t addr)
{
	size_t i;

	if (s->last < s->nr_ranges && bytes_in(&s->ranges[s->last], pid, addr))
		return bytes_in(&s->ranges[s->last], pid, addr);
	for (i = 0; i < s->nr_ranges; i++)
		if (bytes_in(&s->ranges[i], pid, addr)) {
			s->last = i;
			return bytes_in(&s->ranges[i], pid, addr);
		}
	return 0;
}
