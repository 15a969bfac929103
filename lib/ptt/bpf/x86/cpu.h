/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - what differs between CPUs: how a sequence number takes a step, in order with the writes around
 * it for readers on other CPUs, and interrupts that do not pass through irq_handler.
 */
#ifndef PTT_BPF_CPU_H
#define PTT_BPF_CPU_H

/* Stores stay in order by themselves. */
#define SEQ_STEP(seq) do { barrier(); *(volatile __u32 *)&(seq) = (seq) + 1; barrier(); } while (0)

#define CPU_VECTORS(X) \
	X(local_timer) \
	X(reschedule) \
	X(call_function) \
	X(call_function_single) \
	X(irq_work) \
	X(x86_platform_ipi) \
	X(error_apic) \
	X(spurious_apic) \
	X(thermal_apic) \
	X(threshold_apic) \
	X(deferred_error_apic)

#endif
