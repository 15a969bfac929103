// SPDX-License-Identifier: GPL-2.0-or-later
/* fields.c - encodes and decodes the named values of an event (fields.h). */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/span.h"

static bool field_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool field_is_name(const char *name, size_t len)
{
	size_t i;

	if (!len || len > FIELDS_MAX_NAME || !field_is_letter(*name))
		return false;
	for (i = 1; i < len; i++) {
		bool digit = name[i] >= '0' && name[i] <= '9';

		if (!field_is_letter(name[i]) && !digit && name[i] != '-' && name[i] != '.')
			return false;
	}
	return true;
}

bool fields_next(struct span *s, struct field *f)
{
	uint64_t bits;

	if (!span_left(s) || s->bad)
		return false;
	*f = (struct field){ .type = span_u8(s) };
	f->name_len = span_u8(s);
	f->name = span_bytes(s, f->name_len);
	switch (f->type) {
	case FIELD_I64:
	case FIELD_F64:
		bits = span_u64(s);
		memcpy(&f->i64, &bits, sizeof(bits));	/* or f64: the same bytes */
		break;
	case FIELD_TEXT:
		f->text_len = span_u16(s);
		f->text = span_bytes(s, f->text_len);
		s->bad |= f->text_len > FIELDS_MAX_TEXT || (f->text && memchr(f->text, 0, f->text_len));
		break;
	default:
		s->bad = true;
	}
	if (!s->bad && !field_is_name(f->name, f->name_len))
		s->bad = true;
	return !s->bad;
}

bool fields_valid(const void *fields, size_t len)
{
	struct span s = span_init(fields, len);
	struct field f[FIELDS_MAX + 1];
	size_t nr = 0, i;

	while (nr <= FIELDS_MAX && fields_next(&s, &f[nr])) {
		for (i = 0; i < nr; i++)
			if (f[i].name_len == f[nr].name_len && !memcmp(f[i].name, f[nr].name, f[nr].name_len))
				return false;
		nr++;
	}
	return !s.bad && nr <= FIELDS_MAX;
}

void fields_put_text(struct buf *b, const void *fields, size_t len)
{
	struct span s = span_init(fields, len);
	const char *before = "";
	struct field f;

	while (fields_next(&s, &f)) {
		buf_fmt(b, "%s%.*s=", before, (int)f.name_len, f.name);
		before = " ";
		switch (f.type) {
		case FIELD_I64:
			buf_fmt(b, "%" PRId64, f.i64);
			break;
		case FIELD_F64:
			buf_fmt(b, "%.15g", f.f64);
			break;
		case FIELD_TEXT:
			buf_putc(b, '"');
			quote_add_also(b, f.text, f.text_len, "\"\\");
			buf_putc(b, '"');
		}
	}
}

void fields_put_json(struct json *j, const void *fields, size_t len)
{
	struct span s = span_init(fields, len);
	char name[FIELDS_MAX_NAME + 1], text[FIELDS_MAX_TEXT + 1];
	struct field f;

	while (fields_next(&s, &f)) {
		memcpy(name, f.name, f.name_len);
		name[f.name_len] = '\0';
		switch (f.type) {
		case FIELD_I64:
			json_i64(j, name, f.i64);
			break;
		case FIELD_F64:
			json_double(j, name, f.f64);
			break;
		case FIELD_TEXT:
			memcpy(text, f.text, f.text_len);
			text[f.text_len] = '\0';
			json_str(j, name, text);
		}
	}
}
