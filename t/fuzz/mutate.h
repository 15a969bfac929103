/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutate.h - changes a trace the way a fuzzer should: in its records and fields, with lengths, counts and
 * checksums put right, so that what was changed gets past the reader's first checks.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Byte of the file header (reserved, so no reader looks at it) that says which report a fuzzer makes of the
 * trace: 0 all, else one of them.
 */
enum { MUTATE_MODE_AT = 40 };

/*
 * A mutation of the trace data[0..len) in memory of the caller's to free, its length in *out_len. Bytes that
 * are not a trace are changed at random places. The same seed gives the same mutation.
 */
uint8_t *mutate_trace(const uint8_t *data, size_t len, uint64_t seed, size_t *out_len);
/* The same of the first trace, with records of the other one put into it. */
uint8_t *mutate_cross(const uint8_t *data, size_t len, const uint8_t *other, size_t other_len, uint64_t seed,
		      size_t *out_len);

#endif
