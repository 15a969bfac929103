/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hitcost.h - what a sample of a clock takes of the thread that it hits, on this machine: the interrupt, the
 * copy of the stack, and the signal in a JVM. A microsecond or two of hardware, and 40 in some virtual
 * machines, where an interval that is shorter leaves a program no time at all.
 */
#ifndef PMU_HITCOST_H
#define PMU_HITCOST_H

#include <stdint.h>

/* samples of clocks may take a fifth of the whole time */
enum { HITCOST_SHARE = 5 };

/*
 * Return the cost of a sample in ns when stack_bytes of stack are copied, measured with our own thread in
 * some milliseconds; 0: it cannot be measured here.
 */
uint64_t hitcost_ns(uint32_t stack_bytes);

#endif
