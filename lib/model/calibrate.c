// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calibrate.c - subtracts from exact calls what counting them cost.
 *
 * A call costs its own context "within" (from the reading on entry to that on exit), and
 * its caller's "between" (from there to the next entry). BASE and DELTA of a context are together what was
 * measured: DELTA is never more than that, and where it would be, that is counted.
 *
 * What a call costs depends on what is called: native functions with the hooks of this arcprof, and Java
 * methods, by the build of their JVM, and by the tier of their code if the recording knows it. Without
 * --by-kind contexts of several tiers become one only when each has lost what its calls cost.
 *
 * A call site is a context between caller and callee, which does nothing itself: what it has is part of the
 * cost. A native function without a site costs as much less. A method without one has other probes around
 * it, which were not measured, and keeps its cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibrate/table.h"
#include "model/calibrate.h"
#include "trace/calls.h"

/* Kinds of calls. JAVA: in a JVM that was not calibrated; NOBODY: no call at all. */
enum { NATIVE, JAVA, FIRST_JVM, NR_KINDS = FIRST_JVM + CALIBRATION_JVMS, NOBODY = NR_KINDS };

struct costs {
	bool has[FLOW_MAX_METRICS];	/* of some tier */
	bool unstable;
	struct calibration_cost of[CALIBRATION_NR_TIERS][FLOW_MAX_METRICS];	/* metrics as in the model */
	unsigned int nr;
	const char *jvm;
	uint64_t nr_contexts;
};

struct job {
	struct names *names;
	struct model *m;
	const struct calibrate_opts *o;
	struct costs *kinds;		/* [NR_KINDS] */
	uint8_t *kind_of, *tier_of;	/* [node] */
	bool has[FLOW_MAX_METRICS];	/* some kind has it */
	unsigned int nr;
	bool keep, doubts;		/* DELTA, and what must be left to be certain, as metrics */
};

/* --- what the trace says --- */

int calibrate_metric(const struct names *x, const char *metric)
{
	char key[48];
	int i;

	for (i = 0; i < CALL_MAX_METRICS; i++) {
		const char *name;

		snprintf(key, sizeof(key), "call.metric.%d", i);
		name = names_label(x, key);
		if (!name)
			break;
		if (!strcmp(name, metric))
			return i;
	}
	return -1;
}

/* Read a label; a tier without one has the cost of calls whose tier is not known. */
static bool read_cost(const struct names *x, const char *key, struct costs *c, int tier, unsigned int m)
{
	const char *text = names_label(x, key);
	bool has = text && calibration_cost(text, &c->of[tier][m]);

	if (!has)
		c->of[tier][m] = tier ? c->of[CALIBRATION_ANY_TIER][m] : (struct calibration_cost){ 0 };
	c->unstable |= text && !strcmp(text, "unstable");
	return has;
}

/* Read costs from labels whose names have the metric's number between before and after, and then a tier. */
static void read_costs(const struct names *x, const char *before, const char *after, struct costs *c)
{
	const struct model *model = x->m;
	unsigned int m;
	char key[80];
	int tier;

	for (m = 0; m < model->flow.nr_metrics; m++) {
		int number = calibrate_metric(x, model_str(model, model->metrics[m].name));

		for (tier = 0; tier < CALIBRATION_NR_TIERS && number >= 0; tier++) {
			snprintf(key, sizeof(key), "%s%d%s%s%s", before, number, after, tier ? "." : "",
				 calibration_tier_name(tier));
			c->has[m] |= read_cost(x, key, c, tier, m);
		}
		c->nr += c->has[m];
	}
}

