// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * annotate.c - functions by source line and by instruction: what samples hit, and the text of it where this
 * machine has the source, the program and objdump.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/quote.h"
#include "model/annotate.h"
#include "model/origin.h"
#include "report/code.h"
#include "report/report.h"
#include "report/sheet.h"
#include "sym/source.h"

struct annotate_own {
	struct opt_list sources;
	uint64_t around;
	bool confined;
};

struct printer {
	const struct annotate *a;
	const struct model *m;
	const struct report_opts *o;
	const struct annotate_own *own;
	const struct origin *origin;
	FILE *out;
	struct sheet sheet;
	struct buf b, text;		/* scratch */
	const struct annotate_function *f;	/* the one being printed */
	struct part ways, lines, codes;	/* what it has */
};

/* ---- what both kinds of format say ---- */

static const char *annotate_report_text_of(const struct printer *p, uint32_t id)
{
	return id ? model_str(p->m, id) : NULL;
}

/*
 * Set the range of one function's rows, from where the last range ended; rows begin with the function's
 * index, in order.
 */
#define PART(p, what, i)                                                                             \
	do {                                                                                         \
		(p)->what.first = (p)->what.end;                                                     \
		while ((p)->what.end < (p)->a->nr_##what && (p)->a->what[(p)->what.end].function == (i)) \
			(p)->what.end++;                                                             \
	} while (0)

static void next_function(struct printer *p, size_t i)
{
	p->f = &p->a->functions[i];
	PART(p, ways, i);
	PART(p, lines, i);
	PART(p, codes, i);
}

/* Return the package of a Java method's class as a folder; "" for other functions. */
static char *package_of(const struct printer *p)
{
	char *name = xstrdup(p->f->module ? "" : model_str(p->m, p->f->name)), *at;
	size_t cut;

	for (cut = 0; cut < 2; cut++) {	/* the method, then the class */
		at = strrchr(name, '.');
		if (!at)
			at = name;
		*at = '\0';
	}
	for (at = name; (at = strchr(at, '.'));)
		*at = '/';
	return name;
}

/*
 * Open the source file that a compiler called name; with --confined only below --source, as the trace may be
 * someone else's.
 */
static void open_source(const struct printer *p, struct source *s, const char *name, const char *package)
{
	if (p->own->confined)
		source_open_below(s, name, package, &p->own->sources);
	else
		source_open(s, name, package, &p->own->sources);
}

static bool is_newer(const struct printer *p, const struct source *s)
{
	return s->path && p->origin->start_ns && s->mtime_ns > p->origin->start_ns;
}

/* ---- text ---- */

static void put_way(const struct printer *p, const struct annotate_way *w, struct buf *b)
{
	static const char *const kinds[CONSUMER_NR] = {
		[CONSUMER_JAVA_INTERPRETED] = "interpreted", [CONSUMER_JAVA_COMPILED] = "compiled",
		[CONSUMER_JAVA_C1] = "compiled by C1", [CONSUMER_JAVA_C2] = "compiled by C2",
	};

	if (w->into) {
		buf_fmt(b, "inlined into %s", model_str(p->m, w->into));
	} else {
		buf_str(b, kinds[w->kind] ? kinds[w->kind] : "its own code");
	}
}

/* The first columns of both tables. */
#define SAMPLES { NULL, "Samples", 8 }, { NULL, "%", 7, 2 }, { NULL, "Cum", 8 }, { NULL, "%Cum", 7, 2 }
enum { NR_SAMPLES = 4 };

static void set_samples(struct printer *p, uint64_t n, uint64_t cum, struct cell *c)
{
	code_set_samples(c, n, p->f->n);
	code_set_samples(c + 2, cum, p->f->cum);
}

static void print_ways(struct printer *p)
{
	static const struct sheet_column columns[] = { SAMPLES, { NULL, "How it ran", .before = "  " } };
	struct cell c[ARRAY_SIZE(columns)];
	size_t i;

	sheet_columns(&p->sheet, columns, ARRAY_SIZE(columns));
	for (i = p->ways.first; i < p->ways.end; i++) {
		const struct annotate_way *w = &p->a->ways[i];

		buf_reset(&p->b);
		put_way(p, w, &p->b);
		set_samples(p, w->n, w->cum, c);
		c[NR_SAMPLES] = cell_text(p->b.data);
		sheet_row(&p->sheet, NULL, c);
	}
}

/* Append a line, with tabs expanded to eight columns. */
static void put_source(struct buf *b, const char *s)
{
	size_t column = 0;

	for (; *s; s++) {
		do
			buf_putc(b, *s == '\t' ? ' ' : *s);
		while (++column % 8 && *s == '\t');
	}
}

static const struct sheet_column line_columns[] = {
	SAMPLES, { NULL, "Line", 6 }, { NULL, "Source", .before = "  " },
};

static void annotate_report_print_line(struct printer *p, const struct source *s, uint32_t line, uint64_t n,
				       uint64_t cum)
{
	struct cell c[ARRAY_SIZE(line_columns)];

	buf_reset(&p->b);
	buf_str(&p->b, "");
	if (source_line(s, line, &p->text) && p->text.len)
		put_source(&p->b, p->text.data);
	set_samples(p, n, cum, c);
	c[NR_SAMPLES] = line ? cell_u64(line) : cell_absent;
	c[NR_SAMPLES + 1] = cell_text(p->b.data);
	sheet_row(&p->sheet, NULL, c);
}

/* Print a line, and below it how it ran if that differs; return the first row of the next line. */
static size_t print_line_rows(struct printer *p, const struct source *s, size_t first)
{
	const struct annotate_line *l = &p->a->lines[first];
	struct cell c[ARRAY_SIZE(line_columns)];
	uint64_t n = 0, cum = 0;
	size_t end, i;

	for (end = first; end < p->lines.end && p->a->lines[end].file == l->file &&
	     p->a->lines[end].line == l->line; end++) {
		n += p->a->lines[end].n;
		cum += p->a->lines[end].cum;
	}
	annotate_report_print_line(p, s, l->line, n, cum);
	for (i = first; i < end && p->ways.end - p->ways.first > 1; i++) {
		buf_reset(&p->b);
		buf_str(&p->b, "  ");
		put_way(p, &p->a->ways[p->a->lines[i].way], &p->b);
		set_samples(p, p->a->lines[i].n, p->a->lines[i].cum, c);
		c[NR_SAMPLES] = cell_text("");
		c[NR_SAMPLES + 1] = cell_text(p->b.data);
		sheet_row(&p->sheet, NULL, c);
	}
	return end;
}

/* Print the lines without samples between two numbers, as far as the file has them. */
static void print_between(struct printer *p, const struct source *s, uint64_t from, uint64_t to)
{
	for (; from <= to && from <= s->nr_lines; from++)
		annotate_report_print_line(p, s, from, 0, 0);
}

static void print_around(struct printer *p, const struct source *s, uint64_t before, uint64_t line,
			 bool first)
{
	uint64_t around = p->own->around, from = line > around ? line - around : 1, to = before + around;

	if (!first && from <= to + 2) {	/* the gap is no longer than what would say so */
		print_between(p, s, before + 1, line - 1);
		return;
	}
	if (!first) {
		print_between(p, s, before + 1, to);
		fputs("     ...\n", p->out);
	}
	print_between(p, s, from, line - 1);
}

static void print_file_head(struct printer *p, const char *name, const struct source *s)
{
	buf_reset(&p->b);
	quote_add(&p->b, s->path ? s->path : name);
	if (!s->path)
		buf_str(&p->b, " (not found; --source says where to look)");
	else if (is_newer(p, s))
		buf_str(&p->b, " (changed after the recording began: lines may not fit)");
	fprintf(p->out, "\n%s\n", p->b.data);
	sheet_columns(&p->sheet, line_columns, ARRAY_SIZE(line_columns));
}

/* Print the lines of one file; return the first row of the next. */
static size_t print_file(struct printer *p, size_t first)
{
	const struct annotate_line *l = p->a->lines;
	const char *name = annotate_report_text_of(p, l[first].file);
	char *package = package_of(p);
	uint64_t before = 0;
	struct source s;
	size_t i = first;

	open_source(p, &s, name ? name : "", package);
	if (name) {
		print_file_head(p, name, &s);
	} else {
		fprintf(p->out, "\nno source file is known\n");
		sheet_set_columns(&p->sheet, line_columns, ARRAY_SIZE(line_columns));
	}
	while (i < p->lines.end && l[i].file == l[first].file) {
		if (l[i].line)
			print_around(p, &s, before, l[i].line, !before);
		before = l[i].line;
		i = print_line_rows(p, &s, i);
	}
	if (before)
		print_between(p, &s, before + 1, before + p->own->around);
	source_release(&s);
	free(package);
	return i;
}

static void print_function(struct printer *p)
{
	struct code_text code = {
		.a = p->a, .out = p->out, .unit = "Samples", .total = p->f->n, .around = p->own->around,
		.confined = p->own->confined };
	struct buf *b = &p->b;
	size_t i;

	buf_reset(b);
	quote_add(b, model_str(p->m, p->f->name));
	if (p->f->module) {
		buf_str(b, " in ");
		quote_add(b, model_str(p->m, p->f->module));
	}
	buf_fmt(b, ": %" PRIu64 " sample%s, %.1f %% of all; with what it calls %" PRIu64 ", %.1f %%", p->f->n,
		plural(p->f->n), p->f->n * 100.0 / p->a->n, p->f->cum, p->f->cum * 100.0 / p->a->n);
	fprintf(p->out, "\n%s\n\n", b->data);
	print_ways(p);
	for (i = p->lines.first; i < p->lines.end;)
		i = print_file(p, i);
	for (i = p->codes.first; i < p->codes.end; i++)
		code_print(&code, i);
	buf_release(&code.b);
}

static void text_head(struct printer *p)
{
	const struct origin *o = p->origin;
	struct buf *b = &p->b;

	if (o->imported) {
		buf_str(b, "imported from ");
		quote_add(b, o->imported);
		buf_str(b, ": ");
	}
	buf_fmt(b, "%" PRIu64 " samples of ", p->a->n);
	quote_add(b, model_str(p->m, p->m->metrics[0].name));
	buf_str(b, " over ");
	report_put_duration(b, o->duration_ns);
	buf_str(b, ", ");
	report_put_lost(o->lost, o->stopped_ns, o->nr_after, b);
	if (o->command) {
		buf_str(b, "; ");
		quote_add(b, o->command);
	}
	fprintf(p->out, "%s\n", b->data);
	report_print_filter(p->o->select.filter, p->a->nr_left_out, "sample", p->out);
	fprintf(p->out, " Units :: samples; %% :: of the function's; Cum :: with what is called from there\n");
}

/* ---- CSV and JSON ---- */

enum { ROW_WAY, ROW_LINE, ROW_INSN };

struct cells {
	int row;
	const struct annotate_way *way;
	uint32_t file, line;
	const struct annotate_code *code;
	uint64_t off, n, cum;
	const char *text, *bytes;
	const char *why;	/* of an instruction: why there is no text; NULL: there is */
};

static void annotate_report_add_row(struct printer *p, const struct cells *c)
{
	static const char *const rows[] = { "way", "line", "instruction" };
	bool insn = c->row == ROW_INSN;

	sheet_row(&p->sheet, NULL, (const struct cell[]){
		cell_text(model_str(p->m, p->f->name)),
		cell_text(annotate_report_text_of(p, p->f->module)),
		cell_text(rows[c->row]),
		cell_text(consumer_kind_name(insn ? c->code->kind : c->way->kind)),
		insn ? cell_absent : cell_text(annotate_report_text_of(p, c->way->into)),
		c->row == ROW_WAY ? cell_absent : cell_text(annotate_report_text_of(p, c->file)),
		c->row == ROW_WAY ? cell_absent : c->line ? cell_u64(c->line) : cell_none,
		insn ? cell_text(model_str(p->m, c->code->name)) : cell_absent,
		insn ? cell_u64(c->code->range.start) : cell_absent,
		insn ? cell_u64(c->off) : cell_absent,
		cell_u64(c->n),
		insn ? cell_absent : cell_u64(c->cum),
		c->row == ROW_WAY ? cell_absent : cell_text(c->text),
		insn ? cell_text(c->bytes) : cell_absent,
		insn ? cell_text(c->why) : cell_absent,
	});
}

static void add_lines(struct printer *p)
{
	const struct annotate_line *l = p->a->lines;
	char *package = package_of(p);
	struct source s = { .path = NULL };
	const char *text;
	size_t i;

	for (i = p->lines.first; i < p->lines.end; i++) {
		if (i == p->lines.first || l[i].file != l[i - 1].file) {
			source_release(&s);
			open_source(p, &s, l[i].file ? model_str(p->m, l[i].file) : "", package);
		}
		text = !source_line(&s, l[i].line, &p->text) ? NULL : p->text.len ? p->text.data : "";
		annotate_report_add_row(p, &(struct cells){
					.row = ROW_LINE, .way = &p->a->ways[l[i].way], .file = l[i].file,
					.line = l[i].line, .n = l[i].n, .cum = l[i].cum, .text = text });
	}
	source_release(&s);
	free(package);
}

static void add_code(struct printer *p, size_t code)
{
	const struct annotate_code *c = &p->a->codes[code];
	struct part r = code_insns(p->a, code);
	const struct disasm_insn *insn;
	struct disasm d;
	struct err e;
	size_t i;
	bool fails = code_disassemble(p->a, c, p->own->confined, &d, &e);

	for (i = r.first; i < r.end; i++) {
		const struct annotate_insn *hit = &p->a->insns[i];

		insn = code_find_insn(&d, hit->off);
		annotate_report_add_row(p, &(struct cells){
					.row = ROW_INSN, .code = c, .off = hit->off, .n = hit->n,
					.file = hit->file,
					.line = hit->line, .text = insn ? insn->text : NULL,
					.bytes = insn ? insn->bytes : NULL,
					.why = insn ? NULL : fails ? e.msg : "no instruction begins there" });
	}
	disasm_release(&d);
}

static void annotate_report_add_function(struct printer *p)
{
	struct json *j = &p->sheet.json;
	size_t i;

	json_object(j, NULL);
	json_str(j, "name", model_str(p->m, p->f->name));
	json_str(j, "module", annotate_report_text_of(p, p->f->module));
	json_u64(j, "samples", p->f->n);
	json_u64(j, "cum", p->f->cum);
	json_array(j, "rows");
	for (i = p->ways.first; i < p->ways.end; i++)
		annotate_report_add_row(p, &(struct cells){ .row = ROW_WAY, .way = &p->a->ways[i],
					.n = p->a->ways[i].n,
					    .cum = p->a->ways[i].cum });
	add_lines(p);
	for (i = p->codes.first; i < p->codes.end; i++)
		add_code(p, i);
	json_end(j);
	json_end(j);
}

static void annotate_report_json_head(struct printer *p)
{
	struct json *j = &p->sheet.json;

	report_json_begin(j, "annotate");
	json_object(j, "source");
	json_str(j, "command", p->origin->command);
	json_str(j, "host", p->origin->host);
	json_u64(j, "elapsed_ns", p->origin->duration_ns);
	json_u64(j, "lost", p->origin->lost);
	report_json_stopped(p->origin->stopped_ns, p->origin->nr_after, j);
	report_json_filter(p->o->select.filter, p->a->nr_left_out, j);
	json_end(j);
	json_str(j, "event", model_str(p->m, p->m->metrics[0].name));
	json_u64(j, "samples", p->a->n);
}

/* ---- the whole ---- */

static void annotate_report_print_all(struct printer *p)
{
	static const struct sheet_column columns[] = {
		{ "function", .outer = true }, { "module", .outer = true }, { "row" }, { "kind" }, { "into" },
		{ "file" }, { "line" }, { "code" }, { "code_start" }, { "offset" }, { "samples" }, { "cum" },
		{ "text" }, { "bytes" }, { "not_disassembled" },
	};
	bool text = p->o->format == FORMAT_TEXT;
	size_t i;

	sheet_init(&p->sheet, p->o->format, p->out);
	sheet_choose(&p->sheet, &p->o->choice);
	p->sheet.trim = true;
	if (text) {
		text_head(p);
	} else {
		annotate_report_json_head(p);
		sheet_columns(&p->sheet, columns, ARRAY_SIZE(columns));
		json_array(&p->sheet.json, "functions");
	}
	for (i = 0; i < p->a->nr_functions && !(p->o->limit && i >= p->o->limit); i++) {
		next_function(p, i);
		if (text)
			print_function(p);
		else
			annotate_report_add_function(p);
	}
	if (!text) {
		json_end(&p->sheet.json);
		report_json_hidden(&p->sheet.json, p->a->nr_functions - i);
		json_end(&p->sheet.json);
	}
	sheet_end(&p->sheet);
}

/* Names that have it in them come before those that are spelled alike. */
static int unknown_function(const struct annotate *a, const char *pattern, struct err *e)
{
	const struct consumers *all = &a->names->m->consumers;
	struct near near = near_init(pattern);
	const char *part = NULL;
	size_t i;

	for (i = 1; i < all->nr_items; i++) {
		const char *name = consumer_name(all, i);

		if (!annotate_is_function(&all->items[i]))
			continue;
		if (strstr(name, pattern) && (!part || strlen(name) < strlen(part)))
			part = name;
		near_try(&near, name);
	}
	err_set(e, ENOENT, "no sample is in a function '%s'", pattern);
	if (part)
		err_hint(e, "did you mean '%s'? '*' stands for any part of a name, as in '*%s*'", part,
			 pattern);
	else if (near.best)
		err_hint(e, "did you mean '%s'?", near.best);
	return -ENOENT;
}

static int annotate_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	const struct annotate_opts ao = {
		.pattern = o->argument, .select = &o->select,
		.metrics = &o->profile->metrics,
	};
	const struct resolve_opts ro = {
		.signatures = o->profile->names.signatures, .hide_inlined = o->profile->names.hide_inlined,
		.hide_kernel = o->profile->names.hide_kernel, .lines = true, .by_kind = true,
		.code = true,
	};
	struct origin origin;
	struct annotate a;
	struct names x;
	struct model m;
	int r;

	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&x, &m, &ro);
	r = annotate_read(&a, &x, t, &ao, e);
	if (!r && a.n && !a.nr_functions)
		r = unknown_function(&a, ao.pattern, e);
	if (!r) {
		struct printer p = { .a = &a, .m = &m, .o = o, .own = o->own, .origin = &origin, .out = out };

		origin_fill(&origin, &x, a.first_ns, a.last_ns);
		annotate_report_print_all(&p);
		buf_release(&p.b);
		buf_release(&p.text);
		r = !a.nr_functions;
	}
	annotate_release(&a);
	names_release(&x);
	model_release(&m);
	return r;
}

