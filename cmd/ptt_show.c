// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/quote.h"
#include "arcprof_uapi.h"
#include "report/format.h"
#include "ptt_show.h"

/* How the fields before PTT_COUNTER are called, and what heads their columns. */
static const struct field {
	const char *name, *head;
	int width;
	bool ns;
} fields[PTT_COUNTER] = {
	[PTT_DISPATCHES] = { "dispatches", "Disp", 9 },
	[PTT_INTERRUPTS] = { "interrupts", "Intr", 8 },
	[PTT_TIME] = { "task-clock", "Time ms", 13, true },
	[PTT_IRQ_TIME] = { "irq-time", "Intr ms", 11, true },
	[PTT_FAULTS] = { "page-faults", "Faults", 9 },
	[PTT_SWITCHES] = { "context-switches", "Switches", 9 },
	[PTT_MIGRATIONS] = { "migrations", "Migr", 7 },
};

static const char *const bucket_names[PTT_NR_BUCKETS] = {
	[ARCPROF_BUCKET_IDLE] = "idle",
	[ARCPROF_BUCKET_OTHER] = "other",
	[ARCPROF_BUCKET_THREADS] = "threads",
	[ARCPROF_BUCKET_HARDIRQ] = "hardirq",
	[ARCPROF_BUCKET_SOFTIRQ] = "softirq",
};

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

static const char *name_of(const struct ptt_show *sh, int field)
{
	return field < PTT_COUNTER ? fields[field].name : sh->counters[field - PTT_COUNTER];
}

static int width_of(int field)
{
	return field < PTT_COUNTER ? fields[field].width : COUNTER_WIDTH;
}

static bool is_time(int field)
{
	return field < PTT_COUNTER && fields[field].ns;
}

/* ---- what to show ---- */

static int find_field(const struct ptt_show *sh, const char *name, uint32_t known, struct err *e)
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

static int choose_columns(struct ptt_show *sh, uint32_t known, const struct opt_list *columns, struct err *e)
{
	size_t i;
	int f;

	sh->fields = xcalloc(columns->nr_items + PTT_NR_FIELDS, sizeof(*sh->fields));
	for (i = 0; i < columns->nr_items; i++) {
		f = find_field(sh, columns->items[i], known, e);
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
	sh->sort = find_field(sh, sort, known, e);
	return sh->sort < 0 ? err_wrap(e, "--sort") : 0;
}

int ptt_show_init(struct ptt_show *sh, struct ptt *p, const struct ptt_snapshot *s,
		  const struct opt_list *columns, const char *sort, struct err *e)
{
	int r;

	sh->backend = p->backend->name;
	while (sh->nr_counters < PTT_MAX_COUNTERS &&
	       p->backend->counter(p->session, sh->nr_counters, sh->counters[sh->nr_counters], PTT_NAME_LEN))
		sh->nr_counters++;
	r = choose_columns(sh, s->known, columns, e);
	return r ? err_wrap(e, "--metric") : choose_sort(sh, s->known, sort, e);
}

void ptt_show_release(struct ptt_show *sh)
{
	free(sh->fields);
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
	int c = (x[sh->sort] > y[sh->sort]) - (x[sh->sort] < y[sh->sort]);

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
	return c ? c : (x->tid > y->tid) - (x->tid < y->tid);
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
	return c ? c : (x->pid > y->pid) - (x->pid < y->pid);
}

static void add_up(uint64_t *sum, const uint64_t *v)
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

/* The main thread's name is that of the process. */
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
		add_up(p->sum, t->v);
	}
	for (i = 0; i < nr; i++)
		qsort_r(list[i].threads, list[i].nr, sizeof(*order), compare_threads, (void *)sh);
	qsort_r(list, nr, sizeof(*list), compare_processes, (void *)sh);
	return nr;
}

/* ---- cells ---- */

/* Cycles per instruction, or NaN: the session does not count both, or there were none. */
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

static void text_values(struct ptt_show *sh, const uint64_t *v)
{
	double cpi = cpi_of(sh, v);
	size_t i;

	for (i = 0; i < sh->nr_fields; i++) {
		int f = sh->fields[i];

		if (is_time(f))
			fprintf(sh->out, " %*.3f", width_of(f), v[f] / 1e6);
		else
			fprintf(sh->out, " %*" PRIu64, width_of(f), v[f]);
	}
	if (sh->cpi && isnan(cpi))
		fprintf(sh->out, " %7s", "n/a");
	else if (sh->cpi)
		fprintf(sh->out, " %7.3f", cpi);
}

