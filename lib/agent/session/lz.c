// SPDX-License-Identifier: MIT
/* lz.c - compresses chunks of a journal, referring back to previous ones (pack.h). */
#include "agent/session/pack.h"
#include "agent/sys.h"

enum { NIBBLE = 15 };

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Return a key of the first JOURNAL_LZ_LEAST bytes. */
static uint64_t key_at(const uint8_t *p)
{
	return word_at(p) << (64 - 8 * JOURNAL_LZ_LEAST);
}

static uint32_t hash_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - LZ_BITS));
}

/* Return how many bytes are the same at a and at b, which ends at end. */
static size_t same_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	const uint8_t *from = b;
	uint64_t differ;

	for (; end - b >= 8; a += 8, b += 8) {
		differ = word_at(a) ^ word_at(b);
		if (differ)
			return (size_t)(b - from) + (size_t)__builtin_ctzll(differ) / 8;
	}
	while (b < end && *a == *b)
		a++, b++;
	return (size_t)(b - from);
}

/* match 0: none follows. */
static uint8_t *put_sequence(uint8_t *out, const uint8_t *literals, size_t nr, size_t match, size_t back)
{
	const size_t m = match ? match - JOURNAL_LZ_LEAST + 1 : 0;

	*out++ = (uint8_t)((nr < NIBBLE ? nr : NIBBLE) << 4 | (m < NIBBLE ? m : NIBBLE));
	if (nr >= NIBBLE)
		out = varint_put(out, nr - NIBBLE);
	if (m >= NIBBLE)
		out = varint_put(out, m - NIBBLE);
	memcpy(out, literals, nr);
	out += nr;
	return m ? varint_put(out, back) : out;
}

/* Looks less often where nothing has matched for long. */
static uint8_t *pack_piece(struct lz *z, size_t at, uint8_t *out)
{
	const uint8_t *w = z->window, *end = w + z->len;
	size_t literals = at, misses = 0;

	while (at + 8 <= z->len) {
		uint64_t key = key_at(w + at);
		uint32_t *head = &z->heads[hash_of(key)], was = *head;
		size_t len;

		*head = (uint32_t)at + 1;
		if (!was || at - (was - 1) > JOURNAL_LZ_BACK || key_at(w + was - 1) != key) {
			at += 1 + misses++ / 32;
			continue;
		}
		len = same_bytes(w + was - 1, w + at, end);
		out = put_sequence(out, w + literals, at - literals, len, at - (was - 1));
		at += len;
		literals = at;
		misses = 0;
	}
	if (literals < z->len)
		out = put_sequence(out, w + literals, z->len - literals, 0, 0);
	return out;
}

/* Move what can still be referred to to the start of the window. */
static void slide(struct lz *z)
{
	const uint32_t shift = z->len - JOURNAL_LZ_BACK;
	size_t i;

	memcpy(z->window, z->window + shift, JOURNAL_LZ_BACK);
	z->len = JOURNAL_LZ_BACK;
	for (i = 0; i < ARRAY_SIZE(z->heads); i++)
		z->heads[i] = z->heads[i] > shift ? z->heads[i] - shift : 0;
}

void lz_forget(struct lz *z)
{
	z->len = 0;
	memset(z->heads, 0, sizeof(z->heads));
}

size_t lz_pack(struct lz *z, const void *data, size_t len, uint8_t *out)
{
	const uint8_t *p = data;
	uint8_t *to = out;

	while (len) {
		const size_t piece = len < LZ_PIECE ? len : LZ_PIECE, at = z->len;

		if (at + piece > LZ_WINDOW) {
			slide(z);
			continue;
		}
		memcpy(z->window + at, p, piece);
		z->len += (uint32_t)piece;
		to = pack_piece(z, at, to);
		p += piece;
		len -= piece;
	}
	return (size_t)(to - out);
}
