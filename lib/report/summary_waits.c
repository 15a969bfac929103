// SPDX-License-Identifier: GPL-2.0-or-later
/* summary_waits.c - what threads wait for inside their work, locks, and what is allocated. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/holders.h"
#include "model/locks.h"
#include "model/roles.h"
#include "report/summary.h"

enum {			/* rows */
	NR_WAITS = 6,
	INDENT = 22,		/* of what is below a row, as paths and functions are long */
	WIDTH_REASON = 24, WIDTH_LOCK = 40,
	NR_LOCKS = 3,
	NR_OBJECTS = 5,
};

/*
 * Return a name of a class, shortened in text if it is longer than its column. The package is left out, and
 * for the JDK's locks the class that implements them, which no program names: "[park:
 * java.util.concurrent.locks.ReentrantLock$FairSync]" becomes "[park: ReentrantLock]".
 */
static const char *fit(const struct summary *s, const char *name, size_t width, struct buf *b)
{
	static const char made_of[] = "Sync", condition[] = "$ConditionObject";
	const char *colon = strstr(name, ": "), *class = colon ? colon + 2 : name;
	const char *end = class + strcspn(class, "]@"), *dot = memrchr(class, '.', end - class), *inner;

	if (!sheet_is_text(&s->sheet) || strlen(name) <= width || !dot)
		return name;
	inner = memchr(dot, '$', end - dot);
	buf_reset(b);
	buf_add(b, name, class - name);
	if (inner && !strncmp(inner, condition, strlen(condition))) {
		buf_str(b, inner + 1);
	} else if (inner && end - inner > (ptrdiff_t)strlen(made_of) &&
		   !strncmp(end - strlen(made_of), made_of, strlen(made_of))) {
		buf_add(b, dot + 1, inner - dot - 1);
		buf_str(b, end);
	} else {
		buf_str(b, dot + 1);
	}
	return b->data;
}

/* ---- waits ---- */

/* Add up waits by function and reason. Set wait[node] to the reason that it is, or is below. */
static void add_waits(const struct summary *s, struct summary_rows *r, uint32_t *wait, uint64_t *whole,
		      uint64_t *idle)
{
	const struct flow *f = &s->v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[r->metric];

		wait[i] = wait[f->nodes[i].parent];
		if (!wait[i] && consumer_is_wait(s->v->m, f->nodes[i].consumer))
			wait[i] = f->nodes[i].consumer;
		if (!n || !wait[i])
			continue;
		flow_sum(s->idle[i] ? idle : whole, n);
		if (!s->idle[i])
			flow_sum(&summary_row_of(r, summary_where(s, i), wait[i])->self, n);
	}
}

/* Find the files and sockets that a row's waits were for, the one with most time first. */
static void find_files(const struct summary *s, const struct summary_row *x, const uint32_t *wait,
		       struct summary_rows *files)
{
	const struct flow *f = &s->v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[files->metric];
		uint32_t c = f->nodes[i].consumer;

		if (n && !s->idle[i] && wait[i] == x->what && summary_where(s, i) == x->where &&
		    s->v->m->consumers.items[c].kind == CONSUMER_WAIT_FILE)
			flow_sum(&summary_row_of(files, c, 0)->self, n);
	}
	summary_sort(files, summary_most_self_first);
}

/* Print the name of the first, and how many others there are. */
static void put_files(struct summary *s, const struct summary_rows *files)
{
	struct buf b = BUF_INIT;

	if (!files->nr || !sheet_is_text(&s->sheet))
		return;
	quote_add(&b, summary_name(s, files->list[0].where));
	if (files->nr > 1)
		buf_fmt(&b, " and %zu more", files->nr - 1);
	fprintf(s->sheet.out, "%*s%s\n", INDENT, "", b.data);
	buf_release(&b);
}

static uint64_t count_idle_threads(const struct summary *s)
{
	const struct flow *f = &s->v->m->flow;
	bool *has = xcalloc(f->nr_nodes, sizeof(*has));
	uint64_t nr = 0;
	size_t i;

	for (i = f->nr_nodes; i-- > 1;) {
		has[i] |= s->idle[i];
		if (has[i] && s->v->m->consumers.items[f->nodes[i].consumer].kind == CONSUMER_THREAD)
			nr++;
		has[f->nodes[i].parent] |= has[i];
	}
	free(has);
	return nr;
}

static void put_idle(struct summary *s, unsigned int metric, uint64_t idle)
{
	static const char by[] = "pools, selectors, joins, the JVM's";
	uint64_t nr = count_idle_threads(s);
	const char *wait = summary_amount(s, metric, idle).text;

	if (summary_is_json(s)) {
		json_object(&s->sheet.json, "idle");
		json_u64(&s->sheet.json, "wait", idle);
		json_u64(&s->sheet.json, "threads", nr);
		json_end(&s->sheet.json);
	} else if (idle) {
		fprintf(s->sheet.out, summary_is_markdown(s) ? "\n%s idle in %" PRIu64 " thread%s: %s\n" :
			"%20s  idle in %" PRIu64 " thread%s: %s\n", wait, nr, plural(nr), by);
	}
}

