// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calltree.c - exact callflow in instructions, calibrated, against the emulated CPU's counter.
 *
 * usage: calltree		calltree run is the tree of calls
 *
 * Built twice: as it is, and with the hooks of libarcprof-hookit.a (calltree-hooked). Without hooks each
 * function is called between two readings of the counter, by the kernel and not by arcprof: that is what it
 * consumes in truth. With hooks arcprof records it. Functions whose name ends in a number have so many
 * instructions in a loop of their own.
 */
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/wait.h>
#include "guest.h"

#ifdef __aarch64__
#pragma GCC optimize("O1", "no-optimize-sibling-calls")	/* fib() calls itself in both */

#define FUNCTION static __attribute__((noinline, noclone))

static inline __attribute__((always_inline, no_instrument_function)) void spin(uint64_t instructions)
{
	uint64_t n = instructions / 2;

	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n) : : "cc");
}

FUNCTION void nothing(void)
{
	__asm__ volatile("");
}

FUNCTION void leaf40(void)
{
	spin(40);
}

FUNCTION void leaf400(void)
{
	spin(400);
}

/* The first of the two callees is not the most recent one, each time. */
FUNCTION void middle1000(void)
{
	spin(1000);
	leaf400();
	leaf40();
	__asm__ volatile("");
}

FUNCTION void tiny_calls(void)
{
	for (int i = 0; i < 100; i++)
		leaf40();
}

FUNCTION void empty_calls(void)
{
	for (int i = 0; i < 100; i++)
		nothing();
}

FUNCTION void middle_calls(void)
{
	for (int i = 0; i < 100; i++)
		middle1000();
}

FUNCTION void loop40000(void)
{
	spin(40000);
}

FUNCTION uint64_t fib(uint64_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

enum { ROUNDS = 20, FIB = 12, FIB_CALLS = 465 };

FUNCTION void tree(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		tiny_calls();
		empty_calls();
		middle_calls();
		loop40000();
		fib(FIB);
	}
}

/* ---- the truth ---- */

static void fib_once(void)
{
	fib(FIB);
}

/* own: instructions in all calls together, without those of the functions it calls. */
struct function {
	const char *name;
	void (*f)(void);		/* one call, or what makes nr_at_once of them */
	uint64_t nr_at_once, calls, callees;
	int64_t own, measured, calibrated;
};

enum { NOTHING, LEAF40, LEAF400, MIDDLE, TINY_CALLS, EMPTY_CALLS, MIDDLE_CALLS, LOOP, FIB_FUNCTION, NR };

static struct function functions[NR] = {
	[NOTHING] = { "nothing", nothing, 1, ROUNDS * 100, 0 },
	[LEAF40] = { "leaf40", leaf40, 1, ROUNDS * 200, 0 },
	[LEAF400] = { "leaf400", leaf400, 1, ROUNDS * 100, 0 },
	[MIDDLE] = { "middle1000", middle1000, 1, ROUNDS * 100, ROUNDS * 200 },
	[TINY_CALLS] = { "tiny_calls", tiny_calls, 1, ROUNDS, ROUNDS * 100 },
	[EMPTY_CALLS] = { "empty_calls", empty_calls, 1, ROUNDS, ROUNDS * 100 },
	[MIDDLE_CALLS] = { "middle_calls", middle_calls, 1, ROUNDS, ROUNDS * 100 },
	[LOOP] = { "loop40000", loop40000, 1, ROUNDS, 0 },
	[FIB_FUNCTION] = { "fib", fib_once, FIB_CALLS, ROUNDS * FIB_CALLS, ROUNDS * (FIB_CALLS - 1) },
};

static int64_t counted(int fd, void (*f)(void))
{
	uint64_t before = 0, after = 0;

	if (read(fd, &before, sizeof(before)) != sizeof(before))
		return -1;
	f();
	if (read(fd, &after, sizeof(after)) != sizeof(after))
		return -1;
	return after - before;
}

static void no_function(void)
{
	__asm__ volatile("");
}

static bool measure_truth(void)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int64_t cum[NR], around;
	int i;

	if (fd < 0)
		return false;
	around = counted(fd, no_function);
	for (i = 0; i < NR; i++)
		cum[i] = counted(fd, functions[i].f) - around;
	close(fd);
	cum[MIDDLE_CALLS] -= 100 * cum[MIDDLE];
	cum[MIDDLE] -= cum[LEAF400] + cum[LEAF40];
	cum[TINY_CALLS] -= 100 * cum[LEAF40];
	cum[EMPTY_CALLS] -= 100 * cum[NOTHING];
	for (i = 0; i < NR; i++)
		functions[i].own = cum[i] * (int64_t)(functions[i].calls / functions[i].nr_at_once);
	return cum[LOOP] >= 40000 && cum[LOOP] < 40010;
}

