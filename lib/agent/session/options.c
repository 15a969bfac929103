// SPDX-License-Identifier: MIT
/* options.c - parses the option of an agent without a recorder (options.h). */
#include "agent/session/options.h"
#include "agent/sys.h"

/* The longest interval of a timer that readers of journals accept. */
#define LONGEST_NS 1000000000000u

/* Samples a second of a source: with them, a journal grows by some 50 kB a second. */
enum { USUAL_RATE = 1000 };

enum unit { NO_UNIT, BYTES, NANOSECONDS, THINGS };

/* Events by their names for -e; those of the VM have no interval. */
static const struct {
	const char *name;
	enum unit unit;
	uint64_t interval;		/* when none is given */
	int source;			/* enum jvm_source, or -1 */
	uint32_t tell;
} events[] = {
	{ "cpu", NANOSECONDS, 10000000, -1, 0 },
	{ "alloc", BYTES, 512 << 10, JVM_SOURCE_ALLOC, 0 },
	{ "live", BYTES, 512 << 10, JVM_SOURCE_LIVE, 0 },
	{ "lock", NANOSECONDS, 1000000, JVM_SOURCE_LOCK, 0 },
	{ "throws", THINGS, 0, JVM_SOURCE_THROW, 0 },
#define TELL(what, name, with) { (name), NO_UNIT, 0, -1, JVM_TELL_##what | (with) },
#define UNJOURNALED(...)
#include "base/eventkinds.h"
	{ "jvm", NO_UNIT, 0, -1, JVM_TELL_USUAL },
};

void options_put(struct message *t, const char *s, size_t len)
{
	while (len-- && t->len < sizeof(t->s) - 1)
		t->s[t->len++] = *s++;
	t->s[t->len] = 0;
}

void options_say(struct message *t, const char *s)
{
	options_put(t, s, str_len(s));
}

static bool options_fail(struct message *why, const char *what, const char *s, size_t len)
{
	options_say(why, what);
	options_say(why, " '");
	options_put(why, s, len);
	options_say(why, "'");
	return false;
}

static bool options_is(const char *s, size_t len, const char *word)
{
	return len == str_len(word) && !memcmp(s, word, len);
}

static bool options_begins(const char *s, const char *with)
{
	size_t i;

	for (i = 0; with[i]; i++)
		if (s[i] != with[i])
			return false;
	return true;
}

/* Parse digits and a unit. */
static bool options_number(const char *s, size_t len, enum unit unit, uint64_t *v)
{
	static const struct {
		const char *name;
		enum unit unit;
		uint64_t factor;
	} factors[] = {
		{ "", THINGS, 1 }, { "", BYTES, 1 }, { "k", BYTES, 1 << 10 }, { "K", BYTES, 1 << 10 }, { "m", BYTES, 1 << 20 },
		{ "M", BYTES, 1 << 20 }, { "g", BYTES, 1 << 30 }, { "G", BYTES, 1 << 30 },
		{ "ns", NANOSECONDS, 1 }, { "us", NANOSECONDS, 1000 }, { "ms", NANOSECONDS, 1000000 },
		{ "s", NANOSECONDS, 1000000000 },
	};
	const char *from = s, *end = s + len;
	size_t i;

	for (*v = 0; s < end && *s >= '0' && *s <= '9' && *v < 1ull << 40; s++)
		*v = *v * 10 + (uint64_t)(*s - '0');
	for (i = 0; s > from && i < ARRAY_SIZE(factors); i++)
		if (factors[i].unit == unit && options_is(s, (size_t)(end - s), factors[i].name))
			return !__builtin_mul_overflow(*v, factors[i].factor, v);
	return false;
}

