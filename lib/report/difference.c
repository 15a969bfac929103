// SPDX-License-Identifier: GPL-2.0-or-later
/* difference.c - rows of a difference, and what text says of them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "base/term.h"
#include "report/difference.h"
#include "report/report.h"

/* The scale of shown values: a value is multiplied by it. */
struct scale {
	double by;
	const char *unit;
	int decimals;
};

struct printer {
	const struct noise *s;
	const struct diff *d;
	const struct diff_rows *x;
	const struct choice *c;
	FILE *out;
	struct sheet sheet;
	struct scale scale;
	struct buf name, unit, interval, shares;
};

/* Cells of text, behind those of the others. */
enum {
	AT_ROW = DIFFERENCE_CELLS, AT_A, AT_B, AT_DELTA, AT_CHANGE, AT_INTERVAL, AT_SEEN, AT_MARK, AT_SHARES,
	AT_NAME, NR_CELLS
};

static const char *rows_are(const struct printer *p, uint64_t n)
{
	if (p->x->by == DIFF_BY_CONTEXT)
		return n == 1 ? "context" : "contexts";
	if (p->d->kind == FLOW_OBJECTS)
		return n == 1 ? "class" : "classes";
	return n == 1 ? "function" : "functions";
}

/* Choose the unit of values. Nanoseconds are scaled so that the largest value has few digits. */
static void choose_scale(struct printer *p)
{
	static const struct scale of_ns[] = { { 1, "ns", 0 }, { 1e-3, "us", 1 }, { 1e-6, "ms", 2 }, { 1e-9, "s", 3 } };
	double most = 0;
	size_t i;

	if (p->x->normalize == DIFF_TOTAL || p->x->normalize == DIFF_SIZE) {
		p->scale = (struct scale){ 100, "%", 2 };
		return;
	}
	for (i = 0; i < p->x->nr; i++)
		most = MAX(most, MAX(p->x->list[i].value[DIFF_A], p->x->list[i].value[DIFF_B]));
	if (!strcmp(p->d->unit, "ns")) {
		for (i = 0; i + 1 < ARRAY_SIZE(of_ns) && most * of_ns[i].by >= 1e5; i++)
			;
		p->scale = of_ns[i];
		if (p->x->normalize == DIFF_CALL)
			p->scale.decimals = 3;	/* short calls beside long ones */
	} else {
		p->scale = (struct scale){ 1, p->d->unit, most >= 1e5 ? 0 : 2 };
	}
	if (p->x->normalize == DIFF_WORK && most * p->scale.by < 100)
		p->scale.decimals = 3;
	if (p->x->normalize == DIFF_NONE && p->d->nr_runs == DIFF_NR_SIDES &&
	    !strcmp(p->scale.unit, p->d->unit))
		p->scale.decimals = 0;	/* whole numbers */
}

static const char *noise_is(const struct printer *p)
{
	switch (p->s->kind) {
	case NOISE_SAMPLING:
		return "noise estimated from sampling and from all rows";
	case NOISE_REPEATS:
		return "noise estimated from the repeated runs";
	case NOISE_EXACT:
		return "exact counts of one run each";
	case NOISE_UNKNOWN:
		break;
	}
	return p->d->counts_unknown ? "noise unknown: the profile has no numbers of samples" :
				      "noise unknown: one run each";
}

static const char *normalized(const struct printer *p)
{
	static const char *const words[] = { "scaled to runs of equal size", "as shares of each total",
		"per second", "per call", "not normalized", "per unit of work" };

	return words[p->x->normalize];
}

/* " in 3 calls", " in 1 object" */
static void put_things(struct buf *b, uint64_t n, const char *things)
{
	buf_fmt(b, " in %" PRIu64 " %.*s", n, (int)(strlen(things) - (n == 1)), things);
}

