/*
 * busy.c - threads, a handler and slept time for about a tenth of a second; on x86-64 says TF and
 * fails when it ever sees a trap flag in its own flags or in those a handler interrupted, and puts
 * back what it saw.  Ends with "done".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static volatile sig_atomic_t nr_handled;
static volatile int seen;

static void on_alarm(int sig, siginfo_t *si, void *uc)
{
	nr_handled++;
#ifdef __x86_64__
	if (((ucontext_t *)uc)->uc_mcontext.gregs[REG_EFL] & 0x100)
		seen = 1;
#endif
}

static void look(void)
{
#ifdef __x86_64__
	unsigned long f;

	__asm__ volatile("pushfq\n pop %0" : "=r"(f));
	if (f & 0x100)
		seen = 1;
	__asm__ volatile("push %0\n popfq" : : "r"(f) : "cc", "memory");
#endif
}

static void *work(void *arg)
{
	struct timespec ts = { 0, 300000 };
	int i;

	for (i = 0; i < 100; i++) {
		nanosleep(&ts, NULL);
		look();
	}
	return NULL;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_alarm, .sa_flags = SA_RESTART | SA_SIGINFO };
	struct itimerval it = { { 0, 5000 }, { 0, 5000 } };
	pthread_t t;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	pthread_create(&t, NULL, work, NULL);
	work(NULL);
	pthread_join(t, NULL);
	puts(seen ? "TF" : "done");
	return seen;
}
