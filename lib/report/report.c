// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - the list of reports, and printing one of them. */
#include "report/report.h"

#define ROW(name) &report_##name,
const struct report *const reports[] = { REPORT_LIST(ROW) NULL };
#undef ROW

int report_print(struct view *v, FILE *out, struct err *e)
{
	if (format_is_of_tree(v->o->format))
		return format_get(v->o->format)->print_tree(v, out, e);
	return v->o->report->print(v, out, e);
}
