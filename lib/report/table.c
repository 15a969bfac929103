// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/table.h"

enum { HOT_SHARE = 20 };	/* of the total: a twentieth */

void put_u64(struct buf *b, uint64_t v)
{
	char digits[20], *to;
	int nr = 0, i;

	do
		digits[nr++] = '0' + v % 10;
	while (v /= 10);
	to = buf_room(b, nr);
	for (i = 0; i < nr; i++)
		to[i] = digits[nr - 1 - i];
	to[nr] = '\0';
	b->len += nr;
}

/* A number with that many decimals, given as an integer of the last of them. */
static void put_fixed(struct buf *b, uint64_t v, int decimals)
{
	uint64_t ten = 1, part;
	int i;

	for (i = 0; i < decimals; i++)
		ten *= 10;
	put_u64(b, v / ten);
	if (!decimals)
		return;
	buf_putc(b, '.');
	for (part = v % ten; ten > 1; part %= ten) {
		ten /= 10;
		buf_putc(b, '0' + part / ten);
	}
}

void put_percent(struct buf *b, uint64_t value, uint64_t total)
{
	uint64_t v = total ? ((unsigned __int128)value * 10000 + total / 2) / total : 0;

	put_fixed(b, v, 2);
}

static void put_value(struct buf *b, uint64_t value, const struct metric_unit *u)
{
	uint64_t ten = 1;
	int i;

	for (i = 0; i < u->decimals; i++)
		ten *= 10;
	put_fixed(b, ((unsigned __int128)value * ten + u->divisor / 2) / u->divisor, u->decimals);
}

/* Then nothing but the values tells small rows apart. */
static bool without_percent(const struct column *const *columns)
{
	for (; *columns; columns++)
		if ((*columns)->kind == COLUMN_PERCENT)
			return false;
	return true;
}

/*
 * Nanoseconds are shown in what gives the total three to seven digits, fine: up to nine; other units
 * as they are.
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

static const char *head_of(const struct table *t, const struct column *c, unsigned int m)
{
	static const char *const heads[] = { [FLOW_SAMPLES] = "Samples", [FLOW_OBJECTS] = "Objects" };
	enum flow_n kind = FLOW_CALLS;

	if (c->kind == COLUMN_COUNT)
		kind = t->v->m->sources[m].kind;
	else if (c->kind == COLUMN_N && c->cell == cell_n)
		kind = t->v->m->flow.n_means;
	return kind != FLOW_CALLS ? heads[kind] : c->head;
}

static int width_of(struct table *t, const struct column *c, unsigned int m)
{
	struct buf b = BUF_INIT;
	int width = MAX(c->width, (int)strlen(head_of(t, c, m)));

	if (c->kind == COLUMN_VALUE && model_delta(t->v->m, m))
		buf_putc(&b, '~');
	if (c->kind == COLUMN_N)
		put_u64(&b, t->v->total_n);
	else if (c->kind == COLUMN_COUNT)
		put_u64(&b, model_n(t->v->m, m, t->v->total_n, t->v->total));
	else if (c->kind == COLUMN_VALUE)
		put_value(&b, t->v->total[m], &t->units[m]);
	width = MAX(width, (int)b.len);
	buf_release(&b);
	return width;
}

static bool hidden(const struct view *v, const struct column *c, unsigned int m)
{
	if (c->kind == COLUMN_PER_CALL)
		return !v->origin->blend || v->m->sources[v->m->metrics[m].source].kind != FLOW_SAMPLES;
	return (v->o->absolute && !v->o->percent && c->kind == COLUMN_PERCENT) ||
		(v->o->percent && !v->o->absolute && c->kind == COLUMN_VALUE);
}

static void add_column(struct table *t, const struct column *c, unsigned int m)
{
	if (!hidden(t->v, c, m))
		t->list[t->nr_list++] = (struct table_column){ c, m, width_of(t, c, m) };
}

/* Columns that repeat: n of a first source without metrics, then a group for each metric. */
static void add_groups(struct table *t, const struct column *const *columns, size_t nr)
{
	const struct model *m = t->v->m;
	unsigned int k;
	size_t i;

	for (i = 0; i < nr && !model_has_metrics(m, 0); i++)
		if (columns[i]->kind == COLUMN_COUNT)
			add_column(t, columns[i], 0);
	for (k = 0; k < m->nr_shown; k++)
		for (i = 0; i < nr; i++) {
			if (columns[i]->kind != COLUMN_COUNT)
				add_column(t, columns[i], k);
			else if (model_leads_source(m, k))
				add_column(t, columns[i], m->metrics[k].source);
		}
}

void table_init(struct table *t, const struct view *v, FILE *out, const struct column *const *columns)
{
	size_t i, k, nr = 0;
	unsigned int m;

	memset(t, 0, sizeof(*t));
	t->v = v;
	t->out = out;
	t->columns = columns;
	for (m = 0; m < v->m->flow.nr_metrics; m++)
		t->units[m] = m < v->m->nr_shown ? choose_unit(v, m, without_percent(columns)) :
						   t->units[v->m->delta_of[m]];
	while (columns[nr])
		nr++;
	t->list = xcalloc(nr * (v->m->nr_shown + 1), sizeof(*t->list));
	for (i = 0; i < nr; i = k) {
		for (k = i; k < nr && columns[k]->per_metric; k++)
			;
		if (k == i)
			add_column(t, columns[k++], 0);
		else
			add_groups(t, columns + i, k - i);
	}
}

