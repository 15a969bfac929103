/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.h - what a record means, as the file itself says it: every trace begins with a
 * list of (major, minor) codes, names and fields, and dump uses nothing else.
 *
 * Fields are words of text, "name:type" or "name:type:unit", in the order of the payload:
 *	u8 u16 u32 u64 i32 i64	integers; x32 x64 the same, shown in hexadecimal
 *	v z			LEB128, LEB128 of a zigzag difference
 *	s b			varint length and that many bytes: text, bytes
 *	m8.16			no payload: 16 bits of the minor code from bit 8 up
 *	*nr( ... )		what is inside, as often as the field nr says
 */
#ifndef TRACE_SCHEMA_H
#define TRACE_SCHEMA_H

#include <stdint.h>

#include "base/buf.h"

struct schema_row {
	uint32_t major;
	uint32_t minor, minor_mask;	/* of a record: minor & minor_mask == row's minor */
	const char *name;
	const char *fields;
};

/* What this arcprof writes. */
extern const struct schema_row schema_rows[];
extern const unsigned int nr_schema_rows;

#endif
