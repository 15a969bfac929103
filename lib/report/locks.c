// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locks.c - a row a lock that threads have waited for, as in Java Lock Monitor; then a row for
 * whatever else they waited for by the same means.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/locks.h"
#include "report/events.h"
#include "report/holders.h"
#include "report/hprof.h"
#include "report/report.h"
#include "report/sheet.h"

static const char *const kinds[LOCK_NR_WAITS] = {
#define WAIT(kind, name) [LOCK_##kind] = (name),
#include "base/eventkinds.h"
};

struct rows {
	struct locks_model m;
	const struct report_opts *o;
	const struct lock_row **list;	/* those that were selected, locks first */
	size_t nr, nr_locks, nr_hidden;
	uint64_t n, ns, lock_n, lock_ns;	/* of all that were selected; of locks among them */
	const struct notified **notified;	/* those that were selected */
	size_t nr_notified;
	uint64_t notify, notify_all, idle;
	struct tallies tallies;
	bool one_process;
	bool counted;			/* acquisitions, of some of them */
	bool measured;			/* and CPU time */
	bool read;			/* and readers of some */
	int widths[4];			/* of GETS, NONREC, REC and READS */
};

static const char *locks_report_kind_of(const struct lock_row *r)
{
	return kinds[r->kind == LOCK_LOCK && !locks_is_lock(r) ? LOCK_PARK : r->kind];
}

static uint64_t gets_of(const struct lock_row *r)
{
	return r->nonrec + r->rec;
}

static uint64_t locks_report_key_of(const struct lock_row *r, const struct report_opts *o)
{
	return o->sort == SORT_N ? r->n : r->ns;
}

static int locks_report_compare(const void *p, const void *q, void *ctx)
{
	const struct lock_row *a = *(const struct lock_row *const *)p,
			      *b = *(const struct lock_row *const *)q;
	const struct rows *r = ctx;
	uint64_t ka = locks_report_key_of(a, r->o), kb = locks_report_key_of(b, r->o);
	int c = strcmp(a->class_name, b->class_name);

	if (locks_is_lock(a) != locks_is_lock(b))
		return locks_is_lock(a) ? -1 : 1;
	if (r->o->sort != SORT_NAME && ka != kb)
		return ka > kb ? -1 : 1;
	if (r->o->sort != SORT_NAME && gets_of(a) != gets_of(b))
		return gets_of(a) > gets_of(b) ? -1 : 1;
	return c ?: COMPARE(a->identity, b->identity) ?: COMPARE(a->kind, b->kind);
}

static int compare_notified(const void *p, const void *q)
{
	const struct notified *a = *(const struct notified *const *)p;
	const struct notified *b = *(const struct notified *const *)q;

	return COMPARE(b->n, a->n) ?: COMPARE(a, b);
}

static void choose_notified(struct rows *r)
{
	size_t i;

	r->notified = xcalloc(r->m.nr_notified + 1, sizeof(*r->notified));
	for (i = 0; i < r->m.nr_notified; i++) {
		const struct notified *x = &r->m.notified[i];

		if (select_number(&r->o->select.pids, x->pid) && select_name(&r->o->select.comms, x->process))
			r->notified[r->nr_notified++] = x;
	}
	qsort(r->notified, r->nr_notified, sizeof(*r->notified), compare_notified);
	if (r->o->limit && r->nr_notified > r->o->limit) {
		r->nr_hidden += r->nr_notified - r->o->limit;
		r->nr_notified = r->o->limit;
	}
}

