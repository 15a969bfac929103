// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engines.c - arcprof itrace by the kernel module and by ptrace: the same programs, the same reports,
 * at very different speeds; and what becomes of a program whose tracer is killed.
 *
 *	engines			all tests
 *	engines absent		the module is not loaded
 *	engines rate		how fast they are
 */
#ifdef __x86_64__
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include "api/arcprof.h"
#include "command.h"

enum { TRAP_FLAG = 0x100 };

static const char *const engine[2] = { "module", "ptrace" };

/* ---- arcprof ---- */

struct said {
	int status;
	uint64_t insns, branches, threads;
	double rate;
};

/* Traces a program to /tmp/<engine>. */
static struct said trace(int e, const char *opts, const char *program)
{
	struct said s = { 0 };
	char line[512], *text, *at;

	snprintf(line, sizeof(line), "/arcprof itrace --no-java --engine=%s -o /tmp/%s %s -- %s", engine[e],
		 engine[e], opts,
		 program);
	s.status = run(line, "/tmp/out", "/tmp/err");
	text = slurp("/tmp/err");
	at = strstr(text, " instructions, ");
	while (at && at > text && at[-1] != ' ')
		at--;
	if (!at || sscanf(at, "%" SCNu64 " instructions, %" SCNu64 " branches in %" SCNu64 " thread",
			  &s.insns, &s.branches,
			  &s.threads) != 3)
		show("/tmp/err");
	at = strstr(text, " s, ");
	s.rate = at ? strtod(at + 4, NULL) : 0;
	free(text);
	return s;
}

/* ---- reports of both, compared ---- */

