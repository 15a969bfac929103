// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire.c - decodes an agent's records (wire.h).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/span.h"
#include "jvm/wall.h"
#include "jvm/wire.h"
#include "trace/record.h"

/* --- the table --- */

#define OP_u32 WIRE_U32
#define OP_u64 WIRE_U64

#define FIELD(type, m) { .op = OP_##type, .off = offsetof(self, m) },
#define KEY(type, m) { .op = OP_##type, .key = true, .off = offsetof(self, m) },
#define TID(m) { .op = WIRE_TID, .off = offsetof(self, m) },
#define WITH_LENGTH(how, m, l) { .op = (how), .off = offsetof(self, m), .len_off = offsetof(self, l) },
#define TEXT(m, l) WITH_LENGTH(WIRE_TEXT, m, l)
#define PAIRS(m, l) WITH_LENGTH(WIRE_PAIRS, m, l)
#define INLINES(m, l) WITH_LENGTH(WIRE_INLINES, m, l)
#define FIELDS(m, l) WITH_LENGTH(WIRE_FIELDS, m, l)
#define RECORD(s, to, list) \
	static const struct wire_field *fields_of_##s(uint32_t *nr) \
	{ \
		typedef struct jvm_##s self; \
		static const struct wire_field fields[] = { list }; \
\
		*nr = ARRAY_SIZE(fields); \
		return fields; \
	}
#include "jvm/table.h"

const struct wire_kind wire_kinds[JVM_NR_REC_TYPES] = {
#define RECORD(s, ...) \
	[JVM_REC_##s] = { .name = #s, .size = sizeof(struct jvm_##s), .fields = fields_of_##s },
#include "jvm/table.h"
};

#define FIELD(type, m)
#define BYTES(m, l)
#define TEXT(m, l) + 1
#define RECORD(s, to, fields) static_assert(0 fields <= WIRE_MAX_TEXTS, #s ": a text has no room");
#include "jvm/table.h"

/* --- samples --- */

static const uint8_t mark_of[JVM_MARK_NR] = {
	[0] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_NOT_WALKABLE] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_INTERPRETER] = MARK_JAVA_INTERPRETER,
	[JVM_MARK_STUB] = MARK_JAVA_STUB,
	[JVM_MARK_DEPTH] = MARK_JAVA_DEPTH,
	[JVM_MARK_VTHREAD] = MARK_VTHREAD_CONTINUES,
	[JVM_MARK_ANCHOR] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_LEAF_CALL] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_CUT] = MARK_TRUNCATED_STACK,
	[JVM_MARK_LATE] = MARK_JAVA_LATE,
	[JVM_MARK_LEFT_OUT] = MARK_LEFT_OUT,
};

static int bad_record(struct err *e, const char *what)
{
	return err_set(e, EILSEQ, "JVM agent: %s record does not hold together", what);
}

static bool decode_frame(const struct jvm_rec_frame *in, size_t nr_segments, struct jvm_frame *out)
{
	*out = (struct jvm_frame){
		.kind = in->kind_pc >> JVM_FRAME_PC_BITS,
		.pc = in->kind_pc & ((1ull << JVM_FRAME_PC_BITS) - 1),
	};
	switch (out->kind) {
	case JVM_COMPILED:
		out->method = in->method;
		out->compile_id = in->compile_id;
		return true;
	case JVM_INTERPRETED:
		out->method = in->method;
		out->bci = in->bci;
		return true;
	case JVM_STUB:
		return true;
	case JVM_NATIVE:
		out->segment = in->segment;
		return in->segment < nr_segments;
	case JVM_MARK:
		out->line = in->line;
		out->mark = mark_of[in->mark < JVM_MARK_NR ? in->mark : 0];
		return true;
	case JVM_ROOT:
		out->root = in->root;
		return true;
	}
	return false;
}

