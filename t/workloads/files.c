// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files.c - waits for files and sockets that have a name, each in turn, for as long as it measures. Prints of
 * each
 *
 *	<ms> <what it waits for, as arcprof names it>
 *
 * usage: files <dir>	where it makes them; an absolute path
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 12, PAUSE_US = 10000 };

static char c = 'x';

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Answers each byte, late. */
static void *answer(void *arg)
{
	int fd = (intptr_t)arg;
	char byte;

	while (read(fd, &byte, 1) == 1) {
		usleep(PAUSE_US);
		if (write(fd, &byte, 1) != 1)
			break;
	}
	return NULL;
}

/*
 * ns that reading takes where each byte is one that was asked for, or comes by itself. Every other one is
 * waited for by poll.
 */
static void wait_for(int fd, int ask_fd, const char *name)
{
	struct pollfd list = { .fd = fd, .events = POLLIN };
	uint64_t begin, us = 0;
	int i;

	for (i = 0; i < TIMES; i++) {
		check(ask_fd < 0 || write(ask_fd, &c, 1) == 1, "write");
		begin = now_us();
		check(i % 2 || poll(&list, 1, -1) == 1, "poll");
		check(read(fd, &c, 1) == 1, "read");
		us += now_us() - begin;
	}
	printf("%.1f %s\n", us / 1e3, name);
}

static void ask(const struct sockaddr *addr, socklen_t len, int listener, const char *name)
{
	int fd = socket(addr->sa_family, SOCK_STREAM, 0), other;
	pthread_t thread;

	check(!connect(fd, addr, len), "connect");
	other = accept(listener, NULL, NULL);
	check(other >= 0, "accept");
	pthread_create(&thread, NULL, answer, (void *)(intptr_t)other);
	wait_for(fd, fd, name);
	shutdown(fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(fd);
	close(other);
}

static void wait_tcp(int family)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr *addr = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int listener = socket(family, SOCK_STREAM, 0);
	char name[64];

	if (listener < 0 || bind(listener, addr, len))
		return;		/* there is no IPv6 here */
	check(!listen(listener, 1) && !getsockname(listener, addr, &len), "listen");
	snprintf(name, sizeof(name), "%s:%d", family == AF_INET ? "127.0.0.1" : "[::1]",
		 ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port));
	ask(addr, len, listener, name);
	close(listener);
}

static void wait_unix(const char *dir, bool abstract)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), len;
	char name[sizeof(addr.sun_path)];

	len = snprintf(name, sizeof(name), abstract ? "@%.0s%d" : "%s/socket", dir, (int)getpid());
	memcpy(addr.sun_path, name, len);
	addr.sun_path[0] = abstract ? '\0' : *name;
	len += offsetof(struct sockaddr_un, sun_path);
	check(!bind(listener, (struct sockaddr *)&addr, len) && !listen(listener, 1), "bind");
	ask((struct sockaddr *)&addr, len, listener, name);
	close(listener);
}

static void *feed(void *arg)
{
	int fd = (intptr_t)arg, i;

	for (i = 0; i < TIMES; i++) {
		usleep(PAUSE_US);
		check(write(fd, &c, 1) == 1, "write");
	}
	return NULL;
}

static void wait_fifo(const char *dir)
{
	char path[4096];
	pthread_t thread;
	int fd;

	snprintf(path, sizeof(path), "%s/fifo", dir);
	check(!mkfifo(path, 0600), "mkfifo");
	fd = open(path, O_RDWR);
	pthread_create(&thread, NULL, feed, (void *)(intptr_t)fd);
	wait_for(fd, -1, path);
	pthread_join(thread, NULL);
	close(fd);
}

static void *release(void *arg)
{
	usleep(TIMES * PAUSE_US);
	close((intptr_t)arg);
	return NULL;
}

static void wait_lock(const char *dir)
{
	char path[4096];
	pthread_t thread;
	uint64_t begin;
	int fd, holder;

	snprintf(path, sizeof(path), "%s/locked file", dir);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	holder = open(path, O_RDWR);
	check(fd >= 0 && holder >= 0 && !flock(holder, LOCK_EX), path);
	pthread_create(&thread, NULL, release, (void *)(intptr_t)holder);
	begin = now_us();
	check(!flock(fd, LOCK_EX), "flock");
	printf("%.1f %s\n", (now_us() - begin) / 1e3, path);
	pthread_join(thread, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	check(argc == 2, "usage: files <dir>");
	wait_tcp(AF_INET);
	wait_tcp(AF_INET6);
	wait_unix(argv[1], false);
	wait_unix(argv[1], true);
	wait_fifo(argv[1]);
	wait_lock(argv[1]);
	return 0;
}
