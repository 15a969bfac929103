// SPDX-License-Identifier: GPL-2.0-or-later
/* u-slowcalls.c - which calls of an event trace are kept, beside a look at all of it afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/calls/slowcalls.h"
#include "unit.h"

enum { NR_CONSUMERS = 6, MAX_EVENTS = 400, UNTIL_KNOWN = 40 };

struct stream {
	struct call_event in[MAX_EVENTS], out[MAX_EVENTS];
	size_t nr_in, nr_out, at;
	const uint32_t *rule_of;	/* [consumer] */
	bool late;			/* names are known some events later */
};

static uint32_t rule(void *ctx, uint32_t consumer)
{
	const struct stream *s = ctx;

	return s->late && s->at % UNTIL_KNOWN < UNTIL_KNOWN / 4 ? SLOW_UNKNOWN : s->rule_of[consumer];
}

static void pass(void *ctx, const struct call_event *e)
{
	struct stream *s = ctx;

	s->out[s->nr_out++] = *e;
}

/* Calls and returns of one thread; some are left together. */
static void random_calls(struct stream *s)
{
	uint32_t open[MAX_EVENTS], nr = 0;
	uint64_t now = 1000;

	for (s->nr_in = 0; s->nr_in < MAX_EVENTS; s->nr_in++) {
		struct call_event *e = &s->in[s->nr_in];

		now += rand() % 10;
		*e = (struct call_event){ .time_ns = now, .charged = { s->nr_in, now } };
		if (!nr || (nr < 30 && rand() % 9 < 4)) {
			e->kind = CALL_ENTERED;
			e->consumer = open[nr++] = rand() % NR_CONSUMERS;
		} else if (rand() % 12 == 0) {
			e->kind = CALL_UNWOUND;
			e->consumer = rand() % (nr + 1);
			nr -= e->consumer;
		} else {
			e->kind = rand() % 8 ? CALL_LEFT : CALL_LEFT_THROWING;
			e->consumer = open[--nr];
		}
	}
}

/* What is in a slow call that ended: marked by walking from each entry to its return. */
static void mark_slow(const struct stream *s, const struct slow_rules *r, bool *kept)
{
	size_t i, k;

	memset(kept, 0, MAX_EVENTS * sizeof(*kept));
	for (i = 0; i < s->nr_in; i++) {
		uint32_t n = s->in[i].kind == CALL_ENTERED ? s->rule_of[s->in[i].consumer] : 0, depth = 0;

		for (k = i; n && k < s->nr_in; k++) {
			const struct call_event *e = &s->in[k];

			if (e->kind == CALL_ENTERED)
				depth++;
			else
				depth -= MIN(e->kind == CALL_UNWOUND ? e->consumer : 1, depth);
			if (e->time_ns - s->in[i].time_ns >= r->rules[n - 1].least_ns &&
			    (!depth || k + 1 == s->nr_in))
				memset(kept + i, 1, (k - i + 1) * sizeof(*kept));
			if (!depth)
				break;
		}
	}
}

static void check_stream(struct stream *s, struct slow_rules *r)
{
	const struct slow_sink sink = { s, 2, rule, pass };
	struct slow_tree t = { .depth = 0 };
	bool kept[MAX_EVENTS];
	size_t i, at = 0;

	random_calls(s);
	mark_slow(s, r, kept);
	s->nr_out = 0;
	for (s->at = 0; s->at < s->nr_in; s->at++)
		slow_take(r, &t, &s->in[s->at], &sink);
	for (i = 0; i < s->nr_in; i++) {
		const struct call_event *e = &s->in[i], *x = &s->out[at];

		/* An open call in one that is open, too, may be missing: it waits for that one's end. */
		if (at == s->nr_out && t.nr_calls)
			break;
		if (!kept[i])
			continue;
		CHECK(at < s->nr_out);
		CHECK_U64(x->time_ns, e->time_ns);
		CHECK_U64(x->kind, e->kind);
		CHECK_U64(x->charged[0], e->charged[0]);
		CHECK_U64(x->charged[1], e->charged[1]);
		if (e->kind != CALL_UNWOUND)
			CHECK_U64(x->consumer, e->consumer);
		else
			CHECK(x->consumer <= e->consumer);
		at++;
	}
	CHECK_U64(at, s->nr_out);
	slow_tree_release(r, &t);
	CHECK_U64(r->nr_words, 0);
	CHECK_U64(r->nr_cut, 0);
}

