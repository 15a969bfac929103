// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * carry.c - a table of encoded records by what they name.
 *
 * Invariants, cited below as [n]:
 *  [1] an item whose "file" is the current file is in it, and so is all that it refers to;
 *  [2] indices of items are good until carry_next(): only that drops any.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/carry.h"

enum item_kind {
	ITEM_LABEL = 1,
	ITEM_PROC,		/* with its maps */
	ITEM_THREAD,
	ITEM_JAVA_THREAD,	/* the name that its JVM told */
	ITEM_THREAD_GROUP,
	ITEM_THREAD_LABEL,	/* the last */
	ITEM_MODULE,
	ITEM_METHOD,
	ITEM_METHOD_LINES,
	ITEM_CODE,		/* all records of one compile id, and its bytes */
	ITEM_STUBS,		/* of a process, with their lines */
	ITEM_MAPS,
	ITEM_CGROUP,		/* of a process, the last */
	ITEM_RESOURCE,		/* the same */
	ITEM_FUNCTION,
	ITEM_SYMBOL,
	ITEM_LINES,
};

struct item {
	uint64_t key;
	enum item_kind kind;
	uint32_t proc;		/* goes with it; 0: of none */
	uint32_t module;	/* the same */
	uint32_t file;		/* the last that has it [1]; 0: none */
	uint32_t gone;		/* the file in which it went; 0: it is there */
	uint32_t nr_live;	/* of code: places where it is, as far as they are known */
	struct buf records;
};

struct carry {
	void (*emit)(void *ctx, const void *record, size_t len);
	void *ctx;
	uint32_t file;		/* the current one; counts from 1 */
	struct item *items;
	size_t nr_items, alloc_items;
	struct map by_key;
	size_t nr_bytes, nr_symbol_bytes;
};

struct carry *carry_new(void (*emit)(void *ctx, const void *record, size_t len), void *ctx)
{
	struct carry *c = xcalloc(1, sizeof(*c));

	c->emit = emit;
	c->ctx = ctx;
	c->file = 1;
	return c;
}

void carry_free(struct carry *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nr_items; i++)
		buf_release(&c->items[i].records);
	free(c->items);
	map_release(&c->by_key);
	free(c);
}

/* ---- items ---- */

static uint64_t item_key(enum item_kind kind, uint32_t a, uint64_t b)
{
	return hash_pair((uint64_t)kind << 32 | a, b);
}

static struct item *carry_find(const struct carry *c, enum item_kind kind, uint32_t a, uint64_t b)
{
	uint32_t at = map_get(&c->by_key, item_key(kind, a, b));

	return at == MAP_NONE ? NULL : &c->items[at];
}

static struct item *carry_get(struct carry *c, enum item_kind kind, uint32_t a, uint64_t b, uint32_t proc)
{
	uint64_t key = item_key(kind, a, b);
	uint32_t *at = map_put(&c->by_key, key);

	if (*at == MAP_NONE) {
		*at = c->nr_items;
		*VEC_ADD(c->items, c->nr_items, c->alloc_items) =
			(struct item){ .key = key, .kind = kind, .proc = proc };
		c->nr_bytes += sizeof(struct item);
	}
	return &c->items[*at];
}

static bool item_is_symbol(const struct item *it)
{
	return it->kind == ITEM_SYMBOL || it->kind == ITEM_LINES;
}

static void add_bytes(struct carry *c, struct item *it, const void *record, size_t len)
{
	buf_add(&it->records, record, len);
	c->nr_bytes += len;
	if (item_is_symbol(it))
		c->nr_symbol_bytes += len;
}

static void drop_bytes(struct carry *c, struct item *it)
{
	c->nr_bytes -= it->records.len;
	if (item_is_symbol(it))
		c->nr_symbol_bytes -= it->records.len;
	buf_reset(&it->records);
}

/* Return the length of an encoded record, which is our own and thus valid. */
static size_t record_len(const char *p)
{
	struct trf_record head;
	uint32_t total;

	memcpy(&head, p, sizeof(head));
	if ((head.type_len & 3) != TRF_EXTENDED)
		return head.type_len & ~3;
	memcpy(&total, p + sizeof(head), sizeof(total));
	return total;
}

/* Decode a record; NR_RECORD_KINDS: it is invalid. */
static enum record_number decode_item(const char *p, size_t len, union trace_record *rec)
{
	const struct record_row *row;
	struct trf_record head;
	size_t body = sizeof(head);

