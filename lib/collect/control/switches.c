// SPDX-License-Identifier: GPL-2.0-or-later
/* switches.c - turns events on and off, and notes when each was on (switches.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/control/rates.h"
#include "collect/control/switches.h"
#include "collect/engine/recording.h"
#include "collect/files/labels.h"
#include "collect/jvm/jvmevents.h"

enum { WAIT_MS = 500, DRAIN_EVERY_MS = 20, NR_TELLS = 32, READING_NS = 1000000 };

_Static_assert(ARRAY_SIZE(((struct switches *)0)->sources) == COLLECT_MAX_SOURCES, "one for each");
_Static_assert(ARRAY_SIZE(((struct switches *)0)->tells) == NR_TELLS, "one for each bit");

/* ---- the switches of a recording, in a row: perf events, sources, events of JVMs, exact calls ---- */

static size_t nr_perf(const struct collect *c)
{
	return collect_nr_events(&c->o->ev);
}

static size_t nr_all(const struct collect *c)
{
	return nr_perf(c) + COLLECT_MAX_SOURCES + NR_TELLS + 1;
}

/* Return the index of calls, the last one, as turning it takes longest. */
static size_t at_calls(const struct collect *c)
{
	return nr_all(c) - 1;
}

/* Return the i-th event, NULL if the recording has none. */
static struct switched *switched_at(struct collect *c, size_t i)
{
	struct switches *s = &c->switches;

	if (i < nr_perf(c))
		return &s->perf[i];
	if (i == at_calls(c))
		return c->o->callflow.on ? &s->calls : NULL;
	i -= nr_perf(c);
	if (i < COLLECT_MAX_SOURCES)
		return i < c->o->nr_sources ? &s->sources[i] : NULL;
	i -= COLLECT_MAX_SOURCES;
	return c->o->jvm_events >> i & 1 ? &s->tells[i] : NULL;
}

static void put_switch_name(const struct collect *c, size_t i, struct buf *b)
{
	if (i < nr_perf(c))
		buf_str(b, c->o->ev.events[i].name);
	else if (i == at_calls(c))
		buf_str(b, "calls");
	else if (i < nr_perf(c) + COLLECT_MAX_SOURCES)
		buf_str(b, c->o->sources[i - nr_perf(c)].kind->name);
	else
		jvmevents_names(1u << (i - nr_perf(c) - COLLECT_MAX_SOURCES), b);
}

/* List the intervals in the form that "set interval" takes. */
static void list_intervals(const struct collect *c, struct buf *b)
{
	size_t i, nr = 0;

	for (i = 0; i < nr_perf(c) + c->o->nr_sources; i++) {
		const struct source_conf *s = i < nr_perf(c) ? NULL : &c->o->sources[i - nr_perf(c)];
		const struct ev_rate *rate = s ? NULL : &c->ev.conf.rates[i];

		if (s && (s->kind->arg == SOURCE_FOLLOWS || s->kind->arg == SOURCE_NO_ARG))
			continue;
		buf_str(b, nr++ ? "," : "interval: ");
		put_switch_name(c, i, b);
		buf_putc(b, '=');
		if (s ? s->kind->arg == SOURCE_TIME : !rate->freq_hz && c->ev.conf.events[i].clock)
			opt_put_time(b, s ? s->interval : rate->period);
		else
			buf_fmt(b, "%" PRIu64 "%s",
				s ? s->interval : rate->freq_hz ? rate->freq_hz : rate->period,
				rate && rate->freq_hz ? "hz" : "");
	}
	if (nr)
		buf_putc(b, '\n');
}

void switches_list(const struct collect *c, struct buf *b)
{
	static const char *const words[] = { "off", "on" };
	struct collect *all = (struct collect *)c;
	size_t i;
	int on;

	for (on = 1; on >= 0; on--) {
		size_t nr = 0;

		for (i = 0; i < nr_all(c); i++) {
			const struct switched *s = switched_at(all, i);

			if (!s || switches_want(c, s) != on)
				continue;
			buf_str(b, nr++ ? "," : words[on]);
			buf_str(b, nr == 1 ? ": " : "");
			put_switch_name(c, i, b);
		}
		if (nr)
			buf_putc(b, '\n');
	}
	list_intervals(c, b);
}

