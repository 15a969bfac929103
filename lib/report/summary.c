// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * summary.c - the first answer, on one screen: what ran, where its time went, what it waited for, what it
 * allocated, and what stands out, each with the report that shows more.
 *
 * What is noise in a first answer is grouped by its role (model/roles.h): what a library does also counts for
 * the function of the program that called it, and waits of threads that have nothing to do are one line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/roles.h"
#include "report/head.h"
#include "report/summary.h"

enum {			/* rows */
	NR_MINE = 8,
	NR_ALL = 5,
	NAME_LONG = 50,		/* characters, of what has half a line of 80 or less */
};

void summary_mark_own(const struct model *m, const struct flow *f, bool *own_work)
{
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		own_work[i] = own_work[f->nodes[i].parent] || (m->own && f->nodes[i].consumer == m->own);
}

static void find_owners(struct summary *s)
{
	const struct flow *f = &s->v->m->flow;
	const struct consumer *items = s->v->m->consumers.items;
	size_t i;

	s->mine = xcalloc(s->v->m->consumers.nr_items, sizeof(*s->mine));
	s->idle = xcalloc(f->nr_nodes, sizeof(*s->idle));
	s->own_work = xcalloc(f->nr_nodes, sizeof(*s->own_work));
	s->code = xcalloc(f->nr_nodes, sizeof(*s->code));
	s->owner = xcalloc(f->nr_nodes, sizeof(*s->owner));
	roles_mark_mine(s->v->m, &s->own->mine, s->mine);
	roles_mark_idle(s->v->m, s->idle);
	summary_mark_own(s->v->m, f, s->own_work);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t c = f->nodes[i].consumer, up = f->nodes[i].parent;

		s->code[i] = role_is_code(items[c].kind) ? c : s->code[up];
		s->owner[i] = s->mine[c] ? c : s->owner[up];
		s->any_mine |= s->mine[c];
	}
}

uint32_t summary_where(const struct summary *s, uint32_t node)
{
	const struct flow *f = &s->v->m->flow;
	const struct consumer *items = s->v->m->consumers.items;

	if (s->owner[node])
		return s->owner[node];
	for (; node; node = f->nodes[node].parent) {
		uint32_t c = f->nodes[node].consumer;

		if (role_is_code(items[c].kind) && items[c].kind != CONSUMER_KERNEL)
			return c;
	}
	return 0;
}

/* ---- rows ---- */

struct summary_row *summary_row_of(struct summary_rows *r, uint32_t where, uint32_t what)
{
	uint32_t *at = map_put(&r->by_key, (uint64_t)where << 32 | what);

	if (*at == MAP_NONE) {
		VEC_GROW(r->list, r->nr, r->alloc);
		*at = r->nr++;
		r->list[*at] = (struct summary_row){ .where = where, .what = what };
	}
	return &r->list[*at];
}

void summary_rows_release(struct summary_rows *r)
{
	map_release(&r->by_key);
	free(r->list);
}

static int compare_rows(const struct summary_row *a, const struct summary_row *b)
{
	return COMPARE(a->where, b->where) ?: COMPARE(a->what, b->what);
}

static int most_mine_first(const void *p, const void *q)
{
	const struct summary_row *a = p, *b = q;

	return COMPARE(b->mine, a->mine) ?: compare_rows(a, b);
}

int summary_most_self_first(const void *p, const void *q)
{
	const struct summary_row *a = p, *b = q;

	return COMPARE(b->self, a->self) ?: compare_rows(a, b);
}

void summary_sort(struct summary_rows *r, int (*compare)(const void *, const void *))
{
	if (r->nr)
		qsort(r->list, r->nr, sizeof(*r->list), compare);
}

/* ---- printing ---- */

void summary_begin(struct summary *s, const char *key, const char *title)
{
	if (summary_is_json(s))
		json_array(&s->sheet.json, key);
	else if (summary_is_markdown(s))
		fprintf(s->sheet.out, "\n### %s\n\n", title);
	else
		fprintf(s->sheet.out, "\n%s%s%s\n", term_style(TERM_BOLD), title, term_style(TERM_PLAIN));
}

