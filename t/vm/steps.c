// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * steps.c - "arcprof itrace" by ptrace, where the CPU has a counter of instructions that is exact: its
 * totals against that counter and against a stepper that has nothing of arcprof in it; programs
 * that know their calls; and that what is traced does what it does anyway. The programs are those
 * of t/itrace.
 *
 * usage: steps [TEST]
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/wait.h>
#include "guest.h"

#ifdef __aarch64__
#define TRACE "/tmp/trace"

/* ---- programs ---- */

/*
 * Runs it, stdout and descriptor 3 into files; counter: if not NULL, its instructions in user mode,
 * children's too.
 */
static int run_counted(char *const argv[], const char *out, const char *third, uint64_t *counter)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.disabled = 1, .enable_on_exec = 1, .inherit = 1,
	};
	int go[2], fd = -1, status = -1;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		char c;

		if (read(go[0], &c, 1) != 1)
			_exit(126);
		dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 1);
		dup2(open(third, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 3);
		execv(argv[0], argv);
		_exit(126);
	}
	if (counter)
		fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (write(go[1], "", 1) != 1)
		return -1;
	close(go[0]);
	close(go[1]);
	waitpid(pid, &status, 0);
	if (counter && (fd < 0 || read(fd, counter, sizeof(*counter)) != sizeof(*counter)))
		status = -1;
	if (fd >= 0)
		close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run(char *const argv[])
{
	return run_counted(argv, "/tmp/out", "/dev/null", NULL);
}

static const char *text_of(const char *path)
{
	static char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool printed(const char *want)
{
	const char *got = text_of("/tmp/out");

	if (strcmp(got, want))
		printf("# printed \"%s\", not \"%s\"\n", got, want);
	return !strcmp(got, want);
}

/* ---- what a trace says ---- */

enum { MAX_IDS = 16 };

struct ids {
	uint64_t items[MAX_IDS];
	int nr;
};

static struct trace {
	uint64_t instructions;
	struct ids pids, tids;
} trace;

static void note(struct ids *ids, uint64_t id)
{
	int i;

	for (i = 0; i < ids->nr; i++)
		if (ids->items[i] == id)
			return;
	if (ids->nr < MAX_IDS)
		ids->items[ids->nr++] = id;
}

static FILE *report(const char *which)
{
	char *const argv[] = { "/arcprof", "report", "-i", TRACE, (char *)which, "--format", "csv", NULL };

	return run_counted(argv, "/tmp/report", "/dev/null", NULL) ? NULL : fopen("/tmp/report", "re");
}

/* Splits a line of CSV; fields that are not there are "". */
static void split(char *line, char *fields[], int nr)
{
	int i;

	line[strcspn(line, "\n")] = '\0';
	for (i = 0; i < nr; i++) {
		fields[i] = strsep(&line, ",");
		if (!fields[i])
			fields[i] = "";
	}
}

enum { INSTRUCTIONS = 3, PID = 7, TID = 8, BRANCH = 12, ARC_FIELDS = 13 };

/* Blocks that ended by that kind of branch; NULL: all of them, and what there is to know of the trace. */
static uint64_t blocks_ended_by(const char *kind)
{
	FILE *f = report("--arc");
	char line[1024], *field[ARC_FIELDS];
	uint64_t nr = 0;

	if (!kind)
		memset(&trace, 0, sizeof(trace));
	while (f && fgets(line, sizeof(line), f)) {
		split(line, field, ARC_FIELDS);
		if (!strcmp(field[BRANCH], "branch"))
			continue;
		nr += !kind || !strcmp(field[BRANCH], kind);
		if (kind)
			continue;
		trace.instructions += strtoull(field[INSTRUCTIONS], NULL, 10);
		note(&trace.pids, strtoull(field[PID], NULL, 10));
		note(&trace.tids, strtoull(field[TID], NULL, 10));
	}
	if (f)
		fclose(f);
	return nr;
}

static uint64_t calls_of(const char *function)
{
	enum { NAME = 1, CALLS = 4, FIELDS };
	FILE *f = report("--xprof");
	char line[1024], *field[FIELDS];
	uint64_t nr = 0;

	while (f && fgets(line, sizeof(line), f)) {
		split(line, field, FIELDS);
		if (!strcmp(field[NAME], function))
			nr += strtoull(field[CALLS], NULL, 10);
	}
	if (f)
		fclose(f);
	return nr;
}

static bool calls_are(const char *function, uint64_t want)
{
	uint64_t got = calls_of(function);

	if (got != want)
		printf("# %s: %" PRIu64 " calls, not %" PRIu64 "\n", function, got, want);
	return got == want;
}

static bool ended_by(const char *kind, uint64_t want)
{
	uint64_t got = blocks_ended_by(kind);

	if (got != want)
		printf("# %" PRIu64 " blocks end by %s, not %" PRIu64 "\n", got, kind, want);
	return got == want;
}

static bool laws_hold(void)
{
	char *const argv[] = { "/arcprof", "report", "-i", TRACE, "--check", NULL };
	bool good = !run_counted(argv, "/tmp/report", "/dev/null", NULL);
	FILE *f = fopen("/tmp/report", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "ok ", 3)) {
			printf("# %s", line);
			good = false;
		}
	if (f)
		fclose(f);
	return good && f;
}

