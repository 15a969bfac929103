// SPDX-License-Identifier: MIT
/*
 * notify.c - calls of notify() and notifyAll() as samples, with the caller's stack, the class of the monitor,
 * and how many threads the call woke. The probes of counted locks report them (exact.c).
 */
#include "agent/locks/exact.h"
#include "agent/ring.h"
#include "agent/sources/part.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"

static uint32_t on;
static uint64_t mean_distance;		/* one of so many calls is a sample; 0: each is */

void notify_called(uint32_t leaf, uint32_t nr_woken)
{
	const uint64_t interval = load_relaxed(&mean_distance);
	uint32_t doubled;

	if (load_relaxed(&on) && rate_chooses(1, 0, (double)interval) &&
	    rate_takes(JVM_SOURCE_NOTIFY, 1, interval, &doubled))
		sources_sample(JVM_SOURCE_NOTIFY, 1, leaf, jvm_woken_put(nr_woken, doubled));
}

static const char *notify_on(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (!ring_ctl()->lock_filter[0])
		return "calls are known of the locks that record --lock-exact counts";
	store_relaxed(&mean_distance, interval);
	store_relaxed(&on, 1);
	return NULL;
}

static bool notify_off(JNIEnv *env)
{
	store_relaxed(&on, 0);
	return true;
}

const struct part notify_part = { .source = JVM_SOURCE_NOTIFY, .on = notify_on, .off = notify_off };
