// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "collect/live.h"
#include "collect/state.h"

/* What a JVM can make us hold. EARLY: of objects whose end was told before they were. */
enum { MAX_OBJECTS = 1 << 21, MAX_EARLY = 1 << 16, MAX_TOLD = 1 << 22, NR_PAST = 64, SPARSE = 4096 };

struct live_object {
	uint64_t born_ns, size;
	uint32_t number;		/* 0: free */
	uint32_t context;		/* index; early: CONTEXT_NONE */
	uint32_t thread;
	uint32_t next_free;
};

#define CONTEXT_NONE UINT32_MAX

struct live_context {
	struct frame *frames;
	uint32_t nr_frames;
	uint32_t nr_objects;		/* 0: free, and next_free counts */
	uint32_t next_free;
	uint64_t key;
};

/* What was told in the log, in order: of an object, or, with number 0, the next of the sweeps. */
struct told {
	uint32_t number, why;
};

struct lives {
	struct live_object *objects;
	size_t nr_objects, alloc_objects;	/* free ones included */
	struct live_context *contexts;
	size_t nr_contexts, alloc_contexts;
	uint32_t free_object, free_context;	/* index + 1 */
	struct map by_number, by_key;
	uint32_t nr_used, nr_used_contexts, nr_early;
	struct told *told;
	struct jvm_swept *sweeps;
	size_t nr_told, alloc_told, nr_sweeps, alloc_sweeps;
	uint32_t *dead;			/* numbers, until the sweep that found them is told of */
	size_t nr_dead, alloc_dead;
	struct {
		uint64_t time_ns;
		uint32_t pauses;
	} past[NR_PAST];		/* sweeps, a ring */
	uint32_t nr_past;
	uint64_t interval;
	uint64_t known_ns;		/* what was allocated until then has survived, or is dead */
	uint64_t nr_lost;
};

void lives_free(struct lives *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->nr_contexts; i++)
		free(l->contexts[i].frames);
	free(l->contexts);
	free(l->objects);
	free(l->dead);
	free(l->told);
	free(l->sweeps);
	map_release(&l->by_number);
	map_release(&l->by_key);
	free(l);
}

static struct lives *lives_of(struct collect *c, struct java *j)
{
	if (!j->lives) {
		j->lives = xcalloc(1, sizeof(*j->lives));
		j->lives->interval = sources_interval(c, JVM_SOURCE_LIVE);
	}
	return j->lives;
}

/* ---- contexts: shared by objects, and gone with the last ---- */

/* Maps forget nothing: they are made anew when most of what they have is gone. */
static void index_contexts(struct lives *l)
{
	size_t i;

	map_reset(&l->by_key);
	for (i = 0; i < l->nr_contexts; i++)
		if (l->contexts[i].nr_objects)
			*map_put(&l->by_key, l->contexts[i].key) = i;
}

static bool is_context(const struct live_context *x, const struct frame *frames, size_t nr)
{
	return x->nr_objects && x->nr_frames == nr && !memcmp(x->frames, frames, nr * sizeof(*frames));
}

static uint32_t new_context(struct lives *l)
{
	uint32_t at = l->free_context;

	if (at) {
		l->free_context = l->contexts[at - 1].next_free;
		return at - 1;
	}
	VEC_GROW(l->contexts, l->nr_contexts, l->alloc_contexts);
	return l->nr_contexts++;
}

static uint32_t get_context(struct lives *l, const struct frame *frames, size_t nr)
{
	uint64_t key = hash_bytes(frames, nr * sizeof(*frames));
	uint32_t *at;

	if (l->by_key.nr > 2 * l->nr_used_contexts + SPARSE)
		index_contexts(l);
	/* a key of one that is gone, or, which nobody will see, of another: the next one */
	for (;; key++) {
		at = map_put(&l->by_key, key);
		if (*at == MAP_NONE || (!l->contexts[*at].nr_objects || l->contexts[*at].key != key) ||
		    is_context(&l->contexts[*at], frames, nr))
			break;
	}
	if (*at != MAP_NONE && l->contexts[*at].key == key && is_context(&l->contexts[*at], frames, nr)) {
		l->contexts[*at].nr_objects++;
		return *at;
	}
	*at = new_context(l);
	l->contexts[*at] = (struct live_context){
		.frames = memcpy(xmalloc(nr * sizeof(*frames) + 1), frames, nr * sizeof(*frames)),
		.nr_frames = nr, .nr_objects = 1, .key = key,
	};
	l->nr_used_contexts++;
	return *at;
}

static void put_context(struct lives *l, uint32_t at)
{
	struct live_context *x = &l->contexts[at];

	if (--x->nr_objects)
		return;
	free(x->frames);
	x->frames = NULL;
	x->next_free = l->free_context;
	l->free_context = at + 1;
	l->nr_used_contexts--;
}

