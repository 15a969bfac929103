// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tprof.c - the locations of samples by process, thread, module and symbol, without the calls that led there:
 * the eight stanzas of Performance Inspector's tprof.out.
 *
 * Each stanza is a small tree of its own, made from the leaves of the model.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/quote.h"
#include "flow/flow.h"
#include "report/micro.h"
#include "report/head.h"
#include "report/measures.h"

enum { PID, TID, MOD, SYM, NR_KEYS };
static const char *const labels[NR_KEYS] = { "PID", "TID", "MOD", "SYM" };

static const struct stanza {
	const char *name, *letters;
	uint8_t nr_keys, keys[NR_KEYS];
} stanzas[] = {
	{ "Process", "P", 1, { PID } },
	{ "Process_Module", "PM", 2, { PID, MOD } },
	{ "Process_Module_Symbol", "PMS", 3, { PID, MOD, SYM } },
	{ "Process_Thread", "PT", 2, { PID, TID } },
	{ "Process_Thread_Module", "PTM", 3, { PID, TID, MOD } },
	{ "Process_Thread_Module_Symbol", "PTMS", 4, { PID, TID, MOD, SYM } },
	{ "Module", "M", 1, { MOD } },
	{ "Module_Symbol", "MS", 2, { MOD, SYM } },
};

struct tprof_opts {
	double clip;			/* percent */
	struct opt_list stanzas;
	const char *micro;		/* how many symbols, "": of 1 % and more; NULL: no micro stanzas */
};

struct tprof {
	struct view *v;
	const struct tprof_opts *own;
	FILE *out;
	struct sheet sheet;
	struct consumers names;		/* the four kinds of rows */
	struct tick {
		uint32_t keys[NR_KEYS];
		uint32_t function;	/* consumer of the view */
		uint64_t ticks;
	} *ticks;
	size_t nr_ticks, alloc_ticks;
	uint64_t total, clip;
	bool wanted[ARRAY_SIZE(stanzas)];
	struct micro *micro;		/* NULL: not asked for */
};

/* Return the module name that users of tprof know. */
static const char *module_name(const struct model *m, const struct consumer *c)
{
	const char *module = model_str(m, c->module);

	if (c->kind == CONSUMER_JAVA_INTERPRETED)
		return "INTERPRETED";
	if (kind_is(c->kind, KIND_JVM))
		return "JITCODE";
	if (c->kind == CONSUMER_KERNEL && !c->module)
		return "[kernel.kallsyms]";
	return c->module ? module : "NoModule";
}

static const char *symbol_name(const struct model *m, const struct consumer *c)
{
	if (c->kind == CONSUMER_UNRESOLVED)
		return "NoSymbolFound";
	if (kind_is(c->kind, KIND_PLACE))
		return "NoSymbols";
	return model_str(m, c->name);
}

static uint32_t key_process(struct tprof *t, uint32_t consumer)
{
	const struct consumer *c = &t->v->m->consumers.items[consumer];
	char hex[16] = "";
	uint32_t id;
	char *name;

	if (!consumer)
		return consumer_add_name(&t->names, PID, "NoProcess", 9);
	if (c->key || !*model_str(t->v->m, c->name))
		snprintf(hex, sizeof(hex), "_%04x", (unsigned int)(c->key >> 32));
	name = xasprintf("%s%s", model_str(t->v->m, c->name), hex);
	id = consumer_add_name(&t->names, PID, name, strlen(name));
	free(name);
	return id;
}

static uint32_t key_thread(struct tprof *t, uint32_t consumer)
{
	const struct consumer *c = &t->v->m->consumers.items[consumer];
	uint32_t id;
	char *name;

	if (!consumer)
		return consumer_add_name(&t->names, TID, "NoThread", 8);
	name = c->key ? xasprintf("tid_%s_%04x", model_str(t->v->m, c->name), (unsigned int)c->key) :
			xasprintf("tid_%s", model_str(t->v->m, c->name));
	id = consumer_add_name(&t->names, TID, name, strlen(name));
	free(name);
	return id;
}

/* the nearest process, thread and function that is not inlined, at or above a node */
struct above {
	uint32_t process, thread, function;
};

