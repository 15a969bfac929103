// SPDX-License-Identifier: GPL-2.0-or-later
/* live.c - follows sampled objects from allocation to death (live.h). */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "collect/engine/recording.h"
#include "collect/parts/keptstacks.h"
#include "collect/parts/live.h"
#include "trace/roster.h"

/* Limits on what a JVM can make us allocate. EARLY: objects whose end was reported before they were. */
enum { MAX_OBJECTS = 1 << 21, MAX_EARLY = 1 << 16, MAX_TOLD = 1 << 22, SPARSE = 4096 };
/*
 * When an object's end has been read, its sample is in a ring, and the next drain has it. Only a record
 * that is still being written, by a thread that waits for a CPU, can hold it back.
 */
enum { EARLY_DRAINS = 50 };

struct live_object {
	uint64_t born_ns, size;
	uint32_t number;		/* 0: free */
	uint32_t context;		/* in stacks; early: KEPTSTACK_NONE */
	uint32_t thread;
	uint32_t next_free;
};

/* The messages of the log in order: of an object or, with number 0, the next of the sweeps or rosters. */
enum { SWEEP, ROSTER };
struct told {
	uint32_t number, why;
};

struct lives {
	struct live_object *objects;
	size_t nr_objects, alloc_objects;	/* free ones included */
	struct keptstacks stacks;
	uint32_t free_object;		/* index + 1 */
	struct map by_number;
	uint32_t nr_used;
	struct early {
		uint32_t number, drain;
	} *early;			/* a queue: those from first_early on, the oldest first */
	size_t first_early, nr_queued, alloc_early;
	uint32_t nr_drains;
	struct told *told;
	struct jvm_swept *sweeps;
	struct jvm_roster *rosters;
	size_t nr_told, alloc_told, nr_sweeps, alloc_sweeps, nr_rosters, alloc_rosters;
	uint32_t *dead;			/* numbers, until the sweep that found them is reported */
	size_t nr_dead, alloc_dead;
	uint32_t nr_swept;
	uint32_t collector;		/* as of the last sweep */
	bool collected;			/* in the end, as the recording asked for */
	struct rec_sweep last;		/* as written; its time 0: none */
	uint64_t interval;
	uint64_t known_ns;		/* what was allocated until then has survived, or is dead */
	uint64_t nr_lost;
};

void lives_free(struct lives *l)
{
	if (!l)
		return;
	keptstacks_release(&l->stacks);
	free(l->objects);
	free(l->early);
	free(l->dead);
	free(l->told);
	free(l->sweeps);
	free(l->rosters);
	map_release(&l->by_number);
	free(l);
}

static struct lives *lives_of(struct collect *c, struct java *j)
{
	if (!j->lives) {
		j->lives = xcalloc(1, sizeof(*j->lives));
		j->lives->interval = sources_interval(c, JVM_SOURCE_LIVE);
		if (collect_attached(c, j->proc))
			refused_source(&c->refused, "live", j->proc->pid, "objects from before the recording");
	}
	return j->lives;
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
	l->objects[at] = (struct live_object){ .number = number, .context = KEPTSTACK_NONE };
	l->nr_used++;
	return &l->objects[at];
}

