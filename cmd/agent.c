// SPDX-License-Identifier: GPL-2.0-or-later
/* agent.c - "arcprof agent": a JVM's agent without a recorder, and what it has written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "collect/jvm/replay.h"
#include "input.h"
#include "jvm/inject.h"
#include "output.h"
#include "version.h"

struct agent_opts {
	const char *output;
};

static const char library[] = "libarcprof-jvm.so";

#define O struct agent_opts
static const struct opt agent_table[] = {
	OPT_STR('o', "output", O, output, "file", NULL,
		"write to <file>; 'convert' needs it, 'install' takes a folder too"),
	OPT_END
};
#undef O

/* ---- install ---- */

static int write_library(const char *path, const void *data, size_t len, struct err *e)
{
	struct output out;
	int r = output_begin(&out, path, e);

	if (r)
		return r;
	fwrite(data, 1, len, stdout);
	return output_end(&out, e);
}

static char *library_path(const char *output)
{
	if (!output)
		return xstrdup(library);
	if (io_is_folder(output))
		return xasprintf("%s/%s", output, library);
	return xstrdup(output);
}

static int install(const struct agent_opts *o)
{
	char *path = library_path(o->output);
	struct err e;
	size_t len;
	const void *data = inject_agent_file(&len);
	int r;

	if (len)
		r = write_library(path, data, len, &e);
	else
		r = err_set(&e, ENOTSUP, "this arcprof has no JVM agent: there is none for this CPU yet");
	if (!r)
		log_info("wrote %s: java -agentpath:%s%s=file=FILE,EVENT,... records", path,
			 *path == '/' ? "" : "$PWD/", path);
	free(path);
	return r ? log_err(&e) : 0;
}

/* ---- convert ---- */

static int convert(const char *journal, const struct agent_opts *o)
{
	struct replay_opts replay = {
		.version = ARCPROF_VERSION, .cache = true, .output = o->output,
		.trace = { .compress = true, .whole = true },
	};
	struct io_map map;
	struct err e;
	int r = inputs_map(journal, &map, &e);

	if (r)
		return log_err(&e);
	replay.data = map.data;
	replay.len = map.len;
	r = replay_journal(&replay, &e);
	if (r)
		err_wrap(&e, "%s", journal);
	io_unmap(&map);
	return r ? log_err(&e) : 0;
}

static int agent_usage(const char *command)
{
	if (command)
		log_error("unknown action '%s' (available: install, convert)", command);
	else
		log_error("what is to be done? (available: install, convert)");
	return EXIT_USAGE;
}

static int agent_run(void *opts, int nr_operands, char **operands)
{
	const struct agent_opts *o = opts;
	const char *command = nr_operands ? operands[0] : "";

	if (!strcmp(command, "install") && nr_operands == 1)
		return install(o);
	if (!strcmp(command, "convert") && nr_operands == 2 && o->output)
		return convert(operands[1], o);
	if (!strcmp(command, "install"))
		log_error("'install' takes no operands");
	else if (!strcmp(command, "convert"))
		log_error(o->output ? "'convert' takes one journal" : "'convert' needs --output");
	else
		return agent_usage(nr_operands ? command : NULL);
	return EXIT_USAGE;
}

const struct command cmd_agent = {
	.name = "agent",
	.summary = "let a JVM record itself where nothing can run beside it",
	.operands = "install | convert <journal>",
	.opts = agent_table,
	.opts_size = sizeof(struct agent_opts),
	.run = agent_run,
};
