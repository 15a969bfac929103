// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * allocated.c - what threads of JVMs have allocated as their JVMs count it, against which the samples of the
 * source "alloc" are measured.
 *
 * The trace gets records "thread.counted", and the total as label event.N.counted; or, where that is not
 * known, why, as event.N.uncounted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/sources.h"
#include "trace/format.h"

struct told {
	uint32_t proc;
	bool vm_ended;
	bool over;			/* it had ended when the file before did, reported or not */
	uint64_t time_ns;		/* when all of its threads were last reported */
};

/* The bytes of a thread whose JVM counts them, as far as it was sampled. */
struct young {
	struct thread *th;
	uint32_t proc;
	uint64_t time_ns, bytes;
};

struct allocated {
	size_t source;			/* of the recording */
	uint64_t ended_ns;		/* the file before */
	struct young *young;		/* since JVMs were asked at the end of this file */
	size_t nr_young, alloc_young;
	uint64_t bytes;			/* of all threads, in this file */
	uint64_t nr_lost;		/* samples, before this file */
	bool untold;			/* not all of them were reported when the file before ended */
	struct map by_proc;		/* process -> index in list */
	struct told *list;
	size_t nr, alloc;
};

/* Return whether all that is allocated is to be sampled, from the first to the last moment. */
static bool allocated_is_wanted(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	return sources_is_recorded(c, JVM_SOURCE_ALLOC) && !o->nr_tids && !c->flight &&
	       switches_are_none(o);
}

/* Return whether it was sampled all the time. */
static bool allocated_was_kept(const struct collect *c, const struct allocated *a)
{
	return a && !c->paused && !filters_were_set(c) && c->switches.sources[a->source].nr_times <= 1;
}

static void allocated_begin(struct collect *c)
{
	struct allocated *a;

	if (!allocated_is_wanted(c))
		return;
	a = c->own[PART_allocated] = xcalloc(1, sizeof(*a));
	a->source = sources_find_jvm(c, JVM_SOURCE_ALLOC);
}

static bool allocated_is_kept(const struct collect *c)
{
	return allocated_was_kept(c, c->own[PART_allocated]);
}

static struct told *told_by(struct allocated *a, struct java *j)
{
	uint32_t *at = map_put(&a->by_proc, j->proc->id);

	if (*at == MAP_NONE) {
		*at = a->nr;
		*VEC_ADD(a->list, a->nr, a->alloc) = (struct told){ .proc = j->proc->id };
	}
	return &a->list[*at];
}

static void allocated_charge(struct collect *c, struct thread *th, uint64_t bytes, uint64_t time_ns)
{
	struct allocated *a = c->own[PART_allocated];
	struct rec_counted r = {
		.time_ns = time_ns, .thread = th->id, .event = sources_event(c, a->source), .amount = bytes,
	};

	trace_write_counted(c->w, &r);
	a->bytes += bytes;
}

static void allocated_take(void *ctx, struct jvm *jvm, const struct jvm_allocated *r)
{
	struct collect *c = ctx;
	struct allocated *a = c->own[PART_allocated];
	struct java *j = jvm_user(jvm);
	struct told *told;
	struct thread *th;

	if (!a)
		return;
	told = told_by(a, j);
	if (!r->thread) {
		told->time_ns = r->time_ns;
		told->vm_ended |= r->bytes;
		return;
	}
	th = tasks_get_at(&c->tasks, j->proc, r->thread, r->time_ns);
	if (told->time_ns && r->time_ns >= c->counted_ns && r->bytes > th->allocated)
		allocated_charge(c, th, r->bytes - th->allocated, r->time_ns);
	th->allocated = MAX(th->allocated, r->bytes);
}

