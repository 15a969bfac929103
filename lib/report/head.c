// SPDX-License-Identifier: GPL-2.0-or-later
/* head.c - the first lines of every report: what was measured, for how long, how much is missing. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/chance.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/blend.h"
#include "report/head.h"
#include "version.h"

void report_put_duration(struct buf *b, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	double v;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ns < units[i].ns)
			continue;
		v = (double)ns / units[i].ns;
		buf_fmt(b, "%.*f %s", v < 10 ? 2 : v < 100 ? 1 : 0, v, units[i].unit);
		return;
	}
	buf_fmt(b, "%" PRIu64 " ns", ns);
}

/* A count of one has its unit in the singular: "1 call". All units are plurals that end in s. */
static void put_in_unit(struct buf *b, uint64_t n, const char *unit)
{
	size_t len = strlen(unit);
	bool one = n == 1 && len > 1 && unit[len - 1] == 's' && unit[len - 2] != 's';
	char *text = xstrndup(unit, len - one);

	buf_fmt(b, "%" PRIu64 " ", n);
	quote_add(b, text);
	free(text);
}

static void put_amount(const struct view *v, unsigned int m, struct buf *b)
{
	const char *name = model_str(v->m, v->m->metrics[m].name),
		   *unit = model_str(v->m, v->m->metrics[m].unit);

	if (!strcmp(unit, "ns")) {
		report_put_duration(b, v->total[m]);
		buf_str(b, " of ");
	} else if (!*unit || !strcmp(unit, name) || !strcmp(unit, "events")) {
		buf_fmt(b, "%" PRIu64 " ", v->total[m]);
	} else {
		put_in_unit(b, v->total[m], unit);
		buf_str(b, " of ");
	}
	quote_add(b, name);
}

/* Append a share: never "100 %" when something is missing, nor "0 %" when something is there. */
static void put_share(struct buf *b, double share)
{
	double percent = share * 100;

	if (share >= 1)
		buf_str(b, "100 %");
	else if (percent >= 99.95)
		buf_str(b, "> 99.9 %");
	else if (percent > 0 && percent < 0.05)
		buf_str(b, "< 0.1 %");
	else
		buf_fmt(b, "%.1f %%", percent);
}

/* Return the stacks of the first source that has samples, or NULL. */
static const struct view_stacks *sampled(const struct view *v)
{
	unsigned int source = model_first_samples(v->m);

	return source < v->m->nr_sources ? &v->stacks[source] : NULL;
}

static void put_completeness(const struct view *v, struct buf *b)
{
	const struct view_stacks *s = sampled(v);
	uint64_t with_stack;

	if (!s || !v->origin->is_trace || !s->n)
		return;
	with_stack = s->n - s->no_stack_n;
	if (!with_stack) {
		buf_str(b, ", no call stacks");
		return;
	}
	if (!v->origin->imported) {	/* who knows where those should have ended? */
		buf_str(b, ", ");
		put_share(b, (double)s->complete_n / with_stack);
		buf_str(b, " complete stacks");
	}
	if (s->no_stack_n)
		buf_fmt(b, " (%" PRIu64 " without)", s->no_stack_n);
}

static void put_marks(const struct view *v, const char *what, const struct view_stacks *s, struct buf *b)
{
	size_t i;

	if (!s->nr_marks)
		return;
	buf_str(b, what);
	for (i = 0; i < s->nr_marks; i++) {
		buf_fmt(b, "%s %" PRIu64 " ", i ? "," : "", s->marks[i].n);
		quote_add(b, model_str(v->m, s->marks[i].name));
	}
	buf_putc(b, '\n');
}

/* Calls beside samples, whose line is another one. */
static const struct view_stacks *calls_beside(const struct view *v)
{
	return sampled(v) && sampled(v) != &v->stacks[0] ? &v->stacks[0] : NULL;
}

static void put_throttled(const struct origin *o, struct buf *b)
{
	if (o->skipped)
		buf_fmt(b, "throttled: %" PRIu64 " hit%s of JVMs without a sample, as walking a stack may take a fifth of a thread's time; the next samples have their weight (a longer interval avoids it: --freq, --count)\n",
			o->skipped, plural(o->skipped));
	if (o->throttled)
		buf_fmt(b, "throttled by the kernel %" PRIu64 " time%s: what ran meanwhile is missing (a longer interval avoids it, or a higher kernel.perf_event_max_sample_rate)\n",
			o->throttled, plural(o->throttled));
}

static void put_all_marks(const struct view *v, struct buf *b)
{
	if (calls_beside(v))
		put_marks(v, "calls in merged contexts:", calls_beside(v), b);
	put_marks(v, "incomplete stacks:", sampled(v) ? sampled(v) : &v->stacks[0], b);
	if (v->origin->nr_missing)
		buf_fmt(b, "samples in calls that the tree of calls does not have: %" PRIu64 "\n",
			v->origin->nr_missing);
}

