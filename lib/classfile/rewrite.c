// SPDX-License-Identifier: MIT
/*
 * rewrite.c - a class file goes through: what is not code is copied, constants are added.
 *
 * The class is read twice: first to see that all of it is there, so that nobody is asked about
 * methods of a class that cannot be rewritten.
 */
#include "classfile/class.h"
#include "classfile/code.h"

enum { ACC_STATIC = CLASSFILE_ACC_STATIC };

struct rewrite {
	const struct classfile_probe *probe;
	struct classfile_out *out;
	struct memory mem;
	struct scratch scratch;
	const uint8_t *file;
	size_t len;
	struct pool pool;
	bool has_refs;
	struct refs {			/* what is called: Methodrefs, 0 where it is not wanted */
		uint32_t enter, exit, thrown, caught, count, line, bci;
		uint32_t entered, waited, notify, notify_all, owns, state, stamped, hash;
		uint32_t enter_this, result;
		uint32_t frames_name, throwable, object;
	} refs;
	struct classfile_method m;	/* the one at hand */
	uint32_t this_class, super_class;
	const uint8_t *methods;		/* their count, then they */
	struct writer body;		/* all after the constant pool */
	struct writer frames;		/* of one method */
};

static void skip_attributes(struct reader *r)
{
	uint32_t nr = read16(r);

	while (nr-- && !r->bad) {
		read16(r);
		read_bytes(r, read32(r));
	}
}

static void skip_members(struct reader *r)
{
	uint32_t nr = read16(r);

	while (nr-- && !r->bad) {
		read_bytes(r, 6);
		skip_attributes(r);
	}
}

/* Read the class except its attributes' contents; r is left after the constant pool. */
static enum classfile_reason read_class(struct rewrite *rw, struct reader *r)
{
	enum classfile_reason reason;
	struct reader rest;
	uint32_t magic = read32(r);

	read16(r);
	rw->m.version = read16(r);
	if (r->bad || magic != 0xcafebabe || rw->len > INT32_MAX)
		return CLASSFILE_MALFORMED;
	reason = pool_read(&rw->pool, r, &rw->mem);
	if (reason)
		return reason;
	rest = *r;
	rw->m.class_flags = read16(&rest);
	rw->this_class = read16(&rest);
	rw->super_class = read16(&rest);
	rw->m.class_name = pool_class_name(&rw->pool, rw->this_class);
	read_bytes(&rest, 2 * (size_t)read16(&rest));
	skip_members(&rest);
	rw->methods = rest.p;
	skip_members(&rest);
	skip_attributes(&rest);
	return rest.bad || !rw->m.class_name.len ? CLASSFILE_MALFORMED : CLASSFILE_OK;
}

static uint32_t add_method(struct pool *p, uint32_t class, const char *name, const char *type)
{
	uint32_t n = pool_add_utf8(p, name, text_len(name)), t = pool_add_utf8(p, type, text_len(type));

	return pool_add_pair(p, CONSTANT_METHODREF, class, pool_add_pair(p, CONSTANT_NAME_AND_TYPE, n, t));
}

static void add_call_refs(struct rewrite *rw, uint32_t class)
{
	const struct classfile_probe *probe = rw->probe;
	const char *const names[] = { probe->enter, probe->exit, probe->thrown, probe->caught, probe->count,
				      probe->line, probe->bci };
	uint32_t *const refs[] = { &rw->refs.enter, &rw->refs.exit, &rw->refs.thrown, &rw->refs.caught,
				   &rw->refs.count, &rw->refs.line, &rw->refs.bci };
	struct pool *p = &rw->pool;
	uint32_t type, name, i;

	type = pool_add_utf8(p, "(I)V", 4);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i])
			continue;
		name = pool_add_utf8(p, names[i], text_len(names[i]));
		*refs[i] = pool_add_pair(p, CONSTANT_METHODREF, class,
					 pool_add_pair(p, CONSTANT_NAME_AND_TYPE, name, type));
	}
}

