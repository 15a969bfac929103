/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chunks.h - what glibc's malloc() keeps of its memory without its being in use. */
#ifndef RESIDENT_CHUNKS_H
#define RESIDENT_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "resident/native.h"

/*
 * Adds what is free in [start, end), which begins with chunks, or with what the C library has of the arena
 * and then chunks. The process goes on meanwhile: false if no chain of chunks led from the start to the end,
 * and nothing was added.
 */
bool chunks_free(const struct native_process *p, uint64_t start, uint64_t end, struct native_free *f);

#endif
