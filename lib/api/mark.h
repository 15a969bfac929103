/* SPDX-License-Identifier: MIT */
/* mark.h - marks and phases of virtual threads, for the half of arcprof.Mark that is native. */
#ifndef API_MARK_H
#define API_MARK_H

#include <stdint.h>

/* vthread: the id of the virtual thread that the current one carries; 0: it is of the current one. */
void arcprof_mark_of(uint64_t vthread, const char *name, uint64_t value);
void arcprof_phase_of(uint64_t vthread, uint64_t begun, const char *name);

#endif