/* ---- on and off ---- */

static void write_record(struct collect *c, size_t i, bool on, uint64_t time_ns)
{
	struct buf name = BUF_INIT;

	put_switch_name(c, i, &name);
	trace_write_recorded(c->w, &(struct rec_recorded){
		.time_ns = time_ns, .on = on, .event = name.data, .event_len = name.len,
	});
	buf_release(&name);
}

static void flip(struct collect *c, size_t i, uint64_t now_ns)
{
	struct switched *s = switched_at(c, i);

	if (s->nr_times == SWITCH_TIMES)
		memmove(s->times, s->times + 1, --s->nr_times * sizeof(*s->times));
	if (i == at_calls(c))
		now_ns = callflows_turn(&c->calls, !s->on);
	s->times[s->nr_times++] = now_ns;
	s->on = !s->on;
	write_record(c, i, s->on, now_ns);
}

/* Turn events on or off that are in the other state; return how many. */
static size_t flip_all(struct collect *c, bool on, uint64_t now_ns)
{
	size_t i, nr = 0;

	for (i = 0; i < nr_all(c); i++) {
		const struct switched *s = switched_at(c, i);

		if (!s || s->on == on || switches_want(c, s) != on)
			continue;
		flip(c, i, now_ns);
		nr++;
	}
	return nr;
}

/* Marks say when something begins. */
static bool awaits_mark(const struct collect *c)
{
	const struct switches *s = &c->switches;
	size_t i;

	for (i = 0; i < c->o->nr_times; i++)
		if (c->o->times[i].mark && !s->marks[i])
			return true;
	return c->o->start_mark && !s->marked;
}

void switches_ask(struct collect *c, struct jvm_server_opts *o)
{
	size_t i;

	o->off = 0;
	parts_ask(c, o);
	o->may_tell |= c->o->jvm_events;
	for (i = 0; i < c->o->nr_sources; i++)
		if (c->o->sources[i].kind->jvm != JVM_NR_SOURCES &&
		    !switches_want(c, &c->switches.sources[i]))
			o->sources &= ~(1ull << c->o->sources[i].kind->jvm);
	o->tell = 0;
	for (i = 0; i < NR_TELLS; i++)
		if (c->o->jvm_events >> i & 1 && switches_want(c, &c->switches.tells[i]))
			o->tell |= 1u << i;
	if (awaits_mark(c))
		o->tell |= JVM_TELL_MARK;
	/* what a thread has when they are recorded again was set before */
	o->tell |= c->o->jvm_events & JVM_TELL_LABEL;
	if (c->timer_ns && !switches_runs(c, 0))
		o->off |= JVM_TIMERS;
}

/* Ask agents for what is on now; return false if they do that already. */
static bool ask_agents(struct collect *c)
{
	struct jvm_server_opts o;

	if (!c->jvm)
		return false;
	memset(&o, 0, sizeof(o));	/* compared as bytes */
	switches_ask(c, &o);
	if (c->switches.has_asked && !memcmp(&o, &c->switches.asked, sizeof(o)))
		return false;
	c->switches.has_asked = true;
	c->switches.asked = o;
	jvm_server_change(c->jvm, &o);
	return true;
}

/*
 * Wait for agents, taking what they report, so that their rings do not overflow. Returns how many have not
 * answered.
 */
static size_t wait_for_agents(struct collect *c, int wait_ms)
{
	size_t nr = 0;
	int i;

	for (i = 0; i < wait_ms && (nr = jvm_server_nr_unchanged(c->jvm)); i++) {
		clock_sleep_ns(1000000);
		if (i % DRAIN_EVERY_MS == DRAIN_EVERY_MS - 1)
			collect_hear_agents(c, false);
	}
	return nr;
}

static void tell_agents(struct collect *c, struct buf *reply)
{
	size_t nr = ask_agents(c) ? wait_for_agents(c, WAIT_MS) : 0;

	if (nr && reply)
		buf_fmt(reply, "%zu JVM%s not answered yet\n", nr, nr == 1 ? " has" : "s have");
}

