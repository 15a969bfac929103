// SPDX-License-Identifier: GPL-2.0-or-later
/* locks.c - sums waits by lock, and weighs their stacks (locks.h). */
#include <inttypes.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/locks.h"
#include "trace/lockstat.h"

/* Limits: further locks are added up by class, and further owners and waiters of a lock are merged. */
enum { MAX_LOCKS = 1 << 16, MAX_OWNERS = 256, MAX_WAITERS = 1 << 20 };
enum { OVER = JVM_NR_BLAMED, NATIVE, INITIALISER };	/* reasons of our own */
#define NOBODY (~0ull)			/* no Java thread has this id */
#define LEFT_OUT (MAP_NONE - 1)		/* a filter did not want the wait */
#define MAX_PIECE_NS (1ull << 50)	/* what is more is not believed */

struct lock_sum {
	uint32_t proc, function, identity, kind;
	uint64_t n, ns, max_ns;
	uint64_t pool_ns;		/* of all waits: what no sample stands for */
	uint64_t blamed_ns;		/* that somebody was charged with, */
	uint64_t before_ns;		/* and was in a file before, for waits that went on */
	uint64_t unblamed_ns;		/* and of waits that are over, nobody yet, */
	uint32_t nr_unblamed;		/* so many */
	uint32_t blamed;		/* thread that was charged last */
	uint32_t nobody;		/* the thread that is, when nobody is */
	uint32_t thread;		/* that has waited for it last */
	uint64_t last_ns;		/* when a wait for it was over last */
	uint32_t nr_waiters;
	bool idle;			/* nobody waited in the last file */
	struct lock_use {
		uint64_t nonrec, rec, held_ns, counted_ns, measured, cpu_ns, notify, notify_all, idle,
			reads;
	} use, told;			/* of this file; as its agent last reported */
	struct bucket {
		uint32_t bucket;
		uint64_t n;
	} *buckets;			/* ascending */
	size_t nr_buckets, alloc_buckets;
	struct waited_for {
		uint32_t thread;	/* 0: not known */
		uint64_t ns;
	} *owners;
	size_t nr_owners, alloc_owners;
};

static void locks_close_part(struct collect *c)
{
	struct locks *l = &c->locks;
	size_t i;

	for (i = 0; i < l->nr_all; i++) {
		free(l->all[i].buckets);
		free(l->all[i].owners);
	}
	free(l->all);
	map_release(&l->by_key);
	map_release(&l->waiters);
	map_release(&l->latest_by_tid);
	free(l->latest);
	map_release(&l->nobody);
	nativelocks_release(&l->natives);
	notified_release(&l->notified);
}

/* ---- which lock ---- */

/*
 * Find the lock by a 64-bit hash: that two of 2^16 collide is less likely than a fault of memory. With
 * MAX_LOCKS of them, others are known by their class alone.
 */
static uint32_t find_lock(struct locks *l, uint32_t proc, uint32_t function, uint32_t identity, uint32_t kind)
{
	const uint32_t known = l->nr_all < MAX_LOCKS ? identity : 0;
	uint32_t *at = map_put(&l->by_key, hash_pair((uint64_t)proc << 32 | function,
						     (uint64_t)kind << 32 | known));

	if (*at == MAP_NONE) {
		VEC_GROW(l->all, l->nr_all, l->alloc_all);
		l->all[l->nr_all] = (struct lock_sum){ proc, function, known, kind };
		*at = l->nr_all++;
	}
	return *at;
}

/* ---- what is added up ---- */

static void add_bucket(struct lock_sum *s, uint32_t bucket)
{
	size_t lo = BISECT(i, s->nr_buckets, s->buckets[i].bucket < bucket);

	if (lo == s->nr_buckets || s->buckets[lo].bucket != bucket) {
		VEC_GROW(s->buckets, s->nr_buckets, s->alloc_buckets);
		memmove(&s->buckets[lo + 1], &s->buckets[lo], (s->nr_buckets++ - lo) * sizeof(*s->buckets));
		s->buckets[lo] = (struct bucket){ .bucket = bucket };
	}
	s->buckets[lo].n++;
}

