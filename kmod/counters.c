// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - the metrics: the CPU's clock, and events of perf pinned to each CPU.
 *
 * What does not fit into the hardware is refused when the session starts, never multiplexed: a
 * scaled estimate is not a metric of a thread.
 */
#include <linux/perf_event.h>
#include <linux/slab.h>
#include "module.h"

/*
 * Return whether the metric can be read in a hook. What counts by hooks of its own is refused before it
 * attaches them (a tracepoint may be that of all functions, which takes seconds).
 */
static bool metric_is_counter(const struct arcprof_metric *what)
{
	return what->type != PERF_TYPE_TRACEPOINT && what->type != PERF_TYPE_BREAKPOINT;
}

/*
 * Return whether the event counts only the CPU: a PMU without a context of tasks (uncore, energy) counts
 * more.
 */
static bool counts_the_cpu(const struct perf_event *event)
{
	return event->pmu->task_ctx_nr >= 0;
}

static int open_one(struct counters *c, u32 metric, int cpu, const struct arcprof_metric *what)
{
	struct perf_event_attr attr = {
		.type = what->type,
		.config = what->config,
		.size = sizeof(attr),
		.pinned = 1,
	};
	struct perf_event *event;

	if (!metric_is_counter(what))
		return -ENODEV;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return -ENODEV;
	c->event[metric * nr_cpu_ids + cpu] = event;
	return counts_the_cpu(event) && event->state == PERF_EVENT_STATE_ACTIVE ? 0 : -ENODEV;
}

int counters_open(struct counters *c, const struct arcprof_metric *metric, u32 nr)
{
	u32 i;
	int cpu, r = 0;

	c->nr = nr;
	c->event = kcalloc((size_t)nr * nr_cpu_ids, sizeof(*c->event), GFP_KERNEL);
	if (!c->event)
		return -ENOMEM;
	for (i = 1; i < nr && !r; i++)
		for_each_online_cpu(cpu) {
			r = open_one(c, i, cpu, &metric[i]);
			if (r)
				break;
		}
	return r;
}

void counters_close(struct counters *c)
{
	size_t i;

	if (!c->event)
		return;
	for (i = 0; i < (size_t)c->nr * nr_cpu_ids; i++)
		if (c->event[i])
			perf_event_release_kernel(c->event[i]);
	kfree(c->event);
	c->event = NULL;
}

void counters_read_hook(const struct counters *c, u64 *value)
{
	int cpu = raw_smp_processor_id();
	u32 i;

	value[0] = cpu_cycles();
	for (i = 1; i < c->nr; i++) {
		struct perf_event *event = c->event[i * nr_cpu_ids + cpu];

		value[i] = 0;
		if (event) {
			event->pmu->read(event);
			value[i] = local64_read(&event->count);
		}
	}
}
