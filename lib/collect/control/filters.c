// SPDX-License-Identifier: GPL-2.0-or-later
/* filters.c - applies rules to events before they are stored (filters.h). */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/control/filters.h"
#include "collect/engine/recording.h"
#include "collect/jvm/classname.h"

_Static_assert(FILTERS_SOURCE + COLLECT_MAX_SOURCES <= FILTERS_EVENT && FILTERS_EVENT <= 64, "a bit for each");
_Static_assert(FILTERS_EVENT + JVM_EVENT_NR <= FILTERS_NR, "one for each kind");

/* names of kinds of events in reports and in record -e */
static const struct rule_event kinds[JVM_EVENT_NR] = {
#define EVENT(kind, name, group, ...) [JVM_EVENT_##kind] = { (name), (group) },
#define UNRULED(...)
#include "base/eventkinds.h"
};

/* ---- events ---- */

/* Return the event of that number; false: there is none. */
static bool event_at(const struct collect *c, uint32_t event, struct rule_event *to)
{
	const struct evconf *ev = &c->o->ev;
	bool known = true;

	*to = (struct rule_event){ NULL };
	if (event < FILTERS_SOURCE && event < ev->nr_events)
		*to = (struct rule_event){ ev->events[event].name, event ? NULL : "cpu" };
	else if (event >= FILTERS_SOURCE && event < FILTERS_SOURCE + c->o->nr_sources)
		to->name = c->o->sources[event - FILTERS_SOURCE].kind->name;
	else if (event >= FILTERS_EVENT && event < FILTERS_EVENT + JVM_EVENT_NR)
		*to = kinds[event - FILTERS_EVENT];
	else
		known = false;
	return known;
}

static bool is_perf(const struct collect *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->o->ev.nr_events && strcmp(c->o->ev.events[i].name, name); i++)
		;
	return i < c->o->ev.nr_events;
}

static int filters_check(const struct collect *c, const struct rules *r, struct err *e)
{
	const char *name;
	size_t i;

	for (i = 0; i < r->nr; i++) {
		name = rules_strange_event(r, i);
		if (name && !is_perf(c, name))
			return err_set(e, EINVAL, "filter: '%s' is neither an event of this recording nor one of arcprof's own",
				       name);
		if (r->all[i].of == RULE_PHASE) {
			err_set(e, EINVAL, "filter: of a phase it is known when it ends");
			err_hint(e, "record all of it, with the event mark; 'arcprof report --filter' selects by phases");
			return -EINVAL;
		}
	}
	return 0;
}

/* ---- names ---- */

static struct known *know(struct filters *f, struct map *m, uint32_t number)
{
	uint32_t *at = map_put(m, number);

	if (*at == MAP_NONE && f->first_free) {
		*at = f->first_free - 1;
		f->first_free = f->list[*at].next_free;
		f->list[*at] = (struct known){ NULL };
	} else if (*at == MAP_NONE) {
		VEC_GROW(f->list, f->nr_list, f->alloc_list);
		*at = f->nr_list;
		f->list[f->nr_list++] = (struct known){ NULL };
	}
	return &f->list[*at];
}

static bool filter_key_is_there(void *ctx, uint64_t key, uint32_t at)
{
	return ((const struct filters *)ctx)->list[at].name;
}

/* Forget all names when the map grows too large, as it cannot drop single keys. */
static void filters_forget(struct filters *f, struct map *m, uint32_t number)
{
	enum { FEW = 4096 };
	uint32_t at = map_get(m, number);

	if (at == MAP_NONE || !f->list[at].name)
		return;
	free(f->list[at].name);
	free(f->list[at].group);
	f->list[at] = (struct known){ NULL };
	if (++f->nr_forgotten < FEW || f->nr_forgotten * 2 < f->nr_list)
		return;
	map_filter(&f->threads, filter_key_is_there, f);
	map_filter(&f->classes, filter_key_is_there, f);
	f->first_free = 0;
	for (at = f->nr_list; at-- > 0;)
		if (!f->list[at].name) {
			f->list[at].next_free = f->first_free;
			f->first_free = at + 1;
		}
	f->nr_forgotten = 0;
}

static void known_set_name(struct known *k, const char *name)
{
	free(k->name);
	k->name = xstrdup(name);
	k->asked = 0;
}

void filters_thread(struct filters *f, uint32_t thread, const char *name, bool java, bool virtual)
{
	struct known *k;

	if (!f)
		return;
	k = know(f, &f->threads, thread);
	if (k->java && !java)
		return;
	k->java = java;
	k->virtual = virtual && *name != '[';
	known_set_name(k, *name || !virtual ? name : "[virtual threads]");
}

void filters_group(struct filters *f, uint32_t thread, const char *name)
{
	struct known *k;

	if (!f)
		return;
	k = know(f, &f->threads, thread);
	free(k->group);
	k->group = xstrdup(name);
	k->asked = 0;
}

void filters_forget_thread(struct filters *f, uint32_t thread)
{
	if (f)
		filters_forget(f, &f->threads, thread);
}

