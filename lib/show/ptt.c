// SPDX-License-Identifier: GPL-2.0-or-later
/* ptt.c - prints snapshots of arcprof ptt (ptt.h). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arcprof_uapi.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "show/ptt.h"

/* The names of the fields before PTT_COUNTER, and their columns. */
static const struct field {
	const char *name;
	struct sheet_column column;
} fields[PTT_COUNTER] = {
	[PTT_DISPATCHES] = { "dispatches", { "dispatches", "Disp", 9 } },
	[PTT_INTERRUPTS] = { "interrupts", { "interrupts", "Intr", 8 } },
	[PTT_TIME] = { "task-clock", { "task-clock_ns", "Time ms", 13, 3, .unit = UNIT_MS } },
	[PTT_IRQ_TIME] = { "irq-time", { "irq-time_ns", "Intr ms", 11, 3, .unit = UNIT_MS } },
	[PTT_FAULTS] = { "page-faults", { "page-faults", "Faults", 9 } },
	[PTT_SWITCHES] = { "context-switches", { "context-switches", "Switches", 9 } },
	[PTT_MIGRATIONS] = { "migrations", { "migrations", "Migr", 7 } },
};

/* The columns: text has both numbers in one; behind the fields are CPI, the name of CSV and that of text. */
enum { AT_TIME, AT_PID, AT_TID, AT_NAME, AT_ALIVE, AT_ID, AT_FIELDS, NR_BEHIND = 3 };

enum { COUNTER_WIDTH = 16 };

int ptt_field_named(const char *name)
{
	size_t i;

	if (!strcmp(name, "time"))
		return PTT_TIME;
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(name, fields[i].name))
			return i;
	return -1;
}

const char *ptt_field_name(int field)
{
	return fields[field].name;
}

static const char *ptt_name_of(const struct ptt_show *sh, int field)
{
	return field < PTT_COUNTER ? fields[field].name : sh->counters[field - PTT_COUNTER];
}

/* ---- what to show ---- */

static int ptt_find_field(const struct ptt_show *sh, const char *name, uint32_t known, struct err *e)
{
	int f = ptt_field_named(name);
	size_t i;

	for (i = 0; f < 0 && i < sh->nr_counters; i++)
		if (!strcmp(name, sh->counters[i]))
			f = PTT_COUNTER + i;
	if (f < 0)
		return err_set(e, EINVAL, "'%s' is not a metric of this session", name);
	if (!(known & 1u << f))
		return err_set(e, EINVAL, "%s: is not measured by the back end '%s'", name, sh->backend);
	return f;
}

static int ptt_choose_columns(struct ptt_show *sh, uint32_t known, const struct opt_list *columns,
			      struct err *e)
{
	size_t i;
	int f;

	sh->fields = xcalloc(columns->nr_items + PTT_NR_FIELDS, sizeof(*sh->fields));
	for (i = 0; i < columns->nr_items; i++) {
		f = ptt_find_field(sh, columns->items[i], known, e);
		if (f < 0)
			return f;
		sh->fields[sh->nr_fields++] = f;
	}
	if (columns->nr_items)
		return 0;
	for (f = 0; f < PTT_NR_FIELDS; f++)
		if (known & 1u << f && (f != PTT_SWITCHES || sh->format != FORMAT_TEXT))
			sh->fields[sh->nr_fields++] = f;
	return 0;
}

static int choose_sort(struct ptt_show *sh, uint32_t known, const char *sort, struct err *e)
{
	static const struct { const char *name; int key; } others[] = {
		{ "pid", PTT_BY_PID }, { "tid", PTT_BY_TID }, { "name", PTT_BY_NAME },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (strcmp(sort, others[i].name))
			continue;
		sh->sort = others[i].key;
		sh->ascending = true;
		return 0;
	}
	sh->sort = ptt_find_field(sh, sort, known, e);
	return sh->sort < 0 ? err_wrap(e, "--sort") : 0;
}