static void allocated_take_sample(struct collect *c, const struct java *j, const struct jvm_sample *s)
{
	struct allocated *a = c->own[PART_allocated];

	if (!a || s->event != JVM_SOURCE_ALLOC || c->asked_ns <= MAX(a->ended_ns, c->counted_ns) ||
	    s->time_ns <= c->asked_ns)
		return;
	*VEC_ADD(a->young, a->nr_young, a->alloc_young) = (struct young){
		.th = tasks_get_at(&c->tasks, j->proc, s->tid, s->time_ns), .proc = j->proc->id,
		.time_ns = s->time_ns, .bytes = sources_estimate(c, a->source, s),
	};
}

/*
 * Charge what is counted after JVMs reported: the file ends some milliseconds later, in which they may have
 * allocated a lot. The next file's report is reduced by as much.
 */
static void charge_young(struct collect *c, struct allocated *a)
{
	size_t i;

	for (i = 0; i < a->nr_young; i++) {
		const struct young *y = &a->young[i];
		uint32_t at = map_get(&a->by_proc, y->proc);

		if (at == MAP_NONE || a->list[at].time_ns < c->asked_ns || y->time_ns <= a->list[at].time_ns)
			continue;
		allocated_charge(c, y->th, y->bytes, y->time_ns);
		y->th->allocated += y->bytes;
	}
	a->nr_young = 0;
}

/* Return why the total is not known, or NULL if it is. */
static const char *why_unknown(const struct collect *c, const struct allocated *a)
{
	size_t i;

	if (c->res->nr_jvms > a->nr + c->res->nr_no_source[a->source])
		return "not all JVMs count what their threads allocate";
	for (i = 0; i < a->nr; i++)
		if (!a->list[i].vm_ended && !a->list[i].over && a->list[i].time_ns < c->asked_ns)
			return "a JVM ended without telling it, or did not answer in time";
	if (a->untold)
		return "a JVM did not answer in time when the file before ended";
	return a->nr ? NULL : "no JVM was recorded";
}

/* Several files have no sum where one has none. */
static void allocated_write_labels(const struct collect *c, const struct allocated *a, const char *why)
{
	const uint32_t event = sources_event(c, a->source);

	if (!allocated_was_kept(c, a) || why) {
		if (c->segments)
			sources_label(c, event, "counted", ACCOUNT_NONE);
		if (allocated_was_kept(c, a))
			sources_label(c, event, "uncounted", "%s", why);
		c->res->uncounted_source[a->source] = true;
		return;
	}
	c->res->counted_of_source[a->source] += a->bytes;
	sources_label(c, event, "counted", "%" PRIu64, a->bytes);
	if (c->res->nr_lost > a->nr_lost)
		sources_label(c, event, "missing", "samples were lost");
}

/* Write the sums at the end of a file, or of the recording. */
static void allocated_end_file(struct collect *c)
{
	struct allocated *a = c->own[PART_allocated];
	size_t i;

	if (!a)
		return;
	trace_writer_keep(c->w, false);
	allocated_write_labels(c, a, why_unknown(c, a));
	trace_writer_keep(c->w, true);
	a->untold = false;
	for (i = 0; i < a->nr; i++) {
		struct told *t = &a->list[i];

		t->over |= !java_is_there(c->javas, t->proc);
		a->untold |= !t->vm_ended && !t->over && t->time_ns < c->asked_ns;
	}
	a->bytes = 0;
	a->ended_ns = c->merged_ns;
	a->nr_lost = c->res->nr_lost;
}

static void allocated_stand(struct collect *c)
{
	if (c->own[PART_allocated])
		charge_young(c, c->own[PART_allocated]);
	allocated_end_file(c);
}

static void allocated_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	allocated_end_file(c);
}

static void allocated_close_part(struct collect *c)
{
	struct allocated *a = c->own[PART_allocated];

	if (!a)
		return;
	map_release(&a->by_proc);
	free(a->list);
	free(a->young);
	free(a);
	c->own[PART_allocated] = NULL;
}

const struct part allocated_part = {
	.agent = &(const struct jvm_callbacks){ .allocated = allocated_take },
	.ready = allocated_begin, .counts = allocated_is_kept, .sampled = allocated_take_sample,
	.ended = allocated_recording_has_ended, .stand = allocated_stand, .close = allocated_close_part,
};
