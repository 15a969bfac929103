// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * describe.c - "arcprof --dump": what the command and option tables say, for those who build
 * the manual and the completions from them.  Not for users, so in no manual.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "query/query.h"

static void for_each_command(void (*fn)(const struct command *c, FILE *out), FILE *out)
{
	const struct command_group *g;
	size_t i;

	for (g = command_groups; g->title; g++)
		for (i = 0; g->list[i]; i++)
			fn(g->list[i], out);
}

/* Print the paragraph under SYNOPSIS in the manual page. */
static void print_synopsis(const struct command *c, FILE *out)
{
	struct opt_join j;

	command_own_opts(c, &j);
	fprintf(out, "*arcprof %s* ", c->name);
	opt_print_synopsis(j.table, out);
	fprintf(out, "%s%s\n", j.nr && c->operands ? " " : "", c->operands ? c->operands : "");
	free(j.table);
}

static bool describe_is_shown(const struct opt *o)
{
	return o->type != OPT_TYPE_GROUP && !o->hidden;
}

/* Print the command's own options, as headings of paragraphs in the manual page. */
static void print_options(const struct command *c, FILE *out)
{
	const struct opt *o;
	struct opt_join j;

	command_own_opts(c, &j);
	for (o = j.table; o->type != OPT_TYPE_END; o++) {
		if (!describe_is_shown(o))
			continue;
		if (o->name)
			fprintf(out, "--%s%s\n", o->type == OPT_TYPE_FLAG && o->def ? "no-" : "", o->name);
		else
			fprintf(out, "-%c\n", o->letter);
	}
	free(j.table);
}

/* Print paragraphs of the manual page for options that choose one of several, such as the reports. */
static void print_choices(const struct command *c, FILE *out)
{
	const struct opt *o;
	struct opt_join j;

	command_own_opts(c, &j);
	for (o = j.table; o->type != OPT_TYPE_END; o++)
		if ((o->type == OPT_TYPE_SET || o->sets) && o->name)
			fprintf(out, "*--%s*%s%s%s::\n\t%c%s.\n\n", o->name, o->sets ? "=_" : "",
			       o->sets ? o->arg : "", o->sets ? "_" : "", o->help[0] & ~0x20, o->help + 1);
	free(j.table);
}

static void print_words(const struct command *c, FILE *out)
{
	struct command_opts o;

	command_opts_init(&o, c);
	opt_print_words(o.table, out);
	command_opts_release(&o);
}

static bool has_words(const struct opt *o)
{
	return o->words || o->word;
}

static void print_value_line(const struct opt *o, const char *dashes, const char *name, FILE *out)
{
	const char *word;
	unsigned int i;

	fprintf(out, "%s%s%s", dashes, name, has_words(o) && o->type == OPT_TYPE_LIST ? " ," : "");
	for (i = 0; has_words(o) && (word = opt_word(o, &i)); i++)
		fprintf(out, " %s", word);
	fprintf(out, has_words(o) ? "\n" : " <%s>\n", o->arg);
}

/*
 * Print "--format text json" for words, "--event , cpu wall" for a list in which they are, "--output <file>"
 * for what the argument is, and "-o <file>" again by its letter.
 */
static void print_values(const struct command *c, FILE *out)
{
	struct command_opts f;
	const struct opt *o;

	command_opts_init(&f, c);
	for (o = f.table; o->type != OPT_TYPE_END; o++) {
		if (!describe_is_shown(o) || (!has_words(o) && !o->arg))
			continue;
		if (o->name)
			print_value_line(o, "--", o->name, out);
		if (o->letter)
			print_value_line(o, "-", (char[]){ o->letter, '\0' }, out);
	}
	command_opts_release(&f);
}

/* Print the words of the text outside brackets of any kind, one per line. */
static void print_bare_words(const char *text, FILE *out)
{
	int depth = 0;
	size_t len;

	for (; *text; text += len) {
		len = strspn(text, "abcdefghijklmnopqrstuvwxyz");
		if (len && !depth)
			fprintf(out, "%.*s\n", (int)len, text);
		depth += (*text == '<' || *text == '[') - (*text == '>' || *text == ']');
		len = MAX(len, (size_t)1);
	}
}

/*
 * Print what the first operand can be, if it is one of several words: those of the operands in help, or of a
 * title in its options, "Commands: status, stop".
 */
