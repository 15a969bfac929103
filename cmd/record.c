// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record.c - "arcprof record": run a program, or attach to one, and write a trace.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "calls.h"
#include "cmd.h"
#include "jvm/proto.h"
#include "sampling.h"

struct record_opts {
	struct opt_list events, pids, tids, cpus;
	const char *freq, *user;
	uint64_t period;
	bool system_wide;
	int callgraph;			/* index into callgraphs[] */
	uint64_t stack_bytes;
	bool all_user, all_kernel;
	bool samples, sched, irq;
	bool java;
	uint64_t java_depth;
	uint64_t delay_ns, duration_ns;
	const char *output;
	int mode;			/* index into modes[] */
	uint64_t max_bytes, ring_bytes;
	bool lines, cache, compress;
	struct calls_opts calls;
};

static const char *const callgraphs[] = { "dwarf", "fp", "no", NULL };	/* as enum callgraph */
static const char *const modes[] = { "continuous", "normal", NULL };	/* as enum trace_mode */

#define OPT_ON(n, s, f, h) \
	{ .type = OPT_TYPE_FLAG, .name = (n), .offset = OPT_FIELD(s, f, bool), .def = "true", .help = (h) }

static const struct opt record_table[] = {
	OPT_GROUP("What to record"),
	OPT_LIST('e', "event", struct record_opts, events, "event",
		 "event to sample (default: cycles, or cpu-clock without hardware counters)"),
	OPT_STR('F', "freq", struct record_opts, freq, "hz", NULL,
		"samples per second of CPU time, or max (default: 999)"),
	OPT_U64('c', "count", struct record_opts, period, "n", NULL, "take a sample every <n> events, or <n> ns of a clock"),
	OPT_FLAG('a', "all-cpus", struct record_opts, system_wide, "record the whole system"),
	OPT_LIST('C', "cpu", struct record_opts, cpus, "cpus", "only on these CPUs, such as 0,2-3"),
	OPT_LIST('p', "pid", struct record_opts, pids, "pid", "record running processes"),
	OPT_LIST('t', "tid", struct record_opts, tids, "tid", "record running threads"),
	OPT_STR('u', "user", struct record_opts, user, "user", NULL,
		"record all running processes of a user"),
	OPT_FLAG(0, "all-user", struct record_opts, all_user, "sample user code only"),
	OPT_FLAG(0, "all-kernel", struct record_opts, all_kernel, "sample kernel code only"),
	OPT_FLAG(0, "sched", struct record_opts, sched, "also record context switches, waits and wake-ups"),
	OPT_FLAG(0, "irq", struct record_opts, irq, "also record interrupts (implies --sched)"),
	OPT_ON("samples", struct record_opts, samples, "sample; --no-samples records dispatches only"),
	OPT_GROUP("Call stacks"),
	OPT_SET('g', NULL, struct record_opts, callgraph, CALLGRAPH_DWARF,
		"record call stacks (the default): short for --call-graph=dwarf"),
	OPT_ENUM(0, "call-graph", struct record_opts, callgraph, callgraphs, "dwarf",
		 "how to find native callers: by unwind rules, by frame pointers, or not at all"),
	OPT_SIZE(0, "stack-size", struct record_opts, stack_bytes, "bytes", "65528",
		 "stack to copy with each sample for --call-graph=dwarf"),
	OPT_ON("java", struct record_opts, java, "walk the Java stacks of every JVM the program starts"),
	OPT_U64(0, "java-depth", struct record_opts, java_depth, "n", "2048", "maximum number of Java frames per sample"),
	OPT_ON("lines", struct record_opts, lines, "store source lines and inlined calls of sampled code"),
	OPT_ON("cache", struct record_opts, cache, "reuse and keep symbols in the cache"),
	OPT_GROUP("Exact calls"),
	OPT_STR_OPTARG(0, "callflow", struct record_opts, calls.filter, "filter",
		       "count every call of these methods, such as +com.example.*,-*.toString (default: the application's)"),
	OPT_FLAG(0, "calltrace", struct record_opts, calls.trace, "store every call and return"),
	OPT_LIST(0, "metric", struct record_opts, calls.metrics, "name",
		 "measure these metrics per call: cpu, wall, alloc, objects, dispatches, thrown, or a hardware counter (default: cpu,wall)"),
	OPT_FLAG(0, "precise-time", struct record_opts, calls.precise,
		 "serialize the processor before reading a clock: accurate for short calls, at three times the cost"),
	OPT_STR(0, "config", struct record_opts, calls.config, "file", NULL,
		"read filter rules for methods and threads from <file>"),
	OPT_U64(0, "call-depth", struct record_opts, calls.depth, "n", "8192",
		"merge calls below this depth"),
	OPT_SIZE(0, "call-memory", struct record_opts, calls.memory, "bytes", "1G",
		 "maximum memory for the call trees of a process"),
	OPT_TIME(0, "snapshot", struct record_opts, calls.snapshot_ns, "time", NULL,
		 "write a snapshot of the call trees at this interval (default: only at the end)"),
	OPT_GROUP("When"),
	OPT_TIME('D', "delay", struct record_opts, delay_ns, "time", NULL, "wait this long before sampling starts"),
	OPT_TIME('d', "duration", struct record_opts, duration_ns, "time", NULL, "stop after this long"),
	OPT_GROUP("Where to"),
	OPT_STR('o', "output", struct record_opts, output, "file", "arcprof.data",
		"write the trace to <file>"),
	OPT_ENUM(0, "mode", struct record_opts, mode, modes, "continuous",
		 "whether to stop storing samples at --max-size (normal) or never (continuous)"),
	OPT_SIZE(0, "max-size", struct record_opts, max_bytes, "bytes", NULL, "maximum size of the samples in the file"),
	OPT_SIZE('m', "ring-size", struct record_opts, ring_bytes, "bytes", NULL,
		 "size of the per-CPU kernel buffer (default: from the rate)"),
	OPT_ON("compress", struct record_opts, compress, "compress the trace"),
	OPT_END
};

