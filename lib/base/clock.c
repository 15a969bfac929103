// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "base/clock.h"

_Thread_local uint64_t clock_replayed_ns;

void clock_sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}
