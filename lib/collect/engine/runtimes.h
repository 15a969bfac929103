/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtimes.h - runtimes that make code, known by a file that they map, and how each is asked to name it. */
#ifndef COLLECT_RUNTIMES_H
#define COLLECT_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

enum { RUNTIME_NONE, RUNTIMES_MAX = 32 };	/* numbers are below that, of a bit each */

/* Return the number of the runtime that a file belongs to, or RUNTIME_NONE. */
int runtime_of_file(const char *path);
/* Return what to type, or else to do, for names of its code. */
const char *runtime_how_named(int runtime);
/* Return whether its functions have no code of their own unless it is asked for names. */
bool runtime_interprets(int runtime);
/* Return whether it is BEAM (Erlang, Elixir), which has stacks of its own. */
bool runtime_is_beam(int runtime);

/* ---- beam.c: the runtime of Erlang and Elixir, for the stacks of its processes ---- */

struct collect;
struct proc;

/*
 * Return the address of the code that ends processes: the outermost return address on their stacks. It is
 * read from the memory of p, and kept. 0: p is not a BEAM, or has no such code yet.
 */
uint64_t beam_exit(struct collect *c, struct proc *p);

#endif
