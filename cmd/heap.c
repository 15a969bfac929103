// SPDX-License-Identifier: GPL-2.0-or-later
/* heap.c - "arcprof heap": what fills the heap of a JVM, from a dump. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd.h"
#include "heap/classpath.h"
#include "heap/contexts.h"
#include "heap/tree.h"
#include "heap_join.h"
#include "jvm/heapdump.h"
#include "output.h"
#include "page/page.h"
#include "report/difference.h"
#include "report/report.h"
#include "show/heap.h"

enum heap_report {
	HEAP_DEFAULT, HEAP_XPROF, HEAP_XTREE, HEAP_XARC, HEAP_HISTOGRAM, HEAP_LOADERS, HEAP_WASTE,
};

struct heap_opts {
	const char *output, *object, *join, *class_path;
	uint64_t pid;
	bool all, samples;
	int report, format, collapse, fold, by;
	struct sheet_choice choice;
	bool soft, containment;
	uint64_t limit;
	double prune;
	struct opt_list symbols, threads, paths, objects;
};

static const char *const collapses[] = { "self", "path", "none", NULL };
static const char *const folds[] = { "none", "package", NULL };
static const char *const bys[] = { "class", "field", NULL };
static const char *const sorts[] = { "cum", "base", "n", "name" };	/* from SORT_CUM on */

