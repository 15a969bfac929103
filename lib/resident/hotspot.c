// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hotspot.c - see hotspot.h.
 *
 * Source: HotSpot's vmError.cpp (VM.info), cardTable.cpp, markBitMap.cpp, parMarkBitMap.cpp, codeCache.cpp,
 * memory/metaspace/virtualSpaceNode.cpp (print_on), nmt/memReporter.cpp,
 * nmt/memMapPrinter.cpp (System.map); JDK 17 and 25.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/attach.h"
#include "resident/hotspot.h"

enum { MAX_VERSION = 256 };

/* Calls of each line; it is not terminated. */
typedef void line_fn(void *ctx, const char *line, size_t len);

static void for_lines(const char *text, line_fn *f, void *ctx)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		f(ctx, text, len);
		text += len + (text[len] == '\n');
	}
}

/* Return what is behind the word in the line, copied so that it ends, or NULL without the word. */
static const char *hotspot_behind(const char *line, size_t len, const char *word, char *copy, size_t bytes)
{
	const char *at = memmem(line, len, word, strlen(word));

	if (!at)
		return NULL;
	at += strlen(word);
	snprintf(copy, bytes, "%.*s", (int)MIN((size_t)(line + len - at), bytes - 1), at);
	return copy;
}

/* Read the first two addresses after that word, if they are a range of less than 64 TiB. */
static bool range(const char *line, size_t len, const char *word, uint64_t *start, uint64_t *end)
{
	char copy[160];
	const char *at = hotspot_behind(line, len, word, copy, sizeof(copy));
	char *next;

	if (!at || !(at = strstr(at, "0x")))
		return false;
	*start = strtoull(at, &next, 16);
	at = strstr(next, "0x");
	*end = at ? strtoull(at, NULL, 16) : 0;
	return *end > *start && *end - *start < (uint64_t)64 << 40;
}

struct info {
	struct claims *c;
	uint64_t cards, cards_end;
};

/* "Heap address: 0x00000000f0000000, size: 256 MB, ..." */
static void heap_line(const struct info *i, const char *line, size_t len)
{
	char copy[80], size[80];
	const char *at = hotspot_behind(line, len, "Heap address: ", copy, sizeof(copy));
	const char *mb = hotspot_behind(line, len, ", size: ", size, sizeof(size));
	uint64_t start = at ? strtoull(at, NULL, 16) : 0, bytes = mb ? strtoull(mb, NULL, 10) : 0;

	if (start && bytes && bytes < (uint64_t)64 << 20 && strstr(mb, "MB"))
		claims_add(i->c, start, start + (bytes << 20), RESIDENT_HEAP, "");
}

/* " bounds [low, committed, high]" of a code heap: the third is its end. */
static void code_line(const struct info *i, const char *line, size_t len)
{
	char copy[80];
	const char *at = hotspot_behind(line, len, " bounds [", copy, sizeof(copy));
	uint64_t low, committed, high;

	if (at && sscanf(at, "%" SCNx64 ", %" SCNx64 ", %" SCNx64, &low, &committed, &high) == 3 &&
	    low < high && high - low < (uint64_t)4 << 30)
		claims_add(i->c, low, high, RESIDENT_CODE, "");
}

static void info_line(void *ctx, const char *line, size_t len)
{
	static const struct {
		const char *word, *name;
		enum resident_part part;
	} words[] = {
		{ "CDS archive(s) mapped at: [", "", RESIDENT_CDS },
		{ "Compressed class space mapped at: ", "", RESIDENT_CLASS_SPACE },
		{ " Prev Bits: [", "mark bits", RESIDENT_GC }, { " Next Bits: [", "mark bits", RESIDENT_GC },
		{ " Begin Bits: [", "mark bits", RESIDENT_GC }, { " End Bits: ", "mark bits", RESIDENT_GC },
		{ " Bits: [", "mark bits", RESIDENT_GC },
	};
	struct info *i = ctx;
	uint64_t start, end;
	char copy[80];
	size_t k;

	heap_line(i, line, len);
	code_line(i, line, len);
	if (hotspot_behind(line, len, "Polling page: ", copy, sizeof(copy))) {
		start = strtoull(copy, NULL, 16);
		claims_add(i->c, start, start + 8192, RESIDENT_JVM, "polling page");
	}
	if (range(line, len, "Card table byte_map: [", &i->cards, &i->cards_end))
		claims_add(i->c, i->cards, i->cards_end, RESIDENT_GC, "card table");
	for (k = 0; k < ARRAY_SIZE(words); k++)
		if (range(line, len, words[k].word, &start, &end)) {
			claims_add(i->c, start, end, words[k].part, words[k].name);
			return;
		}
}

