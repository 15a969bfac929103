// SPDX-License-Identifier: GPL-2.0-or-later
/* world.c - see world.h. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "world.h"

enum {
	DYNAMIC = 0x100,
	HASHES = 0x180,
	EXPORTED = 0x200,		/* what libjvm exports: eight bytes each */
	SYMBOLS = 0x400,
	VARIABLES = 0x800,		/* the VM's static ones: eight bytes each */
	TABLES = 0x1000,
	OBJECTS = 0x8000,
	SEGMAP = 0xa000,
	COUNTERS = 0xb000,
	TEXTS = 0xc000,
	CODE = 0x10000, CODE_BYTES = 0x8000,
	SEGMENT_LOG2 = 7,
	BLOCK = 0x1000,			/* of each blob */
	BLOCK_HEAD = 16,		/* sizeof(HeapBlock) */
	CODE_AT = 0x200,		/* of its code, in the blob */
	TEXT_BYTES = 0x1000,
};

enum row_kind { A_FIELD, A_STATIC, A_SIZE, A_NUMBER, A_PLACE };

struct row {
	enum row_kind kind;
	const char *type, *name, *member;
	int32_t value;
};

static const struct row rows[] = {
#define OFFSET(f, m, t, n) { A_FIELD, t, n, #m, 0 },
#define STATIC(f, m, t, n) { A_STATIC, t, n, #m, 0 },
#define SIZE(f, m, t) { A_SIZE, t, NULL, #m, 0 },
#define NUMBER(f, m, n) { A_NUMBER, n, NULL, #m, 8 },
#define EQUALS(f, v, n) { A_NUMBER, n, NULL, "", v },
#define AT(f, v, t, n) { A_PLACE, t, n, "", v },
#include "jvm/facttable.h"
};

_Static_assert(VARIABLES + 8 * ARRAY_SIZE(rows) <= TABLES, "variables end before the tables");

/* ---- bytes ---- */

static struct world *w;
static uint64_t next_text;

static void put(uint64_t addr, uint64_t v, size_t n)
{
	if (addr - WORLD_BASE > WORLD_BYTES - n)
		abort();
	memcpy(w->memory + (addr - WORLD_BASE), &v, n);
}

static void put_word(uint64_t addr, uint64_t v)
{
	put(addr, v, 8);
}

static uint64_t text(const char *s)
{
	uint64_t at = next_text;

	if (at + strlen(s) >= WORLD_BASE + TEXTS + TEXT_BYTES * 4)
		abort();
	memcpy(w->memory + (at - WORLD_BASE), s, strlen(s) + 1);
	next_text += strlen(s) + 1;
	return at;
}

/* ---- where fields are ---- */

/* These are parts of one object. */
static const char *object_of(const char *type)
{
	if (!strcmp(type, "nmethod") || !strcmp(type, "CompiledMethod"))
		return "CodeBlob";
	return strstr(type, "GrowableArray") ? "Array" : !strcmp(type, "InstanceKlass") ? "Klass" : type;
}

static const struct row *row_of(const char *member)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].member, member))
			return &rows[i];
	abort();
}

/* One after the other, in the order of the table; embedded objects take 64 bytes, others 8. */
static uint32_t offset(const char *member)
{
	const struct row *r = row_of(member), *i;
	const char *object = object_of(r->type);
	uint32_t at = strcmp(object, "JavaCallWrapper") ? 0 : 8;

	for (i = rows; i < r; i++)
		if (i->kind == A_FIELD && row_of(i->member) == i && !strcmp(object_of(i->type), object))
			at += strcmp(object, "CodeHeap") ? 8 : 64;
	return at;
}

static uint64_t variable(const char *member)
{
	return WORLD_BASE + VARIABLES + 8 * (row_of(member) - rows);
}

static void set(uint64_t object, const char *member, uint64_t v)
{
	put_word(object + offset(member), v);
}