/* ---- objects ---- */

static void index_objects(struct lives *l)
{
	size_t i;

	map_reset(&l->by_number);
	for (i = 0; i < l->nr_objects; i++)
		if (l->objects[i].number)
			*map_put(&l->by_number, l->objects[i].number) = i;
}

static struct live_object *find_object(struct lives *l, uint32_t number)
{
	uint32_t at = map_get(&l->by_number, number);

	return at != MAP_NONE && l->objects[at].number == number ? &l->objects[at] : NULL;
}

static struct live_object *new_object(struct lives *l, uint32_t number)
{
	uint32_t at = l->free_object;

	if (l->nr_used >= MAX_OBJECTS)
		return NULL;
	if (l->by_number.nr > 2 * l->nr_used + SPARSE)
		index_objects(l);
	if (at--) {
		l->free_object = l->objects[at].next_free;
	} else {
		VEC_GROW(l->objects, l->nr_objects, l->alloc_objects);
		at = l->nr_objects++;
	}
	*map_put(&l->by_number, number) = at;
	l->objects[at] = (struct live_object){ .number = number, .context = CONTEXT_NONE };
	l->nr_used++;
	return &l->objects[at];
}

static void forget_object(struct lives *l, struct live_object *o)
{
	if (o->context != CONTEXT_NONE)
		put_context(l, o->context);
	else
		l->nr_early--;
	o->number = 0;
	o->next_free = l->free_object;
	l->free_object = o - l->objects + 1;
	l->nr_used--;
}

void lives_born(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
		const struct frame *frames, size_t nr)
{
	struct lives *l = lives_of(c, j);
	struct live_object *o = s->id ? find_object(l, s->id) : NULL;

	if (o && o->context == CONTEXT_NONE) {	/* it has come and gone */
		forget_object(l, o);
		return;
	}
	if (!s->id || !s->value || o || !(o = new_object(l, s->id))) {
		l->nr_lost++;
		return;
	}
	o->born_ns = s->time_ns;
	o->size = s->value;
	o->thread = thread;
	o->context = get_context(l, frames, nr);
}

static void is_gone(struct lives *l, uint32_t number, bool died)
{
	struct live_object *o = find_object(l, number);

	if (!o && l->nr_early < MAX_EARLY && (o = new_object(l, number))) {
		l->nr_early++;
	} else if (o && o->context != CONTEXT_NONE && died) {
		VEC_GROW(l->dead, l->nr_dead, l->alloc_dead);
		l->dead[l->nr_dead++] = number;
	} else if (o && o->context != CONTEXT_NONE) {
		forget_object(l, o);
	}
}

void lives_gone(struct java *j, const struct jvm_gone_objects *r)
{
	struct span s = span_init(r->numbers, r->numbers_len);
	struct lives *l = j->lives;
	uint64_t number;

	while (l && span_left(&s) && !s.bad) {
		number = span_varint(&s);
		if (s.bad || !number || number > UINT32_MAX || l->nr_told >= MAX_TOLD)
			continue;
		VEC_GROW(l->told, l->nr_told, l->alloc_told);
		l->told[l->nr_told++] = (struct told){ number, r->why };
	}
}

void lives_swept(struct collect *c, struct java *j, const struct jvm_swept *r)
{
	struct lives *l = lives_of(c, j);

	if (l->nr_told >= MAX_TOLD)
		return;
	VEC_GROW(l->told, l->nr_told, l->alloc_told);
	l->told[l->nr_told++] = (struct told){ 0, 0 };
	VEC_GROW(l->sweeps, l->nr_sweeps, l->alloc_sweeps);
	l->sweeps[l->nr_sweeps++] = *r;
}

/* ---- sweeps ---- */

static double probability(const struct lives *l, const struct live_object *o)
{
	return l->interval ? -expm1(-(double)o->size / (double)l->interval) : 1;
}

static struct rec_sample sample_of(struct collect *c, const struct lives *l, const struct live_object *o)
{
	const struct live_context *x = &l->contexts[o->context];

	return (struct rec_sample){
		.time_ns = o->born_ns, .thread = o->thread, .cpu = UINT16_MAX, .user = true,
		.stack = trace_write_stack(c->w, x->frames, x->nr_frames),
	};
}

/* Those that have died; what had survived before is written. Returns when the youngest was allocated. */
static uint64_t bury(struct collect *c, struct lives *l, uint64_t time_ns)
{
	uint64_t youngest_ns = 0;
	size_t i;

	for (i = 0; i < l->nr_dead; i++) {
		struct live_object *o = find_object(l, l->dead[i]);
		struct rec_sample s;

		if (!o || o->context == CONTEXT_NONE)	/* an agent that lies */
			continue;
		youngest_ns = MAX(youngest_ns, o->born_ns);
		if (o->born_ns <= l->known_ns) {
			s = sample_of(c, l, o);
			sources_outlived(c, (double)o->size / probability(l, o), time_ns, &s);
		}
		forget_object(l, o);
	}
	return youngest_ns;
}

