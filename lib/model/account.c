// SPDX-License-Identifier: GPL-2.0-or-later
/* account.c - compares samples with the exact counts of what threads consumed (account.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/chance.h"
#include "base/mem.h"
#include "model/account.h"
#include "trace/format.h"

/* ---- which there are ---- */

/*
 * The counters behind the accounts, by the event's name; the first row is for the first event that is a
 * clock.
 */
static const struct kind {
	const char *event, *what, *by;
} kinds[] = {
	{ NULL, "CPU time", "charged by the kernel" },
	{ "alloc", "allocated bytes", "counted by the JVM" },
	{ "wall", "thread lifetime", "by the kernel's records of forks and exits" },
};

bool account_is_cpu(const struct names *x, uint32_t event)
{
	const char *unit = names_event(x, 0, ".unit"), *counted = names_label(x, "account.cpu_ns");

	return !event && counted && strcmp(counted, ACCOUNT_NONE) != 0 && unit && !strcmp(unit, "ns");
}

static const struct kind *event_kind(const struct names *x, uint32_t event)
{
	const char *name = event < ACCOUNT_MAX_EVENTS ? names_event(x, event, "") : NULL;
	const char *counted = names_event(x, event, ".counted");
	size_t i;

	if (!name)
		return NULL;
	if (account_is_cpu(x, event))
		return kinds;
	for (i = 1; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i].event) && counted && strcmp(counted, ACCOUNT_NONE) != 0)
			return &kinds[i];
	return NULL;
}

bool account_is_known(const struct names *x, uint32_t event)
{
	return event_kind(x, event);
}

static uint64_t account_number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t account_counted(const struct names *x, uint32_t event)
{
	return account_is_cpu(x, event) ? names_label_u64(x, "account.cpu_ns") :
				  account_number(names_event(x, event, ".counted"));
}

/* Return why samples are missing; the recorder's reason need not be what is missing in this file. */
static const char *why(const struct names *x, uint32_t event)
{
	if (names_stopped_ns(x))
		return "storing stopped when --max-size was reached";
	return account_is_cpu(x, event) ? names_label(x, "account.why") : names_event(x, event, ".missing");
}

/* Fill in all but samples and threads, for an event that has an account. */
static void fill(struct account *a, const struct names *x, uint32_t event)
{
	const struct kind *k = event_kind(x, event);
	bool cpu = k == kinds;

	a->event = event;
	a->what = k->what;
	a->by = k->by;
	a->unit = names_event(x, event, ".unit");
	a->unit = a->unit ? a->unit : "";
	a->counted = account_counted(x, event);
	a->weight = account_number(names_event(x, event, cpu ? ".period" : ".interval"));
	a->weight = MAX(a->weight, account_number(names_event(x, event, ".longest")));
	if (cpu)
		a->rows = x->nr_busy ? ACCOUNT_CPUS : x->nr_groups_used ? ACCOUNT_GROUPS : ACCOUNT_THREADS;
	else
		a->rows = ACCOUNT_THREADS;
	if (a->rows == ACCOUNT_CPUS && a->weight)	/* both are hit and miss */
		a->weight += names_label_u64(x, "account.tick_ns");
	a->why = why(x, event);
}

/*
 * Count threads that lived: each record of CPU time is of one; time that no thread has belongs to unknown
 * ones.
 */
static void count_lived(const struct names *x, const struct account *a, struct origin *origin)
{
	enum { DOUBT_PART = 100 };
	uint64_t known = 0;
	size_t i;

	for (i = 0; a->rows == ACCOUNT_THREADS && i < x->nr_threads; i++) {
		if (!x->threads[i].has_used)
			continue;
		flow_sum(&known, x->threads[i].used_ns);
		origin->nr_lived += !x->threads[i].own;
	}
	origin->more_lived = known < a->counted - a->counted / DOUBT_PART;
}

void account_of_all(const struct names *x, const uint64_t weights[ACCOUNT_MAX_EVENTS], struct origin *origin)
{
	struct account a = { 0 };
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS && origin->nr_accounts < ORIGIN_MAX_ACCOUNTS; event++) {
		if (!account_is_known(x, event))
			continue;
		fill(&a, x, event);
		origin->accounts[origin->nr_accounts++] = (struct origin_account){
			.metric = names_event(x, event, ""), .what = a.what, .unit = a.unit,
			.counted = a.counted, .sampled = weights[event], .weight = a.weight, .why = a.why,
		};
		if (account_is_cpu(x, event))
			count_lived(x, &a, origin);
	}
}

