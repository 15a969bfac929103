// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptt-agree - holds the metrics of threads against the kernel's own clocks, as TAP.
 *
 *	ptt-agree BACKEND [TEST...]	bpf, module: a session is begun unless one runs; perf, clock
 *	ptt-agree BACKEND reads N	N readings of the own time between two calls of getppid()
 *
 * What must hold for a thread that runs: its time and the interrupts that hit it are what
 * CLOCK_THREAD_CPUTIME_ID says, within 0.2 %; for one that sleeps again and again, 1 %.  Granted is:
 *
 *  - of all but BPF at each dispatch, the time in the scheduler before it has chosen (SWITCH_CALLS), which
 *    is charged to the one thread by us and to the other by the kernel; BPF asks the kernel what it charged,
 *    when the thread leaves: only the two readings themselves are some microseconds late;
 *  - what a hypervisor stole from the CPU: the kernel may take it from the thread, we cannot;
 *  - what went to nobody because the kernel hid a switch (nr_lost, and the bucket of others).
 *
 * Kernels that account interrupts themselves (CONFIG_IRQ_TIME_ACCOUNTING) leave them out of that
 * clock: then it is compared with the time alone.  A flood of interrupts tells which it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "api/arcprof.h"
#include "api/area.h"
#include "api/ticks.h"
#include "ptt/ptt.h"

enum { RUN_MS = 300, TRIES = 3, HOPS = 100000, HOP_S = 40, READS_A_HOP = 40 };
/* Time in the scheduler a dispatch, in calls of getppid(); with waking up, more. */
enum { SWITCH_CALLS = 30, WAKE_CALLS = 100 };
enum { READS = 2000, READS_OF_SLEEPERS = 20 };	/* of the own time, between two looks at the clock */

static const char *backend;
static bool asks_kernel;	/* its times are the kernel's at each switch */
static int cpu;			/* where single threads run: the last one allowed */
static bool irq_in_clock = true;
static uint64_t call_ns;	/* of a small system call: how fast this machine is, or its emulation */
static int nr_tests, nr_failed;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void ok(bool good, const char *name)
{
	nr_tests++;
	nr_failed += !good;
	printf("%s %d - %s: %s\n", good ? "ok" : "not ok", nr_tests, backend, name);
}

static void die(const char *what, int code)
{
	printf("Bail out! %s: %s\n", what, strerror(code));
	exit(1);
}

static void move_to(int c)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(c, &s);
	sched_setaffinity(0, sizeof(s), &s);
}

static struct arcprof_thread *open_self(void)
{
	struct arcprof_thread *t = arcprof_thread_open();

	if (!t)
		die("arcprof_thread_open", errno);
	return t;
}

/* Ticks of 10 ms that the hypervisor took from the CPU. */
static uint64_t stolen_ns(void)
{
	unsigned long long v = 0;
	char line[256];
	FILE *f = fopen("/proc/stat", "re");
	int n;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu%d %*u %*u %*u %*u %*u %*u %*u %llu", &n, &v) == 2 && n == cpu)
			break;
	if (f)
		fclose(f);
	return v * (1000000000ull / sysconf(_SC_CLK_TCK));
}

/* ---- a thread and what it consumed ---- */

struct reading {
	struct arcprof_values v;
	uint64_t clock_ns;		/* CLOCK_THREAD_CPUTIME_ID */
};

/* The clock before and after: the values are as of the middle. */
static void read_both(struct arcprof_thread *t, struct reading *r)
{
	uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int ret = arcprof_thread_read(t, &r->v);

	if (ret)
		die("arcprof_thread_read", -ret);
	r->clock_ns = (before + clock_ns(CLOCK_THREAD_CPUTIME_ID)) / 2;
}

static struct arcprof_area area = { .fd = -1 };	/* of the session, if there is one */

/* What went to nobody, on all CPUs, if anything did. */
static uint64_t hidden_ns(void)
{
	uint64_t lost = 0, other = 0;
	struct arcprof_cpu c;
	uint32_t i;

	for (i = 0; area.header && i < area.header->nr_cpus; i++) {
		if (!arcprof_area_cpu(&area, i, &c))
			continue;
		lost += c.nr_lost;
		other += c.bucket[ARCPROF_BUCKET_OTHER];
	}
	return lost ? arcprof_area_ns(area.header, other) : 0;
}