static void locks_report_make_rows(struct rows *r)
{
	size_t i, nr = 0;

	r->list = xcalloc(r->m.nr_rows + 1, sizeof(*r->list));
	r->one_process = true;
	r->widths[0] = 5;
	r->widths[1] = 6;
	r->widths[2] = 4;
	r->widths[3] = 6;
	for (i = 0; i < r->m.nr_rows; i++) {
		const struct lock_row *x = &r->m.rows[i];

		if (!select_number(&r->o->select.pids, x->pid) ||
		    !select_name(&r->o->select.comms, x->process))
			continue;
		r->list[r->nr++] = x;
		r->n += x->n;
		r->ns += x->ns;
		r->lock_n += locks_is_lock(x) ? x->n : 0;
		r->lock_ns += locks_is_lock(x) ? x->ns : 0;
		r->one_process &= x->proc == r->list[0]->proc;
		r->counted |= x->counted;
		r->measured |= x->measured;
		r->read |= x->reads;
		r->notify += x->notify;
		r->notify_all += x->notify_all;
		r->idle += x->idle;
		r->widths[0] = MAX(r->widths[0], snprintf(NULL, 0, "%" PRIu64, gets_of(x)));
		r->widths[1] = MAX(r->widths[1], snprintf(NULL, 0, "%" PRIu64, x->nonrec));
		r->widths[2] = MAX(r->widths[2], snprintf(NULL, 0, "%" PRIu64, x->rec));
		r->widths[3] = MAX(r->widths[3], snprintf(NULL, 0, "%" PRIu64, x->reads));
	}
	qsort_r(r->list, r->nr, sizeof(*r->list), locks_report_compare, r);
	for (i = 0; i < r->nr; i++) {
		bool other = i && locks_is_lock(r->list[i]) != locks_is_lock(r->list[i - 1]);

		/* each of the two tables has so many rows */
		nr = other ? 0 : nr;
		if (r->o->limit && nr >= r->o->limit) {
			r->nr_hidden++;
			continue;
		}
		nr++;
		r->nr_locks += locks_is_lock(r->list[i]);
		r->list[i - r->nr_hidden] = r->list[i];
	}
	r->nr -= r->nr_hidden;
	choose_notified(r);
}

/* ---- rows ---- */

static void locks_report_put_name(const struct rows *r, const struct lock_row *x, struct buf *b)
{
	locks_put_name(x, b);
	if (!r->one_process)
		buf_fmt(b, " [pid %" PRIu32 "]", x->pid);
}

static double locks_report_percent(uint64_t part, uint64_t whole)
{
	return 100.0 * (double)part / (double)MAX(whole, (uint64_t)1);
}

/* Return the width of the widest owner. */
static int width_of_owners(const struct rows *r)
{
	size_t i, width = sizeof("Owner") - 1;
	struct buf b = BUF_INIT;

	for (i = 0; i < r->nr_locks; i++) {
		buf_reset(&b);
		locks_put_owner(r->list[i], &b);
		width = MAX(width, b.len);
	}
	buf_release(&b);
	return (int)width;
}

static void locks_report_add_row(const struct rows *r, const struct lock_row *x, struct sheet *s)
{
	const struct cell unknown = sheet_is_text(s) ? cell_absent : cell_none;
	struct buf name = BUF_INIT, owner = BUF_INIT;
	char identity[16];

	snprintf(identity, sizeof(identity), "%" PRIx32, x->identity);
	locks_report_put_name(r, x, &name);
	locks_put_owner(x, &owner);
	sheet_row(s, NULL, (const struct cell[]){
		cell_text(x->class_name),
		x->identity ? cell_text(identity) : cell_none,
		cell_text(locks_report_kind_of(x)),
		cell_u64(x->pid),
		x->counted ? cell_real(locks_report_percent(x->n, x->nonrec + x->reads)) : unknown,
		x->counted ? cell_u64(gets_of(x)) : unknown,
		x->counted ? cell_u64(x->nonrec) : unknown,
		cell_u64(x->n),
		x->counted ? cell_u64(x->rec) : unknown,
		x->counted ? cell_u64(x->reads) : unknown,
		unknown, unknown,
		x->counted ? cell_real(locks_report_percent(x->held_ns, x->counted_ns)) : unknown,
		x->counted && x->nonrec ? cell_u64(x->held_ns / x->nonrec) : cell_none,
		x->counted ? cell_real((double)x->held_ns / (double)MAX(x->nonrec, (uint64_t)1)) : unknown,
		x->measured ? cell_u64(x->measured) : unknown,
		x->measured ? cell_u64(x->cpu_ns) : unknown,
		x->measured ? cell_real((double)x->cpu_ns / (double)x->measured) : unknown,
		x->counted ? cell_u64(x->notify) : unknown,
		x->counted ? cell_u64(x->notify_all) : unknown,
		x->counted ? cell_u64(x->idle) : unknown,
		cell_u64(x->waiters),
		cell_u64(x->ns),
		x->n ? cell_u64(x->ns / x->n) : unknown,
		x->n ? cell_real(x->ns / 1e3 / x->n) : unknown,
		x->n ? cell_u64(x->p50_ns) : unknown,
		x->n ? cell_u64(x->p99_ns) : unknown,
		x->n ? cell_u64(x->max_ns) : unknown,
		cell_text(x->owner),
		x->owner ? cell_u64(x->owner_tid) : cell_none,
		x->owner ? cell_u64(x->owner_ns) : cell_none,
		cell_text(owner.data),
		cell_text(name.data),
	});
	buf_release(&owner);
	buf_release(&name);
}

