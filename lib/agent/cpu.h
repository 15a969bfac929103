/* SPDX-License-Identifier: MIT */
/*
 * cpu.h - what differs between CPUs and is not a stack: copying, the dynamic linker's numbers, signals, where
 * thread-local variables are.
 */
#ifndef AGENT_CPU_H
#define AGENT_CPU_H

#ifdef __x86_64__
#include "agent/x86/cpu.h"
#else
#include "agent/arm64/cpu.h"
#endif

#endif