static void ptt_set_columns(struct ptt_show *sh)
{
	struct sheet_column *c;
	size_t i;

	sh->nr_columns = AT_FIELDS + sh->nr_fields + NR_BEHIND;
	sh->columns = c = xcalloc(sh->nr_columns, sizeof(*sh->columns));
	sh->cells = xcalloc(sh->nr_columns, sizeof(*sh->cells));
	c[AT_TIME] = (struct sheet_column){ "unix_ns", .outer = true };
	c[AT_PID] = (struct sheet_column){ "pid", .outer = true };
	c[AT_TID] = (struct sheet_column){ "tid" };
	c[AT_NAME] = (struct sheet_column){ sh->format == FORMAT_JSON ? "name" : NULL };
	c[AT_ALIVE] = (struct sheet_column){ "alive" };
	c[AT_ID] = (struct sheet_column){ NULL, "    PID     TID", 15 };
	c += AT_FIELDS;
	for (i = 0; i < sh->nr_fields; i++, c++) {
		const char *name = ptt_name_of(sh, sh->fields[i]);

		if (sh->fields[i] < PTT_COUNTER)
			*c = fields[sh->fields[i]].column;
		else
			*c = (struct sheet_column){ name, name, COUNTER_WIDTH };
	}
	c[0] = (struct sheet_column){ sh->cpi ? "cpi" : NULL, sh->cpi ? "CPI" : NULL, 7, 3 };
	c[1] = (struct sheet_column){ sh->format == FORMAT_CSV ? "name" : NULL };
	c[2] = (struct sheet_column){ NULL, "Name", .before = "  ", .note = true };
}

int ptt_show_init(struct ptt_show *sh, struct ptt *p, const struct ptt_snapshot *s,
		  const struct opt_list *columns, const char *sort, struct err *e)
{
	int r;

	sh->backend = p->backend->name;
	while (sh->nr_counters < PTT_MAX_COUNTERS &&
	       p->backend->counter(p->session, sh->nr_counters, sh->counters[sh->nr_counters], PTT_NAME_LEN))
		sh->nr_counters++;
	r = ptt_choose_columns(sh, s->known, columns, e);
	if (r)
		return err_wrap(e, "--metric");
	ptt_set_columns(sh);
	if (sheet_check(&sh->choice, sh->format, sh->columns, sh->nr_columns, e))
		return -e->code;
	return choose_sort(sh, s->known, sort, e);
}

void ptt_show_release(struct ptt_show *sh)
{
	free(sh->fields);
	free(sh->columns);
	free(sh->cells);
}

/* ---- processes ---- */

struct process {
	int32_t pid;
	const char *name;
	const struct ptt_thread **threads;	/* sorted */
	size_t nr;
	uint64_t sum[PTT_NR_FIELDS];
};

static int compare_values(const struct ptt_show *sh, const uint64_t *x, const uint64_t *y)
{
	int c = COMPARE(x[sh->sort], y[sh->sort]);

	return sh->ascending ? c : -c;
}

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct ptt_thread *x = *(const struct ptt_thread *const *)a,
				*y = *(const struct ptt_thread *const *)b;
	const struct ptt_show *sh = arg;
	int c = 0;

	if (sh->sort >= 0)
		c = compare_values(sh, x->v, y->v);
	else if (sh->sort == PTT_BY_NAME)
		c = strcmp(x->comm, y->comm);
	return c ?: COMPARE(x->tid, y->tid);
}

static int compare_processes(const void *a, const void *b, void *arg)
{
	const struct process *x = a, *y = b;
	const struct ptt_show *sh = arg;
	int c = 0;

	if (sh->sort >= 0)
		c = compare_values(sh, x->sum, y->sum);
	else if (sh->sort == PTT_BY_NAME)
		c = strcmp(x->name, y->name);
	return c ?: COMPARE(x->pid, y->pid);
}

static void ptt_add_up(uint64_t *sum, const uint64_t *v)
{
	size_t i;

	for (i = 0; i < PTT_NR_FIELDS; i++)
		sum[i] += v[i];
}

