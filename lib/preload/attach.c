// SPDX-License-Identifier: MIT
/*
 * attach.c - the library in a running JVM, which loads it as it loads an agent: only in the file for
 * "-e native-memory". Nobody calls our malloc() there by its name; so the slots by which each object calls
 * the C library's are changed to ours, and back when the recording ends. What was allocated before is freed
 * as if nothing had happened: it is not in the table.
 */
#include <jni.h>

#include "agent/elf.h"
#include "agent/sys.h"
#include "preload/objects.h"
#include "preload/preload.h"
#include "preload/sampler.h"

static struct elf_swap swaps[MEMORY_SWAPS];
static uint32_t busy;		/* slots are being changed */
static bool on;
static uint64_t nr_objects;	/* that were loaded when they were looked at */

static void swap_in(uintptr_t base)
{
	elf_swap_imports(base, swaps, MEMORY_SWAPS);
}

static void swap_all(void)
{
	nr_objects = objects_loaded();
	objects_for_each(swap_in);
}

static bool try_lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
	store_release(&busy, 0);
}

void attach_look_again(void)
{
	if (!try_lock())
		return;
	if (on && objects_loaded() != nr_objects)
		swap_all();
	unlock();
}

static void attach_leave(void)
{
	int i;

	while (!try_lock())
		sys(__NR_sched_yield);
	for (i = 0; on && i < MEMORY_SWAPS; i++) {
		void *ours = swaps[i].to;

		swaps[i].to = swaps[i].from;
		swaps[i].from = ours;
	}
	if (on) {
		swap_all();
		sampler_detach();
	}
	on = false;
	unlock();
}

/* Begin, with where the recorder listens in option; empty: undo what an attempt began. */
PRELOAD_EXPORT jint Agent_OnAttach(JavaVM *vm, char *option, void *reserved)
{
	jint r = JNI_ERR;

	if (!option || !*option) {
		attach_leave();
		return JNI_OK;
	}
	if (!try_lock())
		return r;
	if (!on && memory_find_running(swaps) && sampler_attach(option, attach_leave)) {
		on = true;
		swap_all();
		r = JNI_OK;
	}
	unlock();
	return r;
}
