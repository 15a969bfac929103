// SPDX-License-Identifier: GPL-2.0-or-later
/* ctl.c - "arcprof ctl": controls a running recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/quote.h"
#include "cmd.h"
#include "collect/control/control.h"
#include "collect/control/script.h"
#include "report/format.h"
#include "show/threads.h"

#define VERBS "status, threads, snapshot, dump, reset, zero, pause, resume, enable, disable, set, stop"

enum { MAX_EVENTS = 900, MAX_PATH = 900 };	/* bytes in a command */

struct ctl_opts {
	uint64_t pid;
	bool all;
	const char *file;
	const char *output;
};

static const struct opt ctl_table[] = {
	OPT_GROUP("Commands: " VERBS),
	OPT_GROUP("Which recording"),
	OPT_COUNT('p', "pid", struct ctl_opts, pid, "pid", NULL, "process ID of the recorder (default: the only one running)"),
	OPT_FLAG(0, "all", struct ctl_opts, all, "every recording of this user"),
	OPT_GROUP("With dump"),
	OPT_STR('o', "output", struct ctl_opts, output, "file", NULL,
		"write the dump to <file> (default: beside the recording's output, with the time in its name)"),
	OPT_GROUP("Several commands"),
	OPT_STR('f', "file", struct ctl_opts, file, "file", NULL,
		"run the commands in <file>, one per line, with 'wait <time>' and 'repeat <n>' ... 'end' (- is standard input)"),
	OPT_END
};

static const struct verb {
	const char *name;
	int nr_words;			/* that follow: the last one is a list */
} verbs[] = {
	{ "status", 0 }, { "threads", 0 }, { "snapshot", 0 }, { "dump", 0 }, { "reset", 0 }, { "zero", 0 },
	{ "pause", 0 }, { "resume", 0 }, { "enable", 1 }, { "disable", 1 }, { "set", 2 }, { "stop", 0 },
};

static int check_words(int nr_words, char *const *words, int nr_wanted, struct err *e)
{
	const char *list = words[nr_words - 1];

	if (nr_wanted == 2 && (nr_words < 3 || (strcmp(words[1], "interval") && strcmp(words[1], "filter"))))
		return err_set(e, EINVAL, "set needs what to set: interval EVENT=INTERVAL[,...], or filter CONDITION[,...]");
	if (nr_words < 1 + nr_wanted)
		return err_set(e, EINVAL, "%s needs an event, or several with commas", words[0]);
	if (nr_words > 1 + nr_wanted)
		return err_set(e, EINVAL, "only one command can be given");
	if (nr_wanted == 2 && !strcmp(words[1], "filter"))
		return strlen(list) <= MAX_EVENTS && !strchr(list, '\n') ? 0 :
			err_set(e, EINVAL, "set filter: more than %d characters, or a newline", MAX_EVENTS);
	if (nr_wanted && (strlen(list) > MAX_EVENTS || !*list || strpbrk(list, " \n")))
		return err_set(e, EINVAL, "%s '%s': events are names with commas between them",
			       words[0], list);
	return 0;
}

/* Make a command for the recorder from its words. */
static int parse_command(int nr_words, char *const *words, struct buf *command, struct err *e)
{
	size_t i;
	int r, k;

	if (!nr_words) {
		buf_str(command, "status");
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(verbs) && strcmp(words[0], verbs[i].name); i++)
		;
	if (i == ARRAY_SIZE(verbs))
		return err_set(e, EINVAL, "unknown command '%s' (expected one of: " VERBS ")", words[0]);
	r = check_words(nr_words, words, verbs[i].nr_words, e);
	for (k = 0; !r && k < nr_words; k++)
		buf_fmt(command, "%s%s", k ? " " : "", words[k]);
	return r;
}

