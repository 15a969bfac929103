// SPDX-License-Identifier: MIT
/*
 * insn.c - the Code attribute and the lengths and jumps of instructions (JVMS 4.7.3, 6.5).
 */
#include "classfile/code.h"

bool code_read(struct code *c, struct reader r)
{
	uint32_t i;

	c->max_stack = read16(&r);
	c->max_locals = read16(&r);
	c->len = read32(&r);
	c->bytes = read_bytes(&r, c->len);
	c->nr_handlers = read16(&r);
	c->handlers = read_bytes(&r, (size_t)c->nr_handlers * 8);
	c->nr_attrs = read16(&r);
	c->attrs = c->frames = r;
	c->has_frames = false;
	c->nr_frames = 0;
	if (r.bad || !c->len || c->len > 65535)
		return false;
	for (i = 0; i < c->nr_attrs; i++) {
		struct classfile_text name = pool_utf8(c->pool, read16(&r));
		struct reader body = read_part(&r, read32(&r));

		/* A class below version 50 has no use for it: the verifier does not read it. */
		if (c->version < 50 || !text_is(name, "StackMapTable"))
			continue;
		if (c->has_frames)
			return false;
		c->has_frames = true;
		c->nr_frames = read16(&body);
		c->frames = body;
		if (body.bad)
			return false;
	}
	return !r.bad;
}

/* The length of instructions with a fixed length; 0: it varies, or there is no such instruction. */
static const uint8_t lengths[256] = {
	/* 00 constants */	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 3,
	/* 15 loads */		2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
				1, 1, 1, 1, 1, 1, 1, 1,
	/* 36 stores */		2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
				1, 1, 1, 1, 1, 1, 1, 1,
	/* 57 stack */		1, 1, 1, 1, 1, 1, 1, 1, 1,
	/* 60 arithmetic */	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
				1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	/* 84 iinc */		3,
	/* 85 conversions */	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	/* 94 comparisons */	1, 1, 1, 1, 1,
	/* 99 jumps */		3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
	/* a9 ret, switches */	2, 0, 0,
	/* ac returns */	1, 1, 1, 1, 1, 1,
	/* b2 fields, calls */	3, 3, 3, 3, 3, 3, 3, 5, 5,
	/* bb objects */	3, 2, 3, 1, 1, 3, 3, 1, 1,
	/* c4 wide and others */ 0, 4, 3, 3, 5, 5,
};

static uint32_t wide_len(const struct code *c, uint32_t pc)
{
	uint32_t op = pc + 1 < c->len ? c->bytes[pc + 1] : 0;

	if (op == OP_IINC)
		return 6;
	if ((op >= OP_ILOAD && op <= OP_ALOAD) || (op >= OP_ISTORE && op <= OP_ASTORE) || op == OP_RET)
		return 4;
	return 0;
}

/* Return where the operands of a switch start: at a multiple of four. */
static uint32_t operands(uint32_t pc)
{
	return (pc + 4) & ~3u;
}

static uint32_t switch_len(const struct code *c, uint32_t pc)
{
	uint32_t from = operands(pc);
	int64_t n;

	if (from + (c->bytes[pc] == OP_LOOKUPSWITCH ? 8 : 12) > c->len)
		return 0;
	if (c->bytes[pc] == OP_LOOKUPSWITCH) {
		n = (int32_t)be32(c->bytes + from + 4);
		return n < 0 || n > (c->len - from - 8) / 8 ? 0 : from + 8 + 8 * n - pc;
	}
	n = (int64_t)(int32_t)be32(c->bytes + from + 8) - (int32_t)be32(c->bytes + from + 4) + 1;
	return n < 1 || n > (c->len - from - 12) / 4 ? 0 : from + 12 + 4 * n - pc;
}

uint32_t insn_len(const struct code *c, uint32_t pc)
{
	uint32_t op = c->bytes[pc], len = lengths[op];

	if (!len && op == OP_WIDE)
		len = wide_len(c, pc);
	else if (!len && op_is_switch(op))
		len = switch_len(c, pc);
	return pc + len <= c->len ? len : 0;
}

/* These methods are final: no other class has any with their types. */
uint32_t insn_signals(const struct code *c, uint32_t pc)
{
	struct classfile_text name, type;
	uint32_t idx;

	if (c->bytes[pc] != OP_INVOKEVIRTUAL)
		return 0;
	idx = be16(c->bytes + pc + 1);
	name = pool_ref_name(c->pool, idx);
	type = pool_ref_type(c->pool, idx);
	if (text_is(name, "wait") && (text_is(type, "(J)V") || text_is(type, "(JI)V")))
		return LAYOUT_WAIT;
	if (!text_is(type, "()V"))
		return 0;
	return text_is(name, "wait") ? LAYOUT_WAIT : text_is(name, "notify") ? LAYOUT_NOTIFY :
	       text_is(name, "notifyAll") ? LAYOUT_NOTIFY_ALL : 0;
}

uint32_t insn_nr_jumps(const struct code *c, uint32_t pc)
{
	uint32_t op = c->bytes[pc], from = operands(pc);

	if (op_is_short_jump(op) || op == OP_GOTO_W || op == OP_JSR_W)
		return 1;
	if (op == OP_LOOKUPSWITCH)
		return 1 + be32(c->bytes + from + 4);
	if (op == OP_TABLESWITCH)
		return 2 + be32(c->bytes + from + 8) - be32(c->bytes + from + 4);
	return 0;
}

int32_t insn_jump(const struct code *c, uint32_t pc, uint32_t n)
{
	uint32_t op = c->bytes[pc], from = operands(pc);

	if (op_is_short_jump(op))
		return (int16_t)be16(c->bytes + pc + 1);
	if (op == OP_GOTO_W || op == OP_JSR_W)
		return (int32_t)be32(c->bytes + pc + 1);
	if (!n)
		return (int32_t)be32(c->bytes + from);
	return (int32_t)be32(c->bytes + from + (op == OP_LOOKUPSWITCH ? 4 + 8 * n : 8 + 4 * n));
}