static bool is_asked_for(const struct ptt_show *sh, int pid)
{
	size_t i;

	for (i = 0; i < sh->nr_pids; i++)
		if (sh->pids[i] == pid)
			return true;
	return !sh->nr_pids;
}

/* Group threads by process; the main thread's name is that of the process. */
static size_t group(const struct ptt_show *sh, const struct ptt_snapshot *s, const struct ptt_thread **order,
		    struct process *list)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_threads; i++) {
		const struct ptt_thread *t = &s->threads[i];
		struct process *p = nr ? &list[nr - 1] : NULL;

		if (!is_asked_for(sh, t->pid) || (sh->alive && !t->alive))
			continue;
		if (!p || p->pid != t->pid) {
			p = &list[nr++];
			*p = (struct process){ .pid = t->pid, .name = t->comm, .threads = order + i };
		}
		p->threads[p->nr++] = t;
		if (t->tid == t->pid)
			p->name = t->comm;
		ptt_add_up(p->sum, t->v);
	}
	for (i = 0; i < nr; i++)
		qsort_r(list[i].threads, list[i].nr, sizeof(*order), compare_threads, (void *)sh);
	qsort_r(list, nr, sizeof(*list), compare_processes, (void *)sh);
	return nr;
}

/* ---- rows ---- */

/* Return cycles per instruction; NaN: the session does not count both, or there were none. */
static double cpi_of(const struct ptt_show *sh, const uint64_t *v)
{
	uint64_t cycles = 0, instructions = 0;
	size_t i;

	for (i = 0; i < sh->nr_counters; i++) {
		if (!strcmp(sh->counters[i], "cycles") || !strcmp(sh->counters[i], "cpu-cycles"))
			cycles = v[PTT_COUNTER + i];
		else if (!strcmp(sh->counters[i], "instructions"))
			instructions = v[PTT_COUNTER + i];
	}
	return cycles && instructions ? (double)cycles / instructions : NAN;
}

/* Return the cell, in CSV with six decimals. */
static struct cell cpi_cell(const struct ptt_show *sh, double cpi, char *text, size_t size)
{
	if (sh->format != FORMAT_CSV || isnan(cpi))
		return cell_real(cpi);
	snprintf(text, size, "%.6f", cpi);
	return cell_label(text);
}

/* Print a row; t NULL: a sum. id and name are those of text; without a name the row ends before it. */
static void ptt_put_row(struct ptt_show *sh, const char *key, const struct ptt_thread *t, const uint64_t *v,
			const char *id, const char *name)
{
	struct cell *c = sh->cells;
	char cpi[32];
	size_t i;

	c[AT_TIME] = cell_u64(sh->unix_ns);
	c[AT_PID] = t ? cell_i64(t->pid) : cell_absent;
	c[AT_TID] = t ? cell_i64(t->tid) : cell_absent;
	c[AT_NAME] = t ? cell_text(t->comm) : cell_absent;
	c[AT_ALIVE] = !t ? cell_absent : sh->format == FORMAT_CSV ? cell_u64(t->alive) : cell_bool(t->alive);
	c[AT_ID] = cell_label(id);
	c += AT_FIELDS;
	for (i = 0; i < sh->nr_fields; i++)
		*c++ = cell_u64(v[sh->fields[i]]);
	c[0] = cpi_cell(sh, cpi_of(sh, v), cpi, sizeof(cpi));
	c[1] = t ? cell_text(t->comm) : cell_absent;
	c[2] = cell_text(name);
	sheet_row(&sh->sheet, key, sh->cells);
}

/* ---- text ---- */

static void put_dashes(struct ptt_show *sh, const char *id, const char *name)
{
	static const char line[] = "----------------";
	size_t i;

	for (i = 0; i < AT_ID; i++)
		sh->cells[i] = cell_label("");
	sh->cells[AT_ID] = cell_label(id);
	for (i = AT_FIELDS; i < sh->nr_columns; i++)
		sh->cells[i] = cell_label(line + sizeof(line) - 1 - sh->columns[i].width);
	sh->cells[sh->nr_columns - 1] = name ? cell_text(name) : cell_label("");
	sheet_row(&sh->sheet, NULL, sh->cells);
}

