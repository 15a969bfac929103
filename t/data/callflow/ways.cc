// SPDX-License-Identifier: GPL-2.0-or-later
/* Every way in and out of a function; prints "calls function" for each, as it must be. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static volatile int sink;
static jmp_buf back;

static void leaf()
{
	sink = sink + 1;
}

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void jumps(int n)
{
	if (!n)
		longjmp(back, 1);
	jumps(n - 1);
	leaf();
}

static void lands()
{
	if (!setjmp(back))
		jumps(4);
	leaf();
}

static void throws(int n)
{
	if (!n)
		throw n;
	throws(n - 1);
	leaf();
}

static void catches()
{
	try {
		throws(3);
	} catch (int) {
		leaf();
	}
}

static int deep(int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

/* Ends in a jump to the hook, where the compiler may do that. */
static void sinks(int n)
{
	if (n)
		sinks(n - 1);
	sink = n;
}

static void handled(int)
{
	leaf();
}

static void *works(void *)
{
	for (int i = 0; i < 1000; i++)
		leaf();
	fib(15);
	return nullptr;
}

static void child_works()
{
	for (int i = 0; i < 50; i++)
		leaf();
}

static void forks()
{
	pid_t pid = fork();

	if (!pid) {
		child_works();
		_exit(0);
	}
	waitpid(pid, nullptr, 0);
}

/* Calls of fib(n), itself included. */
QUIET static long fibs(int n)
{
	return n < 2 ? 1 : 1 + fibs(n - 1) + fibs(n - 2);
}

int main(int argc, char **argv)
{
	const int threads = 8, levels = argc > 1 ? atoi(argv[1]) : 20000;
	pthread_t t[threads];

	for (auto &x : t)
		pthread_create(&x, nullptr, works, nullptr);
	for (auto &x : t)
		pthread_join(x, nullptr);
	fib(18);
	for (int i = 0; i < 10; i++)
		lands();
	for (int i = 0; i < 10; i++)
		catches();
	deep(levels);
	sinks(99);
	signal(SIGUSR1, handled);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	forks();
	printf("1 main\n%d works(void*)\n%ld fib(int)\n10 lands()\n50 jumps(int)\n10 catches()\n40 throws(int)\n"
	       "%d deep(int)\n100 sinks(int)\n5 handled(int)\n1 forks()\n1 child_works()\n%d leaf()\n",
	       threads, threads * fibs(15) + fibs(18), levels + 1, threads * 1000 + 10 + 10 + 5 + 50);
}
