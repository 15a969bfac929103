// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - what arcprof counts and samples by hardware counters, against programs that execute a known
 * number of instructions.
 *
 *	counters exact		both counters are there, and time is the number of instructions (!icount):
 *				then a cycle is an instruction
 *	counters limits		there, kernel.perf_event_max_sample_rate is lower than what is asked for
 *	counters missing	the other machine, which has cycles but no instructions
 *
 *	counters spin N		a program of N instructions
 *	counters parts N	and of three times N in one function, N in another
 *	counters yields N	two processes that yield the CPU to each other
 *	counters nobody COMMAND	a command, run by a user without privileges
 *
 * Lines that begin with "= " must be the same at each boot (!twice).
 */
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include "command.h"

#ifdef __aarch64__
/* Periods are primes: one that divides a loop would hit the same instructions each time. */
enum { N = 20000000, PERIOD = 99991, LONG_N = 200000000, LONG_PERIOD = 9999991 };

static __attribute__((noinline)) void spin(uint64_t n)
{
	n /= 2;
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n) : : "cc");
}

static __attribute__((noinline)) void three_parts(uint64_t n)
{
	spin(3 * n);
	__asm__ volatile("");
}

static __attribute__((noinline)) void one_part(uint64_t n)
{
	spin(n);
	__asm__ volatile("");
}

static int nobody(char **argv)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return 9;
	execv(argv[0], argv);
	return 8;
}

/* ---- what a command said ---- */

static struct {
	int status;
	char *out, *err;
} said;

static __attribute__((format(printf, 1, 2))) const char *say(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	free(said.out);
	free(said.err);
	said.status = run(line, "/tmp/out", "/tmp/err");
	said.out = slurp("/tmp/out");
	said.err = slurp("/tmp/err");
	return said.out;
}

/* The command ended with that status; else it says what it said. */
static bool ended(int status, const char *what)
{
	bool good = ok(said.status == status, "%s: ends with %d (%d)", what, status, said.status);

	if (!good) {
		show("/tmp/out");
		show("/tmp/err");
	}
	return good;
}

/* It says that. */
static void says(const char *text, const char *what, const char *word)
{
	if (!ok(strstr(text, word) != NULL, "%s: says \"%.*s\"", what, (int)strcspn(word, "\n"), word)) {
		show("/tmp/out");
		show("/tmp/err");
	}
}

/* The first number behind "key": in JSON, or -1. */
static int64_t number(const char *json, const char *key)
{
	char quoted[64];
	const char *p;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	p = strstr(json, quoted);
	p = p ? p + strlen(quoted) : "";
	return *p >= '0' && *p <= '9' ? strtoll(p, NULL, 10) : -1;
}

/* Number of the column of CSV with that name, or -1. */
static int column_of(const char *csv, const char *name)
{
	const char *p = csv;
	size_t len;

	for (int at = 0; ; at++) {
		len = strcspn(p, ",\n");
		if (len == strlen(name) && !strncmp(p, name, len))
			return at;
		if (p[len] != ',')
			return -1;
		p += len + 1;
	}
}

static const char *cell_at(const char *row, int at)
{
	for (; at; at--)
		row += strcspn(row, ",\n") + 1;
	return row;
}

/* What the first row with that key (or KEY.suffix) has in a column of CSV; -1: nothing, or no number. */
static int64_t cell(const char *csv, const char *key_column, const char *key, const char *column)
{
	int at = column_of(csv, column), key_at = column_of(csv, key_column);

	for (const char *row = strchr(csv, '\n'); row && row[1] && at >= 0 && key_at >= 0;
	     row = strchr(row + 1, '\n')) {
		const char *name = cell_at(row + 1, key_at), *value = cell_at(row + 1, at);

		if (strncmp(name, key, strlen(key)) || (*key && !strchr(",.", name[strlen(key)])))
			continue;
		return *value >= '0' && *value <= '9' ? strtoll(value, NULL, 10) : -1;
	}
	return -1;
}

static bool near(int64_t got, int64_t want, double percent)
{
	return llabs(got - want) <= want * percent / 100;
}

/* ---- both counters ---- */

struct pair {
	int64_t cycles, instructions;
};

static struct pair cpi(const char *as, int64_t n)
{
	/* as long whatever the number is */
	const char *out = say("%s/arcprof cpi --format json -- /counters spin %012" PRId64, as, n);

	return (struct pair){ number(out, "cycles"), number(out, "instructions") };
}

