/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - writes JSON to a stream: commas, nesting and escapes are its business.
 *
 * A key is NULL for the members of an array.  Text that is not UTF-8 comes out
 * with each bad byte as U+FFFD, so the result always parses.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool one_line;		/* set it after json_init() */
	int depth;
	bool first[64];		/* the next member is the first of its level */
	char closer[64];	/* what ends the level */
};

void json_init(struct json *j, FILE *out);		/* out NULL: nothing is written */
void json_object(struct json *j, const char *key);	/* opens { */
void json_array(struct json *j, const char *key);	/* opens [ */
void json_end(struct json *j);				/* closes the innermost */
void json_str(struct json *j, const char *key, const char *val);	/* NULL gives null */
void json_u64(struct json *j, const char *key, uint64_t val);
void json_u64_known(struct json *j, const char *key, bool known, uint64_t val);	/* else null */
void json_i64(struct json *j, const char *key, int64_t val);
/* Write val with that many significant digits, 0: all that it has. Not finite gives null. */
void json_rounded(struct json *j, const char *key, double val, unsigned int digits);
void json_double(struct json *j, const char *key, double val);	/* with all digits */
/* Write val / 10^decimals, to the last digit: 1500000 with 6 decimals is 1.5. */
void json_decimal(struct json *j, const char *key, uint64_t val, unsigned int decimals);
void json_bool(struct json *j, const char *key, bool val);
void json_null(struct json *j, const char *key);

#endif
