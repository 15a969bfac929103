// SPDX-License-Identifier: GPL-2.0-or-later
/* compiles.c - measures compilations by the VM's log (compiles.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/compiles.h"
#include "jvm/proto.h"

/* A JVM has a few compiler threads; a log that has more is not worth the room. */
enum { MAX_COMPILES = 256 };

struct compile {
	struct jvm_event e;
	char *what;
};

static struct compile *of_thread(struct compiles *c, uint32_t thread)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->list[i].e.thread == thread)
			return &c->list[i];
	return NULL;
}

static void compile_hand_over(struct compiles *c, struct compile *x, compiles_fn *event, void *ctx)
{
	struct compile last = *x;

	*x = c->list[--c->nr];
	event(ctx, &last.e);
	free(last.what);
}

/* Give up a compilation; the JVM does not log why. */
static void compile_give_up(struct compiles *c, struct compile *x, compiles_fn *event, void *ctx)
{
	static const char why[] = "no code installed";
	struct jvm_event nothing = x->e;

	nothing.kind = JVM_EVENT_NOT_COMPILED;
	nothing.cause = why;
	nothing.cause_len = sizeof(why) - 1;
	if (c->has_installed)
		event(ctx, &nothing);
	compile_hand_over(c, x, event, ctx);
}

void compiles_begin(struct compiles *c, const struct jvm_event *e, compiles_fn *event, void *ctx)
{
	struct compile *before = of_thread(c, e->thread), *x;

	if (before)
		compile_give_up(c, before, event, ctx);
	if (c->nr >= MAX_COMPILES)
		compile_hand_over(c, &c->list[0], event, ctx);
	x = VEC_ADD(c->list, c->nr, c->alloc);
	*x = (struct compile){ .e = *e, .what = xmalloc(e->what_len + 1) };
	memcpy(x->what, e->what, e->what_len);
	x->e.what = x->what;
}

/* "java.lang.String::coder" and "java.lang.String.coder()B"; a name that was cut is like no other. */
static bool is_compile_name(const struct jvm_event *e, const char *name, size_t len)
{
	const char *colons = memmem(e->what, e->what_len, "::", 2);
	size_t cls, method;

	if (!colons)
		return false;
	cls = colons - e->what;
	method = e->what_len - cls - 2;
	return len > cls + 1 + method && !memcmp(name, e->what, cls) && name[cls] == '.' &&
	       !memcmp(name + cls + 1, colons + 2, method) && name[cls + 1 + method] == '(';
}

/* Return whether it is the installed code's; without tiers, the first line has none. */
static bool is_installed(const struct jvm_event *e, const struct installed *i)
{
	bool osr = e->cause_len > 0;

	return i->time_ns >= e->time_ns && (e->values[0] == UINT64_MAX || e->values[0] == i->tier) &&
	       osr == i->osr && is_compile_name(e, i->name, i->name_len);
}

void compiles_installed(struct compiles *c, const struct installed *i, compiles_fn *event, void *ctx)
{
	struct compile *x = of_thread(c, i->thread);

	c->has_installed = true;
	if (!x || !is_installed(&x->e, i))
		return;
	x->e.duration_ns = i->time_ns - x->e.time_ns;
	compile_hand_over(c, x, event, ctx);
}

void compiles_given_up(struct compiles *c, const struct jvm_event *e, compiles_fn *event, void *ctx)
{
	struct compile *x = of_thread(c, e->thread);

	if (!x || x->e.values[2] != e->values[2] || e->time_ns < x->e.time_ns)
		return;
	x->e.duration_ns = e->time_ns - x->e.time_ns;
	compile_hand_over(c, x, event, ctx);
}

void compiles_flush(struct compiles *c, compiles_fn *event, void *ctx)
{
	while (c->nr)
		compile_hand_over(c, &c->list[c->nr - 1], event, ctx);
}

void compiles_release(struct compiles *c)
{
	while (c->nr)
		free(c->list[--c->nr].what);
	free(c->list);
	*c = (struct compiles){ .nr = 0 };
}
