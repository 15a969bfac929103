// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "clocks.h"
#include "cpuclock/cpuclock.h"
#include "unit.h"

enum { SPIN_NS = 30000000, MOST_ENDS = 16 };

static void nap(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

/* So much CPU time of this thread. */
static void spin(uint64_t ns)
{
	struct timespec t;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec < ns);
}

/* A child that spins when it may, and then starts another that does. */
static int start(int *go)
{
	int fds[2], pid;
	char c;

	CHECK(!pipe(fds));
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &c, 1) != 0)	/* it is closed */
			_exit(1);
		spin(SPIN_NS);
		if (!fork()) {
			spin(SPIN_NS);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static struct cpuclock_end ends[MOST_ENDS];
static size_t nr_ends;

static void take(void *ctx, const struct cpuclock_end *end)
{
	(void)ctx;
	CHECK(nr_ends < MOST_ENDS);
	ends[nr_ends++] = *end;
}

TEST(cpuclock_reports_what_threads_had_used)
{
	uint64_t ns, used = 0, begun = clock_mono_ns();
	int go, other_go, pid = start(&go), other = start(&other_go), tries;
	struct cpuclock *c;
	struct rusage of_child;
	struct err e;
	size_t i;

	if (pid < 0 || other < 0 || cpuclock_open(&c, &pid, 1, &e)) {
		close(go);
		close(other_go);
		wait(NULL);
		wait(NULL);
		unit_skip(pid < 0 || other < 0 ? "no process" : e.msg);
	}
	close(other_go);	/* nobody asked for that one */
	close(go);
	CHECK(wait4(pid, NULL, 0, &of_child) == pid);
	CHECK(waitpid(other, NULL, 0) == other);
	for (tries = 0; tries < 100 && nr_ends < 2; tries++) {
		cpuclock_ends(c, take, NULL);
		nap(1000000);
	}
	CHECK_U64(nr_ends, 2);
	for (i = 0; i < nr_ends; i++) {
		CHECK(ends[i].time_ns > begun && ends[i].time_ns < clock_mono_ns());
		CHECK(ends[i].used_ns >= SPIN_NS);
		CHECK(ends[i].pid == ends[i].tid && (int)ends[i].pid != other);
		used += ends[i].used_ns;
	}
	CHECK((int)ends[1].pid == pid);		/* it waited for the other */
	/* what wait4() says is the same, but for the last steps of an exit */
	ns = (uint64_t)(of_child.ru_utime.tv_sec + of_child.ru_stime.tv_sec) * 1000000000 +
	     (uint64_t)(of_child.ru_utime.tv_usec + of_child.ru_stime.tv_usec) * 1000;
	CHECK(used >= ns - ns / 50 && used <= ns + ns / 50 + 1000000);
	CHECK_U64(cpuclock_untold(c, &ns), 0);
	CHECK_U64(cpuclock_refused(c), 0);
	cpuclock_close(c);
}

/* ---- loading ---- */

TEST(cpuclock_reads_no_types_where_the_kernel_does)
{
	struct rusage before, after;
	unsigned int major = 0, minor = 0;
	struct cpuclock *c;
	struct utsname u;
	struct err e;
	int pid = getpid();

	CHECK(!uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2);
	if (major < 5 || (major == 5 && minor < 17))
		unit_skip("Linux before 5.17");
	getrusage(RUSAGE_SELF, &before);
	if (cpuclock_open(&c, &pid, 1, &e))
		unit_skip(e.msg);
	getrusage(RUSAGE_SELF, &after);
	/* the types are some MB: more than a thousand pages, twice; a sanitizer has up to 1500 of its own */
	CHECK(after.ru_minflt - before.ru_minflt < 1900);
	cpuclock_close(c);
}

/* ---- samples ---- */

static struct trapped {
	uint32_t nr, nr_other, leave;
} *trapped;

static void on_trap(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	if (si->si_code != SI_KERNEL || (uint64_t)si->si_value.sival_ptr > clock_mono_ns())
		trapped->nr_other++;
	trapped->nr++;
}

/* Computes and sleeps; then becomes a program that a SIGTRAP kills. */
static int have_traps(void)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	int i;

	sigaction(SIGTRAP, &sa, NULL);
	for (i = 0; !load_acquire(&trapped->leave); i++)
		if (i % 4096 ? getppid() < 0 : nanosleep(&(struct timespec){ 0, 100000 }, NULL))
			return 1;	/* it was interrupted */
	execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done", NULL);
	return errno == ENOENT ? 0 : 2;		/* a test's machine has no shell */
}

TEST(cpuclock_sends_traps_to_processes_that_handle_them)
{
	int pid, status, ms;
	struct cpuclock *c;
	struct err e;

	trapped = mmap(NULL, sizeof(*trapped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid < 0)
		unit_skip("no process");
	if (!pid)
		_exit(have_traps());
	if (cpuclock_open(&c, &pid, 1, &e) || !cpuclock_trapped(c)) {
		kill(pid, SIGKILL);
		unit_skip(e.msg[0] ? e.msg : "this kernel has no task work for BPF programs (before Linux 6.18)");
	}
	clocks_open(cpuclock_filter(c));
	clocks_tell(cpuclock_trapped(c));
	nap(20000000);
	CHECK_U64(load_acquire(&trapped->nr), 0);	/* it was not asked for */
	CHECK(!cpuclock_trap(c, pid));
	for (ms = 0; ms < 10000 && load_acquire(&trapped->nr) < 20; ms += 5)
		nap(5000000);
	CHECK(trapped->nr >= 20);
	CHECK_U64(trapped->nr_other, 0);
	store_release(&trapped->leave, 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_U64(status, 0);
	/* it is forgotten when the kernel frees it, some time later */
	for (ms = 0; ms < 2000 && !cpuclock_trap(c, pid); ms += 5)
		nap(5000000);
	CHECK(cpuclock_trap(c, pid) < 0);
	clocks_close();
	cpuclock_close(c);
}
