// SPDX-License-Identifier: GPL-2.0-or-later
/* callrules.c - compiles the user's rules for callflow/filter.h (callrules.h). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/rules.h"
#include "callflow/filter.h"
#include "collect/calls/callrules.h"

enum { MAX_PATTERN = 4096, MAX_BYTES = 1 << 20 };

static int callrules_add(struct callrules *r, enum callflow_rule_kind kind, bool include, const char *p,
			 size_t len, struct err *e)
{
	struct callflow_rule rule = { .kind = kind, .include = include, .len = len };

	if (!len)
		return err_set(e, EINVAL, "a rule without a pattern");
	if (len > MAX_PATTERN)
		return err_set(e, EINVAL, "a pattern of %zu characters: %d are the most", len, MAX_PATTERN);
	if (r->b.len > MAX_BYTES)
		return err_set(e, EINVAL, "more than %d bytes of rules", MAX_BYTES);
	if (!r->b.len)
		buf_add(&r->b, &(struct callflow_rules){ 0 }, sizeof(struct callflow_rules));
	buf_add(&r->b, &rule, sizeof(rule));
	buf_add(&r->b, p, len);
	while (r->b.len & 3)
		buf_u8(&r->b, 0);
	r->nr++;
	return 0;
}

static void callrules_note(struct callrules *r, enum callflow_rule_kind kind, bool include)
{
	bool *seen = kind == CALLFLOW_RULE_METHOD ? &r->methods : &r->threads;
	bool *rest = kind == CALLFLOW_RULE_METHOD ? &r->rest_methods : &r->rest_threads;

	if (!*seen)
		*rest = true;
	if (include)
		*rest = false;
	*seen = true;
}

/* Check for characters that no pattern can have. */
static int callrules_check(const char *p, size_t len, struct err *e)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (iscntrl((unsigned char)p[i]) || p[i] == '+' || p[i] == '=')
			return err_set(e, EINVAL, "invalid pattern '%.*s': '%c' cannot be in a name",
				       (int)len, p,
				       iscntrl((unsigned char)p[i]) ? '?' : p[i]);
	for (i = 0; i < len && p[i] != '('; i++)
		if ((p[i] == '[' || p[i] == ']') && !memmem(p, len, "operator", 8) && !memmem(p, len, "[abi:", 5))
			return err_set(e, EINVAL, "'%.*s' matches nothing: '%c' is in no name; a pattern has * and ?",
				       (int)len, p, p[i]);
	if (memchr(p, '(', len) && !memchr(p, ')', len) && !memchr(p, '*', len))
		return err_set(e, EINVAL, "'%.*s' matches nothing: a signature ends in ')', or in '*'",
			       (int)len, p);
	return 0;
}

static int add_item(struct callrules *r, const char *item, size_t len, struct err *e)
{
	bool include = !len || *item != '-';
	int ret;

	if (len && (*item == '+' || *item == '-')) {
		item++;
		len--;
	}
	ret = callrules_check(item, len, e);
	if (!ret)
		ret = callrules_add(r, CALLFLOW_RULE_METHOD, include, item, len, e);
	r->methods = true;
	r->rest_methods = !include;	/* in the end: the opposite of what the first says */
	return ret;
}

/* Read from the last item to the first: an exception is found before what it is an exception to. */
int callrules_list(struct callrules *r, const char *text, struct err *e)
{
	const char *end = text + strlen(text), *item;
	int ret;

	for (;; end = item - 1) {
		for (item = end; item > text && item[-1] != ','; item--)
			;
		ret = add_item(r, item, end - item, e);
		if (ret)
			return err_wrap(e, "'%s'", text);
		if (item == text)
			return 0;
	}
}

static const struct {
	const char *word;
	enum callflow_rule_kind kind;	/* 0: of no call */
	enum rule_of of;		/* RULE_NR: of no event */
} words[] = {
	{ "method", CALLFLOW_RULE_METHOD, RULE_NR }, { "thread", CALLFLOW_RULE_THREAD, RULE_THREAD },
	{ "class", 0, RULE_CLASS }, { "kind", 0, RULE_KIND }, { "group", 0, RULE_GROUP },
	{ "phase", 0, RULE_PHASE }, { "event", 0, RULE_EVENT },
};

static bool callrules_same(const char *a, const char *b, size_t len, bool any_case)
{
	return any_case ? !strncasecmp(a, b, len) : !memcmp(a, b, len);
}

/*
 * Return the index in words of what "include_class" is about, the class; their number if it is none of them.
 * In a file of JPMT case does not matter.
 */