	memcpy(&head, p, sizeof(head));
	body += (head.type_len & 3) == TRF_EXTENDED ? sizeof(uint32_t) : 0;
	row = record_find(head.major, head.minor);
	if (!row || !row->kind || !record_decode(rec, row, head.time_ns, span_init(p + body, len - body)))
		return NR_RECORD_KINDS;
	return row->kind->number;
}

static void emit_item(struct carry *c, const struct item *it)
{
	size_t at, len;

	for (at = 0; at < it->records.len; at += len) {
		len = record_len(it->records.data + at);
		c->emit(c->ctx, it->records.data + at, len);
	}
}

/* ---- what refers to what ---- */

static bool need(struct carry *c, enum item_kind kind, uint32_t a, uint64_t b);

static void need_method(struct carry *c, uint32_t proc, uint64_t method)
{
	if (!method || method > UINT32_MAX)
		return;
	need(c, ITEM_METHOD, proc, method);
	need(c, ITEM_METHOD_LINES, proc, method);
}

/* Note the inlined methods of code, in the form of struct rec_code. */
static void need_inlined(struct carry *c, uint32_t proc, const uint8_t *inl, size_t len)
{
	struct span s = span_init(inl, len);
	uint64_t nr = span_varint(&s), frames;

	for (; nr && !s.bad; nr--) {
		span_varint(&s);
		for (frames = span_varint(&s); frames && !s.bad; frames--) {
			uint64_t method = span_varint(&s);

			span_varint(&s);
			if (!s.bad)
				need_method(c, proc, method);
		}
	}
}

static void need_proc(struct carry *c, uint32_t proc)
{
	if (proc && need(c, ITEM_PROC, proc, 0)) {
		need(c, ITEM_CGROUP, proc, 0);
		need(c, ITEM_RESOURCE, proc, 0);
		need(c, ITEM_MAPS, proc, 0);
	}
}

static void need_of_code(struct carry *c, const struct rec_code *r)
{
	need_method(c, r->proc, r->method);
	need_inlined(c, r->proc, r->inl, r->inl_len);
}

static void need_of_map(struct carry *c, const struct rec_map *r)
{
	if (r->module)
		need(c, ITEM_MODULE, r->module, 0);
}

/* Emit what a kept record refers to; its process has been emitted. */
static void need_of_record(struct carry *c, const char *p, size_t len)
{
	union trace_record rec;
	enum record_number kind = decode_item(p, len, &rec);

	if (kind == RECORD_code)
		need_of_code(c, &rec.code);
	else if (kind == RECORD_map)
		need_of_map(c, &rec.map);
}

/* Need an item; return false if it is not known. */
static bool need(struct carry *c, enum item_kind kind, uint32_t a, uint64_t b)
{
	struct item *it = carry_find(c, kind, a, b);
	size_t at, len;

	if (!it)
		return false;
	if (it->file == c->file)
		return true;
	it->file = c->file;
	need_proc(c, it->proc);		/* [2] */
	for (at = 0; (kind == ITEM_CODE || kind == ITEM_MAPS) && at < it->records.len; at += len) {
		len = record_len(it->records.data + at);
		need_of_record(c, it->records.data + at, len);
	}
	emit_item(c, it);
	return true;
}

void carry_thread(struct carry *c, uint32_t thread)
{
	if (!thread)
		return;
	need(c, ITEM_THREAD, thread, 0);
	need(c, ITEM_JAVA_THREAD, thread, 0);
	need(c, ITEM_THREAD_LABEL, thread, 0);
	need(c, ITEM_THREAD_GROUP, thread, 0);
}

void carry_frame(struct carry *c, const struct frame *f)
{
	switch (f->kind) {
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		need(c, ITEM_MODULE, f->module, 0);
		break;
	case FRAME_ANON:
	case FRAME_STUB:
		need_proc(c, f->proc);
		need(c, ITEM_STUBS, f->proc, 0);
		break;
	case FRAME_JIT:
		need_proc(c, f->proc);
		need(c, ITEM_CODE, f->proc, f->compile_id);
		need_method(c, f->proc, f->method);
		break;
	case FRAME_INTERP:
	case FRAME_METHOD:
	case FRAME_SITE:
		need_proc(c, f->proc);
		need_method(c, f->proc, f->method);
		break;
	case FRAME_NAMED:
		need(c, ITEM_FUNCTION, f->function, 0);
		break;
	case FRAME_NONE:
	case FRAME_MARK:
	case FRAME_NR:
		break;
	}
}

