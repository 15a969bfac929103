// SPDX-License-Identifier: GPL-2.0-or-later
/* difference_data.c - rows of a difference as JSON and CSV, for programs. */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/difference.h"
#include "report/report.h"

static const char *const bys[] = { "xprof", "xtree", "xarc" };
static const char *const normalizations[] = { "total", "second", "call", "none" };
static const char *const noises[] = { "sampling", "repeats", "exact", "unknown" };
static const char *const kinds[] = { "parent", "self", "child", "rparent", "rself", "rchild" };

/* Who the row is about: of an arc the other end. */
static uint32_t subject(const struct diff_row *row)
{
	return row->kind == DIFF_SELF || row->kind == DIFF_RSELF ? row->consumer : row->other;
}

/* ---- JSON ---- */

static void json_consumer_of(struct json *j, const struct diff *d, uint32_t id)
{
	const struct consumer *c = &d->m.consumers.items[id];

	json_str(j, "name", id ? model_str(&d->m, c->name) : "[root]");
	json_str(j, "kind", id ? consumer_kind_name(c->kind) : NULL);
	json_str(j, "module", c->module ? model_str(&d->m, c->module) : NULL);
	if (c->detail)
		json_str(j, "detail", model_str(&d->m, c->detail));
	if (id && d->was[id])
		json_str(j, "was", model_str(&d->m, d->was[id]));
}

static void json_values(struct json *j, const struct difference *d, const struct diff_row *row)
{
	bool interval = row->known && d->noise->kind != NOISE_EXACT;
	bool both = row->defined[DIFF_A] && row->defined[DIFF_B];

	json_double(j, "a", row->defined[DIFF_A] ? row->value[DIFF_A] : NAN);
	json_double(j, "b", row->defined[DIFF_B] ? row->value[DIFF_B] : NAN);
	json_double(j, "delta", both ? row->delta : NAN);
	json_double(j, "change", both && row->sum[DIFF_A] ? choice_change(row) : NAN);
	json_double(j, "low", interval ? row->low : NAN);
	json_double(j, "high", interval ? row->high : NAN);
	json_double(j, "p", interval && row->tested ? row->p : NAN);
	json_double(j, "q", interval && row->tested ? row->q : NAN);
	if (d->noise->kind == NOISE_UNKNOWN)
		json_null(j, "changed");
	else
		json_bool(j, "changed", row->changed);
	json_bool(j, "inlined_differently", row->inlined_differently);
	json_u64(j, "sum_a", row->sum[DIFF_A]);
	json_u64(j, "sum_b", row->sum[DIFF_B]);
	json_u64_known(j, "n_a", !d->choice->x->d->counts_unknown, row->n[DIFF_A]);
	json_u64_known(j, "n_b", !d->choice->x->d->counts_unknown, row->n[DIFF_B]);
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
		json_u64_known(j, "lost", !r->about.lost_unknown, r->about.lost);
		if (d->filter)
			json_u64(j, "left_out", r->about.nr_left_out);
		json_end(j);
	}
	json_end(j);
}

static void json_head(struct json *j, const struct difference *d)
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

static void json_row(struct json *j, const struct difference *d, size_t i, const uint32_t *ids)
{
	const struct diff_rows *x = d->choice->x;
	const struct diff_row *row = &x->list[i];
	uint32_t parent = row->node ? x->d->m.flow.nodes[row->node].parent : 0, of = subject(row);

	json_object(j, NULL);
	if (x->by == DIFF_BY_CONTEXT) {
		json_u64(j, "id", ids[row->node]);
		json_u64_known(j, "parent", parent, ids[parent]);
	}
	if (x->by == DIFF_BY_ARC) {
		json_u64(j, "stanza", d->choice->stanza_of[row->consumer] - 1);
		json_str(j, "row", kinds[row->kind]);
		json_u64_known(j, "index", d->choice->stanza_of[of], (uint64_t)d->choice->stanza_of[of] - 1);
	}
	json_consumer_of(j, x->d, of);
	json_values(j, d, row);
	json_end(j);
}

