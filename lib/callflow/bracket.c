// SPDX-License-Identifier: MIT
/*
 * bracket.c - which calls are traced instruction by instruction: the recorder says how many, the
 * process counts.
 */
#include "callflow/process.h"

bool callflow_bracket_due(void)
{
	struct callflow_area *a = cf.area;
	uint64_t nr;

	if (load_relaxed(&a->bracket_closed))
		return false;
	nr = add_relaxed(&a->bracket_calls, 1);
	if (nr < a->bracket_skip || nr - a->bracket_skip >= a->bracket_times)
		return false;
	add_relaxed(&a->bracket_begun, 1);
	return true;
}

bool callflow_bracket_over(bool traced)
{
	struct callflow_area *a = cf.area;

	if (!traced)
		add_relaxed(&a->bracket_refused, 1);
	return add_relaxed(&a->bracket_ended, 1) + 1 == a->bracket_times;
}

void callflow_bracket_methods(uint32_t nr)
{
	add_relaxed(&cf.area->bracket_methods, nr);
}