/* Fills jvms with the kinds' libjvm.so; 0: there is none. */
static void read_jobs(struct job *j, uint64_t jvms[static NR_KINDS])
{
	char key[48], before[64];
	unsigned int i;

	read_costs(j->names, "call.metric.", ".calibration", &j->kinds[NATIVE]);
	for (i = 0; i < CALIBRATION_JVMS; i++) {
		struct costs *c = &j->kinds[FIRST_JVM + i];
		const char *text;
		char *end;

		snprintf(key, sizeof(key), "call.java.%u", i);
		text = names_label(j->names, key);
		if (!text)
			break;
		jvms[FIRST_JVM + i] = strtoull(text, &end, 16);
		c->jvm = *end == ' ' ? end + 1 : end;
		snprintf(before, sizeof(before), "%s.metric.", key);
		read_costs(j->names, before, "", c);
	}
}

/* --- whose calls a context has --- */

/* [consumer]: the kind of a process's Java methods. Consumers that are new here have no calls. */
static uint8_t *find_jvms(struct job *j, const uint64_t *jvms)
{
	size_t nr = j->m->consumers.nr_items, k;
	struct names *x = j->names;
	uint32_t i, consumer;
	uint8_t *kinds;

	kinds = xmalloc(nr);
	memset(kinds, JAVA, nr);
	for (k = 0; k < x->nr_procs; k++) {
		if (!x->procs[k].jvm)
			continue;
		consumer = names_process(x, x->procs[k].number);
		for (i = FIRST_JVM; i < NR_KINDS; i++)
			if (consumer < nr && jvms[i] == x->procs[k].jvm)
				kinds[consumer] = i;
	}
	return kinds;
}

enum calibration_tier calibrate_tier(const struct consumer *c)
{
	static const uint8_t tiers[CONSUMER_NR] = {
		[CONSUMER_JAVA_INTERPRETED] = CALIBRATION_INTERPRETED, [CONSUMER_JAVA_C1] = CALIBRATION_C1,
		[CONSUMER_JAVA_C2] = CALIBRATION_C2, [CONSUMER_JAVA_INLINED] = CALIBRATION_INLINED,
	};

	return c->kind == CONSUMER_JAVA && c->key < CALIBRATION_NR_TIERS ? c->key : tiers[c->kind];
}

static bool job_is_site(const struct job *j, size_t node)
{
	uint32_t consumer = j->m->flow.nodes[node].consumer;

	return j->o->sites && consumer < j->o->nr_sites && j->o->sites[consumer];
}

/* Return whether, with call sites, it is a call of a method that has none. */
static bool java_site_is_missing(const struct job *j, size_t node)
{
	return j->kind_of[node] != NATIVE && j->kind_of[node] != NOBODY &&
	       !job_is_site(j, j->m->flow.nodes[node].parent);
}

static void find_kinds(struct job *j, const uint64_t *jvms)
{
	const struct model *model = j->m;
	const struct flow *f = &model->flow;
	uint8_t *of_process = find_jvms(j, jvms), *java = xmalloc(f->nr_nodes);
	size_t i;

	j->kind_of = xmalloc(f->nr_nodes);
	j->tier_of = xcalloc(f->nr_nodes, 1);
	j->kind_of[0] = NOBODY;
	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *n = &f->nodes[i];
		const struct consumer *c = &model->consumers.items[n->consumer];
		uint32_t kind = c->kind;

		java[i] = n->parent ? java[n->parent] : of_process[n->consumer];
		j->kind_of[i] = kind_is(kind, KIND_NATIVE) ? NATIVE :
				kind_is(kind, KIND_JAVA) ? java[i] : NOBODY;
		j->tier_of[i] = calibrate_tier(c);
		if (!n->n)
			j->kind_of[i] = NOBODY;		/* sampled below calls */
		if (job_is_site(j, i) || (j->o->sites && java_site_is_missing(j, i)))
			j->kind_of[i] = NOBODY;
		if (j->kind_of[i] != NOBODY)
			j->kinds[j->kind_of[i]].nr_contexts++;
	}
	free(java);
	free(of_process);
}

/* --- taking it away --- */