/* "10.2 s in 10213 samples", "213495 calls" */
static void put_total(const struct printer *p, unsigned int side, uint64_t n, struct buf *b)
{
	uint64_t total = diff_side_total(p->d, side);

	if (!strcmp(p->d->unit, "ns"))
		report_put_duration(b, total);
	else
		buf_fmt(b, "%" PRIu64 " %s", total, p->d->unit);
	if (!p->d->counts_unknown && (total != n || !strcmp(p->d->unit, "ns")))
		put_things(b, n, model_kind_name(p->d->kind));
}

/* " A  10.2 s in 10213 samples over 10.5 s, 0 lost: before.data" */
static void put_side(const struct printer *p, unsigned int side)
{
	uint64_t n = 0, duration = 0, recorded = 0, lost = 0, left_out = 0;
	bool lost_known = true;
	struct buf b = BUF_INIT;
	const char *sep = ": ";
	size_t i;

	for (i = 0; i < p->d->nr_runs; i++) {
		const struct diff_run *r = &p->d->runs[i];

		if (r->side != side)
			continue;
		n += r->total_n;
		duration += r->about.duration_ns;
		recorded += r->about.recorded_ns;
		lost += r->about.lost;
		left_out += r->about.nr_left_out;
		lost_known &= !r->about.lost_unknown;
	}
	buf_fmt(&b, " %s  ", side ? "B" : "A");
	if (p->d->nr_of_side[side] > 1)
		buf_fmt(&b, "%u runs, ", p->d->nr_of_side[side]);
	put_total(p, side, n, &b);
	if (duration) {
		buf_str(&b, " over ");
		report_put_duration(&b, duration);
	}
	if (recorded < duration) {
		buf_str(&b, ", recorded for ");
		report_put_duration(&b, recorded);
	}
	if (lost_known)
		buf_fmt(&b, ", %" PRIu64 " lost", lost);
	if (p->d->filter)
		buf_fmt(&b, ", %" PRIu64 " left out", left_out);
	for (i = 0; i < p->d->nr_runs; i++) {
		if (p->d->runs[i].side != side)
			continue;
		buf_str(&b, sep);
		sep = ", ";
		quote_add(&b, p->d->runs[i].about.path);
	}
	buf_putc(&b, '\n');
	fwrite(b.data, 1, b.len, p->out);
	buf_release(&b);
}

/* "changed", "grew by at least 5 %" */
static void put_what_changed(const struct printer *p, struct buf *b)
{
	static const char *const words[] = { "changed", "grew", "shrank" };
	const struct choice_opts *o = &p->c->o;

	buf_str(b, words[o->direction]);
	if (o->at_least > 0)
		buf_fmt(b, " by at least %.4g %%", o->at_least * 100);
}

static void put_verdict(const struct printer *p)
{
	size_t nr = 0, changed = choice_nr_changed(p->x), i;
	struct buf what = BUF_INIT;

	for (i = 0; i < p->x->nr; i++)
		nr += p->x->by != DIFF_BY_ARC || p->x->list[i].kind == DIFF_SELF;
	put_what_changed(p, &what);
	if (p->s->kind == NOISE_UNKNOWN)
		fprintf(p->out, " %zu %s\n", nr, rows_are(p, nr));
	else if (p->s->kind == NOISE_EXACT)
		fprintf(p->out, " %zu of %zu %s differ%s (*)\n", changed, nr, rows_are(p, nr),
			changed == 1 ? "s" : "");
	else
		fprintf(p->out, " %zu of %zu %s %s (*: of these one in twenty may be noise)\n", changed, nr,
			rows_are(p, nr), what.data);
	buf_release(&what);
}

static void difference_put_unit(const struct printer *p, struct buf *b)
{
	buf_str(b, p->scale.unit);
	if (p->x->normalize == DIFF_WORK)	/* "mark=request" is "request" */
		buf_fmt(b, "/%s", strchr(p->d->work, '=') ? strchr(p->d->work, '=') + 1 : p->d->work);
	else
		buf_str(b, p->x->normalize == DIFF_SECOND ? "/s" : p->x->normalize == DIFF_CALL ? "/call" : "");
}