static void add_lock_refs(struct rewrite *rw, uint32_t class)
{
	const struct classfile_locks *locks = rw->probe->locks;
	struct refs *refs = &rw->refs;
	struct pool *p = &rw->pool;

	refs->enter = add_method(p, class, locks->enter, "(Ljava/lang/Object;I)V");
	refs->entered = add_method(p, class, locks->entered, "(Ljava/lang/Object;)V");
	refs->exit = add_method(p, class, locks->exit, "(Ljava/lang/Object;)V");
	refs->waited = add_method(p, class, locks->waited, "()V");
	refs->notify = add_method(p, class, locks->notify, "(Ljava/lang/Object;)V");
	refs->notify_all = add_method(p, class, locks->notify_all, "(Ljava/lang/Object;)V");
	refs->owns = add_method(p, class, locks->owns, "(Ljava/lang/Object;Ljava/lang/Thread;)V");
	refs->state = add_method(p, class, locks->state, "(Ljava/lang/Object;I)V");
	refs->stamped = add_method(p, class, locks->stamped, "(Ljava/lang/Object;ZJJ)V");
	refs->hash = add_method(p, pool_add_class(p, "java/lang/System", 16), "identityHashCode",
				"(Ljava/lang/Object;)I");
	refs->object = pool_add_class(p, "java/lang/Object", 16);
}

static void add_given_refs(struct rewrite *rw, uint32_t class)
{
	const struct classfile_given *given = rw->probe->given;
	struct pool *p = &rw->pool;

	rw->refs.enter = add_method(p, class, given->enter, "(Ljava/lang/Object;I)V");
	rw->refs.exit = add_method(p, class, given->leave, "(I)V");
	rw->refs.enter_this = add_method(p, class, given->enter, "(Ljava/lang/Object;Ljava/lang/Object;I)V");
	if (given->result)
		rw->refs.result = add_method(p, class, given->result, "(Ljava/lang/Object;I)V");
}

/* Add, with the first probe, what every probe needs. */
static bool add_refs(struct rewrite *rw)
{
	const struct classfile_probe *probe = rw->probe;
	struct pool *p = &rw->pool;
	uint32_t class;

	if (rw->has_refs)
		return true;
	class = pool_add_class(p, probe->helper, text_len(probe->helper));
	if (probe->locks)
		add_lock_refs(rw, class);
	else if (probe->given)
		add_given_refs(rw, class);
	else
		add_call_refs(rw, class);
	rw->refs.frames_name = pool_add_utf8(p, "StackMapTable", 13);
	rw->refs.throwable = pool_add_class(p, "java/lang/Throwable", 19);
	return rw->has_refs = rw->refs.throwable;
}

/* ---- what is put in ---- */

static void add(struct snippet *s, const uint8_t *bytes, size_t len)
{
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
}

static void add_op(struct snippet *s, uint8_t op)
{
	add(s, &op, 1);
}

static void add_call(struct snippet *s, uint32_t method)
{
	add(s, (const uint8_t[]){ OP_INVOKESTATIC, method >> 8, method }, 3);
}

/* Make three bytes that push the number: sipush while it fits, else a constant. */
static bool make_push(struct rewrite *rw, int32_t number, uint8_t push[3])
{
	uint32_t idx = number;

	push[0] = OP_SIPUSH;
	if (number > INT16_MAX) {
		push[0] = OP_LDC_W;
		idx = pool_add_integer(&rw->pool, number);
	}
	put16(push + 1, idx);
	return idx || !number;
}

/* Make a call with a number that layout_write() fills in. */
static void make_numbered(struct snippet *s, uint32_t method)
{
	add(s, (const uint8_t[]){ OP_SIPUSH, 0, 0 }, 3);
	add_call(s, method);
}

