// SPDX-License-Identifier: MIT
/*
 * vm.c - HotSpot's structures by name, and its code cache (vm.h).
 *
 * Source: src/hotspot/share/runtime/vmStructs.hpp (the exported tables),
 * memory/heap.cpp (CodeHeap::find_block_for: the segment map).
 */
#include <asm/signal.h>

#include "agent/elf.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

struct vm vm;
struct vm_known_code vm_known;

struct field {
	const char *type, *name;
	uint16_t offset;	/* in struct vm_offsets */
};

static const struct field fields[] = {
#define OFFSET(feature, member, type, field) { type, field, offsetof(struct vm_offsets, member) },
#include "jvm/facttable.h"
};

struct global {
	const char *type, *name;
	uint16_t offset;	/* in struct vm, of a pointer */
};

static const struct global globals[] = {
#define STATIC(feature, member, type, field) { type, field, offsetof(struct vm, member) },
#include "jvm/facttable.h"
};

/* Of a type, or of a constant, what its name is followed by is kept there. */
struct value {
	const char *name;
	uint16_t offset;	/* in struct vm_sizes, or in struct vm */
};

static const struct value sizes[] = {
#define SIZE(feature, member, type) { type, offsetof(struct vm_sizes, member) },
#include "jvm/facttable.h"
};

static const struct value numbers[] = {
#define NUMBER(feature, member, name) { name, offsetof(struct vm, member) },
#include "jvm/facttable.h"
};

/* Value of an exported variable; 0 when it is missing. */
static uint64_t exported(const char *name)
{
	const uint64_t *p = elf_symbol(vm.libjvm, name);

	return p ? vm_word((uintptr_t)p, 0) : 0;
}

static const char *string_at(uintptr_t entry, uint64_t off)
{
	return vm_string(vm_word(entry, off));
}

static void set_field(const char *type, const char *name, const char *ctype, uint64_t off)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (str_eq(fields[i].name, name) && str_eq(fields[i].type, type))
			*(int *)((char *)&vm.o + fields[i].offset) = off;
	facts_exported(type, name, off);
	if (!ctype)
		return;
	if (str_eq(name, "_frame_complete_offset"))
		vm.frame_complete_is_16 = str_eq(ctype, "int16_t");
	if (str_eq(name, "_threadObj"))
		vm.threads_are_oops = str_eq(ctype, "oop");
	if (str_eq(name, "_comp_level") && str_eq(type, "nmethod"))	/* CompileTask's is an int */
		vm.level_is_8 = str_eq(ctype, "CompLevel") || str_eq(ctype, "CompLevel_t");
}

static void read_structs(void)
{
	uint64_t type_off = exported("gHotSpotVMStructEntryTypeNameOffset");
	uint64_t name_off = exported("gHotSpotVMStructEntryFieldNameOffset");
	uint64_t ctype_off = exported("gHotSpotVMStructEntryTypeStringOffset");
	uint64_t static_off = exported("gHotSpotVMStructEntryIsStaticOffset");
	uint64_t off_off = exported("gHotSpotVMStructEntryOffsetOffset");
	uint64_t addr_off = exported("gHotSpotVMStructEntryAddressOffset");
	uint64_t stride = exported("gHotSpotVMStructEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMStructs");
	const char *type;
	size_t i;

	for (; e && stride && (type = string_at(e, type_off)); e += stride) {
		const char *name = string_at(e, name_off);

		if (!name)
			continue;
		if (!vm_i32(e, static_off)) {
			set_field(type, name, string_at(e, ctype_off), vm_word(e, off_off));
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(globals); i++)
			if (str_eq(globals[i].name, name) && str_eq(globals[i].type, type))
				*(uintptr_t *)((char *)&vm + globals[i].offset) = vm_word(e, addr_off);
	}
}

