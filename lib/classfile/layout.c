// SPDX-License-Identifier: MIT
/*
 * layout.c - where each instruction goes when probes stand among them, and the code so made.
 *
 * Instructions only move up, and a jump once widened stays so: the positions are a fixed point
 * that is reached from below. Invariants, once layout_init() has succeeded:
 *  [1] every jump, handler and end of a range is at the start of an instruction (an end: or of nothing);
 *  [2] at[] increases from one instruction to the next, and all of it fits into 65535 bytes.
 */
#include "classfile/code.h"

void scratch_reset(struct scratch *s)
{
	s->used = s->total = 0;
}

void *scratch_get(struct scratch *s, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (s->alloc - s->used < size) {
		size_t alloc = 2 * s->alloc + size + 65536;

		s->data = memory_get(s->mem, alloc);
		s->alloc = s->data ? alloc : 0;
		s->used = 0;
		if (!s->data)
			return NULL;
	}
	p = s->data + s->used;
	s->used += size;
	s->total += size;
	return memset(p, 0, size);
}

static bool find_instructions(struct layout *l)
{
	const struct code *c = l->code;
	uint32_t pc, len;

	for (pc = 0; pc < c->len; pc += len) {
		len = insn_len(c, pc);
		if (!len)
			return false;
		l->flags[pc] = LAYOUT_START;
	}
	return true;
}

static bool check_targets(const struct layout *l)
{
	const struct code *c = l->code;
	uint32_t pc, i, n;

	for (pc = 0; pc < c->len; pc += insn_len(c, pc))
		for (i = 0, n = insn_nr_jumps(c, pc); i < n; i++) {
			uint32_t to = pc + (uint32_t)insn_jump(c, pc, i);

			if (!layout_is_start(l, to))
				return false;
			l->flags[to] |= LAYOUT_TARGET;
		}
	for (i = 0; i < c->nr_handlers; i++) {
		uint32_t start = be16(c->handlers + 8 * i), end = be16(c->handlers + 8 * i + 2);

		if (start >= end || !layout_is_start(l, start) ||
		    (end != c->len && !layout_is_start(l, end)) ||
		    !layout_is_start(l, be16(c->handlers + 8 * i + 4)))
			return false;
		l->flags[be16(c->handlers + 8 * i + 4)] |= LAYOUT_TARGET;
	}
	return true;
}

/*
 * Return, for each pc, how many handlers at the same place or before it watch it; NULL without memory. A
 * probe may throw (when the stack is full), and must not lead back to itself, so there is none where such
 * a handler watches.
 */
static uint32_t *watched_from_before(const struct code *c, struct scratch *s)
{
	/* First how many more there are than at the pc before, modulo 2^32. */
	uint32_t *nr = scratch_get(s, (c->len + 1) * sizeof(nr[0])), i, pc;

	for (i = 0; nr && i < c->nr_handlers; i++) {
		uint32_t start = be16(c->handlers + 8 * i), end = be16(c->handlers + 8 * i + 2);
		uint32_t handler = be16(c->handlers + 8 * i + 4), from = handler > start ? handler : start;

		if (from < end) {
			nr[from]++;
			nr[end]--;
		}
	}
	for (pc = 1; nr && pc < c->len; pc++)
		nr[pc] += nr[pc - 1];
	return nr;
}

/* Marks the handlers that get a probe. */
static void find_handlers(struct layout *l, const uint32_t *watched)
{
	const struct code *c = l->code;
	uint32_t i;

	for (i = 0; i < c->nr_handlers; i++) {
		uint32_t handler = be16(c->handlers + 8 * i + 4);

		if (!watched[handler])
			l->flags[handler] |= LAYOUT_CAUGHT;
	}
}

/* Return whether a basic block begins at pc. after: the instruction before it. */
static bool begins_block(const struct layout *l, uint32_t pc, uint32_t after)
{
	uint32_t op = l->code->bytes[after];

	return !pc || l->flags[pc] & LAYOUT_TARGET || op_ends_block(op) || op_is_if(op) || op == OP_JSR ||
	       op == OP_JSR_W;
}

