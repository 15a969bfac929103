// SPDX-License-Identifier: GPL-2.0-or-later
/* wire.c - writes OTLP messages in protobuf or JSON (wire.h). */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/protobuf.h"
#include "formats/otlp/wire.h"

static struct buf *top(struct otlp_wire *w)
{
	return &w->open[w->depth];
}

/* Write what is complete and in no message. */
static void flush(struct otlp_wire *w)
{
	if (!w->depth && w->open[0].len) {
		fwrite(w->open[0].data, 1, w->open[0].len, w->out);
		buf_reset(&w->open[0]);
	}
}

void otlp_wire_init(struct otlp_wire *w, FILE *out, bool is_json)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
	w->is_json = is_json;
	json_init(&w->j, out);
	w->j.one_line = true;
	if (is_json)
		json_object(&w->j, NULL);
}

void otlp_wire_finish(struct otlp_wire *w)
{
	size_t i;

	if (w->is_json)
		json_end(&w->j);
	flush(w);
	for (i = 0; i < ARRAY_SIZE(w->open); i++)
		buf_release(&w->open[i]);
}

static void wire_push(struct otlp_wire *w, unsigned int field)
{
	w->depth++;
	assert(w->depth < OTLP_MAX_DEPTH);
	w->field[w->depth] = field;
}

static void pop(struct otlp_wire *w)
{
	w->depth--;
	protobuf_part(top(w), w->field[w->depth + 1], &w->open[w->depth + 1]);
	flush(w);
}

void otlp_wire_begin(struct otlp_wire *w, unsigned int field, const char *name)
{
	if (w->is_json)
		json_object(&w->j, name);
	else
		wire_push(w, field);
}

void otlp_wire_end(struct otlp_wire *w)
{
	if (w->is_json)
		json_end(&w->j);
	else
		pop(w);
}

void otlp_wire_list(struct otlp_wire *w, const char *name)
{
	if (w->is_json)
		json_array(&w->j, name);
}

void otlp_wire_list_end(struct otlp_wire *w)
{
	if (w->is_json)
		json_end(&w->j);
}

void otlp_wire_int32(struct otlp_wire *w, unsigned int field, const char *name, uint32_t v)
{
	if (!w->is_json)
		protobuf_number(top(w), field, v);
	else if (v)
		json_u64(&w->j, name, v);
}

static void put_text(struct otlp_wire *w, const char *name, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	json_str(&w->j, name, text);
}

void otlp_wire_int64(struct otlp_wire *w, unsigned int field, const char *name, uint64_t v)
{
	if (!w->is_json)
		protobuf_number(top(w), field, v);
	else if (v)
		put_text(w, name, v);
}

void otlp_wire_fixed64(struct otlp_wire *w, unsigned int field, const char *name, uint64_t v)
{
	if (!w->is_json)
		protobuf_fixed64(top(w), field, v);
	else if (v)
		put_text(w, name, v);
}

void otlp_wire_str(struct otlp_wire *w, unsigned int field, const char *name, const char *s)
{
	if (w->is_json)
		json_str(&w->j, name, s);
	else
		protobuf_bytes(top(w), field, s, strlen(s));
}

void otlp_wire_bytes(struct otlp_wire *w, unsigned int field, const void *data, size_t len)
{
	if (!w->is_json)
		protobuf_bytes(top(w), field, data, len);
}

/* Write an identifier. OTLP's JSON has them in hex, not in base64. */
void otlp_wire_id(struct otlp_wire *w, unsigned int field, const char *name, const uint8_t *id, size_t len)
{
	char text[64];

	assert(len < sizeof(text) / 2);
	if (!w->is_json) {
		protobuf_bytes(top(w), field, id, len);
		return;
	}
	hex_put(text, id, len);
	json_str(&w->j, name, text);
}

void otlp_wire_numbers(struct otlp_wire *w, unsigned int field, const char *name)
{
	if (w->is_json)
		json_array(&w->j, name);
	else
		wire_push(w, field);
}

void otlp_wire_add_int32(struct otlp_wire *w, uint32_t v)
{
	if (w->is_json)
		json_u64(&w->j, NULL, v);
	else
		buf_varint(top(w), v);
}

void otlp_wire_add_int64(struct otlp_wire *w, uint64_t v)
{
	if (w->is_json)
		put_text(w, NULL, v);
	else
		buf_varint(top(w), v);
}

void otlp_wire_add_fixed64(struct otlp_wire *w, uint64_t v)
{
	if (w->is_json)
		put_text(w, NULL, v);
	else
		buf_u64(top(w), v);
}

void otlp_wire_numbers_end(struct otlp_wire *w)
{
	otlp_wire_end(w);
}
