/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interrupts.h - the kernel's functions below which an interrupt is handled, for the BPF programs. */
#ifndef WALL_INTERRUPTS_H
#define WALL_INTERRUPTS_H

#include <stddef.h>

#include "wall/bpf/config.h"

/* Fills timers and interrupts from the text of /proc/kallsyms; what that does not name, or hides, stays 0. */
void wall_parse_interrupts(struct wall_bpf_config *c, const char *text, size_t len);
/* The same from the running kernel; what cannot be read is not known. */
void wall_find_interrupts(struct wall_bpf_config *c);

#endif