void table_release(struct table *t)
{
	free(t->list);
	buf_release(&t->line);
	memset(t, 0, sizeof(*t));
}

static void pad(struct buf *b, int nr)
{
	for (; nr > 0; nr--)
		buf_putc(b, ' ');
}

/* The metric over whose columns this one stands; -1: over none. n of a single source is not told apart. */
static int group_of(const struct table *t, size_t i)
{
	const struct table_column *c = &t->list[i];

	if (!c->c->per_metric)
		return -1;
	if (c->c->kind != COLUMN_COUNT)
		return c->metric;
	if (t->v->m->nr_sources == 1 || !model_has_metrics(t->v->m, c->metric))
		return -1;
	return t->list[i + 1].metric;
}

/* With several metrics or sources, the names of metrics stand over their groups. */
static void metric_names(struct table *t)
{
	const struct model *m = t->v->m;
	size_t i, k;

	if (m->nr_shown < 2 && m->nr_sources < 2)
		return;
	buf_reset(&t->line);
	for (i = 0; i < t->nr_list; i = k) {
		int group = group_of(t, i), width = 0;
		const char *name = group < 0 ? "" : model_str(m, m->metrics[group].name);

		for (k = i; k < t->nr_list && group_of(t, k) == group; k++)
			width += t->list[k].width + 1;
		pad(&t->line, width - (int)strlen(name));
		quote_add(&t->line, name);
	}
	buf_putc(&t->line, '\n');
	fwrite(t->line.data, 1, t->line.len, t->out);
}

/*
 * With the style where colours are wanted; the line itself has no escape sequence, so that its length
 * is its width.
 */
static void print_line(struct table *t, enum term_style style)
{
	const char *on = style == TERM_PLAIN ? "" : term_style(style);

	if (!*on) {
		buf_putc(&t->line, '\n');
		fwrite(t->line.data, 1, t->line.len, t->out);
		return;
	}
	fputs(on, t->out);
	fwrite(t->line.data, 1, t->line.len, t->out);
	fputs(term_style(TERM_PLAIN), t->out);
	fputc('\n', t->out);
}

/* What a reader looks for: the function of a stanza, what consumes much itself. */
static enum term_style style_of(const struct table *t, const struct row *r)
{
	if (r->source && strstr(r->source, "Self"))
		return TERM_BOLD;
	return r->base && t->v->total[0] && r->base[0] >= t->v->total[0] / HOT_SHARE ? TERM_RED : TERM_PLAIN;
}

void table_head(struct table *t, const char *name)
{
	size_t i;

	metric_names(t);
	buf_reset(&t->line);
	for (i = 0; i < t->nr_list; i++) {
		const char *head = head_of(t, t->list[i].c, t->list[i].metric);

		pad(&t->line, t->list[i].width + 1 - (int)strlen(head));
		buf_str(&t->line, head);
	}
	buf_str(&t->line, name);
	print_line(t, TERM_BOLD);
}

static void put_cell(struct table *t, const struct table_column *c, const struct row *r)
{
	size_t start = t->line.len, len;
	int room;
	char *at;

	c->c->cell(t, r, c->metric, &t->line);
	len = t->line.len - start;
	room = c->width + 1 - (int)len;
	if (room < 1)
		room = 1;
	buf_room(&t->line, room);
	at = t->line.data + start;
	memmove(at + room, at, len);
	memset(at, ' ', room);
	t->line.len += room;
	t->line.data[t->line.len] = '\0';
}

void table_cells(struct table *t, const struct row *r)
{
	size_t i;

	buf_reset(&t->line);
	for (i = 0; i < t->nr_list; i++)
		put_cell(t, &t->list[i], r);
	t->style = style_of(t, r);
}

/* The end of a character at or before at. */
static size_t cut_at(const char *s, size_t at)
{
	while (at && (s[at] & 0xc0) == 0x80)
		at--;
	return at;
}

void table_end(struct table *t, const char *name)
{
	struct buf shown = BUF_INIT;
	const char *s = quote_str(&shown, name);
	size_t len = strlen(s), room = t->v->o->width, half;

	room = room > t->line.len ? room - t->line.len : 0;
	if (t->v->o->width && len > room && room >= 16) {
		half = (room - 3) / 2;
		buf_add(&t->line, s, cut_at(s, half));
		buf_str(&t->line, "...");
		buf_str(&t->line, s + cut_at(s, len - (room - 3 - half)));
	} else {
		buf_add(&t->line, s, len);
	}
	buf_release(&shown);
	print_line(t, t->style == TERM_PLAIN && *name == '[' ? TERM_DIM : t->style);
}

