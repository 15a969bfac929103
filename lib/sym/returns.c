// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * returns.c - where a function ends: its instructions are looked at one after the other, from its symbol's
 * begin to its end.
 *
 * That is right only where nothing lies between instructions, as tables do in some code written by hand: the
 * kernel would put a breakpoint into the middle of an instruction, or into data. So each jump within the
 * function must lead to the beginning of an instruction that was looked at.
 *
 * A jump to another function ends it, too: the other one returns to its caller. What the compiler has moved
 * away as unlikely is a function "f.cold" to the symbols, and still a part of f.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "base/mem.h"
#include "sym/symfile_int.h"

enum { MAX_BYTES = 1 << 20, MAX_PARTS = 8, LOCK = 0xf0 /* x86's prefix */ };

struct part {
	uint64_t off, size;
	bool *begins;		/* [size]: an instruction does there */
};

struct scan {
	struct symfile *f;
	const char *name;
	struct part parts[MAX_PARTS];	/* of the function; the first is the one that is entered */
	size_t nr_parts;
	uint64_t *at;
	size_t nr, max;
	uint64_t *targets;		/* of jumps within the function */
	size_t nr_targets, alloc_targets;
};

static const struct part *scan_part_of(const struct scan *s, uint64_t off)
{
	size_t i;

	for (i = 0; i < s->nr_parts; i++)
		if (off - s->parts[i].off < s->parts[i].size)
			return &s->parts[i];
	return NULL;
}

/* Add a cold part, which is scanned after those before it; return whether it is one. */
static bool add_cold_part(struct scan *s, uint64_t off)
{
	size_t len = strlen(s->name);
	struct symbol sym;

	if (s->nr_parts == MAX_PARTS || !symfile_symbol(s->f, off, &sym) || strncmp(sym.name, s->name, len) ||
	    strncmp(sym.name + len, ".cold", 5))
		return false;
	s->parts[s->nr_parts++] = (struct part){ sym.off, sym.size, NULL };
	return true;
}

static int add_end(struct scan *s, uint64_t off, struct err *e)
{
	if (s->nr == s->max)
		return err_set(e, E2BIG, "'%s' ends at more than %zu instructions", s->name, s->max);
	s->at[s->nr++] = off;
	return 0;
}

static int scan_insn(struct scan *s, uint64_t off, const struct insn *in, struct err *e)
{
	uint64_t to = off + (uint64_t)in->rel;
	bool jumps = in->direct && (in->kind == INSN_JUMP || in->kind == INSN_COND);
	bool leaves = jumps && !scan_part_of(s, to) && !add_cold_part(s, to);

	if (jumps && !leaves)
		*VEC_ADD(s->targets, s->nr_targets, s->alloc_targets) = to;
	if (leaves && in->kind == INSN_COND)
		return err_set(e, ENOTSUP, "'%s' goes on in another function if a condition holds (at +0x%" PRIx64 ")",
			       s->name, off - s->parts[0].off);
	return leaves || in->kind == INSN_RETURN ? add_end(s, off, e) : 0;
}

static int scan_part(struct scan *s, size_t part, struct err *e)
{
	struct part p = s->parts[part];
	uint8_t *code;
	uint64_t at = 0;
	int r = 0;

	if (!p.size || p.size > MAX_BYTES)
		return err_set(e, ENOTSUP, "the size of '%s' is not known", s->name);
	code = xmalloc(p.size);
	p.begins = s->parts[part].begins = xcalloc(p.size, sizeof(*p.begins));
	if (image_read(&s->f->im, p.off, code, p.size))
		r = err_set(e, EIO, "the code of '%s' cannot be read", s->name);
	while (!r && at < p.size) {
		struct insn in;

		if (!insn_decode(code + at, p.size - at, &in) || !in.len)
			r = err_set(e, EILSEQ, "the code of '%s' cannot be decoded at +0x%" PRIx64, s->name,
				    p.off + at - s->parts[0].off);
		else
			r = scan_insn(s, p.off + at, &in, e);
		p.begins[at] = true;
		if (in.len > 1 && code[at] == LOCK)	/* a single thread jumps behind it */
			p.begins[at + 1] = true;
		at += in.len;
	}
	free(code);
	return r;
}

static int check_targets(const struct scan *s, struct err *e)
{
	size_t i;

	for (i = 0; i < s->nr_targets; i++) {
		const struct part *p = scan_part_of(s, s->targets[i]);

		if (!p->begins[s->targets[i] - p->off])
			return err_set(e, EILSEQ, "'%s' has more than instructions in it", s->name);
	}
	return 0;
}

int symfile_returns(struct symfile *f, uint64_t off, uint64_t *at, size_t max, struct err *e)
{
	struct scan s = { .f = f, .at = at, .max = max };
	struct symbol sym;
	size_t i;
	int r = 0;

	if (!symfile_symbol(f, off, &sym) || sym.off != off)
		return err_set(e, ENOTSUP, "where the function ends is not known");
	s.name = sym.name;
	s.parts[s.nr_parts++] = (struct part){ sym.off, sym.size, NULL };
	for (i = 0; i < s.nr_parts && !r; i++)
		r = scan_part(&s, i, e);
	if (!r)
		r = check_targets(&s, e);
	for (i = 0; i < s.nr_parts; i++)
		free(s.parts[i].begins);
	free(s.targets);
	if (!r && !s.nr)
		r = err_set(e, ENOTSUP, "'%s' does not return", s.name);
	return r ? r : (int)s.nr;
}
