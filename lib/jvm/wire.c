// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wire.c - decodes an agent's records (wire.h).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"
#include "base/span.h"
#include "jvm/wire.h"
#include "trace/record.h"

static const uint8_t mark_of[JVM_MARK_NR] = {
	[0] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_NOT_WALKABLE] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_INTERPRETER] = MARK_JAVA_INTERPRETER,
	[JVM_MARK_STUB] = MARK_JAVA_STUB,
	[JVM_MARK_DEPTH] = MARK_JAVA_DEPTH,
	[JVM_MARK_VTHREAD] = MARK_VTHREAD_CONTINUES,
	[JVM_MARK_ANCHOR] = MARK_JAVA_NOT_WALKABLE,
	[JVM_MARK_LEAF_CALL] = MARK_JAVA_NOT_WALKABLE,
};

static int bad_record(struct err *e, const char *what)
{
	return err_set(e, EILSEQ, "JVM agent: %s record does not hold together", what);
}

/* The fixed part of a record, or NULL when it is shorter. */
static const void *fixed(struct span *s, size_t size)
{
	return span_bytes(s, size);
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
	const struct jvm_rec_segment *in = fixed(s, sizeof(*in));

	if (!in)
		return false;
	*out = (struct jvm_segment){
		.pc = in->pc, .sp = in->sp, .fp = in->fp, .rbx = in->rbx,
		.r12 = in->r12, .r13 = in->r13, .r14 = in->r14, .r15 = in->r15,
		.valid = in->flags & 0x1f,
		.exact = in->flags & JVM_SEG_EXACT,
		.to_root = in->flags & JVM_SEG_TO_ROOT,
		.trimmed = in->flags & JVM_SEG_TRIMMED,
		.end = in->end,
		.len = in->len,
	};
	out->stack = span_bytes(s, in->len);
	return out->stack && span_bytes(s, -in->len & 7);
}

static int sample_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_sample *r = fixed(s, sizeof(*r));
	const struct jvm_rec_frame *f;
	struct jvm_sample out;
	size_t i;

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
		.late = r->flags & JVM_SAMPLE_LATE, .vthread = r->vthread,
		.frames = w->frames, .nr_frames = r->nr_frames,
		.segments = w->segments, .nr_segments = r->nr_segments,
	};
	sink->sample(sink->ctx, &out);
	return 0;
}

/* A terminated copy; what the VM calls a name may hold any byte but 0. */
static const char *text(struct span *s, size_t len, char *buf)
{
	const char *p = len <= JVM_MAX_STRING ? span_bytes(s, len) : NULL;

	if (!p) {
		s->bad = true;
		return NULL;
	}
	memcpy(buf, p, len);
	buf[len] = '\0';
	return buf;
}

/* Pairs of varints. */
static bool lines_valid(const uint8_t *table, size_t len)
{
	struct span s = span_init(table, len);

	while (span_left(&s) && !s.bad) {
		span_varint(&s);
		span_varint(&s);
	}
	return !s.bad;
}

static int method_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_method *r = fixed(s, sizeof(*r));
	struct jvm_method m;
	const uint8_t *lines;

	if (!r)
		return bad_record(e, "method");
	m = (struct jvm_method){ .time_ns = r->time_ns, .method = r->method };
	m.class_name = text(s, r->class_len, w->text[0]);
	m.name = text(s, r->name_len, w->text[1]);
	m.sig = text(s, r->sig_len, w->text[2]);
	m.source = text(s, r->source_len, w->text[3]);
	lines = r->lines_len ? span_bytes(s, r->lines_len) : NULL;
	if (s->bad || !r->method || (lines && !lines_valid(lines, r->lines_len)))
		return bad_record(e, "method");
	sink->method(sink->ctx, &m);
	if (lines && sink->lines)
		sink->lines(sink->ctx, r->method, lines, r->lines_len);
	return 0;
}