/* Events that did not fit together, on all CPUs: switches that the kernel hid. */
static uint64_t hidden_switches(void)
{
	uint64_t lost = 0;
	struct arcprof_cpu c;
	uint32_t i;

	for (i = 0; area.header && i < area.header->nr_cpus; i++)
		if (arcprof_area_cpu(&area, i, &c))
			lost += c.nr_lost;
	return lost;
}

struct job {
	const char *name;
	void (*step)(void);		/* what the thread does besides reading */
	struct reading from, to;
	uint64_t nr_reads, nr_back, stolen, hidden;
};

static void *work(void *arg)
{
	struct job *j = arg;
	struct arcprof_thread *t;
	uint64_t end, last = 0, now;
	int i;

	move_to(cpu);
	t = open_self();
	j->stolen = stolen_ns();
	j->hidden = hidden_ns();
	read_both(t, &j->from);
	end = clock_ns(CLOCK_MONOTONIC) + RUN_MS * 1000000ull;
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		for (i = 0; i < (j->step ? READS_OF_SLEEPERS : READS); i++, j->nr_reads++) {
			now = arcprof_thread_time_ns(t);
			j->nr_back += now < last;
			last = now;
		}
		if (j->step)
			j->step();
	}
	read_both(t, &j->to);
	j->stolen = stolen_ns() - j->stolen;
	j->hidden = hidden_ns() - j->hidden;
	arcprof_thread_close(t);
	return NULL;
}

/* ns that the kernel's clock says more than we do. */
static int64_t difference(const struct job *j, bool with_irq)
{
	uint64_t ours = j->to.v.time_ns - j->from.v.time_ns;

	if (with_irq)
		ours += j->to.v.irq_time_ns - j->from.v.irq_time_ns;
	return (int64_t)(j->to.clock_ns - j->from.clock_ns) - (int64_t)ours;
}

static uint64_t dispatches(const struct job *j)
{
	return j->to.v.dispatches - j->from.v.dispatches;
}

/* What the boundaries between threads explain. */
static uint64_t of_dispatches(const struct job *j)
{
	uint64_t calls = (j->step ? WAKE_CALLS : SWITCH_CALLS) * call_ns;

	if (!asks_kernel)
		return dispatches(j) * calls;
	return 2 * calls + (j->step ? (j->to.clock_ns - j->from.clock_ns) / 100 : 0);
}

static bool is_within(const struct job *j, int64_t diff)
{
	uint64_t clock = j->to.clock_ns - j->from.clock_ns;
	uint64_t allowed = clock / 500 + of_dispatches(j) + j->hidden;

	if (j->stolen)
		allowed += j->stolen + 10000000;
	return (uint64_t)llabs(diff) <= allowed;
}

static void show(const struct job *j)
{
	uint64_t clock = j->to.clock_ns - j->from.clock_ns;

	printf("# %-9s clock %.6f s, time %.6f, interrupts %.6f: %+.4f %% (%" PRIu64 " dispatches, %" PRIu64
	       " interrupts, %" PRIu64 " reads, stolen %.2f s, hidden %.4f s)\n",
	       j->name, clock / 1e9, (j->to.v.time_ns - j->from.v.time_ns) / 1e9,
	       (j->to.v.irq_time_ns - j->from.v.irq_time_ns) / 1e9,
	       -100.0 * difference(j, irq_in_clock) / (clock ? clock : 1), dispatches(j),
	       j->to.v.interrupts - j->from.v.interrupts, j->nr_reads, j->stolen / 1e9, j->hidden / 1e9);
}

static bool agrees(const struct job *j)
{
	show(j);
	return is_within(j, difference(j, irq_in_clock)) && !j->nr_back;
}

static void run_job(struct job *j, const char *name, void (*step)(void))
{
	pthread_t t;

	memset(j, 0, sizeof(*j));
	j->name = name;
	j->step = step;
	pthread_create(&t, NULL, work, j);
	pthread_join(t, NULL);
}