static bool make_calls(struct rewrite *rw, int32_t number, struct snippets *put)
{
	uint8_t push[3];

	if (!make_push(rw, number, push))
		return false;
	add(&put->entry, push, 3);
	add_call(&put->entry, rw->refs.enter);
	add(&put->leave, push, 3);
	add_call(&put->leave, rw->refs.exit);
	add(&put->thrown, push, 3);
	add_call(&put->thrown, rw->refs.thrown);
	add(&put->caught, push, 3);
	add_call(&put->caught, rw->refs.caught);
	if (rw->probe->count)
		make_numbered(&put->count, rw->refs.count);
	if (rw->probe->line) {
		make_numbered(&put->line, rw->refs.line);
		make_numbered(&put->bci, rw->refs.bci);
	}
	return true;
}

/* Load what a synchronized method locks. */
static void add_own_lock(const struct rewrite *rw, struct snippet *s)
{
	if (rw->m.flags & ACC_STATIC)
		add(s, (const uint8_t[]){ OP_LDC_W, rw->this_class >> 8, rw->this_class }, 3);
	else
		add_op(s, OP_ALOAD_0);
}

/* Make the snippets for what a synchronizer's method was given, or did. */
static void make_told(const struct rewrite *rw, int32_t what, struct snippets *put)
{
	static const uint8_t result_and_longs[] = { OP_DUP, OP_ALOAD_0, OP_SWAP, OP_LLOAD_1, OP_LLOAD_1 + 2 };
	const bool owns = what == CLASSFILE_OWNS || what == CLASSFILE_DISOWNS;

	if (what == CLASSFILE_STAMPED) {
		add(&put->leave, result_and_longs, sizeof(result_and_longs));
		add_call(&put->leave, rw->refs.stamped);
		return;
	}
	add_op(&put->entry, OP_ALOAD_0);
	add_op(&put->entry, what == CLASSFILE_OWNS ? OP_ALOAD_0 + 1 :
	       what == CLASSFILE_DISOWNS ? OP_ACONST_NULL :
	       what == CLASSFILE_STATE ? OP_ILOAD_1 :
	       what == CLASSFILE_SHARED ? OP_ICONST_M1 : OP_LLOAD_1);
	if (what == CLASSFILE_LONG_STATE)
		add_op(&put->entry, OP_L2I);
	add_call(&put->entry, owns ? rw->refs.owns : rw->refs.state);
}

static void make_locks(const struct rewrite *rw, int32_t what, struct snippets *put)
{
	static const uint8_t with_hash[] = { OP_DUP, OP_DUP };

	if (what != CLASSFILE_LOCKS) {
		make_told(rw, what, put);
		return;
	}
	put->lock_sites = true;
	if (rw->m.flags & CLASSFILE_ACC_SYNCHRONIZED) {
		add_own_lock(rw, &put->entry);
		add_call(&put->entry, rw->refs.entered);
		add_own_lock(rw, &put->leave);
		add_call(&put->leave, rw->refs.exit);
		put->thrown = put->leave;
		put->thrown_this = rw->m.flags & ACC_STATIC ? 0 : rw->this_class;
	}
	add(&put->before_lock, with_hash, 2);
	add_call(&put->before_lock, rw->refs.hash);
	add_op(&put->before_lock, OP_SWAP);
	add_call(&put->after_lock, rw->refs.enter);
	add_op(&put->before_unlock, OP_DUP);
	add_call(&put->before_unlock, rw->refs.exit);
	add_call(&put->after_wait, rw->refs.waited);
	add_op(&put->before_notify, OP_DUP);
	add_call(&put->before_notify, rw->refs.notify);
	add_op(&put->before_notify_all, OP_DUP);
	add_call(&put->before_notify_all, rw->refs.notify_all);
}

static void make_given(const struct rewrite *rw, int32_t answer, struct snippets *put)
{
	const uint8_t number[] = { OP_BIPUSH, answer & 0x7f };
	uint32_t local = answer >> 8 & 0xff;

	if (answer & CLASSFILE_GIVEN_THIS)
		add_op(&put->entry, OP_ALOAD_0);
	add_op(&put->entry, local < CLASSFILE_NO_OBJECT ? OP_ALOAD_0 + local : OP_ACONST_NULL);
	add(&put->entry, number, sizeof(number));
	add_call(&put->entry, answer & CLASSFILE_GIVEN_THIS ? rw->refs.enter_this : rw->refs.enter);
	if (!(answer >> 16 & 1))
		return;
	add(&put->thrown, number, sizeof(number));
	add_call(&put->thrown, rw->refs.exit);
	if (!(answer & CLASSFILE_GIVEN_RESULT)) {
		put->leave = put->thrown;
		return;
	}
	add_op(&put->leave, OP_DUP);
	add(&put->leave, number, sizeof(number));
	add_call(&put->leave, rw->refs.result);
}

