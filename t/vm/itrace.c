// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * itrace.c - the module's trace of instructions: its counts against a stepper by ptrace and
 * against programs whose counts are known, and what must not harm the traced program.
 *
 * On every trace, chains(): each block begins where the record before led to, its bytes can hold
 * its instructions, and all blocks together have the instructions that were counted.
 */
#ifdef __x86_64__
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/poll.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "guest.h"

enum { KINDS = ARCPROF_BRANCH_LAST + 1 };

static const char *self;

/* ---- a session ---- */

struct trace {
	int fd;
	char *area;
	size_t len, stride;
	uint64_t nr_records;
};

static int trace_open(struct trace *t, uint32_t flags, uint64_t nr_records, uint32_t nr_rings)
{
	struct arcprof_itrace_start start = {
		.size = sizeof(start),
		.flags = flags,
		.nr_records = nr_records,
		.nr_rings = nr_rings,
	};

	t->fd = device();
	if (t->fd < 0 || ioctl(t->fd, ARCPROF_IOC_ITRACE_START, &start))
		return -errno;
	t->len = start.area_len;
	t->stride = start.ring_stride;
	t->nr_records = nr_records;
	t->area = mmap(NULL, t->len, PROT_READ, MAP_SHARED, t->fd, ARCPROF_MMAP_ITRACE);
	return t->area == MAP_FAILED ? -errno : 0;
}

static void trace_close(struct trace *t)
{
	munmap(t->area, t->len);
	close(t->fd);
}

static const struct arcprof_ring *ring_of(const struct trace *t, int i)
{
	return (const void *)(t->area + i * t->stride);
}

static const struct arcprof_branch *record(const struct trace *t, int ring, uint64_t i)
{
	const char *records = t->area + ring * t->stride + ARCPROF_RING_RECORDS;

	return (const struct arcprof_branch *)records + i % t->nr_records;
}

static inline __attribute__((always_inline)) long join(int fd, uint32_t flags)
{
	struct arcprof_itrace_join j = { .size = sizeof(j), .flags = flags };

	return ioctl(fd, ARCPROF_IOC_ITRACE_JOIN, &j) ? -errno : (long)j.ring;
}

static long join_other(int fd, pid_t tid, uint32_t flags)
{
	struct arcprof_itrace_join j = { .size = sizeof(j), .flags = flags, .tid = tid };

	return ioctl(fd, ARCPROF_IOC_ITRACE_JOIN, &j) ? -errno : (long)j.ring;
}

static inline __attribute__((always_inline)) long leave(int fd)
{
	return ioctl(fd, ARCPROF_IOC_ITRACE_LEAVE);
}

static struct arcprof_itrace_stat stat_of(const struct trace *t)
{
	struct arcprof_itrace_stat s = { .size = sizeof(s) };

	ioctl(t->fd, ARCPROF_IOC_ITRACE_STAT, &s);
	return s;
}

/* Counts of kinds of the records from i on. */
static void kinds_of(const struct trace *t, int ring, uint64_t i, uint64_t *nr)
{
	memset(nr, 0, KINDS * sizeof(*nr));
	for (; i < ring_of(t, ring)->head; i++)
		nr[record(t, ring, i)->kind % KINDS]++;
}

/* One record after another; state is kept between calls. */
struct chain {
	uint64_t at, insns, nr_bad;
	bool started;
};

static void link_in(struct chain *c, const struct arcprof_branch *b)
{
	uint64_t bytes = b->from - c->at, n = b->nr_insns - (b->len ? 1 : 0);

	if (b->kind > ARCPROF_BRANCH_START)	/* a note within a block */
		return;
	if (b->kind == ARCPROF_BRANCH_START) {
		c->at = b->to;
		c->started = true;
		return;
	}
	if (!c->started || (b->len && !b->nr_insns) ||
	    (b->kind != ARCPROF_BRANCH_OTHER && (bytes < n || bytes > 15 * n)))
		if (c->nr_bad++ < 5)
			printf("# block of %u insns, kind %u, len %u: from %#" PRIx64 " to branch %#llx\n",
			       b->nr_insns,
			       b->kind, b->len, c->at, b->from);
	c->insns += b->nr_insns;
	c->at = b->to;
	if (b->kind == ARCPROF_BRANCH_EXEC || b->kind == ARCPROF_BRANCH_EXIT ||
	    b->kind == ARCPROF_BRANCH_STOP)
		c->started = false;
}

