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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *copy = xmalloc(len + 1);
	struct jvm_event e;

	memcpy(copy, data, len);
	if (vmlog_line(copy, len, &e)) {
		if (e.kind >= JVM_EVENT_NR || e.what_len > len || e.cause_len > len)
			abort();
		read_all(e.what, e.what_len);
		read_all(e.cause, e.cause_len);
	}
	free(copy);
	return 0;
}