static bool make_snippets(struct rewrite *rw, int32_t number, struct snippets *put)
{
	if (!add_refs(rw))
		return false;
	put->frames_name = rw->refs.frames_name;
	put->throwable = rw->refs.throwable;
	put->object = rw->refs.object;
	if (rw->probe->locks)
		make_locks(rw, number, put);
	else if (rw->probe->given)
		make_given(rw, number, put);
	else
		return make_calls(rw, number, put);
	return true;
}

static bool stores_this(const struct code *c, uint32_t pc)
{
	const uint8_t *p = c->bytes + pc;

	if (*p == OP_WIDE)
		return p[1] == OP_ASTORE && !be16(p + 2);
	return *p == OP_ASTORE_0 || (*p == OP_ASTORE && !p[1]);
}

/* Return whether there is anything for the probes of locks. */
static bool has_locks(const struct rewrite *rw, struct reader attr)
{
	struct code c = { .version = rw->m.version, .pool = &rw->pool };
	uint32_t pc, len;

	if (rw->m.flags & CLASSFILE_ACC_SYNCHRONIZED)
		return true;
	if (!code_read(&c, attr))
		return false;
	for (pc = 0; pc < c.len && (len = insn_len(&c, pc)); pc += len)
		if (c.bytes[pc] == OP_MONITORENTER || c.bytes[pc] == OP_MONITOREXIT || insn_signals(&c, pc))
			return true;
	return false;
}

/* Return whether it is a synchronized method whose lock a probe cannot name. */
static bool hides_lock(const struct rewrite *rw, const struct code *c)
{
	uint32_t pc, len;

	if (!rw->probe->locks || !(rw->m.flags & CLASSFILE_ACC_SYNCHRONIZED))
		return false;
	if (c->is_static)
		return c->version < 49;
	for (pc = 0; pc < c->len && (len = insn_len(c, pc)); pc += len)
		if (stores_this(c, pc))
			return true;
	return false;
}

/* Write a table whose entries of start and length (or line) move; words: further 16-bit values that stay. */
static bool write_table(const struct layout *l, struct reader r, bool is_lines, struct writer *w)
{
	uint32_t nr = read16(&r), len = l->code->len;

	write16(w, nr);
	while (nr--) {
		uint32_t start = read16(&r), second = read16(&r), at;

		if (r.bad || start > len || (!is_lines && second > len - start))
			return false;
		/* The entry's probe belongs to the first line, and to the arguments' lifetime. */
		at = start ? l->at[start] : 0;
		write16(w, at);
		write16(w, is_lines ? second : l->at[start + second] - at);
		if (!is_lines)
			write_bytes(w, read_bytes(&r, 6), r.bad ? 0 : 6);
	}
	return !r.bad;
}

/* Write those attributes of the code that are known to move; others would be wrong and are left out. */
static bool write_attributes(struct rewrite *rw, const struct layout *l)
{
	const struct code *c = l->code;
	struct writer *w = &rw->body;
	size_t count = w->len, length;
	struct reader r = c->attrs;
	uint32_t i, nr = 0;

	write16(w, 0);
	for (i = 0; i < c->nr_attrs; i++) {
		uint32_t idx = read16(&r);
		struct classfile_text name = pool_utf8(&rw->pool, idx);
		struct reader part = read_part(&r, read32(&r));
		bool is_lines = text_is(name, "LineNumberTable");

		if (!is_lines && !text_is(name, "LocalVariableTable") && !text_is(name, "LocalVariableTypeTable"))
			continue;
		write16(w, idx);
		length = w->len;
		write32(w, 0);
		if (!write_table(l, part, is_lines, w))
			return false;
		if (!w->bad)
			put32(w->data + length, w->len - length - 4);
		nr++;
	}
	if (rw->frames.len > 2) {
		write16(w, rw->refs.frames_name);
		write32(w, rw->frames.len);
		write_bytes(w, rw->frames.data, rw->frames.len);
		nr++;
	}
	if (!w->bad)
		put16(w->data + count, nr);
	return true;
}

