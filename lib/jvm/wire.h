/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - decodes what an agent wrote (proto.h). All of it is hostile input: every length
 * is checked against the record, nothing outside it is read.
 */
#ifndef JVM_WIRE_H
#define JVM_WIRE_H

#include <sys/types.h>

#include "jvm/record.h"
#include "jvm/server.h"

/* The receiver of decoded records; the pointers in them are valid during the call. */
struct wire_sink {
	void (*sample)(void *ctx, const struct jvm_sample *s);
	/* gets a record of table.h, which it may change */
	void (*record)(void *ctx, enum jvm_rec_type type, union jvm_record *r);
	void *ctx;
};

enum { WIRE_MAX_TEXTS = 4 };		/* of a record */

/* Room for the largest sample; reused from record to record. */
struct wire_scratch {
	struct jvm_frame frames[JVM_MAX_DEPTH + 8];
	struct jvm_segment segments[JVM_MAX_SEGMENTS];
	char text[WIRE_MAX_TEXTS][JVM_MAX_STRING + 1];
};

/* The rows of table.h as data. */
enum wire_op {
	WIRE_U32,
	WIRE_U64,
	WIRE_TID,
	WIRE_TEXT,
	WIRE_PAIRS,
	WIRE_INLINES,
	WIRE_FIELDS,
};

struct wire_field {
	uint8_t op;			/* enum wire_op */
	bool key;			/* must not be 0 */
	uint16_t off, len_off;		/* in the struct */
};

struct wire_kind {
	const char *name;		/* NULL: no row has that type */
	uint32_t size;			/* of the struct */
	const struct wire_field *(*fields)(uint32_t *nr);
};

extern const struct wire_kind wire_kinds[JVM_NR_REC_TYPES];

/*
 * Process one record of len bytes, header included and equal to it; 8-aligned. Unknown types are skipped (0).
 * -EILSEQ: it is invalid, and nothing was reported.
 */
int wire_record(const void *rec, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		struct err *e);
/*
 * Process as many whole records as there are in data; return the bytes used. Stops before an incomplete one.
 * -EILSEQ as above: the stream cannot be continued.
 */
ssize_t wire_records(const void *data, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		     struct err *e);

#endif
