// SPDX-License-Identifier: MIT
/*
 * frames.c - stack maps (JVMS 4.7.4) for the code as it becomes, and what of it the handlers watch.
 *
 * Probes change no type, so the maps stay what they are and only move; that is done as they are
 * read. Only where an "if" was widened is there a new place to jump to: then the types are followed
 * through the whole method and every map is written in full, so that none depends on another.
 *
 * In a constructor the types are followed too: a verifier wants the handler to agree with the code
 * it watches on whether "this" is initialised.
 */
#include "classfile/types.h"

enum {
	SAME_MAX = 63, ONE_ITEM = 64, ONE_ITEM_MAX = 127, ONE_ITEM_LONG = 247, CHOP = 248, SAME_LONG
	= 251, FULL = 255
};

enum { NR_KNOWN_CLASSES = 64 };

struct frames {
	const struct layout *l;
	const struct code *c;
	struct pool *pool;
	struct scratch *scratch;
	struct writer *w;
	/* Written. */
	int32_t last_at;	/* position of the last map, -1 before the first */
	uint32_t nr;
	enum classfile_reason reason;
	/* Read. */
	struct reader r;
	uint32_t nr_left;
	int32_t last_pc;
	/* Class constants of types that had none: by type, the oldest is replaced. */
	struct {
		struct type type;
		uint32_t class;
	} known[NR_KNOWN_CLASSES];
	uint32_t nr_known;
};

/* Return the delta of a map at this position, which comes after the last one. */
static uint32_t next_delta(struct frames *f, uint32_t at)
{
	uint32_t delta = (int32_t)at - f->last_at - 1;

	f->last_at = at;
	f->nr++;
	return delta;
}

/* a map of the file: kind is the tag without the delta; SAME_MAX for any "same" */
struct frame_head {
	uint32_t kind;
	uint32_t pc;
};

static bool read_head(struct frames *f, struct frame_head *h)
{
	uint32_t tag = read8(&f->r), delta;

	if (tag < CHOP && tag > ONE_ITEM_MAX && tag != ONE_ITEM_LONG)
		return false;
	delta = tag <= SAME_MAX ? tag : tag <= ONE_ITEM_MAX ? tag - ONE_ITEM : read16(&f->r);
	h->kind = tag <= SAME_MAX || tag == SAME_LONG ? SAME_MAX : tag <= ONE_ITEM_LONG ? ONE_ITEM : tag;
	h->pc = f->last_pc + 1 + delta;
	f->last_pc = h->pc;
	f->nr_left--;
	return !f->r.bad && layout_is_start(f->l, h->pc);
}

static bool read_type(struct frames *f, struct type *type)
{
	type->tag = read8(&f->r);
	type->ref = type->tag == TYPE_OBJECT || type->tag == TYPE_UNINIT ? read16(&f->r) : 0;
	if (f->r.bad || type->tag > TYPE_UNINIT)
		return false;
	return type->tag != TYPE_UNINIT ||
		(layout_is_start(f->l, type->ref) && f->c->bytes[type->ref] == OP_NEW);
}

/* ---- maps that only move ---- */

static bool copy_types(struct frames *f, uint32_t nr)
{
	struct type type;

	while (nr--) {
		if (!read_type(f, &type))
			return false;
		write8(f->w, type.tag);
		if (type.tag == TYPE_OBJECT)
			write16(f->w, type.ref);
		else if (type.tag == TYPE_UNINIT)
			write16(f->w, layout_insn_at(f->l, type.ref));
	}
	return true;
}

static bool copy_counted_types(struct frames *f)
{
	uint32_t nr = read16(&f->r);

	write16(f->w, nr);
	return copy_types(f, nr);
}