/* Write the method's own handlers first: ours must see what they do not catch, and what they throw. */
static void write_handlers(struct rewrite *rw, const struct layout *l, const struct guard *g)
{
	const struct code *c = l->code;
	struct writer *w = &rw->body;
	uint32_t i;

	write16(w, l->nr_unlocks + c->nr_handlers + g->nr_ranges);
	/* but what a probe throws before a monitorexit is not for them: they would run it again, for ever */
	for (i = 0; i < l->nr_unlocks; i++) {
		uint32_t at = l->at[l->unlocks[i].pc];

		write16(w, at);
		write16(w, at + l->put->before_unlock.len);
		write16(w, frames_way(g, l->unlocks[i].local)->at);
		write16(w, 0);
	}
	for (i = 0; i < c->nr_handlers; i++) {
		const uint8_t *h = c->handlers + 8 * i;

		write16(w, layout_range_at(l, be16(h)));
		write16(w, layout_range_at(l, be16(h + 2)));
		write16(w, l->at[be16(h + 4)]);
		write16(w, be16(h + 6));
	}
	for (i = 0; i < g->nr_ranges; i++) {
		write16(w, g->range[i].start_at);
		write16(w, g->range[i].end_at);
		write16(w, g->handler_at[g->range[i].cover]);
		write16(w, 0);
	}
}

/* Return how many words probes need on the stack beyond what the code does. */
static uint32_t stack_of_probes(const struct rewrite *rw, const struct code *c, int32_t number)
{
	if (rw->probe->given)
		return 3;
	if (rw->probe->locks && number == CLASSFILE_STAMPED)
		return 6;
	return c->max_stack && !rw->probe->locks ? 1 : 2;
}

/* Write the new contents of a Code attribute to the end of rw->body. */
static enum classfile_reason write_code(struct rewrite *rw, struct reader attr, int32_t number)
{
	struct code c = {
		.version = rw->m.version,
		.this_class = rw->this_class,
		.descriptor = rw->m.descriptor,
		.is_static = rw->m.flags & ACC_STATIC,
		.is_constructor = text_is(rw->m.name, "<init>"),
		.pool = &rw->pool,
		.file = rw->file,
	};
	struct writer *w = &rw->body;
	enum classfile_reason reason;
	struct snippets put = { .lock_sites = false };
	struct layout l = { .code = &c, .put = &put, .watch_handlers = rw->probe->caught && !rw->probe->locks,
		.widen_all = rw->probe->widen_all };
	struct guard g;
	uint32_t i;

	/*
	 * C2 of JDK 17 and 25 dies of SIGSEGV: its "return" registers finalisers, by an instruction of its
	 * own.
	 */
	if (!rw->super_class && text_is(rw->m.name, "<init>"))
		return CLASSFILE_UNSAFE;
	if (!code_read(&c, attr))
		return CLASSFILE_BAD_CODE;
	/* A result may lie on the stack when the exit's probe pushes its number. */
	if (c.max_stack > UINT16_MAX - 2 || c.max_stack + stack_of_probes(rw, &c, number) > UINT16_MAX)
		return CLASSFILE_STACK_FULL;
	if (hides_lock(rw, &c))
		return CLASSFILE_ODD_LOCK;
	if (!make_snippets(rw, number, &put))
		return CLASSFILE_POOL_FULL;
	rw->frames.len = 0;
	scratch_reset(&rw->scratch);
	reason = layout_init(&l, &rw->scratch);
	if (!reason)
		reason = frames_write(&l, &rw->pool, &rw->scratch, &g, &rw->frames);
	if (reason)
		return reason;
	write16(w, c.max_stack + stack_of_probes(rw, &c, number));
	write16(w, c.max_locals);
	write32(w, g.end_at);
	layout_write(&l, w);
	for (i = 0; i < g.nr_handlers; i++)
		layout_write_handler(&l, w);
	for (i = 0; i < g.nr_ways; i++)
		frames_write_way(g.ways[i].local, w);
	write_handlers(rw, &l, &g);
	if (!write_attributes(rw, &l))
		return CLASSFILE_BAD_CODE;
	rw->out->nr_widened += l.nr_widened;
	return w->bad ? CLASSFILE_NO_MEMORY : CLASSFILE_OK;
}