static void add_owner(struct lock_sum *s, uint32_t thread, uint64_t ns)
{
	size_t i;

	for (i = 0; i < s->nr_owners && s->owners[i].thread != thread; i++)
		;
	if (i == s->nr_owners && i >= MAX_OWNERS && thread) {
		add_owner(s, 0, ns);
		return;
	}
	if (i == s->nr_owners) {
		*VEC_ADD(s->owners, s->nr_owners, s->alloc_owners) =
			(struct waited_for){ .thread = thread };
	}
	s->owners[i].ns += ns;
}

static void add_waiter(struct locks *l, uint32_t lock, uint32_t thread)
{
	uint32_t *at;

	if (l->waiters.nr >= MAX_WAITERS)
		return;
	at = map_put(&l->waiters, (uint64_t)lock << 32 | thread);
	if (*at == MAP_NONE)
		l->all[lock].nr_waiters++;
	*at = 1;
}

/* Return a pseudo-thread per process that stands for no owner. */
static uint32_t nobody(struct collect *c, const struct java *j)
{
	uint32_t *at = map_put(&c->locks.nobody, j->proc->id);

	if (*at == MAP_NONE)
		*at = tasks_pseudo(&c->tasks, j->proc, NOBODY, "[no owner]", clock_mono_ns());
	return *at;
}

static uint32_t locks_number_of(struct collect *c, const struct java *j, uint32_t tid, uint64_t vthread,
				uint64_t time_ns)
{
	if (vthread)
		return tasks_virtual(&c->tasks, j->proc, vthread, NULL, time_ns);
	return tid ? tasks_get_at(&c->tasks, j->proc, tid, time_ns)->id : 0;
}

/* Return the time that was charged while the wait went on: none if only its end shows that it is wanted. */
static uint64_t charged(const struct collect *c, const struct jvm_wait *r)
{
	if (filters_of_waits(c, r->time_ns - MIN(r->ns, r->time_ns)))
		return 0;
	return MIN(r->blamed_ns, r->ns);
}

/* Return the index of its lock, whose function is given; MAP_NONE, LEFT_OUT: it is not to be counted. */
static uint32_t add_wait(struct collect *c, const struct java *j, const struct jvm_wait *r, uint32_t function)
{
	struct locks *l = &c->locks;
	uint32_t thread, owner, lock;
	struct lock_sum *s;

	if (r->kind >= JVM_NR_WAIT_KINDS || (!r->thread && !r->vthread))
		return MAP_NONE;
	thread = locks_number_of(c, j, r->thread, r->vthread, r->time_ns);
	owner = locks_number_of(c, j, r->owner, r->owner_vthread, r->time_ns);
	if (!filters_want_wait(c, sources_find(c, "lock"), thread, function, r))
		return LEFT_OUT;
	lock = find_lock(l, j->proc->id, function, r->identity, r->kind);
	s = &l->all[lock];
	s->n++;
	s->ns += r->ns;
	s->max_ns = MAX(s->max_ns, r->ns);
	s->pool_ns += r->ns;
	s->unblamed_ns += r->ns - charged(c, r);
	s->nr_unblamed += charged(c, r) < r->ns;
	s->thread = thread;
	s->last_ns = r->time_ns;
	s->nobody = nobody(c, j);
	add_bucket(s, lockstat_bucket(r->ns));
	add_owner(s, owner, r->ns);
	add_waiter(l, lock, thread);
	if (r->notifier || r->notifier_vthread)
		notified_add(&l->notified, &(struct notified_row){
			.proc = s->proc, .function = function, .identity = s->identity, .waiter = thread,
			.notifier = locks_number_of(c, j, r->notifier, r->notifier_vthread, r->time_ns),
			.n = 1, .ns = r->ns,
		});
	return lock;
}

/* Write the owner of the lock, if that lock is recorded, for reports of who waited for whom. */
static void write_wait(struct collect *c, const struct java *j, const struct jvm_wait *r, uint32_t lock,
		       uint64_t weight_ns)
{
	const struct lock_sum *s = &c->locks.all[lock];

	trace_write_lock_wait(c->w, &(struct rec_lock_wait){
		.time_ns = r->time_ns, .thread = locks_number_of(c, j, r->thread, r->vthread, r->time_ns),
		.owner = locks_number_of(c, j, r->owner, r->owner_vthread, r->time_ns),
		.proc = s->proc, .function = s->function, .identity = s->identity, .kind = s->kind,
		.ns = r->ns, .weight = weight_ns,
	});
}