static void add_job_cost(uint64_t *to, uint64_t calls, uint64_t cost)
{
	unsigned __int128 v = (unsigned __int128)calls * cost + *to;

	*to = v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/* Both are [node][metric]. */
struct sums {
	uint64_t *delta;		/* what counting cost there, at most what was measured */
	uint64_t *doubt;		/* what must be left for it to be certain */
};

static void sum_calls(const struct job *j, const struct sums *s)
{
	const struct flow *f = &j->m->flow;
	unsigned int m, nr = f->nr_metrics;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		size_t parent = f->nodes[i].parent, own = i * nr;
		size_t site = job_is_site(j, parent) ? parent * nr : 0;
		size_t above = (site ? f->nodes[parent].parent : parent) * nr;
		uint64_t n = f->nodes[i].n, thrown = i < j->o->nr_thrown ? j->o->thrown[i] : 0;

		for (m = 0; m < nr && j->kind_of[i] != NOBODY; m++) {
			const struct calibration_cost *c = &j->kinds[j->kind_of[i]].of[j->tier_of[i]][m];

			add_job_cost(&s->delta[own + m], n, c->within);
			add_job_cost(&s->delta[above + m], n, c->between);
			add_job_cost(&s->delta[above + m], MIN(thrown, n), c->thrown);
			if (site)
				add_job_cost(&s->delta[site + m], n, c->site);
			add_job_cost(&s->doubt[own + m], n, c->doubt);
			add_job_cost(&s->doubt[above + m], n, c->doubt);
			if (site)
				add_job_cost(&s->doubt[site + m], n, c->doubt);
		}
	}
}

static void sums_init(struct sums *s, const struct job *j, uint64_t *nr_over)
{
	const struct flow *f = &j->m->flow;
	size_t nr = f->nr_nodes * f->nr_metrics, i;

	s->delta = xcalloc(nr, sizeof(*s->delta));
	s->doubt = xcalloc(nr, sizeof(*s->doubt));
	sum_calls(j, s);
	for (i = f->nr_metrics; i < nr; i++) {
		s->doubt[i] /= 1000;
		s->delta[i] = (s->delta[i] + 500) / 1000;
		if (s->delta[i] <= f->base[i])
			continue;
		s->delta[i] = f->base[i];
		(*nr_over)++;
	}
}

static void sums_release(struct sums *s)
{
	free(s->delta);
	free(s->doubt);
}

/* Return how many metrics are added. */
static unsigned int nr_added(const struct job *j)
{
	return j->keep ? j->nr * (1 + j->doubts) : 0;
}

/* Make the nodes anew with BASE, and with the DELTA and doubt of each calibrated metric as metrics. */
static void take_away(const struct job *j, const struct sums *s)
{
	const struct flow *f = &j->m->flow;
	unsigned int m, nr = f->nr_metrics, k;
	struct flow out;
	size_t i;

	flow_init(&out, nr + nr_added(j), f->n_means);
	out.repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t base[FLOW_MAX_METRICS];

		for (m = 0, k = nr; m < nr; m++) {
			base[m] = flow_base(f, i)[m] - s->delta[i * nr + m];
			if (!j->keep || !j->has[m])
				continue;
			base[k++] = s->delta[i * nr + m];
			if (j->doubts)
				base[k++] = s->doubt[i * nr + m];
		}
		flow_add(&out, flow_child(&out, f->nodes[i].parent, f->nodes[i].consumer), f->nodes[i].n,
			 base);
	}
	flow_finish(&out);
	model_take_flow(j->m, &out, NULL);
}

static void name_one(struct model *m, unsigned int metric, unsigned int of, const char *what)
{
	const char *unit = model_str(m, m->metrics[of].unit);
	char name[160];

	snprintf(name, sizeof(name), "%s.%s", model_str(m, m->metrics[of].name), what);
	m->delta_of[metric] = of;
	model_set_metric(m, metric, name, strlen(name), unit, strlen(unit));
}

