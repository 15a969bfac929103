/* Allocates known numbers of blocks, of which it keeps a part: a line for each function says how many. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

/* The function of a line calls this: n blocks are made, each k-th is kept. */
#define BLOCKS(name, call) \
	__attribute__((noinline)) void name(size_t size, long n, long k) \
	{ \
		long i; \
\
		for (i = 0; i < n; i++) { \
			void *p = (call); \
\
			__asm__ volatile("" : : "r"(p) : "memory"); \
			if (i % k) \
				free(p); \
			else \
				kept = p; \
		} \
		printf("%s %zu %ld %ld\n", #name, size, n, (n + k - 1) / k); \
	}

static void *aligned(size_t size)
{
	void *p;

	return posix_memalign(&p, 64, size) ? NULL : p;
}

BLOCKS(tiny, malloc(size))
BLOCKS(thousand, malloc(size))
BLOCKS(large, malloc(size))
BLOCKS(huge, malloc(size))
BLOCKS(zeroed, calloc(size / 8, 8))
BLOCKS(grown, realloc(NULL, size))
BLOCKS(array, reallocarray(NULL, size / 8, 8))
BLOCKS(posix, aligned(size))
BLOCKS(c11, aligned_alloc(64, size))
BLOCKS(old, memalign(64, size))
BLOCKS(in_thread, malloc(size))
BLOCKS(in_child, malloc(size))

__attribute__((noinline)) void mapped(size_t size, long n, long k)
{
	long i;

	for (i = 0; i < n; i++) {
		void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (i % k)
			munmap(p, size);
	}
	printf("mapped %zu %ld %ld\n", size, n, (n + k - 1) / k);
}

static void *thread(void *arg)
{
	in_thread(100, *(long *)arg * 2000, 10);
	return NULL;
}

/* The parent's blocks are not the child's, which frees them too. */
static void child(long n)
{
	void *before[100];
	int i;

	for (i = 0; i < 100; i++)
		before[i] = malloc(1 << 20);
	fflush(stdout);
	if (!fork()) {
		for (i = 0; i < 100; i++)
			free(before[i]);
		in_child(2000, n * 200, 4);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	for (i = 0; i < 100; i++)
		free(before[i]);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

__attribute__((noinline)) void cached(void)
{
	int i;

	for (i = 0; i < 100; i++)
		kept = malloc(10000);
}

__attribute__((noinline)) void leaked(void)
{
	kept = malloc(1000);
	printf("%lld\n", now_ns());
}

__attribute__((noinline)) void replaced(long i)
{
	static void *ring[10];

	free(ring[i % 10]);
	ring[i % 10] = malloc(1000);
}

/* What is cached is there in the first quarter of the time; what is leaked says when. */
static int grow(void)
{
	long long begin = now_ns(), until;
	long i;

	cached();
	until = now_ns() + 3 * (now_ns() - begin);
	if (until < begin + 500000000)
		until = begin + 500000000;
	for (i = 0; i < 100 || now_ns() < until; i++) {
		leaked();
		replaced(i);
		usleep(2000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	static char buffer[1024];
	pthread_t t;

	setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
	if (!n)
		return grow();
	pthread_create(&t, NULL, thread, &n);
	pthread_join(t, NULL);
	child(n);
	tiny(16, n * 10000, 10);
	thousand(1000, n * 500, 5);
	large(100000, n * 10, 5);
	huge(4000000, 10, 5);
	zeroed(2000, n * 250, 2);
	grown(5000, n * 100, 4);
	array(5000, n * 100, 4);
	posix(3000, n * 150, 3);
	c11(3008, n * 150, 3);
	old(3000, n * 150, 3);
	mapped(1 << 20, 100, 4);
	return 0;
}