static uint32_t size_of(const char *member)
{
	static const struct {
		const char *member;
		uint32_t bytes;
	} sizes[] = {
		{ "block", BLOCK_HEAD }, { "cm", 48 }, { "cp", 64 }, { "jthread", 2048 }, { "flag", 32 },
		{ "pc_desc", 16 }, { "method", 64 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!strcmp(sizes[i].member, member))
			return sizes[i].bytes;
	abort();
}

/* ---- its tables ---- */

enum { FIELD_BYTES = 48, TYPE_BYTES = 40, NUMBER_BYTES = 16 };

static uint64_t put_fields(uint64_t at)
{
	const struct row *r;

	for (r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		if ((r->kind != A_FIELD && r->kind != A_STATIC && r->kind != A_PLACE) ||
		    !strcmp(r->member, "only_heap"))	/* of JDK 8 */
			continue;
		put_word(at, text(r->type));
		put_word(at + 8, text(r->name));
		put_word(at + 24, r->kind == A_STATIC);
		put_word(at + 32, r->kind == A_FIELD ? offset(r->member) : (uint32_t)r->value);
		put_word(at + 40, r->kind == A_STATIC ? variable(r->member) : 0);
		at += FIELD_BYTES;
	}
	return at + FIELD_BYTES;
}

static uint64_t put_types(uint64_t at)
{
	const struct row *r;

	for (r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		if (r->kind != A_SIZE)
			continue;
		put_word(at, text(r->type));
		put_word(at + 32, size_of(r->member));
		at += TYPE_BYTES;
	}
	return at + TYPE_BYTES;
}

static uint64_t put_numbers(uint64_t at)
{
	const struct row *r;

	for (r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		if (r->kind != A_NUMBER)
			continue;
		put_word(at, text(r->type));
		put_word(at + 8, r->value);
		at += NUMBER_BYTES;
	}
	return at + NUMBER_BYTES;
}

static const struct {
	const char *name;
	uint64_t value;			/* but of the tables, which come first */
} symbols[] = {
	{ "gHotSpotVMStructs", 0 }, { "gHotSpotVMTypes", 0 }, { "gHotSpotVMIntConstants", 0 },
	{ "gHotSpotVMLongConstants", 0 },
	{ "gHotSpotVMStructEntryTypeNameOffset", 0 }, { "gHotSpotVMStructEntryFieldNameOffset", 8 },
	{ "gHotSpotVMStructEntryTypeStringOffset", 16 }, { "gHotSpotVMStructEntryIsStaticOffset", 24 },
	{ "gHotSpotVMStructEntryOffsetOffset", 32 }, { "gHotSpotVMStructEntryAddressOffset", 40 },
	{ "gHotSpotVMStructEntryArrayStride", FIELD_BYTES },
	{ "gHotSpotVMTypeEntryTypeNameOffset", 0 }, { "gHotSpotVMTypeEntrySizeOffset", 32 },
	{ "gHotSpotVMTypeEntryArrayStride", TYPE_BYTES },
	{ "gHotSpotVMIntConstantEntryNameOffset", 0 }, { "gHotSpotVMIntConstantEntryValueOffset", 8 },
	{ "gHotSpotVMIntConstantEntryArrayStride", NUMBER_BYTES },
	{ "gHotSpotVMLongConstantEntryNameOffset", 0 }, { "gHotSpotVMLongConstantEntryValueOffset", 8 },
	{ "gHotSpotVMLongConstantEntryArrayStride", NUMBER_BYTES },
};

static void put_tables(void)
{
	uint64_t at = WORLD_BASE + TABLES, tables[4], end;
	size_t i;

	tables[0] = at;
	tables[1] = at = put_fields(at);
	tables[2] = at = put_types(at);
	tables[3] = end = put_numbers(at);
	if (end + NUMBER_BYTES > WORLD_BASE + OBJECTS)
		abort();
	for (i = 0; i < ARRAY_SIZE(symbols); i++)
		put_word(WORLD_BASE + EXPORTED + 8 * i,
			 i < ARRAY_SIZE(tables) ? tables[i] : symbols[i].value);
}

static uint32_t gnu_hash(const char *s)
{
	uint32_t h = 5381;

	while (*s)
		h = h * 33 + (uint8_t)*s++;
	return h;
}

/* All in one bucket, from the first symbol on. */
static void put_symbols(void)
{
	const uint32_t head[] = { 1, 1, 1, 0, 0, 0, 1 };
	const uint64_t strings = WORLD_BASE + TEXTS;
	size_t i;

	memcpy(w->memory + HASHES, head, sizeof(head));
	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		const Elf64_Sym s = {
			.st_name = text(symbols[i].name) - strings, .st_value = EXPORTED + 8 * i,
			.st_shndx = 1,
		};
		uint32_t hash = gnu_hash(symbols[i].name) & ~1u;

		memcpy(w->memory + SYMBOLS + (i + 1) * sizeof(s), &s, sizeof(s));
		put(WORLD_BASE + HASHES + sizeof(head) + 4 * i, hash | (i == ARRAY_SIZE(symbols) - 1), 4);
	}
}