static void cpi_of_a_program(void)
{
	struct pair once = cpi("/counters nobody ", N), again = cpi("/counters nobody ", N),
		    twice = cpi("/counters nobody ", 2 * N), all, all_twice;

	ok(strstr(said.out, "\"user_mode_only\":true") != NULL, "cpi: a user without privileges counts user mode");
	ok(once.instructions > N && !memcmp(&once, &again, sizeof(once)), "cpi: the same program has the same counts each time");
	ok(twice.instructions - once.instructions == N && twice.cycles - once.cycles == N,
	   "cpi: %" PRId64 " more instructions and %" PRId64 " more cycles, of %d",
	   twice.instructions - once.instructions, twice.cycles - once.cycles, N);
	printf("= cpi %" PRId64 " %" PRId64 "\n", once.instructions, twice.instructions);
	all = cpi("", N);
	all_twice = cpi("", 2 * N);
	ok(near(all_twice.instructions - all.instructions, N, 1), "cpi: with the kernel %" PRId64 " more",
	   all_twice.instructions - all.instructions);
	ok(all.cycles == all.instructions && all_twice.cycles == all_twice.instructions,
	   "cpi: a cycle is an instruction");
	say("/arcprof cpi -- /counters spin %d", N);
	says(said.out, "cpi", "** Counters: cycles, instructions\n");
	says(said.out, "cpi", "    1.000\n");
}

static void cpi_of_the_machine(void)
{
	struct pair p;
	const char *out = say("/arcprof cpi -a --summary --format json -- /counters spin %d", 10 * N);

	p = (struct pair){ number(out, "cycles"), number(out, "instructions") };
	ok(p.instructions > 10 * N && near(p.instructions, 10 * N, 3) && near(p.cycles, p.instructions, 0.1),
	   "cpi: the machine has %" PRId64 " and %" PRId64 " of %d", p.cycles, p.instructions, 10 * N);
}

static struct pair mpevt(void)
{
	const char *out = say("/arcprof mpevt read --summary --format csv");

	return (struct pair){ cell(out, "event", "cycles", "count"), cell(out, "event", "instructions", "count") };
}

/* What the commands themselves and the kernel take is the same without the program, but for a little. */
static void mpevt_of_the_machine(void)
{
	struct pair at[3];
	int64_t cycles, instructions;

	say("/arcprof mpevt start cycles instructions");
	ended(0, "mpevt start");
	at[0] = mpevt();
	say("/counters spin %d", 2 * N);
	at[1] = mpevt();
	say("/counters spin %d", N);
	at[2] = mpevt();
	cycles = (at[1].cycles - at[0].cycles) - (at[2].cycles - at[1].cycles);
	instructions = (at[1].instructions - at[0].instructions) - (at[2].instructions - at[1].instructions);
	ok(at[0].cycles > 0 && near(cycles, N, 1) && near(instructions, N, 1),
	   "mpevt: %" PRId64 " cycles and %" PRId64 " instructions of %d", cycles, instructions, N);
	say("/arcprof mpevt stop");
	ended(0, "mpevt stop");
}

/* The first row is the process. */
static struct pair ptt(const char *backend, int64_t n)
{
	const char *out = say("/arcprof ptt run --backend %s -e cycles,instructions --cpi --format csv -- /counters spin %012" PRId64,
			      backend, n);

	return (struct pair){ cell(out, "pid", "", "cycles"), cell(out, "pid", "", "instructions") };
}

/* How often the kernel dispatches the program is not the same each time; its own time is without that. */
static void ptt_by(const char *backend)
{
	struct pair once = ptt(backend, N), twice;
	int64_t ns;

	if (!ended(0, backend))
		return;
	ok(cell(said.out, "pid", "", "cpi") == 1, "ptt %s: CPI is 1", backend);
	twice = ptt(backend, 2 * N);
	ns = cell(said.out, "pid", "", "task-clock_ns");
	ok(once.instructions > N && near(twice.instructions - once.instructions, N, 0.5) &&
		   near(twice.cycles - once.cycles, N, 0.5),
	   "ptt %s: %" PRId64 " and %" PRId64 " more of %d", backend, twice.cycles - once.cycles,
	   twice.instructions - once.instructions, N);
	ok(near(twice.instructions, ns, 0.01) && near(twice.cycles, ns, 0.01),
	   "ptt %s: %" PRId64 " instructions in %" PRId64 " ns, one each", backend, twice.instructions, ns);
}

/* ---- samples ---- */

/* What samples say of a function and its callees, in periods. */
static int64_t periods_of(const char *function, const char *event, int64_t period)
{
	char column[64];

	snprintf(column, sizeof(column), "cum:%s", event);
	return cell(said.out, "name", function, column) / period;
}

