// SPDX-License-Identifier: GPL-2.0-or-later
/* labels.c - writes the labels that describe a recording (labels.h). */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/labels.h"
#include "base/mem.h"
#include "base/opt.h"
#include "collect/engine/recording.h"
#include "collect/files/labels.h"
#include "collect/jvm/jvmevents.h"

void labels_origin_of(struct trace_writer *w, const char *version, const char *command_line,
		      const struct labels_machine *m)
{
	trace_write_label(w, "arcprof", "%s", version);
	trace_write_label(w, "command", "%s", command_line);
	trace_write_label(w, "host", "%s", m->host);
	trace_write_label(w, "kernel", "Linux %s", m->kernel_release);
	trace_write_label(w, "arch", "%s", m->arch);
	trace_write_label(w, "consumers", "processes, threads, functions");
}

void labels_origin(struct trace_writer *w, const char *version, const char *command_line)
{
	struct utsname u;

	uname(&u);
	labels_origin_of(w, version, command_line,
			 &(struct labels_machine){ u.nodename, u.release, u.machine });
}

struct clocks clocks_now(void)
{
	return (struct clocks){ clock_mono_ns(), clock_real_ns(), arch_cycle_counter() };
}

void labels_clocks(const struct collect *c, const char *when, const struct clocks *at)
{
	const struct { const char *clock; uint64_t value; } all[] = {
		{ "mono_ns", at->mono_ns }, { "realtime_ns", at->real_ns }, { "tsc", at->tsc },
	};
	char key[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(key, sizeof(key), "%s.%s", when, all[i].clock);
		trace_write_label(c->w, key, "%llu", (unsigned long long)all[i].value);
	}
}

void labels_clock(const struct collect *c, const char *when)
{
	const struct clocks now = clocks_now();

	labels_clocks(c, when, &now);
}

void labels_rate(const struct collect *c, size_t event)
{
	const struct ev_rate *rate = &c->ev.conf.rates[event];
	char key[64];

	snprintf(key, sizeof(key), "event.%zu.%s", event, rate->freq_hz ? "freq_hz" : "period");
	trace_write_label(c->w, key, "%llu",
			  (unsigned long long)(rate->freq_hz ? rate->freq_hz : rate->period));
}

void labels_events(const struct collect *c)
{
	const struct evconf *ev = &c->ev.conf;
	static const char *const graphs[] = { "dwarf", "fp", "no" };
	size_t i;

	for (i = 0; i < collect_nr_events(ev); i++) {
		char key[64];

		snprintf(key, sizeof(key), "event.%zu", i);
		trace_write_label(c->w, key, "%s", ev->events[i].name);
		snprintf(key, sizeof(key), "event.%zu.unit", i);
		trace_write_label(c->w, key, "%s", ev->events[i].unit);
		labels_rate(c, i);
	}
	sources_labels(c);
	trace_write_label(c->w, "callgraph", "%s", graphs[ev->callgraph]);
	if (collect_kernel_refused(c))
		trace_write_label(c->w, "refused.0", "kernel code (kernel.perf_event_paranoid)");
}

/* "label.service": whoever records says what this is. */
static void own_labels(const struct collect *c)
{
	const struct opt_list *l = &c->o->labels;
	char key[LABELS_MAX_KEY + 16];
	size_t i;

	for (i = 0; i < l->nr_items; i++) {
		const char *value = strchr(l->items[i], '=');

		snprintf(key, sizeof(key), "label.%.*s", (int)(value - l->items[i]), l->items[i]);
		trace_write_label(c->w, key, "%s", value + 1);
	}
}

void labels_jvm_events(const struct collect *c)
{
	struct buf b = BUF_INIT;

	jvmevents_names(c->o->jvm_events, &b);
	trace_write_label(c->w, "jvm_events", "%s", b.data);
	buf_release(&b);
}

void labels_host(const struct collect *c)
{
	labels_origin(c->w, c->o->version, c->o->command_line);
	labels_recording(c);
}