void summary_end(struct summary *s)
{
	if (summary_is_json(s))
		json_end(&s->sheet.json);
}

/* Return a number with its unit, valid until the next call. */
struct cell summary_amount(struct summary *s, unsigned int metric, uint64_t n)
{
	buf_reset(&s->amount);
	report_put_amount(&s->amount, model_str(s->v->m, s->v->m->metrics[metric].unit), n);
	return cell_text(s->amount.data);
}

double summary_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100. * (double)part / (double)whole : 0;
}

/* Shorten long C++ names in text, as in stacks. */
static void shorten(const struct summary *s, struct buf *name)
{
	struct buf part = BUF_INIT;

	if (!sheet_is_text(&s->sheet) || name->len <= NAME_LONG)
		return;
	summary_put_short_native(name->data, &part);
	if (part.len) {
		buf_reset(name);
		buf_str(name, part.data);
	}
	buf_release(&part);
}

const char *summary_name(struct summary *s, uint32_t consumer)
{
	buf_reset(&s->name);
	if (consumer)
		view_name(s->v, consumer, &s->name);
	if (consumer && kind_is(s->v->m->consumers.items[consumer].kind, KIND_NATIVE))
		shorten(s, &s->name);
	if (consumer)
		return s->name.data;
	if (s->v->m->flow.n_means == FLOW_CALLS)
		buf_str(&s->name, "[outside of the calls]");
	else
		buf_str(&s->name, "[no function]");
	return s->name.data;
}

static struct cell metric_cell(const struct summary *s, unsigned int metric)
{
	return cell_text(model_str(s->v->m, s->v->m->metrics[metric].name));
}

/* a position in text with lines that end at the width of a terminal; 0: no limit */
struct place {
	FILE *out;
	size_t width, column, indent;
};

static struct place line_begins(const struct summary *s, size_t indent)
{
	return (struct place){ s->sheet.out, summary_is_markdown(s) ? 0 : s->v->o->width, 0, indent };
}

/* Print the first len bytes, without leading blanks at the start of a line. */
static void put_wrapped(struct place *p, const char *text, size_t len)
{
	size_t blanks = strspn(text, " ");

	if (p->width && p->column > p->indent && p->column + len > p->width) {
		fprintf(p->out, "\n%*s", (int)p->indent, "");
		p->column = p->indent;
		text += blanks;
		len -= blanks;
	}
	fwrite(text, 1, len, p->out);
	p->column += len;
}

static void put_words(struct place *p, const char *text)
{
	size_t len;

	for (; *text; text += len) {
		len = strspn(text, " ");
		len += strcspn(text + len, " ");
		put_wrapped(p, text, len);
	}
}

/* Print a list without breaking its items. */
static void put_items(struct place *p, const char *text)
{
	const char *comma;

	for (; (comma = strstr(text, ", ")); text = comma + 1)
		put_wrapped(p, text, comma + 1 - text);
	put_wrapped(p, text, strlen(text));
}

/* ---- functions ---- */

/* Add what functions have of a metric in nodes that are not idle. */
static void add_functions(const struct summary *s, struct summary_rows *r)
{
	const struct flow *f = &s->v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t n = flow_base(f, i)[r->metric];

		if (!n || s->idle[i] || s->own_work[i])
			continue;
		flow_sum(&summary_row_of(r, s->code[i], 0)->self, n);
		if (s->owner[i])
			flow_sum(&summary_row_of(r, s->owner[i], 0)->mine, n);
	}
}

