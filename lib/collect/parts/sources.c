// SPDX-License-Identifier: GPL-2.0-or-later
/* sources.c - the table of sources, and the weighing of their samples (sources.h). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "collect/engine/recording.h"
#include "collect/jvm/classname.h"
#include "collect/parts/sources.h"
#include "jvm/inject.h"
#include "trace/format.h"

enum { SHORTEST_NS = 1000000,	/* between two looks */
	EVENTS_OF_SOURCE = 5 };	/* at most: the amount, what is counted, and three more */

static const struct source_kind kinds[] = {
	{ "alloc", "bytes", "objects", NULL, { NULL }, NULL, SOURCE_BYTES, 512 << 10, JVM_SOURCE_ALLOC,
	  "allocated Java objects, by class: a sample every <bytes>, on average" },
	{ "live", "bytes", "live-objects", NULL, { "survived", "freed", "live-unknown" }, NULL, SOURCE_BYTES,
	  32 << 10, JVM_SOURCE_LIVE,
	  "sampled Java objects that are still alive at the end, by class and where they were allocated" },
	{ "lifetime", "ns", "died", NULL, { NULL }, NULL, SOURCE_NO_ARG, 0, JVM_NR_SOURCES,
	  "with live: how long the objects that died had lived, by class and where they were allocated" },
	{ "wall", "ns", NULL, NULL, { NULL }, NULL, SOURCE_TIME, 10000000, JVM_NR_SOURCES,
	  "what each thread does at every moment, and what it waits for; <time> between two looks" },
	{ "wakers", "ns", NULL, NULL, { NULL }, NULL, SOURCE_NO_ARG, 0, JVM_NR_SOURCES,
	  "with wall: the time that threads were blocked, charged to the code that ended it" },
	{ "virtual", "ns", NULL, NULL, { NULL }, "wall", SOURCE_NO_ARG, 0, JVM_SOURCE_VIRTUAL,
	  "with wall: also what virtual threads of Java wait for while unmounted" },
	{ "lock", "ns", "waits", "blame", { NULL }, NULL, SOURCE_TIME, 1000000, JVM_SOURCE_LOCK,
	  "waits for Java and native locks; waits of <time> or longer have stacks, shorter ones in proportion" },
	{ "throws", "exceptions", NULL, NULL, { NULL }, NULL, SOURCE_COUNT, 0, JVM_SOURCE_THROW,
	  "exceptions that Java code throws, by class and stack: every one, or one of <n>, on average" },
	{ "notify", "calls", "notified", NULL, { NULL }, NULL, SOURCE_COUNT, 0, JVM_SOURCE_NOTIFY,
	  "with --lock-exact: calls of notify() and notifyAll(), by stack, and how many threads each wakes" },
	{ "http", "ns", NULL, NULL, { NULL }, NULL, SOURCE_NO_ARG, 0, JVM_SOURCE_HTTP,
	  "HTTP calls made by Java code, and what Java servers do for each (merge --join rpc)" },
	{ "rmi", "ns", NULL, NULL, { NULL }, NULL, SOURCE_NO_ARG, 0, JVM_SOURCE_RMI,
	  "RMI calls made by Java code, and what servers do for each (merge --join rpc)" },
	{ "grpc", "ns", NULL, NULL, { NULL }, NULL, SOURCE_NO_ARG, 0, JVM_SOURCE_GRPC,
	  "gRPC calls made by Java code, and what servers do for each (merge --join rpc)" },
	{ "sql", "ns", "statements", NULL, { NULL }, NULL, SOURCE_TIME, 0, JVM_SOURCE_SQL,
	  "SQL statements that Java code executes through JDBC, without literals: each, or a sample every <time>" },
	{ "native-memory", "bytes", "native-blocks", NULL, { NULL }, NULL, SOURCE_BYTES, 512 << 10,
	  JVM_SOURCE_MEMORY,
	  "malloc(), mmap() and the like, and what was not freed (native-live): a sample every <bytes>, on average" },
	{ "native-live", "bytes", "native-live-blocks", NULL, { "native-unknown" }, NULL, SOURCE_FOLLOWS, 0,
	  JVM_NR_SOURCES, NULL },
	{ 0 },
};

