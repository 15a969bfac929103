// SPDX-License-Identifier: GPL-2.0-or-later
/* rules.c - parses the rules of filters, and matches names against them (rules.h). */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/rules.h"

enum { MAX_RULES = 4096, MAX_TEXT = 4096 };

static const char *const words[RULE_NR] = {
	[RULE_EVENT] = "event", [RULE_THREAD] = "thread", [RULE_GROUP] = "group", [RULE_KIND] = "kind",
	[RULE_CLASS] = "class", [RULE_LENGTH] = "length", [RULE_PHASE] = "phase",
};

void rules_put_words(uint32_t set, struct buf *b)
{
	const char *sep = "";
	int of;

	for (of = 0; of < RULE_NR; of++) {
		if (!(set & RULE_BIT(of)))
			continue;
		buf_fmt(b, "%s%s", sep, words[of]);
		sep = ", ";
	}
}

/* A rule names an event or its group. */
static const struct {
	const char *name, *group;
	bool lasts;
} events[] = {
	{ "cpu" }, { "calls" }, { "alloc" }, { "live" }, { "lifetime" }, { "wall" }, { "wakers" },
	{ "lock", NULL, true }, { "throws" }, { "notify" }, { "http" }, { "rmi" }, { "grpc" }, { "sql" },
	{ "native-memory" }, { "native-live" },
#define EVENT(kind, name, group, lasts, told, ...) { (name), (group), (told) },
#define UNRULED(...)
#include "base/eventkinds.h"
};

static bool rules_same_text(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

static bool is_rule_event(const char *name, bool lasts)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if ((rules_same_text(events[i].name, name) || rules_same_text(events[i].group, name)) &&
		    (!lasts || events[i].lasts))
			return true;
	return false;
}

/* ---- reading: what fails has taken nothing of x ---- */

static int rules_add(struct rules *r, struct rule x, struct err *e)
{
	if (r->nr >= MAX_RULES)
		return err_set(e, EINVAL, "more than %d conditions", MAX_RULES);
	*VEC_ADD(r->all, r->nr, r->alloc) = x;
	r->has |= 1u << x.of;
	return 0;
}

static int add_pattern(struct rules *r, struct rule x, const char *pattern, struct err *e)
{
	int ret;

	if (x.of == RULE_PHASE && x.event)
		return err_set(e, EINVAL, "'%s:phase=': phases are of all events", x.event);
	if (!*pattern)
		return err_set(e, EINVAL, "%s=: a name is missing", words[x.of]);
	if (x.of == RULE_KIND && strcmp(pattern, "virtual") && strcmp(pattern, "platform"))
		return err_set(e, EINVAL, "kind=%s (expected one of: virtual, platform)", pattern);
	x.pattern = xstrdup(pattern);
	ret = rules_add(r, x, e);
	if (ret)
		free(x.pattern);
	return ret;
}

/* "lock>1ms": at is where the sign is. */
static int add_length(struct rules *r, struct rule x, const char *text, const char *at, struct err *e)
{
	char *event = xstrndup(text, at - text);
	int ret = 0;

	if (!is_rule_event(event, true))
		ret = err_set(e, EINVAL, "'%s' has no length (expected one of: lock, gc, safepoint, jit, mark, or a kind of these)",
			      event);
	if (!ret)
		ret = opt_parse_time(at + 1, &x.ns, e);
	x.of = RULE_LENGTH;
	x.longer = *at == '>';
	x.event = event;
	if (!ret)
		ret = rules_add(r, x, e);
	if (ret)
		free(event);
	return ret;
}

static int rules_add_event(struct rules *r, struct rule x, const char *text, struct err *e)
{
	const char *sign = strpbrk(text, "<>");
	int ret;

	if (sign)
		return add_length(r, x, text, sign, e);
	x.of = RULE_EVENT;
	x.event = xstrdup(text);
	ret = rules_add(r, x, e);
	if (ret)
		free(x.event);
	return ret;
}

