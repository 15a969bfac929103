// SPDX-License-Identifier: GPL-2.0-or-later
/* rates.c - changes the interval of an event during a recording (rates.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "collect/control/rates.h"
#include "collect/engine/recording.h"
#include "collect/files/labels.h"
#include "pmu/probe.h"

enum {
	LEAST_CLOCK_NS = 10000,		/* the kernel's own least */
	USUAL_HIT_NS = 20000,		/* where it cannot be measured */
	FAST_HZ = 2000,			/* what is slower costs nobody a fifth of the time */
};

/* "4000hz": false: it is not a frequency. */
static bool is_frequency(const char *text, char number[32])
{
	size_t len = strlen(text);

	if (len < 3 || len >= 32 || strcasecmp(text + len - 2, "hz"))
		return false;
	memcpy(number, text, len - 2);
	number[len - 2] = '\0';
	return true;
}

/* Samples a second that clocks take of a thread that runs all the time, and how many clocks there are. */
static double clocks_hz(const struct evconf *conf, size_t *nr)
{
	double hz = 0;
	size_t i;

	*nr = 0;
	for (i = 0; i < conf->nr_events; i++) {
		if (!conf->events[i].clock)
			continue;
		(*nr)++;
		hz += 1e9 / (double)MAX(conf->rates[i].period, (uint64_t)LEAST_CLOCK_NS);
	}
	return hz;
}

/*
 * Return the shortest interval. The kernel stops clocks that tick too often until its next tick, so leave
 * some time for what delays a tick, and for the odd periods of filtered clocks (evset.c).
 */
static uint64_t kernel_shortest_ns(void)
{
	struct perf_limits l;

	perf_limits_read(&l);
	if (l.max_rate <= 0)
		return 0;
	return MAX(perf_shortest_ns(l.max_rate, perf_tick_ns()) * 105 / 100,
		   1250000000 / (uint64_t)l.max_rate);
}

uint64_t rates_shortest_ns(struct evconf *conf)
{
	size_t nr;
	double hz = clocks_hz(conf, &nr);
	uint64_t least = nr ? kernel_shortest_ns() : 0;

	if (hz <= FAST_HZ)
		return least;
	if (!conf->hit_ns)
		conf->hit_ns = hitcost_ns(conf->callgraph == CALLGRAPH_DWARF ? conf->stack_bytes : 0);
	if (!conf->hit_ns)
		conf->hit_ns = USUAL_HIT_NS;
	return MAX(MAX(nr * HITCOST_SHARE * conf->hit_ns, least), (uint64_t)LEAST_CLOCK_NS);
}

bool rates_kernel_bounds(const struct evconf *conf, uint64_t least_ns)
{
	return HITCOST_SHARE * conf->hit_ns < least_ns / 2;
}

/* Return the same when the event has that period. */
static uint64_t shortest_with(struct collect *c, size_t event, const struct ev_rate *rate)
{
	struct evconf conf = c->ev.conf;
	struct ev_rate *rates = xmalloc(conf.nr_events * sizeof(*rates));
	uint64_t ns;

	memcpy(rates, conf.rates, conf.nr_events * sizeof(*rates));
	rates[event] = *rate;
	conf.rates = rates;
	ns = rates_shortest_ns(&conf);
	c->ev.conf.hit_ns = conf.hit_ns;
	free(rates);
	return ns;
}

static int check_shortest(struct collect *c, size_t event, const char *text, const struct ev_rate *rate,
			  struct err *e)
{
	uint64_t least = c->ev.conf.events[event].clock ? shortest_with(c, event, rate) : 0;

	if (rate->period >= least)
		return 0;
	if (rates_kernel_bounds(&c->ev.conf, least))
		return err_set(e, EINVAL, "'%s': at least %.1fus, as the kernel takes no more (kernel.perf_event_max_sample_rate)",
			       text, (double)least / 1e3);
	return err_set(e, EINVAL, "'%s': at least %.1fus: a sample takes %.1f us of the program here, and may take a fifth of its time",
		       text, (double)least / 1e3, (double)c->ev.conf.hit_ns / 1e3);
}

/* Refuse a rate of a counter that the kernel would refuse. */
static int check_allowed(const char *text, const struct ev_rate *rate, struct err *e)
{
	struct perf_limits l;

	perf_limits_read(&l);
	if (l.max_rate <= 0 || rate->freq_hz <= (uint64_t)l.max_rate)
		return 0;
	return err_set(e, EINVAL, "'%s': at most %" PRId64 "hz (kernel.perf_event_max_sample_rate)", text,
		       l.max_rate);
}

