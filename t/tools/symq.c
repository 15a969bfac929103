// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symq.c - asks lib/sym and lib/unwind about one file, in forms that other tools' output can
 * be compared with.  Addresses are those the file was linked at, in hexadecimal.
 *
 *	symq FILE info			build-id, line and symbol source
 *	symq FILE syms			address size name of every symbol
 *	symq FILE sym  < addresses	name+offset a line, or ??
 *	symq FILE lines < addresses	as addr2line -i -f prints
 *	symq FILE rows			every row of the call frame information
 *	symq FILE cache			decodes all through the cache; times, bytes, and whether it is right
 *	symq FILE code			what the code alone says after each call, against the rules
 *	symq - demangle < names
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/x86/insn.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sym/demangle.h"
#include "sym/symfile_int.h"
#include "unwind/epilogue.h"
#include "unwind/module.h"

static const struct cfi *section;

static void print_offset(int32_t v)
{
	printf("%s%d", v < 0 ? "" : "+", v);
}

static void print_rule(const struct rule *r)
{
	switch (r->kind) {
	case RULE_UNDEFINED:
		printf("u");
		break;
	case RULE_SAME:
		printf("s");
		break;
	case RULE_AT_CFA:
		printf("c");
		print_offset(r->val);
		break;
	case RULE_IS_CFA:
		printf("v");
		print_offset(r->val);
		break;
	case RULE_REG:
		printf("r%d", r->reg);
		break;
	case RULE_AT_EXPR:
		printf("exp");
		break;
	case RULE_IS_EXPR:
		printf("vexp");
		break;
	default:
		printf("bad");
	}
}

static void print_row(void *ctx, uint64_t start, uint64_t end, const struct rule_state *s)
{
	const struct cfi_fde *fde = ctx;
	size_t i;

	printf("%016" PRIx64 " ", start);
	if (s->cfa.kind == RULE_REG) {
		printf("r%d", s->cfa.reg);
		print_offset(s->cfa.val);
	} else {
		printf(s->cfa.kind == RULE_IS_EXPR ? "exp" : "bad");
	}
	for (i = 0; i < UNWIND_NR_REGS; i++) {
		if (s->r[i].kind == RULE_UNSET)
			continue;
		printf(i == fde->cie.ra_reg ? " ra=" : " r%zu=", i);
		print_rule(&s->r[i]);
	}
	printf("\n");
}

static int print_rows(struct symfile *f)
{
	struct cfi_fde fde;
	size_t i;
	int eh;

	for (eh = 1; eh >= 0; eh--) {
		section = symfile_cfi(f, eh);
		for (i = 0; section && i < section->nr_entries; i++) {
			if (!cfi_fde_parse(section, section->entries[i].off, &fde)) {
				printf("damaged FDE at 0x%x\n", section->entries[i].off);
				continue;
			}
			printf("fde %016" PRIx64 " %016" PRIx64 "\n", fde.start, fde.end);
			if (!rules_run(section, &fde, print_row, &fde))
				printf("damaged rules\n");
		}
		if (section && eh)
			break;
	}
	return 0;
}

static bool next_address(uint64_t *addr)
{
	return scanf("%" SCNx64, addr) == 1;
}

static int print_symbols_of(struct symfile *f)
{
	struct symbol s;
	uint64_t addr;

	while (next_address(&addr)) {
		uint64_t off = symfile_vaddr_to_off(f, addr);

		if (symfile_symbol(f, off, &s))
			printf("%s+0x%" PRIx64 "\n", s.name, off - s.off);
		else
			printf("??\n");
	}
	return 0;
}

static int print_all_symbols(struct symfile *f)
{
	size_t i;

	symfile_symbol_source(f);
	for (i = 0; i < f->symtab.nr_entries; i++) {
		const struct symtab_entry *s = &f->symtab.entries[i];

		printf("%016" PRIx64 " %08x %s\n", s->addr, s->size, symtab_name(&f->symtab, s));
	}
	return 0;
}