static bool decode_segment(struct span *s, struct jvm_segment *out)
{
	const struct jvm_rec_segment *in = span_bytes(s, sizeof(*in));

	if (!in)
		return false;
	*out = (struct jvm_segment){
		.pc = in->pc, .sp = in->sp, .fp = in->fp, .rbx = in->rbx,
		.r12 = in->r12, .r13 = in->r13, .r14 = in->r14, .r15 = in->r15,
		.valid = in->flags & JVM_SEG_VALID,
		.exact = in->flags & JVM_SEG_EXACT,
		.to_root = in->flags & JVM_SEG_TO_ROOT,
		.trimmed = in->flags & JVM_SEG_TRIMMED,
		.end = in->end,
		.len = in->len,
	};
	out->stack = span_bytes(s, in->len);
	return out->stack && span_bytes(s, -in->len & 7);
}

static bool decode_wall(const struct jvm_rec_wall *in, struct jvm_wall *out)
{
	*out = (struct jvm_wall){
		.since_ns = in->since_ns, .interval_ns = in->interval_ns, .block_nr = in->block_nr,
		.slot = in->slot, .reason = in->reason, .leaf = in->leaf,
		.class = in->class, .site = in->site, .syscall = in->syscall,
	};
	memcpy(out->args, in->args, sizeof(out->args));
	return (in->block_nr & 1 || !in->block_nr) && in->interval_ns && in->reason < WALL_NR_REASONS &&
	       in->class < WALL_NR_CLASSES;
}

static int sample_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_sample *r = span_bytes(s, sizeof(*r));
	const struct jvm_rec_wall *wall = NULL;
	const struct jvm_rec_frame *f;
	struct jvm_sample out;
	struct jvm_wall waits;
	size_t i;

	if (r && r->flags & JVM_SAMPLE_WALL && !(wall = span_bytes(s, sizeof(*wall))))
		return bad_record(e, "sample");
	if (wall && !decode_wall(wall, &waits))
		return bad_record(e, "sample");
	waits.wakes = wall && r->flags & JVM_SAMPLE_WAKE;
	if (!r || r->nr_frames > ARRAY_SIZE(w->frames) || r->nr_segments > ARRAY_SIZE(w->segments))
		return bad_record(e, "sample");
	f = span_bytes(s, r->nr_frames * sizeof(*f));
	for (i = 0; f && i < r->nr_frames; i++)
		if (!decode_frame(&f[i], r->nr_segments, &w->frames[i]))
			return bad_record(e, "sample");
	for (i = 0; f && i < r->nr_segments; i++)
		if (!decode_segment(s, &w->segments[i]))
			break;
	if (s->bad)
		return bad_record(e, "sample");
	out = (struct jvm_sample){
		.time_ns = r->time_ns, .tid = r->tid,
		.event = r->flags & JVM_SAMPLE_TIMER ? 0 : r->event,
		.nr_periods = r->flags & JVM_SAMPLE_TIMER ? r->event : 0,
		.of_source = r->flags & JVM_SAMPLE_SOURCE, .value = r->value, .leaf = r->leaf, .id = r->id,
		.late = r->flags & JVM_SAMPLE_LATE, .vthread = r->vthread,
		.skipped = r->flags & JVM_SAMPLE_SKIPPED ? r->value : 0,
		.wall = wall ? &waits : NULL,
		.frames = w->frames, .nr_frames = r->nr_frames,
		.segments = w->segments, .nr_segments = r->nr_segments,
	};
	sink->sample(sink->ctx, &out);
	return 0;
}

/* --- records of the table --- */

/* Return a terminated copy, in UTF-8; what the VM calls a name may hold any byte but 0. */
static const char *wire_text(struct span *s, uint32_t *len, char *buf)
{
	const char *p = *len <= JVM_MAX_STRING ? span_bytes(s, *len) : NULL;

	if (!p) {
		s->bad = true;
		return NULL;
	}
	memcpy(buf, p, *len);
	buf[*len] = '\0';
	*len = utf8_from_java(buf, strlen(buf));
	buf[*len] = '\0';
	return buf;
}