/* Return whether the source is on at that time, and merge all records before it. */
static bool begin_at(struct collect *c, uint64_t time_ns)
{
	if (!switches_source(c, sources_find(c, "lock"), time_ns))
		return false;
	collect_merge(c, time_ns);
	return true;
}

/* Note the lock of the thread's next sample of this source; MAP_NONE, LEFT_OUT: of none that is recorded. */
static void expect_sample(struct locks *l, uint32_t tid, uint32_t lock, uint64_t weight_ns, uint32_t waits)
{
	uint32_t *at = map_put(&l->latest_by_tid, tid);

	if (*at == MAP_NONE) {
		*at = (uint32_t)l->nr_latest;
		VEC_GROW(l->latest, l->nr_latest, l->alloc_latest);
		l->nr_latest++;
	}
	l->latest[*at] = (struct latest){ lock == LEFT_OUT ? MAP_NONE : lock, weight_ns, waits };
}

/* Return the lock of the thread's sample; NULL: none that is recorded. */
static struct lock_sum *expected(struct locks *l, uint32_t tid, struct latest *out)
{
	uint32_t i = map_get(&l->latest_by_tid, tid);

	if (i == MAP_NONE || l->latest[i].lock == MAP_NONE)
		return NULL;
	*out = l->latest[i];
	return &l->all[out->lock];
}

uint32_t locks_function(struct collect *c, uint32_t tid)
{
	struct latest latest;
	const struct lock_sum *s = expected(&c->locks, tid, &latest);

	return s ? s->function : 0;
}

bool locks_weigh(struct collect *c, const struct jvm_sample *r, uint64_t *weight_ns, double *waits)
{
	double length = (double)r->value / (double)MAX(sources_interval(c, JVM_SOURCE_LOCK), (uint64_t)1);
	struct latest latest;
	struct lock_sum *s = expected(&c->locks, r->tid, &latest);

	/* a filter may have left out others for which it stands, too */
	if (!s || !(*weight_ns = MIN(latest.weight_ns, s->pool_ns)))
		return false;
	s->pool_ns -= *weight_ns;
	/* the probability of a stack, see agent/locks/share.h */
	*waits = length >= 1 || !r->value ? 1 : 1 / (length - length * length / 4);
	return true;
}

/* ---- what is counted ---- */

static struct lock_use use_of(const struct jvm_lock_use *r)
{
	return (struct lock_use){
		r->nonrec, r->rec, r->held_ns, r->time_ns - MIN(r->since_ns, r->time_ns),
		r->measured, r->cpu_ns,
		r->notify, r->notify_all, r->idle, r->reads,
	};
}

/* Take the counts of a lock, which agents report since they began; after a restart they are lower. */
static void take_use(void *ctx, struct jvm *jvm, const struct jvm_lock_use *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	struct lock_use now = use_of(r), was;
	struct lock_sum *s;
	uint32_t lock;

	if (r->kind != JVM_WAIT_ENTER && r->kind != JVM_WAIT_LOCK)
		return;
	collect_merge(c, r->time_ns);
	lock = find_lock(&c->locks, j->proc->id, sources_function(&c->sources, j->proc, r->leaf),
			 r->identity, r->kind);
	s = &c->locks.all[lock];
	was = s->told;
	if (now.nonrec < was.nonrec || now.rec < was.rec || now.counted_ns < was.counted_ns)
		was = (struct lock_use){ 0 };
	s->use.nonrec += now.nonrec - was.nonrec;
	s->use.rec += now.rec - was.rec;
	s->use.held_ns += now.held_ns - MIN(was.held_ns, now.held_ns);
	s->use.counted_ns += now.counted_ns - was.counted_ns;
	s->use.measured += now.measured - MIN(was.measured, now.measured);
	s->use.cpu_ns += now.cpu_ns - MIN(was.cpu_ns, now.cpu_ns);
	s->use.notify += now.notify - MIN(was.notify, now.notify);
	s->use.notify_all += now.notify_all - MIN(was.notify_all, now.notify_all);
	s->use.idle += now.idle - MIN(was.idle, now.idle);
	s->use.reads += now.reads - MIN(was.reads, now.reads);
	s->told = now;
}

static bool was_used(const struct lock_use *u)
{
	return u->nonrec + u->rec + u->reads;
}

