// SPDX-License-Identifier: GPL-2.0-or-later
/* itrace.c - "arcprof itrace": every branch of a program, instruction by instruction. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "collect/itrace.h"
#include "sampling.h"
#include "version.h"

struct itrace_cmd_opts {
	struct opt_list pids, tids;
	bool forks, bracket;
	uint64_t duration_ns, limit, max_bytes;
	const char *output;
	bool java, lines, compress, single_steps;
	int engine;
};

enum { ENGINE_AUTO, ENGINE_MODULE, ENGINE_PTRACE };
static const char *const engines[] = { "auto", "module", "ptrace", NULL };

#define OPT_ON(n, s, f, h) \
	{ .type = OPT_TYPE_FLAG, .name = (n), .offset = OPT_FIELD(s, f, bool), .def = "true", .help = (h) }

#define O struct itrace_cmd_opts
static const struct opt itrace_table[] = {
	OPT_GROUP("What to trace"),
	OPT_LIST('p', "pid", O, pids, "pid", "running processes, all their threads"),
	OPT_LIST('t', "tid", O, tids, "tid", "running threads, and no others"),
	OPT_FLAG('f', "follow", O, forks, "processes that it forks too"),
	OPT_FLAG(0, "bracket", O, bracket, "only between arcprof_itrace_on() and arcprof_itrace_off()"),
	OPT_ON("java", O, java, "name the Java code in every JVM that the program starts"),
	OPT_GROUP("How long"),
	OPT_TIME('d', "duration", O, duration_ns, "time", NULL, "stop after so much time"),
	OPT_U64(0, "limit", O, limit, "n", NULL, "stop after <n> instructions"),
	OPT_SIZE(0, "max-size", O, max_bytes, "bytes", NULL, "stop when the file is about that large"),
	OPT_GROUP("How"),
	OPT_ENUM(0, "engine", O, engine, engines, "auto", "who steps; auto is the kernel module, where it can be used"),
	OPT_FLAG(0, "single-steps", O, single_steps, "step over each instruction: no breakpoints, slower"),
	OPT_GROUP("Where to"),
	OPT_STR('o', "output", O, output, "file", "arcprof.data", "write the trace to <file>"),
	OPT_ON("lines", O, lines, "store file and line of what was executed"),
	OPT_ON("compress", O, compress, "compress the file"),
	OPT_END
};
#undef O

static int check_opts(const struct itrace_cmd_opts *o, int nr_operands, struct err *e)
{
	int nr = !!nr_operands + !!o->pids.nr_items + !!o->tids.nr_items;

	if (!nr)
		return err_set(e, EINVAL, "nothing to trace: name a program, --pid or --tid");
	if (nr > 1)
		return err_set(e, EINVAL, "a program to run, --pid and --tid exclude each other");
	if (o->max_bytes && o->max_bytes < 128 << 10)
		return err_set(e, EINVAL, "--max-size: 128 KiB is the least");
	return 0;
}

static void put_amount(uint64_t n, const char *what)
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
		log_warn("stopped because the trace is as large as --max-size allows; what ran after that is not in it");
		break;
	case ITRACE_WHY_DISK:
		log_warn("stopped because the trace cannot be written: %s", strerror(r->write_error));
		break;
	case ITRACE_WHY_SIGNAL:
		log_info("stopped by a signal");
		break;
	case ITRACE_WHY_GONE:
	case ITRACE_WHY_TIME:
		break;
	}
	if (r->write_error && r->why != ITRACE_WHY_DISK)
		log_warn("the trace is not whole: %s", strerror(r->write_error));
	if (r->totals.nr_foreign)
		put_amount(r->totals.nr_foreign, "threads run 32-bit code, or a program that gains rights, and were not traced");
	if (r->totals.nr_refused)
		put_amount(r->totals.nr_refused, "threads were not traced, since too many were already; --engine=ptrace has no limit");
	if (r->totals.nr_gaps)
		log_warn("%" PRIu64 " times a thread was put elsewhere by the kernel: what it executed then is missing", r->totals.nr_gaps);
}

static void summary(const struct itrace_cmd_opts *o, const struct itrace_result *r)
{
	double seconds = r->duration_ns / 1e9;
	uint64_t n = r->totals.nr_insns;

	why_it_stopped(o, r);
	log_info("%" PRIu64 " instructions, %" PRIu64 " branches in %" PRIu64 " thread%s; %.3g s, %.0f instructions a second",
		 n, r->totals.nr_branches, r->totals.nr_threads, r->totals.nr_threads == 1 ? "" : "s", seconds,
		 seconds > 0 ? n / seconds : 0);
	log_info("%s: %" PRIu64 " bytes, %.3g an instruction; 'arcprof report -i %s --arc' shows it", o->output,
		 r->nr_bytes, n ? (double)r->nr_bytes / n : 0, o->output);
}

/* --engine=auto: the module is there or it is not; why not is nobody's trouble. */
static const struct itrace_engine *engine_for(const struct itrace_cmd_opts *o, const struct itrace_opts *steps)
{
	struct err ignored;

	if (o->engine == ENGINE_MODULE)
		return &itrace_module;
	if (o->engine == ENGINE_PTRACE || itrace_module.usable(steps, &ignored))
		return &itrace_ptrace;
	return &itrace_module;
}

static int exit_status(const struct sampling *s, const struct err *e)
{
	return e->code == EINVAL ? EXIT_USAGE : sampling_exit_status(s, e);
}

static int itrace_run_cmd(void *opts, int nr_operands, char **operands)
{
	const struct itrace_cmd_opts *o = opts;
	const struct opt_list none = { 0 };
	struct sampling s = { 0 };
	struct itrace_result res;
	struct err e = { 0 };
	struct itrace_run_opts run = {
		.duration_ns = o->duration_ns, .max_bytes = o->max_bytes, .java = o->java,
		.lines = o->lines,
		.compress = o->compress, .output = o->output, .version = ARCPROF_VERSION,
	};
	int r = check_opts(o, nr_operands, &e), status;

	if (!r)
		r = sampling_targets(&s, &o->pids, &o->tids, &none, &e);
	if (!r) {
		sampling_command(&s, "itrace", nr_operands, operands);
		run.command_line = s.command_line;
		run.steps = (struct itrace_opts){
			.argv = s.c.argv, .pids = s.c.pids, .nr_pids = s.c.nr_pids, .tids = s.c.tids,
			.nr_tids = s.c.nr_tids, .forks = o->forks, .bracket = o->bracket,
			.single_steps = o->single_steps, .limit = o->limit,
		};
		run.engine = engine_for(o, &run.steps);
		r = itrace_run(&run, &res, &e);
	}
	if (r) {
		log_err(&e);
		status = exit_status(&s, &e);
	} else {
		summary(o, &res);
		status = res.write_error ? EXIT_ARCPROF_FAILED : res.status;
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
