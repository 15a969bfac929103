// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * expr.c - DWARF expressions, as far as unwind rules use them: registers, arithmetic,
 * comparisons, jumps, and memory of the copied stack (DWARF 5, section 2.5).
 */
#include "sym/leb.h"
#include "unwind/rules.h"

enum {
	STACK_MAX = 64,
	STEPS_MAX = 4096,
};

enum {
	OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S, OP_CONST2U, OP_CONST2S,
	OP_CONST4U, OP_CONST4S, OP_CONST8U, OP_CONST8S, OP_CONSTU, OP_CONSTS, OP_DUP, OP_DROP,
	OP_OVER, OP_PICK, OP_SWAP, OP_ROT, OP_ABS = 0x19, OP_AND, OP_DIV, OP_MINUS, OP_MOD, OP_MUL,
	OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL, OP_SHR, OP_SHRA, OP_XOR, OP_BRA,
	OP_EQ, OP_GE, OP_GT, OP_LE, OP_LT, OP_NE, OP_SKIP, OP_LIT0, OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70, OP_BREG31 = 0x8f, OP_BREGX = 0x92, OP_DEREF_SIZE = 0x94, OP_NOP = 0x96,
};

struct machine {
	const struct expr_input *in;
	const uint8_t *start;
	struct span s;
	uint64_t stack[STACK_MAX];
	size_t nr;
	uint64_t missing;
};

static void expr_push(struct machine *m, uint64_t v)
{
	if (m->nr == STACK_MAX)
		m->s.bad = true;
	else
		m->stack[m->nr++] = v;
}

static uint64_t expr_pop(struct machine *m)
{
	if (!m->nr) {
		m->s.bad = true;
		return 0;
	}
	return m->stack[--m->nr];
}

static uint64_t expr_peek(struct machine *m, size_t i)
{
	if (i >= m->nr) {
		m->s.bad = true;
		return 0;
	}
	return m->stack[m->nr - 1 - i];
}

static void push_register(struct machine *m, uint64_t reg)
{
	int64_t off = leb_signed(&m->s);

	if (reg >= UNWIND_NR_REGS || !(m->in->regs->valid >> reg & 1)) {
		m->s.bad = true;
		return;
	}
	expr_push(m, m->in->regs->r[reg] + off);
}

static void deref(struct machine *m, size_t size)
{
	const struct unwind_stack *st = m->in->st;
	uint64_t addr = expr_pop(m), off = addr - st->sp, v = 0;

	if (size <= 8 && st->len >= size && off <= st->len - size) {
		__builtin_memcpy(&v, st->data + off, size);
	} else if (size != 8 || !stack_read(st, addr, &v)) {
		m->missing = addr;
		m->s.bad = true;
		return;
	}
	expr_push(m, v);
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = span_u16(&m->s);
	ptrdiff_t to = m->s.p - m->start + by;

	if (!taken)
		return;
	if (to < 0 || to > m->s.end - m->start)
		m->s.bad = true;
	else
		m->s.p = m->start + to;
}

static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t x = a, y = b;

	switch (op) {
	case OP_AND: return a & b;
	case OP_OR: return a | b;
	case OP_XOR: return a ^ b;
	case OP_PLUS: return a + b;
	case OP_MINUS: return a - b;
	case OP_MUL: return a * b;
	case OP_SHL: return b < 64 ? a << b : 0;
	case OP_SHR: return b < 64 ? a >> b : 0;
	case OP_SHRA: return x >> (b < 64 ? b : 63);
	case OP_EQ: return x == y;
	case OP_NE: return x != y;
	case OP_GE: return x >= y;
	case OP_GT: return x > y;
	case OP_LE: return x <= y;
	case OP_LT: return x < y;
	case OP_MOD:
		if (b)
			return a % b;
		break;
	case OP_DIV:
		if (y == -1)
			return -a;
		if (y)
			return x / y;
		break;
	}
	m->s.bad = true;
	return 0;
}

