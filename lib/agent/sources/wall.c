// SPDX-License-Identifier: MIT
/*
 * wall.c - looks at all threads at an interval, and walks those that are blocked and were not walked in
 * that block (jvm/wall.h).
 *
 * A look happens at a moment that has nothing to do with what threads do, so it hits a block with a
 * probability in proportion to its length; the interval before it goes with the sample. Looks take at most a
 * twentieth of the time: where there is more to walk they are further apart. But the first, which finds
 * all that wait already and has most names to learn, puts off no other, nor do those that go on with it
 * because the ring had no room: what the recorder misses for long it walks itself, and knows no Java.
 */
#include <linux/mman.h>

#include "agent/agent.h"
#include "agent/hotspot/blocked.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/reason.h"
#include "agent/hotspot/vm.h"
#include "agent/hotspot/walk.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/sources.h"
#include "base/chance.h"

enum {
	MAX_SLOTS = 1 << 20, BEYOND = 512, SHARE = 20, MAX_WAIT_MS = 10000, MAX_PAUSE_NS = 1000000000,
	AWAKE_NS = 1000000000, OFF_MS = 20, FIRST_NS = 2000000000,
};

static struct {
	const struct wall_slot *slots;
	const uint64_t *stamps;
	uint64_t *marks;		/* for BPF: the block that is walked; of late slots there are none */
	const struct wall_wake *wakes;	/* NULL: not asked for */
	uint64_t *anchors;		/* for BPF: where a slot's thread has its anchor; NULL as wakes */
	uint32_t *woken;		/* by slot: the latest block whose end was looked at */
	uint32_t wake_epoch;		/* names_epoch() at the look before */
	/* by slot: number of the block that was walked; with late slots, the thread's CPU time then */
	uint64_t *walked;
	uint32_t nr_slots, alloc_walked;
	bool late;
	uint32_t pid;			/* as we see it */
	uint64_t interval_ns;
	struct blocked blocked;
	struct walk *walk;
	uint64_t look_ns, last_ns;	/* when this look began, and the one before */
	uint64_t random;
	bool begun;			/* all slots were looked at, and nobody is to be looked at again */
	bool crowded;			/* some were left out because of a full ring */
	uint64_t first_ns;		/* when the first look began; 0: it is over */
} at;

static uint32_t on, running;

