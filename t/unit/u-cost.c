// SPDX-License-Identifier: GPL-2.0-or-later
/* u-cost.c - what the recorder may take: how its limit is written, and what follows when it takes more. */
#include <errno.h>

#include "collect/control/condition.h"
#include "collect/parts/cost.h"
#include "unit.h"

#define S 1000000000ull

TEST(cost_halves_the_rate_and_doubles_it_again)
{
	/* within the limit, and not so far below it that twice the rate is within it for sure */
	CHECK_U64(cost_lowered(0, S / 100, S / 100), 0);
	CHECK_U64(cost_lowered(2, S / 100, S / 100), 2);
	CHECK_U64(cost_lowered(2, S / 250, S / 100), 2);
	CHECK_U64(cost_lowered(0, S / 100 + 1, S / 100), 1);
	CHECK_U64(cost_lowered(2, S, S / 100), 3);
	CHECK_U64(cost_lowered(COST_MOST_LOWERED, S, S / 100), COST_MOST_LOWERED);
	CHECK_U64(cost_lowered(2, S / 400, S / 100), 1);
	CHECK_U64(cost_lowered(1, 0, S / 100), 0);
	CHECK_U64(cost_lowered(0, 0, S / 100), 0);
}

TEST(cost_drops_more_the_nearer_its_memory_is_to_the_limit)
{
	const uint64_t limit = 80 << 20;

	CHECK_U64(cost_to_drop(0, limit), COST_DROP_NOTHING);
	CHECK_U64(cost_to_drop(50 << 20, limit), COST_DROP_NOTHING);
	CHECK_U64(cost_to_drop((50 << 20) + 1, limit), COST_DROP_TABLES);
	CHECK_U64(cost_to_drop(70 << 20, limit), COST_DROP_TABLES);
	CHECK_U64(cost_to_drop((70 << 20) + 1, limit), COST_DROP_ALL);
	CHECK_U64(cost_to_drop(UINT64_MAX, limit), COST_DROP_ALL);
}

TEST(cost_limits_are_shares_of_a_cpu)
{
	struct err e = { 0 };
	struct condition w;

	CHECK(!condition_parse_cpu("1%", 60 * S, &w, &e));
	CHECK_U64(w.limit, S / 100);
	CHECK_U64(w.span_ns, 60 * S);
	CHECK(!condition_parse_cpu("0.5%:10s", 60 * S, &w, &e));
	CHECK_U64(w.limit, S / 200);
	CHECK_U64(w.span_ns, 10 * S);
	CHECK(condition_parse_cpu("1", 60 * S, &w, &e) == -EINVAL);
	CHECK(condition_parse_cpu("0%", 60 * S, &w, &e) == -EINVAL);
	CHECK(condition_parse_cpu("1%:500ms", 60 * S, &w, &e) == -EINVAL);
	CHECK(condition_parse_cpu("", 60 * S, &w, &e) == -EINVAL);
}