/*
 * Choose where the instructions of each basic block are counted: in front of its first one, or of the
 * first one where a probe may stand. A block without such a place is not counted.
 */
static void find_blocks(struct layout *l, const uint32_t *watched)
{
	const struct code *c = l->code;
	uint32_t pc, after = 0, nr = 0;
	uint16_t *count = NULL;

	for (pc = 0; pc < c->len; after = pc, pc += insn_len(c, pc)) {
		if (begins_block(l, pc, after) || nr == INT16_MAX) {
			count = NULL;
			nr = 0;
		}
		nr++;
		if (!count && !watched[pc])
			count = &l->counts[pc];
		if (count)
			*count = nr;
	}
}

static enum classfile_reason find_probes(struct layout *l, struct scratch *s)
{
	const uint32_t *watched = watched_from_before(l->code, s);

	if (l->put->count.len)
		l->counts = scratch_get(s, (l->code->len + 1) * sizeof(l->counts[0]));
	if (!watched || (l->put->count.len && !l->counts))
		return CLASSFILE_NO_MEMORY;
	if (l->watch_handlers)
		find_handlers(l, watched);
	if (l->counts)
		find_blocks(l, watched);
	return l->put->line.len ? sites_find(l, watched, s) : CLASSFILE_OK;
}

/* ---- monitors ---- */

/* Return, for each pc, how many handlers watch it for anything that is thrown; NULL without memory. */
static uint32_t *watched_for_all(const struct code *c, struct scratch *s)
{
	uint32_t *nr = scratch_get(s, (c->len + 1) * sizeof(nr[0]));
	uint32_t i, pc;

	for (i = 0; nr && i < c->nr_handlers; i++)
		if (!be16(c->handlers + 8 * i + 6)) {
			nr[be16(c->handlers + 8 * i)]++;
			nr[be16(c->handlers + 8 * i + 2)]--;
		}
	for (pc = 1; nr && pc <= c->len; pc++)
		nr[pc] += nr[pc - 1];
	return nr;
}

/* Return the local variable of which an instruction pushes a reference; -1: it does something else. */
static int32_t loaded_local(const struct code *c, uint32_t pc)
{
	const uint8_t *p = c->bytes + pc;

	if (*p >= OP_ALOAD_0 && *p <= OP_ALOAD_3)
		return *p - OP_ALOAD_0;
	if (*p == OP_ALOAD)
		return p[1];
	return *p == OP_WIDE && p[1] == OP_ALOAD ? (int32_t)be16(p + 2) : -1;
}

/*
 * Find monitors. HotSpot compiles no method that an exception may leave with a monitor entered. So what may
 * throw is where the method's own handlers watch, or gets a handler of ours, which must know the object.
 */
static enum classfile_reason find_monitors(struct layout *l, struct scratch *s)
{
	const struct code *c = l->code;
	uint32_t *watched = watched_for_all(c, s), pc, next, nr = 0;
	int32_t local = -1;

	for (pc = 0; pc < c->len; pc += insn_len(c, pc))
		nr += c->bytes[pc] == OP_MONITOREXIT;
	l->unlocks = scratch_get(s, nr * sizeof(l->unlocks[0]));
	if (!watched || !l->unlocks)
		return CLASSFILE_NO_MEMORY;
	for (pc = 0; pc < c->len; pc = next) {
		next = pc + insn_len(c, pc);
		if (c->bytes[pc] == OP_MONITORENTER) {
			if (next >= c->len || !watched[next])
				return CLASSFILE_ODD_LOCK;
			l->flags[next] |= LAYOUT_AFTER_LOCK;
		} else if (c->bytes[pc] == OP_MONITOREXIT) {
			if (local < 0 || l->flags[pc] & LAYOUT_TARGET)
				return CLASSFILE_ODD_LOCK;
			l->unlocks[l->nr_unlocks++] = (struct unlock){ pc, local };
		} else {
			l->flags[pc] |= insn_signals(c, pc);
		}
		local = loaded_local(c, pc);
	}
	return CLASSFILE_OK;
}

