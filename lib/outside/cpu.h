/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu.h - what differs between CPUs (x86/cpu.c). */
#ifndef OUTSIDE_CPU_H
#define OUTSIDE_CPU_H

#include "agent/hotspot/frame.h"
#include "agent/hotspot/vm.h"
#include "outside/outside.h"

struct walk_regs cpu_regs(const struct outside_ask *a);
/* Return whether Java code called native code, which returns to ret, without an anchor. */
bool cpu_is_leaf_call(uintptr_t ret);
/*
 * Find the code by which C++ calls Java; the VM exports where that call returns to. If it is not found, *r
 * stays.
 */
void cpu_find_call_stub(struct vm_range *r);

#endif
