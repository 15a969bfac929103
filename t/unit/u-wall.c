// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "clocks.h"
#include "collect/wall/wallstack.h"
#include "model/checks.h"
#include "pmu/bpf.h"
#include "traces.h"
#include "unit.h"
#include "wall/inner.h"
#include "wall/polls.h"
#include "wall/switches.h"
#include "wall/syscalls.h"
#include "wall/wall.h"

_Static_assert(sizeof(struct wall_slot) % 8 == 0, "slots are neighbours");

static uint64_t sum(const struct wall_times *t)
{
	uint64_t all = t->cpu_ns + t->preempted_ns;
	size_t i;

	for (i = 0; i < WALL_NR_PLACES; i++)
		all += t->blocked_ns[i] + t->queued_ns[i];
	return all;
}

/* In a class, at its sites too. */
static uint64_t blocked_in(const struct wall_slot *s, const struct wall_times *t, uint32_t class)
{
	uint64_t all = t->blocked_ns[class];
	size_t i;

	for (i = 0; i < WALL_NR_SITES; i++)
		if (s->sites[i].class == class)
			all += t->blocked_ns[WALL_NR_CLASSES + i];
	return all;
}

TEST(wall_times_count_what_goes_on)
{
	struct wall_slot s = { .born_ns = 1000, .since_ns = 1500, .cpu_ns = 300, .preempted_ns = 200 };
	struct wall_times t;

	s.state = WALL_ON_CPU;
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.cpu_ns, 400);
	CHECK_U64(sum(&t), 600);
	s.state = WALL_PREEMPTED;
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.preempted_ns, 300);
	s.state = WALL_BLOCKED;
	s.block_nr = 7;
	s.class = WALL_CLASS_SLEEP;
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.blocked_ns[WALL_CLASS_SLEEP], 100);
	s.state = WALL_RUNNABLE;
	s.woken_ns = 1540;
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.blocked_ns[WALL_CLASS_SLEEP], 40);
	CHECK_U64(t.queued_ns[WALL_CLASS_SLEEP], 60);
	CHECK_U64(sum(&t), 600);
	s.sites[2] = (struct wall_site){ .class = WALL_CLASS_SLEEP, .nr = 5, .blocked_ns = 7 };
	s.site = wall_site_id(2, 5);
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.blocked_ns[WALL_CLASS_SLEEP], 0);
	CHECK_U64(t.blocked_ns[WALL_NR_CLASSES + 2], 47);
	CHECK_U64(wall_place(&s, WALL_CLASS_SLEEP, wall_site_id(2, 4)), WALL_CLASS_SLEEP);
	CHECK_U64(wall_place(&s, WALL_CLASS_SLEEP, 9), WALL_CLASS_SLEEP);
	CHECK_U64(wall_place(&s, 1000, 0), WALL_NR_CLASSES - 1);
	s.sites[2].blocked_ns = s.site = 0;
	s.block_nr = 8;		/* a new thread: there was no block before */
	wall_times_at(&s, 1600, &t);
	CHECK_U64(t.preempted_ns, 300);
	s.state = WALL_GONE;
	wall_times_at(&s, 1600, &t);
	CHECK_U64(sum(&t), 500);
}

/* The state may be younger than the moment that is asked for, and of no class that is known. */
TEST(wall_times_do_not_run_backwards)
{
	struct wall_slot s = { .state = WALL_BLOCKED, .block_nr = 1, .since_ns = 1500, .class = 4711 };
	struct wall_times t;

	wall_times_at(&s, 1400, &t);
	CHECK_U64(sum(&t), 0);
	CHECK_U64(wall_moment(&s, 1400), 1500);
	wall_times_at(&s, 1700, &t);
	CHECK_U64(t.blocked_ns[WALL_NR_CLASSES - 1], 200);
}

/* Random times, few of which are not 0; the sum is what it was plus about as much. */
static void add_some(struct wall_times *t, uint64_t *seed)
{
	uint64_t *ns = (uint64_t *)t;
	size_t i, nr = sizeof(*t) / sizeof(*ns);

	for (i = 0; i < 5; i++) {
		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		ns[(*seed >> 33) % nr] += *seed >> 44;
	}
}

TEST(wall_times_never_fall_below_reported_ones)
{
	uint64_t seed = 1, before, *ns, *told_ns;
	struct wall_times t, told;
	int round, nr_level = 0;
	size_t i;

	for (round = 0; round < 1000; round++) {
		memset(&t, 0, sizeof(t));
		memset(&told, 0, sizeof(told));
		add_some(&t, &seed);
		add_some(&told, &seed);
		if (sum(&told) > sum(&t))
			continue;
		before = sum(&t);
		wall_times_level(&t, &told);
		CHECK_U64(sum(&t), before);
		ns = (uint64_t *)&t;
		told_ns = (uint64_t *)&told;
		for (i = 0; i < sizeof(t) / sizeof(*ns); i++)
			CHECK(ns[i] >= told_ns[i]);
		nr_level++;
	}
	CHECK(nr_level > 300);
	/* CPU time pays first */
	memset(&told, 0, sizeof(told));
	t = told;
	t.cpu_ns = 50;
	t.blocked_ns[WALL_CLASS_SLEEP] = 50;
	told.preempted_ns = 30;
	wall_times_level(&t, &told);
	CHECK_U64(t.cpu_ns, 20);
	CHECK_U64(t.preempted_ns, 30);
	CHECK_U64(t.blocked_ns[WALL_CLASS_SLEEP], 50);
}

