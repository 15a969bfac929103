// SPDX-License-Identifier: GPL-2.0-or-later
/* f-script.c - scripts of commands: repetitions end, and no command is empty. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/control/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int parse(int nr_words, char *const *words, struct buf *command, struct err *e)
{
	int i;

	for (i = 0; i < nr_words; i++)
		buf_fmt(command, "%s ", words[i]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xcalloc(len + 1, 1);
	struct script s = { 0 };
	struct err e = { 0 };
	size_t i, depth = 0;

	memcpy(text, data, len);
	if (!script_parse(&s, "script", text, parse, &e)) {
		for (i = 0; i < s.nr_steps; i++) {
			depth += s.steps[i].what == STEP_REPEAT;
			if (s.steps[i].what == STEP_END && (!depth-- || s.steps[i].begin > i))
				abort();
			if (s.steps[i].what == STEP_COMMAND && !*s.steps[i].command)
				abort();
		}
		if (depth)
			abort();
	}
	script_release(&s);
	free(text);
	return 0;
}
