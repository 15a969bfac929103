// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - functions, or processes and threads, with what they consumed of a metric. */
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/roles.h"
#include "report/measures.h"
#include "terminal/screens.h"

/* Shares from a twentieth on stand out, as in reports. */
enum { HOT_SHARE = 20, AMOUNT_WIDTH = 9, N_WIDTH = 9, WIDE = 100 };

const char *browser_name(struct browser *b, uint32_t consumer)
{
	struct buf raw = BUF_INIT;

	view_name(b->v, consumer, &raw);
	buf_reset(&b->name);
	quote_add(&b->name, raw.data);
	buf_release(&raw);
	return b->name.data;
}

struct flow_order browser_order(const struct browser *b, enum flow_sort by)
{
	const struct model *m = b->v->m;

	return (struct flow_order){ &m->consumers, by, b->metric, m->flow.nr_metrics,
				    model_counter(m, m->metrics[b->metric].source) };
}

enum term_style browser_style(const struct browser *b, uint32_t consumer, const uint64_t *base)
{
	const struct consumer *c = &b->v->m->consumers.items[consumer];
	uint64_t total = b->v->total[b->metric];

	if (consumer && consumer == b->v->m->own)
		return TERM_DIM;
	if (base && total && base[b->metric] >= total / HOT_SHARE && !kind_is(c->kind, KIND_PLACE))
		return TERM_RED;
	if (kind_is(c->kind, KIND_JAVA))
		return TERM_GREEN;
	if (kind_is(c->kind, KIND_PLACE))
		return TERM_CYAN;
	if (c->kind == CONSUMER_KERNEL || c->kind == CONSUMER_REASON || c->kind == CONSUMER_WAIT_FILE)
		return TERM_YELLOW;
	return c->kind == CONSUMER_MARK || c->kind == CONSUMER_UNRESOLVED ? TERM_DIM : TERM_PLAIN;
}

static void put_share(const struct browser *b, const uint64_t *values, struct buf *out)
{
	struct buf x = BUF_INIT;

	if (model_is_marked(b->v->m, values, b->metric))
		buf_putc(&x, '~');
	measures_put_percent(&x, values[b->metric], b->v->total[b->metric]);
	buf_fmt(out, "%7s", x.data);
	buf_release(&x);
}

static void put_amount(const struct browser *b, uint64_t n, struct buf *out)
{
	const struct model *m = b->v->m;
	struct buf x = BUF_INIT;

	report_put_amount(&x, model_str(m, m->metrics[b->metric].unit), n);
	buf_fmt(out, " %*s", AMOUNT_WIDTH, x.data);
	buf_release(&x);
}

void browser_put_cells(struct browser *b, const struct arc_sums *r, struct buf *out)
{
	const struct model *m = b->v->m;
	struct buf x = BUF_INIT;
	int rows, columns;

	tty_size(&rows, &columns);
	put_share(b, r->base, out);
	buf_putc(out, ' ');
	put_share(b, r->cum, out);
	put_amount(b, r->base[b->metric], out);
	if (columns >= WIDE)
		put_amount(b, r->cum[b->metric], out);
	sheet_put_fixed(&x, model_n(m, m->metrics[b->metric].source, r->n, r->base), 0);
	buf_fmt(out, " %*s  ", N_WIDTH, x.data);
	buf_release(&x);
}

void browser_put_heads(struct browser *b, struct buf *out)
{
	const struct model *m = b->v->m;
	int rows, columns;

	tty_size(&rows, &columns);
	buf_fmt(out, "%7s %7s %*s", "%Base", "%Cum", AMOUNT_WIDTH, "Base");
	if (columns >= WIDE)
		buf_fmt(out, " %*s", AMOUNT_WIDTH, "Cum");
	buf_fmt(out, " %*s  ", N_WIDTH, measures_head_n(m->sources[m->metrics[b->metric].source].kind, "Calls"));
}

/* ---- the rows ---- */

static bool has_any(const struct browser *b, const struct flat_row *r)
{
	const struct model *m = b->v->m;

	return r->base[b->metric] || r->cum[b->metric] || r->cum2[b->metric] ||
	       model_n(m, m->metrics[b->metric].source, r->n, r->base);
}

static bool list_is_listed(struct browser *b, const bool *mine, const struct flat_row *r, bool of_threads)
{
	uint32_t consumer = r->consumer;
	const struct consumer *c = &b->v->m->consumers.items[consumer];

	if (of_threads != kind_is(c->kind, KIND_PLACE) || !has_any(b, r))
		return false;
	if (mine && !mine[consumer])
		return false;
	if (*b->filter && !strcasestr(model_str(b->v->m, c->name), b->filter) &&
	    !(c->module && strcasestr(model_str(b->v->m, c->module), b->filter)))
		return false;
	if (of_threads || b->with_entries || *b->filter || !role_is_entry(b->v->m, consumer))
		return true;
	b->nr_entries++;
	return false;
}

