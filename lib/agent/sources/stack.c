// SPDX-License-Identifier: MIT
/* stack.c - encodes the stacks that JVMTI walks (stack.h). */
#include "agent/agent.h"
#include "agent/hotspot/methods.h"
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

uint32_t stack_put(jvmtiEnv *ti, const jvmtiFrameInfo *f, jint nr, uint8_t *text, uint32_t *cut)
{
	uint8_t *d = text, *end = text + JVM_MAX_LINES - 10;
	jint i, same;

	for (i = 0; i < nr && d <= end; i += same) {
		for (same = 1; i + same < nr && f[i + same].method == f[i].method; same++)
			;
		d = put_varint(put_varint(d, methods_number(ti, f[i].method)), same);
	}
	*cut = i < nr || nr == STACK_MAX_FRAMES;
	return d - text;
}
