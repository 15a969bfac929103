// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * abuse.c - what the module must survive.  The kernel panics at the first warning.
 *
 * usage: abuse THREADS REQUESTS [SEED]
 */
#include <grp.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "guest.h"

static uint64_t rng;

static uint64_t rnd(uint64_t below)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % below;
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void owner_is_killed(void)
{
	int ready[2];
	char c;
	struct ptt p;
	pid_t pid;

	if (pipe(ready))
		return;
	pid = fork();
	if (pid == 0) {
		c = ptt_open(&p, ARCPROF_PTT_ALL, 1000, 1, NULL) == 0 && ptt_register(p.fd, 0) > 0;
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			ptt_own(&p.slot[1]);
	}
	ok(read(ready[0], &c, 1) == 1 && c, "an owner has a session and its mapping");
	kill(pid, SIGKILL);
	wait_for(pid);
	ok(ptt_open(&p, 0, 8, 1, NULL) == 0, "after it was killed, another session starts");
	ptt_close(&p);
}

static void in_use(void)
{
	struct ptt p;
	int r, fd;

	r = ptt_open(&p, 0, 8, 1, NULL);
	ok(r == 0, "a session (%s)", strerror(-r));
	fails(syscall(SYS_delete_module, "arcprof", O_NONBLOCK), EAGAIN, "unload while the device is open");
	close(p.fd);
	fails(syscall(SYS_delete_module, "arcprof", O_NONBLOCK), EAGAIN, "unload while only the area is mapped");
	ok(p.header->magic == ARCPROF_MAGIC && p.header->generation != 0, "the mapping keeps the session");
	munmap((void *)p.header, p.len);

	/* Sessions that stay, or end before their mapping does. */
	r = ptt_open(&p, ARCPROF_PTT_KEEP, 8, 1, NULL);
	ok(r == 0 && ptt_register(p.fd, 0) == 1, "a session that is kept (%s)", strerror(-r));
	close(p.fd);
	fd = device();
	r = ptt_open(&p, 0, 8, 1, NULL);
	ok(r == -EBUSY, "is there when its descriptor is closed, and no other starts (%s)", strerror(-r));
	ok(ptt_register(fd, 0) == 1, "and the thread has its slot");
	ok(ioctl(fd, ARCPROF_IOC_PTT_STOP) == 0, "until it is stopped");
	ok(p.header->generation == 0 && !(p.slot[1].flags & ARCPROF_SLOT_RUNNING), "which its mapping shows");
	fails(ioctl(fd, ARCPROF_IOC_PTT_STOP), ENOENT, "stop without a session");
	close(fd);
	munmap((void *)p.header, p.len);
}

static void arguments(void)
{
	struct arcprof_metric tracepoint[2] = { { 0 }, { .type = PERF_TYPE_TRACEPOINT, .config = 1 } };
	struct arcprof_metric nonsense[2] = { { 0 }, { .type = 12345 } };
	struct arcprof_ptt_start start = { .size = sizeof(start), .nr_slots = 8, .nr_metrics = 1 };
	struct arcprof_version v = { .size = sizeof(v) };
	struct ptt p;
	void *m;
	int fd = device();

	ok(ioctl(fd, ARCPROF_IOC_VERSION, &v) == 0 && v.abi == ARCPROF_ABI && (v.features & 1), "the module's version");
	v.size = 4;
	fails(ioctl(fd, ARCPROF_IOC_VERSION, &v), EINVAL, "a request of another size");
	fails(ioctl(fd, ARCPROF_IOC_VERSION, NULL), EFAULT, "a request at no address");
	fails(ioctl(fd, _IO('A', 99)), ENOTTY, "an unknown request");
	ok(ptt_register(fd, 0) == -ENOENT, "register without a session");
	start.flags = 1 << 20;
	fails(ioctl(fd, ARCPROF_IOC_PTT_START, &start), EINVAL, "an unknown flag");
	start.flags = 0;
	start.nr_slots = 65537;
	fails(ioctl(fd, ARCPROF_IOC_PTT_START, &start), EINVAL, "too many slots");
	start.nr_slots = 8;
	start.nr_metrics = 9;
	fails(ioctl(fd, ARCPROF_IOC_PTT_START, &start), EINVAL, "too many metrics");
	start.nr_metrics = 1;
	start.metric[5].config = 1;
	fails(ioctl(fd, ARCPROF_IOC_PTT_START, &start), EINVAL, "a metric behind the last");
	close(fd);
	ok(ptt_open(&p, 0, 8, 2, tracepoint) == -ENODEV, "a tracepoint is no metric");
	ok(ptt_open(&p, 0, 8, 2, nonsense) == -ENODEV, "nor is what no driver knows");

	ok(ptt_open(&p, 0, 8, 1, NULL) == 0, "a session");
	m = mmap(NULL, p.len, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
	fails(m == MAP_FAILED ? -1 : 0, EPERM, "map for writing");
	fails(mprotect((void *)p.header, p.len, PROT_READ | PROT_WRITE), EACCES, "make the mapping writable");
	m = mmap(NULL, p.len + 4096, PROT_READ, MAP_SHARED, p.fd, 0);
	fails(m == MAP_FAILED ? -1 : 0, EINVAL, "map more than there is");
	m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, p.fd, 1 << 24);
	fails(m == MAP_FAILED ? -1 : 0, EINVAL, "map behind the end");
	ok(ptt_register(p.fd, -5) == -ESRCH && ptt_register(p.fd, 999999) == -ESRCH, "register what is no thread");
	ok(ptt_unregister(p.fd, 0) == -ESRCH, "give back what is not registered");
	ptt_close(&p);
}

