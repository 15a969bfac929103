// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * server_end.c - what processes tell when a recording ends, and what they share with us all the time for
 * that.
 */
#include <poll.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "jvm/inject.h"
#include "jvm/memory.h"
#include "jvm/server_priv.h"
#include "jvm/waiting.h"

/* Return the table at the end of the area of a process that has the library. */
static void *table_of(const struct jvm *j, int library, size_t to_end)
{
	return j && j->ctl && j->s->o.inject & library ? (char *)j->ctl + j->s->area_bytes - to_end : NULL;
}

const struct memory_table *jvm_memory_table(const struct jvm *j)
{
	return table_of(j, INJECT_MEMORY, sizeof(struct memory_table));
}

struct waiting_table *jvm_waiting_table(const struct jvm *j)
{
	return table_of(j, INJECT_WAITS, sizeof(struct memory_table) + sizeof(struct waiting_table));
}

void jvm_server_unmap_pages(struct jvm_server *s)
{
	struct jvm *j;

	for (j = s->jvms; j; j = j->next)
		if (j->ctl)
			madvise(j->ctl, s->area_bytes, MADV_DONTNEED);
}

/* Return whether it has not reported all open waits, and will. */
static bool tells_open_waits(const struct jvm *j, uint64_t now_ns)
{
	struct pollfd p = { .fd = j->sock, .events = POLLRDHUP };

	return j->ctl && !j->dead && !poll(&p, 1, 0) &&
	       ((load_relaxed(&j->ctl->tells_open) && load_acquire(&j->ctl->ended_ns) != now_ns) ||
		(load_relaxed(&j->ctl->tells_virtual) && load_acquire(&j->ctl->virtual_ended_ns) != now_ns));
}

size_t jvm_server_end_waits(struct jvm_server *s, uint64_t now_ns,
			    uint64_t (*patience_ns)(void *ctx, uint64_t usual_ns))
{
	enum { PATIENCE_MS = 1000, VIRTUAL_PATIENCE_MS = 4000, NS_PER_MS = 1000000 };
	bool virtual = s->o.sources >> JVM_SOURCE_VIRTUAL & 1;
	const uint64_t usual_ns = (virtual ? VIRTUAL_PATIENCE_MS : PATIENCE_MS) * (uint64_t)NS_PER_MS;
	const uint64_t begin_ns = clock_mono_ns();
	uint64_t passed_ns = 0;
	size_t nr;
	struct jvm *j;

	if (!virtual && !(s->o.sources >> JVM_SOURCE_LOCK & 1))
		return 0;
	for (j = s->jvms; j; j = j->next)
		if (j->ctl)
			store_release(&j->ctl->end_ns, now_ns);
	for (;;) {
		nr = 0;
		for (j = s->jvms; j; j = j->next)
			nr += tells_open_waits(j, now_ns);
		if (!nr || passed_ns >= usual_ns || !patience_ns(s->ctx, usual_ns - passed_ns))
			return nr;
		clock_sleep_ns(NS_PER_MS);
		passed_ns = clock_mono_ns() - begin_ns;
	}
}

void jvm_collect(struct jvm *j)
{
	if (j->ctl)
		store_release(&j->ctl->collect, 1);
}

bool jvm_has_collected(const struct jvm *j)
{
	struct pollfd p = { .fd = j->sock, .events = POLLRDHUP };

	return !j->ctl || j->dead || poll(&p, 1, 0) || load_acquire(&j->ctl->collected);
}
