// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init.c - first and only process tree of a test's virtual machine: does what /plan says, line
 * by line, and restarts the machine, which ends QEMU.
 *
 *	load <file> [<parameters>]		a module
 *	unload <name>
 *	run <seconds> <program> [<args>...]	must end with 0, within that time
 *	set <file> <value>			writes a file of /proc or /sys
 *	root					goes on in the tree of a disk, where this one is /vm; the
 *						other disk, for what is to come back, is /dev/out
 *
 * Prints TAP without numbers between lines of the kernel's console; t/vm/run makes it whole.
 * The last line counts what was done: without it the machine died.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 32

enum { DISK_TREE = 1, DISK_OUT, NR_DISKS = DISK_OUT };	/* as t/vm/run numbers them */

static double uptime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void result(int ok, char *const words[], const char *why)
{
	printf("%sok -", ok ? "" : "not ");
	for (int i = 0; words[i]; i++)
		printf(" %s", words[i]);
	printf("%s%s\n", why[0] ? ": " : "", why);
	fflush(stdout);
}

static void load(char *const words[])
{
	int fd = open(words[1], O_RDONLY | O_CLOEXEC);
	long r = fd < 0 ? -1 : syscall(SYS_finit_module, fd, words[2] ? words[2] : "", 0);

	result(r == 0, words, r ? strerror(errno) : "");
	if (fd >= 0)
		close(fd);
}

static void unload(char *const words[])
{
	long r = syscall(SYS_delete_module, words[1], O_NONBLOCK);

	result(r == 0, words, r ? strerror(errno) : "");
}

static void set(char *const words[])
{
	int fd = open(words[1], O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, words[2], strlen(words[2]));

	result(n > 0, words, n > 0 ? "" : strerror(errno));
	if (fd >= 0)
		close(fd);
}

static const struct {
	const char *dir, *type;
} mounted[] = {
	{ "/proc", "proc" }, { "/sys", "sysfs" }, { "/dev", "devtmpfs" }, { "/tmp", "tmpfs" },
	{ "/sys/kernel/tracing", "tracefs" }, { "/sys/fs/bpf", "bpf" },
	{ "/sys/fs/cgroup", "cgroup2" }, { "/run", "tmpfs" },
};
#define NR_MOUNTED (sizeof(mounted) / sizeof(mounted[0]))

/* Mounts that lie in others move with these. */
static int move_to(const char *place)
{
	char path[64];

	for (size_t i = 0; i < NR_MOUNTED; i++) {
		if (strchr(mounted[i].dir + 1, '/'))
			continue;
		snprintf(path, sizeof(path), "%s%s", place, mounted[i].dir);
		if (mount(mounted[i].dir, path, NULL, MS_MOVE, NULL))
			return -1;
	}
	return 0;
}

/* The kernel looks for disks meanwhile, and names them as it finds them: those of t/vm/run have numbers. */
static int find_disk(int number, char *device, size_t size)
{
	char path[64];
	FILE *f;
	int got;

	for (int try = 0; try < 200; try++) {
		for (int i = 1; i <= NR_DISKS; i++) {
			snprintf(device, size, "/dev/nvme0n%d", i);
			snprintf(path, sizeof(path), "/sys/block/%s/nsid", device + strlen("/dev/"));
			f = fopen(path, "re");
			got = f && fscanf(f, "%d", &got) == 1 ? got : 0;
			if (f)
				fclose(f);
			if (got == number && !access(device, F_OK))
				return 0;
		}
		usleep(50000);
	}
	errno = ENODEV;
	return -1;
}

static void root(char *const words[])
{
	char tree[32], out[32];

	mkdir("/disk", 0755);
	if (find_disk(DISK_TREE, tree, sizeof(tree)) || find_disk(DISK_OUT, out, sizeof(out)) ||
	    mount(tree, "/disk", "ext4", 0, NULL) || mount("/", "/disk/vm", NULL, MS_BIND, NULL) ||
	    move_to("/disk") || chroot("/disk") || chdir("/tmp")) {
		result(0, words, strerror(errno));
		return;
	}
	mkdir("/dev/shm", 01777);
	mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL);
	setenv("PATH", "/vm:/usr/bin:/usr/sbin", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	result(symlink("/proc/self/fd", "/dev/fd") == 0 && symlink(out, "/dev/out") == 0, words, "");
}