/*
 * Add the rows of the list from one to before another. Text has two tables: one of locks, with the
 * columns of Java Lock Monitor (those of acquisitions only if any were counted), and one of other waits.
 */
static void locks_report_add_rows(const struct rows *r, size_t from, size_t to, bool locks, struct sheet *s)
{
	const bool counted = locks && r->counted;
	const struct sheet_column columns[] = {
		{ "class" },
		{ "identity" },
		{ "kind", locks ? NULL : "Kind", -5 },
		{ "pid" },
		{ "miss_percent", counted ? "%MISS" : NULL, 5 },
		{ "gets", counted ? "GETS" : NULL, r->widths[0] },
		{ "nonrec", counted ? "NONREC" : NULL, r->widths[1] },
		{ "slow", locks ? "SLOW" : "Waits", 8 },
		{ "rec", counted ? "REC" : NULL, r->widths[2] },
		{ "reads", counted && r->read ? "READS" : NULL, r->widths[3] },
		{ "tier2", counted ? "TIER2" : NULL, 5 },
		{ "tier3", counted ? "TIER3" : NULL, 5 },
		{ "util_percent", counted ? "%UTIL" : NULL, 5 },
		{ "hold_mean_ns" },
		{ NULL, counted ? "AVER-HTM" : NULL, 8 },
		{ "cpu_holds" },
		{ "cpu_ns" },
		{ NULL, counted && r->measured ? "AVER-CPU" : NULL, 8 },
		{ "notify" },
		{ "notify_all" },
		{ "notify_idle" },
		{ "waiters", "Waiters", 7 },
		{ "wait_ns", "Total", 10, 3, .unit = UNIT_MS },
		{ "wait_mean_ns" },
		{ NULL, "Mean", 9, 1 },
		{ "wait_p50_ns" },
		{ "wait_p99_ns", "p99", 9, 1, .unit = UNIT_US },
		{ "wait_max_ns", "Max", 9, 1, .unit = UNIT_US },
		{ "owner" },
		{ "owner_tid" },
		{ "owner_wait_ns" },
		{ NULL, locks ? "Owner" : NULL, -width_of_owners(r), .before = "  " },
		{ NULL, locks ? "MON-NAME" : "Waited for", .before = "  ", .cut = true },
	};

	sheet_columns(s, columns, ARRAY_SIZE(columns));
	for (; from < to; from++)
		locks_report_add_row(r, r->list[from], s);
	sheet_end_rows(s);
}

static const char *locks_report_name_of(const char *thread)
{
	return !thread ? "[several]" : *thread ? thread : "[virtual thread]";
}

static void add_notified_row(const struct rows *r, const struct notified *x, struct sheet *s)
{
	const struct lock_row lock = { .class_name = x->class_name, .identity = x->identity, .pid = x->pid };
	const bool text = sheet_is_text(s);
	struct buf name = BUF_INIT;
	char identity[16];

	snprintf(identity, sizeof(identity), "%" PRIx32, x->identity);
	locks_report_put_name(r, &lock, &name);
	sheet_row(s, NULL, (const struct cell[]){
		cell_text(x->class_name),
		x->identity ? cell_text(identity) : cell_none,
		cell_u64(x->pid),
		cell_u64(x->n),
		cell_u64(x->ns),
		cell_real((double)x->ns / (double)MAX(x->n, (uint64_t)1)),
		x->notifier ? cell_u64(x->notifier_tid) : cell_none,
		x->waiter ? cell_u64(x->waiter_tid) : cell_none,
		cell_text(text ? locks_report_name_of(x->notifier) : x->notifier),
		cell_text(text ? locks_report_name_of(x->waiter) : x->waiter),
		cell_text(name.data),
	});
	buf_release(&name);
}

