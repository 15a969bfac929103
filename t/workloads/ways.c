// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ways.c - the ways by which code comes to run: each word on the command line burns CPU time in
 * functions of its own, in the callers that the line printed for it names, outermost first.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOPS = 60000000 };

static volatile uint64_t sink;

/* Under its own name: no clone for a constant argument. */
static __attribute__((noipa)) void burn(unsigned long n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	sink += x;
}

static void *in_thread(void *arg)
{
	burn(LOOPS);
	sink++;
	return arg;
}

static void threads(void)
{
	pthread_t t[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, in_thread, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	puts("in_thread burn");
}

static void in_child(void)
{
	burn(LOOPS);
	sink++;
}

static void forks(void)
{
	pid_t pid = fork();

	if (!pid) {
		in_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	puts("forks in_child burn");
}

static void in_new_image(void)
{
	burn(LOOPS);
	sink += 2;	/* unlike in_child(), or the compiler makes them one */
}

static void execs(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "renamed", "image", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	puts("in_new_image burn");
}

static void in_handler(int sig)
{
	burn(LOOPS);
	sink += sig;
}

static void raises(void)
{
	signal(SIGUSR1, in_handler);
	kill(getpid(), SIGUSR1);
	sink++;
	puts("raises in_handler burn");
}

static void clocks(void)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 6000000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sink += ts.tv_nsec;
	}
	puts("clocks clock_gettime");
}

/* The plugin has a function plugin_work(n) that calls plugin_burn(n). */
static void loads(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*work)(unsigned long) = lib ? (void (*)(unsigned long))dlsym(lib, "plugin_work") : NULL;

	if (!work) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	work(LOOPS);
	dlclose(lib);
	puts("loads plugin_work plugin_burn");
}

static void one(const char *way)
{
	if (!strcmp(way, "threads"))
		threads();
	else if (!strcmp(way, "fork"))
		forks();
	else if (!strcmp(way, "exec"))
		execs();
	else if (!strcmp(way, "image"))
		in_new_image();
	else if (!strcmp(way, "signal"))
		raises();
	else if (!strcmp(way, "clock"))
		clocks();
	else
		loads(way);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		one(argv[i]);
	return 0;
}
