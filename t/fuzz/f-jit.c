// SPDX-License-Identifier: GPL-2.0-or-later
/* f-jit.c - any bytes as what a runtime writes of the code that it makes: a dump, or lines of a list. */
#include <stdlib.h>
#include <string.h>

#include "sym/jitdump.h"
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Each byte is read, so that a sanitizer sees where it is. */
static unsigned int touch(const void *p, size_t len)
{
	const uint8_t *b = p;
	unsigned int sum = 0;

	while (len)
		sum += b[--len];
	return sum;
}

static struct unwind_described *rules;
static uint64_t made_at;

/* last: lines before it. */
static unsigned int take(struct jitdump_record *r, struct jitdump_record *last)
{
	struct jitdump_line l = { 0 }, file;
	unsigned int sum = 0;

	switch (r->kind) {
	case JITDUMP_CODE:
		if (!r->size || r->addr + r->size < r->addr || !r->name_len)
			abort();
		if (last->kind == JITDUMP_LINES && jitdump_lost_names(last, r, &file))
			while (jitdump_line_of(&file, &last->lines, &l))
				sum += touch(l.file, l.file_len);
		return sum + touch(r->name, r->name_len);
	case JITDUMP_LINES:
		*last = *r;
		while (jitdump_line(&r->lines, &l))
			sum += touch(l.file, l.file_len);
		return sum;
	case JITDUMP_UNWIND:
		if (r->hdr_len > span_left(&r->unwind))
			abort();
		unwind_described_add(rules, made_at++, 64, r->unwind.p, span_left(&r->unwind) - r->hdr_len);
		return touch(r->unwind.p, span_left(&r->unwind));
	default:
		return 0;
	}
}

/* As it grows: in two parts, of which the first ends anywhere. */
static unsigned int read_dump(const uint8_t *data, size_t len)
{
	size_t ends[] = { len / 2, len }, at = 0, i;
	struct jitdump_record last = { .kind = JITDUMP_OTHER };
	struct jitdump d = { 0 };
	unsigned int sum = 0;

	for (i = 0; i < 2; i++) {
		struct jitdump_record r;

		for (;;) {
			jitdump_next(&d, data + at, ends[i] - at, &r);
			if (r.kind == JITDUMP_DAMAGED)
				return sum;
			if (r.kind == JITDUMP_INCOMPLETE)
				break;
			if (!r.len || r.len > ends[i] - at)
				abort();
			sum += take(&r, &last);
			at += r.len;
		}
	}
	return sum;
}

static unsigned int read_map(const uint8_t *data, size_t len)
{
	unsigned int sum = 0;
	struct perfmap_code c;
	size_t at, end;

	for (at = 0; at < len; at = end + 1) {
		const uint8_t *p = memchr(data + at, '\n', len - at);

		end = p ? (size_t)(p - data) : len;
		if (perfmap_line(&c, (const char *)data + at, end - at))
			sum += touch(c.name, c.name_len);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned int sum;

	rules = unwind_described_new();
	sum = read_dump(data, len) + read_map(data, len);
	unwind_described_free(rules);
	__asm__ volatile ("" : : "r" (sum));	/* it is needed, so the bytes are read */
	return 0;
}
