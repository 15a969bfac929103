/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.h - the rows of table.h as data, and the encoder and decoder that work from them.
 */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include "base/buf.h"
#include "base/span.h"
#include "trace/calls.h"
#include "trace/format.h"
#include "trace/frame.h"

enum record_number {
#define RECORD(s, ...) RECORD_##s,
#include "trace/table.h"
	NR_RECORD_KINDS
};

/* Any record; the members have the names of their structs. */
union trace_record {
#define RECORD(s, ...) struct rec_##s s;
#include "trace/table.h"
};

enum field_op {
	FIELD_U32,		/* 4 bytes as they are in memory */
	FIELD_U64,
	FIELD_VARINT,		/* of a uint64_t */
	FIELD_BYTES,		/* a varint n and n bytes; the struct has a pointer and a size_t */
	FIELD_PAIRS,		/* a varint n and n pairs of varints; the same */
};

struct record_field {
	uint8_t op;		/* enum field_op */
	bool key;		/* must not be 0 */
	uint16_t off, len_off;	/* in the struct */
};

enum record_chunk { CHUNK_META, CHUNK_BRANCHES, CHUNK_CALLS };

struct record_code {
	uint32_t major;
	uint32_t minor, minor_mask;	/* of a record: minor & minor_mask == this minor */
	uint32_t minor_off;		/* of the u32 in the struct that is the minor code, else 0 */
};

/* a struct of the table */
struct record_kind {
	enum record_number number;
	enum record_chunk chunk;
	uint32_t size;			/* of the struct */
	bool timed;			/* it begins with time_ns */
	struct record_code code;	/* without a variant */
	const struct record_field *(*fields)(uint32_t *nr);
	/* all but the time */
	void (*decode)(union trace_record *rec, struct span *s);
};

/* a code; several may have the same struct */
struct record_row {
	struct record_code code;
	uint32_t flag_off;		/* of the bool that the code sets, else 0 */
	const char *name;
	const char *fields;		/* as schema.h describes them */
	const struct record_kind *kind;	/* NULL: by hand */
};

extern const struct record_kind record_kinds[NR_RECORD_KINDS];
extern const struct record_row record_rows[];
extern const unsigned int nr_record_rows;

static inline bool record_is(const struct record_row *r, uint32_t major, uint32_t minor)
{
	return r->code.major == major && (minor & r->code.minor_mask) == r->code.minor;
}

/* Return the row of a code, NULL if this version has no such record. */
const struct record_row *record_find(uint32_t major, uint32_t minor);
uint32_t record_minor(const struct record_kind *k, const void *rec);
enum trf_type record_encode(struct buf *b, const struct record_kind *k, const void *rec);
/*
 * Fills the whole struct; its pointers are into the body.  False when the body ends before the fields
 * do, or a key is 0.
 */
bool record_decode(union trace_record *rec, const struct record_row *row, uint64_t time_ns, struct span body);

#endif
