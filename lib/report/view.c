// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view.c - from what was measured to what is shown: selection, folding, pruning, and
 * the sums that the first line of a report gives.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "callflow/filter.h"
#include "flow/ops.h"
#include "model/same.h"
#include "report/created.h"
#include "report/report.h"

static const char *view_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Return room for where nodes are moved to, which times of samples need; NULL: there are none. */
static uint32_t *where_nodes_go(const struct model *m)
{
	return m->times.nr_list ? xcalloc(m->flow.nr_nodes, sizeof(uint32_t)) : NULL;
}

/* Check whether a function has that name as a whole, or it is the pattern of one. */
static bool is_whole(const struct model *m, char *name)
{
	const struct opt_list one = { &name, 1 };
	size_t i;

	for (i = 1; i < m->consumers.nr_items; i++)
		if (!kind_is(m->consumers.items[i].kind, KIND_PLACE) &&
		    select_name(&one, model_str(m, m->consumers.items[i].name)))
			return true;
	return false;
}

/* Select functions whose names end in a name that no function has. */
static void select_parts(const struct view *v, uint32_t *has)
{
	const struct opt_list *names = &v->o->select.symbols;
	struct opt_list parts = { xcalloc(names->nr_items, sizeof(char *)), 0 };
	const struct model *m = v->m;
	size_t i;

	for (i = 0; i < names->nr_items; i++)
		if (!is_whole(m, names->items[i]))
			parts.items[parts.nr_items++] = names->items[i];
	for (i = 1; parts.nr_items && i < m->consumers.nr_items; i++) {
		const struct consumer *c = &m->consumers.items[i];

		if (kind_is(c->kind, KIND_CODE | KIND_FOLDS) &&
		    select_function_part(&parts, model_str(m, c->name)))
			has[i] |= SELECT_SYMBOL;
	}
	free(parts.items);
}

/* Sets is[consumer] of functions whose names fit the option's expression; NULL: none do. */
static int find_fitting(const struct view *v, const char *option, const char *expression, bool *is,
			struct err *e)
{
	const struct model *m = v->m;
	char why[128];
	regex_t re;
	size_t i;
	int r;

	if (!expression)
		return 0;
	r = regcomp(&re, expression, REG_EXTENDED | REG_NOSUB);
	if (r) {
		regerror(r, &re, why, sizeof(why));
		return err_set(e, EINVAL, "--%s: '%s' is not a regular expression: %s", option, expression,
			       why);
	}
	for (i = 1; i < m->consumers.nr_items; i++) {
		const struct consumer *c = &m->consumers.items[i];

		is[i] = !kind_is(c->kind, KIND_PLACE) && !regexec(&re, model_str(m, c->name), 0, NULL, 0);
	}
	regfree(&re);
	return 0;
}

/* Apply the regular expressions of --focus and --ignore. */
static int focus(struct view *v, struct err *e)
{
	enum { FOCUS = 1, IGNORE = 2 };
	const struct selection *s = &v->o->select;
	const size_t nr = v->m->consumers.nr_items;
	bool *in, *out;
	uint32_t *has, *where;
	struct flow flow;
	size_t i;
	int r;

	if (!s->focus && !s->ignore)
		return 0;
	in = xcalloc(nr, sizeof(*in));
	out = xcalloc(nr, sizeof(*out));
	has = xcalloc(nr, sizeof(*has));
	r = find_fitting(v, "focus", s->focus, in, e);
	if (!r)
		r = find_fitting(v, "ignore", s->ignore, out, e);
	for (i = 1; i < nr; i++)
		has[i] = (in[i] ? FOCUS : 0) | (out[i] ? IGNORE : 0);
	if (!r) {
		where = where_nodes_go(v->m);
		flow_filter(&v->m->flow, has, s->focus ? FOCUS : 0, IGNORE, &flow, where);
		model_take_flow(v->m, &flow, where);
		free(where);
	}
	free(in);
	free(out);
	free(has);
	return r;
}

static void select_paths(struct view *v)
{
	const struct selection *s = &v->o->select;
	struct model *m = v->m;
	uint32_t *where;
	uint32_t want = selection_wants(s), *has;
	struct flow out;
	size_t i;

	if (m->labels_selected)
		want &= ~SELECT_LABELS;
	if (!want)
		return;
	has = xcalloc(m->consumers.nr_items, sizeof(*has));
	for (i = 1; i < m->consumers.nr_items; i++)
		has[i] = selection_has(s, m, i);
	if (want & SELECT_SYMBOL)
		select_parts(v, has);
	where = where_nodes_go(m);
	flow_filter(&m->flow, has, want, 0, &out, where);
	model_take_flow(m, &out, where);
	free(where);
	free(has);
}

