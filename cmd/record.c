// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record.c - "arcprof record": run a program, or attach to one, and write a trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/labels.h"
#include "base/log.h"
#include "base/mem.h"
#include "calls.h"
#include "cmd.h"
#include "collect/calls/callrules.h"
#include "collect/control/timedcalls.h"
#include "sampling.h"

struct record_opts {
	struct sampling_opts sampling;	/* first: the tables of sampling.h fill it */
	bool samples, mask_secrets;
	const char *window, *memory, *keep, *symfs, *max_cpu;
	int mode;			/* index into modes[] */
	uint64_t max_size;		/* bytes */
	struct calls_opts calls;
	struct opt_list filters, whens;
	struct opt_list delays, durations, start_ats;
	struct jpmt jpmt;		/* if --config is a file of JPMT */
};

static const char *const modes[] = { "continuous", "normal", "wrap", NULL };	/* as enum trace_mode */

static const struct opt rate_table[] = { OPT_FREQ("samples per second of CPU time, or max (default: 999)"), OPT_END };

static const struct opt groups_table[] = {
	OPT_LIST('G', "cgroup", struct sampling_opts, cgroups, "path", "record only processes in these control groups"),
	OPT_END
};

static const struct opt events_table[] = {
	OPT_LIST(0, "filter", struct record_opts, filters, "condition",
		 "store only events that meet these: lock>1ms, thread=http-*, -kind=virtual, alloc:class=byte[]"),
	OPT_STR(0, "disabled", struct record_opts, sampling.c.disabled, "events", NULL,
		"do not record these events until 'arcprof ctl enable'"),
	OPT_FLAG(0, "sched", struct record_opts, sampling.c.sched, "also record context switches, waits and wake-ups"),
	OPT_FLAG(0, "irq", struct record_opts, sampling.c.irq, "also record interrupts (implies --sched)"),
	OPT_ON("samples", struct record_opts, samples, "sample; --no-samples records dispatches only"),
	OPT_STR_OPTARG(0, "memory", struct record_opts, memory, "time",
		       "record what resident memory is used for, at this interval and at the end (default: 10s)"),
	OPT_GROUP("Locks and live objects"),
	OPT_STR(0, "lock-exact", struct record_opts, sampling.c.lock_exact, "filter", NULL,
		"count every acquisition of locks of these classes, as in com.example.*,java.util.concurrent.* (implies -e lock)"),
	OPT_FLAG(0, "lock-cpu", struct record_opts, sampling.c.lock_cpu,
		 "with --lock-exact, also measure the CPU time that is consumed while these locks are held"),
	OPT_FLAG(0, "live-gc", struct record_opts, sampling.c.live_gc,
		 "with -e live, make JVMs collect all garbage at the end, so that it is known what is alive"),
	OPT_FLAG(0, "live-histogram", struct record_opts, sampling.c.live_histogram,
		 "with -e live, make JVMs collect all garbage and count all objects at the end"),
	OPT_END
};

static const struct opt output_table[] = {
	OPT_GROUP("Output"),
	OPT_STR('o', "output", struct record_opts, sampling.c.output, "file", "arcprof.data",
		"write the trace to <file>"),
	OPT_LIST(0, "label", struct record_opts, sampling.c.labels, "key=value", "describe this recording: service=shop,version=1.2"),
	OPT_FLAG(0, "mask-secrets", struct record_opts, mask_secrets, "mask passwords and tokens in the command line that the trace keeps"),
	OPT_ON("compress", struct record_opts, sampling.c.trace.compress, "compress the trace"),
	OPT_END
};

static const struct opt when_table[] = {
	OPT_GROUP("When to start and stop"),
	OPT_LIST(0, "start-at", struct record_opts, start_ats, "mark|event=mark",
		 "start, or start that event, when the program sets this mark or has ended this phase"),
	OPT_LIST('D', "delay", struct record_opts, delays, "time|event=time",
		 "wait this long before sampling, or that event, starts"),
	OPT_LIST('d', "duration", struct record_opts, durations, "time|event=time",
		 "stop, or stop recording that event, after this long"),
	OPT_FLAG(0, "wait", struct record_opts, sampling.c.wait,
		 "record until all processes that the program has started have ended"),
	OPT_STR(0, "window", struct record_opts, window, "time/time", NULL,
		"record only the first part of each period, as in 50ms/1s"),
	OPT_END
};

