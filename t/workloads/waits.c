// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waits.c - threads that wait in known ways, each in a function of its own, and what each measured of that
 * by the clock:
 *
 *	<function> <milliseconds> <times> <reason>
 *
 * usage: waits SECONDS
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT __attribute__((noinline, noclone)) static void

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int to_reader[2], to_receiver[2], to_mixed[2], listener;
static uint64_t deadline_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void nap(uint64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* What keeps the compiler from making the call a jump, so that the caller stays on the stack. */
#define STAY __asm__ volatile("")

WAIT wait_sleep(void) { nap(37000); STAY; }
WAIT wait_short_sleep(void) { nap(300); STAY; }

WAIT wait_read(void)
{
	char c;

	if (read(to_reader[0], &c, 1) != 1)
		abort();
	STAY;
}

WAIT wait_receive(void)
{
	char c;

	if (recv(to_receiver[0], &c, 1, 0) != 1)
		abort();
	STAY;
}

WAIT wait_accept(void)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		abort();
	close(fd);
}

WAIT wait_poll(void)
{
	struct pollfd p = { .fd = listener, .events = POLLPRI };

	if (poll(&p, 1, 15))
		abort();
	STAY;
}

WAIT wait_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	STAY;
}

WAIT wait_condition(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 11000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&cond_mutex);
	pthread_cond_timedwait(&cond, &cond_mutex, &t);
	pthread_mutex_unlock(&cond_mutex);
}

WAIT wait_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		nap(60000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	STAY;
}

/* One thread that waits in two ways, both shorter than an interval of 10 ms. */
WAIT wait_mixed_sleep(void) { nap(2000); STAY; }

WAIT wait_mixed_read(void)
{
	char c;

	if (read(to_mixed[0], &c, 1) != 1)
		abort();
	STAY;
}

__attribute__((noinline, noclone)) static void burn(void)
{
	uint64_t until = now_ns() + 5000000;

	while (now_ns() < until)
		;
	STAY;
}

/* Between waits or work: not measured. */
__attribute__((noinline, noclone)) static void rest(void) { nap(1500); STAY; }

struct kind {
	const char *name, *reason;
	void (*wait)(void), (*second)(void);
	const char *second_name, *second_reason;
	uint64_t ns, second_ns;
	unsigned long nr;
};

static struct kind kinds[] = {
	{ "wait_sleep", "[sleep]", wait_sleep, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_short_sleep", "[sleep]", wait_short_sleep, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_read", "[read: pipe]", wait_read, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_receive", "[recvfrom: Unix socket]", wait_receive, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_accept", "[accept: TCP socket]", wait_accept, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_poll", "[poll: TCP socket]", wait_poll, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_mutex", "[futex]", wait_mutex, rest, NULL, NULL, 0, 0, 0 },
	{ "wait_condition", "[futex]", wait_condition, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_child", "[wait4]", wait_child, NULL, NULL, NULL, 0, 0, 0 },
	{ "wait_mixed_sleep", "[sleep]", wait_mixed_sleep, wait_mixed_read, "wait_mixed_read", "[read: pipe]",
	  0, 0, 0 },
	{ "burn", "[on CPU]", burn, rest, NULL, NULL, 0, 0, 0 },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static uint64_t timed(void (*wait)(void))
{
	uint64_t before = now_ns();

	wait();
	return now_ns() - before;
}

static void *run_kind(void *arg)
{
	struct kind *k = arg;

	while (now_ns() < deadline_ns) {
		k->ns += timed(k->wait);
		if (k->second)
			k->second_ns += timed(k->second);
		k->nr++;
	}
	return NULL;
}

/* Those who end the waits of others, until these have had enough: they get one more than they take. */
static void *write_slowly(void *arg)
{
	(void)arg;
	while (now_ns() < deadline_ns + 100000000) {
		nap(23000);
		if (write(to_reader[1], "x", 1) != 1 || send(to_receiver[1], "x", 1, 0) != 1)
			abort();
	}
	return NULL;
}

static void *write_quickly(void *arg)
{
	(void)arg;
	while (now_ns() < deadline_ns + 100000000) {
		nap(6000);
		if (write(to_mixed[1], "x", 1) != 1)
			abort();
	}
	return NULL;
}

static void *connect_slowly(void *arg)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd;

	(void)arg;
	getsockname(listener, (struct sockaddr *)&a, &len);
	while (now_ns() < deadline_ns + 100000000) {
		nap(31000);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&a, len))
			abort();
		close(fd);
	}
	return NULL;
}

static void *hold(void *arg)
{
	(void)arg;
	while (now_ns() < deadline_ns) {
		pthread_mutex_lock(&mutex);
		nap(25000);
		pthread_mutex_unlock(&mutex);
		nap(3000);
	}
	return NULL;
}

static void prepare(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(to_reader) || pipe(to_mixed) || socketpair(AF_UNIX, SOCK_STREAM, 0, to_receiver) ||
	    bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 8)) {
		perror("waits");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	void *(*const helpers[])(void *) = { write_slowly, write_quickly, connect_slowly, hold };
	pthread_t threads[NR_KINDS], t;
	unsigned int i;

	if (argc != 2)
		return 2;
	prepare();
	deadline_ns = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	for (i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		pthread_create(&t, NULL, helpers[i], NULL);
	for (i = 0; i < NR_KINDS; i++)
		pthread_create(&threads[i], NULL, run_kind, &kinds[i]);
	for (i = 0; i < NR_KINDS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < NR_KINDS; i++) {
		const struct kind *k = &kinds[i];

		printf("%s %.3f %lu %s\n", k->name, k->ns / 1e6, k->nr, k->reason);
		if (k->second_name)
			printf("%s %.3f %lu %s\n", k->second_name, k->second_ns / 1e6, k->nr,
			       k->second_reason);
	}
	return 0;
}