static const char *unit_of_delta(const struct printer *p)
{
	return p->x->normalize == DIFF_TOTAL || p->x->normalize == DIFF_SIZE ? "points" : p->unit.data;
}

static void difference_put_head(const struct printer *p)
{
	struct buf name = BUF_INIT;

	fprintf(p->out, "Difference B - A of %s (%s), %s; %s\n", quote_str(&name, p->d->name),
		p->x->of == DIFF_CUM ? "cum" : "base", normalized(p), noise_is(p));
	put_side(p, DIFF_A);
	put_side(p, DIFF_B);
	if (p->d->filter)
		fprintf(p->out, " filter: %s\n", quote_str(&name, p->d->filter));
	put_verdict(p);
	if (p->sheet.chosen)
		fprintf(p->out, " Units :: %s (A, B), %s (Delta), %% (Change, Interval, Seen, Shares)\n", p->unit.data,
			unit_of_delta(p));
	fputc('\n', p->out);
	buf_release(&name);
}

/* Return whether to show shares beside values; normalized values are shares already, or nearly. */
static bool shares_are_shown(const struct printer *p)
{
	return p->x->normalize != DIFF_TOTAL && p->x->normalize != DIFF_SIZE && !p->d->exact;
}

static void difference_set_columns(struct printer *p, struct sheet_column *c)
{
	const bool arcs = p->x->by == DIFF_BY_ARC;
	const bool intervals = p->s->kind == NOISE_SAMPLING || p->s->kind == NOISE_REPEATS;
	const int w = MAX(10, (int)p->unit.len);

	difference_columns(p->x, c);
	c[AT_ROW] = (struct sheet_column){ NULL, arcs ? "" : NULL, 7 };
	c[AT_A] = (struct sheet_column){ NULL, "A", w, p->scale.decimals };
	c[AT_B] = (struct sheet_column){ NULL, "B", w, p->scale.decimals };
	c[AT_DELTA] = (struct sheet_column){ NULL, "Delta", w };
	c[AT_CHANGE] = (struct sheet_column){ NULL, "Change", 8 };
	c[AT_INTERVAL] = (struct sheet_column){ NULL, intervals ? "Interval" : NULL, 18 };
	c[AT_SEEN] = (struct sheet_column){ NULL, intervals ? "Seen" : NULL, 6 };
	c[AT_SHARES] = (struct sheet_column){ NULL, shares_are_shown(p) ? "Shares" : NULL, 14 };
	c[AT_MARK] = (struct sheet_column){ NULL, " " };
	c[AT_NAME] = (struct sheet_column){ NULL, p->x->by == DIFF_BY_CONTEXT ? "Context" :
		p->d->kind == FLOW_OBJECTS ? "Class" : "Function", .cut = true };
}

/* Return a difference with its sign, which one that is shown as 0 lacks. */
static struct cell cell_signed(double v, int decimals)
{
	bool nothing = fabs(v) < .5 * pow(10, -decimals);
	struct cell c = { .type = CELL_WORD };

	snprintf(c.word, sizeof(c.word), nothing ? "%.*f" : "%+.*f", decimals, nothing ? 0 : v);
	return c;
}

/* Append a bound of a change in percent; a very large one is not written in full. */
static void put_bound(struct buf *b, double change)
{
	if (change < 10)
		buf_str(b, cell_signed(change * 100, fabs(change) < .1 ? 1 : 0).word);
	else if (change < 100)
		buf_fmt(b, "x%.0f", change + 1);
	else
		buf_str(b, "x100+");
}

static bool is_defined(const struct diff_row *row)
{
	return row->defined[DIFF_A] && row->defined[DIFF_B];
}

static struct cell change_cell(const struct diff_row *row)
{
	double percent = choice_change(row) * 100;

