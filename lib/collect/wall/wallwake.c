// SPDX-License-Identifier: GPL-2.0-or-later
/* wallwake.c - the stacks of threads that ended waits (wallwake.h). */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/wall/wallstack.h"
#include "collect/wall/wallwake.h"

enum { NR_HELD = 4096,		/* a power of two */
	HOLD_NS = 1000000000, TURN_NS = 100000000 };

enum what { NOTHING, SAMPLE, ANSWER };

struct held {
	enum what what;
	uint32_t slot, block_nr;
	uint64_t since_ns;
	struct rec_wake wake;		/* of a SAMPLE */
	size_t nr, alloc;		/* frames: of a SAMPLE what is written when no answer comes */
	struct frame *frames;
};

struct wallwakes {
	size_t source, nr_held;
	uint64_t turn_ns;
	struct frame *frames;		/* scratch, MAX_FRAMES and one */
	struct held held[NR_HELD];	/* by slot and block */
};

struct wallwakes *wallwakes_new(size_t source)
{
	struct wallwakes *x = xcalloc(1, sizeof(*x));

	x->source = source;
	x->frames = xcalloc(MAX_FRAMES + 1, sizeof(*x->frames));
	return x;
}

void wallwakes_free(struct wallwakes *x)
{
	size_t i;

	for (i = 0; x && i < NR_HELD; i++)
		free(x->held[i].frames);
	if (x)
		free(x->frames);
	free(x);
}

static struct held *held_at(struct wallwakes *x, uint32_t slot, uint32_t block_nr)
{
	return &x->held[(slot * 4 + (block_nr >> 1 & 3)) & (NR_HELD - 1)];
}

static size_t set_frames(struct frame **to, size_t *alloc, const struct frame *frames, size_t nr)
{
	nr = MIN(nr, (size_t)MAX_USER_FRAMES);
	if (*alloc < nr) {
		*alloc = nr;
		*to = xrealloc(*to, nr * sizeof(**to));
	}
	if (nr)
		memcpy(*to, frames, nr * sizeof(**to));
	return nr;
}

static void wallwake_write_sample(struct collect *c, struct wallwakes *x, const struct rec_wake *wake,
				  const struct frame *frames, size_t nr)
{
	struct rec_sample r = {
		.time_ns = wake->time_ns, .thread = wake->waker, .cpu = UINT16_MAX, .user = true,
	};
	uint32_t marks;

	if (nr)
		memmove(x->frames, frames, nr * sizeof(*frames));
	if (!nr)
		x->frames[nr++] = (struct frame){ FRAME_MARK, .mark = MARK_NO_USER_STACK };
	marks = stack_marks(x->frames, nr);
	x->frames[nr++] = (struct frame){ FRAME_NAMED, .function = wake->function };
	r.stack = trace_write_stack(c->w, x->frames, nr);
	if (sources_weighed(c, x->source, wake->weight, &r))
		stack_count_marks(c, marks);
}

/* Makes room; what waits for an answer is written without. */
static void clear(struct collect *c, struct wallwakes *x, struct held *h)
{
	if (h->what == SAMPLE)
		wallwake_write_sample(c, x, &h->wake, h->frames, h->nr);
	x->nr_held -= h->what != NOTHING;
	h->what = NOTHING;
}

static void wallwake_hold(struct collect *c, struct wallwakes *x, struct held *h, const struct held *new)
{
	struct held old = *h;

	clear(c, x, h);
	*h = *new;
	h->frames = old.frames;
	h->alloc = old.alloc;
	h->nr = set_frames(&h->frames, &h->alloc, new->frames, new->nr);
	h->since_ns = clock_mono_ns();
	x->nr_held++;
}

/* Return whether the agent of its JVM will send more. */
static bool is_of_java(struct collect *c, const struct wall_wake *at)
{
	const struct thread *th = tasks_any(&c->tasks, at->tid);
	const struct java *j = th ? th->proc->java : NULL;

	return j && th->java && j->walls && !j->gone && at->anchor_at;
}

void wallwakes_find(struct collect *c, struct wallwakes *x, const struct wall *w, uint32_t slot,
		    uint32_t block_nr, struct wallwake_code *code)
{
	static struct wall_wake at;
	size_t nr = 0;

	code->block_nr = 0;
	if (wall_wake_of(w, slot, block_nr, &at)) {
		nr = wallstack_waker(c, &at, x->frames);
		code->slot = slot;
		code->block_nr = is_of_java(c, &at) ? block_nr : 0;
	}
	code->nr = set_frames(&code->frames, &code->alloc, x->frames, nr);
}

void wallwakes_write(struct collect *c, struct wallwakes *x, const struct rec_wake *wake,
		     struct wallwake_code *code)
{
	struct held *h = held_at(x, code->slot, code->block_nr);
	bool same = h->slot == code->slot && h->block_nr == code->block_nr;

	if (wake->kind != WAKE_THREAD || !switches_source(c, x->source, wake->time_ns))
		return;
	if (code->block_nr && same && h->what == ANSWER) {
		code->nr = set_frames(&code->frames, &code->alloc, h->frames, h->nr);
		clear(c, x, h);
		code->block_nr = 0;
	}
	if (code->block_nr)
		wallwake_hold(c, x, h, &(struct held){
			SAMPLE, code->slot, code->block_nr, .wake = *wake, .frames = code->frames,
			.nr = code->nr });
	else
		wallwake_write_sample(c, x, wake, code->frames, code->nr);
	code->block_nr = 0;
}

void wallwakes_java(struct collect *c, struct wallwakes *x, const uint32_t slot_and_block[2],
		    const struct frame *frames, size_t nr)
{
	uint32_t slot = slot_and_block[0], block_nr = slot_and_block[1];
	struct held *h = held_at(x, slot, block_nr);

	if (h->what != SAMPLE || h->slot != slot || h->block_nr != block_nr) {
		wallwake_hold(c, x, h, &(struct held){
			ANSWER, slot, block_nr, .frames = (struct frame *)frames, .nr = nr });
		return;
	}
	h->nr = set_frames(&h->frames, &h->alloc, frames, nr);
	clear(c, x, h);
}

void wallwakes_turn(struct collect *c, struct wallwakes *x, uint64_t now_ns)
{
	size_t i;

	if (!x->nr_held || now_ns < x->turn_ns)
		return;
	x->turn_ns = now_ns == UINT64_MAX ? 0 : now_ns + TURN_NS;
	for (i = 0; i < NR_HELD && x->nr_held; i++)
		if (x->held[i].what != NOTHING &&
		    (now_ns == UINT64_MAX || now_ns > x->held[i].since_ns + HOLD_NS))
			clear(c, x, &x->held[i]);
}
