// SPDX-License-Identifier: MIT
/* restorer.c - where a signal's handler returns to: the kernel, which goes on with what was interrupted. */
#include <asm/unistd.h>

#include "agent/cpu.h"

_Static_assert(__NR_rt_sigreturn == 139, "as the code below has it");

__asm__(".text\n"
	".hidden cpu_restorer\n"
	".globl cpu_restorer\n"
	".type cpu_restorer, %function\n"
	"cpu_restorer:\n"
	"	mov x8, #139\n"
	"	svc #0\n"
	".size cpu_restorer, . - cpu_restorer\n");
