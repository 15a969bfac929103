// SPDX-License-Identifier: GPL-2.0-or-later
/* roots.c - completes stacks by the parts that agents send only once (roots.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/jvm/roots.h"

/* There are a handful: one per way to start a thread. This bounds what a hostile JVM gets. */
enum { MAX_LISTS = 256 };

struct root_frames {
	struct frame *frames;
	size_t nr;
};

void roots_release(struct roots *r)
{
	size_t i;

	for (i = 0; i < r->nr_lists; i++)
		free(r->lists[i].frames);
	free(r->lists);
	free(r->told);
	memset(r, 0, sizeof(*r));
}

const struct frame *roots_get(const struct roots *r, uint32_t id, size_t *nr)
{
	if (id >= r->nr_lists)
		return NULL;
	*nr = r->lists[id].nr;
	return r->lists[id].frames;
}

static bool equal(const struct root_frames *l, const struct frame *frames, size_t nr)
{
	size_t i;

	if (l->nr != nr)
		return false;
	for (i = 0; i < nr && frame_equal(&l->frames[i], &frames[i]); i++)
		;
	return i == nr;
}

static bool roots_number(struct roots *r, const struct frame *frames, size_t nr, uint32_t *id)
{
	size_t i;

	for (i = 0; i < r->nr_lists; i++)
		if (equal(&r->lists[i], frames, nr)) {
			*id = i;
			return true;
		}
	if (r->nr_lists == MAX_LISTS)
		return false;
	VEC_GROW(r->lists, r->nr_lists, r->alloc_lists);
	r->lists[i].frames = xmalloc(nr * sizeof(*frames));
	r->lists[i].nr = nr;
	memcpy(r->lists[i].frames, frames, nr * sizeof(*frames));
	*id = r->nr_lists++;
	return true;
}

void roots_check_maps(struct roots *r, struct jvm *jvm, uint32_t nr_changes)
{
	size_t i;

	if (r->nr_changes == nr_changes)
		return;
	r->nr_changes = nr_changes;
	for (i = 0; r->told && i < JVM_NR_ROOTS; i++) {
		if (!r->told[i].top)
			continue;
		r->told[i].top = r->told[i].sp = 0;
		jvm_tell_root(jvm, &r->told[i]);
		r->told[i].end = 0;
	}
}

static struct jvm_root *roots_slot_of(const struct roots *r, const struct jvm_segment *s)
{
	return &r->told[jvm_root_slot(s->end)];
}

bool roots_want(const struct roots *r, const struct jvm_segment *s)
{
	const struct jvm_root *t = r->told ? roots_slot_of(r, s) : NULL;

	return !t || t->end != s->end || (t->top && (!t->sp || !s->exact));
}

static uint64_t roots_hash(const struct jvm_segment *s, size_t len)
{
	/* as it was in the agent, including the flags */
	const struct jvm_rec_segment rec = {
		.pc = s->pc, .sp = s->sp, .fp = s->fp, .rbx = s->rbx,
		.r12 = s->r12, .r13 = s->r13, .r14 = s->r14, .r15 = s->r15,
		.flags = s->valid | JVM_SEG_TO_ROOT,
	};

	return jvm_root_hash(&rec, (const uint64_t *)s->stack, len);
}

void roots_learn(struct roots *r, struct jvm *jvm, const struct jvm_segment *s, uint64_t top,
		 const struct frame *frames, size_t nr)
{
	struct jvm_root *t;
	uint32_t id;

	if (top <= s->sp || top - s->sp > s->len || top & 7 || s->sp & 7)
		return;
	if (!r->told)
		r->told = xcalloc(JVM_NR_ROOTS, sizeof(*r->told));
	t = roots_slot_of(r, s);
	if (t->end != s->end)
		*t = (struct jvm_root){ .end = s->end };
	t->top = top;
	if (!s->exact && roots_number(r, frames, nr, &id)) {
		t->sp = s->sp;
		t->len = top - s->sp;
		t->hash = roots_hash(s, t->len);
		t->id = id;
	}
	jvm_tell_root(jvm, t);
}

void roots_doubt(struct roots *r, struct jvm *jvm, const struct jvm_segment *s)
{
	struct jvm_root *t = r->told ? roots_slot_of(r, s) : NULL;

	if (!t || t->end != s->end)
		return;
	t->top = t->sp = 0;
	jvm_tell_root(jvm, t);
}
