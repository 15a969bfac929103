// SPDX-License-Identifier: GPL-2.0-or-later
/* threads.c - "arcprof threads": what each thread of a process does, holds and waits for, deadlocks first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd.h"
#include "output.h"
#include "report/report.h"
#include "show/threads.h"

struct threads_opts {
	const char *output;
	uint64_t pid;
	int format;
	struct sheet_choice choice;
};

#define O struct threads_opts
static const struct opt threads_table[] = {
	OPT_GROUP("Threads"),
	OPT_COUNT('p', "pid", O, pid, "pid", NULL, "process ID; for a JVM, Java threads and locks are shown as well"),
	OPT_FORMAT(O, format, FORMATS_THREADS, "output format; hprof, for JVMs only, is the monitor dump of the JDK's old profiler"),
	OPT_CHOICE(O, choice),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file>"),
	OPT_END
};
#undef O

static int threads_show_process(const struct threads_opts *o)
{
	struct sheet_held held;
	struct picture p;
	struct output out;
	FILE *to;
	struct err e;
	int status = 0, r = picture_take(&p, o->pid, &e);

	if (!r && !p.jvm && o->format == FORMAT_HPROF)
		r = err_set(&e, EINVAL, "process %d is not a JVM: --format hprof shows Java threads only", p.pid);
	if (r) {
		picture_release(&p);
		return log_err(&e);
	}
	if (output_begin(&out, o->output, &e)) {
		status = log_err(&e);
	} else {
		to = sheet_hold(&held, &o->choice, stdout);
		threads_print(&p, o->format, &held.choice, to);
		r = sheet_let_go(&held, 0, &e);
		if (output_close(&out, r, &e) || r)
			status = log_err(&e);
	}
	picture_release(&p);
	return status;
}

static int threads_run(void *opts, int nr_operands, char **operands)
{
	const struct threads_opts *o = opts;

	if (nr_operands || !o->pid) {
		if (nr_operands)
			log_error("'%s': no operand is expected", operands[0]);
		else
			log_error("no process was given");
		log_hint("usage: arcprof threads -p <pid>");
		return EXIT_USAGE;
	}
	if ((o->choice.columns.nr_items || o->choice.sort) && o->format != FORMAT_CSV) {
		log_error("--%s is for --format=csv: text has stacks, and JSON an object of each thread",
			  o->choice.sort ? "sort" : "columns");
		return EXIT_USAGE;
	}
	if (o->pid > INT32_MAX) {
		log_error("no process has the number %" PRIu64, o->pid);
		return 1;
	}
	return threads_show_process(o);
}

static bool threads_prints(const void *opts)
{
	const struct threads_opts *o = opts;

	return !o->output;
}

const struct command cmd_threads = {
	.name = "threads",
	.summary = "show what the threads of a process do; for a JVM also its locks, deadlocks first",
	.flags = CMD_PAGER,
	.opts = threads_table,
	.opts_size = sizeof(struct threads_opts),
	.prints = threads_prints,
	.run = threads_run,
};