void hotspot_info(const char *text, struct claims *c)
{
	struct info i = { c, 0, 0 };

	for_lines(text, info_line, &i);
}

static void version_line(void *ctx, const char *line, size_t len)
{
	char *to = ctx;

	if (!*to)
		hotspot_behind(line, len, "# Java VM: ", to, MAX_VERSION);
}

void hotspot_version(const char *text, char *to, size_t bytes)
{
	char line[MAX_VERSION] = "";
	size_t i;

	for_lines(text, version_line, line);
	for (i = 0; line[i]; i++)
		if (!isprint((unsigned char)line[i]))
			line[i] = '?';
	snprintf(to, bytes, "%s", line);
}

/* --- metaspace --- */

struct nodes {
	struct claims *c;
	enum resident_part part;
};

/* "- node #0: base 0x00007f6757000000: reserved=65536.00 KB, ...", below "vsl non-class-space:" */
static void node_line(void *ctx, const char *line, size_t len)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { " KB", 1 << 10 }, { " MB", 1 << 20 }, { " GB", 1 << 30 } };
	struct nodes *n = ctx;
	char copy[80], size[40];
	const char *at = hotspot_behind(line, len, ": base 0x", copy, sizeof(copy));
	const char *bytes = hotspot_behind(line, len, ": reserved=", size, sizeof(size));
	uint64_t start;
	char *unit;
	double value;
	size_t i;

	if (memmem(line, len, "vsl ", 4))
		n->part = memmem(line, len, "non-class", 9) ? RESIDENT_METASPACE : RESIDENT_CLASS_SPACE;
	if (!at || !bytes)
		return;
	start = strtoull(at, NULL, 16);
	value = strtod(bytes, &unit);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strncmp(unit, units[i].unit, 3) && value > 0 && value * units[i].bytes < 0x1p40)
			claims_add(n->c, start, start + (uint64_t)(value * units[i].bytes), n->part, "");
}

void hotspot_metaspace(const char *text, struct claims *c)
{
	struct nodes n = { c, RESIDENT_METASPACE };

	for_lines(text, node_line, &n);
}

/* --- native memory tracking --- */

/* "262144KB", "12B", "12": bytes. */
static uint64_t amount(const char *s)
{
	char *unit;
	uint64_t v = strtoull(s, &unit, 10);
	int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0;

	return v < UINT64_MAX >> (shift + 8) ? v << shift : 0;
}

/* "-                 Java Heap (reserved=262144KB, committed=262144KB)" */
static void category(struct hotspot_nmt *n, const char *line, size_t len)
{
	const char *open = memmem(line, len, " (reserved=", 11);
	struct hotspot_category *c;
	size_t at = 1;

	if (!open || n->nr == ARRAY_SIZE(n->items))
		return;
	while (line + at < open && line[at] == ' ')
		at++;
	c = &n->items[n->nr++];
	*c = (struct hotspot_category){ 0 };
	snprintf(c->name, sizeof(c->name), "%.*s", (int)MIN((size_t)(open - line - at), sizeof(c->name) - 1),
		 line + at);
}