static int print_lines(struct symfile *f)
{
	struct srcline l[64];
	struct symbol s;
	uint64_t addr;
	size_t i, nr;

	while (next_address(&addr)) {
		uint64_t off = symfile_vaddr_to_off(f, addr);

		nr = symfile_lines(f, off, l, ARRAY_SIZE(l));
		printf("0x%016" PRIx64 "\n", addr);
		if (!nr)
			printf("??\n??:0\n");
		for (i = 0; i < nr; i++) {
			const char *func = l[i].func;

			if (!func)
				func = symfile_symbol(f, off, &s) ? s.name : "??";
			printf("%s\n%s:%u\n", func, l[i].file ? l[i].file : "??", l[i].line);
		}
	}
	return 0;
}

static int print_info(struct symfile *f)
{
	size_t len, i;
	const uint8_t *id = symfile_build_id(f, &len);

	for (i = 0; i < len; i++)
		printf("%02x", id[i]);
	printf("\n%s\n%s\n", symfile_lines_source(f), symfile_symbol_source(f));
	return 0;
}

static void time_lookups(struct unwind_module *m, const struct cfi *c, const char *what)
{
	uint64_t t = clock_mono_ns();
	size_t i, nr = 0;

	for (i = 0; i < c->nr_entries; i++) {
		uint64_t off = symfile_vaddr_to_off(m->f, c->base + c->entries[i].pc);

		nr += module_row(m, off) != NULL;
	}
	t = clock_mono_ns() - t;
	printf("%s: %zu of %zu functions, %.1f ns each\n", what, nr, c->nr_entries,
	       (double)t / c->nr_entries);
}

struct check {
	struct unwind_module *m;
	const struct cfi_fde *fde;
	size_t nr_rows, nr_differ;
};

static bool same_rule(const struct rule *a, const struct rule *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->val == b->val;
}

/* What the cache says at an address is what the interpreter said. */
static bool same_row(const struct cpu *cpu, const struct row *row, const struct rule_state *s,
		     uint64_t ra)
{
	size_t i, nr = 0;

	if (!row || !same_rule(&row->cfa, &s->cfa) || !same_rule(&row->ra, &s->r[ra]))
		return false;
	for (i = 0; i < cpu->nr_regs; i++)
		nr += (i != ra || cpu->ra_in_reg >= 0) && s->r[i].kind != RULE_UNSET;
	for (i = 0; i < row->nr_rules; i++)
		if (!same_rule(&row->rules[i].rule, &s->r[row->rules[i].reg]))
			return false;
	return nr == row->nr_rules;
}

static void check_row(void *ctx, uint64_t start, uint64_t end, const struct rule_state *s)
{
	const uint64_t at[3] = { start, start + (end - start) / 2, end - 1 };
	struct check *c = ctx;
	size_t i;

	for (i = 0; i < 3; i++) {
		c->nr_rows++;
		c->nr_differ += !same_row(c->m->cpu, module_row(c->m, symfile_vaddr_to_off(c->m->f, at[i])),
					  s, c->fde->cie.ra_reg);
	}
}

static void check_cache(struct unwind_module *m, const struct cfi *c)
{
	struct cfi_fde fde;
	struct check k = { .m = m, .fde = &fde };
	size_t i;

	for (i = 0; i < c->nr_entries; i++)
		if (cfi_fde_parse(c, c->entries[i].off, &fde))
			rules_run(c, &fde, check_row, &k);
	printf("check: %zu places, %zu differ\n", k.nr_rows, k.nr_differ);
}

static int fill_cache(struct symfile *f)
{
	struct unwind_module *m = unwind_module_new(f);
	uint64_t t = clock_mono_ns();
	const struct cfi *c = symfile_cfi(f, true);

	if (!c)
		return 1;
	printf("index: %.2f ms, %zu functions, section %zu bytes\n", (clock_mono_ns() - t) / 1e6,
	       c->nr_entries, c->bytes.len);
	time_lookups(m, c, "decode");
	time_lookups(m, c, "search");
	printf("%zu rows, %zu code words, %zu bytes, %" PRIu64 " damaged\n", m->nr_rows, m->nr_code,
	       unwind_module_bytes(m), m->nr_damaged);
	check_cache(m, c);
	unwind_module_free(m);
	return 0;
}

