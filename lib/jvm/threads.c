// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - puts together pictures of threads and finds deadlocks in them (threads.h).
 *
 * A thread wants at most one lock, which has at most one owner: threads and what they want are a graph with
 * one edge a thread at most, and a deadlock is a cycle. Where the picture is not of one moment, an
 * edge counts if it was the same in all further looks, too.
 */
#include "base/mem.h"
#include "jvm/threads.h"

/* The bits of JVMTI's GetThreadState(). */
enum { WAITING_WITH_TIMEOUT = 0x20 };

/* Limits on what a JVM can make us allocate. */
enum { MAX_THREADS = 1 << 20, MAX_FRAMES = 1 << 24, MAX_LOCKS = 1 << 22, MAX_STUCK_BYTES = 64 << 20 };

void threads_release(struct threads *t)
{
	free(t->threads);
	free(t->frames);
	free(t->locks);
	map_release(&t->by_id);
	arena_release(&t->text);
	*t = (struct threads)THREADS_INIT;
}

/* Bounds what a hostile JVM can report about threads that are stuck. */
static bool is_full(const struct threads *t)
{
	return t->flags & JVM_DUMP_STUCK && t->text.nr_bytes > MAX_STUCK_BYTES;
}

static const char *threads_text(struct threads *t, const char *s, uint32_t len)
{
	return arena_strndup(&t->text, s, len);
}

/* --- records --- */

static void threads_add_thread(struct threads *t, const struct jvm_dump_thread *r)
{
	uint32_t *index;

	if (t->nr_threads >= MAX_THREADS || is_full(t))
		return;
	VEC_GROW(t->threads, t->nr_threads, t->alloc_threads);
	index = map_put(&t->by_id, r->id);
	if (*index == MAP_NONE)
		*index = t->nr_threads;
	t->threads[t->nr_threads++] = (struct threads_thread){
		.id = r->id, .tid = r->thread, .state = r->state, .flags = r->flags, .priority = r->priority,
		.carrier = r->carrier, .cpu_ns = r->cpu_ns, .name = threads_text(t, r->name, r->name_len),
		.group = threads_text(t, r->group, r->group_len),
		.first_frame = t->nr_frames, .first_lock = t->nr_locks,
	};
}

static void threads_add_frame(struct threads *t, const struct jvm_dump_frame *r)
{
	if (!t->nr_threads || t->nr_frames >= MAX_FRAMES || is_full(t))
		return;
	*VEC_ADD(t->frames, t->nr_frames, t->alloc_frames) = (struct threads_frame){
		.class_name = threads_text(t, r->class_name, r->class_len),
		.method = threads_text(t, r->name, r->name_len),
		.file = threads_text(t, r->source, r->source_len), .line = r->line,
	};
	t->threads[t->nr_threads - 1].nr_frames++;
}

static void add_lock(struct threads *t, const struct jvm_dump_lock *r)
{
	if (!t->nr_threads || t->nr_locks >= MAX_LOCKS || r->role >= JVM_DUMP_NR_ROLES || is_full(t))
		return;
	*VEC_ADD(t->locks, t->nr_locks, t->alloc_locks) = (struct threads_lock){
		.role = r->role, .depth = r->depth, .hash = r->hash, .owner = r->owner,
		.class_name = threads_text(t, r->class_name, r->class_len),
	};
	t->threads[t->nr_threads - 1].nr_locks++;
}

static struct threads_thread *threads_find_id(const struct threads *t, uint64_t id)
{
	uint32_t i = map_get(&t->by_id, id);

	return i == MAP_NONE ? NULL : &t->threads[i];
}

/* Looks come in their order: one that is missing ends the count. */
static void add_edge(struct threads *t, const struct jvm_dump_edge *r)
{
	struct threads_thread *x = threads_find_id(t, r->id);
	const struct threads_lock *w = x ? threads_wanted(t, x) : NULL;

	if (w && w->owner == r->owner && w->hash == r->hash && r->round == x->rounds + 1)
		x->rounds++;
}

const struct threads_lock *threads_wanted(const struct threads *t, const struct threads_thread *x)
{
	size_t i;

	for (i = 0; i < x->nr_locks; i++)
		if (t->locks[x->first_lock + i].role != JVM_DUMP_HOLDS)
			return &t->locks[x->first_lock + i];
	return NULL;
}

const struct threads_thread *threads_find(const struct threads *t, uint64_t id)
{
	return threads_find_id(t, id);
}

/* --- deadlocks --- */

