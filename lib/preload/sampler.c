// SPDX-License-Identifier: MIT
/* sampler.c - samples allocations, and follows the sampled blocks (sampler.h). */
#include <sys/mman.h>

#include "agent/sys.h"
#include "preload/cpu.h"
#include "preload/preload.h"
#include "preload/sampler.h"

enum { NOT_YET, CONNECTING, READY, FAILED };	/* sampler_state.phase */

__thread struct sampler_thread sampler_thread __attribute__((tls_model("initial-exec")));
struct sampler_state *sampler_state;

static const char *path;

/* Connect, in the first thread that comes; others return at once. */
static struct memory_table *connect_now(struct sampler_state *s)
{
	uint32_t old = NOT_YET;
	struct memory_table *t;

	if (!__atomic_compare_exchange_n(&s->phase, &old, CONNECTING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return NULL;
	s->hook.magic = JVM_PROTO_MAGIC;
	s->hook.bytes = sizeof(s->hook);
	/* a child of a program that was attached to has nobody to ask */
	t = path ? sampler_connect(path, &s->hook) : NULL;
	store_release(&s->table, t);
	store_release(&s->phase, t ? READY : FAILED);
	return t;
}

static struct memory_table *table(void)
{
	struct sampler_state *s = load_acquire(&sampler_state);
	struct memory_table *t;

	if (!s && !preload_has_begun)
		preload_begin();
	s = load_acquire(&sampler_state);
	t = s ? load_acquire(&s->table) : NULL;
	if (t || !s)
		return t;
	if (load_relaxed(&s->phase) == FAILED)
		sampler_thread.left = INT64_MAX;	/* it need not be asked again */
	return load_relaxed(&s->phase) == NOT_YET ? connect_now(s) : NULL;
}

bool sampler_is_on(void)
{
	return table();
}

void sampler_begin(const char *option)
{
	struct sampler_state *s;

	while (*option && *option != '=')
		option++;
	if (!*option || sampler_state)
		return;
	s = sys_pages(4096);
	if (!s || sys(__NR_madvise, s, 4096, MADV_WIPEONFORK))
		return;
	sys_init_clock();
	path = option + 1;
	store_release(&sampler_state, s);
	connect_now(s);		/* what allocates nothing is recorded, too */
}

/*
 * The shared memory of the recording before this one stays mapped until now: a thread may have been about
 * to write there.
 */
static struct memory_table *last;

static void unmap_last(void)
{
	if (last)
		sys(__NR_munmap, (char *)(last + 1) - sampler_wishes.bytes, sampler_wishes.bytes);
	last = NULL;
}

bool sampler_attach(const char *recorder, void (*leave)(void))
{
	struct sampler_state *s = sampler_state ? sampler_state : sys_pages(4096);
	struct memory_table *t;

	if (!s || sys(__NR_madvise, s, 4096, MADV_WIPEONFORK))
		return false;
	sys_init_clock();
	unmap_last();
	s->phase = CONNECTING;		/* until it is over: threads never connect by themselves */
	s->hook = (struct memory_hook){ .magic = JVM_PROTO_MAGIC, .bytes = sizeof(s->hook), .leave = leave };
	t = sampler_connect(recorder, &s->hook);
	store_release(&sampler_state, s);
	store_release(&s->table, t);
	last = t;
	return t;
}

void sampler_detach(void)
{
	store_release(&sampler_state->table, NULL);
}

/* ---- random numbers ---- */

/*
 * Return a random number by SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
 * (2014).
 */
static uint64_t sampler_random(void)
{
	static uint64_t state;
	uint64_t z = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED) + sys_now();

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* -ln(x) for x in (0, 1]: the exponent's part, and 2 artanh((m - 1) / (m + 1)) to 1e-9. */
static double minus_ln(double x)
{
	double sum = 0, t, t2;
	int e = 0, i;

	for (; x < 0.5; e++)
		x *= 2;
	t = (1 - x) / (1 + x);
	t2 = t * t;
	for (i = 17; i > 0; i -= 2)
		sum = sum * t2 + 1.0 / i;
	return e * 0.693147180559945309 + 2 * t * sum;
}

static int64_t distance(void)
{
	double u = (double)((sampler_random() >> 11) + 1) * 0x1p-53;

	return (int64_t)(minus_ln(u) * (double)sampler_wishes.interval);
}

/* ---- the table ---- */

static void filter_add(struct memory_table *t, uint32_t filter, int by)
{
	uint8_t *f = &t->filter[filter], old = load_relaxed(f);

	while (old != UINT8_MAX &&
	       !__atomic_compare_exchange_n(f, &old, old + by, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void reach_at_least(struct memory_table *t, uint32_t filter, uint32_t slots)
{
	uint16_t *r = &t->reach[filter], old = load_relaxed(r);

	while (old < slots &&
	       !__atomic_compare_exchange_n(r, &old, slots, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Returns which of the nr slots from b on has it now; nr: all are in use. */
static uint32_t claim_slot(struct memory_block *b, uint32_t nr, uint64_t addr, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		uint64_t none = 0;

		if (load_relaxed(&b[i].addr) ||
		    !__atomic_compare_exchange_n(&b[i].addr, &none, MEMORY_RESERVED, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		store_relaxed(&b[i].id, id);
		store_release(&b[i].addr, addr);
		break;
	}
	return i;
}

/*
 * Enter a block, which cannot be freed before this returns: whoever frees it finds reach and filter as they
 * are then.
 */
static bool enter_block(struct memory_table *t, void *p, uint32_t id)
{
	const uint64_t hash = memory_hash((uintptr_t)p);
	uint32_t at = claim_slot(&t->blocks[memory_first(hash)], MEMORY_REACH, (uintptr_t)p, id);

	if (at == MEMORY_REACH)
		return false;
	reach_at_least(t, memory_filter(hash), at);
	filter_add(t, memory_filter(hash), 1);
	return true;
}

uint32_t sampler_take(void *p)
{
	struct memory_table *t = load_acquire(&sampler_state->table);
	const uint64_t hash = memory_hash((uintptr_t)p);
	struct memory_block *b, *end;
	uint32_t reach, id;

	if (!t)		/* the recording may have ended since sampler_may_have() */
		return 0;
	reach = load_relaxed(&t->reach[memory_filter(hash)]) % MEMORY_REACH;
	b = &t->blocks[memory_first(hash)];
	for (end = b + reach + 1; b < end; b++) {
		if (load_relaxed(&b->addr) != (uintptr_t)p)
			continue;
		id = load_relaxed(&b->id);
		store_release(&b->addr, 0);
		filter_add(t, memory_filter(hash), -1);
		return id;
	}
	return 0;
}

void sampler_put(void *p, uint32_t id)
{
	struct memory_table *t = sampler_state->table;

	if (t && !enter_block(t, p, id))
		add_relaxed(&t->nr_untracked, 1);
}

/* ---- mappings ---- */

static bool enter_mapping(struct memory_table *t, void *p, size_t size, uint32_t id)
{
	uint32_t at = claim_slot(t->mappings, MEMORY_MAPPINGS, (uintptr_t)p + sampler_random() % size, id);
	uint64_t used = load_relaxed(&t->nr_mappings);

	while (at < MEMORY_MAPPINGS && used <= at &&
	       !__atomic_compare_exchange_n(&t->nr_mappings, &used, at + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	return at < MEMORY_MAPPINGS;
}

/* Find the next point in that memory, from *i on; return false if there is none. */
static bool next_point(struct memory_table *t, uintptr_t p, size_t size, uint32_t *i)
{
	uint64_t used = t ? load_relaxed(&t->nr_mappings) : 0;

	for (; *i < used && *i < MEMORY_MAPPINGS; (*i)++)
		if (load_relaxed(&t->mappings[*i].addr) - p < size)
			return true;
	return false;
}

void sampler_unmap(uintptr_t p, size_t size)
{
	struct memory_table *t = sampler_state ? sampler_state->table : NULL;
	uint32_t i;

	for (i = 0; next_point(t, p, size, &i); i++)
		store_release(&t->mappings[i].addr, 0);
}

void sampler_move(uintptr_t p, size_t size, intptr_t by)
{
	struct memory_table *t = sampler_state ? sampler_state->table : NULL;
	uint32_t i;

	for (i = 0; next_point(t, p, size, &i); i++)
		add_relaxed(&t->mappings[i].addr, by);
}

/* ---- samples ---- */

static uint32_t number_of(struct memory_table *t, enum memory_call call, void *p, size_t size)
{
	uint32_t id = add_relaxed(&t->last_id, 1) + 1;

	if (call >= MEMORY_MMAP ? enter_mapping(t, p, size, id) : enter_block(t, p, id))
		return id;
	add_relaxed(&t->nr_untracked, 1);
	return 0;
}

static void sample_block(const struct memory_regs *r, enum memory_call call, size_t size, uint32_t id)
{
	__typeof__(sampler_state->hook.take) agent = load_acquire(&sampler_state->hook.take);

	if (!agent || !agent(r, call, size, id))
		sampler_send(r, JVM_SOURCE_MEMORY, size, call, id);
}

/* Must not be inlined: the frames of this library end here, for the recorder to drop them. */
__attribute__((noinline)) void sampler_hit(enum memory_call call, void *p, size_t size)
{
	struct sampler_thread *t = &sampler_thread;
	struct memory_table *known = table();
	struct memory_regs r;

	if (!known) {
		t->left = t->left == INT64_MAX ? t->left : 0;
		return;
	}
	if (!t->seeded) {
		t->seeded = true;
		t->left += distance();
		if (t->left >= 0)
			return;
	}
	t->left = distance();
	CPU_REGS(&r);
	sample_block(&r, call, size, number_of(known, call, p, size));
	if (unlikely(sampler_state->hook.leave) && attach_look_again)
		attach_look_again();
}
