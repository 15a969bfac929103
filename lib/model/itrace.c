// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/arcflow.h"
#include "model/itrace.h"
#include "model/profile.h"

int itrace_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct window *w,
		const struct profile_opts *o, struct err *e)
{
	struct branches b;
	struct arcflow a;
	int r;

	x->o.hide_inlined = true;		/* what was called, not what was written */
	branches_init(&b, x, w);
	arcflow_init(&a, x, o->collapse_plt, o->blocks);
	r = branches_read(&b, t, arcflow_block, &a, e);
	arcflow_finish(&a);
	if (!x->o.by_kind)
		names_settle_kinds(x);
	origin_fill(origin, x, 0, b.last_ns);
	arcflow_release(&a);
	branches_release(&b);
	return r;
}
