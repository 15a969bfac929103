// SPDX-License-Identifier: MIT
/*
 * timers.c - samples where perf events are forbidden: a timer on the CPU time of each thread raises
 * the signal that a perf event would.
 *
 * The kernel looks at such timers at its tick only, so a thread is sampled at most once a tick;
 * each signal says how many periods have passed. The JVM's own threads start without a word to
 * JVMTI: a thread of ours looks for new ones. Timers belong to the process, and those of ended
 * threads are deleted at the next look.
 */
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/fcntl.h>

#include "agent/agent.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/sources.h"

enum { SIGEV_THREAD_ID_ = 4, NR_SLOTS = 1 << 16, REMOVED = -1, LOOK_MS = 20, DIRENT_NAME = 19 };

struct slot {			/* found by the tid, at the first free place from there on */
	int32_t tid;		/* 0 never used, REMOVED free again */
	int32_t timer;
	uint32_t look;		/* the last one at which the thread was there */
};

static struct slot *slots;
static uint32_t nr_slots, nr_looks;
static uint64_t period_ns;	/* 0: off */
static struct sys_lock lock;	/* of all the above */

bool timers_raised(const siginfo_t *si)
{
	return si->si_code == SI_TIMER && si->_sifields._timer._sigval.sival_ptr == &slots;
}

uint32_t timers_nr_periods(const siginfo_t *si)
{
	return 1 + (uint32_t)si->_sifields._timer._overrun;
}

static bool start_timer(int tid, int32_t *timer)
{
	const struct {
		const void *value;
		int32_t signal, notify, tid, pad[11];
	} event = { .value = &slots, .signal = SIGTRAP, .notify = SIGEV_THREAD_ID_, .tid = tid };
	const int64_t s = period_ns / 1000000000, ns = period_ns % 1000000000;
	const int64_t every[4] = { s, ns, s, ns };	/* between two, and until the first */
	const int clock = ~tid << 3 | 6;	/* the CPU time of that thread, as the scheduler counts it */

	if (sys(__NR_timer_create, clock, &event, timer))
		return false;
	if (!sys(__NR_timer_settime, *timer, 0, every, 0))
		return true;
	sys(__NR_timer_delete, *timer);
	return false;
}

/* Return the thread's slot, or a free one; NULL: there is none. */
static struct slot *timers_slot_of(int tid)
{
	struct slot *free_slot = NULL;
	uint32_t i;

	for (i = 0; i < NR_SLOTS; i++) {
		struct slot *s = &slots[(tid + i) % NR_SLOTS];

		if (s->tid == tid)
			return s;
		if (s->tid <= 0 && !free_slot)
			free_slot = s;
		if (!s->tid)
			break;
	}
	return free_slot;
}

static void timers_add(int tid)
{
	struct slot *s = timers_slot_of(tid);

	if (s && s->tid != tid && start_timer(tid, &s->timer)) {
		s->tid = tid;
		nr_slots++;
	}
	if (s && s->tid == tid)
		s->look = nr_looks;
}

static void remove_slot(struct slot *s)
{
	const struct slot *next = s + 1 < slots + NR_SLOTS ? s + 1 : slots;

	sys(__NR_timer_delete, s->timer);
	s->tid = next->tid ? REMOVED : 0;
	nr_slots--;
}

/* Remove timers of threads that have ended; all: also of living ones. */
static void remove_gone(bool all)
{
	uint32_t i;

	for (i = 0; i < NR_SLOTS && nr_slots; i++)
		if (slots[i].tid > 0 && (all || slots[i].look != nr_looks))
			remove_slot(&slots[i]);
}

static int timers_number(const char *s)
{
	int n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + *s - '0';
	return n;
}

/* Gives every thread but the one that looks a timer. */
static void timers_look(bool skip_this)
{
	int dir = sys(__NR_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int self = skip_this ? sys_tid() : 0, tid;
	uint32_t seen = 0;
	char buf[4096];
	long len, at;

	if (dir < 0)
		return;
	nr_looks++;
	while ((len = sys(__NR_getdents64, dir, buf, sizeof(buf))) > 0)
		for (at = 0; at < len; at += *(uint16_t *)(buf + at + DIRENT_NAME - 3)) {
			tid = timers_number(buf + at + DIRENT_NAME);
			if (tid > 0 && tid != self) {
				timers_add(tid);
				seen++;
			}
		}
	sys(__NR_close, dir);
	if (seen != nr_slots)
		remove_gone(false);
}

void timers_on(uint64_t period)
{
	sys_lock(&lock);
	if (!slots)
		slots = sys_pages(NR_SLOTS * sizeof(*slots));
	if (slots) {
		period_ns = period;
		timers_look(false);
	}
	sys_unlock(&lock);
}

void timers_off(void)
{
	sys_lock(&lock);
	if (period_ns) {
		period_ns = 0;
		remove_gone(true);
	}
	sys_unlock(&lock);
}

void timers_add_this_thread(void)
{
	if (!load_relaxed(&period_ns))
		return;
	sys_lock(&lock);
	if (period_ns)
		timers_add(sys_tid());
	sys_unlock(&lock);
}

/*
 * Keep timers for all threads. A scan takes longer the more threads there are, and may take a fiftieth of the
 * time.
 */
static void JNICALL timers_watch(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	while (load_relaxed(&period_ns) && !log_closed() && !ring_vm_ends()) {
		uint64_t start = sys_now();

		sample_keep_signal();
		sys_lock(&lock);
		if (period_ns)
			timers_look(true);
		sys_unlock(&lock);
		ring_nap(LOOK_MS * 1000000 + (sys_now() - start) * 50);
	}
	if (!ring_vm_ends())	/* there is time to sample until then */
		timers_off();
}

void timers_live(JNIEnv *env)
{
	if (load_relaxed(&period_ns))
		ownthread_run(env, timers_watch);
}
