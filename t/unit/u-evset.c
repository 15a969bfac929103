// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>

#include "collect/engine/evset.h"
#include "pmu/probe.h"
#include "unit.h"

/* As when the kernel has lowered its limit since the rate was chosen; it refuses clocks as well. */
TEST(evset_opens_an_event_as_often_as_the_kernel_allows_by_now)
{
	struct ev_rate rate = { .freq_hz = 100000000 };
	struct pmu_event ev;
	struct evconf conf = { .events = &ev, .nr_events = 1, .rates = &rate, .callgraph = CALLGRAPH_NO,
			       .ring_samples = 1, .ring_bytes = 64 * 1024, .exclude_kernel = true };
	struct cpus cpus = { 0 };
	struct err e = { 0 };
	struct perf_limits l;
	struct evsets s;
	uint32_t set;

	perf_limits_read(&l);
	if (l.max_rate <= 0 || (uint64_t)l.max_rate >= rate.freq_hz)
		unit_skip("the kernel has no limit below that");
	cpus_online(&cpus);
	CHECK(!pmu_event_parse("cpu-clock", &ev, &e));
	if (evsets_open(&s, &conf, &cpus, &cpus, getpid(), &e))
		unit_skip(e.msg);
	set = evset_new(&s, EVSET_MAIN);
	CHECK(!evset_add(&s, set, getpid(), false, &e));
	CHECK_U64(s.sets[set - 1].nr_fds, cpus.nr_cpu);
	evsets_close(&s);
	cpus_release(&cpus);
}
