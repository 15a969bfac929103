// SPDX-License-Identifier: GPL-2.0-or-later
/* command.c - what is the same for every command: finding it, its common options, its help. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/term.h"
#include "cmd.h"
#include "sym/places.h"

const struct opt common_opts[] = {
	OPT_GROUP("Common options"),
	OPT_FLAG('h', "help", struct common_opts, help, "show this help; 'arcprof help' shows the manual"),
	OPT_FLAG('V', "version", struct common_opts, version, "show the version"),
	OPT_FLAG('v', "verbose", struct common_opts, verbose, "print more about what is done"),
	OPT_FLAG('q', "quiet", struct common_opts, quiet, "print errors only"),
	OPT_FLAG(0, "no-pager", struct common_opts, no_pager, "do not show long output in a pager"),
	OPT_ENUM(0, "color", struct common_opts, color, term_color_words, NULL,
		 "when to use colour"),
	OPT_END
};

/* Return whether the command lacks the common option o, or has its own of that name. */
static bool opt_is_hidden(const struct command *c, const struct opt *own, const struct opt *o)
{
	if (!strcmp(o->name, "version") || (!strcmp(o->name, "no-pager") && !(c->flags & CMD_PAGER)))
		return true;
	for (; own->type != OPT_TYPE_END; own++)
		if (own->type != OPT_TYPE_GROUP && ((own->name && !strcmp(own->name, o->name)) ||
						    (o->letter && own->letter == o->letter)))
			return true;
	return false;
}

void command_own_opts(const struct command *c, struct opt_join *j)
{
	*j = (struct opt_join){ 0 };
	if (c->join_opts)
		c->join_opts(j);
	else
		opt_join_add(j, c->opts, opt_join_struct(j, c->opts_size));
}

void command_opts_init(struct command_opts *f, const struct command *c)
{
	const struct opt *o;
	struct opt_join j;
	size_t offset;

	command_own_opts(c, &j);
	offset = opt_join_struct(&j, sizeof(*f->common));
	for (o = common_opts; o->type != OPT_TYPE_END; o++)
		if (o->type == OPT_TYPE_GROUP || !opt_is_hidden(c, j.table, o))
			opt_join_add(&j, (const struct opt[]){ *o, OPT_END }, offset);
	f->table = j.table;
	f->values = xcalloc(1, j.size);
	f->common = (void *)((char *)f->values + offset);
}

int command_check_input(const char *input, const char *import)
{
	if (!import || !strcmp(input, DEFAULT_INPUT))
		return 0;
	log_error("cannot be combined: --import %s and the input '%s'", import, input);
	return EXIT_USAGE;
}

int command_input(const char **input, const char *import, int nr_operands, char **operands)
{
	if (nr_operands > 1) {
		log_error("only one file can be read: unexpected argument '%s'", operands[1]);
		return EXIT_USAGE;
	}
	if (nr_operands)
		*input = operands[0];
	return command_check_input(*input, import);
}

int command_symfs(const char *dir)
{
	int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (dir && fd < 0) {
		log_error("--symfs=%s: %s", dir, strerror(errno));
		return EXIT_USAGE;
	}
	if (fd >= 0)
		close(fd);
	places_set_symfs(dir);
	return 0;
}

void command_opts_release(struct command_opts *f)
{
	opt_release(f->table, f->values);
	free(f->table);
	free(f->values);
}

const struct command *command_find(const char *name)
{
	const struct command_group *g;
	size_t i;

	for (g = command_groups; g->title; g++)
		for (i = 0; g->list[i]; i++)
			if (!strcmp(g->list[i]->name, name))
				return g->list[i];
	return NULL;
}

const char *command_nearest(const char *name)
{
	struct near n = near_init(name);
	const struct command_group *g;
	size_t i;

	for (g = command_groups; g->title; g++)
		for (i = 0; g->list[i]; i++)
			near_try(&n, g->list[i]->name);
	return n.best;
}

const char *command_elsewhere(const char *name)
{
	static const struct {
		const char *name, *hint;
	} others[] = {
		{ "stat", "'arcprof cpi' counts events of a program, 'arcprof mpevt' those of all CPUs" },
		{ "list", "'arcprof mpevt list' lists the events" },
		{ "sched", "'arcprof record --sched' records dispatches" },
		{ "script", "'arcprof dump' prints the records of a trace" },
		{ "annotate", "'arcprof report --lines' shows source lines" },
		{ "attach", "'arcprof record --pid' records a running process" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i].name, name))
			return others[i].hint;
	return NULL;
}

int command_failure(const struct err *e)
{
	if (e->kind != ERR_EXEC)
		return EXIT_ARCPROF_FAILED;
	return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

void command_print_help(const struct command *c, FILE *out)
{
	struct command_opts f;

	command_opts_init(&f, c);
	fprintf(out, "usage: arcprof %s [<options>]%s%s\n\n%c%s.\n\n", c->name, c->operands ? " " : "",
		c->operands ? c->operands : "", c->summary[0] & ~0x20, c->summary + 1);
	opt_print_help(f.table, out);
	command_opts_release(&f);
}

void arcprof_print_help(FILE *out)
{
	const struct command_group *g;
	size_t i;

	fputs("usage: arcprof [<options>] <command> [<args>]\n\n"
	      "Says what programs consume, where and why: Java and native code in one tree.\n",
	      out);
	for (g = command_groups; g->title; g++) {
		if (g->list[0])
			fprintf(out, "\n%s\n", g->title);
		for (i = 0; g->list[i]; i++)
			fprintf(out, "    %-12s%s\n", g->list[i]->name, g->list[i]->summary);
	}
	putc('\n', out);
	opt_print_help(common_opts, out);
	fputs("\n'arcprof <command> -h' lists the options of a command, 'arcprof help <command>' is its manual\n"
	      "page, and 'arcprof help arcprof' names the other pages.\n",
	      out);
}
