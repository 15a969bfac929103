// SPDX-License-Identifier: MIT
/*
 * vm.c - HotSpot's structures by name, and its code cache (vm.h).
 *
 * Source: src/hotspot/share/runtime/vmStructs.hpp (the exported tables),
 * memory/heap.cpp (CodeHeap::find_block_for: the segment map).
 */
#include <asm/signal.h>

#include "agent/elf.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

struct vm vm;
struct vm_known_code vm_known;

struct field {
	const char *type, *name;
	uint16_t offset;	/* in struct vm_offsets */
};

#define F(t, n, m) { t, n, offsetof(struct vm_offsets, m) }

static const struct field fields[] = {
	F("Thread", "_osthread", thread_osthread),
	F("JavaThread", "_osthread", thread_osthread),
	F("Thread", "_stack_base", thread_stack_base),
	F("JavaThread", "_stack_base", thread_stack_base),
	F("Thread", "_stack_size", thread_stack_size),
	F("Thread", "_tlab", thread_tlab),
	F("JavaThread", "_threadObj", jthread_object),
	F("JavaThread", "_vthread", jthread_vthread),
	F("JavaThread", "_current_pending_monitor", jthread_pending_monitor),
	F("Thread", "_current_pending_monitor", jthread_pending_monitor),
	F("JavaThread", "_current_waiting_monitor", jthread_waiting_monitor),
	F("Thread", "_current_waiting_monitor", jthread_waiting_monitor),
	F("OSThread", "_state", osthread_state),
	F("CollectedHeap", "_is_gc_active", gc_active),
	F("CollectedHeap", "_is_stw_gc_active", gc_active),
	F("CollectedHeap", "_total_collections", gc_count),
	F("Thread", "_allocated_bytes", thread_allocated),
	F("ThreadLocalAllocBuffer", "_start", tlab_start),
	F("ThreadLocalAllocBuffer", "_top", tlab_top),
	F("JavaThread", "_stack_size", thread_stack_size),
	F("JavaThread", "_anchor", jthread_anchor),
	F("JavaThread", "_thread_state", jthread_state),
	F("JavaThread", "_cont_entry", jthread_cont_entry),
	F("JavaThread", "_monitor_owner_id", jthread_owner_id),
	F("JavaThread", "_lock_stack", jthread_lock_stack),
	F("LockStack", "_base[0]", lock_stack_base),
	F("LockStack", "_top", lock_stack_top),
	F("ObjectMonitor", "_header", monitor_header),
	F("ObjectMonitor", "_metadata", monitor_header),
	F("ObjectMonitor", "_object", monitor_object),
	F("ObjectMonitor", "_owner", monitor_owner),
	F("OSThread", "_thread_id", osthread_tid),
	F("OSThread", "_pthread_id", osthread_pthread),
	F("JavaFrameAnchor", "_last_Java_sp", anchor_sp),
	F("JavaFrameAnchor", "_last_Java_pc", anchor_pc),
	F("JavaFrameAnchor", "_last_Java_fp", anchor_fp),
	F("JavaCallWrapper", "_anchor", wrapper_anchor),
	F("CodeBlob", "_name", blob_name),
	F("CodeBlob", "_size", blob_size),
	F("CodeBlob", "_frame_size", blob_frame_size),
	F("CodeBlob", "_frame_complete_offset", blob_frame_complete),
	F("CodeBlob", "_kind", blob_kind),
	F("CodeBlob", "_code_begin", blob_code_begin),
	F("CodeBlob", "_code_offset", blob_code_offset),
	F("CodeBlob", "_code_end", blob_code_end),
	F("CodeBlob", "_data_offset", blob_data_offset),
	F("CompiledMethod", "_method", nm_method),
	F("nmethod", "_method", nm_method),
	F("nmethod", "_compile_id", nm_compile_id),
	F("nmethod", "_comp_level", nm_level),
	F("nmethod", "_orig_pc_offset", nm_orig_pc),
	F("nmethod", "_entry_bci", nm_entry_bci),
	F("CompiledMethod", "_deopt_handler_begin", nm_deopt_begin),
	F("nmethod", "_deopt_handler_offset", nm_deopt_offset),
	F("nmethod", "_deoptimize_offset", nm_deopt_offset),
	F("nmethod", "_deopt_handler_entry_offset", nm_deopt_offset),
	F("CompiledMethod", "_deopt_mh_handler_begin", nm_deopt_mh_begin),
	F("nmethod", "_deopt_mh_handler_offset", nm_deopt_mh_offset),
	F("nmethod", "_deoptimize_mh_offset", nm_deopt_mh_offset),
	F("nmethod", "_verified_entry_point", nm_verified_entry),
	F("nmethod", "_verified_entry_offset", nm_verified_offset),
	F("nmethod", "_osr_entry_point", nm_osr_entry),
	F("nmethod", "_stub_offset", nm_stub_offset),
	F("nmethod", "_scopes_pcs_offset", nm_pcs),
	F("nmethod", "_scopes_data_offset", nm_scopes),
	F("nmethod", "_dependencies_offset", nm_dependencies),
	F("nmethod", "_metadata_offset", nm_metadata),
	F("nmethod", "_immutable_data", nm_immutable),
	F("nmethod", "_immutable_data_size", nm_immutable_size),
	F("CompiledMethod", "_scopes_data_begin", nm_scopes_begin),
	F("CodeBlob", "_mutable_data", blob_mutable),
	F("CodeBlob", "_mutable_data_size", blob_mutable_size),
	F("CodeBlob", "_relocation_size", blob_relocation_size),
	F("CodeHeap", "_memory", heap_memory),
	F("CodeHeap", "_segmap", heap_segmap),
	F("CodeHeap", "_log2_segment_size", heap_log2_segment),
	F("HeapBlock::Header", "_used", block_used),
	F("VirtualSpace", "_low_boundary", vs_low_boundary),
	F("VirtualSpace", "_high_boundary", vs_high_boundary),
	F("VirtualSpace", "_low", vs_low),
	F("VirtualSpace", "_high", vs_high),
	F("GrowableArrayBase", "_len", array_len),
	F("GenericGrowableArray", "_len", array_len),
	F("GrowableArray<int>", "_data", array_data),
	F("Method", "_constMethod", method_const),
	F("ConstMethod", "_constants", cm_constants),
	F("ConstMethod", "_code_size", cm_code_size),
	F("ConstMethod", "_name_index", cm_name),
	F("ConstMethod", "_signature_index", cm_sig),
	F("ConstMethod", "_flags", cm_flags),
	F("ConstMethod", "_flags._flags", cm_flags),
	F("ConstMethod", "_constMethod_size", cm_words),
	F("ConstantPool", "_pool_holder", cp_holder),
	F("ConstantPool", "_source_file_name_index", cp_source),
	F("ConstantPool", "_length", cp_length),
	F("Klass", "_name", klass_name),
	F("Klass", "_layout_helper", klass_layout),
	F("Klass", "_class_loader_data", klass_loader),
	F("Klass", "_next_link", klass_next),
	F("ClassLoaderData", "_klasses", loader_klasses),
	F("InstanceKlass", "_methods", ik_methods),
	F("Array<int>", "_length", vmarray_len),
	F("Array<Method*>", "_data", vmarray_methods),
	F("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", z_bad_mask),
	F("ZGlobalsForVMStructs", "_ZPointerLoadShift", z_shift),
	F("JVMFlag", "_name", flag_name),
	F("JVMFlag", "_addr", flag_addr),
	F("JVMFlag", "_flags", flag_origin),
	F("Flag", "_name", flag_name),
	F("Flag", "_addr", flag_addr),
	F("Flag", "_flags", flag_origin),
	F("InstanceKlass", "_constants", ik_constants),
	F("InstanceKlass", "_init_state", ik_init_state),
	F("InstanceKlass", "_init_thread", ik_init_thread),
	F("Symbol", "_length", sym_len),
	F("Symbol", "_body", sym_body),
	F("StubQueue", "_stub_buffer", queue_buffer),
	F("StubQueue", "_buffer_limit", queue_limit),
	F("StubQueue", "_queue_begin", queue_begin),
	F("StubQueue", "_queue_end", queue_end),
	F("InterpreterCodelet", "_size", codelet_size),
	F("InterpreterCodelet", "_description", codelet_name),
};

