// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tallies.c - what JVMs count of themselves, against which what is recorded is measured: pauses of their
 * collectors, and waits for monitors. The trace gets a record "proc.tally" of each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/sources.h"

_Static_assert(JVM_NR_TALLIES + 0 == TALLY_NR + 0, "numbers of agents are those of traces");

struct count {
	uint64_t n, ns;
};

struct tally {
	uint32_t proc, kind;
	uint64_t begin_ns, end_ns;
	struct count begin, end;
	bool untold;			/* when the file before ended, so that begin is older */
	bool over;			/* the JVM had ended by then */
	char why[128];
};

struct tallies {
	struct map by_proc;		/* process and kind -> index */
	struct tally *list;
	size_t nr, alloc;
};

/* Return whether the tally covers the recording from the first to the last moment. */
static bool tallies_is_wanted(const struct collect *c, uint32_t kind)
{
	const struct collect_opts *o = c->o;

	if (kind == JVM_TALLY_PAUSES ? !(o->jvm_events & JVM_TELL_GC) :
				       !sources_is_recorded(c, JVM_SOURCE_LOCK))
		return false;
	return !c->flight && switches_are_none(o);
}

static bool tallies_was_kept(const struct collect *c, uint32_t kind)
{
	const struct switches *s = &c->switches;

	if (!tallies_is_wanted(c, kind) || c->paused || filters_were_set(c))
		return false;
	return (kind == JVM_TALLY_PAUSES ? s->tells[__builtin_ctz(JVM_TELL_GC)].nr_times :
					   s->sources[sources_find_jvm(c, JVM_SOURCE_LOCK)].nr_times) <= 1;
}

static bool are_kept(const struct collect *c)
{
	return tallies_was_kept(c, JVM_TALLY_PAUSES) || tallies_was_kept(c, JVM_TALLY_ENTERS);
}

static struct tally *tallies_find(struct tallies *t, uint32_t proc, uint32_t kind)
{
	uint32_t *at = map_put(&t->by_proc, (uint64_t)proc << 32 | kind);

	if (*at == MAP_NONE) {
		*at = t->nr;
		*VEC_ADD(t->list, t->nr, t->alloc) = (struct tally){ .proc = proc, .kind = kind };
	}
	return &t->list[*at];
}

static struct tallies *tallies_of(struct collect *c)
{
	if (!c->own[PART_tallies])
		c->own[PART_tallies] = xcalloc(1, sizeof(struct tallies));
	return c->own[PART_tallies];
}

static void tallies_take(void *ctx, struct jvm *jvm, const struct jvm_tally *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;
	struct tally *t;

	if (r->kind >= JVM_NR_TALLIES || !tallies_is_wanted(c, r->kind))
		return;
	t = tallies_find(tallies_of(c), j->proc->id, r->kind);
	snprintf(t->why, sizeof(t->why), "%s", r->why);
	if (!t->begin_ns || r->time_ns < c->counted_ns) {
		t->begin_ns = r->time_ns;
		t->begin = (struct count){ r->n, r->ns };
	} else {
		t->end_ns = r->time_ns;
		t->end = (struct count){ r->n, r->ns };
	}
}

static void write_one(struct collect *c, const struct tally *t)
{
	struct rec_tally to = {
		.time_ns = t->end_ns, .begin_ns = t->begin_ns, .proc = t->proc, .kind = t->kind,
		.n = t->end.n - MIN(t->end.n, t->begin.n), .ns = t->end.ns - MIN(t->end.ns, t->begin.ns),
		.why = t->why,
	};

	if (!t->end_ns || t->untold) {
		to.time_ns = MAX(t->begin_ns, t->end_ns);
		to.why = *t->why ? t->why : "the JVM ended without telling it, or did not answer in time";
	}
	if (*to.why)
		to.n = to.ns = 0;
	c->res->tallies[t->kind].counted += to.n;
	c->res->tallies[t->kind].uncounted |= *to.why;
	to.why_len = strlen(to.why);
	trace_write_tally(c->w, &to);
}

/* Write the tallies at the end of a file, or of the recording. */
static void tallies_end_file(struct collect *c)
{
	struct tallies *all = c->own[PART_tallies];
	size_t i;

	for (i = 0; all && i < all->nr; i++) {
		struct tally *t = &all->list[i];

		if (!tallies_was_kept(c, t->kind))
			c->res->tallies[t->kind].uncounted = true;
		else if (!t->over)
			write_one(c, t);
		t->over = !java_is_there(c->javas, t->proc);
		t->untold = !t->end_ns;
		if (t->untold)
			continue;
		t->begin = t->end;
		t->begin_ns = t->end_ns;
		t->end_ns = 0;
	}
}

static void tallies_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	tallies_end_file(c);
}

static void tallies_close_part(struct collect *c)
{
	struct tallies *t = c->own[PART_tallies];

	if (!t)
		return;
	map_release(&t->by_proc);
	free(t->list);
	free(t);
	c->own[PART_tallies] = NULL;
}

const struct part tallies_part = {
	.agent = &(const struct jvm_callbacks){ .tally = tallies_take },
	.counts = are_kept, .ended = tallies_recording_has_ended, .stand = tallies_end_file,
	.close = tallies_close_part,
};