static void json_values(struct ptt_show *sh, const uint64_t *v)
{
	char key[PTT_NAME_LEN + 4];
	size_t i;

	for (i = 0; i < sh->nr_fields; i++) {
		int f = sh->fields[i];

		snprintf(key, sizeof(key), is_time(f) ? "%s_ns" : "%s", name_of(sh, f));
		json_u64(&sh->json, key, v[f]);
	}
	if (sh->cpi)
		json_double(&sh->json, "cpi", cpi_of(sh, v));
}

/* ---- text ---- */

static void dashes(struct ptt_show *sh)
{
	static const char line[] = "--------------------";
	size_t i;

	for (i = 0; i < sh->nr_fields; i++)
		fprintf(sh->out, " %.*s", width_of(sh->fields[i]), line);
	fprintf(sh->out, sh->cpi ? " -------" : "");
}

static void text_head(struct ptt_show *sh)
{
	size_t i;

	fprintf(sh->out, "\n%7s %7s", "PID", "TID");
	for (i = 0; i < sh->nr_fields; i++) {
		int f = sh->fields[i];

		fprintf(sh->out, " %*s", width_of(f), f < PTT_COUNTER ? fields[f].head : name_of(sh, f));
	}
	fprintf(sh->out, sh->cpi ? " %7s  Name\n" : "%s  Name\n", sh->cpi ? "CPI" : "");
	fprintf(sh->out, "------- -------");
	dashes(sh);
	fprintf(sh->out, "  ---------------\n");
}

static void text_process(struct ptt_show *sh, const struct process *p)
{
	struct buf name = BUF_INIT;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		const struct ptt_thread *t = p->threads[i];

		fprintf(sh->out, "%7d %7d", t->pid, t->tid);
		text_values(sh, t->v);
		fprintf(sh->out, "  %s%s\n", quote_str(&name, t->comm), t->alive || sh->all_ended ? "" : " (ended)");
	}
	if (p->nr > 1) {
		fprintf(sh->out, "%15s", "");
		dashes(sh);
		fprintf(sh->out, "\n%7d %7s", p->pid, "all");
		text_values(sh, p->sum);
		fprintf(sh->out, "  %s: %zu threads\n\n", quote_str(&name, p->name), p->nr);
	}
	buf_release(&name);
}

/* A process that was asked for and has no thread here. */
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

static void text_cpus(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	size_t i, k;

	fprintf(sh->out, "\n%-5s %12s", "CPU", "Seconds");
	for (k = 0; k < PTT_NR_BUCKETS; k++)
		fprintf(sh->out, " %12s", bucket_names[k]);
	fprintf(sh->out, " %9s %9s %9s\n", "Hardirqs", "Softirqs", "Switches");
	for (i = 0; i < s->nr_cpus; i++) {
		const struct ptt_cpu *c = &s->cpus[i];

		fprintf(sh->out, "%-5u %12.6f", c->cpu, c->elapsed_ns / 1e9);
		for (k = 0; k < PTT_NR_BUCKETS; k++)
			fprintf(sh->out, " %12.6f", c->bucket_ns[k] / 1e9);
		fprintf(sh->out, " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n", c->nr_hardirqs, c->nr_softirqs,
			c->nr_switches);
	}
	if (!s->nr_cpus)
		fprintf(sh->out, "n/a: not measured by the back end '%s'\n", sh->backend);
}

static void text_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s, const struct process *list,
			  size_t nr)
{
	size_t i, threads = 0;

	for (i = 0; i < nr; i++)
		threads += list[i].nr;
	fprintf(sh->out, "%s** %s: %.3f s, %zu thread%s of %zu process%s, interrupts %s%s\n",
		sh->nr_printed ? "\n" : "",
		sh->backend, s->session_ns / 1e9, threads, threads == 1 ? "" : "s", nr, nr == 1 ? "" : "es",
		s->known & 1u << PTT_IRQ_TIME ? "set apart" : "in the threads' time",
		s->nr_refused ? "; more threads than slots: some are missing" : "");
	text_head(sh);
	for (i = 0; i < nr; i++)
		text_process(sh, &list[i]);
	text_missing(sh, list, nr);
	if (s->nr_gone || s->gone[PTT_TIME]) {
		fprintf(sh->out, "%15s", "no longer seen");
		text_values(sh, s->gone);
		if (s->nr_gone)
			fprintf(sh->out, "  %" PRIu64 " ended threads\n", s->nr_gone);
		else
			fprintf(sh->out, "  ended threads and children\n");
	}
	if (sh->cpus)
		text_cpus(sh, s);
}

/* ---- CSV and JSON ---- */

