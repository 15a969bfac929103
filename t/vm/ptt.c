// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptt.c - the module's per-thread metrics against the kernel's own accounting, and against
 * themselves: what the buckets of the CPUs got, the threads have.
 *
 * usage: ptt PERCENT		how far times may differ from CLOCK_THREAD_CPUTIME_ID; below 1 only
 *				where nothing outside of the machine takes its time away
 *
 * That clock includes interrupts, as does the sum of a slot's own and interrupt time.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include "guest.h"

#define RUN_NS 200000000ull

static struct ptt ptt;
static double percent;

/* What one thread measured of itself. */
struct measured {
	const char *what;
	uint64_t run_ns;
	int cpu;			/* to be pinned to */
	bool sleeper;
	int slot;
	uint64_t cputime, own, irq, dispatches, interrupts, nr_reads, nr_backwards;
	double off;			/* percent */
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void spend(struct measured *m, const struct arcprof_slot *slot, uint64_t until)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	uint64_t before = 0, now;

	while (clock_ns(CLOCK_MONOTONIC) < until) {
		if (m->sleeper)
			nanosleep(&nap, NULL);
		for (int i = 0; i < 1000; i++) {
			now = ptt_own(slot);
			m->nr_backwards += now < before;
			before = now;
			m->nr_reads++;
		}
	}
}

/* Registering once more changes nothing, neither slot nor time. */
static void again(const struct arcprof_slot *slot)
{
	uint64_t before = ptt_own(slot);
	int same = ptt_register(ptt.fd, 0);
	uint64_t after = ptt_own(slot), elapsed;

	elapsed = ticks() - ptt_read(slot).start;
	if (&ptt.slot[same] != slot || after < before || after > elapsed)
		ok(false, "registering again: slot %d, from %" PRIu64 " to %" PRIu64 " of %" PRIu64, same,
		   before, after,
		   elapsed);
}

static void *measure(void *arg)
{
	struct measured *m = arg;
	const struct arcprof_slot *slot;
	struct arcprof_slot s0, s1;
	uint64_t cpu0, cpu1, own0, own1;

	pin(m->cpu);
	m->slot = ptt_register(ptt.fd, 0);
	if (m->slot < 0)
		return NULL;
	slot = &ptt.slot[m->slot];
	again(slot);
	s0 = ptt_read(slot);
	own0 = ptt_own(slot);
	cpu0 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	spend(m, slot, clock_ns(CLOCK_MONOTONIC) + m->run_ns);
	cpu1 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	own1 = ptt_own(slot);
	s1 = ptt_read(slot);
	m->cputime = cpu1 - cpu0;
	m->own = ptt_ns(&ptt, own1 - own0);
	m->irq = ptt_ns(&ptt, s1.irq_time - s0.irq_time);
	m->dispatches = s1.dispatches - s0.dispatches;
	m->interrupts = s1.interrupts - s0.interrupts;
	m->off = 100.0 * ((double)(m->own + m->irq) - m->cputime) / m->cputime;
	return NULL;
}

static void judge(const struct measured *m)
{
	printf("# %s: cputime %.6f own %.6f interrupts %.6f (%+.3f %%), %" PRIu64 " dispatches, %" PRIu64
	       " interrupts, %" PRIu64 " reads\n", m->what, m->cputime * 1e-9, m->own * 1e-9, m->irq * 1e-9,
	       m->off,
	       m->dispatches, m->interrupts, m->nr_reads);
	if (!ok(m->slot > 0, "%s: registers itself (%d)", m->what, m->slot))
		return;
	ok(fabs(m->off) <= percent, "%s: its time is the kernel's within %g %%", m->what, percent);
	ok(m->nr_backwards == 0 && m->nr_reads > 0, "%s: time never goes backwards", m->what);
}

static void busy(void)
{
	struct measured m = { .what = "alone", .run_ns = RUN_NS };

	measure(&m);
	judge(&m);
	ok(m.interrupts > 0 && m.irq > 0 && m.irq < m.cputime / 2, "alone: the timer's interrupts are set apart");
}