static void write_use(struct collect *c, const struct lock_sum *s)
{
	trace_write_lock_use(c->w, &(struct rec_lock_use){
		.time_ns = clock_mono_ns(), .proc = s->proc, .function = s->function, .identity = s->identity,
		.kind = s->kind, .nonrec = s->use.nonrec, .rec = s->use.rec, .held_ns = s->use.held_ns,
		.counted_ns = s->use.counted_ns,
	});
	if (s->use.measured)
		trace_write_lock_cpu(c->w, &(struct rec_lock_cpu){
			.time_ns = clock_mono_ns(), .proc = s->proc, .function = s->function,
			.identity = s->identity, .kind = s->kind, .holds = s->use.measured,
			.cpu_ns = s->use.cpu_ns,
		});
	if (s->use.notify + s->use.notify_all)
		trace_write_lock_notify(c->w, &(struct rec_lock_notify){
			.time_ns = clock_mono_ns(), .proc = s->proc, .function = s->function,
			.identity = s->identity, .notify = s->use.notify,
			.notify_all = s->use.notify_all, .idle = s->use.idle,
		});
	if (s->use.reads)
		trace_write_lock_reads(c->w, &(struct rec_lock_reads){
			.time_ns = clock_mono_ns(), .proc = s->proc, .function = s->function,
			.identity = s->identity, .reads = s->use.reads,
		});
}

/* ---- who is charged ---- */

static struct frame reason(struct collect *c, uint32_t what)
{
	static const char *const texts[LOCKS_NR_REASONS] = {
		[JVM_BLAMED_LATE] = "[given back before its stack was read]",
		[JVM_BLAMED_NO_STACK] = "[stack not known: a virtual thread that is not mounted]",
		[JVM_BLAMED_NOBODY] = "[given back, and not yet taken]",
		[JVM_BLAMED_UNKNOWN] = "[owner not known]",
		[OVER] = "[over before anybody looked]",
		[INITIALISER] = "[initialises a class]",
		[NATIVE] = "[stack not known: a lock of native code]",
	};
	uint32_t *f = &c->locks.reasons[what];

	if (!*f)
		*f = sources_new_reason(c, texts[what]);
	return (struct frame){ FRAME_NAMED, .function = *f };
}

static size_t put_owner(struct collect *c, const struct java *j, const struct jvm_blame *r)
{
	bool known = r->what < JVM_NR_BLAMED && (r->what != JVM_BLAMED_OWNER || r->frames_len);

	if (known && r->what == JVM_BLAMED_OWNER)
		return stack_methods(c, j, r->frames, r->frames_len, r->cut);
	c->frames[0] = reason(c, known ? r->what : JVM_BLAMED_UNKNOWN);
	return 1;
}

/* Waits may have been at the same time, but a sample reaches back by all of its weight: one for each. */
static void write_blame(struct collect *c, uint64_t ns, uint32_t waits, const struct rec_sample *out)
{
	enum { MOST = 32 };

	for (waits = MIN(MAX(waits, 1u), (uint32_t)MOST); ns; waits--) {
		uint64_t part = waits > 1 && ns > waits ? ns / waits : ns;

		sources_blame(c, JVM_SOURCE_LOCK, part, out);
		ns -= part;
	}
}

/* Charge it with "ns" of "waits" waits since last time, and with what is left of waits that are over. */
static void locks_charge(struct collect *c, struct lock_sum *s, uint64_t ns, uint32_t waits,
			 struct rec_sample *out)
{
	if (filters_of_waits(c, out->time_ns))
		ns = waits = 0;
	ns += s->unblamed_ns;
	if (!ns)
		return;
	write_blame(c, ns, waits + s->nr_unblamed, out);
	s->blamed = out->thread;
	s->blamed_ns += ns;
	s->unblamed_ns = s->nr_unblamed = 0;
}

static void take_blame(void *ctx, struct jvm *jvm, const struct jvm_blame *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	struct rec_sample out = { .time_ns = r->time_ns, .cpu = UINT16_MAX, .user = true };
	uint32_t owner, lock;
	struct lock_sum *s;
	size_t nr;

	if (!switches_source(c, sources_find(c, "lock"), r->time_ns) || r->ns > MAX_PIECE_NS ||
	    (r->kind != JVM_WAIT_ENTER && r->kind != JVM_WAIT_LOCK))
		return;
	collect_merge(c, r->time_ns);
	lock = find_lock(&c->locks, j->proc->id, sources_function(&c->sources, j->proc, r->leaf),
			 r->identity, r->kind);
	s = &c->locks.all[lock];
	owner = locks_number_of(c, j, r->owner, r->owner_vthread, r->time_ns);
	s->nobody = nobody(c, j);
	out.thread = owner ? owner : s->nobody;
	nr = put_owner(c, j, r);
	c->frames[nr++] = (struct frame){ FRAME_NAMED, .function = s->function };
	out.stack = trace_write_stack(c->w, c->frames, nr);
	locks_charge(c, s, r->ns, r->waits, &out);
}

