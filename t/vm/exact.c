// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exact.c - arcprof's counts of instructions where the CPU has a counter for them and time is
 * the number of instructions (!icount): against a program whose length is known.
 *
 * usage: exact		exact spin N is that program
 *
 * Lines that begin with "= " must be the same at each boot (!twice).
 */
#include <grp.h>
#include <sys/wait.h>
#include "guest.h"

#ifdef __aarch64__
enum { INSNS_A_ROUND = 2, NS_A_TICK = 16, N = 5000000 };

static __attribute__((noinline)) void spin(uint64_t n)
{
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n) : : "cc");
}

/* What a command of arcprof's prints, as nobody or as root. */
static void capture(char *const argv[], bool nobody, char *out, size_t len)
{
	int fd[2], status = -1;
	size_t at = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(fd))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		if (nobody && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(9);
		execv(argv[0], argv);
		_exit(8);
	}
	close(fd[1]);
	while (at < len - 1 && (n = read(fd[0], out + at, len - 1 - at)) > 0)
		at += n;
	out[at] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
	if (status) {
		printf("# %s %s: status %#x\n", argv[0], argv[1], status);
		out[0] = 0;
	}
}

/* The first number behind "key": in JSON, or -1. */
static int64_t number(const char *json, const char *key)
{
	const char *p = strstr(json, key);

	p = p ? strchr(p + strlen(key), ':') : NULL;
	return p ? strtoll(p + 1 + strspn(p + 1, " [\n"), NULL, 10) : -1;
}

static int64_t cpi(uint64_t n, bool nobody)
{
	char out[8192], arg[32];
	char *const argv[] = { "/arcprof", "cpi", "--format", "json", "--", "/exact", "spin", arg, NULL };

	snprintf(arg, sizeof(arg), "%012" PRIu64, n);	/* as long whatever it is */
	capture(argv, nobody, out, sizeof(out));
	if (nobody && !strstr(out, "\"user_mode_only\":true"))
		printf("# not of user mode only: %s\n", out);
	return number(out, "\"instructions\"");
}

static int64_t ptt(uint64_t n)
{
	char out[16384], arg[32];
	char *const argv[] = { "/arcprof", "ptt", "run", "--backend", "module", "-e", "instructions", "--format", "csv",
			       "--", "/exact", "spin", arg, NULL };
	char *head, *line, *save, *cell;
	int column = -1, i = 0;

	snprintf(arg, sizeof(arg), "%012" PRIu64, n);	/* as long whatever it is */
	capture(argv, false, out, sizeof(out));
	head = strtok_r(out, "\n", &save);
	line = strtok_r(NULL, "\n", &save);
	while (head && (cell = strsep(&head, ","))) {
		if (!strncmp(cell, "instructions", 12))
			column = i;
		i++;
	}
	for (i = 0; line && (cell = strsep(&line, ",")); i++)
		if (i == column)
			return strtoll(cell, NULL, 10);
	return -1;
}

static void by_the_clock(void)
{
	uint64_t t0 = ticks(), t1;

	spin(N);
	t1 = ticks();
	printf("# the emulator's clock: %" PRIu64 " instructions for %u\n", (t1 - t0) * NS_A_TICK,
	       INSNS_A_ROUND * N);
	ok((t1 - t0) * NS_A_TICK >= (uint64_t)INSNS_A_ROUND * N &&
		   (t1 - t0) * NS_A_TICK < 1.01 * INSNS_A_ROUND * N,
	   "exact: the emulator's clock says how many instructions a program has");
}

int main(int argc, char **argv)
{
	int64_t once, again, twice, all, all_twice, threads, threads_twice;
	int64_t want = (int64_t)INSNS_A_ROUND * N;

	if (argc > 2 && !strcmp(argv[1], "spin")) {
		spin(strtoull(argv[2], NULL, 10));
		return 0;
	}
	by_the_clock();
	once = cpi(N, true);
	again = cpi(N, true);
	twice = cpi(2 * N, true);
	printf("# cpi of user mode: %" PRId64 ", %" PRId64 "; twice as long %" PRId64 "\n", once, again,
	       twice);
	ok(once > want && once == again, "exact: the same program has the same instructions each time");
	ok(twice - once == want, "exact: and %" PRId64 " more when it is longer by %" PRId64, twice - once,
	   want);
	printf("= cpi %" PRId64 " %" PRId64 "\n", once, twice);

	all = cpi(N, false);
	all_twice = cpi(2 * N, false);
	ok(llabs(all_twice - all - want) < want / 100, "exact: with the kernel, %" PRId64 " more",
	   all_twice - all);
	threads = ptt(N);
	threads_twice = ptt(2 * N);
	/* one dispatch more or less, of a thread of the kernel's in between, is some 7000 */
	ok(threads > want && llabs(threads_twice - threads - want) < want / 500,
	   "exact: without its interrupts, as the module counts, %" PRId64 " more", threads_twice - threads);
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