/*
 * Rewrite one Code attribute; its name and length are not written yet. Returns false if it is to be
 * copied as it is.
 */
static bool rewrite_code(struct rewrite *rw, uint32_t name, struct reader attr, int32_t number)
{
	struct writer *w = &rw->body;
	size_t start = w->len, added = rw->pool.added.len;
	uint32_t nr = rw->pool.nr;
	bool had_refs = rw->has_refs;
	enum classfile_reason reason;

	write16(w, name);
	write32(w, 0);
	reason = write_code(rw, attr, number);
	if (!reason && rw->pool.added.bad)
		reason = CLASSFILE_NO_MEMORY;
	if (!reason) {
		put32(w->data + start + 2, w->len - start - 6);
		rw->out->nr_rewritten++;
		return true;
	}
	w->len = start;
	rw->pool.nr = nr;
	rw->pool.added.len = added;
	rw->has_refs = had_refs;
	rw->out->nr_skipped++;
	if (rw->probe->skipped)
		rw->probe->skipped(rw->probe->ctx, &rw->m, reason);
	return false;
}

static int32_t rewrite_ask(struct rewrite *rw, struct reader code)
{
	read_bytes(&code, 4);
	rw->m.code_len_bytes = read32(&code);
	return rw->probe->select(rw->probe->ctx, &rw->m);
}

/* Return whether the method is an intrinsic; r is after the count of its attributes, and stays. */
static bool is_intrinsic(const struct rewrite *rw, struct reader r, uint32_t nr)
{
	while (nr--) {
		uint32_t name = read16(&r), len = read32(&r);
		struct reader part = read_part(&r, len);

		if (text_is(pool_utf8(&rw->pool, name), "RuntimeVisibleAnnotations"))
			return annotations_have_intrinsic(&rw->pool, part);
	}
	return false;
}

static void rewrite_method(struct rewrite *rw, struct reader *r)
{
	const uint8_t *head = read_bytes(r, 6);
	uint32_t nr = read16(r);
	bool has_code = false;

	rw->m.flags = be16(head);
	rw->m.name = pool_utf8(&rw->pool, be16(head + 2));
	rw->m.descriptor = pool_utf8(&rw->pool, be16(head + 4));
	rw->m.intrinsic = is_intrinsic(rw, *r, nr);
	write_bytes(&rw->body, head, 6);
	write16(&rw->body, nr);
	while (nr--) {
		const uint8_t *attr = r->p;
		uint32_t name = read16(r), len = read32(r);
		struct reader part = read_part(r, len);
		int32_t number = CLASSFILE_LEAVE_ALONE;

		if (!has_code && text_is(pool_utf8(&rw->pool, name), "Code")) {
			has_code = true;
			number = rewrite_ask(rw, part);
			if (rw->probe->locks && number == CLASSFILE_LOCKS && !has_locks(rw, part))
				number = CLASSFILE_LEAVE_ALONE;
		}
		if (number < 0 || !rewrite_code(rw, name, part, number))
			write_bytes(&rw->body, attr, 6 + (size_t)len);
	}
	rw->out->nr_no_code += !has_code;
}

/* Rewrite the class; r is after its constant pool, and read_class() has been through it. */
static enum classfile_reason rewrite_class(struct rewrite *rw, struct reader *r)
{
	const uint8_t *pool_end = r->p;
	struct writer w = writer_init(&rw->mem);

