// SPDX-License-Identifier: GPL-2.0-or-later
/* slowcalls.c - drops the events of calls that were fast, in an event trace of slow ones (slowcalls.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "collect/calls/slowcalls.h"

enum {
	MAX_TREE_EVENTS = 1 << 20,	/* kept back of a tree, */
	MAX_WORDS = 1 << 25,		/* and of all together: 256 MiB */
	SPARE_WORDS = 1 << 13,		/* that a tree may go on having */
	MAX_CALLS = 1 << 16,		/* of rules, open in one another */
};

/* The word with kind and consumer; KEPT: to be passed on in any case. */
enum { KIND = 32, WORDS_BEFORE = 2 };
#define KEPT ((uint64_t)1 << 63)

int slow_rules_add(struct slow_rules *s, const char *text, struct err *e)
{
	const char *sign = strrchr(text, '>');
	struct slow_rule *r = &s->rules[s->nr];
	char *pattern;
	int ret;

	if (!sign || sign == text)
		return err_set(e, EINVAL, "--trace '%s': give a method and a time, as in com.example.App.serve>10ms", text);
	if (s->nr == SLOW_MAX_RULES)
		return err_set(e, EINVAL, "--trace: more than %d", SLOW_MAX_RULES);
	*r = (struct slow_rule){ .text = text };
	pattern = xstrndup(text, sign - text);
	ret = strchr("+-", *pattern) ? err_set(e, EINVAL, "a method, not a rule of --callflow") :
	      callrules_list(&r->pattern, pattern, e);
	if (!ret)
		ret = opt_parse_time(sign + 1, &r->least_ns, e);
	free(pattern);
	s->nr++;
	if (ret)
		return err_wrap(e, "--trace '%s'", text);
	callrules_end(&r->pattern);
	return 0;
}

void slow_rules_release(struct slow_rules *s)
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		callrules_release(&s->rules[i].pattern);
	s->nr = 0;
}

static uint32_t stricter(const struct slow_rules *s, uint32_t best, uint32_t i)
{
	return !best || s->rules[i].least_ns < s->rules[best - 1].least_ns ? i + 1 : best;
}

uint32_t slow_rules_method(const struct slow_rules *s, const struct callflow_method *m)
{
	uint32_t i, best = 0;

	for (i = 0; i < s->nr; i++)
		if (callflow_wants_method((const void *)s->rules[i].pattern.b.data, m))
			best = stricter(s, best, i);
	return best;
}

uint32_t slow_rules_function(const struct slow_rules *s, const char *module, const char *name)
{
	uint32_t i, best = 0;

	for (i = 0; i < s->nr; i++)
		if (callflow_wants_function((const void *)s->rules[i].pattern.b.data, module, strlen(module),
					    name, strlen(name)))
			best = stricter(s, best, i);
	return best;
}

/* --- what is kept back --- */

static size_t event_words(const struct slow_sink *sink)
{
	return WORDS_BEFORE + sink->nr_metrics;
}

static void drop_words(struct slow_rules *s, struct slow_tree *t)
{
	s->nr_words -= t->nr_words;
	t->nr_words = 0;
	if (t->alloc_words <= SPARE_WORDS)
		return;
	free(t->words);
	t->words = NULL;
	t->alloc_words = 0;
}

static void slowcalls_put(struct slow_rules *s, struct slow_tree *t, const struct call_event *e,
			  const struct slow_sink *sink)
{
	size_t nr = event_words(sink);
	uint64_t *w;

	if (t->passing) {
		sink->pass(sink->ctx, e);
		return;
	}
	if (t->nr_words + nr > t->alloc_words) {
		t->alloc_words = MAX((size_t)1024, 2 * t->alloc_words);
		t->words = xrealloc(t->words, t->alloc_words * sizeof(*t->words));
	}
	w = t->words + t->nr_words;
	w[0] = e->time_ns;
	w[1] = (uint64_t)e->kind << KIND | e->consumer;
	memcpy(w + WORDS_BEFORE, e->charged, sink->nr_metrics * sizeof(*w));
	t->nr_words += nr;
	s->nr_words += nr;
}

/* Passes on what is kept back, all or what is marked. Only then is what was cut missing. */
static void pass_words(struct slow_rules *s, struct slow_tree *t, const struct slow_sink *sink, bool all)
{
	bool any = false;
	size_t at;

	for (at = 0; at < t->nr_words; at += event_words(sink)) {
		const uint64_t *w = t->words + at;
		struct call_event e = {
			.time_ns = w[0], .kind = (w[1] & ~KEPT) >> KIND, .consumer = (uint32_t)w[1],
		};

		memcpy(e.charged, w + WORDS_BEFORE, sink->nr_metrics * sizeof(*w));
		if (!all && !(w[1] & KEPT))
			continue;
		any = true;
		sink->pass(sink->ctx, &e);
	}
	s->nr_cut += any ? t->nr_cut : 0;
	t->nr_cut = 0;
	drop_words(s, t);
}

static bool slowcalls_has_room(const struct slow_rules *s, const struct slow_tree *t,
			       const struct slow_sink *sink)
{
	/* each open call will have its return, too */
	return t->passing || (t->nr_words / event_words(sink) + t->kept < MAX_TREE_EVENTS &&
			      s->nr_words < MAX_WORDS);
}

/* --- calls of rules --- */

static bool slowcalls_is_known(const struct slow_call *c)
{
	return c->rule && c->rule != SLOW_UNKNOWN;
}

