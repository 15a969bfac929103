/* SPDX-License-Identifier: MIT */
/*
 * err.h - how lib/ explains a failure: it returns a negative errno value and
 * fills a struct err with one line that names what failed; cmd/ prints it.
 *
 * The last parameter of a function that can fail is a struct err *, never NULL.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdint.h>

enum err_kind {
	ERR_ANY,
	ERR_EXEC,		/* the program to be run cannot be executed; code says why: spawn_go() */
};

struct err {
	int code;		/* positive errno value, 0 while nothing failed */
	enum err_kind kind;
	char msg[256];		/* one line, no newline */
	char hint[256];		/* what to do about it, or "" */
};

/* Fills *e, of ERR_ANY, and returns -code. */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Do what err_set() does, with ": " and the text of errno (which becomes the code) after the message. */
int err_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before the message and returns -e->code. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Says what to do about the failure; cmd/ prints it as a line of its own. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return the ending of the noun in a message that counts nr things. */
static inline const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static inline const char *plural_es(uint64_t nr)
{
	return nr == 1 ? "" : "es";
}

#endif
