// SPDX-License-Identifier: GPL-2.0-or-later
/* stanza.c - a function with its callers above it and its callees below, as report --xarc has them. */
#include <string.h>

#include "base/quote.h"
#include "terminal/screens.h"

/* The parts of a stanza, from top to bottom. */
enum part { PARENTS, SELF, CHILDREN, RPARENTS, RSELF, RCHILDREN, NR_PARTS };

struct stanza_row {
	enum part part;
	uint32_t consumer;		/* 0: none, a root's caller */
	const struct arc_sums *sums;
};

static const struct arc_stanza *stanza_of(struct browser *b, uint32_t consumer)
{
	struct flow_order order = browser_order(b, FLOW_BY_CUM);

	if (!b->has_arcs) {
		arcs_init(&b->arcs, &b->v->m->flow);
		arcs_sort(&b->arcs, &order);
		b->has_arcs = true;
	}
	return &b->arcs.stanzas[b->arcs.stanza_of[consumer]];
}

static bool has_any(const struct browser *b, const struct arc *a)
{
	const struct model *m = b->v->m;

	return a->sums.cum[b->metric] || model_n(m, m->metrics[b->metric].source, a->sums.n, a->sums.base);
}

/* Return the arcs that have some of the metric; NULL for the row of the function itself, if *nr is 1. */
static const struct arc *arcs_of(const struct browser *b, const struct arc_stanza *s, enum part part,
				 size_t *nr)
{
	static const uint8_t rows[NR_PARTS] = {
		[PARENTS] = ARC_PARENTS, [CHILDREN] = ARC_CHILDREN, [RPARENTS] = ARC_RPARENTS,
		[RCHILDREN] = ARC_RCHILDREN,
	};
	const struct arc *list;

	if (part == SELF || part == RSELF) {
		*nr = part == SELF || s->nr_rself;
		return NULL;
	}
	*nr = s->nr_rows[rows[part]];
	list = s->rows[rows[part]];
	/* parents have the largest last, so that it is next to self */
	while (*nr && !has_any(b, part == PARENTS || part == RPARENTS ? list : &list[*nr - 1])) {
		list += part == PARENTS || part == RPARENTS;
		--*nr;
	}
	return list;
}

static struct stanza_row row_at(struct browser *b, uint32_t consumer, size_t i)
{
	const struct arc_stanza *s = stanza_of(b, consumer);
	struct stanza_row r = { .part = PARENTS };
	const struct arc *list;
	size_t nr;

	for (; list = arcs_of(b, s, r.part, &nr), i >= nr && r.part < RCHILDREN; r.part++)
		i -= nr;
	if (list) {
		r.consumer = list[i].consumer;
		r.sums = &list[i].sums;
	} else {
		r.consumer = s->consumer;
		r.sums = r.part == SELF ? &s->self : &s->rself;
	}
	return r;
}

size_t stanza_self(struct browser *b, uint32_t consumer)
{
	size_t nr;

	arcs_of(b, stanza_of(b, consumer), PARENTS, &nr);
	return nr;
}

static void stanza_prepare(struct browser *b, struct place *p)
{
	stanza_of(b, p->consumer);
}

static size_t stanza_nr_rows(struct browser *b, struct place *p)
{
	const struct arc_stanza *s = stanza_of(b, p->consumer);
	enum part part;
	size_t sum = 0, nr;

	for (part = PARENTS; part < NR_PARTS; part++) {
		arcs_of(b, s, part, &nr);
		sum += nr;
	}
	return sum;
}

static int stanza_head(struct browser *b, struct place *p, int line)
{
	const struct model *m = b->v->m;
	const struct consumer *c = &m->consumers.items[p->consumer];
	int rows, columns;

	tty_size(&rows, &columns);
	buf_reset(&b->cells);
	buf_fmt(&b->cells, " %s  ", browser_name(b, p->consumer));
	rows = tty_put(line, 0, columns, TERM_BOLD, TTY_NAME, b->cells.data);
	buf_reset(&b->cells);
	quote_add(&b->cells, consumer_kind_name(c->kind));
	if (c->module) {
		buf_str(&b->cells, " in ");
		quote_add(&b->cells, model_str(m, c->module));
	}
	buf_str(&b->cells, ": ");
	quote_add(&b->cells, model_str(m, m->metrics[b->metric].name));
	tty_put(line, rows, columns - rows, TERM_DIM, TTY_NAME, b->cells.data);
	buf_reset(&b->cells);
	browser_put_heads(b, &b->cells);
	buf_str(&b->cells, "Source   Function");
	tty_put(line + 1, 0, columns, TERM_BOLD, TTY_UNDERLINE, b->cells.data);
	return line + 2;
}

static void stanza_row_of(struct browser *b, struct place *p, size_t i, int line, bool selected)
{
	static const char *const words[NR_PARTS] = {
		"Parent", "Self", "Child", "rParent", "rSelf", "rChild",
	};
	struct stanza_row r = row_at(b, p->consumer, i);
	bool self = r.part == SELF || r.part == RSELF;
	unsigned int flags = selected ? TTY_REVERSE : 0;
	enum term_style style = self ? TERM_BOLD : browser_style(b, r.consumer, NULL);
	int rows, columns, used;

	tty_size(&rows, &columns);
	buf_reset(&b->cells);
	browser_put_cells(b, r.sums, &b->cells);
	buf_fmt(&b->cells, "%-7s  ", words[r.part]);
	used = tty_put(line, 0, columns, self ? TERM_BOLD : TERM_PLAIN, flags, b->cells.data);
	if (r.part == CHILDREN || r.part == RCHILDREN)
		used += tty_put(line, used, columns - used, TERM_PLAIN, flags, "  ");
	tty_put(line, used, columns - used, style, flags | TTY_NAME, browser_name(b, r.consumer));
}

static const char *stanza_row_text(struct browser *b, struct place *p, size_t i)
{
	return browser_name(b, row_at(b, p->consumer, i).consumer);
}

static uint32_t consumer(struct browser *b, struct place *p, size_t i)
{
	return row_at(b, p->consumer, i).consumer;
}

const struct screen_kind_row screen_stanza = {
	.prepare = stanza_prepare, .nr_rows = stanza_nr_rows, .head = stanza_head, .row = stanza_row_of,
	.row_text = stanza_row_text, .consumer = consumer,
};
