// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - the profile format of valgrind's callgrind, for callgrind_annotate, KCachegrind and
 * QCachegrind: what each function consumed itself, by line, and its calls with what they consumed.
 *
 * A function is a name in a module.  Processes and threads are functions, too: the format has no
 * other place for them in one file.
 *
 * The cost of a call into a function that is active already is 0, as the outermost call has it.  So
 * the costs of all calls to a function add up to its cum, which is what callgrind_annotate
 * --inclusive=yes shows, and what goes in and out of a cycle of KCachegrind is right.
 *
 * Source: "Callgrind Format Specification" in the manual of valgrind 3.19.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/export.h"
#include "version.h"

/* Costs of one line: metrics, and counts of samples: those of the first source are the last. */
enum { MAX_COSTS = FLOW_MAX_METRICS + 1 };

struct callgrind {
	const struct view *v;
	FILE *out;
	struct export x;
	struct map function_of;		/* name and module, as ids of x.strings and x.modules -> index */
	struct callgrind_function {
		uint32_t name, module, file;
		bool written;		/* its name; after that its number does */
		unsigned int active;	/* calls of it that are open, while the tree is walked */
	} *functions;
	size_t nr_functions, alloc_functions;
	uint32_t *function_at;		/* [node]: index */
	struct map pair_of, place_of, entry_of;
	struct callgrind_entry {
		uint32_t function, file, line;
		uint32_t callee;	/* index + 1; 0: what the function consumed itself */
		uint64_t calls;
		uint64_t costs[MAX_COSTS];
	} *entries;
	size_t nr_entries, alloc_entries;
	struct map written[2];		/* files, modules: id of x.strings -> whether it has its number */
	unsigned int nr_costs;
	uint64_t *below_n;		/* [node]: n of all contexts of the subtree */
};

/* ---- from contexts to functions and calls ---- */

static uint32_t find_function(struct callgrind *c, const struct export_location *l)
{
	const struct export_function *f = &c->x.functions[l->function - 1];
	uint32_t *at = map_put(&c->function_of, (uint64_t)f->name << 32 | l->module);

	if (*at == MAP_NONE) {
		VEC_GROW(c->functions, c->nr_functions, c->alloc_functions);
		*at = c->nr_functions;
		c->functions[c->nr_functions++] =
			(struct callgrind_function){ .name = f->name, .module = l->module };
	}
	if (!c->functions[*at].file)
		c->functions[*at].file = f->file;
	return *at;
}

/* Return a number for a pair. */
static uint32_t pair_number(struct map *m, uint32_t a, uint32_t b)
{
	uint32_t *at = map_put(m, (uint64_t)a << 32 | b);

	if (*at == MAP_NONE)
		*at = m->nr;
	return *at;
}

static struct callgrind_entry *entry(struct callgrind *c, uint32_t function, const struct export_location *l,
				     uint32_t callee)
{
	uint32_t file = c->x.functions[l->function - 1].file;
	uint32_t *at = map_put(&c->entry_of, (uint64_t)pair_number(&c->pair_of, function, callee) << 32 |
						     pair_number(&c->place_of, file, l->line));

	if (*at == MAP_NONE) {
		VEC_GROW(c->entries, c->nr_entries, c->alloc_entries);
		*at = c->nr_entries;
		c->entries[c->nr_entries++] =
			(struct callgrind_entry){ function, file, l->line, callee, 0, { 0 } };
	}
	return &c->entries[*at];
}

static void add_costs(struct callgrind *c, struct callgrind_entry *x, const uint64_t *values, uint64_t n)
{
	unsigned int i;

	for (i = 0; i < export_nr_values(c->v); i++)
		x->costs[i] += values[i];
	if (i < c->nr_costs)
		x->costs[i] += n;
}