static void put_elf(void)
{
	const Elf64_Ehdr h = { .e_ident = ELFMAG, .e_phoff = sizeof(h), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2 };
	const Elf64_Phdr p[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_X | PF_R, .p_memsz = EXPORTED },
		{ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC },
	};
	const Elf64_Dyn d[] = {
		{ DT_SYMTAB, { SYMBOLS } }, { DT_STRTAB, { TEXTS } }, { DT_GNU_HASH, { HASHES } },
		{ DT_NULL, { 0 } },
	};

	memcpy(w->memory, &h, sizeof(h));
	memcpy(w->memory + sizeof(h), p, sizeof(p));
	memcpy(w->memory + DYNAMIC, d, sizeof(d));
	put_symbols();
}

_Static_assert(SYMBOLS + (ARRAY_SIZE(symbols) + 1) * sizeof(Elf64_Sym) <= VARIABLES, "symbols end before the variables");
_Static_assert(HASHES + (7 + ARRAY_SIZE(symbols)) * 4 <= EXPORTED, "hashes end before what is exported");

/* ---- its code ---- */

enum blob { INTERPRETER, CALL_STUB, OUTER, INNER, NATIVE, ADAPTER, HANDLER, STUB, NR_BLOBS };

static const char *const blob_names[NR_BLOBS] = {
	"Interpreter", "StubRoutines (1)", "nmethod", "nmethod", "native nmethod", "I2C/C2I adapters",
	"SafepointBlob", "RuntimeStub",
};

static uint64_t blob(enum blob b)
{
	return WORLD_BASE + CODE + b * BLOCK + BLOCK_HEAD;
}

static uint64_t code(enum blob b)
{
	return blob(b) + CODE_AT;
}

/* Where the n-th call in its code returns to. */
static uint64_t after_call(enum blob b, int n)
{
	return code(b) + 16 * n + 5;
}

/* A frame is built, then calls follow, one each 16 bytes. */
static void put_code(enum blob b)
{
	static const uint8_t head[] = { 0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x10, 0x90 };
	uint32_t len = BLOCK - BLOCK_HEAD - CODE_AT, at;

	memset(w->memory + (code(b) - WORLD_BASE), 0x90, len);
	memcpy(w->memory + (code(b) - WORLD_BASE), head, sizeof(head));
	for (at = 16; at + 16 <= len; at += 16) {
		put(code(b) + at, 0xe8, 1);
		put(code(b) + at + 1, (uint32_t)(code((b + 1) % NR_BLOBS) - after_call(b, at / 16)), 4);
	}
	put(code(b) + at - 16, 0xc3, 1);
}

static void put_blob(enum blob b)
{
	const uint32_t size = BLOCK - BLOCK_HEAD;
	uint64_t at = blob(b);
	size_t segment = (b * BLOCK) >> SEGMENT_LOG2, i;

	put(at - BLOCK_HEAD + offset("block_used"), 1, 1);
	for (i = 0; i < BLOCK >> SEGMENT_LOG2; i++)
		put(WORLD_BASE + SEGMAP + segment + i, i, 1);
	set(at, "blob_name", text(blob_names[b]));
	set(at, "blob_size", size);
	set(at, "blob_frame_size", 4);
	set(at, "blob_frame_complete", 8);
	set(at, "blob_code_begin", code(b));
	set(at, "blob_code_offset", CODE_AT);
	set(at, "blob_code_end", at + size);
	set(at, "blob_data_offset", size);
	put_code(b);
}

static void put_codelets(uint64_t queue)
{
	enum { NR = 4, BYTES = 0x100 };
	uint64_t at = code(INTERPRETER) + 0x800;
	int i;

	set(queue, "queue_buffer", code(INTERPRETER));
	set(queue, "queue_limit", BLOCK - BLOCK_HEAD - CODE_AT);
	set(queue, "queue_begin", 0x800);
	set(queue, "queue_end", 0x800 + NR * BYTES);
	for (i = 0; i < NR; i++, at += BYTES) {
		set(at, "codelet_size", BYTES);
		set(at, "codelet_name", text(i ? "method entry point (kind = zerolocals)" : "exit"));
	}
}

