// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * module.c - the cache of decoded rules.
 *
 * A function in code[]: a head word with the number of pairs (top bit: wide), then pairs.  A
 * narrow pair is one word, the address counted from the function's start in the upper half
 * and the row in the lower; a wide one is two words.  Pairs ascend; the last is the function's
 * end with row 0.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "unwind/gorules.h"
#include "unwind/module.h"

enum {
	SLOTS_MIN = 256,
	SLOTS_MAX = 1 << 16,	/* then start over: what is hot comes back at once */
	ENTRY_BYTES = 128,	/* how long _start may be, with what it calls first */
};

#define WIDE (1u << 31)

struct pair {
	uint32_t delta, row;
};

struct decode {
	struct unwind_module *m;
	const struct cfi_fde *fde;
	uint8_t flags;
	bool no_section;	/* the bytes of the rules will not be kept */
	struct pair *pairs;
	size_t nr_pairs, alloc_pairs;
	uint64_t end;
};

void module_init_rows(struct unwind_module *m)
{
	memset(m, 0, sizeof(*m));
	m->cpu = cpu_host;
	*VEC_ADD(m->rows, m->nr_rows, m->alloc_rows) = NULL;
}

struct unwind_module *unwind_module_new(struct symfile *f)
{
	struct unwind_module *m = xmalloc(sizeof(*m));

	module_init_rows(m);
	m->f = f;
	m->cpu = cpu_of_machine(symfile_image(f)->machine);
	if (!symfile_image(f)->is64)
		m->cpu = NULL;
	return m;
}

void module_release(struct unwind_module *m)
{
	free(m->sections[0].at);
	free(m->sections[1].at);
	free(m->go_at);
	free(m->code);
	free(m->rows);
	free(m->slots);
	map_release(&m->row_ids);
	map_release(&m->derived);
	map_release(&m->depths);
	map_release(&m->roots);
	map_release(&m->entries);
	arena_release(&m->text);
}

void unwind_module_free(struct unwind_module *m)
{
	if (!m)
		return;
	module_release(m);
	free(m);
}

static size_t section_bytes(const struct func_rules *s)
{
	if (!s->c)
		return 0;
	return s->c->nr_entries * (sizeof(*s->at) + sizeof(struct cfi_entry)) +
	       (s->c->bytes.owned ? s->c->bytes.len : 0);
}

size_t unwind_module_bytes(const struct unwind_module *m)
{
	return sizeof(*m) + section_bytes(&m->sections[0]) + section_bytes(&m->sections[1]) +
	       m->alloc_code * sizeof(*m->code) + m->alloc_rows * sizeof(*m->rows) +
	       m->alloc_slots * sizeof(*m->slots) + m->row_ids.alloc * sizeof(*m->row_ids.slots) +
	       m->derived.alloc * sizeof(*m->derived.slots) + m->depths.alloc * sizeof(*m->depths.slots) +
	       m->roots.alloc * sizeof(*m->roots.slots) + m->entries.alloc * sizeof(*m->entries.slots) +
	       (m->go ? m->go->nr_funcs * sizeof(*m->go_at) : 0) + m->text.nr_bytes;
}

static size_t pack_row(struct row *r, const struct rule_state *s, uint64_t ra,
		       const struct cpu *cpu, uint8_t flags)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	r->cfa = s->cfa;
	r->ra = ra < UNWIND_NR_REGS ? s->r[ra] : (struct rule){ RULE_BAD, 0, 0 };
	r->flags = flags | (s->ra_signed ? ROW_SIGNED : 0);
	for (i = 0; i < cpu->nr_regs; i++) {
		if (s->r[i].kind == RULE_UNSET || (i == ra && cpu->ra_in_reg < 0))
			continue;
		memset(&r->rules[r->nr_rules], 0, sizeof(r->rules[0]));
		r->rules[r->nr_rules].rule = s->r[i];
		r->rules[r->nr_rules++].reg = i;
	}
	return sizeof(*r) + r->nr_rules * sizeof(r->rules[0]);
}

/* Return the number of the row, the same for the same bytes. */
static uint32_t intern_row(struct unwind_module *m, const struct row *r, size_t size)
{
	uint64_t key = hash_bytes(r, size);
	struct row *copy;
	uint32_t *id;

	for (;; key++) {	/* another row has the hash: take the next */
		id = map_put(&m->row_ids, key);
		if (*id == MAP_NONE)
			break;
		if (m->rows[*id]->nr_rules == r->nr_rules && !memcmp(m->rows[*id], r, size))
			return *id;
	}
	*id = m->nr_rows;
	copy = arena_alloc(&m->text, size);
	memcpy(copy, r, size);
	VEC_GROW(m->rows, m->nr_rows, m->alloc_rows);
	m->rows[m->nr_rows] = copy;
	return m->nr_rows++;
}

static void add_pair(struct decode *d, uint64_t delta, uint32_t row)
{
	if (delta > UINT32_MAX || (d->nr_pairs && d->pairs[d->nr_pairs - 1].row == row))
		return;
	*VEC_ADD(d->pairs, d->nr_pairs, d->alloc_pairs) = (struct pair){ delta, row };
}

