// SPDX-License-Identifier: GPL-2.0-or-later
/* loads.c - measures how long classes took to load by the VM's log (loads.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/loads.h"
#include "jvm/proto.h"

/* More threads than load classes at a time, and more than any class has classes above it. */
enum { MAX_THREADS = 1024, MAX_DEPTH = 64 };

struct load {
	char *name;		/* with dots */
	size_t len, full_len;	/* the latter with the number of a hidden class, once it is loaded */
	uint64_t begin_ns;
	uint64_t nested_ns;	/* of loads within this one */
	unsigned int steps;	/* that have begun and not ended */
	bool asked;		/* it began with LOAD_ASKS, LOAD_SEARCHES or LOAD_GIVEN */
	bool idle;		/* another load has ended since its last step */
	bool nameless;		/* when it began */
	uint64_t sp;		/* where on the stack the loader is that began it; 0: not known */
	uint64_t loaded_ns;	/* 0: not yet */
	char *source;
	size_t source_len;
};

struct loading_thread {
	uint32_t tid;
	size_t nr;
	struct load loads[MAX_DEPTH];
};

static char *copy_text(const char *s, size_t len)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = 0;
	return copy;
}

static void loads_forget(struct loading_thread *t, size_t i)
{
	free(t->loads[i].name);
	free(t->loads[i].source);
	memmove(&t->loads[i], &t->loads[i + 1], (--t->nr - i) * sizeof(t->loads[0]));
}

static struct loading_thread *loading_thread_of(struct loads *l, uint32_t tid)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (l->threads[i].tid == tid)
			return &l->threads[i];
	if (l->nr >= MAX_THREADS)
		loads_release(l);
	VEC_GROW(l->threads, l->nr, l->alloc);
	l->threads[l->nr] = (struct loading_thread){ .tid = tid };
	return &l->threads[l->nr++];
}

static char dotted(char c)
{
	return c == '/' ? '.' : c;
}

static bool load_is_name(const struct load *x, const struct load_line *line)
{
	size_t i;

	if (x->len != line->name_len)
		return false;
	for (i = 0; i < x->len && x->name[i] == dotted(line->name[i]); i++)
		;
	return i == x->len;
}

static void load_set_name(struct load *x, const struct load_line *line)
{
	size_t i;

	free(x->name);
	x->name = copy_text(line->name, line->name_len);
	x->len = x->full_len = line->name_len;
	for (i = 0; i < x->len; i++)
		x->name[i] = dotted(x->name[i]);
}

static bool is_question(enum load_step step)
{
	return step == LOAD_ASKS || step == LOAD_SEARCHES || step == LOAD_GIVEN;
}

/* Find the load whose bytes were given without a name: it is the one with which the VM continues. */
static size_t find_nameless(struct loading_thread *t, const struct load_line *line)
{
	struct load *x = t->nr ? &t->loads[t->nr - 1] : NULL;

	if (!x || x->len || !x->steps || is_question(line->step))
		return t->nr;
	load_set_name(x, line);
	return t->nr - 1;
}

/* Return the innermost of that name; t->nr: none. */
static size_t find_load(struct loading_thread *t, const struct load_line *line)
{
	size_t i;

	for (i = t->nr; i-- > 0;)
		if (line->name_len ? load_is_name(&t->loads[i], line) :
				     t->loads[i].nameless && t->loads[i].steps)
			return i;
	return find_nameless(t, line);
}

/* Make room by dropping the outermost failed load, else the outermost. */
static void loads_make_room(struct loading_thread *t)
{
	size_t i;

	for (i = 0; i < t->nr && t->loads[i].steps; i++)
		;
	loads_forget(t, i < t->nr ? i : 0);
}

static void begin_load(struct loading_thread *t, const struct load_line *line)
{
	struct load *x;

	if (t->nr == MAX_DEPTH)
		loads_make_room(t);
	x = &t->loads[t->nr++];
	*x = (struct load){
		.nameless = !line->name_len, .begin_ns = line->time_ns, .steps = line->step != LOAD_SEARCHES,
		.asked = line->step != LOAD_RESOLVES, .sp = line->sp,
	};
	load_set_name(x, line);
}

static void begin_again(struct load *x, const struct load_line *line)
{
	x->begin_ns = line->time_ns;
	x->nested_ns = 0;
	x->asked = true;
	x->sp = line->sp;
}

