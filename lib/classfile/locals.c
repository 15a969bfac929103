// SPDX-License-Identifier: MIT
/*
 * locals.c - LocalVariableTable and LineNumberTable (JVMS 4.7.12 and 4.7.13).
 */
#include "classfile/class.h"
#include "classfile/locals.h"

/* No compiler writes a method with more: what is behind is not looked at. */
enum { MAX_VARIABLES = 4096 };

struct tables {
	struct reader lines, variables;		/* without their counts */
	uint32_t nr_lines, nr_variables;
	uint32_t code_len;
};

static void skip_members(struct reader *r)
{
	uint32_t nr = read16(r), nr_attributes;

	while (nr-- && !r->bad) {
		read_bytes(r, 6);
		for (nr_attributes = read16(r); nr_attributes && !r->bad; nr_attributes--) {
			read16(r);
			read_bytes(r, read32(r));
		}
	}
}

/* Read the tables of the code; of several of a kind the last one is used. */
static void read_code(const struct pool *p, struct reader r, struct tables *t)
{
	uint32_t nr;

	read32(&r);		/* stack and locals */
	t->code_len = read32(&r);
	read_bytes(&r, t->code_len);
	read_bytes(&r, 8 * (size_t)read16(&r));
	for (nr = read16(&r); nr && !r.bad; nr--) {
		struct classfile_text name = pool_utf8(p, read16(&r));
		struct reader part = read_part(&r, read32(&r));

		if (text_is(name, "LineNumberTable")) {
			t->nr_lines = read16(&part);
			t->lines = part;
		} else if (text_is(name, "LocalVariableTable")) {
			t->nr_variables = read16(&part);
			t->variables = part;
		}
	}
}

/* Return whether the reader, behind the constant pool, leads to a method with that name and code. */
static bool find_method(const struct pool *p, struct reader r, const struct classfile_locals *of,
			struct tables *t)
{
	uint32_t nr, nr_attributes;

	read_bytes(&r, 6);	/* flags, class and superclass */
	read_bytes(&r, 2 * (size_t)read16(&r));
	skip_members(&r);	/* fields */
	for (nr = read16(&r); nr && !r.bad; nr--) {
		bool is;

		read16(&r);
		is = text_is(pool_utf8(p, read16(&r)), of->method);
		is &= text_is(pool_utf8(p, read16(&r)), of->descriptor);
		for (nr_attributes = read16(&r); nr_attributes && !r.bad; nr_attributes--) {
			struct classfile_text name = pool_utf8(p, read16(&r));
			struct reader part = read_part(&r, read32(&r));

			if (!is || r.bad || !text_is(name, "Code"))
				continue;
			read_code(p, part, t);
			return true;
		}
	}
	return false;
}

/*
 * Return whether some of the code from start to before end belongs to that line. The table is in the
 * order of the code.
 */
static bool is_in_line(const struct tables *t, uint32_t start, uint32_t end, uint32_t line)
{
	struct reader r = t->lines;
	uint32_t i, from = 0, of = 0, next;

	for (i = 0; i <= t->nr_lines && !r.bad; i++) {
		next = i < t->nr_lines ? read16(&r) : t->code_len;
		if (of == line && i && from < end && next > start)
			return true;
		from = next;
		of = i < t->nr_lines ? read16(&r) : 0;
	}
	return false;
}

static uint32_t take_variables(const struct pool *p, const struct tables *t, uint32_t line,
			       struct classfile_local *out, uint32_t max)
{
	struct reader r = t->variables;
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr_variables && i < MAX_VARIABLES; i++) {
		uint32_t start = read16(&r), len = read16(&r);
		struct classfile_local v = { .name = pool_utf8(p, read16(&r)) };

		v.descriptor = pool_utf8(p, read16(&r));
		v.slot = read16(&r);
		if (r.bad)
			break;
		if (!v.name.len || !v.descriptor.len ||
		    (v.descriptor.p[0] != 'L' && v.descriptor.p[0] != '['))
			continue;
		if (line && t->nr_lines && !is_in_line(t, start, start + len, line))
			continue;
		if (nr < max)
			out[nr] = v;
		nr++;
	}
	return nr;
}

uint32_t classfile_locals(const void *in, size_t len, const struct classfile_locals *of,
			  struct classfile_local *out, uint32_t max)
{
	const struct memory mem = { of->mem, of->mem_ctx };
	struct reader r = reader_init(in, len);
	struct tables t = { .nr_variables = 0 };
	struct pool p;

	if (read32(&r) != 0xcafebabe)
		return 0;
	read32(&r);		/* version */
	if (pool_read(&p, &r, &mem) != CLASSFILE_OK || !find_method(&p, r, of, &t))
		return 0;
	return take_variables(&p, &t, of->line, out, max);
}
