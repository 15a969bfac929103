// SPDX-License-Identifier: GPL-2.0-or-later
/* opt_print.c - what an option table says of itself: -h, synopsis, words for completions. */
#include <string.h>

#include "base/buf.h"
#include "base/opt.h"

enum {
	HELP_COLUMN = 28,	/* where the explanations start */
	HELP_WIDTH = 80,
	WORDS_COLUMN = 18,	/* where the words of an option go on */
};

static bool opt_is_printed(const struct opt *o)
{
	return o->type != OPT_TYPE_GROUP && o->type != OPT_TYPE_END && !o->hidden;
}

static bool takes_arg(const struct opt *o)
{
	return o->type != OPT_TYPE_FLAG && o->type != OPT_TYPE_SET;
}

/* Append the argument as help shows it: "<pid>", "(tsc|mono)", "<event>[,...]". */
static void add_arg(struct buf *b, const struct opt *o)
{
	const char *word, *sep = "(";
	unsigned int i;

	if (o->type == OPT_TYPE_ENUM) {
		for (i = 0; (word = opt_word(o, &i)); i++, sep = "|")
			buf_fmt(b, "%s%s", sep, word);
		buf_putc(b, ')');
	} else {
		buf_fmt(b, "<%s>%s", o->arg, o->type == OPT_TYPE_LIST ? "[,...]" : "");
	}
}

/* Return whether it is a flag that is on, which users will want to turn off. */
static bool opt_is_on(const struct opt *o)
{
	return o->type == OPT_TYPE_FLAG && o->def;
}

/* The spaces are no-break ones: lines of a synopsis break between options, not between the names of one. */
#define OR "\302\240|\302\240"

/* "-p, --pid=<pid>" with sep ", " or "-p | --pid=<pid>" with sep OR. */
static void add_option(struct buf *b, const struct opt *o, const char *sep, const char *no)
{
	if (o->letter)
		buf_fmt(b, "-%c", o->letter);
	if (o->letter && o->name)
		buf_str(b, sep);
	if (o->name)
		buf_fmt(b, "--%s%s", opt_is_on(o) ? no : "", o->name);
	if (!takes_arg(o))
		return;
	buf_str(b, o->arg_optional ? "[" : "");
	buf_str(b, o->name ? "=" : o->arg_optional ? "" : " ");
	add_arg(b, o);
	buf_str(b, o->arg_optional ? "]" : "");
}

/* Prints text from HELP_COLUMN on, wrapped between words. */
static void print_wrapped(const char *text, FILE *out)
{
	size_t col = HELP_COLUMN;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (col > HELP_COLUMN && col + 1 + len > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			col = HELP_COLUMN;
		} else if (col > HELP_COLUMN) {
			putc(' ', out);
			col++;
		}
		fwrite(text, 1, len, out);
		col += len;
		text += len;
		text += strspn(text, " ");
	}
	putc('\n', out);
}

/* Print an option; one with a long list of words continues in further lines. Returns the column after it. */
static size_t print_option(const struct buf *b, FILE *out)
{
	const char *s = b->data;
	size_t col = 0, len;

	for (; *s; s += len, col += len) {
		len = strcspn(s, "|");
		len += s[len] == '|';
		if (col && col + len > HELP_WIDTH) {
			fprintf(out, "\n%*s", WORDS_COLUMN, "");
			col = WORDS_COLUMN;
		}
		fwrite(s, 1, len, out);
	}
	return col;
}

static void print_opt_row(const struct opt *o, FILE *out)
{
	struct buf b = BUF_INIT, text = BUF_INIT;
	size_t col;

	buf_str(&b, o->letter ? "    " : "        ");
	if (opt_is_printed(o))
		add_option(&b, o, ", ", "[no-]");
	else
		buf_fmt(&b, o->arg ? "%s[=<%s>]" : "%s", o->name, o->arg);
	col = print_option(&b, out);
	if (col + 2 > HELP_COLUMN)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(out, "%*s", (int)(HELP_COLUMN - col), "");
	buf_str(&text, o->help);
	if (opt_is_on(o))
		buf_str(&text, " (default: yes)");
	else if (o->def)
		buf_fmt(&text, " (default: %s)", o->def);
	print_wrapped(text.data, out);
	buf_release(&b);
	buf_release(&text);
}

void opt_print_help(const struct opt *table, FILE *out)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (o->type == OPT_TYPE_GROUP && !o->help)
			fprintf(out, "%s%s\n", o == table ? "" : "\n", o->name);
		else if (!o->hidden)
			print_opt_row(o, out);
	}
}

/* Return where the option stores its value as one of several switches, or SIZE_MAX if it is not one. */
static size_t switch_offset(const struct opt *o)
{
	return o->sets ? o->sets_offset : o->type == OPT_TYPE_SET ? o->offset : SIZE_MAX;
}

/* Return whether o sets the same field as prev to another value. */
static bool is_alternative(const struct opt *o, const struct opt *prev)
{
	return prev && switch_offset(o) != SIZE_MAX && switch_offset(o) == switch_offset(prev);
}

void opt_print_synopsis(const struct opt *table, FILE *out)
{
	const struct opt *o, *prev = NULL;
	struct buf b = BUF_INIT;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (!opt_is_printed(o))
			continue;
		if (is_alternative(o, prev))
			buf_str(&b, " | ");
		else
			buf_fmt(&b, "%s[", prev ? "] " : "");
		add_option(&b, o, OR, "no-");
		if (o->type == OPT_TYPE_LIST)
			buf_str(&b, "...");
		prev = o;
	}
	if (prev)
		fprintf(out, "%s]", b.data);
	buf_release(&b);
}

void opt_print_words(const struct opt *table, FILE *out)
{
	const struct opt *o;

	for (o = table; o->type != OPT_TYPE_END; o++) {
		if (!opt_is_printed(o))
			continue;
		if (o->letter)
			fprintf(out, "-%c\n", o->letter);
		if (!o->name)
			continue;
		fprintf(out, "--%s%s\n", o->name, takes_arg(o) && !o->arg_optional ? "=" : "");
		if (o->type == OPT_TYPE_FLAG && strncmp(o->name, "no-", 3))
			fprintf(out, "--no-%s\n", o->name);
		else if (o->type == OPT_TYPE_FLAG)
			fprintf(out, "--%s\n", o->name + 3);
	}
}
