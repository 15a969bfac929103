// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - "arcprof memory": where the resident memory of a process is, or was (show/memory.h). */
#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "cmd.h"
#include "input.h"
#include "output.h"
#include "report/format.h"
#include "show/memory.h"

struct memory_opts {
	const char *output, *input;
	uint64_t pid;
	int format;
	bool mappings, readings;
};

/* as long as the JDK's own tools wait */
static const uint64_t jvm_patience_ns = 10000000000;

#define O struct memory_opts
static const struct opt memory_table[] = {
	OPT_GROUP("Memory"),
	OPT_COUNT('p', "pid", O, pid, "pid", NULL, "process ID, of a JVM or of any other program"),
	OPT_STR('i', "input", O, input, "file", NULL, "read the trace <file> of record --memory"),
	OPT_FLAG(0, "readings", O, readings, "of a trace, show every reading instead of the last one"),
	OPT_FLAG(0, "mappings", O, mappings, "show each mapping, or piece of one, in place of sums"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file>"),
	OPT_END
};
#undef O

static int show(const struct memory_opts *o)
{
	struct resident r;
	struct output out;
	struct err e;
	int ret = resident_read(&r, o->pid, jvm_patience_ns, &e);

	if (!ret)
		ret = output_begin(&out, o->output, &e);
	if (!ret) {
		memory_print(&r, o->format, o->mappings, stdout);
		ret = output_end(&out, &e);
	}
	resident_release(&r);
	return ret ? log_err(&e) : 0;
}

/* Who has native memory, where that was recorded, too. */
static int read_trace(const struct memory_opts *o, struct trace_reader *t, struct footprints_read *f,
		      struct unfreed *u, bool *has_native, struct err *e)
{
	int r = footprints_read(f, t, o->pid, e);

	if (r)
		return r;
	r = unfreed_read(u, t, &(struct selection){ 0 }, NULL, e);
	*has_native = !r;
	return r == -ENODATA ? 0 : r;
}

static int show_trace(const struct memory_opts *o)
{
	struct footprints_read f = { 0 };
	struct unfreed u = { 0 };
	struct trace_reader *t;
	bool has_native = false;
	struct output out;
	struct err e;
	int ret = input_open(&t, o->input, NULL, &e);

	if (ret)
		return log_err(&e);
	ret = read_trace(o, t, &f, &u, &has_native, &e);
	if (ret)
		err_wrap(&e, "%s", o->input);
	else
		ret = output_begin(&out, o->output, &e);
	if (!ret) {
		memory_print_trace(&f, has_native ? &u : NULL, o->format, o->readings, stdout);
		ret = output_end(&out, &e);
	}
	unfreed_release(&u);
	footprints_release(&f);
	trace_reader_close(t);
	return ret ? log_err(&e) : 0;
}

static int usage(const char *what, const char *why)
{
	log_error("%s%s", what, why);
	log_hint("usage: arcprof memory -p <pid>, or arcprof memory <trace>");
	return EXIT_USAGE;
}

static int memory_run(void *opts, int nr_operands, char **operands)
{
	struct memory_opts *o = opts;
	int status = command_input(&o->input, NULL, nr_operands, operands);

	if (status)
		return status;
	if (o->input && o->mappings)
		return usage("--mappings: ", "a trace has the sums only");
	if (!o->input && o->readings)
		return usage("--readings: ", "no trace was given");
	if (!o->input && !o->pid)
		return usage("neither a process nor a trace was given", "");
	if (o->pid > INT32_MAX) {
		log_error("no process has the number %" PRIu64, o->pid);
		return 1;
	}
	return o->input ? show_trace(o) : show(o);
}

static bool memory_prints(const void *opts)
{
	const struct memory_opts *o = opts;

	return !o->output;
}

const struct command cmd_memory = {
	.name = "memory",
	.summary = "show where the resident memory of a process is",
	.operands = "[<file>]",
	.flags = CMD_PAGER,
	.opts = memory_table,
	.opts_size = sizeof(struct memory_opts),
	.prints = memory_prints,
	.run = memory_run,
};
