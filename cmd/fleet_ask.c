// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_ask.c - "arcprof fleet report URL --xprof" and "--function": what the server adds up itself. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "cmd.h"
#include "fleet.h"
#include "fleet/ask.h"
#include "report/sheet.h"

enum { WHAT, PBASE, PCUM, N, BASE, CUM, CUM2, NAME, KIND, MODULE, NR_COLUMNS };

/* Times in us, other units as they are. */
static void set_columns(struct sheet_column *c, const struct ask_answer *a, bool stanza)
{
	double unit = !strcmp(a->metric.unit, "ns") ? UNIT_US : 0;

	memcpy(c, (const struct sheet_column[NR_COLUMNS]){
		[WHAT] = { stanza ? "what" : NULL, stanza ? "Row" : NULL, -7 },
		[PBASE] = { NULL, stanza ? NULL : "%Base", 7, 2 },
		[PCUM] = { NULL, stanza ? NULL : "%Cum", 7, 2 },
		[N] = { "n", !strcmp(a->metric.source, "calls") ? "Calls" : "Samples", 12 },
		[BASE] = { "base", "Base", 15, .unit = unit },
		[CUM] = { "cum", "Cum", 15, .unit = unit },
		[CUM2] = { stanza ? NULL : "cum_recursive", stanza ? NULL : "Cum2", 12, .unit = unit },
		[NAME] = { "name", stanza ? "Function" : "Name", -1 },
		[KIND] = { "kind", NULL },
		[MODULE] = { "module", NULL },
	}, NR_COLUMNS * sizeof(*c));
}

static double percent(uint64_t v, uint64_t total)
{
	return total ? 100.0 * v / total : NAN;
}

static void put_row(struct sheet *s, const struct ask_row *r, uint64_t total)
{
	sheet_row(s, NULL, (const struct cell[NR_COLUMNS]){
		[WHAT] = cell_text(r->what),
		[PBASE] = cell_real(percent(r->base, total)),
		[PCUM] = cell_real(percent(r->cum, total)),
		[N] = cell_u64(r->n),
		[BASE] = cell_u64(r->base),
		[CUM] = cell_u64(r->cum),
		[CUM2] = cell_u64(r->cum_recursive),
		[NAME] = cell_text(r->name),
		[KIND] = cell_text(r->kind),
		[MODULE] = cell_text(r->module),
	});
}

/* Sum a flat profile, or the function of a stanza. In a flat profile, shares are of the total. */
static void sum_up(const struct ask_answer *a, bool stanza, uint64_t *n, uint64_t *total)
{
	size_t i;

	*n = *total = 0;
	for (i = 0; i < a->nr_rows; i++) {
		const struct ask_row *r = &a->rows[i];
		bool counts = !stanza || !strcmp(r->what, "Self") || !strcmp(r->what, "rSelf");

		*n += counts ? r->n : 0;
		*total += !counts ? 0 : !stanza ? r->base : strcmp(r->what, "Self") ? 0 : r->cum;
	}
}

static void put_head(const struct fleet_opts *o, const struct ask_answer *a, uint64_t n, FILE *out)
{
	const char *unit = a->metric.unit;

	fprintf(out, "%" PRIu64 " %s of ", n, !strcmp(a->metric.source, "calls") ? "calls" : "samples");
	quote_print(o->function ? o->function : a->metric.name, out);
	if (o->function) {
		fputs(", by ", out);
		quote_print(a->metric.name, out);
	}
	if (*unit) {
		fputs(" in ", out);
		quote_print(strcmp(unit, "ns") ? unit : "us", out);
	}
	fputs("; added up by the server\n\n", out);
}

static int print(const struct fleet_opts *o, const struct ask_answer *a, struct err *e)
{
	size_t i, nr = o->limit && !o->choice.sort ? MIN(a->nr_rows, o->limit) : a->nr_rows, nr_hidden;
	struct sheet_column columns[NR_COLUMNS];
	bool stanza = o->function;
	struct sheet_held held;
	uint64_t n, total;
	struct sheet s;

	sum_up(a, stanza, &n, &total);
	set_columns(columns, a, stanza);
	sheet_init(&s, o->format, sheet_hold(&held, &o->choice, stdout));
	held.choice.limit = o->limit;
	sheet_choose(&s, &held.choice);
	json_object(&s.json, NULL);
	json_str(&s.json, "metric", a->metric.name);
	json_str(&s.json, "unit", a->metric.unit);
	json_u64(&s.json, "n", n);
	json_u64(&s.json, "total", total);
	if (sheet_is_text(&s))
		put_head(o, a, n, s.out);
	json_array(&s.json, "rows");
	sheet_columns(&s, columns, NR_COLUMNS);
	for (i = 0; i < nr; i++)
		put_row(&s, &a->rows[i], total);
	sheet_end_rows(&s);
	nr_hidden = a->nr_rows - nr + sheet_nr_hidden(&s);
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (sheet_is_text(&s) && nr_hidden)
		fprintf(s.out, "\n%zu more row%s\n", nr_hidden, plural(nr_hidden));
	return sheet_let_go(&held, 0, e);
}

int fleet_ask(const struct fleet_opts *o, const struct http_server *server, struct err *e)
{
	struct buf where = BUF_INIT;
	struct ask_answer a;
	struct fetch f;
	int r = fleet_choose(o, server, &f, &where, e);

	if (!r) {
		r = ask_server(&a, &f, o->function, e);
		if (!r)
			r = print(o, &a, e);
		ask_release(&a);
	}
	buf_release(&where);
	return r;
}