static void summary_put_functions(struct summary *s, const struct summary_rows *r, size_t most, bool by_mine)
{
	const struct sheet_column columns[] = {
		{ "metric" }, { "self" }, { "mine" },
		{ .head = "%Self", .width = 7, .decimals = 1, .before = "  " },
		{ .head = by_mine ? "%Mine" : NULL, .width = 7, .decimals = 1 },
		{ .head = by_mine ? "Mine" : "Self", .width = 10 },
		{ "name", "Function", -8, .before = "  ", .cut = true },
	};
	uint64_t whole = s->v->total[r->metric];
	size_t i;

	sheet_columns(&s->sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < MIN(r->nr, most); i++) {
		const struct summary_row *x = &r->list[i];
		uint64_t n = by_mine ? x->mine : x->self;

		if (summary_percent(n, whole) < SUMMARY_WORTH_PERCENT)
			break;
		sheet_row(&s->sheet, NULL, (const struct cell[]){
			metric_cell(s, r->metric), cell_u64(x->self), cell_u64(x->mine),
			cell_real(summary_percent(x->self, whole)),
			cell_real(summary_percent(x->mine, whole)),
			summary_amount(s, r->metric, n), cell_text(summary_name(s, x->where)),
		});
	}
	sheet_end_rows(&s->sheet);
}

/* Check whether the hottest functions of all are the program's own, which were shown. */
static bool all_mine(const struct summary *s, const struct summary_rows *r)
{
	size_t i;

	for (i = 0; i < MIN(r->nr, (size_t)NR_ALL) && s->mine[r->list[i].where]; i++)
		;
	return s->any_mine && i == MIN(r->nr, (size_t)NR_ALL);
}

static void put_time(struct summary *s, unsigned int metric)
{
	struct summary_rows r = { .metric = metric };
	const char *name = model_str(s->v->m, s->v->m->metrics[metric].name);
	struct buf title = BUF_INIT;

	add_functions(s, &r);
	if (s->any_mine) {
		buf_str(&title, "Hottest functions of the program, with what they call of libraries: ");
		quote_add(&title, name);
		summary_sort(&r, most_mine_first);
		summary_begin(s, "mine", title.data);
		summary_put_functions(s, &r, NR_MINE, true);
		summary_end(s);
		buf_reset(&title);
	}
	summary_sort(&r, summary_most_self_first);
	if (summary_is_json(s) || !all_mine(s, &r)) {
		buf_str(&title, "Hottest functions of all code: ");
		quote_add(&title, name);
		summary_begin(s, "functions", title.data);
		summary_put_functions(s, &r, s->any_mine ? NR_ALL : NR_MINE, false);
		summary_end(s);
	}
	buf_release(&title);
	summary_rows_release(&r);
	if (s->own->top_stacks)
		summary_put_stacks(s, metric);
}

/* ---- what stands out ---- */

static void put_note(const struct summary *s, const struct summary_note *x)
{
	struct place p = line_begins(s, 6);
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s%s%s", summary_is_markdown(s) ? "- " : "  ", x->text, x->command ? ":" : "");
	put_words(&p, b.data);
	buf_reset(&b);
	if (x->command) {	/* in one piece, to be copied */
		buf_fmt(&b, summary_is_markdown(s) ? " `arcprof %s`" : " arcprof %s", x->command);
		put_wrapped(&p, b.data, b.len);
	}
	fputc('\n', s->sheet.out);
	buf_release(&b);
}

static void put_notes(struct summary *s, const struct summary_facts *facts)
{
	struct summary_notes n = { 0 };
	struct json *j = &s->sheet.json;
	size_t i;

	summary_judge(&n, s->v, facts);
	if (n.nr || summary_is_json(s))
		summary_begin(s, "notes", "What stands out");
	for (i = 0; i < n.nr; i++) {
		const struct summary_note *x = &n.list[i];

		if (!summary_is_json(s)) {
			put_note(s, x);
			continue;
		}
		json_object(j, NULL);
		json_str(j, "text", x->text);
		json_str(j, "command", x->command);
		json_end(j);
	}
	if (n.nr || summary_is_json(s))
		summary_end(s);
	summary_notes_release(&n);
}

/* ---- the whole ---- */