static bool options_take_event(struct options *w, const char *s, size_t len, struct message *why)
{
	size_t name = 0, i;
	uint64_t interval;

	while (name < len && s[name] != '=')
		name++;
	for (i = 0; i < ARRAY_SIZE(events) && !options_is(s, name, events[i].name); i++)
		;
	if (i == ARRAY_SIZE(events))
		return options_fail(why, "unknown event, or one that needs a recorder:", s, len);
	interval = events[i].interval;
	if (name < len && (!events[i].unit ||
			   !options_number(s + name + 1, len - name - 1, events[i].unit, &interval)))
		return options_fail(why, "invalid interval:", s, len);
	if (interval > (events[i].unit == NANOSECONDS ? LONGEST_NS : INT32_MAX))
		return options_fail(why, "interval is too long:", s, len);
	w->tell |= events[i].tell;
	if (events[i].source >= 0) {
		w->sources |= 1ull << events[i].source;
		w->intervals[events[i].source] = interval;
	} else if (events[i].unit == NANOSECONDS) {
		w->timer_ns = interval;
		if (interval < 1000000)
			return options_fail(why, "at least 1 ms:", s, len);
	}
	return true;
}

static void options_put_number(struct options *w, size_t *len, long n)
{
	char digits[12];
	int i = sizeof(digits);

	do
		digits[--i] = '0' + n % 10;
	while (n /= 10);
	for (; i < (int)sizeof(digits) && *len < sizeof(w->file) - 1; i++)
		w->file[(*len)++] = digits[i];
}

static bool take_file(struct options *w, const char *s, size_t len, struct message *why)
{
	size_t to = 0, i;

	for (i = 0; i < len && to < sizeof(w->file) - 1; i++) {
		if (s[i] == '%' && i + 1 < len && s[i + 1] == 'p') {
			options_put_number(w, &to, sys(__NR_getpid));
			i++;
		} else {
			w->file[to++] = s[i];
		}
	}
	w->file[to] = 0;
	return (to && to < sizeof(w->file) - 1) || options_fail(why, "invalid name of a file:", s, len);
}

/* --- options of HPROF, the JDK's profiler up to JDK 8 --- */

static const char file_is[] = "file=";
static const char depth_is[] = "depth=", interval_is[] = "interval=";

/*
 * Words that only HPROF has, and the event that each stands for; "": none. why: the reason why it is refused.
 */
static const struct {
	const char *word, *event, *why;
} of_hprof[] = {
	{ "cpu=samples", "cpu" }, { "cpu=y", "cpu" }, { "monitor=y", "lock" },
	{ "heap=sites", "live,alloc" },
	{ "format=a", "" }, { "lineno=y", "" }, { "force=y", "" }, { "doe=y", "" }, { "verbose=n", "" },
	{ "monitor=n", "" }, { "cpu=n", "" },
	{ "thread=y", "" }, { "thread=n", "" },
	{ "cpu=times", NULL, "exact calls need a recorder, 'arcprof record --callflow':" },
	{ "cpu=old", NULL, "the format of java -prof is not written:" },
	{ "heap=dump", NULL, "'arcprof heap dump' writes one:" },
	{ "heap=all", NULL, "heap=sites, and 'arcprof heap dump' for the rest:" },
	{ "format=b", NULL, "'arcprof report --format hprof' writes format=a:" },
};

static bool take_events(struct options *w, const char *s, struct message *why)
{
	size_t len;

	for (; *s; s += len + !!s[len]) {
		for (len = 0; s[len] && s[len] != ','; len++)
			;
		if (!options_take_event(w, s, len, why))
			return false;
	}
	return true;
}

/* Parse depth=8 or interval=10, in milliseconds. */
static bool options_take_number(struct options *w, const char *s, size_t len, struct message *why)
{
	bool is_depth = options_begins(s, depth_is);
	size_t key = is_depth ? sizeof(depth_is) - 1 : sizeof(interval_is) - 1;
	uint64_t v;

	if (!options_number(s + key, len - key, THINGS, &v) || !v ||
	    v > (is_depth ? 1u << 20 : LONGEST_NS / 1000000))
		return options_fail(why, "invalid number:", s, len);
	if (is_depth)
		w->hprof_depth = (uint32_t)v;
	else
		w->interval_ns = v * 1000000;
	return true;
}

