// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probes.c - attaches to tracepoints by name.
 *
 * The kernel exports no tracepoint of the scheduler or of interrupts, but it exports the walk
 * over all of them.  That the hooks have the right types is checked where they are defined, by
 * check_trace_callback_type_*().
 */
#include <linux/string.h>
#include "module.h"

static void match(struct tracepoint *tp, void *priv)
{
	struct probe *p;

	for (p = priv; p->name; p++)
		if (!strcmp(p->name, tp->name))
			p->tp = tp;
}

int probes_attach(struct probe *probes, void *data)
{
	struct probe *p;
	int r;

	for_each_kernel_tracepoint(match, probes);
	for (p = probes; p->name; p++) {
		if (!p->tp && p->optional)
			continue;
		r = p->tp ? tracepoint_probe_register(p->tp, p->fn, data) : -ENOENT;
		if (r) {
			pr_err("arcprof: tracepoint %s: error %d\n", p->name, r);
			probes_detach(probes, data);
			return r;
		}
		p->on = true;
	}
	return 0;
}

void probes_detach(struct probe *probes, void *data)
{
	bool any = false;
	struct probe *p;

	for (p = probes; p->name; p++)
		if (p->on) {
			tracepoint_probe_unregister(p->tp, p->fn, data);
			p->on = false;
			any = true;
		}
	if (any)
		tracepoint_synchronize_unregister();
}
