/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.h - what a record means, as the file itself says it: every trace begins with a
 * list of (major, minor) codes, names and fields, and dump uses nothing else.
 *
 * Fields are words of text, "name:type" or "name:type:unit", in the order of the payload:
 *	u8 u16 u32 u64 i32 i64	integers; x32 x64 the same, shown in hexadecimal
 *	v z			LEB128, LEB128 of a zigzag difference
 *	s b			varint length and its bytes: text, bytes
 *	m8.16			no payload: 16 bits of the minor code from bit 8 up
 *	*nr( ... )		what is inside, as often as the field nr says; may be nested once
 * A type of any other name ends what can be decoded: the rest of the payload is bytes.
 */
#ifndef TRACE_SCHEMA_H
#define TRACE_SCHEMA_H

#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

enum { SCHEMA_MAX_FIELDS = 48 };

enum schema_type {
	SCHEMA_UINT,
	SCHEMA_INT,
	SCHEMA_HEX,
	SCHEMA_VARINT,
	SCHEMA_ZIGZAG,
	SCHEMA_TEXT,
	SCHEMA_BYTES,
	SCHEMA_MINOR,
	SCHEMA_GROUP,		/* count says which field has its number of elements */
	SCHEMA_GROUP_END,
	SCHEMA_REST,
};

struct schema_field {
	enum schema_type type;
	char name[24];
	char unit[12];		/* "" when there is none */
	uint8_t len;		/* bytes of an integer */
	uint8_t shift, width;	/* of SCHEMA_MINOR */
	uint8_t count;		/* index of the field that counts a group */
	uint8_t end;		/* index of a group's end */
};

struct schema_kind {
	uint32_t major, minor, minor_mask;
	char name[32];
	size_t nr_fields;
	struct schema_field fields[SCHEMA_MAX_FIELDS];
};

struct schema;

struct schema *schema_new(void);
void schema_free(struct schema *s);
/* Learns from the payload of a schema record; an earlier row for the same codes stays. */
int schema_learn(struct schema *s, struct span body, struct err *e);
/* Return a kind, borrowed until the next schema_learn(), or NULL if the file does not describe it. */
const struct schema_kind *schema_find(const struct schema *s, uint32_t major, uint32_t minor);

/* Gets the fields of a record one by one. */
struct schema_visitor {
	/* SCHEMA_INT: sign-extended */
	void (*number)(void *ctx, const struct schema_field *f, uint64_t v);
	void (*bytes)(void *ctx, const struct schema_field *f, const void *p, size_t len);
	void (*group)(void *ctx, const struct schema_field *f);		/* its elements come */
	void (*element)(void *ctx, bool begin);
	void (*group_end)(void *ctx);
};

/* Return false when the payload ends before the fields do; those before the end were given all the same. */
bool schema_visit(const struct schema_kind *k, uint32_t minor, struct span body,
		  const struct schema_visitor *v, void *ctx);

#endif
