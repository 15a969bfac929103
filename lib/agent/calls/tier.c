// SPDX-License-Identifier: MIT
/*
 * tier.c - how the code of a method runs that calls a probe: interpreted, compiled, or inlined (flow.h).
 *
 * The place that the method goes on at says it. HotSpot calls a native method from a frame of its own,
 * a compiled wrapper's or the interpreter's, and both keep a frame pointer: the word above the one it points
 * to is that place. It is in the interpreter, or in an nmethod, whose level is known, and whose notes say of
 * the place how many methods it belongs to (scopes.h). They are read once per place: what is known of it is
 * kept by the number of the compilation, which no other code gets, and the place.
 *
 * Loads: the nmethod is on the stack of this thread, so it lives.
 */
#include "agent/calls/flow.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"

enum { NR_PLACES = 1 << 14, MAX_FRAME_BYTES = 1 << 16 };

/* Compile id << 32 | low half of the place, and in the highest bit whether it is inlined. 0: none. */
static uint64_t places[NR_PLACES];
static const uint64_t INLINED = 1ull << 63;

static bool usable, fails;

void tier_on(void)
{
	vm_update_heaps();
	usable = vm.ok && vm.walks && scopes_readable() && !fails;
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

/* Where the method that called the native one goes on; 0: not known. */
static uintptr_t caller_of(const void *frame)
{
	uintptr_t native = *(const uintptr_t *)frame;

	if (native <= (uintptr_t)frame || native - (uintptr_t)frame > MAX_FRAME_BYTES ||
	    native % sizeof(uintptr_t))
		return 0;
	return ((const uintptr_t *)native)[1];
}

static enum callflow_tier tier_of_level(int level)
{
	if (level < 1 || level > 4)
		return CALLFLOW_TIER_UNKNOWN;
	return level == 4 ? CALLFLOW_TIER_C2 : CALLFLOW_TIER_C1;
}

static enum callflow_tier tier_of_code(const struct vm_blob *b, uintptr_t pc)
{
	uint64_t key = (uint64_t)(uint32_t)vm_i32(b->addr, vm.o.nm_compile_id) << 32 | (uint32_t)pc;
	uint64_t *place = &places[mix64(key) & (NR_PLACES - 1)], known = load_relaxed(place);
	uint32_t nr;

	/* It was deoptimised while it was here: where in its code that was is not known any more. */
	if (vm_is_deopt_handler(b->addr, pc))
		return CALLFLOW_TIER_UNKNOWN;
	if ((known & ~INLINED) != key) {
		nr = scopes_levels(b, pc - 1);
		if (!nr)
			return CALLFLOW_TIER_UNKNOWN;
		known = key | (nr > 1 ? INLINED : 0);
		store_relaxed(place, known);
	}
	return known & INLINED ? CALLFLOW_TIER_INLINED : tier_of_level(vm_nmethod_level(b->addr));
}

uint32_t tier_of(const void *frame)
{
	enum callflow_tier tier = CALLFLOW_TIER_UNKNOWN;
	uintptr_t pc = usable ? caller_of(frame) : 0;
	struct vm_blob b;

	if (!pc || !vm_in_code(pc) || !vm_find_blob(pc, &b))
		return 0;
	if (b.kind == VM_BLOB_INTERPRETER)
		tier = CALLFLOW_TIER_INTERPRETED;
	else if (b.kind == VM_BLOB_NMETHOD)
		tier = tier_of_code(&b, pc);
	return (uint32_t)tier << CALLFLOW_TIER_SHIFT;
}
