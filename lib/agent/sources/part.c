// SPDX-License-Identifier: MIT
/*
 * part.c - what sources ask about themselves: apart from their table, so that they do not need each other.
 */
#include "agent/ring.h"
#include "agent/sources/part.h"

bool part_is_wanted(enum jvm_source source, uint64_t *interval)
{
	const struct jvm_ctl *ctl = ring_ctl();

	*interval = ctl->intervals[source];
	return ctl->sources >> source & 1;
}

bool part_stays(void)
{
	return true;
}