static const struct opt long_table[] = {
	OPT_GROUP("Long recordings"),
	OPT_SPAN(0, "segment", struct record_opts, sampling.c.segment.length_ns, "time", NULL,
		 "write a trace for each period of this length, to the folder --output"),
	OPT_STR(0, "keep", struct record_opts, keep, "size|time", NULL,
		"with --segment or --mode wrap: remove the oldest traces, or dumps, beyond this size (10G) or age (7d)"),
	OPT_ENUM(0, "mode", struct record_opts, mode, modes, "continuous",
		 "whether to stop storing samples at --max-size (normal), keep the last part (wrap), or keep all"),
	OPT_LEAST(OPT_TYPE_SIZE, 64 << 10, 0, "max-size", struct record_opts, max_size, "bytes", NULL, "maximum size of the samples in the file"),
	OPT_LIST(0, "when", struct record_opts, whens, "condition",
		 "report when a condition is met, and with --mode wrap write the last part: signal:USR2, cpu>80%:10s, gc>200ms, 'method com.example.App.serve>500ms', rss>2G, oom, crash or failure"),
	OPT_TIME(0, "holdoff", struct record_opts, sampling.c.trigger.holdoff_ns, "time", "60s",
		 "ignore a condition for this long after it was met"),
	OPT_END
};

static const struct opt stack_table[] = {
	OPT_ON("lines", struct record_opts, sampling.c.lines, "store source lines and inlined calls of sampled code"),
	OPT_STR(0, "symfs", struct record_opts, symfs, "dir", NULL,
		"look for debug information below <dir> first, as if that were the root directory"),
	OPT_ON("code", struct record_opts, sampling.c.code, "store the machine code of compiled Java methods that were hit"),
	OPT_END
};

static const struct opt calls_table[] = {
	OPT_GROUP("Exact calls"),
	OPT_STR_OPTARG(0, "callflow", struct record_opts, calls.callflow, "filter",
		       "count every call of these methods, such as +com.example.*,-*.toString (default: the application's)"),
	OPT_FLAG(0, "calltrace", struct record_opts, calls.calltrace, "store every call and return"),
	OPT_LIST(0, "trace", struct record_opts, calls.traces, "method>time",
		 "store only calls of a method that take longer, with all calls in them: com.example.App.serve>10ms"),
	OPT_LIST(0, "metric", struct record_opts, calls.metrics, "name",
		 "measure these metrics per call: cpu, wall, alloc, objects, dispatches, thrown, bytecodes, or a hardware counter (default: cpu,wall)"),
	OPT_FLAG(0, "call-sites", struct record_opts, calls.call_sites,
		 "keep calls that a function makes from different lines apart, at up to twice the cost"),
	OPT_FLAG(0, "precise-time", struct record_opts, calls.precise_time,
		 "serialize the processor before reading a clock: accurate for short calls, at twice the cost"),
	OPT_STR(0, "config", struct record_opts, calls.config, "file", NULL,
		"read rules for methods, threads, classes and events from <file>"),
	OPT_FLAG(0, "call-tier", struct record_opts, calls.call_tier,
		 "count calls of a Java method separately by how its code ran: interpreted, compiled, inlined (report --by-kind)"),
	OPT_U64(0, "call-depth", struct record_opts, calls.call_depth, "n", "8192",
		"merge calls below this depth"),
	OPT_SIZE(0, "call-memory", struct record_opts, calls.call_memory, "bytes", "1G",
		 "maximum memory for the call trees of a process"),
	OPT_STR(0, "call-prune", struct record_opts, calls.call_prune, "percent[/time]", NULL,
		"each second, or at this interval, merge contexts that consumed no more than <percent> of their callers"),
	OPT_SPAN(0, "snapshot", struct record_opts, calls.snapshot_ns, "time", NULL,
		 "write a snapshot of the call trees at this interval (default: every 2 s, or less often where they are large)"),
	OPT_GROUP("Overhead"),
	OPT_STR(0, "max-cpu", struct record_opts, max_cpu, "percent[:time]", NULL,
		"sample less often while the recorder takes more of a CPU than this, such as 1% (of a minute)"),
	OPT_LEAST(OPT_TYPE_SIZE, 8 << 20, 0, "max-memory", struct record_opts, sampling.c.cost.max_memory, "bytes",
		  NULL, "with --segment, drop names and rules while the recorder has more memory than this"),
	OPT_END
};

/* Add the names for --event beside those of perf. */
static void join_sources(struct opt_join *j, size_t at)
{
	static const char *const args[] = { [SOURCE_BYTES] = "bytes", [SOURCE_TIME] = "time",
					     [SOURCE_COUNT] = "n" };
	struct opt rows[] = { OPT_END, OPT_END };
	const struct source_kind *k;
	size_t i;

	for (i = 0; (k = source_kind_at(i)); i++) {
		if (!k->help)
			continue;
		rows[0] = (struct opt)OPT_VALUE(k->name, args[k->arg], k->help);
		opt_join_add(j, rows, at);
	}
}