static void put_repairs(const struct view *v, struct buf *b)
{
	const struct flow_repairs *r = &v->m->flow.repairs;
	const struct {
		uint64_t n;
		const char *what;
	} list[] = {
		{ r->inserted, "left without having been entered" },
		{ r->popped, "closed because an outer one was left" },
		{ r->backwards, "values lower than the one before" },
	};
	const char *sep = "repaired:";
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!list[i].n)
			continue;
		buf_fmt(b, "%s %" PRIu64 " %s", sep, list[i].n, list[i].what);
		sep = ",";
	}
	if (*sep == ',')
		buf_putc(b, '\n');
}

static void put_calibration(const struct view *v, struct buf *b)
{
	if (!v->origin->calibration)
		return;
	quote_add(b, v->origin->calibration);
	if (v->origin->over_corrected)
		buf_fmt(b, "; %" PRIu64 " contexts had less than that (over-corrected, now 0)",
			v->origin->over_corrected);
	buf_putc(b, '\n');
}

/* Append how much of each calibrated metric is marked. */
static void put_marked(const struct view *v, struct buf *b)
{
	const char *sep = ", ~ on ";
	unsigned int m;

	for (m = 0; m < v->m->nr_shown; m++) {
		if (!model_delta(v->m, m) || !v->total[m])
			continue;
		buf_str(b, sep);
		put_share(b, v->marked[m]);
		buf_fmt(b, " of %s", model_str(v->m, v->m->metrics[m].name));
		sep = ", ";
	}
}

void report_put_counted(struct buf *b, const char *unit, uint64_t n, const char *what)
{
	if (strcmp(unit, "ns") != 0) {
		buf_fmt(b, "%" PRIu64 "%s%s", n, what ? " " : "", what ? what : "");
		return;
	}
	report_put_duration(b, n);
	if (what)
		buf_fmt(b, " of %s", what);
}

void report_put_amount(struct buf *b, const char *unit, uint64_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double v = n;
	size_t i;

	if (!strcmp(unit, "ns")) {
		report_put_duration(b, n);
		return;
	}
	if (strcmp(unit, "bytes") != 0) {
		buf_fmt(b, "%" PRIu64, n);
		return;
	}
	for (i = 0; v >= 999.5 && i < ARRAY_SIZE(units) - 1; i++)
		v /= 1000;
	buf_fmt(b, "%.*f %s", !i || v >= 100 ? 0 : v < 10 ? 2 : 1, v, units[i]);
}

/* Append the shares that were sampled, for a whole recording only: the total of a part is not known. */
void head_put_sampled(const struct origin *o, struct buf *b)
{
	size_t i;

	for (i = 0; i < o->nr_accounts; i++) {
		const struct origin_account *a = &o->accounts[i];

		if (!a->counted)
			continue;
		buf_str(b, ", ");
		put_share(b, (double)MIN(a->sampled, a->counted) / (double)a->counted);
		buf_fmt(b, " of %s sampled", a->what);
	}
}

static bool is_short(const struct origin_account *a)
{
	return chance_is_short(a->counted, a->sampled, a->weight);
}

const struct origin_account *head_short(const struct origin *o)
{
	size_t i;

	for (i = 0; i < o->nr_accounts && !is_short(&o->accounts[i]); i++)
		;
	return i < o->nr_accounts ? &o->accounts[i] : NULL;
}

static void put_unsampled(const struct origin *o, struct buf *b)
{
	size_t i;

	for (i = 0; i < o->nr_accounts; i++) {
		const struct origin_account *a = &o->accounts[i];

		if (!is_short(a))
			continue;
		buf_str(b, "not sampled: ");
		report_put_counted(b, a->unit, a->counted - a->sampled, NULL);
		buf_str(b, " of ");
		report_put_counted(b, a->unit, a->counted, a->what);
		if (a->why && *a->why) {
			buf_str(b, ": ");
			quote_add(b, a->why);
		}
		buf_str(b, " (report --account");
		if (i) {
			buf_str(b, " --metric ");
			quote_add(b, a->metric);
		}
		buf_str(b, ": thread by thread)\n");
	}
}

/* Write the accounts. That of CPU time has member names of its own. */
static void json_accounts(const struct origin *o, struct json *j)
{
	const struct origin_account *cpu = o->nr_accounts && !strcmp(o->accounts[0].what, "CPU time") ?
						   o->accounts : NULL;
	size_t i;

	json_u64_known(j, "charged_ns", cpu && cpu->counted, cpu ? cpu->counted : 0);
	json_u64_known(j, "sampled_ns", cpu && cpu->counted, cpu ? cpu->sampled : 0);
	if (!o->nr_accounts)
		return;
	json_array(j, "accounts");
	for (i = 0; i < o->nr_accounts; i++) {
		json_object(j, NULL);
		json_str(j, "metric", o->accounts[i].metric);
		json_str(j, "what", o->accounts[i].what);
		json_str(j, "unit", o->accounts[i].unit);
		json_u64(j, "counted", o->accounts[i].counted);
		json_u64(j, "sampled", o->accounts[i].sampled);
		json_str(j, "why", o->accounts[i].why);
		json_end(j);
	}
	json_end(j);
}