/* ---- thread by thread ---- */

struct reading {
	const struct names *names;
	uint32_t event;
	struct account_sampled *sampled;	/* [index in names.threads] */
	struct account_sampled *of_cpus;	/* [ALL_CPUS]; NULL: nobody asks */
	uint64_t *runnable;			/* ns, of wall; [index in names.threads] */
};

enum { ALL_CPUS = UINT16_MAX + 1 };

static int account_take_samples(void *ctx, const struct rec_sample *r, size_t nr,
				const struct stack_epoch *ep)
{
	struct reading *k = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t at = map_get(&k->names->thread_of, r[i].thread);

		if (k->of_cpus && names_is_idle(k->names, r[i].thread))
			continue;
		if (r[i].event == k->event && k->of_cpus) {
			flow_sum(&k->of_cpus[r[i].cpu].amount, r[i].weight);
			flow_sum(&k->of_cpus[r[i].cpu].nr, 1 + r[i].more);
		}
		if (r[i].event != k->event || at == MAP_NONE)
			continue;
		flow_sum(&k->sampled[at].amount, r[i].weight);
		flow_sum(&k->sampled[at].nr, 1 + r[i].more);
	}
	return 0;
}

static int take_wall(void *ctx, const struct rec_wall *r)
{
	struct reading *k = ctx;
	uint32_t at = map_get(&k->names->thread_of, r->thread);

	if (at != MAP_NONE)
		flow_sum(&k->runnable[at], r->runnable_ns);
	return 0;
}

static struct account_thread *account_row(struct account *a, struct map *open, uint32_t pid, uint32_t tid)
{
	uint32_t *at = map_put(open, names_pair(pid, tid));

	if (*at == MAP_NONE) {
		*at = a->nr;
		*VEC_ADD(a->threads, a->nr, a->alloc) = (struct account_thread){
			.pid = pid, .tid = tid, .name = "", .process = "",
		};
	}
	return &a->threads[*at];
}

/*
 * Add a thread. Its account of CPU time ends with its record: a later thread with that number is another one.
 * Of other events, all threads with one number are one.
 */
static void account_add_thread(struct account *a, struct map *open, const struct name_thread *x,
			       const struct account_sampled *s, const struct account_sampled *counted)
{
	uint32_t at = map_get(&a->names->proc_of, x->proc);
	const struct name_proc *p = at == MAP_NONE ? NULL : &a->names->procs[at];
	struct account_thread *t = account_row(a, open, p ? p->pid : 0, x->tid);
	bool cpu = account_is_cpu(a->names, a->event);

	t->number = x->number;
	t->process = p ? model_str(a->names->m, p->comm) : "";
	t->name = x->tid ? model_str(a->names->m, x->name) : "[virtual threads]";
	flow_sum(&t->sampled, s->amount);
	flow_sum(&t->nr_samples, s->nr);
	if (cpu ? !x->has_used : !counted->nr)
		return;
	t->known = true;
	flow_sum(&t->counted, cpu ? x->used_ns : counted->amount);
	if (cpu)
		*map_put(open, names_pair(t->pid, t->tid)) = MAP_NONE;
}

static void note_carriers(struct account *a)
{
	struct map virtual = MAP_INIT;
	size_t i;

	for (i = 0; i < a->nr; i++)
		if (!a->threads[i].tid && a->threads[i].nr_samples)
			*map_put(&virtual, a->threads[i].pid) = 1;
	for (i = 0; i < a->nr; i++)
		a->threads[i].carries = map_get(&virtual, a->threads[i].pid) != MAP_NONE;
	map_release(&virtual);
}

static void account_make_rows(struct account *a, const struct account_sampled *sampled)
{
	struct account_sampled *counted = xcalloc(a->names->nr_threads + 1, sizeof(*counted));
	struct map open = MAP_INIT;
	uint64_t known = 0;
	size_t i;

	for (i = 0; i < a->names->nr_counted; i++) {
		const struct name_counted *c = &a->names->counted[i];

		if (c->event != a->event)
			continue;
		flow_sum(&counted[c->thread].amount, c->amount);
		counted[c->thread].nr++;
	}
	for (i = 0; i < a->names->nr_threads; i++)
		account_add_thread(a, &open, &a->names->threads[i], &sampled[i], &counted[i]);
	map_release(&open);
	free(counted);
	for (i = 0; i < a->nr; i++)
		flow_sum(&known, a->threads[i].counted);
	a->nobodys = a->counted - MIN(a->counted, known);
	note_carriers(a);
}