static bool copy_frame(struct frames *f)
{
	struct frame_head h;
	uint32_t delta;

	if (!read_head(f, &h))
		return false;
	delta = next_delta(f, f->l->at[h.pc]);
	if (h.kind <= ONE_ITEM && delta <= SAME_MAX) {
		write8(f->w, h.kind == ONE_ITEM ? ONE_ITEM + delta : delta);
	} else {
		write8(f->w, h.kind == ONE_ITEM ? ONE_ITEM_LONG : h.kind == SAME_MAX ? SAME_LONG : h.kind);
		write16(f->w, delta);
	}
	if (h.kind == FULL)
		return copy_counted_types(f) && copy_counted_types(f);
	return copy_types(f, h.kind == ONE_ITEM ? 1 : h.kind > SAME_LONG ? h.kind - SAME_LONG : 0);
}

static enum classfile_reason copy_frames(struct frames *f)
{
	while (f->nr_left)
		if (!copy_frame(f))
			return CLASSFILE_BAD_CODE;
	return CLASSFILE_OK;
}

/* ---- maps in full ---- */

static bool append_locals(struct frames *f, struct types *t, uint32_t nr)
{
	struct type type;

	while (nr--)
		if (!read_type(f, &type) || !types_append_local(t, type))
			return false;
	return true;
}

static bool push_all(struct frames *f, struct types *t, uint32_t nr)
{
	struct type type;

	while (nr--)
		if (!read_type(f, &type) || !types_push(t, type.tag, type.ref))
			return false;
	return true;
}

static bool chop_locals(struct types *t, uint32_t nr)
{
	while (nr--) {
		if (t->nr_locals && t->locals[t->nr_locals - 1].tag == TYPE_SECOND)
			t->nr_locals--;
		if (!t->nr_locals)
			return false;
		t->nr_locals--;
	}
	return true;
}

/* Applies the next map to the one before it, in t. */
static bool next_frame(struct frames *f, struct types *t, uint32_t *pc)
{
	struct frame_head h;
	bool ok = true;
	uint32_t i;

	if (!read_head(f, &h))
		return false;
	*pc = h.pc;
	t->nr_stack = 0;
	if (h.kind == FULL) {
		t->nr_locals = 0;
		ok = append_locals(f, t, read16(&f->r)) && push_all(f, t, read16(&f->r));
	} else if (h.kind == ONE_ITEM) {
		ok = push_all(f, t, 1);
	} else if (h.kind >= CHOP) {
		ok = h.kind < SAME_LONG ? chop_locals(t, SAME_LONG - h.kind) :
					  append_locals(f, t, h.kind - SAME_LONG);
	}
	t->uninit_this = false;
	for (i = 0; i < t->nr_locals; i++)
		t->uninit_this |= t->locals[i].tag == TYPE_UNINIT_THIS;
	return ok;
}

static uint32_t frames_class_of(struct frames *f, const struct types *t, struct type type)
{
	uint32_t i, class;

	if (type.tag == TYPE_OBJECT)
		return type.ref;
	for (i = 0; i < NR_KNOWN_CLASSES && i < f->nr_known; i++)
		if (f->known[i].type.tag == type.tag && f->known[i].type.ref == type.ref)
			return f->known[i].class;
	class = types_class(t, type, f->pool, f->scratch);
	i = f->nr_known++ % NR_KNOWN_CLASSES;
	f->known[i].type = type;
	f->known[i].class = class;
	return class;
}

static bool write_type(struct frames *f, const struct types *t, struct type type)
{
	uint32_t class;

	if (type.tag == TYPE_UNINIT) {
		write8(f->w, TYPE_UNINIT);
		write16(f->w, layout_insn_at(f->l, type.ref));
	} else if (type.tag < TYPE_OBJECT) {
		write8(f->w, type.tag);
	} else {
		class = frames_class_of(f, t, type);
		write8(f->w, TYPE_OBJECT);
		write16(f->w, class);
		return class;
	}
	return true;
}

/* Write the count and the types, each long and double once, without unknown ones at the end of the locals. */
static bool write_types(struct frames *f, const struct types *t, const struct type *type, uint32_t nr)
{
	uint32_t i, nr_items = 0;

	for (i = 0; i < nr; i++)
		nr_items += type[i].tag != TYPE_SECOND;
	write16(f->w, nr_items);
	for (i = 0; i < nr; i++)
		if (type[i].tag != TYPE_SECOND && !write_type(f, t, type[i]))
			return false;
	return true;
}

