// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * input_tree.c - complete trees as text, in and out.
 */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/quote.h"
#include "flow/input.h"
#include "flow/tree.h"

/* escaped in paths, beside what is escaped everywhere */
static const char also[] = "\\;";

const char *tree_field(const char **p, const char *end, size_t *len)
{
	const char *s = *p, *tab;

	*len = 0;
	if (!s)
		return NULL;
	tab = memchr(s, '\t', end - s);
	*len = (tab ? tab : end) - s;
	*p = tab ? tab + 1 : NULL;
	return s;
}

static bool tree_number(const char **p, const char *end, uint64_t *v)
{
	size_t len;
	const char *s = tree_field(p, end, &len), *s_end;

	if (!s)
		return false;
	s_end = s + len;
	return text_u64(&s, s_end, v) && s == s_end;
}

bool tree_numbers(struct tree_parser *x, const char **p, const char *end, uint64_t *n, uint64_t *base)
{
	unsigned int i;

	if (!tree_number(p, end, n))
		return false;
	for (i = 0; i < x->m->flow.nr_metrics; i++)
		if (!tree_number(p, end, &base[i]))
			return false;
	return true;
}

static int text_field(struct tree_parser *x, const char **p, const char *end, uint32_t *id, struct err *e)
{
	size_t len;
	const char *s = tree_field(p, end, &len);

	buf_reset(&x->name);
	if (!quote_undo(&x->name, s ? s : "", len, "\\;'"))
		return text_bad(&x->t, e, "bad escape in a name");
	*id = strtab_add(&x->m->consumers.names, x->name.data ? x->name.data : "", x->name.len);
	return 0;
}

int tree_consumer(struct tree_parser *x, const char *p, const char *end, uint32_t *id, struct err *e)
{
	struct consumer c = { 0 };
	const char *s;
	size_t len;
	int r = text_field(x, &p, end, &c.name, e);

	if (r)
		return r;
	if (p) {
		s = tree_field(&p, end, &len);
		c.kind = consumer_kind_parse(s, len);
		if (c.kind == CONSUMER_NR)
			return text_bad(&x->t, e, "unknown kind '%.*s'", (int)MIN(len, 40), s);
	}
	if ((p && (r = text_field(x, &p, end, &c.module, e))) ||
	    (p && (r = text_field(x, &p, end, &c.detail, e))))
		return r;
	if (p && (!tree_number(&p, end, &c.key) || p))
		return text_bad(&x->t, e, "the key is not a number");
	*id = consumer_add(&x->m->consumers, &c);
	return 0;
}

static int path_line(struct tree_parser *x, const char *line, size_t len, struct err *e)
{
	const char *p = line, *end = line + len, *s, *at, *s_end;
	uint64_t n, base[FLOW_MAX_METRICS];
	uint32_t node = FLOW_NONE;
	size_t path_len;

	s = tree_field(&p, end, &path_len);
	if (!path_len || !tree_numbers(x, &p, end, &n, base) || p)
		return text_bad(&x->t, e, "want a path, n and %u number%s, with tabs between",
				x->m->flow.nr_metrics, plural(x->m->flow.nr_metrics));
	for (s_end = s + path_len;; s = at + 1) {
		for (at = s; at < s_end && *at != ';'; at++)
			if (*at == '\\' && at + 1 < s_end)
				at++;
		buf_reset(&x->name);
		if (at == s || !quote_undo(&x->name, s, at - s, also))
			return text_bad(&x->t, e,
					at == s ? "empty name in the path" : "bad escape in a name");
		node = flow_child(&x->m->flow, node,
				  consumer_add_name(&x->m->consumers, CONSUMER_ANY, x->name.data,
						    x->name.len));
		if (at == s_end)
			break;
	}
	flow_add(&x->m->flow, node, n, base);
	return 0;
}

static int level_line(struct tree_parser *x, const char *line, size_t len, struct err *e)
{
	const char *p = line, *end = line + len;
	uint64_t level, n, base[FLOW_MAX_METRICS];
	uint32_t node, consumer;
	int r;

	if (!tree_number(&p, end, &level) || !tree_numbers(x, &p, end, &n, base) || !p)
		return text_bad(&x->t, e, "want level, n, %u number%s and a name, with tabs between",
				x->m->flow.nr_metrics, plural(x->m->flow.nr_metrics));
	if (level > x->nr_path)
		return text_bad(&x->t, e, "level %" PRIu64 " does not follow level %zu", level,
				x->nr_path - 1);
	if ((r = tree_consumer(x, p, end, &consumer, e)))
		return r;
	node = flow_child(&x->m->flow, level ? x->path[level - 1] : FLOW_NONE, consumer);
	flow_add(&x->m->flow, node, n, base);
	x->nr_path = level;
	*VEC_ADD(x->path, x->nr_path, x->alloc_path) = node;
	return 0;
}

/* Return how many numbers follow n in the first line of the path form. */
static unsigned int count_metrics(const struct text *t)
{
	struct text ahead = *t;
	unsigned int tabs = 0;
	const char *line;
	size_t len, i;

	if (t->nr_metrics)
		return t->nr_metrics;
	line = text_line(&ahead, &len);
	for (i = 0; line && i < len; i++)
		tabs += line[i] == '\t';
	return t->levels || t->nodes || tabs < 2 ? 1 : MIN(tabs - 1, (unsigned int)FLOW_MAX_METRICS);
}