void filters_class(struct filters *f, uint32_t function, const char *name)
{
	known_set_name(know(f, &f->classes, function), name);
}

void filters_forget_class(struct filters *f, uint32_t function)
{
	filters_forget(f, &f->classes, function);
}

/* ---- asking ---- */

static const struct known *filters_known(const struct filters *f, const struct map *m, uint32_t number)
{
	uint32_t at = map_get(m, number);

	return at != MAP_NONE && f->list[at].name ? &f->list[at] : NULL;
}

static const char *known_group(const struct known *k)
{
	return !k ? "" : k->virtual ? RULES_VIRTUAL_GROUP : k->group ? k->group : "";
}

static bool ask_thread(const struct rules *r, const struct rule_event *event, const struct known *k)
{
	return rules_want(r, RULE_EVENT, event, NULL) &&
	       rules_want(r, RULE_THREAD, event, k ? k->name : "[unknown thread]") &&
	       rules_want(r, RULE_GROUP, event, known_group(k)) &&
	       rules_want(r, RULE_KIND, event, k && k->virtual ? "virtual" : "platform");
}

static bool ask_class(const struct rules *r, const struct rule_event *event, const struct known *k)
{
	return !k || rules_want(r, RULE_CLASS, event, k->name);
}

typedef bool (*ask_fn)(const struct rules *r, const struct rule_event *event, const struct known *k);

/* Return whether the rules want an event, remembering the answer for those in force now. */
static bool want(struct filters *f, const struct rules *r, uint32_t event, const struct rule_event *names,
		 const struct known *k, ask_fn ask)
{
	struct known *own = (struct known *)k;
	bool yes;

	if (!k || r != f->now || event >= 64)
		return ask(r, names, k);
	if (own->generation != f->generation) {
		own->generation = f->generation;
		own->asked = 0;
	}
	if (own->asked >> event & 1)
		return own->wanted >> event & 1;
	yes = ask(r, names, k);
	own->asked |= 1ull << event;
	own->wanted &= ~(1ull << event);
	own->wanted |= (uint64_t)yes << event;
	return yes;
}

static const struct rules *rules_at(const struct filters *f, uint64_t time_ns)
{
	return time_ns < f->since_ns ? f->before : f->now;
}

static bool wants(struct collect *c, const struct rules *r, uint32_t event, uint32_t thread,
		  uint32_t function)
{
	struct filters *f = &c->filters;
	struct rule_event names;

	if (!event_at(c, event, &names))
		return true;
	return want(f, r, event, &names, filters_known(f, &f->threads, thread), ask_thread) &&
	       (!function || !(r->has >> RULE_CLASS & 1) ||
		want(f, r, event, &names, filters_known(f, &f->classes, function), ask_class));
}

static bool filters_count(struct collect *c, uint32_t event, bool wanted)
{
	c->filters.left_out[event] += !wanted;
	return wanted;
}

bool filters_want_perf(struct collect *c, uint32_t event, uint32_t thread, uint64_t time_ns)
{
	const struct rules *r = rules_at(&c->filters, time_ns);

	return !r || event >= FILTERS_SOURCE || filters_count(c, event, wants(c, r, event, thread, 0));
}

/* Return whether all events of a source must be kept: those that report what is freed. */
static bool filters_is_whole(const struct collect *c, size_t source)
{
	const struct source_kind *k = c->o->sources[source].kind;

	return k->jvm == JVM_SOURCE_LIVE || k->jvm == JVM_SOURCE_MEMORY || k->arg == SOURCE_FOLLOWS;
}

bool filters_want_source(struct collect *c, size_t source, uint32_t thread, uint32_t function,
			 uint64_t time_ns)
{
	const struct rules *r = rules_at(&c->filters, time_ns);

	if (!r || filters_is_whole(c, source))
		return true;
	return filters_count(c, FILTERS_SOURCE + source,
			     wants(c, r, FILTERS_SOURCE + source, thread, function));
}

bool filters_keep_source(struct collect *c, size_t source, uint32_t thread, uint64_t time_ns)
{
	const struct rules *r = rules_at(&c->filters, time_ns);

	return !r || wants(c, r, FILTERS_SOURCE + source, thread, 0);
}

bool filters_want_wait(struct collect *c, size_t source, uint32_t thread, uint32_t function,
		       const struct jvm_wait *w)
{
	const struct rules *r = rules_at(&c->filters, w->time_ns);
	struct rule_event names;

	if (!r || !event_at(c, FILTERS_SOURCE + source, &names))
		return true;
	return filters_count(c, FILTERS_SOURCE + source,
			     wants(c, r, FILTERS_SOURCE + source, thread, function) &&
			     rules_want_length(r, &names, w->ns));
}

bool filters_of_waits(const struct collect *c, uint64_t time_ns)
{
	static const struct rule_event lock = { "lock", NULL };
	const struct rules *r = rules_at(&c->filters, time_ns);
	enum rule_of of;

	if (!r)
		return false;
	for (of = RULE_THREAD; of < RULE_NR && !rules_concern(r, of, &lock); of++)
		;
	return of < RULE_NR || !rules_want(r, RULE_EVENT, &lock, NULL);
}