struct global {
	const char *type, *name;
	uint16_t offset;	/* in struct vm, of a pointer */
};

#define G(t, n, m) { t, n, offsetof(struct vm, m) }

static const struct global globals[] = {
	G("CodeCache", "_low_bound", code_low),
	G("CodeCache", "_high_bound", code_high),
	G("CodeCache", "_heaps", heaps),
	G("CodeCache", "_heap", only_heap),
	G("StubRoutines", "_call_stub_return_address", call_stub_return),
	G("AbstractInterpreter", "_code", interpreter),
	G("ContinuationEntry", "_return_pc", cont_entry_return),
	G("CompressedOops", "_base", oops_base),
	G("CompressedOops", "_shift", oops_shift),
	G("CompressedOops", "_narrow_oop._base", oops_base),
	G("CompressedOops", "_narrow_oop._shift", oops_shift),
	G("CompressedKlassPointers", "_base", klass_base),
	G("CompressedKlassPointers", "_shift", klass_shift),
	G("CompressedKlassPointers", "_narrow_klass._base", klass_base),
	G("CompressedKlassPointers", "_narrow_klass._shift", klass_shift),
	G("Universe", "_narrow_oop._base", oops_base),
	G("Universe", "_narrow_oop._shift", oops_shift),
	G("Universe", "_narrow_klass._base", klass_base),
	G("Universe", "_narrow_klass._shift", klass_shift),
	G("Universe", "_collectedHeap", heap),
	G("ZGlobalsForVMStructs", "_instance_p", z_globals),
	G("SystemDictionary", "_well_known_klasses[SystemDictionary::Object_klass_knum]", object_klass),
	G("vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]", object_klass),
	G("java_lang_Class", "_klass_offset", mirror_klass_offset),
	G("Abstract_VM_Version", "_vm_major_version", major),
	G("JVMFlag", "flags", flags),
	G("JVMFlag", "numFlags", nr_flags),
	G("Flag", "flags", flags),
	G("Flag", "numFlags", nr_flags),
};

