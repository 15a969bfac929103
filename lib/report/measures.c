// SPDX-License-Identifier: GPL-2.0-or-later
/* measures.c - what the rows of a view consumed, as cells of a sheet. */
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/head.h"
#include "report/measures.h"

enum { HOT_SHARE = 20 };	/* of the total: a twentieth */

struct cell measures_percent(uint64_t value, uint64_t total)
{
	return cell_fixed(total ? ((unsigned __int128)value * 10000 + total / 2) / total : 0);
}

void measures_put_percent(struct buf *b, uint64_t value, uint64_t total)
{
	sheet_put_fixed(b, measures_percent(value, total).u64, 2);
}

static struct cell scaled(uint64_t value, const struct metric_unit *u)
{
	uint64_t ten = 1;
	int i;

	for (i = 0; i < u->decimals; i++)
		ten *= 10;
	return cell_fixed(((unsigned __int128)value * ten + u->divisor / 2) / u->divisor);
}

bool measures_hide_percent(const struct view *v)
{
	return v->o->absolute && !v->o->percent;
}

const char *measures_head_n(enum flow_n kind, const char *calls)
{
	return kind == FLOW_SAMPLES ? "Samples" : kind == FLOW_OBJECTS ? "Objects" : calls;
}

static int width_of_fixed(uint64_t value, int decimals)
{
	struct buf b = BUF_INIT;
	int width;

	sheet_put_fixed(&b, value, decimals);
	width = b.len;
	buf_release(&b);
	return width;
}

int measures_width_n(const struct view *v, int least)
{
	return MAX(least, width_of_fixed(v->total_n, 0));
}

/* ---- columns ---- */

void measures_init(struct measures *t, const struct view *v, FILE *out)
{
	*t = (struct measures){ .v = v };
	sheet_init(&t->sheet, v->o->format, out);
	t->sheet.width = v->o->width;
}

static void measures_add_values(struct measures *t, struct measures_column m, const struct sheet_column *c)
{
	VEC_GROW(t->columns, t->nr, t->alloc_columns);
	VEC_GROW(t->cells, t->nr, t->alloc_cells);
	VEC_GROW(t->list, t->nr, t->alloc_list);
	t->columns[t->nr] = *c;
	t->list[t->nr++] = m;
}

void measures_own(struct measures *t, const struct sheet_column *columns, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		measures_add_values(t, (struct measures_column){ MEASURE_OWN }, &columns[i]);
}

static const struct sheet_column consumer_columns[] = {
	[MEASURE_NAME] = { "name" }, [MEASURE_KIND] = { "kind" }, [MEASURE_MODULE] = { "module" },
	[MEASURE_DETAIL] = { .json = "detail" }, [MEASURE_PID] = { .json = "pid" },
	[MEASURE_TID] = { .json = "tid" },
};

void measures_consumer(struct measures *t)
{
	enum measure_what what;

	if (!sheet_is_text(&t->sheet))
		for (what = MEASURE_NAME; what <= MEASURE_TID; what++)
			measures_add_values(t, (struct measures_column){ what }, &consumer_columns[what]);
}

/*
 * Choose the unit of nanoseconds so that the total has three to seven digits, or with fine up to nine; other
 * units stay.
 */
static struct metric_unit choose_unit(const struct view *v, unsigned int m, bool fine)
{
	const char *unit = model_str(v->m, v->m->metrics[m].unit);

	if (strcmp(unit, "ns") != 0 || v->o->absolute || v->total[m] < 1000000)
		return (struct metric_unit){ 1, 0, unit };
	if (v->total[m] < (fine ? 1000000000000 : 1000000000))
		return (struct metric_unit){ 1000, 0, "us" };
	if (v->total[m] < 1000000000000)
		return (struct metric_unit){ 1000000, 0, "ms" };
	return (struct metric_unit){ 1000000000, 2, "s" };
}

/* Choose all units. Without percentages, values need more digits, as they alone tell small rows apart. */
static void choose_units(struct measures *t, const struct measure *list, size_t nr)
{
	const struct model *m = t->v->m;
	bool fine = true;
	unsigned int k;
	size_t i;

	for (i = 0; i < nr; i++)
		fine &= list[i].what != MEASURE_PERCENT;
	for (k = 0; k < m->flow.nr_metrics; k++)
		t->units[k] = k < m->nr_shown ? choose_unit(t->v, k, fine) : t->units[m->delta_of[k]];
	for (k = 0; k < m->nr_shown; k++)
		t->names[k] = xstrdup(model_str(m, m->metrics[k].name));
}

