/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen.h - the whole terminal as a screen that is drawn anew, and its keys.
 *
 * While it is open stdout, stdin and stderr lead elsewhere: programs that are started do not write
 * onto it or take its keys, and messages are shown when it is closed. The terminal becomes what it
 * was when the screen is closed, and also when a signal ends the process.
 */
#ifndef BASE_SCREEN_H
#define BASE_SCREEN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum screen_key {		/* beside characters */
	KEY_NONE = -1,
	KEY_END = -2,		/* the terminal is gone */
	KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_ESCAPE,
	KEY_INTERRUPT,		/* Ctrl-C, Ctrl-D */
	KEY_BACKSPACE, KEY_ENTER, KEY_LEFT, KEY_RIGHT, KEY_BOTTOM,
};

/* Return whether stdin and stdout are a terminal that can show one. */
bool screen_possible(void);
int screen_open(struct err *e);
/* Close the screen, if it is open. */
void screen_close(void);
/* Return a descriptor that is readable when a key was pressed. */
int screen_fd(void);
/* Return the terminal, for writing. */
int screen_terminal(void);
void screen_size(int *rows, int *columns);
/* Return whether the size changed, or the screen was away, since the last call. */
bool screen_is_stale(void);
/* Draw lines of text, which is borrowed; the terminal cuts lines that are too long. */
void screen_draw(const struct buf *text);
/* Return the next key, KEY_NONE if there is none yet. Ctrl-Z is none: it stops the process. */
int screen_key(void);

#endif