static void name_deltas(const struct job *j)
{
	struct model *model = j->m;
	unsigned int m, nr = model->flow.nr_metrics - nr_added(j), k = nr;

	for (m = 0; m < nr; m++) {
		if (!j->has[m])
			continue;
		name_one(model, k++, m, "delta");
		if (j->doubts)
			name_one(model, k++, m, "doubt");
	}
	model->nr_deltas = nr_added(j);
	model->has_doubts = j->doubts;
}

/* --- saying it --- */

static void put_calls(struct buf *b, const struct job *j, int kind)
{
	buf_str(b, kind == NATIVE ? "native functions" : "Java methods");
	if (kind >= FIRST_JVM)
		buf_fmt(b, " (%s)", j->kinds[kind].jvm);
}

/* Append what is marked in reports. */
static void put_mark(struct buf *b, const struct job *j)
{
	const struct model *model = j->m;
	bool clocks = false;
	unsigned int m;

	for (m = 0; m < model->nr_shown; m++) {
		const char *name = model_str(model, model->metrics[m].name);

		clocks |= j->has[m] && (!strcmp(name, "cpu") || !strcmp(name, "wall"));
	}
	buf_str(b, " (~: may be off by 5 % or more");
	if (clocks && !names_label(j->names, "callflow.precise"))
		buf_str(b, "; record with --precise-time to measure short calls correctly");
	buf_str(b, ")");
}

/* Costs from another kernel, or with another clock, may be others here. */
static void put_where(struct buf *b, const struct job *j, int kind)
{
	const char *where = names_label(j->names, kind == NATIVE ? "call.calibrated.in" :
							  "call.java.calibrated.in");

	if (where)
		buf_fmt(b, " (measured in another environment: %s)", where);
}

/* Say what samples cost: their stacks do not tell how the code of a method ran when it was called. */
static void put_lost_tiers(struct buf *b, const struct job *j)
{
	bool any = false;
	int i;

	for (i = FIRST_JVM; i < NR_KINDS; i++)
		any |= j->kinds[i].nr_contexts && j->kinds[i].nr;
	if (any && j->names->o.merge_tiers && names_label(j->names, "callflow.tiers"))
		buf_str(b, " (as samples share the tree, by the cost in code of C2 for calls of all tiers; --metric with metrics of calls alone tells tiers apart)");
}

static const char *done(const struct job *j)
{
	const struct model *model = j->m;
	unsigned int m, i, nr = 0;
	struct buf b = BUF_INIT;
	const char *text;

	for (i = 0; i < NR_KINDS; i++)
		nr += j->kinds[i].nr_contexts && j->kinds[i].nr;
	for (i = 0; i < NR_KINDS; i++) {
		const struct costs *c = &j->kinds[i];
		const char *sep = nr == 1 ? " only: " : ": ";

		if (!c->nr_contexts || !c->nr)
			continue;
		buf_str(&b, b.len ? "; " : "calibrated, ");
		put_calls(&b, j, i);
		for (m = 0; m < model->nr_shown; m++)
			if (c->has[m]) {
				buf_fmt(&b, "%s%s", sep, model_str(model, model->metrics[m].name));
				sep = ", ";
			}
		put_where(&b, j, i);
	}
	for (i = 0; i < NR_KINDS && nr > 1; i++)
		if (j->kinds[i].nr_contexts && !j->kinds[i].nr) {
			buf_str(&b, "; not ");
			put_calls(&b, j, i);
		}
	put_lost_tiers(&b, j);
	if (j->keep)
		put_mark(&b, j);
	if (j->o->deltas && !j->doubts)
		buf_str(&b, "; what is uncertain cannot be marked in so many metrics, choose some with --metric");
	text = arena_strndup(&j->names->text, b.data, b.len);
	buf_release(&b);
	return text;
}

