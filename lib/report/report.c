// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - the list of reports, and printing one of them. */
#include "flow/input.h"
#include "report/report.h"

#define ROW(name) &report_##name,
const struct report *const reports[] = { REPORT_LIST(ROW) NULL };
#undef ROW

int report_print(struct view *v, FILE *out, struct err *e)
{
	if (v->o->format == FORMAT_TREE) {
		output_tree(v->m, out);
		return 0;
	}
	return v->o->report->print(v, out, e);
}