bool switches_are_none(const struct collect_opts *o)
{
	return !o->delay_ns && !o->start_mark && !o->nr_times && !o->window_ns && !o->disabled &&
	       (!o->filter || !o->filter->nr);
}

void switches_ask_again(struct collect *c, int wait_ms)
{
	c->switches.has_asked = false;
	if (ask_agents(c))
		wait_for_agents(c, wait_ms);
}

void switches_begin_parts(struct collect *c, uint64_t now_ns)
{
	if (parts_turned_on(c, now_ns))
		ask_agents(c);
}

/* Turn everything to the wanted state. What is on before and after loses nothing. */
static void switches_apply(struct collect *c, struct buf *reply)
{
	uint64_t now_ns = clock_mono_ns();
	size_t nr;

	if (!c->switches.begun)
		return;
	nr = flip_all(c, false, now_ns);
	parts_turned_off(c, now_ns);
	collect_enable(c, true);
	tell_agents(c, reply);
	now_ns = clock_mono_ns();
	nr += flip_all(c, true, now_ns);
	switches_begin_parts(c, now_ns);
	if (nr)
		trace_writer_flush(c->w);
}

/* Start the event's own times at that moment. */
static void start_time(struct switched *s, uint64_t now_ns)
{
	if (s->time->delay_ns || s->time->mark)
		s->set_ns = now_ns + s->time->delay_ns;
	else if (s->time->duration_ns)
		s->clear_ns = now_ns + s->time->duration_ns;
}

void switches_begin(struct collect *c, uint64_t now_ns)
{
	size_t i;

	c->switches.begun = true;
	for (i = 0; i < nr_all(c); i++) {
		struct switched *s = switched_at(c, i);

		if (s && s->time && (!s->time->mark || c->switches.marks[s->time - c->o->times]))
			start_time(s, now_ns);
	}
	if (c->o->window_ns)
		c->switches.turn_ns = now_ns + c->o->window_ns;
	for (i = 0; i < nr_all(c); i++) {
		struct switched *s = switched_at(c, i);
		uint64_t at_ns = now_ns;

		if (!s)
			continue;
		s->on = switches_want(c, s);
		if (s->on && i == at_calls(c) && c->calls.shut)
			at_ns = callflows_turn(&c->calls, true);
		if (s->on)
			s->times[s->nr_times++] = at_ns;
		/* trees that were large already took long to read */
		if (!s->on || at_ns > now_ns + READING_NS)
			write_record(c, i, s->on, at_ns);
	}
}

bool switches_calls_from_start(const struct collect *c)
{
	const struct switched *s = &c->switches.calls;

	return s->fixed || (switches_want(c, s) && !c->o->delay_ns && !c->o->start_mark);
}

void switches_next_file(struct collect *c, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < nr_all(c) && c->switches.begun; i++)
		if (switched_at(c, i) && !switched_at(c, i)->on)
			write_record(c, i, false, now_ns);
}

void switches_pause(struct collect *c)
{
	switches_apply(c, NULL);
}

static bool switch_is_due(uint64_t due_ns, uint64_t now_ns)
{
	return due_ns && now_ns >= due_ns;
}

/* Note events whose own time begins or ends; return whether there are any. */
static bool turn_timed(struct collect *c, uint64_t now_ns)
{
	bool any = false;
	size_t i;

	for (i = 0; i < nr_all(c); i++) {
		struct switched *s = switched_at(c, i);

		if (!s || !s->time)
			continue;
		if (switch_is_due(s->clear_ns, now_ns)) {
			s->clear_ns = 0;
			s->set = false;
			any = true;
		}
		if (switch_is_due(s->set_ns, now_ns)) {
			s->set_ns = 0;
			s->set = any = true;
			s->clear_ns = s->time->duration_ns ? now_ns + s->time->duration_ns : 0;
		}
	}
	return any;
}

uint64_t switches_due_ns(const struct collect *c)
{
	struct collect *all = (struct collect *)c;
	uint64_t due = c->switches.turn_ns;
	size_t i;

	for (i = 0; c->o->nr_times && i < nr_all(c); i++) {
		const struct switched *s = switched_at(all, i);

		if (s && s->set_ns && (!due || s->set_ns < due))
			due = s->set_ns;
		if (s && s->clear_ns && (!due || s->clear_ns < due))
			due = s->clear_ns;
	}
	return due;
}

