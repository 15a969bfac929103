// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chance.h"
#include "base/mem.h"
#include "model/account.h"
#include "trace/format.h"

/* ---- of all ---- */

static bool has_account(const struct names *x)
{
	const char *unit = names_event(x, 0, ".unit"), *charged = names_label(x, "account.cpu_ns");

	return charged && strcmp(charged, ACCOUNT_NONE) != 0 && unit && !strcmp(unit, "ns");
}

/* What the recorder gave for a reason may not be what is missing in the file. */
static const char *why(const struct names *x)
{
	return names_stopped_ns(x) ? "storing stopped when --max-size was reached" : names_label(x, "account.why");
}

void account_of_all(const struct names *x, uint64_t first_weight, struct origin *origin)
{
	if (!has_account(x))
		return;
	origin->charged_ns = names_label_u64(x, "account.cpu_ns");
	origin->sampled_ns = first_weight;
	origin->why_unsampled = why(x);
}

/* ---- thread by thread ---- */

struct reading {
	const struct names *names;
	struct account_sampled *sampled;	/* [index in names.threads] */
};

static int take_samples(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	struct reading *k = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t at = map_get(&k->names->thread_of, r[i].thread);

		if (r[i].event || at == MAP_NONE)
			continue;
		flow_sum(&k->sampled[at].ns, r[i].weight);
		flow_sum(&k->sampled[at].nr, 1 + r[i].more);
	}
	return 0;
}

static struct account_thread *row(struct account *a, struct map *open, uint32_t pid, uint32_t tid)
{
	uint32_t *at = map_put(open, names_pair(pid, tid));

	if (*at == MAP_NONE) {
		*at = a->nr;
		VEC_GROW(a->threads, a->nr, a->alloc);
		a->threads[a->nr++] = (struct account_thread){
			.pid = pid, .tid = tid, .name = "", .process = "",
		};
	}
	return &a->threads[*at];
}