static void nmt_line(void *ctx, const char *line, size_t len)
{
	struct hotspot_nmt *n = ctx;
	struct hotspot_category *c;
	char copy[160];
	const char *at;

	if (len > 2 && line[0] == '-' && line[1] == ' ') {
		category(n, line, len);
		return;
	}
	if (!n->nr)
		return;
	c = &n->items[n->nr - 1];
	if ((at = hotspot_behind(line, len, "(malloc=", copy, sizeof(copy))) ||
	    (at = hotspot_behind(line, len, "(arena=", copy, sizeof(copy))) ||
	    (at = hotspot_behind(line, len, "(tracking overhead=", copy, sizeof(copy))))
		c->malloc += amount(at);
	else if ((at = hotspot_behind(line, len, "(mmap: ", copy, sizeof(copy))) ||
		 (at = hotspot_behind(line, len, "(stack: ", copy, sizeof(copy))))
		c->mapped += (at = strstr(at, "committed=")) ? amount(at + 10) : 0;
}

void hotspot_nmt(const char *text, struct hotspot_nmt *n)
{
	n->nr = 0;
	for_lines(text, nmt_line, n);
}

/* "[0x00007f67cce00000 - 0x00007f67cee00000] reserved and committed 32768KB for GC from" */
static void region_line(void *ctx, const char *line, size_t len)
{
	static const struct {
		const char *word;
		enum resident_part part;
	} words[] = {
		{ " for Java Heap from", RESIDENT_HEAP }, { " for GC from", RESIDENT_GC },
		{ " for Code from", RESIDENT_CODE }, { " for Metaspace from", RESIDENT_METASPACE },
		{ " for Class from", RESIDENT_CLASS_SPACE }, { " for Shared class space from", RESIDENT_CDS },
		{ " for Thread Stack from", RESIDENT_STACKS }, { " for ", RESIDENT_JVM },
	};
	uint64_t start, end;
	size_t i;

	if (!len || *line != '[' || !memmem(line, len, "] reserved", 10) ||
	    !range(line, len, "[", &start, &end))
		return;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(line, len, words[i].word, strlen(words[i].word))) {
			claims_add(ctx, start, end, words[i].part, "");
			return;
		}
}

void hotspot_regions(const char *text, struct claims *c)
{
	for_lines(text, region_line, c);
}

/* Return the n-th word of the line, from 0, as a terminated copy; NULL: it has fewer. */
static const char *hotspot_word_at(const char *line, size_t len, int n, char *copy, size_t bytes)
{
	size_t at = 0, end = 0;

	for (; n >= 0; n--) {
		for (at = end; at < len && line[at] == ' '; at++)
			;
		for (end = at; end < len && line[end] != ' '; end++)
			;
	}
	if (at == end)
		return NULL;
	snprintf(copy, bytes, "%.*s", (int)MIN(end - at, bytes - 1), line + at);
	return copy;
}

/* "0x00007faa34000000-0x00007faa34021000 135168 rw-p 4096 0 4K com GC -" */
static void map_line(void *ctx, const char *line, size_t len)
{
	enum { WHOSE = 7 };
	static const struct {
		const char *whose;
		enum resident_part part;
	} parts[] = {
		{ "JAVAHEAP", RESIDENT_HEAP }, { "GC", RESIDENT_GC }, { "CARDTBL", RESIDENT_GC },
		{ "CODE", RESIDENT_CODE }, { "META", RESIDENT_METASPACE }, { "CLASS", RESIDENT_CLASS_SPACE },
		{ "CDS", RESIDENT_CDS }, { "POLL", RESIDENT_JVM }, { "INTERN", RESIDENT_JVM },
	};
	uint64_t start, end;
	char whose[16];
	size_t i;

	if (len < 2 || line[0] != '0' || line[1] != 'x' || !range(line, len, "", &start, &end) ||
	    !hotspot_word_at(line, len, WHOSE, whose, sizeof(whose)))
		return;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strcmp(whose, parts[i].whose))
			claims_add(ctx, start, end, parts[i].part, "");
}

void hotspot_map(const char *text, struct claims *c)
{
	for_lines(text, map_line, c);
}

int hotspot_ask(int pid, const char *command, uint64_t patience_ns, struct buf *reply, struct err *e)
{
	const char *const words[ATTACH_WORDS] = { "jcmd", command, "", "" };

	return attach_ask(pid, words, patience_ns, reply, e);
}
