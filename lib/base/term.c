// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/term.h"

const char *const term_color_words[] = { "auto", "always", "never", NULL };

static const char *const sequences[TERM_NR] = {
	[TERM_PLAIN] = "\033[0m", [TERM_BOLD] = "\033[1m",    [TERM_DIM] = "\033[2m",
	[TERM_UNDERLINE] = "\033[4m", [TERM_RED] = "\033[31m",
	[TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m", [TERM_CYAN] = "\033[36m",
};

static struct {
	bool tty;
	bool color, error_color;
	int width;
} term;

void term_setup(enum term_color color)
{
	const char *no = getenv("NO_COLOR"), *name = getenv("TERM"), *columns = getenv("COLUMNS");
	bool can = !(no && *no) && name && strcmp(name, "dumb");
	struct winsize size;
	uint64_t width;
	struct err e;

	term.tty = isatty(STDOUT_FILENO);
	term.color = color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && can && term.tty);
	term.error_color =
		color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && can && isatty(STDERR_FILENO));
	if (!term.tty)
		return;
	if (columns && !opt_parse_u64(columns, &width, &e) && width >= 20 && width <= 10000)
		term.width = width;
	else if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		term.width = size.ws_col;
	else
		term.width = 80;
}

bool term_is_tty(void)
{
	return term.tty;
}

int term_width(void)
{
	return term.width;
}

const char *term_style(enum term_style s)
{
	return term.color ? sequences[s] : "";
}

const char *term_error_style(enum term_style s)
{
	return term.error_color ? sequences[s] : "";
}
