// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - encodes and decodes runs of branches (branch.h). */
#include "trace/branch.h"

enum { LEN_SHIFT = 4, KIND_MASK = 15 };

static uint64_t branch_zigzag(uint64_t diff)
{
	return diff << 1 ^ (uint64_t)((int64_t)diff >> 63);
}

void branch_put(struct buf *bytes, const struct branch *b)
{
	buf_u8(bytes, b->kind | b->len << LEN_SHIFT);
	buf_varint(bytes, b->nr_insns);
	buf_varint(bytes, b->end - b->start);
	buf_varint(bytes, branch_zigzag(b->to - b->end));
}

bool branch_next(struct branch_cursor *c, struct branch *b)
{
	uint8_t what;
	uint64_t diff;

	if (!c->nr)
		return false;
	what = span_u8(&c->s);
	b->kind = what & KIND_MASK;
	b->len = what >> LEN_SHIFT;
	b->start = c->start;
	b->nr_insns = span_varint(&c->s);
	b->end = b->start + span_varint(&c->s);
	diff = span_varint(&c->s);
	b->to = b->end + (diff >> 1 ^ -(diff & 1));
	if (b->kind >= BRANCH_KIND_NR)
		c->s.bad = true;
	c->nr--;
	c->start = b->to;
	return !c->s.bad;
}

static const struct {
	const char *name, *arc;
	uint8_t arc_number;
} kinds[BRANCH_KIND_NR] = {
	[BRANCH_INTERRUPT] = { "interrupt", "INTRPT", 0 },
	[BRANCH_CALL] = { "call", "CALL", 1 },
	[BRANCH_RETURN] = { "return", "RETURN", 2 },
	[BRANCH_JUMP] = { "jump", "JUMP", 3 },
	[BRANCH_IRET] = { "iret", "IRET", 4 },
	[BRANCH_OTHER] = { "other", "OTHER", 5 },
	[BRANCH_CALL_INDIRECT] = { "call-indirect", "CALL", 1 },
	[BRANCH_JUMP_INDIRECT] = { "jump-indirect", "JUMP", 3 },
	[BRANCH_COND] = { "conditional", "JUMP", 3 },
	[BRANCH_EXEC] = { "exec", "OTHER", 5 },
	[BRANCH_EXIT] = { "exit", "OTHER", 5 },
	[BRANCH_STOP] = { "stop", "OTHER", 5 },
};

const char *branch_arc_name(enum branch_kind kind)
{
	return kind < BRANCH_KIND_NR ? kinds[kind].arc : "UNDEFD";
}

unsigned int branch_arc_number(enum branch_kind kind)
{
	return kind < BRANCH_KIND_NR ? kinds[kind].arc_number : 6;
}

const char *branch_kind_name(enum branch_kind kind)
{
	return kind < BRANCH_KIND_NR ? kinds[kind].name : "unknown";
}