static void text_process(struct ptt_show *sh, const struct process *p)
{
	struct buf name = BUF_INIT;
	char id[32];
	size_t i;

	for (i = 0; i < p->nr; i++) {
		const struct ptt_thread *t = p->threads[i];

		snprintf(id, sizeof(id), "%7d %7d", t->pid, t->tid);
		buf_reset(&name);
		buf_fmt(&name, "%s%s", t->comm, t->alive || sh->all_ended ? "" : " (ended)");
		ptt_put_row(sh, NULL, t, t->v, id, name.data);
	}
	if (p->nr > 1) {
		put_dashes(sh, "", NULL);
		snprintf(id, sizeof(id), "%7d %7s", p->pid, "all");
		buf_reset(&name);
		buf_fmt(&name, "%s: %zu threads", p->name, p->nr);
		ptt_put_row(sh, NULL, NULL, p->sum, id, name.data);
		putc('\n', sh->out);
	}
	buf_release(&name);
}

/* Print requested processes without threads. */
static void text_missing(struct ptt_show *sh, const struct process *list, size_t nr)
{
	size_t i, k;

	for (i = 0; i < sh->nr_pids; i++) {
		for (k = 0; k < nr && list[k].pid != sh->pids[i]; k++)
			;
		if (k == nr)
			fprintf(sh->out, "%7d ** No Data **\n", sh->pids[i]);
	}
}

static void put_cpus(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	static const struct sheet_column columns[] = {
		{ "cpu", "CPU", -5 },
		{ "elapsed_ns", "Seconds", 12, 6, .unit = UNIT_S },
		{ "idle_ns", "idle", 12, 6, .unit = UNIT_S },
		{ "other_ns", "other", 12, 6, .unit = UNIT_S },
		{ "threads_ns", "threads", 12, 6, .unit = UNIT_S },
		{ "hardirq_ns", "hardirq", 12, 6, .unit = UNIT_S },
		{ "softirq_ns", "softirq", 12, 6, .unit = UNIT_S },
		{ "hardirqs", "Hardirqs", 9 },
		{ "softirqs", "Softirqs", 9 },
		{ "switches", "Switches", 9 },
		{ "lost" },
	};
	size_t i;

	sheet_columns(&sh->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr_cpus; i++) {
		const struct ptt_cpu *c = &s->cpus[i];

		sheet_row(&sh->sheet, NULL, (const struct cell[]){
			cell_u64(c->cpu),
			cell_u64(c->elapsed_ns),
			cell_u64(c->bucket_ns[ARCPROF_BUCKET_IDLE]),
			cell_u64(c->bucket_ns[ARCPROF_BUCKET_OTHER]),
			cell_u64(c->bucket_ns[ARCPROF_BUCKET_THREADS]),
			cell_u64(c->bucket_ns[ARCPROF_BUCKET_HARDIRQ]),
			cell_u64(c->bucket_ns[ARCPROF_BUCKET_SOFTIRQ]),
			cell_u64(c->nr_hardirqs),
			cell_u64(c->nr_softirqs),
			cell_u64(c->nr_switches),
			cell_u64(c->nr_lost),
		});
	}
}

/* Print the sum of threads that are not listed. */
static void text_gone(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	char name[48] = "ended threads and children";

	if (!s->nr_gone && !s->gone[PTT_TIME])
		return;
	if (s->nr_gone)
		snprintf(name, sizeof(name), "%" PRIu64 " ended threads", s->nr_gone);
	ptt_put_row(sh, NULL, NULL, s->gone, "no longer seen", name);
}

