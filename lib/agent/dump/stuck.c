// SPDX-License-Identifier: MIT
/*
 * stuck.c - notices threads that have waited for a lock since the last look and did nothing meanwhile, and
 * tells the recorder what they wait for (threads.h): it finds out whether they wait for each other.
 *
 * A look costs about 1 us per thread, reads fields only, and takes place every three seconds. Code in Java
 * runs if there are virtual threads, to list them, and where two threads or more are stuck. Not while calls
 * are counted: that code's would be, too.
 *
 * In between the thread waits for the recorder to change what it wants (session.c).
 */
#include "agent/agent.h"
#include "agent/dump/threads.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "base/mix.h"

enum {
	LOOK_MS = 3000, NAP_MS = 500,
	NR_SLOTS = 1 << 13, MAX_MARKS = NR_SLOTS / 2,
	MONITOR = 1, LOCK = 2,		/* mark.why: a lock's owner is added */
	AGAIN = 3,			/* looks after which virtual threads are reported again */
};

/* A stuck thread may use this much CPU time between two looks: HotSpot wakes some now and then. */
static const uint64_t idle_ns = 1000000;

struct mark {			/* of a thread that waits for a lock */
	uint64_t id, why, cpu_ns;	/* id 0: a free slot */
};

struct marks {
	struct mark *slots;
	size_t nr;
};

struct stuck {
	struct threads_list list;
	uint64_t sum;			/* of who is in it, and how long they have run */
	bool virtual;
	bool itself;			/* a thread in it waits for what it has itself */
};

static struct marks last, now;
static uint64_t told;			/* sum of what was reported last */
static int nr_same;			/* looks since */
static bool no_java;
static bool running;
static struct sys_lock lock;		/* of running */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xc2b2ae3d27d4eb4full;

	return h ^ h >> 29;
}

static struct mark *stuck_slot_of(const struct marks *m, uint64_t id)
{
	size_t at = mix64(id) & (NR_SLOTS - 1);

	while (m->slots[at].id && m->slots[at].id != id)
		at = (at + 1) & (NR_SLOTS - 1);
	return &m->slots[at];
}

static bool make_marks(void)
{
	if (!last.slots)
		last.slots = sys_pages(NR_SLOTS * sizeof(*last.slots));
	if (!now.slots)
		now.slots = sys_pages(NR_SLOTS * sizeof(*now.slots));
	return last.slots && now.slots;
}

/* Make the marks of this scan those of the last one. */
static void stuck_turn(void)
{
	struct marks m = last;

	last = now;
	now = m;
	if (now.nr)
		sys_clear_pages(now.slots, NR_SLOTS * sizeof(*now.slots));
	now.nr = 0;
}

/* Return what the thread waits for without a timeout, or 0 for nothing. */
static uint64_t why_waits(const struct threads_class *c, jthread t, uint64_t id)
{
	JNIEnv *env = c->env;
	uint64_t owner;
	jobject blocker;
	uint32_t state = threads_waiting(c, t);

	if (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
		return MONITOR;
	if (!(state & JVMTI_THREAD_STATE_PARKED) || state & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT)
		return 0;
	blocker = (*env)->GetObjectField(env, t, c->blocker);
	owner = threads_park_owner(c, blocker, id);
	(*env)->DeleteLocalRef(env, blocker);
	return owner ? LOCK + owner : 0;
}

/* Mark a waiting thread; return whether it waited at the last scan and has done nothing since. */
static bool is_stuck(const struct threads_class *c, jthread t, uint64_t id, struct mark *m)
{
	const struct mark *before = stuck_slot_of(&last, id);

	*m = (struct mark){ .id = id, .why = why_waits(c, t, id) };
	if (!m->why || now.nr >= MAX_MARKS)
		return false;
	m->cpu_ns = threads_cpu_ns(c, t);
	*stuck_slot_of(&now, id) = *m;
	now.nr++;
	return before->id == id && before->why == m->why && m->cpu_ns - before->cpu_ns < idle_ns;
}

/* Copy the stuck threads of l to s->list; l keeps the references. */
static bool find_stuck(const struct threads_class *c, const struct threads_list *l, struct stuck *s)
{
	struct threads_list *to = &s->list;
	struct mark m;
	size_t i;

	if ((*c->ti)->Allocate(c->ti, (l->nr + 1) * sizeof(*to->threads), (void *)&to->threads) ||
	    (*c->ti)->Allocate(c->ti, (l->nr + 1) * sizeof(*to->ids), (void *)&to->ids))
		return false;
	for (i = 0; i < l->nr; i++) {
		if (!is_stuck(c, l->threads[i], l->ids[i], &m))
			continue;
		to->threads[to->nr] = l->threads[i];
		to->ids[to->nr++] = m.id;
		s->sum += mix(m.id, m.cpu_ns + 1);
		s->virtual |= !m.cpu_ns;
		s->itself |= m.why == LOCK + m.id;
	}
	return true;
}

/*
 * Return whether to report the threads again. A virtual thread does not show whether it has run: it may wait
 * for something else now, though the same threads are stuck.
 */
static bool is_news(const struct stuck *s)
{
	if (s->list.nr < 2 && !s->itself)
		return false;
	if (s->sum == told && (!s->virtual || ++nr_same < AGAIN))
		return false;
	told = s->sum;
	nr_same = 0;
	return true;
}

/* Return whether there are carriers; they have a class of their own. */
static bool has_carriers(const struct threads_class *c, const struct threads_list *l)
{
	size_t i;

	for (i = 0; c->carrier && i < l->nr; i++)
		if ((*c->env)->IsInstanceOf(c->env, l->threads[i], c->carrier))
			return true;
	return false;
}

static void stuck_look(jvmtiEnv *ti, JNIEnv *env)
{
	struct threads_out out = { .fd = -1 };
	struct threads_list l = { 0 };
	struct stuck s = { { 0 } };
	struct threads_class c;

	if (!make_marks() || !threads_class_find(&c, ti, env))
		return;
	stuck_turn();
	if (threads_list_platform(&c, &l) &&
	    (no_java || !has_carriers(&c, &l) || threads_list_virtual(&c, &l)) && find_stuck(&c, &l, &s) &&
	    is_news(&s))
		threads_show(&c, &s.list, JVM_DUMP_STUCK, &out);
	(*ti)->Deallocate(ti, (void *)s.list.threads);
	(*ti)->Deallocate(ti, (void *)s.list.ids);
	threads_list_release(&c, &l);
}

static bool has_ended(void)
{
	bool ended;

	sys_lock(&lock);
	ended = log_closed();
	running = !ended;
	sys_unlock(&lock);
	return ended;
}

static void JNICALL stuck_watch_loop(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	uint64_t look_ns;

	for (;;) {
		for (look_ns = sys_now() + LOOK_MS * 1000000ull; sys_now() < look_ns;) {
			/* of a session before this one it may be the old socket: so the nap is short */
			if (!ring_wait(NAP_MS) && (ring_vm_ends() || has_ended()))
				return;
			session_change(env);
		}
		if (!(*env)->PushLocalFrame(env, THREADS_REFS)) {
			stuck_look(ti, env);
			(*env)->PopLocalFrame(env, NULL);
		}
		threads_threw(env);
	}
}

void stuck_watch(JNIEnv *env)
{
	if (!(ring_ctl()->flags & JVM_STUCK))
		return;
	sys_lock(&lock);
	no_java = ring_ctl()->flags & JVM_CALLFLOW;
	told = 0;
	if (!running)
		running = ownthread_run(env, stuck_watch_loop);
	sys_unlock(&lock);
}