static void summary_waits_put_wait(struct summary *s, const struct summary_row *x, const uint32_t *wait,
				   uint64_t whole, unsigned int metric)
{
	const struct consumers *c = &s->v->m->consumers;
	struct summary_rows files = { .metric = metric };
	struct buf room = BUF_INIT;
	const char *reason = fit(s, consumer_name(c, x->what), WIDTH_REASON, &room);

	find_files(s, x, wait, &files);
	sheet_row(&s->sheet, NULL, (const struct cell[]){
		cell_u64(x->self), cell_real(summary_percent(x->self, whole)),
		summary_amount(s, metric, x->self), cell_text(reason),
		files.nr ? cell_text(consumer_name(c, files.list[0].where)) : cell_absent,
		files.nr ? cell_u64(files.nr) : cell_absent, cell_text(summary_name(s, x->where)),
	});
	put_files(s, &files);
	summary_rows_release(&files);
	buf_release(&room);
}

void summary_put_waits(struct summary *s, unsigned int metric)
{
	const struct sheet_column columns[] = {
		{ "wait" }, { .head = "%Wait", .width = 7, .decimals = 1, .before = "  " },
		{ .head = "Wait", .width = 10 },
		{ "reason", "For", -WIDTH_REASON, .before = "  " },
		{ "file", summary_is_markdown(s) ? "Of" : NULL, -2 }, { "files" },
		{ "name", "In", -2, .cut = true },
	};
	uint32_t *wait = xcalloc(s->v->m->flow.nr_nodes, sizeof(*wait));
	struct summary_rows r = { .metric = metric };
	uint64_t whole = 0, idle = 0;
	size_t i;

	add_waits(s, &r, wait, &whole, &idle);
	if (!r.nr && !idle) {	/* exact calls: how long they took says nothing of waits */
		free(wait);
		return;
	}
	summary_sort(&r, summary_most_self_first);
	summary_begin(s, "waits", "Waits inside work");
	if (r.nr)
		sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(r.nr, (size_t)NR_WAITS); i++) {
		const struct summary_row *x = &r.list[i];

		if (summary_percent(x->self, whole) < SUMMARY_WORTH_PERCENT)
			break;
		summary_waits_put_wait(s, x, wait, whole, metric);
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	put_idle(s, metric, idle);
	summary_rows_release(&r);
	free(wait);
}

static int longest_first(const void *p, const void *q)
{
	const struct lock_row *a = p, *b = q;

	return COMPARE(b->ns, a->ns) ?: strcmp(a->class_name, b->class_name);
}

/* Add up where those who had a lock were while others waited for it, by site and by lock, counted from 1. */
static void add_sites(const struct holders *h, struct summary_rows *r)
{
	size_t i;

	for (i = 0; i < h->nr_rows; i++) {
		const struct holder_row *x = &h->rows[i];

		if (x->level == 1 && x->parent && x->site)
			flow_sum(&summary_row_of(r, x->site, h->rows[x->parent - 1].lock + 1)->self, x->ns);
	}
	summary_sort(r, summary_most_self_first);
}

/* where a lock was held while others waited for it */
struct held {
	uint32_t site;		/* the consumer of the program's function where it was most; 0: not known */
	bool by_vm;		/* it is a lock inside of HotSpot */
};

static struct held held_in(const struct lock_row *x, const struct holders *h,
			   const struct summary_rows *sites)
{
	const struct consumers *c = &h->strings.consumers;
	struct held held = { 0 };
	size_t i;

	for (i = 0; i < sites->nr; i++) {
		const struct lock_row *l = &h->locks[sites->list[i].what - 1].name;
		uint32_t site = sites->list[i].where;

		if (l->proc != x->proc || l->kind != x->kind || l->identity != x->identity ||
		    strcmp(l->class_name, x->class_name) != 0)
			continue;
		if (!held.site && !role_is_platform(consumer_name(c, site)))
			held.site = site;
		held.by_vm |= !!strstr(model_str(&h->strings, c->items[site].module), "libjvm.so");
	}
	return held;
}

static void summary_waits_put_lock(struct summary *s, const struct lock_row *x, const struct holders *h,
				   uint32_t site)
{
	const char *function = site ? consumer_name(&h->strings.consumers, site) : NULL;
	struct buf name = BUF_INIT, owner = BUF_INIT, time = BUF_INIT, room = BUF_INIT;

	locks_put_name(x, &name);
	locks_put_owner(x, &owner);
	report_put_duration(&time, x->ns);
	sheet_row(&s->sheet, NULL, (const struct cell[]){
		cell_u64(x->ns), cell_u64(x->n), cell_text(time.data),
		cell_text(fit(s, name.data, WIDTH_LOCK, &room)), cell_text(owner.data),
		function ? cell_text(function) : cell_absent,
	});
	if (function && sheet_is_text(&s->sheet)) {
		buf_reset(&room);
		if (h->strings.consumers.items[site].module)	/* a native function */
			summary_put_short_native(function, &room);
		buf_reset(&name);
		fprintf(s->sheet.out, "%*sheld in %s\n", INDENT, "",
			quote_str(&name, room.len ? room.data : function));
	}
	buf_release(&name);
	buf_release(&owner);
	buf_release(&time);
	buf_release(&room);
}

