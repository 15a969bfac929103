/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf.h - appends fields of a protobuf message to a buffer.
 *
 * A field that has its default is left out, as proto3 does.  Source: the Protocol Buffers encoding
 * documentation.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include "base/buf.h"

/* An integer of any size but fixed; also an enum, and a bool. */
void protobuf_number(struct buf *b, unsigned int field, uint64_t v);
void protobuf_fixed64(struct buf *b, unsigned int field, uint64_t v);
void protobuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len);
/*
 * What is in part becomes a field of b, also if it is nothing: a message, a packed list; part is empty
 * after.
 */
void protobuf_part(struct buf *b, unsigned int field, struct buf *part);

#endif