/* Sort once for each order, which a filter does not change. Threads consume nothing themselves. */
static void list_sort(struct browser *b, bool of_threads)
{
	enum flow_sort by = of_threads && b->by == FLOW_BY_BASE ? FLOW_BY_CUM : b->by;
	struct flow_order order = browser_order(b, by);

	if (b->is_sorted && b->sorted_by == by && b->sorted_metric == b->metric)
		return;
	flat_sort(&b->flat, &order);
	b->sorted_by = by;
	b->sorted_metric = b->metric;
	b->is_sorted = true;
}

static void list_make_rows(struct browser *b, bool of_threads)
{
	bool *mine = NULL;
	size_t i;

	if (b->mine_only && !of_threads) {
		mine = xcalloc(b->v->m->consumers.nr_items, sizeof(*mine));
		roles_mark_mine(b->v->m, NULL, mine);
	}
	list_sort(b, of_threads);
	free(b->rows);
	b->rows = xcalloc(b->flat.nr + 1, sizeof(*b->rows));
	b->nr_rows = b->nr_entries = 0;
	for (i = 0; i < b->flat.nr; i++)
		if (list_is_listed(b, mine, &b->flat.rows[i], of_threads))
			b->rows[b->nr_rows++] = i;
	b->rows_of_threads = of_threads;
	b->rows_made = true;
	free(mine);
}

static void list_prepare(struct browser *b, struct place *p)
{
	if (!b->rows_made || b->rows_of_threads != p->of_threads)
		list_make_rows(b, p->of_threads);
}

static size_t list_nr_rows(struct browser *b, struct place *p)
{
	return b->nr_rows;
}

static void put_state(const struct browser *b, const struct place *p, struct buf *out)
{
	static const char *const sorts[] = {
		[FLOW_BY_CUM] = "cum", [FLOW_BY_BASE] = "base", [FLOW_BY_N] = "n", [FLOW_BY_NAME] = "name",
	};
	const struct model *m = b->v->m;

	buf_str(out, " ");
	quote_add(out, model_str(m, m->metrics[b->metric].name));
	if (m->nr_shown > 1)
		buf_fmt(out, " (%u of %u)", b->metric + 1, m->nr_shown);
	buf_fmt(out, ", by %s: %zu %s%s", sorts[b->sorted_by], b->nr_rows, p->of_threads ? "process" : "function",
		b->nr_rows == 1 ? "" : p->of_threads ? "es and threads" : "s");
	if (b->mine_only && !p->of_threads)
		buf_str(out, " of the program");
	if (*b->filter) {
		buf_str(out, " with '");
		quote_add(out, b->filter);
		buf_str(out, "' in the name");
	}
	if (b->nr_entries)
		buf_fmt(out, "; e: %zu more that only lead into threads", b->nr_entries);
}

static int list_head(struct browser *b, struct place *p, int line)
{
	int rows, columns;

	tty_size(&rows, &columns);
	buf_reset(&b->cells);
	put_state(b, p, &b->cells);
	tty_put(line, 0, columns, TERM_PLAIN, 0, b->cells.data);
	buf_reset(&b->cells);
	browser_put_heads(b, &b->cells);
	buf_str(&b->cells, p->of_threads ? "Process, thread" : "Function");
	tty_put(line + 1, 0, columns, TERM_BOLD, TTY_UNDERLINE, b->cells.data);
	return line + 2;
}

static void list_row(struct browser *b, struct place *p, size_t i, int line, bool selected)
{
	const struct flat_row *r = &b->flat.rows[b->rows[i]];
	enum term_style style = browser_style(b, r->consumer, r->base);
	int rows, columns, used;

	tty_size(&rows, &columns);
	buf_reset(&b->cells);
	browser_put_cells(b, &(struct arc_sums){ r->n, r->base, r->cum }, &b->cells);
	used = tty_put(line, 0, columns, style == TERM_RED ? style : TERM_PLAIN, selected ? TTY_REVERSE : 0,
		       b->cells.data);
	tty_put(line, used, columns - used, style, (selected ? TTY_REVERSE : 0) | TTY_NAME,
		browser_name(b, r->consumer));
}

static const char *list_row_text(struct browser *b, struct place *p, size_t i)
{
	return browser_name(b, b->flat.rows[b->rows[i]].consumer);
}

static uint32_t consumer(struct browser *b, struct place *p, size_t i)
{
	return b->flat.rows[b->rows[i]].consumer;
}

const struct screen_kind_row screen_list = {
	.prepare = list_prepare, .nr_rows = list_nr_rows, .head = list_head, .row = list_row,
	.row_text = list_row_text, .consumer = consumer,
};