/* Well formed to its end. */
static bool inl_valid(const uint8_t *inl, size_t len)
{
	struct span s = span_init(inl, len);
	uint64_t nr_pcs = span_varint(&s), i, k;

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

static int code_record(struct span *s, const struct wire_sink *sink, struct err *e)
{
	const struct jvm_rec_code *r = fixed(s, sizeof(*r));
	struct jvm_code c;

	if (!r)
		return bad_record(e, "code");
	c = (struct jvm_code){
		.time_ns = r->time_ns, .addr = r->addr, .size = r->size, .method = r->method,
		.compile_id = r->compile_id, .level = r->level, .inl_len = r->inl_len,
	};
	c.inl = span_bytes(s, r->inl_len);
	if (!c.inl || (c.inl_len && !inl_valid(c.inl, c.inl_len)))
		return bad_record(e, "code");
	sink->code(sink->ctx, &c);
	return 0;
}

static int code_gone_record(struct span *s, const struct wire_sink *sink, struct err *e)
{
	const struct jvm_rec_code_gone *r = fixed(s, sizeof(*r));

	if (!r)
		return bad_record(e, "unloaded code");
	sink->code_gone(sink->ctx, r->time_ns, r->compile_id, r->addr);
	return 0;
}

static int stub_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_stub *r = fixed(s, sizeof(*r));
	const char *name = r ? text(s, r->name_len, w->text[0]) : NULL;

	if (!name)
		return bad_record(e, "stub");
	sink->stub(sink->ctx, r->time_ns, r->addr, r->size, name);
	return 0;
}

static int bracket_record(struct span *s, const struct wire_sink *sink, struct err *e)
{
	const struct jvm_rec_bracket *r = fixed(s, sizeof(*r));

	if (!r)
		return bad_record(e, "bracket");
	sink->bracket(sink->ctx, r->time_ns, r->tid, r->method);
	return 0;
}

static int thread_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_thread *r = fixed(s, sizeof(*r));
	const char *name = r ? text(s, r->name_len, w->text[0]) : NULL;

	if (!name)
		return bad_record(e, "thread");
	sink->thread(sink->ctx, r->time_ns, r->tid, r->vthread, name);
	return 0;
}

static int refused_record(struct span *s, const struct wire_sink *sink, struct wire_scratch *w, struct err *e)
{
	const struct jvm_rec_refused *r = fixed(s, sizeof(*r));
	struct jvm_refused x;

	if (!r)
		return bad_record(e, "refused");
	x.time_ns = r->time_ns;
	x.class_name = text(s, r->class_len, w->text[0]);
	x.name = text(s, r->name_len, w->text[1]);
	x.sig = text(s, r->sig_len, w->text[2]);
	x.why = text(s, r->why_len, w->text[3]);
	if (s->bad)
		return bad_record(e, "refused");
	sink->refused(sink->ctx, &x);
	return 0;
}

int wire_record(const void *rec, size_t len, const struct wire_sink *sink, struct wire_scratch *w,
		struct err *e)
{
	const struct jvm_rec *h = rec;
	struct span s = span_init(rec, len);

	if (len < sizeof(*h) || h->size != len)
		return bad_record(e, "a");
	switch (h->type) {
	case JVM_REC_SAMPLE:
		return sample_record(&s, sink, w, e);
	case JVM_REC_METHOD:
		return method_record(&s, sink, w, e);
	case JVM_REC_CODE:
		return code_record(&s, sink, e);
	case JVM_REC_CODE_GONE:
		return code_gone_record(&s, sink, e);
	case JVM_REC_BRACKET:
		return bracket_record(&s, sink, e);
	case JVM_REC_STUB:
		return stub_record(&s, sink, w, e);
	case JVM_REC_THREAD:
		return thread_record(&s, sink, w, e);
	case JVM_REC_REFUSED:
		return refused_record(&s, sink, w, e);
	}
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
