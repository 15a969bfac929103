/* traps.c - a program that lives from SIGTRAP: its own, and one that it sends itself. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t nr;

static void on_trap(int sig) { nr++; }

int main(void)
{
	signal(SIGTRAP, on_trap);
	__asm__ volatile("int3");
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	__asm__ volatile("int3");
	printf("%d traps\n", nr);
	return nr != 4;
}
