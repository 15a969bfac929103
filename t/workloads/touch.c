// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * touch.c - threads, one after the other, each of which touches so many fresh pages in touch(); prints how
 * many pages these were, and how many page faults and context switches the kernel counted for the process.
 *
 * usage: touch THREADS PAGES [wait]	with "wait" all threads stay, until the process is killed
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t nr_pages;
static int stays;

__attribute__((noinline)) static void touch(volatile char *p, size_t size)
{
	size_t i;

	for (i = 0; i < nr_pages; i++)
		p[i * size] = 1;
}

static void *run(void *arg)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, nr_pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, nr_pages * size, MADV_NOHUGEPAGE))
		exit(1);
	touch(p, size);
	munmap(p, nr_pages * size);
	while (stays)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[1]) : 0, i;
	struct rusage used;
	pthread_t thread;

	nr_pages = nr ? atoi(argv[2]) : 0;
	stays = argc > 3;
	for (i = 0; i < nr; i++) {
		if (pthread_create(&thread, NULL, run, NULL))
			return 1;
		if (!stays)
			pthread_join(thread, NULL);
	}
	while (stays)
		pause();
	getrusage(RUSAGE_SELF, &used);
	printf("%zu %ld %ld\n", nr * nr_pages, used.ru_minflt, used.ru_nvcsw + used.ru_nivcsw);
	return 0;
}
