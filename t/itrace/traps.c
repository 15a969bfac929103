/* traps.c - a program that lives from SIGTRAP: its own, and one that it sends itself. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t nr;

#ifdef __x86_64__
#define TRAP "int3"
#else
#define TRAP "brk #0"
#endif

static void on_trap(int sig, siginfo_t *si, void *uc)
{
	nr++;
#ifdef __aarch64__
	if (si->si_code == TRAP_BRKPT)	/* it returns to the brk */
		((ucontext_t *)uc)->uc_mcontext.pc += 4;
#endif
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile(TRAP);
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	__asm__ volatile(TRAP);
	printf("%d traps\n", nr);
	return nr != 4;
}
