// SPDX-License-Identifier: GPL-2.0-or-later
/* difference_data.c - what JSON and CSV have of rows of a difference, and the head of JSON. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/difference.h"
#include "report/report.h"
#include "report/sheet.h"

static const char *const bys[] = { "xprof", "xtree", "xarc" };
static const char *const normalizations[] = { "size", "total", "second", "call", "none", "work" };
static const char *const noises[] = { "sampling", "repeats", "exact", "unknown" };
static const char *const doubts[] = { NULL, "one run", "tiers" };
static const char *const kinds[] = { "parent", "self", "child", "rparent", "rself", "rchild" };

/* Return the consumer that the row is about: for an arc the other end. */
static uint32_t subject(const struct diff_row *row)
{
	return row->kind == DIFF_SELF || row->kind == DIFF_RSELF ? row->consumer : row->other;
}

static void json_side(struct json *j, const struct diff *d, unsigned int side)
{
	size_t i;

	json_array(j, side ? "b" : "a");
	for (i = 0; i < d->nr_runs; i++) {
		const struct diff_run *r = &d->runs[i];

		if (r->side != side)
			continue;
		json_object(j, NULL);
		json_str(j, "file", r->about.path);
		json_u64(j, "total", r->total);
		json_u64_known(j, "n", !d->counts_unknown, r->total_n);
		json_u64_known(j, "duration_ns", r->about.duration_ns, r->about.duration_ns);
		json_u64_known(j, "recorded_ns", r->about.duration_ns, r->about.recorded_ns);
		json_rounded(j, "size", r->size, 9);
		json_u64_known(j, "lost", !r->about.lost_unknown, r->about.lost);
		if (d->filter)
			json_u64(j, "left_out", r->about.nr_left_out);
		json_end(j);
	}
	json_end(j);
}

void difference_json_head(const struct difference *d, struct json *j)
{
	const struct diff_rows *x = d->choice->x;

	report_json_begin(j, "diff");
	json_str(j, "view", bys[x->by]);
	json_object(j, "metric");
	json_str(j, "name", x->d->name);
	json_str(j, "unit", x->d->unit);
	json_bool(j, "exact", x->d->exact);
	json_end(j);
	json_str(j, "of", x->of == DIFF_CUM ? "cum" : "base");
	json_str(j, "normalize", normalizations[x->normalize]);
	if (x->d->work && x->normalize == DIFF_WORK)
		json_str(j, "per", x->d->work);
	json_str(j, "noise", noises[d->noise->kind]);
	json_double(j, "false_discovery_rate", NOISE_FDR);
	if (x->d->filter)
		json_str(j, "filter", x->d->filter);
	json_side(j, x->d, DIFF_A);
	json_side(j, x->d, DIFF_B);
	json_u64(j, "nr_changed", choice_nr_changed(x));
	json_bool(j, "truncated", d->choice->nr_hidden);
	json_u64(j, "not_shown", d->choice->nr_hidden);
}

uint32_t *difference_ids(const struct choice *c)
{
	uint32_t *ids = xcalloc(c->x->d->m.flow.nr_nodes, sizeof(*ids)), nr = 0;
	size_t i;

	for (i = 0; i < c->x->nr && c->x->by == DIFF_BY_CONTEXT; i++)
		if (c->shown[i])
			ids[c->x->list[i].node] = nr++;
	return ids;
}

enum {
	AT_NAME = 3,		/* behind what tells rows apart */
	AT_KIND, AT_MODULE, AT_DETAIL, AT_WAS, AT_A, AT_B, AT_DELTA, AT_CHANGE, AT_LOW, AT_HIGH,
	AT_DETECTABLE, AT_P, AT_Q, AT_CHANGED, AT_DOUBT, AT_INLINED, AT_SHARE_A, AT_SHARE_B, AT_SUM_A,
	AT_SUM_B, AT_N_A, AT_N_B, NR_CELLS
};
_Static_assert((int)NR_CELLS == (int)DIFFERENCE_CELLS, "as in the header");

/* The columns that distinguish rows: [by]. */
static const struct sheet_column first_columns[][AT_NAME] = {
	{ { "index", .json = "" } },
	{ { "id" }, { "parent" } },
	{ { "stanza" }, { "row" }, { .json = "index" } },
};

static const struct sheet_column columns[NR_CELLS] = {
	[AT_NAME] = { "name" }, [AT_KIND] = { "kind" }, [AT_MODULE] = { "module" },
	[AT_DETAIL] = { .json = "detail" }, [AT_WAS] = { "was" },
	[AT_A] = { "a", .digits = 9 }, [AT_B] = { "b", .digits = 9 }, [AT_DELTA] = { "delta", .digits = 9 },
	[AT_CHANGE] = { "change", .digits = 9 },
	[AT_LOW] = { "change_low", .digits = 9 }, [AT_HIGH] = { "change_high", .digits = 9 },
	[AT_DETECTABLE] = { "detectable", .digits = 9 }, [AT_DOUBT] = { "doubt" },
	[AT_SHARE_A] = { "share_a", .digits = 9 }, [AT_SHARE_B] = { "share_b", .digits = 9 },
	[AT_P] = { "p", .digits = 9 }, [AT_Q] = { "q", .digits = 9 },
	[AT_CHANGED] = { "changed" }, [AT_INLINED] = { "inlined_differently" },
	[AT_SUM_A] = { "sum_a" }, [AT_SUM_B] = { "sum_b" },
	[AT_N_A] = { "n_a", .digits = 9 }, [AT_N_B] = { "n_b", .digits = 9 },
};

