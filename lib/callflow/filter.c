// SPDX-License-Identifier: MIT
/* filter.c - matches methods and threads against ordered rules (filter.h). */
#include "callflow/filter.h"

/* A string in pieces, so that "class.method(signature)" is matched without being put together. */
struct text {
	const char *part[4];
	size_t len[4];
	int nr;
};

static void callflow_filter_add(struct text *t, const char *s, size_t len)
{
	t->part[t->nr] = s;
	t->len[t->nr++] = len;
}

static char callflow_filter_at(const struct text *t, size_t i)
{
	int p;
	char c;

	for (p = 0; p < t->nr && i >= t->len[p]; p++)
		i -= t->len[p];
	c = p < t->nr ? t->part[p][i] : '\0';
	return c == '/' ? '.' : c;
}

static size_t length(const struct text *t)
{
	size_t n = 0;
	int p;

	for (p = 0; p < t->nr; p++)
		n += t->len[p];
	return n;
}

static bool callflow_filter_same(char pattern, char c)
{
	return pattern == '?' || (pattern == '/' ? '.' : pattern) == c;
}

/*
 * The usual match with one place to come back to: the last '*' seen. With prefix the text may go
 * on after the pattern, from a '.' on.
 */
static bool match(const char *p, size_t plen, const struct text *t, bool prefix)
{
	size_t n = length(t), i = 0, k = 0, star = SIZE_MAX, mark = 0;

	while (i < n) {
		if (k < plen && p[k] == '*') {
			star = k++;
			mark = i;
		} else if (k < plen && callflow_filter_same(p[k], callflow_filter_at(t, i))) {
			i++;
			k++;
		} else if (prefix && k == plen && callflow_filter_at(t, i) == '.') {
			return true;
		} else if (star != SIZE_MAX) {
			k = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (k < plen && p[k] == '*')
		k++;
	return k == plen;
}

static bool callflow_filter_has(const char *s, size_t len, char c)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == c)
			return true;
	return false;
}

/* Return the rule after r, or the first; NULL at the end. */
static const struct callflow_rule *callflow_filter_next(const struct callflow_rules *rules,
							const struct callflow_rule *r)
{
	const uint8_t *end = (const uint8_t *)rules + rules->bytes, *p;

	if (!r)
		p = (const uint8_t *)(rules + 1);
	else
		p = (const uint8_t *)(r + 1) + ((r->len + 3u) & ~3u);
	return p + sizeof(*r) <= end ? (const struct callflow_rule *)p : NULL;
}

static const char *pattern(const struct callflow_rule *r)
{
	return (const char *)(r + 1);
}

/* Return where the second pattern of a pair begins; its length if there is none. */
static size_t second(const struct callflow_rule *r)
{
	size_t i;

	for (i = 0; i < r->len; i++)
		if (pattern(r)[i] == ' ')
			return i + 1;
	return i;
}

static bool callflow_filter_is_known(const struct callflow_rule *r)
{
	return r->kind == CALLFLOW_RULE_METHOD || r->kind == CALLFLOW_RULE_THREAD ||
	       (r->kind == CALLFLOW_RULE_PAIR && second(r) < r->len);
}

static bool match_first(const struct callflow_rule *r, const struct callflow_text *of)
{
	struct text t = { 0 };

	callflow_filter_add(&t, of->s, of->len);
	return match(pattern(r), second(r) - 1, &t, false);
}

static bool match_pair(const struct callflow_rule *r, const struct callflow_text *outer,
		       const struct callflow_text *name)
{
	struct text t = { 0 };

	callflow_filter_add(&t, name->s, name->len);
	return r->kind == CALLFLOW_RULE_PAIR && match_first(r, outer) &&
	       match(pattern(r) + second(r), r->len - second(r), &t, false);
}

bool callflow_rules_valid(const void *data, size_t bytes)
{
	const struct callflow_rules *rules = data;
	const struct callflow_rule *r = NULL;
	size_t end = sizeof(*rules);
	uint32_t nr = 0;

	if (bytes < sizeof(*rules) || rules->bytes > bytes || rules->bytes < sizeof(*rules))
		return false;
	while ((r = callflow_filter_next(rules, r))) {
		end = (size_t)((const uint8_t *)(r + 1) - (const uint8_t *)data) + ((r->len + 3u) & ~3u);
		if (end > rules->bytes || !callflow_filter_is_known(r))
			return false;
		nr++;
	}
	return end == rules->bytes && nr == rules->nr_rules;
}