static bool chains(const struct trace *t, int ring, const char *what)
{
	const struct arcprof_ring *r = ring_of(t, ring);
	struct chain c = { 0 };

	for (uint64_t i = 0; i < r->head; i++)
		link_in(&c, record(t, ring, i));
	return ok(c.nr_bad == 0 && c.insns == r->insns && r->insns > 0, "%s: %llu blocks are a chain of %llu instructions",
		  what, r->head, r->insns);
}

/* ---- code with known counts ---- */

/* Each round: 1 call, 1 return, 1 call and 1 jump through a register, 2 short jumps, 1 condition. */
#define INSNS_A_ROUND 11

static __attribute__((noinline, noclone)) void rounds(uint64_t n)
{
	__asm__ volatile("	lea 3f(%%rip), %%rdx\n"
			 "	lea 4f(%%rip), %%rsi\n"
			 "1:	call 2f\n"
			 "	call *%%rdx\n"
			 "	jmp *%%rsi\n"
			 "	nop\n"
			 "4:	jmp 5f\n"
			 "	nop\n"
			 "5:	jmp 6f\n"
			 "2:	ret\n"
			 "3:	nop\n"
			 "	ret\n"
			 "6:	nop\n"
			 "	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(n)
			 :
			 : "rdx", "rsi", "cc", "memory");
}

static void known(void)
{
	enum { N = 5000 };
	uint64_t nr[2][KINDS], insns[2];
	struct trace t;

	if (!ok(trace_open(&t, 0, 100000, 4) == 0, "a session starts"))
		return;
	for (int i = 0; i < 2; i++) {
		long ring = join(t.fd, 0);

		rounds(i ? N : 1);
		leave(t.fd);
		if (!ok(ring == i, "known: the thread traces itself, ring %ld", ring))
			return;
		kinds_of(&t, i, 0, nr[i]);
		insns[i] = ring_of(&t, i)->insns;
	}
	chains(&t, 1, "known");
	/* of both runs, so that what is around the rounds cancels out */
	ok(insns[1] - insns[0] == (uint64_t)INSNS_A_ROUND * (N - 1), "known: %d rounds have %" PRIu64 " instructions", N - 1,
	   insns[1] - insns[0]);
#define EXACT(kind, a_round, name) \
	ok(nr[1][kind] - nr[0][kind] == (a_round) * (N - 1), "known: %" PRIu64 " %s", \
	   nr[1][kind] - nr[0][kind], name)
	EXACT(ARCPROF_BRANCH_CALL, 1u, "calls");
	EXACT(ARCPROF_BRANCH_CALL_INDIRECT, 1u, "calls through a register");
	EXACT(ARCPROF_BRANCH_RETURN, 2u, "returns");
	EXACT(ARCPROF_BRANCH_JUMP, 2u, "short jumps");
	EXACT(ARCPROF_BRANCH_JUMP_INDIRECT, 1u, "jumps through a register");
	EXACT(ARCPROF_BRANCH_COND, 1u, "conditional branches");
	trace_close(&t);
}

/* ---- a whole program, against ptrace ---- */

