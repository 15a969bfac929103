// SPDX-License-Identifier: GPL-2.0-or-later
/* itrace.c - "arcprof itrace": every branch of a program, instruction by instruction. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "collect/itrace/itrace.h"
#include "sampling.h"
#include "version.h"

struct itrace_cmd_opts {
	struct opt_list pids, tids;
	bool follow, bracket;
	const char *methods;
	uint64_t skip, times;
	uint64_t duration_ns, limit, max_size;
	const char *output;
	bool java, lines, cache, compress, single_steps;
	int engine;
};

enum { ENGINE_AUTO, ENGINE_MODULE, ENGINE_PTRACE };
static const char *const engines[] = { "auto", "module", "ptrace", NULL };

#define O struct itrace_cmd_opts
static const struct opt itrace_table[] = {
	OPT_GROUP("What to trace"),
	OPT_LIST('p', "pid", O, pids, "pid", "trace all threads of running processes"),
	OPT_LIST('t', "tid", O, tids, "tid", "trace only these running threads"),
	OPT_FLAG('f', "follow", O, follow, "also trace the processes that it forks"),
	OPT_FLAG(0, "bracket", O, bracket, "trace only between arcprof_itrace_on() and arcprof_itrace_off()"),
	OPT_STR(0, "method", O, methods, "filter", NULL, "trace only calls of these Java methods, selected as by record --callflow"),
	OPT_U64(0, "skip", O, skip, "n", "0", "skip the first <n> of these calls"),
	OPT_COUNT(0, "times", O, times, "n", "1", "trace at most <n> of these calls"),
	OPT_ON("java", O, java, "name the Java code of every JVM"),
	OPT_GROUP("How long"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "stop after this long"),
	OPT_COUNT(0, "limit", O, limit, "n", NULL, "stop after <n> instructions"),
	OPT_LEAST(OPT_TYPE_SIZE, 128 << 10, 0, "max-size", O, max_size, "bytes", NULL, "stop when the file reaches about this size"),
	OPT_GROUP("Engine"),
	OPT_ENUM(0, "engine", O, engine, engines, "auto", "tracing engine (auto: the kernel module if it is loaded)"),
	OPT_FLAG(0, "single-steps", O, single_steps, "step every instruction, without breakpoints; slower"),
	OPT_GROUP("Output"),
	OPT_STR('o', "output", O, output, "file", "arcprof.data", "write the trace to <file>"),
	OPT_ON("lines", O, lines, "store source lines of executed code"),
	OPT_ON("cache", O, cache, "use the cache of symbols, and add to it"),
	OPT_ON("compress", O, compress, "compress the trace"),
	OPT_END
};
#undef O

static int itrace_check_opts(const struct itrace_cmd_opts *o, int nr_operands, struct err *e)
{
	int nr = !!nr_operands + !!o->pids.nr_items + !!o->tids.nr_items;

	if (!nr)
		return err_set(e, EINVAL, "nothing to trace: name a program, --pid or --tid");
	if (nr > 1)
		return err_set(e, EINVAL, "cannot be combined: a program to run, --pid and --tid");
	if (o->methods && (o->tids.nr_items || !o->java))
		return err_set(e, EINVAL, "--method needs a program to run or --pid, and cannot do without the agent of --java");
	if (!o->methods && (o->skip || o->times != 1))
		return err_set(e, EINVAL, "%s needs --method", o->skip ? "--skip" : "--times");
	if (o->methods && o->bracket)
		return err_set(e, EINVAL, "cannot be combined: --method and --bracket");
	if (o->methods && o->engine == ENGINE_MODULE)
		return err_set(e, EINVAL, "--method takes --engine=ptrace");
	return 0;
}

enum { CALL_DEPTH = 1 << 16, CALL_THREADS = 1 << 14, CALL_BYTES = 16 << 20 };

/* Make the rules for JVMs; the trees are there to tell which call is outermost. */
static int method_rules(const struct itrace_cmd_opts *o, struct callrules *rules, struct callflow_layout *l,
			struct err *e)
{
	int r;

	if (!o->methods)
		return 0;
	r = callrules_list(rules, o->methods, e);
	if (r)
		return err_wrap(e, "--method");
	callrules_end(rules);
	*l = (struct callflow_layout){
		.flags = CALLFLOW_TREES | CALLFLOW_BRACKETS, .max_depth = CALL_DEPTH,
		.nr_threads = CALL_THREADS,
		.nr_functions = 1, .pool_bytes = CALL_BYTES, .rules = rules->b.data,
		.rules_bytes = rules->b.len,
		.bracket_skip = o->skip, .bracket_times = o->times,
	};
	return 0;
}

static void itrace_put_amount(uint64_t n, const char *what)
{
	log_info("%" PRIu64 " %s", n, what);
}

static void why_it_stopped(const struct itrace_cmd_opts *o, const struct itrace_result *r)
{
	switch (r->why) {
	case ITRACE_WHY_LIMIT:
		log_info("stopped after %" PRIu64 " instructions, as asked by --limit", r->totals.nr_insns);
		break;
	case ITRACE_WHY_SIZE:
		log_warn("stopped because the trace has reached --max-size; what ran after that is not in it");
		break;
	case ITRACE_WHY_DISK:
		log_warn("stopped because the trace cannot be written: %s", strerror(r->write_error));
		break;
	case ITRACE_WHY_SIGNAL:
		log_info("stopped by a signal");
		break;
	case ITRACE_WHY_GONE:
	case ITRACE_WHY_TIME:
	case ITRACE_WHY_CALLS:
		break;
	}
	if (r->write_error && r->why != ITRACE_WHY_DISK)
		log_warn("the trace is not whole: %s", strerror(r->write_error));
	if (r->totals.nr_foreign)
		itrace_put_amount(r->totals.nr_foreign, "threads run 32-bit code, or a program that gains rights, and were not traced");
	if (r->totals.nr_refused)
		itrace_put_amount(r->totals.nr_refused, "threads were not traced, since too many were already; --engine=ptrace has no limit");
	if (r->nr_turned_away)
		itrace_put_amount(r->nr_turned_away, "foreign connections were refused");
	if (r->totals.nr_gaps)
		log_warn("%" PRIu64 " jumps of threads by the kernel were not followed: what ran there is missing", r->totals.nr_gaps);
}

