// SPDX-License-Identifier: MIT
/*
 * emit.c - events with named values, as records "marked" (jvm/table.h): each describes itself, so that none
 * needs another one that may have been lost, or was written before anybody recorded.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/native.h"
#include "api/recorder.h"
#include "arcprof.h"
#include "base/fields.h"

static_assert((int)ARCPROF_I64 == FIELD_I64 && (int)ARCPROF_F64 == FIELD_F64 &&
	      (int)ARCPROF_STRING == FIELD_TEXT, "types are those of the records");

struct arcprof_event_kind {
	const char *name;
	uint32_t name_len, nr;
	struct {
		const char *name;
		uint8_t len;
	} fields[FIELDS_MAX];
};

/* --- defining --- */

static int api_emit_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Return the length of the name that s begins with; 0: none. */
static size_t name_len(const char *s)
{
	size_t n = api_emit_is_letter(*s);

	while (n && (api_emit_is_letter(s[n]) || (s[n] >= '0' && s[n] <= '9') || s[n] == '-' || s[n] == '.'))
		n++;
	return n <= FIELDS_MAX_NAME && (!s[n] || s[n] == ' ') ? n : 0;
}

static int has_name(const struct arcprof_event_kind *k, const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < k->nr; i++)
		if (k->fields[i].len == len && !memcmp(k->fields[i].name, name, len))
			return 1;
	return 0;
}

static int set_names(struct arcprof_event_kind *k, const char *names)
{
	size_t len;

	for (names += strspn(names, " "); *names; names += strspn(names, " ")) {
		len = name_len(names);
		if (!len || k->nr == FIELDS_MAX || has_name(k, names, len))
			return -1;
		k->fields[k->nr].name = names;
		k->fields[k->nr++].len = len;
		names += len;
	}
	return 0;
}

struct arcprof_event_kind *arcprof_define(const char *name, const char *names)
{
	const size_t len = name ? strlen(name) : 0, names_len = names ? strlen(names) : 0;
	struct arcprof_event_kind *k = calloc(1, sizeof(*k) + len + names_len + 2);
	char *text = (char *)(k + 1);

	if (!k)
		return NULL;
	memcpy(text, name ? name : "", len);
	memcpy(text + len + 1, names ? names : "", names_len);
	k->name = text;
	k->name_len = len;
	if (len && !set_names(k, text + len + 1))
		return k;
	free(k);
	errno = EINVAL;
	return NULL;
}

/* --- emitting --- */

/* A value as its bytes: a text is behind its length, which is a number of its own. */
struct value {
	const char *p;
	uint16_t type, text_len;	/* type 0: none */
};

static void put_values(char *to, const struct arcprof_event_kind *k, const struct value *v, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!v[i].type)
			continue;
		*to++ = v[i].type;
		*to++ = k->fields[i].len;
		jvm_copy_text(to, k->fields[i].name, k->fields[i].len);
		to += k->fields[i].len;
		if (v[i].type != FIELD_TEXT) {
			memcpy(to, v[i].p, 8);
			to += 8;
			continue;
		}
		memcpy(to, &v[i].text_len, 2);
		jvm_copy_text(to + 2, v[i].p, v[i].text_len);
		to += 2 + v[i].text_len;
	}
}

static void api_emit_emit(const struct arcprof_recorder *m, const struct arcprof_event_kind *k,
			  uint64_t vthread, uint64_t begun, const struct value *v, size_t nr)
{
	const uint64_t now = arcprof_recorder_now_ns();
	struct jvm_marked r = {
		.time_ns = begun ? begun : now, .duration_ns = begun ? now - begun : UINT64_MAX,
		.thread = arcprof_recorder_tid(), .vthread = vthread,
		.name = k->name, .name_len = k->name_len,
	};
	size_t size, i;
	void *rec;

	for (i = 0; i < nr; i++)
		if (v[i].type)
			r.fields_len += 2 + k->fields[i].len +
					(v[i].type == FIELD_TEXT ? 2 + v[i].text_len : 8);
	size = jvm_size_marked(&r);
	rec = arcprof_recorder_reserve(m, size);
	if (!rec)
		return;
	put_values(jvm_encode_marked(rec, size, &r) - r.fields_len, k, v, nr);
	jvm_ring_commit(rec, m->ring_bytes, size, JVM_REC_marked);
}

/* Return how many bytes of a text are kept, without cutting a character. */
static uint16_t text_len(const char *s)
{
	size_t len = strnlen(s, FIELDS_MAX_TEXT + 1);

	if (len > FIELDS_MAX_TEXT)
		for (len = FIELDS_MAX_TEXT; len && (s[len] & 0xc0) == 0x80; len--)
			;
	return len;
}

static struct value api_emit_value_of(const struct arcprof_field *f)
{
	if (f->type == ARCPROF_STRING && f->u.string)
		return (struct value){ f->u.string, FIELD_TEXT, text_len(f->u.string) };
	if (f->type == ARCPROF_I64 || f->type == ARCPROF_F64)
		return (struct value){ (const char *)&f->u, f->type, 0 };
	return (struct value){ NULL, 0, 0 };
}

static void emit_fields(const struct arcprof_recorder *m, const struct arcprof_event_kind *k, uint64_t begun,
			const struct arcprof_field *values, size_t nr)
{
	struct value v[FIELDS_MAX];
	size_t i;

	nr = nr < k->nr ? nr : k->nr;
	for (i = 0; i < nr; i++)
		v[i] = api_emit_value_of(&values[i]);
	api_emit_emit(m, k, 0, begun, v, nr);
}

void arcprof_emit(const struct arcprof_event_kind *k, const struct arcprof_field *values, size_t nr)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_MARK);

	if (m && k)
		emit_fields(m, k, 0, values, nr);
}

void arcprof_emit_since(const struct arcprof_event_kind *k, uint64_t begun,
			const struct arcprof_field *values, size_t nr)
{
	const struct arcprof_recorder *m = begun ? arcprof_recorder_of(JVM_TELL_MARK) : NULL;

	if (m && k)
		emit_fields(m, k, begun, values, nr);
}

/* Read the value at p, of which left bytes are there; return its length, 0: it is invalid. */
static size_t api_emit_read_value(const char *p, size_t left, struct value *v)
{
	*v = (struct value){ p + 1, (uint8_t)*p, 0 };
	switch (v->type) {
	case 0:
		return 1;
	case FIELD_I64:
	case FIELD_F64:
		return left >= 9 ? 9 : 0;
	case FIELD_TEXT:
		if (left < 3)
			return 0;
		memcpy(&v->text_len, p + 1, 2);
		v->p = p + 3;
		return v->text_len <= FIELDS_MAX_TEXT && left - 3 >= v->text_len ? 3u + v->text_len : 0;
	}
	return 0;
}

void arcprof_emit_values(const struct arcprof_event_kind *k, uint64_t vthread, uint64_t begun,
			 const void *values, size_t len)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_MARK);
	const char *p = values, *end = p + len;
	struct value v[FIELDS_MAX];
	size_t nr, n;

	if (!m)
		return;
	for (nr = 0; p < end && nr < k->nr; nr++, p += n) {
		n = api_emit_read_value(p, end - p, &v[nr]);
		if (!n)
			return;
	}
	api_emit_emit(m, k, vthread, begun, v, nr);
}