static void ask_again(struct slow_call *c, const struct slow_sink *sink)
{
	if (c->rule == SLOW_UNKNOWN)
		c->rule = sink->rule(sink->ctx, c->consumer);
}

/* Drop outermost calls that turn out to match no rule: the next one takes the place. */
static void settle_outermost(struct slow_rules *s, struct slow_tree *t, const struct slow_sink *sink)
{
	while (t->nr_calls && !t->passing) {
		size_t i, at;
		uint32_t depth;

		ask_again(&t->calls[0], sink);
		if (t->calls[0].rule)
			return;
		memmove(t->calls, t->calls + 1, --t->nr_calls * sizeof(*t->calls));
		if (!t->nr_calls || t->calls[0].at == SIZE_MAX) {
			t->nr_calls = 0;
			t->depth = t->kept = 0;
			drop_words(s, t);
			return;
		}
		at = t->calls[0].at;
		depth = t->calls[0].depth - 1;
		for (i = 0; i < t->nr_calls; i++) {
			t->calls[i].depth -= depth;
			t->calls[i].at -= t->calls[i].at == SIZE_MAX ? 0 : at;
		}
		t->depth -= depth;
		t->kept -= depth;
		t->nr_words -= at;
		s->nr_words -= at;
		memmove(t->words, t->words + at, t->nr_words * sizeof(*t->words));
	}
}

/*
 * Return whether a call around c has a rule that requires no more: if c is slow, so is that one, and keeping
 * it suffices for both.
 */
static bool is_within_stricter(const struct slow_rules *s, const struct slow_tree *t,
			       const struct slow_call *c)
{
	const struct slow_call *x;

	for (x = t->calls; x < c; x++)
		if (slowcalls_is_known(x) && s->rules[x->rule - 1].least_ns <= s->rules[c->rule - 1].least_ns)
			return true;
	return false;
}

static void end_call(struct slow_rules *s, struct slow_tree *t, uint64_t now_ns, const struct slow_sink *sink)
{
	struct slow_call *c = &t->calls[--t->nr_calls];
	struct slow_rule *r;
	size_t at;

	ask_again(c, sink);
	if (!slowcalls_is_known(c))
		return;
	r = &s->rules[c->rule - 1];
	r->nr_calls++;
	if (now_ns - c->start_ns < r->least_ns)
		return;
	r->nr_slow++;
	if (t->passing || c->at == SIZE_MAX || is_within_stricter(s, t, c))
		return;
	for (at = c->at; at < t->nr_words; at += event_words(sink))
		t->words[at + 1] |= KEPT;
}

static void pass_if_slow(struct slow_rules *s, struct slow_tree *t, uint64_t now_ns,
			 const struct slow_sink *sink)
{
	const struct slow_call *c = t->calls;
	size_t i;

	if (!t->nr_calls || t->passing || !slowcalls_is_known(c) ||
	    now_ns - c->start_ns < s->rules[c->rule - 1].least_ns)
		return;
	pass_words(s, t, sink, true);
	t->passing = true;
	for (i = 0; i < t->nr_calls; i++)
		t->calls[i].at = SIZE_MAX;
}

/* --- events --- */

static void take_entry(struct slow_rules *s, struct slow_tree *t, const struct call_event *e,
		       const struct slow_sink *sink)
{
	uint32_t rule = t->nr_calls < MAX_CALLS ? sink->rule(sink->ctx, e->consumer) : 0;
	bool keeps;

	if (!t->nr_calls && !rule)
		return;
	keeps = t->kept == t->depth && slowcalls_has_room(s, t, sink);
	t->depth++;
	if (rule) {
		*VEC_ADD(t->calls, t->nr_calls, t->alloc_calls) = (struct slow_call){
			.start_ns = e->time_ns, .consumer = e->consumer, .rule = rule, .depth = t->depth,
			.at = keeps && !t->passing ? t->nr_words : SIZE_MAX,
		};
	}
	t->kept += keeps;
	t->nr_cut += !keeps;
	if (keeps)
		slowcalls_put(s, t, e, sink);
}

static void take_exit(struct slow_rules *s, struct slow_tree *t, const struct call_event *e,
		      const struct slow_sink *sink)
{
	bool unwound = e->kind == CALL_UNWOUND;
	uint32_t nr = MIN(unwound ? e->consumer : 1, t->depth);
	struct call_event x = *e;

	t->depth -= nr;
	if (t->kept > t->depth || (!nr && t->kept == t->depth)) {
		x.consumer = unwound ? t->kept - t->depth : e->consumer;
		t->kept = t->depth;
		slowcalls_put(s, t, &x, sink);
	} else {
		t->nr_cut++;
	}
	while (t->nr_calls && t->calls[t->nr_calls - 1].depth > t->depth)
		end_call(s, t, e->time_ns, sink);
	if (t->nr_calls)
		return;
	if (t->passing)
		s->nr_cut += t->nr_cut;
	else
		pass_words(s, t, sink, false);
	t->passing = false;
	t->nr_cut = 0;
	t->depth = t->kept = 0;
}

void slow_take(struct slow_rules *s, struct slow_tree *t, const struct call_event *e,
	       const struct slow_sink *sink)
{
	settle_outermost(s, t, sink);
	pass_if_slow(s, t, e->time_ns, sink);
	if (e->kind == CALL_ENTERED)
		take_entry(s, t, e, sink);
	else if (t->nr_calls)
		take_exit(s, t, e, sink);
}

void slow_tree_release(struct slow_rules *s, struct slow_tree *t)
{
	drop_words(s, t);
	free(t->words);
	free(t->calls);
	*t = (struct slow_tree){ .depth = 0 };
}
