/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quote.h - names that somebody else gave, on their way to a terminal, a file of text or CSV.
 *
 * A thread, a symbol or a file may have any name.  Control characters (C0, C1 and DEL), separators
 * of lines and paragraphs, characters that change the direction of writing, and bytes that are not
 * UTF-8 (RFC 3629) are written as escapes: \n, \t and \r, or each byte as \xNN.  JSON has escapes
 * of its own (json.h).
 */
#ifndef BASE_QUOTE_H
#define BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/* Return the length of the UTF-8 sequence that s[len] begins with, or 0 for none. */
size_t utf8_len(const char *s, size_t len);
/*
 * Makes UTF-8 of Java's "modified UTF-8" in place: a character beyond U+FFFF is two surrogates of three bytes
 * each there. What is no such pair stays as it is. Returns the new length.
 */
size_t utf8_from_java(char *s, size_t len);
/* Return the same as utf8_len(), but also 0 for a character that is written as an escape. */
size_t quote_plain_len(const char *s, size_t len);

/* Appends s; a backslash stays a backslash. */
void quote_add(struct buf *b, const char *s);
/*
 * Do the same for len bytes, with a backslash before each of the characters in also. b->data is a string
 * afterwards.
 */
void quote_add_also(struct buf *b, const char *s, size_t len, const char *also);
/* Appends s without the escapes of quote_add_also(); false, with nothing appended, when it has others. */
bool quote_undo(struct buf *b, const char *s, size_t len, const char *also);
/* Return s itself if it needs no escapes, else the escaped copy in scratch. */
const char *quote_str(struct buf *scratch, const char *s);
void quote_print(const char *s, FILE *out);
/* Appends s as text of XML, in an element or an attribute: as quote_add() does, with &lt; and the like. */
void quote_add_xml(struct buf *b, const char *s);

/*
 * Appends one field of CSV, in quotes where it needs them.  A field that begins with = + - or @ and
 * is not a number gets an apostrophe, so that no spreadsheet takes it for a formula.
 */
void quote_csv(struct buf *b, const char *s, size_t len);

#endif
