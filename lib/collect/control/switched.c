// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * switched.c - answers whether something is, or was, recorded: samples are kept or dropped by it. switches.c
 * turns it on and off.
 */
#include "base/clock.h"
#include "collect/control/switches.h"
#include "collect/engine/recording.h"

bool switches_want(const struct collect *c, const struct switched *s)
{
	/* of samples, which have pauses and windows themselves */
	if (s == &c->switches.tells[__builtin_ctz(JVM_TELL_LABEL)])
		return s->fixed || s->set;
	return s->fixed || (s->set && !c->paused && !c->switches.shut);
}

static bool was_on(const struct switched *s, uint64_t time_ns)
{
	bool on = s->on;
	size_t i;

	for (i = s->nr_times; i && s->times[i - 1] > time_ns; i--)
		on = !on;
	return on;
}

bool switches_perf(const struct collect *c, uint32_t event, uint64_t time_ns)
{
	return event < collect_nr_events(&c->o->ev) && was_on(&c->switches.perf[event], time_ns);
}

bool switches_source(const struct collect *c, size_t source, uint64_t time_ns)
{
	return source < c->o->nr_sources && was_on(&c->switches.sources[source], time_ns);
}

bool switches_tell(const struct collect *c, uint32_t tell, uint64_t time_ns)
{
	return tell && was_on(&c->switches.tells[__builtin_ctz(tell)], time_ns);
}

uint64_t switches_source_end(const struct collect *c, size_t source)
{
	const struct switched *s = &c->switches.sources[source];

	return s->on || !s->nr_times ? clock_mono_ns() : s->times[s->nr_times - 1] - 1;
}

bool switches_runs(const struct collect *c, size_t event)
{
	size_t wall = sources_find(c, "wall");

	if (event < collect_nr_events(&c->o->ev) && switches_want(c, &c->switches.perf[event]))
		return true;
	return wall < c->o->nr_sources && switches_want(c, &c->switches.sources[wall]) &&
		c->o->ev.events[event].clock;
}