/* ---- waits whose owner is charged when they are over ---- */

/* Charge the whole wait to the owner at its beginning; where that was then is not looked at. */
static void blame_owner(struct collect *c, const struct java *j, const struct jvm_wait *r, uint32_t lock)
{
	struct lock_sum *s = &c->locks.all[lock];
	const struct frame f[] = {
		reason(c, r->kind == JVM_WAIT_CLASS ? INITIALISER : NATIVE),
		{ FRAME_NAMED, .function = s->function },
	};
	uint32_t owner = locks_number_of(c, j, r->owner, r->owner_vthread, r->time_ns);
	struct rec_sample out = { .time_ns = r->time_ns, .cpu = UINT16_MAX, .user = true };

	out.thread = owner ? owner : s->nobody;
	out.stack = trace_write_stack(c->w, f, ARRAY_SIZE(f));
	sources_blame(c, JVM_SOURCE_LOCK, r->ns, &out);
	s->blamed_ns += r->ns;
	s->unblamed_ns -= MIN(s->unblamed_ns, r->ns);
}

static void locks_take_wait(void *ctx, struct jvm *jvm, const struct jvm_wait *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	uint32_t lock = begin_at(c, r->time_ns) ?
		add_wait(c, j, r, sources_function(&c->sources, j->proc, r->leaf)) : MAP_NONE;

	if (lock != MAP_NONE && r->weight_ns)
		expect_sample(&c->locks, r->thread, lock, r->weight_ns, 0);
	if (lock != MAP_NONE && lock != LEFT_OUT && r->weight_ns)
		write_wait(c, j, r, lock, r->weight_ns);
	if (lock != MAP_NONE && r->kind == JVM_WAIT_CLASS && r->ns && r->ns <= MAX_PIECE_NS)
		blame_owner(c, j, r, lock);
}

/* Return the identity, never 0, which means several locks. */
static uint32_t identity_of(const struct jvm_native_wait *r)
{
	return (uint32_t)r->addr ? (uint32_t)r->addr : 1;
}

static struct jvm_wait wait_from_native(const struct jvm_native_wait *r)
{
	return (struct jvm_wait){
		.time_ns = r->time_ns, .thread = r->thread, .kind = r->kind, .ns = r->ns,
		.owner = r->owner, .identity = identity_of(r), .blamed_ns = r->blamed_ns,
	};
}

static bool is_lock(uint32_t kind)
{
	return kind == JVM_WAIT_MUTEX || kind == JVM_WAIT_RWLOCK;
}

/*
 * Note that a lock of native code is released. This may be the first that is known of it: waiting threads
 * report it when they have it.
 */
static void give_native_back(struct collect *c, const struct java *j, const struct jvm_native_wait *r)
{
	uint32_t function = nativelocks_function(c, j->proc, r->addr, r->kind);
	uint32_t lock = find_lock(&c->locks, j->proc->id, function, identity_of(r), r->kind);

	c->locks.all[lock].nobody = nobody(c, j);
	expect_sample(&c->locks, r->thread, lock, r->weight_ns, r->given_back);
}

void locks_gave_back(struct collect *c, const struct jvm_sample *s, struct rec_sample *r)
{
	struct latest latest;
	struct lock_sum *lock = expected(&c->locks, s->tid, &latest);

	if (lock && latest.weight_ns <= MAX_PIECE_NS)
		locks_charge(c, lock, latest.weight_ns, latest.waits, r);
}