/* A machine that does other things at the same time gets more than one chance. */
static void expect_agreement(const char *name, const char *what, void (*step)(void))
{
	bool good = false;
	struct job j;
	int i;

	for (i = 0; i < TRIES && !good; i++) {
		run_job(&j, name, step);
		good = agrees(&j);
	}
	ok(good, what);
}

/* ---- the tests ---- */

static void test_busy(void)
{
	expect_agreement("busy", "a busy thread's time is the kernel's", NULL);
}

static void test_rival(void)
{
	struct job a, b;
	bool good = false;
	pthread_t t;
	int i;

	for (i = 0; i < TRIES && !good; i++) {
		memset(&b, 0, sizeof(b));
		b.name = "rival";
		pthread_create(&t, NULL, work, &b);
		run_job(&a, "preempted", NULL);
		pthread_join(t, NULL);
		good = agrees(&a);
		good &= agrees(&b);
	}
	ok(good, "two threads that share a CPU have what the kernel says");
}

static void on_alarm(int sig)
{
}

static void test_timer(void)
{
	struct itimerval on = { { 0, 500 }, { 0, 500 } }, off = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &on, NULL);
	expect_agreement("timer", "a thread under 2000 timer signals a second agrees", NULL);
	setitimer(ITIMER_REAL, &off, NULL);
}

static atomic_bool stop_flood;

/*
 * Each barrier interrupts the other CPUs that run this program. A change of protection does, too, but not
 * where a hypervisor makes them forget the page.
 */
static void *flood(void *arg)
{
	move_to(cpu ? cpu - 1 : 1);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	while (!atomic_load(&stop_flood))
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	return NULL;
}

/* Ticks alone are at most 1000 per second. */
static bool are_counted(const struct job *j)
{
	uint64_t ran = j->to.clock_ns - j->from.clock_ns;

	if (!(j->to.v.known & ARCPROF_KNOW_IRQ_TIME))
		return true;
	return (j->to.v.interrupts - j->from.v.interrupts) * 1000000000.0 > 2000.0 * ran;
}

static void test_flood(void)
{
	bool good = false, many = false;
	pthread_t t;
	struct job j;
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		ok(true, "a thread flooded with interrupts agrees # SKIP one CPU sends itself none");
		return;
	}
	atomic_store(&stop_flood, false);
	pthread_create(&t, NULL, flood, NULL);
	for (i = 0; i < TRIES && !(good && many); i++) {
		run_job(&j, "flooded", NULL);
		many |= are_counted(&j);
		irq_in_clock = is_within(&j, difference(&j, true)) || !is_within(&j, difference(&j, false));
		good = agrees(&j);
	}
	atomic_store(&stop_flood, true);
	pthread_join(t, NULL);
	printf("# the kernel's clock %s interrupts\n", irq_in_clock ? "includes" : "leaves out");
	ok(many, "interrupts are counted");
	ok(good, "a thread flooded with interrupts agrees");
}

static void nap(void)
{
	usleep(100);
}

/* It is dispatched so often that the boundary decides: what is left must be explained by it. */
static void test_sleeper(void)
{
	expect_agreement("sleeper", asks_kernel ? "a frequent sleeper's time is the kernel's" :
			 "a frequent sleeper differs by no more than its dispatches explain", nap);
}

/* ---- CPUs ---- */

struct cpu_reading {
	uint64_t sum, at;		/* of the buckets; of the reading, both ns */
	uint64_t before, after;		/* CLOCK_MONOTONIC around it */
	bool exact;			/* the sum is at - start */
};

static bool read_cpu(const struct arcprof_area *a, uint32_t n, struct cpu_reading *r)
{
	struct arcprof_cpu c;
	uint64_t sum = 0;
	int i;

	r->before = clock_ns(CLOCK_MONOTONIC);
	if (!arcprof_area_cpu(a, n, &c) || !(c.flags & ARCPROF_CPU_STARTED))
		return false;
	r->after = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < ARCPROF_NR_BUCKETS; i++)
		sum += c.bucket[i];
	r->sum = arcprof_area_ns(a->header, sum);
	r->exact = sum == c.last[0] - c.start;
	return true;
}