/* Value of an exported variable; 0 when it is missing. */
static uint64_t exported(const char *name)
{
	const uint64_t *p = elf_symbol(vm.libjvm, name);

	return p ? *p : 0;
}

static const char *string_at(uintptr_t entry, uint64_t off)
{
	return (const char *)vm_word(entry, off);
}

static void set_field(const char *type, const char *name, const char *ctype, uint64_t off)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (str_eq(fields[i].name, name) && str_eq(fields[i].type, type))
			*(int *)((char *)&vm.o + fields[i].offset) = off;
	if (!ctype)
		return;
	if (str_eq(name, "_frame_complete_offset"))
		vm.frame_complete_is_16 = str_eq(ctype, "int16_t");
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

	for (; e && stride && (name = string_at(e, name_off)); e += stride) {
		int size = vm_word(e, size_off);

		if (str_eq(name, "HeapBlock"))
			vm.size.block = size;
		else if (str_eq(name, "ConstMethod"))
			vm.size.cm = size;
		else if (str_eq(name, "ConstantPool"))
			vm.size.cp = size;
		else if (str_eq(name, "JavaThread"))
			vm.size.jthread = size;
		else if (str_eq(name, "JVMFlag") || str_eq(name, "Flag"))
			vm.size.flag = size;
		else if (str_eq(name, "Method"))
			vm.size.method = size;
		else if (str_eq(name, "PcDesc"))
			vm.size.pc_desc = size;
	}
}

static void read_constants(void)
{
	uint64_t name_off = exported("gHotSpotVMIntConstantEntryNameOffset");
	uint64_t value_off = exported("gHotSpotVMIntConstantEntryValueOffset");
	uint64_t stride = exported("gHotSpotVMIntConstantEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMIntConstants");
	const char *name;

	for (; e && stride && (name = string_at(e, name_off)); e += stride) {
		if (str_eq(name, "ConstMethod::_has_linenumber_table") ||
		    str_eq(name, "ConstMethodFlags::_misc_has_linenumber_table"))
			vm.lines_flag = vm_i32(e, value_off);
		if (str_eq(name, "InstanceKlass::being_initialized"))
			vm.being_initialized = vm_i32(e, value_off);
	}
}