/*
 * Return the length of the name without its last one or two dotted parts: "a.b.C.m(I)V" -> "a.b.C" -> "a.b".
 */
static size_t java_prefix(const char *name, enum report_fold fold)
{
	size_t len = strcspn(name, "(");
	int parts = fold == FOLD_CLASS ? 1 : 2;

	while (len && parts)
		if (name[--len] == '.')
			parts--;
	return len;
}

/* Return the length of a class's package: "java.util.Map$Entry[]" -> "java.util". */
static size_t package_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot - name : 0;
}

uint32_t view_fold_consumer(struct model *m, uint32_t id, enum report_fold fold)
{
	struct consumer c = m->consumers.items[id], to = { .kind = CONSUMER_FOLDED };
	const char *name = model_str(m, c.name);
	size_t len;

	if (!kind_is(c.kind, KIND_FOLDS) || (c.kind == CONSUMER_CLASS && fold == FOLD_CLASS))
		return id;
	if ((kind_is(c.kind, KIND_JAVA) || c.kind == CONSUMER_CLASS) && fold != FOLD_MODULE) {
		len = c.kind == CONSUMER_CLASS ? package_len(name) : java_prefix(name, fold);
		to.name = len ? strtab_add(&m->consumers.names, name, len) :
				strtab_adds(&m->consumers.names, "[default package]");
	} else if (kind_is(c.kind, KIND_JVM)) {
		to.name = strtab_adds(&m->consumers.names, "[java]");
	} else if (c.module) {
		to.module = c.module;
		to.name = strtab_adds(&m->consumers.names, view_base_name(model_str(m, c.module)));
	} else if (c.kind == CONSUMER_ANY && fold != FOLD_MODULE && (len = java_prefix(name, fold))) {
		to.name = strtab_add(&m->consumers.names, name, len);
	} else {
		to.name = strtab_adds(&m->consumers.names, "[no module]");
	}
	return consumer_add(&m->consumers, &to);
}

/* "package.Class.method(signature)", in its three parts; they have no ends. */
static bool wants_method(const struct callflow_rules *rules, const char *name)
{
	size_t len = strcspn(name, "("), dot = len;

	while (dot && name[dot - 1] != '.')
		dot--;
	return callflow_wants_method(rules, &(struct callflow_method){
		.class_name = { name, dot ? dot - 1 : 0 }, .name = { name + dot, len - dot },
		.sig = { name + len, strlen(name + len) },
	});
}

static bool is_excluded(const struct view *v, const struct consumer *c)
{
	const char *name = model_str(v->m, c->name);
	const char *module = c->module ? view_base_name(model_str(v->m, c->module)) : "";

	if (!v->o->methods)
		return false;
	if (kind_is(c->kind, KIND_JAVA))
		return !wants_method(v->o->methods, name);
	if (c->kind != CONSUMER_ANY && !kind_is(c->kind, KIND_CODE))
		return false;
	return !callflow_wants_function(v->o->methods, module, strlen(module), name, strlen(name));
}

/* Return the name without what differs between runs: lambdas, proxies and clones of a function become one. */
static uint32_t name_of_all_runs(struct model *m, const struct consumer *c)
{
	struct buf b = BUF_INIT;
	uint32_t name;

	same_name(model_str(m, c->name), c->kind, &b);
	name = strtab_add(&m->consumers.names, b.data, b.len);
	buf_release(&b);
	return name;
}

static uint32_t map_consumer(const struct view *v, uint32_t id)
{
	const struct report_opts *o = v->o;
	const struct resolve_opts *names = &o->profile->names;
	struct consumer c = v->m->consumers.items[id];

	if (names->hide_inlined && kind_is(c.kind, KIND_INLINED))
		return FLOW_DROP;
	if (is_excluded(v, &v->m->consumers.items[id]))
		return FLOW_DROP;
	if ((names->hide_kernel && c.kind == CONSUMER_KERNEL) ||
	    (names->hide_files && c.kind == CONSUMER_WAIT_FILE))
		return FLOW_DROP;
	if (o->merge_threads && c.kind == CONSUMER_THREAD)
		c.key = 0;
	if (o->merge_processes && c.kind == CONSUMER_PROCESS)
		c.key = c.detail = 0;
	if (o->normalize_names && !kind_is(c.kind, KIND_PLACE))
		c.name = name_of_all_runs(v->m, &c);
	id = c.key == v->m->consumers.items[id].key && c.detail == v->m->consumers.items[id].detail &&
	     c.name == v->m->consumers.items[id].name ? id : consumer_add(&v->m->consumers, &c);
	return o->fold == FOLD_NONE ? id : view_fold_consumer(v->m, id, o->fold);
}

