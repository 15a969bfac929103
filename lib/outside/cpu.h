/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu.h - what differs between CPUs (x86/cpu.c). */
#ifndef OUTSIDE_CPU_H
#define OUTSIDE_CPU_H

#include "agent/hotspot/frame.h"
#include "agent/hotspot/vm.h"
#include "outside/outside.h"

struct walk_regs cpu_regs(const struct outside_ask *a);
/* Java code called native code, which returns to ret, without an anchor. */
bool cpu_is_leaf_call(uintptr_t ret);
/* The code by which C++ calls Java; the VM exports where that call returns to. Not found: *r stays. */
void cpu_find_call_stub(struct vm_range *r);

#endif
