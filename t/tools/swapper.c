// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * swapper.c - a hostile process that looks like a JVM, for t/cli/hostile.bats.
 *
 *	swapper FOLDER VICTIM-FILE VICTIM-FOLDER
 *
 * Run in a user and mount namespace of its own: FOLDER/tmp and FOLDER/var become its /tmp and
 * /var/tmp. Whatever a recorder makes there is replaced at once by symbolic links to the victims,
 * or by a folder with one, again and again. Prints "ready" and its pid, and the number of swaps
 * when its standard input ends.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *victim_file, *victim_folder;
static unsigned long nr_swaps;

enum { EXCHANGES = 2000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- what a recorder takes for a JVM --- */

static void on_quit(int sig)
{
}

static void *signal_dispatcher(void *arg)
{
	prctl(PR_SET_NAME, "Signal Dispatch");
	for (;;)
		pause();
	return arg;
}

/* The attach listener: takes a command, and says that the agent cannot be loaded. */
static void *attach_listener(void *arg)
{
	static const char refusal[] = "0\nreturn code: 100\n";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	char command[4096];

	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/.java_pid%d", (int)getpid());
	if (bind(listening, (struct sockaddr *)&a, sizeof(a)) || listen(listening, 16))
		die(a.sun_path);
	for (;;) {
		int fd = accept(listening, NULL, NULL);

		if (fd < 0)
			continue;
		if (read(fd, command, sizeof(command)) > 0 && write(fd, refusal, sizeof(refusal) - 1) < 0)
			perror("answer");
		close(fd);
	}
	return arg;
}

static void look_like_a_jvm(void)
{
	int fd = open("libjvm.so", O_RDWR | O_CREAT, 0755);
	pthread_t t;

	if (fd < 0 || ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die("libjvm.so");
	signal(SIGQUIT, on_quit);
	pthread_create(&t, NULL, signal_dispatcher, NULL);
	pthread_create(&t, NULL, attach_listener, NULL);
}

/* --- the swapping --- */

/* A folder of ours with a link to the victim, by the name that a recorder's socket has. */
static void make_trap(int dir, const char *name)
{
	char link[80];

	mkdirat(dir, name, 0755);
	snprintf(link, sizeof(link), "%s/s", name);
	symlinkat(victim_file, dir, link);
}

static bool is_ours(const char *name)
{
	return !strncmp(name, "gone.", 5) || !strncmp(name, "trap.", 5) || !strcmp(name, ".") ||
	!strcmp(name, "..") ||
	       !strncmp(name, ".java_pid", 9);
}

static bool put_away(int dir, const char *name)
{
	static unsigned long nr;
	char away[64];

	snprintf(away, sizeof(away), "gone.%lu", nr++);
	return !renameat(dir, name, dir, away);
}

/* Puts the trap, or a link to a victim, where name is; what was there gets another name. */
static void swap(int dir, const char *name, unsigned long way)
{
	static unsigned long nr;
	char trap[64];
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISLNK(st.st_mode))
		return;
	if (S_ISDIR(st.st_mode) && way & 1) {
		int i;

		snprintf(trap, sizeof(trap), "trap.%lu", nr++);
		make_trap(dir, trap);
		/* to and fro: it may be the one when it is looked at, and the other when something is done */
		for (i = 0; i < EXCHANGES; i++)
			nr_swaps += !renameat2(dir, trap, dir, name, RENAME_EXCHANGE);
		return;
	}
	if (put_away(dir, name) &&
	    !symlinkat(S_ISDIR(st.st_mode) ? victim_folder : victim_file, dir, name))
		nr_swaps++;
}

static void sweep(int dir, unsigned long way, int depth)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int inner;

		if (is_ours(e->d_name))
			continue;
		inner = depth && way & 2 ?
			openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
			-1;
		if (inner >= 0) {
			sweep(inner, way, depth - 1);
			close(inner);
		} else {
			swap(dir, e->d_name, way);
		}
	}
	if (d)
		closedir(d);
}

/* What was put in the way goes again, so that the next recorder starts afresh. */
static void clear(int dir)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_type == DT_LNK)
			unlinkat(dir, e->d_name, 0);
		else if (!is_ours(e->d_name))
			put_away(dir, e->d_name);
	if (d)
		closedir(d);
}

static int bind_over(const char *name, const char *where)
{
	int dir;

	mkdir(name, 0777);
	if (mount(name, where, NULL, MS_BIND, NULL))
		die(where);
	dir = open(where, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		die(where);
	return dir;
}

int main(int argc, char **argv)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	unsigned long round;
	int dirs[2];

	if (argc != 4)
		return 2;
	victim_file = argv[2];
	victim_folder = argv[3];
	umask(0);
	if (chdir(argv[1]))
		die(argv[1]);
	dirs[0] = bind_over("tmp", "/tmp");
	dirs[1] = bind_over("var", "/var/tmp");
	look_like_a_jvm();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (round = 0; poll(&in, 1, 0) <= 0; round++) {
		/* a while of one way, then of the next */
		sweep(dirs[0], round >> 8, 1);
		if ((round >> 10 & 7) == 7)
			sweep(dirs[1], round >> 8, 1);
		if (round % 256 == 255) {
			clear(dirs[0]);
			clear(dirs[1]);
		}
	}
	printf("%lu swaps\n", nr_swaps);
	return 0;
}
