/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arch.h - what differs between CPUs: one file name a duty in lib/arch/x86 and lib/arch/arm64.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdint.h>

/*
 * Define the user registers of a perf sample: the mask to ask for and, for each of its set bits in order,
 * the DWARF number of that register.
 */
extern const uint64_t arch_perf_regs_mask;
extern const uint8_t arch_perf_regs_dwarf[];

/* perf_event_attr.config1 for a counter that a program reads by itself */
extern const uint64_t arch_own_counter_config1;

/* Return the CPU's own clock, raw: TSC, or CNTVCT_EL0. */
uint64_t arch_cycle_counter(void);

#endif
