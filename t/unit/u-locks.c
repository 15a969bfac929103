// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/lockstat.h"
#include "unit.h"

TEST(locks_a_length_is_known_within_6_percent)
{
	uint64_t ns, next;

	for (ns = 0; ns < 8; ns++)
		CHECK_U64(lockstat_ns(lockstat_bucket(ns)), ns);
	for (ns = 8; ns < 1ull << 50; ns += ns / 5 + 1) {
		uint64_t got = lockstat_ns(lockstat_bucket(ns));

		CHECK(lockstat_bucket(ns) < LOCKSTAT_BUCKETS);
		CHECK(got * 100 <= ns * 107 && got * 107 >= ns * 100);
	}
	for (next = 1; next < 100000; next++)
		CHECK(lockstat_bucket(next) >= lockstat_bucket(next - 1));
	CHECK_U64(lockstat_ns(LOCKSTAT_BUCKETS), 0);
	CHECK_U64(lockstat_ns(UINT32_MAX), 0);
}