static void callgrind_add_node(struct callgrind *c, uint32_t node)
{
	const struct flow *f = &c->v->m->flow;
	uint32_t parent = f->nodes[node].parent, unused, at, function;
	uint32_t own = export_location(&c->x, node, &unused);
	struct callgrind_entry *x;

	function = c->function_at[node] = find_function(c, &c->x.locations[own - 1]);
	x = entry(c, function, &c->x.locations[own - 1], 0);
	add_costs(c, x, flow_base(f, node), export_n(c->v, node));
	if (!parent)
		return;
	at = export_location(&c->x, parent, &unused);
	x = entry(c, c->function_at[parent], &c->x.locations[at - 1], function + 1);
	/* with samples, how many went that way: the format wants a number, and not 0 */
	x->calls += f->n_means == FLOW_CALLS ? f->nodes[node].n : c->below_n[node];
	if (!c->functions[function].active)
		add_costs(c, x, flow_cum(f, node), c->below_n[node]);
}

static void add_tree(struct callgrind *c)
{
	const struct flow *f = &c->v->m->flow;
	uint32_t i, open = FLOW_NONE;

	for (i = f->nr_nodes - 1; i; i--) {
		c->below_n[i] += export_n(c->v, i);
		c->below_n[f->nodes[i].parent] += c->below_n[i];
	}
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		for (; open != f->nodes[i].parent; open = f->nodes[open].parent)
			c->functions[c->function_at[open]].active--;
		callgrind_add_node(c, i);
		c->functions[c->function_at[i]].active++;
		open = i;
	}
}

static int compare_entries(const void *p, const void *q, void *ctx)
{
	const struct callgrind_entry *a = p, *b = q;
	const struct callgrind *c = ctx;
	uint32_t own = c->functions[a->function].file;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->file != b->file)		/* that of the function first */
		return a->file == own || (b->file != own && a->file < b->file) ? -1 : 1;
	return COMPARE(a->line, b->line) ?: COMPARE(a->callee, b->callee);
}

/* ---- the file ---- */

/* Write a name with its number the first time, then the number alone. */
static void put_name(struct callgrind *c, const char *key, uint32_t nr, uint32_t name, bool written)
{
	const char *text = export_str(&c->x, name);

	if (written)
		fprintf(c->out, "%s=(%" PRIu32 ")\n", key, nr);
	else
		fprintf(c->out, "%s=(%" PRIu32 ") %s\n", key, nr, *text ? text : "???");
}

/* name 0: not known */
static void put_file(struct callgrind *c, const char *key, uint32_t name)
{
	uint32_t *written = map_put(&c->written[0], name);

	put_name(c, key, name + 1, name, *written != MAP_NONE);
	*written = 1;
}

static void put_module(struct callgrind *c, const char *key, uint32_t module)
{
	uint32_t *written = map_put(&c->written[1], module);

	put_name(c, key, module + 1, module ? c->x.modules[module - 1].path : 0, *written != MAP_NONE);
	*written = 1;
}

static void put_function(struct callgrind *c, const char *key, uint32_t function)
{
	struct callgrind_function *f = &c->functions[function];

	put_name(c, key, function + 1, f->name, f->written);
	f->written = true;
}

static void put_costs(struct callgrind *c, uint32_t line, const uint64_t *costs)
{
	unsigned int i, nr = c->nr_costs;

	while (nr > 1 && !costs[nr - 1])	/* what is not there is 0 */
		nr--;
	fprintf(c->out, "%" PRIu32, line);
	for (i = 0; i < nr; i++)
		fprintf(c->out, " %" PRIu64, costs[i]);
	putc('\n', c->out);
}

static bool is_empty(const struct callgrind *c, const struct callgrind_entry *x)
{
	unsigned int i;

	for (i = 0; i < c->nr_costs; i++)
		if (x->costs[i])
			return false;
	return !x->callee;
}

