// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { SKIP_STATUS = 77 };

extern const struct unit_test *const __start_unit_tests[];
extern const struct unit_test *const __stop_unit_tests[];

static bool failed;
static uint64_t seed = 0x243f6a8885a308d3ull;

void unit_check(bool ok, const char *file, int line, const char *expr)
{
	if (ok)
		return;
	printf("# %s:%d: %s is false\n", file, line, expr);
	failed = true;
}

void unit_check_u64(uint64_t got, uint64_t want, const char *file, int line, const char *expr)
{
	if (got == want)
		return;
	printf("# %s:%d: %s is %llu (0x%llx), want %llu (0x%llx)\n", file, line, expr,
	       (unsigned long long)got, (unsigned long long)got, (unsigned long long)want,
	       (unsigned long long)want);
	failed = true;
}

void unit_check_str(const char *got, const char *want, const char *file, int line, const char *expr)
{
	if (got && want ? !strcmp(got, want) : got == want)
		return;
	printf("# %s:%d: %s is \"%s\", want \"%s\"\n", file, line, expr, got ? got : "(null)",
	       want ? want : "(null)");
	failed = true;
}

void unit_skip(const char *why)
{
	printf("# skip: %s\n", why);
	fflush(stdout);
	_exit(SKIP_STATUS);
}

void unit_skip_if_emulated(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == ENOSYS)
		unit_skip("an emulator runs this, and the kernel knows only the emulator");
}

bool unit_until_blocked(int tid, long number)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	for (i = 0; i < 30000; i++) {
		FILE *f = fopen(path, "r");
		long now = -1;
		bool blocked = f && fscanf(f, "%ld", &now) == 1 && now == number;

		if (f)
			fclose(f);
		if (blocked)
			return true;
		usleep(1000);
	}
	return false;
}

const char *unit_source(const char *path)
{
	static char full[4096];
	const char *top = getenv("ARCPROF_SOURCE");

	snprintf(full, sizeof(full), "%s/%s", top ? top : ".", path);
	return full;
}

uint64_t unit_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static int run_one(const struct unit_test *t)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(getenv("UNIT_SECONDS") ? atoi(getenv("UNIT_SECONDS")) : 120);
		t->run();
		if (failed)
			printf("# seed 0x%llx\n", (unsigned long long)seed);
		fflush(stdout);
		exit(failed);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (WIFSIGNALED(status))
		printf("# killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	size_t i, nr = __stop_unit_tests - __start_unit_tests, ran = 0;
	bool bad = false;

	if (getenv("UNIT_SEED"))
		seed = strtoull(getenv("UNIT_SEED"), NULL, 0);
	printf("TAP version 13\n");
	for (i = 0; i < nr; i++) {
		const struct unit_test *t = __start_unit_tests[i];
		int status;

		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		status = run_one(t);
		ran++;
		printf("%sok %zu - %s%s\n", status && status != SKIP_STATUS ? "not " : "", ran, t->name,
		       status == SKIP_STATUS ? " # SKIP" : "");
		bad |= status && status != SKIP_STATUS;
	}
	printf("1..%zu\n", ran);
	return bad;
}