/* Numbers of threads and processes are others each time. */
static void without_ids(char *line)
{
	static const char *const before[] = { "[tid ", "[pid " }, hex[] = "0123456789abcdef";
	char *p;

	for (size_t i = 0; i < 2; i++)
		for (p = line; (p = strstr(p, before[i]));) {
			size_t digits = strspn(p += 5, hex);

			memmove(p, p + digits, strlen(p + digits) + 1);
		}
	p = strchr(line, '_');
	while (p) {			/* "5f_60_name" of an arc file */
		char *from = p, *to = p + 1 + strspn(p + 1, hex);

		while (from > line && strchr(hex, from[-1]))
			from--;
		if (from < p && from > line && from[-1] == ' ' && *to == '_') {
			memmove(from, to, strlen(to) + 1);
			return;
		}
		p = strchr(p + 1, '_');
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct lines {
	char *text, **line;
	size_t nr;
};

/* Lines of a report without its head and without numbers of threads; those with a word, in any order. */
static struct lines lines_of(int e, const char *what, const char *word)
{
	struct lines l = { 0 };
	char cmd[256], *save, *head, *at;

	snprintf(cmd, sizeof(cmd), "/arcprof report -i /tmp/%s %s", engine[e], what);
	if (run(cmd, "/tmp/report", "/tmp/err"))
		show("/tmp/err");
	l.text = slurp("/tmp/report");
	head = strstr(l.text, "Units ::");
	for (char *s = strtok_r(head ? head : l.text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		if (*s == '#' || (word && !strstr(s, word)))
			continue;
		without_ids(s);
		if (word && (at = strstr(s, " ? ")))	/* another thread's line is before it, or not */
			at[1] = '@';
		l.line = realloc(l.line, (l.nr + 1) * sizeof(*l.line));
		l.line[l.nr++] = s;
	}
	if (word)
		qsort(l.line, l.nr, sizeof(*l.line), by_text);
	return l;
}

static void same_report(const char *program, const char *what, const char *word)
{
	struct lines l[2] = { lines_of(0, what, word), lines_of(1, what, word) };
	size_t i = 0;

	while (i < l[0].nr && i < l[1].nr && !strcmp(l[0].line[i], l[1].line[i]))
		i++;
	ok(i == l[0].nr && i == l[1].nr && i > 10, "%s: report %s has the same %zu lines", program, what, i);
	if (i < l[0].nr || i < l[1].nr)
		printf("# module: %s\n# ptrace: %s\n", i < l[0].nr ? l[0].line[i] : "-",
		       i < l[1].nr ? l[1].line[i] : "-");
	for (int e = 0; e < 2; e++) {
		free(l[e].line);
		free(l[e].text);
	}
}

/* How threads wait for each other is another matter each time: then only lines with a word are compared. */
static void same(const char *opts, const char *program, int status, uint64_t nr_threads, const char *word)
{
	struct said s[2] = { trace(0, opts, program), trace(1, opts, program) };
	bool counts = s[0].insns == s[1].insns && s[0].branches == s[1].branches;

	ok(s[0].status == status && s[1].status == status, "%s: its status is %d (%d, %d)", program, status,
	   s[0].status,
	   s[1].status);
	ok((counts || nr_threads > 1) && s[0].threads == nr_threads && s[1].threads == nr_threads,
	   "%s: %" PRIu64 " instructions, %" PRIu64 " branches, %" PRIu64 " threads (ptrace %" PRIu64 ", %"
	   PRIu64 ", %" PRIu64
	   ")", program, s[0].insns, s[0].branches, s[0].threads, s[1].insns, s[1].branches, s[1].threads);
	if (nr_threads == 1) {
		same_report(program, "--xarc", NULL);
		same_report(program, "--arc --every-instruction", NULL);
	} else {
		same_report(program, "--arc --every-instruction", word);
	}
	ok(run("/arcprof report -i /tmp/module --check", "/tmp/report", "/tmp/err") == 0, "%s: the model's laws hold",
	   program);
}

/* ---- programs ---- */

/* Spins, while signals are handled; tells whether it goes on, and whether it has seen a trap flag. */
struct life {
	uint64_t rounds, nr_flags, nr_signals;
};

static struct life *life;

static void on_alarm(int sig)
{
	life->nr_signals++;
}

static struct life *shared_life(void)
{
	int fd = open("/tmp/life", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	return ftruncate(fd, sizeof(struct life)) ?
		       NULL : mmap(NULL, sizeof(struct life), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void *live(void *arg)
{
	uint64_t flags;

	for (;;) {
		__asm__ volatile("pushf; pop %0" : "=r"(flags) : : "memory");
		__atomic_add_fetch(&life->nr_flags, !!(flags & TRAP_FLAG), __ATOMIC_RELAXED);
		__atomic_add_fetch(&life->rounds, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static int program_lives(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	pthread_t p;

	life = shared_life();
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&p, NULL, live, NULL);
	arcprof_itrace_on();			/* if there are brackets */
	live(NULL);
	return 0;
}

/* Two functions one after the other at the same place, each in a mapping of its own. */
static int program_maps(void)
{
	static const unsigned char code[2][8] = {
		{ 0xb8, 1, 0, 0, 0, 0xc3 },		/* mov $1, %eax; ret */
		{ 0xb8, 2, 0, 0, 0, 0x90, 0xc3 },	/* mov $2, %eax; nop; ret */
	};
	void *place = (void *)0x10000000;
	int sum = 0;

	for (int i = 0; i < 2; i++) {
		if (mmap(place, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
			return 9;
		memcpy(place, code[i], sizeof(code[i]));
		sum += ((int (*)(void))place)();
	}
	return sum;
}

static void *becomes_hello(void *arg)
{
	char *const argv[] = { "/hello", NULL }, *const envp[] = { NULL };

	execve(argv[0], argv, envp);
	return arg;
}

/* Another thread than the first one executes a program: its number becomes the process's. */
static int program_execs(void)
{
	pthread_t p;

	pthread_create(&p, NULL, becomes_hello, NULL);
	pthread_join(p, NULL);
	return 9;
}

static int program_spins(uint64_t n)
{
	__asm__ volatile("1:	nop\n"
			 "	dec %0\n"
			 "	jnz 1b\n" : "+r"(n) : : "cc");
	return 0;
}

/* ---- what is not a comparison ---- */

/* Waits until the number grows by that many. */
static bool grows(const uint64_t *n, uint64_t by)
{
	uint64_t before = __atomic_load_n(n, __ATOMIC_RELAXED);

	for (int i = 0; i < 500; i++) {
		if (__atomic_load_n(n, __ATOMIC_RELAXED) >= before + by)
			return true;
		usleep(20000);
	}
	return false;
}

/* The one child that has come to us from arcprof. */
static pid_t orphan(pid_t arcprof)
{
	char path[64], *text;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)arcprof, (int)arcprof);
	text = slurp(path);
	pid = atoi(text);
	free(text);
	return pid;
}

/* Freely, and until it is told to end. */
static void runs_freely(const char *when, pid_t pid)
{
	int status = 0;

	life->nr_flags = 0;
	ok(grows(&life->rounds, 100000) && grows(&life->nr_signals, 3), "%s: the program runs on, and handles signals", when);
	ok(life->nr_flags == 0, "%s: no trap flag is left", when);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "%s: until it is told to end (%#x)", when,
	   status);
}

static void killed(const char *how)
{
	pid_t arcprof, pid;
	char line[256];

	memset(life, 0, sizeof(*life));
	snprintf(line, sizeof(line), "/arcprof itrace --no-java --engine=module -o /tmp/killed %s -- /engines lives", how);
	arcprof = start(line, "/tmp/out", "/tmp/err");
	ok(grows(&life->rounds, 1000) && grows(&life->nr_signals, 2), "killed: a program is traced %s", how);
	pid = orphan(arcprof);
	kill(arcprof, SIGKILL);
	waitpid(arcprof, NULL, 0);
	runs_freely("killed", pid);
}

static void attached(void)
{
	struct said s = { 0 };
	char line[256], *text;
	pid_t pid;

	memset(life, 0, sizeof(*life));
	pid = start("/engines lives", "/tmp/out", "/tmp/err");
	ok(grows(&life->rounds, 1000), "attached: a program runs");
	snprintf(line, sizeof(line), "/arcprof itrace --engine=module -d 500ms -o /tmp/attached -p %d",
		 (int)pid);
	ok(run(line, "/tmp/out", "/tmp/err") == 0, "attached: it is traced for a while");
	text = slurp("/tmp/err");
	sscanf(strncmp(text, "arcprof itrace: ", 16) ? "" : text + 16,
	       "%" SCNu64 " instructions, %" SCNu64 " branches in %" SCNu64, &s.insns, &s.branches,
	       &s.threads);
	free(text);
	ok(s.insns > 1000 && s.threads == 2, "attached: %" PRIu64 " instructions in %" PRIu64 " threads",
	   s.insns, s.threads);
	ok(run("/arcprof report -i /tmp/attached --check", "/tmp/report", "/tmp/err") == 0, "attached: the model's laws hold");
	run("/arcprof report -i /tmp/attached --xprof", "/tmp/report", "/tmp/err");
	text = slurp("/tmp/report");
	ok(strstr(text, "live") && strstr(text, "on_alarm"), "attached: its functions have their names");
	free(text);
	runs_freely("attached", pid);
}

static void limit(void)
{
	struct said s = trace(0, "--limit 5000", "/calls"), p = trace(1, "--limit 5000", "/hello");

	ok(s.insns < 5000, "limit: one that is not reached (%" PRIu64 ")", s.insns);
	s = trace(0, "--limit 5000", "/hello");
	ok(s.insns == 5000 && p.insns == 5000 && s.status == 0, "limit: %" PRIu64 " of 5000 instructions",
	   s.insns);
	same_report("limit", "--xarc", NULL);
	same_report("limit", "--arc --every-instruction", NULL);
}

/* What arcprof_itrace_on() and _off() execute inside is not the same, but little. */
static void brackets(void)
{
	for (int e = 0; e < 2; e++) {
		struct said s = trace(e, "--bracket", "/bracket");
		char *text = slurp("/tmp/out");

		ok(s.status == 0 && s.threads == 1 && s.insns > 100 && s.insns < 500 && !strcmp(text, "on 0 off 0 again -22\n"),
		   "brackets: %s traces %" PRIu64 " instructions between them", engine[e], s.insns);
		free(text);
	}
	same_report("brackets", "--arc --every-instruction", " leaf:");
}

/*
 * In instructions of the machine, its kernel's among them; what a switch between processes costs
 * beside is not seen.
 */
static void rate(void)
{
	struct said m = trace(0, "", "/engines spins 100000"), b = trace(1, "--limit 20000", "/engines spins 100000"),
		    p = trace(1, "--single-steps --limit 5000", "/engines spins 100000");

	ok(m.insns > 300000 && m.status == 0 && p.insns >= 5000, "rate: %" PRIu64 " instructions", m.insns);
	printf("# rate: ptrace with breakpoints %.0f instructions per second\n", b.rate);
	ok(m.rate >= 10 * p.rate && p.rate > 0, "rate: module %.0f instructions per second, ptrace step by step %.0f: %.0f times",
	   m.rate, p.rate, m.rate / p.rate);
}

static int absent(void)
{
	char *text;

	ok(run("/arcprof itrace --engine=module -- /hello", "/tmp/out", "/tmp/err") == 125, "absent: --engine=module fails");
	text = slurp("/tmp/err");
	ok(strstr(text, "/dev/arcprof") && strstr(text, "insmod"), "absent: and says what to do");
	free(text);
	ok(run("/arcprof itrace --limit 1000 -o /tmp/absent -- /hello", "/tmp/out", "/tmp/err") == 0, "absent: ptrace steps then");
	run("/arcprof report -i /tmp/absent --arc", "/tmp/report", "/tmp/err");
	text = slurp("/tmp/report");
	ok(strstr(text, "by ptrace"), "absent: and the report says so");
	free(text);
	return done();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "absent"))
		return absent();
	if (argc > 1 && !strcmp(argv[1], "rate")) {
		rate();
		return done();
	}
	if (argc > 1 && !strcmp(argv[1], "lives"))
		return program_lives();
	if (argc > 1 && !strcmp(argv[1], "maps"))
		return program_maps();
	if (argc > 1 && !strcmp(argv[1], "execs"))
		return program_execs();
	if (argc > 2 && !strcmp(argv[1], "spins"))
		return program_spins(strtoull(argv[2], NULL, 10));
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	life = shared_life();
	same("", "/known", 0, 1, NULL);
	same("", "/hello", 0, 1, NULL);
	same("", "/traps", 0, 1, NULL);
	same("", "/engines maps", 3, 1, NULL);
	same("", "/engines execs", 0, 2, ":/hello");
	same("--follow", "/family", 3, 5, " in_");
	limit();
	brackets();
	killed("");
	killed("--bracket");
	attached();
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
