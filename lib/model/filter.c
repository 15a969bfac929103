// SPDX-License-Identifier: GPL-2.0-or-later
/* filter.c - applies rules to the samples and events of a trace (filter.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/filter.h"

/* from then on, phases of this process are wanted or not; times of a process ascend */
struct step {
	uint64_t time_ns;
	uint32_t proc;
	bool want;
};

struct edge {			/* a phase begins or ends */
	uint64_t time_ns;
	uint32_t proc, name;		/* name: strtab id of the model */
	bool begins;
};

enum { EVENTS = 64 };

struct filter {
	const struct rules *r;
	struct names *names;
	struct rule_event events[EVENTS];
	/* it counts what the event before it has the amount of; or charges somebody else */
	bool counts[EVENTS], charges[EVENTS];
	uint64_t lasting;		/* names_lasting_events() */
	uint32_t nr_events;
	struct {			/* the sample before, and whether its length was wanted */
		uint64_t time_ns;
		uint32_t thread;
		bool want;
	} last;
	struct map threads;		/* (thread, event) -> 0, 1 */
	struct map classes;		/* (function, event) -> 0, 1 */
	struct map waited;		/* (thread, time), hashed -> index in lengths */
	uint64_t *lengths;
	size_t nr_lengths, alloc_lengths;
	bool has_lengths;
	struct edge *edges;
	size_t nr_edges, alloc_edges;
	struct step *steps;		/* by process and time */
	size_t nr_steps, alloc_steps;
};

/* ---- what the trace says beside names ---- */

static bool filter_has(const struct filter *f, enum rule_of of)
{
	return f->r->has & RULE_BIT(of);
}

static int take_waited(void *ctx, const struct rec_waited *r)
{
	struct filter *f = ctx;

	VEC_GROW(f->lengths, f->nr_lengths, f->alloc_lengths);
	*map_put(&f->waited, hash_pair(r->thread, r->time_ns)) = f->nr_lengths;
	f->lengths[f->nr_lengths++] = r->ns;
	return 0;
}

static void add_edge(struct filter *f, const struct edge *x)
{
	*VEC_ADD(f->edges, f->nr_edges, f->alloc_edges) = *x;
}

static void add_phase(struct filter *f, uint32_t proc, uint64_t time_ns, uint64_t duration_ns, uint32_t name)
{
	struct edge x = { .time_ns = time_ns, .proc = proc, .name = name, .begins = true };

	if (!filter_has(f, RULE_PHASE) || duration_ns == EVENT_UNKNOWN)
		return;
	add_edge(f, &x);
	x.time_ns = time_ns + MIN(duration_ns, UINT64_MAX - time_ns);
	x.begins = false;
	add_edge(f, &x);
}

static int filter_take_event(void *ctx, const struct rec_event *r)
{
	struct filter *f = ctx;

	if (r->kind == EVENT_PHASE)
		add_phase(f, r->proc, r->time_ns, r->duration_ns,
			  strtab_add(&f->names->m->consumers.names, r->what, r->what_len));
	return 0;
}

static int take_marked(void *ctx, const struct rec_marked *r)
{
	struct filter *f = ctx;

	add_phase(f, r->proc, r->time_ns, r->duration_ns,
		  strtab_add(&f->names->m->consumers.names, r->name, r->name_len));
	return 0;
}

/* Order edges by time. If one phase ends as another begins, both hold: the later does not lack any. */
static int edges_by_time(const void *p, const void *q)
{
	const struct edge *a = p, *b = q;

	return COMPARE(a->proc, b->proc) ?: COMPARE(a->time_ns, b->time_ns) ?: b->begins - a->begins;
}

struct active {
	const char **names;
	uint32_t *ids;
	size_t nr, alloc;
};