static void forget_object(struct lives *l, struct live_object *o)
{
	if (o->context != KEPTSTACK_NONE)
		keptstacks_put(&l->stacks, o->context);
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

	if (o && o->context == KEPTSTACK_NONE) {	/* it has come and gone */
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
	o->context = keptstacks_get(&l->stacks, frames, nr);
}

/* Note an end that arrives before the sample. */
static void add_early(struct lives *l, uint32_t number)
{
	if (l->nr_queued - l->first_early >= MAX_EARLY || !new_object(l, number))
		return;
	*VEC_ADD(l->early, l->nr_queued, l->alloc_early) = (struct early){ number, l->nr_drains };
}

/* Forget ends whose samples have not come: these were lost. */
static void forget_early(struct lives *l)
{
	for (; l->first_early < l->nr_queued; l->first_early++) {
		const struct early *x = &l->early[l->first_early];
		struct live_object *o = find_object(l, x->number);

		if (l->nr_drains - x->drain < EARLY_DRAINS)
			break;
		if (o && o->context == KEPTSTACK_NONE)
			forget_object(l, o);
	}
	if (l->first_early > l->nr_queued / 2) {
		l->nr_queued -= l->first_early;
		memmove(l->early, l->early + l->first_early, l->nr_queued * sizeof(*l->early));
		l->first_early = 0;
	}
}

static void lives_is_gone(struct lives *l, uint32_t number, bool died)
{
	struct live_object *o = find_object(l, number);

	if (!o) {
		add_early(l, number);
	} else if (o && o->context != KEPTSTACK_NONE && died) {
		*VEC_ADD(l->dead, l->nr_dead, l->alloc_dead) = number;
	} else if (o && o->context != KEPTSTACK_NONE) {
		forget_object(l, o);
	}
}

void lives_gone(struct collect *c, struct java *j, const struct jvm_gone_objects *r)
{
	struct span s = span_init(r->numbers, r->numbers_len);
	struct lives *l = lives_of(c, j);	/* the log is read before the first sample */
	uint64_t number;

	while (span_left(&s) && !s.bad) {
		number = span_varint(&s);
		if (s.bad || !number || number > UINT32_MAX || l->nr_told >= MAX_TOLD)
			continue;
		*VEC_ADD(l->told, l->nr_told, l->alloc_told) = (struct told){ number, r->why };
	}
}

void lives_swept(struct collect *c, struct java *j, const struct jvm_swept *r)
{
	struct lives *l = lives_of(c, j);

	if (l->nr_told >= MAX_TOLD)
		return;
	*VEC_ADD(l->told, l->nr_told, l->alloc_told) = (struct told){ 0, SWEEP };
	*VEC_ADD(l->sweeps, l->nr_sweeps, l->alloc_sweeps) = *r;
}

void lives_roster(struct java *j, const struct jvm_roster *r)
{
	struct lives *l = j->lives;

	if (!l || l->nr_told >= MAX_TOLD)
		return;
	*VEC_ADD(l->told, l->nr_told, l->alloc_told) = (struct told){ 0, ROSTER };
	*VEC_ADD(l->rosters, l->nr_rosters, l->alloc_rosters) = *r;
}

/* ---- sweeps ---- */

static double probability(const struct lives *l, const struct live_object *o)
{
	return l->interval ? -expm1(-(double)o->size / (double)l->interval) : 1;
}

static struct rec_sample sample_of(struct collect *c, const struct lives *l, const struct live_object *o)
{
	const struct keptstack *x = keptstacks_at(&l->stacks, o->context);

	return (struct rec_sample){
		.time_ns = o->born_ns, .thread = o->thread, .cpu = UINT16_MAX, .user = true,
		.stack = trace_write_stack(c->w, x->frames, x->nr_frames),
	};
}

/*
 * Write the objects that have died: those that had survived before, or all if lifetimes are recorded. Returns
 * when the youngest was allocated.
 */
static uint64_t bury(struct collect *c, struct lives *l, uint64_t time_ns)
{
	bool lifetimes = sources_find(c, "lifetime") < c->o->nr_sources;
	uint64_t youngest_ns = 0;
	size_t i;

	for (i = 0; i < l->nr_dead; i++) {
		struct live_object *o = find_object(l, l->dead[i]);
		struct rec_sample s;

		if (!o || o->context == KEPTSTACK_NONE)	/* an agent that lies */
			continue;
		youngest_ns = MAX(youngest_ns, o->born_ns);
		if (o->born_ns <= l->known_ns || lifetimes)
			s = sample_of(c, l, o);
		if (o->born_ns <= l->known_ns)
			sources_outlived(c, (double)o->size / probability(l, o), time_ns, &s);
		if (lifetimes)
			sources_died(c, 1 / probability(l, o), time_ns, &s);
		forget_object(l, o);
	}
	return youngest_ns;
}

static void lives_take_sweep(struct collect *c, struct java *j, const struct jvm_swept *r)
{
	struct lives *l = j->lives;
	struct rec_sweep w = {
		.time_ns = r->time_ns, .proc = j->proc->id, .pauses = r->pauses, .tracked = r->tracked,
		.interval = r->interval, .took_ns = r->took_ns, .died = l->nr_dead,
		.whole_ns = MIN(r->whole_ns, r->time_ns),
	};
	uint64_t youngest_ns = bury(c, l, r->time_ns);

	l->known_ns = MAX(l->known_ns, MIN(youngest_ns, r->time_ns));
	l->nr_dead = 0;
	l->interval = r->interval;
	l->nr_swept++;
	l->collector = r->collector;
	l->known_ns = MAX(l->known_ns, MIN(MAX(r->young_ns, r->whole_ns), r->time_ns));
	l->collected |= r->young_ns && r->young_ns == r->whole_ns;
	w.known_ns = l->known_ns;
	trace_write_sweep(c->w, &w);
	l->last = w;
}

/* ---- rosters ---- */

/* Return the indices of the watched objects, those of one context together; the caller frees them. */
static uint32_t *by_context(const struct lives *l, size_t *nr)
{
	uint32_t *first = xcalloc(l->stacks.nr_items + 1, sizeof(*first)), *order;
	size_t i;

	for (i = 0; i < l->nr_objects; i++)
		if (l->objects[i].number && l->objects[i].context != KEPTSTACK_NONE)
			first[l->objects[i].context + 1]++;
	for (i = 0; i < l->stacks.nr_items; i++)
		first[i + 1] += first[i];
	*nr = first[l->stacks.nr_items];
	order = xcalloc(*nr + 1, sizeof(*order));
	for (i = 0; i < l->nr_objects; i++)
		if (l->objects[i].number && l->objects[i].context != KEPTSTACK_NONE)
			order[first[l->objects[i].context]++] = i;
	free(first);
	return order;
}

/* Return how many of these nr objects have the first one's context, and fit into one record. */
static uint32_t same_context(const struct lives *l, const uint32_t *order, size_t nr)
{
	enum { MOST = 4096 };
	uint32_t n;

	for (n = 1; n < nr && n < MOST; n++)
		if (l->objects[order[n]].context != l->objects[order[0]].context)
			break;
	return n;
}

static void write_roster(struct collect *c, struct rec_roster *w, struct buf *b)
{
	w->objects = (const uint8_t *)b->data;
	w->objects_len = b->len;
	trace_write_roster(c->w, w);
	buf_reset(b);
}

/* Write a roster: at least one record, so that a dump without any of these objects is known, too. */
static void take_roster(struct collect *c, const struct java *j, const struct jvm_roster *r)
{
	enum { FULL = 64 << 10 };
	const struct lives *l = j->lives;
	struct rec_roster w = {
		.time_ns = r->time_ns, .proc = j->proc->id, .cookie = r->cookie, .interval = l->interval,
	};
	struct buf b = BUF_INIT;
	uint32_t *order, n, i;
	size_t nr, at;

	order = by_context(l, &nr);
	for (at = 0; at < nr; at += n) {
		const struct keptstack *x = keptstacks_at(&l->stacks, l->objects[order[at]].context);

		for (i = 0; i < x->nr_frames; i++)
			trace_writer_note(c->w, &x->frames[i]);	/* it gets its name in this file */
		n = same_context(l, order + at, nr - at);
		roster_put_context(&b, x->frames, x->nr_frames, n);
		for (i = at; i < at + n; i++)
			roster_put_object(&b, l->objects[order[i]].number, l->objects[order[i]].size);
		if (b.len >= FULL)
			write_roster(c, &w, &b);
	}
	write_roster(c, &w, &b);
	buf_release(&b);
	free(order);
}

void lives_drained(struct collect *c, struct java *j)
{
	struct lives *l = j->lives;
	size_t i, nr_sweeps = 0, nr_rosters = 0;

	if (l) {
		l->nr_drains++;
		forget_early(l);
	}
	for (i = 0; l && i < l->nr_told; i++) {
		const struct told *t = &l->told[i];

		if (!t->number && t->why == SWEEP)
			lives_take_sweep(c, j, &l->sweeps[nr_sweeps++]);
		else if (!t->number)
			take_roster(c, j, &l->rosters[nr_rosters++]);
		else
			lives_is_gone(l, t->number, t->why == JVM_GONE_DIED);
		l->nr_lost += t->number && t->why == JVM_GONE_LOST;
	}
	if (l)
		l->nr_told = l->nr_sweeps = l->nr_rosters = 0;
}

uint64_t lives_nr_sweeps(const struct java *j)
{
	return j->lives ? j->lives->nr_swept : 0;
}

void lives_collected(struct java *j, uint64_t time_ns)
{
	j->lives->known_ns = MAX(j->lives->known_ns, time_ns);
	j->lives->collected = true;
}

static bool all_have_collected(const struct collect *c)
{
	const struct java *j;
	bool all = true;

	for (j = c->javas; j && all; j = j->next)
		all = !j->lives || j->gone || !j->jvm || jvm_has_collected(j->jvm);
	return all;
}

static void collect_all(struct collect *c)
{
	enum { WAIT_MS = 120000, TURN_MS = 10 };
	struct java *j;
	int ms;

	for (j = c->javas; j; j = j->next)
		if (j->lives && !j->gone && j->jvm)
			jvm_collect(j->jvm);
	for (ms = 0; ms < WAIT_MS && !all_have_collected(c) && !collect_hurries(c); ms += TURN_MS) {
		clock_sleep_ns(TURN_MS * 1000000);
		collect_hear_agents(c, false);
	}
}

/* ---- what lives ---- */

static void write_living(struct collect *c, const struct lives *l)
{
	size_t i;

	for (i = 0; i < l->nr_objects; i++) {
		const struct live_object *o = &l->objects[i];
		double p = o->number && o->context != KEPTSTACK_NONE ? probability(l, o) : 0;
		const struct keptstack *x;
		struct rec_sample s;

		if (p <= 0)
			continue;
		s = sample_of(c, l, o);
		if (o->born_ns > l->known_ns) {
			sources_unknown(c, (double)o->size / p, &s);
			continue;
		}
		x = keptstacks_at(&l->stacks, o->context);
		if (!c->is_standing)
			stack_count_marks(c, stack_marks(x->frames, x->nr_frames - 1));
		sources_survived(c, (double)o->size / p, 1 / p, &s);
	}
}

/*
 * Return whether there are objects whose death only a major collection could show, and none has taken place
 * since.
 */
static bool waits_for_major(const struct lives *l)
{
	size_t i;

	if (l->collector != JVM_COLLECTS_OLD_LATE || l->collected)
		return false;
	for (i = 0; i < l->nr_objects; i++)
		if (l->objects[i].number && l->objects[i].born_ns > l->known_ns &&
		    l->objects[i].born_ns < l->last.time_ns)
			return true;
	return false;
}

void lives_end(struct collect *c, struct java *j)
{
	struct lives *l = j->lives;

	if (!l)
		return;
	lives_drained(c, j);
	bury(c, l, clock_mono_ns());
	write_living(c, l);
	if ((c->o->live_gc || c->o->live_histogram) && !l->collected)
		refused_source(&c->refused, "live", j->proc->pid,
			       "no collection in the end: it was killed, or its collector does not collect while the VM ends (ZGC, Shenandoah): let the recording end first, by -d or arcprof ctl stop");
	if (waits_for_major(l))
		refused_source(&c->refused, "live", j->proc->pid,
			       "which objects live of those that were allocated since its last major collection: generational ZGC clears no weak reference to a young object before (record --live-gc asks for one in the end)");
	sources_ended(c, j, l->known_ns, l->nr_lost);
	j->lives = NULL;
	lives_free(l);
}

/* ---- the part ---- */

static void lives_on_gone(void *ctx, struct jvm *jvm, const struct jvm_gone_objects *r)
{
	lives_gone(ctx, jvm_user(jvm), r);
}

static void on_swept(void *ctx, struct jvm *jvm, const struct jvm_swept *r)
{
	lives_swept(ctx, jvm_user(jvm), r);
}

static void on_roster(void *ctx, struct jvm *jvm, const struct jvm_roster *r)
{
	lives_roster(jvm_user(jvm), r);
}

/* Collect garbage at the end, as a histogram does, too. */
static void lives_recording_ends(struct collect *c, uint64_t now_ns)
{
	if (c->o->live_histogram)
		histograms_take(c);
	else if (c->o->live_gc)
		collect_all(c);
}

static void lives_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	struct java *j;

	for (j = c->javas; j; j = j->next)
		lives_end(c, j);
}

static void lives_stand(struct collect *c)
{
	const struct java *j;

	for (j = c->javas; j; j = j->next)
		if (j->lives)
			write_living(c, j->lives);
}

static void lives_next_file(struct collect *c, uint64_t now_ns)
{
	const struct java *j;

	for (j = c->javas; j; j = j->next)
		if (j->lives && j->lives->last.time_ns)
			trace_write_sweep(c->w, &j->lives->last);
}

static const struct jvm_callbacks from_agents = {
	.gone_objects = lives_on_gone, .swept = on_swept, .roster = on_roster,
};

/* Keep ended threads: what is reported may be of threads that ended long ago. */
static void lives_init(struct collect *c)
{
	c->tasks.keeps_ended |= sources_is_recorded(c, JVM_SOURCE_LIVE);
}

const struct part live_part = {
	.init = lives_init, .agent = &from_agents, .ends = lives_recording_ends,
	.ended = lives_recording_has_ended, .stand = lives_stand, .next_file = lives_next_file,
};