void labels_recording(const struct collect *c)
{
	own_labels(c);
	trace_write_label(c->w, "cpus", "%zu", c->ev.conf.nr_events ? c->ev.nr_sampled : c->ev.nr_cpus);
	trace_write_label(c->w, "n", "%s",
			  c->o->callflow.on && !c->ev.conf.nr_events && !c->o->nr_sources ? "calls" : "samples");
	if (c->o->jvm_events)
		labels_jvm_events(c);
	if (c->o->trace.carry)
		trace_write_label(c->w, "recording", "%016llx", (unsigned long long)
				  hash_pair(hash_pair(clock_real_ns(), clock_mono_ns()), (uint64_t)getpid()));
	trace_write_label(c->w, "scope", "%s", c->o->system_wide && !c->o->groups ? "system" : "processes");
}

/* Return the only mode whose code is sampled; NULL: both are. */
static const char *sampled_mode(const struct evconf *ev)
{
	const struct perf_event_attr *a = &ev->events[0].attr;

	if (ev->exclude_kernel || a->exclude_kernel)
		return "user";
	return ev->exclude_user || a->exclude_user ? "kernel" : NULL;
}

/*
 * Return the samples per second of CPU time. A clock also ticks in code that is not sampled. How much of
 * its time was in the other mode is unknown, so that the rate is the one that was set.
 */
static double sampling_rate(const struct collect *c, const char *mode, uint64_t nr_before, uint64_t count)
{
	const struct ev_rate *set = &c->ev.conf.rates[0];

	if (!mode)
		return (double)(c->res->nr_of_event[0] + c->switches.nr_dropped - nr_before) * 1e9 /
			(double)count;
	if (c->rates && c->clock_ns)	/* it was changed: what the samples say, together */
		return (double)c->res->nr_of_event[0] * 1e9 / (double)c->clock_ns;
	return set->freq_hz ? (double)set->freq_hz : 1e9 / (double)MAX(set->period, (uint64_t)1);
}

static void jvm_events_end(struct collect *c)
{
	uint64_t now_ns = clock_mono_ns();

	trace_write_label(c->w, "jvm_events.start_ns", "%llu",
			  (unsigned long long)MAX(c->begun_ns, c->since.begun_ns));
	trace_write_label(c->w, "jvm_events.end_ns", "%llu", (unsigned long long)now_ns);
}

void labels_read_counts(struct collect *c)
{
	c->since.next_counts = xcalloc(c->ev.conf.nr_events + 1, sizeof(*c->since.next_counts));
	evsets_counts(&c->ev, c->since.next_counts);
}

/* Write what perf events counted since the file began; return the count of the first. */
static uint64_t counts_end(struct collect *c)
{
	size_t i, nr = collect_nr_events(&c->ev.conf);
	uint64_t *counts, first = 0;

	if (!c->since.next_counts)
		labels_read_counts(c);
	counts = c->since.next_counts;
	for (i = 0; i < nr; i++) {
		uint64_t n = counts[i] - (c->since.counts ? c->since.counts[i] : 0);
		char key[64];

		snprintf(key, sizeof(key), "event.%zu.count", i);
		trace_write_label(c->w, key, "%llu", (unsigned long long)n);
		first = i ? first : n;
	}
	free(c->since.counts);
	c->since.counts = counts;
	c->since.next_counts = NULL;
	return first;
}

/* Return the rate of the first event since nr_before samples had been taken. */
static double rate_since(const struct collect *c, uint64_t nr_before, uint64_t count)
{
	return sampling_rate(c, sampled_mode(&c->ev.conf), nr_before, count);
}

void labels_end(struct collect *c, bool last)
{
	uint64_t count;

	if (c->o->jvm_events)
		jvm_events_end(c);
	count = counts_end(c);
	parts_sums(c, last);
	filters_end_file(c);
	if (collect_nr_events(&c->ev.conf) == 1 && c->ev.conf.events[0].clock && count) {
		c->res->rate_mode = sampled_mode(&c->ev.conf);
		c->res->rate_hz = rate_since(c, 0, c->since.counts[0]);
		trace_write_label(c->w, "event.0.rate_hz", "%.3f", rate_since(c, c->since.nr_samples, count));
		if (c->res->rate_mode)
			trace_write_label(c->w, "event.0.mode", "%s", c->res->rate_mode);
	}
	c->since.nr_samples = c->res->nr_of_event[0] + c->switches.nr_dropped;
}