/* Status of the program; what it printed is in /tmp/out. */
static int itrace(char *const more[], int nr_more, const char *program)
{
	char *argv[16] = { "/arcprof", "itrace", "--no-java", "-q", "-o", TRACE };
	int i, n = 6, status;

	for (i = 0; i < nr_more; i++)
		argv[n++] = more[i];
	if (program) {
		argv[n++] = "--";
		argv[n++] = (char *)program;
	}
	status = run(argv);
	blocks_ended_by(NULL);
	return laws_hold() ? status : -1;
}

/* ---- the tests ---- */

/* Without arguments, and descriptor 3 open, as it is when it is stepped. */
static uint64_t by_the_counter(const char *program)
{
	char *const argv[] = { (char *)program, NULL };
	uint64_t n = 0;

	return run_counted(argv, "/tmp/out", "/dev/null", &n) < 0 ? 0 : n;
}

static uint64_t by_stepcount(const char *program)
{
	char *const argv[] = { "/stepcount", (char *)program, NULL };

	return run_counted(argv, "/tmp/out", "/tmp/steps", NULL) < 0 ? 0 : strtoull(text_of("/tmp/steps"),
										    NULL, 10);
}

enum against { COUNTER, COUNTER_AND_STEPPER };

static void total(const char *program, int status, enum against against)
{
	uint64_t counter = by_the_counter(program),
		 steps = against == COUNTER_AND_STEPPER ? by_stepcount(program) : 0;
	int got = itrace(NULL, 0, program);

	printf("# %s: traced %" PRIu64 ", the CPU's counter %" PRIu64 ", another stepper %" PRIu64 "\n",
	       program,
	       trace.instructions, counter, steps);
	if (got != status)
		printf("# %s ended with %d\n", program, got);
	ok(got == status && trace.instructions == counter, "steps: %s has as many instructions as the CPU counts", program);
	if (against == COUNTER_AND_STEPPER)
		ok(trace.instructions == steps, "steps: %s has as many as an independent stepper counts",
		   program);
}

static void test_known(void)
{
	total("/known", 0, COUNTER_AND_STEPPER);
	ok(trace.instructions == 4 + 100 * 19 + 15, "steps: known: and as many as it has");
	ok(ended_by("call", 101) && ended_by("call-indirect", 100) && ended_by("return", 200) && ended_by("jump", 101) &&
	   ended_by("jump-indirect", 100) && ended_by("conditional", 300) && ended_by("exit", 1) &&
	   blocks_ended_by(NULL) == 903, "steps: known: branches of every kind are counted exactly");
	ok(calls_are("direct", 100) && calls_are("indirect", 100), "steps: known: so are calls");
}

static void test_calls(void)
{
	total("/calls", 0, COUNTER_AND_STEPPER);
	ok(calls_are("thrice", 2) && calls_are("recurse", 5) && calls_are("tail", 1) &&
	   calls_are("on_signal", 2) &&
	   calls_are("send", 2) && calls_are("between", 1) && calls_are("jumper", 1) &&
	   calls_are("catcher", 1) &&
	   calls_are("leaf", 9) && ended_by("interrupt", 2) && ended_by("iret", 2),
	   "steps: calls, tail calls, recursion, handlers and longjmp are matched");
}