static const struct opt told_table[] = {
	OPT_VALUE("jvm", NULL, "every gc, safepoint, jit, class and thread event of JVMs, or any one of these; also exception, class-time, safepoint-last, oom"),
	OPT_VALUE("uprobe:<file>:<function>", NULL, "every call of a native function, as in uprobe:libc.so.6:malloc or uprobe:libjvm.so:JVM_StartThread"),
	OPT_VALUE("uprobe-return:<file>:<function>", NULL, "every return of such a function"),
	OPT_VALUE("mark", NULL, "marks, phases and events that programs set, in C or Java"),
	OPT_VALUE("label", NULL, "labels that programs give to their threads, in C or Java"),
	OPT_END
};

static void record_join_opts(struct opt_join *j)
{
	size_t at = opt_join_struct(j, sizeof(struct record_opts));

	opt_join_add(j, sampling_target_opts, at);
	opt_join_add(j, groups_table, at);
	opt_join_add(j, sampling_event_opts, at);
	join_sources(j, at);
	opt_join_add(j, told_table, at);
	opt_join_add(j, rate_table, at);
	opt_join_add(j, sampling_rate_opts, at);
	opt_join_add(j, events_table, at);
	opt_join_add(j, output_table, at);
	opt_join_add(j, when_table, at);
	opt_join_add(j, long_table, at);
	opt_join_add(j, sampling_stack_opts, at);
	opt_join_add(j, stack_table, at);
	opt_join_add(j, calls_table, at);
	opt_join_add(j, sampling_means_opts, at);
}

static void on_storing(const char *why, uint64_t nr_lost)
{
	if (why)
		log_warn("nothing is stored until there is room again: %s", why);
	else
		log_warn("storing again; %" PRIu64 " samples were lost meanwhile", nr_lost);
}

static void on_going_on(uint64_t idle_ns)
{
	log_info("continues %.1f s after the last trace there was closed", idle_ns / 1e9);
}

static int record_check_calls(const struct record_opts *o, int nr_operands, struct err *e)
{
	const struct calls_opts *c = &o->calls;
	const char *needs_calls = c->metrics.nr_items ? "--metric" : c->precise_time ? "--precise-time" :
				  c->call_tier ? "--call-tier" : c->call_sites ? "--call-sites" :
				  c->call_prune ? "--call-prune" :
				  c->snapshot_ns ? "--snapshot" : NULL;

	if (calls_wanted(c) && !nr_operands && !o->sampling.pids.nr_items)
		return err_set(e, EINVAL, "--callflow needs a program to run, or a running JVM (--pid)");
	if (c->calltrace && c->traces.nr_items)
		return err_set(e, EINVAL, "cannot be combined: --calltrace, which stores all calls, and --trace");
	if (!calls_wanted(c) && needs_calls)
		return err_set(e, EINVAL, "%s needs --callflow", needs_calls);
	return 0;
}

static int record_check_opts(const struct record_opts *o, int nr_operands, struct err *e)
{
	const struct sampling_opts *so = &o->sampling;
	int r = sampling_check(so, nr_operands, e);
	size_t i;

	if (r)
		return r;
	for (i = 0; i < so->c.labels.nr_items; i++)
		if ((r = label_check(so->c.labels.items[i], e)))
			return r;
	if (so->c.wait && !nr_operands)
		return err_set(e, EINVAL, "--wait needs a program to run");
	if (o->mode == TRACE_NORMAL && !o->max_size)
		return err_set(e, EINVAL, "--mode=normal needs --max-size");
	if (o->mode == TRACE_CONTINUOUS && o->max_size && !so->c.segment.length_ns)
		return err_set(e, EINVAL, "--max-size needs --mode=normal, which stops then, or --mode=wrap, which keeps the last part");
	if (!o->samples && !so->c.sched && !so->c.irq && !calls_wanted(&o->calls))
		return err_set(e, EINVAL, "--no-samples leaves nothing to record without --sched or --callflow");
	if (!o->samples && (so->events.nr_items || so->freq || so->count))
		return err_set(e, EINVAL, "cannot be combined: --no-samples and --event, --freq or --count");
	return record_check_calls(o, nr_operands, e);
}

/* Refuse what is known only of the whole machine or of tasks. */
static int check_groups(const struct record_opts *o, const struct sampling *s, struct err *e)
{
	size_t i;

	if (!s->c.groups)
		return 0;
	if (s->c.sched || calls_wanted(&o->calls))
		return err_set(e, EINVAL, "cannot be combined: --cgroup and %s",
			       calls_wanted(&o->calls) ? "--callflow" : s->c.irq ? "--irq" : "--sched");
	for (i = 0; i < s->c.nr_sources; i++)
		if (!strcmp(s->sources[i].kind->name, "wall"))
			return err_set(e, EINVAL, "cannot be combined: --cgroup and --event wall");
	return 0;
}