/*
 * One that other loads have ended since, and of which nothing goes on, was asked for in vain: this is another
 * attempt. One that the next loader in a row asks for again goes on. A loader searches before it asks the VM,
 * so a search for what the VM was asked for before is another attempt.
 */
static void go_on(struct load *x, const struct load_line *line)
{
	bool over = !x->steps && !x->sp;

	if (over && (line->step == LOAD_SEARCHES || (line->step == LOAD_ASKS && x->idle)))
		begin_again(x, line);
	x->idle = false;
	x->steps += line->step != LOAD_SEARCHES;
}

/* Drop load i; what was loaded within it belongs to the next outer one. */
static void loads_give_up(struct loading_thread *t, size_t i)
{
	if (i)
		t->loads[i - 1].nested_ns += t->loads[i].nested_ns;
	loads_forget(t, i);
}

/* Drop inactive loads within load i: as i continues, they have failed. */
static void drop_within(struct loading_thread *t, size_t i)
{
	size_t k;

	for (k = t->nr; k-- > i + 1;)
		if (!t->loads[k].steps)
			loads_give_up(t, k);
}

/*
 * Drop loads of loaders that have returned without finding anything, as the thread is here now, above them on
 * its stack. A loader may define a class further up than it searched for it.
 */
static void drop_returned(struct loading_thread *t, const struct load_line *line)
{
	size_t k;

	for (k = t->nr; k-- > 0;) {
		const struct load *x = &t->loads[k];
		bool same = line->step == LOAD_GIVEN && load_is_name(x, line);

		if (x->sp && x->sp <= line->sp && !x->steps && !same)
			loads_give_up(t, k);
	}
}

/*
 * The outer loads up to the next with steps of its own are those that a loader searches for, or did in
 * vain.
 */
static void tell_outer(struct loading_thread *t, size_t i, uint64_t ns)
{
	size_t k;

	if (i)
		t->loads[i - 1].nested_ns += ns;
	for (k = i; k-- > 0 && !t->loads[k].steps;)
		t->loads[k].idle = true;
}

static void finish_load(struct loading_thread *t, size_t i, uint64_t now_ns,
			void (*event)(void *ctx, struct jvm_event *e), void *ctx)
{
	struct load *x = &t->loads[i];
	uint64_t ns = now_ns > x->begin_ns ? now_ns - x->begin_ns : 0;

	drop_within(t, i);
	if (x->asked)
		event(ctx, &(struct jvm_event){
			.kind = JVM_EVENT_CLASS_TIME, .time_ns = x->begin_ns, .thread = t->tid,
			.duration_ns = ns,
			.values = { ns - MIN(ns, x->nested_ns), UINT64_MAX, UINT64_MAX },
			.what = x->name, .what_len = MIN(x->full_len, (size_t)JVM_MAX_STRING),
			.cause = x->source, .cause_len = MIN(x->source_len, (size_t)JVM_MAX_STRING),
		});
	tell_outer(t, i, ns);
	loads_forget(t, i);
}

static void begin_step(struct loading_thread *t, size_t i, const struct load_line *line)
{
	if (i < t->nr) {
		drop_within(t, i);
		go_on(&t->loads[i], line);
	} else if (line->step != LOAD_DEFINES) {
		begin_load(t, line);
	}
}

static void set_loaded(struct load *x, const struct load_line *line)
{
	free(x->name);
	x->name = copy_text(line->name, line->full_len);
	x->full_len = line->full_len;
	free(x->source);
	x->source = copy_text(line->source, line->source_len);
	x->source_len = line->source_len;
	x->loaded_ns = line->time_ns;
}

void loads_take(struct loads *l, const struct load_line *line, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx)
{
	struct loading_thread *t = loading_thread_of(l, line->thread);
	struct load *x;
	size_t i;

	if (line->sp && !line->ends)
		drop_returned(t, line);
	i = find_load(t, line);
	x = &t->loads[i];
	if (line->step != LOAD_LOADED && !line->ends) {
		begin_step(t, i, line);
		return;
	}
	if (i == t->nr)
		return;
	if (line->step == LOAD_LOADED)
		set_loaded(x, line);
	else
		x->steps -= x->steps > 0;
	if (x->loaded_ns && !x->steps)
		finish_load(t, i, line->time_ns, event, ctx);
}

void loads_release(struct loads *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		while (l->threads[i].nr)
			loads_forget(&l->threads[i], l->threads[i].nr - 1);
	free(l->threads);
	*l = (struct loads){ .nr = 0 };
}
