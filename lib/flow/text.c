// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - parses lines, numbers and directives of text inputs (text.h). */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "flow/text.h"

void text_init(struct text *t, const char *data, size_t len)
{
	memset(t, 0, sizeof(*t));
	t->p = t->line = data;
	t->end = data + len;
}

const char *text_line(struct text *t, size_t *len)
{
	const char *eol;

	if (t->p >= t->end)
		return NULL;
	t->line = t->p;
	t->line_nr++;
	eol = memchr(t->p, '\n', t->end - t->p);
	*len = (eol ? eol : t->end) - t->line;
	t->p = eol ? eol + 1 : t->end;
	if (*len && t->line[*len - 1] == '\r')
		--*len;
	return t->line;
}

int text_bad(const struct text *t, struct err *e, const char *fmt, ...)
{
	char msg[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return err_set(e, EINVAL, "line %zu: %s", t->line_nr, msg);
}

bool text_u64(const char **p, const char *end, uint64_t *v)
{
	const char *s = *p;
	uint64_t x = 0;

	for (; s < end && (unsigned char)(*s - '0') < 10; s++)
		if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *s - '0', &x))
			return false;
	if (s == *p)
		return false;
	*p = s;
	*v = x;
	return true;
}

static const char *flow_text_word(const char **p, const char *end, size_t *len)
{
	const char *s;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	for (s = *p; *p < end && **p != ' ' && **p != '\t'; ++*p)
		;
	*len = *p - s;
	return s;
}

static bool flow_text_is(const char *s, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(s, what, len);
}

/* Return false for an unknown kind of n. */
static bool find_kind(const char *s, size_t len, enum flow_n *kind)
{
	static const enum flow_n kinds[] = { FLOW_CALLS, FLOW_SAMPLES, FLOW_OBJECTS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!flow_text_is(s, len, model_kind_name(kinds[i])))
			continue;
		*kind = kinds[i];
		return true;
	}
	return false;
}

static int directive(struct text *t, const char *p, const char *end, struct err *e)
{
	struct text_metric *x;
	size_t len, arg_len;
	const char *w = flow_text_word(&p, end, &len), *arg = flow_text_word(&p, end, &arg_len);

	if (flow_text_is(w, len, "metric") && arg_len) {
		if (t->nr_metrics >= FLOW_MAX_METRICS)
			return text_bad(t, e, "more than %d metrics", FLOW_MAX_METRICS);
		x = &t->metrics[t->nr_metrics++];
		x->name = arg;
		x->name_len = arg_len;
		x->unit = flow_text_word(&p, end, &x->unit_len);
		x->counter = flow_text_word(&p, end, &x->counter_len);
	} else if (flow_text_is(w, len, "n")) {
		t->n_given |= find_kind(arg, arg_len, &t->n_means);
	} else if (flow_text_is(w, len, "clock") && flow_text_is(arg, arg_len, "thread")) {
		t->own_clock = true;
	} else if (flow_text_is(w, len, "levels") && !arg_len) {
		t->levels = true;
	} else if (flow_text_is(w, len, "nodes") && !arg_len) {
		t->nodes = true;
	}
	return 0;
}

int text_directives(struct text *t, struct err *e)
{
	const char *line;
	size_t len;
	int r;

	while (t->p < t->end && (*t->p == '#' || *t->p == '\n' || *t->p == '\r')) {
		line = text_line(t, &len);
		if (len && *line == '#' && (r = directive(t, line + 1, line + len, e)))
			return r;
	}
	return 0;
}

/* Remove the escapes that output_tree() makes; a name with others stays. */
static void set_metric(struct model *m, unsigned int i, const struct text_metric *x)
{
	struct buf name = BUF_INIT, unit = BUF_INIT;

	if (!quote_undo(&name, x->name, x->name_len, "\\;"))
		buf_add(&name, x->name, x->name_len);
	if (!quote_undo(&unit, x->unit, x->unit_len, "\\;"))
		buf_add(&unit, x->unit, x->unit_len);
	model_set_metric(m, i, name.data, name.len, unit.data ? unit.data : "", unit.len);
	buf_release(&name);
	buf_release(&unit);
}

void text_name_metrics(const struct text *t, struct model *m, const char *def_name, const char *def_unit)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < m->flow.nr_metrics; i++) {
		if (i < t->nr_metrics) {
			set_metric(m, i, &t->metrics[i]);
			continue;
		}
		if (i) {
			snprintf(name, sizeof(name), "metric%u", i + 1);
			model_set_metric(m, i, name, strlen(name), "units", 5);
		} else {
			model_set_metric(m, i, def_name, strlen(def_name), def_unit, strlen(def_unit));
		}
	}
	if (m->sources[0].kind == FLOW_SAMPLES)
		m->sources[0].name = m->metrics[0].name;
}

uint32_t text_consumer(struct text_names *x, struct consumers *c, const char *name, size_t len)
{
	uint32_t id = strtab_add(&c->names, name, len);
	size_t was = x->alloc_consumers;

	if (id >= was) {
		x->alloc_consumers = MAX((size_t)id + 1, was * 2);
		x->consumers = xrealloc(x->consumers, x->alloc_consumers * sizeof(*x->consumers));
		memset(x->consumers + was, 0, (x->alloc_consumers - was) * sizeof(*x->consumers));
	}
	if (!x->consumers[id])
		x->consumers[id] = consumer_add(c, &(struct consumer){ .name = id });
	return x->consumers[id];
}