static bool write_full(struct frames *f, const struct types *t, uint32_t at)
{
	uint32_t nr_locals = t->nr_locals;

	while (nr_locals && t->locals[nr_locals - 1].tag == TYPE_TOP)
		nr_locals--;
	write8(f->w, FULL);
	write16(f->w, next_delta(f, at));
	return write_types(f, t, t->locals, nr_locals) && write_types(f, t, t->stack, t->nr_stack);
}

static enum cover cover_of(const struct types *t)
{
	if (!t->uninit_this)
		return COVER_ALL;
	return t->nr_locals && t->locals[0].tag == TYPE_UNINIT_THIS ? COVER_UNINIT : COVER_NOTHING;
}

/*
 * Follows the types from one map to the next. Fills cover[pc] when it is not NULL, and writes the
 * maps in full when full is set.
 */
static enum classfile_reason frames_follow(struct frames *f, uint8_t *cover, bool full)
{
	const struct code *c = f->c;
	struct types now, map;
	uint32_t pc, len, map_pc = ~0u;
	bool known = true, after_wide_if = false, uninit_this;

	if (!types_init(&now, c, f->scratch) || !types_init(&map, c, f->scratch))
		return CLASSFILE_NO_MEMORY;
	if (!types_enter(&now) || !types_enter(&map))
		return CLASSFILE_BAD_CODE;
	if (f->nr_left && !next_frame(f, &map, &map_pc))
		return CLASSFILE_BAD_CODE;
	for (pc = 0; pc < c->len; pc += len) {
		uint32_t op = c->bytes[pc];

		len = insn_len(c, pc);
		if (pc == map_pc) {
			types_copy(&now, &map);
			known = true;
		}
		if (after_wide_if && !known)
			return CLASSFILE_NO_FRAME;
		if (full && (pc == map_pc || after_wide_if) && !write_full(f, &now, f->l->at[pc]))
			return CLASSFILE_POOL_FULL;
		if (pc == map_pc && f->nr_left && !next_frame(f, &map, &map_pc))
			return CLASSFILE_BAD_CODE;
		uninit_this = now.uninit_this;
		if (cover && known)
			cover[pc] = cover_of(&now);
		if (known && !types_step(&now, pc))
			return CLASSFILE_NO_FRAME;
		/* super() and this() themselves: no stack map agrees with what HotSpot thinks of them */
		if (cover && known && uninit_this != now.uninit_this)
			cover[pc] = COVER_NOTHING;
		known &= !op_ends_block(op) && op != OP_JSR && op != OP_JSR_W;
		after_wide_if = op_is_if(op) && (f->l->flags[pc] & LAYOUT_WIDE);
	}
	return after_wide_if ? CLASSFILE_BAD_CODE : CLASSFILE_OK;
}

/* ---- what the handlers watch ---- */

static uint32_t nr_returns(const struct code *c)
{
	uint32_t pc, nr = 0;

	for (pc = 0; pc < c->len; pc += insn_len(c, pc))
		nr += op_is_return(c->bytes[pc]);
	return nr;
}

/*
 * Add the ranges from one instruction to another, without the exits' probes: an exception in one of these
 * (Thread.stop) comes after the probe has reported the method's end.
 */
static void add_ranges(const struct layout *l, struct guard *g, uint32_t pc, uint32_t end, enum cover cover)
{
	const struct code *c = l->code;
	uint32_t from = l->at[pc], probe;

	for (; pc < end; pc += insn_len(c, pc)) {
		if (!op_is_return(c->bytes[pc]))
			continue;
		probe = layout_insn_at(l, pc);
		if (probe > from)
			g->range[g->nr_ranges++] = (struct range){ from, probe, cover };
		from = probe + l->put->leave.len;
	}
	g->range[g->nr_ranges++] = (struct range){ from, l->at[end], cover };
}

/* Find ranges of neighbouring instructions that are covered alike. */
static enum classfile_reason find_ranges(const struct layout *l, const uint8_t *cover, struct guard *g,
					 struct scratch *s)
{
	uint32_t pc, end, nr = 1 + nr_returns(l->code);