/* Add a value of "thread", or "lock:thread", of len characters. */
static int add_value(struct rules *r, struct rule x, const char *text, size_t len, struct err *e)
{
	const char *word = memrchr(text, ':', len);
	size_t word_len;
	int ret;

	word = word ? word + 1 : text;
	word_len = text + len - word;
	for (x.of = RULE_THREAD; x.of < RULE_NR; x.of++)
		if (x.of != RULE_LENGTH && strlen(words[x.of]) == word_len &&
		    !memcmp(words[x.of], word, word_len))
			break;
	if (x.of == RULE_NR)
		return err_set(e, EINVAL, "unknown condition '%.*s=' (expected one of: thread, group, kind, class, phase)",
			       (int)word_len, word);
	if (word == text + 1)
		return err_set(e, EINVAL, "an event is missing before ':'");
	if (word != text)
		x.event = xstrndup(text, word - 1 - text);
	ret = add_pattern(r, x, text + len + 1, e);
	if (ret)
		free(x.event);
	return ret;
}

static int add_condition(struct rules *r, struct rule x, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');

	if (!*text)
		return err_set(e, EINVAL, "a condition is missing");
	if (strlen(text) > MAX_TEXT)
		return err_set(e, EINVAL, "a condition of more than %d characters", MAX_TEXT);
	return equals ? add_value(r, x, text, equals - text, e) : rules_add_event(r, x, text, e);
}

int rules_item(struct rules *r, const char *item, struct err *e)
{
	bool sign = *item == '+' || *item == '-';
	int ret = add_condition(r, (struct rule){ .keep = *item != '-', .listed = true }, item + sign, e);

	return ret ? err_wrap(e, "'%.200s'", item) : 0;
}

int rules_list(struct rules *r, const char *text, struct err *e)
{
	const char *end;
	int ret = 0;

	for (; !ret; text = end + 1) {
		char *item;

		end = strchrnul(text, ',');
		item = xstrndup(text, end - text);
		ret = rules_item(r, item, e);
		free(item);
		if (!*end)
			break;
	}
	return ret;
}

/* Return the event before "alloc:byte[]", or 0. */
static size_t event_before(const char *text)
{
	const char *colon = strchr(text, ':');
	char *event = colon ? xstrndup(text, colon - text) : NULL;
	bool known = event && is_rule_event(event, false);

	free(event);
	return known ? (size_t)(colon - text) : 0;
}

int rules_line(struct rules *r, enum rule_of of, bool keep, const char *text, size_t len, struct err *e)
{
	struct rule x = { .of = of, .keep = keep };
	char *copy = xstrndup(text, len);
	size_t event;
	int ret;

	if (of == RULE_EVENT) {
		ret = *copy ? rules_add_event(r, x, copy, e) : err_set(e, EINVAL, "a rule without an event");
	} else {
		event = event_before(copy);
		x.event = event ? xstrndup(copy, event) : NULL;
		ret = add_pattern(r, x, copy + event + !!event, e);
		if (ret)
			free(x.event);
	}
	free(copy);
	return ret;
}

static void free_rule(struct rule *x)
{
	free(x->event);
	free(x->pattern);
}

bool rules_drop(struct rules *r, enum rule_of of)
{
	size_t i, nr = 0, before = r->nr;

	for (i = 0; i < before; i++) {
		if (r->all[i].of == of)
			free_rule(&r->all[i]);
		else
			r->all[nr++] = r->all[i];
	}
	r->nr = nr;
	r->has &= ~(1u << of);
	return nr < before;
}

void rules_release(struct rules *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		free_rule(&r->all[i]);
	free(r->all);
	*r = (struct rules){ 0 };
}

const char *rules_strange_event(const struct rules *r, size_t i)
{
	const char *event = r->all[i].event;

	return event && !is_rule_event(event, false) ? event : NULL;
}

/* ---- asking ---- */

static char plain(char c)
{
	return c == '/' ? '.' : c;
}

