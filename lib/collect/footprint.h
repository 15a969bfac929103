/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.h - "record --memory": where the resident memory of the recorded processes is (lib/resident),
 * read now and then, and once more before the recording ends.
 *
 * A child of ours does the reading: a JVM answers when it has time, and the recording goes on meanwhile. Who
 * does not answer in time is left out, and named.
 */
#ifndef COLLECT_FOOTPRINT_H
#define COLLECT_FOOTPRINT_H

#include <stdint.h>

struct collect;

/* In each turn of the loop: begins a reading when one is due, and takes in what is there of one. */
void footprints_turn(struct collect *c, uint64_t now_ns);
/* The last one, of what still runs; it is waited for. Before agents are told to stop. */
void footprints_end(struct collect *c);
/* Ends a reading that is not over, and frees. */
void footprints_close(struct collect *c);

#endif
