/* SPDX-License-Identifier: MIT */
/*
 * lines.h - the line table of a method, from where HotSpot has it to the varints that a METHOD record has
 * (jvm/proto.h).
 *
 * Nothing is asked of the VM: a table is read where it lies, once, when its method gets a number.
 */
#ifndef AGENT_LINES_H
#define AGENT_LINES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	uintptr_t at;		/* of the compressed table */
	uint32_t len;		/* to the end of what it is in; 0: there is none */
	bool told;		/* surely mapped */
};

/* Find the lines of the ConstMethod at cm, which is readable and has this many bytes of code. */
struct lines lines_find(uintptr_t cm, uint32_t code_size, bool told);
/*
 * Compares what is read of the ConstMethod at cm, which is alive, with its table as JVMTI has it. False: that
 * is another one, and no table is found from now on.
 */
bool lines_try(uintptr_t cm, const jvmtiLineNumberEntry *want, int nr);
/* Return how many bytes lines_put() will write, at most JVM_MAX_LINES, or 0 without readable lines. */
size_t lines_bytes(const struct lines *l);
/*
 * Write them; len is the result of lines_bytes(). When the class was unloaded meanwhile, write as many
 * bytes of empty entries.
 */
void lines_put(char *d, const struct lines *l, size_t len);

#endif