enum { NR_KINDS = ARRAY_SIZE(kinds) - 1 };

_Static_assert(NR_KINDS + 0 <= COLLECT_MAX_SOURCES + 0, "each may be there once");

const struct source_kind *source_kind_at(size_t i)
{
	return i < NR_KINDS ? &kinds[i] : NULL;
}

static const struct source_kind *find_kind(const char *text)
{
	size_t len = strcspn(text, "="), i;

	for (i = 0; i < NR_KINDS; i++)
		if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, text, len))
			return &kinds[i];
	return NULL;
}

bool source_is_named(const char *text)
{
	return find_kind(text);
}

bool source_sets_labels(const struct source_kind *k)
{
	return k->jvm == JVM_SOURCE_HTTP || k->jvm == JVM_SOURCE_RMI || k->jvm == JVM_SOURCE_GRPC;
}

/* Parse how many events one sample stands for; with 1 every event is a sample. */
static int parse_count(const char *arg, uint64_t *n, struct err *e)
{
	int r = opt_parse_u64(arg, n, e);

	if (!r && (!*n || *n > INT32_MAX))
		r = err_set(e, EINVAL, "from 1 to %d", INT32_MAX);
	if (*n == 1)
		*n = 0;
	return r;
}

int source_parse(const char *text, struct source_conf *s, struct err *e)
{
	const struct source_kind *k = find_kind(text);
	const char *arg = text + strlen(k->name);
	int r = 0;

	*s = (struct source_conf){ .kind = k, .interval = k->interval };
	s->is_usual = !*arg;
	if (!*arg++ && k->arg != SOURCE_FOLLOWS)
		return 0;
	if (k->arg == SOURCE_FOLLOWS)
		return err_set(e, EINVAL, "event '%s': it comes with %s", text, k[-1].name);
	if (k->arg == SOURCE_NO_ARG)
		return err_set(e, EINVAL, "event '%s': %s takes no interval", text, k->name);
	r = k->arg == SOURCE_BYTES ? opt_parse_size(arg, &s->interval, e) :
	    k->arg == SOURCE_TIME  ? opt_parse_time(arg, &s->interval, e) :
				     parse_count(arg, &s->interval, e);
	if (r)
		return err_wrap(e, "event '%s'", text);
	if (s->interval < SHORTEST_NS && k->arg == SOURCE_TIME && k->jvm == JVM_NR_SOURCES)
		return err_set(e, EINVAL, "event '%s': at least 1 ms", text);
	if (s->interval > INT32_MAX && k->arg == SOURCE_BYTES)	/* JVMTI's type */
		return err_set(e, EINVAL, "event '%s': at most %d bytes", text, INT32_MAX);
	return 0;
}

/* ---- events in the trace ---- */

static uint32_t nr_events_of(const struct source_kind *k)
{
	return k->into ? 0 : 1 + !!k->count + !!k->blame + !!k->more[0] + !!k->more[1] + !!k->more[2];
}

uint32_t sources_event(const struct collect *c, size_t i)
{
	uint32_t event = collect_nr_events(&c->o->ev);
	size_t k;

	for (k = 0; k < i; k++)
		event += nr_events_of(c->o->sources[k].kind);
	return event;
}