/* As nobody, with the descriptor of a session that root has started. */
static void unprivileged(void)
{
	struct ptt p;
	pid_t pid;

	ok(ptt_open(&p, 0, 8, 1, NULL) == 0, "a session of root's");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct arcprof_ptt_start start = { .size = sizeof(start), .nr_slots = 8, .nr_metrics = 1 };

		nr_failed = 0;
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(9);
		fails(device(), EACCES, "nobody: open the device");
		ok(ptt_register(p.fd, 0) > 0, "nobody: registers itself with a descriptor it was given");
		ok(ptt_register(p.fd, 1) == -EPERM, "nobody: may not register another's thread");
		ok(ptt_unregister(p.fd, getppid()) == -EPERM, "nobody: nor give one back");
		fails(ioctl(p.fd, ARCPROF_IOC_PTT_START, &start), EPERM, "nobody: start");
		_exit(done());
	}
	ok(wait_for(pid) == 0, "nobody has done all this");
	ptt_close(&p);
}

/* ---- many threads ---- */

static struct ptt shared;
static int fd_shared, gate, nr_in, nr_registered;

static void *registers_and_waits(void *arg)
{
	int *slot = arg;

	*slot = ptt_register(fd_shared, 0);
	__atomic_add_fetch(&nr_in, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &gate, 0 /* FUTEX_WAIT */, 0, NULL, NULL, 0);
	return NULL;
}

static void many(int n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	int *slot = calloc(n, sizeof(*slot)), nr = 0, nr_dead = 0, nr_slots = 0;
	pthread_attr_t small;

	if (!ok(ptt_open(&shared, 0, n + 1, 1, NULL) == 0, "a session of %d slots", n + 1))
		return;
	fd_shared = shared.fd;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	gate = nr_in = 0;
	while (nr < n && pthread_create(&t[nr], &small, registers_and_waits, &slot[nr]) == 0)
		nr++;
	while (__atomic_load_n(&nr_in, __ATOMIC_ACQUIRE) < nr)
		usleep(1000);
	for (int i = 0; i < nr; i++)
		nr_slots += slot[i] > 0;
	ok(nr == n && nr_slots == n, "%d threads live, %d have slots", nr, nr_slots);
	ok(ptt_register(shared.fd, 0) == -ENOSPC, "one more has none");
	ok(shared.header->nr_refused == 1, "which is counted");
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gate, 1 /* FUTEX_WAKE */, n, NULL, NULL, 0);
	for (int i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	usleep(50000);
	for (int i = 1; i <= n; i++)
		nr_dead += !!(shared.slot[i].flags & ARCPROF_SLOT_DEAD);
	ok(nr_dead == n, "%d of them are dead when they have ended", nr_dead);
	ok(ptt_register(shared.fd, 0) > 0 && shared.header->nr_recycled == 1, "then one more has a recycled slot");
	ptt_close(&shared);
	free(t);
	free(slot);
}