/* Return the head over a group of columns; text has it only with several metrics or sources. */
static const char *group_name(const struct measures *t, unsigned int metric)
{
	const struct model *m = t->v->m;

	if (sheet_is_text(&t->sheet) && m->nr_shown < 2 && m->nr_sources < 2)
		return NULL;
	return t->names[metric];
}

/* "n" of the first source, "samples:faults" of another one. metric: before whose measures it is. */
static void add_count(struct measures *t, const struct measure *x, unsigned int source, unsigned int metric)
{
	const struct model *m = t->v->m;
	const struct model_source *s = &m->sources[source];
	struct sheet_column c = { .key = x->key, .before = " " };

	if (!x->head && !x->key)
		return;
	c.head = measures_head_n(s->kind, x->head);
	c.width = MAX(MAX(x->width, (int)strlen(c.head)),
		      width_of_fixed(model_n(m, source, t->v->total_n, t->v->total), 0));
	if (sheet_is_text(&t->sheet)) {
		if (m->nr_sources > 1 && model_has_metrics(m, source))
			c.of = group_name(t, metric);
	} else if (source) {
		c.key = model_kind_name(s->kind);
		c.of = model_str(m, s->name);
	}
	measures_add_values(t, (struct measures_column){ MEASURE_COUNT, .at = source }, &c);
}

static bool is_hidden(const struct measures *t, const struct measure *x, unsigned int metric)
{
	const struct model *m = t->v->m;
	bool text = sheet_is_text(&t->sheet);

	if (text ? !x->head : !x->key)
		return true;
	if (x->what == MEASURE_PER_CALL || x->what == MEASURE_MARGIN)
		return !t->v->origin->blend || m->sources[m->metrics[metric].source].kind != FLOW_SAMPLES;
	if (x->what == MEASURE_PERCENT)
		return measures_hide_percent(t->v);
	return x->what == MEASURE_VALUE && text && t->v->o->percent && !t->v->o->absolute;
}

static void add_measure(struct measures *t, const struct measure *x, unsigned int metric)
{
	const struct metric_unit *u = &t->units[metric];
	struct sheet_column c = { x->key, x->head, .before = " ", .of = group_name(t, metric) };

	if (is_hidden(t, x, metric))
		return;
	if (c.head)
		c.width = MAX(x->width, (int)strlen(c.head));
	if (x->what == MEASURE_VALUE)
		c.width = MAX(c.width, width_of_fixed(scaled(t->v->total[metric], u).u64, u->decimals) +
			      !!model_delta(t->v->m, metric));
	c.decimals = x->what == MEASURE_PERCENT ? 2 : u->decimals;
	c.digits = 9;
	measures_add_values(t, (struct measures_column){ x->what, x->of, metric }, &c);
}

/* Add n of a first source without metrics, then a group for each metric. */
static void add_groups(struct measures *t, const struct measure *list, size_t nr)
{
	const struct model *m = t->v->m;
	unsigned int k;
	size_t i;

	for (i = 0; i < nr && !model_has_metrics(m, 0); i++)
		if (list[i].what == MEASURE_COUNT)
			add_count(t, &list[i], 0, 0);
	for (k = 0; k < m->nr_shown; k++)
		for (i = 0; i < nr; i++) {
			if (list[i].what != MEASURE_COUNT)
				add_measure(t, &list[i], k);
			else if (model_leads_source(m, k))
				add_count(t, &list[i], m->metrics[k].source, k);
		}
}

/* Add an array with nr numbers. */
static void add_array(struct measures *t, const struct measure *x, const char *key, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		measures_add_values(t, (struct measures_column){ x->what, x->of, i },
				    &(struct sheet_column){ key, .of = "" });
}

