// SPDX-License-Identifier: GPL-2.0-or-later
/* javalines.c - keeps line tables of methods until samples need them (javalines.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "collect/jvm/javalines.h"

void javalines_release(struct javalines *l)
{
	size_t i;

	for (i = 0; i < l->nr_codes; i++)
		free(l->codes[i].inl);
	free(l->codes);
	free(l->methods);
	map_release(&l->of_method);
	map_release(&l->of_addr);
	map_release(&l->of_compile);
	arena_release(&l->mem);
}

static struct method_lines *get_method(struct javalines *l, uint32_t method)
{
	uint32_t *at = map_put(&l->of_method, method);

	if (*at == MAP_NONE) {
		*at = l->nr_methods;
		*VEC_ADD(l->methods, l->nr_methods, l->alloc_methods) =
			(struct method_lines){ .method = method };
	}
	return &l->methods[*at];
}

void javalines_method(struct javalines *l, uint32_t method, const uint8_t *table, size_t len)
{
	struct method_lines *m = get_method(l, method);

	if (m->table)		/* reported twice */
		return;
	m->table = memcpy(arena_alloc(&l->mem, len), table, len);
	m->len = len;
}

/*
 * Mark all methods in the inline table of code: which of them was hit is known only after all is decoded; of
 * a place, all were.
 */
static void mark_methods(struct javalines *l, const uint8_t *inl, size_t len)
{
	struct span s = span_init(inl, len);
	uint64_t nr = span_varint(&s), frames, method;

	for (; nr && !s.bad; nr--) {
		span_varint(&s);
		for (frames = span_varint(&s); frames && !s.bad; frames--) {
			method = span_varint(&s);
			span_varint(&s);
			if (!s.bad && method && method <= UINT32_MAX)
				get_method(l, method)->hit = true;
		}
	}
}

static void mark_code(struct javalines *l, struct code_inlines *c)
{
	mark_methods(l, c->inl, c->len);
	free(c->inl);
	c->inl = NULL;
}

static struct code_inlines *find_code(struct javalines *l, uint32_t compile_id)
{
	uint32_t at = map_get(&l->of_compile, compile_id);

	return at == MAP_NONE || l->codes[at].compile_id != compile_id ? NULL : &l->codes[at];
}

static struct code_inlines *new_code(struct javalines *l, uint64_t addr, uint32_t compile_id)
{
	/*
	 * The code that was at the address is gone, whether or not that was reported: its place is used
	 * again.
	 */
	uint32_t *at = addr ? map_put(&l->of_addr, addr) : NULL, index = at ? *at : MAP_NONE;

	if (index == MAP_NONE) {
		index = l->nr_codes;
		*VEC_ADD(l->codes, l->nr_codes, l->alloc_codes) = (struct code_inlines){ .inl = NULL };
	}
	if (at)
		*at = index;
	*map_put(&l->of_compile, compile_id) = index;
	free(l->codes[index].inl);
	l->codes[index] = (struct code_inlines){ .addr = addr, .compile_id = compile_id };
	return &l->codes[index];
}

void javalines_code(struct javalines *l, const struct jvm_code *code)
{
	struct code_inlines *c;
	bool hit;

	if (!code->inl_len)
		return;
	if (code->size == 1) {
		mark_methods(l, code->inl, code->inl_len);
		return;
	}
	c = find_code(l, code->compile_id);
	hit = c && c->hit;
	c = new_code(l, code->addr, code->compile_id);
	c->hit = hit;
	c->inl = xmalloc(code->inl_len);
	c->len = code->inl_len;
	memcpy(c->inl, code->inl, c->len);
	if (hit)		/* by samples that came before its record */
		mark_code(l, c);
}

void javalines_code_gone(struct javalines *l, uint64_t addr)
{
	uint32_t at = map_get(&l->of_addr, addr);

	if (at == MAP_NONE)
		return;
	free(l->codes[at].inl);
	l->codes[at].inl = NULL;
}

void javalines_hit(struct javalines *l, const struct frame *f)
{
	struct code_inlines *c;

	if (f->kind == FRAME_INTERP) {
		get_method(l, f->method)->hit = true;
		return;
	}
	if (f->method)
		get_method(l, f->method)->hit = true;
	if (f->not_inlined)
		return;
	c = find_code(l, f->compile_id);
	if (!c)
		c = new_code(l, 0, f->compile_id);
	c->hit = true;
	if (c->inl)
		mark_code(l, c);
}

void javalines_write(struct javalines *l, uint32_t proc, uint64_t time_ns, struct trace_writer *w)
{
	struct rec_method_lines r = { .time_ns = time_ns, .proc = proc };
	size_t i;

	for (i = 0; i < l->nr_methods; i++) {
		struct method_lines *m = &l->methods[i];

		if (!m->hit || !m->table || m->written)
			continue;
		m->written = true;
		r.method = m->method;
		r.table = m->table;
		r.len = m->len;
		trace_write_method_lines(w, &r);
	}
}