/* What "itrace work" does: strings, repeated instructions, output, system calls, a mapping of code. */
static int work(void)
{
	char a[3000], b[3000];

	for (int i = 0; i < 4; i++) {
		size_t n = 20 * i;
		void *d = b, *s = a;

		memset(a, i, sizeof(a));
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		snprintf(a, sizeof(a), "%d %s %f", i, "text", i / 3.0);
		syscall(SYS_getppid);
	}
	rounds(50);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

static pid_t start_work(struct trace *t)
{
	char *const argv[] = { "itrace", "work", NULL }, *const envp[] = { NULL };
	pid_t pid = fork();

	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		if (t ? join(t->fd, ARCPROF_ITRACE_AT_EXEC) < 0 : ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			_exit(9);
		execve(self, argv, envp);
		_exit(8);
	}
	return pid;
}

/* Stops of a program that is stepped to its end; insns has repeated ones counted once. */
static uint64_t steps_by_ptrace(uint64_t *insns, int *status)
{
	pid_t pid = start_work(NULL);
	uint64_t stops = 0, last = 0;
	struct user_regs_struct r;

	*insns = 0;
	if (waitpid(pid, status, 0) != pid)
		return 0;
	while (WIFSTOPPED(*status)) {
		ptrace(PTRACE_GETREGS, pid, 0, &r);
		if (r.rip != last)
			++*insns;
		last = r.rip;
		stops++;
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		if (waitpid(pid, status, 0) != pid)
			return 0;
	}
	return stops;
}

static void whole_program(void)
{
	uint64_t stops, insns, t0, t1, t2;
	int status_p = -1, status_m = -1;
	const struct arcprof_ring *r;
	struct trace t;
	pid_t pid;

	if (!ok(trace_open(&t, 0, 200000, 1) == 0, "program: a session"))
		return;
	t0 = clock_ns(CLOCK_MONOTONIC);
	pid = start_work(&t);
	waitpid(pid, &status_m, 0);
	t1 = clock_ns(CLOCK_MONOTONIC);
	stops = steps_by_ptrace(&insns, &status_p);
	t2 = clock_ns(CLOCK_MONOTONIC);
	r = ring_of(&t, 0);
	printf("# module: %llu steps, %llu instructions, %llu records, %.3f s; ptrace: %" PRIu64 " stops, %"
	       PRIu64
	       " instructions, %.3f s\n", r->steps, r->insns, r->head, (t1 - t0) * 1e-9, stops, insns,
	       (t2 - t1) * 1e-9);
	ok(status_m == 0 && status_p == 0, "program: its status is 0 (%#x, %#x)", status_m, status_p);
	/* ptrace stops once before the first instruction, and not behind the last system call */
	ok(r->steps == stops, "program: as many steps as ptrace sees (%llu, %" PRIu64 ")", r->steps, stops);
	ok(r->insns == insns, "program: as many instructions (%llu, %" PRIu64 ")", r->insns, insns);
	ok(r->insns < r->steps, "program: a repeated instruction is one");
	ok((r->flags & ARCPROF_RING_ENDED) && record(&t, 0, r->head - 1)->kind == ARCPROF_BRANCH_EXIT,
	   "program: its end is the last record");
	chains(&t, 0, "program");
	trace_close(&t);
}

static void rate(void)
{
	enum { MODULE_ROUNDS = 30000, PTRACE_STEPS = 3000 };
	cpu_set_t one = { { 1 } };
	struct trace t;
	double module, by_ptrace;
	uint64_t t0, t1;
	int status;
	pid_t pid;

	sched_setaffinity(0, sizeof(one), &one);	/* ptrace is fastest so */
	trace_open(&t, ARCPROF_ITRACE_WRAP, 10000, 1);
	join(t.fd, 0);
	t0 = clock_ns(CLOCK_MONOTONIC);
	rounds(MODULE_ROUNDS);
	t1 = clock_ns(CLOCK_MONOTONIC);
	leave(t.fd);
	module = stat_of(&t).steps / ((t1 - t0) * 1e-9);
	trace_close(&t);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		rounds(1ull << 40);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	t0 = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < PTRACE_STEPS; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
	}
	t1 = clock_ns(CLOCK_MONOTONIC);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	by_ptrace = PTRACE_STEPS / ((t1 - t0) * 1e-9);
	ok(module >= 40 * by_ptrace, "rate: module %.0f steps/s, ptrace %.0f: %.0f times", module, by_ptrace,
	   module / by_ptrace);
}

/* ---- signals ---- */

static volatile int nr_handled;
static volatile int *shared_nr_handled;	/* or NULL */
static volatile int leave_fd = -1;

static void handler(int sig)
{
	nr_handled++;
	if (shared_nr_handled)
		++*shared_nr_handled;
	rounds(10);
	if (leave_fd >= 0)
		leave(leave_fd);
}

