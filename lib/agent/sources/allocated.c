// SPDX-License-Identifier: MIT
/* allocated.c - reports how much each thread has allocated by the VM's count (allocated.h). */
#include "agent/hotspot/vm.h"
#include "agent/ring.h"
#include "agent/sources/sources.h"

static bool is_on;

static void allocated_tell_thread(int tid, uint64_t bytes)
{
	send_allocated(NULL, &(struct jvm_allocated){ .time_ns = sys_now(), .thread = tid, .bytes = bytes });
}

static void tell_one(uintptr_t thread, int tid)
{
	uint64_t bytes;

	if (vm_allocated(thread, &bytes))
		allocated_tell_thread(tid, bytes);
}

static void tell_all(bool last)
{
	if (!is_on || !vm_counts_allocated())
		return;
	vm_each_thread(tell_one);
	allocated_tell_thread(0, last);
}

void allocated_tell(void)
{
	tell_all(false);
}

void allocated_vm_ends(void)
{
	tell_all(true);
}

void allocated_on(void)
{
	is_on = true;
}

void allocated_off(void)
{
	is_on = false;
}

void allocated_thread_ends(uintptr_t thread)
{
	if (load_relaxed(&is_on) && thread)
		tell_one(thread, sys_tid());
}