static void csv_head(struct ptt_show *sh)
{
	size_t i;

	fprintf(sh->out, "unix_ns,pid,tid,alive");
	for (i = 0; i < sh->nr_fields; i++)
		fprintf(sh->out, is_time(sh->fields[i]) ? ",%s_ns" : ",%s", name_of(sh, sh->fields[i]));
	fprintf(sh->out, sh->cpi ? ",cpi,name\n" : ",name\n");
}

static void csv_name(FILE *out, const char *name)
{
	struct buf b = BUF_INIT;

	quote_csv(&b, name, strlen(name));
	fprintf(out, "%s\n", b.data);
	buf_release(&b);
}

static void csv_snapshot(struct ptt_show *sh, const struct process *list, size_t nr)
{
	uint64_t now = clock_real_ns();
	size_t i, k, f;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < list[i].nr; k++) {
			const struct ptt_thread *t = list[i].threads[k];
			double cpi = cpi_of(sh, t->v);

			fprintf(sh->out, "%" PRIu64 ",%d,%d,%d", now, t->pid, t->tid, t->alive);
			for (f = 0; f < sh->nr_fields; f++)
				fprintf(sh->out, ",%" PRIu64, t->v[sh->fields[f]]);
			if (sh->cpi)
				fprintf(sh->out, isnan(cpi) ? "," : ",%.6f", cpi);
			putc(',', sh->out);
			csv_name(sh->out, t->comm);
		}
	}
}

static void json_process(struct ptt_show *sh, const struct process *p)
{
	struct json *j = &sh->json;
	size_t i;

	json_object(j, NULL);
	json_i64(j, "pid", p->pid);
	json_str(j, "name", p->name);
	json_object(j, "total");
	json_values(sh, p->sum);
	json_end(j);
	json_array(j, "threads");
	for (i = 0; i < p->nr; i++) {
		json_object(j, NULL);
		json_i64(j, "tid", p->threads[i]->tid);
		json_str(j, "name", p->threads[i]->comm);
		json_bool(j, "alive", p->threads[i]->alive);
		json_values(sh, p->threads[i]->v);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void json_cpus(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	struct json *j = &sh->json;
	char key[32];
	size_t i, k;

	json_array(j, "cpus");
	for (i = 0; i < s->nr_cpus; i++) {
		const struct ptt_cpu *c = &s->cpus[i];

		json_object(j, NULL);
		json_u64(j, "cpu", c->cpu);
		json_u64(j, "elapsed_ns", c->elapsed_ns);
		for (k = 0; k < PTT_NR_BUCKETS; k++) {
			snprintf(key, sizeof(key), "%s_ns", bucket_names[k]);
			json_u64(j, key, c->bucket_ns[k]);
		}
		json_u64(j, "hardirqs", c->nr_hardirqs);
		json_u64(j, "softirqs", c->nr_softirqs);
		json_u64(j, "switches", c->nr_switches);
		json_u64(j, "lost", c->nr_lost);
		json_end(j);
	}
	json_end(j);
}

static void json_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s, const struct process *list,
			  size_t nr)
{
	struct json *j = &sh->json;
	size_t i;

	json_object(j, NULL);
	json_u64(j, "unix_ns", clock_real_ns());
	json_u64(j, "elapsed_ns", s->session_ns);
	json_array(j, "processes");
	for (i = 0; i < nr; i++)
		json_process(sh, &list[i]);
	json_end(j);
	json_u64(j, "threads_ended_before", s->nr_gone);
	json_object(j, "ended_before");
	json_values(sh, s->gone);
	json_end(j);
	json_u64(j, "dispatches_without_slot", s->nr_refused);
	json_cpus(sh, s);
	json_end(j);
}

/* ---- all of them ---- */

void ptt_show_start(struct ptt_show *sh)
{
	size_t i;

	if (sh->format == FORMAT_CSV)
		csv_head(sh);
	if (sh->format != FORMAT_JSON)
		return;
	json_init(&sh->json, sh->out);
	json_object(&sh->json, NULL);
	json_str(&sh->json, "backend", sh->backend);
	json_array(&sh->json, "metrics");
	for (i = 0; i < sh->nr_fields; i++)
		json_str(&sh->json, NULL, name_of(sh, sh->fields[i]));
	json_end(&sh->json);
	json_array(&sh->json, "samples");
}

void ptt_show_snapshot(struct ptt_show *sh, const struct ptt_snapshot *s)
{
	const struct ptt_thread **order = xcalloc(s->nr_threads + 1, sizeof(*order));
	struct process *list = xcalloc(s->nr_threads + 1, sizeof(*list));
	size_t nr = group(sh, s, order, list);

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
	if (sh->format != FORMAT_JSON)
		return;
	json_end(&sh->json);
	json_end(&sh->json);
}