/*
 * more: percent of samples beside the ones that the loops have due, as interrupts of the kernel are in them,
 * too.
 */
static void sampled(const char *event, int64_t n, int64_t period, double more)
{
	int64_t due = 4 * n / period, most = due + due * more / 100 + 1, all, three, one;

	say("/arcprof record -e %s -c %" PRId64 " -o /tmp/trace -- /counters parts %" PRId64, event, period,
	    n);
	if (!ended(0, "record"))
		return;
	all = number(say("/arcprof report -i /tmp/trace --xprof --format json"), "samples");
	say("/arcprof report -i /tmp/trace --xprof --format csv");
	three = periods_of("three_parts", event, period);
	one = periods_of("one_part", event, period);
	ok(three + one >= due - 1 && three + one <= most,
	   "record -e %s: %" PRId64 " of %" PRId64 " samples are of the loops", event, three + one, due);
	ok(all >= three + one && all <= most + 1000000 / period, "record -e %s: of %" PRId64 " in all", event,
	   all);
	ok(llabs(three - 3 * one) <= 3 + three * more / 100,
	   "record -e %s: %" PRId64 " to %" PRId64 " are three to one", event, three, one);
	say("/arcprof report -i /tmp/trace --check");
	ended(0, "report --check");
	if (!more)
		printf("= record %s %" PRId64 " %" PRId64 "\n", event, three, one);
}

static void yields(uint64_t n)
{
	pid_t pid = fork();

	while (n--)
		sched_yield();
	if (pid)
		waitpid(pid, NULL, 0);
}

/*
 * The scheduler disables interrupts, those of counters among them: it is hit where it enables them again,
 * which some kernels do in a function of its own.
 */
static void late_in_the_kernel(void)
{
	int64_t all, there, inner;

	say("/arcprof record -e cycles:k -c 20011 -o /tmp/trace -- /counters yields 20000");
	if (!ended(0, "record -e cycles:k"))
		return;
	all = number(say("/arcprof report -i /tmp/trace --xprof --format json"), "total");
	say("/arcprof report -i /tmp/trace --xprof --format csv");
	there = cell(said.out, "name", "finish_task_switch", "base:cycles:k");
	inner = cell(said.out, "name", "arch_local_irq_enable", "base:cycles:k");
	there = inner > there ? inner : there;
	ok(there > all * 0.3, "record -e cycles:k: %.1f %% of yields is where interrupts are enabled",
	   100. * there / all);
}

static void exact(void)
{
	cpi_of_a_program();
	cpi_of_the_machine();
	mpevt_of_the_machine();
	ptt_by("bpf");
	ptt_by("module");
	sampled("cycles", N, PERIOD, 2);
	sampled("cycles:u", N, PERIOD, 0);
	/* at most one at each tick of the timer: QEMU sees an overflow of this counter no earlier */
	sampled("instructions", LONG_N, LONG_PERIOD, 2);
	late_in_the_kernel();
}

/* ---- limits of the kernel ---- */

static bool allow(int rate)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "we");
	bool good = f && fprintf(f, "%d\n", rate) > 0;

	return f && !fclose(f) && good;
}

/* Records a program of n instructions; least: percent of them, or of their time, that samples must have. */
static void limited(int rate, const char *opts, const char *warning, int64_t n, double least)
{
	char what[128];
	int64_t all;

	snprintf(what, sizeof(what), "%d a second, record %s", rate, opts);
	ok(allow(rate), "%s: the kernel's limit is set", what);
	say("/arcprof record %s -o /tmp/trace -- /counters spin %" PRId64, opts, n);
	if (!ended(0, what))
		return;
	says(said.err, what, warning);
	printf("# %s", said.err);
	all = number(say("/arcprof report -i /tmp/trace --xprof --format json"), "total");
	ok(all >= n * least / 100 && all <= n * 1.1, "%s: samples weigh %" PRId64 " of %" PRId64, what, all,
	   n);
}

static void faster_meanwhile(void)
{
	pid_t pid;

	allow(500);
	unlink("/tmp/trace");
	pid = start("/arcprof record -e cycles -F 100 -o /tmp/trace -- /counters spin 1000000000",
		    "/tmp/recorder", "/tmp/recorder");
	while (access("/tmp/trace", F_OK))
		usleep(10000);
	say("/arcprof ctl set interval cycles=501hz");
	ended(1, "ctl set interval");
	says(said.err, "ctl set interval", "'501hz': at most 500hz (kernel.perf_event_max_sample_rate)");
	say("/arcprof ctl set interval cycles=200hz");
	ended(0, "ctl set interval");
	kill(pid, SIGINT);
	waitpid(pid, NULL, 0);
}

