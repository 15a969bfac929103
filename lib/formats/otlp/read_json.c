// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_json.c - OpenTelemetry's profiles in JSON: the messages that they are in protobuf are made of them,
 * and then read (read.c).  Several requests one after the other, as a collector's file exporter writes them
 * line by line, are one profile.
 *
 * Source: "JSON Protobuf Encoding" of OpenTelemetry's OTLP specification, and the JSON mapping of protobuf,
 * whose readers take names with underscores, too.  Identifiers are hexadecimal, integers of 64 bits are text.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/protobuf.h"
#include "formats/jsonin.h"
#include "formats/otlp/otlp.h"

enum message {
	DATA, RESOURCE_PROFILES, RESOURCE, KEY_VALUE, ANY, SCOPE_PROFILES, PROFILE, VALUE_TYPE, SAMPLE,
	DICTIONARY, MAPPING, LOCATION, LINE, FUNCTION, LINK, ATTRIBUTE, STACK,
	NR_MESSAGES
};

/* OLD: only version 1.7 and older have it. */
enum field_kind { NUMBER, FIXED, TEXT, ID, OLD, MESSAGE };

enum { MAX_FIELDS = 8, MAX_DEPTH = 8, MAX_ID_BYTES = 16 };

/* the fields that read.c needs, with numbers of 1.10, also for names of 1.8 */
static const struct field {
	const char *name;
	unsigned int number;
	enum field_kind kind;
	enum message message;		/* of MESSAGE */
} fields[NR_MESSAGES][MAX_FIELDS] = {
	[DATA] = { { "resourceProfiles", 1, MESSAGE, RESOURCE_PROFILES },
		{ "dictionary", 2, MESSAGE, DICTIONARY } },
	[RESOURCE_PROFILES] = { { "resource", 1, MESSAGE, RESOURCE },
		{ "scopeProfiles", 2, MESSAGE, SCOPE_PROFILES } },
	[RESOURCE] = { { "attributes", 1, MESSAGE, KEY_VALUE } },
	[KEY_VALUE] = { { "key", 1, TEXT }, { "value", 2, MESSAGE, ANY }, { "keyStrindex", 3, NUMBER } },
	[ANY] = { { "stringValue", 1, TEXT }, { "intValue", 3, NUMBER },
		{ "stringValueStrindex", 8, NUMBER } },
	[SCOPE_PROFILES] = { { "profiles", 2, MESSAGE, PROFILE } },
	[PROFILE] = { { "sampleType", 1, MESSAGE, VALUE_TYPE }, { "samples", 2, MESSAGE, SAMPLE },
		{ "sample", 2, MESSAGE, SAMPLE }, { "timeUnixNano", 3, FIXED } },
	[VALUE_TYPE] = { { "typeStrindex", 1, NUMBER }, { "unitStrindex", 2, NUMBER } },
	[SAMPLE] = { { "stackIndex", 1, NUMBER }, { "attributeIndices", 2, NUMBER },
		{ "linkIndex", 3, NUMBER }, { "values", 4, NUMBER }, { "timestampsUnixNano", 5, FIXED },
		{ "locationsLength", 0, OLD } },
	[DICTIONARY] = { { "mappingTable", 1, MESSAGE, MAPPING }, { "locationTable", 2, MESSAGE, LOCATION },
		{ "functionTable", 3, MESSAGE, FUNCTION }, { "linkTable", 4, MESSAGE, LINK },
		{ "stringTable", 5, TEXT }, { "attributeTable", 6, MESSAGE, ATTRIBUTE },
		{ "stackTable", 7, MESSAGE, STACK } },
	[MAPPING] = { { "filenameStrindex", 4, NUMBER } },
	[LOCATION] = { { "mappingIndex", 1, NUMBER }, { "address", 2, NUMBER }, { "lines", 3, MESSAGE, LINE },
		{ "line", 3, MESSAGE, LINE }, { "attributeIndices", 4, NUMBER } },
	[LINE] = { { "functionIndex", 1, NUMBER }, { "line", 2, NUMBER } },
	[FUNCTION] = { { "nameStrindex", 1, NUMBER }, { "systemNameStrindex", 2, NUMBER },
		{ "filenameStrindex", 3, NUMBER } },
	[LINK] = { { "traceId", 1, ID }, { "spanId", 2, ID } },
	[ATTRIBUTE] = { { "keyStrindex", 1, NUMBER }, { "value", 2, MESSAGE, ANY } },
	[STACK] = { { "locationIndices", 1, NUMBER } },
};

struct reader {
	struct jsonin j;
	struct buf parts[MAX_DEPTH], text;	/* parts: messages that are open, outermost first */
	unsigned int depth;
	bool old;
};

/* "stackIndex" and "stack_index" are one name. */
static bool is_name(struct import_text key, const char *name)
{
	size_t i;

	for (i = 0; i < key.len; i++) {
		if (key.s[i] == '_')
			continue;
		if (tolower((unsigned char)key.s[i]) != tolower((unsigned char)*name))
			return false;
		name++;
	}
	return !*name;
}

static const struct field *json_find_field(enum message m, struct import_text key)
{
	size_t i;

	for (i = 0; i < MAX_FIELDS && fields[m][i].name; i++)
		if (is_name(key, fields[m][i].name))
			return &fields[m][i];
	return NULL;
}

