/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - lines and words, for readers of formats that are text. Nothing is copied or terminated. */
#ifndef FORMATS_TEXT_H
#define FORMATS_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "formats/sink.h"

/* Return the line at *at, without its end, also that of other systems, and move *at behind it; *at < end. */
static inline struct import_text import_line(const char **at, const char *end)
{
	const char *from = *at, *newline = memchr(from, '\n', end - from), *to = newline ? newline : end;

	*at = newline ? newline + 1 : end;
	if (to > from && to[-1] == '\r')
		to--;
	return (struct import_text){ from, to - from };
}

/* Return the text without blanks at its end, also those of other systems' line ends. */
static inline struct import_text import_chop(struct import_text t)
{
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

static inline bool import_begins(struct import_text t, const char *with)
{
	size_t len = strlen(with);

	return t.len >= len && !memcmp(t.s, with, len);
}

static inline bool import_ends(struct import_text t, const char *with)
{
	size_t len = strlen(with);

	return t.len >= len && !memcmp(t.s + t.len - len, with, len);
}

/* Return the number that the text begins with, of at most 18 digits; 0 if there is none. */
static inline uint64_t import_number(struct import_text t)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < t.len && i < 18 && isdigit((unsigned char)t.s[i]); i++)
		v = v * 10 + (t.s[i] - '0');
	return v;
}

static inline bool import_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Return [s, end) without such blanks around it. */
static inline struct import_text import_trim(const char *s, const char *end)
{
	while (s < end && import_is_blank(*s))
		s++;
	while (s < end && import_is_blank(end[-1]))
		end--;
	return (struct import_text){ s, end - s };
}

#endif