static void read_sizes(void)
{
	uint64_t name_off = exported("gHotSpotVMTypeEntryTypeNameOffset");
	uint64_t size_off = exported("gHotSpotVMTypeEntrySizeOffset");
	uint64_t stride = exported("gHotSpotVMTypeEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMTypes");
	const char *name;
	size_t i;

	for (; e && stride && (name = string_at(e, name_off)); e += stride) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			if (str_eq(sizes[i].name, name))
				*(int *)((char *)&vm.size + sizes[i].offset) = vm_word(e, size_off);
	}
}

static void read_ints(void)
{
	uint64_t name_off = exported("gHotSpotVMIntConstantEntryNameOffset");
	uint64_t value_off = exported("gHotSpotVMIntConstantEntryValueOffset");
	uint64_t stride = exported("gHotSpotVMIntConstantEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMIntConstants");
	const char *name;
	size_t i;

	for (; e && stride && (name = string_at(e, name_off)); e += stride) {
		facts_exported(name, NULL, vm_i32(e, value_off));
		for (i = 0; i < ARRAY_SIZE(numbers); i++)
			if (str_eq(numbers[i].name, name))
				*(int *)((char *)&vm + numbers[i].offset) = vm_i32(e, value_off);
	}
}

static void read_longs(void)
{
	uint64_t name_off = exported("gHotSpotVMLongConstantEntryNameOffset");
	uint64_t value_off = exported("gHotSpotVMLongConstantEntryValueOffset");
	uint64_t stride = exported("gHotSpotVMLongConstantEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMLongConstants");
	const char *name;

	for (; e && stride && (name = string_at(e, name_off)); e += stride)
		facts_exported(name, NULL, vm_word(e, value_off));
}

/* The bounds of the code, which JDK 8 keeps nowhere. */
static uintptr_t only_low, only_high;

static void init_8(void)
{
	static const int major = 8;

	vm.is_8 = true;
	vm.code_low = &only_low;
	vm.code_high = &only_high;
	vm.major = &major;		/* it says 25, which is HotSpot's */
}

static bool vm_field_is_in(int offset, int bytes, int size)
{
	return offset >= 0 && size >= bytes && offset <= size - bytes;
}

/* Some objects are loaded from copies of them: what the tables say must lie in these, even where they lie. */
static bool are_in_copies(void)
{
	enum { ANCHOR = 24, WRAPPER = 1024 };
	const struct vm_offsets *o = &vm.o;

	return vm_field_is_in(o->cm_constants, 8, vm.size.cm) &&
	       vm_field_is_in(o->cm_code_size, 2, vm.size.cm) &&
	       vm_field_is_in(o->anchor_sp, 8, ANCHOR) && vm_field_is_in(o->anchor_pc, 8, ANCHOR) &&
	       (o->anchor_fp < 0 || vm_field_is_in(o->anchor_fp, 8, ANCHOR)) &&
	       vm_field_is_in(o->wrapper_anchor, ANCHOR, WRAPPER);
}

void vm_init(uintptr_t addr)
{
	const char *type, *name;

	memset(&vm.o, 0xff, sizeof(vm.o));
	vm.libjvm = elf_base_of(addr);
	if (!vm.libjvm || !elf_text(vm.libjvm, &vm.text_lo, &vm.text_hi))
		return;
	read_structs();
	read_sizes();
	read_ints();
	read_longs();
	if (vm.only_heap)
		init_8();
	vm.ok = !facts_lack(FACTS_WALK, &type, &name) && are_in_copies();
	vm.walks = vm.ok && !facts_lack(FACTS_FRAMES, &type, &name);
}

/* Source: share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry). */
struct perf_entry {
	int32_t size, name_off, vector_len;
	uint8_t type, flags, units, variability;
	int32_t data_off;
};

const int64_t *vm_counter(const char *name)
{
	const char *at;
	uintptr_t p, top;
	int32_t size;

	if (!vm.perf_start || !vm.perf_top || !(p = vm_global(vm.perf_start)) ||
	    !(top = vm_global(vm.perf_top)))
		return NULL;
	/* entry_offset and num_entries end the prologue of 32 bytes */
	for (p += vm_i32(p, 24); p + sizeof(struct perf_entry) < top; p += size) {
		size = vm_i32(p, offsetof(struct perf_entry, size));
		if (size <= 0)
			return NULL;
		at = vm_string(p + vm_i32(p, offsetof(struct perf_entry, name_off)));
		if (vm_u8(p, offsetof(struct perf_entry, type)) == 'J' && at && str_eq(at, name))
			return (const void *)(p + vm_i32(p, offsetof(struct perf_entry, data_off)));
	}
	return NULL;
}

