/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012), for hashes that leave the program: the same
 * on every machine and in every version, and the same as other programs compute.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Hash the bytes with that key; with the key of two zeros it is ClickHouse's sipHash64(). */
uint64_t siphash(const void *data, size_t len, const uint64_t key[2]);

#endif
