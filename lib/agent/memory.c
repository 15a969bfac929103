// SPDX-License-Identifier: MIT
/*
 * memory.c - samples of native memory in a JVM: the library that was preloaded (lib/preload) chooses them,
 * and we walk their stacks, which have Java frames.
 */
#include "agent/ring.h"
#include "agent/sources.h"
#include "jvm/memory.h"

static struct memory_hook *hook;	/* of the library; NULL: off */

bool memory_on(void)
{
	struct memory_hook *h = (void *)(uintptr_t)ring_ctl()->memory_hook;

	if (!h || h->magic != JVM_PROTO_MAGIC || h->bytes != sizeof(*h))
		return false;
	hook = h;
	store_release(&h->take, sources_sample_memory);
	return true;
}

void memory_off(void)
{
	if (hook) {
		store_release(&hook->take, NULL);
		if (hook->leave)
			hook->leave();
	}
	hook = NULL;
}