	for (pc = 1; pc < l->code->len; pc++)
		nr += layout_is_start(l, pc) && cover[pc];
	g->range = scratch_get(s, nr * sizeof(g->range[0]));
	if (!g->range)
		return CLASSFILE_NO_MEMORY;
	for (pc = 0; pc < l->code->len; pc = end) {
		for (end = pc + 1; end < l->code->len; end++)
			if (layout_is_start(l, end) && cover[end] != cover[pc])
				break;
		if (cover[pc])
			add_ranges(l, g, pc, end, cover[pc]);
	}
	return CLASSFILE_OK;
}

static enum classfile_reason whole_range(const struct layout *l, struct guard *g, struct scratch *s)
{
	g->range = scratch_get(s, (1 + nr_returns(l->code)) * sizeof(g->range[0]));
	if (!g->range)
		return CLASSFILE_NO_MEMORY;
	add_ranges(l, g, 0, l->code->len, COVER_ALL);
	return CLASSFILE_OK;
}

static void place_handlers(const struct layout *l, struct guard *g)
{
	uint32_t i, cover;

	for (cover = COVER_UNINIT; cover < NR_COVERS; cover++)
		for (i = 0; i < g->nr_ranges && !g->handler_at[cover]; i++)
			if (g->range[i].cover == cover)
				g->handler_at[cover] = l->len + layout_handler_len(l) * g->nr_handlers++;
	g->end_at = l->len + layout_handler_len(l) * g->nr_handlers;
}

/* ---- ways out of a monitor ---- */

static uint32_t way_len(uint32_t local)
{
	return 2 + (local <= 3 ? 1 : local <= 255 ? 2 : 4);
}

void frames_write_way(uint32_t local, struct writer *w)
{
	if (local <= 3) {
		write8(w, OP_ALOAD_0 + local);
	} else if (local <= 255) {
		write8(w, OP_ALOAD);
		write8(w, local);
	} else {
		write8(w, OP_WIDE);
		write8(w, OP_ALOAD);
		write16(w, local);
	}
	write8(w, OP_MONITOREXIT);
	write8(w, OP_ATHROW);
}

const struct way_out *frames_way(const struct guard *g, uint32_t local)
{
	uint32_t lo = 0, hi = g->nr_ways;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (g->ways[mid].local < local)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &g->ways[lo];
}

static bool place_ways(const struct layout *l, struct guard *g, struct scratch *s)
{
	uint32_t nr = l->code->max_locals + 1, i;
	bool *used = scratch_get(s, nr * sizeof(used[0]));

	for (i = 0; used && i < l->nr_unlocks; i++)
		if (l->unlocks[i].local < nr)
			g->nr_ways += !used[l->unlocks[i].local], used[l->unlocks[i].local] = true;
	g->ways = scratch_get(s, g->nr_ways * sizeof(g->ways[0]));
	if (!used || !g->ways)
		return false;
	g->nr_ways = 0;
	for (i = 0; i < nr; i++)
		if (used[i]) {
			g->ways[g->nr_ways++] = (struct way_out){ .local = i, .at = g->end_at };
			g->end_at += way_len(i);
		}
	return true;
}

static void write_way_frame(struct frames *f, const struct way_out *way, const struct snippets *put)
{
	uint32_t i;

	write8(f->w, FULL);
	write16(f->w, next_delta(f, way->at));
	write16(f->w, way->local + 1);
	for (i = 0; i < way->local; i++)
		write8(f->w, TYPE_TOP);
	write8(f->w, TYPE_OBJECT);
	write16(f->w, put->object);
	write16(f->w, 1);
	write8(f->w, TYPE_OBJECT);
	write16(f->w, put->throwable);
}

static void write_handler_frame(struct frames *f, uint32_t at, enum cover cover, const struct snippets *put)
{
	write8(f->w, FULL);
	write16(f->w, next_delta(f, at));
	write16(f->w, cover == COVER_UNINIT || put->thrown_this);
	if (cover == COVER_UNINIT) {
		write8(f->w, TYPE_UNINIT_THIS);
	} else if (put->thrown_this) {
		write8(f->w, TYPE_OBJECT);
		write16(f->w, put->thrown_this);
	}
	write16(f->w, 1);
	write8(f->w, TYPE_OBJECT);
	write16(f->w, put->throwable);
}