static void limits(void)
{
	limited(1000, "-e cycles -F 5000", "5000 samples per second are capped at 750", LONG_N, 90);
	limited(1000, "-e cycles -F max", "samples of cycles", LONG_N, 90);
	/* the period that the kernel adapts hits some ticks twice */
	limited(500, "-e cycles", "999 samples per second are capped at 250", LONG_N, 80);
	limited(500, "", "999 samples per second are capped at 250", LONG_N, 80);
	limited(500, "-e cpu-clock", "a sample is taken every 4200.0 us", LONG_N, 95);
	limited(500, "-e cpu-clock --clock=thread", "a sample is taken every 4200.0 us", LONG_N, 95);
	limited(500, "-e cpu-clock -c 100000", "a sample is taken every 4200.0 us", LONG_N, 95);
	limited(50, "-e cpu-clock", "a sample is taken every 25000.0 us", 4 * LONG_N, 80);
	/* each of them is stopped at its sample: the trace knows why something is missing */
	says(say("/arcprof dump /tmp/trace"), "dump", "account.why\" value=\"the kernel held sampling back");
	faster_meanwhile();
	allow(100000);
}

/* ---- one counter of two ---- */

static void missing(void)
{
	static const char reason[] = "this machine offers no such hardware counter";
	struct pair p = cpi("", N);

	ended(0, "cpi");
	ok(p.cycles > N / 2 && p.instructions < 0, "cpi: cycles alone (%" PRId64 ")", p.cycles);
	says(said.out, "cpi", "\"cpi\":null");
	says(said.out, "cpi", reason);
	say("/arcprof cpi -- /counters spin %d", N);
	says(said.out, "cpi", "** Counters: cycles\n");
	says(said.out, "cpi", "** Instructions, CPI: n/a: this machine offers no such hardware counter\n");
	says(said.out, "cpi", "              n/a      n/a\n");
	p = cpi("/counters nobody ", N);
	ok(p.cycles > N / 2 && p.instructions < 0, "cpi: of user mode, too (%" PRId64 ")", p.cycles);
	say("/arcprof cpi -r 0.2");
	ended(0, "cpi of the machine");
	says(said.out, "cpi of the machine", "** Counters: cycles\n");

	say("/arcprof mpevt start cycles instructions context-switches");
	ended(0, "mpevt start");
	says(said.err, "mpevt start", "n/a: instructions: this machine offers no such hardware counter");
	p = mpevt();
	ok(p.cycles > 0 && p.instructions < 0, "mpevt: cycles alone (%" PRId64 ")", p.cycles);
	ok(cell(said.out, "event", "context-switches", "count") >= 0, "mpevt: and what software counts");
	say("/arcprof mpevt start instructions");
	ended(1, "mpevt start of what there is not");
	say("/arcprof mpevt start page-faults no-such-event");
	ended(1, "mpevt start of what nobody knows");
	say("/arcprof mpevt read page-faults");
	ended(1, "mpevt start of what nobody knows starts nothing");
	say("/arcprof mpevt stop");

	say("/arcprof ptt run --backend bpf -e cycles,instructions --cpi -- /counters spin %d", N);
	ended(0, "ptt --cpi");
	says(said.out, "ptt --cpi", "     n/a  counters\n");
	say("/arcprof ptt run --backend bpf -e cycles,instructions --format csv -- /counters spin %d", N);
	ended(0, "ptt");
	says(said.err, "ptt", "n/a: instructions: this machine offers no such hardware counter");
	ok(cell(said.out, "pid", "", "cycles") > N / 2, "ptt: cycles alone (%" PRId64 ")", cell(said.out, "pid", "", "cycles"));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc > 2 && !strcmp(what, "spin")) {
		spin(strtoull(argv[2], NULL, 10));
	} else if (argc > 2 && !strcmp(what, "parts")) {
		three_parts(strtoull(argv[2], NULL, 10));
		one_part(strtoull(argv[2], NULL, 10));
	} else if (argc > 2 && !strcmp(what, "yields")) {
		yields(strtoull(argv[2], NULL, 10));
	} else if (argc > 2 && !strcmp(what, "nobody")) {
		return nobody(argv + 2);
	} else if (!strcmp(what, "exact")) {
		exact();
	} else if (!strcmp(what, "limits")) {
		limits();
	} else if (!strcmp(what, "missing")) {
		missing();
	}
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
