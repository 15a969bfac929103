// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * patience.c - how long the end of a recording may wait for others: agents, programs, names. A user who sends
 * a signal wants the end within a second or two, and one who sends a second signal wants it at once.
 */
#include <signal.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"

bool collect_signal_waits(void)
{
	sigset_t set;

	sigemptyset(&set);
	return !sigpending(&set) && (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
				     sigismember(&set, SIGHUP) == 1);
}

bool collect_hurries(const struct collect *c)
{
	return c->give_up_ns && (clock_mono_ns() >= c->give_up_ns || collect_signal_waits());
}

uint64_t collect_patience_ns(const struct collect *c, uint64_t usual_ns)
{
	uint64_t now = clock_mono_ns();

	if (!c->give_up_ns)
		return usual_ns;
	return collect_hurries(c) ? 0 : MIN(usual_ns, c->give_up_ns - now);
}