void account_make(struct account *a, struct names *x, uint32_t event, const struct account_sampled *sampled)
{
	size_t i;

	a->names = x;
	fill(a, x, event);
	for (i = 0; i < x->nr_threads; i++)
		flow_sum(&a->sampled, sampled[i].amount);
	account_make_rows(a, sampled);
}

int account_none(const struct names *x, const char *metric, struct err *e)
{
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS && names_event(x, event, ""); event++) {
		const char *uncounted = names_event(x, event, ".uncounted"), *name = names_event(x, event, "");

		if (uncounted && (!metric || !strcmp(metric, name)))
			return err_set(e, ENODATA, "the trace has no account of %s: %s", name, uncounted);
	}
	if (metric)
		return err_set(e, ENODATA, "the trace has no account of %s", metric);
	err_set(e, ENODATA, "the trace has no account of CPU time");
	err_hint(e, "'arcprof record' keeps one of programs and processes, where a clock samples all of their time");
	return -ENODATA;
}

/* Return the event, UINT32_MAX if there is none. */
static uint32_t account_choose(const struct names *x, const char *metric)
{
	uint32_t event;

	for (event = 0; event < ACCOUNT_MAX_EVENTS; event++)
		if (account_is_known(x, event) && (!metric || !strcmp(metric, names_event(x, event, ""))))
			return event;
	return UINT32_MAX;
}

/* Make a row for each CPU in place of each thread. */
static void make_cpus(struct account *a, struct account_sampled *sampled)
{
	uint64_t *busy = xcalloc(ALL_CPUS, sizeof(*busy));
	const struct names *x = a->names;
	uint32_t cpu;
	size_t i;

	for (i = 0; i < x->nr_busy; i++)
		if (x->busy[i].cpu < ALL_CPUS)
			flow_sum(&busy[x->busy[i].cpu], x->busy[i].ns);
	a->nr = 0;
	a->nobodys = 0;
	for (cpu = 0; cpu < ALL_CPUS; cpu++) {
		char name[16];

		if (!busy[cpu] && !sampled[cpu].nr)
			continue;
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		*VEC_ADD(a->threads, a->nr, a->alloc) = (struct account_thread){
			.process = "", .name = arena_strndup(&a->own.text, name, strlen(name)),
			.counted = busy[cpu], .sampled = sampled[cpu].amount, .nr_samples = sampled[cpu].nr,
			.known = true,
		};
	}
	free(busy);
}

static struct account_thread *group_row(struct account *a, const char *path)
{
	size_t i;

	for (i = 0; i < a->nr && strcmp(a->threads[i].name, path) != 0; i++)
		;
	if (i == a->nr) {
		*VEC_ADD(a->threads, a->nr, a->alloc) =
			(struct account_thread){ .process = "", .name = path, .known = true };
	}
	return &a->threads[i];
}

/* Return the group that a process was in when it was found, or one for all without a known group. */
static struct account_thread *account_group(struct account *a, uint32_t proc, size_t nr_groups)
{
	uint32_t at = map_get(&a->names->proc_of, proc);
	const char *path = at == MAP_NONE || !a->names->procs[at].cgroup ? NULL :
			   model_str(a->names->m, a->names->procs[at].cgroup);
	struct account_thread *t;
	size_t i;

	if (nr_groups == 1)
		return &a->threads[0];
	for (i = 0; path && i < nr_groups; i++)
		if (cgroup_is_below(path, a->threads[i].name))
			return &a->threads[i];
	t = group_row(a, "[unknown cgroup]");
	t->known = false;
	return t;
}