/* Sum what of a metric is in unnamed and in interpreted code, and in the threads of compilers. */
static void sum_code(const struct summary *s, unsigned int metric, struct summary_facts *facts)
{
	const struct flow *f = &s->v->m->flow;
	const struct consumer *items = s->v->m->consumers.items;
	bool *compiles = xcalloc(f->nr_nodes, sizeof(*compiles));
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct consumer *c = &items[f->nodes[i].consumer];
		uint64_t n = flow_base(f, i)[metric];

		compiles[i] = compiles[f->nodes[i].parent] ||
			      (c->kind == CONSUMER_THREAD && strstr(model_str(s->v->m, c->name), " CompilerThre"));
		facts->compiling += compiles[i] ? n : 0;
		facts->unresolved += c->kind == CONSUMER_UNRESOLVED ? n : 0;
		facts->has_java |= kind_is(c->kind, KIND_JAVA);
		facts->interpreted += c->kind == CONSUMER_JAVA_INTERPRETED ? n : 0;
	}
	facts->total = s->v->total[metric];
	free(compiles);
}

static void sum_runnable(const struct summary *s, unsigned int metric, struct summary_facts *facts)
{
	const struct flow *f = &s->v->m->flow;
	const struct consumers *c = &s->v->m->consumers;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const char *name = consumer_name(c, f->nodes[i].consumer);

		if (c->items[f->nodes[i].consumer].kind != CONSUMER_REASON)
			continue;
		if (!strcmp(name, REASON_ON_CPU))
			facts->on_cpu_ns += flow_base(f, i)[metric];
		else if (!strcmp(name, REASON_RUNNABLE))
			facts->runnable_ns += flow_base(f, i)[metric];
	}
}

static bool is_metric(const struct summary *s, unsigned int metric, const char *name)
{
	return !strcmp(model_str(s->v->m, s->v->m->metrics[metric].name), name);
}

/* Waits for locks are added up over the whole recording, and by processes; leaks by threads, too. */
static bool is_whole_but_for(const struct selection *select, uint32_t wants)
{
	return !selection_has_window(select) && !select->cpus.nr_items && !(selection_wants(select) & ~wants);
}

static void put_blocks(struct summary *s)
{
	const uint32_t of_process = SELECT_PID | SELECT_COMM;
	const uint32_t of_thread = of_process | SELECT_TID | SELECT_THREAD;
	const struct selection *select = &s->v->o->select;
	struct summary_facts facts = { 0 };
	bool timed = false;
	unsigned int m;

	for (m = 0; m < s->v->m->nr_shown; m++) {
		if (is_metric(s, m, "live")) {	/* that nothing was sampled says something, too */
			if (s->v->trace && is_whole_but_for(select, of_thread))
				summary_put_leaks(s, &facts);
			continue;
		}
		if (!s->v->total[m])
			continue;
		if (is_metric(s, m, "wall")) {
			summary_put_waits(s, m);
			sum_runnable(s, m, &facts);
		} else if (is_metric(s, m, "lock")) {
			if (is_whole_but_for(select, of_process))
				summary_put_locks(s);
		} else if (summary_is_of_objects(s, m)) {
			summary_put_allocations(s, m, false);
		} else if (is_metric(s, m, "native-memory")) {
			summary_put_allocations(s, m, true);
		} else if (!timed) {
			put_time(s, m);
			sum_code(s, m, &facts);
			timed = true;
		}
	}
	put_notes(s, &facts);
}

/* Print what was recorded, in a line or two. How much of that is missing is highlighted. */
static void summary_put_head(const struct summary *s, FILE *out)
{
	const struct view *v = s->v;
	const struct origin *o = v->origin;
	struct place p = line_begins(s, 2);
	struct buf b = BUF_INIT;
	const char *sep = "";
	unsigned int m;

	if (o->command) {
		if (summary_is_markdown(s))
			sheet_put_markdown(&b, o->command);
		else
			quote_add(&b, o->command);
		fprintf(out, summary_is_markdown(s) ? "%s\n\n" : "%s\n", b.data);
		buf_reset(&b);
	}
	if (o->duration_ns) {
		report_put_duration(&b, o->duration_ns);
		sep = ", ";
	}
	if (v->nr_threads) {
		buf_str(&b, sep);
		head_put_threads(v, &b);
		sep = ", ";
	}
	for (m = 0; m < v->m->nr_shown; m++) {
		buf_str(&b, m || !*sep ? sep : ": ");
		report_put_amount(&b, model_str(v->m, v->m->metrics[m].unit), v->total[m]);
		buf_str(&b, " of ");
		quote_add(&b, model_str(v->m, v->m->metrics[m].name));
		sep = ", ";
	}
	put_items(&p, b.data ? b.data : "");
	fputc('\n', out);
	buf_reset(&b);
	head_put_sampled(o, &b);
	if (b.len) {
		p = line_begins(s, 2);
		put_items(&p, b.data + strlen(", "));
		fputc('\n', out);
	}
	buf_release(&b);
}

