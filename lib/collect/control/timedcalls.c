// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timedcalls.c - looks at calls that are open, and how long the longest of those took that have ended.
 *
 * The memory is the process's: it may contain anything. Values are copied once, then checked; offsets come
 * from our own layout.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/mem.h"
#include "callflow/filter.h"
#include "collect/control/timedcalls.h"
#include "collect/engine/recording.h"

enum {
	LOOKS = 10,			/* in the time of the shortest limit, */
	LEAST_NS = 10000000, MOST_NS = 100000000,	/* within these, */
	SHARE = 50,			/* and for one part of so many of the time at most */
	MAX_DEPTH = 8192, MAX_THREADS = 1 << 14, POOL_BYTES = 64 << 20,
};

struct timedcalls_jvm {
	struct timedcalls_jvm *next;
	struct jvm *jvm;
	uint32_t proc;			/* in the trace */
	struct callflow_area *area;	/* mapped */
	struct callflow_area own;	/* its head as we made it */
	struct map methods;		/* number of a method -> index of names */
	struct name {
		char *text;		/* of all three */
		struct callflow_method m;
	} *names;
	size_t nr_names, alloc_names;
	/* node and condition -> low bits of the time at which the call began that was reported last */
	struct map told;
};

struct timedcalls {
	struct callrules rules;		/* of all conditions */
	struct callflow_layout layout;
	struct timedcalls_jvm *jvms;
	bool *matched;			/* [condition]: there was such a method */
	uint64_t nr_jvms, nr_lost;
	uint64_t every_ns, next_ns;
	uint64_t start_ns, start_tsc;	/* the same moment */
};

/* an open call, or the longest ended one: the one to report */
struct call {
	struct timedcalls_jvm *j;
	uint32_t ref, slot, method;
	uint64_t since_tsc, took_ns;
	bool open;
};

bool timedcalls_wanted(const struct trigger_opts *o)
{
	size_t i;

	for (i = 0; i < o->nr_conditions; i++)
		if (o->conditions[i].kind == CONDITION_METHOD)
			return true;
	return false;
}

/* ---- a call is found ---- */

static const struct callflow_thread *timedcalls_thread(const struct timedcalls_jvm *j, uint32_t slot)
{
	return (const struct callflow_thread *)((const char *)j->area + j->own.threads_off) + slot;
}

static void put_callflow_text(struct buf *b, const struct callflow_text *t)
{
	size_t i;

	for (i = 0; i < t->len; i++)
		buf_u8(b, t->s[i] == '/' ? '.' : t->s[i]);
}

