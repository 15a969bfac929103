// SPDX-License-Identifier: MIT
/*
 * rewrite.c - a class file goes through: what is not code is copied, constants are added.
 *
 * The class is read twice: first to see that all of it is there, so that nobody is asked about
 * methods of a class that cannot be rewritten.
 */
#include "classfile/annotations.h"
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
	struct probe_refs refs;
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

/* The class but its attributes' contents; r is left after the constant pool. */
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

/* What every probe needs, added with the first. */
static bool add_refs(struct rewrite *rw)
{
	const struct classfile_probe *probe = rw->probe;
	const char *const names[] = { probe->enter, probe->exit, probe->thrown, probe->caught };
	uint32_t *const refs[] = { &rw->refs.enter, &rw->refs.exit, &rw->refs.thrown, &rw->refs.caught };
	struct pool *p = &rw->pool;
	uint32_t class, type, name, i;

	if (rw->has_refs)
		return true;
	class = pool_add_class(p, probe->helper, text_len(probe->helper));
	type = pool_add_utf8(p, "(I)V", 4);
	for (i = 0; i < 4 && names[i]; i++) {
		name = pool_add_utf8(p, names[i], text_len(names[i]));
		*refs[i] = pool_add_pair(p, CONSTANT_METHODREF, class,
					 pool_add_pair(p, CONSTANT_NAME_AND_TYPE, name, type));
	}
	rw->refs.frames_name = pool_add_utf8(p, "StackMapTable", 13);
	rw->refs.throwable = pool_add_class(p, "java/lang/Throwable", 19);
	return rw->has_refs = rw->refs.throwable;
}

/* Three bytes that push the number: sipush while it fits, else a constant. */
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

/* Entries of start and length (or line) move; words: further 16-bit values that stay. */
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

/* Attributes of the code that are known to move; others would be wrong and are left out. */
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

/* The method's own handlers first: ours is to see what they do not catch, and what they throw. */
static void write_handlers(struct rewrite *rw, const struct layout *l, const struct guard *g)
{
	const struct code *c = l->code;
	struct writer *w = &rw->body;
	uint32_t i;

	write16(w, c->nr_handlers + g->nr_ranges);
	for (i = 0; i < c->nr_handlers; i++) {
		const uint8_t *h = c->handlers + 8 * i;

		write16(w, l->at[be16(h)]);
		write16(w, l->at[be16(h + 2)]);
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

/* The new contents of a Code attribute, at the end of rw->body. */
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
	struct layout l = { .code = &c, .watch_handlers = rw->probe->caught,
		.widen_all = rw->probe->widen_all };
	struct guard g;
	uint8_t push[3];
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
	if (c.max_stack > 65533)
		return CLASSFILE_STACK_FULL;
	if (!add_refs(rw) || !make_push(rw, number, push))
		return CLASSFILE_POOL_FULL;
	rw->frames.len = 0;
	scratch_reset(&rw->scratch);
	reason = layout_init(&l, &rw->scratch);
	if (!reason)
		reason = frames_write(&l, &rw->refs, &rw->pool, &rw->scratch, &g, &rw->frames);
	if (reason)
		return reason;
	write16(w, c.max_stack ? c.max_stack + 1 : 2);
	write16(w, c.max_locals);
	write32(w, l.len + HANDLER_LEN * g.nr_handlers);
	layout_write(&l, &rw->refs, push, w);
	for (i = 0; i < g.nr_handlers; i++)
		layout_write_handler(&rw->refs, push, w);
	write_handlers(rw, &l, &g);
	if (!write_attributes(rw, &l))
		return CLASSFILE_BAD_CODE;
	rw->out->nr_widened += l.nr_widened;
	return w->bad ? CLASSFILE_NO_MEMORY : CLASSFILE_OK;
}

/* One Code attribute, its name and length not written yet; false: to be copied as it is. */
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

static int32_t ask(struct rewrite *rw, struct reader code)
{
	read_bytes(&code, 4);
	rw->m.code_len_bytes = read32(&code);
	return rw->probe->select(rw->probe->ctx, &rw->m);
}

/* r is after the count of a method's attributes, and stays. */
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
			number = ask(rw, part);
		}
		if (number < 0 || !rewrite_code(rw, name, part, number))
			write_bytes(&rw->body, attr, 6 + (size_t)len);
	}
	rw->out->nr_no_code += !has_code;
}

/* r is after the constant pool of a class that read_class() has been through. */
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
	};

	return (unsigned)reason < CLASSFILE_NR_REASONS ? texts[reason] : "?";
}
