/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secrets.h - passwords and the like in arguments of programs, for code that shows them to others.
 *
 * A secret is recognised by its name: the value of password, token, apiKey and such, whatever stands around
 * the word, as "-Ddb.password=x", "--token x", "?password=x&", "jdbc:h2:mem:a;PASSWORD=x"; and what stands
 * between a user and a host in an address. Where a value may end in several ways all of it is one.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include "base/buf.h"

#define SECRETS_MASK "***"

/* Append an argument with SECRETS_MASK in place of its secrets. before: the argument before it, or NULL. */
void secrets_add(struct buf *b, const char *arg, const char *before);

#endif
