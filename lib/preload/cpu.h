/* SPDX-License-Identifier: MIT */
/* cpu.h - registers of this CPU. */
#ifndef PRELOAD_CPU_H
#define PRELOAD_CPU_H

#ifdef __x86_64__
#include "preload/x86/cpu.h"
#else
#include "preload/arm64/cpu.h"
#endif

#endif
