// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-fleet.c - what a database answers: names, threads, rows, with a line with a dot between any two. It is a
 * tree, or refused.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/answer.h"
#include "fleet/ask.h"
#include "fleet/push.h"
#include "flow/check.h"
#include "flow/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void parse_rows(const char *text)
{
	struct ask_answer a = { .rows = NULL };
	struct err e;
	size_t i;

	buf_str(&a.text, text);
	if (!ask_parse(&a, a.text.data, &e))
		for (i = 0; i < a.nr_rows; i++)
			if (strpbrk(a.rows[i].name, "\t\n") && !strchr(text, '\\'))
				abort();
	ask_release(&a);
}

/* Cut the text at the next line with a dot; return what follows. */
static char *cut(char *text)
{
	char *dot = strstr(text, ".\n");

	if (!dot)
		return text + strlen(text);
	*dot = '\0';
	return dot + 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf text = BUF_INIT, tree = BUF_INIT;
	struct flow_check c[FLOW_NR_CHECKS];
	struct answer a;
	struct segment s;
	struct model m;
	struct err e;

	buf_add(&text, data, len);
	buf_str(&text, "");
	segment_parse(text.data, &s);
	segments_count(&s, 1, text.data, &e);
	parse_rows(text.data);
	a.names = text.data;
	a.heads = cut(text.data);
	a.rows = cut((char *)a.heads);
	buf_str(&tree, "# nodes\n# metric cpu ns\n");
	if (!answer_tree(&a, &tree, &e)) {
		input_tree(&m, tree.data, tree.len, &e);
		if (flow_check(&m.flow, c))
			abort();
		model_release(&m);
	}
	buf_release(&text);
	buf_release(&tree);
	return 0;
}