/*
 * The VM counts unloaded classes before it frees what they had, so a changed count says that a Method* may
 * mean another method now. Unlike the ClassUnload event it is never late.
 */
void vm_init_perf_counters(void)
{
	vm.nr_unloaded = vm_counter("java.cls.unloadedClasses");
}

void vm_init_signals(void)
{
	struct {
		uintptr_t handler;
		unsigned long flags;
		uintptr_t restorer;
		uint64_t mask;
	} sa = { 0 };

	if (sys(__NR_rt_sigaction, SIGSEGV, NULL, &sa, 8) || sa.handler <= 1)
		return;
	vm.signal_return = sa.flags & SA_RESTORER ? sa.restorer : (uintptr_t)sys_vdso("__kernel_rt_sigreturn");
}

/* Return the address of a flag; 0: there is none of that name. */
static uintptr_t find_flag(const char *name)
{
	size_t i;

	if (!vm.flags || !vm.nr_flags || vm.o.flag_name < 0 || vm.o.flag_addr < 0 || !vm.size.flag)
		return 0;
	for (i = 0; i < vm_global(vm.nr_flags); i++) {
		uintptr_t f = vm_global(vm.flags) + i * vm.size.flag;
		const char *s = vm_string(vm_word(f, vm.o.flag_name));

		if (s && str_eq(s, name))
			return f;
	}
	return 0;
}

bool vm_flag(const char *name, bool *on)
{
	uintptr_t f = find_flag(name);

	if (f)
		*on = vm_u8(vm_word(f, vm.o.flag_addr), 0);
	return f;
}

bool vm_flag_by_default(const char *name)
{
	enum { ORIGIN = 15 };		/* 0: nobody has set it */
	uintptr_t f = vm.o.flag_origin < 0 ? 0 : find_flag(name);

	if (f && !(vm_i32(f, vm.o.flag_origin) & ORIGIN))
		*(bool *)vm_word(f, vm.o.flag_addr) = true;
	return f;
}

/*
 * Code heaps exist before the first code does and are never removed or moved; only their
 * committed part grows. Readers see nr_heaps change last.
 */
struct heap {
	uintptr_t lo, hi;		/* reserved */
	uintptr_t memory;		/* VirtualSpace of the blocks, for its _high */
	uintptr_t map;			/* VirtualSpace of the segment map, likewise */
	uintptr_t segmap;
	int shift;
};

static struct heap heaps[8];
static int nr_heaps;

/* Find the list of heaps and return how many there are. The heap of JDK 8 exists before it has memory. */
static int list_heaps(uintptr_t *list)
{
	uintptr_t array;

	if (vm.is_8) {
		*list = (uintptr_t)vm.only_heap;
		return vm_word(vm_global(vm.only_heap) + vm.o.heap_memory, vm.o.vs_low_boundary) ? 1 : 0;
	}
	array = vm_global(vm.heaps);
	*list = array ? vm_word(array, vm.o.array_data) : 0;
	return array ? vm_i32(array, vm.o.array_len) : 0;
}

void vm_update_heaps(void)
{
	enum { MIN_SHIFT = 4, MAX_SHIFT = 31 };	/* of a segment; HotSpot's have 64 or 128 bytes */
	uintptr_t data;
	int i, nr;

	if (!vm.ok)
		return;
	nr = list_heaps(&data);
	if (nr > (int)ARRAY_SIZE(heaps))
		nr = ARRAY_SIZE(heaps);
	for (i = nr_heaps; i < nr; i++) {
		uintptr_t h = vm_word(data, i * 8), mem = h + vm.o.heap_memory, map = h + vm.o.heap_segmap;
		int shift = vm_i32(h, vm.o.heap_log2_segment);

		if (shift < MIN_SHIFT || shift > MAX_SHIFT)
			break;
		heaps[i] = (struct heap){
			.lo = vm_word(mem, vm.o.vs_low_boundary),
			.hi = vm_word(mem, vm.o.vs_high_boundary),
			.memory = mem,
			.map = map,
			.segmap = vm_word(map, vm.o.vs_low),
			.shift = shift,
		};
	}
	if (vm.is_8 && nr) {
		store_relaxed(&only_low, heaps[0].lo);
		store_relaxed(&only_high, heaps[0].hi);
	}
	store_release(&nr_heaps, i);
}