static void put_entries(struct callgrind *c)
{
	uint32_t function = MAP_NONE, file = 0;
	size_t i;

	for (i = 0; i < c->nr_entries; i++) {
		const struct callgrind_entry *x = &c->entries[i];
		const struct callgrind_function *callee = x->callee ? &c->functions[x->callee - 1] : NULL;

		if (x->function != function) {
			function = x->function;
			file = c->functions[function].file;
			putc('\n', c->out);
			put_module(c, "ob", c->functions[function].module);
			put_file(c, "fl", file);
			put_function(c, "fn", function);
		}
		if (is_empty(c, x))
			continue;
		if (x->file && x->file != file)
			put_file(c, "fi", file = x->file);
		if (callee) {
			put_module(c, "cob", callee->module);
			put_file(c, "cfi", callee->file);
			put_function(c, "cfn", x->callee - 1);
			fprintf(c->out, "calls=%" PRIu64 " 0\n", MAX(x->calls, 1));
		}
		put_costs(c, x->line, x->costs);
	}
}

/* Names of events are words. */
static void put_event(struct callgrind *c, const char *name)
{
	static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	for (; *name; name++)
		putc(strchr(fit, *name) ? *name : '_', c->out);
}

static const char *event_name(const struct callgrind *c, unsigned int i)
{
	const struct model *m = c->v->m;

	return i < export_nr_values(c->v) ? model_str(m, m->metrics[i].name) : "samples";
}

static void put_long_event(struct callgrind *c, unsigned int i)
{
	const struct model *m = c->v->m;
	const char *unit = i < export_nr_values(c->v) ? model_str(m, m->metrics[i].unit) : "";

	fputs("event: ", c->out);
	put_event(c, event_name(c, i));
	fprintf(c->out, " : %s", export_str(&c->x, export_string(&c->x, event_name(c, i))));
	fprintf(c->out, " (%s)\n", export_str(&c->x, export_string(&c->x, export_unit(unit))));
}

static void put_desc(struct callgrind *c, const char *key, const char *text)
{
	if (text)
		fprintf(c->out, "%s %s\n", key, export_str(&c->x, export_string(&c->x, text)));
}

static void callgrind_put_head(struct callgrind *c)
{
	unsigned int i;

	fputs("# callgrind format\nversion: 1\ncreator: arcprof-" ARCPROF_VERSION "\n", c->out);
	put_desc(c, "cmd:", c->v->origin->command);
	put_desc(c, "desc: Host:", c->v->origin->host);
	fputs("positions: line\n", c->out);
	for (i = 0; i < c->nr_costs; i++)
		put_long_event(c, i);
	fputs("events:", c->out);
	for (i = 0; i < c->nr_costs; i++) {
		putc(' ', c->out);
		put_event(c, event_name(c, i));
	}
	putc('\n', c->out);
}

static void put_totals(struct callgrind *c, const char *key)
{
	unsigned int i;

	fputs(key, c->out);
	for (i = 0; i < c->nr_costs; i++)
		fprintf(c->out, " %" PRIu64, i < export_nr_values(c->v) ? c->v->total[i] : c->below_n[0]);
	putc('\n', c->out);
}

int callgrind_print(struct view *v, FILE *out, struct err *e)
{
	const struct flow *f = &v->m->flow;
	struct callgrind c = { .v = v, .out = out };

	c.nr_costs = export_nr_values(v) + (export_has_n(v) && f->n_means == FLOW_SAMPLES);
	export_init(&c.x, v);
	c.function_at = xcalloc(f->nr_nodes, sizeof(*c.function_at));
	c.below_n = xcalloc(f->nr_nodes, sizeof(*c.below_n));
	add_tree(&c);
	if (c.nr_entries)
		qsort_r(c.entries, c.nr_entries, sizeof(*c.entries), compare_entries, &c);
	callgrind_put_head(&c);
	put_totals(&c, "summary:");
	put_entries(&c);
	put_totals(&c, "\ntotals:");
	export_lacks(v, "contexts beyond a function's callers and callees");
	export_release(&c.x);
	map_release(&c.function_of);
	map_release(&c.pair_of);
	map_release(&c.place_of);
	map_release(&c.entry_of);
	map_release(&c.written[0]);
	map_release(&c.written[1]);
	free(c.functions);
	free(c.function_at);
	free(c.entries);
	free(c.below_n);
	return 0;
}
