// SPDX-License-Identifier: GPL-2.0-or-later
/* ctl.c - "arcprof ctl": controls a running recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/quote.h"
#include "cmd.h"
#include "collect/control.h"
#include "report/format.h"
#include "threads.h"

struct ctl_opts {
	uint64_t pid;
};

static const struct opt ctl_table[] = {
	OPT_GROUP("Which recording"),
	OPT_U64('p', "pid", struct ctl_opts, pid, "pid", NULL, "process ID of the recorder (default: the only one running)"),
	OPT_END
};

static int check_usage(int nr_operands, char **operands, struct err *e)
{
	static const char *const verbs[] = { "status", "threads", "snapshot", "reset", "zero", "pause", "resume",
		"stop" };
	size_t i;

	if (nr_operands > 1)
		return err_set(e, EINVAL, "only one command can be given");
	for (i = 0; nr_operands && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(operands[0], verbs[i]))
			return 0;
	return nr_operands ? err_set(e, EINVAL, "unknown command '%s' (expected one of: status, threads, snapshot, reset, zero, pause, resume, stop)",
				     operands[0]) : 0;
}

/* The lines of what a recorder says, which may name files and programs. */
static void print_lines(const struct buf *b)
{
	const char *s = b->data, *end = b->data + b->len, *eol;
	struct buf line = BUF_INIT;

	for (; s < end; s = eol + 1) {
		eol = memchr(s, '\n', end - s);
		eol = eol ? eol : end;
		quote_add_also(&line, s, eol - s, "");
		buf_putc(&line, '\n');
	}
	fputs(line.data, stdout);
	buf_release(&line);
}

/* list: numbers of processes, a line each. */
static int show_threads(const char *list, struct err *e)
{
	const char *s;
	char *end;
	int r = 0;

	for (s = list; !r && *s; s = *end ? end + 1 : end) {
		struct threads t = THREADS_INIT;
		long pid = strtol(s, &end, 10);

		if (end == s || pid <= 0 || pid > INT32_MAX || (*end && *end != '\n'))
			return err_set(e, EPROTO, "the recorder's answer cannot be understood");
		r = threads_look(pid, &t, e);
		if (!r)
			threads_print(&t, pid, FORMAT_TEXT, stdout);
		threads_release(&t);
	}
	return r;
}

static int ask(int pid, const char *command, struct err *e)
{
	bool threads = !strcmp(command, "threads");
	struct buf reply = BUF_INIT;
	int r = control_ask(pid, threads ? "jvms" : command, &reply, e);

	if (!r && threads)
		r = reply.len ? show_threads(reply.data, e) :
		    err_set(e, ENOENT, "no JVM is being recorded by process %d", pid);
	else if (!r && reply.len)
		print_lines(&reply);
	buf_release(&reply);
	return r;
}

/* Without a number: the one there is; or for status all there are. */
static int ask_those_there_are(const char *command, struct err *e)
{
	struct buf list = BUF_INIT;
	int *pids, r = 0;
	size_t nr = control_list(&pids), i;

	for (i = 0; i < nr; i++)
		buf_fmt(&list, "%s%d", i ? ", " : "", pids[i]);
	if (!nr)
		r = err_set(e, ESRCH, "nothing is being recorded by this user");
	else if (nr > 1 && strcmp(command, "status"))
		r = err_set(e, EINVAL, "there are %zu recordings: choose one with --pid=PID, of %s", nr,
			    list.data);
	for (i = 0; i < nr && !r; i++) {
		if (i)
			putchar('\n');
		r = ask(pids[i], command, e);
	}
	buf_release(&list);
	free(pids);
	return r;
}

static int ctl_run(void *opts, int nr_operands, char **operands)
{
	const struct ctl_opts *o = opts;
	const char *command = nr_operands ? operands[0] : "status";
	struct err e = { 0 };
	int r;

	if (check_usage(nr_operands, operands, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	if (o->pid > INT32_MAX)
		r = err_set(&e, ESRCH, "no process has this number");
	else
		r = o->pid ? ask(o->pid, command, &e) : ask_those_there_are(command, &e);
	return r ? log_err(&e) : 0;
}

const struct command cmd_ctl = {
	.name = "ctl",
	.summary = "control a running recording: store, reset, pause, stop",
	.operands = "[status | threads | snapshot | reset | zero | pause | resume | stop]",
	.opts = ctl_table,
	.opts_size = sizeof(struct ctl_opts),
	.run = ctl_run,
};
