// SPDX-License-Identifier: MIT
/*
 * blocked.c - copies a thread that is blocked (blocked.h).
 */
#include <linux/fcntl.h>

#include "agent/hotspot/blocked.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/reason.h"
#include "agent/hotspot/vm.h"

enum {
	MAX_STACK = 16 << 20,		/* bytes that are copied; what is deeper is left out */
	KEPT_STACK = 1 << 20,		/* of them, from one walk to the next */
	FIRST_PIECE = 8 << 10,
	MAX_THREAD = 16 << 10,		/* of a JavaThread */
	MOMENT_NS = 1000000,
};

bool blocked_init(struct blocked *b)
{
	if (b->code)
		return true;
	if (vm.size.jthread > MAX_THREAD)
		return false;
	b->fields = sys_pages(MAX_THREAD);
	b->stack = sys_pages(MAX_STACK);
	b->text = sys_pages(BLOCKED_NR_TEXTS * sizeof(*b->text));
	if (b->fields && b->stack && b->text)
		b->code = sys_pages(BLOCKED_NR_CODES * sizeof(*b->code));
	return b->code;
}

void blocked_forget(struct blocked *b)
{
	sys_clear_pages(b->code, BLOCKED_NR_CODES * sizeof(*b->code));
}

bool blocked_still(const struct blocked *b)
{
	fence_acquire();
	if (b->past)
		return true;
	if (b->late)
		return sys_thread_cpu(b->was.own_tid) == b->ran_ns;
	return load_relaxed(&b->slot->block_nr) == b->was.block_nr;
}

bool blocked_holds(const struct blocked *b)
{
	if (b->torn)
		return false;
	return blocked_still(b) || (names_epoch() == b->epoch && sys_now() - b->begun_ns < MOMENT_NS);
}

bool blocked_objects_hold(const struct blocked *b)
{
	uint32_t nr;

	return b->objects_known && oops_still(&nr) && nr == b->nr_collections && b->moment == oops_moment() &&
	       blocked_still(b);
}

/* 202, -1 or 0x7f; p: where the next one begins. */
static const char *parse_word(const char *p, uint64_t *v)
{
	bool minus = *p == '-', hex = p[0] == '0' && p[1] == 'x';

	p += minus + 2 * hex;
	for (*v = 0; *p > ' '; p++)
		*v = *v * (hex ? 16 : 10) + (*p <= '9' ? *p - '0' : *p - 'a' + 10);
	if (minus)
		*v = -*v;
	return *p ? p + 1 : p;
}

/*
 * The slot of a thread that has not run since the recording began has no registers, nor has a late one.
 * The kernel reports two of them, but not for a thread that is running by now.
 */
static bool blocked_ask_kernel(struct blocked *b)
{
	char path[64] = "/proc/self/task/", text[256], *name = path + 16;
	const char *p = text;
	uint64_t word[9] = { 0 };
	uint32_t tid = b->was.own_tid, div = 1, nr = 0;
	long len;

	while (tid / div >= 10)
		div *= 10;
	for (; div; div /= 10)
		*name++ = '0' + tid / div % 10;
	memcpy(name, "/syscall", 9);
	len = sys_slurp(path, text, sizeof(text) - 1);
	if (len <= 0 || text[0] == 'r')
		return false;
	text[len] = '\0';
	/* number, six arguments, sp and pc; or -1, sp and pc */
	for (; *p && nr < ARRAY_SIZE(word); nr++)
		p = parse_word(p, &word[nr]);
	b->was.syscall = word[0];
	b->was.regs.sp = word[nr >= 9 ? 7 : 1];
	b->was.regs.pc = word[nr >= 9 ? 8 : 2];
	memcpy(b->was.args, word + 1, nr >= 9 ? sizeof(b->was.args) : 0);
	return nr >= 3 && b->was.regs.sp;
}

static void find_stack(struct blocked *b)
{
	uintptr_t base = vm_word((uintptr_t)b->fields, vm.o.thread_stack_base);

	if (b->loaded - b->lo > KEPT_STACK)
		sys_clear_pages(b->stack + KEPT_STACK, MAX_STACK - KEPT_STACK);
	b->lo = b->loaded = b->was.regs.sp & ~7ul;
	b->hi = base > b->lo && base - b->lo < 1ul << 30 ? base : 0;
}

/* Copy "want" bytes of its stack, or all of it if that is less. */
static bool copy_stack(struct blocked *b, size_t want)
{
	size_t have = b->loaded - b->lo;

	if (want > b->hi - b->lo)
		want = b->hi - b->lo;
	if (!sys_peek_all(b->stack + have, b->loaded, want - have))
		return false;
	b->loaded = b->lo + want;
	return true;
}

bool blocked_begin(struct blocked *b, const struct wall_slot *s)
{
	b->slot = s;
	b->begun_ns = sys_now();
	b->epoch = names_epoch();
	b->torn = b->past = false;
	memcpy(&b->was, s, sizeof(b->was));
	if (b->late)
		b->ran_ns = sys_thread_cpu(b->was.own_tid);
	else if (!(b->was.block_nr & 1) || b->was.state != WALL_BLOCKED || !blocked_still(b))
		return false;
	b->thread = vm_thread_of(b->was.own_tid);
	if (!b->thread)
		return false;
	b->partial = b->late || !b->was.regs.sp;
	b->objects_known = oops_still(&b->nr_collections);
	b->moment = oops_moment();
	if (!sys_peek_all(b->fields, b->thread, vm.size.jthread) || (b->partial && !blocked_ask_kernel(b)))
		return false;
	b->known_ns = sys_now();
	find_stack(b);
	if (b->hi && !copy_stack(b, FIRST_PIECE))
		return false;
	reason_look(b);
	return blocked_still(b);
}

uintptr_t blocked_anchor(const struct blocked *b)
{
	int state = vm.o.jthread_state - vm.o.jthread_anchor, last = (WALL_NR_ANCHOR - 1) * sizeof(uint64_t);

	if (state < 0 || state > last || vm.o.jthread_anchor + last >= (int)vm.size.jthread)
		return 0;
	return b->thread + vm.o.jthread_anchor;
}

bool blocked_begin_wake(struct blocked *b, const struct wall_wake *w, uint32_t block_nr)
{
	uint32_t nr = w->nr_bytes;

	b->torn = false;
	b->past = true;
	b->partial = b->objects_known = false;
	b->slot = NULL;
	b->thread = vm_thread_of(w->own_tid);
	b->was.own_tid = w->own_tid;
	b->was.regs = w->regs;
	b->begun_ns = b->known_ns = sys_now();
	b->epoch = names_epoch();
	if (!b->thread || !w->anchor_at || w->anchor_at != blocked_anchor(b) || nr > sizeof(w->stack) ||
	    b->was.regs.sp & 7 || !sys_peek_all(b->fields, b->thread, vm.size.jthread))
		return false;
	memcpy(b->fields + vm.o.jthread_anchor, w->anchor, sizeof(w->anchor));
	b->lo = b->was.regs.sp;
	b->loaded = b->hi = b->lo + (nr & ~7u);
	memcpy(b->stack, w->stack, nr);
	fence_acquire();
	return load_relaxed(&w->block_nr) == block_nr;
}

bool blocked_load(struct blocked *b, uintptr_t p)
{
	size_t have = b->loaded - b->lo, want = p + 8 - b->lo;

	if (!b->hi || want > MAX_STACK)
		return false;
	if (want < 2 * have)
		want = 2 * have < MAX_STACK ? 2 * have : MAX_STACK;
	if (copy_stack(b, want) && blocked_still(b))
		return true;
	b->torn = true;
	return false;
}
