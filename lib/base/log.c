// SPDX-License-Identifier: GPL-2.0-or-later
/* log.c - prints messages, warnings and hints on stderr (log.h). */
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/quote.h"
#include "base/term.h"

static const char *command;
static int verbosity;

void log_set_command(const char *name)
{
	command = name;
}

void log_set_verbosity(int level)
{
	verbosity = level;
}

/*
 * Return the beginning of a line. The style lasts to the end of the line for an error, else only for its kind
 * ("warning: ").
 */
static struct buf log_head(enum term_style style, const char *kind)
{
	struct buf line = BUF_INIT;
	const char *on = style == TERM_PLAIN ? "" : term_error_style(style);

	buf_fmt(&line, "arcprof%s%s: %s%s%s", command ? " " : "", command ? command : "", on, kind,
		*on && *kind ? term_error_style(TERM_PLAIN) : "");
	return line;
}

/* Takes line. What a message quotes may be a name that somebody else gave. */
static void log_print_line(struct buf line, const char *end, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;

	buf_vfmt(&text, fmt, ap);
	quote_add_also(&line, text.data, text.len, "");
	fprintf(stderr, "%s%s\n", line.data, end);
	buf_release(&line);
	buf_release(&text);
}

#define LOG_FN(name, when, style, kind, end)                       \
	void name(const char *fmt, ...)                            \
	{                                                          \
		va_list ap;                                        \
	\
		if (!(when))                                       \
			return;                                    \
		va_start(ap, fmt);                                 \
		log_print_line(log_head(style, kind), end, fmt, ap);       \
		va_end(ap);                                        \
	}

LOG_FN(log_error, 1, TERM_RED, "", term_error_style(TERM_PLAIN))
LOG_FN(log_warn, 1, TERM_YELLOW, "warning: ", "")
LOG_FN(log_info, verbosity >= 0, TERM_PLAIN, "", "")
LOG_FN(log_verbose, verbosity >= 1, TERM_PLAIN, "", "")

void log_hint(const char *fmt, ...)
{
	struct buf line = BUF_INIT;
	va_list ap;

	buf_fmt(&line, "%shint: %s", term_error_style(TERM_CYAN), term_error_style(TERM_PLAIN));
	va_start(ap, fmt);
	log_print_line(line, "", fmt, ap);
	va_end(ap);
}

int log_err(const struct err *e)
{
	log_error("%s", e->msg);
	if (e->hint[0])
		log_hint("%s", e->hint);
	return 1;
}