/* Print the lines of a recorder's answer, which may name files and programs. */
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
		struct picture p;
		long pid = strtol(s, &end, 10);

		if (end == s || pid <= 0 || pid > INT32_MAX || (*end && *end != '\n'))
			return err_set(e, EPROTO, "the recorder's answer cannot be understood");
		r = picture_take(&p, pid, e);
		if (!r)
			threads_print(&p, FORMAT_TEXT, NULL, stdout);
		picture_release(&p);
	}
	return r;
}

/* Wait while the last part of a recording is written. */
static int wait_for_dump(int pid, uint64_t number, uint64_t *others_ns, struct err *e)
{
	enum { PAUSE_NS = 50000000 };
	struct buf reply = BUF_INIT, name = BUF_INIT;
	uint64_t bytes, span_ns;
	char command[40];
	int r, at;

	snprintf(command, sizeof(command), "dumped %" PRIu64, number);
	while (!(r = control_ask(pid, command, others_ns, &reply, e)) && reply.len &&
	       !strcmp(reply.data, "writing\n")) {
		buf_reset(&reply);
		clock_sleep_ns(PAUSE_NS);
	}
	if (r == -ESRCH)
		err_set(e, ESRCH, "the recording has ended in the meantime, and has written what was asked for");
	else if (!r && (!reply.len ||
			sscanf(reply.data, "done %" SCNu64 " %" SCNu64 " %n", &bytes, &span_ns, &at) != 2))
		r = err_set(e, EPROTO, "the recorder's answer cannot be understood");
	else if (!r)
		printf("wrote the last %.1f s to %.*s (%.1f KiB)\n", span_ns / 1e9,
		       (int)strcspn(reply.data + at, "\n"), quote_str(&name, reply.data + at),
		       bytes / 1024.0);
	buf_release(&reply);
	buf_release(&name);
	return r;
}

static bool is_dump(const char *command)
{
	return !strcmp(command, "dump") || !strncmp(command, "dump ", 5);
}

static int ctl_ask(int pid, const char *command, uint64_t *others_ns, struct err *e)
{
	bool threads = !strcmp(command, "threads");
	struct buf reply = BUF_INIT;
	int r = control_ask(pid, threads ? "jvms" : command, others_ns, &reply, e);

	if (!r && threads)
		r = reply.len ? show_threads(reply.data, e) :
		    err_set(e, ENOENT, "no JVM is being recorded by process %d", pid);
	else if (!r && is_dump(command))
		r = wait_for_dump(pid, reply.len ? strtoull(reply.data, NULL, 10) : 0, others_ns, e);
	else if (!r && reply.len)
		print_lines(&reply);
	buf_release(&reply);
	return r;
}

static size_t list_recorders(int **pids)
{
	struct control_skipped s;
	size_t nr = control_list(pids, &s);

	if (s.nr && s.pid)
		log_warn("skipped %zu control socket%s that other processes have taken or that did not answer: no recorder's (one by process %d of user %u)",
			 s.nr, plural(s.nr), s.pid, s.uid);
	else if (s.nr)
		log_warn("skipped %zu control socket%s that did not answer: no recorder's", s.nr,
			 plural(s.nr));
	return nr;
}

/* Return how long to wait, even if other users' processes answer; a command may have to wait for a JVM. */
static uint64_t patience_ns(const char *command)
{
	return strcmp(command, "status") ? 10000000000 : 1000000000;
}

/* Ask the only recorder, as no number was given; or for status all recorders. */
static int ask_those_there_are(const char *command, struct err *e)
{
	struct buf list = BUF_INIT;
	uint64_t others_ns = patience_ns(command);
	int *pids, r = 0;
	size_t nr = list_recorders(&pids), nr_failed = 0, i;

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
		r = ctl_ask(pids[i], command, &others_ns, e);
		if (r && nr > 1) {	/* it is not to hide the others */
			log_err(e);
			nr_failed++;
			r = 0;
		}
	}
	if (nr_failed)
		r = err_set(e, EIO, "%zu of %zu recordings did not answer", nr_failed, nr);
	buf_release(&list);
	free(pids);
	return r;
}

