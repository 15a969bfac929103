// SPDX-License-Identifier: MIT
/*
 * live.c - which of the sampled objects are still there (live.h).
 *
 * Each has a weak reference, which the collector clears. After collections a thread of ours looks at all of
 * them, beside the program, and reports those that were cleared. When there are too many, the interval is
 * doubled and each stays with the probability that it would have been sampled with: what the others stand
 * for is not missing then, as those that stay weigh more. An interval that nobody has asked for begins short
 * and grows in the same way, as long as more objects are chosen than it takes to see what grows.
 *
 * The table has one that shortens it, our thread; others append, with the lock. So all but what was
 * appended meanwhile is looked at without the lock.
 */
#include <linux/futex.h>

#include "agent/agent.h"
#include "agent/hotspot/vm.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/live.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"

enum {
	MAX_TRACKED = 1 << 20,
	MANY_TRACKED = MAX_TRACKED / 4 * 3,	/* the interval is doubled */
	FIRST_INTERVAL = 64,			/* bytes, after 0 */
	MOST_A_SECOND = 1000,			/* of an interval that adapts, until it is: */
	LONGEST_ADAPTED = 512 << 10,		/* bytes */
	ID_BYTES = 4096 - 64,			/* numbers in one record */
	REST_FACTOR = 20,			/* times what a sweep took of a CPU, until the next */
	WAIT_MS = 500, END_MS = 10000, ROSTER_MS = 60000,
	NR_WITNESSES = 32, MANY_HELD = 8,
	PAUSES_KEPT = 32,
};

static struct tracked *table;	/* [MAX_TRACKED] */
static uint32_t nr;
static struct sys_lock lock;	/* of nr, interval, accepts, and of what is appended */
static uint64_t interval;	/* bytes */
static bool accepts;
static uint32_t next_number;

/* Objects of ours, oldest first: those that were let go, then those that are held. Of our thread. */
static struct witness {
	jobject held;			/* NULL: it was let go */
	jweak ref;
	uint32_t pauses;		/* when it was made */
	uint64_t let_go_ns;
} witnesses[NR_WITNESSES];
static uint32_t nr_witnesses;
static uint64_t whole_ns;

static uint32_t nr_pauses, wake;	/* wake: changes with each reason to look */
static uint64_t pause_ns[PAUSES_KEPT];	/* when each ended, the number nr_pauses at nr_pauses % PAUSES_KEPT */
static uint64_t young_ns;		/* of jvm_swept, as of the last sweep */
static bool has_collected;		/* all garbage, since then: both times are of that */
static bool running, stop;		/* our thread */
static struct {				/* when the interval was last looked at, if it adapts */
	uint64_t time_ns;
	uint32_t number;		/* of the last object that was chosen */
} rated;

/* Requests to our thread, one at a time, as the VM loads one agent at a time. */
static struct {
	uint64_t cookie;
	bool on;
	enum jvm_roster_answer answer;
	uint32_t asked, done;
} roster;