static void add_ticks(struct tprof *t, const struct above *a, uint64_t n)
{
	const struct model *m = t->v->m;
	const struct consumer *f = &m->consumers.items[a->function];
	const char *module = module_name(m, f), *symbol = symbol_name(m, f);
	struct consumer sym = { .kind = SYM };
	struct tick x = { .function = a->function, .ticks = n };

	x.keys[PID] = key_process(t, a->process);
	x.keys[TID] = key_thread(t, a->thread);
	x.keys[MOD] = consumer_add_name(&t->names, MOD, module, strlen(module));
	sym.name = strtab_adds(&t->names.names, symbol);
	x.keys[SYM] = consumer_add(&t->names, &sym);
	*VEC_ADD(t->ticks, t->nr_ticks, t->alloc_ticks) = x;
	t->total += n;
}

static void tprof_collect(struct tprof *t)
{
	const struct flow *f = &t->v->m->flow;
	struct above *above = xcalloc(f->nr_nodes, sizeof(*above));
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct consumer *c = &t->v->m->consumers.items[f->nodes[i].consumer];
		struct above *a = &above[i];

		*a = above[f->nodes[i].parent];
		if (c->kind == CONSUMER_PROCESS)
			a->process = a->function = f->nodes[i].consumer;
		else if (c->kind == CONSUMER_THREAD)
			a->thread = a->function = f->nodes[i].consumer;
		else if (!kind_is(c->kind, KIND_INLINED))
			a->function = f->nodes[i].consumer;
		if (f->nodes[i].n)
			add_ticks(t, a, f->nodes[i].n);
	}
	free(above);
}

static void make_tree(struct tprof *t, const struct stanza *s, struct flow *f)
{
	struct flow_order order = { &t->names, FLOW_BY_CUM, 0 };
	uint32_t node;
	size_t i, k;

	flow_init(f, 1, FLOW_SAMPLES);
	for (i = 0; i < t->nr_ticks; i++) {
		for (node = FLOW_NONE, k = 0; k < s->nr_keys; k++)
			node = flow_child(f, node, t->ticks[i].keys[s->keys[k]]);
		flow_add(f, node, 0, &t->ticks[i].ticks);
	}
	flow_finish(f);
	flow_sort_children(f, &order);
}

enum {
	AT_STANZA, AT_LEVEL, AT_TEXT_LABEL, AT_LABEL, AT_NAME, AT_TICKS, AT_PERCENT, AT_TEXT_NAME, NR_CELLS
};

/* Text shows the level by blanks before label and name; JSON is a tree. */
static const struct sheet_column columns[NR_CELLS] = {
	[AT_STANZA] = { "stanza" }, [AT_LEVEL] = { "level" }, [AT_TEXT_LABEL] = { .head = "   LAB" },
	[AT_LABEL] = { "label" }, [AT_NAME] = { "name" }, [AT_TICKS] = { "ticks", "TKS", 6 },
	[AT_PERCENT] = { .head = "%%%", .width = 5, .decimals = 2 },
	[AT_TEXT_NAME] = { .head = "     NAMES", .before = "" },
};

static void tprof_print_row(struct tprof *t, const struct stanza *s, uint32_t level, const struct consumer *c,
			    uint64_t ticks)
{
	const char *label = labels[c->kind], *name = strtab_get(&t->names.names, c->name);
	struct buf text_label = BUF_INIT, text_name = BUF_INIT;

	buf_fmt(&text_label, "%*s%s", 3 + (int)level, "", label);
	buf_fmt(&text_name, "%*s%s", 4 + (int)level, "", name);
	sheet_row(&t->sheet, NULL, (const struct cell[NR_CELLS]){
		[AT_STANZA] = cell_text(s->name), [AT_LEVEL] = cell_u64(level),
		[AT_TEXT_LABEL] = cell_text(text_label.data), [AT_LABEL] = cell_text(label),
		[AT_NAME] = cell_text(name), [AT_TICKS] = cell_u64(ticks),
		[AT_PERCENT] = measures_percent(ticks, t->total),
		[AT_TEXT_NAME] = cell_text(text_name.data) });
	buf_release(&text_label);
	buf_release(&text_name);
}

