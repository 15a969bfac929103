// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - parses functions as valgrind writes them (read.h). */
#include <ctype.h>
#include <string.h>

#include "formats/valgrind/read.h"

/* "tree.c:12" or "in /usr/lib/libc.so.6" */
static void read_place(struct import_text t, struct import_function *fn, uint64_t *line)
{
	size_t at = t.len;
	uint64_t v = 0;

	if (t.len > 3 && !memcmp(t.s, "in ", 3)) {
		fn->module = (struct import_text){ t.s + 3, t.len - 3 };
		return;
	}
	while (at && isdigit((unsigned char)t.s[at - 1]))
		at--;
	fn->file = t;
	if (!at || at == t.len || t.s[at - 1] != ':' || t.len - at > 9)
		return;
	fn->file.len = at - 1;
	for (; at < t.len; at++)
		v = v * 10 + (t.s[at] - '0');
	*line = v;
}

struct frame valgrind_frame(struct import *im, struct import_text t)
{
	struct import_function fn = { FUNCTION_NATIVE, .module = { "", 0 }, .file = { "", 0 } };
	const char *colon = memchr(t.s, ':', t.len), *open, *end = t.s + t.len;
	uint64_t line = 0;

	if (t.len > 2 && !memcmp(t.s, "0x", 2) && colon && end - colon > 2)
		t = (struct import_text){ colon + 2, end - colon - 2 };
	for (open = end; open > t.s && open[-1] != '('; open--)
		;
	if (t.len > 2 && end[-1] == ')' && open - t.s > 2 && open[-2] == ' ') {
		read_place((struct import_text){ open, end - 1 - open }, &fn, &line);
		t.len = open - 2 - t.s;
	}
	fn.name = t;
	if (!t.len || (t.len == 3 && !memcmp(t.s, "???", 3))) {
		fn.kind = FUNCTION_UNRESOLVED;
		fn.name = (struct import_text){ "[unknown]", 9 };
	} else if (frame_mark_is_text(t.s, t.len)) {
		fn.kind = FUNCTION_MARK;
	}
	return (struct frame){ FRAME_NAMED, .function = import_function(im, &fn), .line = line };
}