static int view_fold(struct view *v, struct err *e)
{
	const struct report_opts *o = v->o;
	const struct resolve_opts *names = &o->profile->names;
	size_t i, nr = v->m->consumers.nr_items;
	struct flow out;
	uint32_t *to, *where;
	bool *hidden;
	int r;

	if (!o->hide && !names->hide_inlined && !names->hide_kernel && !names->hide_files &&
	    !o->merge_threads && !o->merge_processes && !o->normalize_names && !o->methods &&
	    o->fold == FOLD_NONE)
		return 0;
	hidden = xcalloc(nr, sizeof(*hidden));
	r = find_fitting(v, "hide", o->hide, hidden, e);
	if (!r) {
		to = xcalloc(nr, sizeof(*to));
		for (i = 1; i < nr; i++) {
			bool is_object = o->created && v->m->consumers.items[i].kind == CONSUMER_CLASS;

			to[i] = hidden[i] && !is_object ? FLOW_DROP : map_consumer(v, i);
		}
		where = where_nodes_go(v->m);
		flow_map(&v->m->flow, to, o->fold != FOLD_NONE, &out, where);
		model_take_flow(v->m, &out, where);
		free(where);
		free(to);
	}
	free(hidden);
	return r;
}

/* Return the group of a process; all with none known share one. */
static uint32_t group_of(struct model *m, const char *labels, enum report_group by)
{
	const char *key = by == GROUP_CGROUP ? LABEL_CGROUP : LABEL_CONTAINER;
	struct buf name = BUF_INIT;
	uint32_t group;

	if (!labels_value(labels, key, &name))
		buf_str(&name, by == GROUP_CGROUP ? "[unknown cgroup]" : "[no container]");
	group = consumer_add_name(&m->consumers, CONSUMER_GROUP, name.data, name.len);
	buf_release(&name);
	return group;
}

static void group(struct view *v)
{
	size_t i, nr = v->m->consumers.nr_items;
	struct flow out;
	uint32_t *above, *where;

	if (v->o->group == GROUP_NONE)
		return;
	above = xcalloc(nr, sizeof(*above));
	for (i = 1; i < nr; i++) {
		const struct consumer *c = &v->m->consumers.items[i];

		if (c->kind == CONSUMER_PROCESS)
			above[i] = group_of(v->m, model_str(v->m, c->detail), v->o->group);
	}
	where = where_nodes_go(v->m);
	flow_group(&v->m->flow, above, &out, where);
	model_take_flow(v->m, &out, where);
	free(where);
	free(above);
}

static void add_mark(struct view_stacks *s, uint32_t name, uint64_t n)
{
	size_t i;

	for (i = 0; i < s->nr_marks && s->marks[i].name != name; i++)
		;
	if (i == s->nr_marks)
		*VEC_ADD(s->marks, s->nr_marks, s->alloc_marks) = (struct view_mark){ name, 0 };
	s->marks[i].n += n;
}

static int compare_marks(const void *p, const void *q)
{
	const struct view_mark *a = p, *b = q;

	return COMPARE(b->n, a->n);
}

/* Count one node's n, below that mark (0: none). */
static void count_stack(struct view_stacks *s, uint64_t n, uint32_t kind, uint32_t mark)
{
	s->n += n;
	if (mark)
		add_mark(s, mark, n);
	else if (kind_is(kind, KIND_PLACE))
		s->no_stack_n += n;
	else
		s->complete_n += n;
}

static void sort_marks(struct view_stacks *s)
{
	if (s->nr_marks)
		qsort(s->marks, s->nr_marks, sizeof(*s->marks), compare_marks);
}

/*
 * Count complete stacks, and the reasons of others; before functions are folded into their threads, or
 * pruned.
 */