/* Ids of contexts, in the order in which they are shown. */
static uint32_t *number(const struct choice *c)
{
	uint32_t *ids = xcalloc(c->x->d->m.flow.nr_nodes, sizeof(*ids)), nr = 0;
	size_t i;

	for (i = 0; i < c->x->nr && c->x->by == DIFF_BY_CONTEXT; i++)
		if (c->shown[i])
			ids[c->x->list[i].node] = nr++;
	return ids;
}

void difference_json(const struct difference *d, FILE *out)
{
	uint32_t *ids = number(d->choice);
	struct json j;
	size_t i;

	json_init(&j, out);
	json_head(&j, d);
	json_array(&j, "rows");
	for (i = 0; i < d->choice->x->nr; i++)
		if (d->choice->shown[i])
			json_row(&j, d, i, ids);
	json_end(&j);
	json_end(&j);
	free(ids);
}

/* ---- CSV ---- */

static void csv_text(struct buf *b, const struct diff *d, uint32_t id)
{
	const char *s = model_str(&d->m, id);

	buf_putc(b, ',');
	quote_csv(b, s, strlen(s));
}

/* Empty: not known. */
static void csv_number(struct buf *b, bool known, double v)
{
	buf_putc(b, ',');
	if (known && isfinite(v))
		buf_fmt(b, "%.9g", v);
}

static void csv_row(struct buf *b, const struct difference *d, size_t i, const uint32_t *ids)
{
	const struct diff_rows *x = d->choice->x;
	const struct diff_row *row = &x->list[i];
	bool interval = row->known && d->noise->kind != NOISE_EXACT, unknown = x->d->counts_unknown;
	bool both = row->defined[DIFF_A] && row->defined[DIFF_B];
	uint32_t of = subject(row), parent = row->node ? x->d->m.flow.nodes[row->node].parent : 0;
	const struct consumer *c = &x->d->m.consumers.items[of];

	if (x->by == DIFF_BY_CONTEXT) {
		buf_fmt(b, "%u,", ids[row->node]);
		if (parent)
			buf_fmt(b, "%u", ids[parent]);
	} else if (x->by == DIFF_BY_ARC) {
		buf_fmt(b, "%u,%s", d->choice->stanza_of[row->consumer] - 1, kinds[row->kind]);
	} else {
		buf_fmt(b, "%zu", i);
	}
	csv_text(b, x->d, c->name);
	buf_fmt(b, ",%s", of ? consumer_kind_name(c->kind) : "");
	csv_text(b, x->d, c->module);
	csv_text(b, x->d, of ? x->d->was[of] : 0);
	csv_number(b, row->defined[DIFF_A], row->value[DIFF_A]);
	csv_number(b, row->defined[DIFF_B], row->value[DIFF_B]);
	csv_number(b, both, row->delta);
	csv_number(b, both && row->sum[DIFF_A], choice_change(row));
	csv_number(b, interval, row->low);
	csv_number(b, interval, row->high);
	csv_number(b, interval && row->tested, row->p);
	csv_number(b, interval && row->tested, row->q);
	buf_fmt(b, ",%s", d->noise->kind == NOISE_UNKNOWN ? "" : row->changed ? "1" : "0");
	buf_fmt(b, ",%d,%" PRIu64 ",%" PRIu64, row->inlined_differently, row->sum[DIFF_A], row->sum[DIFF_B]);
	csv_number(b, !unknown, row->n[DIFF_A]);
	csv_number(b, !unknown, row->n[DIFF_B]);
	buf_putc(b, '\n');
}

void difference_csv(const struct difference *d, FILE *out)
{
	static const char *const first[] = { "index", "id,parent", "stanza,row" };
	uint32_t *ids = number(d->choice);
	struct buf b = BUF_INIT;
	size_t i;

	fprintf(out, "%s,name,kind,module,was,a,b,delta,change,low,high,p,q,changed,inlined_differently,sum_a,sum_b,n_a,n_b\n",
		first[d->choice->x->by]);
	for (i = 0; i < d->choice->x->nr; i++) {
		if (!d->choice->shown[i])
			continue;
		buf_reset(&b);
		csv_row(&b, d, i, ids);
		fwrite(b.data, 1, b.len, out);
	}
	buf_release(&b);
	free(ids);
}
