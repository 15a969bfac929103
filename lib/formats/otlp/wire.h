/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.h - writes messages in one of OTLP's two encodings, protobuf and JSON, field by field.
 *
 * A field has its number and its name in JSON; an element of a list has the number of the list and no
 * name.  What has its default is left out.  As protobuf wants the size of a message before it, each
 * top-level field is in memory as a whole until it ends; JSON is written as it comes.
 */
#ifndef FORMATS_OTLP_WIRE_H
#define FORMATS_OTLP_WIRE_H

#include "base/buf.h"
#include "base/json.h"

enum { OTLP_MAX_DEPTH = 12 };

struct otlp_wire {
	FILE *out;
	bool is_json;
	struct json j;
	/* protobuf: open messages, outermost first; [0] is what is not in one */
	struct buf open[OTLP_MAX_DEPTH];
	unsigned int field[OTLP_MAX_DEPTH];
	unsigned int depth;
};

void otlp_wire_init(struct otlp_wire *w, FILE *out, bool is_json);	/* opens the outermost message */
void otlp_wire_finish(struct otlp_wire *w);				/* closes it */

void otlp_wire_begin(struct otlp_wire *w, unsigned int field, const char *name);
void otlp_wire_end(struct otlp_wire *w);
/* Must be called before and after the elements of a list of messages or strings. */
void otlp_wire_list(struct otlp_wire *w, const char *name);
void otlp_wire_list_end(struct otlp_wire *w);

void otlp_wire_int32(struct otlp_wire *w, unsigned int field, const char *name, uint32_t v);
/* Write integers of 64 bits, which are strings in JSON. */
void otlp_wire_int64(struct otlp_wire *w, unsigned int field, const char *name, uint64_t v);
void otlp_wire_fixed64(struct otlp_wire *w, unsigned int field, const char *name, uint64_t v);
void otlp_wire_str(struct otlp_wire *w, unsigned int field, const char *name, const char *s);
/* Write bytes in protobuf only: JSON lacks the field. */
void otlp_wire_bytes(struct otlp_wire *w, unsigned int field, const void *data, size_t len);
/* Write an identifier; an unknown one is all zeros. */
void otlp_wire_id(struct otlp_wire *w, unsigned int field, const char *name, const uint8_t *id, size_t len);

/* Write a list of numbers of one kind, which the functions below add between begin and end. */
void otlp_wire_numbers(struct otlp_wire *w, unsigned int field, const char *name);
void otlp_wire_add_int32(struct otlp_wire *w, uint32_t v);
void otlp_wire_add_int64(struct otlp_wire *w, uint64_t v);
void otlp_wire_add_fixed64(struct otlp_wire *w, uint64_t v);
void otlp_wire_numbers_end(struct otlp_wire *w);

#endif