static uint64_t own_exec_ns(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	unsigned long ns = 0;

	CHECK(f && fscanf(f, "%lu", &ns) == 1);
	fclose(f);
	return ns;
}

TEST(wall_times_count_what_a_kernel_hid)
{
	struct wall_slot s = {
		.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .state = WALL_PREEMPTED,
	};
	uint64_t now, charged = own_exec_ns();
	struct wall_times t;

	/* from where it was charged, which the kernel does at its ticks */
	while ((s.exec_ns = own_exec_ns()) == charged)
		;
	s.since_ns = clock_mono_ns();
	/* somewhat more: it is not charged for what it ran before that */
	while (own_exec_ns() < s.exec_ns + 31000000)
		;
	now = clock_mono_ns();
	wall_times_at(&s, now, &t);
	CHECK_U64(t.cpu_ns, 0);
	wall_times_charged(&s, now, &t);
	CHECK(t.cpu_ns >= 30000000);
	CHECK_U64(sum(&t), now - s.since_ns);
	/* one that was not charged did wait */
	s.exec_ns = own_exec_ns() + 1000000000;
	wall_times_at(&s, now, &t);
	wall_times_charged(&s, now, &t);
	CHECK_U64(t.cpu_ns, 0);
}

TEST(wall_remembers_the_last_marked_blocks)
{
	const struct wall_slot s = { .nr_done = 3, .done = { { 3, 11, 30 }, { 7, 12, 70 }, { 9, 13, 90 } } };

	CHECK_U64(wall_done_of(&s, 7)->ns, 70);
	CHECK_U64(wall_done_of(&s, 7)->waker, 12);
	CHECK(!wall_done_of(&s, 5));
}

TEST(wall_knows_the_system_calls_that_wait)
{
	CHECK_STR(wall_syscall(SYS_read)->name, "read");
	CHECK_U64(wall_syscall(SYS_read)->files, WALL_FILE);
	CHECK_U64(wall_syscall(SYS_futex)->class, WALL_CLASS_FUTEX);
	CHECK_U64(wall_syscall(SYS_clock_nanosleep)->class, WALL_CLASS_SLEEP);
	CHECK(!wall_syscall(-1));
	CHECK(!wall_syscall(SYS_getpid));
}

static const char *peer(const struct wall_where *at)
{
	static char text[128];
	struct buf b = BUF_INIT;

	waitfile_peer(at, 32768, &b);
	snprintf(text, sizeof(text), "%s", b.len ? b.data : "");
	buf_release(&b);
	return text;
}