static void *ends(void *arg)
{
	__atomic_store_n((int *)arg, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (int i = clock_ns(CLOCK_MONOTONIC) % 8; i > 0; i--)
		sched_yield();
	return NULL;
}

/* Threads end while others register them and give them back, on other CPUs. */
static void *churns(void *arg)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 1500000000ull;
	pthread_t t;

	while (clock_ns(CLOCK_MONOTONIC) < until) {
		int tid = 0;

		if (pthread_create(&t, NULL, ends, &tid))
			continue;
		while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
			sched_yield();
		for (int i = 0; i < 3; i++) {
			if (ptt_register(fd_shared, tid) > 0)
				__atomic_add_fetch(&nr_registered, 1, __ATOMIC_RELAXED);
			if (i == 1)
				ptt_unregister(fd_shared, tid);
		}
		pthread_join(t, NULL);
		__atomic_add_fetch((int *)arg, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void churn(uint32_t flags)
{
	pthread_t t[4];
	int n = 0, living = 0;

	ok(ptt_open(&shared, flags, 64, 1, NULL) == 0, "a session of few slots, flags %u", flags);
	fd_shared = shared.fd;
	nr_registered = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, churns, &n);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	usleep(100000);
	for (uint32_t i = 1; i < shared.header->next_slot; i++) {
		char path[32];
		struct arcprof_slot s = ptt_read(&shared.slot[i]);

		if (s.flags & ARCPROF_SLOT_DEAD)
			continue;
		snprintf(path, sizeof(path), "/proc/%d", s.tid);
		if (access(path, F_OK))
			living++;
	}
	ok(n > 10 && nr_registered > 0 && living == 0,
	   "%d threads came and went, %d registrations, %u slots were recycled, no slot is a ghost's", n,
	   nr_registered,
	   shared.header->nr_recycled);
	ptt_close(&shared);
}

/* ---- anything ---- */

static uint32_t rnd_u32(void)
{
	static const uint32_t edges[] = { 0, 1, 2, 7, 8, 9, 64, 4096, 65536, 65537, 0x7fffffff, 0x80000000,
		0xffffffff };

	return rnd(3) ? edges[rnd(sizeof(edges) / sizeof(edges[0]))] : (uint32_t)rng;
}

/* A request with random members; what is rare is a session that starts, since that takes long. */
static void random_request(int fd)
{
	static const unsigned long requests[] = {
		ARCPROF_IOC_VERSION,	    ARCPROF_IOC_PTT_START,    ARCPROF_IOC_PTT_REGISTER,
		ARCPROF_IOC_PTT_UNREGISTER, ARCPROF_IOC_PTT_STOP,     ARCPROF_IOC_ITRACE_START,
		ARCPROF_IOC_ITRACE_STAT,    ARCPROF_IOC_ITRACE_STOP,  ARCPROF_IOC_ITRACE_JOIN,
		ARCPROF_IOC_ITRACE_LEAVE,   ARCPROF_IOC_ITRACE_CONSUME,
	};
	unsigned long request = requests[rnd(sizeof(requests) / sizeof(requests[0]))];
	uint32_t words[64];

	if (rnd(20) == 0)
		request = (unsigned long)rnd_u32();
	for (int i = 0; i < 64; i++)
		words[i] = rnd(4) ? 0 : rnd_u32();
	if (rnd(10))
		words[0] = _IOC_SIZE(request);
	if (request == ARCPROF_IOC_PTT_START && rnd(50)) {
		words[3] = 9;
	} else if (request == ARCPROF_IOC_PTT_START) {
		memset(words + 1, 0, sizeof(words) - 4);
		words[1] = rnd(16);
		words[2] = 2 + rnd(100);
		words[3] = 1 + rnd(3);
		words[8] = words[12] = PERF_TYPE_SOFTWARE;
		words[10] = PERF_COUNT_SW_CONTEXT_SWITCHES;
	} else if (request == ARCPROF_IOC_ITRACE_START && rnd(2)) {
		memset(words + 1, 0, sizeof(words) - 4);
		words[1] = rnd(16);
		words[2] = 64 + rnd(1000);
		words[4] = 1 + rnd(5);
	} else if (request == ARCPROF_IOC_ITRACE_JOIN && rnd(2)) {
		words[1] = words[3] = 0;
	} else if (request == ARCPROF_IOC_ITRACE_CONSUME) {
		words[1] = rnd(6);
		words[2] = rnd(500);
		words[3] = 0;
	}
	if (request == ARCPROF_IOC_ITRACE_START)
		words[1] &= ~ARCPROF_ITRACE_CONTINUOUS;	/* we would wait for ourselves */
	if (request == ARCPROF_IOC_PTT_REGISTER || request == ARCPROF_IOC_PTT_UNREGISTER) {
		words[1] = rnd(2) ? rnd(400) : 0;
		words[3] = 0;
	}
	ioctl(fd, request, rnd(50) ? words : (void *)(uintptr_t)rng);
	if (rnd(4))	/* we shall not be traced for long */
		ioctl(fd, ARCPROF_IOC_ITRACE_STOP);
}

static void random_map(int fd, void **map, size_t *len)
{
	if (*map != MAP_FAILED)
		munmap(*map, *len);
	*len = (1 + rnd(rnd(2) ? 4 : 10000)) * 4096;
	*map = mmap(NULL, *len, rnd(4) ? PROT_READ : PROT_READ | PROT_WRITE,
		    rnd(4) ? MAP_SHARED : MAP_PRIVATE, fd,
		    (rnd(2) ? 0 : rnd_u32() & ~4095ull) + (rnd(2) ? ARCPROF_MMAP_ITRACE : 0));
	if (*map != MAP_FAILED && rnd(2)) {
		volatile const char *c = *map;

		for (size_t i = 0; i < *len; i += 4096)
			(void)c[i];
	}
}

static void anything(int n)
{
	void *map[4] = { MAP_FAILED, MAP_FAILED, MAP_FAILED, MAP_FAILED };
	size_t len[4] = { 0 };
	int fd[4], nr_requests = 0, nr_maps = 0;

	for (int i = 0; i < 4; i++)
		fd[i] = device();
	for (int i = 0; i < n; i++) {
		int k = rnd(4);

		if (rnd(100) == 0) {
			close(fd[k]);
			fd[k] = device();
		} else if (rnd(10) == 0) {
			random_map(fd[k], &map[k], &len[k]);
			nr_maps++;
		} else {
			random_request(fd[k]);
			nr_requests++;
		}
	}
	for (int i = 0; i < 4; i++) {
		if (map[i] != MAP_FAILED)
			munmap(map[i], len[i]);
		ioctl(fd[i], ARCPROF_IOC_PTT_STOP);
		close(fd[i]);
	}
	ok(true, "%d random requests and %d random mappings", nr_requests, nr_maps);
}

static void took(const char *what)
{
	static uint64_t last;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (last)
		printf("# %s: %.1f s\n", what, (now - last) * 1e-9);
	last = now;
}

/* What a descriptor pins is its user's locked memory, and that has a bound. */
static void memory_is_bounded(void)
{
	struct arcprof_itrace_start big = {
		.size = sizeof(big), .nr_records = 1 << 14, .nr_rings = 32,
		.flags = ARCPROF_ITRACE_CONTINUOUS,
	}, small = { .size = sizeof(small), .nr_records = 64, .nr_rings = 1,
		.flags = ARCPROF_ITRACE_CONTINUOUS };
	struct rlimit one = { 1 << 20, 1 << 20 };
	int fd = device(), other = device();
	pid_t pid;

	if (ioctl(fd, ARCPROF_IOC_ITRACE_STAT,
		  &(struct arcprof_itrace_stat){ .size = sizeof(struct arcprof_itrace_stat) }) &&
	    errno == ENOTTY) {
		close(fd);
		close(other);
		return;		/* no such traces on this CPU */
	}
	pid = fork();
	if (pid == 0) {
		nr_failed = 0;
		if (setrlimit(RLIMIT_MEMLOCK, &one) || setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(9);
		fails(ioctl(fd, ARCPROF_IOC_ITRACE_START, &big), EPERM, "nobody: more memory than RLIMIT_MEMLOCK");
		ok(ioctl(fd, ARCPROF_IOC_ITRACE_START, &small) == 0, "nobody: less");
		ok(mmap(NULL, small.area_len, PROT_READ, MAP_SHARED, fd, ARCPROF_MMAP_ITRACE) != MAP_FAILED, "it can be mapped");
		ok(mmap(NULL, small.area_len + 4096, PROT_READ, MAP_SHARED, fd, ARCPROF_MMAP_ITRACE) ==
			   MAP_FAILED,
		   "and nothing behind it");
		_exit(done());
	}
	ok(wait_for(pid) == 0, "nobody is bounded");
	ok(ioctl(other, ARCPROF_IOC_ITRACE_START, &big) == 0, "root may have as much");
	close(fd);
	close(other);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	rng = argc > 3 ? strtoull(argv[3], NULL, 0) : clock_ns(CLOCK_REALTIME) | 1;
	printf("# seed %#" PRIx64 "\n", rng);
	took("");
	arguments();
	in_use();
	owner_is_killed();
	unprivileged();
	memory_is_bounded();
	churn(0);
	churn(ARCPROF_PTT_ALL | ARCPROF_PTT_FOLLOW);
	took("the first");
	many(atoi(argv[1]));
	took("many threads");
	anything(atoi(argv[2]));
	took("random requests");
	return done();
}