/* "com.example.App.serve has run for 501.3 ms in thread 'worker-3'" */
static void put_cause(const struct call *x, const struct name *n, struct buf *b)
{
	char name[CALLFLOW_NAME];

	put_callflow_text(b, &n->m.class_name);
	buf_u8(b, '.');
	put_callflow_text(b, &n->m.name);
	buf_fmt(b, x->open ? " has run for %.1f ms" : " took %.1f ms", x->took_ns / 1e6);
	memcpy(name, timedcalls_thread(x->j, x->slot)->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (*name)
		buf_fmt(b, " in thread '%s'", name);
}

/* Return whether that call was reported before, at its end or while it goes on: once is enough. */
static bool is_told(const struct call *x, size_t when)
{
	uint32_t *at = map_put(&x->j->told, hash_pair(x->ref, when)), since = (uint32_t)x->since_tsc;
	bool told;

	since -= since == MAP_NONE;
	told = *at == since;
	*at = since;
	return told;
}

static void timedcalls_tell(struct collect *c, const struct call *x)
{
	const struct trigger_opts *o = &c->o->trigger;
	const struct name *n = &x->j->names[x->method];
	struct buf cause = BUF_INIT;
	size_t i;

	for (i = 0; i < o->nr_conditions; i++) {
		const struct condition *w = &o->conditions[i];

		if (w->kind != CONDITION_METHOD || x->took_ns <= w->limit ||
		    !callflow_wants_method((const void *)w->methods.b.data, &n->m) || is_told(x, i))
			continue;
		buf_reset(&cause);
		put_cause(x, n, &cause);
		triggers_call(c, i, x->j->proc, cause.data);
	}
	buf_release(&cause);
}

/* ---- looking ---- */

static uint64_t timedcalls_ns(const struct timedcalls *t, uint64_t cycles)
{
	uint64_t ns = clock_mono_ns() - t->start_ns, tsc = arch_cycle_counter() - t->start_tsc;

	return tsc ? (uint64_t)((double)cycles * ns / tsc) : 0;
}

/* Check a node; return false if there is none, and none after it. */
static bool look_at_node(struct collect *c, struct timedcalls_jvm *j, uint32_t ref, uint32_t slot)
{
	struct callflow_node *n = (void *)((char *)j->area + j->own.pool_off + (uint64_t)ref * 8);
	uint32_t consumer = load_acquire(&n->consumer), name;
	uint64_t longest = load_acquire(&n->base[CALLFLOW_LONGEST]), now;
	struct call x = { j, ref, slot, 0, 0, 0, false };

	if ((consumer & CALLFLOW_KIND) != CALLFLOW_METHOD || !consumer)
		return consumer;
	/* what is not named yet will be: until then it stays */
	name = map_get(&j->methods, consumer);
	if (name == MAP_NONE)
		return true;
	x.method = name;
	if (longest) {
		longest = __atomic_exchange_n(&n->base[CALLFLOW_LONGEST], 0, __ATOMIC_ACQ_REL);
		x.since_tsc = load_relaxed(&n->base[CALLFLOW_LONGEST_SINCE]);
		x.took_ns = timedcalls_ns(c->timed, longest);
		timedcalls_tell(c, &x);
	}
	x.since_tsc = load_relaxed(&n->base[CALLFLOW_SINCE]);
	now = arch_cycle_counter();
	if (!x.since_tsc || now <= x.since_tsc ||
	    load_acquire(&timedcalls_thread(j, slot)->state) != CALLFLOW_LIVE)
		return true;
	x.open = true;
	x.took_ns = timedcalls_ns(c->timed, now - x.since_tsc);
	timedcalls_tell(c, &x);
	return true;
}

/* Check a page; return false if it is not in use. */
static bool look_at_page(struct collect *c, struct timedcalls_jvm *j, uint32_t page)
{
	const uint32_t *owners = (const void *)((const char *)j->area + j->own.owners_off);
	const uint32_t words = CALLFLOW_PAGE / 8, node = j->own.node_bytes / 8;
	uint32_t slot = load_relaxed(&owners[page]), i;

	for (i = 0; slot && slot <= j->own.nr_threads && i < words / node; i++)
		if (!look_at_node(c, j, page * words + i * node, slot - 1))
			break;
	return slot;
}

/* Check all pages of a JVM: they are used in order, reserved ones from the end. */
static void look_at_jvm(struct collect *c, struct timedcalls_jvm *j)
{
	uint32_t page;

	for (page = 1; page < j->own.nr_pages && look_at_page(c, j, page); page++)
		;
	for (page = j->own.nr_pages - 1; page && look_at_page(c, j, page); page--)
		;
}

static void timedcalls_turn(struct collect *c, uint64_t now_ns)
{
	struct timedcalls *t = c->timed;
	struct timedcalls_jvm *j;

	if (!t || !c->begun_ns || now_ns < t->next_ns)
		return;
	for (j = t->jvms; j; j = j->next)
		look_at_jvm(c, j);
	t->next_ns = now_ns + MAX(t->every_ns, SHARE * (clock_mono_ns() - now_ns));
}

/* ---- JVMs ---- */

static struct timedcalls_jvm *timedcalls_find(const struct timedcalls *t, const struct jvm *jvm)
{
	struct timedcalls_jvm *j;

	for (j = t->jvms; j && j->jvm != jvm; j = j->next)
		;
	return j;
}

int timedcalls_new(struct collect *c, struct jvm *jvm, struct proc *p, uint64_t *bytes)
{
	struct timedcalls *t = c->timed;
	struct callflow_area *area;
	int fd = callflow_make_area(&t->layout, &area, bytes);
	struct timedcalls_jvm *j;

	if (fd < 0)
		return -1;
	j = xcalloc(1, sizeof(*j));
	*j = (struct timedcalls_jvm){
		.next = t->jvms, .jvm = jvm, .proc = p->id, .area = area, .own = *area,
	};
	t->jvms = j;
	t->nr_jvms++;
	return fd;
}

static struct callflow_text copy_callflow_text(struct buf *b, const char *s, size_t len)
{
	struct callflow_text t = { b->data + b->len, len };

	buf_add(b, s, len);
	return t;
}

void timedcalls_method(struct collect *c, struct jvm *jvm, const struct jvm_method *m)
{
	const struct trigger_opts *o = &c->o->trigger;
	struct timedcalls *t = c->timed;
	struct timedcalls_jvm *j = t ? timedcalls_find(t, jvm) : NULL;
	const struct callflow_method x = {
		{ m->class_name, m->class_len }, { m->name, m->name_len }, { m->sig, m->sig_len },
	};
	struct buf b = BUF_INIT;
	bool wanted = false;
	size_t i;

	for (i = 0; j && i < o->nr_conditions; i++) {
		if (o->conditions[i].kind != CONDITION_METHOD ||
		    !callflow_wants_method((const void *)o->conditions[i].methods.b.data, &x))
			continue;
		t->matched[i] = wanted = true;
	}
	if (!wanted)
		return;
	buf_room(&b, m->class_len + m->name_len + m->sig_len + 1);
	VEC_GROW(j->names, j->nr_names, j->alloc_names);
	*map_put(&j->methods, m->method) = j->nr_names;
	j->names[j->nr_names].m = (struct callflow_method){
		copy_callflow_text(&b, m->class_name, m->class_len),
		copy_callflow_text(&b, m->name, m->name_len), copy_callflow_text(&b, m->sig, m->sig_len),
	};
	j->names[j->nr_names++].text = b.data;
}

static void free_jvm(struct timedcalls *t, struct timedcalls_jvm *j)
{
	size_t i;

	t->nr_lost += load_relaxed(&j->area->lost_calls);
	munmap(j->area, j->own.bytes);
	for (i = 0; i < j->nr_names; i++)
		free(j->names[i].text);
	free(j->names);
	map_release(&j->methods);
	map_release(&j->told);
	free(j);
}

void timedcalls_gone(struct collect *c, struct jvm *jvm)
{
	struct timedcalls_jvm **at, *j;

	for (at = &c->timed->jvms; (j = *at) && j->jvm != jvm; at = &j->next)
		;
	if (!j)
		return;
	look_at_jvm(c, j);
	*at = j->next;
	free_jvm(c->timed, j);
}

/* ---- the recording ---- */

static void choose_layout(struct timedcalls *t)
{
	t->layout = (struct callflow_layout){
		.flags = CALLFLOW_TREES | CALLFLOW_TIMED, .max_depth = MAX_DEPTH, .nr_threads = MAX_THREADS,
		.nr_metrics = CALLFLOW_NR_TIMED, .nr_functions = 1, .pool_bytes = POOL_BYTES,
		.rules = t->rules.b.data, .rules_bytes = t->rules.b.len,
	};
}

void timedcalls_open(struct collect *c)
{
	const struct trigger_opts *o = &c->o->trigger;
	uint64_t least_ns = UINT64_MAX;
	struct timedcalls *t;
	struct err e;
	size_t i;

	if (!timedcalls_wanted(o))
		return;
	c->timed = t = xcalloc(1, sizeof(*t));
	t->matched = xcalloc(o->nr_conditions, sizeof(*t->matched));
	for (i = 0; i < o->nr_conditions; i++) {
		if (o->conditions[i].kind != CONDITION_METHOD)
			continue;
		least_ns = MIN(least_ns, o->conditions[i].limit);
		callrules_list(&t->rules, o->conditions[i].method, &e);	/* it was parsed before */
	}
	callrules_end(&t->rules);
	choose_layout(t);
	t->every_ns = MIN(MAX(least_ns / LOOKS, (uint64_t)LEAST_NS), (uint64_t)MOST_NS);
	t->start_ns = clock_mono_ns();
	t->start_tsc = arch_cycle_counter();
}

/* Say also which conditions are about no method that there was. */
static void timedcalls_end_file(struct collect *c, uint64_t until_ns, bool last)
{
	const struct trigger_opts *o = &c->o->trigger;
	struct timedcalls *t = c->timed;
	size_t i;

	if (!t || !last)
		return;
	while (t->jvms)
		timedcalls_gone(c, t->jvms->jvm);
	for (i = 0; i < o->nr_conditions; i++)
		if (o->conditions[i].kind == CONDITION_METHOD && !t->matched[i])
			refused_text(&c->refused, "%s: %s", o->conditions[i].text, t->nr_jvms ?
				     "no class that was loaded has such a method" : "there was no JVM");
	if (t->nr_lost)
		refused_text(&c->refused, "how long %" PRIu64 " calls took that --when asks for: too many threads at once",
			     t->nr_lost);
}

static void timedcalls_close_part(struct collect *c)
{
	struct timedcalls *t = c->timed;

	if (!t)
		return;
	while (t->jvms) {
		struct timedcalls_jvm *j = t->jvms;

		t->jvms = j->next;
		free_jvm(t, j);
	}
	free(t->matched);
	callrules_release(&t->rules);
	free(t);
}

const struct part timedcalls_part = {
	.turn = timedcalls_turn, .end_file = timedcalls_end_file, .close = timedcalls_close_part,
};