static int annotate_report_check(const struct report_opts *o, struct err *e)
{
	if (o->choice.columns.nr_items && o->format == FORMAT_TEXT)
		return err_set(e, EINVAL, "--columns: of --annotate text is the source itself; --format=csv and json have columns");
	return 0;
}

#define O struct annotate_own
static const struct opt opts[] = {
	OPT_LIST(0, "source", O, sources, "dir", "look for source files in <dir>"),
	OPT_U64(0, "around", O, around, "n", "2", "lines and instructions to show around those with samples"),
	OPT_FLAG(0, "confined", O, confined, "read source files below --source only, and run no objdump"),
	OPT_END
};
#undef O

static const struct report_reason reasons[] = {
	{ "symbol", "its argument names the functions" },
	{ NULL, NULL },
};

const struct report report_annotate = {
	.name = "annotate",
	.help = "show source lines and instructions of a function",
	.argument = "function",
	.formats = FORMATS_TABLE,
	.legend = "\n A sample is often a few instructions late (skid): the one before it may be the slow one.\n"
		  " Kernel code that disables interrupts has its samples where it enables them again.\n",
	.opts_title = "For --annotate",
	.opts = opts,
	.opts_size = sizeof(struct annotate_own),
	.check = annotate_report_check,
	.filters = RULES_ALL,
	.has_functions = true,
	.needs = "a trace with samples",
	.follows = FOLLOWS_THREADS FOLLOWS_TIMES
		   "columns module cpu metric limit hide-inlined hide-kernel signatures",
	.reasons = reasons,
	.print_trace = annotate_print,
};
