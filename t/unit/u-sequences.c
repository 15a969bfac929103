// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sequences.h"
#include "unit.h"

static uint64_t cost(const struct sequences *s, unsigned int metric, int kind_before, uint32_t before,
		     int kind, uint32_t now)
{
	return sequences_cost(s, metric, (struct sequence_step){ kind_before, before },
			      (struct sequence_step){ kind, now }, 100);
}

TEST(sequences_cost_what_their_kinds_say_and_never_more_than_was_measured)
{
	const struct sequences s = {
		.kinds = {
			{ .has = { true }, .of[0][0].sequences = { { 1400, 1500 }, { 20000, 30499 } } },
			{ .jvm = 7, .has = { true }, .of[0][0].sequences = { [2] = { 0, 0, 90000 } },
			  .of[CALIBRATION_C2][0].sequences = { { 0, 30000 } },
			  .of[CALIBRATION_INTERPRETED][0].sequences = { { 0, 70000 } } },
		},
		.nr_kinds = 2, .any = true,
	};
	const struct sequence_step left = { 0, CALL_LEFT };
	const struct sequence_step interpreted = { 1, CALL_ENTERED, CALIBRATION_INTERPRETED };
	const struct sequence_step compiled = { 1, CALL_ENTERED, CALIBRATION_C2 };
	const struct sequence_step leave_interpreted = { 1, CALL_LEFT, CALIBRATION_INTERPRETED };

	CHECK_U64(cost(&s, 0, 0, CALL_ENTERED, 0, CALL_ENTERED), 1);
	CHECK_U64(cost(&s, 0, 0, CALL_ENTERED, 0, CALL_LEFT), 2);
	CHECK_U64(cost(&s, 0, 0, CALL_LEFT, 0, CALL_ENTERED), 20);
	CHECK_U64(cost(&s, 0, 0, CALL_LEFT, 0, CALL_LEFT), 30);
	CHECK_U64(sequences_cost(&s, 0, left, left, 29), 29);
	CHECK_U64(cost(&s, 0, 1, CALL_LEFT_THROWING, 1, CALL_LEFT_THROWING), 90);
	/* of tiers, and of two, of which it is not known what of the cost was before each event */
	CHECK_U64(sequences_cost(&s, 0, interpreted, leave_interpreted, 100), 70);
	CHECK_U64(sequences_cost(&s, 0, compiled, leave_interpreted, 100), 30);
	/* of two kinds, of none, of other events, and of a metric without costs */
	CHECK_U64(cost(&s, 0, 0, CALL_LEFT, 1, CALL_LEFT), 0);
	CHECK_U64(cost(&s, 0, SEQUENCES_NONE, CALL_LEFT, SEQUENCES_NONE, CALL_LEFT), 0);
	CHECK_U64(cost(&s, 0, 0, CALL_OPEN, 0, CALL_ENTERED), 0);
	CHECK_U64(cost(&s, 0, 0, CALL_LEFT, 0, CALL_UNWOUND), 0);
	CHECK_U64(cost(&s, 1, 0, CALL_LEFT, 0, CALL_LEFT), 0);
}
