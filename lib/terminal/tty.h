/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tty.h - what is drawn on the terminal: curses sends what has changed, base/screen.h has the keys, and
 * restores the terminal whatever ends the process.
 */
#ifndef TERMINAL_TTY_H
#define TERMINAL_TTY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/term.h"

enum tty_flags {
	TTY_REVERSE = 1 << 0,
	TTY_UNDERLINE = 1 << 1,
	TTY_NAME = 1 << 2,	/* of a function: too long, it loses its parameters, then its middle */
};

/* -ENOTTY, -ENOSYS: there is no terminal, or nothing to draw with; *e says which. */
int tty_possible(struct err *e);
int tty_open(struct err *e);
/* Close, if it is open. */
void tty_close(void);
void tty_size(int *rows, int *columns);

/* Must be called around drawing the whole screen. */
void tty_begin(void);
void tty_end(void);
/*
 * Draw text of one line, UTF-8 without control characters, in at most that many columns; what is too long is
 * cut.  Return how many columns it took.
 */
int tty_put(int row, int column, int width, enum term_style style, unsigned int flags, const char *text);

/*
 * Make Ctrl-C a signal, which this process ignores but which ends what works for it. No other key is read
 * while it is on.
 */
void tty_let_interrupt(bool on);
/* Return the next key, as in base/screen.h; KEY_NONE: the size has changed. */
int tty_key(void);

#endif