static uint64_t take(uint64_t *next, uint32_t bytes)
{
	uint64_t at = *next;

	*next += (bytes + 63) & ~63u;
	if (*next > WORLD_BASE + SEGMAP)
		abort();
	return at;
}

static void put_cache(uint64_t *next)
{
	uint64_t heap = take(next, 256), list = take(next, 64), array = take(next, 64);
	uint64_t queue = take(next, 64);
	int i;

	put_word(variable("code_low"), WORLD_BASE + CODE);
	put_word(variable("code_high"), WORLD_BASE + CODE + CODE_BYTES);
	put_word(variable("heaps"), array);
	put_word(variable("interpreter"), queue);
	put_word(variable("call_stub_return"), after_call(CALL_STUB, 4));
	set(array, "array_len", 1);
	set(array, "array_data", list);
	put_word(list, heap);
	set(heap + offset("heap_memory"), "vs_low_boundary", WORLD_BASE + CODE);
	set(heap + offset("heap_memory"), "vs_high_boundary", WORLD_BASE + CODE + CODE_BYTES);
	set(heap + offset("heap_memory"), "vs_low", WORLD_BASE + CODE);
	set(heap + offset("heap_memory"), "vs_high", WORLD_BASE + CODE + CODE_BYTES);
	set(heap + offset("heap_segmap"), "vs_low", WORLD_BASE + SEGMAP);
	set(heap + offset("heap_segmap"), "vs_high", WORLD_BASE + SEGMAP + (CODE_BYTES >> SEGMENT_LOG2));
	set(heap, "heap_log2_segment", SEGMENT_LOG2);
	for (i = 0; i < NR_BLOBS; i++)
		put_blob(i);
	put_codelets(queue);
}

/* ---- its methods ---- */

enum { CODE_SIZE = 24, METHOD_BYTES = 128 };

static uint64_t put_symbol(uint64_t *next, const char *s)
{
	uint64_t at = take(next, offset("sym_body") + strlen(s));

	put(at + offset("sym_len"), strlen(s), 2);
	memcpy(w->memory + (at + offset("sym_body") - WORLD_BASE), s, strlen(s));
	return at;
}

/* A class with one method; bytecodes and a line table follow its ConstMethod. */
static uint64_t put_method(uint64_t *next, const char *class_name, const char *name, uint64_t *bytecodes)
{
	static const uint8_t lines[] = { 0x0d, 0x22, 0xff, 0x14, 0x09, 0 };
	uint64_t method = take(next, 64), cm = take(next, METHOD_BYTES), cp = take(next, 128);
	uint64_t klass = take(next, 128), entries = cp + size_of("cp");

	set(method, "method_const", cm);
	set(cm, "cm_constants", cp);
	put(cm + offset("cm_code_size"), CODE_SIZE, 2);
	put(cm + offset("cm_name"), 1, 2);
	put(cm + offset("cm_sig"), 2, 2);
	put(cm + offset("cm_flags"), 8, 2);
	put(cm + offset("cm_words"), METHOD_BYTES / 8, 4);
	*bytecodes = cm + size_of("cm");
	memcpy(w->memory + (*bytecodes + CODE_SIZE - WORLD_BASE), lines, sizeof(lines));
	set(cp, "cp_holder", klass);
	set(cp, "cp_length", 4);
	put(cp + offset("cp_source"), 3, 2);
	put_word(entries + 8, put_symbol(next, name));
	put_word(entries + 16, put_symbol(next, "()V"));
	put_word(entries + 24, put_symbol(next, "A.java"));
	set(klass, "klass_name", put_symbol(next, class_name));
	set(klass, "ik_constants", cp);
	return method;
}