/* Check a source that JVMs report. */
static int check_java(const struct record_opts *o, const struct source_kind *kind, struct err *e)
{
	bool objects = kind->jvm == JVM_SOURCE_ALLOC || kind->jvm == JVM_SOURCE_LIVE;
	size_t i;

	if (kind->jvm != JVM_NR_SOURCES && o->sampling.no_java)
		return err_set(e, EINVAL, "cannot be combined: --no-java and --event %s", kind->name);
	if (kind->jvm == JVM_SOURCE_NOTIFY && !o->sampling.c.lock_exact)
		return err_set(e, EINVAL, "--event notify requires --lock-exact, which says of which classes");
	for (i = 0; objects && i < o->calls.metrics.nr_items; i++)
		if (!strcmp(o->calls.metrics.items[i], "objects"))
			return err_set(e, EINVAL, "cannot be combined: --metric objects and --event %s, because a JVM reports objects to only one of them", kind->name);
	return 0;
}

/* Check options that are for perf events only. */
static int check_sources(const struct record_opts *o, const struct sampling *s, struct err *e)
{
	const struct sampling_opts *so = &o->sampling;
	size_t i;
	int r = 0;

	for (i = 0; i < s->c.nr_sources && s->sources[i].kind->jvm != JVM_SOURCE_LIVE; i++)
		;
	if ((s->c.live_gc || s->c.live_histogram) && i == s->c.nr_sources)
		return err_set(e, EINVAL, "--live-%s is for --event live", s->c.live_gc ? "gc" : "histogram");
	if (!s->c.nr_sources)
		return 0;
	if (!s->c.ev.nr_events && (so->freq || so->count))
		return err_set(e, EINVAL, "%s is for perf events; of others the name has it: -e %s=<interval>",
			       so->freq ? "--freq" : "--count", s->sources[0].kind->name);
	for (i = 0; i < s->c.nr_sources && !r; i++)
		r = check_java(o, s->sources[i].kind, e);
	return r;
}