/* Return the length of the instruction at pc in its new place, with what is put around it. */
static uint32_t new_len(const struct layout *l, uint32_t pc, uint32_t len, uint32_t at)
{
	uint32_t op = l->code->bytes[pc];

	if (op_is_return(op))
		return l->put->leave.len + len;
	if (l->flags[pc] & LAYOUT_WAIT)
		return len + l->put->after_wait.len;
	if (l->flags[pc] & LAYOUT_NOTIFY)
		return l->put->before_notify.len + len;
	if (l->flags[pc] & LAYOUT_NOTIFY_ALL)
		return l->put->before_notify_all.len + len;
	if (op == OP_MONITORENTER)
		return l->put->before_lock.len + len + l->put->after_lock.len;
	if (op == OP_MONITOREXIT)
		return l->put->before_unlock.len + len;
	if (op_is_switch(op))	/* only its padding changes */
		return len - (3 - (pc & 3)) + (3 - (at & 3));
	if (l->flags[pc] & LAYOUT_WIDE)
		return op_is_if(op) ? 8 : 5;
	return len;
}

static bool layout_place(struct layout *l)
{
	const struct code *c = l->code;
	uint32_t pc, len, i, at = l->put->entry.len;

	for (pc = 0; pc < c->len; pc += len) {
		len = insn_len(c, pc);
		for (i = 0; i < len; i++)
			l->at[pc + i] = at;
		at += layout_len_before(l, pc);
		at += new_len(l, pc, len, at);
		if (at > 65535)
			return false;
	}
	l->at[c->len] = l->len = at;
	return true;
}

/* Return the distance from the instruction at pc to its n-th target in the new code. */
static int32_t new_jump(const struct layout *l, uint32_t pc, uint32_t n)
{
	return (int32_t)l->at[pc + insn_jump(l->code, pc, n)] - (int32_t)layout_insn_at(l, pc);
}

/* Marks the jumps that do not fit into 16 bits any more; false: there are no more. */
static bool widen(struct layout *l)
{
	const struct code *c = l->code;
	bool found = false;
	uint32_t pc;

	if (l->len <= 32767 && !l->widen_all)
		return false;
	for (pc = 0; pc < c->len; pc += insn_len(c, pc)) {
		uint32_t op = c->bytes[pc];
		int32_t d;

		if (!op_is_short_jump(op) || (l->flags[pc] & LAYOUT_WIDE))
			continue;
		d = new_jump(l, pc, 0);
		if (d == (int16_t)d && !l->widen_all)
			continue;
		l->flags[pc] |= LAYOUT_WIDE;
		l->has_wide_if |= op_is_if(op);
		l->nr_widened++;
		found = true;
	}
	return found;
}

enum classfile_reason layout_init(struct layout *l, struct scratch *s)
{
	const struct code *c = l->code;
	enum classfile_reason reason;

	l->flags = scratch_get(s, c->len + 1);
	l->at = scratch_get(s, (c->len + 1) * sizeof(l->at[0]));
	if (!l->flags || !l->at)
		return CLASSFILE_NO_MEMORY;
	if (!find_instructions(l) || !check_targets(l))
		return CLASSFILE_BAD_CODE;
	reason = l->put->lock_sites ? find_monitors(l, s) : find_probes(l, s);
	if (reason)
		return reason;
	for (;;) {
		if (layout_place(l)) {
			if (!widen(l))
				return CLASSFILE_OK;
		} else if (!l->sites) {
			return CLASSFILE_TOO_LARGE;
		} else {
			l->sites = NULL;	/* rather calls without a place than no calls */
		}
	}
}

static void write_snippet(struct writer *w, const struct snippet *s)
{
	write_bytes(w, s->bytes, s->len);
}