static bool is_expression(const struct rule *r)
{
	return r->kind == RULE_AT_EXPR || r->kind == RULE_IS_EXPR;
}

/* Remove expressions, whose bytes will not be there. */
static const struct rule_state *without_expressions(struct rule_state *s)
{
	size_t i;

	if (is_expression(&s->cfa))
		s->cfa.kind = RULE_BAD;
	for (i = 0; i < ARRAY_SIZE(s->r); i++)
		if (is_expression(&s->r[i]))
			s->r[i].kind = RULE_BAD;
	return s;
}

static void take_rules(void *ctx, uint64_t start, uint64_t end, const struct rule_state *s)
{
	struct decode *d = ctx;
	struct rule_state simple;
	union any_row u;
	size_t size;

	if (d->no_section) {
		simple = *s;
		s = without_expressions(&simple);
	}
	size = pack_row(&u.row, s, d->fde->cie.ra_reg, d->m->cpu, d->flags);

	add_pair(d, start - d->fde->start, intern_row(d->m, &u.row, size));
	d->end = end;
}

size_t row_init(union any_row *u, const struct rule_state *s, const struct cpu *cpu)
{
	return pack_row(&u->row, s, cpu->ra, cpu, 0);
}

uint32_t module_add_row(struct unwind_module *m, const struct rule_state *s)
{
	union any_row u;
	size_t size = row_init(&u, s, m->cpu);

	return intern_row(m, &u.row, size);
}

static void code_word(struct unwind_module *m, uint32_t w)
{
	*VEC_ADD(m->code, m->nr_code, m->alloc_code) = w;
}

static uint32_t store_pairs(struct unwind_module *m, const struct decode *d)
{
	uint32_t at = m->nr_code;
	bool wide = false;
	size_t i;

	for (i = 0; i < d->nr_pairs && !wide; i++)
		wide = d->pairs[i].delta > UINT16_MAX || d->pairs[i].row > UINT16_MAX;
	code_word(m, d->nr_pairs | (wide ? WIDE : 0));
	for (i = 0; i < d->nr_pairs; i++) {
		if (wide) {
			code_word(m, d->pairs[i].delta);
			code_word(m, d->pairs[i].row);
		} else {
			code_word(m, d->pairs[i].delta << 16 | d->pairs[i].row);
		}
	}
	return at + 1;
}

static uint32_t decode_function(struct unwind_module *m, const struct func_rules *s, size_t entry)
{
	struct cfi_fde fde;
	struct decode d = { .m = m, .fde = &fde };
	uint32_t at;

	if (!cfi_fde_parse(s->c, s->c->entries[entry].off, &fde)) {
		m->nr_damaged++;
		fde.start = s->c->base + s->c->entries[entry].pc;
	} else {
		d.end = fde.start;
		d.flags = (fde.cie.signal ? ROW_SIGNAL : 0) | (s->c->eh ? 0 : ROW_DEBUG_FRAME);
		if (!rules_run(s->c, &fde, take_rules, &d))
			m->nr_damaged++;
		add_pair(&d, d.end - fde.start, 0);
	}
	at = store_pairs(m, &d);
	free(d.pairs);
	return at;
}

uint32_t module_decode(struct unwind_module *m, const struct cfi *c, const struct cfi_fde *fde)
{
	struct decode d = { .m = m, .fde = fde, .no_section = true, .end = fde->start };
	uint32_t at;

	d.flags = fde->cie.signal ? ROW_SIGNAL : 0;
	if (!rules_run(c, fde, take_rules, &d))
		m->nr_damaged++;
	add_pair(&d, d.end - fde->start, 0);
	at = store_pairs(m, &d);
	free(d.pairs);
	return at;
}

/* Return the row at delta from the function's start. */
static uint32_t search_pairs(const uint32_t *code, uint64_t delta)
{
	size_t lo, step = code[0] & WIDE ? 2 : 1;
	const uint32_t *pairs = code + 1;

	lo = BISECT(i, code[0] & ~WIDE, (step == 2 ? pairs[2 * i] : pairs[i] >> 16) <= delta);
	if (!lo)
		return 0;
	return step == 2 ? pairs[2 * lo - 1] : pairs[lo - 1] & 0xffff;
}

const struct row *module_row_in(const struct unwind_module *m, uint32_t place, uint64_t delta)
{
	return m->rows[search_pairs(m->code + place - 1, delta)];
}

static uint32_t section_row(struct unwind_module *m, int which, uint64_t vaddr)
{
	struct func_rules *s = &m->sections[which];
	size_t i;

	if (!s->tried) {
		s->tried = true;
		s->c = symfile_cfi(m->f, which == 0);
		if (s->c)
			s->at = xcalloc(s->c->nr_entries, sizeof(*s->at));
	}
	i = s->c ? cfi_index(s->c, vaddr) : SIZE_MAX;
	if (i == SIZE_MAX)
		return 0;
	if (!s->at[i])
		s->at[i] = decode_function(m, s, i);
	return search_pairs(m->code + s->at[i] - 1, vaddr - s->c->base - s->c->entries[i].pc);
}

