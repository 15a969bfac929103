// SPDX-License-Identifier: GPL-2.0-or-later
/* tty.c - draws on the terminal by curses (tty.h). */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/screen.h"
#include "terminal/tty.h"

#ifdef HAVE_NCURSES
/* its names of keys would replace those of base/screen.h */
#define NCURSES_WIDECHAR 1
#include <curses.h>

enum { WAIT_MS = 500, ELLIPSIS = 0x2026 };

/* There is one terminal. */
static struct {
	SCREEN *screen;
	FILE *in, *out;
	bool colors;
} tty;

/*
 * Open the screen. A terminal unknown on a server that was reached by ssh is drawn as what it most likely can
 * do.
 */
static SCREEN *new_screen(void)
{
	static const char *const types[] = { NULL, "xterm-256color", "xterm", "linux", "vt100", "ansi" };
	SCREEN *s = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types) && !s; i++)
		s = newterm(types[i], tty.out, tty.in);
	return s;
}

static void adapt(void)
{
	int rows, columns;

	screen_size(&rows, &columns);
	resizeterm(rows, columns);
	reset_prog_mode();
	clearok(curscr, TRUE);
}

static void set_colors(void)
{
	static const short of[TERM_NR] = {
		[TERM_RED] = COLOR_RED, [TERM_GREEN] = COLOR_GREEN, [TERM_YELLOW] = COLOR_YELLOW,
		[TERM_CYAN] = COLOR_CYAN,
	};
	short i;

	tty.colors = *term_style(TERM_RED) && has_colors() && start_color() == OK;
	if (!tty.colors)
		return;
	use_default_colors();
	for (i = TERM_RED; i < TERM_NR; i++)
		init_pair(i, of[i], -1);
}

static FILE *open_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? NULL : fdopen(copy, mode);
}

int tty_possible(struct err *e)
{
	const char *type = getenv("TERM");

	if (screen_possible())
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(e, ENOTTY, "standard %s is not a terminal", isatty(STDIN_FILENO) ? "output" : "input");
	return err_set(e, ENOTTY, "a terminal of the type '%.40s' (TERM) shows no screens", type ? type : "");
}

int tty_open(struct err *e)
{
	const char *type = getenv("TERM");
	int r = screen_open(e);

	if (r)
		return r;
	/* Names are UTF-8, whatever this machine calls its language; the C library has this one itself. */
	setlocale(LC_CTYPE, "C.UTF-8");
	tty.in = open_stream(screen_fd(), "r");
	tty.out = open_stream(screen_terminal(), "w");
	tty.screen = tty.in && tty.out ? new_screen() : NULL;
	if (!tty.screen) {
		tty_close();
		err_set(e, ENOSYS, "this machine has no description of a terminal '%.40s'", type);
		err_hint(e, "Debian has it in ncurses-base; without it 'arcprof report' prints the same as text");
		return -ENOSYS;
	}
	set_colors();
	raw();			/* base/screen.h knows what Ctrl-C and Ctrl-Z are */
	typeahead(-1);
	adapt();
	return 0;
}

void tty_close(void)
{
	if (tty.screen) {
		endwin();
		delscreen(tty.screen);
	}
	if (tty.in)
		fclose(tty.in);
	if (tty.out)
		fclose(tty.out);
	tty.screen = NULL;
	tty.in = tty.out = NULL;
	screen_close();
}

void tty_size(int *rows, int *columns)
{
	getmaxyx(stdscr, *rows, *columns);
}

void tty_begin(void)
{
	erase();
}

void tty_end(void)
{
	refresh();
}

/* ---- text ---- */

struct glyphs {
	wchar_t *list;
	size_t nr;
	int width;
};

static int tty_width_of(wchar_t c)
{
	int w = wcwidth(c);

	return MAX(w, 0);
}

/* Decode text; what cannot be shown becomes a question mark: control characters were escaped before. */
static void decode(struct glyphs *g, const char *text)
{
	size_t left = strlen(text), n;
	mbstate_t state = { 0 };
	wchar_t c;

	*g = (struct glyphs){ xcalloc(left + 1, sizeof(wchar_t)), 0, 0 };
	for (; left; text += n, left -= n) {
		n = mbrtowc(&c, text, left, &state);
		if (n == 0 || n > left) {
			state = (mbstate_t){ 0 };
			n = 1;
			c = L'?';
		}
		if (wcwidth(c) < 0)
			c = L'?';
		g->list[g->nr++] = c;
		g->width += tty_width_of(c);
	}
}