#define O struct heap_opts
static const struct opt heap_table[] = {
	OPT_GROUP("Dump"),
	OPT_COUNT('p', "pid", O, pid, "pid", NULL, "process ID of the JVM to dump"),
	OPT_FLAG(0, "all", O, all, "dump all objects, including garbage"),
	OPT_FLAG(0, "samples", O, samples, "mark the objects that a running 'record -e live' has sampled, for 'report --join'"),
	OPT_GROUP("Report"),
	OPT_SET(0, "xprof", O, report, HEAP_XPROF, "classes with their objects, sizes and retained sizes"),
	OPT_SET(0, "xtree", O, report, HEAP_XTREE, "the dominator tree, by class"),
	OPT_SET(0, "xarc", O, report, HEAP_XARC, "each class with what retains it and what it retains"),
	OPT_SET(0, "histogram", O, report, HEAP_HISTOGRAM, "classes with their objects and sizes, without retained sizes"),
	OPT_SET(0, "loaders", O, report, HEAP_LOADERS, "class loaders with their classes, objects and retained sizes"),
	OPT_SET(0, "waste", O, report, HEAP_WASTE, "equal texts, arrays and numbers, arrays of zeros, and empty slots of arrays"),
	OPT_LIST(0, "objects", O, objects, "class", "the objects of these classes that retain most"),
	OPT_STR(0, "object", O, object, "id", NULL, "one object: its fields, what keeps it, and what refers to it"),
	OPT_LIST(0, "paths", O, paths, "class", "the shortest paths from the roots to all objects of these classes (as --xtree)"),
	OPT_FORMAT(O, format, FORMATS_TABLE | (FORMATS_OF_TREE & ~FORMATS_OF_TIMES),
		   "output format; those after csv show the whole tree, for other programs"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file>; 'dump' needs it"),
	OPT_STR(0, "sort", O, choice.sort, "key", "cum", "sort rows by this key: cum, base, n, name, or a column"),
	OPT_COLUMNS(O, choice),
	OPT_COUNT(0, "limit", O, limit, "n", NULL, "show at most <n> rows, or stanzas of xarc"),
	OPT_DOUBLE(0, "prune", O, prune, "percent", NULL, "fold contexts that retain less than <percent>"),
	OPT_GROUP("Tree"),
	OPT_FLAG(0, "containment", O, containment, "show each object below the first one that refers to it on the way from the roots, not below its dominator"),
	OPT_STR(0, "join", O, join, "trace", NULL, "show where objects were allocated instead of their classes, from the samples in <trace>"),
	OPT_ENUM(0, "by", O, by, bys, "class", "what a context is: a class, or a field with the class of what it holds"),
	OPT_STR(0, "class-path", O, class_path, "path", NULL, "with --by=field, take names of local variables from these folders and JARs, as in java -cp"),
	OPT_ENUM(0, "collapse", O, collapse, collapses, "self", "show an object in the row of its dominator of the same class: if that is the next one, if it is on the path, or never"),
	OPT_ENUM(0, "fold", O, fold, folds, "none", "show packages in place of classes"),
	OPT_ON("soft", O, soft, "let soft references keep objects alive"),
	OPT_LIST(0, "symbol", O, symbols, "name", "only what these classes retain"),
	OPT_LIST(0, "thread", O, threads, "name", "only what these threads retain"),
	OPT_END
};
#undef O

static bool is_end_of_path(const void *ctx, const char *class)
{
	return select_name(ctx, class);
}

static const struct report *report_of(const struct heap_opts *o)
{
	static const struct report *const of[] = { [HEAP_XPROF] = &report_xprof, [HEAP_XTREE] = &report_xtree,
		[HEAP_XARC] = &report_xarc };

	if (o->report == HEAP_DEFAULT)
		return o->paths.nr_items || o->join ? &report_xtree : &report_xprof;
	return of[o->report];
}

/* Return the table that was asked for, or NULL. */
static const char *table_asked(const struct heap_opts *o)
{
	if (o->object)
		return "object";
	if (o->objects.nr_items)
		return "objects";
	return o->report == HEAP_HISTOGRAM ? "histogram" : o->report == HEAP_LOADERS ? "loaders" :
	       o->report == HEAP_WASTE ? "waste" : NULL;
}

/* Return the enum report_sort, or -1 for a column, as each name belongs to a table other than the default. */
static int sort_of(const struct heap_opts *o)
{
	size_t i;

	for (i = 0; i < (table_asked(o) ? 1 : ARRAY_SIZE(sorts)); i++)
		if (!strcmp(o->choice.sort, sorts[i]))
			return SORT_CUM + i;
	return -1;
}

static struct sheet_choice choice_of(const struct heap_opts *o)
{
	return (struct sheet_choice){ o->choice.columns, sort_of(o) < 0 ? o->choice.sort : NULL, o->limit };
}

/* --- what the reader must know of the dump --- */

static void note_facts(struct heap_notes *n, const struct heap *h, const struct heap_tree_facts *f,
		       bool paths)
{
	if (paths && f->nr_lost)
		heap_add_note(n, xasprintf("%" PRIu32 " more object%s of these classes that no root reaches",
					   f->nr_lost, plural(f->nr_lost)));
	else if (paths)
		return;
	else if (f->no_roots)
		heap_add_note(n, xasprintf("the dump has no roots: what nothing refers to is below %s",
				      contexts_lost_name(h)));
	else if (f->nr_lost)
		heap_add_note(n, xasprintf("%" PRIu32 " object%s that no root reaches: below %s",
				      f->nr_lost, plural(f->nr_lost), contexts_lost_name(h)));
}

/* --- the reports --- */

static struct heap_tree_opts tree_opts(const struct heap_opts *o)
{
	return (struct heap_tree_opts){
		.shape = o->paths.nr_items ? HEAP_PATHS : o->containment ? HEAP_CONTAINMENT : HEAP_DOMINATORS,
		.fold = o->collapse, .keep_soft = o->soft, .by_field = o->by,
		.paths_to = o->paths.nr_items ? is_end_of_path : NULL, .ctx = &o->paths,
	};
}

/* A heap as the options want to see it. */
struct shown {
	struct profile_opts profile;
	struct report_opts report;
	struct heap_notes notes;
	size_t nr_of_dump;		/* the first ones, of which heap_warn() speaks, too */
	struct heap_join join;
	struct classpath *classes;
	struct origin_fact facts[HEAP_JOIN_FACTS];
	struct origin origin;
	struct model model;
	struct view view;
};

static void shown_release(struct shown *x)
{
	view_release(&x->view);
	heap_notes_release(&x->notes);
	model_release(&x->model);
	heap_join_release(&x->join);
	classpath_free(x->classes);
}

/* *x is released by the caller in any case. */
static int shown_init(struct shown *x, struct heap *h, const struct heap_opts *o, struct err *e)
{
	struct heap_tree_opts to = tree_opts(o);
	struct heap_tree_facts facts;
	int r = 0;

	*x = (struct shown){ .report = {
		.report = report_of(o), .format = o->format, .limit = sort_of(o) < 0 ? 0 : o->limit,
		.choice = choice_of(o), .prune = o->prune,
		.width = term_width(), .fold = o->fold ? FOLD_PACKAGE : FOLD_NONE,
		.sort = MAX(sort_of(o), 0), .profile = &x->profile,
		.select = { .symbols = o->symbols, .threads = o->threads },
	} };
	if (o->join) {
		r = heap_join(&x->join, h, o->join, e);
		to.origins = &x->join.origins;
	}
	if (!r && o->class_path) {
		x->classes = classpath_open(o->class_path, e);
		r = x->classes ? 0 : -e->code;
		to.classes = x->classes;
	}
	if (!r)
		r = heap_tree(h, &to, &x->model, &facts, e);
	if (r)
		return r;
	heap_note_dump(&x->notes, h);
	x->nr_of_dump = x->notes.nr;
	if (o->join) {
		heap_add_note(&x->notes, heap_join_note(&x->join, h, &facts.origins));
		heap_join_facts(&x->join, h, &facts.origins, x->facts);
	}
	note_facts(&x->notes, h, &facts, o->paths.nr_items);
	x->origin = (struct origin){ .start_ns = h->dump.time_ms * 1000000,
				     .notes = (const char *const *)x->notes.items, .nr_notes = x->notes.nr,
				     .facts = x->facts, .nr_facts = o->join ? HEAP_JOIN_FACTS : 0 };
	r = view_init(&x->view, &x->model, &x->origin, &x->report, e);
	if (!r && x->model.flow.nr_nodes <= 1)
		r = err_set(e, ENOENT, "nothing matches --paths, --symbol and --thread");
	return r;
}

static int print_tree(struct heap *h, const struct heap_opts *o, struct err *e)
{
	struct shown x;
	size_t i;
	int r = shown_init(&x, h, o, e);

	/* rows have no place for them */
	for (i = x.nr_of_dump; !r && o->format == FORMAT_CSV && i < x.notes.nr; i++)
		log_info("%s", x.notes.items[i]);
	if (!r)
		r = report_print(&x.view, stdout, e);
	shown_release(&x);
	return r;
}

static struct heap_table_opts table_opts(const struct heap_opts *o)
{
	return (struct heap_table_opts){ .format = o->format, .out = stdout, .limit = o->limit,
		.keep_soft = o->soft, .classes = &o->objects, .object = o->object, .choice = choice_of(o) };
}

/* Print both trees, the requested one first, and the tables. Paths to some objects stand alone. */
static int print_page(const char *path, struct heap *h, const struct heap_opts *o, struct err *e)
{
	const struct heap_table_opts ho = table_opts(o);
	const bool paths = o->paths.nr_items;
	const char *trees = paths ? "paths" : o->containment ? "containment,dominators" :
			    "dominators,containment";
	struct heap_opts tree = *o, turned;
	struct shown x, y = { .report = { 0 } };
	struct page_more more = { .other = paths ? NULL : &y.view };
	char *json = NULL;
	struct heap again;
	int r;

	tree.report = HEAP_XPROF;
	turned = tree;
	turned.containment = !o->containment;
	r = shown_init(&x, h, &tree, e);
	if (!r && !paths) {
		r = heap_open(&again, path, e);
		if (!r)
			r = shown_init(&y, &again, &turned, e);
		heap_release(&again);
	}
	if (!r)
		r = heap_page_json(path, &ho, trees, table_asked(o), &json, e);
	more.json = json;
	if (!r)
		r = page_print(&x.view, &more, stdout, e);
	free(json);
	shown_release(&x);
	shown_release(&y);
	return r;
}

static int print_heap_table(struct heap *h, const struct heap_opts *o, struct err *e)
{
	int (*print)(struct heap *h, const struct heap_table_opts *o, struct err *e) =
		o->object ? heap_print_object : o->objects.nr_items ? heap_print_objects :
		o->report == HEAP_HISTOGRAM ? heap_print_histogram :
		o->report == HEAP_LOADERS ? heap_print_loaders : heap_print_waste;
	struct heap_table_opts ho = table_opts(o);
	struct sheet_held held;

	ho.out = sheet_hold(&held, &ho.choice, stdout);
	ho.choice = held.choice;
	return sheet_let_go(&held, print(h, &ho, e), e);
}

static int print_heap(const char *path, struct heap *h, const struct heap_opts *o, struct err *e)
{
	if (o->format == FORMAT_HTML)
		return print_page(path, h, o, e);
	if (table_asked(o))
		return print_heap_table(h, o, e);
	return o->format == FORMAT_HPROF ? heap_print_hprof_dump(h, stdout, e) : print_tree(h, o, e);
}

/*
 * Check the columns: rows follow --columns, and --sort by any of them; a page, and one object, have others.
 */
static int check_choice(const struct heap_opts *o)
{
	const struct report *r = report_of(o);
	const char *option = o->choice.columns.nr_items ? "columns" : sort_of(o) < 0 ? "sort" : NULL;

	if (!option)
		return 0;
	if (o->object || !format_in(FORMATS_TABLE, o->format))
		log_error("--%s is for tables: of --object, and of a page, it chooses nothing", option);
	else if (sort_of(o) < 0 && !table_asked(o) && r != &report_xprof)
		log_error("--sort=%s: --%s is sorted by cum, base, n or name", o->choice.sort, r->name);
	else
		return 0;
	return EXIT_USAGE;
}

/* Check the format: tables have fewer than trees. */
static int check_format(const struct heap_opts *o)
{
	const char *what = o->object ? "--object" : o->objects.nr_items ? "--objects" :
			   o->report >= HEAP_HISTOGRAM ? "this table" : NULL;
	unsigned int formats = (o->object ? FORMATS_TEXT_JSON : FORMATS_TABLE) | FORMAT_BIT(FORMAT_HTML);

	if (o->format == FORMAT_HPROF && (o->paths.nr_items || o->symbols.nr_items || o->threads.nr_items)) {
		log_error("--format=hprof has all objects: --paths, --symbol and --thread do not select");
		return EXIT_USAGE;
	}
	if (o->report == HEAP_HISTOGRAM)
		formats |= FORMAT_BIT(FORMAT_HPROF);
	if (o->join && (what || o->paths.nr_items || o->by || o->format == FORMAT_HPROF)) {
		log_error("--join is for --xtree, --xarc and --xprof, without --paths and --by");
		return EXIT_USAGE;
	}
	if (!what || format_in(formats, o->format))
		return 0;
	log_error("--format=%s is not for %s, which has text%s json and html", format_get(o->format)->name,
		  what, o->object ? "," : ", csv,");
	return EXIT_USAGE;
}

static bool counts_alone(const struct heap_opts *o)
{
	return o->report == HEAP_HISTOGRAM && o->format != FORMAT_HTML && !o->object && !o->objects.nr_items;
}

static int show_heap(const char *path, const struct heap_opts *o)
{
	struct output out;
	struct heap h;
	struct err e;
	int r, status = check_format(o);

	if (!status)
		status = check_choice(o);
	if (status)
		return status;
	if (output_begin(&out, o->output, &e))
		return log_err(&e);
	r = counts_alone(o) ? heap_count_open(&h, path, &e) : heap_open(&h, path, &e);
	if (!r)
		r = print_heap(path, &h, o, &e);
	status = r ? log_err(&e) : h.damage.nr || h.damage.truncated ? 1 : 0;
	if (!r)
		heap_warn(path, &h);
	heap_release(&h);
	if (output_close(&out, r, &e))
		status = log_err(&e);
	return status;
}

static int dump_heap(const struct heap_opts *o)
{
	const struct heapdump_opts how = { .all = o->all, .samples = o->samples };
	struct output out;
	struct err e;
	int r;

	if (!o->pid || !o->output) {
		log_error("'dump' needs %s", o->pid ? "--output" : "--pid");
		log_hint("usage: arcprof heap dump -p <pid> -o <file>");
		return EXIT_USAGE;
	}
	if (o->pid > INT32_MAX) {
		log_error("no process has the number %" PRIu64, o->pid);
		return 1;
	}
	if (output_begin_secret(&out, o->output, &e))	/* a heap has passwords and keys in it */
		return log_err(&e);
	r = heapdump(o->pid, &how, STDOUT_FILENO, &e);
	if (r) {
		output_abandon(&out);
		return log_err(&e);
	}
	return output_end(&out, &e) ? log_err(&e) : 0;
}

/* --- the difference of two heaps --- */

static int add_side(struct diff *d, unsigned int side, const char *path, const struct heap_opts *o,
		    struct err *e)
{
	const struct diff_about about = { .path = path, .lost_unknown = true };
	struct shown x;
	struct heap h;
	size_t i;
	int r = heap_open(&h, path, e);

	if (!r) {
		r = shown_init(&x, &h, o, e);
		if (!r)
			r = diff_add(d, side, &x.model, &about, e);
		for (i = 0; !r && i < x.notes.nr; i++)
			log_warn("%s: %s", path, x.notes.items[i]);
		if (r)
			err_wrap(e, "%s", path);
		shown_release(&x);
	}
	heap_release(&h);
	return r;
}

static int print_diff(const struct diff *d, const struct heap_opts *o, struct err *e)
{
	static const enum diff_by by[] = { [HEAP_DEFAULT] = DIFF_BY_FUNCTION, [HEAP_XPROF] = DIFF_BY_FUNCTION,
		[HEAP_XTREE] = DIFF_BY_CONTEXT, [HEAP_XARC] = DIFF_BY_ARC };
	const struct page_difference page = { d, DIFF_NONE, NULL };
	const struct choice_opts co = { .limit = o->limit, .significant = true };
	const struct sheet_choice columns = { .columns = o->choice.columns };
	struct diff_rows rows;
	struct choice choice;
	struct noise noise;
	int r;

	if (o->format == FORMAT_HTML)
		return page_difference_print(&page, stdout, e);
	rows_init(&rows, d, by[o->report], DIFF_CUM, DIFF_NONE);
	noise_fill(&noise, &rows);
	choice_init(&choice, &rows, &co);
	r = difference_print(&(struct difference){ &noise, &choice }, &columns, o->format, term_width(),
			     stdout, e);
	choice_release(&choice);
	rows_release(&rows);
	return r;
}

static int diff(const char *a, const char *b, const struct heap_opts *o)
{
	const struct same_opts same = { .thread_digits = true };
	struct output out;
	struct diff d;
	struct err e;
	int r, status;

	if (o->report > HEAP_XARC || o->object || o->objects.nr_items) {
		log_error("'diff' has --xprof, --xtree and --xarc");
		return EXIT_USAGE;
	}
	if (!format_in(FORMATS_TABLE | FORMAT_BIT(FORMAT_HTML), o->format)) {
		log_error("--format=%s is not for 'diff', which has text, csv, json and html",
			  format_get(o->format)->name);
		return EXIT_USAGE;
	}
	if (output_begin(&out, o->output, &e))
		return log_err(&e);
	diff_init(&d, NULL, &same);
	r = add_side(&d, DIFF_A, a, o, &e);
	if (!r)
		r = add_side(&d, DIFF_B, b, o, &e);
	if (!r) {
		diff_finish(&d);
		r = print_diff(&d, o, &e);
	}
	diff_release(&d);
	status = r ? log_err(&e) : 0;
	if (output_close(&out, r, &e))
		status = log_err(&e);
	return status;
}

static int heap_usage(const char *given)
{
	if (given)
		log_error("unknown command '%s' (expected one of: report, diff, dump)", given);
	else
		log_error("a command is missing (one of: report, diff, dump)");
	return EXIT_USAGE;
}

static int heap_run(void *opts, int nr_operands, char **operands)
{
	const struct heap_opts *o = opts;
	const char *command = nr_operands ? operands[0] : "";

	if (o->class_path && !o->by) {
		log_error("--class-path names local variables, which --by=field shows");
		return EXIT_USAGE;
	}
	if (!strcmp(command, "dump") && nr_operands == 1)
		return dump_heap(o);
	if (!strcmp(command, "report") && nr_operands == 2)
		return show_heap(operands[1], o);
	if (!strcmp(command, "diff") && nr_operands == 3)
		return diff(operands[1], operands[2], o);
	if (!strcmp(command, "dump"))
		log_error("'dump' takes no operands");
	else if (!strcmp(command, "report"))
		log_error("'report' takes one file");
	else if (!strcmp(command, "diff"))
		log_error("'diff' takes two files");
	else
		return heap_usage(nr_operands ? command : NULL);
	return EXIT_USAGE;
}

static bool heap_prints(const void *opts)
{
	const struct heap_opts *o = opts;

	return !o->output;
}

const struct command cmd_heap = {
	.name = "heap",
	.summary = "show what fills the heap of a JVM",
	.operands = "report <file> | diff <A> <B> | dump",
	.flags = CMD_PAGER,
	.opts = heap_table,
	.opts_size = sizeof(struct heap_opts),
	.prints = heap_prints,
	.run = heap_run,
};