/* The account of a thread ends with its record: whoever has the number afterwards is another. */
static void add_thread(struct account *a, struct map *open, const struct name_thread *x,
		       const struct account_sampled *s)
{
	uint32_t at = map_get(&a->names->proc_of, x->proc);
	const struct name_proc *p = at == MAP_NONE ? NULL : &a->names->procs[at];
	struct account_thread *t = row(a, open, p ? p->pid : 0, x->tid);

	t->number = x->number;
	t->process = p ? model_str(a->names->m, p->comm) : "";
	t->name = x->tid ? model_str(a->names->m, x->name) : "[virtual threads]";
	flow_sum(&t->sampled_ns, s->ns);
	flow_sum(&t->nr_samples, s->nr);
	if (!x->has_used)
		return;
	t->known = true;
	flow_sum(&t->cpu_ns, x->used_ns);
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

static void make_rows(struct account *a, const struct account_sampled *sampled)
{
	struct map open = MAP_INIT;
	uint64_t known_ns = 0;
	size_t i;

	for (i = 0; i < a->names->nr_threads; i++)
		add_thread(a, &open, &a->names->threads[i], &sampled[i]);
	map_release(&open);
	for (i = 0; i < a->nr; i++)
		flow_sum(&known_ns, a->threads[i].cpu_ns);
	a->nobodys_ns = a->charged_ns - MIN(a->charged_ns, known_ns);
	note_carriers(a);
}

int account_make(struct account *a, struct names *x, const struct account_sampled *sampled, struct err *e)
{
	size_t i;

	a->names = x;
	if (!has_account(x)) {
		err_set(e, ENODATA, "the trace has no account of CPU time");
		err_hint(e, "'arcprof record' keeps one of programs and processes, where a clock samples all of their time");
		return -ENODATA;
	}
	a->charged_ns = names_label_u64(x, "account.cpu_ns");
	a->why = why(x);
	for (i = 0; i < x->nr_threads; i++)
		flow_sum(&a->sampled_ns, sampled[i].ns);
	make_rows(a, sampled);
	return 0;
}

int account_read(struct account *a, struct trace_reader *t, struct err *e)
{
	static const struct resolve_opts o = { .no_files = true };
	static const struct trace_sink sink = { .samples = take_samples };
	struct reading k = { .names = &a->own };
	int r;

	*a = (struct account){ 0 };
	model_init(&a->strings, 1, FLOW_SAMPLES);
	names_init(&a->own, &a->strings, &o);
	r = trace_read(t, &names_sink, &a->own, e);
	if (r)
		return r;
	k.sampled = xcalloc(a->own.nr_threads + 1, sizeof(*k.sampled));
	r = trace_read(t, &sink, &k, e);
	if (!r)
		r = account_make(a, &a->own, k.sampled, e);
	free(k.sampled);
	return r;
}

void account_release(struct account *a)
{
	free(a->threads);
	if (a->names != &a->own)
		return;
	names_release(&a->own);
	model_release(&a->strings);
}

/* ---- what is missing, in the tree ---- */

static uint64_t missing_of(const struct account_thread *t)
{
	return t->cpu_ns - MIN(t->cpu_ns, t->sampled_ns);
}

static void add_missing(struct names *x, uint32_t thread, unsigned int metric, uint64_t ns)
{
	static const char name[] = ACCOUNT_NOT_SAMPLED;
	uint32_t proc, consumer = names_thread(x, thread, &proc), node;

	node = flow_child(&x->m->flow, FLOW_NONE, names_process(x, proc));
	node = flow_child(&x->m->flow, node, consumer);
	node = flow_child(&x->m->flow, node, consumer_add_name(&x->m->consumers, CONSUMER_REASON, name,
							       sizeof(name) - 1));
	flow_sum(&flow_base(&x->m->flow, node)[metric], ns);
}

/* The sum of the parts is the whole: each takes its share of what is left. */
void account_add_missing(const struct account *a, unsigned int metric)
{
	uint64_t left = a->charged_ns - MIN(a->charged_ns, a->sampled_ns), of = a->nobodys_ns, part;
	size_t i;

	for (i = 0; i < a->nr; i++)
		of += missing_of(&a->threads[i]);
	/* where nothing is missing, a limit on that finds it all the same */
	if (!left && a->nr)
		add_missing(a->names, a->threads[0].number, metric, 0);
	for (i = 0; i < a->nr && left && of; i++) {
		part = (uint64_t)((__uint128_t)missing_of(&a->threads[i]) * left / of);
		of -= missing_of(&a->threads[i]);
		left -= part;
		if (part)
			add_missing(a->names, a->threads[i].number, metric, part);
	}
	if (left)
		add_missing(a->names, 0, metric, left);
}

/* ---- report --check ---- */

static void expect_at_most(struct account_check *out, const char *what, uint64_t got, uint64_t most)
{
	out->nr_checked++;
	if (got > most && !out->nr_bad++)
		snprintf(out->first, sizeof(out->first), "%s: %" PRIu64 " ns, at most %" PRIu64 " ns expected", what,
			 got, most);
}

/*
 * What samples may have, but for chance: what was charged, with what each CPU charges only at the kernel's
 * next tick, with what it charges to nobody, and with the interrupts of the clock itself.
 */
static uint64_t most_sampled(const struct account *a)
{
	enum { TICK_NS = 10000000, OWN_PART = 20 };

	return a->charged_ns + a->charged_ns / OWN_PART + names_label_u64(a->names, "account.uncharged_ns") +
	       TICK_NS * (1 + MIN(names_label_u64(a->names, "cpus"), (uint64_t)UINT16_MAX));
}

int account_check(struct trace_reader *t, struct account_check *out, struct err *e)
{
	enum { DEVIATIONS = 4 };
	uint64_t known_ns = 0, nr = 0, most;
	struct account a;
	size_t i;
	int r = account_read(&a, t, e);

	memset(out, 0, sizeof(*out));
	for (i = 0; i < a.nr && !r; i++) {
		flow_sum(&known_ns, a.threads[i].cpu_ns);
		flow_sum(&nr, a.threads[i].nr_samples);
	}
	if (!r && nr) {
		expect_at_most(out, "charged to threads", known_ns, a.charged_ns);
		most = most_sampled(&a);
		if (chance_explains((double)a.sampled_ns - (double)most, a.charged_ns,
				    (double)a.sampled_ns / (double)nr, DEVIATIONS))
			most = a.sampled_ns;
		expect_at_most(out, "samples", a.sampled_ns, most);
	}
	account_release(&a);
	return r == -ENODATA ? 0 : r;
}