struct code_check {
	size_t nr, none, equal, other_base, wrong, saved_wrong;
};

/* After a call at off: what the code says against what the rules say. */
static void check_code_at(struct unwind_module *m, uint64_t off, struct code_check *c)
{
	const struct row *want = module_row(m, off - 1), *got = epilogue_row(m, off, true);
	size_t i, j;

	if (!want || want->cfa.kind != RULE_REG || want->ra.kind != RULE_AT_CFA)
		return;
	c->nr++;
	if (!got) {
		c->none++;
	} else if (got->cfa.reg != want->cfa.reg) {
		c->other_base++;
	} else if (got->cfa.val != want->cfa.val) {
		c->wrong++;
		if (c->wrong < 10)
			printf("# at 0x%" PRIx64 ": cfa %d, want %d\n", off, got->cfa.val, want->cfa.val);
	} else {
		c->equal++;
		for (i = 0; i < want->nr_rules; i++)
			for (j = 0; j < got->nr_rules; j++)
				if (got->rules[j].reg == want->rules[i].reg &&
				    got->rules[j].rule.val != want->rules[i].rule.val &&
				    c->saved_wrong++ < 10)
					printf("# at 0x%" PRIx64 ": r%d at %d, want %d, cfa %d\n", off,
					       got->rules[j].reg,
					       got->rules[j].rule.val, want->rules[i].rule.val, got->cfa.val);
	}
}

/* Every call in functions with rules: where the code leads, were there no rules. */
static int check_code(struct symfile *f)
{
	struct unwind_module *m = unwind_module_new(f);
	const struct cfi *c = symfile_cfi(f, true);
	uint64_t t = clock_mono_ns();
	struct code_check k = { 0 };
	size_t i;

	for (i = 0; c && i < c->nr_entries; i++) {
		uint8_t code[65536];
		struct cfi_fde fde;
		struct x86_insn in;
		uint64_t off, at;
		size_t len;

		if (!cfi_fde_parse(c, c->entries[i].off, &fde))
			continue;
		off = symfile_vaddr_to_off(f, fde.start);
		len = MIN(fde.end - fde.start, sizeof(code));
		if (off == UINT64_MAX || !module_code(m, off, code, len))
			continue;
		for (at = 0; at < len && x86_insn_decode(code + at, len - at, &in); at += in.len)
			if (!in.map && in.opcode == 0xe8 && at + in.len < len)
				check_code_at(m, off + at + in.len, &k);
	}
	printf("%zu calls, %.2f %% equal, %.2f %% other base, %.2f %% none, %.2f %% wrong, %zu saved wrong, %.0f ns each\n",
	       k.nr, 100. * k.equal / k.nr, 100. * k.other_base / k.nr, 100. * k.none / k.nr,
	       100. * k.wrong / k.nr, k.saved_wrong, (double)(clock_mono_ns() - t) / k.nr);
	unwind_module_free(m);
	return 0;
}

static int print_demangled(void)
{
	struct buf b = BUF_INIT;
	char line[65536];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		buf_reset(&b);
		demangle(line, &b);
		printf("%s\n", b.data ? b.data : "");
	}
	buf_release(&b);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct symfile *f);
} queries[] = {
	{ "info", print_info }, { "syms", print_all_symbols }, { "sym", print_symbols_of },
	{ "lines", print_lines }, { "rows", print_rows }, { "cache", fill_cache },
	{ "code", check_code },
};

int main(int argc, char **argv)
{
	struct symfile *f;
	struct err e;
	size_t i;
	int r = 2;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "demangle"))
		return print_demangled();
	if (symfile_open(&f, "", argv[1], NULL, 0, &e)) {
		fprintf(stderr, "symq: %s\n", e.msg);
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(queries); i++)
		if (!strcmp(argv[2], queries[i].name))
			r = queries[i].run(f);
	symfile_close(f);
	return r;
}
