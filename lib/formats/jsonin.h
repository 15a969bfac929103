/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jsonin.h - reads JSON (RFC 8259) in place: a cursor that is led from value to value, without memory of its
 * own.
 *
 *	jsonin_open(j, '{');
 *	while (jsonin_member(j, &key))
 *		if (jsonin_is(key, "name"))
 *			text = jsonin_string(j);
 *		else
 *			jsonin_skip(j);
 *
 * What is not as expected sets "bad", which sticks: then every loop ends.
 */
#ifndef FORMATS_JSONIN_H
#define FORMATS_JSONIN_H

#include "base/buf.h"
#include "formats/sink.h"

struct jsonin {
	const char *start, *p, *end;
	bool bad;
};

static inline struct jsonin jsonin_init(const char *data, size_t len)
{
	return (struct jsonin){ data, data, data + len, false };
}

/* Return the character with which the next value begins; 0: there is none. */
char jsonin_peek(struct jsonin *j);
/* Enter an array '[' or an object '{'. */
void jsonin_open(struct jsonin *j, char kind);
/* Return whether the array has another element, and move to it; else leave the array. */
bool jsonin_element(struct jsonin *j);
/* Do the same with an object; *key is as written, without quotes. */
bool jsonin_member(struct jsonin *j, struct import_text *key);
/* Return whether the object that comes next has a member of one of these names; other may be NULL. */
bool jsonin_has(struct jsonin *j, const char *name, const char *other);
/* Skip a value, nested at most 64 deep; return a cursor over its bytes, to come back to it. */
struct jsonin jsonin_skip(struct jsonin *j);
/* Read a string as it is written, between its quotes. */
struct import_text jsonin_string(struct jsonin *j);
double jsonin_number(struct jsonin *j);

static inline bool jsonin_is(struct import_text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

/* Return the text of a string without its escapes; in *b if it has any. */
struct import_text jsonin_text(struct import_text t, struct buf *b);

#endif