static void add_notified(const struct rows *r, struct sheet *s)
{
	int notifier = sizeof("Notifier") - 1, waiter = sizeof("Waiter") - 1;
	size_t i;

	for (i = 0; i < r->nr_notified; i++) {
		notifier = MAX(notifier, (int)strlen(locks_report_name_of(r->notified[i]->notifier)));
		waiter = MAX(waiter, (int)strlen(locks_report_name_of(r->notified[i]->waiter)));
	}
	sheet_columns(s, (const struct sheet_column[]){
		{ "class" },
		{ "identity" },
		{ "pid" },
		{ "waits", "Waits", 8 },
		{ "wait_ns" },
		{ NULL, "Mean", 9, 1, .unit = UNIT_US },
		{ "notifier_tid" },
		{ "waiter_tid" },
		{ "notifier", "Notifier", -notifier, .before = "  " },
		{ "waiter", "Waiter", -waiter, .before = "  " },
		{ NULL, "MON-NAME", .before = "  ", .cut = true },
	}, 11);
	for (i = 0; i < r->nr_notified; i++)
		add_notified_row(r, r->notified[i], s);
	sheet_end_rows(s);
}

static void print_notified(const struct rows *r, FILE *out, struct sheet *s)
{
	if (r->notify + r->notify_all + r->nr_notified)
		fprintf(out, "\n notify() %" PRIu64 ", notifyAll() %" PRIu64 ", of both %" PRIu64
			" while nobody waited\n\n", r->notify, r->notify_all, r->idle);
	if (r->nr_notified)
		add_notified(r, s);
}

static void locks_report_print_head(const struct rows *r, FILE *out)
{
	struct buf b = BUF_INIT;

	report_put_duration(&b, r->lock_ns);
	buf_fmt(&b, " in waits for locks (%" PRIu64 "), ", r->lock_n);
	report_put_duration(&b, r->ns - r->lock_ns);
	buf_fmt(&b, " in other waits (%" PRIu64 "), ", r->n - r->lock_n);
	report_put_lost_of(&r->m.names, &b);
	buf_putc(&b, '\n');
	report_put_filter(r->o->select.filter, r->m.nr_left_out, "row", &b);
	fputs(b.data, out);
	tallies_put(&r->tallies, TALLY_ENTERS, &r->o->select, out);
	fprintf(out, " Units :: ms (Total), us (Mean, p99, Max)%s; waits for monitors without the time spent spinning\n",
		r->measured ? ", ns (AVER-HTM, AVER-CPU)" : r->counted ? ", ns (AVER-HTM)" : "");
	buf_release(&b);
}

static void locks_report_print_text(const struct rows *r, FILE *out)
{
	struct sheet s;

	sheet_init(&s, FORMAT_TEXT, out);
	s.width = r->o->width;
	sheet_choose(&s, &r->o->choice);
	locks_report_print_head(r, out);
	if (r->nr_locks) {
		fprintf(out, "\n Locks\n\n");
		locks_report_add_rows(r, 0, r->nr_locks, true, &s);
	}
	if (r->nr > r->nr_locks) {
		fprintf(out, "\n Object.wait(), conditions and other parking\n\n");
		locks_report_add_rows(r, r->nr_locks, r->nr, false, &s);
	}
	print_notified(r, out, &s);
	report_print_hidden(r->nr_hidden + sheet_nr_hidden(&s), out);
	sheet_end(&s);
	if (!r->o->choice.columns.nr_items)
		fputs("\n -: not counted; record --lock-exact counts locks of the classes that it names, but not TIER2, TIER3\n", out);
}

static void locks_report_put_head(const struct rows *r, struct json *j)
{
	report_json_source(j, "locks", &r->m.names);
	report_json_lost_of(&r->m.names, j);
	report_json_filter(r->o->select.filter, r->m.nr_left_out, j);
	json_u64(j, "waits", r->n);
	json_u64(j, "wait_ns", r->ns);
	json_u64(j, "lock_waits", r->lock_n);
	json_u64(j, "lock_wait_ns", r->lock_ns);
	json_end(j);
	tallies_json(&r->tallies, TALLY_ENTERS, &r->o->select, j);
}

static void locks_report_print_data(const struct rows *r, FILE *out)
{
	struct sheet s;

	sheet_init(&s, r->o->format, out);
	sheet_choose(&s, &r->o->choice);
	locks_report_put_head(r, &s.json);
	json_array(&s.json, "locks");
	locks_report_add_rows(r, 0, r->nr, true, &s);
	json_end(&s.json);
	if (r->nr_notified && r->o->format == FORMAT_JSON) {
		json_array(&s.json, "notified");
		add_notified(r, &s);
		json_end(&s.json);
	}
	report_json_hidden(&s.json, r->nr_hidden + sheet_nr_hidden(&s));
	json_end(&s.json);
	sheet_end(&s);
}

