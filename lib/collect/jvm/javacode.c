// SPDX-License-Identifier: GPL-2.0-or-later
/* javacode.c - reads the machine code of compiled methods from a JVM (javacode.h). */
#include <stdlib.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/jvm/javacode.h"

void javacode_release(struct javacode *j)
{
	free(j->codes);
	map_release(&j->of_compile);
	map_release(&j->of_addr);
}

static struct compiled *get_code(struct javacode *j, uint32_t compile_id)
{
	uint32_t *at = map_put(&j->of_compile, compile_id);

	if (*at == MAP_NONE) {
		*at = j->nr_codes;
		*VEC_ADD(j->codes, j->nr_codes, j->alloc_codes) = (struct compiled){ .size = 0 };
	}
	return &j->codes[*at];
}

/* Read the code once: a JVM that cannot be read now cannot be read later. */
static void javacode_keep(struct compiled *c, uint32_t compile_id, const struct javacode_to *to)
{
	struct rec_code_bytes r = { .proc = to->proc, .compile_id = compile_id, .addr = c->addr };
	struct iovec local, remote;
	uint8_t *bytes;
	ssize_t n;

	if (c->kept || !c->size || c->size > JAVACODE_METHOD_MAX || c->size > *to->nr_left)
		return;
	c->kept = true;
	bytes = xmalloc(c->size);
	local = (struct iovec){ bytes, c->size };
	remote = (struct iovec){ (void *)(uintptr_t)c->addr, c->size };
	n = process_vm_readv(to->pid, &local, 1, &remote, 1, 0);
	if (n == (ssize_t)c->size) {
		r.time_ns = clock_mono_ns();
		r.bytes = bytes;
		r.len = n;
		trace_write_code_bytes(to->w, &r);
		*to->nr_left -= n;
	}
	free(bytes);
}

void javacode_add(struct javacode *j, const struct jvm_code *code, const struct javacode_to *to)
{
	struct compiled *c = get_code(j, code->compile_id);

	/* Places of code that is known come one by one. */
	if (c->addr != code->begin || c->size != code->whole) {
		javacode_gone(j, code->begin);	/* whether or not that was reported */
		*map_put(&j->of_addr, code->begin) = c - j->codes;
		/* A compile id may serve twice: for a method, and for a loop of it that was running. */
		c->kept = c->kept && c->addr == code->begin;
		c->addr = code->begin;
		c->size = code->whole;
	}
	if (c->hit)
		javacode_keep(c, code->compile_id, to);
}

/* Drop the code by its address, as the agent may not know the compile id any more. */
void javacode_gone(struct javacode *j, uint64_t addr)
{
	uint32_t at = map_get(&j->of_addr, addr);

	if (at != MAP_NONE && j->codes[at].addr == addr)
		j->codes[at].size = 0;
}

void javacode_hit(struct javacode *j, uint32_t compile_id, const struct javacode_to *to)
{
	struct compiled *c = get_code(j, compile_id);

	c->hit = true;
	javacode_keep(c, compile_id, to);
}