static void why_no_call(const struct itrace_cmd_opts *o, const struct brackets_result *m)
{
	const char *which = o->methods;

	if (!m->nr_jvms)
		log_error("--method: no JVM took the agent");
	else if (!m->nr_methods && *m->why_not)
		log_error("--method: nothing that matches '%s' can have probes; %s", which, m->why_not);
	else if (!m->nr_methods)
		log_error("--method: nothing that was loaded matches '%s'; a method is written package.Class.method", which);
	else if (m->nr_refused)
		log_error("--method: '%s' was called in a process that is not traced; -f traces those that are forked", which);
	else if (!m->nr_calls)
		log_error("--method: '%s' was not called%s%s", which, *m->why_not ? "; " : "", m->why_not);
	else
		log_error("--method: '%s' was called %" PRIu64 " time%s, and --skip leaves the first %" PRIu64
			  " alone", which,
			  m->nr_calls, plural(m->nr_calls), o->skip);
}

/* Print the summary; return false if no call was traced, after reporting the reason. */
static bool methods_summary(const struct itrace_cmd_opts *o, const struct brackets_result *m)
{
	uint64_t nr = m->nr_begun - MIN(m->nr_refused, m->nr_begun);

	if (nr)
		log_info("%" PRIu64 " call%s of '%s' traced, after %" PRIu64 " left alone", nr,
			 plural(nr), o->methods, o->skip);
	else
		why_no_call(o, m);
	return nr;
}

static void summary(const struct itrace_cmd_opts *o, const struct itrace_result *r)
{
	double seconds = r->duration_ns / 1e9;
	uint64_t n = r->totals.nr_insns;

	why_it_stopped(o, r);
	log_info("%" PRIu64 " instructions, %" PRIu64 " branches in %" PRIu64 " thread%s; %.3g s, %.0f instructions per second",
		 n, r->totals.nr_branches, r->totals.nr_threads, plural(r->totals.nr_threads), seconds,
		 seconds > 0 ? n / seconds : 0);
	log_info("%s: %" PRIu64 " bytes, %.3g per instruction; 'arcprof report -i %s --arc' shows it",
		 o->output,
		 r->nr_bytes, n ? (double)r->nr_bytes / n : 0, o->output);
}

/* Choose the engine. With --engine=auto, a missing module is not an error. */
static const struct itrace_engine *engine_for(const struct itrace_cmd_opts *o,
					      const struct itrace_opts *steps)
{
	struct err ignored;

	if (o->engine == ENGINE_MODULE)
		return &itrace_module;
	if (o->engine == ENGINE_PTRACE || o->methods || itrace_module.usable(steps, &ignored))
		return &itrace_ptrace;
	return &itrace_module;
}

static int status_of(const struct itrace_cmd_opts *o, const struct itrace_result *r)
{
	bool complete = !r->write_error;

	summary(o, r);
	if (!r->totals.nr_insns && !o->methods) {
		log_error("no instruction was traced: no thread ran meanwhile");
		complete = false;
	}
	if (o->methods)
		complete &= methods_summary(o, &r->methods);
	return complete ? r->status : EXIT_ARCPROF_FAILED;
}

static int itrace_run_cmd(void *opts, int nr_operands, char **operands)
{
	const struct itrace_cmd_opts *o = opts;
	const struct opt_list none = { 0 };
	struct sampling s = { 0 };
	struct itrace_result res;
	struct err e = { 0 };
	struct itrace_run_opts run = {
		.duration_ns = o->duration_ns, .max_bytes = o->max_size, .java = o->java,
		.lines = o->lines, .cache = o->cache,
		.compress = o->compress, .output = o->output, .version = ARCPROF_VERSION,
	};
	int r = itrace_check_opts(o, nr_operands, &e), status;

	if (!r)
		r = sampling_targets(&s, &o->pids, &o->tids, &none, &e);
	if (!r)
		r = method_rules(o, &s.rules, &run.methods, &e);
	if (!r) {
		sampling_command(&s, "itrace", nr_operands, operands);
		run.command_line = s.command_line;
		run.steps = (struct itrace_opts){
			.argv = s.c.argv, .pids = s.c.pids, .nr_pids = s.c.nr_pids, .tids = s.c.tids,
			.nr_tids = s.c.nr_tids, .forks = o->follow, .bracket = o->bracket || o->methods,
			.single_steps = o->single_steps, .limit = o->limit,
		};
		run.engine = engine_for(o, &run.steps);
		r = itrace_run(&run, &res, &e);
	}
	if (r) {
		log_err(&e);
		status = e.code == EINVAL ? EXIT_USAGE : command_failure(&e);
	} else {
		status = status_of(o, &res);
	}
	sampling_release(&s);
	return status;
}

const struct command cmd_itrace = {
	.name = "itrace",
	.summary = "trace every branch of a program, counted in instructions",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.opts = itrace_table,
	.opts_size = sizeof(struct itrace_cmd_opts),
	.run = itrace_run_cmd,
};
