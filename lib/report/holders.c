// SPDX-License-Identifier: GPL-2.0-or-later
/* holders.c - waits for locks as a tree: below each wait its owner, and what that thread waited for. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/holders.h"
#include "report/holders.h"
#include "report/sheet.h"

struct shown {
	struct holders h;
	const struct report_opts *o;
};

static const char *const kinds[LOCK_NR_WAITS] = {
#define WAIT(kind, name) [LOCK_##kind] = (name),
#include "base/eventkinds.h"
};

static const char *const states[] = {
	[HOLDER_WAITS] = "waits", [HOLDER_RUNS] = "has", [HOLDER_UNKNOWN] = "unknown",
	[HOLDER_CIRCLE] = "circle", [HOLDER_CUT] = "cut",
};

static void holders_report_put_thread(const struct shown *s, const struct holder_row *r, struct buf *b)
{
	struct thread_name t = names_thread_name(&s->h.names, r->thread);

	quote_add(b, *t.name ? t.name : "[virtual thread]");
	if (t.tid)
		buf_fmt(b, " [tid %" PRIu32 "]", t.tid);
}

static const char *holders_report_site_of(const struct shown *s, const struct holder_row *r)
{
	return r->site ? consumer_name(&s->h.strings.consumers, r->site) : NULL;
}

static void holders_report_put_lock(const struct holder_lock *l, struct buf *b)
{
	static const char *const verbs[LOCK_NR_WAITS] = {
		[LOCK_ENTER] = "waits for", [LOCK_LOCK] = "waits for", [LOCK_MUTEX] = "waits for",
		[LOCK_RWLOCK] = "waits for", [LOCK_CLASS] = "waits until there is",
		[LOCK_WAIT] = "is in wait() of", [LOCK_PARK] = "is parked for",
		[LOCK_CONDITION] = "waits for the condition",
	};

	buf_fmt(b, "%s ", verbs[l->name.kind]);
	locks_put_name(&l->name, b);
}

/* "main in App.pay waits for Account@1f", and below it "held by worker in App.book, which waits for ...". */
static void holders_report_put_row(const struct shown *s, const struct holder_row *r, struct buf *b)
{
	const char *site = holders_report_site_of(s, r);

	buf_fmt(b, "%*s", (int)(2 * r->level), "");
	if (!r->thread) {
		buf_str(b, r->end == HOLDER_CUT ? "[others]" : "[owner not known]");
		return;
	}
	buf_str(b, r->level ? "held by " : "");
	holders_report_put_thread(s, r, b);
	if (site) {
		buf_str(b, " in ");
		quote_add(b, site);
	}
	if (r->end == HOLDER_WAITS) {
		buf_str(b, r->level ? ", which " : " ");
		holders_report_put_lock(&s->h.locks[r->lock], b);
	}
	buf_str(b, r->end == HOLDER_CIRCLE ? ": a circle" : r->end == HOLDER_CUT ? " ..." : "");
}

static double percent_of(const struct shown *s, uint64_t ns)
{
	return s->h.ns ? 100.0 * (double)ns / (double)s->h.ns : 0;
}

static void holders_report_add_row(const struct shown *s, size_t at, struct sheet *sheet)
{
	const struct holder_row *r = &s->h.rows[at];
	const struct holder_lock *l = r->end == HOLDER_WAITS ? &s->h.locks[r->lock] : NULL;
	struct thread_name t = names_thread_name(&s->h.names, r->thread);
	struct buf text = BUF_INIT;
	char identity[16];

	holders_report_put_row(s, r, &text);
	snprintf(identity, sizeof(identity), "%" PRIx32, l ? l->name.identity : 0);
	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(at), r->parent ? cell_u64(r->parent - 1) : cell_none, cell_u64(r->level),
		cell_text(states[r->end]), r->thread ? cell_text(t.name) : cell_none, cell_u64(t.pid),
		t.tid ? cell_u64(t.tid) : cell_none, cell_text(holders_report_site_of(s, r)),
		l ? cell_text(l->name.class_name) : cell_none,
		l && l->name.identity ? cell_text(identity) : cell_none,
		l ? cell_text(kinds[l->name.kind]) : cell_none,
		cell_u64(r->ns), cell_real(percent_of(s, r->ns)), cell_text(text.data),
	});
	buf_release(&text);
}

/* Add the rows; text leaves out those below a thousandth of the time. Returns how many were left out. */
static size_t holders_report_add_rows(const struct shown *s, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ "id" }, { "parent" }, { "level" }, { "state" }, { "thread" }, { "pid" }, { "tid" },
		{ "site" }, { "class" }, { "identity" }, { "kind" },
		{ "wait_ns", "Waited", 11, 3, .unit = UNIT_MS }, { NULL, "%", 6, 2 },
		{ NULL, "Who waits, and who has what it waits for", .before = "  ", .cut = true },
	};
	uint64_t least_ns = s->o->limit || !sheet_is_text(sheet) ? 0 : s->h.ns / 1000;
	size_t nr = 0, i;

	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->h.nr_rows; i++) {
		if (s->h.rows[i].ns < least_ns || (s->o->limit && nr >= s->o->limit))
			continue;
		holders_report_add_row(s, i, sheet);
		nr++;
	}
	sheet_end_rows(sheet);
	return s->h.nr_rows - nr;
}

static void holders_report_print_head(const struct shown *s, FILE *out)
{
	struct buf b = BUF_INIT;

	report_put_duration(&b, s->h.ns);
	buf_fmt(&b, " in sampled waits for locks (%" PRIu64 "), ", s->h.nr_waits);
	report_put_lost_of(&s->h.names, &b);
	buf_putc(&b, '\n');
	report_put_filter(s->o->select.filter, s->h.nr_left_out, "lock", &b);
	buf_str(&b, " Units :: ms\n\n");
	fputs(b.data, out);
	buf_release(&b);
}

static void holders_report_put_head(const struct shown *s, struct json *j)
{
	report_json_source(j, "locks", &s->h.names);
	report_json_lost_of(&s->h.names, j);
	report_json_filter(s->o->select.filter, s->h.nr_left_out, j);
	json_u64(j, "waits", s->h.nr_waits);
	json_u64(j, "wait_ns", s->h.ns);
	json_end(j);
}

static void holders_report_print(const struct shown *s, FILE *out)
{
	struct sheet sheet;
	uint64_t nr_hidden;

	sheet_init(&sheet, s->o->format, out);
	sheet.width = s->o->width;
	sheet_choose(&sheet, &s->o->choice);
	if (sheet_is_text(&sheet))
		holders_report_print_head(s, out);
	holders_report_put_head(s, &sheet.json);
	json_array(&sheet.json, "chains");
	nr_hidden = holders_report_add_rows(s, &sheet);
	json_end(&sheet.json);
	nr_hidden += sheet_nr_hidden(&sheet);
	if (sheet_is_text(&sheet))
		report_print_hidden(nr_hidden, out);
	report_json_hidden(&sheet.json, nr_hidden);
	json_end(&sheet.json);
	sheet_end(&sheet);
	if (s->o->format == FORMAT_TEXT && !s->o->choice.columns.nr_items)
		fputs("\n held by: had it when the wait began; what it waited for itself is below, as far as sampled\n", out);
}

int holders_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct shown s = { .o = o };
	int r = holders_read(&s.h, t, &o->select, e);

	if (!r) {
		holders_report_print(&s, out);
		r = !s.h.nr_rows;
	}
	holders_release(&s.h);
	return r;
}
