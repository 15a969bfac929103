// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timers.c - where perf events are forbidden (a container's system call filter,
 * kernel.perf_event_paranoid): the agents of JVMs sample their own threads by timers on CPU time.
 * Nothing else is sampled, the kernel's part of the stacks is missing, and the samples come at the
 * kernel's tick; the trace and the summary say so. What JVMs' agents and instrumented programs tell by
 * themselves needs no perf events at all, and has nothing missing.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "collect/engine/recording.h"
#include "jvm/inject.h"
#include "jvm/jdk.h"
#include "jvm/target.h"

enum { LOOK_NS = 100000000 };

static bool is_forbidden(const struct err *e)
{
	return e->code == EACCES || e->code == EPERM || e->code == ENOSYS;
}

/* Return whether the events need no perf: CPU time, or only what perf events do not report. */
static bool events_will_do(const struct collect_opts *o)
{
	if (!o->ev.nr_events)
		return o->nr_sources || o->jvm_events || o->callflow.on;
	return o->ev.nr_events == 1 && o->ev.events[0].clock && !o->ev.exclude_user;
}

/* Return whether JVMs suffice for everything: what they cannot do would be missing without notice. */
static bool jvms_will_do(const struct collect_opts *o)
{
	size_t i;

	if (!inject_possible() || o->java_by == JAVA_OUTSIDE || o->system_wide || o->sched || o->nr_tids ||
	    !events_will_do(o))
		return false;
	/* whose samples agents take; calls, and events of JVMs, they tell whether they sample or not */
	if (o->java != JAVA_SAMPLE && (o->ev.nr_events || o->nr_sources))
		return false;
	for (i = 0; i < o->nr_pids; i++)
		if (!target_is_jvm(o->pids[i]))
			return false;
	/* of a program that is not a JVM, and may start one, nothing is missing but its CPU time */
	return !o->argv || !o->ev.nr_events || launcher_names_jvm(o->argv[0]);
}

/*
 * Return whether polling suffices, for any program: what threads do is in /proc; where they run only JVMs can
 * say.
 */
static bool polls_will_do(const struct collect_opts *o)
{
	if (o->system_wide || o->groups || o->sched || o->nr_tids || o->ev.nr_events != 1)
		return false;
	return o->ev.nr_aside || jvms_will_do(o);
}

/* Return whether timers are forbidden; a program that is started has our system call filter. */
static bool timers_are_forbidden(const struct collect_opts *o)
{
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	timer_t timer;

	if (!o->argv)
		return false;
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &none, &timer))
		return true;
	timer_delete(timer);
	return false;
}

static void sample_by_timers(struct collect *c, const struct err *why)
{
	c->timer_ns = c->o->ev.rates[0].period;
	jvm_server_use_timers(c->jvm, c->timer_ns);
	if (c->o->ev.nr_aside)
		return;
	c->res->no_perf = *why;
	trace_write_label(c->w, "sampler", "timers");
	trace_write_label(c->w, "refused.0", "kernel code, and processes that are not JVMs: %s", why->msg);
}

/* Poll /proc for the source "wall". Where JVMs run is known if they may have timers. */
static bool poll_instead(struct collect *c, const struct err *why, struct err *e)
{
	bool timers = c->jvm && c->o->java == JAVA_SAMPLE && !timers_are_forbidden(c->o);

	if (!timers && !c->o->ev.nr_aside) {
		err_wrap(e, "timers on CPU time are forbidden as well (timer_create)");
		return false;
	}
	if (walls_use_polls(c, why, e))
		return false;
	c->only_jvms = true;
	evsets_init_empty(&c->ev, &c->o->ev);
	if (timers)
		sample_by_timers(c, why);
	c->res->no_records = *why;
	return true;
}

bool timers_take_over(struct collect *c, struct err *e)
{
	const struct err why = *e;

	if (c->walls)
		return is_forbidden(e) && polls_will_do(c->o) && poll_instead(c, &why, e);
	/* calls of native programs come without an agent */
	if (!c->jvm && (!c->o->callflow.on || c->o->ev.nr_events || c->o->nr_sources))
		return false;
	if (!is_forbidden(e) || !jvms_will_do(c->o))
		return false;
	if (c->o->ev.nr_events && timers_are_forbidden(c->o)) {
		err_wrap(e, "timers on CPU time are forbidden as well (timer_create)");
		return false;
	}
	c->only_jvms = true;
	evsets_init_empty(&c->ev, &c->o->ev);
	if (!c->o->ev.nr_events)
		return true;
	sample_by_timers(c, e);
	return true;
}

void timers_sample(struct collect *c, const struct thread *th, const struct jvm_sample *s, uint32_t thread,
		   const struct frame *frames, size_t nr)
{
	struct rec_sample r = {
		.time_ns = s->time_ns, .thread = thread, .weight = s->nr_periods * c->timer_ns, .user = true,
	};

	if (c->walls)
		walls_timed(c, th, &r, frames, nr);
	if (c->o->ev.nr_aside || !switches_perf(c, r.event, s->time_ns))
		return;
	if (!filters_want_perf(c, r.event, thread, s->time_ns)) {
		c->switches.nr_dropped++;
		c->ev.counts[0] += r.weight;
		return;
	}
	stack_count_marks(c, stack_marks(frames, nr));
	java_keep_code(c, frames, nr);
	r.stack = trace_write_stack(c->w, frames, nr);
	trace_write_sample(c->w, &r);
	collect_count_sample(c, r.event);
	c->ev.counts[0] += r.weight;
	c->clock_ns += r.weight;
}

void timers_look_at_maps(struct collect *c)
{
	uint64_t now = clock_mono_ns();
	struct java *j;

	if (now - c->maps_ns < LOOK_NS)
		return;
	c->maps_ns = now;
	for (j = c->javas; j; j = j->next)
		if (!j->gone)
			tasks_rescan_maps(&c->tasks, j->proc);
}
