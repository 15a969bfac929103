// SPDX-License-Identifier: GPL-2.0-or-later
/* f-tree.c - trees as text: what is read obeys the invariants, and written out it reads the same. */
#include <stdlib.h>
#include <string.h>

#include "flow/check.h"
#include "flow/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char *write_out(const struct model *m, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	output_tree(m, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct flow_check c[FLOW_NR_CHECKS];
	char *once, *twice;
	size_t len_once, len_twice;
	struct model m, again;
	struct err e;
	int bad = input_tree(&m, (const char *)data, len, &e);

	if (flow_check(&m.flow, c))
		abort();
	if (!bad && !memchr(data, '\0', len)) {
		once = write_out(&m, &len_once);
		if (input_tree(&again, once, len_once, &e))
			abort();
		twice = write_out(&again, &len_twice);
		if (len_once != len_twice || memcmp(once, twice, len_once) != 0)
			abort();
		free(once);
		free(twice);
		model_release(&again);
	}
	model_release(&m);
	return 0;
}
