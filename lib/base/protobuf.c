// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_tag(struct buf *b, unsigned int field, unsigned int type)
{
	buf_varint(b, field << 3 | type);
}

void protobuf_number(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	put_tag(b, field, WIRE_VARINT);
	buf_varint(b, v);
}

void protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	put_tag(b, field, WIRE_FIXED64);
	buf_u64(b, v);
}

void protobuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len)
{
	put_tag(b, field, WIRE_BYTES);
	buf_varint(b, len);
	if (len)
		buf_add(b, data, len);
}

void protobuf_part(struct buf *b, unsigned int field, struct buf *part)
{
	protobuf_bytes(b, field, part->data, part->len);
	buf_reset(part);
}
