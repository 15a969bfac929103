// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <string.h>

#include "arch/arm64/regs.h"
#include "arch/x86/regs.h"
#include "base/mem.h"
#include "sym/symfile_int.h"
#include "unit.h"
#include "unwind/module.h"

/* A made-up Go program: code, the table in a segment of data, moduledata and an inline tree. */
enum {
	TEXT = 0x1000, TABLE = 0x2000, MODULE = 0x3000, TREE = 0x3800, BYTES = 0x4000,
	NAMES = 0x100, UNITS = 0x200, FILES = 0x240, VALUES = 0x300, RECORDS = 0x400,
	MAIN = 0x40,		/* its bytes */
	NR_FUNCS = 4,
};

static uint8_t file[BYTES];

static void put(uint64_t at, uint64_t v, size_t size)
{
	memcpy(file + at, &v, size);
}

static uint64_t put_bytes(uint64_t *at, const void *p, size_t len)
{
	uint64_t was = *at;

	memcpy(file + was, p, len);
	*at += len;
	return was;
}

struct parts {
	enum gopcln_format format;
	bool places;		/* parts of their own */
	size_t word;		/* of the index */
	uint64_t names[NR_FUNCS], inner;
	uint64_t depths, files, lines, inlined;
};

static void put_elf(uint16_t machine, bool sections)
{
	Elf64_Ehdr eh = {
		.e_machine = machine, .e_phoff = 0x40, .e_phnum = 2, .e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shoff = sections ? 0x200 : 0,
		.e_shnum = sections ? 3 : 0, .e_shstrndx = sections ? 1 : 0,
	};
	const Elf64_Phdr ph[] = {
		{ PT_LOAD, PF_R | PF_X, 0, 0, 0, TABLE, TABLE, 4096 },
		{ PT_LOAD, PF_R | PF_W, TABLE, TABLE, TABLE, BYTES - TABLE, BYTES - TABLE, 4096 },
	};
	const Elf64_Shdr sh[] = {
		{ 0 }, { .sh_type = SHT_STRTAB, .sh_offset = 0x180, .sh_size = 16 },
		{ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = TABLE, .sh_offset = TABLE,
		  .sh_size = MODULE - TABLE },
	};

	memcpy(eh.e_ident, "\x7f" "ELF\2\1\1", 7);
	memcpy(file, &eh, sizeof(eh));
	memcpy(file + 0x40, ph, sizeof(ph));
	memcpy(file + 0x180, "\0.gopclntab", 12);
	memcpy(file + 0x200, sh, sizeof(sh));
}

static void put_strings(struct parts *p)
{
	static const char *const names[] = { "main.main", "runtime.systemstack.abi0", "main.leaf",
		"runtime.sigreturn" };
	uint64_t at = TABLE + NAMES, base = TABLE + (p->places ? NAMES : 0);
	size_t i;

	for (i = 0; i < NR_FUNCS; i++)
		p->names[i] = put_bytes(&at, names[i], strlen(names[i]) + 1) - base;
	p->inner = put_bytes(&at, "main.inner", 11) - base;
}

static void put_values(struct parts *p)
{
	static const uint8_t depths[] = { 2, 4, 48, MAIN - 4, 0 }, files[] = { 4, MAIN, 0 },
		lines[] = { 22, 32, 20, 32, 0 }, inlined[] = { 0, 32, 2, 32, 0 };
	uint64_t at = TABLE + VALUES + 1, base = TABLE + (p->places ? VALUES : 0);

	p->depths = put_bytes(&at, depths, sizeof(depths)) - base;
	p->files = put_bytes(&at, files, sizeof(files)) - base;
	p->lines = put_bytes(&at, lines, sizeof(lines)) - base;
	p->inlined = put_bytes(&at, inlined, sizeof(inlined)) - base;
}

/* File 1 is the only one. */
static void put_files(const struct parts *p)
{
	uint64_t at = TABLE + FILES + 16;

	put_bytes(&at, "/src/main.go", 13);
	if (p->places) {
		put(TABLE + UNITS + 4, 16, 4);
	} else {
		put(TABLE + FILES, 2, 4);
		put(TABLE + FILES + 4, FILES + 16, 4);
	}
}

