/* SPDX-License-Identifier: MIT */
/* cpu.h - the clock, counters and system calls of this CPU. */
#ifndef CALLFLOW_CPU_H
#define CALLFLOW_CPU_H

#ifdef __x86_64__
#include "callflow/x86/cpu.h"
#else
#include "callflow/arm64/cpu.h"
#endif

#define CPU_SYS(nr, a, b, c, d, e, f, ...) \
	cpu_syscall((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(nr, up to six arguments): the kernel's answer, -errno on failure. */
#define sys(...) CPU_SYS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif
