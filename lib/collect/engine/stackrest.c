// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stackrest.c - reads what is above the copy of a stack (stackrest.h).
 */
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/stackrest.h"

enum {
	LATEST_NS = 30000000,
	/*
	 * The last quarter of the copy has to be the same in memory. Of a large copy less is compared,
	 * and all of one that ends soon, as it does where a large frame has untouched pages.
	 */
	SAME_SHARE = 4, MOST_SAME = 4096, LEAST_SAME = 256, LEAST_COPY = 16,
	PAGE = 4096,
	MAX_LOADS = 512,		/* of a stack: 32 MiB if it is read from one end to the other */
	MAX_SHARE = 4,			/* of the time, this part is spent at most, */
	FREE_NS = 50000000,		/* and this much in any case */
	TURN_NS = 5000000,		/* between two turns of the recorder, as long as such stacks come, */
	LATELY_NS = 1000000000,		/* which they do if one did since then */
};

static bool may_spend(const struct stackrest *r, uint64_t now)
{
	return r->spent_ns < FREE_NS + (now - r->first_ns) / MAX_SHARE;
}

static size_t same_bytes(const struct stackrest *r)
{
	size_t some = MAX(r->copy.len / SAME_SHARE, (size_t)LEAST_SAME);

	return MIN(MIN(some, (size_t)MOST_SAME), r->copy.len);
}

/* Return whether it is too late, too much, or too often. */
static bool is_refused(struct stackrest *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->begun_ns)
		r->begun_ns = now;
	if (!r->first_ns)
		r->first_ns = now;
	if (r->copy.len < LEAST_COPY || now - r->time_ns > LATEST_NS || ++r->nr_loads > MAX_LOADS ||
	    !may_spend(r, now))
		r->refused = true;
	return r->refused;
}

/* Read the window, and after it the end of the copy, so that a change in between is noticed. */
static ssize_t read_window(struct stackrest *r, size_t len, uint8_t *same, size_t nr_same)
{
	uint64_t end = r->copy.sp + r->copy.len;
	struct iovec local[] = { { r->window, len }, { same, nr_same } };
	struct iovec remote[] = { { (void *)r->at, len }, { (void *)(end - nr_same), nr_same } };

	return process_vm_readv(r->pid, local, 2, remote, 2, 0);
}

/* A frame's registers are below its return address, which is read first. */
static bool stackrest_load(struct stackrest *r, uint64_t addr)
{
	uint64_t page = addr & ~(PAGE - 1ull), end = r->copy.sp + r->copy.len;
	uint8_t same[MOST_SAME];
	size_t len = STACKREST_WINDOW, nr_same = same_bytes(r);
	ssize_t got;

	r->len = 0;
	if (r->refused || is_refused(r))
		return false;
	r->at = page - end > PAGE ? MAX(page - PAGE, end) : end;
	got = read_window(r, len, same, nr_same);
	if (got >= 8 && (size_t)got < len) {		/* no more is mapped */
		len = got & ~7ul;
		got = read_window(r, len, same, nr_same);
	}
	r->refused = got != (ssize_t)(len + nr_same) ||
		     memcmp(same, r->copy.data + r->copy.len - nr_same, nr_same);
	r->len = r->refused ? 0 : len;
	return !r->refused;
}

static bool is_loaded(const struct stackrest *r, uint64_t addr)
{
	return r->len >= 8 && addr - r->at <= r->len - 8;
}

static bool read_above(void *ctx, uint64_t addr, uint64_t *v)
{
	struct stackrest *r = ctx;

	/* a word of which a part is in the copy is none that was pushed */
	if (addr < r->copy.sp + r->copy.len)
		return false;
	if (!is_loaded(r, addr) && !(stackrest_load(r, addr) && is_loaded(r, addr)))
		return false;
	memcpy(v, r->window + (addr - r->at), sizeof(*v));
	return true;
}

struct unwind_stack stackrest_begin(struct stackrest *r, int pid, const struct unwind_stack *st,
				    uint64_t time_ns)
{
	struct unwind_stack with = *st;

	r->pid = pid;
	r->time_ns = time_ns;
	r->copy = *st;
	r->begun_ns = r->nr_loads = r->len = 0;
	r->refused = false;
	with.above = read_above;
	with.ctx = r;
	return with;
}

void stackrest_end(struct stackrest *r)
{
	uint64_t now;

	if (!r->begun_ns)
		return;
	now = clock_mono_ns();
	r->spent_ns += now - r->begun_ns;
	r->wanted_ns = now;
}

uint64_t stackrest_due_ns(const struct stackrest *r, uint64_t now_ns)
{
	return r->wanted_ns && now_ns < r->wanted_ns + LATELY_NS ? now_ns + TURN_NS : 0;
}