static void take_native_wait(void *ctx, struct jvm *jvm, const struct jvm_native_wait *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	const struct jvm_wait w = wait_from_native(r);
	uint32_t lock;

	if (r->kind < JVM_WAIT_MUTEX || r->kind > JVM_WAIT_CONDITION || r->ns > MAX_PIECE_NS ||
	    !begin_at(c, r->time_ns))
		return;
	if (r->given_back) {
		if (is_lock(r->kind))
			give_native_back(c, j, r);
		return;
	}
	lock = add_wait(c, j, &w, nativelocks_function(c, j->proc, r->addr, r->kind));
	if (lock == MAP_NONE)
		return;
	if (r->weight_ns)
		expect_sample(&c->locks, r->thread, lock, r->weight_ns, 0);
	if (lock == LEFT_OUT)
		return;
	if (r->weight_ns)
		write_wait(c, j, &w, lock, r->weight_ns);
	/* the release of the lock was not reported, as when it was not by a function that we have */
	if (is_lock(r->kind) && !r->blamed_ns && r->ns >= sources_interval(c, JVM_SOURCE_LOCK) && r->ns)
		blame_owner(c, j, &w, lock);
}

/* ---- the end ---- */

/* Write an open wait, with its own weight; its stack is in c->frames. */
static void write_open(struct collect *c, uint32_t lock, const struct jvm_wait *w, size_t nr)
{
	struct rec_sample out = { .time_ns = w->time_ns, .cpu = UINT16_MAX, .user = true };
	struct lock_sum *s = &c->locks.all[lock];

	s->pool_ns -= MIN(s->pool_ns, w->ns);
	c->frames[nr++] = (struct frame){ FRAME_NAMED, .function = s->function };
	out.thread = s->thread;
	out.stack = trace_write_stack(c->w, c->frames, nr);
	sources_write_wait(c, JVM_SOURCE_LOCK, w->ns, 1, &out);
}

static void take_open_wait(void *ctx, struct jvm *jvm, const struct jvm_open_wait *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	const struct jvm_wait w = {
		.time_ns = r->time_ns, .thread = r->thread, .vthread = r->vthread, .kind = r->kind,
		.leaf = r->leaf, .identity = r->identity, .ns = r->ns, .blamed_ns = r->blamed_ns,
		.owner = r->owner, .owner_vthread = r->owner_vthread,
	};
	uint32_t lock = r->ns <= MAX_PIECE_NS && begin_at(c, r->time_ns) ?
		add_wait(c, j, &w, sources_function(&c->sources, j->proc, r->leaf)) : MAP_NONE;

	if (lock != MAP_NONE && lock != LEFT_OUT)
		write_wait(c, j, &w, lock, w.ns);
	if (lock != MAP_NONE && lock != LEFT_OUT && r->frames_len)
		write_open(c, lock, &w, stack_methods(c, j, r->frames, r->frames_len, r->cut));
}

/* Unwind it to c->frames. */
static size_t locks_put_stack(struct collect *c, struct java *j, const struct jvm_sample *s)
{
	if (s->segments->len)
		return memory_without_ours(c, c->frames, stack_java(c, j, s, c->frames));
	c->frames[0] = (struct frame){ FRAME_MARK, .mark = MARK_NO_USER_STACK };
	return 1;
}

void locks_native_open(struct collect *c, struct java *j, const struct jvm_native_wait *r,
		       const struct jvm_sample *stack)
{
	const struct jvm_wait w = wait_from_native(r);
	uint32_t lock;

	if (r->kind < JVM_WAIT_MUTEX || r->kind > JVM_WAIT_CONDITION || r->ns > MAX_PIECE_NS ||
	    !begin_at(c, r->time_ns))
		return;
	lock = add_wait(c, j, &w, nativelocks_function(c, j->proc, r->addr, r->kind));
	if (lock == MAP_NONE || lock == LEFT_OUT)
		return;
	write_wait(c, j, &w, lock, w.ns);
	write_open(c, lock, &w, locks_put_stack(c, j, stack));
	if (is_lock(r->kind) && !r->blamed_ns)
		blame_owner(c, j, &w, lock);
}

static void put_pair(struct buf *b, uint64_t first, uint64_t second)
{
	buf_varint(b, first << 1);	/* zigzag of what is not negative */
	buf_varint(b, second << 1);
}