/* Return whether the metric is the number of calls of a tree that has them. */
static bool is_calls(const struct view *v, unsigned int m)
{
	return v->m->flow.n_means == FLOW_CALLS && !strcmp(model_str(v->m, v->m->metrics[m].name), "calls");
}

static void put_count(struct buf *b, uint64_t n, const char *what)
{
	buf_fmt(b, "%" PRIu64 " %s%s", n, what, plural(n));
}

static void put_rate(const struct view *v, struct buf *b)
{
	buf_fmt(b, " at %.1f Hz%s", v->origin->rate_hz,
		v->origin->tick_bound ? " by CPU timers (tick-bound, user code of JVMs only)" : "");
	if (!v->origin->rate_mode || v->origin->tick_bound)
		return;
	buf_str(b, " in ");
	quote_add(b, v->origin->rate_mode);
	buf_str(b, " code");
}

/* Return whether the metric is the number of samples or calls, so that n need not be repeated. */
static bool n_is_said(const struct view *v)
{
	const char *metric = model_str(v->m, v->m->metrics[0].name);
	const char *unit = model_str(v->m, v->m->metrics[0].unit);

	if (v->m->flow.n_means == FLOW_CALLS)
		return is_calls(v, 0);
	if (v->origin->imported && (!strcmp(unit, "samples") || !strcmp(unit, "events")))
		return v->total[0] == v->total_n;
	return !strcmp(metric, "samples") && v->total[0] == v->total_n;
}

/* Append n of each source, with the event if several have samples. first_n: of the first source. */
static void put_counts(const struct view *v, uint64_t first_n, struct buf *b)
{
	const struct model *m = v->m;
	bool several = model_first_samples(m) + 1 < m->nr_sources;
	unsigned int s;

	if (!origin_knows(v->origin, "sample counts"))
		return;
	for (s = n_is_said(v); s < m->nr_sources; s++) {
		uint64_t n = s ? model_n(m, s, v->total_n, v->total) : first_n;
		enum flow_n kind = m->sources[s].kind;

		if (!n && v->origin->imported && v->total[0])	/* another metric's are known */
			continue;
		buf_str(b, ", ");
		put_count(b, n,
			  kind == FLOW_CALLS ? "call" : kind == FLOW_SAMPLES ? "sample" : "object");
		if (kind == FLOW_SAMPLES && several) {
			buf_str(b, " of ");
			quote_add(b, model_str(m, m->sources[s].name));
		}
		if (s == model_first_samples(m) && v->origin->rate_hz > 0)
			put_rate(v, b);
	}
}

static const struct origin_share *share_of(const struct view *v, unsigned int m)
{
	const struct model_metric *k = &v->m->metrics[m];

	return origin_share(v->origin, model_str(v->m, k->name), v->m->sources[k->source].kind == FLOW_CALLS);
}

static void put_share_of(const struct view *v, const struct origin_share *s, struct buf *b)
{
	buf_str(b, ", ");
	quote_add(b, s->metric);
	buf_str(b, " recorded for ");
	report_put_duration(b, s->on_ns);
	buf_str(b, " (");
	put_share(b, (double)s->on_ns / (double)v->origin->duration_ns);
	buf_str(b, ")");
}

/* Append the share of time in which events were on, for those that were not always on. */
static void put_covered(const struct view *v, struct buf *b)
{
	const struct origin_share *calls = origin_share(v->origin, "calls", true), *s;
	unsigned int m;

	for (m = 0; calls && m < v->m->nr_sources && v->m->sources[m].kind != FLOW_CALLS; m++)
		;
	if (calls && m < v->m->nr_sources)
		put_share_of(v, calls, b);
	for (m = 0; m < v->m->nr_shown; m++)
		if ((s = share_of(v, m)) && s != calls)
			put_share_of(v, s, b);
}

static void put_deadlocks(const struct view *v, struct buf *b)
{
	size_t i;

	for (i = 0; i < v->origin->nr_deadlocks; i++) {
		buf_str(b, "deadlock: ");
		quote_add(b, v->origin->deadlocks[i]);
		buf_putc(b, '\n');
	}
}

static void put_outside(const struct view *v, struct buf *b)
{
	enum { MOST = 10 };
	size_t i;

	for (i = 0; i < v->origin->nr_outside && i < MOST; i++) {
		buf_str(b, "Java stacks from outside, without an agent: ");
		quote_add(b, v->origin->outside[i]);
		buf_putc(b, '\n');
	}
	if (i < v->origin->nr_outside)
		buf_fmt(b, "and of %zu more JVMs\n", v->origin->nr_outside - i);
}

