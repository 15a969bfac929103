// SPDX-License-Identifier: GPL-2.0-or-later
/* summary_leaks.c - what keeps more and more live objects, as "report --leaks" finds it. */
#include "base/mem.h"
#include "model/leaks.h"
#include "report/leaks.h"
#include "report/summary.h"

enum { NR_LEAKS = 3 };

/* "1.20 MB/s"; with a "?" while no collection has looked at all of it. */
static void put_growth(const struct leak_row *r, struct buf *b)
{
	buf_reset(b);
	leaks_put_bytes(b, r->a_second);
	buf_str(b, r->grows == LEAK_MAYBE ? "/s?" : "/s ");
}

static void summary_leaks_put_row(struct summary *s, const struct leaks *m, const struct leak_row *r)
{
	const struct consumers *c = &m->strings.consumers;
	struct buf growth = BUF_INIT, left = BUF_INIT;

	put_growth(r, &growth);
	leaks_put_bytes(&left, r->bytes);
	sheet_row(&s->sheet, NULL, (const struct cell[]){
		cell_real(r->a_second), cell_real(r->bytes), cell_u64(r->n), cell_bool(r->grows == LEAK_YES),
		cell_label(growth.data), cell_label(left.data),
		r->site ? cell_text(consumer_name(c, r->site)) : cell_absent,
		cell_text(r->class_name ? consumer_name(c, r->class_name) : "[unknown class]"),
	});
	buf_release(&growth);
	buf_release(&left);
}

void summary_put_leaks(struct summary *s, struct summary_facts *facts)
{
	static const struct sheet_column columns[] = {
		{ "growth" }, { "bytes" }, { "samples" }, { "looked_at" },
		{ .head = "Growth ", .width = 11, .before = "" }, { .head = "Left", .width = 9 },
		{ "name", "By", -46, .before = "  " }, { "class", "Class", -5, .cut = true },
	};
	const struct leaks_opts o = { 0 };
	struct leaks m;
	struct err e;
	size_t nr, i;

	if (!leaks_read(&m, s->v->trace, &s->v->o->select, &o, &e)) {
		facts->lacks = leaks_lack(&m);
		facts->live_n = m.n;
		nr = MIN(m.nr_growing + m.nr_maybe, (size_t)NR_LEAKS);
		if (nr || summary_is_json(s)) {
			summary_begin(s, "leaks", "What keeps growing");
			sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
			for (i = 0; i < nr; i++)
				summary_leaks_put_row(s, &m, &m.rows[i]);
			sheet_end_rows(&s->sheet);
			summary_end(s);
		}
	}
	leaks_release(&m);
}
