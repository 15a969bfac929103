/* SPDX-License-Identifier: MIT */
/*
 * fields.h - named values of an event, as a program writes them and as a trace has them, one after the other:
 *
 *	u8 type, u8 length of the name, the name; then
 *	FIELD_I64, FIELD_F64	8 bytes
 *	FIELD_TEXT		u16 length, UTF-8
 *
 * all little-endian and without gaps. A name has letters, digits and _ - . , and begins with a letter or _;
 * no two of an event are the same.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct json;
struct span;

enum field_type {
	FIELD_I64 = 1,
	FIELD_F64,
	FIELD_TEXT,
};

enum {
	FIELDS_MAX = 16,		/* of an event */
	FIELDS_MAX_NAME = 63,
	FIELDS_MAX_TEXT = 1023,		/* longer ones are cut before a character */
	FIELDS_MAX_BYTES = FIELDS_MAX * (2 + FIELDS_MAX_NAME + 2 + FIELDS_MAX_TEXT),
};

struct field {
	enum field_type type;
	uint32_t name_len, text_len;
	const char *name;		/* not terminated, as text is not */
	union {
		int64_t i64;
		double f64;
		const char *text;
	};
};

/* Read the next field; return false if there is none or, with s->bad, an invalid one. */
bool fields_next(struct span *s, struct field *f);
/* Return whether all of it is fields, to the last byte. */
bool fields_valid(const void *fields, size_t len);
/* Append valid fields as path="/cart" status=200, with a blank between two. */
void fields_put_text(struct buf *b, const void *fields, size_t len);
/* Put a member for each of valid fields into the open object. */
void fields_put_json(struct json *j, const void *fields, size_t len);

#endif