/* Print the rows; in text v->o->limit at most. */
static void tprof_print_rows(struct tprof *t, const struct stanza *s)
{
	bool text = sheet_is_text(&t->sheet);
	uint32_t i, k, level, before = 0;
	uint64_t ticks, rows = 0;
	struct flow f;

	make_tree(t, s, &f);
	for (i = flow_next(&f, FLOW_NONE); i;
	     i = ticks < t->clip ? flow_next_outside(&f, i) : flow_next(&f, i)) {
		ticks = flow_cum(&f, i)[0];
		if (ticks < t->clip)
			continue;
		if (text && t->v->o->limit && rows++ >= t->v->o->limit)
			break;
		for (level = 0, k = f.nodes[i].parent; k; k = f.nodes[k].parent)
			level++;
		if (text && level < before)
			putc('\n', t->out);
		before = level;
		tprof_print_row(t, s, level, &t->names.items[f.nodes[i].consumer], ticks);
	}
	flow_release(&f);
}

static void text_rate(struct tprof *t)
{
	const struct model *m = t->v->m;
	const char *unit = model_str(m, m->metrics[0].unit), *name = model_str(m, m->metrics[0].name);
	uint64_t period = t->v->origin->period;
	double rate = t->v->origin->rate_hz > 0 ? t->v->origin->rate_hz : period ? 1e9 / period : 0;
	struct buf b = BUF_INIT;

	if (!strcmp(unit, "ns") && rate > 0)
		fprintf(t->out, "      Time-based mode, ticks every %.0f microseconds (~%.0f ticks/sec)\n\n",
			t->v->origin->period ? t->v->origin->period / 1e3 : 1e6 / rate, rate);
	else if (t->v->origin->period)
		fprintf(t->out, "      Event-based mode, %s, ticks every %" PRIu64 " events\n\n",
			quote_str(&b, name),
			t->v->origin->period);
	else
		fprintf(t->out, "      %s\n\n", quote_str(&b, name));
	buf_release(&b);
}

static void text_header(struct tprof *t)
{
	const struct origin *origin = t->v->origin;
	struct buf b = BUF_INIT;
	size_t i;

	fputs("\n Tprof Reports\n\n", t->out);
	if (origin->is_trace) {
		fprintf(t->out, " Platform : Linux-%s\n\n",
			quote_str(&b, origin->machine ? origin->machine : "unknown"));
		fprintf(t->out, "%21s %15u\n", "Processors", origin->nr_cpus);
		/* A trace does not hold it, and clocks vary: better none than a wrong one. */
		fprintf(t->out, "%21s %15s\n", "ProcessorSpeed", "n/a");
		fprintf(t->out, "%21s %15" PRIu64 "\n", "TraceTime_ns", origin->duration_ns);
		fprintf(t->out, "%21s %15.3f(sec)\n\n", "TraceTime", origin->duration_ns / 1e9);
		text_rate(t);
	}
	buf_release(&b);
	fprintf(t->out, " TOTAL TICKS%15" PRIu64 "\n", t->total);
	fprintf(t->out, " (Clipping Level : %5.1f %% %4" PRIu64 " Ticks)\n\n", t->own->clip, t->clip);
	fputs("   ================================\n      TPROF Report Summary\n\n", t->out);
	for (i = 0; i < ARRAY_SIZE(stanzas); i++)
		if (t->wanted[i])
			fprintf(t->out, "    )) %s\n", stanzas[i].name);
	fputs("   ================================\n\n", t->out);
}

static void tprof_print_text(struct tprof *t)
{
	size_t i;

	head_text(t->v, t->out);
	text_header(t);
	for (i = 0; i < ARRAY_SIZE(stanzas); i++) {
		if (!t->wanted[i])
			continue;
		fprintf(t->out, "   ================================\n    )) %s\n"
				"   ================================\n\n", stanzas[i].name);
		sheet_columns(&t->sheet, columns, NR_CELLS);
		putc('\n', t->out);
		tprof_print_rows(t, &stanzas[i]);
		putc('\n', t->out);
	}
	if (t->micro)
		micro_text(t->micro, t->out);
}

/* Print a tree of at most four levels. */
static void json_tree(struct tprof *t, const struct flow *f, uint32_t parent, struct json *j, const char *key)
{
	uint32_t i;

	json_array(j, key);
	for (i = f->nodes[parent].child; i; i = f->nodes[i].sibling) {
		const struct consumer *c = &t->names.items[f->nodes[i].consumer];

		if (flow_cum(f, i)[0] < t->clip)
			continue;
		json_object(j, NULL);
		json_str(j, "label", labels[c->kind]);
		json_str(j, "name", strtab_get(&t->names.names, c->name));
		json_u64(j, "ticks", flow_cum(f, i)[0]);
		json_tree(t, f, i, j, "children");
		json_end(j);
	}
	json_end(j);
}

