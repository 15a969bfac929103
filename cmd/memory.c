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
	struct memory_show show;
};

/* as long as the JDK's own tools wait */
static const uint64_t jvm_patience_ns = 10000000000;

#define O struct memory_opts
static const struct opt memory_table[] = {
	OPT_GROUP("Memory"),
	OPT_COUNT('p', "pid", O, pid, "pid", NULL, "process ID of a JVM or any other program"),
	OPT_STR('i', "input", O, input, "file", NULL, "read the trace <file> of record --memory"),
	OPT_FLAG(0, "readings", O, show.readings, "with a trace, show every reading instead of the last one"),
	OPT_FLAG(0, "mappings", O, show.mappings, "show each mapping, or piece of one, in place of sums"),
	OPT_FORMAT(O, show.format, FORMATS_TABLE, "output format"),
	OPT_CHOICE(O, show.choice),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file>"),
	OPT_END
};
#undef O

/* Holds what was read of a process, or of a trace; u is NULL where it does not have that. */
struct subject {
	struct resident r;
	struct footprints_read f;
	const struct unfreed *u;
};

/* Prints to o->output. */
static int memory_print_subject(const struct memory_opts *o, const struct subject *s, struct err *e)
{
	struct memory_show show = o->show;
	struct sheet_held h;
	struct output out;
	FILE *to;
	int r = output_begin(&out, o->output, e);

	if (r)
		return r;
	to = sheet_hold(&h, &o->show.choice, stdout);
	show.choice = h.choice;
	if (o->input)
		memory_print_trace(&s->f, s->u, &show, to);
	else
		memory_print(&s->r, &show, to);
	r = sheet_let_go(&h, 0, e);
	return output_close(&out, r, e) ? -e->code : r;
}

static int memory_show_subject(const struct memory_opts *o)
{
	struct subject s = { .u = NULL };
	struct err e;
	int ret = resident_read(&s.r, o->pid, jvm_patience_ns, &e);

	if (!ret)
		ret = memory_print_subject(o, &s, &e);
	resident_release(&s.r);
	return ret ? log_err(&e) : 0;
}

/* Read the footprints, and who has native memory where that was recorded. */
static int memory_read_trace(const struct memory_opts *o, struct trace_reader *t, struct footprints_read *f,
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
	struct subject s = { .u = NULL };
	struct unfreed u = { 0 };
	struct trace_reader *t;
	bool has_native = false;
	struct err e;
	int ret = input_open(&t, o->input, NULL, &e);

	if (ret)
		return log_err(&e);
	ret = memory_read_trace(o, t, &s.f, &u, &has_native, &e);
	s.u = has_native ? &u : NULL;
	if (ret)
		err_wrap(&e, "%s", o->input);
	else
		ret = memory_print_subject(o, &s, &e);
	unfreed_release(&u);
	footprints_release(&s.f);
	trace_reader_close(t);
	return ret ? log_err(&e) : 0;
}

static int memory_usage(const char *what, const char *why)
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
	if (o->input && o->show.mappings)
		return memory_usage("--mappings: ", "a trace has the sums only");
	if (!o->input && o->show.readings)
		return memory_usage("--readings: ", "no trace was given");
	if (!o->input && !o->pid)
		return memory_usage("neither a process nor a trace was given", "");
	if (o->pid > INT32_MAX) {
		log_error("no process has the number %" PRIu64, o->pid);
		return 1;
	}
	return o->input ? show_trace(o) : memory_show_subject(o);
}

static bool memory_prints(const void *opts)
{
	const struct memory_opts *o = opts;

	return !o->output;
}

const struct command cmd_memory = {
	.name = "memory",
	.summary = "show what the resident memory of a process is used for",
	.operands = "[<file>]",
	.flags = CMD_PAGER,
	.opts = memory_table,
	.opts_size = sizeof(struct memory_opts),
	.prints = memory_prints,
	.run = memory_run,
};
