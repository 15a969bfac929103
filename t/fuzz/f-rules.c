// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-rules.c - filters: a list of conditions, and in further lines rules of a file, whose first byte says what
 * they are about. A list that is written out again says the same of all questions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { NR_ANSWERS = 512 };

static const struct rule_event asked[] = {
	{ "lock", NULL }, { "alloc", NULL }, { "pause", "gc" }, { "cpu-clock", "cpu" }, { "wall", NULL },
};

static const char *const values[] = { "", "main", "http-1", "a=b", "byte[]", "virtual", "platform", "com.x.Y" };

/* A bit pattern of what they keep. */
static size_t answers(const struct rules *r, bool *out)
{
	size_t nr = 0, i, v;
	uint64_t ns;
	int of;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		for (of = 0; of < RULE_NR; of++)
			for (v = 0; v < ARRAY_SIZE(values) && of != RULE_LENGTH; v++)
				out[nr++] = rules_want(r, of, &asked[i], values[v]);
		for (ns = 0; ns < UINT64_MAX / 1000; ns = ns * 1000 + 999)
			out[nr++] = rules_want_length(r, &asked[i], ns);
		out[nr++] = rules_want_any(r, RULE_PHASE, &asked[i], values, ARRAY_SIZE(values));
		out[nr++] = rules_want_any(r, RULE_PHASE, &asked[i], NULL, 0);
	}
	if (nr > NR_ANSWERS)
		abort();
	return nr;
}

static void compare(const struct rules *r)
{
	bool before[NR_ANSWERS], after[NR_ANSWERS];
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct rules back = { 0 };
	struct err e = { 0 };
	size_t nr = answers(r, before);

	rules_text(r, &text);
	if (r->nr && rules_list(&back, text.data, &e))
		abort();
	rules_text(&back, &again);
	if (text.len != again.len || (text.len && memcmp(text.data, again.data, text.len) != 0))
		abort();
	if (answers(&back, after) != nr || memcmp(before, after, nr * sizeof(*before)) != 0)
		abort();
	rules_release(&back);
	buf_release(&text);
	buf_release(&again);
}

static void add_lines(struct rules *r, const char *p, const char *end)
{
	while (p < end) {
		const char *newline = memchr(p, '\n', end - p), *stop = newline ? newline : end;
		struct err e = { 0 };
		int of = (uint8_t)*p % RULE_NR;

		if (stop > p && of != RULE_LENGTH &&	/* a line of RULE_EVENT has it */
		    rules_line(r, of, *p & 0x40, p + 1, stop - p - 1, &e) && !*e.msg)
			abort();
		p = stop + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *p = (const char *)data, *newline = len ? memchr(p, '\n', len) : NULL;
	size_t list = newline ? (size_t)(newline - p) : len;
	char *text = xstrndup(p, list);
	bool out[NR_ANSWERS];
	struct rules r = { 0 };
	struct err e = { 0 };
	struct buf b = BUF_INIT;

	if (!rules_list(&r, text, &e))
		compare(&r);
	else if (!*e.msg)
		abort();
	if (newline)
		add_lines(&r, newline + 1, p + len);
	answers(&r, out);
	rules_text(&r, &b);
	buf_release(&b);
	rules_release(&r);
	free(text);
	return 0;
}
