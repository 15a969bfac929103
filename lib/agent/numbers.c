// SPDX-License-Identifier: MIT
/*
 * numbers.c - a growing hash from a method's names to its number (numbers.h).
 *
 * Of the names only 128 bits of hash are kept: that two methods of a program agree in them is less
 * likely than a fault of its memory.
 */
#include "agent/numbers.h"
#include "agent/sys.h"

struct entry {
	uint64_t hash[2];
	uint32_t number;		/* 0: free */
	uint32_t pad;
};

static struct {
	struct sys_lock lock;
	struct entry *entries;
	size_t nr, alloc;		/* alloc: a power of two */
} table;

static uint64_t mix(uint64_t h, const struct names_text *t, uint64_t factor)
{
	uint32_t i;

	for (i = 0; i < t->len; i++)
		h = (h ^ (uint8_t)t->s[i]) * factor;
	h = (h ^ 0x100) * factor;	/* no byte: texts do not run together */
	return h ^ h >> 29;
}

static void hash(const struct names_method *m, uint64_t out[2])
{
	static const uint64_t factor[2] = { 0x100000001b3ull, 0x9e3779b97f4a7c15ull };
	int i;

	for (i = 0; i < 2; i++)
		out[i] = mix(mix(mix(0xcbf29ce484222325ull, &m->class_name, factor[i]), &m->name, factor[i]),
			     &m->sig, factor[i]);
}

static struct entry *find(struct entry *entries, size_t alloc, const uint64_t h[2])
{
	size_t i = h[0] ^ h[1];

	while (entries[i & (alloc - 1)].number &&
	       (entries[i & (alloc - 1)].hash[0] != h[0] || entries[i & (alloc - 1)].hash[1] != h[1]))
		i++;
	return &entries[i & (alloc - 1)];
}

static bool grow(void)
{
	size_t alloc = table.alloc ? table.alloc * 2 : 4096, i;
	struct entry *new = sys_pages(alloc * sizeof(*new));

	if (!new)
		return false;
	for (i = 0; i < table.alloc; i++)
		if (table.entries[i].number)
			*find(new, alloc, table.entries[i].hash) = table.entries[i];
	if (table.entries)
		sys(__NR_munmap, table.entries, table.alloc * sizeof(*new));
	table.entries = new;
	table.alloc = alloc;
	return true;
}

void numbers_forget(void)
{
	sys_lock(&table.lock);
	if (table.entries)
		sys(__NR_munmap, table.entries, table.alloc * sizeof(*table.entries));
	table.entries = NULL;
	table.nr = table.alloc = 0;
	sys_unlock(&table.lock);
}

static void cut(struct names_text *t)
{
	if (t->len > JVM_MAX_STRING)
		t->len = JVM_MAX_STRING;
}

static void cut_all(struct names_method *m)
{
	cut(&m->class_name);
	cut(&m->name);
	cut(&m->sig);
	cut(&m->source);
}

uint32_t numbers_get(struct names_method *m)
{
	uint32_t number = 0;
	struct entry *e;
	uint64_t h[2];

	hash(m, h);
	cut_all(m);
	sys_lock(&table.lock);
	if (table.nr * 2 < table.alloc || grow()) {
		e = find(table.entries, table.alloc, h);
		if (!e->number) {
			e->hash[0] = h[0];
			e->hash[1] = h[1];
			e->number = names_new(m);
			table.nr++;
		}
		number = e->number;
	}
	sys_unlock(&table.lock);
	return number;
}

uint32_t numbers_find(const struct names_method *m)
{
	uint32_t number = 0;
	uint64_t h[2];

	hash(m, h);
	sys_lock(&table.lock);
	if (table.entries)
		number = find(table.entries, table.alloc, h)->number;
	sys_unlock(&table.lock);
	return number;
}

void numbers_refused(struct names_method *m, const char *why)
{
	cut_all(m);
	send_refused(NULL, &(struct jvm_refused){
		.time_ns = sys_now(),
		.class_name = m->class_name.s, .class_len = m->class_name.len,
		.name = m->name.s, .name_len = m->name.len,
		.sig = m->sig.s, .sig_len = m->sig.len,
		.why = why, .why_len = str_len(why),
	});
}