/* ---- what arcprof says ---- */

static bool arcprof(char *const argv[], const char *to)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		execv("/arcprof", argv);
		_exit(8);
	}
	waitpid(pid, &status, 0);
	if (status)
		printf("# arcprof %s: status %#x\n", argv[1], status);
	return !status;
}

static struct function *find(const char *name)
{
	for (int i = 0; i < NR; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

/* Rows are "index,name,kind,module,calls,base,...". */
static int read_report(const char *path, bool calibrated)
{
	FILE *f = fopen(path, "re");
	char text[512], *line, *cell;
	int nr = 0;

	while (f && fgets(text, sizeof(text), f)) {
		struct function *x = NULL;
		uint64_t calls = 0;
		int column = 0;

		for (line = text; (cell = strsep(&line, ",")); column++) {
			if (column == 1)
				x = find(cell);
			else if (column == 4)
				calls = strtoull(cell, NULL, 10);
			else if (column == 5 && x)
				*(calibrated ? &x->calibrated : &x->measured) = strtoll(cell, NULL, 10);
		}
		nr += x && calls == x->calls;
	}
	if (f)
		fclose(f);
	return nr;
}

static bool record_and_report(void)
{
	static char *const record[] = { "arcprof", "record", "--quiet", "--callflow", "--metric", "instructions",
					"-o", "/tmp/trace", "--", "/calltree-hooked", "run", NULL };
	static char *const calibrated[] = { "arcprof", "report", "-i", "/tmp/trace", "--xprof", "--format", "csv", NULL };
	static char *const measured[] = { "arcprof", "report", "-i", "/tmp/trace", "--xprof", "--format", "csv",
					  "--no-calibrate", NULL };

	return arcprof(record, "/tmp/out") && arcprof(calibrated, "/tmp/calibrated") && arcprof(measured, "/tmp/measured") &&
	       read_report("/tmp/calibrated", true) == NR && read_report("/tmp/measured", false) == NR;
}

/* ---- one against the other ---- */

/* In percent. */
static double error(const struct function *x, int64_t said)
{
	return x->own ? 100.0 * (said - x->own) / x->own : 0;
}

static void compare(void)
{
	bool near = true, nearer = true, few = true;
	int i;

	for (i = 0; i < NR; i++) {
		const struct function *x = &functions[i];
		uint64_t hooks = x->calls + x->callees;
		double off = (double)(x->calibrated - x->own) / hooks;

		printf("= %-12s truth %8" PRId64 ", calibrated %8" PRId64 " (%+.2f %%, %+.2f a hook pair), measured %8" PRId64
		       " (%+.1f %%)\n", x->name, x->own, x->calibrated, error(x, x->calibrated), off,
		       x->measured,
		       error(x, x->measured));
		if (x->own >= 100 * (int64_t)hooks)
			near &= error(x, x->calibrated) < 2 && error(x, x->calibrated) > -2;
		few &= off > -2 && off < 2;
		nearer &= llabs(x->calibrated - x->own) * 5 < llabs(x->measured - x->own);
	}
	ok(near, "calltree: calibrated, functions of 100 instructions and more are within 2 percent of the truth");
	ok(few, "calltree: any function is within 2 instructions a call, in it or from it");
	ok(nearer, "calltree: each is five times nearer than without calibration");
}

int main(int argc, char **argv)
{
	const struct sched_param realtime = { .sched_priority = 1 };
	struct function first[NR];
	int i;

	if (argc > 1) {
		tree();
		return 0;
	}
	if (!ok(measure_truth(), "calltree: the CPU's counter says how long a function is"))
		return done();
	/* A reading of the counter is begun anew when the thread loses its CPU in the middle of it. */
	sched_setscheduler(0, SCHED_FIFO, &realtime);
	if (!ok(record_and_report(), "calltree: each call is counted"))
		return done();
	memcpy(first, functions, sizeof(first));
	compare();
	ok(record_and_report() && !memcmp(first, functions, sizeof(first)), "calltree: a second recording says the same");
	for (i = 0; i < NR; i++)
		if (first[i].measured != functions[i].measured)
			printf("# %s: %" PRId64 ", then %" PRId64 "\n", first[i].name, first[i].measured,
			       functions[i].measured);
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
