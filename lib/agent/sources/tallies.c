// SPDX-License-Identifier: MIT
/*
 * tallies.c - counters of HotSpot's collectors, and of ObjectMonitor::enter(), which JDK 24 and
 * later do not have.
 *
 * Source: share/gc/shared/collectorCounters.cpp; who counts what is in g1MonitoringSupport.cpp,
 * zServiceability.cpp and their like. Shenandoah's count phases, concurrent ones too.
 */
#include "agent/hotspot/vm.h"
#include "agent/ring.h"
#include "agent/sources/sources.h"

enum { NR_COLLECTORS = 3 };

static const char *const invocations[NR_COLLECTORS] = {
	"sun.gc.collector.0.invocations", "sun.gc.collector.1.invocations", "sun.gc.collector.2.invocations",
};
static const char *const times[NR_COLLECTORS] = {
	"sun.gc.collector.0.time", "sun.gc.collector.1.time", "sun.gc.collector.2.time",
};

static uint64_t ns_of(int64_t ticks)
{
	const int64_t *hz = vm_counter("sun.os.hrt.frequency");

	return !hz || *hz <= 0 || *hz == 1000000000 ? (uint64_t)ticks : (double)ticks * 1e9 / (double)*hz;
}

static const char *count_pauses(struct jvm_tally *r)
{
	const int64_t *n, *ticks;
	const char *why = "it keeps no performance data (-XX:-UsePerfData)";
	bool on;
	int i;

	if (vm_flag("UseShenandoahGC", &on) && on)
		return "Shenandoah counts phases, not pauses";
	for (i = 0; i < NR_COLLECTORS; i++) {
		n = vm_counter(invocations[i]);
		ticks = vm_counter(times[i]);
		if (!n || !ticks)
			continue;
		r->n += *n;
		r->ns += ns_of(*ticks);
		why = "";
	}
	return why;
}

static void tallies_tell_one(struct jvm_tally *r)
{
	r->time_ns = sys_now();
	r->why_len = str_len(r->why);
	send_tally(NULL, r);
}

void tallies_tell(void)
{
	struct jvm_tally pauses = { .kind = JVM_TALLY_PAUSES }, enters = { .kind = JVM_TALLY_ENTERS, .why = "" };
	const int64_t *n;

	if (ring_ctl()->tell & JVM_TELL_GC) {
		pauses.why = count_pauses(&pauses);
		tallies_tell_one(&pauses);
	}
	n = ring_ctl()->sources >> JVM_SOURCE_LOCK & 1 ? vm_counter("sun.rt._sync_ContendedLockAttempts") : NULL;
	if (n) {
		enters.n = *n;
		tallies_tell_one(&enters);
	}
}