static void need_owners(struct carry *c, const uint8_t *pairs, size_t len)
{
	struct span s = span_init(pairs, len);

	while (span_left(&s) && !s.bad) {
		uint64_t thread = span_varint(&s) >> 1;		/* zigzag of what is not negative */

		span_varint(&s);
		if (!s.bad)
			carry_thread(c, thread);
	}
}

static void need_of_event(struct carry *c, const struct rec_event *r)
{
	need_proc(c, r->proc);
	carry_thread(c, r->thread);
}

static void need_lock(struct carry *c, uint32_t proc, uint32_t function)
{
	need_proc(c, proc);
	need(c, ITEM_FUNCTION, function, 0);
}

static void need_of_lock(struct carry *c, const struct rec_lock *r)
{
	need_lock(c, r->proc, r->function);
	need_owners(c, r->owners, r->owners_len);
}

static void need_of_wake(struct carry *c, const struct rec_wake *r)
{
	carry_thread(c, r->thread);
	carry_thread(c, r->waker);
	need(c, ITEM_FUNCTION, r->function, 0);
}

static void need_of_bracket(struct carry *c, const struct rec_bracket *r)
{
	carry_thread(c, r->thread);
	need_method(c, r->proc, r->method);
}

/* for each kind of record of a process or thread, the offset after that field; 0 for others */
#define SAYS(kind, field) (offsetof(union trace_record, kind.field) + sizeof(uint32_t))

static const struct owners {
	uint8_t proc, thread;
} owners_of[] = {
	[RECORD_thread] = { .proc = SAYS(thread, proc) },
	[RECORD_cgroup] = { .proc = SAYS(cgroup, proc) },
	[RECORD_resource] = { .proc = SAYS(resource, proc) },
	[RECORD_map] = { .proc = SAYS(map, proc) },
	[RECORD_method] = { .proc = SAYS(method, proc) },
	[RECORD_code] = { .proc = SAYS(code, proc) },
	[RECORD_stub] = { .proc = SAYS(stub, proc) },
	[RECORD_stub_lines] = { .proc = SAYS(stub_lines, proc) },
	[RECORD_wall] = { .thread = SAYS(wall, thread) },
	[RECORD_thread_label] = { .thread = SAYS(thread_label, thread) },
	[RECORD_thread_group] = { .thread = SAYS(thread_group, thread) },
	[RECORD_sched_at] = { .thread = SAYS(sched_at, thread) },
	[RECORD_load_cause] = { SAYS(load_cause, proc), SAYS(load_cause, thread) },
	[RECORD_marked] = { SAYS(marked, proc), SAYS(marked, thread) },
	[RECORD_waited] = { .thread = SAYS(waited, thread) },
	[RECORD_trigger] = { .proc = SAYS(trigger, proc) },
	[RECORD_sweep] = { .proc = SAYS(sweep, proc) },
	[RECORD_roster] = { .proc = SAYS(roster, proc) },
	[RECORD_class_total] = { .proc = SAYS(class_total, proc) },
	[RECORD_virtual] = { .proc = SAYS(virtual, proc) },
	[RECORD_footprint] = { .proc = SAYS(footprint, proc) },
	[RECORD_call_tree] = { SAYS(call_tree, proc), SAYS(call_tree, thread) },
	[RECORD_call_refused] = { .proc = SAYS(call_refused, proc) },
};

static uint32_t number_before(const void *rec, uint8_t behind)
{
	uint32_t number;

	memcpy(&number, (const char *)rec + behind - sizeof(number), sizeof(number));
	return number;
}