/* One place, past all of the code: what is inlined there, and the method itself. */
static void put_nmethod(enum blob b, uint64_t *next, uint64_t method, uint64_t inlined)
{
	/* at 1: inlined into 8, its method, its bytecode index; at 8: the method's own */
	static const uint8_t scopes[] = { 0, 9, 3, 4, 0, 0, 0, 0, 1, 2, 6 };
	uint64_t nm = blob(b), fixed = take(next, 64), methods = take(next, 64);

	set(nm, "nm_method", method);
	set(nm, "nm_compile_id", 100 + b);
	set(nm, "nm_level", 4);
	set(nm, "nm_verified_entry", code(b));
	set(nm, "nm_entry_bci", UINT32_MAX);
	set(nm, "nm_stub_offset", BLOCK - BLOCK_HEAD);
	set(nm, "nm_orig_pc", 8);
	set(nm, "nm_immutable", fixed);
	set(nm, "nm_immutable_size", 48);
	set(nm, "nm_pcs", 0);
	set(nm, "nm_scopes", 32);
	put(fixed + offset("pc_desc_pc"), UINT32_MAX, 4);
	put(fixed + 16 + offset("pc_desc_pc"), BLOCK, 4);
	put(fixed + 16 + offset("pc_desc_scope"), 1, 4);
	memcpy(w->memory + (fixed + 32 - WORLD_BASE), scopes, sizeof(scopes));
	set(nm, "blob_mutable", methods);
	set(nm, "blob_mutable_size", 16);
	put_word(methods, method);
	put_word(methods + 8, inlined);
}

/* Its count of unloaded classes. */
static void put_counters(void)
{
	static const char name[] = "java.cls.unloadedClasses";
	uint64_t at = WORLD_BASE + COUNTERS;

	put_word(variable("perf_start"), at);
	put_word(variable("perf_top"), at + 256);
	put(at + 24, 32, 4);
	at += 32;
	/* of the entry: its bytes, where its name is, its type, where its value is */
	put(at, 64, 4);
	put(at + 4, 20, 4);
	put(at + 12, 'J', 1);
	put(at + 16, 48, 4);
	memcpy(w->memory + (at + 20 - WORLD_BASE), name, sizeof(name));
}

/* ---- its stack ---- */

static uint64_t *slot(uint64_t addr)
{
	if (addr - WORLD_STACK >= WORLD_STACK_BYTES)
		abort();
	return &w->stack[(addr - WORLD_STACK) / 8];
}

/* Compiled code called by compiled code, called by an interpreted method, which C++ had called. */
static void put_stack(uint64_t method, uint64_t bytecodes)
{
	enum { RBP = 6, R13 = 13 };
	const uint64_t sp = WORLD_STACK, interpreted = sp + 0xc0, entry = sp + 0x180;

	*slot(sp + 24) = after_call(OUTER, 9);
	*slot(sp + 48) = interpreted;
	*slot(sp + 56) = after_call(INTERPRETER, 5);
	*slot(interpreted) = entry;
	*slot(interpreted + 8) = after_call(CALL_STUB, 4);
	*slot(interpreted - 8) = interpreted + 16;
	*slot(interpreted - 24) = method;
	*slot(interpreted - 64) = bytecodes + 4;
	*slot(entry) = sp + 0x300;
	*slot(entry + 8) = WORLD_BASE + 0x100;
	*slot(entry - 48) = entry + 0x40;
	w->ask = (struct outside_ask){
		.time_ns = UINT64_MAX / 2, .tid = 1, .event = 1, .pc = after_call(INNER, 8), .sp = sp,
		.exact = true, .stack_bytes = WORLD_STACK_BYTES,
		.reg = { [RBP] = sp + 0x40, [R13] = bytecodes },
	};
}

void world_make(struct world *to)
{
	uint64_t next = WORLD_BASE + OBJECTS, method, inlined, bytecodes;

	memset(to, 0, sizeof(*to));
	w = to;
	next_text = WORLD_BASE + TEXTS;
	put_elf();
	put_tables();
	put_cache(&next);
	put_word(variable("major"), 25);
	inlined = put_method(&next, "a/A", "inlined", &bytecodes);
	method = put_method(&next, "a/B", "run", &bytecodes);
	put_nmethod(OUTER, &next, method, inlined);
	put_nmethod(INNER, &next, method, inlined);
	put_nmethod(NATIVE, &next, method, inlined);
	put_counters();
	put_stack(method, bytecodes);
	snprintf(to->maps, sizeof(to->maps), "%llx-%llx r-xp 00000000 08:01 1 /jdk/lib/server/libjvm.so\n", WORLD_BASE,
		 WORLD_BASE + WORLD_BYTES);
}