/* With a libc: its locks are pairs of exclusive instructions. */
static void test_totals(void)
{
	total("/hello", 0, COUNTER);
}

static void test_traps(void)
{
	ok(itrace(NULL, 0, "/traps") == 0 && printed("4 traps"), "steps: a program keeps its own traps");
}

static void test_atomics(void)
{
	bool good = itrace(NULL, 0, "/atomics") == 0 && printed("160 160 160 0");

	ok(good && calls_are("add", 160) && calls_are("add_by_swap", 160) && calls_are("fail_to_swap", 160) &&
	   calls_are("add_locked", 160) && trace.tids.nr == 4,
	   "steps: load-exclusive and store-exclusive succeed, in four threads at once");
}

static void test_family(void)
{
	char *const follow[] = { "-f" };

	ok(itrace(NULL, 0, "/family") == 3 && printed("3675 5") && calls_are("in_thread", 3) && calls_are("in_child", 0) &&
	   trace.tids.nr == 4 && trace.pids.nr == 1, "steps: threads are traced, children only when asked");
	ok(itrace(follow, 1, "/family") == 3 && printed("3675 5") && calls_are("in_thread", 3) && calls_are("in_child", 1) &&
	   calls_are("in_image", 1) && ended_by("exec", 1) && trace.pids.nr == 2,
	   "steps: children are traced, and what they become");
}

static void test_bracket(void)
{
	char *const bracket[] = { "--bracket" };

	ok(itrace(bracket, 1, "/bracket") == 0 && printed("on 0 off 0 again -22") && calls_are("work", 3) &&
	   calls_are("leaf", 12) && ended_by("stop", 3), "steps: only brackets are traced");
}

static uint64_t cpu_ticks(pid_t pid)
{
	char path[64], *p;
	const char *text;
	uint64_t v = 0;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = text_of(path);
	p = strrchr(text, ')');
	for (i = 2; p && i < 14; i++)	/* utime is field 14 */
		p = strchr(p + 1, ' ');
	if (p)
		v = strtoull(p, NULL, 10);
	return v;
}

static void test_attached(void)
{
	char number[16];
	char *const limit[] = { "-p", number, "--limit", "3000" }, *const most[] = { "-p", number, "-d", "100ms" };
	uint64_t before;
	bool good;
	pid_t pid = fork();
	int i;

	if (pid == 0)
		for (;;)
			__asm__ volatile("");
	snprintf(number, sizeof(number), "%d", pid);
	good = itrace(limit, 4, NULL) == 0 && trace.instructions == 3000;
	good &= itrace(most, 4, NULL) == 0 && trace.instructions > 0;
	ok(good, "steps: a running process is traced");
	before = cpu_ticks(pid);
	for (i = 0; i < 100 && cpu_ticks(pid) <= before + 1; i++)
		usleep(50000);
	ok(cpu_ticks(pid) > before + 1 && waitpid(pid, NULL, WNOHANG) == 0, "steps: let go, it runs on");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Who steps is killed some time on. */
static void test_outlives(void)
{
	static char *const argv[] = { "/arcprof", "itrace", "-q", "-o", TRACE, "--", "/busy", NULL };
	bool good = true;
	int i, k;

	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			setpgid(0, 0);
			dup2(open("/tmp/out", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
			execv(argv[0], argv);
			_exit(126);
		}
		usleep(30000 + i * 60000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (k = 0; k < 400 && !*text_of("/tmp/out"); k++)
			usleep(20000);
		good &= printed("done");
	}
	ok(good, "steps: a program outlives arcprof's death, whenever that is");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = {
		{ "known", test_known }, { "calls", test_calls }, { "traps", test_traps },
		{ "atomics", test_atomics },
		{ "family", test_family }, { "bracket", test_bracket }, { "attached", test_attached },
		{ "outlives", test_outlives }, { "totals", test_totals },
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (argc < 2 || !strcmp(argv[1], tests[i].name))
			tests[i].test();
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