static void add_json(struct measures *t, const struct measure *x)
{
	const struct model *m = t->v->m;

	switch (x->what) {
	case MEASURE_COUNT:
		if (!x->json)
			measures_add_values(t, (struct measures_column){ MEASURE_N },
					    &(struct sheet_column){ "n" });
		if (x->json || m->nr_sources > 1)
			add_array(t, x, "ns", m->nr_sources);
		break;
	case MEASURE_VALUE:
		add_array(t, x, x->json ? x->json : x->key, x->json ? m->nr_shown : m->flow.nr_metrics);
		break;
	case MEASURE_DELTA:
		add_array(t, x, x->key, m->nr_shown);
		break;
	default:
		break;
	}
}

void measures_add(struct measures *t, const struct measure *list, size_t nr)
{
	size_t i;

	choose_units(t, list, nr);
	if (t->v->o->format != FORMAT_JSON)
		add_groups(t, list, nr);
	else
		for (i = 0; i < nr; i++)
			add_json(t, &list[i]);
}

/* ---- printing ---- */

/* " Units :: ms (cpu); Total :: 12.5", for each metric. */
static void print_units(const struct measures *t)
{
	const struct model *model = t->v->m;
	struct buf b = BUF_INIT;
	unsigned int m;

	for (m = 0; m < model->nr_shown; m++) {
		const struct metric_unit *u = &t->units[m];

		buf_str(&b, " Units :: ");
		quote_add(&b, u->unit);
		buf_str(&b, " (");
		quote_add(&b, model_str(model, model->metrics[m].name));
		buf_str(&b, "); Total :: ");
		sheet_put_fixed(&b, scaled(t->v->total[m], u).u64, u->decimals);
		buf_putc(&b, '\n');
	}
	buf_putc(&b, '\n');
	fwrite(b.data, 1, b.len, t->sheet.out);
	buf_release(&b);
}

void measures_begin(struct measures *t, const char *rows)
{
	size_t i;

	if (sheet_is_text(&t->sheet)) {
		head_text(t->v, t->sheet.out);
		print_units(t);
	} else if (t->v->o->format == FORMAT_JSON) {
		head_json(t->v, &t->sheet.json);
		json_array(&t->sheet.json, rows);
	}
	sheet_choose(&t->sheet, &t->v->o->choice);
	/* cells that text does not have are most of the time that large trees take */
	for (i = 0; i < t->nr; i++)
		t->list[i].used = !sheet_is_text(&t->sheet) || t->columns[i].head || t->columns[i].note ||
				  t->sheet.chosen;
	t->sheet.style = TERM_BOLD;
	sheet_columns(&t->sheet, t->columns, t->nr);
}

/* Return the name; JSON has the numbers of processes and threads as members. */
struct cell measures_name(struct measures *t, uint32_t consumer)
{
	if (t->v->o->format == FORMAT_JSON)
		return cell_text(consumer ? consumer_name(&t->v->m->consumers, consumer) : "[root]");
	buf_reset(&t->name);
	view_name(t->v, consumer, &t->name);
	return cell_text(t->name.data);
}

static struct cell consumer_cell(struct measures *t, enum measure_what what, uint32_t consumer)
{
	const struct model *m = t->v->m;
	const struct consumer *c = &m->consumers.items[consumer];
	bool process = c->key && c->kind == CONSUMER_PROCESS, thread = c->key && c->kind == CONSUMER_THREAD;

	switch (what) {
	case MEASURE_NAME:
		return measures_name(t, consumer);
	case MEASURE_KIND:
		return cell_text(consumer_kind_name(c->kind));
	case MEASURE_MODULE:
		return cell_text(c->module ? model_str(m, c->module) : NULL);
	case MEASURE_DETAIL:
		return c->detail ? cell_text(model_str(m, c->detail)) : cell_absent;
	case MEASURE_PID:
		return process || thread ? cell_u64(c->key >> 32) : cell_absent;
	default:
		return thread ? cell_u64(c->key & UINT32_MAX) : cell_absent;
	}
}

void measures_json_consumer(struct measures *t, uint32_t consumer)
{
	enum measure_what what;

	for (what = MEASURE_NAME; what <= MEASURE_TID; what++) {
		const struct sheet_column *c = &consumer_columns[what];
		struct cell cell = consumer_cell(t, what, consumer);

		sheet_member(&t->sheet, c->key ? c->key : c->json, &cell);
	}
}