/* Return the thread for which x waits and without which it waits for ever, or NULL if none is known. */
static struct threads_thread *threads_waits_for(const struct threads *t, const struct threads_thread *x,
						uint32_t rounds)
{
	const struct threads_lock *w = threads_wanted(t, x);

	if (!w || !w->owner || w->role == JVM_DUMP_WAITS || x->state & WAITING_WITH_TIMEOUT ||
	    x->rounds < rounds)
		return NULL;
	return threads_find_id(t, w->owner);
}

/*
 * Return whether the thread waits for a lock that it has for reading, which it cannot get for writing. If it
 * has any other lock itself, that was seen later.
 */
static bool has_it_for_reading(const struct threads *t, const struct threads_thread *x)
{
	static const char readers[] = "java.util.concurrent.locks.ReentrantReadWriteLock$";
	const struct threads_lock *w = threads_wanted(t, x);

	return w->role == JVM_DUMP_PARKS && !strncmp(w->class_name, readers, sizeof(readers) - 1);
}

/* Walk from x along the edges; seen[i] is the number of the walk that was there first, 0: none. */
static void threads_walk(struct threads *t, size_t from, uint32_t *seen, uint32_t rounds)
{
	struct threads_thread *x = &t->threads[from], *y;

	while (x && !seen[x - t->threads]) {
		seen[x - t->threads] = from + 1;
		x = threads_waits_for(t, x, rounds);
	}
	if (!x || seen[x - t->threads] != from + 1)
		return;
	/* whether any other thread waits for itself is not known */
	if (threads_waits_for(t, x, rounds) == x && !has_it_for_reading(t, x))
		return;
	t->nr_deadlocks++;
	for (y = x; !y->deadlock; y = threads_waits_for(t, y, rounds))
		y->deadlock = t->nr_deadlocks;
}

static void mark_behind(struct threads *t, uint32_t rounds)
{
	size_t i, steps;

	for (i = 0; i < t->nr_threads; i++) {
		struct threads_thread *x = &t->threads[i];

		for (steps = 0; x && !x->deadlock && steps < t->nr_threads; steps++)
			x = threads_waits_for(t, x, rounds);
		t->threads[i].behind_deadlock = x && x->deadlock && !t->threads[i].deadlock;
	}
}

static void mark_owners(struct threads *t)
{
	size_t i;

	for (i = 0; i < t->nr_threads; i++) {
		const struct threads_lock *w = threads_wanted(t, &t->threads[i]);
		struct threads_thread *owner = w && w->owner ? threads_find_id(t, w->owner) : NULL;

		if (owner && w->role != JVM_DUMP_WAITS)
			owner->is_owner = true;
	}
}

static void find_deadlocks(struct threads *t, uint32_t rounds)
{
	uint32_t *seen = xcalloc(t->nr_threads + 1, sizeof(*seen));
	size_t i;

	for (i = 0; i < t->nr_threads; i++)
		threads_walk(t, i, seen, rounds);
	if (t->nr_deadlocks)
		mark_behind(t, rounds);
	free(seen);
}

const struct threads_thread *threads_cycle_first(const struct threads *t, uint32_t deadlock)
{
	size_t i;

	for (i = 0; i < t->nr_threads; i++)
		if (t->threads[i].deadlock == deadlock)
			return &t->threads[i];
	return NULL;
}

const struct threads_thread *threads_cycle_next(const struct threads *t, const struct threads_thread *x)
{
	return threads_waits_for(t, x, 0);
}

/* --- all of it --- */

/* Require at least this many further looks where the picture is not of one moment. */
enum { ROUNDS = 4 };

static void threads_end_dump(struct threads *t, const struct jvm_dump_end *r)
{
	bool one_moment = t->flags & JVM_DUMP_ATOMIC;

	t->nr_lost = r->lost;
	t->nr_hidden = r->hidden;
	t->why = r->why_len ? threads_text(t, r->why, r->why_len) : NULL;
	t->complete = true;
	t->open = false;
	mark_owners(t);
	if (one_moment || r->rounds >= ROUNDS)
		find_deadlocks(t, one_moment ? 0 : r->rounds);
}

bool threads_add(struct threads *t, enum jvm_rec_type type, const union jvm_record *r)
{
	if (type == JVM_REC_dump_begin) {
		threads_release(t);
		t->flags = r->dump_begin.flags;
		t->open = true;
	}
	if (!t->open)
		return false;
	switch (type) {
	case JVM_REC_dump_thread:
		threads_add_thread(t, &r->dump_thread);
		break;
	case JVM_REC_dump_frame:
		threads_add_frame(t, &r->dump_frame);
		break;
	case JVM_REC_dump_lock:
		add_lock(t, &r->dump_lock);
		break;
	case JVM_REC_dump_edge:
		add_edge(t, &r->dump_edge);
		break;
	case JVM_REC_dump_end:
		threads_end_dump(t, &r->dump_end);
		return true;
	default:
		break;
	}
	return false;
}
