/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quote.h - names that somebody else gave, on their way to a terminal, a file of text or CSV.
 *
 * A thread, a symbol or a file may be called anything. What a terminal obeys, what breaks a row and what is not
 * UTF-8 (RFC 3629) comes out as an escape: \n, \t, \r, else each byte as \xNN. That are the control characters
 * C0 and C1, DEL, the separators of lines and paragraphs, and what changes the direction of writing.
 * JSON has escapes of its own (json.h).
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/* Length of the UTF-8 sequence that s[len] begins with; 0: it begins with none. */
size_t utf8_len(const char *s, size_t len);
/* The same, but 0 also for a character that is not to be shown as it is. */
size_t quote_plain_len(const char *s, size_t len);

/* Appends s; a backslash stays a backslash. */
void quote_add(struct buf *b, const char *s);
/* The same of len bytes, a backslash also before each of the characters in also. */
void quote_add_also(struct buf *b, const char *s, size_t len, const char *also);
/* Appends what quote_add_also() had made s of; false, with nothing appended, when s has an escape it does not make. */
bool quote_undo(struct buf *b, const char *s, size_t len, const char *also);
/* s itself when there is nothing to escape, else what was made of it in scratch. */
const char *quote_str(struct buf *scratch, const char *s);
void quote_print(const char *s, FILE *out);

/*
 * Appends one field of CSV, in quotes where it needs them. A name that a spreadsheet would take for a formula, because
 * it begins with = + - or @, gets an apostrophe before it; numbers do not.
 */
void quote_csv(struct buf *b, const char *s, size_t len);

#endif