/* Make a row for each control group in place of each thread. */
static void make_groups(struct account *a, const struct account_sampled *sampled)
{
	const struct names *x = a->names;
	size_t i, nr;

	a->nr = 0;
	a->nobodys = 0;
	for (i = 0; i < x->nr_groups_used; i++)
		flow_sum(&group_row(a, model_str(x->m, x->groups_used[i].path))->counted,
			 x->groups_used[i].ns);
	for (i = 0, nr = a->nr; i < x->nr_threads; i++) {
		struct account_thread *t = sampled[i].nr ? account_group(a, x->threads[i].proc, nr) : NULL;

		if (!t)
			continue;
		flow_sum(&t->sampled, sampled[i].amount);
		flow_sum(&t->nr_samples, sampled[i].nr);
	}
}

/*
 * Find late samples. The kernel records the end of a thread before it leaves the CPU for the last time. On a
 * busy machine it may be preempted in between and wait for others: that is in its samples, but not in its
 * life by the records.
 */
static void find_late(struct account *a, const struct reading *k)
{
	const struct names *x = a->names;
	uint64_t *counted;
	size_t i;

	a->late = 0;
	if (strcmp(names_event(x, k->event, ""), "wall") != 0)
		return;
	counted = xcalloc(x->nr_threads + 1, sizeof(*counted));
	for (i = 0; i < x->nr_counted; i++)
		if (x->counted[i].event == k->event)
			flow_sum(&counted[x->counted[i].thread], x->counted[i].amount);
	for (i = 0; i < x->nr_threads; i++)
		if (k->sampled[i].amount > counted[i])
			flow_sum(&a->late, MIN(k->sampled[i].amount - counted[i], k->runnable[i]));
	free(counted);
}

static int account_read_event(struct account *a, struct trace_reader *t, uint32_t event, struct err *e)
{
	static const struct trace_sink sink = { .samples = account_take_samples, .wall = take_wall };
	struct reading k = { .names = &a->own, .event = event };
	int r;

	k.sampled = xcalloc(a->own.nr_threads + 1, sizeof(*k.sampled));
	k.runnable = xcalloc(a->own.nr_threads + 1, sizeof(*k.runnable));
	if (account_is_cpu(&a->own, event) && a->own.nr_busy)
		k.of_cpus = xcalloc(ALL_CPUS, sizeof(*k.of_cpus));
	r = trace_read(t, &sink, &k, e);
	if (!r) {
		account_make(a, &a->own, event, k.sampled);
		find_late(a, &k);
	}
	if (!r && k.of_cpus)
		make_cpus(a, k.of_cpus);
	else if (!r && a->rows == ACCOUNT_GROUPS)
		make_groups(a, k.sampled);
	free(k.sampled);
	free(k.runnable);
	free(k.of_cpus);
	return r;
}

static int account_read_names(struct account *a, struct trace_reader *t, struct err *e)
{
	*a = (struct account){ .names = &a->own };
	return names_read_texts(&a->own, &a->strings, t, e);
}

int account_read(struct account *a, struct trace_reader *t, const char *metric, struct err *e)
{
	int r = account_read_names(a, t, e);
	uint32_t event;

	if (r)
		return r;
	event = account_choose(&a->own, metric);
	return event == UINT32_MAX ? account_none(&a->own, metric, e) : account_read_event(a, t, event, e);
}

static void forget_threads(struct account *a)
{
	free(a->threads);
	a->threads = NULL;
	a->nr = a->alloc = 0;
	a->sampled = 0;
}

void account_release(struct account *a)
{
	forget_threads(a);
	if (a->names != &a->own)
		return;
	names_release(&a->own);
	model_release(&a->strings);
}

/* ---- what is missing, in the tree ---- */

static uint64_t missing_of(const struct account_thread *t)
{
	return t->counted - MIN(t->counted, t->sampled);
}

static void account_add_unsampled(struct names *x, uint32_t thread, unsigned int metric, uint64_t ns)
{
	static const char name[] = ACCOUNT_NOT_SAMPLED;
	uint32_t proc, consumer = names_thread(x, thread, &proc), node;

	node = flow_child(&x->m->flow, FLOW_NONE, names_process(x, proc));
	node = flow_child(&x->m->flow, node, consumer);
	node = flow_child(&x->m->flow, node, consumer_add_name(&x->m->consumers, CONSUMER_REASON, name,
							       sizeof(name) - 1));
	flow_sum(&flow_base(&x->m->flow, node)[metric], ns);
}