TEST(waits_for_sockets_are_named_by_the_other_end)
{
	struct wall_where v4 = { .family = AF_INET, .local = { 10, 0, 0, 9 }, .peer = { 10, 0, 0, 1 },
				 .local_port = 40000, .peer_port = 5432 };
	struct wall_where v6 = { .family = AF_INET6, .peer = { [15] = 1 }, .local_port = 80,
				 .peer_port = 443 };
	struct wall_where path = { .family = AF_UNIX };

	CHECK_STR(peer(&v4), "10.0.0.1:5432");
	v4.local_port = 8080;
	CHECK_STR(peer(&v4), "10.0.0.1:5432");
	v4.peer_port = 41234;
	CHECK_STR(peer(&v4), "10.0.0.1 to port 8080");
	v4.peer_port = 0;
	CHECK_STR(peer(&v4), "at 10.0.0.9:8080");
	memset(v4.local, 0, sizeof(v4.local));
	CHECK_STR(peer(&v4), "at *:8080");
	v4.local_port = 0;
	CHECK_STR(peer(&v4), "");
	CHECK_STR(peer(&v6), "[::1]:443");
	memcpy(v6.peer, (uint8_t[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7 }, 16);
	CHECK_STR(peer(&v6), "10.0.0.7:443");
	CHECK_STR(peer(&path), "");
	memset(path.path, 'p', sizeof(path.path));
	CHECK_U64(strlen(peer(&path)), WALL_PATH_BYTES);
	path.path[0] = '\0';
	CHECK_U64(strlen(peer(&path)), WALL_PATH_BYTES);
	CHECK_U64(*peer(&path), '@');
	CHECK_STR(peer(&(struct wall_where){ .family = 16, .peer_port = 1 }), "");
}

TEST(wall_finds_the_functions_that_handle_interrupts)
{
	static const char text[] = "ffffffff81000000 t other\n"
				   "ffffffff81360070 t handle_softirqs\n"
				   "ffffffff81360400 T next\n"
				   "ffffffff8141eac0 t __hrtimer_run_queues\n"
				   "ffffffff8141eac0 t its_alias\n"
				   "ffffffff8141ed20 t hrtimer_run_softirq\n"
				   "ffffffff8141ee00 t last\n"
				   "ffffffffc0001000 t handle_softirqs\t[module]\n"
				   "ffffffffc0002000 t cut";
	struct wall_bpf_config c = { 0 };

	wall_parse_interrupts(&c, text, sizeof(text) - 1);
	CHECK_U64(c.interrupts[0].start, 0xffffffff81360070);
	CHECK_U64(c.interrupts[0].end, 0xffffffff81360400);
	CHECK_U64(c.timers[0].end, 0xffffffff8141ed20);
	CHECK_U64(c.timers[2].start, 0xffffffff8141ed20);
	CHECK_U64(c.timers[2].end, 0xffffffff8141ee00);
	CHECK_U64(c.timers[1].start, 0);
	c = (struct wall_bpf_config){ 0 };
	/* to those who may not see addresses they are 0 */
	wall_parse_interrupts(&c, "0000000000000000 t handle_softirqs\n0000000000000000 t x\n", 56);
	CHECK_U64(c.interrupts[0].end, 0);
	wall_parse_interrupts(&c, "\n\n \nzz\n~~ ~ handle_softirqs\n", 28);
}

TEST(wall_finds_them_by_asking_the_kernel_as_in_its_file)
{
	struct wall_bpf_config asked = { 0 }, read = { 0 };
	struct buf text = BUF_INIT;
	struct err e;

	if (geteuid() || io_read_file("/proc/kallsyms", &text, 1 << 30, &e))
		unit_skip("needs root, and the kernel's symbols");
	wall_parse_interrupts(&read, text.data, text.len);
	wall_find_interrupts(&asked);
	CHECK(!memcmp(asked.timers, read.timers, sizeof(read.timers)));
	CHECK(!memcmp(asked.interrupts, read.interrupts, sizeof(read.interrupts)));
	buf_release(&text);
}

static void *nap(void *arg)
{
	struct timespec t = { 0, 5000000 };
	int i;

	(void)arg;
	for (i = 0; i < 10; i++)
		nanosleep(&t, NULL);
	return NULL;
}

static bool find_slot(struct wall *w, uint32_t tid, struct wall_slot *s)
{
	uint32_t i;

	for (i = 1; i < wall_nr_used(w); i++)
		if (wall_read(w, i, s) && s->tid == tid)
			return true;
	return false;
}

static int staying;		/* who does so */

static void *stay(void *fd)
{
	char c;

	store_release(&staying, (int)gettid());
	return read(*(int *)fd, &c, 1) ? NULL : fd;
}

static void test_accounts(bool basic)
{
	int pid = getpid(), fds[2];
	struct wall_opts o = { .basic = basic, .pids = &pid, .nr_pids = 1, .nr_slots = 64 };
	pthread_t old, new;
	struct wall_times t;
	struct wall_slot s;
	struct wall *w;
	struct err e;
	uint64_t now;

	unit_skip_if_emulated();	/* there calls have other numbers */
	if (pipe(fds) || pthread_create(&old, NULL, stay, &fds[0]))
		unit_skip("no pipe or thread");
	while (!load_acquire(&staying))
		usleep(1000);
	CHECK(unit_until_blocked(staying, SYS_read));
	if (wall_open(&w, &o, &e)) {
		if (e.code != EINVAL && e.code != EACCES)
			unit_skip(e.msg);
		CHECK_STR(e.msg, "");	/* the kernel would run programs, and does not like these */
		return;
	}
	pthread_create(&new, NULL, nap, NULL);
	pthread_join(new, NULL);
	now = clock_mono_ns();

	CHECK(find_slot(w, pid, &s));
	wall_times_at(&s, now, &t);
	CHECK_U64(sum(&t), wall_moment(&s, now) - s.born_ns);	/* it may have waited for a CPU since */
	CHECK_U64(wall_nr_used(w), 4);
	CHECK_U64(wall_nr_refused(w), 0);

	CHECK(wall_read(w, 3, &s));
	CHECK_U64(s.pid, pid);
	wall_times_at(&s, s.since_ns, &t);
	/* joined, and on its way out, where it may have to wait once more */
	CHECK(s.state >= WALL_ON_CPU);
	/* ten of 5 ms; who loses the CPU between the start of the timer and the sleep, sleeps less */
	if (!basic || !bpf_kernel_has_struct("fred_cs"))
		CHECK(blocked_in(&s, &t, WALL_CLASS_SLEEP) >= 40000000);
	CHECK(s.nr_blocks >= 8);

	CHECK(wall_read(w, 1, &s) && (s.tid != (uint32_t)pid || wall_read(w, 2, &s)));
	CHECK_U64(s.state, WALL_BLOCKED);
	CHECK_U64(s.block_nr & 1, 1);
	if (basic && bpf_kernel_has_struct("fred_cs")) {	/* registers may be elsewhere */
		wall_close(w);
		return;
	}
	CHECK_U64(s.syscall, SYS_read);
	CHECK_U64(s.args[0], fds[0]);
	wall_times_at(&s, now, &t);
	CHECK_U64(blocked_in(&s, &t, WALL_CLASS_READ), now - s.born_ns);
	wall_close(w);
	close(fds[1]);
	pthread_join(old, NULL);
}

TEST(wall_accounts_for_threads_old_and_new)
{
	test_accounts(false);
}

TEST(wall_accounts_for_them_by_what_linux_5_10_has)
{
	test_accounts(true);
}

/* ---- a wake-up that comes while the thread goes to sleep ---- */

enum { NODS = 400 };

static struct {
	uint32_t goes, wakes;	/* the round; a futex */
	uint32_t tid;
} nodding;

static bool stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* What is of a batch waits for the CPU whenever it is woken. */
static void *nod(void *fd)
{
	const struct sched_param none = { 0 };
	uint32_t i;

	stay_on(0);
	sched_setscheduler(0, SCHED_BATCH, &none);
	store_release(&nodding.tid, (uint32_t)syscall(SYS_gettid));
	for (i = 1; i <= NODS; i++) {
		store_release(&nodding.goes, i);
		while (load_acquire(&nodding.wakes) < i)
			syscall(SYS_futex, &nodding.wakes, FUTEX_WAIT, i - 1, NULL, NULL, 0);
	}
	return stay(fd);
}

/* Each a bit later than the one before: there is no telling when it will be on its way. */
static void wake_nodding(void)
{
	enum { STEP_NS = 7, LATEST_NS = 2000 };
	uint64_t then;
	uint32_t i;

	for (i = 1; i <= NODS; i++) {
		while (load_acquire(&nodding.goes) < i)
			;
		for (then = clock_mono_ns() + i * STEP_NS % LATEST_NS; clock_mono_ns() < then;)
			;
		store_release(&nodding.wakes, i);
		syscall(SYS_futex, &nodding.wakes, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static uint64_t delay_by_kernel(uint32_t tid)
{
	unsigned long long ran, waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/schedstat", tid);
	f = fopen(path, "r");
	CHECK(f && fscanf(f, "%llu %llu", &ran, &waited) == 2);
	if (f)
		fclose(f);
	return waited;
}

static uint64_t delay_by_slot(struct wall *w, uint32_t tid)
{
	struct wall_times t;
	struct wall_slot s;
	uint64_t all;
	size_t i;

	CHECK(find_slot(w, tid, &s));
	wall_times_at(&s, clock_mono_ns(), &t);
	for (i = 0, all = t.preempted_ns; i < WALL_NR_PLACES; i++)
		all += t.queued_ns[i];
	return all;
}

TEST(wall_sees_a_thread_that_is_woken_while_it_goes_to_sleep)
{
	int pid = getpid(), fds[2], rival;
	struct wall_opts o = { .pids = &pid, .nr_pids = 1, .nr_slots = 64 };
	uint64_t by_kernel, by_slot;
	pthread_t t;
	struct wall *w;
	struct err e;

	if (!stay_on(0) || !stay_on(1) || !wall_counts_delays())
		unit_skip("not both of two CPUs, or a kernel that does not count delays");
	if (pipe(fds) || (rival = fork()) < 0)
		unit_skip("no pipe or process");
	if (!rival) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* however the test ends */
		stay_on(0);
		while (getppid() == pid)
			;
		_exit(0);
	}
	if (wall_open(&w, &o, &e))
		unit_skip(e.msg);
	pthread_create(&t, NULL, nod, &fds[0]);
	while (!load_acquire(&nodding.tid))
		;
	/* what waits now is not in the kernel's count yet; and how it came to its CPU is another matter */
	CHECK(unit_until_blocked(nodding.tid, SYS_futex));
	by_kernel = delay_by_kernel(nodding.tid);
	by_slot = delay_by_slot(w, nodding.tid);
	printf("# until it went to sleep: %.1f ms, by the kernel %.1f ms\n", by_slot / 1e6, by_kernel / 1e6);
	wake_nodding();
	CHECK(unit_until_blocked(nodding.tid, SYS_read));
	by_kernel = delay_by_kernel(nodding.tid) - by_kernel;
	by_slot = delay_by_slot(w, nodding.tid) - by_slot;
	kill(rival, SIGKILL);
	printf("# waited for a CPU: %.1f ms, by the kernel %.1f ms\n", by_slot / 1e6, by_kernel / 1e6);
	/* a switch takes a microsecond or more; how long the rival stays on then is up to the kernel */
	CHECK(by_kernel > NODS * 1000ull);
	/* The kernel counts from when the CPU has taken it up, which may be another than the waker's. */
	CHECK(by_slot > by_kernel / 100 * 92 && by_slot < by_kernel / 100 * 105 + NODS * 100000ull);
	wall_close(w);
	close(fds[1]);
	pthread_join(t, NULL);
	waitpid(rival, NULL, 0);
}

/* ---- traps ---- */

static struct trapped {
	uint32_t nr, nr_other, leave;
	uint64_t last_ns;
} *trapped;

static void on_trap(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	if (si->si_code != SI_KERNEL || (uint64_t)si->si_value.sival_ptr > clock_mono_ns())
		trapped->nr_other++;
	trapped->last_ns = (uint64_t)si->si_value.sival_ptr;
	trapped->nr++;
}

/* Computes, calls the kernel and sleeps; and becomes a program that a SIGTRAP kills. */
static int have_traps(void)
{
	const struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	const struct timespec brief = { 0, 100000 };
	int i;

	sigaction(SIGTRAP, &sa, NULL);
	for (i = 0; !load_acquire(&trapped->leave); i++)
		if (i % 4096 ? getppid() < 0 : nanosleep(&brief, NULL))
			return 1;	/* it was interrupted */
	execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done", NULL);
	return errno == ENOENT ? 0 : 2;		/* a test's machine has no shell */
}

TEST(wall_sends_traps_to_processes_that_handle_them)
{
	int pid, status, ms;
	struct wall_opts o = { .pids = &pid, .nr_pids = 1, .nr_slots = 64 };
	struct wall *w;
	struct err e;

	trapped = mmap(NULL, sizeof(*trapped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid < 0)
		unit_skip("no process");
	if (!pid)
		_exit(have_traps());
	if (wall_open(&w, &o, &e) || !wall_trapped(w)) {
		kill(pid, SIGKILL);
		unit_skip(e.msg[0] ? e.msg : "this kernel has no task work for BPF programs (before Linux 6.18)");
	}
	clocks_open(wall_filter(w));
	nap(NULL);
	CHECK_U64(load_acquire(&trapped->nr), 0);	/* it was not asked for, */
	CHECK(!wall_trap(w, pid));
	nap(NULL);
	CHECK_U64(load_acquire(&trapped->nr), 0);	/* and no samples are reported */
	clocks_tell(wall_trapped(w));
	for (ms = 0; ms < 10000 && load_acquire(&trapped->nr) < 20; ms += 5)
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	CHECK(trapped->nr >= 20);
	CHECK_U64(trapped->nr_other, 0);
	CHECK(trapped->last_ns);
	store_release(&trapped->leave, 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_U64(status, 0);
	CHECK(wall_trap(w, pid) < 0);
	clocks_close();
	wall_close(w);
}

/* ---- report --check ---- */

static void write_sample(struct trace_writer *w, uint32_t thread, uint32_t function, uint64_t ns)
{
	const struct frame f = { FRAME_NAMED, .function = function };
	struct rec_sample r = { .time_ns = 2000, .thread = thread, .weight = ns };

	r.stack = trace_write_stack(w, &f, 1);
	trace_write_sample(w, &r);
}

/* A thread that slept for 70 and ran for 20 of 100 ns, some of it on behalf of a virtual one. */
static struct sums_check checked(uint64_t slept, uint64_t end_ns)
{
	static const char *const names[] = { REASON_ON_CPU, REASON_RUNNABLE, "[sleep]" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct trace_reader *t;
	struct sums_check c;
	struct err e;
	struct buf b;
	uint32_t i;

	trace_write_label(w, "event.0", "wall");
	for (i = 1; i <= 2; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .name = "t", .name_len = 1 });
	for (i = 0; i < 3; i++)
		trace_write_function(w, &(struct rec_function){
			.function = i + 1, .kind = FUNCTION_REASON, .name = names[i],
			.name_len = strlen(names[i]), .module = "", .file = "" });
	write_sample(w, 1, 1, 20);
	write_sample(w, 1, 2, 10);
	write_sample(w, 1, 3, 60);
	write_sample(w, 2, 3, slept);
	trace_write_wall(w, &(struct rec_wall){
		.time_ns = end_ns, .thread = 1, .begin_ns = 1000, .cpu_ns = 20, .runnable_ns = 10,
		.blocked_ns = 70, .nr_blocks = 3 });
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!wall_check(t, &c, &e));
	trace_reader_close(t);
	buf_release(&b);
	return c;
}

TEST(wall_check_compares_samples_counts_and_lives)
{
	struct sums_check c = checked(10, 1100);

	CHECK_U64(c.nr_checked, 4);
	CHECK_U64(c.nr_bad, 0);
	c = checked(11, 1100);
	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "process 1 blocked: samples of 71 ns, counted 70 ns");
	c = checked(10, 1101);
	CHECK_U64(c.nr_bad, 1);
	CHECK_STR(c.first, "process 1: states of 100 ns in lives of 101 ns");
}

/* ---- without BPF ---- */

/* Numbers that no thread has. */
enum { NO_PID = 1 << 29, NO_TID = NO_PID + 1 };

static struct wall_slot state_of(struct wall *w, int tid)
{
	uint32_t slot = wall_slot_of(w, tid);
	struct wall_slot s = { .tid = 0 };

	CHECK(slot);
	wall_settle(w, slot);
	CHECK(wall_read(w, slot, &s));
	return s;
}

TEST(wall_by_switches_counts_each_state)
{
	struct wall_opts o = { .nr_slots = 16 };
	struct wall_times t;
	struct wall_slot s;
	struct wall *w;
	struct err e;

	CHECK(!wall_open_switches(&w, &o, &e));
	CHECK_U64(wall_slot_of(w, NO_TID), 0);
	wall_switch_in(w, NO_TID, 5);		/* nobody's */
	wall_thread_begins(w, NO_PID, NO_TID, 1000);
	wall_switch_in(w, NO_TID, 1010);	/* waited 10 */
	wall_switch_out(w, NO_TID, false, 1030);	/* ran 20 */
	s = state_of(w, NO_TID);
	CHECK_U64(s.state, WALL_BLOCKED);
	CHECK_U64(s.block_nr & 1, 1);
	wall_switch_in(w, NO_TID, 1130);	/* blocked 100 */
	wall_switch_out(w, NO_TID, true, 1135);	/* ran 5 */
	CHECK_U64(state_of(w, NO_TID).state, WALL_PREEMPTED);
	wall_switch_in(w, NO_TID, 1142);	/* preempted for 7 */
	s = state_of(w, NO_TID);
	CHECK_U64(s.state, WALL_ON_CPU);
	CHECK_U64(s.block_nr & 1, 0);
	wall_times_at(&s, 1150, &t);
	CHECK_U64(t.cpu_ns, 33);
	CHECK_U64(t.preempted_ns, 17);
	CHECK_U64(t.blocked_ns[0] + t.queued_ns[0], 100);
	CHECK_U64(sum(&t), 150);
	CHECK_U64(s.nr_blocks, 1);
	wall_close(w);
}

/* What was reported when the recording began is not taken back. */
TEST(wall_by_switches_can_be_cut)
{
	struct wall_opts o = { .nr_slots = 16, .interval_ns = 100 };
	struct wall_times before, t;
	struct wall_slot s;
	struct wall *w;
	struct err e;

	CHECK(!wall_open_switches(&w, &o, &e));
	wall_thread_begins(w, NO_PID, NO_TID, 1000);
	wall_cut(w, wall_slot_of(w, NO_TID), 1004);
	wall_switch_in(w, NO_TID, 1010);
	wall_cut(w, wall_slot_of(w, NO_TID), 1015);
	wall_switch_out(w, NO_TID, false, 1030);
	wall_cut(w, wall_slot_of(w, NO_TID), 1050);
	s = state_of(w, NO_TID);
	CHECK_U64(s.state, WALL_BLOCKED);
	CHECK_U64(s.block_nr & 1, 1);
	wall_times_at(&s, 1050, &before);
	CHECK_U64(before.blocked_ns[0], 20);
	wall_switch_in(w, NO_TID, 1070);
	wall_cut(w, wall_slot_of(w, NO_TID), 1060);	/* too late */
	s = state_of(w, NO_TID);
	wall_times_at(&s, 1070, &t);
	CHECK_U64(t.blocked_ns[0], 40);
	CHECK_U64(t.cpu_ns, 20);
	CHECK_U64(t.preempted_ns, 10);
	wall_close(w);
}

/* Records may be lost, or late; the states still fill the time. */
TEST(wall_by_switches_has_no_gaps)
{
	struct wall_opts o = { .nr_slots = 3 };
	uint32_t slot, random = 1;
	struct wall_times t;
	struct wall_slot s;
	struct wall *w;
	struct err e;
	int i;

	CHECK(!wall_open_switches(&w, &o, &e));
	wall_thread_begins(w, NO_PID, NO_TID, 1000);
	slot = wall_slot_of(w, NO_TID);
	for (i = 0; i < 1000; i++) {
		uint64_t at;

		random = random * 1103515245 + 12345;
		at = 1000 + 10 * i + (random >> 16) % 30;
		if (random >> 8 & 1)
			wall_switch_in(w, NO_TID, at);
		else
			wall_switch_out(w, NO_TID, random >> 9 & 1, at);
		if (random >> 10 & 1)
			wall_settle(w, slot);
	}
	wall_thread_ends(w, NO_TID, 20000);
	CHECK_U64(wall_slot_of(w, NO_TID), 0);
	CHECK(wall_read(w, slot, &s));
	CHECK_U64(s.state, WALL_GONE);
	wall_times_at(&s, 30000, &t);
	CHECK_U64(sum(&t), 19000);
	wall_give_back(w, slot);
	/* its slot is the next one's, with numbers of blocks of its own; and there are no more than two */
	wall_thread_begins(w, NO_PID, NO_TID, 40000);
	CHECK_U64(wall_slot_of(w, NO_TID), slot);
	CHECK(state_of(w, NO_TID).block_nr > s.block_nr);
	wall_thread_begins(w, NO_PID, NO_TID + 1, 40000);
	wall_thread_begins(w, NO_PID, NO_TID + 2, 40000);
	CHECK_U64(wall_slot_of(w, NO_TID + 2), 0);
	CHECK_U64(wall_nr_refused(w), 1);
	wall_close(w);
}

/* A thread that executes a program is the first from then on, there are no others, and its slot is new. */
TEST(wall_by_switches_follows_exec)
{
	struct wall_opts o = { .nr_slots = 8 };
	struct wall_slot s;
	struct wall_times t;
	uint32_t slot;
	struct wall *w;
	struct err e;

	CHECK(!wall_open_switches(&w, &o, &e));
	wall_thread_begins(w, NO_PID, NO_PID, 1000);
	wall_thread_begins(w, NO_PID, NO_TID, 1000);
	wall_thread_ends(w, NO_PID, 1100);
	wall_execs(w, NO_PID, 1200);
	CHECK_U64(wall_slot_of(w, NO_TID), 0);
	CHECK_U64(state_of(w, NO_PID).state, WALL_ON_CPU);
	CHECK_U64(state_of(w, NO_PID).born_ns, 1200);
	slot = wall_slot_of(w, NO_PID);
	wall_execs(w, NO_PID, 1300);
	CHECK(wall_slot_of(w, NO_PID) != slot);
	CHECK_U64(state_of(w, NO_PID).born_ns, 1300);
	CHECK_U64(state_of(w, NO_PID).state, WALL_ON_CPU);
	CHECK(wall_read(w, slot, &s));
	CHECK_U64(s.state, WALL_GONE);
	wall_times_at(&s, 2000, &t);
	CHECK_U64(t.cpu_ns, 100);		/* the old program's, and no more */
	wall_close(w);
}

TEST(wall_by_switches_remembers_long_blocks)
{
	struct wall_opts o = { .nr_slots = 8, .interval_ns = 100 };
	struct wall_slot s;
	struct wall_block b;
	uint32_t slot, nr;
	struct wall *w;
	struct err e;

	CHECK(!wall_open_switches(&w, &o, &e));
	wall_thread_begins(w, NO_PID, NO_TID, 1000);
	slot = wall_slot_of(w, NO_TID);
	wall_switch_in(w, NO_TID, 1000);
	wall_switch_out(w, NO_TID, false, 2000);
	CHECK(wall_block_at(w, slot, 2030, &b));
	CHECK_U64(b.end_ns, 0);
	nr = b.nr;
	wall_switch_in(w, NO_TID, 2060);
	wall_switch_out(w, NO_TID, false, 2070);	/* a short one: 10 */
	wall_switch_in(w, NO_TID, 2080);
	CHECK(wall_block_at(w, slot, 2030, &b));
	CHECK_U64(b.nr, nr);
	CHECK_U64(b.end_ns, 2060);
	CHECK(!wall_block_at(w, slot, 2075, &b));
	CHECK(!wall_block_at(w, slot, 2065, &b));
	s = state_of(w, NO_TID);
	CHECK_U64(wall_done_of(&s, nr)->ns, 60);
	CHECK(!wall_done_of(&s, nr + 2));
	wall_close(w);
}

static void *sleep_for_ever(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	*(volatile int *)arg = syscall(SYS_gettid);
	for (;;)
		sigsuspend(&none);
	return NULL;
}

static int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Asked more than once, with its files kept open meanwhile. */
static void check_ask_again(struct wall *w, const struct wall_slot *want)
{
	uint32_t slot = wall_slot_of(w, want->tid);
	int before = lowest_free_fd(), i;

	for (i = 0; i < 3; i++) {
		struct wall_slot s = { .pid = want->pid, .tid = want->tid };

		CHECK(!wall_ask_again(w, slot, &s));
		CHECK_U64(s.syscall, want->syscall);
		CHECK_U64(s.class, want->class);
		CHECK_U64(s.regs.sp, want->regs.sp);
		CHECK_U64(s.regs.pc, want->regs.pc);
		CHECK_U64(lowest_free_fd() > before, i > 0);
	}
	wall_thread_ends(w, want->tid, clock_mono_ns());
	CHECK_U64(lowest_free_fd(), before);
}

/* Our own threads: what the kernel says about them. */
TEST(wall_by_switches_asks_the_kernel)
{
	struct wall_opts o = { .nr_slots = 8 };
	struct wall_slot s = { .tid = 0 };
	volatile int tid = 0;
	pthread_t thread;
	struct wall *w;
	struct err e;
	int i, r = -EAGAIN;

	unit_skip_if_emulated();
	CHECK(!wall_open_switches(&w, &o, &e));
	CHECK(!pthread_create(&thread, NULL, sleep_for_ever, (void *)&tid));
	for (i = 0; i < 1000 && (r || s.syscall != SYS_rt_sigsuspend); i++) {
		usleep(1000);
		s = (struct wall_slot){ .pid = getpid(), .tid = tid };
		r = tid ? wall_ask_kernel(&s) : -EAGAIN;
	}
	CHECK(!r);
	CHECK_U64(s.class, WALL_CLASS_SIGNAL);
	CHECK(s.regs.sp && s.regs.pc);
	wall_thread_found(w, getpid(), tid);
	CHECK_U64(state_of(w, tid).state, WALL_BLOCKED);
	CHECK_U64(state_of(w, tid).own_pid, getpid());
	check_ask_again(w, &s);
	s = (struct wall_slot){ .pid = NO_PID, .tid = NO_TID };
	CHECK(wall_ask_kernel(&s) == -EAGAIN);
	wall_close(w);
}

enum { NAP_US = 3000, WORK_NS = 1500000, NAPS = 40 };

/* Naps, with work after each, which it counts; until it is killed. */
static int start_napper(uint32_t *nr_naps)
{
	int pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		uint64_t until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;

		usleep(NAP_US);
		while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
			;
		store_release(nr_naps, *nr_naps + 1);
	}
}

TEST(wall_by_looks_adds_up_to_the_life_of_a_thread)
{
	struct wall_opts o = { .nr_slots = 8 };
	uint64_t now_ns = 0, found = 0, nr = 0;
	uint32_t slot, *nr_naps;
	struct wall_task task;
	struct wall_times t;
	struct wall_block b;
	struct wall_slot s;
	struct wall *w;
	struct err e;
	int pid, i;

	if (!wall_counts_delays())
		unit_skip("this kernel does not count what threads run");
	nr_naps = mmap(NULL, sizeof(*nr_naps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(!wall_open_switches(&w, &o, &e));
	wall_use_polls(w);
	pid = start_napper(nr_naps);
	wall_thread_found(w, pid, pid);
	slot = wall_slot_of(w, pid);
	CHECK(slot);
	/* as many looks as it takes, wherever others have the CPUs */
	for (i = 0; i < 15000 && (nr < NAPS || found <= 5); i++) {
		usleep(2000 + i % 7 * 500);
		nr = load_acquire(nr_naps);
		now_ns = clock_mono_ns();
		CHECK(!wall_poll(w, slot, now_ns, &task));
		CHECK_U64(wall_polled_ns(w, slot), now_ns);
		CHECK(wall_read(w, slot, &s));
		wall_times_at(&s, now_ns, &t);
		CHECK_U64(sum(&t), now_ns - s.born_ns);
		CHECK_U64(s.block_nr & 1, s.state == WALL_BLOCKED);
		if (s.state == WALL_BLOCKED) {
			found++;
			CHECK(wall_stands_ns(w, slot) <= s.since_ns);
		}
	}
	CHECK(found > 5);
	CHECK(nr >= NAPS);
	CHECK(t.cpu_ns > nr * WORK_NS / 2 && t.blocked_ns[WALL_CLASS_OTHER] > nr * NAP_US * 1000 / 2);
	CHECK(!wall_block_of(w, slot, UINT64_MAX, &b));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(wall_poll(w, slot, clock_mono_ns(), &task) == -ESRCH);
	/* as when a look still found it in /proc */
	now_ns = wall_polled_ns(w, slot);
	wall_thread_ends(w, pid, now_ns - 1000);
	CHECK(wall_read(w, slot, &s));
	CHECK_U64(s.state, WALL_GONE);
	CHECK_U64(s.since_ns, now_ns);
	wall_times_at(&s, now_ns, &t);
	CHECK_U64(sum(&t), now_ns - s.born_ns);
	wall_close(w);
}

TEST(wall_reads_what_the_kernel_says_of_a_thread)
{
	struct wall_task task;
	uint64_t now_ns = clock_mono_ns();

	CHECK(!wall_task_read(getpid(), getpid(), &task));
	CHECK(task.state == 'R');
	CHECK(task.parent == getppid());
	CHECK(task.start_ns <= now_ns && now_ns - task.start_ns < 3600000000000);
	CHECK(task.stack);
	CHECK(wall_task_read(NO_PID, NO_TID, &task) == -ESRCH);
}
