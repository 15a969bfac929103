// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * input_events.c - enter and leave events as text.
 *
 * Speed comes from guessing: the name of a leave is compared with the innermost open
 * consumer's, that of an enter with the last child's; only when the guess is wrong the line's
 * end is looked for and the name interned.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/events.h"
#include "flow/input.h"
#include "flow/text.h"

struct parser {
	struct text t;
	struct model *m;
	struct flow_events b;
	struct text_names names;
	unsigned int nr_values;
};

/* Return the number of values before the kind; 0 if the line has no kind. */
static unsigned int count_values(const char *p, const char *end)
{
	unsigned int nr = 0;
	uint64_t v;

	while (nr < FLOW_MAX_METRICS && text_u64(&p, end, &v) && p < end && *p == ' ') {
		nr++;
		p++;
		if (p < end && (unsigned char)(*p - '0') >= 10)
			return nr;
	}
	return 0;
}

static int input_events_start_thread(struct parser *x, const char *name, size_t len, const uint64_t *values)
{
	struct consumer c = { .kind = CONSUMER_THREAD };
	char *full = xasprintf("%.*s_pidtid", (int)MIN(len, 65536), name);

	c.name = strtab_adds(&x->m->consumers.names, full);
	free(full);
	flow_events_switch(&x->b, consumer_add(&x->m->consumers, &c), values);
	return 0;
}

static int slow_line(struct parser *x, struct err *e)
{
	uint64_t values[FLOW_MAX_METRICS];
	const char *line, *p, *end;
	unsigned int i;
	size_t len;

	line = text_line(&x->t, &len);
	if (!len || *line == '#')
		return 0;
	p = line;
	end = line + len;
	for (i = 0; i < x->nr_values; i++) {
		if (!text_u64(&p, end, &values[i]) || p >= end || *p != ' ')
			return text_bad(&x->t, e, "want %u value%s, a kind and a name", x->nr_values,
					plural(x->nr_values));
		p++;
		if (x->b.nr_threads && values[i] < x->b.last[i] && !x->b.own_clock)
			return text_bad(&x->t, e, "value %llu is lower than %llu before it",
					(unsigned long long)values[i], (unsigned long long)x->b.last[i]);
	}
	if (end - p > 7 && !memcmp(p, "pidtid ", 7))
		return input_events_start_thread(x, p + 7, end - p - 7, values);
	if (end - p < 3 || (*p != '>' && *p != '<') || p[1] != ' ')
		return text_bad(&x->t, e,
				"invalid line (expected one of: '> name', '< name', 'pidtid name')");
	if (!x->b.nr_threads)
		input_events_start_thread(x, "unnamed", 7, values);
	i = text_consumer(&x->names, &x->m->consumers, p + 2, end - p - 2);
	if (*p == '>')
		flow_events_enter(&x->b, i, values);
	else
		flow_events_leave(&x->b, i, values);
	return 0;
}

/*
 * Handle one line with one value whose name is the guessed one; return false without any effect for any
 * other line.
 */
static inline bool fast_line(struct parser *x)
{
	const struct flow *f = &x->m->flow;
	const char *p = x->t.p, *end = x->t.end;
	const struct strtab_entry *name;
	uint64_t v = 0;
	uint32_t node;
	unsigned char digit;

	/* At most 18 digits cannot overflow, and the line is not cut before its name. */
	if (end - p < 24)
		return false;
	for (; (digit = *p - '0') < 10 && p - x->t.p < 18; p++)
		v = v * 10 + digit;
	if (p == x->t.p || p[0] != ' ' || p[2] != ' ' || v < x->b.last[0])
		return false;
	if (p[1] == '<')
		node = x->b.open != x->b.root ? x->b.open : FLOW_NONE;
	else if (p[1] == '>')
		node = f->nodes[x->b.open].last;
	else
		return false;
	if (!node)
		return false;
	name = &x->m->consumers.names.entries[x->m->consumers.items[f->nodes[node].consumer].name];
	if ((size_t)(end - p) < (size_t)name->len + 4 || p[3 + name->len] != '\n' ||
	    memcmp(p + 3, name->s, name->len) != 0)
		return false;
	flow_events_charge(&x->b, &v);
	x->m->flow.nodes[node].n += p[1] == '>';
	x->b.open = p[1] == '>' ? node : f->nodes[node].parent;
	x->t.p = p + 4 + name->len;
	x->t.line_nr++;
	return true;
}

static int parse(struct parser *x, struct err *e)
{
	bool fast;
	int r;

	for (fast = x->nr_values == 1; x->t.p < x->t.end;) {
		if (fast && x->b.nr_threads && fast_line(x))
			continue;
		if ((r = slow_line(x, e)))
			return r;
	}
	return 0;
}

int input_events(struct model *m, const char *data, size_t len, struct err *e)
{
	struct parser x = { .m = m };
	const char *eol;
	int r;

	text_init(&x.t, data, len);
	r = text_directives(&x.t, e);
	x.nr_values = 1;
	if (!r && x.t.p < x.t.end) {
		eol = memchr(x.t.p, '\n', x.t.end - x.t.p);
		x.nr_values = count_values(x.t.p, eol ? eol : x.t.end);
		if (!x.nr_values) {
			x.t.line_nr++;
			r = text_bad(&x.t, e, "want a value, a kind and a name");
			x.nr_values = 1;
		} else if (x.t.nr_metrics && x.t.nr_metrics != x.nr_values) {
			x.t.line_nr++;
			r = text_bad(&x.t, e, "%u values, but %u metrics were named", x.nr_values,
				     x.t.nr_metrics);
		}
	}
	model_init(m, x.nr_values, FLOW_CALLS);
	text_name_metrics(&x.t, m, "metric", "units");
	flow_events_init(&x.b, &m->flow);
	x.b.own_clock = x.t.own_clock;
	if (!r)
		r = parse(&x, e);
	flow_events_finish(&x.b);
	flow_finish(&m->flow);
	flow_events_release(&x.b);
	free(x.names.consumers);
	return r;
}
