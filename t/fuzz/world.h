/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * world.h - the memory of a JVM that never was: tables of its structures, as facttable.h wants them, a code
 * cache, methods, and a stack with a frame of each kind. The walker of lib/outside walks it to its end.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stdint.h>

#include "outside/outside.h"

#define WORLD_BASE 0x7f5500000000ull	/* of libjvm, and all that the JVM has mapped */
#define WORLD_STACK 0x7ffe00001000ull

enum {
	WORLD_BYTES = 0x18000,		/* that are mapped there */
	WORLD_STACK_BYTES = 0x400,
};

struct world {
	uint8_t memory[WORLD_BYTES];
	char maps[128];			/* as /proc has it */
	struct outside_ask ask;
	uint64_t stack[WORLD_STACK_BYTES / 8];	/* the copy that follows it */
};

void world_make(struct world *w);

#endif