enum { MAX_TRIGGERS = 10 };

/* Append why the recording was kept. */
static void put_triggers(const struct view *v, struct buf *b)
{
	const struct origin *o = v->origin;
	size_t i;

	for (i = 0; i < o->nr_triggers && i < MAX_TRIGGERS; i++) {
		const struct name_trigger *t = &o->triggers[i];

		buf_str(b, "trigger at ");
		report_put_duration(b, t->time_ns - MIN(t->time_ns, o->begin_ns));
		buf_str(b, ": ");
		quote_add(b, t->when);
		buf_str(b, ": ");
		quote_add(b, t->cause);
		buf_putc(b, '\n');
	}
	if (i < o->nr_triggers)
		buf_fmt(b, "%zu more triggers: arcprof report --log=trigger\n", o->nr_triggers - i);
}

static void json_outside(const struct view *v, struct json *j)
{
	size_t i;

	if (!v->origin->nr_outside)
		return;
	json_array(j, "java_from_outside");
	for (i = 0; i < v->origin->nr_outside; i++)
		json_str(j, NULL, v->origin->outside[i]);
	json_end(j);
}

static void json_triggers(const struct view *v, struct json *j)
{
	const struct origin *o = v->origin;
	size_t i;

	if (!o->nr_triggers)
		return;
	json_array(j, "triggers");
	for (i = 0; i < o->nr_triggers; i++) {
		json_object(j, NULL);
		json_u64(j, "time_ns", o->triggers[i].time_ns - MIN(o->triggers[i].time_ns, o->begin_ns));
		json_str(j, "when", o->triggers[i].when);
		json_str(j, "cause", o->triggers[i].cause);
		json_end(j);
	}
	json_end(j);
}

/* Return what all filters of an event left out, at its first filter; else 0. */
static uint64_t left_out(const struct name_filter *all, size_t nr, size_t at)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < at; i++)
		if (!strcmp(all[i].event, all[at].event))
			return 0;
	for (; i < nr; i++)
		sum += strcmp(all[i].event, all[at].event) ? 0 : all[i].left_out;
	return sum;
}

enum { MAX_RULES_SHOWN = 400 };

static void put_rules(const struct name_filter *f, uint64_t begin_ns, struct buf *b)
{
	struct buf rules = BUF_INIT;

	buf_str(b, "filter while recording");
	if (f->time_ns > begin_ns) {
		buf_str(b, ", from ");
		report_put_duration(b, f->time_ns - begin_ns);
		buf_str(b, " on");
	}
	buf_str(b, ": ");
	quote_add(&rules, *f->rules ? f->rules : "none");
	buf_fmt(b, "%.*s%s\n", MAX_RULES_SHOWN, rules.data, rules.len > MAX_RULES_SHOWN ? "..." : "");
	buf_release(&rules);
}

void report_put_filters(const struct name_filter *all, size_t nr, uint64_t begin_ns, struct buf *b)
{
	const char *before = NULL, *sep = "left out while recording: ";
	size_t i;

	for (i = 0; i < nr; i++) {
		if (*all[i].event || (before && !strcmp(before, all[i].rules)))
			continue;
		put_rules(&all[i], begin_ns, b);
		before = all[i].rules;
	}
	for (i = 0; i < nr; i++) {
		uint64_t n = *all[i].event ? left_out(all, nr, i) : 0;

		if (!n)
			continue;
		buf_fmt(b, "%s%" PRIu64 " of ", sep, n);
		quote_add(b, all[i].event);
		sep = ", ";
	}
	if (*sep == ',')
		buf_putc(b, '\n');
}

void report_put_filter(const struct rules *r, uint64_t nr_left_out, const char *what, struct buf *b)
{
	struct buf text = BUF_INIT;

	if (!r || !r->nr)
		return;
	rules_text(r, &text);
	buf_str(b, "filter: ");
	quote_add(b, text.data);
	buf_fmt(b, "; %" PRIu64 " %s%s left out\n", nr_left_out, what, plural(nr_left_out));
	buf_release(&text);
}

void report_print_filter(const struct rules *r, uint64_t nr_left_out, const char *what, FILE *out)
{
	struct buf b = BUF_INIT;

	report_put_filter(r, nr_left_out, what, &b);
	fputs(b.data ? b.data : "", out);
	buf_release(&b);
}

void report_json_filter(const struct rules *r, uint64_t nr_left_out, struct json *j)
{
	if (r && r->nr)
		json_u64(j, "left_out", nr_left_out);
}