static uint64_t put_record(const struct parts *p, uint64_t at, size_t i)
{
	uint64_t was = at;

	put(at, p->format >= GOPCLN_1_18 ? i * MAIN : TEXT + i * MAIN, p->word);
	at += p->word;
	put(at, p->names[i], 4);
	put(at + 12, p->depths, 4);
	put(at + 16, p->files, 4);
	put(at + 20, p->lines, 4);
	put(at + 24, 3, 4);
	at += p->format >= GOPCLN_1_20 ? 36 : p->places ? 32 : 28;
	put(at + 3, 4, 1);
	put(at + 12, i ? 0 : p->inlined, 4);
	at += 16;
	if (p->format >= GOPCLN_1_18) {
		put(at + 12, i ? UINT32_MAX : 0, 4);
	} else {
		at = (at + 7) & ~7ull;
		put(at + 24, i ? 0 : TREE, 8);
	}
	return was;
}

static void put_index(const struct parts *p)
{
	uint64_t index = TABLE + (p->places ? RECORDS : 16), base = TABLE + (p->places ? RECORDS : 0), i;

	for (i = 0; i <= NR_FUNCS; i++) {
		put(index + 2 * i * p->word, i * MAIN + (p->format >= GOPCLN_1_18 ? 0 : TEXT), p->word);
		if (i < NR_FUNCS)
			put(index + (2 * i + 1) * p->word, put_record(p, TABLE + 0x600 + i * 128, i) - base,
			    p->word);
	}
	if (!p->places)
		put(index + (2 * i - 1) * p->word, FILES, 4);
}

static void put_header(const struct parts *p, uint8_t quantum)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	static const uint64_t places[] = { NAMES, UNITS, FILES, VALUES, RECORDS };
	uint64_t at = TABLE + 24;
	size_t i;

	put(TABLE, magics[p->format], 4);
	put(TABLE + 6, quantum, 1);
	put(TABLE + 7, 8, 1);
	put(TABLE + 8, NR_FUNCS, 8);
	if (!p->places)
		return;
	put(TABLE + 16, 1, 8);
	if (p->format >= GOPCLN_1_18)
		put(at, TEXT, 8);
	at += p->format >= GOPCLN_1_18 ? 8 : 0;
	for (i = 0; i < ARRAY_SIZE(places); i++)
		put(at + 8 * i, places[i], 8);
}

static void put_module(const struct parts *p)
{
	bool is_short = p->format >= GOPCLN_1_20;

	put(MODULE, TABLE, 8);
	put(MODULE + 8, TABLE + NAMES, 8);
	put(MODULE + 8 * 4, TABLE + UNITS, 8);
	put(MODULE + 8 * 13, TABLE + RECORDS, 8);
	put(MODULE + 8 * 22, TEXT, 8);
	put(MODULE + 8 * 40, TREE, 8);
	put(TREE + (is_short ? 4 : 12), p->inner, 4);
	put(TREE + (is_short ? 8 : 16), 8, 4);
}

static struct symfile *open_made(enum gopcln_format format, uint16_t machine, bool sections)
{
	struct parts p = {
		.format = format, .places = format != GOPCLN_1_2, .word = format < GOPCLN_1_18 ? 8 : 4,
	};
	struct symfile *f;
	struct err e;

	memset(file, 0, sizeof(file));
	put_elf(machine, sections);
	put_strings(&p);
	put_values(&p);
	put_files(&p);
	put_index(&p);
	put_header(&p, 1);
	put_module(&p);
	CHECK_U64(symfile_open_memory(&f, file, sizeof(file), "made-up", &e), 0);
	return f;
}

static void check_lines(struct symfile *f, bool inlined)
{
	struct srcline l[8];

	CHECK_U64(symfile_lines(f, TEXT + 0x10, l, 8), 1);
	CHECK(!l[0].func);
	CHECK_STR(l[0].file, "/src/main.go");
	CHECK_U64(l[0].line, 10);
	CHECK_U64(symfile_lines(f, TEXT + 0x28, l, 8), inlined ? 2 : 1);
	CHECK_U64(l[0].line, 20);
	if (!inlined)
		return;
	CHECK_STR(l[0].func, "main.inner");
	CHECK(!l[1].func);
	CHECK_U64(l[1].line, 10);
	CHECK_U64(symfile_lines(f, TEXT + 0x28, l, 1), 1);
}

