// SPDX-License-Identifier: GPL-2.0-or-later
/* condition.c - parses the conditions of "record --when" (condition.h). */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/opt.h"
#include "collect/control/condition.h"

#define SPACES " \t"

enum { SECOND_NS = 1000000000, DEFAULT_SPAN_S = 10, MAX_PERCENT = 1000000 };

/* what follows the name */
enum rest { REST_NONE, REST_SIGNAL, REST_CPU, REST_TIME, REST_SIZE, REST_METHOD };

static const struct {
	const char *name, *example;
	enum rest rest;
} kinds[CONDITION_NR] = {
	[CONDITION_SIGNAL] = { "signal", "signal:USR2", REST_SIGNAL },
	[CONDITION_CPU] = { "cpu", "cpu>80%:10s", REST_CPU },
	[CONDITION_GC] = { "gc", "gc>200ms", REST_TIME },
	[CONDITION_RSS] = { "rss", "rss>2G", REST_SIZE },
	[CONDITION_OOM] = { "oom", "oom", REST_NONE },
	[CONDITION_CRASH] = { "crash", "crash", REST_NONE },
	[CONDITION_FAILURE] = { "failure", "failure", REST_NONE },
	[CONDITION_METHOD] = { "method", "method com.example.App.serve>500ms", REST_METHOD },
};

static const struct {
	const char *name;
	int number;
} signals[] = { { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 } };

const char *condition_kind_name(enum condition_kind kind)
{
	return kinds[kind].name;
}

const char *condition_signal_name(int sig)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].number == sig)
			return signals[i].name;
	return NULL;
}

static int parse_signal(const char *name, struct condition *w, struct err *e)
{
	size_t i;

	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		if (strcmp(name, signals[i].name))
			continue;
		w->limit = signals[i].number;
		return 0;
	}
	return err_set(e, EINVAL, "unknown signal '%s' (expected one of: USR1, USR2)", name);
}

/* 80 or 12.5; in *ns of CPU time a second. */
static int parse_percent(char *text, uint64_t *ns, struct err *e)
{
	size_t len = strlen(text);
	int r;

	if (len < 2 || text[len - 1] != '%')
		return err_set(e, EINVAL, "'%s' is not a share of a CPU, such as 80%%", text);
	text[len - 1] = '\0';
	/* a number without a unit is seconds */
	r = isdigit((unsigned char)text[len - 2]) ? opt_parse_time(text, ns, e) : -EINVAL;
	if (r || !*ns || *ns / SECOND_NS > MAX_PERCENT)
		return err_set(e, EINVAL, "'%s%%' is not a share of a CPU, such as 80%%", text);
	*ns /= 100;
	return 0;
}

static int parse_cpu(char *text, struct condition *w, struct err *e)
{
	char *colon = strchr(text, ':');
	int r = 0;

	if (!w->span_ns)
		w->span_ns = (uint64_t)DEFAULT_SPAN_S * SECOND_NS;
	if (colon) {
		*colon = '\0';
		r = opt_parse_time(colon + 1, &w->span_ns, e);
	}
	if (!r)
		r = parse_percent(text, &w->limit, e);
	if (!r && (w->span_ns < SECOND_NS || w->span_ns % SECOND_NS ||
		   w->span_ns / SECOND_NS > CONDITION_MAX_SPAN_S))
		r = err_set(e, EINVAL, "'%s': whole seconds, from 1s to 1h", colon + 1);
	return r;
}

int condition_parse_cpu(const char *text, uint64_t span_ns, struct condition *w, struct err *e)
{
	char s[CONDITION_MAX_TEXT + 1];

	*w = (struct condition){ .kind = CONDITION_CPU, .text = text, .span_ns = span_ns };
	if (strlen(text) > CONDITION_MAX_TEXT)
		return err_set(e, EINVAL, "a share of a CPU has at most %d bytes", CONDITION_MAX_TEXT);
	strcpy(s, text);
	return parse_cpu(s, w, e);
}