static void filter_follow(struct active *a, const struct filter *f, const struct edge *x)
{
	size_t i;

	if (x->begins) {
		size_t alloc = a->alloc;

		VEC_GROW(a->ids, a->nr, a->alloc);
		if (a->alloc != alloc)
			a->names = xrealloc(a->names, a->alloc * sizeof(*a->names));
		a->names[a->nr] = model_str(f->names->m, x->name);
		a->ids[a->nr++] = x->name;
		return;
	}
	for (i = a->nr; i-- > 0;)
		if (a->ids[i] == x->name) {
			a->ids[i] = a->ids[--a->nr];
			a->names[i] = a->names[a->nr];
			return;
		}
}

static const struct rule_event any_event;

static void add_step(struct filter *f, const struct step *x)
{
	bool none = rules_want_any(f->r, RULE_PHASE, &any_event, NULL, 0), before;

	if (f->nr_steps && f->steps[f->nr_steps - 1].proc == x->proc &&
	    f->steps[f->nr_steps - 1].time_ns == x->time_ns)
		f->nr_steps--;
	before = f->nr_steps && f->steps[f->nr_steps - 1].proc == x->proc ? f->steps[f->nr_steps - 1].want :
									  none;
	if (x->want == before)
		return;
	*VEC_ADD(f->steps, f->nr_steps, f->alloc_steps) = *x;
}

static void make_steps(struct filter *f)
{
	struct active a = { 0 };
	size_t i;

	if (f->nr_edges)
		qsort(f->edges, f->nr_edges, sizeof(*f->edges), edges_by_time);
	for (i = 0; i < f->nr_edges; i++) {
		const struct edge *x = &f->edges[i];

		if (i && x->proc != x[-1].proc)
			a.nr = 0;
		filter_follow(&a, f, x);
		add_step(f, &(struct step){
			x->time_ns, x->proc, rules_want_any(f->r, RULE_PHASE, &any_event, a.names, a.nr) });
	}
	free(a.names);
	free(a.ids);
	free(f->edges);
	f->edges = NULL;
}

/* Return the first step of the process after that time, or where one would be. */
static size_t step_after(const struct filter *f, uint32_t proc, uint64_t time_ns)
{
	const struct step *s = f->steps;

	return BISECT(i, f->nr_steps, s[i].proc < proc || (s[i].proc == proc && s[i].time_ns <= time_ns));
}

/* Return whether the time before that step is wanted. */
static bool wants_before(const struct filter *f, uint32_t proc, size_t step)
{
	if (step && f->steps[step - 1].proc == proc)
		return f->steps[step - 1].want;
	return rules_want_any(f->r, RULE_PHASE, &any_event, NULL, 0);
}

bool filter_in_phases(const struct filter *f, uint32_t proc, uint64_t time_ns)
{
	if (!f || !filter_has(f, RULE_PHASE))
		return true;
	return wants_before(f, proc, step_after(f, proc, time_ns));
}

static uint32_t filter_proc_of(const struct names *x, uint32_t thread)
{
	uint32_t at = map_get(&x->thread_of, thread);

	return at == MAP_NONE ? 0 : x->threads[at].proc;
}

static bool is_step_of(const struct filter *f, uint32_t proc, size_t i)
{
	return i < f->nr_steps && f->steps[i].proc == proc;
}

bool filter_next_part(const struct filter *f, uint32_t thread, uint64_t *from_ns, uint64_t to_ns,
		      uint64_t *end_ns)
{
	uint32_t proc;
	size_t i;

	*end_ns = to_ns;
	if (!f || !filter_has(f, RULE_PHASE) || *from_ns >= to_ns)
		return *from_ns < to_ns;
	proc = filter_proc_of(f->names, thread);
	i = step_after(f, proc, *from_ns);
	if (!wants_before(f, proc, i)) {
		if (!is_step_of(f, proc, i) || f->steps[i].time_ns >= to_ns)
			return false;
		*from_ns = f->steps[i++].time_ns;
	}
	if (is_step_of(f, proc, i))
		*end_ns = MIN(to_ns, f->steps[i].time_ns);
	return true;
}

/* ---- events by name ---- */

static bool is_source(const char *name)
{
	static const char *const names[] = { "alloc", "live", "lifetime", "wall", "lock", "throws", "notify",
					     "http", "rmi", "grpc", "sql", "native-memory", "native-live" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && strcmp(names[i], name); i++)
		;
	return i < ARRAY_SIZE(names);
}