static bool wants_calls(const struct calls_opts *c)
{
	return c->filter || c->trace;
}

static int check_calls(const struct record_opts *o, int nr_operands, struct err *e)
{
	const struct calls_opts *c = &o->calls;

	if (wants_calls(c) && !nr_operands && !o->pids.nr_items)
		return err_set(e, EINVAL, "--callflow needs a program to run, or a running JVM (--pid)");
	if (!wants_calls(c) && (c->metrics.nr_items || c->config || c->snapshot_ns || c->precise))
		return err_set(e, EINVAL, "%s needs --callflow", c->metrics.nr_items ? "--metric" :
			       c->config ? "--config" : c->precise ? "--precise-time" : "--snapshot");
	return 0;
}

static int check_opts(const struct record_opts *o, int nr_operands, struct err *e)
{
	bool running = o->pids.nr_items || o->tids.nr_items || o->user;

	if (nr_operands && running)
		return err_set(e, EINVAL, "cannot be combined: a program to run and --pid, --tid or --user");
	if (!nr_operands && !running && !o->system_wide)
		return err_set(e, EINVAL, "nothing to record: name a program, --pid, --tid, --user or --all-cpus");
	if (o->system_wide && running)
		return err_set(e, EINVAL, "cannot be combined: --all-cpus and --pid, --tid or --user");
	if (o->user && (o->pids.nr_items || o->tids.nr_items))
		return err_set(e, EINVAL, "cannot be combined: --user and --pid or --tid");
	if (o->all_user && o->all_kernel)
		return err_set(e, EINVAL, "cannot be combined: --all-user and --all-kernel");
	if (o->mode == TRACE_NORMAL && !o->max_bytes)
		return err_set(e, EINVAL, "--mode=normal needs --max-size");
	if (o->stack_bytes < 512 || o->stack_bytes > 65528)
		return err_set(e, EINVAL, "--stack-size: the kernel copies 512 to 65528 bytes");
	if (!o->samples && !o->sched && !o->irq && !wants_calls(&o->calls))
		return err_set(e, EINVAL, "--no-samples leaves nothing to record without --sched or --callflow");
	if (!o->samples && (o->events.nr_items || o->freq || o->period))
		return err_set(e, EINVAL, "cannot be combined: --no-samples and --event, --freq or --count");
	if (o->java_depth < 8 || o->java_depth > JVM_MAX_DEPTH)
		return err_set(e, EINVAL, "--java-depth: must be between 8 and %u", JVM_MAX_DEPTH);
	return check_calls(o, nr_operands, e);
}

static int prepare(struct sampling *s, const struct record_opts *o, int nr_operands, char **operands,
		   struct err *e)
{
	/* Call trees are sampled beneath only where that is asked for. */
	bool asked = o->events.nr_items || o->freq || o->period;
	bool samples = o->samples && (asked || !wants_calls(&o->calls));
	int r = check_opts(o, nr_operands, e);

	if (!r && wants_calls(&o->calls))
		r = calls_prepare(&o->calls, &s->c.callflow, &s->rules, e);
	if (!r && samples)
		r = sampling_events(s, &o->events, o->freq, o->period, e);
	if (!r)
		r = sampling_targets(s, &o->pids, &o->tids, &o->cpus, e);
	if (!r && o->user)
		r = sampling_user(s, o->user, e);
	if (r)
		return r;
	s->c.system_wide = o->system_wide;
	s->c.ev.callgraph = samples ? o->callgraph : CALLGRAPH_NO;
	s->c.ev.stack_bytes = o->stack_bytes & ~7ull;
	s->c.ev.exclude_kernel = o->all_user;
	s->c.ev.exclude_user = o->all_kernel;
	s->c.sched = o->sched || o->irq;
	s->c.irq = o->irq;
	s->c.java = !o->java ? JAVA_OFF : samples ? JAVA_SAMPLE : JAVA_NAMES;
	s->c.java_depth = o->java_depth;
	s->c.start_ns = o->delay_ns;
	s->c.duration_ns = o->duration_ns;
	s->c.ring_bytes = o->ring_bytes;
	s->c.lines = o->lines;
	s->c.no_cache = !o->cache;
	s->c.output = o->output;
	s->c.trace.mode = o->mode;
	s->c.trace.limit_bytes = o->max_bytes;
	s->c.trace.compress = o->compress;
	sampling_command(s, "record", nr_operands, operands);
	return 0;
}

static int record_run(void *opts, int nr_operands, char **operands)
{
	struct sampling s = { 0 };
	struct collect_result res;
	struct err e = { 0 };
	int status;

	if (prepare(&s, opts, nr_operands, operands, &e)) {
		log_err(&e);
		status = e.code == EINVAL ? EXIT_USAGE : EXIT_ARCPROF_FAILED;
	} else if (sampling_run(&s, &res, &e)) {
		log_err(&e);
		status = command_failure(&e);
	} else {
		sampling_summary(&s, &res);
		status = res.write_error ? EXIT_ARCPROF_FAILED : res.status;
	}
	sampling_release(&s);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "run a program, or attach to one, and write a trace",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.opts = record_table,
	.opts_size = sizeof(struct record_opts),
	.run = record_run,
};