static void write_lock(struct collect *c, const struct lock_sum *s)
{
	struct buf buckets = BUF_INIT, owners = BUF_INIT;
	struct rec_lock r = {
		.time_ns = clock_mono_ns(), .proc = s->proc, .function = s->function, .identity = s->identity,
		.kind = s->kind, .waiters = s->nr_waiters, .n = s->n, .ns = s->ns, .max_ns = s->max_ns,
	};
	size_t i;

	for (i = 0; i < s->nr_buckets; i++)
		put_pair(&buckets, s->buckets[i].bucket, s->buckets[i].n);
	for (i = 0; i < s->nr_owners; i++)
		put_pair(&owners, s->owners[i].thread, s->owners[i].ns);
	r.buckets = (const uint8_t *)buckets.data;
	r.buckets_len = buckets.len;
	r.owners = (const uint8_t *)owners.data;
	r.owners_len = owners.len;
	trace_write_lock(c->w, &r);
	if (s->kind == LOCK_ENTER)
		c->res->tallies[JVM_TALLY_ENTERS].recorded += s->n;
	buf_release(&buckets);
	buf_release(&owners);
}

/* Return the end of the source, to which waits without a time belong. */
static uint64_t end_ns(const struct collect *c)
{
	return switches_source_end(c, sources_find(c, "lock"));
}

static void locks_write_rest(struct collect *c, const struct lock_sum *s)
{
	const struct frame f = { FRAME_NAMED, .function = s->function };
	struct rec_sample r = {
		.time_ns = end_ns(c), .thread = s->thread, .cpu = UINT16_MAX, .user = true,
	};

	r.stack = trace_write_stack(c->w, &f, 1);
	sources_write_rest(c, JVM_SOURCE_LOCK, s->pool_ns, &r);
	trace_write_waited(c->w, &(struct rec_waited){ .time_ns = r.time_ns, .thread = r.thread });
}

/*
 * Count what owners were charged with for waits whose end is missing: it was lost, or the recording was
 * paused by then. These waits lasted at least that long.
 */
static void count_unended(struct lock_sum *s)
{
	uint64_t ns = s->blamed_ns > s->ns ? s->blamed_ns - s->ns : 0;

	if (!ns)
		return;
	s->ns += ns;
	s->pool_ns += ns;
	add_owner(s, s->blamed != s->nobody ? s->blamed : 0, ns);
	if (s->n)
		return;
	s->n = s->nr_waiters = 1;
	s->max_ns = s->ns;
	s->thread = s->nobody;
	add_bucket(s, lockstat_bucket(s->ns));
}

static bool has_owner(const struct lock_sum *s)
{
	size_t i;

	for (i = 0; i < s->nr_owners && !s->owners[i].thread; i++)
		;
	return i < s->nr_owners;
}

/*
 * Return whether owners can be charged: a latch, for instance, never has one, nor has whatever else threads
 * wait for.
 */
static bool can_blame(const struct lock_sum *s)
{
	return s->kind == LOCK_ENTER || s->kind == LOCK_MUTEX || s->kind == LOCK_RWLOCK ||
	       s->kind == LOCK_CLASS ||
	       (s->kind == LOCK_LOCK && (has_owner(s) || was_used(&s->use)));
}

static void blame_nobody(struct collect *c, struct lock_sum *s)
{
	/* a StampedLock, which is one if it is counted, never says who has it */
	const uint32_t why = s->kind != LOCK_LOCK || has_owner(s) ? OVER : JVM_BLAMED_UNKNOWN;
	const struct frame f[] = { reason(c, why), { FRAME_NAMED, .function = s->function } };
	struct rec_sample r = { .time_ns = s->last_ns, .cpu = UINT16_MAX, .user = true };

	r.thread = s->nobody;
	r.stack = trace_write_stack(c->w, f, ARRAY_SIZE(f));
	write_blame(c, s->ns - s->blamed_ns, s->nr_unblamed, &r);
}

/*
 * Begin a new file: only what owners were charged with for open waits stays, as these are counted with their
 * whole length where they end.
 */
static void begin_anew(struct lock_sum *s)
{
	s->blamed_ns -= MIN(s->blamed_ns, s->ns);
	s->before_ns = s->blamed_ns;
	s->n = s->ns = s->max_ns = s->pool_ns = s->unblamed_ns = s->nr_unblamed = 0;
	s->nr_waiters = s->nr_buckets = s->nr_owners = 0;
	s->use = (struct lock_use){ 0 };
}

/*
 * The charges in a file for waits that end in a later one, and the missing charges of waits that end in
 * it.
 */
struct apart {
	uint64_t ahead_ns, before_ns;
};