static void tprof_print_json(struct tprof *t)
{
	struct flow f;
	struct json *j = &t->sheet.json;
	size_t i;

	head_json(t->v, j);
	json_u64(j, "total_ticks", t->total);
	json_array(j, "stanzas");
	for (i = 0; i < ARRAY_SIZE(stanzas); i++) {
		if (!t->wanted[i])
			continue;
		make_tree(t, &stanzas[i], &f);
		json_object(j, NULL);
		json_str(j, "name", stanzas[i].name);
		json_tree(t, &f, FLOW_NONE, j, "tree");
		json_end(j);
		flow_release(&f);
	}
	json_end(j);
	if (t->micro)
		micro_json(t->micro, j);
	json_end(j);
}

static void print_csv(struct tprof *t)
{
	size_t i;

	sheet_columns(&t->sheet, columns, NR_CELLS);
	for (i = 0; i < ARRAY_SIZE(stanzas); i++)
		if (t->wanted[i])
			tprof_print_rows(t, &stanzas[i]);
}

/* ---- micro stanzas ---- */

/* A row of Module_Symbol. */
struct hot {
	uint32_t module, symbol;	/* keys */
	uint64_t ticks;
};

static int compare_hot(const void *p, const void *q)
{
	const struct hot *a = p, *b = q;

	return COMPARE(b->ticks, a->ticks) ?: COMPARE(a->module, b->module) ?:
	       COMPARE(a->symbol, b->symbol);
}

/* Return the hottest symbols, for free(). */
static struct hot *find_hot(struct tprof *t, size_t *nr)
{
	uint64_t most = UINT64_MAX, least = *t->own->micro ? 1 : MAX(ceil(t->total / 100.0), 1);
	struct hot *hot = NULL;
	size_t alloc = 0;
	struct flow f;
	uint32_t i;
	struct err e;

	if (*t->own->micro)
		opt_parse_u64(t->own->micro, &most, &e);
	make_tree(t, &stanzas[ARRAY_SIZE(stanzas) - 1], &f);
	for (*nr = 0, i = flow_next(&f, FLOW_NONE); i; i = flow_next(&f, i)) {
		if (t->names.items[f.nodes[i].consumer].kind != SYM || flow_cum(&f, i)[0] < least)
			continue;
		VEC_GROW(hot, *nr, alloc);
		hot[(*nr)++] = (struct hot){ f.nodes[f.nodes[i].parent].consumer, f.nodes[i].consumer,
					     flow_cum(&f, i)[0] };
	}
	flow_release(&f);
	if (*nr)
		qsort(hot, *nr, sizeof(*hot), compare_hot);
	*nr = MIN(*nr, most);
	return hot;
}

/* Find the functions of the hot symbols, each once. */
static void find_functions(const struct tprof *t, const struct hot *hot, struct micro *x)
{
	bool *known = xcalloc(t->v->m->consumers.nr_items, sizeof(*known));
	size_t i, k, alloc = 0;

	for (i = 0; i < t->nr_ticks; i++) {
		const struct tick *tick = &t->ticks[i];

		if (known[tick->function])
			continue;
		known[tick->function] = true;
		for (k = 0; k < x->nr_symbols; k++)
			if (hot[k].module == tick->keys[MOD] && hot[k].symbol == tick->keys[SYM])
				break;
		if (k == x->nr_symbols)
			continue;
		*VEC_ADD(x->functions, x->nr_functions, alloc) =
			(struct micro_function){ tick->function, k };
	}
	free(known);
}