/* Parse com.example.App.serve>500ms. */
static int parse_method(char *text, struct condition *w, struct err *e)
{
	char *sign = strrchr(text, '>');
	int r;

	if (!sign || sign == text || strpbrk(text, "+,"))
		return err_set(e, EINVAL, "it is written as in '%s'", kinds[CONDITION_METHOD].example);
	*sign = '\0';
	if (*text == '-')
		return err_set(e, EINVAL, "give a method, not a rule of --callflow");
	r = opt_parse_time(sign + 1, &w->limit, e);
	if (!r && !w->limit)
		r = err_set(e, EINVAL, "'%s': must be more than 0", sign + 1);
	if (!r)
		r = callrules_list(&w->methods, text, e);
	if (r)
		return r;
	callrules_end(&w->methods);
	w->method = xstrdup(text);
	return 0;
}

static int parse_limit(enum rest rest, char *text, struct condition *w, struct err *e)
{
	int r;

	if (rest == REST_CPU)
		return parse_cpu(text, w, e);
	r = rest == REST_TIME ? opt_parse_time(text, &w->limit, e) : opt_parse_size(text, &w->limit, e);
	return !r && !w->limit ? err_set(e, EINVAL, "'%s': must be more than 0", text) : r;
}

/* Copy text without spaces at its ends and around its sign; to is as large as text. */
static void squeeze(const char *text, char *to)
{
	for (; *text; text++)
		if (!strchr(SPACES, *text))
			*to++ = *text;
	*to = '\0';
}

static int unknown(const char *text, struct err *e)
{
	struct buf known = BUF_INIT;
	size_t i;

	for (i = 0; i < CONDITION_NR; i++)
		buf_fmt(&known, "%s%s", i ? ", " : "", kinds[i].example);
	err_set(e, EINVAL, "unknown condition '%s'", text);
	err_hint(e, "conditions: %s", known.data);
	buf_release(&known);
	return -EINVAL;
}

/*
 * Return whether it is a condition about a method, whose name follows and must not be joined with the word.
 */
static bool is_method(const char *text)
{
	size_t len = strlen(kinds[CONDITION_METHOD].name);

	text += strspn(text, SPACES);
	return !strncmp(text, kinds[CONDITION_METHOD].name, len) && text[len] && strchr(SPACES, text[len]);
}

int condition_parse(const char *text, struct condition *w, struct err *e)
{
	char s[CONDITION_MAX_TEXT + 1];
	size_t len, i;
	char sign;
	int r;

	*w = (struct condition){ .text = text };
	if (strlen(text) > CONDITION_MAX_TEXT)
		return err_set(e, EINVAL, "a condition has at most %d bytes", CONDITION_MAX_TEXT);
	squeeze(text, s);
	if (is_method(text)) {
		w->kind = CONDITION_METHOD;
		r = parse_method(s + strlen("method"), w, e);
		return r ? err_wrap(e, "'%s'", text) : 0;
	}
	len = strspn(s, "abcdefghijklmnopqrstuvwxyz");
	for (i = 0; i < CONDITION_NR; i++)
		if (strlen(kinds[i].name) == len && !memcmp(s, kinds[i].name, len))
			break;
	if (i == CONDITION_NR)
		return unknown(text, e);
	w->kind = i;
	sign = kinds[i].rest == REST_NONE ? '\0' : kinds[i].rest == REST_SIGNAL ? ':' : '>';
	if (s[len] != sign || i == CONDITION_METHOD)
		r = err_set(e, EINVAL, "it is written as in '%s'", kinds[i].example);
	else if (!sign)
		r = 0;
	else if (sign == ':')
		r = parse_signal(s + len + 1, w, e);
	else
		r = parse_limit(kinds[i].rest, s + len + 1, w, e);
	return r ? err_wrap(e, "'%s'", text) : 0;
}

void condition_release(struct condition *w)
{
	callrules_release(&w->methods);
	free(w->method);
	w->method = NULL;
}