static void rivals(void)
{
	struct measured m[2] = { { .what = "first rival" }, { .what = "second rival" } };
	pthread_t t[2];

	for (int i = 0; i < 2; i++) {
		m[i].run_ns = 2 * RUN_NS;
		pthread_create(&t[i], NULL, measure, &m[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 2; i++) {
		judge(&m[i]);
		ok(m[i].dispatches >= 10, "%s: is dispatched again and again", m[i].what);
	}
	ok(m[0].own + m[1].own < 2.1 * RUN_NS, "rivals: together they have one CPU");
}

/* An event of perf that nobody reads is nothing but interrupts of its timer: 5000 a second. */
static void flooded(void)
{
	struct perf_event_attr every = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(every),
		.sample_period = 200000,
	};
	struct measured m = { .what = "flooded", .run_ns = RUN_NS };
	int fd = syscall(SYS_perf_event_open, &every, 0, -1, -1, 0);

	measure(&m);
	judge(&m);
	/* in real time, a loaded host lets fewer of them happen */
	ok(fd >= 0 && m.interrupts > (percent < 1 ? RUN_NS / 400000 : 10), "flooded: the interrupts are counted");
	close(fd);
}

static void sleeper(void)
{
	struct measured m = { .what = "sleeper", .run_ns = RUN_NS, .sleeper = true };
	double each;

	measure(&m);
	each = ((double)m.own + m.irq - m.cputime) / (m.dispatches ? m.dispatches : 1);
	printf("# sleeper: cputime %.6f own %.6f interrupts %.6f, %" PRIu64 " dispatches, %+.0f ns each\n",
	       m.cputime * 1e-9, m.own * 1e-9, m.irq * 1e-9, m.dispatches, each);
	ok(m.dispatches > 20 && m.nr_backwards == 0, "sleeper: is dispatched often, and time never goes backwards");
	/* schedule() before its tracepoint is prev's here and next's in the kernel */
	ok(each < 1000 && each > -100000, "sleeper: differs by part of a dispatch only");
}

/* Reads all CPUs and slots such that nothing happened in between. */
static bool snapshot(uint64_t *threads, uint64_t *buckets, uint64_t *elapsed)
{
	uint32_t nr_cpus = ptt.header->nr_cpus;

	for (int try = 0; try < 100000; try++) {
		uint64_t seq0 = 0, seq1 = 0, odd = 0;

		*threads = *buckets = *elapsed = 0;
		for (uint32_t c = 0; c < nr_cpus; c++) {
			uint32_t s = __atomic_load_n(&ptt.cpu[c].seq, __ATOMIC_ACQUIRE);

			seq0 += s;
			odd |= s & 1;
		}
		for (uint32_t c = 0; c < nr_cpus; c++) {
			const struct arcprof_cpu *cpu = &ptt.cpu[c];

			if (!(cpu->flags & ARCPROF_CPU_STARTED))
				continue;
			*threads += cpu->bucket[ARCPROF_BUCKET_THREADS];
			for (int b = 0; b < ARCPROF_NR_BUCKETS; b++)
				*buckets += cpu->bucket[b];
			*elapsed += cpu->last[0] - cpu->start;
		}
		for (uint32_t i = 0; i < ptt.header->next_slot; i++)
			*threads -= ptt.slot[i].acc[0];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		for (uint32_t c = 0; c < nr_cpus; c++)
			seq1 += __atomic_load_n(&ptt.cpu[c].seq, __ATOMIC_RELAXED);
		if (!odd && seq0 == seq1)
			return true;
	}
	return false;
}

static void conservation(void)
{
	uint64_t threads, buckets, elapsed, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN), wall;
	uint64_t lost = 0;

	if (!ok(snapshot(&threads, &buckets, &elapsed), "conservation: a moment without events"))
		return;
	wall = ticks() - ptt.header->start;
	for (uint32_t c = 0; c < ptt.header->nr_cpus; c++) {
		lost += ptt.cpu[c].nr_lost;
		printf("# cpu %u: idle %.4f other %.4f threads %.4f hard %.4f soft %.4f, %llu + %llu interrupts, "
		       "%llu lost\n", c, ptt_ns(&ptt, ptt.cpu[c].bucket[0]) * 1e-9,
		       ptt_ns(&ptt, ptt.cpu[c].bucket[1]) * 1e-9, ptt_ns(&ptt, ptt.cpu[c].bucket[2]) * 1e-9,
		       ptt_ns(&ptt, ptt.cpu[c].bucket[3]) * 1e-9, ptt_ns(&ptt, ptt.cpu[c].bucket[4]) * 1e-9,
		       ptt.cpu[c].nr_hardirqs, ptt.cpu[c].nr_softirqs, ptt.cpu[c].nr_lost);
	}
	ok(buckets == elapsed, "conservation: the buckets of the CPUs are the time since their start");
	ok(threads == 0, "conservation: the threads have what the CPUs gave to threads (off by %" PRId64 ")",
	   (int64_t)threads);
	ok(elapsed <= wall * nr_cpus && elapsed > wall * nr_cpus * 0.9, "conservation: that is the time of the session");
	ok(lost <= 2 * nr_cpus,
	   "conservation: no interrupt ends without its beginning, once the session runs");
}

static void *hop(void *arg)
{
	struct measured *m = arg;
	const struct arcprof_slot *slot;
	uint64_t before = 0, now;

	m->slot = ptt_register(ptt.fd, 0);
	slot = &ptt.slot[m->slot > 0 ? m->slot : 0];
	for (int i = 0; i < 4000; i++) {
		pin(i % 2);
		for (int k = 0; k < 200; k++) {
			now = ptt_own(slot);
			m->nr_backwards += now < before;
			before = now;
			m->nr_reads++;
		}
	}
	m->dispatches = ptt_read(slot).migrations;
	return NULL;
}

static void migration(void)
{
	struct measured m[3] = { { .slot = 0 } };
	pthread_t t[3];
	uint64_t backwards = 0, reads = 0, hops = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, hop, &m[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		backwards += m[i].nr_backwards;
		reads += m[i].nr_reads;
		hops += m[i].dispatches;
	}
	ok(backwards == 0 && hops >= 10000, "migration: %" PRIu64 " reads, %" PRIu64 " migrations, never backwards", reads,
	   hops);
}

int main(int argc, char **argv)
{
	int r;

	percent = argc > 1 ? atof(argv[1]) : 1;
	r = ptt_open(&ptt, 0, 64, 1, NULL);
	if (!ok(r == 0, "a session starts (%s)", strerror(-r)))
		return 1;
	busy();
	rivals();
	flooded();
	sleeper();
	migration();
	conservation();
	ptt_close(&ptt);
	return done();
}