static volatile sig_atomic_t late;

static void on_alarm(int sig)
{
	late = 1;
}

static void run(char *const words[])
{
	char why[64] = "";
	int status = 0;
	double start = uptime();
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		execvp(words[2], words + 2);
		_exit(127);
	}
	late = 0;
	alarm(atoi(words[1]));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (late)
			kill(-pid, SIGKILL);
	alarm(0);
	if (late)
		snprintf(why, sizeof(why), "not done after %s s", words[1]);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "killed by signal %d", WTERMSIG(status));
	else if (status)
		snprintf(why, sizeof(why), "status %d", WEXITSTATUS(status));
	result(!why[0], words, why);
	printf("# %.2f s\n", uptime() - start);
}

static void obey(char *line)
{
	char *words[MAX_WORDS + 1], *save;
	int n = 0;

	for (char *w = strtok_r(line, " \t\n", &save); w && n < MAX_WORDS; w = strtok_r(NULL, " \t\n", &save))
		words[n++] = w;
	words[n] = NULL;
	if (n == 0 || words[0][0] == '#')
		return;
	if (!strcmp(words[0], "load") && n >= 2)
		load(words);
	else if (!strcmp(words[0], "unload") && n == 2)
		unload(words);
	else if (!strcmp(words[0], "set") && n == 3)
		set(words);
	else if (!strcmp(words[0], "root") && n == 1)
		root(words);
	else if (!strcmp(words[0], "run") && n >= 3)
		run(words);
	else
		result(0, words, "no such order");
}

/* What the kernel said of itself that must not be: a warning panics, but not all is a warning. */
static void check_log(void)
{
	static const char *const bad[] = { "BUG", "WARNING", "Oops", "self-detected stall" };
	/* Linux 6.12 does, when a thread ends that a sample was about to signal: plans with JVMs go on. */
	static const char known[] = "perf_pending_task";
	static char log[1 << 20];
	char *const words[] = { "the kernel found nothing wrong", NULL };
	int len = klogctl(3, log, sizeof(log) - 1), found = 0;
	char *save;

	if (len < 0)
		len = 0;
	log[len] = 0;
	for (char *line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			if (strstr(line, bad[i]) && !strstr(line, known)) {
				printf("# %s\n", line);
				found = 1;
				break;
			}
	result(len > 0 && !found, words, "");
}

static void mounts(void)
{
	for (size_t i = 0; i < NR_MOUNTED; i++) {
		mkdir(mounted[i].dir, 0755);
		mount(mounted[i].type, mounted[i].dir, mounted[i].type, 0, NULL);
	}
	chmod("/tmp", 01777);
	mkdir("/var", 0755);
	mkdir("/var/tmp", 01777);
}

int main(void)
{
	struct sigaction on = { .sa_handler = on_alarm };
	char line[1024];
	int console, nr = 0;
	FILE *plan;

	mounts();
	console = open("/dev/console", O_RDWR);
	if (console >= 0)
		for (int fd = 0; fd < 3; fd++)
			dup2(console, fd);
	if (console > 2)
		close(console);
	setenv("PATH", "/", 1);
	setenv("HOME", "/tmp", 1);
	setenv("NO_COLOR", "1", 1);
	sigaction(SIGALRM, &on, NULL);
	if (chdir("/tmp"))
		return 1;
	printf("# up after %.2f s\n", uptime());
	plan = fopen("/plan", "re");
	while (plan && fgets(line, sizeof(line), plan)) {
		obey(line);
		nr++;
	}
	check_log();
	printf("# guest done: %d lines in %.2f s\n", nr, uptime());
	fflush(stdout);
	tcdrain(1);
	sync();
	reboot(RB_AUTOBOOT);
	return 1;
}
