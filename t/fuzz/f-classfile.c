// SPDX-License-Identifier: GPL-2.0-or-later
/* Class files from anybody: rewritten with and without wide jumps, and what comes out once more. */
#include "base/mem.h"
#include "classfile/locals.h"
#include "classfile/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct chunk {
	struct chunk *next;
	_Alignas(16) uint8_t data[];
};

static volatile size_t sum;
static size_t used, limit;

/* Its own block each: an overrun by one is seen. */
static void *more(void *ctx, size_t size)
{
	struct chunk **chunks = ctx, *c;

	used += size;
	if (used > limit)
		return NULL;
	c = xmalloc(sizeof(*c) + size);
	memset(c->data, 0xa5, size);
	c->next = *chunks;
	*chunks = c;
	return c->data;
}

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	size_t i;

	for (i = 0; i < m->name.len; i++)
		sum += m->name.p[i];
	for (i = 0; i < m->descriptor.len; i++)
		sum += m->descriptor.p[i];
	return m->idx % 5 == 4 ? CLASSFILE_LEAVE_ALONE : m->idx * 9000;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	sum += m->class_name.len + *classfile_reason_text(reason);
}

static int32_t select_lock(void *ctx, const struct classfile_method *m)
{
	return m->idx % 5 == 4 ? (int32_t)(m->name.len % 5) : CLASSFILE_LOCKS;
}

static void one(const void *data, size_t len, bool widen, bool of_locks, struct classfile_out *out,
		struct chunk **chunks)
{
	static const struct classfile_locks locks = {
		.enter = "enter", .entered = "entered", .exit = "exit", .waited = "waited",
		.notify = "notify", .notify_all = "notifyAll", .owns = "owns", .state = "state",
		.stamped = "stamped",
	};
	const struct classfile_probe probe = {
		.helper = "java/lang/ArcProbe",
		.enter = "enter",
		.exit = "exit",
		.thrown = "thrown",
		.caught = widen ? NULL : "caught",
		.count = len % 2 ? "count" : NULL,
		.line = len % 3 ? "line" : NULL,
		.bci = len % 3 ? "bci" : NULL,
		.widen_all = widen,
		.locks = of_locks ? &locks : NULL,
		.select = of_locks ? select_lock : select_method,
		.skipped = skipped,
		.mem = more,
		.mem_ctx = chunks,
	};

	used = 0;
	/* The header's promise: if a class needed more, this would crash on a result that is not there. */
	limit = 64 * len + (32 << 20);
	if (classfile_rewrite(data, len, &probe, out) == CLASSFILE_NO_MEMORY)
		__builtin_trap();
}

static void locals(const void *data, size_t len, struct chunk **chunks)
{
	const struct classfile_locals of = {
		.method = "main", .descriptor = "([Ljava/lang/String;)V", .line = len & 31, .mem = more,
		.mem_ctx = chunks,
	};
	struct classfile_local v[8];
	uint32_t nr, i;
	size_t k;

	used = 0;
	limit = 64 * len + (32 << 20);
	nr = classfile_locals(data, len, &of, v, 8);
	for (i = 0; i < nr && i < 8; i++)
		for (k = 0; k < v[i].name.len; k++)
			sum += v[i].name.p[k];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct chunk *chunks = NULL, *c;
	struct classfile_out out, again;
	struct classfile_text name = classfile_name(data, len);
	size_t i;

	for (i = 0; i < name.len; i++)
		sum += name.p[i];
	locals(data, len, &chunks);
	one(data, len, false, false, &out, &chunks);
	if (out.data)
		one(out.data, out.len, true, true, &again, &chunks);
	one(data, len, true, false, &again, &chunks);
	one(data, len, false, true, &again, &chunks);
	while ((c = chunks)) {
		chunks = c->next;
		free(c);
	}
	return 0;
}
