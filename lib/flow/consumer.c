// SPDX-License-Identifier: GPL-2.0-or-later
/* consumer.c - the table of consumers (consumer.h). */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/consumer.h"
#include "trace/record.h"

static const char *const kind_names[CONSUMER_NR] = {
#define KIND(kind, name, family, traits) [CONSUMER_##kind] = (name),
#include "trace/kinds.h"
};

bool kind_is(uint32_t kind, unsigned int traits)
{
	static const uint8_t of[CONSUMER_NR] = {
#define KIND(kind, name, family, traits) [CONSUMER_##kind] = (traits),
#include "trace/kinds.h"
	};

	return kind < CONSUMER_NR && of[kind] & traits;
}

enum consumer_kind consumer_kind_of(uint32_t function)
{
	static const uint8_t kinds[FUNCTION_NR] = {
#define FUNCTION(number, kind, ...) [FUNCTION_##kind] = CONSUMER_##kind,
#include "trace/kinds.h"
	};

	return function < FUNCTION_NR ? kinds[function] : CONSUMER_ANY;
}

const char *consumer_kind_name(uint32_t kind)
{
	return kind < CONSUMER_NR ? kind_names[kind] : "any";
}

const char *consumer_kind_family(uint32_t kind)
{
	static const char *const families[CONSUMER_NR] = {
#define KIND(kind, name, family, traits) [CONSUMER_##kind] = #family,
#include "trace/kinds.h"
	};

	return families[kind < CONSUMER_NR ? kind : CONSUMER_ANY];
}

enum consumer_kind consumer_kind_parse(const char *name, size_t len)
{
	int kind;

	for (kind = 0; kind < CONSUMER_NR; kind++)
		if (strlen(kind_names[kind]) == len && !memcmp(kind_names[kind], name, len))
			break;
	return kind;
}

void consumers_init(struct consumers *c)
{
	memset(c, 0, sizeof(*c));
	strtab_init(&c->names);
	VEC_GROW(c->items, c->nr_items, c->alloc_items);
	memset(&c->items[c->nr_items++], 0, sizeof(*c->items));
	c->alloc_slots = 1024;
	c->slots = xcalloc(c->alloc_slots, sizeof(*c->slots));
}

void consumers_release(struct consumers *c)
{
	free(c->items);
	free(c->slots);
	strtab_release(&c->names);
	memset(c, 0, sizeof(*c));
}

static size_t consumer_slot_of(const struct consumers *c, const struct consumer *x)
{
	uint64_t h = hash_pair((uint64_t)x->name << 32 | x->module,
			       ((uint64_t)x->detail << 8) ^ x->kind ^ x->key << 32 ^ x->key >> 32);

	return h & (c->alloc_slots - 1);
}

void consumers_rehash(struct consumers *c)
{
	size_t i, s;

	free(c->slots);
	c->slots = xcalloc(c->alloc_slots, sizeof(*c->slots));
	for (i = 1; i < c->nr_items; i++) {
		for (s = consumer_slot_of(c, &c->items[i]); c->slots[s]; s = (s + 1) & (c->alloc_slots - 1))
			;
		c->slots[s] = i;
	}
}

static bool consumer_same(const struct consumer *a, const struct consumer *b)
{
	return a->name == b->name && a->module == b->module && a->detail == b->detail &&
	       a->kind == b->kind && a->key == b->key;
}

uint32_t consumer_add(struct consumers *c, const struct consumer *x)
{
	uint32_t id;
	size_t s;

	for (s = consumer_slot_of(c, x); (id = c->slots[s]); s = (s + 1) & (c->alloc_slots - 1))
		if (consumer_same(&c->items[id], x))
			return id;
	VEC_GROW(c->items, c->nr_items, c->alloc_items);
	id = c->nr_items++;
	c->items[id] = *x;
	c->slots[s] = id;
	if (c->nr_items * 2 > c->alloc_slots) {
		c->alloc_slots *= 2;
		consumers_rehash(c);
	}
	return id;
}

void consumer_change(struct consumers *c, uint32_t id, uint32_t kind, uint64_t key)
{
	c->items[id].kind = kind;
	c->items[id].key = key;
}

uint32_t consumer_add_name(struct consumers *c, uint32_t kind, const char *name, size_t len)
{
	struct consumer x = { .name = strtab_add(&c->names, name, len), .kind = kind };

	return consumer_add(c, &x);
}
