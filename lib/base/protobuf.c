// SPDX-License-Identifier: GPL-2.0-or-later
/* protobuf.c - encodes and decodes the fields of protobuf messages (protobuf.h). */
#include "base/protobuf.h"

static void put_tag(struct buf *b, unsigned int field, unsigned int type)
{
	buf_varint(b, field << 3 | type);
}

void protobuf_number(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	put_tag(b, field, PROTOBUF_VARINT);
	buf_varint(b, v);
}

void protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	put_tag(b, field, PROTOBUF_64);
	buf_u64(b, v);
}

void protobuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len)
{
	put_tag(b, field, PROTOBUF_BYTES);
	buf_varint(b, len);
	if (len)
		buf_add(b, data, len);
}

void protobuf_part(struct buf *b, unsigned int field, struct buf *part)
{
	protobuf_bytes(b, field, part->data, part->len);
	buf_reset(part);
}

bool protobuf_next(struct span *s, struct protobuf_field *f)
{
	uint64_t tag, len;
	const void *p;

	if (s->bad || !span_left(s))
		return false;
	tag = span_varint(s);
	*f = (struct protobuf_field){ .number = tag >> 3, .wire = tag & 7 };
	if (!f->number || tag >> 32)
		s->bad = true;
	switch (f->wire) {
	case PROTOBUF_VARINT:
		f->v = span_varint(s);
		break;
	case PROTOBUF_64:
		f->v = span_u64(s);
		break;
	case PROTOBUF_32:
		f->v = span_u32(s);
		break;
	case PROTOBUF_BYTES:
		len = span_varint(s);
		p = len <= span_left(s) ? span_bytes(s, len) : NULL;
		s->bad |= !p;
		f->bytes = span_init(p, p ? len : 0);
		break;
	default:
		s->bad = true;
	}
	return !s->bad;
}