/* "n" of the first source, "samples:faults" of another one; of a metric "base:faults". */
static void put_csv_name(const struct table *t, const struct table_column *c, struct buf *b)
{
	const struct model *m = t->v->m;
	bool counts = c->c->kind == COLUMN_COUNT;
	const struct model_source *s = &m->sources[counts ? c->metric : 0];

	if (counts && c->metric)
		buf_fmt(b, "%s:%s", model_kind_name(s->kind), model_str(m, s->name));
	else
		buf_str(b, c->c->name);
	if (c->c->per_metric && !counts)
		buf_fmt(b, ":%s", model_str(m, m->metrics[c->metric].name));
}

void table_csv_head(struct table *t)
{
	struct buf name = BUF_INIT;
	size_t i;

	buf_reset(&t->line);
	for (i = 0; i < t->nr_list; i++) {
		buf_reset(&name);
		put_csv_name(t, &t->list[i], &name);
		if (i)
			buf_putc(&t->line, ',');
		quote_csv(&t->line, name.data, name.len);
	}
	buf_putc(&t->line, '\n');
	fwrite(t->line.data, 1, t->line.len, t->out);
	buf_release(&name);
}

void table_csv(struct table *t, const struct row *r)
{
	struct buf cell = BUF_INIT;
	size_t i;

	buf_reset(&t->line);
	for (i = 0; i < t->nr_list; i++) {
		buf_reset(&cell);
		t->list[i].c->cell(t, r, t->list[i].metric, &cell);
		if (i)
			buf_putc(&t->line, ',');
		quote_csv(&t->line, cell.data ? cell.data : "", cell.len);
	}
	buf_putc(&t->line, '\n');
	fwrite(t->line.data, 1, t->line.len, t->out);
	buf_release(&cell);
}

void table_units(struct table *t)
{
	const struct model *model = t->v->m;
	struct buf b = BUF_INIT;
	unsigned int m;

	for (m = 0; m < model->nr_shown; m++) {
		buf_reset(&b);
		buf_str(&b, " Units :: ");
		quote_add(&b, t->units[m].unit);
		buf_str(&b, " (");
		quote_add(&b, model_str(model, model->metrics[m].name));
		buf_str(&b, "); Total :: ");
		put_value(&b, t->v->total[m], &t->units[m]);
		fprintf(t->out, "%s\n", b.data);
	}
	buf_release(&b);
}

void cell_source(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	buf_str(b, r->source);
}

void cell_n(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->n);
}

static void cell_count(const struct table *t, const struct row *r, unsigned int source, struct buf *b)
{
	put_u64(b, model_n(t->v->m, source, r->n, r->base));
}

const struct column column_count = { "Calls", "n", COLUMN_COUNT, 7, true, cell_count };

/* A value of which calibration took as much as is left says so. */
static void put_mark(const struct table *t, const uint64_t *values, unsigned int m, struct buf *b)
{
	if (model_is_marked(t->v->m, values, m))
		buf_putc(b, '~');
}

static void cell_pbase(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_mark(t, r->base, m, b);
	put_percent(b, r->base[m], t->v->total[m]);
}

const struct column column_pbase = { "%Base", "pbase", COLUMN_PERCENT, 7, true, cell_pbase };

static void cell_pcum(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_mark(t, r->cum, m, b);
	put_percent(b, r->cum[m], t->v->total[m]);
}

const struct column column_pcum = { "%Cum", "pcum", COLUMN_PERCENT, 7, true, cell_pcum };

void cell_pcum2(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_mark(t, r->cum2, m, b);
	put_percent(b, r->cum2[m], t->v->total[m]);
}

void cell_base(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_mark(t, r->base, m, b);
	put_value(b, r->base[m], &t->units[m]);
}

void cell_cum(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_mark(t, r->cum, m, b);
	put_value(b, r->cum[m], &t->units[m]);
}

void cell_level(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->level);
}

void cell_rl(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->rl);
}

void cell_index(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->index);
}

void cell_stanza(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	buf_str(b, r->stanza);
}

void cell_id(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->id);
}

void cell_parent(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	if (r->parent >= 0)
		put_u64(b, r->parent);
}

static void cell_name(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	view_name(t->v, r->consumer, b);
}

const struct column csv_name = { "", "name", COLUMN_OTHER, 0, false, cell_name };

static void cell_kind(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	buf_str(b, consumer_kind_name(t->v->m->consumers.items[r->consumer].kind));
}

const struct column csv_kind = { "", "kind", COLUMN_OTHER, 0, false, cell_kind };

static void cell_module(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	buf_str(b, model_str(t->v->m, t->v->m->consumers.items[r->consumer].module));
}

const struct column csv_module = { "", "module", COLUMN_OTHER, 0, false, cell_module };

static void cell_raw_base(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->base[m]);
}

const struct column csv_base = { "", "base", COLUMN_OTHER, 0, true, cell_raw_base };

static void cell_raw_cum(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->cum[m]);
}

const struct column csv_cum = { "", "cum", COLUMN_OTHER, 0, true, cell_raw_cum };

void cell_raw_cum2(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->cum2[m]);
}
