// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arcprof.c - main(): the commands, global options, the pager, and making sure that what was
 * printed arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/term.h"
#include "cmd.h"
#include "version.h"

const struct command_group command_groups[] = {
	{ "Measure",
	  { &cmd_record, &cmd_ctl, &cmd_top, &cmd_threads, &cmd_memory, &cmd_tprof, &cmd_itrace,
	    &cmd_agent, &cmd_calibrate } },
	{ "Read counters and clocks", { &cmd_ptt, &cmd_cpi, &cmd_mpevt, &cmd_aboveidle, &cmd_msr } },
	{ "See what was measured",
	  { &cmd_report, &cmd_view, &cmd_heap, &cmd_query, &cmd_diff, &cmd_budget, &cmd_merge, &cmd_export,
	    &cmd_fleet, &cmd_mcp, &cmd_dump } },
	{ "Find out more", { &cmd_doctor, &cmd_help, &cmd_version } },
	{ NULL, { NULL } }
};

static void apply_common(const struct common_opts *o)
{
	log_set_verbosity(o->quiet ? -1 : o->verbose);
	progress_allow(!o->quiet);
	term_setup(o->color);
}

/* Exit when the reader of our stdout has seen enough, which is not a failure. */
static void closed_pipe(int sig)
{
	_exit(0);
}

/*
 * Set what a closed pipe does. A recording must survive a reader of stdout or stderr that went away, so its
 * writes fail instead (record gives the program it runs the default again). Elsewhere it ends the work.
 */
static void set_sigpipe(const struct command *c)
{
	signal(SIGPIPE, c->flags & CMD_RUNS_PROGRAM ? SIG_IGN : closed_pipe);
}

/* Report a truncated file: files are mapped for reading, and others may truncate them meanwhile. */
static void truncated_file(int sig, siginfo_t *si, void *context)
{
	static const char text[] = "arcprof: a file was truncated while it was read\n";

	if (si->si_code == BUS_ADRERR && write(STDERR_FILENO, text, sizeof(text) - 1))
		_exit(1);
	signal(SIGBUS, SIG_DFL);	/* and again, as without us */
}

static void set_sigbus(void)
{
	const struct sigaction sa = { .sa_sigaction = truncated_file, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &sa, NULL);
}

static int parse_failed(const struct command *c, const struct err *e)
{
	log_error("%s", e->msg);
	if (e->hint[0])
		log_hint("%s", e->hint);
	else
		log_hint("'arcprof %s -h' lists the options", c->name);
	return EXIT_USAGE;
}

static int run_parsed(const struct command *c, struct command_opts *o, int nr_operands, char **operands)
{
	if (nr_operands && !c->operands) {
		log_error("unexpected argument '%s'", operands[0]);
		log_hint("'arcprof %s -h' shows what it takes", c->name);
		return EXIT_USAGE;
	}
	if (c->flags & CMD_PAGER && term_is_tty() && !o->common->no_pager &&
	    (!c->prints || c->prints(o->values)))
		pager_start();
	return c->run(o->values, nr_operands, operands);
}

static int run_command(const struct command *c, const struct common_opts *global, int argc, char **argv)
{
	struct command_opts o;
	struct err e = { 0 };
	int nr_operands, r;

	log_set_command(c->name);
	set_sigpipe(c);
	/* A file that may not grow any more is an error; programs that others run find it as it was. */
	if (!(c->flags & CMD_RUNS_PROGRAM))
		signal(SIGXFSZ, SIG_IGN);
	command_opts_init(&o, c);
	*o.common = *global;
	r = opt_parse(o.table, o.values, argc, argv, c->flags & CMD_RUNS_PROGRAM, &nr_operands, &e);
	apply_common(o.common);
	if (o.common->help) {	/* also when what follows it is wrong */
		command_print_help(c, stdout);
		r = 0;
	} else if (r) {
		r = parse_failed(c, &e);
	} else {
		r = run_parsed(c, &o, nr_operands, argv + argc - nr_operands);
	}
	command_opts_release(&o);
	return r;
}

static int unknown_command(const char *name)
{
	const char *near = command_nearest(name), *elsewhere = command_elsewhere(name);

	log_error("'%s' is not a command", name);
	if (elsewhere)
		log_hint("%s", elsewhere);
	else if (near)
		log_hint("did you mean 'arcprof %s'?", near);
	else
		log_hint("'arcprof help' lists the commands");
	return EXIT_USAGE;
}

static int run_named_command(int argc, char **argv)
{
	struct common_opts global = { 0 };
	struct err e = { 0 };
	const struct command *c;
	int nr, r;

	if (argc > 1 && !strcmp(argv[1], "--dump"))
		return describe(argc - 2, argv + 2);
	r = opt_parse(common_opts, &global, argc - 1, argv + 1, true, &nr, &e);
	apply_common(&global);
	if (r && !global.help) {
		log_error("%s", e.msg);
		log_hint("%s", e.hint[0] ? e.hint : "'arcprof -h' lists the options");
		return EXIT_USAGE;
	}
	if (global.version) {
		printf("arcprof %s\n", ARCPROF_VERSION);
		return 0;
	}
	if (global.help || !nr) {
		arcprof_print_help(global.help ? stdout : stderr);
		return global.help ? 0 : EXIT_USAGE;
	}
	argv += argc - nr;
	c = command_find(argv[0]);
	return c ? run_command(c, &global, nr - 1, argv + 1) : unknown_command(argv[0]);
}

/* Exit after all output has arrived: a full disk is a failure, a closed pipe is not. */
static int flush_and_exit(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		errno = 0;
	else if (errno != EPIPE) {
		log_error("cannot write to standard output: %s", errno ? strerror(errno) : "write error");
		status = status ? status : 1;
	}
	pager_finish();
	return status;
}

int arcprof_run(int argc, char **argv)
{
	return flush_and_exit(run_named_command(argc, argv));
}

/* Open missing standard streams, so that no file that we open becomes one. */
static void open_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void say_waiting(const char *path)
{
	log_info("waiting for a program that writes to %s", path);
}

int main(int argc, char **argv)
{
	inputs_on_waiting(say_waiting);
	open_standard_streams();
	signal(SIGPIPE, closed_pipe);
	set_sigbus();
	return arcprof_run(argc, argv);
}
