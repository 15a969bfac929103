/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vectors.h - interrupts that have tracepoints of their own, <name>_entry and <name>_exit: those
 * that no driver handles. Some kernels lack those with true.
 */
#ifndef ARCPROF_VECTORS_H
#define ARCPROF_VECTORS_H

#include <asm/trace/irq_vectors.h>

#define CPU_VECTORS(X)                                                                             \
	X("local_timer", false)                                                                    \
	X("reschedule", true)                                                                      \
	X("call_function", true)                                                                   \
	X("call_function_single", true)                                                            \
	X("irq_work", true)                                                                        \
	X("x86_platform_ipi", true)                                                                \
	X("thermal_apic", true)                                                                    \
	X("threshold_apic", true)                                                                  \
	X("error_apic", true)                                                                      \
	X("spurious_apic", true)

/* Compiles only if a hook of this type fits these tracepoints. */
static inline void cpu_check_vector_hook(void (*hook)(void *data, int vector))
{
	check_trace_callback_type_local_timer_entry(hook);
	check_trace_callback_type_local_timer_exit(hook);
}

#endif