void report_json_filters(const struct name_filter *all, size_t nr, uint64_t begin_ns, struct json *j)
{
	size_t i;

	if (!nr)
		return;
	json_array(j, "filters");
	for (i = 0; i < nr; i++) {
		uint64_t n = *all[i].event ? left_out(all, nr, i) : 0;

		if (*all[i].event && !n)
			continue;
		json_object(j, NULL);
		json_u64(j, "time_ns", all[i].time_ns - MIN(all[i].time_ns, begin_ns));
		if (n) {
			json_str(j, "event", all[i].event);
			json_u64(j, "left_out", n);
		} else {
			json_str(j, "rules", all[i].rules);
		}
		json_end(j);
	}
	json_end(j);
}

static void put_virtual(const struct origin *origin, struct buf *b)
{
	uint64_t away_ns = origin->virtual_ns - MIN(origin->virtual_ns, origin->mounted_ns);

	buf_fmt(b, "virtual threads: %" PRIu64 ", of whose ", origin->nr_virtual);
	report_put_duration(b, origin->virtual_ns);
	buf_str(b, " no thread carried them for ");
	report_put_duration(b, away_ns);
	buf_putc(b, '\n');
}

void report_put_refused(const struct origin *origin, struct buf *b)
{
	size_t i;

	if (origin->nr_virtual)
		put_virtual(origin, b);
	for (i = 0; i < origin->nr_refused; i++) {
		buf_str(b, "not recorded: ");
		quote_add(b, origin->refused[i]);
		buf_putc(b, '\n');
	}
}

void report_json_refused(const struct origin *origin, struct json *j)
{
	size_t i;

	json_array(j, "refused");
	for (i = 0; i < origin->nr_refused; i++)
		json_str(j, NULL, origin->refused[i]);
	json_end(j);
}

void report_put_lost(uint64_t lost, uint64_t stopped_ns, uint64_t nr_after, struct buf *b)
{
	buf_fmt(b, "%" PRIu64 " lost", lost);
	if (!stopped_ns)
		return;
	buf_str(b, ", stopped storing after ");
	report_put_duration(b, stopped_ns);
	buf_str(b, " at --max-size");
	if (nr_after)
		buf_fmt(b, " (%" PRIu64 " came later)", nr_after);
}

void report_put_lost_of(const struct names *x, struct buf *b)
{
	report_put_lost(x->lost, names_stopped_ns(x), x->nr_after, b);
}

void report_json_stopped(uint64_t stopped_ns, uint64_t nr_after, struct json *j)
{
	if (!stopped_ns)
		return;
	json_u64(j, "stopped_ns", stopped_ns);
	json_u64_known(j, "after_stop", nr_after, nr_after);
}

void report_json_lost_of(const struct names *x, struct json *j)
{
	json_u64(j, "lost", x->lost);
	report_json_stopped(names_stopped_ns(x), x->nr_after, j);
}

void report_put_own(const struct origin *o, struct buf *b)
{
	if (!o->own_ns)
		return;
	buf_str(b, "not shown (--own-threads shows it): ");
	report_put_duration(b, o->own_ns);
	buf_fmt(b, " of wall in %" PRIu32 " thread%s of arcprof's own\n", o->nr_own, plural(o->nr_own));
}

/* Append what was requested and not recorded, and what was recorded and is not shown. */
static void put_others(const struct view *v, struct buf *b)
{
	report_put_refused(v->origin, b);
	report_put_own(v->origin, b);
	if (v->origin->not_shown) {
		buf_str(b, "not shown (--metric shows it): ");
		quote_add(b, v->origin->not_shown);
		buf_putc(b, '\n');
	}
}

static const char *first_sampled(const struct view *v)
{
	unsigned int i, source = model_first_samples(v->m);

	for (i = 0; i + 1 < v->m->nr_shown && v->m->metrics[i].source != source; i++)
		;
	return model_str(v->m, v->m->metrics[i].name);
}

/* Append which samples of one recording have no calls of the other. */
static void put_blend(const struct view *v, struct buf *b)
{
	const struct blend *blend = v->origin->blend;

	if (!blend)
		return;
	buf_str(b, "calls and samples of two recordings; no calls were counted for ");
	put_share(b, blend->unmatched);
	buf_str(b, " of ");
	quote_add(b, first_sampled(v));
	buf_str(b, " in counted functions");
	buf_str(b, ", and ");
	put_share(b, blend->outside);
	buf_str(b, " is in other threads\n");
}