/* Print MONITOR TIME: waits by lock, without stacks, which the table does not have. */
static void print_hprof(const struct rows *r, struct trace_reader *t, FILE *out)
{
	uint64_t mono_ns, start_ns, sum = 0;
	struct buf name = BUF_INIT;
	size_t i;

	trace_reader_start(t, &mono_ns, &start_ns);
	hprof_put_head(start_ns, out);
	hprof_put_empty_trace(out);
	fprintf(out, "MONITOR TIME BEGIN (total = %" PRIu64 " ms) ", r->lock_ns / 1000000);
	hprof_put_date(start_ns, out);
	if (r->nr_locks)
		fputs("rank   self  accum   count trace monitor\n", out);
	for (i = 0; i < r->nr_locks; i++) {
		const struct lock_row *x = r->list[i];

		sum += x->ns;
		buf_reset(&name);
		quote_add(&name, x->class_name);
		fprintf(out, "%4zu %5.2f%% %5.2f%% %7" PRIu64 " %5d %s (Java)\n", i + 1,
			hprof_percent(x->ns, r->lock_ns), hprof_percent(sum, r->lock_ns), x->n,
			HPROF_EMPTY_TRACE, name.data);
	}
	fputs("MONITOR TIME END\n", out);
	buf_release(&name);
}

/* Fail with the reason, so that a missing table is not taken for no waits. */
static int has_no_sums(struct err *e)
{
	err_set(e, ENODATA, "the recording was cut off before the waits for each lock were added up");
	err_hint(e, "--xtree or --xarc with --metric lock show the stacks of the waits that are there");
	return -ENODATA;
}

static bool wants_chains(const struct report_opts *o)
{
	return o->argument && *o->argument;
}

static int locks_report_check(const struct report_opts *o, struct err *e)
{
	if (wants_chains(o) && strcmp(o->argument, "chains"))
		return err_set(e, EINVAL, "invalid value '%s' of --locks (expected: chains)", o->argument);
	if (wants_chains(o) && o->format == FORMAT_HPROF)
		return err_set(e, EINVAL, "--format=hprof has no chains of locks");
	return 0;
}

static int locks_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct rows r = { .o = o };
	int ret;

	if (wants_chains(o))
		return holders_print(t, o, out, e);
	ret = locks_read(&r.m, t, o->select.filter, e);
	if (!ret && r.m.no_end && !r.m.nr_rows && !r.m.nr_left_out)
		ret = has_no_sums(e);
	if (!ret)
		ret = tallies_read(&r.tallies, &r.m.names, t, e);
	if (!ret) {
		locks_report_make_rows(&r);
		if (o->format == FORMAT_TEXT)
			locks_report_print_text(&r, out);
		else if (o->format == FORMAT_HPROF)
			print_hprof(&r, t, out);
		else
			locks_report_print_data(&r, out);
		ret = !r.nr && (r.m.nr_rows || r.m.nr_left_out);
	}
	free(r.list);
	free(r.notified);
	tallies_release(&r.tallies);
	locks_model_release(&r.m);
	return ret;
}

static const struct report_reason reasons[] = {
	{ "tid thread " FOLLOWS_GROUPS "module symbol off-cpu", "it adds up all threads of a process" },
	{ "cpu " FOLLOWS_TIMES, "it adds up the whole recording; 'report --metric lock' has single waits" },
	{ NULL, NULL },
};

const struct report report_locks = {
	.name = "locks",
	.help = "show the locks that threads waited for; or a tree of who held them and what those waited for",
	.argument = "chains",
	.argument_optional = true,
	.formats = FORMATS_TABLE | FORMAT_BIT(FORMAT_HPROF),
	.check = locks_report_check,
	.filters = RULE_BIT(RULE_EVENT) | RULE_BIT(RULE_CLASS),
	.needs = "a trace with waits for locks",
	.follows = FOLLOWS_CHOICE "pid comm limit sort",
	.reasons = reasons,
	.print_trace = locks_print,
	.page_title = "Locks",
	.page_rows = "locks",
};