static void check_rows(struct symfile *f)
{
	struct unwind_module *m = unwind_module_new(f);
	const struct row *r = module_row(m, TEXT + 2);

	CHECK(r && r->cfa.kind == RULE_REG && r->cfa.reg == X86_RSP && !r->flags);
	CHECK_U64(r->cfa.val, 8);
	CHECK_U64(r->nr_rules, 0);
	r = module_row(m, TEXT + 4);
	CHECK(r && r->ra.kind == RULE_AT_CFA && r->ra.val == -8);
	CHECK_U64(r->cfa.val, 32);
	CHECK_U64(r->nr_rules, 1);
	CHECK_U64(r->rules[0].reg, X86_RBP);
	CHECK(module_row(m, TEXT + MAIN)->flags & ROW_SWITCHES);
	/* what a handler returns to has a frame of the kernel's, and is looked up one byte before it */
	CHECK(module_row(m, TEXT + 3 * MAIN - 2));
	CHECK(!module_row(m, TEXT + 3 * MAIN - 1));
	CHECK(!module_row(m, TEXT + 3 * MAIN));
	CHECK(!module_row(m, TEXT + NR_FUNCS * MAIN));
	unwind_module_free(m);
}

static void check_all(enum gopcln_format format, bool sections)
{
	struct symfile *f = open_made(format, EM_X86_64, sections);
	struct symbol s;

	CHECK_STR(symfile_symbol_source(f), ".gopclntab");
	CHECK_STR(symfile_lines_source(f), ".gopclntab");
	CHECK(symfile_symbol(f, TEXT + 0x20, &s));
	CHECK_STR(s.name, "main.main");
	CHECK_U64(s.off, TEXT);
	CHECK_U64(s.size, MAIN);
	CHECK(symfile_symbol(f, TEXT + 2 * MAIN, &s));
	CHECK_STR(s.name, "main.leaf");
	CHECK(!symfile_symbol(f, TEXT + NR_FUNCS * MAIN, &s));
	check_lines(f, format != GOPCLN_1_2);
	check_rows(f);
	symfile_close(f);
}

TEST(gopclntab_of_go_1_2)
{
	check_all(GOPCLN_1_2, true);
}

TEST(gopclntab_of_go_1_16)
{
	check_all(GOPCLN_1_16, true);
}

TEST(gopclntab_of_go_1_18)
{
	check_all(GOPCLN_1_18, true);
}

TEST(gopclntab_of_go_1_20)
{
	check_all(GOPCLN_1_20, true);
}

TEST(gopclntab_is_found_without_a_section_table)
{
	check_all(GOPCLN_1_2, false);
	check_all(GOPCLN_1_18, false);
}

TEST(gopclntab_rules_of_arm64_have_the_caller_at_the_stack_pointer)
{
	struct symfile *f = open_made(GOPCLN_1_20, EM_AARCH64, true);
	struct unwind_module *m = unwind_module_new(f);
	const struct row *r = module_row(m, TEXT + 2);

	CHECK(r && r->cfa.reg == ARM64_SP && r->ra.kind == RULE_UNSET);
	CHECK_U64(r->cfa.val, 0);
	r = module_row(m, TEXT + 4);
	CHECK(r && r->ra.kind == RULE_AT_CFA && r->ra.val == -24);
	CHECK_U64(r->cfa.val, 24);
	unwind_module_free(m);
	symfile_close(f);
}

static void ask_all(struct symfile *f)
{
	struct unwind_module *m = unwind_module_new(f);
	struct srcline l[8];
	struct symbol s;
	uint64_t off;

	symfile_symbol_source(f);
	for (off = TEXT - 8; off < TEXT + (NR_FUNCS + 1) * MAIN; off += 5) {
		symfile_symbol(f, off, &s);
		symfile_lines(f, off, l, 8);
		module_row(m, off);
	}
	unwind_module_free(m);
}

TEST(gopclntab_bears_any_byte_and_any_end)
{
	enum gopcln_format format;
	struct symfile *f;
	struct err e;
	int i;

	for (format = GOPCLN_1_2; format <= GOPCLN_1_20; format++) {
		for (i = 0; i < 4000; i += UNIT_STRIDE) {
			f = open_made(format, EM_X86_64, unit_random() % 2);
			symfile_close(f);
			file[TABLE + unit_random() % 0x900] = unit_random();
			file[TABLE + unit_random() % 0x40] ^= 1 << unit_random() % 8;
			if (symfile_open_memory(&f, file, i % 2 ? BYTES : TABLE + unit_random() % 0x900,
						"made-up", &e))
				continue;
			ask_all(f);
			symfile_close(f);
		}
	}
}