int rates_parse(struct collect *c, size_t event, const char *text, struct ev_rate *rate, struct err *e)
{
	const struct pmu_event *ev = &c->ev.conf.events[event];
	char number[32];
	uint64_t v;
	int r;

	*rate = (struct ev_rate){ 0 };
	if (c->only_jvms)
		return err_set(e, EINVAL, "event '%s': its interval cannot change where JVMs sample themselves",
			       ev->name);
	if (is_frequency(text, number)) {
		if (!ev->clock && !c->ev.conf.rates[event].freq_hz)
			return err_set(e, EINVAL, "event '%s': its interval is a number of events", ev->name);
		r = opt_parse_u64(number, &v, e);
		if (!r && (!v || v > 1000000000 / LEAST_CLOCK_NS))
			r = err_set(e, EINVAL, "'%s': between 1hz and %dhz", text,
				    1000000000 / LEAST_CLOCK_NS);
		if (!r && ev->clock)
			rate->period = (1000000000 + v / 2) / v;
		else if (!r)
			rate->freq_hz = v;
		if (!r)
			r = check_allowed(text, rate, e);
		if (!r)
			r = check_shortest(c, event, text, rate, e);
		return r ? err_wrap(e, "event '%s'", ev->name) : 0;
	}
	r = ev->clock ? opt_parse_time(text, &rate->period, e) : opt_parse_u64(text, &rate->period, e);
	if (!r && (ev->clock ? rate->period < LEAST_CLOCK_NS : !rate->period))
		r = err_set(e, EINVAL, "'%s': at least %s", text, ev->clock ? "10us" : "1");
	if (!r && rate->period >> 63)		/* the kernel's */
		r = err_set(e, EINVAL, "'%s': too large", text);
	if (!r)
		r = check_shortest(c, event, text, rate, e);
	return r ? err_wrap(e, "event '%s'", ev->name) : 0;
}

/* ---- sets that take over ---- */

/* Open the set on the CPUs, or on groups. */
static int open_on_machine(struct collect *c, uint32_t new, struct err *e)
{
	const struct cgroups *g = c->o->groups;
	size_t i;
	int r = 0;

	if (!g)
		return evset_add(&c->ev, new, -1, false, e);
	for (i = 0; i < g->nr && !r; i++)
		r = evset_add_on(&c->ev, new, (struct ev_target){ g->fds[i], true }, false, e);
	return r;
}

/*
 * Open the events on the tasks of set old. A task started by one of these has inherited the new events, or
 * was forked before they were opened, as on_task_fork() of records.c then finds.
 */
static int open_on_tasks(struct collect *c, uint32_t old, uint32_t new, struct err *e)
{
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];
		int r;

		if (th->dead || th->evset != old)
			continue;
		r = evset_add(&c->ev, new, th->tid, false, e);
		if (r && r != -ESRCH)
			return r;
		th->evset = new;
		th->evset_ns = clock_mono_ns();
	}
	return 0;
}

static void rates_give_back(struct collect *c, uint32_t old, uint32_t new)
{
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];

		if (th->evset != new)
			continue;
		th->evset = old;
		th->evset_ns = 0;
	}
}

static int open_again(struct collect *c, uint32_t old, uint32_t new, struct err *e)
{
	const struct evset *set = &c->ev.sets[old - 1];
	struct proc *p;

	if (c->ev.conf.filter_fd && !set->proc)
		return evset_add(&c->ev, new, -1, false, e);
	if (set->kind == EVSET_MAIN)
		return c->o->system_wide ? open_on_machine(c, new, e) : open_on_tasks(c, old, new, e);
	for (p = c->tasks.procs; p && p->id != set->proc; p = p->next)
		;
	c->ev.sets[new - 1].proc = set->proc;
	if (p && p->java && !traps_open_again(c, p, new))
		return err_set(e, EAGAIN, "the threads of process %d cannot be sampled with another interval",
			       p->pid);
	return 0;
}

static bool takes_part(const struct evset *set)
{
	return !set->closed && set->kind != EVSET_LATENT;
}

/* taken[old - 1]: the set that takes over, 0: none does. */
static int open_all_again(struct collect *c, uint32_t *taken, size_t nr, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < nr && !r; i++) {
		if (!takes_part(&c->ev.sets[i]))
			continue;
		taken[i] = evset_new(&c->ev, c->ev.sets[i].kind);
		r = open_again(c, i + 1, taken[i], e);
	}
	return r;
}