static bool is_mark(const char *wanted, const char *name, size_t len)
{
	return wanted && strlen(wanted) == len && !memcmp(wanted, name, len);
}

void switches_mark(struct collect *c, const char *name, size_t len)
{
	struct switches *s = &c->switches;
	size_t i, k;

	s->marked |= is_mark(c->o->start_mark, name, len);
	for (i = 0; i < c->o->nr_times; i++) {
		if (s->marks[i] || !is_mark(c->o->times[i].mark, name, len))
			continue;
		s->marks[i] = true;
		for (k = 0; s->begun && k < nr_all(c); k++)
			if (switched_at(c, k) && switched_at(c, k)->time == &c->o->times[i])
				start_time(switched_at(c, k), clock_mono_ns());
	}
}

void switches_missing(struct collect *c)
{
	size_t i;

	if (c->o->start_mark && !c->switches.marked)
		refused_text(&c->refused, "--start-at %s: no program set this mark, or ended a phase of this name",
			     c->o->start_mark);
	for (i = 0; i < c->o->nr_times; i++)
		if (c->o->times[i].mark && !c->switches.marks[i])
			refused_text(&c->refused, "event %s: no program set the mark '%s', or ended a phase of this name",
				     c->o->times[i].event, c->o->times[i].mark);
}

/* Turn what is due. A window that opens late is not made longer. */
void switches_turn(struct collect *c, uint64_t now_ns)
{
	struct switches *s = &c->switches;
	bool turns = s->begun && c->o->nr_times && turn_timed(c, now_ns);
	bool window = switch_is_due(s->turn_ns, now_ns);

	if (window)
		s->shut = !s->shut;
	if (window || turns)
		switches_apply(c, NULL);
	if (!window)
		return;
	now_ns = clock_mono_ns();
	s->turn_ns = s->shut ? MAX(s->turn_ns + c->o->window_every_ns - c->o->window_ns, now_ns) :
			       now_ns + c->o->window_ns;
}

static bool is_recorded(const struct collect *c, enum jvm_source source)
{
	size_t i;

	for (i = 0; i < c->o->nr_sources && c->o->sources[i].kind->jvm != source; i++)
		;
	return i < c->o->nr_sources;
}

/*
 * Return whether a source cannot be turned off: frees and live objects refer to everything that was chosen,
 * and objects for "alloc" are chosen together with live ones.
 */
static bool is_fixed(const struct collect *c, const struct source_kind *k)
{
	return k->jvm == JVM_SOURCE_MEMORY || k->arg == SOURCE_FOLLOWS || k->jvm == JVM_SOURCE_LIVE ||
		k->jvm == JVM_SOURCE_VIRTUAL ||
		(k->jvm == JVM_SOURCE_ALLOC && is_recorded(c, JVM_SOURCE_LIVE));
}

/* ---- by name ---- */

static int switches_find(struct collect *c, const char *name, size_t *first, uint32_t *tells)
{
	const char *cpu = NULL;
	struct pmu_event usual;
	size_t i;

	*tells = jvmevents_named(name);
	if (*tells)
		return 0;
	if (!strcmp(name, "cpu")) {
		pmu_event_default(&usual);
		cpu = usual.name;
	}
	for (i = 0; i < nr_perf(c); i++)
		if (!strcmp(c->o->ev.events[i].name, cpu ? cpu : name)) {
			*first = i;
			return 0;
		}
	i = sources_find(c, name);
	*first = nr_perf(c) + i;
	if (i < c->o->nr_sources)
		return 0;
	*first = at_calls(c);
	return switched_at(c, *first) && !strcmp(name, "calls") ? 0 : -ENOENT;
}

