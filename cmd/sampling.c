// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "jvm/inject.h"
#include "sampling.h"
#include "version.h"

enum { DEFAULT_HZ = 999 };

void sampling_release(struct sampling *s)
{
	free(s->events);
	free(s->rates);
	free(s->pids);
	free(s->tids);
	cpus_release(&s->c.cpus);
	free(s->command_line);
	callrules_release(&s->rules);
}

static size_t count_char(const char *s, char c)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

/* The option parser split at every comma; those inside "pmu/term,term/" belong to the name. */
static size_t join_name(const struct opt_list *names, size_t i, struct buf *b)
{
	buf_reset(b);
	buf_str(b, names->items[i++]);
	while (count_char(b->data, '/') % 2 && strncmp(b->data, "mem:", 4) && i < names->nr_items)
		buf_fmt(b, ",%s", names->items[i++]);
	return i;
}

/* What software counts, one by one: the kernel would estimate a period for it, far off. */
static bool is_counted_singly(const struct pmu_event *ev)
{
	uint32_t type = ev->attr.type;

	return !ev->clock &&
	       (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT);
}

/* A rate in Hz is a period in ns for a clock (which has no adaptive rate), not for a counter. */
static struct ev_rate rate_of(const struct pmu_event *ev, uint64_t freq, uint64_t period)
{
	if (period)
		return (struct ev_rate){ .period = period };
	if (is_counted_singly(ev))
		return (struct ev_rate){ .period = 1 };
	if (!freq)
		freq = DEFAULT_HZ;
	if (ev->clock)
		return (struct ev_rate){ .period = (1000000000 + freq / 2) / freq };
	return (struct ev_rate){ .freq_hz = freq };
}

static void set_rates(struct sampling *s, uint64_t freq, uint64_t period)
{
	struct evconf *ev = &s->c.ev;
	size_t i;

	s->rates = xcalloc(ev->nr_events, sizeof(*s->rates));
	for (i = 0; i < ev->nr_events; i++)
		s->rates[i] = rate_of(&ev->events[i], freq, period);
	ev->rates = s->rates;
}

int sampling_events(struct sampling *s, const struct opt_list *names, uint64_t freq, uint64_t period,
		    struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i = 0, nr = 0;
	int r = 0;

	if (freq && period)
		return err_set(e, EINVAL, "--freq and --count exclude each other");
	if (freq > 1000000)
		return err_set(e, EINVAL, "--freq %" PRIu64 ": more than 1000000 a second is not possible", freq);
	s->events = xcalloc(names->nr_items + 1, sizeof(*s->events));
	if (!names->nr_items)
		pmu_event_default(&s->events[nr++]);
	while (i < names->nr_items && !r) {
		i = join_name(names, i, &b);
		r = pmu_event_parse(b.data, &s->events[nr++], e);
	}
	buf_release(&b);
	s->c.ev.events = s->events;
	s->c.ev.nr_events = nr;
	if (!r)
		set_rates(s, freq, period);
	return r;
}

static int parse_ids(const struct opt_list *l, const char *what, int **out, struct err *e)
{
	size_t i;

	*out = xcalloc(l->nr_items + 1, sizeof(**out));
	for (i = 0; i < l->nr_items; i++) {
		char *end;
		long v = strtol(l->items[i], &end, 10);

		if (*end || end == l->items[i] || v <= 0 || v > INT32_MAX)
			return err_set(e, EINVAL, "--%s: '%s' is not a number of a %s", what, l->items[i],
				       *what == 'p' ? "process" : "thread");
		(*out)[i] = v;
	}
	return 0;
}

int sampling_targets(struct sampling *s, const struct opt_list *pids, const struct opt_list *tids,
		     const struct opt_list *cpus, struct err *e)
{
	size_t i;
	int r = parse_ids(pids, "pid", &s->pids, e);

	if (!r)
		r = parse_ids(tids, "tid", &s->tids, e);
	for (i = 0; i < cpus->nr_items && !r; i++)
		if ((r = cpus_add(&s->c.cpus, cpus->items[i], e)))
			err_wrap(e, "--cpu");
	s->c.pids = s->pids;
	s->c.nr_pids = pids->nr_items;
	s->c.tids = s->tids;
	s->c.nr_tids = tids->nr_items;
	return r;
}

void sampling_command(struct sampling *s, const char *command, int nr_operands, char **operands)
{
	struct buf b = BUF_INIT;
	int i;

	if (nr_operands)
		s->c.argv = operands;
	else
		buf_fmt(&b, "(%s)", s->c.system_wide ? "system-wide" : "attached");
	for (i = 0; i < nr_operands; i++)
		buf_fmt(&b, "%s%s", i ? " " : "", operands[i]);
	s->command_line = buf_take(&b);
	s->c.command_line = s->command_line;
	s->c.version = ARCPROF_VERSION;
}

int sampling_exit_status(const struct sampling *s, const struct err *e)
{
	if (s->c.argv && strstr(e->msg, "cannot run"))
		return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	return EXIT_ARCPROF_FAILED;
}

static void incomplete_summary(const struct collect_result *r)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < MARK_NR; i++)
		if (r->nr_marks[i])
			buf_fmt(&b, "%s%s %" PRIu64, b.len ? ", " : "", frame_mark_name(i), r->nr_marks[i]);
	if (b.len)
		log_verbose("incomplete stacks: %s", b.data);
	buf_release(&b);
}