/* Check a pattern for the agent, such as com.example.*,Lock?. */
static int check_lock_filter(const char *text, struct err *e)
{
	const char *p;

	if (strlen(text) >= JVM_LOCK_FILTER)
		return err_set(e, EINVAL, "--lock-exact: more than %u characters", JVM_LOCK_FILTER - 1);
	for (p = text; *p; p++)
		if ((unsigned char)*p <= ' ' || strchr("+-()!:", *p))
			return err_set(e, EINVAL, "--lock-exact '%s': names of classes with * and ?, and commas between them",
				       text);
	if (!*text || *text == ',' || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
		return err_set(e, EINVAL, "--lock-exact '%s': a name is missing", text);
	return 0;
}

/* Check --lock-exact: refuse what leaves gaps, or would count the other's probes. */
static int check_lock_exact(const struct record_opts *o, struct err *e)
{
	const char *other = calls_wanted(&o->calls) ? "--callflow" : o->window ? "--window" :
			    o->sampling.no_java ? "--no-java" : NULL;

	if (!o->sampling.c.lock_exact && o->sampling.c.lock_cpu)
		return err_set(e, EINVAL, "--lock-cpu requires --lock-exact");
	if (!o->sampling.c.lock_exact)
		return 0;
	if (other)
		return err_set(e, EINVAL, "cannot be combined: --lock-exact and %s", other);
	return check_lock_filter(o->sampling.c.lock_exact, e);
}

static int prepare_memory(struct sampling *s, const struct record_opts *o, struct err *e)
{
	enum { LEAST_NS = 1000000000 };
	int r;

	if (!o->memory)
		return 0;
	r = opt_parse_time(*o->memory ? o->memory : "10s", &s->c.memory_ns, e);
	if (r)
		return err_wrap(e, "--memory '%s'", o->memory);
	if (s->c.memory_ns < LEAST_NS)
		return err_set(e, EINVAL, "--memory '%s': must be at least 1s", o->memory);
	if (s->c.system_wide) {
		err_set(e, EINVAL, "cannot be combined: --memory and %s", s->c.groups ? "--cgroup" : "--all-cpus");
		err_hint(e, "record processes (-p), or a program");
		return -EINVAL;
	}
	return 0;
}

/* Parse 50ms/1s; the period need not be a multiple of the window. */
static int parse_window(const char *text, struct collect_opts *c, struct err *e)
{
	enum { LEAST_NS = 1000000 };
	const char *slash = strchr(text, '/');
	char first[32];
	int r;

	if (!slash || slash - text >= (int)sizeof(first))
		return err_set(e, EINVAL, "--window '%s': give two times, as in 50ms/1s", text);
	snprintf(first, sizeof(first), "%.*s", (int)(slash - text), text);
	r = opt_parse_time(first, &c->window_ns, e);
	if (!r)
		r = opt_parse_time(slash + 1, &c->window_every_ns, e);
	if (r)
		return err_wrap(e, "--window '%s'", text);
	if (c->window_ns < LEAST_NS || c->window_every_ns <= c->window_ns)
		return err_set(e, EINVAL, "--window '%s': must be at least 1ms, and shorter than the period", text);
	return 0;
}

/* Parse 10G or 7d: what can be a time is one, "500m" as well. */
static int parse_keep(const char *text, uint64_t least_bytes, const char *least, uint64_t *bytes,
		      uint64_t *ns, struct err *e)
{
	struct err ignored;

	if (*text && strchr("smhdn", text[strlen(text) - 1]))
		return opt_parse_time(text, ns, e) ? err_wrap(e, "--keep") : 0;
	if (opt_parse_size(text, bytes, &ignored)) {
		err_set(e, EINVAL, "--keep '%s' is neither a size nor a time", text);
		err_hint(e, "examples: 500M, 10G, 12h, 7d");
		return -EINVAL;
	}
	if (*bytes < least_bytes)
		return err_set(e, EINVAL, "--keep: must be at least %s", least);
	return 0;
}

static void on_dump(const struct flight_dump *d)
{
	if (d->state == FLIGHT_FAILED) {
		log_err(&d->e);
		log_hint("the parts stay in the folder beside the output");
		return;
	}
	log_info("wrote the last %.1f s to %s (%.1f KiB)", d->span_ns / 1e9, d->path,
		 d->nr_bytes / 1024.0);
}

static int prepare_wrap(struct sampling *s, const struct record_opts *o, struct err *e)
{
	const char *other;

	if (o->mode != TRACE_WRAP)
		return 0;
	if (o->max_size < FLIGHT_LEAST_BYTES)
		return err_set(e, EINVAL, o->max_size ? "--mode=wrap: --max-size must be at least 1 MiB" :
			       "--mode=wrap needs --max-size");
	other = s->c.segment.length_ns ? "--segment, which --keep bounds" : NULL;
	if (!strcmp(s->c.output, "-"))
		other = "--output=-";
	if (other)
		return err_set(e, EINVAL, "cannot be combined: --mode=wrap and %s", other);
	s->c.flight = (struct flight_opts){ .max_bytes = o->max_size, .dumped = on_dump };
	s->c.segment.storing = on_storing;
	if (!o->keep)
		return 0;
	return parse_keep(o->keep, o->max_size, "--max-size, as a dump may be that large",
			  &s->c.flight.keep_bytes, &s->c.flight.keep_ns, e);
}

static int prepare_segments(struct sampling *s, const struct record_opts *o, struct err *e)
{
	enum { LEAST_NS = 100000000, LEAST_BYTES = 1 << 20 };
	struct segment_opts *g = &s->c.segment;

	if (!g->length_ns)
		return o->keep && o->mode != TRACE_WRAP ?
			err_set(e, EINVAL, "--keep needs --segment or --mode=wrap") : 0;
	if (g->length_ns < LEAST_NS)
		return err_set(e, EINVAL, "--segment: must be at least 100ms");
	if (o->max_size)
		return err_set(e, EINVAL, "cannot be combined: --segment and --max-size; --keep bounds the folder");
	if (!strcmp(s->c.output, "arcprof.data") || !strcmp(s->c.output, "-")) {
		err_set(e, EINVAL, "--segment needs a folder to write to");
		err_hint(e, "arcprof record --segment=60s --output=traces/ ...");
		return -EINVAL;
	}
	g->storing = on_storing;
	g->goes_on = on_going_on;
	return o->keep ? parse_keep(o->keep, LEAST_BYTES, "1 MiB", &g->keep_bytes, &g->keep_ns, e) : 0;
}

static void on_cost(const struct cost_told *t)
{
	const char *again = t->what == COST_RAISED ? " again" : "";

	if (t->what == COST_LEFT)
		log_warn("takes %.2f %% of a CPU, more than --max-cpu, but samples cannot become rarer", t->percent);
	else if (t->part > 1)
		log_warn("takes %.2f %% of a CPU: samples are taken at 1/%" PRIu32 " of the rate%s",
			 t->percent, t->part, again);
	else
		log_info("takes %.2f %% of a CPU: samples are taken at the whole rate again", t->percent);
}

static void on_memory(uint64_t bytes)
{
	log_warn("takes %.1f MiB, more than --max-memory, and has nothing left to drop", bytes / 1048576.0);
}

static int prepare_cost(struct sampling *s, const struct record_opts *o, struct err *e)
{
	enum { STACKS = 8 };		/* their share of the memory */
	static const uint64_t minute_ns = 60000000000;
	struct condition w;

	if (s->c.cost.max_memory && !s->c.segment.length_ns)
		return err_set(e, EINVAL, "--max-memory needs --segment, as what is dropped must be in a trace that is complete");
	s->c.cost.is_beyond = on_memory;
	s->c.trace.epoch_bytes = s->c.cost.max_memory / STACKS;
	if (!o->max_cpu)
		return 0;
	if (condition_parse_cpu(o->max_cpu, minute_ns, &w, e))
		return err_wrap(e, "--max-cpu");
	s->c.cost.limit_ns = w.limit;
	s->c.cost.span_ns = w.span_ns;
	s->c.cost.told = on_cost;
	return 0;
}

static void on_trigger(const struct condition *w, const char *cause)
{
	log_info("%s: %s", w->text, cause);
}

static void on_missed(const struct condition *w, const struct err *e)
{
	log_warn("%s: nothing is written: %s", w->text, e->msg);
}


/* Check --when method: a JVM has one set of probes. */
static int check_timed(const struct sampling *s, const struct record_opts *o, struct err *e)
{
	if (!timedcalls_wanted(&s->c.trigger))
		return 0;
	if (calls_wanted(&o->calls))
		return err_set(e, EINVAL, "cannot be combined: --when method and --callflow, --calltrace or --trace, as a method has one probe");
	if (s->c.java != JAVA_SAMPLE)
		return err_set(e, EINVAL, "cannot be combined: --when method and --no-java or --no-samples");
	if (!s->c.argv && !s->c.nr_pids && !s->c.all_jvms)
		return err_set(e, EINVAL, "--when method needs a program to run, or a running JVM (--pid)");
	return 0;
}

static int prepare_triggers(struct sampling *s, const struct record_opts *o, struct err *e)
{
	size_t nr = o->whens.nr_items, i;
	uint32_t tell;
	int r;

	s->conditions = xcalloc(nr + 1, sizeof(*s->conditions));
	s->nr_conditions = nr;
	for (i = 0; i < nr; i++) {
		if ((r = condition_parse(o->whens.items[i], &s->conditions[i], e)))
			return err_wrap(e, "--when");
		if (s->conditions[i].kind == CONDITION_CRASH && !s->c.argv && !s->c.nr_pids && !s->c.all_jvms)
			return err_set(e, EINVAL, "--when crash needs a program to run, processes (--pid), or JVMs");
		if (s->conditions[i].kind == CONDITION_FAILURE && !s->c.argv)
			return err_set(e, EINVAL, "--when %s needs a program to run: only the parent of a process learns how it ended",
				       s->conditions[i].text);
	}
	s->c.trigger.conditions = s->conditions;
	s->c.trigger.nr_conditions = nr;
	s->c.trigger.met = on_trigger;
	s->c.trigger.missed = on_missed;
	tell = triggers_tell(&s->c.trigger);
	if (tell && s->c.java != JAVA_SAMPLE)
		return err_set(e, EINVAL, "cannot be combined: --no-java and --when gc or oom");
	s->c.jvm_events |= tell;
	return check_timed(s, o, e);
}

/* Add the event "lock", which --lock-exact needs. */
static int add_lock_event(struct sampling_opts *so, struct err *e)
{
	size_t i;

	for (i = 0; i < so->events.nr_items; i++)
		if (!strcmp(so->events.items[i], "lock") || !strncmp(so->events.items[i], "lock=", 5))
			return 0;
	return so->c.lock_exact ? opt_list_add(&so->events, "lock", e) : 0;
}

/*
 * Return whether samples are requested: labels alone are not an event, and beside calls they belong to these.
 */
static bool asks_for_samples(const struct sampling_opts *so)
{
	size_t i;

	for (i = 0; i < so->events.nr_items && !strcmp(so->events.items[i], "label"); i++)
		;
	return i < so->events.nr_items || so->freq || so->count;
}

/* Return the row of that event. */
static struct event_time *record_event_time(struct sampling *s, const char *event, size_t len)
{
	struct event_time *t;
	size_t i;

	for (i = 0; i < s->nr_times; i++)
		if (strlen(s->times[i].event) == len && !memcmp(s->times[i].event, event, len))
			return &s->times[i];
	t = VEC_ADD(s->times, s->nr_times, s->alloc_times);
	*t = (struct event_time){ .event = xstrndup(event, len) };
	return t;
}

/*
 * Parse "5s" for everything that is recorded, "lock=5s" for one event; names of events may contain a =
 * themselves.
 */
static int parse_times(struct sampling *s, const char *option, const struct opt_list *l, uint64_t *all,
		       bool is_delay, struct err *e)
{
	size_t i;

	for (i = 0; i < l->nr_items; i++) {
		const char *text = l->items[i], *value = strrchr(text, '=');
		struct event_time *t = value &&
				       value > text ? record_event_time(s, text, value - text) : NULL;
		uint64_t ns;
		int r = opt_parse_time(t ? value + 1 : text, &ns, e);

		if (!r && (t || !is_delay) && !ns)
			r = err_set(e, EINVAL, "must be more than 0");
		if (r)
			return err_wrap(e, "%s '%s'", option, text);
		if (!t)
			*all = ns;
		else if (is_delay)
			t->delay_ns = ns;
		else
			t->duration_ns = ns;
	}
	return 0;
}

static int parse_starts(struct sampling *s, const struct record_opts *o, struct err *e)
{
	size_t i;

	for (i = 0; i < o->start_ats.nr_items; i++) {
		const char *text = o->start_ats.items[i], *value = strrchr(text, '=');
		const char *mark = value ? value + 1 : text;

		if (!*mark || value == text)
			return err_set(e, EINVAL, "--start-at '%s': give the name of a mark or of a phase, as in warm, or lock=warm",
				       text);
		if (value)
			record_event_time(s, text, value - text)->mark = mark;
		else if (s->c.start_mark)
			return err_set(e, EINVAL, "--start-at: the recording begins at one mark, not at '%s' and '%s'",
				       s->c.start_mark, mark);
		else
			s->c.start_mark = mark;
	}
	if (i && (s->c.java != JAVA_SAMPLE && s->c.java != JAVA_NAMES))
		return err_set(e, EINVAL, "cannot be combined: --no-java and --start-at");
	if (i && !s->c.argv)
		return err_set(e, EINVAL, "--start-at needs a program to run: programs report marks from their start");
	if (i)
		s->c.jvm_events |= JVM_TELL_MARK;
	return 0;
}

static int prepare_times(struct sampling *s, const struct record_opts *o, struct err *e)
{
	int r = parse_times(s, "--delay", &o->delays, &s->c.delay_ns, true, e);

	if (!r)
		r = parse_times(s, "--duration", &o->durations, &s->c.duration_ns, false, e);
	if (!r)
		r = parse_starts(s, o, e);
	s->c.times = s->times;
	s->c.nr_times = s->nr_times;
	return r;
}

/* Add events for what JPMT's file requests; JPMT recorded threads in any case. */
static int add_jpmt_events(struct record_opts *o, const struct jpmt *j, struct err *e)
{
	const struct {
		bool wanted;
		const char *event;
	} events[] = {
		{ true, "thread" }, { j->yes[JPMT_OBJECT_ALLOCATION], "alloc=0" },
		{ j->yes[JPMT_GARBAGE_COLLECTION], "gc" },
		{ j->yes[JPMT_MONITOR_CONTENTION] || j->yes[JPMT_MONITOR_WAITING], "lock" },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(events) && !r; i++)
		if (events[i].wanted)
			r = opt_list_add(&o->sampling.events, events[i].event, e);
	return r;
}

/* Record what the file of JPMT's form asks for, as if options had. */
static int take_jpmt(struct record_opts *o, struct err *e)
{
	struct jpmt *j = &o->jpmt;
	const struct buf *b = &o->calls.config_text;
	int r = calls_load_config(&o->calls, e);

	if (!r && b->len)
		r = jpmt_read(j, o->calls.config, b->data, b->len, e) ? err_wrap(e, "--config") : 0;
	if (r || !j->found)
		return r;
	if (j->yes[JPMT_METHOD_INVOCATION] && !j->yes[JPMT_BYTECODE_REWRITING])
		return err_set(e, EINVAL, "--config: Method_Invocation needs 'Bytecode_Rewriting yes', because there is no other way to record calls");
	if (j->yes[JPMT_MONITOR_CONTENTION] != j->yes[JPMT_MONITOR_WAITING])
		log_info("--config: Monitor_Contention and Monitor_Waiting are one event, and recorded together");
	if (j->output && !strcmp(o->sampling.c.output, "arcprof.data"))
		o->sampling.c.output = j->output;
	o->calls.calltrace |= j->yes[JPMT_METHOD_INVOCATION] && !o->calls.traces.nr_items;
	o->sampling.c.sched |= j->yes[JPMT_LTT_PROCESS_SCHEDULING];
	return add_jpmt_events(o, j, e);
}

/* Take the conditions on what is stored of events; rules of calls were read with these. */
static int prepare_filter(struct sampling *s, const struct record_opts *o, struct err *e)
{
	bool alone = o->calls.config && !calls_wanted(&o->calls);
	size_t i;
	int r = alone ? calls_take_rules(&o->calls, &s->rules, e) : 0;

	if (!r && alone && !s->filter.nr && !o->jpmt.found)
		return err_set(e, EINVAL, "--config: its rules are about methods alone, and need --callflow");
	if (!r && rules_drop(&s->filter, RULE_PHASE))
		log_info("--config: a phase is known only when it ends: 'arcprof report --config' applies rules about phases");
	for (i = 0; !r && i < o->filters.nr_items; i++)
		r = rules_item(&s->filter, o->filters.items[i], e) ? err_wrap(e, "--filter") : 0;
	s->c.filter = &s->filter;
	return r;
}

/* Prepare a recording; s->c begins as the options' c. */
static int record_prepare(struct sampling *s, struct record_opts *o, int nr_operands, char **operands,
			  struct err *e)
{
	struct sampling_opts *so = &o->sampling;
	/* Call trees are sampled beneath only where that is asked for. */
	int taken = take_jpmt(o, e), added = taken ? taken : add_lock_event(so, e);
	bool asked = asks_for_samples(so);
	bool samples = o->samples && (asked || !calls_wanted(&o->calls));
	int r = added ? added : record_check_opts(o, nr_operands, e);
	size_t i;

	s->rules.events = &s->filter;
	s->c.output = so->c.output;
	s->c.sched |= so->c.sched | s->c.irq;
	if (!r)
		r = check_lock_exact(o, e);
	if (!r && samples && o->calls.call_sites)
		r = err_set(e, EINVAL, "cannot be combined: --call-sites and --event, as stacks of samples have no call sites");
	if (!r && calls_wanted(&o->calls))
		r = calls_prepare(&o->calls, &s->c.callflow, &s->rules, &s->slow, e);
	if (!r)
		r = sampling_prepare(s, so, samples, e);
	if (!r && !samples && so->events.nr_items)
		s->c.jvm_events |= JVM_TELL_LABEL;
	if (s->c.jvm_events & JVM_TELL_LABEL && s->c.callflow.on)
		s->c.callflow.layout.nr_labels = CALLS_LABELS;
	if (!r)
		r = check_sources(o, s, e);
	if (!r)
		r = check_groups(o, s, e);
	if (!r && o->window && (o->calls.calltrace || o->calls.traces.nr_items || s->c.sched))
		r = err_set(e, EINVAL, "cannot be combined: --window and %s, because each event follows from those before",
			    o->calls.calltrace ? "--calltrace" : o->calls.traces.nr_items ? "--trace" : "--sched");
	for (i = 0; !r && o->window && i < s->c.nr_sources; i++)
		if (s->sources[i].kind->jvm == JVM_SOURCE_MEMORY ||
		    s->sources[i].kind->jvm == JVM_SOURCE_LIVE)
			r = err_set(e, EINVAL, "cannot be combined: --window and --event %s, of which what is freed must be known",
				    s->sources[i].kind->name);
	if (!r && o->window)
		r = parse_window(o->window, &s->c, e);
	if (!r)
		r = prepare_memory(s, o, e);
	if (!r)
		r = prepare_segments(s, o, e);
	if (!r)
		r = prepare_wrap(s, o, e);
	if (!r)
		r = prepare_cost(s, o, e);
	if (r)
		return r;
	r = prepare_filter(s, o, e);
	if (r)
		return r;
	s->c.cgroups = !nr_operands || s->c.system_wide;
	s->c.all_jvms = s->c.system_wide && !so->no_java && !calls_wanted(&o->calls);
	s->c.trace.mode = o->mode == TRACE_WRAP ? TRACE_CONTINUOUS : (enum trace_mode)o->mode;
	s->c.trace.limit_bytes = o->mode == TRACE_WRAP ? 0 : o->max_size;
	s->masks_secrets = o->mask_secrets;
	sampling_command(s, "record", nr_operands, operands);
	r = prepare_times(s, o, e);
	return r ? r : prepare_triggers(s, o, e);
}

static int record_run(void *opts, int nr_operands, char **operands)
{
	struct record_opts *o = opts;
	struct sampling s = { .c = o->sampling.c };
	struct collect_result res;
	struct err e = { 0 };
	int status;

	if (command_symfs(o->symfs)) {
		status = EXIT_USAGE;
	} else if (record_prepare(&s, o, nr_operands, operands, &e)) {
		log_err(&e);
		status = e.code == EINVAL ? EXIT_USAGE : EXIT_ARCPROF_FAILED;
	} else if (sampling_run(&s, &res, &e)) {
		log_err(&e);
		status = command_failure(&e);
	} else {
		sampling_summary(&s, &res);
		status = sampling_failed(&s, &res) ? EXIT_ARCPROF_FAILED : res.status;
	}
	sampling_release(&s);
	jpmt_release(&o->jpmt);
	buf_release(&o->calls.config_text);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "run a program, or attach to one, and write a trace",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.join_opts = record_join_opts,
	.run = record_run,
};