static uint32_t decode_go(struct unwind_module *m, size_t i)
{
	struct cfi_fde fde = { .cie.ra_reg = m->cpu->ra };
	struct decode d = { .m = m, .fde = &fde };
	struct gopcln_func f;
	uint32_t at;

	if (gopcln_func(m->go, i, &f)) {
		fde.start = d.end = f.start;
		d.flags = gorules_flags(f.name);
		if (!gorules_run(m->go, &f, m->cpu, take_rules, &d))
			m->nr_damaged++;
		add_pair(&d, gorules_end(m->go, i, d.end) - f.start, 0);
	}
	at = store_pairs(m, &d);
	free(d.pairs);
	return at;
}

static uint32_t go_row(struct unwind_module *m, uint64_t vaddr)
{
	size_t i;

	if (!m->go_tried) {
		m->go_tried = true;
		m->go = symfile_go(m->f);
		if (m->go)
			m->go_at = xcalloc(m->go->nr_funcs, sizeof(*m->go_at));
	}
	i = m->go ? gopcln_find(m->go, vaddr) : SIZE_MAX;
	if (i == SIZE_MAX)
		return 0;
	if (!m->go_at[i])
		m->go_at[i] = decode_go(m, i);
	return search_pairs(m->code + m->go_at[i] - 1, vaddr - gopcln_start(m->go, i));
}

static uint32_t module_find_row(struct unwind_module *m, uint64_t off)
{
	uint64_t vaddr = symfile_off_to_vaddr(m->f, off);
	uint32_t row;

	if (vaddr == UINT64_MAX || !m->cpu)
		return 0;
	row = go_row(m, vaddr);
	if (!row)
		row = section_row(m, 0, vaddr);
	return row ? row : section_row(m, 1, vaddr);
}

static struct pc_slot *module_slot(const struct unwind_module *m, uint32_t off)
{
	size_t mask = m->alloc_slots - 1, i = mix64(off) & mask;

	while (m->slots[i].off != off && m->slots[i].off != UINT32_MAX)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* Double the table while it may grow, else empty it. */
static void renew_slots(struct unwind_module *m)
{
	struct pc_slot *old = m->slots;
	size_t nr = m->alloc_slots, i;
	bool grow = nr < SLOTS_MAX;

	if (grow) {
		m->alloc_slots = nr ? nr * 2 : SLOTS_MIN;
		m->slots = xmalloc(m->alloc_slots * sizeof(*m->slots));
	}
	memset(m->slots, 0xff, m->alloc_slots * sizeof(*m->slots));
	m->nr_slots = 0;
	if (!grow)
		return;
	for (i = 0; i < nr; i++) {
		if (old[i].off == UINT32_MAX)
			continue;
		*module_slot(m, old[i].off) = old[i];
		m->nr_slots++;
	}
	free(old);
}

const struct row *module_row(struct unwind_module *m, uint64_t off)
{
	struct pc_slot *s;

	if (off >= UINT32_MAX)
		return m->rows[module_find_row(m, off)];
	if (m->nr_slots * 2 >= m->alloc_slots)
		renew_slots(m);
	s = module_slot(m, off);
	if (s->off == UINT32_MAX) {
		s->row = module_find_row(m, off);
		s->off = off;
		m->nr_slots++;
	}
	return m->rows[s->row];
}

bool module_code(const struct unwind_module *m, uint64_t off, void *to, size_t len)
{
	return !image_read(symfile_image(m->f), off, to, len);
}

bool module_is_entry(const struct unwind_module *m, uint64_t off)
{
	const struct image *im = symfile_image(m->f);
	uint64_t vaddr = symfile_off_to_vaddr(m->f, off);

	return im->entry && vaddr >= im->entry && vaddr - im->entry < ENTRY_BYTES;
}

const struct cpu *module_cpu(const struct unwind_module *m)
{
	return m && m->cpu ? m->cpu : cpu_host;
}

bool module_function_start(struct unwind_module *m, uint64_t off, uint64_t *start)
{
	uint64_t vaddr = symfile_off_to_vaddr(m->f, off), back;
	const struct row *row;
	size_t i, entry;

	for (i = 0; i < ARRAY_SIZE(m->sections) && m->cpu && vaddr != UINT64_MAX; i++) {
		const struct cfi *c = m->sections[i].c;

		if (!c || !section_row(m, i, vaddr))
			continue;
		entry = cfi_index(c, vaddr);
		back = vaddr - c->base - c->entries[entry].pc;
		row = back <= off ? module_row(m, off - back) : NULL;
		*start = off - back;
		/* not so in a part of a function that was moved elsewhere */
		return row && row->cfa.kind == RULE_REG && row->cfa.reg == m->cpu->sp && row->cfa.val == 8;
	}
	return false;
}
