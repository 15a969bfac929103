/* SPDX-License-Identifier: MIT */
/*
 * sqltext.h - the text of an SQL statement as reports have it: in one line, without comments and literals, so
 * that those that differ by these alone are the same, and nothing of the data gets into a trace.
 *
 * Freestanding. Dialects differ in what a literal is; where the end of one cannot be determined, the text
 * ends with it.
 */
#ifndef AGENT_SQLTEXT_H
#define AGENT_SQLTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More of a statement than this many units of UTF-16 is not looked at. */
enum { SQLTEXT_READ = 4096, SQLTEXT_MAX = 240 };

/*
 * Write the text of the nr units at sql to to, at most SQLTEXT_MAX bytes of UTF-8, not terminated; return
 * their number. A literal, a parameter, and a list of them is one '?'; of a long text the middle is left out.
 * more: the statement goes on behind. quoted: "x" is a literal, as in MySQL, and no name.
 */
size_t sqltext_put(const uint16_t *sql, size_t nr, bool more, bool quoted, char *to);

#endif
