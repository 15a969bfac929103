// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tprof.c - "arcprof tprof": record interrupted addresses system-wide, then the tprof report,
 * in one step.
 */
#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd.h"
#include "report.h"
#include "sampling.h"

#define TICKS_HZ "1000"

struct tprof_opts {
	struct opt_list events, cpus;
	const char *freq;
	uint64_t count;
	uint64_t start_ns, duration_ns;
	const char *output;
	int format;
	bool program_only;
};

#define O struct tprof_opts
static const struct opt record_opts[] = {
	OPT_GROUP("What to record"),
	OPT_LIST_OF('e', "event", O, events, pmu_event_generic, "event", "event that triggers a tick (default: cycles, or cpu-clock)"),
	OPT_STR('F', "freq", O, freq, "hz", NULL, "ticks per second, or max (default: 1000)"),
	OPT_COUNT('c', "count", O, count, "n", NULL, "count a tick every <n> events, or <n> ns of a clock"),
	OPT_LIST('C', "cpu", O, cpus, "cpus", "only on these CPUs, such as 0,2-3"),
	OPT_FLAG(0, "program-only", O, program_only, "record only the program and what it starts"),
	OPT_TIME('s', "start", O, start_ns, "time", NULL, "wait this long before the start"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "stop after this long"),
	OPT_OLD_SPAN('r', "run", O, duration_ns),
	OPT_STR('o', "output", O, output, "file", "arcprof.data", "keep the trace in <file>"),
	OPT_GROUP("What to print"),
	OPT_END
};

static const struct opt format_opts[] = {
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_END
};
#undef O

/* Join the report's own options to the group of what to print. */
static void tprof_join_opts(struct opt_join *j)
{
	size_t at = opt_join_struct(j, sizeof(struct tprof_opts));

	opt_join_add(j, record_opts, at);
	opt_join_add(j, report_tprof.opts, opt_join_struct(j, report_tprof.opts_size));
	opt_join_add(j, format_opts, at);
}

static int tprof_prepare(struct sampling *s, const struct tprof_opts *o, int nr_operands, char **operands,
			 struct err *e)
{
	static const struct opt_list none;
	int r = sampling_events(s, &o->events, o->freq ? o->freq : o->count ? NULL : TICKS_HZ, o->count, e);

	if (!r)
		r = sampling_no_sources(s, "tprof", e);
	if (!r)
		r = sampling_targets(s, &none, &none, &o->cpus, e);
	if (r)
		return r;
	if (o->program_only && !nr_operands)
		return err_set(e, EINVAL, "--program-only needs a program");
	s->c.system_wide = !o->program_only;
	s->c.ev.callgraph = CALLGRAPH_NO;
	s->c.lines = s->c.code = true;	/* for --micro, now or later */
	s->c.java = JAVA_NAMES;
	s->c.delay_ns = o->start_ns;
	s->c.duration_ns = o->duration_ns;
	s->c.output = o->output;
	s->c.cache = true;
	s->c.trace.compress = true;
	sampling_command(s, "tprof", nr_operands, operands);
	return 0;
}

static int tprof_run(void *opts, int nr_operands, char **operands)
{
	const struct tprof_opts *o = opts;
	const struct report_request q = { .input = o->output, .show.format = o->format };
	const void *own = (const char *)opts + opt_join_room(sizeof(*o));
	struct sampling s = { 0 };
	struct collect_result res;
	struct err e = { 0 };
	int status = report_check(&q, &report_tprof, own);

	if (status)
		return status;
	if (tprof_prepare(&s, o, nr_operands, operands, &e)) {
		log_err(&e);
		status = EXIT_USAGE;
	} else if (sampling_run(&s, &res, &e)) {
		log_err(&e);
		if (s.c.system_wide && nr_operands && (e.code == EACCES || e.code == EPERM))
			log_hint("--program-only measures your own program without that right");
		status = command_failure(&e);
	} else {
		bool failed;

		sampling_summary(&s, &res);
		failed = sampling_failed(&s, &res);
		if (term_is_tty())
			pager_start();
		status = report_show(&q, &report_tprof, own);
		if (failed)
			status = EXIT_ARCPROF_FAILED;
	}
	sampling_release(&s);
	return status;
}

const struct command cmd_tprof = {
	.name = "tprof",
	.summary = "count ticks by process, thread, module and symbol, system-wide, and print them",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.join_opts = tprof_join_opts,
	.run = tprof_run,
};