static int print_with_micro(struct tprof *t, void (*print)(struct tprof *t), struct err *e)
{
	struct micro x = { .v = t->v, .total = t->total };
	struct hot *hot = find_hot(t, &x.nr_symbols);
	size_t i;
	int r;

	x.symbols = xcalloc(x.nr_symbols + 1, sizeof(*x.symbols));
	for (i = 0; i < x.nr_symbols; i++)
		x.symbols[i] = (struct micro_symbol){
			.module = strtab_get(&t->names.names, t->names.items[hot[i].module].name),
			.name = strtab_get(&t->names.names, t->names.items[hot[i].symbol].name),
			.ticks = hot[i].ticks };
	find_functions(t, hot, &x);
	r = micro_read(&x, e);
	t->micro = &x;
	if (!r)
		print(t);
	t->micro = NULL;
	micro_release(&x);
	free(x.functions);
	free(x.symbols);
	free(hot);
	return r;
}

/* ---- the whole ---- */

/* Marks the stanzas that are asked for. */
static int tprof_choose(const struct opt_list *l, bool wanted[ARRAY_SIZE(stanzas)], struct err *e)
{
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(stanzas); k++)
		wanted[k] = !l->nr_items;
	for (i = 0; i < l->nr_items; i++) {
		for (k = 0; k < ARRAY_SIZE(stanzas); k++)
			if (!strcasecmp(l->items[i], stanzas[k].letters) ||
			    !strcasecmp(l->items[i], stanzas[k].name))
				break;
		if (k == ARRAY_SIZE(stanzas))
			return err_set(e, EINVAL,
				       "unknown stanza '%s' (available: P, PM, PMS, PT, PTM, PTMS, M, MS)",
				       l->items[i]);
		wanted[k] = true;
	}
	return 0;
}

static int tprof_print(struct view *v, FILE *out, struct err *e)
{
	struct tprof t = { .v = v, .own = v->o->own, .out = out };
	void (*print)(struct tprof *t) = v->o->format == FORMAT_JSON ? tprof_print_json :
					 v->o->format == FORMAT_CSV ? print_csv : tprof_print_text;
	int r;

	if (v->m->flow.n_means != FLOW_SAMPLES)
		return err_set(e, EINVAL, "tprof counts samples, but this input counts calls");
	if ((r = tprof_choose(&t.own->stanzas, t.wanted, e)))
		return r;
	sheet_init(&t.sheet, v->o->format, out);
	sheet_choose(&t.sheet, &v->o->choice);
	consumers_init(&t.names);
	tprof_collect(&t);
	t.clip = ceil(t.total * t.own->clip / 100);
	if (t.own->micro)
		r = print_with_micro(&t, print, e);
	else
		print(&t);
	sheet_end(&t.sheet);
	consumers_release(&t.names);
	free(t.ticks);
	return r;
}

static int check_micro(const struct report_opts *o, const char *micro, struct err *e)
{
	uint64_t n;

	if (*micro && (opt_parse_u64(micro, &n, e) || !n))
		return err_set(e, EINVAL, "--micro: '%s' is not a number of symbols", micro);
	return micro_check(o, e);
}

static int tprof_check(const struct report_opts *o, struct err *e)
{
	const struct tprof_opts *own = o->own;
	bool wanted[ARRAY_SIZE(stanzas)];

	if (own->clip < 0 || own->clip > 100)
		return err_set(e, EINVAL, "--clip: a percentage is from 0 to 100");
	if (o->choice.columns.nr_items && o->format == FORMAT_JSON)
		return err_set(e, EINVAL, "--columns: in JSON --tprof is a tree; --format=text and csv have columns");
	if (own->micro) {
		int r = check_micro(o, own->micro, e);

		if (r)
			return r;
	}
	return tprof_choose(&own->stanzas, wanted, e);
}

#define O struct tprof_opts
static const struct opt opts[] = {
	OPT_DOUBLE(0, "clip", O, clip, "percent", "0", "hide rows below <percent> of the ticks"),
	OPT_LIST(0, "stanza", O, stanzas, "keys", "only these stanzas: P, PM, PMS, PT, PTM, PTMS, M, MS"),
	OPT_STR_OPTARG(0, "micro", O, micro, "n", "also show the <n> hottest symbols (default: those of 1 % and more) by instruction"),
	OPT_END
};
#undef O

const struct report report_tprof = {
	.name = "tprof",
	.help = "show ticks by process, thread, module and symbol",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.opts_title = "For --tprof",
	.opts = opts,
	.opts_size = sizeof(struct tprof_opts),
	.check = tprof_check,
	.prefers_samples = true,
	.hides_inlined = true,	/* a symbol of tprof is what the linker calls one */
	.print = tprof_print,
};