void sources_label(const struct collect *c, uint32_t event, const char *what, const char *fmt, ...)
{
	char key[48], value[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	snprintf(key, sizeof(key), "event.%" PRIu32 "%s%s", event, *what ? "." : "", what);
	trace_write_label(c->w, key, "%s", value);
}

void sources_labels(const struct collect *c)
{
	size_t i, k;

	for (i = 0; i < c->o->nr_sources; i++) {
		const struct source_conf *s = &c->o->sources[i];
		uint32_t event = sources_event(c, i);

		if (s->kind->into)
			continue;
		sources_label(c, event, "", "%s", s->kind->name);
		sources_label(c, event, "unit", "%s", s->kind->unit);
		if (s->interval)
			sources_label(c, event, "interval", "%" PRIu64, s->interval);
		if (s->kind->jvm == JVM_SOURCE_LOCK)
			trace_write_label(c->w, WAITED_LABEL, "1");
		if (s->kind->count) {
			sources_label(c, ++event, "", "%s", s->kind->count);
			sources_label(c, event, "unit", "%s", s->kind->count);
			sources_label(c, event, "of", "%s", s->kind->name);
		}
		if (s->kind->blame) {
			sources_label(c, ++event, "", "%s", s->kind->blame);
			sources_label(c, event, "unit", "%s", s->kind->unit);
			sources_label(c, event, "source", "%s", s->kind->name);
		}
		for (k = 0; k < ARRAY_SIZE(s->kind->more) && s->kind->more[k]; k++) {
			sources_label(c, ++event, "", "%s", s->kind->more[k]);
			sources_label(c, event, "unit", "%s", s->kind->unit);
			if (s->interval)
				sources_label(c, event, "interval", "%" PRIu64, s->interval);
		}
	}
}

/* Label how much of the weights belongs to no file but the last: lib/trace/splice.c subtracts it. */
static void standing_end(struct collect *c, uint32_t first, uint32_t end)
{
	struct sources *s = &c->sources;
	uint32_t event;

	if (s->standing_unknown)
		trace_write_label(c->w, TRF_STANDING_LABEL "live.unknown_bytes", "%" PRIu64,
				  s->standing_unknown);
	for (event = first; s->standing_totals && event < end; event++) {
		char key[64];

		snprintf(key, sizeof(key), TRF_STANDING_LABEL "event.%" PRIu32 ".count", event);
		if (s->standing_totals[event - first])
			trace_write_label(c->w, key, "%" PRIu64, s->standing_totals[event - first]);
	}
	free(s->standing_totals);
	s->standing_totals = NULL;
	s->standing_unknown = 0;
}

static void sources_sums(struct collect *c, bool last)
{
	uint32_t first = collect_nr_events(&c->o->ev), end = sources_event(c, c->o->nr_sources), event;
	size_t i;

	if (sources_find(c, "live") < c->o->nr_sources)
		trace_write_label(c->w, "live.unknown_bytes", "%" PRIu64, c->sources.unknown_bytes);
	for (event = first; c->sources.totals && event < end; event++)
		sources_label(c, event, "count", "%" PRIu64, c->sources.totals[event - first]);
	for (i = 0; c->sources.longest && i < c->o->nr_sources; i++)
		if (c->sources.longest[i])
			sources_label(c, sources_event(c, i), "longest", "%" PRIu64, c->sources.longest[i]);
	standing_end(c, first, end);
	for (i = 0; c->sources.totals && i < c->o->nr_sources; i++)
		c->res->sampled_of_source[i] += c->sources.totals[sources_event(c, i) - first];
	if (c->sources.totals)
		memset(c->sources.totals, 0, (end - first) * sizeof(*c->sources.totals));
	c->sources.unknown_bytes = 0;
}

void sources_release(struct sources *s)
{
	map_release(&s->functions);
	free(s->totals);
	free(s->standing_totals);
	free(s->longest);
}

/* ---- what agents are asked, and say ---- */

static uint64_t sources_interval_of(const struct collect *c, const char *name)
{
	size_t i = sources_find(c, name);

	return i < c->o->nr_sources ? c->o->sources[i].interval : 0;
}

static void sources_ask(const struct collect *c, struct jvm_server_opts *o)
{
	size_t i;

	for (i = 0; i < c->o->nr_sources; i++) {
		const struct source_conf *s = &c->o->sources[i];

		if (s->kind->jvm == JVM_NR_SOURCES)
			continue;
		o->sources |= 1ull << s->kind->jvm;
		o->inject |= s->kind->jvm == JVM_SOURCE_MEMORY ? INJECT_MEMORY :
			     s->kind->jvm == JVM_SOURCE_LOCK ? INJECT_WAITS : 0;
		o->intervals[s->kind->jvm] =
			s->kind->into ? sources_interval_of(c, s->kind->into) : s->interval;
		if (s->kind->jvm == JVM_SOURCE_LOCK) {
			o->lock_filter = c->o->lock_exact;
			o->lock_cpu = c->o->lock_cpu;
		}
		o->live_adapts |= s->kind->jvm == JVM_SOURCE_LIVE && s->is_usual;
		if (s->kind->jvm == JVM_SOURCE_THROW)
			o->may_tell |= JVM_TELL_EXCEPTION;
	}
}

static void take_refusal(void *ctx, struct jvm *jvm, const struct jvm_no_source *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	size_t i = sources_find_jvm(c, r->source);

	if (i == c->o->nr_sources)
		return;
	/* one JVM may lack more than one part of it */
	c->res->nr_no_source[i] += !(j->proc->lacks_sources >> i & 1);
	j->proc->lacks_sources |= 1u << i;
	refused_source(&c->refused, c->o->sources[i].kind->name, j->proc->pid, r->why);
}

/*
 * Return an upper bound of samples per second. It holds for programs that allocate a gigabyte a second, wait
 * all the time on 64 CPUs' worth of threads, or throw 50 000 exceptions per second. For calls over HTTP, by
 * RMI, by gRPC or to a database it holds up to 20 000 a second.
 */
uint64_t sources_expected_hz(const struct collect *c)
{
	enum { MOST_HZ = 250000, CALLS_HZ = 20000 };
	uint64_t hz = 0;
	size_t i;

	for (i = 0; i < c->o->nr_sources; i++) {
		const struct source_conf *s = &c->o->sources[i];
		uint64_t a_second = s->kind->arg == SOURCE_TIME ? 64000000000 : 1000000000;

		if (s->kind->arg == SOURCE_FOLLOWS || s->kind->into)
			continue;
		if (s->kind->arg == SOURCE_COUNT) {
			hz += 50000 / MAX(s->interval, (uint64_t)1);
			continue;
		}
		if (source_sets_labels(s->kind) || (s->kind->jvm == JVM_SOURCE_SQL && !s->interval)) {
			hz += CALLS_HZ;
			continue;
		}
		hz += s->interval ? MIN(a_second / s->interval, (uint64_t)MOST_HZ) : MOST_HZ;
	}
	return hz;
}

uint32_t sources_function(struct sources *s, const struct proc *p, uint32_t leaf)
{
	uint32_t *at = map_put(&s->functions, (uint64_t)p->id << 32 | leaf);

	if (*at == MAP_NONE)
		*at = ++s->nr_functions;
	return *at;
}

struct forgetting {
	const struct map *procs;
	struct collect *c;
};

static bool is_needed(void *ctx, uint64_t key, uint32_t function)
{
	const struct forgetting *x = ctx;
	bool needed = map_get(x->procs, key >> 32) != MAP_NONE;

	if (!needed) {
		trace_writer_forget_function(x->c->w, function);
		filters_forget_class(&x->c->filters, function);
	}
	return needed;
}

static void sources_forget(struct collect *c, const struct map *procs)
{
	map_filter(&c->sources.functions, is_needed, &(struct forgetting){ procs, c });
}

static void take_leaf(struct collect *c, const struct java *j, const struct jvm_leaf *leaf)
{
	struct rec_function r = { .kind = FUNCTION_REASON, .module = "", .file = "" };
	struct buf b = BUF_INIT;

	r.function = sources_function(&c->sources, j->proc, leaf->leaf);
	if (leaf->kind == JVM_LEAF_CLASS) {
		r.kind = FUNCTION_CLASS;
		classname_put(&b, leaf->name, leaf->name_len);
	} else {
		buf_add(&b, leaf->name, leaf->name_len);
	}
	r.name = b.data ? b.data : "";
	r.name_len = b.len;
	if (r.kind == FUNCTION_CLASS)
		filters_class(&c->filters, r.function, r.name);
	trace_write_function(c->w, &r);
	buf_release(&b);
}

/* ---- samples ---- */

/*
 * Return a number in [0, 1), by xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators" (2016).
 */
static double random_part(struct sources *s)
{
	s->random = s->random ? s->random : 0x9e3779b97f4a7c15ull;
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (double)(s->random * 0x2545f4914f6cdd1dull >> 11) * 0x1p-53;
}

/* Round to one of the integers beside it, so that it is right on average; sums stay far below 2^64. */
static uint64_t rounded(struct sources *s, double v)
{
	double whole = floor(v);

	if (!(v < 0x1p62))
		return 1ull << 62;
	return (uint64_t)whole + (random_part(s) < v - whole);
}

static void sources_add(struct collect *c, uint64_t **totals, uint32_t event, uint64_t weight)
{
	if (!*totals)
		*totals = xcalloc(EVENTS_OF_SOURCE * COLLECT_MAX_SOURCES, sizeof(**totals));
	(*totals)[event - collect_nr_events(&c->o->ev)] += weight;
}

static void add_weight(struct collect *c, uint32_t event, uint64_t weight)
{
	sources_add(c, &c->sources.totals, event, weight);
	if (c->is_standing)
		sources_add(c, &c->sources.standing_totals, event, weight);
}

static void count_sample(struct collect *c, size_t i)
{
	if (c->is_standing)
		return;
	c->res->nr_samples++;
	c->res->nr_of_source[i]++;
}

/* Returns the weight that it has. */
static uint64_t write_event(struct collect *c, uint32_t event, double weight, const struct rec_sample *s)
{
	struct rec_sample r = *s;

	r.event = event;
	r.weight = rounded(&c->sources, weight);
	trace_write_sample(c->w, &r);
	add_weight(c, event, r.weight);
	return r.weight;
}

static void write_weighed(struct collect *c, size_t i, double weight, double count,
			  const struct rec_sample *s)
{
	uint32_t event = sources_event(c, i);

	write_event(c, event, weight, s);
	if (c->o->sources[i].kind->count)
		write_event(c, event + 1, count, s);
	count_sample(c, i);
}

/* Return the probability that an amount of that size is a sample. */
static double probability_at(uint64_t interval, uint64_t value)
{
	return interval ? -expm1(-(double)value / (double)interval) : 1;
}

static double probability(const struct source_conf *source, uint64_t value)
{
	return probability_at(source->interval, value);
}

/* Return the interval with which the agent chose the sample, which may be longer than the requested one. */
static uint64_t chosen_at(const struct source_conf *source, const struct jvm_sample *s)
{
	const uint32_t doubled = s->event == JVM_SOURCE_ALLOC || s->event == JVM_SOURCE_THROW ? s->id :
				 s->event == JVM_SOURCE_NOTIFY ? jvm_woken_doubled(s->id) : 0;

	return jvm_doubled_interval(source->interval, MIN(doubled, (uint32_t)JVM_MOST_DOUBLED));
}

double sources_estimate(const struct collect *c, size_t i, const struct jvm_sample *s)
{
	const double value = (double)s->value;

	return s->value ? value / probability_at(chosen_at(&c->o->sources[i], s), s->value) : 0;
}

/* Write a complete sample of source i, hit for value with that interval; s has all but event and weight. */
static void sources_write(struct collect *c, size_t i, uint64_t value, uint64_t interval,
			  const struct rec_sample *s)
{
	double size = (double)value, p = probability_at(interval, value);

	if (value)		/* else it was never hit: an agent that lies */
		write_weighed(c, i, size / p, 1 / p, s);
}

void sources_write_rest(struct collect *c, uint32_t jvm_source, uint64_t amount, const struct rec_sample *s)
{
	size_t i = sources_find_jvm(c, jvm_source);

	if (i < c->o->nr_sources)
		write_event(c, sources_event(c, i), amount, s);
}

void sources_write_wait(struct collect *c, uint32_t jvm_source, uint64_t amount, double count,
			const struct rec_sample *s)
{
	size_t i = sources_find_jvm(c, jvm_source);

	if (i < c->o->nr_sources)
		write_weighed(c, i, amount, count, s);
}

void sources_blame(struct collect *c, uint32_t jvm_source, uint64_t amount, const struct rec_sample *s)
{
	size_t i = sources_find_jvm(c, jvm_source);

	if (i < c->o->nr_sources && c->o->sources[i].kind->blame)
		write_event(c, sources_event(c, i + 1) - 1, amount, s);
}

static void write_wait(struct collect *c, size_t i, const struct jvm_sample *s, const struct rec_sample *r)
{
	uint64_t ns;
	double waits;

	if (!locks_weigh(c, s, &ns, &waits))
		return;
	write_weighed(c, i, ns, waits, r);
	if (ns != s->value)
		trace_write_waited(c->w, &(struct rec_waited){
			.time_ns = r->time_ns, .thread = r->thread, .ns = s->value,
		});
}

/* Write a call of notify() and, with its weight, the number of threads that it woke. */
static void write_notify(struct collect *c, size_t i, uint64_t interval, uint32_t nr_woken,
			 const struct rec_sample *r)
{
	const double calls = 1 / probability_at(interval, 1);
	uint32_t event = sources_event(c, i);

	write_event(c, event, calls, r);
	if (nr_woken)
		write_event(c, event + 1, nr_woken * calls, r);
	count_sample(c, i);
}

static void write_chosen(struct collect *c, size_t i, const struct jvm_sample *s, const struct rec_sample *r)
{
	const uint64_t interval = chosen_at(&c->o->sources[i], s);
	uint64_t *longest = c->sources.longest;

	if (interval != c->o->sources[i].interval) {
		longest = longest ? longest : xcalloc(COLLECT_MAX_SOURCES, sizeof(*longest));
		longest[i] = MAX(longest[i], interval);
		c->sources.longest = longest;
	}
	if (s->event == JVM_SOURCE_NOTIFY)
		write_notify(c, i, interval, jvm_woken(s->id), r);
	else
		sources_write(c, i, s->value, interval, r);
}

void sources_live(struct collect *c, const struct rec_sample *s, uint64_t value)
{
	size_t i = sources_find(c, "native-live");

	if (i < c->o->nr_sources)
		sources_write(c, i, value, c->o->sources[i].interval, s);
}

void sources_untracked(struct collect *c, const struct rec_sample *s, uint64_t value)
{
	size_t i = sources_find(c, "native-live");

	if (i < c->o->nr_sources && value)
		write_event(c, sources_event(c, i) + 2,
			    (double)value / probability(&c->o->sources[i], value), s);
}

static uint32_t leaf_function(struct collect *c, const struct java *j, const struct jvm_sample *s)
{
	return s->event == JVM_SOURCE_MEMORY ? memory_function(c, s->leaf) :
	       s->event == JVM_SOURCE_LOCK ? locks_function(c, s->tid) :
					     sources_function(&c->sources, j->proc, s->leaf);
}

size_t sources_sample(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			struct frame *frames, size_t nr)
{
	struct rec_sample r = { .time_ns = s->time_ns, .thread = thread, .cpu = UINT16_MAX, .user = true };
	size_t i = sources_find_jvm(c, s->event);

	if (!switches_source(c, i, s->time_ns))
		return 0;
	/* of locks, waits are asked for, and their samples go by what became of these */
	if (s->event != JVM_SOURCE_LOCK &&
	    !filters_want_source(c, i, thread, s->leaf ? leaf_function(c, j, s) : 0, s->time_ns))
		return 0;
	if (s->event != JVM_SOURCE_LIVE)
		stack_count_marks(c, stack_marks(frames, nr));
	if (s->leaf || s->event == JVM_SOURCE_MEMORY || s->event == JVM_SOURCE_LOCK)
		frames[nr++] = (struct frame){ FRAME_NAMED, .function = leaf_function(c, j, s) };
	if (s->event == JVM_SOURCE_LIVE) {
		lives_born(c, j, s, thread, frames, nr);
		return nr;
	}
	r.stack = trace_write_stack(c->w, frames, nr);
	if (s->event == JVM_SOURCE_LOCK && s->id)
		locks_gave_back(c, s, &r);
	else if (s->event == JVM_SOURCE_LOCK)
		write_wait(c, i, s, &r);
	else
		write_chosen(c, i, s, &r);
	return nr;
}

/* ---- objects that live ---- */

void sources_survived(struct collect *c, double weight, double count, const struct rec_sample *s)
{
	size_t i = sources_find_jvm(c, JVM_SOURCE_LIVE);

	if (i < c->o->nr_sources)
		write_weighed(c, i, weight, count, s);
}

/* Write the weight twice, at the beginning and at the end, so that the difference is 0 at the end. */
void sources_outlived(struct collect *c, double weight, uint64_t freed_ns, const struct rec_sample *s)
{
	double whole = (double)rounded(&c->sources, weight);
	size_t i = sources_find_jvm(c, JVM_SOURCE_LIVE);
	struct rec_sample freed = *s;

	if (i == c->o->nr_sources)
		return;
	freed.time_ns = freed_ns;
	write_event(c, sources_event(c, i) + 2, whole, s);
	write_event(c, sources_event(c, i) + 3, whole, &freed);
}

void sources_died(struct collect *c, double count, uint64_t died_ns, const struct rec_sample *s)
{
	size_t i = sources_find(c, "lifetime");
	struct rec_sample r = *s;
	double n;

	if (i == c->o->nr_sources)
		return;
	r.time_ns = died_ns;
	/* the one divided by the other is how long it lived */
	n = (double)rounded(&c->sources, count);
	write_weighed(c, i, n * (double)(died_ns - MIN(s->time_ns, died_ns)), n, &r);
}

void sources_unknown(struct collect *c, double weight, const struct rec_sample *s)
{
	size_t i = sources_find_jvm(c, JVM_SOURCE_LIVE);
	uint64_t whole;

	if (i == c->o->nr_sources)
		return;
	whole = write_event(c, sources_event(c, i) + 4, weight, s);
	c->sources.unknown_bytes += whole;
	c->sources.standing_unknown += c->is_standing ? whole : 0;
}

void sources_ended(struct collect *c, const struct java *j, uint64_t known_ns, uint64_t lost)
{
	struct rec_lost r = {
		.time_ns = clock_mono_ns(), .cause = LOST_AGENT, .stream = j->proc->id, .count = lost,
	};

	if (!known_ns)
		refused_source(&c->refused, "live", j->proc->pid,
			       "no collection has told which of its objects are still in use");
	if (lost) {
		trace_write_lost(c->w, &r);
		c->res->nr_lost += lost;
	}
}

/* ---- for others who notice by themselves ---- */

bool sources_weighed(struct collect *c, size_t i, uint64_t weight, const struct rec_sample *s)
{
	struct rec_sample r = *s;

	if (!filters_want_source(c, i, s->thread, 0, s->time_ns))
		return false;
	r.event = sources_event(c, i);
	r.weight = weight;
	trace_write_sample(c->w, &r);
	add_weight(c, r.event, weight);
	count_sample(c, i);
	return true;
}

static uint32_t new_function(struct collect *c, enum function_kind kind, const char *text)
{
	const struct rec_function r = {
		.function = ++c->sources.nr_functions, .kind = kind,
		.name = text, .name_len = strlen(text), .module = "", .file = "",
	};

	trace_write_function(c->w, &r);
	return r.function;
}

uint32_t sources_new_reason(struct collect *c, const char *text)
{
	return new_function(c, FUNCTION_REASON, text);
}

uint32_t sources_new_file(struct collect *c, const char *text)
{
	return new_function(c, FUNCTION_WAIT_FILE, text);
}

static void sources_close_part(struct collect *c)
{
	sources_release(&c->sources);
}

const struct part sources_part = {
	.ask = sources_ask, .agent = &(const struct jvm_callbacks){ .no_source = take_refusal },
	.leaf = take_leaf, .sums = sources_sums, .forget = sources_forget, .close = sources_close_part,
};
