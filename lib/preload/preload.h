/* SPDX-License-Identifier: MIT */
/* preload.h - what the files of this room share. */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/* The C library's functions of these names: looked up when we are loaded. */
enum preload_real {
	REAL_DLSYM, REAL_EXECV, REAL_EXECVE, REAL_EXECVP, REAL_EXECVPE, REAL_SPAWN, REAL_SPAWNP, NR_REALS
};
/* Return the C library's function, NULL if there is none. */
void *preload_real(enum preload_real what);

/*
 * ARCPROF_AGENT as the program found it: the name for LD_PRELOAD, a blank, the option for a JVM;
 * empty: not set.
 */
struct preload_variable {
	char text[1024];	/* "ARCPROF_AGENT=..." */
	const char *library;	/* within text */
	unsigned int library_len;
	const char *option;	/* NULL: there is nothing to hand on */
};
extern struct preload_variable preload_variable;

/* Looks at the environment: when the library is loaded, or before, when another one's start calls us. */
void preload_begin(void);
extern bool preload_has_begun;

/*
 * memory.c: begin, only in the file for "-e native-memory", which is to be the first in LD_PRELOAD. option is
 * that of the variable.
 */
__attribute__((weak, visibility("hidden"))) void preload_begin_memory(const char *option);
/* waits.c: only in the file for "-e lock"; and where HotSpot is loaded. */
__attribute__((weak, visibility("hidden"))) void preload_begin_waits(const char *option);
__attribute__((weak, visibility("hidden"))) void waits_leave_out(uintptr_t base);

#endif
