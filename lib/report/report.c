// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "flow/input.h"
#include "report/table.h"

int report_print(struct view *v, FILE *out, struct err *e)
{
	if (v->o->format == FORMAT_TREE) {
		output_tree(v->m, out);
		return 0;
	}
	switch (v->o->name) {
	case REPORT_XARC:
		return xarc_print(v, out);
	case REPORT_XTREE:
		return xtree_print(v, out);
	case REPORT_XPROF:
		return xprof_print(v, out);
	case REPORT_RT:
		return rt_print(v, out);
	case REPORT_TPROF:
		return tprof_print(v, out, e);
	case REPORT_THREADS:
	case REPORT_SCHED:
	case REPORT_ARC:
	case REPORT_GEN:
		break;		/* of the trace itself, not of a model: sched.h, arc.h, gen.c */
	}
	return err_set(e, EINVAL, "no such report");
}