/* Match by returning to the last '*' seen, which suffices. */
static bool pattern_matches(const char *p, const char *s)
{
	const char *star = NULL, *mark = s;

	while (*s) {
		if (*p == '*') {
			star = p++;
			mark = s;
		} else if (*p && (*p == '?' || plain(*p) == plain(*s))) {
			p++;
			s++;
		} else if (star) {
			p = star + 1;
			s = ++mark;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

static bool rule_event_is_named(const struct rule_event *event, const char *name)
{
	return rules_same_text(event->name, name) || rules_same_text(event->group, name);
}

struct question {
	enum rule_of of;
	const struct rule_event *event;
	const char *const *values;
	size_t nr;
	uint64_t ns;
};

/* Check whether it stops all threads, or is done for all, whichever thread of the VM does it. */
static bool is_of_all_threads(const struct rule_event *event)
{
	return rules_same_text(event->group, "gc") || rules_same_text(event->group, "safepoint");
}

static bool applies(const struct rule *x, const struct question *q)
{
	if (x->of != q->of)
		return false;
	if (x->of == RULE_EVENT)
		return true;
	if (!x->event)
		return !(RULE_BIT(x->of) & RULES_OF_THREADS) || !is_of_all_threads(q->event);
	return rule_event_is_named(q->event, x->event);
}

static bool is_met(const struct rule *x, const struct question *q)
{
	size_t i;

	if (x->of == RULE_EVENT)
		return rule_event_is_named(q->event, x->event);
	if (x->of == RULE_LENGTH)
		return x->longer ? q->ns > x->ns : q->ns < x->ns;
	for (i = 0; i < q->nr; i++)
		if (pattern_matches(x->pattern, q->values[i]))
			return true;
	return false;
}

static bool rules_ask(const struct rules *r, const struct question *q)
{
	bool rest = true, listed = false;
	size_t i;

	for (i = r->nr; i-- > 0;) {
		const struct rule *x = &r->all[i];

		if (!x->listed || !applies(x, q))
			continue;
		if (is_met(x, q))
			return x->keep;
		listed = true;
		rest = !x->keep;	/* in the end: the opposite of what the first says */
	}
	for (i = 0; i < r->nr; i++) {
		const struct rule *x = &r->all[i];

		if (x->listed || !applies(x, q))
			continue;
		if (is_met(x, q))
			return x->keep;
		if (!listed && x->keep)
			rest = false;
	}
	return rest;
}

bool rules_want(const struct rules *r, enum rule_of of, const struct rule_event *event, const char *value)
{
	return rules_want_any(r, of, event, &value, 1);
}

bool rules_want_any(const struct rules *r, enum rule_of of, const struct rule_event *event,
		    const char *const *values, size_t nr)
{
	const struct question q = { .of = of, .event = event, .values = values, .nr = nr };

	return !(r->has & 1u << of) || rules_ask(r, &q);
}

bool rules_want_length(const struct rules *r, const struct rule_event *event, uint64_t ns)
{
	const struct question q = { .of = RULE_LENGTH, .event = event, .ns = ns };

	return !(r->has & 1u << RULE_LENGTH) || rules_ask(r, &q);
}

bool rules_concern(const struct rules *r, enum rule_of of, const struct rule_event *event)
{
	const struct question q = { .of = of, .event = event };
	size_t i;

	for (i = 0; i < r->nr && !applies(&r->all[i], &q); i++)
		;
	return i < r->nr;
}

/* ---- saying ---- */

static void put_rule(const struct rule *x, struct buf *b)
{
	if (!x->listed)
		buf_str(b, x->keep ? "include " : "exclude ");
	else if (!x->keep)
		buf_putc(b, '-');
	else if (x->event && strchr("+-", *x->event))
		buf_putc(b, '+');	/* its name begins like that */
	if (x->of == RULE_EVENT || x->of == RULE_LENGTH)
		buf_str(b, x->event);
	if (x->of == RULE_LENGTH) {
		buf_putc(b, x->longer ? '>' : '<');
		opt_put_time(b, x->ns);
	}
	if (x->pattern)
		buf_fmt(b, "%s%s%s=%s", x->event ? x->event : "", x->event ? ":" : "", words[x->of],
			x->pattern);
}

void rules_text(const struct rules *r, struct buf *b)
{
	size_t i, nr = 0;
	int listed;

	for (listed = 1; listed >= 0; listed--)
		for (i = 0; i < r->nr; i++) {
			if (r->all[i].listed != listed)
				continue;
			buf_str(b, !nr++ ? "" : listed ? "," : ", ");
			put_rule(&r->all[i], b);
		}
}