static int not_here(const struct collect *c, const char *name, struct err *e)
{
	struct buf list = BUF_INIT;
	size_t i, nr = 0;

	for (i = 0; i < nr_all(c); i++)
		if (switched_at((struct collect *)c, i)) {
			buf_str(&list, nr++ ? ", " : "");
			put_switch_name(c, i, &list);
		}
	err_set(e, EINVAL, "event '%s' is not in this recording, which has: %s; name it in 'arcprof record --event', and in --disabled if it is to begin later",
		name, nr ? list.data : "none");
	buf_release(&list);
	return -EINVAL;
}

/* "alloc=64k": cuts off the interval, which *s has then; its kind NULL: there is none. */
static int cut_interval(char *name, bool on, struct source_conf *s, struct err *e)
{
	char *at = strchr(name, '=');
	int r;

	s->kind = NULL;
	if (!source_is_named(name) || !at)
		return 0;
	if (!on)
		return err_set(e, EINVAL, "event '%s': what is disabled has no interval", name);
	r = source_parse(name, s, e);
	if (!r && s->kind->jvm == JVM_NR_SOURCES)
		r = err_set(e, EINVAL, "event '%s': its interval cannot change while it is recorded", name);
	*at = 0;
	return r;
}

/*
 * Return whether the source has what it needs from the start of programs: for calls between programs, the
 * labels.
 */
static bool has_labels_for(const struct collect *c, const struct source_kind *k)
{
	return !source_sets_labels(k) || c->o->jvm_events & JVM_TELL_LABEL;
}

/* Add an event that agents can begin to record. */
static int switches_add(struct collect *c, const char *name, size_t *first, uint32_t tells, struct err *e)
{
	struct source_conf new;

	if (tells && c->jvm) {
		c->opts.jvm_events |= tells;
		return 0;
	}
	if (!tells && source_is_named(name) && !source_parse(name, &new, e) && c->jvm &&
	    c->o->java == JAVA_SAMPLE && new.kind->jvm != JVM_NR_SOURCES && !is_fixed(c, new.kind) &&
	    has_labels_for(c, new.kind) && c->o->nr_sources < COLLECT_MAX_SOURCES) {
		*first = nr_perf(c) + c->o->nr_sources;
		c->source_room[c->opts.nr_sources++] = new;
		sources_labels(c);
		return 0;
	}
	return not_here(c, name, e);
}

static int refuse_fixed(struct collect *c, size_t i, const char *name, struct err *e)
{
	if (!switched_at(c, i) || !switched_at(c, i)->fixed)
		return 0;
	if (i == at_calls(c))
		return err_set(e, EINVAL, "calls are recorded all the time: of --calltrace and --trace, each event follows from those before");
	return err_set(e, EINVAL, "event '%s' is recorded all the time: with gaps it would not be known what lives and what is freed",
		       name);
}

bool switches_any_fixed(const struct collect *c)
{
	size_t i;

	for (i = 0; i < c->o->nr_sources && !c->switches.sources[i].fixed; i++)
		;
	return i < c->o->nr_sources;
}

static void set_one(struct collect *c, size_t first, uint32_t tells, bool on)
{
	size_t i;

	if (!tells)
		switched_at(c, first)->set = on;
	for (i = 0; i < NR_TELLS; i++)
		if (tells >> i & 1 && c->o->jvm_events >> i & 1)
			c->switches.tells[i].set = on;
}

/* Note an interval for samples after a moment at which the source is off. */
static void note_interval(struct collect *c, size_t i, uint64_t interval)
{
	if (c->source_room[i].interval == interval && !c->switches.next[i])
		return;
	c->switches.sources[i].set = false;
	c->switches.nr_next++;
	c->switches.next[i] = interval + 1;
}

/* Take in what was recorded with the intervals before, and set the others. */
static void set_intervals(struct collect *c, struct buf *reply)
{
	size_t i;

	if (!c->switches.nr_next)
		return;
	switches_apply(c, reply);
	collect_hear_agents(c, true);
	for (i = 0; i < c->o->nr_sources; i++)
		if (c->switches.next[i])
			c->source_room[i].interval = c->switches.next[i] - 1;
	memset(c->switches.next, 0, sizeof(c->switches.next));
	c->switches.nr_next = 0;
	sources_labels(c);
}

enum step { CHECK, INTERVAL, SET };