static int summary_print(struct view *v, FILE *out, struct err *e)
{
	struct summary s = { .v = v, .own = v->o->own };

	sheet_init(&s.sheet, v->o->format, out);
	s.sheet.width = v->o->format == FORMAT_TEXT ? v->o->width : 0;
	s.sheet.trim = true;
	if (!summary_is_json(&s))
		summary_put_head(&s, out);
	else
		head_json(v, &s.sheet.json);
	find_owners(&s);
	put_blocks(&s);
	json_end(&s.sheet.json);
	sheet_end(&s.sheet);
	free(s.mine);
	free(s.idle);
	free(s.own_work);
	free(s.code);
	free(s.owner);
	buf_release(&s.amount);
	buf_release(&s.name);
	return 0;
}

static const char *const events[] = {
	"cpu", "cpu-clock", "task-clock", "cycles", "instructions", "wall", "lock", "alloc", "live",
	"native-memory", NULL
};

#define O struct summary_opts
static const struct opt opts[] = {
	OPT_LIST(0, "mine", O, mine, "pattern", "patterns of the program's own functions or modules"),
	OPT_COUNT(0, "top-stacks", O, top_stacks, "n", "3", "show the <n> hottest stacks"),
	OPT_END
};
#undef O

const struct report report_summary = {
	.name = "summary",
	.help = "show the first answers on one screen; the default on a terminal",
	.formats = FORMATS_TEXT_JSON | FORMAT_BIT(FORMAT_MARKDOWN),
	.opts_title = "For --summary",
	.opts = opts,
	.opts_size = sizeof(struct summary_opts),
	.excludes = "sort columns limit prune absolute percent created",
	.events = events,
	.prefers_samples = true,
	.print = summary_print,
};

/* ---- for a page ---- */

/*
 * Print a page's summary from a model of its own: that of the page has lines, kinds of code, and more events.
 */
static int print_again(const struct view *of, const struct report_opts *as, FILE *out, struct err *e)
{
	struct profile_opts profile = *of->o->profile;
	struct report_opts o = *as;
	struct origin origin = { 0 };
	struct view v = { 0 };
	struct names names;
	struct model m;
	int r;

	profile.names.lines = profile.names.by_kind = false;
	profile.times = profile.all_events = profile.whole_functions = false;
	profile.prefer_samples = true;
	profile.deltas = true;
	profile.events = events;
	o.profile = &profile;
	r = profile_read(&names, &m, &origin, of->trace, &profile, e);
	if (!r)
		r = view_init(&v, &m, &origin, &o, e);
	v.trace = of->trace;
	if (!r)
		r = summary_print(&v, out, e);
	view_release(&v);
	names_release(&names);
	model_release(&m);
	return r;
}

char *report_summary_json(const struct view *of)
{
	const struct summary_opts own = { .top_stacks = 3 };
	struct report_opts o = *of->o;
	struct view v = *of;
	char *json = NULL;
	struct err e;
	size_t len;
	FILE *f;
	int r;

	o.report = &report_summary;
	o.own = &own;
	o.format = FORMAT_JSON;
	o.choice = (struct sheet_choice){ 0 };
	v.o = &o;
	f = of->origin->blend ? NULL : open_memstream(&json, &len);
	if (!f)
		return NULL;
	r = of->trace ? print_again(of, &o, f, &e) : summary_print(&v, f, &e);
	fclose(f);
	if (!r)
		return json;
	free(json);
	return NULL;
}