TEST(slowcalls_keeps_what_a_look_at_all_of_it_would_keep)
{
	static const uint32_t rules[][NR_CONSUMERS] = {
		{ 1, 0, 0, 0, 0, 0 }, { 0, 1, 2, 3, 0, 0 }, { 3, 0, 0, 1, 0, 0 }, { 1, 1, 2, 2, 3, 3 },
		{ 0, 0, 0, 0, 0, 0 },
	};
	struct stream *s = xcalloc(1, sizeof(*s));
	struct slow_rules r = { .nr = 0 };
	struct err e;
	int i;

	CHECK(!slow_rules_add(&r, "a>20ns", &e));
	CHECK(!slow_rules_add(&r, "b>150ns", &e));
	CHECK(!slow_rules_add(&r, "c>600ns", &e));
	srand(1);
	for (i = 0; i < 2000; i++) {
		s->rule_of = rules[i % 5];
		check_stream(s, &r);
	}
	slow_rules_release(&r);
	free(s);
}

TEST(slowcalls_waits_for_names)
{
	static const uint32_t none[NR_CONSUMERS], first[NR_CONSUMERS] = { 1 };
	struct stream *s = xcalloc(1, sizeof(*s));
	const struct slow_sink sink = { s, 0, rule, pass };
	struct slow_tree t = { .depth = 0 };
	struct slow_rules r = { .nr = 0 };
	struct err e;
	uint64_t i;

	CHECK(!slow_rules_add(&r, "a>20ns", &e));
	/* An unknown one around, which turns out to be of no rule, and calls in it that are. */
	s->late = true;
	s->rule_of = none;
	slow_take(&r, &t, &(struct call_event){ .kind = CALL_ENTERED, .consumer = 5 }, &sink);
	CHECK_U64(t.nr_calls, 1);
	s->late = false;
	s->rule_of = first;
	for (i = 1; i <= 3; i++) {
		slow_take(&r, &t, &(struct call_event){ .time_ns = 100 * i, .kind = CALL_ENTERED }, &sink);
		slow_take(&r, &t, &(struct call_event){ .time_ns = 100 * i + 15 * i, .kind = CALL_LEFT },
			  &sink);
	}
	slow_take(&r, &t, &(struct call_event){ .time_ns = 1000, .kind = CALL_LEFT, .consumer = 5 }, &sink);
	CHECK_U64(s->nr_out, 4);
	CHECK_U64(s->out[0].time_ns, 200);
	CHECK_U64(s->out[3].time_ns, 345);
	CHECK_U64(r.rules[0].nr_calls, 3);
	CHECK_U64(r.rules[0].nr_slow, 2);
	slow_tree_release(&r, &t);
	slow_rules_release(&r);
	free(s);
}

static uint32_t rule_of_first(void *ctx, uint32_t consumer)
{
	(void)ctx;
	return !consumer;
}

static void count(void *ctx, const struct call_event *e)
{
	(void)e;
	++*(uint64_t *)ctx;
}

TEST(slowcalls_cuts_what_is_too_much_and_stays_whole)
{
	struct slow_tree t = { .depth = 0 };
	struct slow_rules r = { .nr = 0 };
	uint64_t nr = 0;
	const struct slow_sink sink = { &nr, 0, rule_of_first, count };
	struct err e;
	uint32_t i, k;

	CHECK(!slow_rules_add(&r, "a>1s", &e));
	for (k = 0; k < 2; k++) {
		slow_take(&r, &t, &(struct call_event){ .kind = CALL_ENTERED }, &sink);
		for (i = 0; i < 3u << 20; i++)
			slow_take(&r, &t, &(struct call_event){ .time_ns = i, .consumer = 1,
				  .kind = i & 1 ? CALL_LEFT : CALL_ENTERED }, &sink);
		CHECK(t.nr_words <= 2u << 20);
		slow_take(&r, &t, &(struct call_event){ .time_ns = k ? 2000000000 : 5 << 20,
			  .kind = CALL_LEFT }, &sink);
		CHECK_U64(r.nr_words, 0);
		CHECK(t.alloc_words < 1 << 20);
		/* of a call that was quick nothing is missing */
		CHECK_U64(nr, k ? (3 << 20) + 2 - r.nr_cut : 0);
		CHECK(k ? r.nr_cut > 1 << 20 : !r.nr_cut);
	}
	slow_tree_release(&r, &t);
	slow_rules_release(&r);
}

TEST(slowcalls_rules_are_checked)
{
	static const char *const wrong[] = { "", "a", ">1ms", "a>", "a>b", "-a>1ms", "a=b>1ms" };
	struct slow_rules r = { .nr = 0 };
	struct callflow_method m = { { "com/x/Y", 7 }, { "z", 1 }, { "()V", 3 } };
	struct err e;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK(slow_rules_add(&r, wrong[i], &e) == -EINVAL);
		slow_rules_release(&r);
	}
	CHECK(!slow_rules_add(&r, "com.x.Y>10ms", &e));
	CHECK(!slow_rules_add(&r, "com.x.Y.z>2ms", &e));
	CHECK_U64(slow_rules_method(&r, &m), 2);
	m.name.s = "y";
	CHECK_U64(slow_rules_method(&r, &m), 1);
	CHECK_U64(slow_rules_function(&r, "libc.so", "z"), 0);
	slow_rules_release(&r);
}
