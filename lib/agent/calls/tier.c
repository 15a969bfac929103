// SPDX-License-Identifier: MIT
/*
 * tier.c - how the code of a method runs that calls a probe: interpreted, compiled, or inlined (flow.h).
 *
 * It is known from the return address. HotSpot calls a native method from a frame of a compiled wrapper or of
 * the interpreter, and both keep a frame pointer: the word above the one it points to is that address. It is
 * in the interpreter, or in an nmethod, whose level is known, and whose debug information says how many
 * methods it belongs to there (scopes.h).
 *
 * Finding an nmethod and reading its debug information takes long, so results are cached by address. Other
 * code may take that address later: it has another compile id, which is compared each time.
 *
 * Loads: the nmethod is on the stack of this thread, so it exists. A cached one may not, but the memory of
 * the code cache stays mapped.
 */
#include "agent/calls/flow.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

enum { NR_PLACES = 1 << 12, MAX_FRAME_BYTES = 1 << 16, TIER_BITS = 3, MAX_CODE_BYTES = 1 << 28 };

/*
 * Any thread writes these two words: the second is the first mixed with the compile id, so that words of two
 * writers do not match.
 */
static struct place {
	/* offset in the code cache << 32 | offset in the nmethod << TIER_BITS | tier */
	uint64_t code;
	uint64_t check;
} places[NR_PLACES];

static bool usable, fails;
static uintptr_t interpreter, interpreter_bytes;

void tier_on(void)
{
	uintptr_t queue;

	vm_update_heaps();
	usable = vm.ok && vm.walks && scopes_readable() && !fails;
	queue = usable ? vm_global(vm.interpreter) : 0;
	if (!queue)
		return;
	interpreter = vm_word(queue, vm.o.queue_buffer);
	interpreter_bytes = (uint32_t)vm_i32(queue, vm.o.queue_limit);
}

void tier_try(const void *frame)
{
	fails |= usable && !tier_of(frame);
	usable &= !fails;
}

bool tier_works(void)
{
	return usable;
}

/* Return where the method that called the native one continues; 0: not known. */
static inline uintptr_t caller_of(const void *frame)
{
	uintptr_t native = *(const uintptr_t *)frame;

	if (unlikely(native <= (uintptr_t)frame || native - (uintptr_t)frame > MAX_FRAME_BYTES ||
		     native % sizeof(uintptr_t)))
		return 0;
	return ((const uintptr_t *)native)[1];
}

static enum callflow_tier tier_of_level(int level)
{
	if (level < 1 || level > 4)
		return CALLFLOW_TIER_UNKNOWN;
	return level == 4 ? CALLFLOW_TIER_C2 : CALLFLOW_TIER_C1;
}

static inline uint64_t check_of(uint64_t code, uintptr_t nm)
{
	return code ^ mix64((uint32_t)vm_i32(nm, vm.o.nm_compile_id));
}

/* Find the tier of code that is not cached, or has changed. */
static __attribute__((noinline)) enum callflow_tier look_at(uintptr_t pc, struct place *place)
{
	enum callflow_tier tier;
	struct vm_blob b;
	uint64_t code;
	uint32_t nr;

	if (!vm_find_blob(pc, &b))
		return CALLFLOW_TIER_UNKNOWN;
	if (b.kind == VM_BLOB_INTERPRETER)
		return CALLFLOW_TIER_INTERPRETED;
	/* It was deoptimised while on the stack: the address in its code is lost. */
	if (b.kind != VM_BLOB_NMETHOD || vm_is_deopt_handler(b.addr, pc))
		return CALLFLOW_TIER_UNKNOWN;
	nr = scopes_levels(&b, pc - 1);
	tier = nr > 1 ? CALLFLOW_TIER_INLINED : nr ? tier_of_level(vm_nmethod_level(b.addr)) :
	       CALLFLOW_TIER_UNKNOWN;
	if (tier == CALLFLOW_TIER_UNKNOWN || pc - b.addr >= MAX_CODE_BYTES)
		return tier;
	code = (uint64_t)(pc - vm_global(vm.code_low)) << 32 | (pc - b.addr) << TIER_BITS | tier;
	store_relaxed(&place->code, code);
	store_relaxed(&place->check, check_of(code, b.addr));
	return tier;
}

uint32_t tier_of(const void *frame)
{
	uintptr_t pc = usable ? caller_of(frame) : 0, nm;
	enum callflow_tier tier;
	struct place *place;
	uint64_t code;

	if (pc - interpreter < interpreter_bytes)
		return (uint32_t)CALLFLOW_TIER_INTERPRETED << CALLFLOW_TIER_SHIFT;
	if (unlikely(!pc || !vm_in_code(pc)))
		return 0;
	place = &places[mix64(pc) % NR_PLACES];
	code = load_relaxed(&place->code);
	nm = pc - ((uint32_t)code >> TIER_BITS);
	if (likely(code && code >> 32 == pc - vm_global(vm.code_low) &&
		   load_relaxed(&place->check) == check_of(code, nm)))
		tier = code & ((1 << TIER_BITS) - 1);
	else
		tier = look_at(pc, place);
	return (uint32_t)tier << CALLFLOW_TIER_SHIFT;
}