/* The walker does without any field that is not named here. */
static bool complete(void)
{
	const struct vm_offsets *o = &vm.o;
	const int needed[] = {
		o->thread_stack_base, o->jthread_anchor, o->jthread_state, o->anchor_sp, o->anchor_pc,
		o->anchor_fp, o->wrapper_anchor, o->blob_name, o->blob_size, o->blob_frame_size,
		o->blob_frame_complete, o->nm_method, o->nm_compile_id, o->heap_memory, o->heap_segmap,
		o->heap_log2_segment, o->block_used, o->vs_low_boundary, o->vs_high_boundary, o->vs_low,
		o->vs_high, o->array_len, o->array_data, o->method_const, o->cm_constants,
		o->cm_code_size, o->cm_name, o->cm_sig, o->cp_holder, o->klass_name, o->sym_len,
		o->sym_body, o->queue_buffer, o->queue_limit,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (needed[i] < 0)
			return false;
	if (o->blob_code_begin < 0 && o->blob_code_offset < 0)
		return false;
	return vm.code_low && vm.code_high && (vm.heaps || vm.only_heap) && vm.call_stub_return &&
	       vm.interpreter && vm.size.block && vm.size.cm && vm.size.cp && vm.size.jthread;
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

void vm_init(uintptr_t addr)
{
	memset(&vm.o, 0xff, sizeof(vm.o));
	vm.libjvm = elf_base_of(addr);
	if (!vm.libjvm || !elf_text(vm.libjvm, &vm.text_lo, &vm.text_hi))
		return;
	read_structs();
	read_sizes();
	read_constants();
	if (vm.only_heap)
		init_8();
	vm.ok = complete();
}

/* Source: share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry). */
struct perf_entry {
	int32_t size, name_off, vector_len;
	uint8_t type, flags, units, variability;
	int32_t data_off;
};

static uintptr_t find_static(const char *type, const char *name)
{
	uint64_t type_off = exported("gHotSpotVMStructEntryTypeNameOffset");
	uint64_t name_off = exported("gHotSpotVMStructEntryFieldNameOffset");
	uint64_t addr_off = exported("gHotSpotVMStructEntryAddressOffset");
	uint64_t stride = exported("gHotSpotVMStructEntryArrayStride");
	uintptr_t e = exported("gHotSpotVMStructs");

	for (; e && stride && string_at(e, type_off); e += stride)
		if (str_eq(string_at(e, type_off), type) && str_eq(string_at(e, name_off), name))
			return vm_word(e, addr_off);
	return 0;
}

const int64_t *vm_counter(const char *name)
{
	uintptr_t start_p = find_static("PerfMemory", "_start"), top_p = find_static("PerfMemory", "_top");
	uintptr_t p, top;
	int32_t off;

	if (!start_p || !top_p || !(p = vm_word(start_p, 0)) || !(top = vm_word(top_p, 0)))
		return NULL;
	/* entry_offset and num_entries end the prologue of 32 bytes */
	off = vm_i32(p, 24);
	for (p += off; p + sizeof(struct perf_entry) < top;) {
		const struct perf_entry *e = (const void *)p;

		if (e->size <= 0)
			return NULL;
		if (e->type == 'J' && str_eq((const char *)p + e->name_off, name))
			return (const void *)(p + e->data_off);
		p += e->size;
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

/* 0: there is none of that name. */
static uintptr_t find_flag(const char *name)
{
	size_t i;

	if (!vm.flags || !vm.nr_flags || vm.o.flag_name < 0 || vm.o.flag_addr < 0 || !vm.size.flag)
		return 0;
	for (i = 0; i < *vm.nr_flags; i++) {
		uintptr_t f = *vm.flags + i * vm.size.flag;
		const char *s = (const char *)vm_word(f, vm.o.flag_name);

		if (s && str_eq(s, name))
			return f;
	}
	return 0;
}

bool vm_flag(const char *name, bool *on)
{
	uintptr_t f = find_flag(name);

	if (f)
		*on = *(const bool *)vm_word(f, vm.o.flag_addr);
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
	const uint8_t *segmap;
	int shift;
};

static struct heap heaps[8];
static int nr_heaps;

/* Their addresses; the number of them. That of JDK 8 is there before it has memory. */
static int list_heaps(uintptr_t **list)
{
	uintptr_t array;

	if (vm.is_8) {
		*list = vm.only_heap;
		return vm_word(*vm.only_heap + vm.o.heap_memory, vm.o.vs_low_boundary) ? 1 : 0;
	}
	array = *vm.heaps;
	*list = array ? (uintptr_t *)vm_word(array, vm.o.array_data) : NULL;
	return array ? vm_i32(array, vm.o.array_len) : 0;
}

void vm_update_heaps(void)
{
	uintptr_t *data;
	int i, nr;

	if (!vm.ok)
		return;
	nr = list_heaps(&data);
	if (nr > (int)ARRAY_SIZE(heaps))
		nr = ARRAY_SIZE(heaps);
	for (i = nr_heaps; i < nr; i++) {
		uintptr_t h = data[i], mem = h + vm.o.heap_memory, map = h + vm.o.heap_segmap;

		heaps[i] = (struct heap){
			.lo = vm_word(mem, vm.o.vs_low_boundary),
			.hi = vm_word(mem, vm.o.vs_high_boundary),
			.memory = mem,
			.map = map,
			.segmap = (const uint8_t *)vm_word(map, vm.o.vs_low),
			.shift = vm_i32(h, vm.o.heap_log2_segment),
		};
	}
	if (vm.is_8 && nr) {
		store_relaxed(&only_low, heaps[0].lo);
		store_relaxed(&only_high, heaps[0].hi);
	}
	store_release(&nr_heaps, nr);
}

static bool starts_with(const char *s, const char *head)
{
	while (*head)
		if (*s++ != *head++)
			return false;
	return true;
}

static bool ends_with(const char *s, size_t len, const char *end)
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
	} else if (ends_with(*name, len, after_stub)) {
		len -= sizeof(after_stub) - 1;
	} else {
		return len;
	}
	return ends_with(*name, len, "_stub") ? len - str_len("_stub") : len;
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
	    ends_with(name, str_len(name), after_stub))
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
		size_t seg;

		if (pc < h->lo || pc >= h->hi || pc >= vm_word(h->memory, vm.o.vs_high))
			continue;
		/* a segment's byte says how far back its block starts, in hops of at most 254 */
		seg = (pc - h->lo) >> h->shift;
		if ((uintptr_t)&h->segmap[seg] >= vm_word(h->map, vm.o.vs_high) || h->segmap[seg] == 0xff)
			return 0;
		while (h->segmap[seg] > 0) {
			if (h->segmap[seg] > seg)
				return 0;
			seg -= h->segmap[seg];
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
	queue = *vm.interpreter;
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

/* The blob may be one that is being freed. */
static bool is_named(const struct vm_blob *b, const char *name)
{
	char copy[32] = "";

	return (b->kind == VM_BLOB_DISPATCH || b->kind == VM_BLOB_STUB) &&
	       sys_peek(copy, vm_word(b->addr, vm.o.blob_name), sizeof(copy) - 1) && str_eq(copy, name);
}

bool vm_find_stubs(const char *name, uintptr_t *begin, size_t *size)
{
	int i, nr = load_acquire(&nr_heaps);
	struct vm_blob b;
	uintptr_t at;

	for (i = 0; i < nr; i++) {
		const struct heap *h = &heaps[i];
		uintptr_t end = vm_word(h->memory, vm.o.vs_high), segments = vm_word(h->map, vm.o.vs_high);

		for (at = h->lo; at < end; at += 1ul << h->shift) {
			size_t seg = (at - h->lo) >> h->shift;

			/* a block starts in a segment of its own */
			if ((uintptr_t)&h->segmap[seg] >= segments)
				break;
			if (h->segmap[seg] || !vm_find_blob(at + vm.size.block, &b) || !is_named(&b, name))
				continue;
			*begin = b.begin;
			*size = b.addr + vm_i32(b.addr, vm.o.blob_size) - b.begin;
			return true;
		}
	}
	return false;
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
	uintptr_t queue = *vm.interpreter, at, end;
	struct vm_range r = { 0, 0 };
	int size;

	if (!queue || vm.o.queue_begin < 0 || vm.o.queue_end < 0 || vm.o.codelet_size < 0 ||
	    vm.o.codelet_name < 0)
		return;
	at = vm_word(queue, vm.o.queue_buffer) + vm_i32(queue, vm.o.queue_begin);
	end = vm_word(queue, vm.o.queue_buffer) + vm_i32(queue, vm.o.queue_end);
	for (; at < end && (size = vm_i32(at, vm.o.codelet_size)) > 0; at += size) {
		const char *name = (const char *)vm_word(at, vm.o.codelet_name);

		if (!name || !starts_with(name, "method entry point"))
			continue;
		if (!r.lo)
			r.lo = at;
		r.hi = at + size;
	}
	store_relaxed(&vm_known.method_entry.hi, r.hi);
	store_release(&vm_known.method_entry.lo, r.lo);
}

void vm_note_stub(const char *name, size_t len, uintptr_t addr, size_t size)
{
	static const struct {
		const char *name;
		struct vm_range *range;
	} known[] = {
		{ "call_stub", &vm_known.call_stub },
		{ "cont_returnBarrier", &vm_known.return_barrier },
		{ "cont_returnBarrierExc", &vm_known.return_barrier_exc },
		/* JDK 21 to 23, x86-64 and arm64 */
		{ "Cont thaw return barrier", &vm_known.return_barrier },
		{ "Cont thaw return barrier exception", &vm_known.return_barrier_exc },
		{ "cont return barrier", &vm_known.return_barrier },
		{ "cont return barrier exception handler", &vm_known.return_barrier_exc },
	};
	size_t i;

	if (len == str_len("Interpreter") && starts_with(name, "Interpreter"))
		note_interpreter();
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (len == str_len(known[i].name) && starts_with(name, known[i].name)) {
			store_relaxed(&known[i].range->hi, addr + size);
			store_release(&known[i].range->lo, addr);
		}
}