const char *calibrate_why_not(struct names *x, bool of_java)
{
	const char *said = names_label(x, of_java ? "call.java.uncalibrated" : "call.uncalibrated");
	const char *kept = names_label(x, "callflow");
	struct buf b = BUF_INIT;

	if (said)
		buf_fmt(&b, "not calibrated: %s", said);
	else
		buf_fmt(&b, "not calibrated: 'arcprof calibrate%s%s%s%s%s' before a recording measures what counting calls costs%s",
			of_java ? " --java" : "", names_label(x, "callflow.precise") ? " --precise-time" : "",
			kept && strstr(kept, "events") ? " --calltrace" : "",
			names_label(x, "callflow.sites") ? " --call-sites" : "",
			of_java && names_label(x, "callflow.tiers") ? " --call-tier" : "",
			of_java ? " in a JVM" : "");
	said = arena_strndup(&x->text, b.data, b.len);
	buf_release(&b);
	return said;
}

/* Return why no context at all is calibrated. */
static const char *why_nothing(struct job *j)
{
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++) {
		nr += j->kinds[i].nr_contexts;
		if (j->kinds[i].nr_contexts && j->kinds[i].unstable)
			return "not calibrated: 'arcprof calibrate' found no stable cost on the recording machine";
	}
	if (!nr)
		return "not calibrated: no calls";
	return calibrate_why_not(j->names, !j->kinds[NATIVE].nr_contexts);
}

/* Return why nothing is calibrated, NULL if something is. */
static const char *job_why_not(struct job *j)
{
	unsigned int m, i;

	if (!j->o->wanted)
		return "not calibrated: --no-calibrate";
	if (j->o->from_events)
		return "not calibrated: built from events";
	for (m = 0; m < j->m->flow.nr_metrics; m++) {
		for (i = 0; i < NR_KINDS; i++)
			j->has[m] |= j->kinds[i].nr_contexts && j->kinds[i].has[m];
		j->nr += j->has[m];
	}
	if (!j->nr)
		return why_nothing(j);
	j->keep = j->o->deltas && j->m->flow.nr_metrics + j->nr <= FLOW_MAX_METRICS;
	j->doubts = j->keep && j->m->flow.nr_metrics + 2 * j->nr <= FLOW_MAX_METRICS;
	if (j->o->needs_deltas && !j->keep)
		return "not calibrated: no room for DELTA of so many metrics; choose some with --metric";
	return NULL;
}

/* Merge contexts that differ only in their tiers. */
static void merge_tiers(struct model *m)
{
	const struct flow *f = &m->flow;
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at)), consumer;
	struct flow out;
	size_t i;

	flow_init(&out, f->nr_metrics, f->n_means);
	out.repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++) {
		struct consumer c = m->consumers.items[f->nodes[i].consumer];
		bool split = c.kind == CONSUMER_JAVA && c.key;

		c.key = 0;
		consumer = split ? consumer_add(&m->consumers, &c) : f->nodes[i].consumer;
		at[i] = flow_child(&out, at[f->nodes[i].parent], consumer);
		flow_add(&out, at[i], f->nodes[i].n, flow_base(f, i));
	}
	flow_finish(&out);
	model_take_flow(m, &out, at);
	free(at);
}

static void calibrate_calls(struct names *x, const struct calibrate_opts *o, struct origin *origin)
{
	uint64_t jvms[NR_KINDS] = { 0 };
	struct job j = { .names = x, .m = x->m, .o = o, .kinds = xcalloc(NR_KINDS, sizeof(*j.kinds)) };
	struct sums sums;

	read_jobs(&j, jvms);
	find_kinds(&j, jvms);
	origin->calibration = job_why_not(&j);
	if (!origin->calibration) {
		sums_init(&sums, &j, &origin->over_corrected);
		take_away(&j, &sums);
		if (j.keep)
			name_deltas(&j);
		origin->calibration = done(&j);
		sums_release(&sums);
	}
	free(j.kind_of);
	free(j.tier_of);
	free(j.kinds);
}

void calibrate(struct names *x, const struct calibrate_opts *o, struct origin *origin)
{
	if (names_label(x, "call.metric.0"))	/* of calls alone, nothing that is shown costs */
		calibrate_calls(x, o, origin);
	if (x->o.split_tiers && !x->o.by_kind)
		merge_tiers(x->m);
}
