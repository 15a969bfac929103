// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schema.c - the table of the records this arcprof writes, and the decoder of any
 * record by the table that a file brings along.
 *
 * The table of a file is hostile as anything in it: its size is limited, and a group must
 * consume bytes with every element, so that a count alone makes no work.
 */
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "trace/format.h"
#include "trace/schema.h"

#define MTE(minor, name, fields) { TRF_MAJOR_MTE, (minor), 0xffffffff, (name), (fields) }
#define TPROF(minor, name, fields) \
	{ TRF_MAJOR_TPROF, (minor), 0xff, (name), "event:m8.8 cpu:m16.16 thread:u32 stack:u32" fields }

#define BRANCHES "cpu:m16.16 thread:u32 start:x64 nr:v *nr( what:u8 instructions:v span:v to:z )"

const struct schema_row schema_rows[] = {
	{ TRF_MAJOR_FILE, TRF_FILE_SCHEMA, 0xffffffff, "schema",
	  "major:x32 minor:x32 minor_mask:x32 name:s fields:s" },
	{ TRF_MAJOR_FILE, TRF_FILE_INDEX, 0xffffffff, "index",
	  "offset:u64:bytes first:u64:ns last:u64:ns type:u32:4cc stream:u32 records:u32 stored:u32:bytes" },
	{ TRF_MAJOR_FILE, TRF_FILE_END, 0xffffffff, "end",
	  "index:u64:bytes samples:u64 records:u64 lost:u64 realtime:u64:ns chunks:u32" },
	{ TRF_MAJOR_LABEL, 0, 0, "label", "key:s value:s" },
	{ TRF_MAJOR_LOST, 0, 0, "lost", "cause:u32 stream:u32 count:u64" },
	{ TRF_MAJOR_DISPATCH, TRF_DISPATCH_RUN, 0xffffffff, "dispatches",
	  "nr:u32 *nr( dt:z:ns what:v thread:v arg:v )" },
	TPROF(TRF_TPROF_PLAIN, "sample.kernel", ""),
	TPROF(TRF_TPROF_PLAIN | TRF_TPROF_USER, "sample.user", ""),
	TPROF(TRF_TPROF_WEIGHT, "sample.kernel", " weight:u64"),
	TPROF(TRF_TPROF_WEIGHT | TRF_TPROF_USER, "sample.user", " weight:u64"),
	TPROF(TRF_TPROF_WIDE, "sample.kernel", " weight:u64 event_wide:u32"),
	TPROF(TRF_TPROF_WIDE | TRF_TPROF_USER, "sample.user", " weight:u64 event_wide:u32"),
	{ TRF_MAJOR_STACK, TRF_STACK_FRAMES, 0xffffffff, "frames",
	  "first:u32 nr:u32 *nr( kind:v a:v b:z c:v d:v )" },
	{ TRF_MAJOR_STACK, TRF_STACK_NODES, 0xffffffff, "stacks",
	  "first:u32 runs:u32 *runs( up:v n:v *n( frame:v ) )" },
	{ TRF_MAJOR_BRANCH, TRF_BRANCH_KERNEL, TRF_BRANCH_WHAT, "branches.kernel", BRANCHES },
	{ TRF_MAJOR_BRANCH, TRF_BRANCH_USER, TRF_BRANCH_WHAT, "branches.user", BRANCHES },
	{ TRF_MAJOR_BRANCH, TRF_BRANCH_CODE, TRF_BRANCH_WHAT, "branch.code", "addr:x64 proc:u32 bytes:b" },
	MTE(TRF_MTE_PROC, "proc", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_FORK, "fork", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_EXEC, "exec", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_PROC_END, "proc.end", "proc:u32 thread:u32 status:i32"),
	MTE(TRF_MTE_THREAD, "thread", "thread:u32 proc:u32 tid:u32 name:s"),
	MTE(TRF_MTE_JAVA_THREAD, "thread.java", "thread:u32 proc:u32 tid:u32 name:s"),
	MTE(TRF_MTE_THREAD_END, "thread.end", "proc:u32 thread:u32 status:i32"),
	MTE(TRF_MTE_MODULE, "module",
	    "module:u32 flags:x32 dev:x64 inode:u64 size:u64:bytes mtime:u64:ns build_id:b path:s"),
	MTE(TRF_MTE_MAP, "map", "proc:u32 module:u32 addr:x64 size:x64 pgoff:x64"),
	MTE(TRF_MTE_METHOD, "method", "proc:u32 method:u32 class:s name:s signature:s source:s"),
	MTE(TRF_MTE_METHOD_LINES, "method.lines", "proc:u32 method:u32 nr:v *nr( bci:z line:z )"),
	MTE(TRF_MTE_CODE, "code",
	    "addr:x64 proc:u32 method:u32 compile_id:u32 level:u32 size:u32:bytes inline:b"),
	MTE(TRF_MTE_CODE_GONE, "code.gone", "addr:x64 proc:u32 compile_id:u32"),
	MTE(TRF_MTE_STUB, "stub", "addr:x64 size:x64 proc:u32 name:s"),
	MTE(TRF_MTE_BRACKET, "bracket", "proc:u32 thread:u32 method:u32"),
	{ TRF_MAJOR_CALLS, TRF_CALLS_CONSUMER, 0xffffffff, "call.consumer", "consumer:u32 kind:v a:v b:v" },
	{ TRF_MAJOR_CALLS, TRF_CALLS_TREE, 0xffffffff, "call.tree",
	  "tree:u32 proc:u32 thread:u32 flags:x32 java_id:v start:v:ns end:v:ns kernel_cpu:v:ns popped:v inserted:v "
	  "over_range:v folded:v folded_recursion:v thrown:v missed:v mounts:v lost_events:v open:v name:s" },
	{ TRF_MAJOR_CALLS, TRF_CALLS_NODES, 0xffffffff, "call.nodes",
	  "tree:u32 first:u32 nr:u32 *nr( up:v consumer:v )" },
	{ TRF_MAJOR_CALLS, TRF_CALLS_VALUES, 0xffffffff, "call.values",
	  "tree:u32 metrics:u32 nr:u32 *nr( skip:v calls:v *metrics( base:v ) )" },
	{ TRF_MAJOR_CALLS, TRF_CALLS_REFUSED, 0xffffffff, "call.refused", "proc:u32 class:s name:s signature:s why:s" },
	{ TRF_MAJOR_CALLS, TRF_CALLS_EVENTS, 0xffffffff, "call.events",
	  "tree:u32 metrics:u32 nr:u32 *nr( kind:v consumer:v time:v:ns *metrics( charged:v ) )" },
	{ TRF_MAJOR_SYMBOL, TRF_SYMBOL_NAME, 0xffffffff, "symbol", "off:x64 size:x64 module:u32 name:s" },
	{ TRF_MAJOR_SYMBOL, TRF_SYMBOL_LINE, 0xffffffff, "line",
	  "off:x64 module:u32 depth:u32 nr_depth:u32 line:u32 func:s file:s" },
};

