/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmap.h - the file /tmp/perf-PID.map, a line for each piece of code that a runtime has made: address and
 * size in hexadecimal digits, and the name, which may contain spaces.
 */
#ifndef SYM_PERFMAP_H
#define SYM_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap_code {
	uint64_t addr, size;	/* size is not 0 */
	const char *name;	/* in the line, not terminated */
	size_t name_len;	/* not 0 */
};

/* Parse a line of len bytes without its end; false: it says nothing of code. */
bool perfmap_line(struct perfmap_code *c, const char *line, size_t len);

#endif