static void put_of_vm(struct summary *s, uint64_t ns, size_t nr)
{
	struct buf time = BUF_INIT;

	if (summary_is_json(s)) {
		json_object(&s->sheet.json, "vm_locks");
		json_u64(&s->sheet.json, "wait_ns", ns);
		json_u64(&s->sheet.json, "locks", nr);
		json_end(&s->sheet.json);
	} else if (nr) {
		report_put_duration(&time, ns);
		fprintf(s->sheet.out, summary_is_markdown(s) ? "\n%s for %zu lock%s of the JVM's own\n" :
			"%20s  for %zu lock%s of the JVM's own\n", time.data, nr, plural(nr));
	}
	buf_release(&time);
}

void summary_put_locks(struct summary *s)
{
	const struct sheet_column columns[] = {
		{ "wait_ns" }, { "n", "Waits", 9 }, { .head = "Wait", .width = 10 },
		{ "name", "Lock", -WIDTH_LOCK, .before = "  " }, { "owner", "Mostly held by", -14 },
		{ "held_in", summary_is_markdown(s) ? "Held in" : NULL, -2 },
	};
	struct summary_rows sites = { 0 };
	struct locks_model m;
	struct holders h;
	struct err e;
	size_t i, nr = 0, nr_of_vm = 0;
	uint64_t of_vm_ns = 0;

	if (!holders_read(&h, s->v->trace, &s->v->o->select, &e))
		add_sites(&h, &sites);
	if (locks_read(&m, s->v->trace, s->v->o->select.filter, &e) < 0)
		m.nr_rows = 0;
	if (m.nr_rows)
		qsort(m.rows, m.nr_rows, sizeof(*m.rows), longest_first);
	summary_begin(s, "locks", "Locks that threads waited for longest");
	for (i = 0; i < m.nr_rows; i++) {
		const struct lock_row *x = &m.rows[i];
		struct held held = held_in(x, &h, &sites);

		if (!x->ns || !locks_is_lock(x) || !select_number(&s->v->o->select.pids, x->pid) ||
		    !select_name(&s->v->o->select.comms, x->process))
			continue;
		if (held.by_vm) {
			flow_sum(&of_vm_ns, x->ns);
			nr_of_vm++;
		} else if (nr++ < NR_LOCKS) {
			if (nr == 1)
				sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
			summary_waits_put_lock(s, x, &h, held.site);
		}
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	put_of_vm(s, of_vm_ns, nr_of_vm);
	locks_model_release(&m);
	holders_release(&h);
	summary_rows_release(&sites);
}

/* ---- objects ---- */

/* Check whether the stacks of a metric end in classes of objects. */
bool summary_is_of_objects(const struct summary *s, unsigned int metric)
{
	const struct flow *f = &s->v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (flow_base(f, i)[metric] &&
		    s->v->m->consumers.items[f->nodes[i].consumer].kind == CONSUMER_CLASS)
			return true;
	return false;
}

void summary_put_allocations(struct summary *s, unsigned int metric, bool is_native)
{
	const struct sheet_column columns[] = {
		{ "allocated" }, { .head = "%Bytes", .width = 7, .decimals = 1, .before = "  " },
		{ .head = "Bytes", .width = 10 }, { "name", "By", -46, .before = "  " },
		{ is_native ? "call" : "class", is_native ? "Call" : "Class", -5, .cut = true },
	};
	const struct flow *f = &s->v->m->flow;
	struct summary_rows r = { .metric = metric };
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[metric];

		if (n)
			flow_sum(&summary_row_of(&r, summary_where(s, i), f->nodes[i].consumer)->self,
				 n);
	}
	summary_sort(&r, summary_most_self_first);
	summary_begin(s, is_native ? "native_allocations" : "allocations",
		      is_native ? "What allocates most native memory" : "What allocates most");
	sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(r.nr, (size_t)NR_OBJECTS); i++) {
		const struct summary_row *x = &r.list[i];

		if (summary_percent(x->self, s->v->total[metric]) < SUMMARY_WORTH_PERCENT)
			break;
		sheet_row(&s->sheet, NULL, (const struct cell[]){
			cell_u64(x->self), cell_real(summary_percent(x->self, s->v->total[metric])),
			summary_amount(s, metric, x->self), cell_text(summary_name(s, x->where)),
			cell_text(consumer_name(&s->v->m->consumers, x->what)),
		});
	}
	sheet_end_rows(&s->sheet);
	summary_end(s);
	summary_rows_release(&r);
}