/*
 * The verifier that infers types, without stack maps, does not care whether "this" is initialised
 * where a handler only throws on. It is used below version 50, and for version 50 when the other
 * one fails: so it does at the first jump that has no map.
 */
static bool is_inferred(const struct layout *l)
{
	const struct code *c = l->code;
	uint32_t pc;

	if (c->version != 50 || c->has_frames)
		return c->version < 50;
	for (pc = 0; pc < c->len; pc += insn_len(c, pc))
		if (insn_nr_jumps(c, pc))
			return true;
	return c->nr_handlers;
}

/* Return whether a handler may leave: its way out declares no uninitialised "this". */
static bool can_leave(const struct layout *l, const uint8_t *cover)
{
	uint32_t i;

	for (i = 0; i < l->nr_unlocks; i++)
		if (cover[l->unlocks[i].pc] != COVER_ALL)
			return false;
	return true;
}

static enum classfile_reason find_guards(const struct layout *l, const uint8_t *cover, bool in_parts,
					 struct guard *g, struct scratch *s)
{
	enum classfile_reason reason = CLASSFILE_OK;
	uint32_t i;

	if (in_parts && !can_leave(l, cover))
		return CLASSFILE_NO_FRAME;
	if (l->put->thrown.len)
		reason = in_parts ? find_ranges(l, cover, g, s) : whole_range(l, g, s);
	if (reason)
		return reason;
	place_handlers(l, g);
	for (i = 0; i < l->nr_unlocks; i++)
		if (l->unlocks[i].local >= l->code->max_locals)
			return CLASSFILE_BAD_CODE;
	return place_ways(l, g, s) ? CLASSFILE_OK : CLASSFILE_NO_MEMORY;
}

enum classfile_reason frames_write(const struct layout *l, struct pool *pool, struct scratch *s,
				   struct guard *g, struct writer *w)
{
	const struct code *c = l->code;
	struct frames f = { .l = l, .c = c, .pool = pool, .scratch = s, .w = w, .last_at = -1,
		.last_pc = -1 };
	bool in_parts = c->is_constructor && !is_inferred(l), full = c->has_frames && l->has_wide_if;
	uint8_t *cover = scratch_get(s, c->len + 1);
	enum classfile_reason reason = CLASSFILE_OK;
	size_t start = w->len;
	uint32_t i;

	memset(g, 0, sizeof(*g));
	if (!cover)
		return CLASSFILE_NO_MEMORY;
	f.r = c->frames;
	f.nr_left = c->has_frames ? c->nr_frames : 0;
	if (c->version >= 50)
		write16(w, 0);
	if (in_parts || full)
		reason = frames_follow(&f, in_parts ? cover : NULL, full);
	if (!reason && !full) {
		f.r = c->frames;
		f.nr_left = c->has_frames ? c->nr_frames : 0;
		f.last_pc = -1;
		reason = copy_frames(&f);
	}
	if (!reason)
		reason = find_guards(l, cover, in_parts, g, s);
	if (reason)
		return reason;
	if (g->end_at > 65535 || c->nr_handlers + g->nr_ranges + l->nr_unlocks > 65535)
		return CLASSFILE_TOO_LARGE;
	for (i = COVER_UNINIT; c->version >= 50 && i < NR_COVERS; i++)
		if (g->handler_at[i])
			write_handler_frame(&f, g->handler_at[i], i, l->put);
	for (i = 0; c->version >= 50 && i < g->nr_ways; i++)
		write_way_frame(&f, &g->ways[i], l->put);
	if (f.nr > 65535)
		return CLASSFILE_TOO_LARGE;
	if (w->bad)
		return CLASSFILE_NO_MEMORY;
	if (c->version >= 50)
		put16(w->data + start, f.nr);
	return CLASSFILE_OK;
}