/* Need items of tables other than those of processes and threads, or whose numbers are in several fields. */
static void needs_besides(struct carry *c, enum record_number kind, const union trace_record *r)
{
	switch (kind) {
	case RECORD_map:
		need_of_map(c, &r->map);
		break;
	case RECORD_method_lines:
		need_method(c, r->method_lines.proc, r->method_lines.method);
		break;
	case RECORD_code:
		need(c, ITEM_CODE, r->code.proc, r->code.compile_id);
		need_of_code(c, &r->code);
		break;
	case RECORD_code_bytes:
		need(c, ITEM_CODE, r->code_bytes.proc, r->code_bytes.compile_id);
		break;
	case RECORD_stub:
		need(c, ITEM_STUBS, r->stub.proc, 0);
		break;
	case RECORD_stub_lines:
		need(c, ITEM_STUBS, r->stub_lines.proc, 0);
		break;
	case RECORD_wake:
		need_of_wake(c, &r->wake);
		break;
	case RECORD_bracket:
		need_of_bracket(c, &r->bracket);
		break;
	case RECORD_event:
		need_of_event(c, &r->event);
		break;
	case RECORD_lock:
		need_of_lock(c, &r->lock);
		break;
	case RECORD_lock_wait:
		need_lock(c, r->lock_wait.proc, r->lock_wait.function);
		carry_thread(c, r->lock_wait.thread);
		carry_thread(c, r->lock_wait.owner);
		break;
	case RECORD_lock_use:
		need_lock(c, r->lock_use.proc, r->lock_use.function);
		break;
	case RECORD_lock_cpu:
		need_lock(c, r->lock_cpu.proc, r->lock_cpu.function);
		break;
	case RECORD_lock_notify:
		need_lock(c, r->lock_notify.proc, r->lock_notify.function);
		break;
	case RECORD_lock_reads:
		need_lock(c, r->lock_reads.proc, r->lock_reads.function);
		break;
	case RECORD_lock_notified:
		need_lock(c, r->lock_notified.proc, r->lock_notified.function);
		carry_thread(c, r->lock_notified.notifier);
		carry_thread(c, r->lock_notified.waiter);
		break;
	case RECORD_symbol:
		need(c, ITEM_MODULE, r->symbol.module, 0);
		break;
	default:		/* what ended may be in no file but that in which it began */
		break;
	}
}

void carry_needs(struct carry *c, enum record_number kind, const void *rec)
{
	static const struct owners none;
	const struct owners *o = (size_t)kind < ARRAY_SIZE(owners_of) ? &owners_of[kind] : &none;

	if (o->proc)
		need_proc(c, number_before(rec, o->proc));
	if (o->thread)
		carry_thread(c, number_before(rec, o->thread));
	needs_besides(c, kind, rec);	/* of its struct, no more */
}

void carry_symbol(struct carry *c, uint32_t module, uint64_t sym_off, uint64_t off)
{
	need(c, ITEM_SYMBOL, module, sym_off);
	need(c, ITEM_LINES, module, off);
}

bool carry_has_symbol(const struct carry *c, uint32_t module, uint64_t sym_off)
{
	const struct item *it = carry_find(c, ITEM_SYMBOL, module, sym_off);

	return it && it->file == c->file;
}

/* ---- what is kept ---- */

/* Replace what the item had. */
static void carry_replace(struct carry *c, struct item *it, const void *record, size_t len, bool in_file)
{
	drop_bytes(c, it);
	add_bytes(c, it, record, len);
	it->gone = 0;
	it->file = in_file ? c->file : 0;
}

/* Append a record to an item. If it is in the file, so is the rest, which was needed before. */
static void append(struct carry *c, struct item *it, const void *record, size_t len, bool in_file)
{
	add_bytes(c, it, record, len);
	it->gone = 0;
	it->file = in_file ? c->file : 0;
}

static bool covers(const struct rec_map *r, const char *p, size_t len)
{
	union trace_record old;

	return decode_item(p, len, &old) == RECORD_map && old.map.addr >= r->addr &&
	       old.map.addr - r->addr < r->size;
}

/* Drop mappings that this one replaces. */
static void drop_covered(struct carry *c, struct item *it, const struct rec_map *r)
{
	size_t at, to = 0, len;

	for (at = 0; at < it->records.len; at += len) {
		len = record_len(it->records.data + at);
		if (covers(r, it->records.data + at, len))
			continue;
		memmove(it->records.data + to, it->records.data + at, len);
		to += len;
	}
	c->nr_bytes -= it->records.len - to;
	it->records.len = to;
}

static bool has_code_at(const struct item *it, uint64_t addr)
{
	union trace_record rec;
	size_t at, len;

	for (at = 0; at < it->records.len; at += len) {
		len = record_len(it->records.data + at);
		if (decode_item(it->records.data + at, len, &rec) == RECORD_code && rec.code.size > 1 &&
		    rec.code.addr == addr)
			return true;
	}
	return false;
}

