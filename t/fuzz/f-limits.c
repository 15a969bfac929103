// SPDX-License-Identifier: GPL-2.0-or-later
/* f-limits.c - files of limits: what is read has words and a unit, and every verdict on it is one. */
#include <stdlib.h>
#include <string.h>

#include "flow/input.h"
#include "report/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char tree[] = "# n calls\n# metric cpu ns\n# metric alloc bytes\na\t1\t5\t7\na;b\t2\t6\t8\na;b;a\t3\t1\t1\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct limits l;
	struct model m;
	struct judge j;
	struct err e;
	size_t i;

	if (!limits_parse(&l, (const char *)data, len, &e)) {
		if (input_tree(&m, tree, strlen(tree), &e))
			abort();
		judge_init(&j, &m);
		for (i = 0; i < l.nr; i++) {
			struct verdict v = judge_limit(&j, &l.list[i]);

			if (v.state >= VERDICT_NR || (v.state == VERDICT_ERROR) != !!v.error[0] ||
			    !*l.list[i].text || !l.list[i].unit)
				abort();
		}
		judge_release(&j);
		model_release(&m);
	}
	limits_release(&l);
	return 0;
}
