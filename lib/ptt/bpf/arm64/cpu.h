/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - what differs between CPUs: how a sequence number takes a step, in order with the writes around
 * it for readers on other CPUs, and interrupts that do not pass through irq_handler.
 */
#ifndef PTT_BPF_CPU_H
#define PTT_BPF_CPU_H

/* The atomic's order does it: its result must be used for that. */
#define SEQ_STEP(seq)                                                                              \
	do {                                                                                       \
		volatile __u32 old_ = __sync_fetch_and_add(&(seq), 1);                             \
											   \
		(void)old_;                                                                        \
		barrier();                                                                         \
	} while (0)

#define CPU_VECTORS(X)

#endif