static double complete_percent(const struct collect_result *r)
{
	return r->nr_samples ? 100.0 * (r->nr_samples - r->nr_incomplete) / r->nr_samples : 100;
}

static void calls_phrase(const struct callflow_result *c, struct buf *b)
{
	buf_fmt(b, "%" PRIu64 " calls in %" PRIu64 " contexts of %" PRIu64 " thread%s", c->nr_calls, c->nr_nodes,
		c->nr_trees, c->nr_trees == 1 ? "" : "s");
	if (c->nr_events)
		buf_fmt(b, ", %" PRIu64 " events, %" PRIu64 " lost", c->nr_events, c->told_events);
}

static void calls_warnings(const struct collect_result *r)
{
	const struct callflow_result *c = &r->calls;

	if (r->nr_foreign)
		log_warn("%" PRIu64 " program%s turned away: libarcprof-hookit of another version; link again",
			 r->nr_foreign, r->nr_foreign == 1 ? " was" : "s were");
	if (!c->nr_procs) {
		log_warn("nothing was instrumented: no JVM, and no program with libarcprof-hookit");
		log_hint("build C and C++ with -finstrument-functions and link libarcprof-hookit.a");
	} else if (!c->nr_calls) {
		log_warn("nothing that is selected was called");
		log_hint("--callflow and --config select by whole names: com.example.Class.method, com.example, *.method");
	}
	if (c->nr_folded)
		log_warn("%" PRIu64 " calls are counted but not told apart: --call-memory or --call-depth was reached",
			 c->nr_folded);
	if (c->lost_threads)
		log_warn("%" PRIu64 " threads had no room: their calls are missing", c->lost_threads);
	if (c->nr_damaged)
		log_warn("%" PRIu64 " parts of the call trees made no sense and were left out", c->nr_damaged);
}

/* What there is beside samples, or what there is instead. */
static void other_phrases(const struct sampling *s, const struct collect_result *r, struct buf *b)
{
	if (s->c.callflow.on) {
		buf_fmt(b, "%s", b->len ? ", " : "");
		calls_phrase(&r->calls, b);
	}
	if (s->c.sched)
		buf_fmt(b, "%s%" PRIu64 " dispatches, %" PRIu64 " lost", b->len ? ", " : "", r->nr_dispatches,
			r->nr_lost_sched);
	if (r->nr_interrupts)
		buf_fmt(b, ", %" PRIu64 " interrupts", r->nr_interrupts);
}

static void headline(const struct sampling *s, const struct collect_result *r)
{
	struct buf b = BUF_INIT;

	if (!s->c.ev.nr_events) {
		other_phrases(s, r, &b);
		buf_fmt(&b, " in %.2f s", r->duration_ns / 1e9);
	} else {
		buf_fmt(&b, "%" PRIu64 " samples of %s", r->nr_samples, s->events[0].name);
		if (s->c.ev.nr_events > 1)
			buf_fmt(&b, " and %zu more", s->c.ev.nr_events - 1);
		if (r->rate_hz > 0)
			buf_fmt(&b, " at %.1f Hz", r->rate_hz);
		buf_fmt(&b, " in %.2f s, %" PRIu64 " lost", r->duration_ns / 1e9, r->nr_lost);
		if (s->c.ev.callgraph != CALLGRAPH_NO)
			buf_fmt(&b, ", %.1f %% complete stacks", complete_percent(r));
		if (r->nr_jvms)
			buf_fmt(&b, ", %" PRIu64 " JVM%s", r->nr_jvms, r->nr_jvms == 1 ? "" : "s");
		other_phrases(s, r, &b);
	}
	log_info("%s; wrote %s (%.1f KiB)", b.data, s->c.output, r->nr_bytes / 1024.0);
	buf_release(&b);
}

void sampling_summary(const struct sampling *s, const struct collect_result *r)
{
	headline(s, r);
	if (s->c.callflow.on)
		calls_warnings(r);
	incomplete_summary(r);
	if (r->nr_strange_jvms && s->c.java == JAVA_SAMPLE && !s->c.system_wide) {
		log_warn("%" PRIu64 " JVM%s ran without the agent: %s Java stacks are unknown", r->nr_strange_jvms,
			 r->nr_strange_jvms == 1 ? "" : "s", r->nr_strange_jvms == 1 ? "its" : "their");
		if (!inject_possible())
			log_hint("there is no JVM agent for this CPU yet: native code is named, Java code is not");
		else
			log_hint("su, sudo and 'env -i' take JAVA_TOOL_OPTIONS out of the environment; 'sudo -E' keeps it");
	}
	if (r->user_only) {
		log_warn("user code only: kernel.perf_event_paranoid keeps this user from sampling the kernel");
		log_hint("sudo sysctl kernel.perf_event_paranoid=1, or run as root");
	}
	if (r->kernel_hidden) {
		log_warn("kernel functions have no names: kernel.kptr_restrict hides their addresses");
		log_hint("sudo sysctl kernel.kptr_restrict=0, or run as root");
	}
	if (r->write_error)
		log_error("%s is not complete: %s", s->c.output, strerror(r->write_error));
}