static void count_stacks(struct view *v)
{
	const struct flow *f = &v->m->flow;
	const struct consumer *items = v->m->consumers.items;
	uint32_t *mark = xcalloc(f->nr_nodes, sizeof(*mark));
	unsigned int s;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct consumer *c = &items[f->nodes[i].consumer];

		mark[i] = mark[f->nodes[i].parent];
		if (!mark[i] && c->kind == CONSUMER_MARK)
			mark[i] = c->name;
		for (s = 0; s < v->m->nr_sources; s++) {
			uint64_t n = model_node_n(v->m, s, i);

			if (n)
				count_stack(&v->stacks[s], n, c->kind, mark[i]);
		}
	}
	free(mark);
	for (s = 0; s < v->m->nr_sources; s++)
		sort_marks(&v->stacks[s]);
}

/* Count the threads that are shown, and n of what is above all functions. */
static void count_threads(struct view *v)
{
	const struct flow *f = &v->m->flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct consumer *c = &v->m->consumers.items[f->nodes[i].consumer];

		v->nr_threads += c->kind == CONSUMER_THREAD;
		if (c->kind == CONSUMER_THREAD || c->kind == CONSUMER_PROCESS || c->kind == CONSUMER_LABEL)
			v->roots_n += f->nodes[i].n;
	}
}

/*
 * Sum what arcprof itself did in the programs, or caused there; v->total is not known yet. Waits do not
 * count: arcprof's own threads mostly wait, and a parked thread has one of its functions on its stack. Below
 * a wait is what it is for, such as a file.
 */
static void sum_own(struct view *v)
{
	const struct flow *f = &v->m->flow;
	uint64_t own_n = 0, all_n = 0;
	bool *own, *waits;
	size_t i;

	if (!v->m->own || f->n_means != FLOW_SAMPLES)
		return;
	own = xcalloc(f->nr_nodes, sizeof(*own));
	waits = xcalloc(f->nr_nodes, sizeof(*waits));
	for (i = 1; i < f->nr_nodes; i++) {
		own[i] = own[f->nodes[i].parent] || f->nodes[i].consumer == v->m->own;
		waits[i] = waits[f->nodes[i].parent] || consumer_is_wait(v->m, f->nodes[i].consumer);
		if (own[i] && !waits[i])
			own_n += f->nodes[i].n;
		all_n += f->nodes[i].n;
	}
	free(own);
	free(waits);
	v->own = all_n ? (double)own_n / all_n : 0;
}

static void prune(struct view *v)
{
	struct flow out;
	uint32_t *where;

	v->pruned = consumer_add_name(&v->m->consumers, CONSUMER_MARK, "[pruned]", 8);
	if (v->o->prune <= 0)
		return;
	where = where_nodes_go(v->m);
	flow_prune(&v->m->flow, v->o->prune, v->pruned, &out, where);
	model_take_flow(v->m, &out, where);
	free(where);
}

/*
 * Return how much of the first metric (or of its source's n, where that is empty) still has a row of its
 * own.
 */
static uint64_t visible(const struct view *v, bool by_n)
{
	const struct flow *f = &v->m->flow;
	unsigned int metric = v->o->sort_metric, source = v->m->metrics[metric].source;
	uint64_t sum = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		if (f->nodes[i].consumer != v->pruned)
			sum += by_n ? model_node_n(v->m, source, i) : flow_base(f, i)[metric];
	return sum;
}

/* Add up what of each metric is in contexts that are marked. */
static void sum_marked(struct view *v)
{
	const struct flow *f = &v->m->flow;
	unsigned int m;
	uint64_t sum;
	size_t i;

	for (m = 0; m < v->m->nr_shown; m++) {
		if (!model_delta(v->m, m) || !v->total[m])
			continue;
		for (sum = 0, i = 1; i < f->nr_nodes; i++)
			if (model_is_marked(v->m, flow_base(f, i), m))
				sum += flow_base(f, i)[m];
		v->marked[m] = (double)sum / v->total[m];
	}
}

static void set_order(struct view *v)
{
	/* the last three are orders of threads, not of contexts */
	static const enum flow_sort by[] = {
		[SORT_DEFAULT] = FLOW_BY_CUM, [SORT_CUM] = FLOW_BY_CUM, [SORT_BASE] = FLOW_BY_BASE,
		[SORT_N] = FLOW_BY_N, [SORT_NAME] = FLOW_BY_NAME, [SORT_WAIT] = FLOW_BY_CUM,
		[SORT_BLOCKED] = FLOW_BY_CUM, [SORT_LATENCY] = FLOW_BY_CUM,
	};

	v->order = (struct flow_order){ &v->m->consumers, by[v->o->sort], v->o->sort_metric,
		v->m->flow.nr_metrics, model_counter(v->m, v->m->metrics[v->o->sort_metric].source) };
}