static bool has_class(uint32_t kind)
{
	static const bool has[JVM_EVENT_NR] = {
#define EVENT(kind, name, group, lasts, told, text, ...) [JVM_EVENT_##kind] = (text) != TEXT_ANY,
#include "base/eventkinds.h"
	};

	return has[kind];
}

static bool wants_class(const struct rules *r, const struct rule_event *names, const struct jvm_event *x)
{
	struct buf name = BUF_INIT;
	bool yes = true;

	if (r->has >> RULE_CLASS & 1 && has_class(x->kind) && x->what_len) {
		classname_put(&name, x->what, x->what_len);
		yes = rules_want(r, RULE_CLASS, names, name.data);
	}
	buf_release(&name);
	return yes;
}

static bool has_length(uint32_t kind)
{
	static const bool told[JVM_EVENT_NR] = {
#define EVENT(kind, name, group, lasts, told, ...) [JVM_EVENT_##kind] = (told),
#include "base/eventkinds.h"
	};

	return told[kind];
}

bool filters_have_rules(const struct collect *c, uint64_t time_ns)
{
	return rules_at(&c->filters, time_ns);
}

bool filters_want_event(struct collect *c, uint32_t thread, const struct jvm_event *x)
{
	const struct rules *r = rules_at(&c->filters, x->time_ns);
	const struct rule_event *names;
	bool yes;

	if (!r || x->kind >= JVM_EVENT_NR || x->kind == JVM_EVENT_CLASS_TIME)
		return true;		/* the time of a load is of no use without it */
	names = &kinds[x->kind];
	yes = rules_want(r, RULE_EVENT, names, NULL) && wants_class(r, names, x);
	if (yes && thread)
		yes = wants(c, r, FILTERS_EVENT + x->kind, thread, 0);
	if (yes && has_length(x->kind) && x->duration_ns != UINT64_MAX)
		yes = rules_want_length(r, names, x->duration_ns);
	return filters_count(c, FILTERS_EVENT + x->kind, yes);
}

/* ---- what is in force ---- */

int filters_init(struct collect *c, struct err *e)
{
	c->filters.now = c->o->filter && c->o->filter->nr ? c->o->filter : NULL;
	c->filters.before = c->filters.now;
	return c->filters.now ? filters_check(c, c->filters.now, e) : 0;
}

void filters_release(struct filters *f)
{
	size_t i;

	for (i = 0; i < f->nr_list; i++) {
		free(f->list[i].name);
		free(f->list[i].group);
	}
	free(f->list);
	map_release(&f->threads);
	map_release(&f->classes);
	rules_release(&f->set[0]);
	rules_release(&f->set[1]);
}

static void write_rules(struct collect *c, uint64_t time_ns)
{
	enum { MOST = 4000 };
	struct rec_filter r = { .time_ns = time_ns, .event = "", .rules = "" };
	struct buf text = BUF_INIT;

	if (c->filters.now)
		rules_text(c->filters.now, &text);
	if (text.len) {
		r.rules = text.data;
		r.rules_len = MIN(text.len, (size_t)MOST);
	}
	trace_write_filter(c->w, &r);
	buf_release(&text);
}

void filters_begin_file(struct collect *c, uint64_t time_ns)
{
	if (c->filters.now)
		write_rules(c, time_ns);
}

void filters_end_file(struct collect *c)
{
	struct rule_event names;
	uint32_t i;

	for (i = 0; i < FILTERS_NR; i++) {
		uint64_t *n = &c->filters.left_out[i];

		if (!*n || !event_at(c, i, &names))
			continue;
		trace_write_filter(c->w, &(struct rec_filter){
			.time_ns = clock_mono_ns(), .left_out = *n, .event = names.name,
			.event_len = strlen(names.name), .rules = "",
		});
		*n = 0;
	}
}

int filters_set(struct collect *c, const char *text, struct err *e)
{
	struct filters *f = &c->filters;
	struct rules new = { 0 };
	int r = strcmp(text, "none") ? rules_list(&new, text, e) : 0;

	if (!r)
		r = filters_check(c, &new, e);
	if (r) {
		rules_release(&new);
		return r;
	}
	collect_merge(c, clock_mono_ns());	/* by what was in force so far */
	collect_hear_agents(c, true);
	rules_release(&f->set[1]);
	f->set[1] = f->set[0];
	f->before = f->now && f->now == &f->set[0] ? &f->set[1] : f->now;
	f->set[0] = new;
	f->now = new.nr ? &f->set[0] : NULL;
	f->generation++;
	f->since_ns = clock_mono_ns();
	write_rules(c, f->since_ns);
	trace_writer_flush(c->w);
	return 0;
}

bool filters_were_set(const struct collect *c)
{
	return c->filters.since_ns;
}

void filters_list(const struct collect *c, struct buf *b)
{
	if (!c->filters.now)
		return;
	buf_str(b, "filter: ");
	rules_text(c->filters.now, b);
	buf_putc(b, '\n');
}