static struct cell value_cell(const struct measures *t, uint64_t value, unsigned int metric)
{
	return sheet_is_text(&t->sheet) ? scaled(value, &t->units[metric]) : cell_u64(value);
}

/* Show it in the unit of the metric: a call may take a fraction of what a sample stands for. */
static struct cell per_call_cell(const struct measures *t, uint64_t value, uint64_t calls)
{
	double cost = calls ? (double)value / calls : 0;
	struct cell word = { .type = CELL_WORD };

	if (!calls)
		return cell_absent;
	if (!sheet_is_text(&t->sheet))
		return cell_real(cost);
	snprintf(word.word, sizeof(word.word), cost >= 1000 ? "%.0f" : "%.3g", cost);
	return word;
}

static struct cell margin_cell(const struct measures *t, const uint64_t *values, unsigned int metric)
{
	const struct model *m = t->v->m;
	uint64_t n = model_n(m, m->metrics[metric].source, 0, values);
	struct interval i = interval_of_count(n);
	struct cell word = { .type = CELL_WORD };

	if (!n)
		return cell_absent;
	snprintf(word.word, sizeof(word.word), "%.*f", n < 10000, (i.high - i.low) * 50);
	return word;
}

static struct cell measure_cell(struct measures *t, const struct measures_column *c,
				const struct measured *r)
{
	const struct model *m = t->v->m;
	const uint64_t *values = r->of[c->of];
	struct cell cell;
	unsigned int delta;

	switch (c->what) {
	case MEASURE_N:
		return cell_u64(r->n);
	case MEASURE_COUNT:
		return cell_u64(model_n(m, c->at, r->n, values));
	case MEASURE_PERCENT:
		cell = measures_percent(values[c->at], t->v->total[c->at]);
		t->exceeds |= values[c->at] > t->v->total[c->at];
		break;
	case MEASURE_VALUE:
		cell = value_cell(t, values[c->at], c->at);
		break;
	case MEASURE_PER_CALL:
		return per_call_cell(t, values[c->at], r->n);
	case MEASURE_MARGIN:
		return margin_cell(t, values, c->at);
	case MEASURE_DELTA:
		delta = model_delta(m, c->at);
		if (delta)
			return value_cell(t, values[delta], delta);
		return t->v->o->format == FORMAT_JSON ? cell_none : cell_absent;
	case MEASURE_NAME:
		if (r->name && t->v->o->format != FORMAT_JSON)
			return cell_text(r->name);
		__attribute__((fallthrough));
	default:
		return consumer_cell(t, c->what, r->consumer);
	}
	cell.marked = model_is_marked(m, values, c->at);
	return cell;
}

/* Return the style: highlight a large base. Names in brackets are not functions. */
static enum term_style style_of(const struct measures *t, const struct measured *r, const char *name)
{
	if (r->bold)
		return TERM_BOLD;
	if (r->of[OF_BASE] && t->v->total[0] && r->of[OF_BASE][0] >= t->v->total[0] / HOT_SHARE)
		return TERM_RED;
	return *name == '[' ? TERM_DIM : TERM_PLAIN;
}

void measures_row(struct measures *t, const char *key, const struct cell *own, const struct measured *r)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (t->list[i].what == MEASURE_OWN)
			t->cells[i] = *own++;
		else if (t->list[i].used)
			t->cells[i] = measure_cell(t, &t->list[i], r);
	if (sheet_is_text(&t->sheet))
		t->sheet.style = style_of(t, r, t->cells[t->nr - 1].text);
	sheet_row(&t->sheet, key, t->cells);
}

void measures_end(struct measures *t, uint64_t nr_hidden)
{
	const bool text = sheet_is_text(&t->sheet);
	unsigned int k;

	report_json_hidden(&t->sheet.json, nr_hidden + sheet_nr_hidden(&t->sheet));
	sheet_end(&t->sheet);
	if (text && t->exceeds)
		fputs("\n Above 100 %: calls of a recursive function contain each other, and what is in one counts in each around it\n",
		      t->sheet.out);
	json_end(&t->sheet.json);
	for (k = 0; k < t->v->m->nr_shown; k++)
		free(t->names[k]);
	free(t->columns);
	free(t->cells);
	free(t->list);
	buf_release(&t->name);
}