static void add_apart(const struct lock_sum *s, struct apart *a)
{
	a->before_ns += s->before_ns;
	a->ahead_ns += can_blame(s) ? s->blamed_ns - MIN(s->blamed_ns, s->ns) : s->blamed_ns;
}

static void write_apart(struct collect *c, const struct apart *a)
{
	if (a->ahead_ns)
		trace_write_label(c->w, CHARGED_AHEAD_LABEL, "%" PRIu64, a->ahead_ns);
	if (a->before_ns)
		trace_write_label(c->w, CHARGED_BEFORE_LABEL, "%" PRIu64, a->before_ns);
}

/* Write the rows of the table, and what has no stack, at the end of a file. last: the recording ends, too. */
static void locks_sums(struct collect *c, bool last)
{
	struct apart apart = { 0 };
	size_t i;

	for (i = 0; i < c->locks.nr_all; i++) {
		struct lock_sum *s = &c->locks.all[i];

		if (last)
			count_unended(s);
		add_apart(s, &apart);
		if (was_used(&s->use))
			write_use(c, s);
		s->idle = !s->n;
		if (s->idle) {
			begin_anew(s);
			continue;
		}
		write_lock(c, s);
		if (s->pool_ns)
			locks_write_rest(c, s);
		if (can_blame(s) && s->ns > s->blamed_ns)
			blame_nobody(c, s);
		begin_anew(s);
	}
	write_apart(c, &apart);
	notified_write(&c->locks.notified, c);
	map_reset(&c->locks.waiters);
}

/* ---- what is not needed any more ---- */

/* Return whether the row can be dropped; a later file numbers the lock anew. */
static bool lock_sum_is_over(const struct lock_sum *s, const struct map *procs)
{
	bool told = was_used(&s->told);		/* what comes next is more than that */

	return map_get(procs, s->proc) == MAP_NONE || (s->idle && !s->n && !s->blamed_ns && !told);
}

struct moved {
	const uint32_t *to;		/* [index before]: the one it has now, MAP_NONE: forgotten */
	const struct map *procs;
};

static bool lock_is_kept(void *ctx, uint64_t key, uint32_t lock)
{
	return ((const struct moved *)ctx)->to[lock] != MAP_NONE;
}

static bool has_process(void *ctx, uint64_t proc, uint32_t thread)
{
	return map_get(((const struct moved *)ctx)->procs, proc) != MAP_NONE;
}

static void locks_move(struct map *m, const struct moved *x)
{
	size_t i;

	map_filter(m, lock_is_kept, (void *)x);
	for (i = 0; i < m->alloc; i++)
		if (m->slots[i].val != MAP_NONE)
			m->slots[i].val = x->to[m->slots[i].val];
}

static void forget_processes(struct collect *c, const struct map *procs)
{
	struct locks *l = &c->locks;
	uint32_t *to = xcalloc(l->nr_all + 1, sizeof(*to));
	struct moved x = { to, procs };
	size_t i, nr = 0;

	for (i = 0; i < l->nr_all; i++) {
		to[i] = lock_sum_is_over(&l->all[i], procs) ? MAP_NONE : nr;
		if (to[i] == MAP_NONE) {
			free(l->all[i].buckets);
			free(l->all[i].owners);
		} else {
			l->all[nr++] = l->all[i];
		}
	}
	if (nr < l->nr_all) {
		l->nr_all = nr;
		locks_move(&l->by_key, &x);
	}
	/* a sample that is expected just now goes to what no sample stands for */
	map_reset(&l->latest_by_tid);
	l->nr_latest = 0;
	map_filter(&l->nobody, has_process, &x);
	nativelocks_forget(&l->natives);
	free(to);
}

/* ---- the part ---- */

static void locks_take_sample(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			      size_t nr)
{
	if (!s->leaf)
		nr = memory_without_ours(c, c->frames, nr);
	sources_sample(c, j, s, thread, c->frames, nr);
}

static const struct jvm_callbacks from_agents = {
	.wait = locks_take_wait, .blame = take_blame, .open_wait = take_open_wait,
	.native_wait = take_native_wait, .lock_use = take_use,
};

const struct part locks_part = {
	.agent = &from_agents, .source = JVM_SOURCE_LOCK, .java_sample = locks_take_sample,
	.sums = locks_sums, .forget = forget_processes, .close = locks_close_part,
};