/* Return whether the bytes are whole pairs of varints. */
static bool pairs_valid(const uint8_t *table, size_t len)
{
	struct span s = span_init(table, len);

	while (span_left(&s) && !s.bad) {
		span_varint(&s);
		span_varint(&s);
	}
	return !s.bad;
}

/* Return whether the bytes are well formed to their end. */
static bool inlines_valid(const uint8_t *inl, size_t len)
{
	struct span s = span_init(inl, len);
	uint64_t nr_pcs = len ? span_varint(&s) : 0, i, k;

	for (i = 0; i < nr_pcs && !s.bad; i++) {
		uint64_t nr;

		span_varint(&s);
		nr = span_varint(&s);
		for (k = 0; k < nr && !s.bad; k++) {
			span_varint(&s);
			span_varint(&s);
		}
	}
	return !s.bad;
}

static void decode_bytes(char *rec, const struct wire_field *f, struct span *s, char *buf)
{
	uint32_t len = span_u32(s);
	const void *p = f->op == WIRE_TEXT ? wire_text(s, &len, buf) : span_bytes(s, len);

	if (!p || (f->op == WIRE_PAIRS && !pairs_valid(p, len)) ||
	    (f->op == WIRE_INLINES && !inlines_valid(p, len)) ||
	    (f->op == WIRE_FIELDS && !fields_valid(p, len)))
		s->bad = true;
	memcpy(rec + f->off, &p, sizeof(p));
	memcpy(rec + f->len_off, &len, sizeof(len));
}

static void decode_number(char *rec, const struct wire_field *f, struct span *s)
{
	size_t len = f->op == WIRE_U64 ? 8 : 4;
	uint64_t v = span_le(s, len);

	memcpy(rec + f->off, &v, len);	/* every supported CPU is little-endian */
	s->bad |= f->key && !v;
}

static int table_record(struct span *s, uint32_t type, const struct wire_sink *sink, struct wire_scratch *w,
			struct err *e)
{
	const struct wire_kind *k = &wire_kinds[type];
	uint32_t i, nr, nr_texts = 0;
	const struct wire_field *f = k->fields(&nr);
	union jvm_record r;
	uint64_t time_ns;

	memset(&r, 0, k->size);
	span_bytes(s, sizeof(struct jvm_rec));
	time_ns = span_u64(s);
	memcpy(&r, &time_ns, sizeof(time_ns));
	for (i = 0; i < nr && !s->bad; i++, f++) {
		if (f->op >= WIRE_TEXT)
			decode_bytes((char *)&r, f, s, f->op == WIRE_TEXT ? w->text[nr_texts++] : NULL);
		else
			decode_number((char *)&r, f, s);
	}
	if (s->bad || span_left(s) >= 8)
		return bad_record(e, k->name);
	sink->record(sink->ctx, type, &r);
	return 0;
}

int wire_record(const void *rec, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		struct err *e)
{
	const struct jvm_rec *h = rec;
	struct span s = span_init(rec, len);

	if (len < sizeof(*h) || h->size != len)
		return bad_record(e, "a");
	if (h->type == JVM_REC_SAMPLE)
		return sample_record(&s, sink, w, e);
	if (h->type < ARRAY_SIZE(wire_kinds) && wire_kinds[h->type].name)
		return table_record(&s, h->type, sink, w, e);
	return 0;
}

ssize_t wire_records(const void *data, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		     struct err *e)
{
	const uint8_t *p = data;
	size_t used = 0;
	int r;

	while (len - used >= sizeof(struct jvm_rec)) {
		const struct jvm_rec *h = (const void *)(p + used);

		if (h->size < sizeof(*h) || (h->size & 7))
			return bad_record(e, "a");
		if (h->size > len - used)
			break;
		if ((r = wire_record(h, h->size, sink, w, e)))
			return r;
		used += h->size;
	}
	return used;
}