static void signals(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	uint64_t nr[KINDS];
	struct trace t;
	long ring;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	trace_open(&t, 0, 20000, 2);
	ring = join(t.fd, 0);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	leave(t.fd);
	kinds_of(&t, ring, 0, nr);
	ok(nr_handled == 3 && nr[ARCPROF_BRANCH_INTERRUPT] == 3 && nr[ARCPROF_BRANCH_IRET] == 3,
	   "signals: %d handlers, %" PRIu64 " begin and %" PRIu64 " are left in the trace", nr_handled,
	   nr[ARCPROF_BRANCH_INTERRUPT], nr[ARCPROF_BRANCH_IRET]);
	ok(nr[ARCPROF_BRANCH_CALL_INDIRECT] >= 30, "signals: the handlers are traced themselves");
	chains(&t, ring, "signals");

	/* The frame of the handler holds a trap flag when tracing has ended. */
	leave_fd = t.fd;
	ring = join(t.fd, 0);
	raise(SIGUSR1);
	rounds(10);
	leave_fd = -1;
	chains(&t, ring, "signals: tracing ends in a handler");
	ok(nr_handled == 4, "signals: and the program lives on");
	trace_close(&t);
}

static void interrupted_calls(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } }, off = { { 0, 0 }, { 0, 0 } };
	uint64_t nr[KINDS];
	struct trace t;
	int fd[2], n, nr_in_read;
	pid_t pid;
	char c = 0;
	long ring;

	sigaction(SIGALRM, &sa, NULL);
	trace_open(&t, 0, 400000, 1);
	shared_nr_handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pipe(fd))
		return;
	pid = fork();
	if (pid == 0) {
		while (*shared_nr_handled < 4)
			usleep(1000);
		if (write(fd[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	nr_handled = 0;
	ring = join(t.fd, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	n = read(fd[0], &c, 1);		/* restarted again and again */
	nr_in_read = nr_handled;
	rounds(2000);			/* interrupted anywhere */
	setitimer(ITIMER_REAL, &off, NULL);
	leave(t.fd);
	kinds_of(&t, ring, 0, nr);
	ok(n == 1 && c == 'x' && nr_in_read > 1,
	   "restarted calls: a read ends as it should, after %d signals", nr_in_read);
	ok(nr[ARCPROF_BRANCH_INTERRUPT] == (uint64_t)nr_handled &&
		   nr[ARCPROF_BRANCH_IRET] == (uint64_t)nr_handled,
	   "restarted calls: each of %d handlers begins (%" PRIu64 ") and is left (%" PRIu64 ") in the trace",
	   nr_handled, nr[ARCPROF_BRANCH_INTERRUPT], nr[ARCPROF_BRANCH_IRET]);
	chains(&t, ring, "restarted calls");
	waitpid(pid, &n, 0);
	trace_close(&t);
}

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static void fault(void)
{
	struct sigaction sa = { .sa_handler = on_fault }, old;
	struct trace t;
	long ring;
	int jumped;

	sigaction(SIGSEGV, &sa, &old);
	trace_open(&t, 0, 20000, 1);
	ring = join(t.fd, 0);
	jumped = sigsetjmp(back, 1);
	if (!jumped)
		__asm__ volatile("movl $1, 8" : : : "memory");
	leave(t.fd);
	sigaction(SIGSEGV, &old, NULL);
	ok(jumped == 1, "a fault's handler that jumps out");
	chains(&t, ring, "fault");
	trace_close(&t);
}

/* ---- what the program sees of the trap flag ---- */

static void flags(void)
{
	uint64_t pushed, r11, tf = 0x100;
	struct trace t;

	trace_open(&t, 0, 10000, 1);
	join(t.fd, 0);
	__asm__ volatile("pushf; pop %0" : "=r"(pushed) : : "memory");
	__asm__ volatile("syscall\n nop\n mov %%r11, %0" : "=r"(r11) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	leave(t.fd);
	ok(!(pushed & tf), "flags: pushf does not show the trap flag");
	ok(!(r11 & tf), "flags: nor does r11 behind a system call");
	chains(&t, 0, "flags");
	trace_close(&t);
}

/* ---- threads and processes ---- */

static void *thread_main(void *arg)
{
	rounds(50);
	return arg;
}

static void children(uint32_t flags_, int nr_traced)
{
	struct trace t;
	pthread_t p;
	int status = -1, nr = 0;
	pid_t pid;

	trace_open(&t, flags_, 20000, 8);
	join(t.fd, 0);
	pthread_create(&p, NULL, thread_main, NULL);
	pthread_join(p, NULL);
	pid = fork();
	if (pid == 0) {
		rounds(20);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	leave(t.fd);
	for (int i = 0; i < 8; i++)
		nr += !!(ring_of(&t, i)->flags & ARCPROF_RING_USED);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "children, flags %u: the child ends as it wants to (%#x)", flags_,
	   status);
	ok(nr == nr_traced, "children, flags %u: %d are traced", flags_, nr);
	for (int i = 0; i < nr; i++)
		chains(&t, i, i ? "a child" : "the parent");
	trace_close(&t);
}

/* ---- modes ---- */

static void full(void)
{
	struct trace t;
	const struct arcprof_ring *r;

	trace_open(&t, 0, 64, 1);
	join(t.fd, 0);
	rounds(1000);
	r = ring_of(&t, 0);
	ok((r->flags & (ARCPROF_RING_FULL | ARCPROF_RING_ENDED)) ==
			   (ARCPROF_RING_FULL | ARCPROF_RING_ENDED) &&
		   r->head == 64 && record(&t, 0, 63)->kind == ARCPROF_BRANCH_STOP,
	   "full: a full ring ends the trace");
	chains(&t, 0, "full");
	fails(leave(t.fd), ENXIO, "full: nothing is left to leave");
	trace_close(&t);
}

static void wrap(void)
{
	const struct arcprof_ring *r;
	struct chain c = { 0 };
	struct trace t;

	trace_open(&t, ARCPROF_ITRACE_WRAP, 64, 1);
	join(t.fd, 0);
	rounds(1000);
	leave(t.fd);
	r = ring_of(&t, 0);
	ok(r->head - r->tail == 64 && stat_of(&t).lost == r->tail && r->tail > 5000, "wrap: %llu records, the last 64 are there",
	   r->head);
	c.started = true;
	c.at = record(&t, 0, r->tail)->to;
	for (uint64_t i = r->tail + 1; i < r->head; i++)
		link_in(&c, record(&t, 0, i));
	ok(c.nr_bad == 0 && record(&t, 0, r->head - 1)->kind == ARCPROF_BRANCH_STOP, "wrap: and are a chain");
	trace_close(&t);
}

static void continuous(void)
{
	struct arcprof_itrace_consume done_with = { .size = sizeof(done_with) };
	const struct arcprof_ring *r;
	struct chain c = { 0 };
	uint64_t tail = 0, nr_waits = 0;
	struct trace t;
	int status = -1;
	pid_t pid;

	trace_open(&t, ARCPROF_ITRACE_CONTINUOUS, 256, 1);
	pid = start_work(&t);
	r = ring_of(&t, 0);
	for (;;) {
		struct pollfd p = { .fd = t.fd, .events = POLLIN };
		uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);

		for (; tail < head; tail++)
			link_in(&c, record(&t, 0, tail));
		done_with.tail = tail;
		ioctl(t.fd, ARCPROF_IOC_ITRACE_CONSUME, &done_with);
		if (head == __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) && (r->flags & ARCPROF_RING_ENDED))
			break;
		nr_waits++;
		poll(&p, 1, 50);
		usleep(200);
	}
	waitpid(pid, &status, 0);
	ok(status == 0 && c.nr_bad == 0 && c.insns == r->insns && c.insns > 5000 && tail > 1000 &&
		   tail == r->head,
	   "continuous: %" PRIu64 " records through a ring of 256 without a loss, %" PRIu64 " rounds", tail,
	   nr_waits);
	done_with.tail = tail + 1;
	fails(ioctl(t.fd, ARCPROF_IOC_ITRACE_CONSUME, &done_with), EINVAL, "continuous: consume what is not there");
	trace_close(&t);
}

/* ---- threads that others let join, and that wait for the reader ---- */

/* Bytes of another process's memory; it is there only while the process is. */
static bool reads_as(pid_t pid, uint64_t addr, const void *want, size_t len)
{
	char got[16];
	struct iovec local = { got, len }, remote = { (void *)addr, len };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len && !memcmp(got, want, len);
}

static void consume(const struct trace *t, uint64_t tail)
{
	struct arcprof_itrace_consume done_with = { .size = sizeof(done_with), .tail = tail };

	ioctl(t->fd, ARCPROF_IOC_ITRACE_CONSUME, &done_with);
}

static bool does_executable(pid_t pid, const char *path)
{
	char link[64], exe[64] = "";

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	return readlink(link, exe, sizeof(exe) - 1) > 0 && !strcmp(exe, path);
}

/* A child that waits for a byte, and then executes "itrace work". */
static pid_t start_held(int *go)
{
	char *const argv[] = { "itrace", "work", NULL }, *const envp[] = { NULL };
	int fds[2];
	pid_t pid;
	char c;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		if (read(fds[0], &c, 1) == 1)
			execve(self, argv, envp);
		_exit(8);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

static void synchronous(void)
{
	const struct arcprof_ring *r;
	int status = -1, go = -1, nr_held = 0;
	uint64_t nr[KINDS] = { 0 }, tail = 0;
	struct chain c = { 0 };
	struct trace t;
	pid_t pid;

	trace_open(&t, ARCPROF_ITRACE_CONTINUOUS | ARCPROF_ITRACE_SYNC, 512, 1);
	pid = start_held(&go);
	ok(join_other(t.fd, pid, ARCPROF_ITRACE_AT_EXEC) == 0, "sync: a child is to be traced from its exec on");
	ok(write(go, "", 1) == 1, "sync: it goes");
	r = ring_of(&t, 0);
	while (!(r->flags & ARCPROF_RING_ENDED) || tail < r->head) {
		uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
		struct pollfd p = { .fd = t.fd, .events = POLLIN };

		for (; tail < head; tail++) {
			const struct arcprof_branch *b = record(&t, 0, tail);

			link_in(&c, b);
			nr[b->kind % KINDS]++;
			if (b->kind != ARCPROF_BRANCH_START && b->kind != ARCPROF_BRANCH_MAPS &&
			    b->kind != ARCPROF_BRANCH_LAST)
				continue;
			usleep(30000);
			nr_held += r->head == tail + 1 && does_executable(pid, self) &&
				   (b->kind != ARCPROF_BRANCH_LAST || reads_as(pid, b->to, "\x0f\x05", 2));
		}
		consume(&t, tail);
		poll(&p, 1, 10);
	}
	waitpid(pid, &status, 0);
	ok(status == 0 && c.nr_bad == 0 && c.insns == r->insns && c.insns > 5000,
	   "sync: a program of %" PRIu64
	   " instructions ends as it should", c.insns);
	ok(nr[ARCPROF_BRANCH_START] == 1 && nr[ARCPROF_BRANCH_MAPS] == 1 && nr[ARCPROF_BRANCH_LAST] == 1 &&
		   nr_held == 3,
	   "sync: it waits %d times: at its start, behind a mapping of code, before its end", nr_held);
	ok(nr[ARCPROF_BRANCH_TIME] > 1, "sync: %" PRIu64 " times of day", nr[ARCPROF_BRANCH_TIME]);
	close(go);
	trace_close(&t);
}

/* ---- ends of all kinds ---- */

static void endless(void)
{
	for (;;) {
		rounds(100);
		syscall(SYS_getppid);
	}
}

static pid_t start_endless(struct trace *t)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		c = join(t->fd, 0) >= 0;
		close(t->fd);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		endless();
	}
	if (read(ready[0], &c, 1) != 1 || !c)
		printf("# the child is not traced\n");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* What the kernel knows about a process that does not do what it should. */
static void show(pid_t pid)
{
	static const char *const files[] = { "stat", "wchan", "syscall", "stack" };
	char path[64], line[512];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			printf("# %s: %.*s\n", files[i], (int)strcspn(line, "\n"), line);
		if (f)
			fclose(f);
	}
}

/* Alive, and in the loop: its CPU time grows. */
static bool runs_on(pid_t pid)
{
	clockid_t clock;
	uint64_t before;

	if (clock_getcpuclockid(pid, &clock))
		return false;
	before = clock_ns(clock);
	for (int i = 0; i < 100; i++) {	/* a starved guest gives it no time for a while */
		usleep(20000);
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return false;
		if (clock_ns(clock) > before)
			return true;
	}
	show(pid);
	return false;
}

/* Joins a child that sleeps; SIGCONT interrupts its sleep without a handler, so that it is made again. */
static void joins_asleep(bool interrupt)
{
	const char *how = interrupt ? "in a call that is made again" : "asleep";
	struct timespec nap = { 0, 200000000 };
	struct trace t;
	int status = -1;
	pid_t pid;

	trace_open(&t, 0, 50000, 1);
	pid = fork();
	if (pid == 0) {
		nanosleep(&nap, NULL);
		rounds(50);
		_exit(7);
	}
	usleep(50000);
	ok(join_other(t.fd, pid, 0) == 0, "join: a thread %s", how);
	ok(join_other(t.fd, pid, 0) == -EBUSY, "join: %s, twice", how);
	if (interrupt) {
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "join: %s, and it ends as it should (%#x)", how,
	   status);
	ok(record(&t, 0, 0)->kind == ARCPROF_BRANCH_START && ring_of(&t, 0)->insns > 50 * INSNS_A_ROUND,
	   "join: %s, %llu instructions are traced", how, ring_of(&t, 0)->insns);
	chains(&t, 0, how);
	trace_close(&t);
}

static void joins(void)
{
	struct trace t;
	int status;
	pid_t pid;

	joins_asleep(false);
	joins_asleep(true);
	trace_open(&t, ARCPROF_ITRACE_WRAP, 1000, 2);
	pid = fork();
	if (pid == 0)
		endless();
	usleep(20000);
	ok(join_other(t.fd, pid, 0) == 0, "join: a thread that runs");
	usleep(100000);
	ok(stat_of(&t).insns > 1000, "join: it is traced");
	ioctl(t.fd, ARCPROF_IOC_ITRACE_STOP);
	ok(runs_on(pid), "join: it runs on when the trace has ended");
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "join: until told");
	trace_close(&t);

	trace_open(&t, 0, 1000, 2);
	ok(join_other(t.fd, 1 << 21, 0) == -ESRCH, "join: no such thread");
	ok(join_other(t.fd, 2, 0) == -EPERM, "join: a thread of the kernel");
	if (setresuid(1000, 1000, 1000) == 0)
		ok(join_other(t.fd, 1, ARCPROF_ITRACE_AT_EXEC) == -EPERM, "join: another's thread, without the right to");
	trace_close(&t);
}

static void stops_at_random(void)
{
	int nr_alive = 0, nr_term = 0, status;
	struct trace t;

	for (int i = 0; i < 20; i++) {
		uint32_t modes[] = { 0, ARCPROF_ITRACE_WRAP, ARCPROF_ITRACE_CONTINUOUS };
		pid_t pid;

		trace_open(&t, modes[i % 3], 5000, 2);
		pid = start_endless(&t);
		usleep(clock_ns(CLOCK_MONOTONIC) % 20000);
		if (i & 1)
			ioctl(t.fd, ARCPROF_IOC_ITRACE_STOP);
		else
			trace_close(&t);
		nr_alive += runs_on(pid);
		kill(pid, SIGTERM);
		waitpid(pid, &status, 0);
		nr_term += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
		if (i & 1)
			trace_close(&t);
	}
	ok(nr_alive == 20 && nr_term == 20, "stop: %d of 20 run on when the trace is ended from outside, %d until told", nr_alive,
	   nr_term);
}

static void kills_at_random(void)
{
	int nr_killed = 0, nr_ended = 0, status;
	struct trace t;

	for (int i = 0; i < 40; i++) {
		const struct arcprof_ring *r;
		pid_t pid;

		trace_open(&t, i & 1 ? ARCPROF_ITRACE_WRAP : ARCPROF_ITRACE_CONTINUOUS, 300, 1);
		pid = start_endless(&t);
		usleep(clock_ns(CLOCK_MONOTONIC) % 5000);
		kill(pid, SIGKILL);
		nr_killed += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
		r = ring_of(&t, 0);
		nr_ended += (r->flags & ARCPROF_RING_ENDED) &&
			record(&t, 0, r->head - 1)->kind == ARCPROF_BRANCH_EXIT;
		trace_close(&t);
	}
	ok(nr_killed == 40 && nr_ended == 40, "kill: %d of 40 traced programs die, also while they wait for room, %d traces say so",
	   nr_killed, nr_ended);
}

static void debugger(void)
{
	int status = 0, sig = 0;
	struct trace t;
	pid_t pid;

	trace_open(&t, ARCPROF_ITRACE_WRAP, 1000, 2);
	pid = start_endless(&t);
	usleep(5000);
	ok(ptrace(PTRACE_ATTACH, pid, 0, 0) == 0 && waitpid(pid, &status, 0) == pid, "debugger: attaches to a traced program");
	sig = WSTOPSIG(status);
	ok(WIFSTOPPED(status) && sig == SIGSTOP, "debugger: sees its own stop only (%d)", sig);
	ptrace(PTRACE_CONT, pid, 0, 0);
	usleep(10000);
	ok(waitpid(pid, &status, WNOHANG) == 0, "debugger: no trap of ours becomes a signal");
	ok(ring_of(&t, 0)->flags & ARCPROF_RING_ENDED, "debugger: the trace has ended");
	kill(pid, SIGSTOP);
	waitpid(pid, &status, 0);
	for (int i = 0; i < 100; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			break;
	}
	ok(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "debugger: may step itself");
	ptrace(PTRACE_DETACH, pid, 0, 0);
	ok(runs_on(pid), "debugger: the program lives on without it");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);

	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(join(t.fd, 0) == -EBUSY ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(status == 0, "debugger: who has one is not traced");
	trace_close(&t);
}

static void arguments(void)
{
	struct trace t;
	int fd = device();
	struct arcprof_itrace_start start = { .size = sizeof(start), .nr_rings = 1, .nr_records = 63 };

	fails(ioctl(fd, ARCPROF_IOC_ITRACE_START, &start), EINVAL, "too few records");
	start.nr_records = 1ull << 40;
	fails(ioctl(fd, ARCPROF_IOC_ITRACE_START, &start), EINVAL, "too many records");
	start.nr_records = 1000;
	start.flags = ARCPROF_ITRACE_WRAP | ARCPROF_ITRACE_CONTINUOUS;
	fails(ioctl(fd, ARCPROF_IOC_ITRACE_START, &start), EINVAL, "two modes");
	errno = -join(fd, 0);
	ok(errno == ENXIO, "join without a session");
	close(fd);
	trace_open(&t, 0, 1000, 1);
	ok(join(t.fd, 0) == 0 && join(t.fd, 0) == -EBUSY, "join twice");
	leave(t.fd);
	ok(join(t.fd, 0) == -ENOSPC && stat_of(&t).nr_refused == 1, "join when no ring is free");
	fails(syscall(SYS_delete_module, "arcprof", O_NONBLOCK), EAGAIN, "unload during a trace");
	trace_close(&t);
	fails(syscall(SYS_delete_module, "arcprof", O_NONBLOCK), EAGAIN, "unload while one lives that was traced");
}

static void tests(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "known", known },	       { "whole_program", whole_program },
		{ "signals", signals },	       { "interrupted_calls", interrupted_calls },
		{ "fault", fault },	       { "flags", flags },
		{ "full", full },	       { "wrap", wrap },
		{ "continuous", continuous },  { "synchronous", synchronous },
		{ "joins", joins },	       { "debugger", debugger },
		{ "stops", stops_at_random },  { "kills", kills_at_random },
		{ "arguments", arguments },    { "rate", rate },
	};

	/* Each in a process of its own: one that dies is one failure. */
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			nr_failed = 0;
			alarm(150);
			all[i].run();
			_exit(done());
		}
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status))
			ok(false, "%s: ended by signal %d", all[i].name, WTERMSIG(status));
		else
			nr_failed += WEXITSTATUS(status);
	}
}

int main(int argc, char **argv)
{
	self = "/itrace";
	if (argc > 1 && !strcmp(argv[1], "work"))
		return work();
	tests();
	for (uint32_t f = 0; f < 4; f++)
		children(f * ARCPROF_ITRACE_THREADS, 1 + (f & 1) + (f >> 1));
	return done();
}
#else
int main(void)
{
	return 0;
}
#endif
