/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beam.h - what has to be known of the runtime of Erlang and Elixir for the stacks of its processes. */
#ifndef COLLECT_BEAM_H
#define COLLECT_BEAM_H

#include <stdint.h>

struct collect;
struct proc;

/*
 * Return the address of the code that ends processes: the outermost return address on their stacks. It is
 * read from the memory of p, and kept. 0: p is no BEAM, or has no such code yet.
 */
uint64_t beam_exit(struct collect *c, struct proc *p);

#endif
