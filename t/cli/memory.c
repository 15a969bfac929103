// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - a program with memory of known sizes, all of it resident: 32 MiB in large blocks, 8 MiB in small
 * ones of a thread, which has freed as many between them, 4 MiB of a file, 2 MiB shared, 6 MiB mapped for
 * nothing, 4 stacks with 512 KiB. Ends with its input.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static pthread_barrier_t ready;

static void *small_blocks(void *arg)
{
	static void *blocks[16 * MIB / 1024];
	int i;

	for (i = 0; i < 16 * MIB / 1024; i++)
		blocks[i] = memset(malloc(1000), 1, 1000);
	for (i = 0; i < 16 * MIB / 1024; i += 2)
		free(blocks[i]);
	pthread_barrier_wait(&ready);
	pause();
	return arg;
}

static void *deep(void *arg)
{
	char room[MIB / 2];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	pthread_barrier_wait(&ready);
	pause();
	return arg;
}

static void map(int bytes, int flags, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		exit(1);
	memset(p, 1, bytes);
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argc > 1 ? argv[1] : "file", "w+");
	pthread_t t;
	int i;

	if (!file || ftruncate(fileno(file), 4 * MIB))
		return 1;
	pthread_barrier_init(&ready, NULL, 6);
	for (i = 0; i < 16; i++)
		memset(malloc(2 * MIB), 1, 2 * MIB);
	map(4 * MIB, MAP_SHARED, fileno(file));
	map(2 * MIB, MAP_SHARED | MAP_ANONYMOUS, -1);
	map(6 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pthread_create(&t, NULL, small_blocks, NULL);
	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, deep, NULL);
	pthread_barrier_wait(&ready);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