/* Set an event by its name, as far as that step goes. */
static int set_named(struct collect *c, char *name, bool on, enum step step, struct err *e)
{
	struct source_conf s;
	uint32_t tells = 0;
	size_t first = 0;
	int r = cut_interval(name, on, &s, e);
	bool new;

	if (r)
		return r;
	r = switches_find(c, name, &first, &tells);
	if (tells & JVM_TELL_LABEL && c->o->callflow.on)
		return err_set(e, EINVAL, "labels cannot be switched on or off where calls are counted: they are part of contexts");
	/*
	 * programs learn at their start that they have to report these, and labels must be known from then on
	 */
	if ((tells & JVM_TELL_LABEL && !(c->o->jvm_events & JVM_TELL_LABEL)) ||
	    (tells & JVM_TELL_MARK && !(c->o->jvm_events & JVM_TELL_BY_PROGRAM)))
		return not_here(c, name, e);
	new = r || tells & ~c->o->jvm_events;
	if (new && !on && !(tells & c->o->jvm_events))
		return not_here(c, name, e);
	if (new && on) {
		uint32_t had = c->o->jvm_events;

		r = switches_add(c, name, &first, tells, e);
		if (r)
			return r;
		if (had != c->o->jvm_events)
			labels_jvm_events(c);
	}
	if (!tells && (r = refuse_fixed(c, first, name, e)))
		return r;
	if (step == INTERVAL && s.kind)
		note_interval(c, first - nr_perf(c), s.interval);
	if (step == SET)
		set_one(c, first, tells, on);
	return 0;
}

static int each_name(struct collect *c, const char *names, bool on, enum step step, struct err *e)
{
	char *copy = xstrdup(names), *name, *save = NULL;
	int r = 0, nr = 0;

	for (name = strtok_r(copy, ",", &save); name && !r; name = strtok_r(NULL, ",", &save), nr++)
		r = set_named(c, name, on, step, e);
	free(copy);
	if (!r && !nr)
		r = err_set(e, EINVAL, "no event is named");
	return r;
}

int switches_set(struct collect *c, const char *names, bool on, struct buf *reply, struct err *e)
{
	int r = each_name(c, names, on, CHECK, e);

	if (r)
		return r;
	each_name(c, names, on, INTERVAL, e);
	set_intervals(c, reply);
	each_name(c, names, on, SET, e);
	switches_apply(c, reply);
	return 0;
}

/* ---- intervals ---- */

struct setting {
	size_t at;			/* its switch */
	struct ev_rate rate;		/* of a perf event */
	uint64_t interval;		/* of a source */
};

static int parse_source(const struct collect *c, char *item, size_t source, uint64_t *interval, struct err *e)
{
	const struct source_kind *k = c->o->sources[source].kind;
	struct source_conf conf;
	int r = source_parse(item, &conf, e);

	if (!r && c->switches.sources[source].fixed)
		r = err_set(e, EINVAL, "event '%s': its interval cannot change, as what is freed was sampled with it",
			    k->name);
	else if (!r && k->jvm == JVM_NR_SOURCES)
		r = err_set(e, EINVAL, "event '%s': its interval cannot change while it is recorded",
			    k->name);
	*interval = conf.interval;
	return r;
}

/* "cpu-clock=10ms" */
static int parse_setting(struct collect *c, char *item, struct setting *s, struct err *e)
{
	char *value = strrchr(item, '=');
	uint32_t tells;
	int r;

	if (!value || value == item || !value[1])
		return err_set(e, EINVAL, "'%s': invalid setting (expected EVENT=INTERVAL, such as cpu-clock=10ms or alloc=64k)", item);
	*value = '\0';
	r = switches_find(c, item, &s->at, &tells);
	if (tells)
		return err_set(e, EINVAL, "event '%s' has no interval: all of it is recorded", item);
	if (r)
		return not_here(c, item, e);
	if (s->at < nr_perf(c))
		return rates_parse(c, s->at, value + 1, &s->rate, e);
	*value = '=';
	return parse_source(c, item, s->at - nr_perf(c), &s->interval, e);
}

static int parse_settings(struct collect *c, const char *text, struct setting *settings, size_t *nr,
			  struct err *e)
{
	char *copy = xstrdup(text), *item, *save = NULL;
	int r = 0;

