// SPDX-License-Identifier: GPL-2.0-or-later
/* What a JVM's agent may have written: rings and log hold the same records. */
#include "base/mem.h"
#include "jvm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sum;

static void on_bracket(void *ctx, uint64_t time_ns, uint32_t tid, uint32_t method)
{
	sum += tid + method;
}

static void on_sample(void *ctx, const struct jvm_sample *s)
{
	size_t i, k;

	for (i = 0; i < s->nr_frames; i++)
		sum += s->frames[i].pc +
			(s->frames[i].kind == JVM_NATIVE ? s->segments[s->frames[i].segment].len : 0);
	for (i = 0; i < s->nr_segments; i++)
		for (k = 0; k < s->segments[i].len; k++)
			sum += s->segments[i].stack[k];
}

static void on_method(void *ctx, const struct jvm_method *m)
{
	sum += strlen(m->class_name) + strlen(m->name) + strlen(m->sig) + strlen(m->source);
}

static void on_lines(void *ctx, uint32_t method, const uint8_t *table, size_t len)
{
	while (len--)
		sum += table[len];
}

static void on_code(void *ctx, const struct jvm_code *c)
{
	size_t i;

	for (i = 0; i < c->inl_len; i++)
		sum += c->inl[i];
}

static void on_code_gone(void *ctx, uint64_t time_ns, uint32_t compile_id, uint64_t addr)
{
	sum += compile_id;
}

static void on_stub(void *ctx, uint64_t time_ns, uint64_t addr, uint64_t size, const char *name)
{
	sum += strlen(name);
}

static void on_thread(void *ctx, uint64_t time_ns, uint32_t tid, uint64_t vthread, const char *name)
{
	sum += strlen(name);
}

static void on_refused(void *ctx, const struct jvm_refused *r)
{
	sum += strlen(r->class_name) + strlen(r->name) + strlen(r->sig) + strlen(r->why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct wire_scratch scratch;
	const struct wire_sink sink = { on_sample, on_method, on_lines, on_code, on_code_gone, on_stub,
		on_thread,
					on_refused, on_bracket, NULL };
	uint64_t *copy = xmalloc(len + 8);	/* records are 8-aligned where they are decoded */
	struct err e;

	memcpy(copy, data, len);
	wire_records(copy, len, &sink, &scratch, &e);
	free(copy);
	return 0;
}