static void test_cpus(void)
{
	struct cpu_reading from[64], to[64];
	const struct arcprof_area *a = &area;
	bool exact = true, elapsed = true;
	uint32_t i, nr = 0;

	for (i = 0; i < a->header->nr_cpus && i < 64; i++)
		if (!read_cpu(a, i, &from[i]))
			from[i].sum = UINT64_MAX;
	usleep(RUN_MS * 1000);
	for (i = 0; i < a->header->nr_cpus && i < 64; i++) {
		if (from[i].sum == UINT64_MAX || !read_cpu(a, i, &to[i]))
			continue;
		uint64_t d = to[i].sum - from[i].sum, least = to[i].before - from[i].after;
		uint64_t most = to[i].after - from[i].before;

		printf("# CPU %u: buckets grew by %.6f s in %.6f to %.6f s\n", i, d / 1e9, least / 1e9,
		       most / 1e9);
		exact &= to[i].exact;
		elapsed &= d + d / 1000 >= least && d <= most + most / 1000;
		nr++;
	}
	ok(nr && exact, "the buckets of each CPU sum up to the time it was seen");
	ok(nr && elapsed, "which is the time that elapsed");
}

/* ---- the sequence protocol ---- */

struct hopper {
	const struct arcprof_slot *slot;
	uint32_t clock;
	uint64_t nr_reads, nr_back, nr_hops, largest;
	uint64_t hidden;		/* each puts what was read meanwhile right, forth or back */
};

static void hop_and_read(struct hopper *h)
{
	int nr = sysconf(_SC_NPROCESSORS_ONLN), i, k;
	uint64_t last = 0, now;

	uint64_t end = clock_ns(CLOCK_MONOTONIC) + HOP_S * 1000000000ull;

	for (i = 0; i < HOPS && clock_ns(CLOCK_MONOTONIC) < end; i++) {
		move_to(i % nr);
		h->nr_hops++;
		for (k = 0; k < READS_A_HOP; k++, h->nr_reads++) {
			now = arcprof_own_ticks(h->slot, h->clock);
			if (now < last) {
				h->nr_back++;
				h->largest = last - now > h->largest ? last - now : h->largest;
			}
			last = now;
		}
	}
}

struct watcher {
	const struct arcprof_area *a;
	uint32_t idx;
	atomic_bool stop;
	uint64_t nr_reads, nr_failed, nr_wild;
};