/* Return the metric that is the n of metric i's source; 0: n is; the number of metrics: it is missing. */
static unsigned int counter_of(const struct text *t, unsigned int i)
{
	const struct text_metric *x = &t->metrics[i], *c;
	unsigned int k;

	if (!x->counter_len)
		return 0;
	for (k = t->nr_metrics - 1; k > i; k--) {	/* an event may be called like a counter */
		c = &t->metrics[k];
		if (c->name_len == x->counter_len && !memcmp(c->name, x->counter, c->name_len))
			return k;
	}
	return t->nr_metrics;
}

/* Set the sources; as output_tree() writes them, the n of further sources follow all metrics. */
static int set_sources(struct model *m, const struct text *t, struct err *e)
{
	unsigned int nr = t->nr_metrics, first = nr, i, at, named = 0;

	for (i = 0; i < nr; i++) {
		at = counter_of(t, i);
		first = at ? MIN(first, at) : first;
		named |= at ? 1u << at : 0;
	}
	if (named & 1u << nr)
		return text_bad(t, e, "a metric is counted by one that does not follow");
	for (i = first; i < nr; i++)
		if (t->metrics[i].counter_len || !(named & 1u << i))
			return text_bad(t, e, "metrics that count come last");
	for (i = 0; i < nr; i++) {
		at = i < first ? counter_of(t, i) : i;
		m->metrics[i].source = at ? 1 + at - first : 0;
	}
	model_set_counters(m, first);
	return 0;
}

int input_tree(struct model *m, const char *data, size_t len, struct err *e)
{
	struct tree_parser x = { .m = m };
	const char *line;
	int r;

	text_init(&x.t, data, len);
	r = text_directives(&x.t, e);
	model_init(m, count_metrics(&x.t), x.t.n_given ? x.t.n_means : FLOW_CALLS);
	text_name_metrics(&x.t, m, "metric", "units");
	if (!r && x.t.nr_metrics)
		r = set_sources(m, &x.t, e);
	if (!r && x.t.nodes)
		r = tree_nodes(&x, e);
	while (!r && (line = text_line(&x.t, &len))) {
		if (len && *line != '#')
			r = x.t.levels ? level_line(&x, line, len, e) : path_line(&x, line, len, e);
	}
	flow_finish(&m->flow);
	free(x.path);
	buf_release(&x.name);
	return r;
}

static void put_escaped(const char *s, FILE *out)
{
	struct buf b = BUF_INIT;

	quote_add_also(&b, s, strlen(s), also);
	fputs(b.data, out);
	buf_release(&b);
}

/* Write a word of a directive, which ends at a blank. */
static void input_tree_put_word(const char *s, FILE *out)
{
	struct buf b = BUF_INIT;
	const char *at;

	quote_add_also(&b, s, strlen(s), also);
	for (s = b.data; (at = strchr(s, ' ')); s = at + 1)
		fprintf(out, "%.*s\\x20", (int)(at - s), s);
	fputs(s, out);
	buf_release(&b);
}

static void input_tree_put_node(const struct model *m, uint32_t i, uint32_t level, FILE *out)
{
	const struct flow *f = &m->flow;
	const struct consumer *c = &m->consumers.items[f->nodes[i].consumer];
	unsigned int k;

	fprintf(out, "%" PRIu32 "\t%" PRIu64, level, f->nodes[i].n);
	for (k = 0; k < f->nr_metrics; k++)
		fprintf(out, "\t%" PRIu64, flow_base(f, i)[k]);
	putc('\t', out);
	put_escaped(model_str(m, c->name), out);
	if (c->kind || c->module || c->detail || c->key) {
		fprintf(out, "\t%s\t", consumer_kind_name(c->kind));
		put_escaped(model_str(m, c->module), out);
		putc('\t', out);
		put_escaped(model_str(m, c->detail), out);
		fprintf(out, "\t%" PRIu64, c->key);
	}
	putc('\n', out);
}

void output_tree(const struct model *m, FILE *out)
{
	const struct flow *f = &m->flow;
	uint32_t i, next, level = 0;
	unsigned int k;

	fprintf(out, "# levels\n# n %s\n", model_kind_name(f->n_means));
	for (k = 0; k < f->nr_metrics; k++) {
		unsigned int counter = model_counter(m, m->metrics[k].source);

		fputs("# metric ", out);
		input_tree_put_word(model_str(m, m->metrics[k].name), out);
		putc(' ', out);
		input_tree_put_word(model_str(m, m->metrics[k].unit), out);
		if (counter && k < m->nr_shown) {
			putc(' ', out);
			input_tree_put_word(model_str(m, m->metrics[counter].name), out);
		}
		putc('\n', out);
	}
	for (i = flow_next(f, FLOW_NONE); i; i = next) {
		input_tree_put_node(m, i, level, out);
		next = flow_next(f, i);
		if (next && f->nodes[next].parent == i)
			level++;
		else
			for (; next && f->nodes[i].parent != f->nodes[next].parent; i = f->nodes[i].parent)
				level--;
	}
}