static void run_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP:
		expr_push(m, expr_peek(m, 0));
		break;
	case OP_DROP:
		expr_pop(m);
		break;
	case OP_OVER:
		expr_push(m, expr_peek(m, 1));
		break;
	case OP_PICK:
		expr_push(m, expr_peek(m, span_u8(&m->s)));
		break;
	case OP_SWAP:
		a = expr_pop(m);
		b = expr_pop(m);
		expr_push(m, a);
		expr_push(m, b);
		break;
	case OP_ROT:
		a = expr_pop(m);
		b = expr_pop(m);
		c = expr_pop(m);
		expr_push(m, a);
		expr_push(m, c);
		expr_push(m, b);
		break;
	}
}

static void run_constant(struct machine *m, uint8_t op)
{
	switch (op) {
	case OP_CONST1U: expr_push(m, span_u8(&m->s)); break;
	case OP_CONST1S: expr_push(m, (int64_t)(int8_t)span_u8(&m->s)); break;
	case OP_CONST2U: expr_push(m, span_u16(&m->s)); break;
	case OP_CONST2S: expr_push(m, (int64_t)(int16_t)span_u16(&m->s)); break;
	case OP_CONST4U: expr_push(m, span_u32(&m->s)); break;
	case OP_CONST4S: expr_push(m, (int64_t)(int32_t)span_u32(&m->s)); break;
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S: expr_push(m, span_u64(&m->s)); break;
	case OP_CONSTU: expr_push(m, leb_unsigned(&m->s)); break;
	case OP_CONSTS: expr_push(m, leb_signed(&m->s)); break;
	}
}

static void run_unary(struct machine *m, uint8_t op)
{
	uint64_t a = expr_pop(m);

	switch (op) {
	case OP_ABS: expr_push(m, (int64_t)a < 0 ? -a : a); break;
	case OP_NEG: expr_push(m, -a); break;
	case OP_NOT: expr_push(m, ~a); break;
	case OP_PLUS_UCONST: expr_push(m, a + leb_unsigned(&m->s)); break;
	}
}

static void expr_run_one(struct machine *m)
{
	uint8_t op = span_u8(&m->s);
	uint64_t b;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		expr_push(m, op - OP_LIT0);
		return;
	}
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0);
		return;
	}
	switch (op) {
	case OP_NOP:
		break;
	case OP_DUP ... OP_ROT:
		run_stack(m, op);
		break;
	case OP_ADDR:
	case OP_CONST1U ... OP_CONSTS:
		run_constant(m, op);
		break;
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST:
		run_unary(m, op);
		break;
	case OP_BREGX:
		push_register(m, leb_unsigned(&m->s));
		break;
	case OP_DEREF:
		deref(m, 8);
		break;
	case OP_DEREF_SIZE:
		deref(m, span_u8(&m->s));
		break;
	case OP_SKIP:
		jump(m, true);
		break;
	case OP_BRA:
		jump(m, expr_pop(m) != 0);
		break;
	default:
		b = expr_pop(m);
		expr_push(m, binary(m, op, expr_pop(m), b));
	}
}

bool expr_eval(const struct cfi *c, uint32_t off, const struct expr_input *in, uint64_t *result,
	       uint64_t *missing)
{
	struct machine m = { .in = in };
	uint64_t len;
	int steps;

	*missing = 0;
	if (off >= c->bytes.len)
		return false;
	m.s = span_init(c->bytes.data + off, c->bytes.len - off);
	len = leb_unsigned(&m.s);
	if (m.s.bad || len > span_left(&m.s))
		return false;
	m.s.end = m.s.p + len;
	m.start = m.s.p;
	if (in->initial)
		expr_push(&m, *in->initial);
	for (steps = 0; m.s.p < m.s.end && !m.s.bad && steps < STEPS_MAX; steps++)
		expr_run_one(&m);
	*missing = m.missing;
	if (m.s.bad || m.s.p < m.s.end || !m.nr)
		return false;
	*result = expr_pop(&m);
	return true;
}
