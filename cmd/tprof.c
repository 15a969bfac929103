// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tprof.c - "arcprof tprof": record interrupted addresses system-wide, then the tprof report,
 * in one step.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/pager.h"
#include "base/term.h"
#include "cmd.h"
#include "pmu/probe.h"
#include "report/format.h"
#include "sampling.h"

#define TICKS_HZ "1000"

struct tprof_opts {
	struct opt_list events, cpus, stanzas;
	const char *freq;
	uint64_t period;
	uint64_t start_ns, run_ns;
	const char *output;
	const char *clip;
	int format;
	bool program_only;
};

#define O struct tprof_opts
static const struct opt tprof_table[] = {
	OPT_GROUP("What to record"),
	OPT_LIST('e', "event", O, events, "event", "event that makes a tick (default: cycles, or cpu-clock)"),
	OPT_STR('F', "freq", O, freq, "hz", NULL, "ticks per second, or max (default: 1000)"),
	OPT_U64('c', "count", O, period, "n", NULL, "count a tick every <n> events, or <n> ns of a clock"),
	OPT_LIST('C', "cpu", O, cpus, "cpus", "only on these CPUs, such as 0,2-3"),
	OPT_FLAG(0, "program-only", O, program_only, "record only the program and what it starts"),
	OPT_TIME('s', "start", O, start_ns, "time", NULL, "wait this long before the start"),
	OPT_TIME('r', "run", O, run_ns, "time", NULL, "stop after this long"),
	OPT_STR('o', "output", O, output, "file", "arcprof.data", "keep the trace in <file>"),
	OPT_GROUP("What to print"),
	OPT_STR(0, "clip", O, clip, "percent", "0", "hide rows below <percent> of the ticks"),
	OPT_LIST(0, "stanza", O, stanzas, "keys", "only these stanzas: P, PM, PMS, PT, PTM, PTMS, M, MS"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_END
};
#undef O

static int prepare(struct sampling *s, const struct tprof_opts *o, int nr_operands, char **operands,
		   struct err *e)
{
	static const struct opt_list none;
	int r = sampling_events(s, &o->events, o->freq ? o->freq : o->period ? NULL : TICKS_HZ, o->period, e);

	if (!r)
		r = sampling_targets(s, &none, &none, &o->cpus, e);
	if (r)
		return r;
	if (o->program_only && !nr_operands)
		return err_set(e, EINVAL, "--program-only needs a program");
	s->c.system_wide = !o->program_only;
	s->c.ev.callgraph = CALLGRAPH_NO;
	s->c.java = JAVA_NAMES;
	s->c.start_ns = o->start_ns;
	s->c.duration_ns = o->run_ns;
	s->c.output = o->output;
	s->c.trace.compress = true;
	sampling_command(s, "tprof", nr_operands, operands);
	return 0;
}

/* The report itself is the report command's, given what was asked of us. */
static int print_report(const struct tprof_opts *o)
{
	const struct command *report = command_find("report");
	struct command_opts parsed;
	struct opt_list args = { 0 };
	struct err e = { 0 };
	size_t i;
	int nr_operands, status;

#define ADD(s)                                                              \
	do {                                                                \
		VEC_GROW(args.items, args.nr_items, args.alloc_items);      \
		args.items[args.nr_items++] = (s);                          \
	} while (0)
	ADD(xstrdup("--tprof"));
	ADD(xasprintf("--input=%s", o->output));
	ADD(xasprintf("--clip=%s", o->clip));
	ADD(xasprintf("--format=%s", format_name(o->format)));
	for (i = 0; i < o->stanzas.nr_items; i++)
		ADD(xasprintf("--stanza=%s", o->stanzas.items[i]));
#undef ADD
	command_opts_init(&parsed, report);
	if (opt_parse(parsed.table, parsed.values, args.nr_items, args.items, false, &nr_operands, &e)) {
		log_err(&e);
		status = EXIT_USAGE;
	} else {
		if (term_is_tty())
			pager_start();
		status = report->run(parsed.values, 0, NULL);
	}
	command_opts_release(&parsed);
	for (i = 0; i < args.nr_items; i++)
		free(args.items[i]);
	free(args.items);
	return status;
}

static int tprof_run(void *opts, int nr_operands, char **operands)
{
	const struct tprof_opts *o = opts;
	struct sampling s = { 0 };
	struct collect_result res;
	struct err e = { 0 };
	int status;

	if (prepare(&s, o, nr_operands, operands, &e)) {
		log_err(&e);
		status = EXIT_USAGE;
	} else if (sampling_run(&s, &res, &e)) {
		log_err(&e);
		if (s.c.system_wide && nr_operands && (e.code == EACCES || e.code == EPERM))
			log_hint("--program-only measures your own program without that right");
		status = sampling_exit_status(&s, &e);
	} else {
		sampling_summary(&s, &res);
		status = print_report(o);
	}
	sampling_release(&s);
	return status;
}

const struct command cmd_tprof = {
	.name = "tprof",
	.summary = "count ticks by process, thread, module and symbol, system-wide, and print them",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.opts = tprof_table,
	.opts_size = sizeof(struct tprof_opts),
	.run = tprof_run,
};