static void wake_up(void)
{
	add_relaxed(&wake, 1);
	sys(__NR_futex, &wake, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

/* ---- telling ---- */

struct numbers {
	enum jvm_gone why;
	uint32_t nr, len;
	uint8_t bytes[ID_BYTES + 16];
};

static void put_number(struct numbers *n, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		n->bytes[n->len++] = v | 0x80;
	n->bytes[n->len++] = v;
	n->nr++;
}

static void tell_gone(struct numbers *n)
{
	if (!n->nr)
		return;
	if (n->nr & 1)
		put_number(n, 0);	/* pairs */
	if (!log_closed())
		send_gone_objects(NULL, &(struct jvm_gone_objects){
			.time_ns = sys_now(), .why = n->why, .numbers = n->bytes, .numbers_len = n->len,
		});
	n->nr = n->len = 0;
}

static void add_gone(struct numbers *n, uint32_t number)
{
	put_number(n, number);
	if (n->len >= ID_BYTES - 16 && !(n->nr & 1))
		tell_gone(n);
}

static enum jvm_collector collector(void)
{
	enum { GENERATIONAL = 24, CHOICE = 21 };
	bool on = false, generational = false;

	if ((vm_flag("UseSerialGC", &on) && on) || (vm_flag("UseParallelGC", &on) && on))
		return JVM_COLLECTS_AT_ONCE;
	if (vm_flag("UseG1GC", &on) && on)
		return JVM_COLLECTS_G1;
	if (!vm_flag("UseZGC", &on) || !on || !vm.major || *vm.major < CHOICE)
		return JVM_COLLECTS_BESIDE;
	if (*vm.major < GENERATIONAL && !(vm_flag("ZGenerational", &generational) && generational))
		return JVM_COLLECTS_BESIDE;
	return JVM_COLLECTS_OLD_LATE;
}

static uint64_t pause_end(uint32_t number)
{
	return load_relaxed(&pause_ns[number % PAUSES_KEPT]);
}

static void tell_swept(uint32_t pauses, uint64_t began_ns)
{
	if (!log_closed())
		send_swept(NULL, &(struct jvm_swept){
			.time_ns = pause_end(pauses), .pauses = pauses, .collector = collector(),
			.tracked = load_relaxed(&nr), .interval = load_relaxed(&interval),
			.took_ns = sys_now() - began_ns, .young_ns = young_ns, .whole_ns = whole_ns,
		});
}

/* ---- whether a collection has looked at the young ---- */

/* Return a number of pauses among which at least one was of a whole collection of the young; 0: unknown. */
static uint32_t pauses_of_young(void)
{
	static const uint32_t of[JVM_COLLECTS_NR] = {
		[JVM_COLLECTS_AT_ONCE] = 1, [JVM_COLLECTS_G1] = 3, [JVM_COLLECTS_BESIDE] = 8,
	};

	return of[collector()];
}

/*
 * Ask for what was young at the last pauses. They may all be over before a sweep begins, so each has its own
 * time. More may come meanwhile: entries that may be of a later one are not read.
 */
static void ask_pauses(uint32_t pauses)
{
	uint32_t needed = pauses_of_young();
	uint64_t ns;

	if (!needed || pauses < needed)
		return;
	ns = pause_end(pauses - (needed - 1));
	if (load_acquire(&nr_pauses) - pauses < PAUSES_KEPT - needed)
		young_ns = ns;
}

/* ---- whether a collection has looked at the old ---- */

/*
 * Return the number of pauses after which an object must be old. No collector reports when an object is old.
 * So a few objects of ours are held until they must be old, and then released. When one of them is found
 * dead, a collection of the old generation has begun since, and whatever was garbage at its release is found
 * dead now.
 */
static uint32_t pauses_until_old(void)
{
	/* Objects are old after 15 collections of the young, each of which can come with this many pauses. */
	enum { COLLECTIONS = 16, G1_PAUSES = 3, OTHERS_PAUSES = 6 };
	const enum jvm_collector c = collector();
	bool shenandoah = false;

	if (c == JVM_COLLECTS_AT_ONCE)
		return COLLECTIONS;
	if (c == JVM_COLLECTS_G1)
		return COLLECTIONS * G1_PAUSES;
	if (c == JVM_COLLECTS_BESIDE && !(vm_flag("UseShenandoahGC", &shenandoah) && shenandoah))
		return 1;	/* ZGC, which knows no old ones */
	return COLLECTIONS * OTHERS_PAUSES;
}

static void forget_witnesses(JNIEnv *env, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (witnesses[i].held)
			(*env)->DeleteGlobalRef(env, witnesses[i].held);
		(*env)->DeleteWeakGlobalRef(env, witnesses[i].ref);
	}
	for (i = n; i < nr_witnesses; i++)
		witnesses[i - n] = witnesses[i];
	nr_witnesses -= n;
}

/* Test the witnesses, before the objects: what a collection has cleared is found then. */
static void ask_witnesses(JNIEnv *env)
{
	uint32_t n;

	for (n = nr_witnesses; n; n--) {
		const struct witness *w = &witnesses[n - 1];

		if (w->held || !(*env)->IsSameObject(env, w->ref, NULL))
			continue;
		whole_ns = w->let_go_ns > whole_ns ? w->let_go_ns : whole_ns;
		forget_witnesses(env, n);
		return;
	}
}

/* Drop every second witness that was released; the rest cover the same length of time. */
static void thin_witnesses(JNIEnv *env)
{
	uint32_t i, kept = 0;

	for (i = 0; i < nr_witnesses; i++) {
		if (!witnesses[i].held && i % 2)
			(*env)->DeleteWeakGlobalRef(env, witnesses[i].ref);
		else
			witnesses[kept++] = witnesses[i];
	}
	nr_witnesses = kept;
}

/*
 * Generational ZGC keeps weakly referenced young objects, even dead ones, until they are old and a collection
 * of the old generation has seen them. There a witness is never held: what was allocated before it is old
 * when it is, and found dead with it.
 */
static void make_witness(JNIEnv *env, uint32_t pauses, bool is_held)
{
	const uint64_t now_ns = sys_now();
	jobject local = (*env)->NewByteArray(env, 0), held;
	jweak ref;

	held = local && is_held ? (*env)->NewGlobalRef(env, local) : NULL;
	ref = local && (held || !is_held) ? (*env)->NewWeakGlobalRef(env, local) : NULL;
	if (ref) {
		witnesses[nr_witnesses++] = (struct witness){ held, ref, pauses, is_held ? 0 : now_ns };
	} else {
		(*env)->ExceptionClear(env);
		if (held)
			(*env)->DeleteGlobalRef(env, held);
	}
	if (local)
		(*env)->DeleteLocalRef(env, local);
}

static void change_witnesses(JNIEnv *env, uint32_t pauses)
{
	const bool are_held = collector() != JVM_COLLECTS_OLD_LATE;
	const uint32_t until_old = are_held ? pauses_until_old() : 0;
	uint32_t i;

	for (i = 0; i < nr_witnesses && !witnesses[i].held; i++)
		;
	if (i < nr_witnesses && pauses - witnesses[i].pauses >= until_old) {
		witnesses[i].let_go_ns = sys_now();
		(*env)->DeleteGlobalRef(env, witnesses[i].held);
		witnesses[i].held = NULL;
	}
	if (nr_witnesses == NR_WITNESSES)
		thin_witnesses(env);
	if (!nr_witnesses || pauses - witnesses[nr_witnesses - 1].pauses > until_old / MANY_HELD)
		make_witness(env, pauses, are_held);
}

/* ---- the objects ---- */

uint64_t live_interval(void)
{
	return load_relaxed(&interval);
}

/* Return whether an object chosen at one interval stays at a larger one. */
static bool stays(double size, uint64_t before, uint64_t now)
{
	return before == now || rate_chooses(size, before, now);
}

/* Add an object; JVM_GONE_NR: it is in the table, else why not. */
static enum jvm_gone append(jweak ref, uint32_t number, uint64_t size, uint64_t chosen_at)
{
	enum jvm_gone why = JVM_GONE_NR;
	uint32_t now;

	sys_lock(&lock);
	if (!accepts || nr == MAX_TRACKED)
		why = JVM_GONE_LOST;
	else if (!stays(size, chosen_at, interval))
		why = JVM_GONE_THINNED;
	else
		table[nr++] = (struct tracked){ ref, number, size };
	now = nr;
	sys_unlock(&lock);
	if (now == MANY_TRACKED)
		wake_up();
	return why;
}

void live_sample(JNIEnv *env, jobject object, uint64_t size, uint32_t leaf, uint64_t chosen_at)
{
	uint32_t number = add_relaxed(&next_number, 1) + 1;
	struct numbers gone = { .why = JVM_GONE_NR };
	jweak ref;

	if (!number || !load_relaxed(&accepts) || log_closed())
		return;
	ref = (*env)->NewWeakGlobalRef(env, object);
	if (!ref) {
		(*env)->ExceptionClear(env);
		return;
	}
	if (sources_sample(JVM_SOURCE_LIVE, size, leaf, number))
		gone.why = append(ref, number, size, chosen_at);
	else
		gone.why = JVM_GONE_LOST;
	if (gone.why == JVM_GONE_NR)
		return;
	(*env)->DeleteWeakGlobalRef(env, ref);
	add_gone(&gone, number);
	tell_gone(&gone);
}

/* ---- our thread ---- */

static uint32_t locked_nr(void)
{
	uint32_t n;

	sys_lock(&lock);
	n = nr;
	sys_unlock(&lock);
	return n;
}

/* Close the gap after the first kept of n objects with what was appended behind the n. */
static void close_gap(uint32_t kept, uint32_t n)
{
	uint32_t i;

	sys_lock(&lock);
	for (i = n; i < nr && kept < n; i++)
		table[kept + i - n] = table[i];
	store_relaxed(&nr, nr - (n - kept));
	sys_unlock(&lock);
}

/*
 * Look for dead objects, the youngest first: if a collection ends meanwhile, no dead object is then younger
 * than one that was seen alive.
 */
static void sweep(JNIEnv *env, struct numbers *gone)
{
	uint32_t n = locked_nr(), kept = 0, i;
	const uint32_t pauses = load_acquire(&nr_pauses);
	uint64_t began_ns = sys_now();

	if (!has_collected)
		ask_pauses(pauses);
	has_collected = false;
	ask_witnesses(env);
	gone->why = JVM_GONE_DIED;
	for (i = n; i--;) {
		if (!(*env)->IsSameObject(env, table[i].ref, NULL))
			continue;
		(*env)->DeleteWeakGlobalRef(env, table[i].ref);
		table[i].ref = NULL;
		add_gone(gone, table[i].number);
	}
	for (i = 0; i < n; i++)
		if (table[i].ref)
			table[kept++] = table[i];
	tell_gone(gone);
	close_gap(kept, n);
	tell_swept(pauses, began_ns);
	change_witnesses(env, pauses);
}

static void thin(JNIEnv *env, struct numbers *gone)
{
	uint64_t before = load_relaxed(&interval), now = before ? 2 * before : FIRST_INTERVAL;
	uint64_t began_ns = sys_now();
	uint32_t n, kept = 0, i;

	if (now > INT32_MAX)
		return;
	sys_lock(&lock);
	store_relaxed(&interval, now);
	n = nr;
	sys_unlock(&lock);
	gone->why = JVM_GONE_THINNED;
	for (i = 0; i < n; i++) {
		if (stays(table[i].size, before, now)) {
			table[kept++] = table[i];
			continue;
		}
		(*env)->DeleteWeakGlobalRef(env, table[i].ref);
		add_gone(gone, table[i].number);
	}
	tell_gone(gone);
	close_gap(kept, n);
	tell_swept(load_acquire(&nr_pauses), began_ns);
}

/* Return how often to double the interval, by the number of objects chosen in a second or more. */
static uint32_t doublings(void)
{
	uint64_t now = load_relaxed(&interval), ns = sys_now() - rated.time_ns, a_second;
	uint32_t chosen = load_relaxed(&next_number), times = 0;

	if (!(ring_ctl()->flags & JVM_LIVE_ADAPTS) || ns < 1000000000)
		return 0;
	a_second = (chosen - rated.number) * 1000000000ull / ns;
	rated.time_ns += ns;
	rated.number = chosen;
	for (; a_second > MOST_A_SECOND && now < LONGEST_ADAPTED; a_second /= 2, now *= 2)
		times++;
	return times;
}

/* ---- collections that are asked for ---- */

/*
 * Collect garbage. When the VM ends, its concurrent collectors have stopped already and would be waited for
 * without end: only collectors that stop the program for all of it are asked then.
 */
static void collect(bool dying)
{
	const enum jvm_collector c = collector();
	uint32_t before = load_acquire(&nr_pauses);
	uint64_t asked_ns = sys_now();

	if (dying && c != JVM_COLLECTS_AT_ONCE && c != JVM_COLLECTS_G1)
		return;
	/* Epsilon says yes, and does nothing */
	has_collected = alloc_collect() && load_acquire(&nr_pauses) != before;
	if (has_collected)
		young_ns = whole_ns = asked_ns;
}

static bool is_asked_to_collect(void)
{
	const struct jvm_ctl *ctl = ring_ctl();

	return load_acquire(&ctl->collect) && !load_relaxed(&ctl->collected);
}

/* Serve a recording that is about to end. */
static void serve_collection(JNIEnv *env, struct numbers *gone)
{
	if (!is_asked_to_collect())
		return;
	collect(false);
	sweep(env, gone);
	store_release(&ring_ctl()->collected, load_relaxed(&ring_ctl()->collect));
}

static bool is_over(void)
{
	return load_acquire(&stop) || log_closed();
}

static bool roster_is_asked_for(void)
{
	return load_acquire(&roster.asked) != roster.done;
}

static void serve_roster(JNIEnv *env)
{
	uint32_t asked = load_acquire(&roster.asked);

	roster_expire(env);
	if (asked == roster.done)
		return;
	roster.answer = JVM_ROSTER_DONE;
	if (roster.on)
		roster.answer = roster_make(env, table, locked_nr(), roster.cookie);
	else
		roster_let_go(env, roster.cookie);
	store_release(&roster.done, asked);
}

static void rest(uint64_t ns)
{
	for (; ns > 10000000 && !is_over() && !roster_is_asked_for() && !is_asked_to_collect();
	     ns -= 10000000)
		sys_sleep_ns(10000000);
}

static void wait_for_reason(uint32_t seen)
{
	const uint64_t ts[2] = { 0, WAIT_MS * 1000000ull };

	if (load_acquire(&wake) == seen)
		sys(__NR_futex, &wake, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, ts);
}

static void forget_all(JNIEnv *env)
{
	uint32_t i;

	sys_lock(&lock);
	accepts = false;
	sys_unlock(&lock);
	for (i = 0; i < nr; i++)
		(*env)->DeleteWeakGlobalRef(env, table[i].ref);
	nr = 0;
	roster_let_go(env, 0);
	forget_witnesses(env, nr_witnesses);
	sys_clear_pages(table, MAX_TRACKED * sizeof(*table));
}

/*
 * Look for dead objects after pauses. Concurrent collectors clear references after a pause: so look once more
 * when nothing has happened for a while.
 */
static void JNICALL livewatch_look(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	static struct numbers gone;
	const int tid = sys_tid();
	uint32_t seen, swept = 0, pauses, more;
	bool twice = true;
	uint64_t began_ns;	/* of its CPU time: a pause or a busy machine may stop it for seconds */

	while (!is_over()) {
		seen = load_acquire(&wake);
		pauses = load_acquire(&nr_pauses);
		began_ns = sys_thread_cpu(tid);
		if (pauses != swept || !twice) {
			twice = pauses == swept;
			swept = pauses;
			sweep(env, &gone);
		}
		for (more = doublings(); more; more--)
			thin(env, &gone);
		while (locked_nr() >= MANY_TRACKED && load_relaxed(&interval) <= INT32_MAX / 2)
			thin(env, &gone);
		serve_roster(env);
		serve_collection(env, &gone);
		rest((sys_thread_cpu(tid) - began_ns) * REST_FACTOR);
		if (!is_over())
			wait_for_reason(seen);
	}
	if (!load_acquire(&stop))
		forget_all(env);	/* the recorder is gone, and nobody else takes it back */
	store_release(&running, false);
}

void JNICALL live_collected(jvmtiEnv *ti)
{
	uint32_t number = load_relaxed(&nr_pauses) + 1;

	store_relaxed(&pause_ns[number % PAUSES_KEPT], sys_now());
	store_release(&nr_pauses, number);
	wake_up();
}

enum jvm_roster_answer live_roster(uint64_t cookie, bool on)
{
	uint32_t asked = roster.asked + 1;
	int ms;

	if (!load_acquire(&running) || !load_relaxed(&accepts) || log_closed())
		return JVM_ROSTER_NOT_LIVE;
	roster.cookie = cookie;
	roster.on = on;
	store_release(&roster.asked, asked);
	for (ms = 0; ms < ROSTER_MS && load_acquire(&roster.done) != asked; ms++) {
		if (!load_acquire(&running))
			return JVM_ROSTER_NOT_LIVE;
		wake_up();
		sys_sleep_ms(1);
	}
	return load_acquire(&roster.done) == asked ? roster.answer : JVM_ROSTER_LATE;
}

/* ---- on and off ---- */

bool live_on(uint64_t bytes)
{
	if (running)
		return false;	/* of a session before, and it does not end */
	if (!table)
		table = sys_pages(MAX_TRACKED * sizeof(*table));
	if (!table)
		return false;
	interval = bytes;
	nr_pauses = 0;
	nr_witnesses = 0;
	young_ns = whole_ns = 0;
	has_collected = false;
	pause_ns[0] = sys_now();
	rated.time_ns = pause_ns[0];
	rated.number = next_number;
	store_release(&stop, false);
	accepts = true;
	return true;
}

void live_watch(JNIEnv *env)
{
	if (!load_relaxed(&accepts) || running)
		return;
	running = true;
	if (!ownthread_run(env, livewatch_look))
		running = false;
}

static bool end_thread(void)
{
	int ms;

	store_release(&stop, true);
	for (ms = 0; ms < END_MS && load_acquire(&running); ms++) {
		wake_up();
		sys_sleep_ms(1);
	}
	return !load_acquire(&running);
}

void live_death(JNIEnv *env)
{
	static struct numbers gone;

	if (!load_relaxed(&accepts) || !end_thread() || log_closed())
		return;
	if (ring_ctl()->flags & JVM_LIVE_GC)
		collect(true);
	sweep(env, &gone);
}

bool live_off(JNIEnv *env)
{
	bool ended = end_thread();

	if (ended && env && load_relaxed(&accepts))
		forget_all(env);
	store_relaxed(&accepts, false);
	return ended;
}