static void print_verbs(const struct command *c, FILE *out)
{
	static const char title[] = "Commands: ";
	const struct opt *o;
	struct opt_join j;

	command_own_opts(c, &j);
	print_bare_words(c->operands ? c->operands : "", out);
	for (o = j.table; o->type != OPT_TYPE_END; o++)
		if (o->type == OPT_TYPE_GROUP && !strncmp(o->name, title, sizeof(title) - 1))
			print_bare_words(o->name + sizeof(title) - 1, out);
	free(j.table);
}

/* Print "--output arcprof.data" for options that have a default. */
static void print_defaults(const struct command *c, FILE *out)
{
	const struct opt *o;
	struct opt_join j;

	command_own_opts(c, &j);
	for (o = j.table; o->type != OPT_TYPE_END; o++)
		if (describe_is_shown(o) && o->type != OPT_TYPE_FLAG && o->name && o->def)
			fprintf(out, "--%s %s\n", o->name, o->def);
	free(j.table);
}

/* Print "--output<TAB>what it does<TAB>-o", for shells that show explanations. */
static void print_help_lines(const struct command *c, FILE *out)
{
	struct command_opts f;
	const struct opt *o;

	command_opts_init(&f, c);
	for (o = f.table; o->type != OPT_TYPE_END; o++)
		if (o->type == OPT_TYPE_FLAG && o->def)
			fprintf(out, "--no-%s\tdo not %s\t\n", o->name, o->help);
		else if (describe_is_shown(o) && o->name)
			fprintf(out, "--%s\t%s\t%s%.1s\n", o->name, o->help, o->letter ? "-" : "",
				&o->letter);
	command_opts_release(&f);
}

static void print_name(const struct command *c, FILE *out)
{
	fprintf(out, "%s\n", c->name);
}

static void print_summary(const struct command *c, FILE *out)
{
	fprintf(out, "*arcprof-%s*(1)::\n\t%c%s.\n\n", c->name, c->summary[0] & ~0x20, c->summary + 1);
}

static void print_summary_line(const struct command *c, FILE *out)
{
	fprintf(out, "%s\t%s\n", c->name, c->summary);
}

static int nr_bad;

static void describe_check(const struct command *c, FILE *out)
{
	struct command_opts o;
	struct err e;

	command_opts_init(&o, c);
	if (opt_check(o.table, &e)) {
		log_error("%s: %s", c->name, e.msg);
		nr_bad++;
	}
	command_opts_release(&o);
}

static const struct {
	const char *what;
	void (*print)(const struct command *c, FILE *out);
	bool of_all;		/* without a command: of each; otherwise of the named one */
} topics[] = {
	{ "synopsis", print_synopsis, false },
	{ "options", print_options, false },
	{ "choices", print_choices, false },
	{ "words", print_words, false },
	{ "values", print_values, false },
	{ "verbs", print_verbs, false },
	{ "defaults", print_defaults, false },
	{ "help", print_help_lines, false },
	{ "commands", print_name, true },
	{ "summary", print_summary, true },
	{ "summaries", print_summary_line, true },
	{ "check", describe_check, true },
};

/* Prints the topic of the command, or of all of them. False: there is no such topic. */
static bool print_topic(const char *what, const struct command *c, FILE *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(topics); i++) {
		if (strcmp(topics[i].what, what) || (!topics[i].of_all && !c))
			continue;
		if (c)
			topics[i].print(c, out);
		else
			for_each_command(topics[i].print, out);
		return true;
	}
	return false;
}

bool describe_part(const char *name, FILE *out)
{
	const char *topic = strrchr(name, '-');
	char command[32];

	if (!strcmp(name, "query-tables") || !strcmp(name, "query-heap-tables")) {
		query_print_manual(!strcmp(name, "query-heap-tables"), out);
		return true;
	}
	snprintf(command, sizeof(command), "%.*s", topic ? (int)(topic - name) : 0, name);
	return print_topic(topic ? topic + 1 : name, topic ? command_find(command) : NULL, out);
}

int describe(int argc, char **argv)
{
	bool is_part = argc == 2 && !strcmp(argv[0], "part");

	if (argc == 1 && !strcmp(argv[0], "pages")) {
		help_print_pages(stdout);
		return 0;
	}
	if (is_part ? describe_part(argv[1], stdout) :
		      argc && print_topic(argv[0], argc > 1 ? command_find(argv[1]) : NULL, stdout))
		return nr_bad ? 1 : 0;
	log_error("usage: --dump synopsis|options|choices|words|values|verbs|defaults|help <command>, "
		  "--dump commands|pages|summary|summaries|check, or --dump part <part of a manual page>");
	return EXIT_USAGE;
}