static void put_date(struct buf *b, const char *before, uint64_t realtime_ns)
{
	time_t t = realtime_ns / 1000000000;
	char text[32];
	struct tm tm;

	if (realtime_ns && gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		buf_fmt(b, "%s%s", before, text);
}

/* Append the recordings of a merged trace, which are in order of their start. */
static void put_parts(const struct view *v, struct buf *b)
{
	const struct origin *o = v->origin;
	size_t first = 0;

	if (!o->nr_parts)
		return;
	while (first + 1 < o->nr_parts && !o->parts[first].start_ns)	/* not known */
		first++;
	if (o->merged_by && strcmp(o->merged_by, "add") != 0)
		buf_str(b, strcmp(o->merged_by, "minimum") ? "difference of " : "minimum of ");
	buf_fmt(b, "%zu recording%s of ", o->nr_parts, plural(o->nr_parts));
	quote_add(b, o->host ? o->host : "several hosts");
	put_date(b, first + 1 < o->nr_parts ? ", started from " : ", started ", o->parts[first].start_ns);
	if (first + 1 < o->nr_parts)
		put_date(b, " to ", o->parts[o->nr_parts - 1].start_ns);
	if (o->parts[first].start_ns)
		buf_str(b, " (UTC)");
	if (o->below_zero)
		buf_fmt(b, "; %" PRIu64 " value%s below zero, in the metrics minus-...", o->below_zero,
			o->below_zero == 1 ? " is" : "s are");
	buf_putc(b, '\n');
}

static void put_import(const struct view *v, struct buf *b)
{
	if (!v->origin->imported)
		return;
	buf_str(b, "imported from ");
	quote_add(b, v->origin->imported);
	buf_str(b, ": ");
}

static void put_import_notes(const struct view *v, struct buf *b)
{
	size_t i;

	if (v->origin->unknown) {
		buf_str(b, "not known: ");
		quote_add(b, v->origin->unknown);
		buf_putc(b, '\n');
	}
	for (i = 0; i < v->origin->nr_notes; i++) {
		quote_add(b, v->origin->notes[i]);
		buf_putc(b, '\n');
	}
}

static void put_too_large(const struct view *v, struct buf *b)
{
	unsigned int m;

	for (m = 0; m < v->m->flow.nr_metrics; m++) {
		if (v->total[m] != UINT64_MAX)
			continue;
		buf_str(b, "too large to be added up: ");
		quote_add(b, model_str(v->m, v->m->metrics[m].name));
		buf_fmt(b, "; where %" PRIu64 " is shown, it is that or more\n", UINT64_MAX);
	}
}

/* Append what filters left out. */
static void put_filters(const struct view *v, struct buf *b)
{
	const struct rules *r = v->o->select.filter;

	report_put_filters(v->origin->filters, v->origin->nr_filters, v->origin->begin_ns, b);
	report_put_filter(r, v->origin->nr_left_out, "sample", b);
}

/* Return how many threads lived; 0: not known, or not of what is shown. */
static uint64_t nr_lived(const struct view *v)
{
	const struct selection *s = &v->o->select;
	bool part = selection_wants(s) || selection_has_window(s) || s->focus || s->ignore ||
		s->cpus.nr_items || (s->filter && s->filter->nr);

	if (v->o->merge_threads || v->o->merge_processes)
		return 0;
	return part ? 0 : v->origin->nr_lived;
}

void head_put_threads(const struct view *v, struct buf *b)
{
	uint64_t lived = nr_lived(v);

	if (lived > v->nr_threads)
		buf_fmt(b, "%" PRIu64 " of %s%" PRIu64 " threads sampled", v->nr_threads,
			v->origin->more_lived ? "at least " : "", lived);
	else
		buf_fmt(b, "%" PRIu64 " thread%s", v->nr_threads, plural(v->nr_threads));
}

#define OWN_SHOWN .005	/* more of arcprof's own work than that is worth a word */

void head_text(const struct view *v, FILE *out)
{
	bool samples = v->m->flow.n_means == FLOW_SAMPLES;
	/* the root of a thread counts its start, which is not a call */
	uint64_t n = v->total_n - (v->origin->is_trace && !samples ? v->roots_n : 0);
	struct buf b = BUF_INIT;
	unsigned int m;

	put_import(v, &b);
	for (m = 0; m < v->m->nr_shown; m++) {
		buf_str(&b, m ? ", " : "");
		if (is_calls(v, m))
			put_count(&b, n, "call");
		else
			put_amount(v, m, &b);
	}
	if (v->nr_threads)
		buf_fmt(&b, " in %" PRIu64 " thread%s", v->nr_threads, plural(v->nr_threads));
	if (v->origin->duration_ns) {
		buf_str(&b, " over ");
		report_put_duration(&b, v->origin->duration_ns);
	}
	put_covered(v, &b);
	put_counts(v, n, &b);
	if (v->m->flow.repairs.closed)
		buf_fmt(&b, ", %" PRIu64 " open at the end", v->m->flow.repairs.closed);
	if (origin_knows(v->origin, "lost samples") && v->m->flow.n_means != FLOW_OBJECTS) {
		buf_str(&b, ", ");
		report_put_lost(v->origin->lost, v->origin->stopped_ns, v->origin->nr_after, &b);
	}
	if (v->origin->throttled)
		buf_fmt(&b, ", throttled %" PRIu64 " time%s", v->origin->throttled,
			plural(v->origin->throttled));
	if (v->origin->skipped)
		buf_fmt(&b, ", %" PRIu64 " throttled", v->origin->skipped);
	put_completeness(v, &b);
	if (v->own > OWN_SHOWN) {
		buf_str(&b, ", ");
		put_share(&b, v->own);
		buf_str(&b, " in [arcprof]");
	}
	head_put_sampled(v->origin, &b);
	put_marked(v, &b);
	if (!sampled(v) || sampled(v)->n || v->total[0]) {	/* of nothing there is no share */
		buf_str(&b, "; showing ");
		put_share(&b, v->shown);
	}
	buf_putc(&b, '\n');
	put_import_notes(v, &b);
	put_too_large(v, &b);
	put_parts(v, &b);
	put_filters(v, &b);
	put_triggers(v, &b);
	put_deadlocks(v, &b);
	put_outside(v, &b);
	put_blend(v, &b);
	put_throttled(v->origin, &b);
	put_unsampled(v->origin, &b);
	put_all_marks(v, &b);
	put_repairs(v, &b);
	put_calibration(v, &b);
	put_others(v, &b);
	fwrite(b.data, 1, b.len, out);
	buf_release(&b);
}

static void json_time(struct json *j, const char *key, uint64_t realtime_ns)
{
	char text[64];
	time_t t = realtime_ns / 1000000000;
	struct tm tm;

	if (!realtime_ns || !gmtime_r(&t, &tm) || !strftime(text, sizeof(text) - 16, "%Y-%m-%dT%H:%M:%S",
							    &tm)) {
		json_null(j, key);
		return;
	}
	snprintf(text + strlen(text), 16, ".%09uZ", (unsigned int)(realtime_ns % 1000000000));
	json_str(j, key, text);
}

/* Write the recordings of a merged trace. */
static void json_parts(const struct origin *o, struct json *j)
{
	size_t i;

	json_str(j, "merged_by", o->merged_by);
	json_u64(j, "below_zero", o->below_zero);
	json_array(j, "recordings");
	for (i = 0; i < o->nr_parts; i++) {
		const struct recording *r = &o->parts[i];

		json_object(j, NULL);
		json_str(j, "command", r->command);
		json_str(j, "host", r->host);
		json_time(j, "start", r->start_ns);
		json_u64_known(j, "duration_ns", r->duration_ns, r->duration_ns);
		json_u64(j, "lost", r->lost);
		json_end(j);
	}
	json_end(j);
}

/* Write facts and notes of files that other programs wrote, and of heaps. */
static void json_notes(const struct origin *o, struct json *j)
{
	size_t i;

	if (o->nr_facts) {
		json_object(j, "facts");
		for (i = 0; i < o->nr_facts; i++)
			json_double(j, o->facts[i].key, o->facts[i].value);
		json_end(j);
	}
	if (!o->nr_notes)
		return;
	json_array(j, "notes");
	for (i = 0; i < o->nr_notes; i++)
		json_str(j, NULL, o->notes[i]);
	json_end(j);
}

static void json_source(const struct view *v, struct json *j)
{
	json_object(j, "source");
	json_str(j, "command", v->origin->command);
	json_str(j, "host", v->origin->host);
	json_time(j, "start", v->origin->start_ns);
	json_u64_known(j, "duration_ns", v->origin->duration_ns, v->origin->duration_ns);
	json_u64_known(j, "lost", origin_knows(v->origin, "lost samples"), v->origin->lost);
	if (v->origin->imported) {
		json_str(j, "imported", v->origin->imported);
		json_str(j, "unknown", v->origin->unknown);
	}
	if (v->origin->tick_bound)
		json_bool(j, "tick_bound", true);
	if (v->origin->rate_hz > 0)
		json_double(j, "rate_hz", v->origin->rate_hz);
	else
		json_null(j, "rate_hz");
	json_str(j, "rate_mode", v->origin->rate_mode);
	json_notes(v->origin, j);
	if (v->origin->nr_parts)
		json_parts(v->origin, j);
	json_end(j);
}

static void json_marks(const struct view *v, struct json *j, const char *key, const struct view_stacks *s)
{
	size_t i;

	json_array(j, key);
	for (i = 0; i < s->nr_marks; i++) {
		json_object(j, NULL);
		json_str(j, "name", model_str(v->m, s->marks[i].name));
		json_u64(j, "n", s->marks[i].n);
		json_end(j);
	}
	json_end(j);
}

/* Write how much of each calibrated metric is marked "~" in text, as a share of the total. */
static void json_marked(const struct view *v, struct json *j)
{
	unsigned int m;

	if (!v->m->nr_deltas)
		return;
	json_object(j, "marked_shares");
	for (m = 0; m < v->m->nr_shown; m++)
		if (model_delta(v->m, m))
			json_double(j, model_str(v->m, v->m->metrics[m].name), v->marked[m]);
	json_end(j);
}

/* Write what the first lines of a text report have. */
static void json_quality(const struct view *v, struct json *j)
{
	const struct view_stacks *s = sampled(v);
	const struct flow_repairs *r = &v->m->flow.repairs;
	size_t i;

	json_object(j, "quality");
	json_u64(j, "n", v->total_n);
	json_u64(j, "threads", v->nr_threads);
	json_u64_known(j, "threads_lived", nr_lived(v) && !v->origin->more_lived, nr_lived(v));
	json_double(j, "shown", v->shown);
	if (s) {
		json_u64(j, "samples", s->n);
		json_u64(j, "complete_stacks", s->complete_n);
		json_u64(j, "no_stacks", s->no_stack_n);
	} else {
		json_null(j, "samples");
		json_null(j, "complete_stacks");
		json_null(j, "no_stacks");
	}
	if (v->m->own)
		json_double(j, "own_share", v->own);
	json_u64(j, "missing_contexts", v->origin->nr_missing);
	if (v->origin->blend) {
		json_double(j, "unmatched_share", v->origin->blend->unmatched);
		json_double(j, "outside_share", v->origin->blend->outside);
	}
	json_marks(v, j, "incomplete_stacks", s ? s : &v->stacks[0]);
	if (calls_beside(v))
		json_marks(v, j, "calls_in_merged_contexts", calls_beside(v));
	json_array(j, "deadlocks");
	for (i = 0; i < v->origin->nr_deadlocks; i++)
		json_str(j, NULL, v->origin->deadlocks[i]);
	json_end(j);
	json_outside(v, j);
	json_triggers(v, j);
	report_json_filters(v->origin->filters, v->origin->nr_filters, v->origin->begin_ns, j);
	if (v->o->select.filter)
		report_json_filter(v->o->select.filter, v->origin->nr_left_out, j);
	report_json_refused(v->origin, j);
	json_str(j, "not_shown", v->origin->not_shown);
	json_u64_known(j, "own_wall_ns", v->origin->own_ns, v->origin->own_ns);
	report_json_stopped(v->origin->stopped_ns, v->origin->nr_after, j);
	json_accounts(v->origin, j);
	json_u64(j, "throttled", v->origin->throttled);
	json_u64(j, "skipped", v->origin->skipped);
	json_str(j, "calibration", v->origin->calibration);
	json_u64(j, "over_corrected", v->origin->over_corrected);
	json_marked(v, j);
	json_object(j, "repairs");
	json_u64(j, "inserted", r->inserted);
	json_u64(j, "popped", r->popped);
	json_u64(j, "closed", r->closed);
	json_u64(j, "backwards", r->backwards);
	json_end(j);
	json_end(j);
}

static void head_json_sources(const struct view *v, struct json *j)
{
	const struct model *m = v->m;
	unsigned int s, k;

	json_array(j, "sources");
	for (s = 0; s < m->nr_sources; s++) {
		json_object(j, NULL);
		json_str(j, "name", model_str(m, m->sources[s].name));
		json_str(j, "kind", model_kind_name(m->sources[s].kind));
		json_u64(j, "n", model_n(m, s, v->total_n, v->total));
		json_array(j, "metrics");
		for (k = 0; k < m->nr_shown; k++)
			if (m->metrics[k].source == s)
				json_str(j, NULL, model_str(m, m->metrics[k].name));
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

void head_json(const struct view *v, struct json *j)
{
	unsigned int m;

	report_json_begin(j, v->o->report->name);
	json_source(v, j);
	json_str(j, "n_means", model_kind_name(v->m->flow.n_means));
	json_array(j, "metrics");
	for (m = 0; m < v->m->flow.nr_metrics; m++) {
		json_object(j, NULL);
		json_str(j, "name", model_str(v->m, v->m->metrics[m].name));
		json_str(j, "unit", model_str(v->m, v->m->metrics[m].unit));
		json_u64(j, "total", v->total[m]);
		if (m < v->m->nr_shown && share_of(v, m))
			json_u64(j, "recorded_ns", share_of(v, m)->on_ns);
		json_end(j);
	}
	json_end(j);
	head_json_sources(v, j);
	json_quality(v, j);
}

void report_json_begin(struct json *j, const char *report)
{
	json_object(j, NULL);
	json_object(j, "arcprof");
	json_str(j, "version", ARCPROF_VERSION);
	json_str(j, "report", report);
	json_end(j);
}

void report_json_source(struct json *j, const char *report, const struct names *x)
{
	report_json_begin(j, report);
	json_object(j, "source");
	json_str(j, "command", names_label(x, "command"));
	json_str(j, "host", names_label(x, "host"));
}

void report_json_hidden(struct json *j, uint64_t nr_hidden)
{
	json_bool(j, "truncated", nr_hidden);
	json_u64(j, "not_shown", nr_hidden);
}

void report_print_hidden(uint64_t nr_hidden, FILE *out)
{
	if (nr_hidden)
		fprintf(out, "\n %" PRIu64 " row%s not shown\n", nr_hidden, nr_hidden == 1 ? " is" : "s are");
}