/* Keep code. One compile id may serve twice; a size of 1 is a call site in code that is known otherwise. */
static void keep_code(struct carry *c, const struct rec_code *r, const void *record, size_t len, bool in_file)
{
	struct item *it = carry_get(c, ITEM_CODE, r->proc, r->compile_id, r->proc);

	it->nr_live += r->size > 1 && !has_code_at(it, r->addr);
	append(c, it, record, len, in_file);
}

static void keep_code_gone(struct carry *c, const struct rec_code_gone *r)
{
	struct item *it = carry_find(c, ITEM_CODE, r->proc, r->compile_id);

	if (!it)
		return;
	it->nr_live -= it->nr_live > 0;
	if (!it->nr_live)
		it->gone = c->file;
}

static struct item *get_of_module(struct carry *c, enum item_kind kind, uint32_t module, uint64_t off)
{
	struct item *it = carry_get(c, kind, module, off, 0);

	it->module = module;
	return it;
}

/* Keep a line of the inline level depth; the first one begins the item anew. */
static void keep_line(struct carry *c, const struct rec_line *r, const void *record, size_t len, bool in_file)
{
	struct item *it = get_of_module(c, ITEM_LINES, r->module, r->off);

	if (!r->depth)
		carry_replace(c, it, record, len, in_file);
	else
		append(c, it, record, len, in_file);
}

static void keep_map(struct carry *c, const struct rec_map *r, const void *record, size_t len, bool in_file)
{
	struct item *it = carry_get(c, ITEM_MAPS, r->proc, 0, r->proc);

	drop_covered(c, it, r);
	append(c, it, record, len, in_file);
}

/* Keep what describes a thread besides its name. */
static void keep_of_thread(struct carry *c, enum item_kind kind, uint32_t number, const void *record,
			   size_t len, bool in_file)
{
	const struct item *thread = carry_find(c, ITEM_THREAD, number, 0);
	uint32_t proc;

	thread = thread ? thread : carry_find(c, ITEM_JAVA_THREAD, number, 0);	/* a virtual one */
	proc = thread ? thread->proc : 0;
	if (thread)
		carry_replace(c, carry_get(c, kind, number, 0, proc), record, len, in_file);
}

static void keep_thread(struct carry *c, const struct rec_thread *r, const void *record, size_t len,
			bool in_file)
{
	enum item_kind kind = r->java ? ITEM_JAVA_THREAD : ITEM_THREAD;

	carry_replace(c, carry_get(c, kind, r->thread, 0, r->proc), record, len, in_file);
}

void carry_keep(struct carry *c, enum record_number kind, const void *rec, const void *record, size_t len,
		bool in_file)
{
	const union trace_record *r = rec;

	switch (kind) {
	case RECORD_proc:
		carry_replace(c, carry_get(c, ITEM_PROC, r->proc.proc, 0, 0), record, len, in_file);
		break;
	case RECORD_cgroup:
		carry_replace(c, carry_get(c, ITEM_CGROUP, r->cgroup.proc, 0, r->cgroup.proc), record, len,
			      in_file);
		break;
	case RECORD_resource:
		carry_replace(c, carry_get(c, ITEM_RESOURCE, r->resource.proc, 0, r->resource.proc), record,
			      len, in_file);
		break;
	case RECORD_thread:
		keep_thread(c, &r->thread, record, len, in_file);
		break;
	case RECORD_thread_label:
		keep_of_thread(c, ITEM_THREAD_LABEL, r->thread_label.thread, record, len, in_file);
		break;
	case RECORD_thread_group:
		keep_of_thread(c, ITEM_THREAD_GROUP, r->thread_group.thread, record, len, in_file);
		break;
	case RECORD_module:
		carry_replace(c, carry_get(c, ITEM_MODULE, r->module.module, 0, 0), record, len, in_file);
		break;
	case RECORD_map:
		keep_map(c, &r->map, record, len, in_file);
		break;
	case RECORD_method:
		carry_replace(c, carry_get(c, ITEM_METHOD, r->method.proc, r->method.method, r->method.proc),
			      record, len, in_file);
		break;
	case RECORD_method_lines:
		carry_replace(c, carry_get(c, ITEM_METHOD_LINES, r->method_lines.proc, r->method_lines.method,
					   r->method_lines.proc), record, len, in_file);
		break;
	case RECORD_code:
		keep_code(c, &r->code, record, len, in_file);
		break;
	case RECORD_code_bytes:
		append(c,
		       carry_get(c, ITEM_CODE, r->code_bytes.proc, r->code_bytes.compile_id,
				 r->code_bytes.proc),
		       record, len, in_file);
		break;
	case RECORD_code_gone:
		keep_code_gone(c, &r->code_gone);
		break;
	case RECORD_stub:
		append(c, carry_get(c, ITEM_STUBS, r->stub.proc, 0, r->stub.proc), record, len, in_file);
		break;
	case RECORD_stub_lines:
		append(c, carry_get(c, ITEM_STUBS, r->stub_lines.proc, 0, r->stub_lines.proc), record, len,
		       in_file);
		break;
	case RECORD_function:
		carry_replace(c, carry_get(c, ITEM_FUNCTION, r->function.function, 0, 0), record, len,
			      in_file);
		break;
	case RECORD_symbol:
		carry_replace(c, get_of_module(c, ITEM_SYMBOL, r->symbol.module, r->symbol.off), record, len,
			      in_file);
		break;
	case RECORD_line:
		keep_line(c, &r->line, record, len, in_file);
		break;
	default:		/* of the moment */
		break;
	}
}

