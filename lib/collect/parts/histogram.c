// SPDX-License-Identifier: GPL-2.0-or-later
/* histogram.c - parses a JVM's histogram of its heap (histogram.h). */
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/jvm/classname.h"
#include "collect/parts/live.h"
#include "jvm/attach.h"

/* The agent looks once after a pause, and once more when there was none for half a second. */
enum { LOOKS = 2, WAIT_MS = 3000, TURN_MS = 10 };

struct totals {
	struct collect *c;
	const struct java *j;
	uint64_t time_ns;
};

static const char *skip_chars(const char *p, const char *end, char what)
{
	while (p < end && *p == what)
		p++;
	return p;
}

/* Parse a number; return false if there is none, or it is larger than any heap. */
static bool histogram_number(const char **p, const char *end, uint64_t *v)
{
	const char *first = *p = skip_chars(*p, end, ' ');

	for (*v = 0; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		if (*v > UINT64_MAX / 1000)
			return false;
		*v = *v * 10 + (uint64_t)(**p - '0');
	}
	return *p > first;
}

/* "   1:    12345    1234567  [B (java.base@17.0.1)" */
static bool parse_histogram_line(const char *p, const char *end, struct histogram_row *r)
{
	uint64_t rank;

	if (!histogram_number(&p, end, &rank) || p == end || *p++ != ':')
		return false;
	if (!histogram_number(&p, end, &r->objects) || !histogram_number(&p, end, &r->bytes))
		return false;
	r->name = p = skip_chars(p, end, ' ');
	while (p < end && *p != ' ')
		p++;
	r->name_len = (size_t)(p - r->name);
	return r->name_len;
}

void histogram_parse(const char *text, size_t len, void (*row)(void *ctx, const struct histogram_row *r),
		     void *ctx)
{
	const char *end = text + len, *eol;
	struct histogram_row r;

	for (; text < end; text = eol + 1) {
		eol = memchr(text, '\n', (size_t)(end - text));
		eol = eol ? eol : end;
		if (parse_histogram_line(text, eol, &r))
			row(ctx, &r);
	}
}

static void write_total(void *ctx, const struct histogram_row *r)
{
	const struct totals *t = ctx;
	struct rec_class_total w = {
		.time_ns = t->time_ns, .proc = t->j->proc->id, .objects = r->objects, .bytes = r->bytes,
	};
	struct buf name = BUF_INIT;

	classname_put(&name, r->name, r->name_len);
	w.name = name.data ? name.data : "";
	w.name_len = name.len;
	trace_write_class_total(t->c->w, &w);
	buf_release(&name);
}

/* Looks at what has come since; false: the agent did not look. */
static bool wait_for_looks(struct collect *c, const struct java *j)
{
	uint64_t before = lives_nr_sweeps(j);
	int ms;

	for (ms = 0; ms < WAIT_MS && !j->gone && !collect_hurries(c); ms += TURN_MS) {
		uint64_t n = lives_nr_sweeps(j) - before;

		if (n >= LOOKS || (n && ms > WAIT_MS / 2))
			return true;
		clock_sleep_ns(TURN_MS * 1000000);
		collect_hear_agents(c, false);
	}
	return false;
}

static void histogram_take(struct collect *c, struct java *j)
{
	static const char *const words[ATTACH_WORDS] = { "inspectheap", "-live", "", "" };
	uint64_t asked_ns = clock_mono_ns();
	struct totals t = { .c = c, .j = j };
	struct buf reply = BUF_INIT;
	struct err e;
	uint64_t patience_ns = collect_patience_ns(c, UINT64_MAX);
	int r;

	if (patience_ns == UINT64_MAX)
		r = attach_command(j->proc->pid, words, &reply, &e);
	else	/* a signal has ended the recording */
		r = attach_ask(j->proc->pid, words, MAX(patience_ns, (uint64_t)1), &reply, &e);

	t.time_ns = clock_mono_ns();	/* it answers as soon as it has counted */
	if (r) {
		refused_text(&c->refused, "the histogram of live: %s", e.msg);
	} else if (!wait_for_looks(c, j)) {
		refused_source(&c->refused, "live", j->proc->pid, "its agent did not look after the histogram");
	} else {
		lives_collected(j, asked_ns);
		histogram_parse(reply.data, reply.len, write_total, &t);
	}
	buf_release(&reply);
}

void histograms_take(struct collect *c)
{
	struct java *j;

	for (j = c->javas; j; j = j->next) {
		if (j->marks || j->program || !j->lives)
			continue;
		if (j->gone || !j->proc->nr_live)
			refused_source(&c->refused, "live", j->proc->pid, "it ended before its histogram");
		else
			histogram_take(c, j);
	}
}