	if ((!row->sum[DIFF_A] && !row->sum[DIFF_B]) || !is_defined(row))
		return cell_absent;
	if (!row->sum[DIFF_A] || !row->sum[DIFF_B])
		return cell_label(row->sum[DIFF_A] ? "gone" : "new");
	return cell_signed(percent, fabs(percent) < 1000 ? 1 : 0);
}

static void set_texts(struct printer *p, const struct diff_row *row, struct cell *c)
{
	double seen = noise_detectable(p->s, row);
	int side;

	for (side = 0; side < DIFF_NR_SIDES; side++)
		c[AT_A + side] = cell_real(row->defined[side] ? row->value[side] * p->scale.by : NAN);
	c[AT_DELTA] = is_defined(row) ? cell_signed(row->delta * p->scale.by, p->scale.decimals) : cell_none;
	c[AT_CHANGE] = change_cell(row);
	buf_reset(&p->interval);
	put_bound(&p->interval, row->low);
	buf_str(&p->interval, " .. ");
	put_bound(&p->interval, row->high);
	c[AT_INTERVAL] = row->known && row->tested ? cell_text(p->interval.data) : cell_none;
	c[AT_SEEN] = isfinite(seen) ? cell_signed(seen * 100, seen < .1 ? 1 : 0) : cell_none;
	buf_reset(&p->shares);
	buf_fmt(&p->shares, "%.2f > %.2f", difference_share(p->d, row, DIFF_A) * 100,
		difference_share(p->d, row, DIFF_B) * 100);
	c[AT_SHARES] = cell_text(p->shares.data);
	c[AT_MARK] = cell_label(row->changed ? "*" : " ");
	c[AT_NAME] = cell_text(p->name.data);
}

static bool kind_is_of_interest(uint32_t kind)
{
	return kind_is(kind, KIND_JAVA) || kind == CONSUMER_NATIVE_INLINED;
}

static void put_consumer(const struct printer *p, uint32_t id, struct buf *b)
{
	const struct model *m = &p->d->m;
	const struct consumer *c = &m->consumers.items[id];

	if (!id) {
		buf_str(b, "[root]");
		return;
	}
	buf_str(b, model_str(m, c->name));
	if (c->detail)
		buf_fmt(b, " (%s)", model_str(m, c->detail));
	if (p->d->same.kinds && kind_is_of_interest(c->kind))
		buf_fmt(b, " [%s]", consumer_kind_name(c->kind));
	if (p->d->was[id])
		buf_fmt(b, " [was %s]", model_str(m, p->d->was[id]));
}

static void put_indent(const struct flow *f, uint32_t node, struct buf *b)
{
	uint32_t level = 0;

	for (; f->nodes[node].parent; node = f->nodes[node].parent)
		buf_putc(b, ++level % 5 ? '-' : '+');
	if (level)
		buf_putc(b, ' ');
}

static void put_stanza_name(const struct printer *p, const struct diff_row *row, struct buf *b)
{
	uint32_t id = row->kind == DIFF_SELF || row->kind == DIFF_RSELF ? row->consumer : row->other;

	if (row->kind == DIFF_SELF)
		buf_fmt(b, "[%u]  ", p->c->stanza_of[id] - 1);
	else if (row->kind == DIFF_RSELF)
		return;
	else if (p->c->stanza_of[id])
		buf_fmt(b, "  %4u) ", p->c->stanza_of[id] - 1);
	else
		buf_str(b, "     -) ");
	put_consumer(p, id, b);
}

static const char *const kinds[] = { "Parent", "Self", "Child", "rParent", "rSelf", "rChild" };