static void list_events(struct filter *f)
{
	const char *name;

	f->lasting = names_lasting_events(f->names);
	for (; f->nr_events < EVENTS && (name = names_event_of(f->names, f->nr_events)); f->nr_events++) {
		if (!strcmp(name, "survived") || !strcmp(name, "freed") || !strcmp(name, "live-unknown"))
			name = "live";
		if (!strcmp(name, "native-unknown"))
			name = "native-live";
		f->events[f->nr_events] = (struct rule_event){
			name, f->nr_events || is_source(name) ? NULL : "cpu",
		};
		f->counts[f->nr_events] = names_event(f->names, f->nr_events, ".of");
		f->charges[f->nr_events] = names_event(f->names, f->nr_events, ".source");
	}
}

static bool is_sampled(const struct filter *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->nr_events && strcmp(f->events[i].name, name); i++)
		;
	return i < f->nr_events;
}

static int check_events(const struct filter *f, struct err *e)
{
	const char *name;
	size_t i;

	for (i = 0; i < f->r->nr; i++) {
		name = rules_strange_event(f->r, i);
		if (name && !is_sampled(f, name))
			return err_set(e, EINVAL, "'%s' is neither an event of this trace nor one of arcprof's own",
				       name);
	}
	return 0;
}

/* Refuse rules about lengths where samples do not have them as weights. */
static int check_lengths(struct filter *f, struct err *e)
{
	static const struct rule_event lock = { "lock", NULL };

	f->has_lengths = names_label(f->names, WAITED_LABEL);
	if (f->has_lengths || !is_sampled(f, "lock") || !rules_concern(f->r, RULE_LENGTH, &lock))
		return 0;
	err_set(e, ENODATA, "the trace does not say how long single waits for locks were");
	err_hint(e, "this arcprof records it: record again");
	return -ENODATA;
}

int filter_new(struct filter **out, struct names *x, const struct rules *r, struct trace_reader *t,
	       struct err *e)
{
	static const struct trace_sink sink = {
		.waited = take_waited, .event = filter_take_event, .marked = take_marked,
	};
	struct filter *f;
	int ret;

	*out = NULL;
	if (!r || !r->nr)
		return 0;
	f = xcalloc(1, sizeof(*f));
	f->r = r;
	f->names = x;
	list_events(f);
	ret = check_events(f, e);
	if (!ret)
		ret = check_lengths(f, e);
	if (!ret && (filter_has(f, RULE_PHASE) || filter_has(f, RULE_LENGTH)))
		ret = trace_read(t, &sink, f, e);
	make_steps(f);
	if (ret)
		filter_free(f);
	else
		*out = f;
	return ret;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	map_release(&f->threads);
	map_release(&f->classes);
	map_release(&f->waited);
	free(f->lengths);
	free(f->edges);
	free(f->steps);
	free(f);
}

/* ---- asking ---- */

/* Return the group of a thread; 0: a virtual one. */
static const char *filter_group_of(const struct names *x, uint32_t thread, bool virtual)
{
	uint32_t at = map_get(&x->thread_of, thread), group = at == MAP_NONE ? 0 : x->threads[at].group;

	return virtual ? RULES_VIRTUAL_GROUP : group ? model_str(x->m, group) : "";
}

static bool wants_name(const struct filter *f, const struct rule_event *event, const char *name,
		       uint32_t thread, bool virtual)
{
	return rules_want(f->r, RULE_THREAD, event, name) &&
	       rules_want(f->r, RULE_GROUP, event, filter_group_of(f->names, thread, virtual)) &&
	       rules_want(f->r, RULE_KIND, event, virtual ? "virtual" : "platform");
}

/*
 * Return whether a thread is virtual. A thread without a number also stands for the missing owner of a lock.
 */
static bool filter_is_virtual(const struct names *x, uint32_t thread)
{
	uint32_t at = map_get(&x->thread_of, thread);
	const struct name_thread *th = at == MAP_NONE ? NULL : &x->threads[at];

	return th && th->java && !th->tid && *model_str(x->m, th->name) != '[';
}