static void undo(struct collect *c, const uint32_t *taken, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!taken[i])
			continue;
		rates_give_back(c, i + 1, taken[i]);
		evset_close(&c->ev, taken[i]);
	}
}

/* Return at most how many events of set old have counted something since their last sample. */
static uint64_t nr_counting(const struct collect *c, const struct evset *set, uint32_t new)
{
	uint64_t nr = 0;
	size_t i;

	if (c->o->system_wide && set->kind == EVSET_MAIN)
		return set->nr_fds;
	for (i = 0; i < c->tasks.nr_all; i++) {
		const struct thread *th = c->tasks.threads[i];

		if (!th->dead)
			nr += set->kind == EVSET_MAIN ? th->evset == new : th->proc->id == set->proc;
	}
	return nr * c->ev.nr_sampled;
}

/*
 * Keep what is left over when all samples of the set were read. The difference includes the rest of
 * threads that ended, which is dropped: of each thread that goes on less than a period is left over.
 * Where code of one mode only is sampled, clocks count on in the other.
 */
static void keep_left_over(struct collect *c, uint32_t old, uint32_t new, size_t event, uint64_t period)
{
	const struct evset *set = &c->ev.sets[old - 1];
	const struct perf_event_attr *a = &c->ev.conf.events[event].attr;
	bool one_mode = c->ev.conf.exclude_kernel || c->ev.conf.exclude_user || a->exclude_kernel ||
		a->exclude_user;
	uint64_t count, told, left;

	if (!period || !evset_told(&c->ev, old, event, &count, &told) || told >= count)
		return;
	left = MIN(count - told, nr_counting(c, set, new) * period);
	if (one_mode)
		left = (uint64_t)((double)left * (double)told / (double)count);
	c->left_over[event] += left;
}

uint64_t rates_left_over(struct collect *c, size_t event, uint64_t period)
{
	uint64_t more = MIN(c->left_over[event], period);

	c->left_over[event] -= more;
	return more;
}

static void take_over(struct collect *c, const uint32_t *taken, size_t nr, size_t changed, uint64_t period)
{
	size_t i, ev;

	for (i = 0; i < nr; i++) {
		if (!taken[i])
			continue;
		evset_enable(&c->ev, i + 1, false);
		evset_enable(&c->ev, taken[i], true);
	}
	collect_merge(c, clock_mono_ns());	/* what the old ones have told is of known events */
	for (i = 0; i < nr; i++) {
		if (!taken[i])
			continue;
		for (ev = 0; ev < collect_nr_events(&c->ev.conf); ev++)
			keep_left_over(c, i + 1, taken[i], ev, ev == changed ? period : c->rates[ev].period);
		evset_close(&c->ev, i + 1);
		if (c->main_set == i + 1)
			c->main_set = taken[i];
	}
	evsets_forget_closed(&c->ev);
}

/* Return the recording's own copy: the caller's options stay as they are. */
static struct ev_rate *own_rates(struct collect *c)
{
	size_t bytes = c->ev.conf.nr_events * sizeof(*c->rates);

	if (!c->rates) {
		c->rates = xmalloc(bytes);
		memcpy(c->rates, c->ev.conf.rates, bytes);
		c->ev.conf.rates = c->rates;
		c->left_over = xcalloc(c->ev.conf.nr_events, sizeof(*c->left_over));
	}
	return c->rates;
}

int rates_set(struct collect *c, size_t event, const struct ev_rate *rate, struct err *e)
{
	struct ev_rate *own = &own_rates(c)[event], before = *own;
	size_t nr = c->ev.nr_sets;
	uint32_t *taken;
	int r;

	if (before.period == rate->period && before.freq_hz == rate->freq_hz)
		return 0;
	collect_merge(c, clock_mono_ns());	/* forks of so far */
	taken = xcalloc(nr + 1, sizeof(*taken));
	*own = *rate;
	evsets_renew_periods(&c->ev, event);
	r = open_all_again(c, taken, nr, e);
	if (r) {
		*own = before;
		undo(c, taken, nr);
		evsets_renew_periods(&c->ev, event);
	} else {
		take_over(c, taken, nr, event, before.period);
		labels_rate(c, event);
	}
	free(taken);
	return r;
}

void rates_release(struct collect *c)
{
	free(c->rates);
	free(c->left_over);
}