	*nr = 0;
	for (item = strtok_r(copy, ",", &save); item && !r; item = strtok_r(NULL, ",", &save))
		r = parse_setting(c, item, &settings[(*nr)++], e);
	free(copy);
	return r || *nr ? r : err_set(e, EINVAL, "no event is named");
}

static int switches_set_rates(struct collect *c, const struct setting *s, size_t nr, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < nr && !r; i++)
		if (s[i].at < nr_perf(c))
			r = rates_set(c, s[i].at, &s[i].rate, e);
	return r;
}

/* Set sources; each is off meanwhile. */
static void set_sources(struct collect *c, const struct setting *s, size_t nr, struct buf *reply)
{
	bool was_set[COLLECT_MAX_SOURCES];
	size_t i;

	for (i = 0; i < COLLECT_MAX_SOURCES; i++)
		was_set[i] = c->switches.sources[i].set;
	for (i = 0; i < nr; i++)
		if (s[i].at >= nr_perf(c))
			note_interval(c, s[i].at - nr_perf(c), s[i].interval);
	if (!c->switches.nr_next)
		return;
	set_intervals(c, reply);
	for (i = 0; i < COLLECT_MAX_SOURCES; i++)
		c->switches.sources[i].set = was_set[i];
	switches_apply(c, reply);
}

int switches_set_intervals(struct collect *c, const char *text, struct buf *reply, struct err *e)
{
	struct setting *settings = xcalloc(strlen(text) / 2 + 1, sizeof(*settings));
	size_t nr;
	int r = parse_settings(c, text, settings, &nr, e);

	if (!r)
		r = switches_set_rates(c, settings, nr, e);
	if (!r)
		set_sources(c, settings, nr, reply);
	free(settings);
	return r;
}

/* Set the time of an event; one that begins later is off at first. */
static int set_time(struct collect *c, const struct event_time *t, struct err *e)
{
	const char *option = t->mark ? "--start-at" : t->delay_ns ? "--delay" : "--duration";
	uint32_t tells;
	size_t i;
	int r = each_name(c, t->event, false, CHECK, e);

	if (r)
		return err_wrap(e, "%s", option);
	switches_find(c, t->event, &i, &tells);
	if (!tells)
		switched_at(c, i)->time = t;
	for (i = 0; i < NR_TELLS; i++)
		if (tells >> i & 1 && c->o->jvm_events >> i & 1)
			c->switches.tells[i].time = t;
	if (t->delay_ns || t->mark)
		each_name(c, t->event, false, SET, e);
	return 0;
}

static int set_times(struct collect *c, struct err *e)
{
	size_t i;
	int r = 0;

	c->switches.marks = xcalloc(c->o->nr_times + 1, sizeof(*c->switches.marks));
	for (i = 0; i < c->o->nr_times && !r; i++)
		r = set_time(c, &c->o->times[i], e);
	return r;
}

int switches_init(struct collect *c, struct err *e)
{
	size_t i;
	int r;

	c->switches.perf = xcalloc(nr_perf(c) + 1, sizeof(*c->switches.perf));
	for (i = 0; i < nr_perf(c) + c->o->nr_sources; i++)
		switched_at(c, i)->set = true;
	for (i = 0; i < c->o->nr_sources; i++)
		c->switches.sources[i].fixed = is_fixed(c, c->o->sources[i].kind);
	c->switches.calls.set = c->o->callflow.on;
	c->switches.calls.fixed = c->o->callflow.layout.flags & CALLFLOW_EVENTS;
	for (i = 0; i < NR_TELLS; i++)
		c->switches.tells[i].set = c->o->jvm_events >> i & 1;
	for (i = 0; i < NR_TELLS; i++)
		c->switches.tells[i].fixed = c->o->callflow.on && JVM_TELL_LABEL >> i == 1;
	r = c->o->disabled ? each_name(c, c->o->disabled, false, SET, e) : 0;
	return r ? err_wrap(e, "--disabled") : set_times(c, e);
}

void switches_release(struct switches *s)
{
	free(s->marks);
	free(s->perf);
}
