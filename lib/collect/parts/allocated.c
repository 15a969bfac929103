// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/parts/allocated.h"
#include "collect/parts/sources.h"

struct told {
	bool vm_ended;
	uint64_t time_ns;		/* when all of its threads were told last */
};

struct allocated {
	size_t source;			/* of the recording */
	uint64_t bytes;			/* of all threads */
	struct map by_proc;		/* process -> index in list */
	struct told *list;
	size_t nr, alloc;
};

/* All that is allocated is to be sampled, from the first to the last moment, in one file. */
static bool is_wanted(const struct collect *c)
{
	const struct collect_opts *o = c->o;

	return sources_is_recorded(c, JVM_SOURCE_ALLOC) && !o->nr_tids && !c->flight && !c->segments &&
	       switches_are_none(o);
}

/* And it was. */
static bool was_kept(const struct collect *c, const struct allocated *a)
{
	return a && !c->paused && !filters_were_set(c) && c->switches.sources[a->source].nr_times <= 1;
}

void allocated_begin(struct collect *c)
{
	struct allocated *a;

	if (!is_wanted(c))
		return;
	a = c->own[PART_allocated] = xcalloc(1, sizeof(*a));
	a->source = sources_find_jvm(c, JVM_SOURCE_ALLOC);
}

bool allocated_is_kept(const struct collect *c)
{
	return was_kept(c, c->own[PART_allocated]);
}

static struct told *told_by(struct allocated *a, struct java *j)
{
	uint32_t *at = map_put(&a->by_proc, j->proc->id);

	if (*at == MAP_NONE) {
		*at = a->nr;
		VEC_GROW(a->list, a->nr, a->alloc);
		a->list[a->nr++] = (struct told){ 0 };
	}
	return &a->list[*at];
}

static void take(void *ctx, struct jvm *jvm, const struct jvm_allocated *r)
{
	struct collect *c = ctx;
	struct allocated *a = c->own[PART_allocated];
	struct java *j = jvm_user(jvm);
	struct rec_counted to = { .time_ns = r->time_ns };
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
	if (told->time_ns && r->time_ns >= c->counted_ns && r->bytes > th->allocated) {
		to.thread = th->id;
		to.event = sources_event(c, a->source);
		to.amount = r->bytes - th->allocated;
		trace_write_counted(c->w, &to);
		a->bytes += to.amount;
	}
	th->allocated = MAX(th->allocated, r->bytes);
}

/* Why the total is not known; NULL: it is. */
static const char *why_unknown(const struct collect *c, const struct allocated *a)
{
	size_t i;

	if (c->res->nr_jvms > a->nr + c->res->nr_no_source[a->source])
		return "not all JVMs count what their threads allocate";
	for (i = 0; i < a->nr; i++)
		if (!a->list[i].vm_ended && a->list[i].time_ns < c->asked_ns)
			return "a JVM ended without telling it, or did not answer in time";
	return a->nr ? NULL : "no JVM was recorded";
}

static void __attribute__((format(printf, 4, 5)))
label(const struct collect *c, const struct allocated *a, const char *what, const char *fmt, ...)
{
	char key[48], value[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	snprintf(key, sizeof(key), "event.%" PRIu32 ".%s", sources_event(c, a->source), what);
	trace_write_label(c->w, key, "%s", value);
}

static void recording_has_ended(struct collect *c, uint64_t now_ns)
{
	const struct allocated *a = c->own[PART_allocated];
	const char *why;

	if (!was_kept(c, a))
		return;
	why = why_unknown(c, a);
	if (why) {
		label(c, a, "uncounted", "%s", why);
		return;
	}
	label(c, a, "counted", "%" PRIu64, a->bytes);
	if (c->res->nr_lost)
		label(c, a, "missing", "samples were lost");
}

static void close_part(struct collect *c)
{
	struct allocated *a = c->own[PART_allocated];

	if (!a)
		return;
	map_release(&a->by_proc);
	free(a->list);
	free(a);
	c->own[PART_allocated] = NULL;
}

const struct part allocated_part = {
	.agent = &(const struct jvm_callbacks){ .allocated = take },
	.ended = recording_has_ended, .close = close_part,
};