/* Add what is missing: each part takes its share of what is left, so that their sum is the whole. */
void account_add_missing(const struct account *a, unsigned int metric)
{
	uint64_t left = a->counted - MIN(a->counted, a->sampled), of = a->nobodys, part;
	size_t i;

	for (i = 0; i < a->nr; i++)
		of += missing_of(&a->threads[i]);
	/* where nothing is missing, a limit on that finds it all the same */
	if (!left && a->nr)
		account_add_unsampled(a->names, a->threads[0].number, metric, 0);
	for (i = 0; i < a->nr && left && of; i++) {
		part = (uint64_t)((__uint128_t)missing_of(&a->threads[i]) * left / of);
		of -= missing_of(&a->threads[i]);
		left -= part;
		if (part)
			account_add_unsampled(a->names, a->threads[i].number, metric, part);
	}
	if (left)
		account_add_unsampled(a->names, 0, metric, left);
}

/* ---- report --check ---- */

static void expect_between(struct sums_check *out, const struct account *a, const char *what,
			   uint64_t least, uint64_t got, uint64_t most)
{
	sums_check_that(out, got >= least && got <= most, "%s of %s: %" PRIu64 " %s, %s %" PRIu64 " expected",
			what, a->what, got, a->unit, got > most ? "at most" : "at least",
			got > most ? most : least);
}

/*
 * Return the most that samples may have, but for chance. Of CPU time: what was charged, what each CPU
 * charges only at the kernel's next tick, what it charges to no thread, and the interrupts of the clock
 * itself. Of allocated bytes: those that were sampled before the JVM reported them, and what it loses
 * count of. Of lives: the time that threads waited for a CPU at their ends.
 */
static uint64_t most_sampled(const struct account *a)
{
	enum { TICK_NS = 10000000, OWN_PART = 20 };

	if (!account_is_cpu(a->names, a->event))
		return a->counted + a->counted / OWN_PART + a->late;
	return a->counted + a->counted / OWN_PART + names_label_u64(a->names, "account.uncharged_ns") +
	       TICK_NS * (1 + MIN(names_label_u64(a->names, "cpus"), (uint64_t)UINT16_MAX));
}

/*
 * Return how much must be sampled. No clock sees all time; of what is counted without a reason for less, only
 * chance explains a difference.
 */
static uint64_t least_sampled(const struct account *a)
{
	enum { OWN_PART = 20 };

	return account_is_cpu(a->names, a->event) || a->why ? 0 : a->counted - a->counted / OWN_PART;
}

static void account_check_rows(const struct account *a, struct sums_check *out)
{
	enum { DEVIATIONS = 4 };
	uint64_t known = 0, nr = 0, most = most_sampled(a), least = least_sampled(a);
	double weight;
	size_t i;

	for (i = 0; i < a->nr; i++) {
		flow_sum(&known, a->threads[i].counted);
		flow_sum(&nr, a->threads[i].nr_samples);
	}
	weight = nr ? (double)a->sampled / (double)nr : (double)a->weight;
	weight = MAX(weight, (double)account_number(names_event(a->names, a->event, ".longest")));
	if (a->rows == ACCOUNT_CPUS)
		weight += (double)names_label_u64(a->names, "account.tick_ns");
	if (!nr && account_is_cpu(a->names, a->event))
		return;
	expect_between(out, a, "counted for threads", 0, known, a->counted);
	/* with what is rare: Bernstein's inequality has that much more than deviations of a normal one */
	if (chance_explains((double)a->sampled - (double)most - weight * DEVIATIONS * DEVIATIONS / 3,
			    a->counted, weight, DEVIATIONS))
		most = MAX(most, a->sampled);
	if (chance_explains((double)least - (double)a->sampled, a->counted, weight, DEVIATIONS))
		least = MIN(least, a->sampled);
	expect_between(out, a, "samples", least, a->sampled, most);
}

int account_check(struct trace_reader *t, struct sums_check *out, struct err *e)
{
	struct account a;
	uint32_t event;
	int r = account_read_names(&a, t, e);

	memset(out, 0, sizeof(*out));
	for (event = 0; event < ACCOUNT_MAX_EVENTS && !r; event++) {
		if (!account_is_known(&a.own, event))
			continue;
		r = account_read_event(&a, t, event, e);
		if (!r)
			account_check_rows(&a, out);
		forget_threads(&a);
	}
	account_release(&a);
	return r;
}