/* *known: it is a word of HPROF's. */
static bool take_hprof(struct options *w, const char *s, size_t len, bool *known, struct message *why)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_hprof) && !options_is(s, len, of_hprof[i].word); i++)
		;
	*known = i < ARRAY_SIZE(of_hprof) || options_begins(s, depth_is) || options_begins(s, interval_is);
	w->hprof |= *known;
	if (!*known)
		return true;
	if (i == ARRAY_SIZE(of_hprof))
		return options_take_number(w, s, len, why);
	if (of_hprof[i].why)
		return options_fail(why, of_hprof[i].why, s, len);
	if (options_begins(s, "thread="))
		w->hprof_threads = s[len - 1] == 'y';
	return take_events(w, of_hprof[i].event, why);
}

static const char events_is[] = "events=", limit_is[] = "limit=", rate_is[] = "rate=";

static bool take_limit(struct options *w, const char *s, size_t len, struct message *why)
{
	return (options_number(s + sizeof(limit_is) - 1, len - (sizeof(limit_is) - 1), BYTES, &w->limit) &&
		w->limit >= 64 << 10) ||
	       options_fail(why, "invalid limit, at least 64k:", s, len);
}

/* 0: any. */
static bool take_rate(struct options *w, const char *s, size_t len, struct message *why)
{
	uint64_t v;

	if (!options_number(s + sizeof(rate_is) - 1, len - (sizeof(rate_is) - 1), THINGS, &v) ||
	    v > INT32_MAX)
		return options_fail(why, "invalid rate, samples per second:", s, len);
	w->rate = (uint32_t)v;
	return true;
}

static bool take_word(struct options *w, const char *s, size_t len, struct message *why)
{
	bool known;

	if (options_begins(s, file_is) && !w->file[0])
		return take_file(w, s + sizeof(file_is) - 1, len - (sizeof(file_is) - 1), why);
	if (!take_hprof(w, s, len, &known, why))
		return false;
	if (known)
		return true;

	if (options_begins(s, limit_is))
		return take_limit(w, s, len, why);
	if (options_begins(s, rate_is))
		return take_rate(w, s, len, why);
	if (options_begins(s, events_is)) {
		s += sizeof(events_is) - 1;
		len -= sizeof(events_is) - 1;
	}
	return !len || options_take_event(w, s, len, why);
}

static bool take_words(struct options *w, const char *s, struct message *why)
{
	size_t len;

	for (; *s; s += len + !!s[len]) {
		for (len = 0; s[len] && s[len] != ','; len++)
			;
		if (!take_word(w, s, len, why))
			return false;
	}
	if (!w->sources && !w->tell && !w->timer_ns && !options_take_event(w, "cpu", 3, why))
		return false;
	if (w->timer_ns && w->interval_ns)
		w->timer_ns = w->interval_ns;
	return true;
}

bool options_are_these(const char *option)
{
	return *option != '/';
}

/*
 * HPROF wrote java.hprof.txt. This file is a journal, which "arcprof report --format hprof" turns into such a
 * text.
 */
static const char hprof_file[] = "java.hprof.journal";

static void options_begin(struct options *w)
{
	memset(w, 0, sizeof(*w));
	w->rate = USUAL_RATE;
}

bool options_parse(struct options *w, const char *option, struct message *why)
{
	size_t len;

	options_begin(w);
	if (!options_begins(option, file_is))
		return take_words(w, option, why) &&
		       (w->file[0] || take_file(w, hprof_file, sizeof(hprof_file) - 1, why));
	option += sizeof(file_is) - 1;
	for (len = 0; option[len] && option[len] != ','; len++)
		;
	return take_file(w, option, len, why) && take_words(w, option + len + !!option[len], why);
}

bool options_parse_events(struct options *w, const char *file, const char *words, struct message *why)
{
	options_begin(w);
	return take_file(w, file, str_len(file), why) && take_words(w, words ? words : "", why);
}