/* Write a snippet that begins with a sipush, of that number. */
static void write_number(struct writer *w, const struct snippet *s, uint32_t nr)
{
	struct snippet of = *s;

	put16(of.bytes + 1, nr);
	write_snippet(w, &of);
}

static uint32_t inverted(uint32_t op)
{
	return op == OP_IFNULL || op == OP_IFNONNULL ? op ^ 1 : ((op + 1) ^ 1) - 1;
}

static void write_jump(const struct layout *l, uint32_t pc, struct writer *w)
{
	uint32_t op = l->code->bytes[pc];
	int32_t d = new_jump(l, pc, 0);

	if (op == OP_GOTO_W || op == OP_JSR_W) {
		write8(w, op);
		write32(w, d);
	} else if (!(l->flags[pc] & LAYOUT_WIDE)) {
		write8(w, op);
		write16(w, d);
	} else if (op_is_if(op)) {
		write8(w, inverted(op));
		write16(w, 8);		/* over the goto_w */
		write8(w, OP_GOTO_W);
		write32(w, d - 3);
	} else {
		write8(w, op == OP_GOTO ? OP_GOTO_W : OP_JSR_W);
		write32(w, d);
	}
}

static void write_switch(const struct layout *l, uint32_t pc, struct writer *w)
{
	static const uint8_t padding[3];
	const struct code *c = l->code;
	const uint8_t *from = c->bytes + ((pc + 4) & ~3u);
	uint32_t i, n = insn_nr_jumps(c, pc);

	write8(w, c->bytes[pc]);
	write_bytes(w, padding, 3 - (layout_insn_at(l, pc) & 3));
	write32(w, new_jump(l, pc, 0));
	write_bytes(w, from + 4, c->bytes[pc] == OP_TABLESWITCH ? 8 : 4);
	for (i = 1; i < n; i++) {
		if (c->bytes[pc] == OP_LOOKUPSWITCH)
			write_bytes(w, from + 8 * i, 4);
		write32(w, new_jump(l, pc, i));
	}
}

static const struct snippet *before(const struct layout *l, uint32_t pc)
{
	static const struct snippet nothing;
	uint32_t op = l->code->bytes[pc];

	if (l->flags[pc] & (LAYOUT_NOTIFY | LAYOUT_NOTIFY_ALL))
		return l->flags[pc] & LAYOUT_NOTIFY ? &l->put->before_notify : &l->put->before_notify_all;
	return op_is_return(op) ? &l->put->leave : op == OP_MONITORENTER ? &l->put->before_lock :
	       op == OP_MONITOREXIT ? &l->put->before_unlock : &nothing;
}

void layout_write(const struct layout *l, struct writer *w)
{
	const struct code *c = l->code;
	uint32_t pc, len;

	write_snippet(w, &l->put->entry);
	for (pc = 0; pc < c->len; pc += len) {
		uint32_t op = c->bytes[pc];

		len = insn_len(c, pc);
		if (l->flags[pc] & LAYOUT_CAUGHT)
			write_snippet(w, &l->put->caught);
		if (l->counts && l->counts[pc])
			write_number(w, &l->put->count, l->counts[pc]);
		if (l->sites && l->sites[pc])
			write_number(w, l->has_lines ? &l->put->line : &l->put->bci, l->sites[pc]);
		if (op_is_switch(op)) {
			write_switch(l, pc, w);
		} else if (op_is_short_jump(op) || op == OP_GOTO_W || op == OP_JSR_W) {
			write_jump(l, pc, w);
		} else {
			write_snippet(w, before(l, pc));
			write_bytes(w, c->bytes + pc, len);
			if (op == OP_MONITORENTER)
				write_snippet(w, &l->put->after_lock);
			else if (l->flags[pc] & LAYOUT_WAIT)
				write_snippet(w, &l->put->after_wait);
		}
	}
}

void layout_write_handler(const struct layout *l, struct writer *w)
{
	write_snippet(w, &l->put->thrown);
	write8(w, OP_ATHROW);
}
