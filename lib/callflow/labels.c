// SPDX-License-Identifier: MIT
/*
 * labels.c - the labels that threads have, each set once for the whole process: in a table that only grows,
 * without locks. A slot is taken by its hash; its text is there when its place is.
 */
#include "callflow/process.h"

static uint64_t callflow_labels_hash_of(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;	/* FNV-1a, mixed as MurmurHash3 does in the end */
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3ull;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return (h ^ h >> 33) | 1;
}

static char *texts(void)
{
	return (char *)cf.area + cf.area->label_texts_off;
}

/* The text has its place when this is not 0: where it begins, and its length + 1. */
static uint64_t callflow_labels_place(const char *text, size_t len)
{
	uint64_t at = __atomic_fetch_add(&cf.area->next_label_byte, len, __ATOMIC_RELAXED);
	size_t i;

	if (at + len > cf.area->label_bytes)
		return 0;
	for (i = 0; i < len; i++)
		texts()[at + i] = text[i];
	return at << 16 | (len + 1);
}

/* Return whether l has this text; one that is being written is taken for the same by its hash. */
static bool has_text(const struct callflow_label *l, const char *text, size_t len)
{
	uint64_t place = load_acquire(&l->place), at = place >> 16;
	size_t i;

	if (!place)
		return true;
	if ((place & 0xffff) != len + 1)
		return false;
	for (i = 0; i < len && texts()[at + i] == text[i]; i++)
		;
	return i == len;
}

uint32_t callflow_label_consumer(const char *text, size_t len)
{
	struct callflow_label *labels = (void *)((char *)cf.area + cf.area->labels_off);
	uint32_t mask = cf.area->nr_labels - 1, i, tries;
	uint64_t hash = callflow_labels_hash_of(text, len), where;

	for (tries = 0, i = hash >> 32; tries <= mask / 2; tries++, i++) {
		struct callflow_label *l = &labels[i & mask];
		uint64_t seen = load_relaxed(&l->hash);

		if (!seen && __atomic_compare_exchange_n(&l->hash, &seen, hash, false, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED)) {
			where = callflow_labels_place(text, len);
			store_release(&l->place, where);
			return where ? CALLFLOW_LABEL_FIRST + (i & mask) : CALLFLOW_CONSUMER_LABEL_UNKNOWN;
		}
		if (seen == hash && has_text(l, text, len))
			return CALLFLOW_LABEL_FIRST + (i & mask);
	}
	return CALLFLOW_CONSUMER_LABEL_UNKNOWN;
}