	r->p = rw->methods;
	write_bytes(&rw->body, pool_end, r->p - pool_end);
	rw->out->nr_methods = read16(r);
	write16(&rw->body, rw->out->nr_methods);
	for (rw->m.idx = 0; rw->m.idx < rw->out->nr_methods; rw->m.idx++)
		rewrite_method(rw, r);
	if (!rw->out->nr_rewritten)
		return rw->body.bad ? CLASSFILE_NO_MEMORY : CLASSFILE_OK;
	write_bytes(&rw->body, r->p, r->end - r->p);
	write_room(&w, rw->len + rw->pool.added.len + rw->body.len);	/* at once, not by doubling */
	w.len = 0;
	write_bytes(&w, rw->file, 8);
	write16(&w, rw->pool.nr);
	write_bytes(&w, rw->file + 10, pool_end - rw->file - 10);
	write_bytes(&w, rw->pool.added.data, rw->pool.added.len);
	write_bytes(&w, rw->body.data, rw->body.len);
	if (w.bad || rw->body.bad || rw->pool.added.bad)
		return CLASSFILE_NO_MEMORY;
	rw->out->data = w.data;
	rw->out->len = w.len;
	return CLASSFILE_OK;
}

enum classfile_reason classfile_rewrite(const void *in, size_t len, const struct classfile_probe *probe,
					struct classfile_out *out)
{
	struct rewrite rw = { .probe = probe, .out = out, .file = in, .len = len };
	struct reader r = reader_init(in, len);
	enum classfile_reason reason;

	memset(out, 0, sizeof(*out));
	rw.mem = (struct memory){ probe->mem, probe->mem_ctx };
	rw.scratch.mem = &rw.mem;
	rw.body = rw.frames = writer_init(&rw.mem);
	reason = read_class(&rw, &r);
	if (!reason)
		reason = rewrite_class(&rw, &r);
	if (reason && probe->skipped) {
		struct classfile_method m = { .class_name = rw.m.class_name, .class_flags = rw.m.class_flags,
					      .version = rw.m.version };

		probe->skipped(probe->ctx, &m, reason);
	}
	return reason;
}

struct classfile_text classfile_name(const void *in, size_t len)
{
	const struct classfile_text none = { NULL, 0 };
	struct reader r = reader_init(in, len), at = r;
	uint32_t magic = read32(&r);

	read32(&r);
	if (magic != 0xcafebabe || !pool_seek(r, UINT32_MAX, &at))
		return none;
	read16(&at);
	if (!pool_seek(r, read16(&at), &at) || read8(&at) != CONSTANT_CLASS ||
	    !pool_seek(r, read16(&at), &at) || read8(&at) != CONSTANT_UTF8)
		return none;
	len = read16(&at);
	in = read_bytes(&at, len);
	return in && len ? (struct classfile_text){ in, len } : none;
}

const char *classfile_reason_text(enum classfile_reason reason)
{
	static const char *const texts[CLASSFILE_NR_REASONS] = {
		[CLASSFILE_OK] = "rewritten",
		[CLASSFILE_MALFORMED] = "not a class file, or damaged",
		[CLASSFILE_UNKNOWN_CONSTANT] = "constants of an unknown kind",
		[CLASSFILE_NO_MEMORY] = "no memory",
		[CLASSFILE_BAD_CODE] = "invalid bytecode",
		[CLASSFILE_TOO_LARGE] = "too large with probes",
		[CLASSFILE_POOL_FULL] = "no room for more constants",
		[CLASSFILE_STACK_FULL] = "no room on the operand stack",
		[CLASSFILE_NO_FRAME] = "types that cannot be told",
		[CLASSFILE_UNSAFE] = "no JVM compiles it with a handler",
		[CLASSFILE_ODD_LOCK] = "its monitors are not entered and left as compilers write it",
	};

	return (unsigned)reason < CLASSFILE_NR_REASONS ? texts[reason] : "?";
}