static size_t find_word(const char *s, size_t len, bool jpmt, bool *include)
{
	size_t i = ARRAY_SIZE(words), before = strlen("include_");

	*include = len > before && callrules_same(s, "include_", before, jpmt);
	if (*include || (len > before && callrules_same(s, "exclude_", before, jpmt)))
		for (i = 0; i < ARRAY_SIZE(words); i++)
			if (strlen(words[i].word) == len - before &&
			    callrules_same(words[i].word, s + before, len - before, jpmt))
				break;
	return i;
}

/* Add a rule of JPMT for methods: a pattern for the class, and one for the method. */
static int add_pair(struct callrules *r, bool include, const char *s, size_t len, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i, nr_words = 0;
	int ret;

	for (i = 0; i < len; i++) {
		if (isspace((unsigned char)s[i]))
			continue;
		if (!i || isspace((unsigned char)s[i - 1]))
			buf_str(&b, nr_words++ ? " " : "");
		buf_add(&b, s + i, 1);
	}
	ret = nr_words == 2 ? callrules_check(s, len, e) : err_set(e, EINVAL, "'%.*s': two patterns are expected, of the class and of the method",
							(int)MIN(len, (size_t)200), s);
	if (!ret)
		ret = callrules_add(r, CALLFLOW_RULE_PAIR, include, b.data, b.len, e);
	buf_release(&b);
	return ret;
}

static int add_rule(struct callrules *r, size_t word, bool include, const char *s, size_t len, struct err *e)
{
	int ret = 0;

	if (words[word].kind == CALLFLOW_RULE_METHOD && r->jpmt) {
		r->methods = true;
		ret = add_pair(r, include, s, len, e);
	} else if (words[word].kind) {
		callrules_note(r, words[word].kind, include);
		ret = words[word].kind == CALLFLOW_RULE_METHOD ? callrules_check(s, len, e) : 0;
		if (!ret)
			ret = callrules_add(r, words[word].kind, include, s, len, e);
	}
	if (!ret && words[word].of != RULE_NR && r->events)
		ret = rules_line(r->events, words[word].of, include, s, len, e);
	return ret;
}

static int callrules_parse_line(struct callrules *r, const char *s, size_t len, struct err *e)
{
	bool include;
	size_t w, i;

	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	for (; len && isspace((unsigned char)*s); s++)
		len--;
	if (!len || *s == '#')
		return 0;
	for (w = 0; w < len && !isspace((unsigned char)s[w]); w++)
		;
	if (r->jpmt && jpmt_is_directive(s, w))
		return 0;
	i = find_word(s, w, r->jpmt, &include);
	if (i == ARRAY_SIZE(words))
		return err_set(e, EINVAL, "invalid rule '%.*s' (expected one of: include_method, exclude_method, and the same of thread, class, kind, event and phase)",
			       (int)MIN(w, (size_t)64), s);
	for (; w < len && isspace((unsigned char)s[w]); w++)
		;
	return add_rule(r, i, include, s + w, len - w, e);
}

/* End the rules. Without a matching one, JPMT counts no methods if methods are recorded, but all threads. */
static int end_jpmt(struct callrules *r, const struct jpmt *j, struct err *e)
{
	r->methods |= j->yes[JPMT_METHOD_INVOCATION];
	r->rest_methods = false;
	r->rest_threads = true;
	return r->threads && r->events ? rules_line(r->events, RULE_THREAD, true, "*", 1, e) : 0;
}

int callrules_file(struct callrules *r, const char *name, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *eol;
	bool had_methods = r->methods, rest = r->rest_methods;
	unsigned int line = 1;
	struct jpmt j;
	int ret = jpmt_read(&j, name, text, len, e);

	r->jpmt = j.found;
	free(j.output);
	if (ret)
		return ret;
	for (; text < end; text = eol + 1, line++) {
		eol = memchr(text, '\n', end - text);
		if (!eol)
			eol = end;
		ret = callrules_parse_line(r, text, eol - text, e);
		if (ret)
			return err_wrap(e, "%s:%u", name, line);
	}
	if (r->jpmt && (ret = end_jpmt(r, &j, e)))
		return err_wrap(e, "%s", name);
	if (had_methods)	/* the list said it already */
		r->rest_methods = rest;
	return 0;
}

void callrules_end(struct callrules *r)
{
	struct callflow_rules head;
	struct err e;

	if (!r->nr)
		return;
	if (r->methods)
		callrules_add(r, CALLFLOW_RULE_METHOD, r->rest_methods, "*", 1, &e);
	if (r->threads)
		callrules_add(r, CALLFLOW_RULE_THREAD, r->rest_threads, "*", 1, &e);
	head = (struct callflow_rules){ r->b.len, r->nr };
	memcpy(r->b.data, &head, sizeof(head));
}

void callrules_release(struct callrules *r)
{
	buf_release(&r->b);
	memset(r, 0, sizeof(*r));
}
