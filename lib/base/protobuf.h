/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf.h - appends fields of a protobuf message to a buffer, and reads those of one that somebody sent.
 *
 * A field that has its default is left out, as proto3 does.  Source: the Protocol Buffers encoding
 * documentation.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Append an integer of any size but fixed; also an enum, or a bool. */
void protobuf_number(struct buf *b, unsigned int field, uint64_t v);
void protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v);
void protobuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len);
/* Append part, even an empty one, as a field of b, such as a message or a packed list; then empty it. */
void protobuf_part(struct buf *b, unsigned int field, struct buf *part);

enum protobuf_wire { PROTOBUF_VARINT, PROTOBUF_64, PROTOBUF_BYTES, PROTOBUF_32 = 5 };

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire wire;
	uint64_t v;			/* of all but PROTOBUF_BYTES */
	struct span bytes;		/* of PROTOBUF_BYTES */
};

/* Read the next field; return false at the end, and where the bytes are not a message: s->bad. */
bool protobuf_next(struct span *s, struct protobuf_field *f);

#endif
