// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfdata.c - a list of named values, written by another process meanwhile: hostile input.
 *
 * Source: HotSpot's perfMemory.hpp (PerfDataPrologue, PerfDataEntry), management.cpp
 * (sun.rt.jvmCapabilities), generationCounters.cpp and spaceCounters.cpp (sun.gc.generation).
 */
#include <string.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/span.h"
#include "jvm/perfdata.h"

enum { MAX_BYTES = 1 << 20, PROLOGUE = 32, ENTRY = 20 };

struct entry {
	const char *name;		/* ends with 0 */
	const uint8_t *value;
	size_t value_len;		/* to the end of the entry */
};

static uint32_t perfdata_word(const uint8_t *data, size_t off)
{
	struct span s = span_init(data + off, 4);

	return span_u32(&s);
}

/* Return where the first entry would be; 0: these are not performance data. */
static size_t first(const uint8_t *data, size_t len)
{
	return len < PROLOGUE || perfdata_word(data, 0) != 0xc0c0feca ? 0 : perfdata_word(data, 24);
}

/* Read the entry at *at, which moves on; return false at the end. */
static bool perfdata_next(const uint8_t *data, size_t len, size_t *at, struct entry *e)
{
	uint32_t size, name_off, value_off;

	while (*at >= PROLOGUE && len >= ENTRY && *at <= len - ENTRY) {
		const uint8_t *start = data + *at;

		size = perfdata_word(start, 0);
		name_off = perfdata_word(start, 4);
		value_off = perfdata_word(start, 16);
		if (size < ENTRY || size > len - *at)
			return false;
		*at += size;
		if (name_off >= size || value_off >= size || !memchr(start + name_off, 0, size - name_off))
			continue;
		*e = (struct entry){ (const char *)start + name_off, start + value_off, size - value_off };
		return true;
	}
	return false;
}

bool perfdata_allows_attach(const void *data, size_t len)
{
	size_t at = first(data, len);
	struct entry e;

	while (perfdata_next(data, len, &at, &e))
		if (!strcmp(e.name, "sun.rt.jvmCapabilities"))
			return *e.value != '0';		/* the first of many: attach */
	return true;
}

bool perfdata_text(const void *data, size_t len, const char *name, struct buf *text)
{
	size_t at = first(data, len);
	struct entry e;

	while (perfdata_next(data, len, &at, &e)) {
		const char *value = (const char *)e.value;

		if (strcmp(e.name, name))
			continue;
		buf_fmt(text, "%.*s", (int)strnlen(value, e.value_len), value);
		return true;
	}
	return false;
}

static uint64_t perfdata_number(const struct entry *e)
{
	struct span s = span_init(e->value, e->value_len);
	uint64_t v = span_u64(&s);

	return s.bad ? 0 : v;
}

static bool perfdata_ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len >= n && !strcmp(name + len - n, end);
}

/* Return the rest of a name of a generation, 0 or 1; a collector without generations has only one of them. */
static const char *heap_part(const char *name)
{
	static const char prefix[] = "sun.gc.generation.";
	const char *part = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || (*part != '0' && *part != '1') || part[1] != '.')
		return NULL;
	return part + 2;
}

bool perfdata_heap(const void *data, size_t len, struct perfdata_heap *heap)
{
	size_t at = first(data, len);
	bool known = false;
	struct entry e;

	*heap = (struct perfdata_heap){ 0 };
	while (perfdata_next(data, len, &at, &e)) {
		const char *part = heap_part(e.name);

		if (!part)
			continue;
		if (!strcmp(part, "capacity")) {
			heap->committed += perfdata_number(&e);
		} else if (!strncmp(part, "space.", 6) && perfdata_ends_with(part, ".used")) {
			heap->used += perfdata_number(&e);
			known = true;
		}
	}
	return known;
}

int perfdata_read(int pid, uid_t owner, const char *maps, struct buf *data)
{
	const struct foreign_rule rule = { .owner = owner, .max_bytes = MAX_BYTES };
	const char *at = strstr(maps, "/hsperfdata_"), *line;
	struct buf path = BUF_INIT;
	struct err e;
	int root, r = -1;

	if (!at)
		return -1;
	for (line = at; line > maps && line[-1] != ' '; line--)
		;
	buf_fmt(&path, "%.*s", (int)strcspn(line, "\n"), line);
	root = foreign_paths_root(pid, &e);
	if (root >= 0) {
		r = foreign_read(root, path.data, &rule, data, &e) || !data->len ? -1 : 0;
		close(root);
	}
	buf_release(&path);
	return r;
}
