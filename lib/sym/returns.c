// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * returns.c - where a function ends: its instructions are looked at one after the other, from its symbol's
 * begin to its end.
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

enum { MAX_BYTES = 1 << 20, MAX_PARTS = 8 };

struct part {
	uint64_t off, size;
};

struct scan {
	struct symfile *f;
	const char *name;
	struct part parts[MAX_PARTS];	/* of the function; the first is the one that is entered */
	size_t nr_parts;
	uint64_t *at;
	size_t nr, max;
};

static bool is_inside(const struct scan *s, uint64_t off)
{
	size_t i;

	for (i = 0; i < s->nr_parts; i++)
		if (off - s->parts[i].off < s->parts[i].size)
			return true;
	return false;
}

/* True: it is one, and looked at after those before it. */
static bool add_cold_part(struct scan *s, uint64_t off)
{
	size_t len = strlen(s->name);
	struct symbol sym;

	if (s->nr_parts == MAX_PARTS || !symfile_symbol(s->f, off, &sym) || strncmp(sym.name, s->name, len) ||
	    strncmp(sym.name + len, ".cold", 5))
		return false;
	s->parts[s->nr_parts++] = (struct part){ sym.off, sym.size };
	return true;
}

static int add_end(struct scan *s, uint64_t off, struct err *e)
{
	if (s->nr == s->max)
		return err_set(e, E2BIG, "'%s' ends at more than %zu instructions", s->name, s->max);
	s->at[s->nr++] = off;
	return 0;
}

static int look_at(struct scan *s, uint64_t off, const struct insn *in, struct err *e)
{
	uint64_t to = off + (uint64_t)in->rel;
	bool leaves = in->direct && (in->kind == INSN_JUMP || in->kind == INSN_COND) && !is_inside(s, to) &&
		      !add_cold_part(s, to);

	if (leaves && in->kind == INSN_COND)
		return err_set(e, ENOTSUP, "'%s' goes on in another function if a condition holds (at +0x%" PRIx64 ")",
			       s->name, off - s->parts[0].off);
	return leaves || in->kind == INSN_RETURN ? add_end(s, off, e) : 0;
}

static int scan_part(struct scan *s, struct part p, struct err *e)
{
	uint8_t *code;
	uint64_t at = 0;
	int r = 0;

	if (!p.size || p.size > MAX_BYTES)
		return err_set(e, ENOTSUP, "the size of '%s' is not known", s->name);
	code = xmalloc(p.size);
	if (image_read(&s->f->im, p.off, code, p.size))
		r = err_set(e, EIO, "the code of '%s' cannot be read", s->name);
	while (!r && at < p.size) {
		struct insn in;

		if (!insn_decode(code + at, p.size - at, &in) || !in.len)
			r = err_set(e, EILSEQ, "the code of '%s' cannot be decoded at +0x%" PRIx64, s->name,
				    p.off + at - s->parts[0].off);
		else
			r = look_at(s, p.off + at, &in, e);
		at += in.len;
	}
	free(code);
	return r;
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
	s.parts[s.nr_parts++] = (struct part){ sym.off, sym.size };
	for (i = 0; i < s.nr_parts && !r; i++)
		r = scan_part(&s, s.parts[i], e);
	if (!r && !s.nr)
		r = err_set(e, ENOTSUP, "'%s' does not return", s.name);
	return r ? r : (int)s.nr;
}