double difference_share(const struct diff *d, const struct diff_row *row, unsigned int side)
{
	uint64_t total = diff_side_total(d, side);

	return total ? (double)row->sum[side] / total : 0;
}

static struct cell difference_data_number(bool known, double v)
{
	return known && isfinite(v) ? cell_real(v) : cell_none;
}

/* Return a truth value, in CSV as 1 or 0. */
static struct cell yes_no(bool csv, bool yes)
{
	return csv ? cell_u64(yes) : cell_bool(yes);
}

static void set_first(const struct difference *d, size_t i, const uint32_t *ids, struct cell *c)
{
	const struct diff_rows *x = d->choice->x;
	const struct diff_row *row = &x->list[i];
	uint32_t parent = row->node ? x->d->m.flow.nodes[row->node].parent : 0;
	uint32_t stanza = d->choice->stanza_of[subject(row)];

	if (x->by == DIFF_BY_CONTEXT) {
		c[0] = cell_u64(ids[row->node]);
		c[1] = parent ? cell_u64(ids[parent]) : cell_none;
	} else if (x->by == DIFF_BY_ARC) {
		c[0] = cell_u64(d->choice->stanza_of[row->consumer] - 1);
		c[1] = cell_text(kinds[row->kind]);
		c[2] = stanza ? cell_u64(stanza - 1) : cell_none;
	} else {
		c[0] = cell_u64(i);
	}
}

static void set_consumer(const struct diff *d, uint32_t id, bool csv, struct cell *c)
{
	const struct consumer *consumer = &d->m.consumers.items[id];

	c[AT_NAME] = cell_text(id || csv ? model_str(&d->m, consumer->name) : "[root]");
	c[AT_KIND] = cell_text(id ? consumer_kind_name(consumer->kind) : NULL);
	c[AT_MODULE] = cell_text(consumer->module ? model_str(&d->m, consumer->module) : NULL);
	c[AT_DETAIL] = consumer->detail ? cell_text(model_str(&d->m, consumer->detail)) : cell_absent;
	c[AT_WAS] = id && d->was[id] ? cell_text(model_str(&d->m, d->was[id])) : cell_absent;
}

static void set_values(const struct difference *d, const struct diff_row *row, bool csv, struct cell *c)
{
	bool interval = row->known && d->noise->kind != NOISE_EXACT, tested = interval && row->tested;
	bool both = row->defined[DIFF_A] && row->defined[DIFF_B];
	int side;

	for (side = 0; side < DIFF_NR_SIDES; side++) {
		c[AT_A + side] = difference_data_number(row->defined[side], row->value[side]);
		c[AT_SHARE_A + side] = difference_data_number(true,
							      difference_share(d->choice->x->d, row, side));
		c[AT_SUM_A + side] = cell_u64(row->sum[side]);
		c[AT_N_A + side] = d->choice->x->d->counts_unknown ? cell_none :
				   csv ? cell_real(row->n[side]) : cell_u64(row->n[side]);
	}
	c[AT_DELTA] = difference_data_number(both, row->delta);
	c[AT_CHANGE] = difference_data_number(both && row->sum[DIFF_A], choice_change(row));
	c[AT_LOW] = difference_data_number(interval, row->low);
	c[AT_HIGH] = difference_data_number(interval, row->high);
	c[AT_DETECTABLE] = difference_data_number(tested, noise_detectable(d->noise, row));
	c[AT_DOUBT] = cell_text(doubts[row->doubt]);
	c[AT_P] = difference_data_number(tested, row->p);
	c[AT_Q] = difference_data_number(tested, row->q);
	c[AT_CHANGED] = d->noise->kind == NOISE_UNKNOWN ? cell_none : yes_no(csv, row->changed);
	c[AT_INLINED] = yes_no(csv, row->inlined_differently);
}

void difference_columns(const struct diff_rows *x, struct sheet_column *c)
{
	memcpy(c, columns, sizeof(columns));
	memcpy(c, first_columns[x->by], sizeof(first_columns[0]));
}

void difference_cells(const struct difference *d, size_t i, const uint32_t *ids, bool csv, struct cell *c)
{
	const struct diff_row *row = &d->choice->x->list[i];

	set_first(d, i, ids, c);
	set_consumer(d->choice->x->d, subject(row), csv, c);
	set_values(d, row, csv, c);
}
