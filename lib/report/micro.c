// SPDX-License-Identifier: GPL-2.0-or-later
/* micro.c - the hottest symbols of tprof by instruction. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/code.h"
#include "report/micro.h"
#include "report/measures.h"

/* ---- the samples, read again ---- */

static uint32_t find_symbol(const struct micro *x, const char *name, const char *module)
{
	const struct model *m = x->v->m;
	size_t i;

	for (i = 0; i < x->nr_functions; i++) {
		const struct consumer *c = &m->consumers.items[x->functions[i].consumer];

		if (!strcmp(model_str(m, c->name), name) &&
		    !strcmp(c->module ? model_str(m, c->module) : "", module))
			return x->functions[i].symbol;
	}
	return MAP_NONE;
}

static bool micro_is_wanted(const void *ctx, const struct model *m, const struct consumer *c)
{
	return find_symbol(ctx, model_str(m, c->name), c->module ? model_str(m, c->module) : "") != MAP_NONE;
}

int micro_check(const struct report_opts *o, struct err *e)
{
	const char *other = o->select.symbols.nr_items ? "--symbol" : o->select.modules.nr_items ? "--module" :
			    o->fold != FOLD_NONE ? "--fold" : o->prune > 0 ? "--prune" :
			    o->profile->names.by_kind ? "--by-kind" : NULL;

	if (o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
		return err_set(e, EINVAL, "--micro: only --format text and json have it");
	if (other)
		return err_set(e, EINVAL, "cannot be combined: --micro and %s", other);
	return 0;
}

int micro_read(struct micro *x, struct err *e)
{
	const struct view *v = x->v;
	const struct profile_opts *po = v->o->profile;
	const struct annotate_opts ao = {
		.wanted = micro_is_wanted, .ctx = x, .select = &v->o->select,
		.metrics = &po->metrics,
	};
	struct resolve_opts ro = po->names;
	size_t i;
	int r;

	ro.lines = ro.code = ro.hide_inlined = ro.by_kind = true;
	model_init(&x->m, 1, FLOW_SAMPLES);
	names_init(&x->names, &x->m, &ro);
	if (!v->trace)
		return err_set(e, EINVAL, "--micro needs a trace: a text has no addresses");
	r = annotate_read(&x->a, &x->names, v->trace, &ao, e);
	if (r == -ENODATA)
		return err_set(e, ENODATA, "--micro needs samples with addresses, which the input does not have");
	if (r)
		return r;
	x->symbol_of = xcalloc(x->a.nr_functions + 1, sizeof(*x->symbol_of));
	for (i = 0; i < x->a.nr_functions; i++) {
		const struct annotate_function *f = &x->a.functions[i];

		x->symbol_of[i] = find_symbol(x, model_str(&x->m, f->name),
					      f->module ? model_str(&x->m, f->module) : "");
	}
	return 0;
}

void micro_release(struct micro *x)
{
	free(x->symbol_of);
	annotate_release(&x->a);
	names_release(&x->names);
	model_release(&x->m);
}

/* Ticks of a symbol that have no offset, by reason. */
struct without {
	uint64_t interpreted;
	uint64_t no_code;	/* in a function, but it is not known where in its code */
	uint64_t no_function;
};

#define WHY_INTERPRETED "interpreted: no machine code of its own"
#define WHY_NO_CODE "no offset in its code is known"
#define WHY_NO_FUNCTION "no symbol is known there"

static struct without count_without(const struct micro *x, size_t symbol)
{
	struct without w = { 0 };
	uint64_t in_function = 0, with = 0;
	size_t i;

	for (i = 0; i < x->a.nr_functions; i++)
		in_function += x->symbol_of[i] == symbol ? x->a.functions[i].n : 0;
	for (i = 0; i < x->a.nr_ways; i++)
		if (x->a.ways[i].kind == CONSUMER_JAVA_INTERPRETED &&
		    x->symbol_of[x->a.ways[i].function] == symbol)
			w.interpreted += x->a.ways[i].n;
	for (i = 0; i < x->a.nr_codes; i++)
		with += x->symbol_of[x->a.codes[i].function] == symbol ? x->a.codes[i].n : 0;
	w.no_code = in_function - with - w.interpreted;
	if (!in_function)
		w.no_function = x->symbols[symbol].ticks;
	return w;
}

/* ---- text ---- */

static void text_without(struct code_text *code, uint64_t n, const char *why)
{
	if (n)
		code_row(code, n, "n/a", cell_text(""), why);
}

static void text_symbol(const struct micro *x, size_t symbol, FILE *out)
{
	const struct micro_symbol *s = &x->symbols[symbol];
	const struct without w = count_without(x, symbol);
	struct code_text code = {
		.a = &x->a, .out = out, .unit = "Ticks", .total = s->ticks,
		.only_hit = true, .hide_inlined = true };
	struct buf b = BUF_INIT;
	bool any = false;
	size_t i;

	measures_put_percent(&b, s->ticks, x->total);
	fprintf(out, "\n   SYM %6" PRIu64 " %5s    ", s->ticks, b.data);
	buf_reset(&b);
	quote_add(&b, s->name);
	buf_str(&b, " in ");
	quote_add(&b, s->module);
	fprintf(out, "%s\n", b.data);
	for (i = 0; i < x->a.nr_codes; i++) {
		if (x->symbol_of[x->a.codes[i].function] != symbol)
			continue;
		code_print(&code, i);
		any = true;
	}
	if (!any) {
		putc('\n', out);
		code_begin(&code, "");
	}
	text_without(&code, w.interpreted, WHY_INTERPRETED);
	text_without(&code, w.no_code, WHY_NO_CODE);
	text_without(&code, w.no_function, WHY_NO_FUNCTION);
	buf_release(&code.b);
	buf_release(&b);
}

void micro_text(const struct micro *x, FILE *out)
{
	struct buf b = BUF_INIT;
	uint64_t shown = 0;
	size_t i;

	for (i = 0; i < x->nr_symbols; i++)
		shown += x->symbols[i].ticks;
	measures_put_percent(&b, shown, x->total);
	fprintf(out, "   ================================\n    )) Micro\n"
		     "   ================================\n\n"
		     "   %zu symbol%s with %s %% of all ticks; %% :: of the symbol's ticks;\n"
		     "   Offset :: from the start of its code; a tick is often a few instructions late (skid),\n"
		     "             and in kernel code that disables interrupts where it enables them again\n",
		x->nr_symbols, plural(x->nr_symbols), b.data + strspn(b.data, " "));
	for (i = 0; i < x->nr_symbols; i++)
		text_symbol(x, i, out);
	putc('\n', out);
	buf_release(&b);
}

/* ---- JSON ---- */

static void json_text(struct json *j, const struct disasm_insn *insn, const char *why)
{
	json_str(j, "text", insn ? insn->text : NULL);
	json_str(j, "bytes", insn ? insn->bytes : NULL);
	json_str(j, "not_disassembled", insn ? NULL : why);
	json_end(j);
}

static void json_code(const struct micro *x, size_t code, struct json *j)
{
	const struct annotate_code *c = &x->a.codes[code];
	const struct part r = code_insns(&x->a, code);
	struct disasm d;
	struct err e;
	int fail = code_disassemble(&x->a, c, false, &d, &e);
	size_t i;

	for (i = r.first; i < r.end; i++) {
		const struct annotate_insn *hit = &x->a.insns[i];

		json_object(j, NULL);
		json_u64(j, "code_start", c->range.start);
		json_u64(j, "offset", hit->off);
		json_u64(j, "ticks", hit->n);
		json_str(j, "file", hit->file ? model_str(&x->m, hit->file) : NULL);
		json_u64_known(j, "line", hit->line, hit->line);
		json_text(j, code_find_insn(&d, hit->off), fail ? e.msg : "no instruction begins there");
	}
	disasm_release(&d);
}

static void json_without(uint64_t n, const char *why, struct json *j)
{
	if (!n)
		return;
	json_object(j, NULL);
	json_null(j, "code_start");
	json_null(j, "offset");
	json_u64(j, "ticks", n);
	json_null(j, "file");
	json_null(j, "line");
	json_text(j, NULL, why);
}

static void json_symbol(const struct micro *x, size_t symbol, struct json *j)
{
	const struct without w = count_without(x, symbol);
	size_t i;

	json_object(j, NULL);
	json_str(j, "module", x->symbols[symbol].module);
	json_str(j, "name", x->symbols[symbol].name);
	json_u64(j, "ticks", x->symbols[symbol].ticks);
	json_array(j, "offsets");
	for (i = 0; i < x->a.nr_codes; i++)
		if (x->symbol_of[x->a.codes[i].function] == symbol)
			json_code(x, i, j);
	json_without(w.interpreted, WHY_INTERPRETED, j);
	json_without(w.no_code, WHY_NO_CODE, j);
	json_without(w.no_function, WHY_NO_FUNCTION, j);
	json_end(j);
	json_end(j);
}

void micro_json(const struct micro *x, struct json *j)
{
	size_t i;

	json_array(j, "micro");
	for (i = 0; i < x->nr_symbols; i++)
		json_symbol(x, i, j);
	json_end(j);
}