static void *map(int fd, size_t bytes, int prot)
{
	long p = sys(__NR_mmap, 0, bytes, prot, MAP_SHARED, fd, 0);

	sys(__NR_close, fd);
	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static void unmap(void)
{
	if (at.slots)
		sys(__NR_munmap, at.slots, at.nr_slots * sizeof(*at.slots));
	if (at.stamps)
		sys(__NR_munmap, at.stamps, at.nr_slots * sizeof(*at.stamps));
	if (at.marks)
		sys(__NR_munmap, at.marks, at.nr_slots * sizeof(*at.marks));
	if (at.wakes)
		sys(__NR_munmap, at.wakes, WALL_NR_WAKES * sizeof(*at.wakes));
	if (at.anchors)
		sys(__NR_munmap, at.anchors, at.nr_slots * sizeof(*at.anchors));
	if (at.woken)
		sys(__NR_munmap, at.woken, at.nr_slots * sizeof(*at.woken));
	at.wakes = NULL;
	at.anchors = NULL;
	at.woken = NULL;
	at.slots = NULL;
	at.stamps = NULL;
	at.marks = NULL;
}

/* Clear the array, or allocate a larger one for a recorder with more slots. */
static bool make_walked(uint32_t nr)
{
	if (nr > at.alloc_walked) {
		at.walked = sys_pages(nr * sizeof(*at.walked));
		at.alloc_walked = at.walked ? nr : 0;
	} else {
		sys_clear_pages(at.walked, nr * sizeof(*at.walked));
	}
	return at.walked;
}

/* Map the wakes; all else works without them. */
static void map_wakes(const struct link_go *go)
{
	at.wakes = map(go->wakes_fd, WALL_NR_WAKES * sizeof(*at.wakes), PROT_READ);
	at.anchors = map(go->anchors_fd, at.nr_slots * sizeof(*at.anchors), PROT_READ | PROT_WRITE);
	at.woken = at.anchors ? sys_pages(at.nr_slots * sizeof(*at.woken)) : NULL;
	at.wake_epoch = names_epoch();
}

bool wall_on(const struct link_go *go)
{
	bool fits = go->nr_slots && go->nr_slots <= MAX_SLOTS && go->wall_ns;

	at.nr_slots = fits ? go->nr_slots : 0;
	at.slots = map(go->slots_fd, at.nr_slots * sizeof(*at.slots), PROT_READ);
	at.stamps = map(go->stamps_fd, at.nr_slots * sizeof(*at.stamps), PROT_READ);
	if (!go->late_slots)
		at.marks = map(go->marks_fd, at.nr_slots * sizeof(*at.marks), PROT_READ | PROT_WRITE);
	if (go->wakes)
		map_wakes(go);
	at.walk = at.walk ? at.walk : sample_new_walk();
	at.pid = sys(__NR_getpid);
	at.interval_ns = go->wall_ns;
	at.late = at.blocked.late = go->late_slots;
	at.random = sys_now() | 1;
	at.begun = false;
	fits = fits && at.slots && at.stamps && (at.marks || at.late);
	if (!fits || !at.walk || !make_walked(go->nr_slots) || !blocked_init(&at.blocked)) {
		unmap();
		return false;
	}
	blocked_forget(&at.blocked);
	reason_forget();
	store_seq_cst(&on, 1);
	return true;
}

bool wall_off(void)
{
	int ms;

	store_seq_cst(&on, 0);
	for (ms = 0; ms < MAX_WAIT_MS && load_seq_cst(&running); ms++)
		sys_sleep_ms(1);
	if (load_seq_cst(&running))
		return false;
	unmap();
	return true;
}

/* Walk the thread of a slot; return false if it could not be walked, and is to be tried again. */
static bool visit(uint32_t i)
{
	struct blocked *b = &at.blocked;
	struct jvm_rec_wall wall = { .slot = i, .interval_ns = at.look_ns - at.last_ns };
	struct jvm_rec_sample head = { .time_ns = at.look_ns, .flags = JVM_SAMPLE_WALL };

	/* when it blocks again it is new again */
	if (!blocked_begin(b, &at.slots[i]))
		return true;
	if (at.anchors)
		store_relaxed(&at.anchors[i], blocked_anchor(b));
	if (at.late) {
		head.time_ns = b->known_ns;
		wall.since_ns = b->ran_ns;
	} else {
		wall.since_ns = b->was.since_ns;
		wall.block_nr = b->was.block_nr;
	}
	wall.class = b->was.class;
	wall.site = b->was.site;
	wall.syscall = b->was.syscall;
	memcpy(wall.args, b->was.args, sizeof(wall.args));
	head.tid = b->was.own_tid;
	return sample_blocked(at.walk, b, &head, &wall);
}

/*
 * Walk the thread that woke slot i. The code on its stack was not freed since: no class was unloaded since
 * the previous scan.
 */
static void visit_wake(uint32_t i, uint32_t nr)
{
	const struct wall_wake *w = &at.wakes[wall_wake_at(i, nr)];
	struct jvm_rec_wall wall = { .slot = i, .block_nr = nr, .interval_ns = at.interval_ns };
	struct jvm_rec_sample head = {
		.time_ns = at.look_ns, .flags = JVM_SAMPLE_WALL | JVM_SAMPLE_WAKE,
	};

	if (load_acquire(&w->block_nr) != nr || w->slot != i || w->own_pid != at.pid)
		return;
	if (names_epoch() != at.wake_epoch || !blocked_begin_wake(&at.blocked, w, nr))
		return;
	head.tid = at.blocked.was.own_tid;
	sample_blocked(at.walk, &at.blocked, &head, &wall);
}

/* Look at the wakers of a slot's blocks, of whatever process, that were walked and are over. */
static void look_at_wakes(uint32_t i)
{
	const struct wall_slot *s = &at.slots[i];
	uint32_t k, nr, last = at.woken[i];

	for (k = 0; k < WALL_NR_DONE; k++) {
		nr = load_relaxed(&s->done[k].nr);
		if (!nr || (int32_t)(nr - at.woken[i]) <= 0)
			continue;
		visit_wake(i, nr);
		if ((int32_t)(nr - last) > 0)
			last = nr;
	}
	at.woken[i] = last;
}

/*
 * Return whether to walk the thread of a slot. A late slot does not say whether its block was walked, but CPU
 * time does, which grows when the thread runs. Threads that have not run for a while are not asked: the
 * recorder reports when they run.
 */
static bool is_due(uint32_t i, uint64_t *mark)
{
	const struct wall_slot *s = &at.slots[i];
	uint64_t stamp = load_relaxed(&at.stamps[i]);

	if (at.begun && !wall_is_new(at.late ? stamp + AWAKE_NS : stamp, at.last_ns))
		return false;
	if (load_relaxed(&s->own_pid) != at.pid)
		return false;
	*mark = at.late ? sys_thread_cpu(load_relaxed(&s->own_tid)) : load_relaxed(&s->block_nr);
	return (at.late || *mark & 1) && *mark != at.walked[i];
}

static void wallwatch_look(void)
{
	uint32_t i, end = BEYOND;
	bool again = false;
	uint64_t mark;

	at.crowded = false;
	/* slots are taken one after the other, and stamped when they are */
	for (i = 0; i < end && i < at.nr_slots; i++) {
		if (load_relaxed(&at.stamps[i]))
			end = i + BEYOND;
		if (at.woken && at.wakes && wall_is_new(load_relaxed(&at.stamps[i]), at.last_ns))
			look_at_wakes(i);
		if (!is_due(i, &mark))
			continue;
		if (at.marks)
			store_relaxed(&at.marks[i], mark);
		if (visit(i)) {
			at.walked[i] = mark;
			continue;
		}
		again = true;
		at.crowded |= ring_is_half_full(at.walk->ring);
	}
	at.begun = !again;
	at.wake_epoch = names_epoch();
}

/* Return half to one and a half times the interval, so that no program is in step with it. */
static uint64_t pause_ns(uint64_t spent_ns)
{
	uint64_t ns;

	ns = chance_around(&at.random, at.interval_ns);
	if (ns < spent_ns * SHARE)
		ns = spent_ns * SHARE;
	return ns < MAX_PAUSE_NS ? ns : MAX_PAUSE_NS;
}

static bool is_unwanted(void)
{
	return load_relaxed(&ring_ctl()->off) & JVM_WALL;
}

/* Wait until samples are wanted; then all blocks count as new, whenever they began. */
static void wait_until_wanted(void)
{
	while (load_seq_cst(&on) && is_unwanted() && !log_closed())
		ring_nap(OFF_MS * 1000000);
	at.begun = false;
	memset(at.walked, 0, at.nr_slots * sizeof(*at.walked));
	at.first_ns = at.last_ns = sys_now();
}

/* Return whether the first look, or a part of it, has just ended. */
static bool is_first(void)
{
	bool was = at.first_ns;

	if (!at.crowded || at.look_ns - at.first_ns > FIRST_NS)
		at.first_ns = 0;
	return was;
}

static void JNICALL wallwatch_watch(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	uint64_t spent_ns = 0, start_ns;

	/*
	 * first this, then looked whether it is on: wall_off() does both in the other order. There may be
	 * one of a session before that only gets to run now, and does as well.
	 */
	if (__atomic_exchange_n(&running, 1, __ATOMIC_SEQ_CST))
		return;
	at.first_ns = at.last_ns = sys_now();
	while (load_seq_cst(&on) && !log_closed()) {
		ring_nap(pause_ns(spent_ns));
		if (load_seq_cst(&on) && is_unwanted())
			wait_until_wanted();
		if (!load_seq_cst(&on))
			break;
		start_ns = sys_own_cpu();
		at.look_ns = sys_now();
		wallwatch_look();
		at.last_ns = at.look_ns;
		spent_ns = is_first() ? 0 : sys_own_cpu() - start_ns;
	}
	store_seq_cst(&running, 0);
}

void wall_live(JNIEnv *env)
{
	if (!load_seq_cst(&on))
		return;
	reason_init(env);
	ownthread_run(env, wallwatch_watch);
}
