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


#endif
