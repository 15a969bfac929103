// SPDX-License-Identifier: MIT
/*
 * sites.c - where the probes stand that tell from which place a method calls (rewrite.h).
 *
 * What a probe told holds until the next one, also behind the call: so one stands in front of each
 * instruction that may call, unless the same place was reported on the only way there. A place is a line, or,
 * in code without lines, the instruction.
 *
 * The JVM also calls when an instruction needs a class for the first time: to initialise it (a static
 * method, an object, a static field) and to load it (class loaders, any use). The former is seen to here, but
 * for fields that a class has from an interface of its own; the latter would take a probe for each cast.
 */
#include "classfile/code.h"

enum { HERE = 1 << 16 };		/* in layout.sites: a probe stands here */

/* Puts the lines at their first instructions; false: there are none. */
static bool take_lines(const struct code *c, uint16_t *lines)
{
	struct reader r = c->attrs;
	uint32_t i, nr, start, line;
	bool any = false;

	for (i = 0; i < c->nr_attrs; i++) {
		struct classfile_text name = pool_utf8(c->pool, read16(&r));
		struct reader part = read_part(&r, read32(&r));

		if (!text_is(name, "LineNumberTable"))
			continue;
		for (nr = read16(&part); nr && !part.bad; nr--) {
			start = read16(&part);
			line = read16(&part);
			if (part.bad || start >= c->len)
				break;
			lines[start] = line;
			any = true;
		}
	}
	return any;
}

/* Return the line of each instruction, 0 if it has none; NULL: no memory. */
static const uint16_t *find_lines(struct layout *l, struct scratch *s)
{
	const struct code *c = l->code;
	uint16_t *lines = scratch_get(s, (c->len + 1) * sizeof(lines[0]));
	uint32_t pc;

	if (!lines)
		return NULL;
	l->has_lines = take_lines(c, lines);
	for (pc = 1; pc < c->len; pc++)
		if (!lines[pc])
			lines[pc] = lines[pc - 1];
	return lines;
}

/* Return whether it is an invokespecial of the constructor that never has a probe, nor calls. */
static bool is_empty_super(const struct code *c, uint32_t pc)
{
	uint32_t idx = be16(c->bytes + pc + 1);

	return text_is(pool_class_name(c->pool, pool_ref_class(c->pool, idx)), "java/lang/Object") &&
	       text_is(pool_ref_name(c->pool, idx), "<init>");
}

static bool may_call(const struct code *c, uint32_t pc)
{
	const uint8_t *p = c->bytes + pc;

	switch (*p) {
	case OP_INVOKESPECIAL:
		return !is_empty_super(c, pc);
	case OP_INVOKEVIRTUAL:
	case OP_INVOKESTATIC:
	case OP_INVOKEINTERFACE:
	case OP_INVOKEDYNAMIC:
		return true;
	case OP_NEW:
		return be16(p + 1) != c->this_class;
	case OP_GETSTATIC:
	case OP_PUTSTATIC:
		return pool_ref_class(c->pool, be16(p + 1)) != c->this_class;
	default:
		return false;
	}
}

enum classfile_reason sites_find(struct layout *l, const uint32_t *watched, struct scratch *s)
{
	const struct code *c = l->code;
	const uint16_t *lines = find_lines(l, s);
	uint32_t pc, next, here, told = 0, *sites = scratch_get(s, (c->len + 1) * sizeof(sites[0]));

	if (!lines || !sites)
		return CLASSFILE_NO_MEMORY;
	for (pc = 0; pc < c->len; pc = next) {
		uint32_t op = c->bytes[pc];

		next = pc + insn_len(c, pc);
		if (l->flags[pc] & LAYOUT_TARGET)
			told = 0;
		here = HERE | (l->has_lines ? lines[pc] : pc);
		if (here != told && may_call(c, pc)) {
			if (watched[pc])
				return CLASSFILE_OK;	/* without any: a wrong place is worse than none */
			sites[pc] = told = here;
		}
		if (op_ends_block(op) || op == OP_JSR || op == OP_JSR_W)
			told = 0;
	}
	l->sites = sites;
	return CLASSFILE_OK;
}