void carry_keep_label(struct carry *c, const char *key, const void *record, size_t len, bool in_file)
{
	carry_replace(c, carry_get(c, ITEM_LABEL, 0, hash_bytes(key, strlen(key)), 0), record, len, in_file);
}

static void carry_forget(struct carry *c, enum item_kind kind, uint32_t number)
{
	struct item *it = carry_find(c, kind, number, 0);

	if (it)
		it->gone = c->file;
}

void carry_forget_proc(struct carry *c, uint32_t proc)
{
	carry_forget(c, ITEM_PROC, proc);
}

void carry_forget_module(struct carry *c, uint32_t module)
{
	carry_forget(c, ITEM_MODULE, module);
}

void carry_forget_function(struct carry *c, uint32_t function)
{
	carry_forget(c, ITEM_FUNCTION, function);
}

void carry_forget_thread(struct carry *c, uint32_t thread)
{
	carry_forget(c, ITEM_THREAD, thread);
	carry_forget(c, ITEM_JAVA_THREAD, thread);
	carry_forget(c, ITEM_THREAD_GROUP, thread);
	carry_forget(c, ITEM_THREAD_LABEL, thread);
}

/* ---- the next file ---- */

/* Return whether it went before the file that has just ended began. */
static bool carry_is_over(const struct carry *c, const struct item *it)
{
	return it->gone && it->gone + 1 < c->file;
}

static bool is_dropped(const struct carry *c, const struct item *it, bool symbols)
{
	const struct item *proc = it->proc ? carry_find(c, ITEM_PROC, it->proc, 0) : NULL;
	const struct item *module = it->module ? carry_find(c, ITEM_MODULE, it->module, 0) : NULL;

	if (it->module && (symbols || !module || carry_is_over(c, module)))
		return true;
	return carry_is_over(c, it) || (proc && carry_is_over(c, proc));
}

static void carry_sweep(struct carry *c, bool symbols)
{
	bool *dropped = xcalloc(c->nr_items + 1, sizeof(*dropped));
	size_t i, nr = 0;

	for (i = 0; i < c->nr_items; i++)	/* all of them are asked before any is moved */
		dropped[i] = is_dropped(c, &c->items[i], symbols);
	for (i = 0; i < c->nr_items; i++) {
		if (!dropped[i]) {
			c->items[nr++] = c->items[i];
			continue;
		}
		drop_bytes(c, &c->items[i]);
		c->nr_bytes -= sizeof(struct item);
		buf_release(&c->items[i].records);
	}
	free(dropped);
	if (nr == c->nr_items)
		return;
	c->nr_items = nr;
	map_release(&c->by_key);	/* it may have had to be larger */
	for (i = 0; i < nr; i++)
		*map_put(&c->by_key, c->items[i].key) = i;
}

bool carry_next(struct carry *c, bool symbols)
{
	size_t i;

	symbols |= c->nr_symbol_bytes > CARRY_SYMBOLS_MAX;
	c->file++;
	carry_sweep(c, symbols);
	for (i = 0; i < c->nr_items; i++) {
		if (c->items[i].kind != ITEM_LABEL)
			continue;
		c->items[i].file = c->file;
		emit_item(c, &c->items[i]);
	}
	return symbols;
}

size_t carry_bytes(const struct carry *c)
{
	return c->nr_bytes + c->by_key.alloc * sizeof(*c->by_key.slots);
}