/* Print the row in the colour of its change. */
static void difference_put_text(struct printer *p, size_t i, struct cell *c)
{
	const struct diff_row *row = &p->x->list[i];

	buf_reset(&p->name);
	buf_str(&p->name, "");
	if (p->x->by == DIFF_BY_ARC) {
		if (choice_begins(p->c, i))
			fputs("=======\n", p->out);
		c[AT_ROW] = cell_label(kinds[row->kind]);
		put_stanza_name(p, row, &p->name);
	} else {
		if (p->x->by == DIFF_BY_CONTEXT)
			put_indent(&p->d->m.flow, row->node, &p->name);
		put_consumer(p, row->consumer, &p->name);
	}
	if (row->inlined_differently)
		buf_str(&p->name, " [inlined differently]");
	if (isfinite(choice_compiled(row)))
		buf_fmt(&p->name, " [compiled code %+.0f %%]", choice_compiled(row) * 100);
	if (row->doubt && row->q <= NOISE_FDR)
		buf_str(&p->name, row->doubt == DIFF_TIERS ? " [compiled late]" : " [few runs]");
	set_texts(p, row, c);
	p->sheet.style = !row->changed ? TERM_PLAIN : row->delta > 0 ? TERM_RED : TERM_GREEN;
}

static void put_foot(const struct printer *p)
{
	if (p->x->by == DIFF_BY_ARC && p->c->nr_shown)
		fputs("=======\n", p->out);
	if (p->c->nr_hidden)
		fprintf(p->out, "\n Not shown: %zu %s%s\n", p->c->nr_hidden, rows_are(p, p->c->nr_hidden),
			p->c->o.significant ? " without a change" : "");
	if (p->s->kind != NOISE_SAMPLING && p->s->kind != NOISE_REPEATS)
		return;
	fputs("\n Interval: 19 of 20 times it contains the true change. Seen: the growth that would have been marked.\n", p->out);
	if (p->s->kind == NOISE_SAMPLING)
		fputs(" Several runs of each side find smaller changes: arcprof diff A1,A2,A3 B1,B2,B3\n", p->out);
}

static void difference_print_rows(struct printer *p, const struct difference *d, int format)
{
	uint32_t *ids = difference_ids(d->choice);
	struct cell cells[NR_CELLS] = { 0 };
	size_t i;

	for (i = 0; i < p->x->nr; i++) {
		if (!p->c->shown[i])
			continue;
		difference_cells(d, i, ids, format == FORMAT_CSV, cells);
		if (sheet_is_text(&p->sheet))
			difference_put_text(p, i, cells);
		sheet_row(&p->sheet, NULL, cells);
	}
	free(ids);
}

int difference_print(const struct difference *d, const struct sheet_choice *choice, int format, int width,
		     FILE *out, struct err *e)
{
	struct printer p = { d->noise, d->choice->x->d, d->choice->x, d->choice };
	struct sheet_column columns[NR_CELLS];
	struct sheet_held h;

	p.out = sheet_hold(&h, choice, out);
	choose_scale(&p);
	difference_put_unit(&p, &p.unit);
	difference_set_columns(&p, columns);
	sheet_init(&p.sheet, format, p.out);
	sheet_choose(&p.sheet, &h.choice);
	p.sheet.width = width;
	difference_json_head(d, &p.sheet.json);
	json_array(&p.sheet.json, "rows");
	if (sheet_is_text(&p.sheet))
		difference_put_head(&p);
	sheet_columns(&p.sheet, columns, NR_CELLS);
	if (sheet_is_text(&p.sheet) && !p.sheet.chosen)
		fprintf(p.out, "%s%*s %*s %*s %8s\n", p.x->by == DIFF_BY_ARC ? "        " : "",
			columns[AT_A].width, p.unit.data, columns[AT_B].width, p.unit.data,
			columns[AT_DELTA].width, unit_of_delta(&p), "%");
	difference_print_rows(&p, d, format);
	sheet_end(&p.sheet);
	json_end(&p.sheet.json);
	json_end(&p.sheet.json);
	if (sheet_is_text(&p.sheet))
		put_foot(&p);
	buf_release(&p.name);
	buf_release(&p.unit);
	buf_release(&p.interval);
	buf_release(&p.shares);
	return sheet_let_go(&h, 0, e);
}