static void text_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s, const struct process *list,
			  size_t nr)
{
	size_t i, threads = 0;

	for (i = 0; i < nr; i++)
		threads += list[i].nr;
	fprintf(sh->out, "%s** %s: %.3f s, %zu thread%s of %zu process%s, interrupts %s%s\n",
		sh->nr_printed ? "\n" : "",
		sh->backend, s->session_ns / 1e9, threads, plural(threads), nr, plural_es(nr),
		s->known & 1u << PTT_IRQ_TIME ? "set apart" : "in the threads' time",
		s->nr_refused ? "; more threads than slots: some are missing" : "");
	putc('\n', sh->out);
	sheet_columns(&sh->sheet, sh->columns, sh->nr_columns);
	put_dashes(sh, "------- -------", "---------------");
	for (i = 0; i < nr; i++)
		text_process(sh, &list[i]);
	text_missing(sh, list, nr);
	text_gone(sh, s);
	if (!sh->cpus)
		return;
	putc('\n', sh->out);
	put_cpus(sh, s);
	if (!s->nr_cpus)
		fprintf(sh->out, "n/a: not measured by the back end '%s'\n", sh->backend);
}

/* ---- CSV and JSON ---- */

static void csv_snapshot(struct ptt_show *sh, const struct process *list, size_t nr)
{
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < list[i].nr; k++)
			ptt_put_row(sh, NULL, list[i].threads[k], list[i].threads[k]->v, "", NULL);
}

static void json_process(struct ptt_show *sh, const struct process *p)
{
	struct json *j = &sh->sheet.json;
	size_t i;

	json_object(j, NULL);
	json_i64(j, "pid", p->pid);
	json_str(j, "name", p->name);
	ptt_put_row(sh, "total", NULL, p->sum, "", NULL);
	json_array(j, "threads");
	for (i = 0; i < p->nr; i++)
		ptt_put_row(sh, NULL, p->threads[i], p->threads[i]->v, "", NULL);
	json_end(j);
	json_end(j);
}

static void json_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s, const struct process *list,
			  size_t nr)
{
	struct json *j = &sh->sheet.json;
	size_t i;

	sheet_columns(&sh->sheet, sh->columns, sh->nr_columns);
	json_object(j, NULL);
	json_u64(j, "unix_ns", sh->unix_ns);
	json_u64(j, "elapsed_ns", s->session_ns);
	json_array(j, "processes");
	for (i = 0; i < nr; i++)
		json_process(sh, &list[i]);
	json_end(j);
	json_u64(j, "threads_ended_before", s->nr_gone);
	ptt_put_row(sh, "ended_before", NULL, s->gone, "", NULL);
	json_u64(j, "dispatches_without_slot", s->nr_refused);
	json_array(j, "cpus");
	put_cpus(sh, s);
	json_end(j);
	json_end(j);
}

/* ---- all of them ---- */

void ptt_show_start(struct ptt_show *sh)
{
	struct json *j = &sh->sheet.json;
	size_t i;

	sheet_init(&sh->sheet, sh->format, sh->out);
	sheet_choose(&sh->sheet, &sh->choice);
	if (sh->format == FORMAT_CSV)
		sheet_columns(&sh->sheet, sh->columns, sh->nr_columns);
	json_object(j, NULL);
	json_str(j, "backend", sh->backend);
	json_array(j, "metrics");
	for (i = 0; i < sh->nr_fields; i++)
		json_str(j, NULL, ptt_name_of(sh, sh->fields[i]));
	json_end(j);
	json_array(j, "samples");
}

void ptt_show_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	const struct ptt_thread **order = xcalloc(s->nr_threads + 1, sizeof(*order));
	struct process *list = xcalloc(s->nr_threads + 1, sizeof(*list));
	size_t nr = group(sh, s, order, list);

	sh->unix_ns = clock_real_ns();
	if (sh->format == FORMAT_TEXT)
		text_snapshot(sh, s, list, nr);
	else if (sh->format == FORMAT_CSV)
		csv_snapshot(sh, list, nr);
	else
		json_snapshot(sh, s, list, nr);
	sh->nr_printed++;
	free(list);
	free(order);
}

void ptt_show_end(struct ptt_show *sh)
{
	sheet_end(&sh->sheet);
	json_end(&sh->sheet.json);
	json_end(&sh->sheet.json);
}