const unsigned int nr_schema_rows = ARRAY_SIZE(schema_rows);

/* ---- the reader's side ---- */

enum { MAX_KINDS = 1024, MAX_DEPTH = 2 };

struct schema {
	struct schema_kind *kinds;
	size_t nr_kinds, alloc_kinds;
};

struct schema *schema_new(void)
{
	return xcalloc(1, sizeof(struct schema));
}

void schema_free(struct schema *s)
{
	if (s)
		free(s->kinds);
	free(s);
}

static bool word_is(const char *w, size_t len, const char *s)
{
	return strlen(s) == len && !memcmp(w, s, len);
}

static void set_type(struct schema_field *f, const char *w, size_t len)
{
	static const struct {
		const char *word;
		enum schema_type type;
		uint8_t len;
	} types[] = {
		{ "u8", SCHEMA_UINT, 1 }, { "u16", SCHEMA_UINT, 2 }, { "u32", SCHEMA_UINT, 4 },
		{ "u64", SCHEMA_UINT, 8 }, { "i32", SCHEMA_INT, 4 }, { "i64", SCHEMA_INT, 8 },
		{ "x32", SCHEMA_HEX, 4 }, { "x64", SCHEMA_HEX, 8 }, { "v", SCHEMA_VARINT, 0 },
		{ "z", SCHEMA_ZIGZAG, 0 }, { "s", SCHEMA_TEXT, 0 }, { "b", SCHEMA_BYTES, 0 },
	};
	unsigned int shift, width, i;
	char copy[8] = "";

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (word_is(w, len, types[i].word)) {
			f->type = types[i].type;
			f->len = types[i].len;
			return;
		}
	}
	f->type = SCHEMA_REST;
	memcpy(copy, w, MIN(len, sizeof(copy) - 1));
	if (sscanf(copy, "m%2u.%2u", &shift, &width) == 2 && shift < 32 && width && width <= 32 - shift) {
		f->type = SCHEMA_MINOR;
		f->shift = shift;
		f->width = width;
	}
}

static int find_count(const struct schema_kind *k, const char *w, size_t len)
{
	size_t i = k->nr_fields;

	while (i--)
		if (k->fields[i].type <= SCHEMA_VARINT && word_is(w, len, k->fields[i].name))
			return i;
	return -1;
}

/* One word of the text: "name:type", "name:type:unit", "*nr(" or ")". */
static bool add_word(struct schema_kind *k, const char *w, size_t len, int *open, size_t *depth)
{
	struct schema_field *f = &k->fields[k->nr_fields];
	const char *type, *unit, *end = w + len;
	int count;

	if (k->nr_fields == SCHEMA_MAX_FIELDS)
		return false;
	memset(f, 0, sizeof(*f));
	if (word_is(w, len, ")")) {
		if (!*depth)
			return false;
		f->type = SCHEMA_GROUP_END;
		k->fields[open[--*depth]].end = k->nr_fields++;
		return true;
	}
	if (len > 2 && w[0] == '*' && end[-1] == '(') {
		count = find_count(k, w + 1, len - 2);
		if (count < 0 || *depth == MAX_DEPTH)
			return false;
		f->type = SCHEMA_GROUP;
		f->count = count;
		memcpy(f->name, k->fields[count].name, sizeof(f->name));
		open[(*depth)++] = k->nr_fields++;
		return true;
	}
	type = memchr(w, ':', len);
	if (!type || type == w)
		return false;
	memcpy(f->name, w, MIN((size_t)(type - w), sizeof(f->name) - 1));
	type++;
	unit = memchr(type, ':', end - type);
	set_type(f, type, (unit ? unit : end) - type);
	if (unit)
		memcpy(f->unit, unit + 1, MIN((size_t)(end - unit - 1), sizeof(f->unit) - 1));
	k->nr_fields++;
	return true;
}

