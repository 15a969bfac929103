// SPDX-License-Identifier: GPL-2.0-or-later
/* summary_notes.c - what stands out of a recording, in words, each with the report that shows more of it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/events.h"
#include "report/head.h"
#include "report/summary.h"

/* Shares from which on a fact is worth a line. */
#define PAUSED .05
#define RUNNABLE .20
#define INCOMPLETE .05
#define UNRESOLVED .05
#define INTERPRETED .20
#define COMPILING .25
#define OWN .05
#define IDLE_CPUS .90

enum { FEW = 100 };	/* samples: one is a percent or more */

static void note(struct summary_notes *n, const char *command, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void note(struct summary_notes *n, const char *command, const char *format, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, format);
	buf_vfmt(&b, format, ap);
	va_end(ap);
	*VEC_ADD(n->list, n->nr, n->alloc) = (struct summary_note){ buf_take(&b), command };
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Note what is missing first: it limits the rest. */
static void judge_completeness(struct summary_notes *n, const struct view *v)
{
	const struct origin_account *a = head_short(v->origin);
	unsigned int source = model_first_samples(v->m);
	const struct view_stacks *s = source < v->m->nr_sources ? &v->stacks[source] : NULL;
	size_t i;

	for (i = 0; i < v->origin->nr_deadlocks; i++)
		note(n, "report --locks", "a deadlock was noticed");
	if (a)
		note(n, "report --account", "%.0f %% of the %s has no sample",
		     100 * (1 - share(a->sampled, a->counted)), a->what);
	if (s && s->n && s->n < FEW && v->m->flow.n_means == FLOW_SAMPLES)
		note(n, NULL, "there are %" PRIu64 " samples only: small shares are chance", s->n);
	if (v->own > OWN)
		note(n, NULL, "%.0f %% of the samples are in arcprof's own work, which is left out above: a longer interval takes less", 100 * v->own);
	if (v->origin->lost)
		note(n, NULL, "%" PRIu64 " samples were lost", v->origin->lost);
	if (s && !v->origin->imported && s->n > s->no_stack_n &&
	    1 - share(s->complete_n, s->n - s->no_stack_n) > INCOMPLETE)
		note(n, "report --xtree", "%.0f %% of the stacks are incomplete",
		     100 * (1 - share(s->complete_n, s->n - s->no_stack_n)));
}

static void judge_code(struct summary_notes *n, const struct summary_facts *f)
{
	if (share(f->unresolved, f->total) > UNRESOLVED)
		note(n, "report --xprof --addresses", "%.0f %% is in code without names",
		     100 * share(f->unresolved, f->total));
	if (share(f->compiling, f->total) > COMPILING)
		note(n, "report --xprof --merge-threads", "compilers of the JVM take %.0f %%: it is still warming up",
		     100 * share(f->compiling, f->total));
	if (share(f->interpreted, f->total) > INTERPRETED)
		note(n, "report --xprof --by-kind", "%.0f %% is in interpreted methods",
		     100 * share(f->interpreted, f->total));
	if (share(f->runnable_ns, f->runnable_ns + f->on_cpu_ns) > RUNNABLE)
		note(n, "report --xtree --metric=wall",
		     "threads that could run waited for a CPU %.0f %% of that time",
		     100 * share(f->runnable_ns, f->runnable_ns + f->on_cpu_ns));
}

static void judge_pauses(struct summary_notes *n, const struct view *v)
{
	const struct events_opts o = { .kinds = 1u << EVENT_GC, .select = &v->o->select };
	struct events x;
	struct err e;
	uint64_t ns = 0, longest = 0;
	struct buf b = BUF_INIT;
	size_t i;

	if (!v->trace)
		return;
	if (!events_read(&x, v->trace, &o, &e) && v->origin->duration_ns) {
		for (i = 0; i < x.nr; i++) {
			uint64_t took = x.list[i].duration_ns;

			if (took == EVENT_UNKNOWN)
				continue;
			flow_sum(&ns, took);
			longest = MAX(longest, took);
		}
		if (share(ns, v->origin->duration_ns) > PAUSED) {
			report_put_duration(&b, longest);
			note(n, "report --gc", "pauses for garbage collection took %.0f %% of the time, the longest %s",
			     100 * share(ns, v->origin->duration_ns), b.data);
		}
	}
	events_release(&x);
	buf_release(&b);
}

static bool has_metric(const struct view *v, const char *name)
{
	unsigned int m;

	for (m = 0; m < v->m->nr_shown; m++)
		if (!strcmp(model_str(v->m, v->m->metrics[m].name), name))
			return true;
	return false;
}

/* Return the CPUs used on average, from the account of a whole recording; negative: not known. */
static double cpus_used(const struct view *v)
{
	const struct origin *o = v->origin;
	size_t i;

	if (o->imported || !o->duration_ns || selection_has_window(&v->o->select) ||
	    selection_wants(&v->o->select))
		return -1;
	for (i = 0; i < o->nr_accounts; i++)
		if (!strcmp(o->accounts[i].unit, "ns") && strcmp(o->accounts[i].metric, "wall") != 0)
			return share(o->accounts[i].counted, o->duration_ns);
	return -1;
}

/* Suggest recording waits if the program used little CPU time: they are what makes it slow. */
static void judge_waits(struct summary_notes *n, const struct view *v, const struct summary_facts *f)
{
	double cpus = cpus_used(v);

	if (!v->trace || v->o->profile->metrics.nr_items || has_metric(v, "wall") || cpus < 0 ||
	    cpus > IDLE_CPUS)
		return;
	if (f->has_java)
		note(n, "record -e cpu,wall,lock,live",
		     "it used %.2f CPUs; what its threads waited for, and what stays in memory, was not recorded", cpus);
	else
		note(n, "record -e cpu,wall", "it used %.2f CPUs; what its threads waited for was not recorded", cpus);
}

/* Suggest a recording that shows more of live objects. */
static void judge_leaks(struct summary_notes *n, const struct summary_facts *f)
{
	if (f->lacks == LEAKS_LACK_COLLECTION)
		note(n, "record -e live --live-gc", "no collection has told which objects are still there");
	else if (f->lacks == LEAKS_LACK_LOOK)
		note(n, "record -e live --live-gc", "what grows may be garbage that no collection has looked at");
	else if (f->lacks == LEAKS_LACK_SAMPLES)
		note(n, "record -e live=16k --live-gc",
		     "samples of live objects are too few (%" PRIu64 ") to tell what grows", f->live_n);
}

void summary_judge(struct summary_notes *n, const struct view *v, const struct summary_facts *f)
{
	judge_completeness(n, v);
	judge_code(n, f);
	judge_pauses(n, v);
	judge_leaks(n, f);
	judge_waits(n, v, f);
}

void summary_notes_release(struct summary_notes *n)
{
	size_t i;

	for (i = 0; i < n->nr; i++)
		free(n->list[i].text);
	free(n->list);
}