static bool starts_with(const char *s, const char *head)
{
	while (*head)
		if (*s++ != *head++)
			return false;
	return true;
}

static bool vm_name_ends_with(const char *s, size_t len, const char *end)
{
	size_t n = str_len(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

static const char before_stub[] = "Stub Generator ", after_stub[] = " (stub gen)";

size_t vm_stub_name(const char **name)
{
	size_t len = str_len(*name);

	if (starts_with(*name, before_stub)) {
		*name += sizeof(before_stub) - 1;
		len -= sizeof(before_stub) - 1;
	} else if (vm_name_ends_with(*name, len, after_stub)) {
		len -= sizeof(after_stub) - 1;
	} else {
		return len;
	}
	return vm_name_ends_with(*name, len, "_stub") ? len - str_len("_stub") : len;
}

/* Names are string constants of libjvm, or were copied for good when the blob was made. */
static enum vm_blob_kind kind_by_name(const char *name)
{
	if (!name)
		return VM_BLOB_STUB;
	if (str_eq(name, "nmethod") || str_eq(name, "native nmethod"))
		return VM_BLOB_NMETHOD;
	if (str_eq(name, "Interpreter"))
		return VM_BLOB_INTERPRETER;
	if (starts_with(name, "StubRoutines") || starts_with(name, before_stub) ||
	    vm_name_ends_with(name, str_len(name), after_stub))
		return VM_BLOB_ROUTINES;
	if (starts_with(name, "I2C/C2I"))
		return VM_BLOB_ADAPTER;
	if (starts_with(name, "C1 Runtime "))	/* JDK 24 and later */
		name += 11;
	if (starts_with(name, "handle_exception") || starts_with(name, "forward_exception") ||
	    starts_with(name, "SafepointBlob") ||
	    starts_with(name, "Shared Runtime polling_page_safepoint") ||
	    starts_with(name, "Shared Runtime polling_page_vectors") ||
	    starts_with(name, "polling_page_safepoint") || starts_with(name, "polling_page_vectors"))
		return VM_BLOB_HANDLER;
	if (str_eq(name, "vtable chunks") || str_eq(name, "InlineCacheBuffer"))
		return VM_BLOB_DISPATCH;
	if (starts_with(name, "upcall") || starts_with(name, "Upcall"))
		return VM_BLOB_UPCALL;
	return VM_BLOB_STUB;
}

/*
 * Names are asked for by address first: they are few, and constant once the VM runs. A blob
 * that is being freed may hold anything there, so a new address is not believed to be mapped.
 */
static struct {
	uintptr_t name;
	uint32_t kind;
} name_kinds[512];

static void remember_kind(size_t i, uintptr_t name, enum vm_blob_kind kind)
{
	uintptr_t none = 0;

	if (!__atomic_compare_exchange_n(&name_kinds[i].name, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	store_relaxed(&name_kinds[i].kind, kind);
	store_release(&name_kinds[i].name, name);
}

static enum vm_blob_kind blob_kind(uintptr_t blob)
{
	uintptr_t name = vm_word(blob, vm.o.blob_name), h = mix64(name) >> 55, known;
	char copy[48] = "";
	enum vm_blob_kind kind;
	size_t i;

	for (i = 0; i < 8; i++) {
		size_t at = (h + i) % ARRAY_SIZE(name_kinds);

		known = load_acquire(&name_kinds[at].name);
		if (known == name)
			return load_relaxed(&name_kinds[at].kind);
		if (!known)
			break;
	}
	if (!sys_peek(copy, name, sizeof(copy) - 1))
		return VM_BLOB_NONE;
	kind = kind_by_name(copy);
	if (i < 8)
		remember_kind((h + i) % ARRAY_SIZE(name_kinds), name, kind);
	return kind;
}

static uintptr_t block_of(uintptr_t pc)
{
	int i, nr = load_acquire(&nr_heaps);

	for (i = 0; i < nr; i++) {
		const struct heap *h = &heaps[i];
		size_t seg, hop;

		if (pc < h->lo || pc >= h->hi || pc >= vm_word(h->memory, vm.o.vs_high))
			continue;
		/* a segment's byte says how far back its block starts, in hops of at most 254 */
		seg = (pc - h->lo) >> h->shift;
		if (h->segmap + seg >= vm_word(h->map, vm.o.vs_high) || vm_u8(h->segmap + seg, 0) == 0xff)
			return 0;
		while ((hop = vm_u8(h->segmap + seg, 0))) {
			if (hop > seg)
				return 0;
			seg -= hop;
		}
		return h->lo + (seg << h->shift);
	}
	return 0;
}

bool vm_find_blob(uintptr_t pc, struct vm_blob *b)
{
	const struct vm_offsets *o = &vm.o;
	uintptr_t block = block_of(pc), queue;

	if (!block || !vm_u8(block, o->block_used))
		return false;
	b->addr = block + vm.size.block;
	b->begin = o->blob_code_begin >= 0 ? vm_word(b->addr, o->blob_code_begin) :
					     b->addr + vm_i32(b->addr, o->blob_code_offset);
	b->frame_size = vm_i32(b->addr, o->blob_frame_size);
	b->frame_complete = vm.frame_complete_is_16 ? (int16_t)vm_u16(b->addr, o->blob_frame_complete) :
						      vm_i32(b->addr, o->blob_frame_complete);
	if (pc < b->addr || pc >= b->addr + vm_i32(b->addr, o->blob_size))
		return false;
	queue = vm_global(vm.interpreter);
	if (queue && pc - vm_word(queue, o->queue_buffer) < (uint32_t)vm_i32(queue, o->queue_limit))
		b->kind = VM_BLOB_INTERPRETER;
	else
		b->kind = blob_kind(b->addr);
	return b->kind != VM_BLOB_NONE;
}

/* Of one that is in use; may be NULL. */
uint32_t vm_code_size(const struct vm_blob *b)
{
	const struct vm_offsets *o = &vm.o;
	uint32_t size = vm_i32(b->addr, o->blob_size);
	uintptr_t end = o->blob_code_end >= 0 ? vm_word(b->addr, o->blob_code_end) :
			o->blob_data_offset >= 0 ? b->addr + vm_i32(b->addr, o->blob_data_offset) : 0;

	return b->begin < end && end - b->addr <= size ? end - b->begin : 0;
}

void vm_each_blob(bool (*fn)(const struct vm_blob *b, void *ctx), void *ctx)
{
	int i, nr = load_acquire(&nr_heaps);
	struct vm_blob b;
	uintptr_t at;

	for (i = 0; i < nr; i++) {
		const struct heap *h = &heaps[i];
		uintptr_t end = vm_word(h->memory, vm.o.vs_high), segments = vm_word(h->map, vm.o.vs_high);

		for (at = h->lo; at < end && at < h->hi; at += 1ul << h->shift) {
			size_t seg = (at - h->lo) >> h->shift;

			/* a block starts in a segment of its own */
			if (h->segmap + seg >= segments)
				break;
			if (!vm_u8(h->segmap + seg, 0) && vm_find_blob(at + vm.size.block, &b) &&
			    !fn(&b, ctx))
				return;
		}
	}
}

struct wanted {
	const char *name;
	struct vm_blob found;
};

/* The blob may be one that is being freed. */
static bool vm_blob_is_named(const struct vm_blob *b, void *ctx)
{
	struct wanted *w = ctx;
	char copy[32] = "";

	if ((b->kind != VM_BLOB_DISPATCH && b->kind != VM_BLOB_STUB) ||
	    !sys_peek(copy, vm_word(b->addr, vm.o.blob_name), sizeof(copy) - 1) || !str_eq(copy, w->name))
		return true;
	w->found = *b;
	return false;
}

bool vm_find_stubs(const char *name, uintptr_t *begin, size_t *size)
{
	struct wanted w = { .name = name };

	vm_each_blob(vm_blob_is_named, &w);
	if (!w.found.addr)
		return false;
	*begin = w.found.begin;
	*size = w.found.addr + vm_i32(w.found.addr, vm.o.blob_size) - w.found.begin;
	return true;
}

int vm_nmethod_level(uintptr_t nm)
{
	if (vm.o.nm_level < 0)
		return 0;
	return vm.level_is_8 ? vm_u8(nm, vm.o.nm_level) : vm_i32(nm, vm.o.nm_level);
}

bool vm_is_deopt_handler(uintptr_t nm, uintptr_t pc)
{
	const struct vm_offsets *o = &vm.o;

	if (o->nm_deopt_begin >= 0)
		return pc == vm_word(nm, o->nm_deopt_begin) ||
		       (o->nm_deopt_mh_begin >= 0 && pc == vm_word(nm, o->nm_deopt_mh_begin));
	if (o->nm_deopt_offset >= 0)
		return pc == nm + vm_i32(nm, o->nm_deopt_offset) ||
		       (o->nm_deopt_mh_offset >= 0 && pc == nm + vm_i32(nm, o->nm_deopt_mh_offset));
	return false;
}

/* The entries of methods are generated one after the other, so one range holds them. */
static void note_interpreter(void)
{
	uintptr_t queue = vm_global(vm.interpreter), at, end;
	struct vm_range r = { 0, 0 };
	int size;

	if (!queue || vm.o.queue_begin < 0 || vm.o.queue_end < 0 || vm.o.codelet_size < 0 ||
	    vm.o.codelet_name < 0)
		return;
	at = vm_word(queue, vm.o.queue_buffer) + vm_i32(queue, vm.o.queue_begin);
	end = vm_word(queue, vm.o.queue_buffer) + vm_i32(queue, vm.o.queue_end);
	for (; at < end && (size = vm_i32(at, vm.o.codelet_size)) > 0; at += size) {
		const char *name = vm_string(vm_word(at, vm.o.codelet_name));

		if (!name || !starts_with(name, "method entry point"))
			continue;
		if (!r.lo)
			r.lo = at;
		r.hi = at + size;
	}
	store_relaxed(&vm_known.method_entry.hi, r.hi);
	store_release(&vm_known.method_entry.lo, r.lo);
}

static const struct {
	const char *name;
	struct vm_range *range;
} known_stubs[] = {
	{ "call_stub", &vm_known.call_stub },
	{ "cont_returnBarrier", &vm_known.return_barrier },
	{ "cont_returnBarrierExc", &vm_known.return_barrier_exc },
	/* JDK 21 to 23, x86-64 and arm64 */
	{ "Cont thaw return barrier", &vm_known.return_barrier },
	{ "Cont thaw return barrier exception", &vm_known.return_barrier_exc },
	{ "cont return barrier", &vm_known.return_barrier },
	{ "cont return barrier exception handler", &vm_known.return_barrier_exc },
};

bool vm_knows_stub(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known_stubs); i++)
		if (str_eq(known_stubs[i].name, name))
			return load_acquire(&known_stubs[i].range->lo);
	return false;
}

void vm_note_stub(const char *name, size_t len, uintptr_t addr, size_t size)
{
	size_t i;

	if (len == str_len("Interpreter") && starts_with(name, "Interpreter"))
		note_interpreter();
	for (i = 0; i < ARRAY_SIZE(known_stubs); i++)
		if (len == str_len(known_stubs[i].name) && starts_with(name, known_stubs[i].name)) {
			store_relaxed(&known_stubs[i].range->hi, addr + size);
			store_release(&known_stubs[i].range->lo, addr);
		}
}
