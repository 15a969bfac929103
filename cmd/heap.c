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
#include "heap.h"
#include "heap/tree.h"
#include "jvm/heapdump.h"
#include "output.h"
#include "report/report.h"

enum heap_report { HEAP_XPROF, HEAP_XTREE, HEAP_XARC, HEAP_HISTOGRAM };

struct heap_opts {
	const char *output;
	uint64_t pid;
	bool all;
	int report, format, collapse, fold, sort;
	bool soft;
	uint64_t limit;
	double prune;
	struct opt_list symbols, threads, paths;
};

static const char *const collapses[] = { "self", "path", "none", NULL };
static const char *const folds[] = { "none", "package", NULL };
static const char *const sorts[] = { "cum", "base", "n", "name", NULL };

#define O struct heap_opts
static const struct opt heap_table[] = {
	OPT_GROUP("Dump"),
	OPT_U64('p', "pid", O, pid, "pid", NULL, "process ID of the JVM to dump"),
	OPT_FLAG(0, "all", O, all, "dump all objects, also what a collection would free"),
	OPT_GROUP("Report"),
	OPT_SET(0, "xprof", O, report, HEAP_XPROF, "classes with their objects, sizes and retained sizes"),
	OPT_SET(0, "xtree", O, report, HEAP_XTREE, "the dominator tree, by class"),
	OPT_SET(0, "xarc", O, report, HEAP_XARC, "each class with what retains it and what it retains"),
	OPT_SET(0, "histogram", O, report, HEAP_HISTOGRAM, "classes with their objects and sizes, without retained sizes"),
	OPT_LIST(0, "paths", O, paths, "class", "the shortest paths from the roots to all objects of these classes (as --xtree)"),
	OPT_FORMAT(O, format, FORMATS_TABLE | FORMATS_OF_TREE, "output format; those after csv show the whole tree, for other programs"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file>; 'dump' needs it"),
	OPT_ENUM(0, "sort", O, sort, sorts, "cum", "sort rows by this key"),
	OPT_U64(0, "limit", O, limit, "n", NULL, "show at most <n> rows, or stanzas of xarc"),
	OPT_DOUBLE(0, "prune", O, prune, "percent", NULL, "fold contexts that retain less than <percent>"),
	OPT_GROUP("Dominator tree"),
	OPT_ENUM(0, "collapse", O, collapse, collapses, "self", "show an object in the row of its dominator of the same class: if that is the next one, if it is on the path, or never"),
	OPT_ENUM(0, "fold", O, fold, folds, "none", "show packages in place of classes"),
	{ .type = OPT_TYPE_FLAG, .name = "soft", .offset = OPT_FIELD(O, soft, bool), .def = "true",
	  .help = "let soft references hold objects" },
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
	static const struct report *const of[] = { &report_xprof, &report_xtree, &report_xarc };

	return o->paths.nr_items && o->report == HEAP_XPROF ? &report_xtree : of[o->report];
}

/* --- what the reader must know of the dump --- */

enum { MAX_NOTES = 5 };

struct notes {
	char *items[MAX_NOTES];
	size_t nr;
};

static void add_note(struct notes *n, char *text)
{
	n->items[n->nr++] = text;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void note_damage(struct notes *n, const struct heap *h)
{
	if (h->damage.truncated)
		add_note(n, xasprintf("the dump is truncated: objects behind its end are missing"));
	if (h->damage.nr)
		add_note(n, xasprintf("%" PRIu64 " damaged place%s, the first at byte %" PRIu64 ": %" PRIu64 " bytes were skipped",
				      h->damage.nr, plural(h->damage.nr), h->damage.first_at,
				      h->damage.bytes));
	if (h->nr_classless)
		add_note(n, xasprintf("%" PRIu64 " object%s of classes that the dump does not have",
				      h->nr_classless, plural(h->nr_classless)));
}

static void note_facts(struct notes *n, const struct heap_tree_facts *f, bool paths)
{
	if (paths && f->nr_lost)
		add_note(n, xasprintf("%" PRIu32 " more object%s of these classes that no root reaches", f->nr_lost,
				      plural(f->nr_lost)));
	else if (paths)
		return;
	else if (f->no_roots)
		add_note(n, xasprintf("the dump has no roots: what nothing refers to is below [unreachable]"));
	else if (f->nr_lost)
		add_note(n, xasprintf("%" PRIu32 " object%s that no root reaches: below [unreachable]",
				      f->nr_lost, plural(f->nr_lost)));
}

static void notes_release(struct notes *n)
{
	while (n->nr)
		free(n->items[--n->nr]);
}

/* --- the reports --- */

static int print_tree(struct heap *h, const struct heap_opts *o, struct err *e)
{
	const struct heap_tree_opts to = {
		.fold = o->collapse, .keep_soft = o->soft,
		.paths_to = o->paths.nr_items ? is_end_of_path : NULL, .ctx = &o->paths,
	};
	const struct profile_opts po = { 0 };
	const struct report_opts ro = {
		.report = report_of(o), .format = o->format, .limit = o->limit, .prune = o->prune,
		.width = term_width(), .fold = o->fold ? FOLD_PACKAGE : FOLD_NONE,
		.sort = SORT_CUM + o->sort, .profile = &po,
		.select = { .symbols = &o->symbols, .threads = &o->threads },
	};
	struct origin origin = { .start_ns = h->dump.time_ms * 1000000 };
	struct heap_tree_facts facts;
	struct notes notes = { .nr = 0 };
	struct view v = { 0 };
	struct model m;
	int r = heap_tree(h, &to, &m, &facts, e);

	if (!r) {
		note_damage(&notes, h);
		note_facts(&notes, &facts, o->paths.nr_items);
		origin.notes = (const char *const *)notes.items;
		origin.nr_notes = notes.nr;
		r = view_init(&v, &m, &origin, &ro, e);
		if (!r && m.flow.nr_nodes <= 1)
			r = err_set(e, ENOENT, "nothing matches --paths, --symbol and --thread");
		if (!r)
			r = report_print(&v, stdout, e);
		view_release(&v);
	}
	notes_release(&notes);
	model_release(&m);
	return r;
}

static int print(struct heap *h, const struct heap_opts *o, struct err *e)
{
	const struct heap_table_opts ho = { .format = o->format, .limit = o->limit };

	if (o->report == HEAP_HISTOGRAM)
		return heap_print_histogram(h, &ho, e);
	return print_tree(h, o, e);
}

static int show(const char *path, const struct heap_opts *o)
{
	struct output out;
	struct heap h;
	struct err e;
	int r, status;

	if (o->output && output_begin(&out, o->output, &e))
		return log_err(&e);
	r = heap_open(&h, path, &e);
	if (!r)
		r = print(&h, o, &e);
	status = r ? log_err(&e) : h.damage.nr || h.damage.truncated ? 1 : 0;
	if (!r && status)
		log_warn("%s: damaged or truncated: what could be read is shown", path);
	heap_release(&h);
	if (o->output && output_end(&out, &e))
		status = log_err(&e);
	return status;
}

static int dump(const struct heap_opts *o)
{
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
	if (output_begin(&out, o->output, &e))
		return log_err(&e);
	/* A heap has passwords and keys in it. */
	if (out.temporary)
		fchmod(STDOUT_FILENO, 0600);
	r = heapdump(o->pid, !o->all, STDOUT_FILENO, &e);
	if (r) {
		output_abandon(&out);
		return log_err(&e);
	}
	return output_end(&out, &e) ? log_err(&e) : 0;
}

static int usage(const char *given)
{
	if (given)
		log_error("unknown command '%s' (expected one of: report, dump)", given);
	else
		log_error("a command is missing (one of: report, dump)");
	return EXIT_USAGE;
}

static int heap_run(void *opts, int nr_operands, char **operands)
{
	const struct heap_opts *o = opts;
	const char *command = nr_operands ? operands[0] : "";

	if (!strcmp(command, "dump") && nr_operands == 1)
		return dump(o);
	if (!strcmp(command, "report") && nr_operands == 2)
		return show(operands[1], o);
	if (!strcmp(command, "dump")) {
		log_error("'dump' takes no operands");
		return EXIT_USAGE;
	}
	if (strcmp(command, "report") != 0)
		return usage(nr_operands ? command : NULL);
	log_error("'report' takes one file");
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
	.operands = "report <file> | dump",
	.flags = CMD_PAGER,
	.opts = heap_table,
	.opts_size = sizeof(struct heap_opts),
	.prints = heap_prints,
	.run = heap_run,
};
