/* SPDX-License-Identifier: MIT */
/* cpu.h - the clock, counters and system calls of this CPU. */
#ifndef CALLFLOW_CPU_H
#define CALLFLOW_CPU_H

#ifdef __x86_64__
#include "callflow/x86/cpu.h"
#else
#include "callflow/arm64/cpu.h"
#endif

#endif