/* Return how many glyphs fit, from the first on; or from the last on. */
static size_t head_of(const struct glyphs *g, int room)
{
	size_t i;

	for (i = 0; i < g->nr && (room -= tty_width_of(g->list[i])) >= 0; i++)
		;
	return i;
}

static size_t tail_of(const struct glyphs *g, int room)
{
	size_t i;

	for (i = g->nr; i && (room -= tty_width_of(g->list[i - 1])) >= 0; i--)
		;
	return i;
}

static void tty_measure(struct glyphs *g)
{
	size_t i;

	for (g->width = 0, i = 0; i < g->nr; i++)
		g->width += tty_width_of(g->list[i]);
}

/* Puts an ellipsis in the place of what is from first to end. */
static void tty_replace(struct glyphs *g, size_t first, size_t end)
{
	if (first >= end)
		return;
	g->list[first] = ELLIPSIS;
	wmemmove(g->list + first + 1, g->list + end, g->nr - end);
	g->nr -= end - first - 1;
	tty_measure(g);
}

/* Drop the parameters, which say least of a function: "f(int, long) const" becomes "f(...) const". */
static void drop_parameters(struct glyphs *g)
{
	size_t end = g->nr, open;
	int depth = 1;

	while (end && g->list[end - 1] != L')')
		end--;
	if (!end)
		return;
	for (open = end - 1; open && depth; open--)
		depth += g->list[open - 1] == L')' ? 1 : g->list[open - 1] == L'(' ? -1 : 0;
	if (!depth && open)
		tty_replace(g, open + 1, end - 1);
}

/* Cut a name at its beginning, as its end says more. */
static void cut_name(struct glyphs *g, int width)
{
	drop_parameters(g);
	if (g->width > width)
		tty_replace(g, head_of(g, (width - 1) / 3), tail_of(g, width - 1 - (width - 1) / 3));
}

int tty_put(int row, int column, int width, enum term_style style, unsigned int flags, const char *text)
{
	attr_t attributes = (style == TERM_BOLD ? A_BOLD : style == TERM_DIM ? A_DIM : A_NORMAL) |
			    (flags & TTY_REVERSE ? A_REVERSE : 0) |
			    (flags & TTY_UNDERLINE ? A_UNDERLINE : 0);
	struct glyphs g;

	width = MIN(width, COLS - column);
	if (row < 0 || row >= LINES || column < 0 || width <= 0)
		return 0;
	decode(&g, text);
	if (flags & TTY_NAME && g.width > width)
		cut_name(&g, width);
	g.nr = head_of(&g, width);
	tty_measure(&g);
	attr_set(attributes, tty.colors && style >= TERM_RED ? style : 0, NULL);
	mvaddnwstr(row, column, g.list, g.nr);
	attr_set(A_NORMAL, 0, NULL);
	free(g.list);
	return g.width;
}

void tty_let_interrupt(bool on)
{
	static struct sigaction before;
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct termios t;

	sigaction(SIGINT, on ? &ignore : &before, on ? &before : NULL);
	if (!on) {
		reset_prog_mode();
		return;
	}
	if (tcgetattr(screen_terminal(), &t))
		return;
	t.c_lflag |= ISIG;
	t.c_cc[VQUIT] = t.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(screen_terminal(), TCSANOW, &t);
}

int tty_key(void)
{
	struct pollfd fd = { screen_fd(), POLLIN, 0 };
	int key;

	while ((key = screen_key()) == KEY_NONE) {
		if (screen_is_stale()) {
			adapt();
			break;
		}
		poll(&fd, 1, WAIT_MS);
	}
	return key;
}

#else

int tty_possible(struct err *e)
{
	err_set(e, ENOSYS, "this arcprof was built without ncurses, which draws in a terminal");
	err_hint(e, "'arcprof report' prints the same as text; to build it with ncurses, install libncurses-dev first");
	return -ENOSYS;
}

int tty_open(struct err *e)
{
	return tty_possible(e);
}

void tty_close(void)
{
}

void tty_size(int *rows, int *columns)
{
	screen_size(rows, columns);
}

void tty_begin(void)
{
}

void tty_end(void)
{
}

int tty_put(int row, int column, int width, enum term_style style, unsigned int flags, const char *text)
{
	return 0;
}

void tty_let_interrupt(bool on)
{
}

int tty_key(void)
{
	return KEY_END;
}
#endif