static bool parse_fields(struct schema_kind *k, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	int open[MAX_DEPTH];
	size_t depth = 0;

	while (p < end) {
		const char *w = p;

		while (p < end && *p != ' ')
			p++;
		if (p > w && !add_word(k, w, p - w, open, &depth))
			return false;
		p += p < end;
	}
	return !depth;
}

int schema_learn(struct schema *s, struct span body, struct err *e)
{
	struct schema_kind k = { 0 };
	const char *name, *fields;
	size_t len, i;

	k.major = span_u32(&body);
	k.minor = span_u32(&body);
	k.minor_mask = span_u32(&body);
	name = span_str(&body, &len);
	memcpy(k.name, name ? name : "", MIN(len, sizeof(k.name) - 1));
	fields = span_str(&body, &len);
	if (body.bad || !parse_fields(&k, fields, len))
		return err_set(e, EILSEQ, "invalid schema of record %x/%x", k.major, k.minor);
	for (i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].major == k.major && s->kinds[i].minor == k.minor &&
		    s->kinds[i].minor_mask == k.minor_mask)
			return 0;
	if (s->nr_kinds == MAX_KINDS)
		return err_set(e, E2BIG, "more than %d kinds of records", MAX_KINDS);
	VEC_GROW(s->kinds, s->nr_kinds, s->alloc_kinds);
	s->kinds[s->nr_kinds++] = k;
	return 0;
}

const struct schema_kind *schema_find(const struct schema *s, uint32_t major, uint32_t minor)
{
	size_t i;

	for (i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].major == major && (minor & s->kinds[i].minor_mask) == s->kinds[i].minor)
			return &s->kinds[i];
	return NULL;
}

struct visit {
	const struct schema_kind *k;
	const struct schema_visitor *v;
	void *ctx;
	uint32_t minor;
	struct span s;
	uint64_t vals[SCHEMA_MAX_FIELDS];	/* latest value of each field, for counts */
};

static void visit_number(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	uint64_t x;

	switch (f->type) {
	case SCHEMA_VARINT:
		x = span_varint(&v->s);
		break;
	case SCHEMA_ZIGZAG:
		x = span_varint(&v->s);
		x = x >> 1 ^ -(x & 1);
		break;
	case SCHEMA_MINOR:
		x = (uint64_t)v->minor >> f->shift & ((1ull << f->width) - 1);
		break;
	default:
		x = span_le(&v->s, f->len);
		if (f->type == SCHEMA_INT && f->len == 4)
			x = (int64_t)(int32_t)x;
	}
	v->vals[i] = x;
	if (!v->s.bad)
		v->v->number(v->ctx, f, x);
}

static void visit_bytes(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	size_t len = span_left(&v->s);
	const void *p;

	if (f->type == SCHEMA_REST)
		p = span_bytes(&v->s, len);
	else
		p = span_str(&v->s, &len);
	if (p)
		v->v->bytes(v->ctx, f, p, len);
}

/* Fields from "from" to the group's end or the last; nested MAX_DEPTH deep at most. */
static void visit_fields(struct visit *v, size_t from, size_t to);

static void visit_group(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	uint64_t nr = v->vals[f->count];

	v->v->group(v->ctx, f);
	while (nr-- && !v->s.bad) {
		const uint8_t *before = v->s.p;

		v->v->element(v->ctx, true);
		visit_fields(v, i + 1, f->end);
		v->v->element(v->ctx, false);
		if (v->s.p == before)
			v->s.bad = true;
	}
	v->v->group_end(v->ctx);
}

static void visit_fields(struct visit *v, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to && !v->s.bad; i++) {
		switch (v->k->fields[i].type) {
		case SCHEMA_GROUP:
			visit_group(v, i);
			i = v->k->fields[i].end;
			break;
		case SCHEMA_GROUP_END:
			break;
		case SCHEMA_TEXT:
		case SCHEMA_BYTES:
		case SCHEMA_REST:
			visit_bytes(v, i);
			break;
		default:
			visit_number(v, i);
		}
	}
}

bool schema_visit(const struct schema_kind *k, uint32_t minor, struct span body,
		  const struct schema_visitor *visitor, void *ctx)
{
	struct visit v = { .k = k, .v = visitor, .ctx = ctx, .minor = minor, .s = body };

	visit_fields(&v, 0, k->nr_fields);
	return !v.s.bad;
}