/* Ask all recorders, even if one fails. */
static int ask_all(const char *command, struct err *e)
{
	uint64_t others_ns = patience_ns(command);
	int *pids, r = 0;
	size_t nr = list_recorders(&pids), nr_failed = 0, i;

	for (i = 0; i < nr; i++) {
		struct err own = { 0 };

		if (i && !strcmp(command, "status"))
			putchar('\n');
		if (!ctl_ask(pids[i], command, &others_ns, &own))
			continue;
		err_wrap(&own, "recording %d", pids[i]);
		log_err(&own);
		nr_failed++;
	}
	if (!nr)
		r = err_set(e, ESRCH, "nothing is being recorded by this user");
	else if (nr_failed)
		r = err_set(e, EINVAL, "%zu of %zu recordings did not do that", nr_failed, nr);
	free(pids);
	return r;
}

static int ctl_say(void *ctx, const char *command, struct err *e)
{
	const struct ctl_opts *o = ctx;
	uint64_t others_ns = patience_ns(command);

	if (o->all)
		return ask_all(command, e);
	return o->pid ? ctl_ask(o->pid, command, &others_ns, e) : ask_those_there_are(command, e);
}

static int ctl_check_opts(const struct ctl_opts *o, int nr_operands, struct err *e)
{
	if (o->all && o->pid)
		return err_set(e, EINVAL, "cannot be combined: --all and --pid");
	if (o->output && (o->all || o->file))
		return err_set(e, EINVAL, "cannot be combined: --output and %s", o->all ? "--all" : "--file");
	if (o->file && nr_operands)
		return err_set(e, EINVAL, "cannot be combined: --file and a command");
	return o->pid > INT32_MAX ? err_set(e, ESRCH, "no process has this number") : 0;
}

static int run_file(struct ctl_opts *o, struct err *e)
{
	struct script s = { 0 };
	int r = script_read(&s, o->file, parse_command, e);

	if (!r)
		r = script_run(&s, o->file, ctl_say, o, e) ? 1 : 0;
	script_release(&s);
	return r;
}

/* Append the output with its folder, as the recorder may be in another one. */
static int add_output(const struct ctl_opts *o, struct buf *command, struct err *e)
{
	char *here = *o->output == '/' ? NULL : getcwd(NULL, 0);

	if (strlen(o->output) + (here ? strlen(here) : 0) > MAX_PATH || strchr(o->output, '\n')) {
		free(here);
		return err_set(e, EINVAL, "--output: the name is too long, or has a newline");
	}
	buf_fmt(command, " %s%s%s", here ? here : "", here ? "/" : "", o->output);
	free(here);
	return 0;
}

static int ctl_run_one(struct ctl_opts *o, int nr_operands, char **operands, struct err *e)
{
	struct buf command = BUF_INIT;
	int r = parse_command(nr_operands, operands, &command, e);

	if (!r && o->output)
		r = strcmp(command.data, "dump") ? err_set(e, EINVAL, "--output is only valid with dump") :
		    add_output(o, &command, e);
	if (!r)
		r = ctl_say(o, command.data, e) ? 1 : 0;
	buf_release(&command);
	return r;
}

static int ctl_run(void *opts, int nr_operands, char **operands)
{
	struct ctl_opts *o = opts;
	struct err e = { 0 };
	int r = ctl_check_opts(o, nr_operands, &e);

	if (!r)
		r = o->file ? run_file(o, &e) : ctl_run_one(o, nr_operands, operands, &e);
	if (!r)
		return 0;
	return r == -EINVAL ? log_err(&e), EXIT_USAGE : log_err(&e);
}

const struct command cmd_ctl = {
	.name = "ctl",
	.summary = "control a running recording: store, reset, pause, stop",
	.operands = "[<command> [<event>[=<interval>]|<condition>][,...]]",
	.opts = ctl_table,
	.opts_size = sizeof(struct ctl_opts),
	.run = ctl_run,
};
