// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "model/arcflow.h"
#include "model/itrace.h"

/* Functions that ran as several kinds of code become one; all of them count the same. */
static void settle_kinds(struct names *x)
{
	uint64_t *weight = xcalloc(x->nr_levels + 1, sizeof(*weight));

	names_settle_kinds(x, weight);
	free(weight);
}

static void fill_source(const struct names *x, const struct branches *b, struct model_source *src)
{
	uint64_t end = names_label_u64(x, "end.mono_ns");

	memset(src, 0, sizeof(*src));
	src->is_trace = true;
	src->command = names_label(x, "command");
	src->host = names_label(x, "host");
	src->machine = names_label(x, "arch");
	src->start_ns = names_label_u64(x, "start.realtime_ns");
	if (!end)
		end = b->last_ns;
	src->duration_ns = end > b->start_ns ? end - b->start_ns : 0;
	src->lost = x->lost;
	src->nr_local_modules = x->nr_local_modules;
	src->modules = x->modules;
	src->nr_modules = x->nr_modules;
}

int itrace_model(struct names *x, struct model_source *src, struct trace_reader *t,
		 const struct itrace_model_opts *o, struct err *e)
{
	struct branches b;
	struct arcflow a;
	int r;

	x->o.no_inline = true;		/* what was called, not what was written */
	branches_init(&b, x, &o->branches);
	arcflow_init(&a, x, o->fold_plt);
	r = branches_read(&b, t, arcflow_block, &a, e);
	arcflow_finish(&a);
	if (!x->o.by_kind)
		settle_kinds(x);
	fill_source(x, &b, src);
	arcflow_release(&a);
	branches_release(&b);
	return r;
}