/* Another thread's view of it: never torn, never ahead of what can have passed. */
static void *watch(void *arg)
{
	struct watcher *w = arg;
	struct arcprof_slot s;
	uint64_t last = 0, then = 0, before, now;

	while (!atomic_load(&w->stop)) {
		w->nr_reads++;
		/*
		 * any time may pass between a clock and the place: from before the one reading to after the
		 * other
		 */
		before = clock_ns(CLOCK_MONOTONIC);
		if (!arcprof_area_slot(w->a, w->idx, &s)) {
			w->nr_failed++;
			continue;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		if (then && arcprof_area_ns(w->a->header, s.acc[0]) > last + (now - then) + 1000000)
			w->nr_wild++;
		last = arcprof_area_ns(w->a->header, s.acc[0]);
		then = before;
		if (w->nr_reads % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void *hopper(void *arg)
{
	struct watcher w = { .a = &area };
	struct hopper h = { 0 };
	pthread_t t;

	w.idx = arcprof_area_own_slot(&area, syscall(SYS_gettid));
	if (!w.idx)
		die("own slot", ESRCH);
	h.slot = &area.slots[w.idx];
	h.hidden = hidden_switches();
	h.clock = area.header->clock;
	pthread_create(&t, NULL, watch, &w);
	hop_and_read(&h);
	atomic_store(&w.stop, true);
	pthread_join(t, NULL);
	h.hidden = hidden_switches() - h.hidden;
	printf("# %" PRIu64 " hops, %" PRIu64 " reads, %" PRIu64 " went back (by %" PRIu64 " ticks at most); another "
	       "thread read %" PRIu64 " times, %" PRIu64 " failed, %" PRIu64 " wild; %" PRIu64 " switches hidden\n",
	       h.nr_hops, h.nr_reads, h.nr_back, h.largest, w.nr_reads, w.nr_failed, w.nr_wild, h.hidden);
	ok(h.nr_hops >= 1000 && h.nr_back <= h.hidden, "a thread that migrates again and again while it reads never goes back");
	ok(w.nr_reads && !w.nr_failed && w.nr_wild <= h.hidden,
	   "another thread reads it whole all the while");
	return NULL;
}

static void test_migrate(void)
{
	pthread_t t;

	pthread_create(&t, NULL, hopper, NULL);
	pthread_join(t, NULL);
}

/* ---- which ---- */

static const struct {
	const char *name;
	void (*run)(void);
	bool needs_slots;
} tests[] = {
	{ "flood", test_flood, false },		/* first: it finds out about the kernel's clock */
	{ "busy", test_busy, false },
	{ "rival", test_rival, false },
	{ "timer", test_timer, false },
	{ "sleeper", test_sleeper, false },
	{ "cpus", test_cpus, true },
	{ "migrate", test_migrate, true },
};

static bool is_asked_for(const char *name, int nr, char **names)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !nr;
}

static void last_cpu(void)
{
	cpu_set_t s;
	int i;

	sched_getaffinity(0, sizeof(s), &s);
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &s))
			cpu = i;
}

/* The quickest of some: others are interrupted. */
static void time_a_call(void)
{
	uint64_t start, ns;
	int i, k;

	call_ns = UINT64_MAX;
	for (i = 0; i < 20; i++) {
		start = clock_ns(CLOCK_MONOTONIC);
		for (k = 0; k < 100; k++)
			syscall(SYS_getppid);
		ns = (clock_ns(CLOCK_MONOTONIC) - start) / 100;
		call_ns = ns < call_ns ? ns : call_ns;
	}
}

/* What a system call trace shows between two getppid(). */
static int read_between_marks(unsigned long nr)
{
	struct arcprof_thread *t = open_self();
	uint64_t sum = 0;

	arcprof_thread_time_ns(t);
	syscall(SYS_getppid);
	while (nr--)
		sum += arcprof_thread_time_ns(t);
	syscall(SYS_getppid);
	arcprof_thread_close(t);
	return sum == 0;
}

static bool begin_session(void)
{
	struct ptt_config c = { .backend = backend, .nr_slots = 4096, .interrupts = true };
	const struct ptt_backend *used;
	struct err e = { 0 };
	int r = ptt_start(&c, &used, &e);

	if (r && r != -EEXIST) {
		printf("Bail out! %s\n", e.msg);
		exit(1);
	}
	return !r;
}

int main(int argc, char **argv)
{
	bool slots = argc > 1 && (!strcmp(argv[1], "bpf") || !strcmp(argv[1], "module")), mine = false;
	struct err e;
	size_t i;
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: ptt-agree bpf|module|perf|clock [reads <n> | <test>...]\n");
		return 2;
	}
	backend = argv[1];
	asks_kernel = !strcmp(backend, "bpf");
	setvbuf(stdout, NULL, _IOLBF, 0);
	last_cpu();
	if (slots)
		mine = begin_session();
	r = arcprof_init(backend);
	if (r) {
		if (mine)
			ptt_stop(&e);
		die("arcprof_init", -r);
	}
	if (slots) {
		r = arcprof_area_open(&area, strcmp(backend, "bpf") ? ARCPROF_MODULE : ARCPROF_BPF);
		if (r)
			die("the area", -r);
	}
	if (argc == 4 && !strcmp(argv[2], "reads")) {
		nr_failed = read_between_marks(strtoul(argv[3], NULL, 10));
	} else {
		time_a_call();
		for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
			if (is_asked_for(tests[i].name, argc - 2, argv + 2) &&
			    (slots || !tests[i].needs_slots))
				tests[i].run();
		printf("1..%d\n", nr_tests);
	}
	arcprof_term();
	if (mine)
		ptt_stop(&e);
	return nr_failed != 0;
}
