// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/loads.h"
#include "jvm/proto.h"

/* More threads than load classes at a time, and more than any class has classes above it. */
enum { MAX_THREADS = 1024, MAX_DEPTH = 64 };

struct load {
	char *name;		/* with dots */
	size_t len;
	uint64_t begin_ns;
	uint64_t nested_ns;	/* of loads within this one */
	unsigned int steps;	/* that have begun and not ended */
	bool asked;		/* it began with LOAD_ASKS */
	bool idle;		/* another load has ended since its last step */
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

static void forget(struct loading_thread *t, size_t i)
{
	free(t->loads[i].name);
	free(t->loads[i].source);
	memmove(&t->loads[i], &t->loads[i + 1], (--t->nr - i) * sizeof(t->loads[0]));
}

static struct loading_thread *thread_of(struct loads *l, uint32_t tid)
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

static bool is_name(const struct load *x, const struct load_line *line)
{
	size_t i;

	if (x->len != line->name_len)
		return false;
	for (i = 0; i < x->len && x->name[i] == dotted(line->name[i]); i++)
		;
	return i == x->len;
}

/* The innermost of that name; t->nr: none. */
static size_t find(const struct loading_thread *t, const struct load_line *line)
{
	size_t i;

	for (i = t->nr; i-- > 0;)
		if (is_name(&t->loads[i], line))
			return i;
	return t->nr;
}

/* The outermost that came to nothing makes room, else the outermost. */
static void make_room(struct loading_thread *t)
{
	size_t i;

	for (i = 0; i < t->nr && t->loads[i].steps; i++)
		;
	forget(t, i < t->nr ? i : 0);
}

static void begin(struct loading_thread *t, const struct load_line *line)
{
	struct load *x;
	size_t i;

	if (t->nr == MAX_DEPTH)
		make_room(t);
	x = &t->loads[t->nr++];
	*x = (struct load){
		.name = copy_text(line->name, line->name_len), .len = line->name_len,
		.begin_ns = line->time_ns, .steps = 1, .asked = line->step == LOAD_ASKS,
	};
	for (i = 0; i < x->len; i++)
		x->name[i] = dotted(x->name[i]);
}

/*
 * One that other loads have ended since, and of which nothing goes on, was asked for in vain: this is another
 * attempt. One that the next loader in a row asks for again goes on.
 */
static void go_on(struct load *x, const struct load_line *line)
{
	if (line->step == LOAD_ASKS && x->idle && !x->steps) {
		x->begin_ns = line->time_ns;
		x->nested_ns = 0;
		x->asked = true;
	}
	x->idle = false;
	x->steps++;
}

/* i goes on, so those within it of which nothing does came to nothing. */
static void drop_within(struct loading_thread *t, size_t i)
{
	size_t k;

	for (k = t->nr; k-- > i + 1;) {
		if (t->loads[k].steps)
			continue;
		t->loads[k - 1].nested_ns += t->loads[k].nested_ns;
		forget(t, k);
	}
}

/* Within the next that has a step that goes on are those that a loader searches for, or did in vain. */
static void tell_outer(struct loading_thread *t, size_t i, uint64_t ns)
{
	size_t k;

	if (i)
		t->loads[i - 1].nested_ns += ns;
	for (k = i; k-- > 0 && !t->loads[k].steps;)
		t->loads[k].idle = true;
}

static void finish(struct loading_thread *t, size_t i, uint64_t now_ns,
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
			.what = x->name, .what_len = MIN(x->len, (size_t)JVM_MAX_STRING),
			.cause = x->source, .cause_len = MIN(x->source_len, (size_t)JVM_MAX_STRING),
		});
	tell_outer(t, i, ns);
	forget(t, i);
}

static void begin_step(struct loading_thread *t, size_t i, const struct load_line *line)
{
	if (i < t->nr) {
		drop_within(t, i);
		go_on(&t->loads[i], line);
	} else if (line->step != LOAD_DEFINES) {
		begin(t, line);
	}
}

void loads_take(struct loads *l, const struct load_line *line, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx)
{
	struct loading_thread *t = thread_of(l, line->thread);
	size_t i = find(t, line);
	struct load *x = &t->loads[i];

	if (line->step != LOAD_LOADED && !line->ends) {
		begin_step(t, i, line);
		return;
	}
	if (i == t->nr)
		return;
	if (line->step == LOAD_LOADED) {
		free(x->source);
		x->source = copy_text(line->source, line->source_len);
		x->source_len = line->source_len;
		x->loaded_ns = line->time_ns;
	} else {
		x->steps -= x->steps > 0;
	}
	if (x->loaded_ns && !x->steps)
		finish(t, i, line->time_ns, event, ctx);
}

void loads_release(struct loads *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		while (l->threads[i].nr)
			forget(&l->threads[i], l->threads[i].nr - 1);
	free(l->threads);
	*l = (struct loads){ .nr = 0 };
}