/* So many pauses that one of them at least was of a whole collection of the young. */
static uint32_t pauses_to_know(uint32_t collector)
{
	static const uint32_t nr[JVM_COLLECTS_NR] = {
		[JVM_COLLECTS_AT_ONCE] = 1, [JVM_COLLECTS_G1] = 3, [JVM_COLLECTS_BESIDE] = 8,
	};

	return collector < JVM_COLLECTS_NR ? nr[collector] : 0;
}

/* The time of the latest pause with nr - 1 others after it, as far back as is kept; 0: none. */
static uint64_t time_before(const struct lives *l, uint32_t pauses, uint32_t nr)
{
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; nr && i < MIN(l->nr_past, (uint32_t)NR_PAST); i++)
		if (l->past[i].pauses + (nr - 1) <= pauses)
			at = MAX(at, l->past[i].time_ns);
	return at;
}

/*
 * Generational ZGC clears some references of the young in any collection, all only in a major one: then a
 * large part of what was allocated since the last is found dead at once.
 */
static bool is_evidence(const struct lives *l, uint32_t collector, size_t nr_dead)
{
	size_t i, nr_unknown = 0;

	if (collector != JVM_COLLECTS_OLD_LATE)
		return true;
	for (i = 0; i < l->nr_objects; i++)
		nr_unknown += l->objects[i].number && l->objects[i].born_ns > l->known_ns;
	return nr_dead >= 8 && nr_dead >= nr_unknown / 8;
}

static void forget_early(struct lives *l)
{
	size_t i;

	/* a second sweep has come: what was told before the first has been read */
	for (i = 0; l->nr_early && i < l->nr_objects; i++) {
		struct live_object *o = &l->objects[i];

		if (o->number && o->context == CONTEXT_NONE && o->size++)
			forget_object(l, o);
	}
}

static void take_sweep(struct collect *c, struct java *j, const struct jvm_swept *r)
{
	struct lives *l = j->lives;
	struct rec_sweep w = {
		.time_ns = r->time_ns, .proc = j->proc->id, .pauses = r->pauses, .tracked = r->tracked,
		.interval = r->interval, .took_ns = r->took_ns, .died = l->nr_dead,
		.whole_ns = MIN(r->whole_ns, r->time_ns),
	};
	uint64_t youngest_ns = bury(c, l, r->time_ns);

	if (l->nr_dead && is_evidence(l, r->collector, l->nr_dead))
		l->known_ns = MAX(l->known_ns, MIN(youngest_ns, r->time_ns));
	l->nr_dead = 0;
	l->interval = r->interval;
	l->past[l->nr_past++ % NR_PAST].time_ns = r->time_ns;
	l->past[(l->nr_past - 1) % NR_PAST].pauses = r->pauses;
	l->known_ns = MAX(l->known_ns, time_before(l, r->pauses, pauses_to_know(r->collector)));
	w.known_ns = l->known_ns;
	forget_early(l);
	trace_write_sweep(c->w, &w);
}

void lives_drained(struct collect *c, struct java *j)
{
	struct lives *l = j->lives;
	size_t i, nr_sweeps = 0;

	for (i = 0; l && i < l->nr_told; i++) {
		const struct told *t = &l->told[i];

		if (!t->number)
			take_sweep(c, j, &l->sweeps[nr_sweeps++]);
		else
			is_gone(l, t->number, t->why == JVM_GONE_DIED);
		l->nr_lost += t->number && t->why == JVM_GONE_LOST;
	}
	if (l)
		l->nr_told = l->nr_sweeps = 0;
}

/* ---- the end ---- */

void lives_end(struct collect *c, struct java *j)
{
	struct lives *l = j->lives;
	double unknown = 0;
	size_t i;

	if (!l)
		return;
	lives_drained(c, j);
	bury(c, l, clock_mono_ns());
	for (i = 0; i < l->nr_objects; i++) {
		const struct live_object *o = &l->objects[i];
		double p = o->number && o->context != CONTEXT_NONE ? probability(l, o) : 0;
		const struct live_context *x;
		struct rec_sample s;

		if (p <= 0)
			continue;
		if (o->born_ns > l->known_ns) {
			unknown += (double)o->size / p;
			continue;
		}
		s = sample_of(c, l, o);
		x = &l->contexts[o->context];
		stack_count_marks(c, x->frames, x->nr_frames - 1);
		sources_survived(c, (double)o->size / p, 1 / p, &s);
	}
	sources_unknown(c, j, unknown, l->known_ns, l->nr_lost);
	j->lives = NULL;
	lives_free(l);
}
