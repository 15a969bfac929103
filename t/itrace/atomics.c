/*
 * atomics.c - threads that add to one word, swap another and take a spin lock, with load-exclusive and
 * store-exclusive where the processor has them (-mno-outline-atomics); prints the sums.
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 40 };

static int sum, low, high, lock, locked;
static _Bool taken;

__attribute__((noinline)) static void add(void)
{
	__atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
}

__attribute__((noinline)) static void add_by_swap(void)
{
	int old = low;

	while (!__atomic_compare_exchange_n(&low, &old, old + 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/* Never succeeds: the stretch is left by its branch. */
__attribute__((noinline)) static void fail_to_swap(void)
{
	int other = -1;

	if (__atomic_compare_exchange_n(&high, &other, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		taken = 1;
}

__attribute__((noinline)) static void add_locked(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
	locked++;
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void *work(void *arg)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		add();
		add_by_swap();
		fail_to_swap();
		add_locked();
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	work(NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%d %d %d %d\n", sum, low, locked, taken);
	return !(sum == locked && sum == low && sum == (THREADS + 1) * ROUNDS && !taken);
}