bool callflow_wants_method(const struct callflow_rules *rules, const struct callflow_method *m)
{
	struct text with = { 0 }, without = { 0 };
	const struct callflow_rule *r = NULL;

	callflow_filter_add(&without, m->class_name.s, m->class_name.len);
	callflow_filter_add(&without, ".", 1);
	callflow_filter_add(&without, m->name.s, m->name.len);
	with = without;
	callflow_filter_add(&with, m->sig.s, m->sig.len);
	while (rules && (r = callflow_filter_next(rules, r))) {
		bool whole = callflow_filter_has(pattern(r), r->len, '(');

		if (match_pair(r, &m->class_name, &m->name))
			return r->include;
		if (r->kind == CALLFLOW_RULE_METHOD &&
		    match(pattern(r), r->len, whole ? &with : &without,
			  !whole && !callflow_filter_has(pattern(r), r->len, '*')))
			return r->include;
	}
	return true;
}

/* Could "class.anything" match? The pattern up to where the class ends is all that is compared. */
static bool may_match(const char *p, size_t plen, const struct text *t)
{
	size_t n = length(t), i;

	for (i = 0; i < n && i < plen; i++) {
		if (p[i] == '*')
			return true;
		if (!callflow_filter_same(p[i], callflow_filter_at(t, i)))
			return false;
	}
	return i == n || i == plen;
}

bool callflow_may_want_class(const struct callflow_rules *rules, const char *class_name, size_t class_len)
{
	const struct callflow_text name = { class_name, class_len };
	const struct callflow_rule *r = NULL;
	struct text t = { 0 };

	callflow_filter_add(&t, class_name, class_len);
	callflow_filter_add(&t, ".", 1);
	while (rules && (r = callflow_filter_next(rules, r))) {
		size_t len = r->len;
		bool all;

		if (r->kind == CALLFLOW_RULE_PAIR && match_first(r, &name)) {
			if (r->include)
				return true;
			if (len == second(r) + 1 && pattern(r)[len - 1] == '*')
				return false;
		}
		if (r->kind != CALLFLOW_RULE_METHOD || !may_match(pattern(r), len, &t))
			continue;
		if (r->include)
			return true;
		/* Everything of the class is excluded when a pattern covers it to the end. */
		all = len && pattern(r)[len - 1] == '*' && match(pattern(r), len, &t, false);
		all |= !callflow_filter_has(pattern(r), len, '*') &&
		       !callflow_filter_has(pattern(r), len, '(') && match(pattern(r), len, &t, true);
		if (all)
			return false;
	}
	return true;
}

bool callflow_wants_function(const struct callflow_rules *rules, const char *module, size_t module_len,
			     const char *name, size_t name_len)
{
	const struct callflow_text outer = { module, module_len }, own = { name, name_len };
	struct text full = { 0 }, alone = { 0 };
	const struct callflow_rule *r = NULL;

	callflow_filter_add(&full, module, module_len);
	callflow_filter_add(&full, ":", 1);
	callflow_filter_add(&full, name, name_len);
	callflow_filter_add(&alone, name, name_len);
	while (rules && (r = callflow_filter_next(rules, r)))
		if (match_pair(r, &outer, &own) ||
		    (r->kind == CALLFLOW_RULE_METHOD &&
		     (match(pattern(r), r->len, &full, false) || match(pattern(r), r->len, &alone, false))))
			return r->include;
	return true;
}

bool callflow_wants_thread(const struct callflow_rules *rules, const char *name, size_t name_len)
{
	const struct callflow_rule *r = NULL;
	struct text t = { 0 };

	callflow_filter_add(&t, name, name_len);
	while (rules && (r = callflow_filter_next(rules, r)))
		if (r->kind == CALLFLOW_RULE_THREAD && match(pattern(r), r->len, &t, false))
			return r->include;
	return true;
}

bool callflow_rules_no_methods(const struct callflow_rules *rules)
{
	const struct callflow_rule *r = NULL;

	while (rules && (r = callflow_filter_next(rules, r)))
		if (r->kind != CALLFLOW_RULE_THREAD)
			return false;
	return true;
}
