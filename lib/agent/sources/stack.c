// SPDX-License-Identifier: MIT
#include "agent/agent.h"
#include "agent/hotspot/names.h"
#include "agent/sources/stack.h"
#include "agent/sys.h"

static uint8_t *put_varint(uint8_t *d, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		*d++ = v | 0x80;
	*d++ = v;
	return d;
}

static uint32_t number_of(jmethodID id, struct jvm_ring *ring)
{
	struct method_info m;
	uintptr_t method;

	/* null of a method that is gone */
	if (!id || !sys_peek_all(&method, (uintptr_t)id, 8) || !method ||
	    names_get(method, NAMES_ALIVE, 0, ring, &m) != NAMES_OK)
		return 0;
	return m.id;
}

uint32_t stack_put(const jvmtiFrameInfo *f, jint nr, struct jvm_ring *ring, uint8_t *text, uint32_t *cut)
{
	uint8_t *d = text, *end = text + JVM_MAX_LINES - 10;
	jint i, same;

	for (i = 0; i < nr && d <= end; i += same) {
		for (same = 1; i + same < nr && f[i + same].method == f[i].method; same++)
			;
		d = put_varint(put_varint(d, number_of(f[i].method, ring)), same);
	}
	*cut = i < nr || nr == STACK_MAX_FRAMES;
	return d - text;
}
