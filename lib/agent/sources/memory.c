// SPDX-License-Identifier: MIT
/*
 * memory.c - samples of native memory in a JVM, and waits for its native locks: the library that was
 * preloaded (lib/preload) reports them, and we walk their stacks, which have Java frames.
 */
#include "agent/agent.h"
#include "agent/ring.h"
#include "agent/sources/part.h"
#include "agent/sources/sources.h"
#include "jvm/memory.h"

static struct memory_hook *hook;	/* of the library; NULL: off */

static struct memory_hook *find_hook(void)
{
	struct memory_hook *h = (void *)(uintptr_t)ring_ctl()->memory_hook;

	return h && h->magic == JVM_PROTO_MAGIC && h->bytes == sizeof(*h) ? h : NULL;
}

static bool memory_take(const struct memory_regs *at, uint32_t call, uint64_t size, uint32_t id)
{
	return sources_sample_native(at, JVM_SOURCE_MEMORY, size, call, id);
}

static const char *memory_turn_on(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	struct memory_hook *h = find_hook();

	if (!h)
		return "it was started before the recording";
	hook = h;
	store_release(&h->take, memory_take);
	return NULL;
}

static bool memory_turn_off(JNIEnv *env)
{
	if (hook) {
		store_release(&hook->take, NULL);
		if (hook->leave)
			hook->leave();
	}
	hook = NULL;
	return true;
}

const struct part memory_part = {
	.source = JVM_SOURCE_MEMORY, .on = memory_turn_on, .off = memory_turn_off, .stays = part_stays,
};

/* ---- native locks ---- */

static struct memory_hook *waits;	/* the same; NULL: we report nothing */

static bool tell_wait(const struct memory_regs *at, const struct memory_wait *w)
{
	struct jvm_native_wait r = {
		.time_ns = sys_now(), .addr = w->addr, .ns = w->ns, .thread = sys_tid(), .kind = w->kind,
		.owner = w->owner, .weight_ns = w->weight_ns, .blamed_ns = w->blamed_ns,
		.given_back = w->given_back,
	};
	struct jvm_ring *ring;

	if (!sample_begin())
		return false;
	ring = ring_of(r.thread);
	if (!send_native_wait(ring, &r))
		ring_count_lost(ring);
	else if (w->weight_ns)
		sources_sample_native(at, JVM_SOURCE_LOCK, w->ns, 0, w->given_back);
	sample_end();
	return true;
}

void memory_waits_on(void)
{
	waits = find_hook();
	if (waits)
		store_release(&waits->wait, tell_wait);
}

void memory_waits_off(void)
{
	if (waits)
		store_release(&waits->wait, NULL);
	waits = NULL;
}
