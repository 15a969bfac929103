// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

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

static void print_line(const char *kind, const char *fmt, va_list ap)
{
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "arcprof%s%s: %s%s\n", command ? " " : "", command ? command : "", kind, line);
}

#define LOG_FN(name, when, kind)                  \
	void name(const char *fmt, ...)           \
	{                                         \
		va_list ap;                       \
                                                  \
		if (!(when))                      \
			return;                   \
		va_start(ap, fmt);                \
		print_line(kind, fmt, ap);        \
		va_end(ap);                       \
	}

LOG_FN(log_error, 1, "")
LOG_FN(log_warn, 1, "warning: ")
LOG_FN(log_info, verbosity >= 0, "")
LOG_FN(log_verbose, verbosity >= 1, "")

void log_hint(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "hint: %s\n", line);
}

int log_err(const struct err *e)
{
	log_error("%s", e->msg);
	if (e->hint[0])
		log_hint("%s", e->hint);
	return 1;
}