int view_init(struct view *v, struct model *m, const struct origin *origin, const struct report_opts *o,
	      struct err *e)
{
	uint64_t before[FLOW_MAX_METRICS], read;
	bool by_n;
	int r;

	memset(v, 0, sizeof(*v));
	v->m = m;
	v->origin = origin;
	v->o = o;
	if (o->sort_metric >= m->nr_shown)
		return err_set(e, EINVAL, "no metric %u to sort by", o->sort_metric + 1);
	v->read_n = flow_totals(&m->flow, before);
	read = before[o->sort_metric];
	by_n = !read;
	if (by_n)
		read = model_n(m, m->metrics[o->sort_metric].source, v->read_n, before);
	select_paths(v);
	r = focus(v, e);
	if (r)
		return r;
	sum_own(v);
	count_stacks(v);
	group(v);
	r = view_fold(v, e);
	if (!r && o->created)
		r = created_fold(m, e);
	if (r)
		return r;
	count_threads(v);
	prune(v);
	v->total_n = flow_totals(&m->flow, v->total);
	v->shown = read ? (double)visible(v, by_n) / read : 1;
	if (origin->nr_read > v->read_n)	/* some were left out when they were read */
		v->shown *= (double)v->read_n / origin->nr_read;
	sum_marked(v);
	set_order(v);
	if ((o->sort != SORT_DEFAULT || origin->is_trace) &&
	    (o->report->sorts_children || format_is_of_tree(o->format)))
		flow_sort_children(&m->flow, &v->order);
	return 0;
}

void view_release(struct view *v)
{
	size_t s;

	for (s = 0; s < ARRAY_SIZE(v->stacks); s++)
		free(v->stacks[s].marks);
	buf_release(&v->lacks);
	memset(v, 0, sizeof(*v));
}

void view_labels(const char *labels, struct buf *b)
{
	enum { SHORT_ID = 12 };
	static const char container[] = LABEL_CONTAINER "=", cgroup[] = LABEL_CGROUP "=";
	const char *sep = " (";
	size_t len;

	for (; *labels; labels += len + (labels[len] == ',')) {
		size_t shown = len = strcspn(labels, ",");

		if (!strncmp(labels, cgroup, strlen(cgroup)))
			continue;
		if (!strncmp(labels, container, strlen(container)) && len == strlen(container) + 64)
			shown = strlen(container) + SHORT_ID;
		buf_str(b, sep);
		buf_add(b, labels, shown);
		sep = ",";
	}
	if (*sep == ',')
		buf_putc(b, ')');
}

void view_name(const struct view *v, uint32_t consumer, struct buf *b)
{
	const struct consumer *c = &v->m->consumers.items[consumer];

	if (!consumer) {
		buf_str(b, "[root]");
		return;
	}
	buf_str(b, model_str(v->m, c->name));
	if (c->kind == CONSUMER_PROCESS && c->key)
		buf_fmt(b, " [pid %u]", (unsigned int)(c->key >> 32));
	else if (c->kind == CONSUMER_THREAD && (uint32_t)c->key)	/* 0: virtual ones of a name */
		buf_fmt(b, " [tid %u]", (unsigned int)c->key);
	if (c->detail && c->kind == CONSUMER_PROCESS)
		view_labels(model_str(v->m, c->detail), b);
	else if (c->detail)
		buf_fmt(b, " (%s)", model_str(v->m, c->detail));
	if (v->o->profile->names.by_kind &&
	    (kind_is(c->kind, KIND_JAVA) || c->kind == CONSUMER_NATIVE_INLINED))
		buf_fmt(b, " [%s]", consumer_kind_name(c->kind));
}

bool contexts_next(struct contexts *w)
{
	const struct flow *f = &w->v->m->flow;
	uint32_t next = flow_next(f, w->node), i = w->node;

	if (!next || (w->v->o->limit && w->nr >= w->v->o->limit))
		return false;
	if (f->nodes[next].parent == i)
		w->level += i != FLOW_NONE;
	else
		for (; f->nodes[i].parent != f->nodes[next].parent; i = f->nodes[i].parent)
			w->level--;
	w->nr++;
	w->node = next;
	return true;
}

uint64_t contexts_hidden(const struct contexts *w)
{
	return w->v->m->flow.nr_nodes - 1 - w->nr;
}
