// SPDX-License-Identifier: GPL-2.0-or-later
/* f-vmlog.c - lines of a JVM's log: texts lie within the line, or are none of it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/proto.h"
#include "jvm/vmlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sum;

static void read_all(const char *s, uint32_t len)
{
	while (len--)
		sum += s[len];
}

static void on_event(void *ctx, struct jvm_event *e)
{
	const size_t *len = ctx;

	if (e->kind >= JVM_EVENT_NR || e->what_len > *len || e->cause_len > *len)
		abort();
	read_all(e->what, e->what_len);
	read_all(e->cause, e->cause_len);
}

/* Lines of one log: compilations belong to those before them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct vmlog v = { .fd = -1 };
	const char *p = (const char *)data, *end = p + len;

	while (p < end) {
		const char *nl = memchr(p, '\n', end - p);
		size_t line_len = (nl ? nl : end) - p;
		char *copy = xmalloc(line_len + 1);	/* what is read beyond it, the sanitizer sees */

		memcpy(copy, p, line_len);
		vmlog_take(&v, copy, line_len, on_event, &len);
		free(copy);
		p += line_len + 1;
	}
	compiles_flush(&v.compiles, on_event, &len);
	vmlog_close(&v);
	return 0;
}
