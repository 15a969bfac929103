// SPDX-License-Identifier: GPL-2.0-or-later
/* f-fleet.c - what a database answers: names, a line with a dot, rows. It is a tree, or refused. */
#include <stdlib.h>
#include <string.h>

#include "fleet/answer.h"
#include "fleet/push.h"
#include "flow/check.h"
#include "flow/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf text = BUF_INIT, tree = BUF_INIT;
	struct flow_check c[FLOW_NR_CHECKS];
	struct segment s;
	struct model m;
	struct err e;
	char *rows;

	buf_add(&text, data, len);
	buf_str(&text, "");
	segment_parse(text.data, &s);
	rows = strstr(text.data, ".\n");
	if (rows) {
		*rows = '\0';
		rows += 2;
	}
	buf_str(&tree, "# nodes\n# metric cpu ns\n");
	if (!answer_tree(text.data, rows ? rows : "", &tree, &e)) {
		input_tree(&m, tree.data, tree.len, &e);
		if (flow_check(&m.flow, c))
			abort();
		model_release(&m);
	}
	buf_release(&text);
	buf_release(&tree);
	return 0;
}
