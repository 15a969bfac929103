/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * term.h - what stdout is: a terminal or not, how wide, and whether colours are wanted there and on stderr.
 *
 * Asked once, at the start: when a pager comes in between later, the answers stay.
 */
#ifndef BASE_TERM_H
#define BASE_TERM_H

#include <stdbool.h>

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };
extern const char *const term_color_words[];	/* for OPT_ENUM */

enum term_style {
	TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_UNDERLINE, TERM_RED, TERM_GREEN, TERM_YELLOW, TERM_CYAN, TERM_NR
};

/* Call first; NO_COLOR and TERM=dumb turn AUTO into NEVER. */
void term_setup(enum term_color color);
bool term_is_tty(void);
/* Return the number of columns; 0 if stdout is not a terminal (then nothing is cut or wrapped to fit). */
int term_width(void);
/* Return the escape sequence that switches to the style, "" without colours; TERM_PLAIN ends it. */
const char *term_style(enum term_style s);
/* Return the same for stderr. */
const char *term_error_style(enum term_style s);

/* ---- the user's pager, which stdout goes through ---- */

/*
 * Starts $ARCPROF_PAGER, else $PAGER, else less, and makes stdout a pipe to it; does nothing
 * when that is "" or "cat", or cannot be started.  The process waits for it before it exits.
 */
void pager_start(void);
/* Ends the output and waits until the user has left the pager. */
void pager_finish(void);

#endif
