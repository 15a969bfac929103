/* SPDX-License-Identifier: MIT */
/*
 * allocated.h - the VM's own count of the bytes that each thread has allocated, beside samples of them.
 */
#ifndef AGENT_ALLOCATED_H
#define AGENT_ALLOCATED_H

#include <stdint.h>

void allocated_on(void);
void allocated_off(void);
/* Tell of all threads, if that is on; a VM that counts nothing tells nothing. */
void allocated_tell(void);
void allocated_vm_ends(void);
/* The calling thread ends, if it is a JavaThread: it is still known to vm.h. */
void allocated_thread_ends(uintptr_t thread);

#endif