static bool wants_thread(struct filter *f, const struct rule_event *event, uint32_t thread)
{
	uint32_t proc, consumer = names_thread(f->names, thread, &proc);

	return wants_name(f, event, model_str(f->names->m, f->names->m->consumers.items[consumer].name),
			  thread, filter_is_virtual(f->names, thread));
}

static bool wants_class(struct filter *f, uint32_t event, uint32_t function)
{
	uint32_t *known = map_put(&f->classes, names_pair(function, event)), at;
	const struct name_function *fn;

	if (*known != MAP_NONE)
		return *known;
	at = map_get(&f->names->function_of, function);
	fn = at == MAP_NONE ? NULL : &f->names->functions[at];
	*known = !fn || fn->kind != CONSUMER_CLASS ||
		 rules_want(f->r, RULE_CLASS, &f->events[event], model_str(f->names->m, fn->text));
	return *known;
}

static uint64_t filter_length_of(const struct filter *f, const struct rec_sample *r)
{
	uint32_t at = map_get(&f->waited, hash_pair(r->thread, r->time_ns));

	return at == MAP_NONE ? r->weight : f->lengths[at];
}

/* Leave out all waits that are not known one by one, or keep them if no rule is about them. */
static bool wants_length(struct filter *f, const struct rec_sample *r)
{
	const struct rule_event *event = &f->events[r->event];
	uint64_t ns;

	if (!filter_has(f, RULE_LENGTH) || !rules_concern(f->r, RULE_LENGTH, event))
		return true;
	if (f->charges[r->event])
		return false;
	if (f->counts[r->event])
		return f->last.want && f->last.time_ns == r->time_ns && f->last.thread == r->thread;
	ns = filter_length_of(f, r);
	f->last.time_ns = r->time_ns;
	f->last.thread = r->thread;
	f->last.want = ns && rules_want_length(f->r, event, ns);
	return f->last.want;
}

static uint32_t leaf_function(const struct rec_sample *r, const struct stack_epoch *ep)
{
	const struct frame *frame;

	if (!r->stack || r->stack >= ep->nr_nodes)
		return 0;
	frame = &ep->frames[ep->nodes[r->stack].frame];
	return frame->kind == FRAME_NAMED ? frame->function : 0;
}

bool filter_wants_sample(struct filter *f, const struct rec_sample *r, const struct stack_epoch *ep)
{
	uint32_t *known, leaf;

	if (!f || r->event >= f->nr_events)
		return true;
	known = map_put(&f->threads, names_pair(r->thread, r->event));
	if (*known == MAP_NONE)
		*known = rules_want(f->r, RULE_EVENT, &f->events[r->event], NULL) &&
			 wants_thread(f, &f->events[r->event], r->thread);
	if (!*known || (!(f->lasting >> r->event & 1) &&
			!filter_in_phases(f, filter_proc_of(f->names, r->thread), r->time_ns)))
		return false;
	leaf = filter_has(f, RULE_CLASS) ? leaf_function(r, ep) : 0;
	return (!leaf || wants_class(f, r->event, leaf)) && wants_length(f, r);
}

bool filter_wants_calls(struct filter *f, uint32_t name, uint32_t thread, bool virtual)
{
	static const struct rule_event calls = { "calls", NULL };

	return !f || (rules_want(f->r, RULE_EVENT, &calls, NULL) &&
		      wants_name(f, &calls, model_str(f->names->m, name), thread, virtual));
}

bool filter_wants_event(struct filter *f, const struct filter_event *x)
{
	if (!f)
		return true;
	if (!rules_want(f->r, RULE_EVENT, &x->event, NULL) ||
	    (!x->any_phase && !filter_in_phases(f, x->proc, x->time_ns)))
		return false;
	if (x->thread && !wants_thread(f, &x->event, x->thread))
		return false;
	if (x->class_name && !rules_want(f->r, RULE_CLASS, &x->event, x->class_name))
		return false;
	return x->duration_ns == UINT64_MAX || rules_want_length(f->r, &x->event, x->duration_ns);
}