/* Read a number of 64 bits, signed or not, or a text of one. */
static uint64_t json_take_number(struct reader *x)
{
	char text[32], *end;
	struct import_text t;
	struct jsonin value;
	uint64_t v;

	if (jsonin_peek(&x->j) == '"') {
		t = jsonin_string(&x->j);
	} else {
		value = jsonin_skip(&x->j);
		t = (struct import_text){ value.p, value.end - value.p };
	}
	if (!t.len || t.len >= sizeof(text)) {
		x->j.bad = true;
		return 0;
	}
	memcpy(text, t.s, t.len);
	text[t.len] = '\0';
	v = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	x->j.bad |= *end || !(isdigit((unsigned char)*text) || *text == '-');
	return v;
}

/* Read an identifier; one that is not hexadecimal, in whole bytes, is ignored. */
static void take_id(struct reader *x, unsigned int number, struct buf *out)
{
	struct import_text t = jsonin_string(&x->j);
	uint8_t id[MAX_ID_BYTES];
	size_t i;

	if (t.len > 2 * sizeof(id) || t.len % 2)
		return;
	for (i = 0; i < t.len; i++) {
		unsigned char c = tolower((unsigned char)t.s[i]);

		if (!isxdigit(c))
			return;
		id[i / 2] = (i % 2 ? id[i / 2] << 4 : 0) | (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	protobuf_bytes(out, number, id, t.len / 2);
}

static void take_message(struct reader *x, enum message m, struct buf *out);

static void take_value(struct reader *x, const struct field *f, struct buf *out)
{
	struct import_text t;

	switch (f->kind) {
	case NUMBER:
		protobuf_number(out, f->number, json_take_number(x));
		break;
	case FIXED:
		protobuf_fixed64(out, f->number, json_take_number(x));
		break;
	case TEXT:
		t = jsonin_text(jsonin_string(&x->j), &x->text);
		protobuf_bytes(out, f->number, t.s, t.len);
		break;
	case ID:
		take_id(x, f->number, out);
		break;
	case MESSAGE:
		buf_reset(&x->parts[++x->depth]);
		take_message(x, f->message, &x->parts[x->depth]);
		protobuf_part(out, f->number, &x->parts[x->depth--]);
		break;
	case OLD:
		x->old = true;
		jsonin_skip(&x->j);
		break;
	}
}

/* Numbers are packed. */
static void take_list(struct reader *x, const struct field *f, struct buf *out)
{
	bool packed = f->kind == NUMBER || f->kind == FIXED;
	struct buf *part = &x->parts[x->depth + 1];

	buf_reset(part);
	jsonin_open(&x->j, '[');
	while (jsonin_element(&x->j))
		if (f->kind == FIXED)
			buf_u64(part, json_take_number(x));
		else if (packed)
			buf_varint(part, json_take_number(x));
		else
			take_value(x, f, out);
	if (packed)
		protobuf_part(out, f->number, part);
}

static void take_message(struct reader *x, enum message m, struct buf *out)
{
	struct import_text key;

	jsonin_open(&x->j, '{');
	while (jsonin_member(&x->j, &key)) {
		const struct field *f = json_find_field(m, key);
		char first = jsonin_peek(&x->j);

		if (!f || first == 'n')		/* null is the default */
			jsonin_skip(&x->j);
		else if (first == '[')
			take_list(x, f, out);
		else
			take_value(x, f, out);
	}
}

/* Read the whole file; ends[i]: where the message of request i ends in *out. */
static int take_requests(struct reader *x, struct buf *out, size_t **ends, size_t *nr, struct err *e)
{
	size_t alloc = 0;

	while (jsonin_peek(&x->j)) {
		take_message(x, DATA, out);
		if (x->j.bad)
			return err_set(e, EINVAL, "damaged or truncated at offset %zu",
				       (size_t)(x->j.p - x->j.start));
		VEC_GROW(*ends, *nr, alloc);
		(*ends)[(*nr)++] = out->len;
	}
	if (x->old)
		return err_set(e, EOPNOTSUPP, "JSON of OpenTelemetry's profiles of version 1.7 or older; as protobuf "
			       "they can be imported");
	return 0;
}

static int read_json(struct import *im, const char *data, size_t len, struct err *e)
{
	struct reader x = { .j = jsonin_init(data, len) };
	struct buf out = BUF_INIT;
	size_t *ends = NULL, nr = 0, from = 0, i;
	struct span *requests;
	int r = take_requests(&x, &out, &ends, &nr, e);

	requests = xcalloc(nr + 1, sizeof(*requests));
	for (i = 0; i < nr; from = ends[i++])
		requests[i] = span_init(out.data ? out.data + from : "", ends[i] - from);
	if (!r)
		r = otlp_read_requests(im, requests, nr, e);
	for (i = 0; i < MAX_DEPTH; i++)
		buf_release(&x.parts[i]);
	buf_release(&x.text);
	buf_release(&out);
	free(requests);
	free(ends);
	return r;
}

/*
 * Return whether it is such JSON, by the first key; of a dictionary that comes first, by its first key, too.
 */
static bool is_json(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);
	const struct field *f;
	struct import_text key;

	jsonin_open(&j, '{');
	if (!jsonin_member(&j, &key))
		return false;
	f = json_find_field(DATA, key);
	if (!f || f->message != DICTIONARY)
		return f;
	jsonin_open(&j, '{');
	return jsonin_member(&j, &key) && json_find_field(DICTIONARY, key);
}

const struct import_format import_otlp_json = {
	.name = "OTLP",
	.what = "a file of OpenTelemetry's profiles in JSON",
	.is = is_json,
	.read = read_json,
};
