// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arc.c - the arc file: one row per block of an instruction trace, in the ten columns of Performance
 * Inspector; or one per visit of a function, or one per instruction.  Rows are printed as they are
 * read, and are not kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "arch/cpu.h"
#include "arch/insn.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/branches.h"
#include "report/report.h"
#include "report/sheet.h"

struct arc_row {
	struct block at;	/* where and whose: its first block */
	uint64_t nr_insns;
	enum branch_kind kind;	/* of what ended it */
	bool plain;		/* an instruction that goes on behind itself */
	bool switched;		/* another thread's row came before it */
	const uint8_t *bytes;	/* of one instruction, or NULL */
	size_t nr_bytes;
};

struct arc_opts {
	bool compact, every_instruction;	/* a row each; neither: a row per block */
	bool collapse_kernel;
};

struct arc {
	struct model m;
	struct names names;
	struct branches branches;
	const struct report_opts *o;
	const struct arc_opts *own;
	FILE *out;
	struct sheet sheet;
	struct arc_row row;	/* being gathered; nr_insns and pending say whether there is one */
	bool pending;
	bool left;		/* the function of row was left by its last block */
	uint32_t last_thread;
	uint64_t nr_rows, nr_hidden, nr_insns;
	const struct cpu *cpu;	/* whose instructions they are */
};

/* ---- what a row says ---- */

static const struct consumer *arc_report_consumer_of(const struct arc *a, const struct arc_row *r)
{
	return &a->m.consumers.items[r->at.site.symbol];
}

static const char *arc_report_text(const struct arc *a, uint32_t id)
{
	return id ? model_str(&a->m, id) : "";
}

static const char *symbol(const struct arc *a, const struct arc_row *r)
{
	return r->at.site.symbol ? arc_report_text(a, arc_report_consumer_of(a, r)->name) : "NoSymbols";
}

static const char *module(const struct arc *a, const struct arc_row *r)
{
	const struct consumer *c = arc_report_consumer_of(a, r);
	uint32_t kind = r->at.site.symbol ? c->kind : CONSUMER_ANY;

	if (r->at.site.symbol && c->module)
		return arc_report_text(a, c->module);
	/* Kinds of code are joined under names that do not say them; what has no file is the JIT's. */
	return kind == CONSUMER_UNRESOLVED ? "NoModule" : "JITCODE";
}

struct who {
	uint32_t pid, tid;
	const char *comm, *thread;
};

static struct who who(const struct arc *a, const struct arc_row *r)
{
	const struct names *x = &a->names;
	uint32_t t = map_get(&x->thread_of, r->at.thread), p = map_get(&x->proc_of, r->at.proc);
	struct who w = { .comm = "", .thread = "" };

	if (p != MAP_NONE) {
		w.pid = x->procs[p].pid;
		w.comm = arc_report_text(a, x->procs[p].comm);
	}
	if (t != MAP_NONE) {
		w.tid = x->threads[t].tid;
		w.thread = arc_report_text(a, x->threads[t].name);
	}
	return w;
}

static const char *type_name(const struct arc_row *r)
{
	return r->plain ? "OTHER" : branch_arc_name(r->kind);
}

static unsigned int type_number(const struct arc_row *r)
{
	return r->plain ? 5 : branch_arc_number(r->kind);
}

/* ---- formats ---- */

/* Text has its own names of some, and no heads: it is a file that other programs read. */
enum {
	AT_CPU, AT_RING, AT_TYPE, AT_BRANCH, AT_TYPE_NUMBER, AT_INSNS, AT_FLOW, AT_ADDRESS, AT_OFFSET,
	AT_SYMBOL, AT_MODULE, AT_WHERE, AT_PID, AT_TID, AT_PROCESS, AT_THREAD, AT_WHO, AT_TIME, AT_LATE_TYPE,
	AT_LATE_BRANCH, AT_LINE, AT_BYTES, AT_INSN, NR_CELLS
};

static const struct sheet_column columns[NR_CELLS] = {
	[AT_CPU] = { "cpu", "cpu", 3 }, [AT_RING] = { "ring", "ring" },
	[AT_TYPE] = { .json = "type" }, [AT_BRANCH] = { .json = "branch" },
	[AT_TYPE_NUMBER] = { "type_number", "type_number", .json = "" },
	[AT_INSNS] = { "instructions", "instructions", 3 }, [AT_FLOW] = { NULL, "flow" },
	[AT_ADDRESS] = { .json = "address" }, [AT_OFFSET] = { "offset", "offset", 8 },
	[AT_SYMBOL] = { "symbol" }, [AT_MODULE] = { "module" }, [AT_WHERE] = { NULL, "symbol:module" },
	[AT_PID] = { "pid" }, [AT_TID] = { "tid" }, [AT_PROCESS] = { "process" }, [AT_THREAD] = { "thread" },
	[AT_WHO] = { NULL, "pid_tid_process_[thread]" }, [AT_TIME] = { .json = "time_ns" },
	[AT_LATE_TYPE] = { "type", "type", .json = "" }, [AT_LATE_BRANCH] = { "branch", .json = "" },
	[AT_LINE] = { "line", "line" }, [AT_BYTES] = { "bytes" }, [AT_INSN] = { .note = true },
};

static void put_texts(const struct arc *a, const struct arc_row *r, const struct who *w, struct buf *where,
		      struct buf *who)
{
	buf_fmt(where, "%s:%s", symbol(a, r), module(a, r));
	buf_fmt(who, "%x_%x_%s", w->pid, w->tid, w->comm);
	if (*w->thread && strcmp(w->thread, w->comm))
		buf_fmt(who, "_[%s]", w->thread);
}

static void arc_report_put_row(struct arc *a, const struct arc_row *r)
{
	struct cell type = cell_text(type_name(r)), offset = cell_u64(r->at.site.off),
		    branch = cell_text(r->plain ? NULL : branch_kind_name(r->kind));
	bool text = sheet_is_text(&a->sheet), has_line = r->at.site.line || a->o->format != FORMAT_JSON;
	struct buf where = BUF_INIT, from = BUF_INIT;
	struct who w = who(a, r);
	char hex[2 * INSN_MAX + 1] = "";

	if (r->bytes)
		hex_put(hex, r->bytes, MIN(r->nr_bytes, (size_t)INSN_MAX));
	if (text) {
		put_texts(a, r, &w, &where, &from);
		offset.type = CELL_WORD;
		snprintf(offset.word, sizeof(offset.word), "%" PRIx64, r->at.site.off);
	}
	sheet_row(&a->sheet, NULL, (const struct cell[NR_CELLS]){
		[AT_CPU] = r->at.cpu != UINT16_MAX ? cell_u64(r->at.cpu) : text ? cell_absent : cell_none,
		[AT_RING] = text ? cell_label(r->at.kernel ? "K" : "U") :
				   cell_text(r->at.kernel ? "kernel" : "user"),
		[AT_TYPE] = type, [AT_LATE_TYPE] = type, [AT_BRANCH] = branch, [AT_LATE_BRANCH] = branch,
		[AT_TYPE_NUMBER] = cell_u64(type_number(r)), [AT_INSNS] = cell_u64(r->nr_insns),
		[AT_FLOW] = cell_label(r->switched ? "?" : "@"),
		[AT_ADDRESS] = cell_u64(r->at.b.start), [AT_OFFSET] = offset,
		[AT_SYMBOL] = cell_text(symbol(a, r)), [AT_MODULE] = cell_text(module(a, r)),
		[AT_WHERE] = cell_text(where.data),
		[AT_PID] = cell_u64(w.pid), [AT_TID] = cell_u64(w.tid),
		[AT_PROCESS] = cell_text(w.comm), [AT_THREAD] = cell_text(w.thread),
		[AT_WHO] = cell_text(from.data),
		[AT_TIME] = cell_u64(r->at.time_ns - MIN(r->at.time_ns, a->branches.start_ns)),
		[AT_LINE] = has_line ? cell_u64(r->at.site.line) : cell_none,
		[AT_BYTES] = r->bytes ? cell_text(hex) : cell_absent,
		[AT_INSN] = r->bytes ? cell_text(hex) : cell_absent });
	buf_release(&where);
	buf_release(&from);
}

/* ---- selection ---- */

static bool selected(const struct arc *a, const struct arc_row *r)
{
	const struct selection *s = &a->o->select;
	struct who w = who(a, r);

	return selection_has_names(s, w.pid, w.tid, w.comm, w.thread) &&
	       select_module(&s->modules, module(a, r)) && select_name(&s->symbols, symbol(a, r));
}

static void arc_report_print_row(struct arc *a, struct arc_row *r)
{
	if (!selected(a, r))
		return;
	if (a->o->limit && a->nr_rows >= a->o->limit) {
		a->nr_hidden++;
		return;
	}
	r->switched = r->at.thread != a->last_thread;
	a->last_thread = r->at.thread;
	a->nr_rows++;
	a->nr_insns += r->nr_insns;
	arc_report_put_row(a, r);
}

/* ---- folding ---- */

static void print_pending(struct arc *a)
{
	if (a->pending)
		arc_report_print_row(a, &a->row);
	a->pending = false;
}

/* Return whether the block's end leaves the function; a call to the next instruction leads nowhere. */
static bool leaves(const struct branch *b)
{
	switch (b->kind) {
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_JUMP_INDIRECT:
	case BRANCH_OTHER:
		return false;
	case BRANCH_CALL:
		return b->to != b->end;
	default:
		return true;
	}
}

/* Return whether the block goes on in the row being gathered. */
static bool joins(const struct arc *a, const struct block *b)
{
	const struct arc_row *r = &a->row;

	if (!a->pending || r->at.thread != b->thread)
		return false;
	if (a->o->profile->collapse_plt && b->site.plt)
		return true;
	if (a->own->collapse_kernel && r->at.kernel && b->kernel)
		return true;
	return a->own->compact && !a->left && r->at.site.consumer == b->site.consumer;
}

static void add_block(struct arc *a, const struct block *b)
{
	bool folded_stub = a->o->profile->collapse_plt && b->site.plt;

	if (joins(a, b)) {
		a->row.nr_insns += b->b.nr_insns;
		if (!folded_stub) {	/* what it leads to is called by the caller */
			a->row.kind = b->b.kind;
			a->left = leaves(&b->b);
		}
		return;
	}
	print_pending(a);
	a->row = (struct arc_row){ .at = *b, .nr_insns = b->b.nr_insns, .kind = b->b.kind };
	a->pending = true;
	a->left = leaves(&b->b);
}

/* Add a row per instruction from the executed bytes; return false if the trace does not have them all. */
static bool add_instructions(struct arc *a, const struct block *b)
{
	const struct branches_code *code = branches_code(&a->branches, b);
	size_t len = b->b.end - b->b.start, at = 0;
	struct insn in;
	uint64_t nr = 0;

	if (!code || code->len != len || !len)
		return false;
	for (at = 0; at < len; at += in.len, nr++)
		if (!a->cpu->decode(code->bytes + at, len - at, &in))
			return false;
	if (nr != b->b.nr_insns)
		return false;
	for (at = 0; at < len; at += in.len) {
		struct arc_row r = { .at = *b, .nr_insns = 1, .kind = b->b.kind, .bytes = code->bytes + at };

		a->cpu->decode(code->bytes + at, len - at, &in);
		r.nr_bytes = in.len;
		r.at.b.start += at;
		r.at.site = branches_site(&a->branches, b->proc, r.at.b.start, b->time_ns);
		r.plain = at + in.len < len;
		arc_report_print_row(a, &r);
	}
	return true;
}

static int on_block(void *ctx, const struct block *b)
{
	struct arc *a = ctx;

	if (!a->own->every_instruction || !add_instructions(a, b))
		add_block(a, b);
	if (a->own->every_instruction)
		print_pending(a);
	return 0;
}

/* ---- the whole ---- */

static const char legend[] =
	"# arc Field Definition:\n"
	"#   1: cpu no.; - when the tracer does not know it\n"
	"#   2: K(kernel) or U(user)\n"
	"#   3: last instruction type\n"
	"#     0=INTRPT, 1=CALL,  2=RETURN, 3=JUMP,\n"
	"#     4=IRET,   5=OTHER, 6=UNDEFD, 7=ALLOC\n"
	"#   4: no. of instructions\n"
	"#   5: @|? = Call_Flow | pid_tid\n"
	"#   6: offset (from symbol start)\n"
	"#   7: symbol:module\n"
	"#   8: pid_tid_pidname_[threadname]\n"
	"#   9: last instruction type (string)\n"
	"#  10: line number (if available, else 0)\n"
	"#  11: the instruction (only with --every-instruction)\n";

static const char *or_dash(const char *s)
{
	return s ? s : "-";
}

static void text_head(struct arc *a)
{
	const struct names *x = &a->names;
	struct buf line = BUF_INIT, *b = &line;

	/* The number is unknown without the end of the trace. */
	buf_str(b, "# ");
	quote_add(b, or_dash(names_label(x, "itrace.instructions")));
	buf_str(b, " instructions, ");
	quote_add(b, or_dash(names_label(x, "itrace.branches")));
	buf_str(b, " branches by ");
	quote_add(b, or_dash(names_label(x, "itrace.engine")));
	buf_fmt(b, ", %" PRIu64 " lost: ", x->lost);
	quote_add(b, or_dash(names_label(x, "command")));
	fprintf(a->out, "%s\n", b->data);
	buf_release(b);
}

static void json_total(struct arc *a, const char *key, const char *label)
{
	json_u64_known(&a->sheet.json, key, names_label(&a->names, label), names_label_u64(&a->names, label));
}

static void arc_report_json_head(struct arc *a)
{
	const struct names *x = &a->names;
	struct json *j = &a->sheet.json;

	report_json_source(j, "arc", x);
	json_str(j, "engine", names_label(x, "itrace.engine"));
	json_total(a, "instructions", "itrace.instructions");
	json_total(a, "branches", "itrace.branches");
	json_u64(j, "lost", x->lost);
	json_end(j);
	json_array(j, "rows");
}

static void tail(struct arc *a)
{
	struct json *j = &a->sheet.json;

	sheet_end_rows(&a->sheet);
	if (a->o->format == FORMAT_TEXT)
		fprintf(a->out, "# %" PRIu64 " rows, %" PRIu64 " instructions\n", a->nr_rows, a->nr_insns);
	json_end(j);
	json_object(j, "shown");
	json_u64(j, "rows", a->nr_rows);
	json_u64(j, "instructions", a->nr_insns);
	json_end(j);
	report_json_hidden(j, a->nr_hidden + sheet_nr_hidden(&a->sheet));
	json_end(j);
	sheet_end(&a->sheet);
}

static void arc_report_head(struct arc *a)
{
	sheet_init(&a->sheet, a->o->format, a->out);
	sheet_choose(&a->sheet, &a->o->choice);
	arc_report_json_head(a);
	if (sheet_is_text(&a->sheet))
		text_head(a);
	if (sheet_is_text(&a->sheet) && !a->sheet.chosen)
		sheet_set_columns(&a->sheet, columns, NR_CELLS);
	else
		sheet_columns(&a->sheet, columns, NR_CELLS);
}

static int arc_report_print_all(struct arc *a, struct trace_reader *t, struct err *e)
{
	const char *machine = names_label(&a->names, "arch");
	int r;

	if (!branches_are_in(&a->names))
		return err_set(e, EINVAL, "not an instruction trace ('arcprof itrace' makes them)");
	a->cpu = machine ? cpu_named(machine) : NULL;
	if (!a->cpu)
		a->cpu = &cpu_x86;
	arc_report_head(a);
	r = branches_read(&a->branches, t, on_block, a, e);
	print_pending(a);
	tail(a);
	return r ? r : !a->nr_rows;
}

static int arc_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct arc a = { .o = o, .own = o->own, .out = out };
	const struct resolve_opts names = {
		.signatures = o->profile->names.signatures, .addresses = o->profile->names.addresses,
		.hide_inlined = true,
	};
	struct window window;
	int r;

	model_init(&a.m, 1, FLOW_CALLS);
	names_init(&a.names, &a.m, &names);
	r = trace_read(t, &names_sink, &a.names, e);
	if (!r)
		r = names_window(&a.names, &o->select, &window, e);
	if (!r) {
		branches_init(&a.branches, &a.names, &window);
		r = arc_report_print_all(&a, t, e);
	}
	branches_release(&a.branches);
	names_release(&a.names);
	model_release(&a.m);
	return r;
}

static int arc_report_check(const struct report_opts *o, struct err *e)
{
	const struct arc_opts *own = o->own;

	if (own->compact && own->every_instruction)
		return err_set(e, EINVAL, "cannot be combined: --compact and --every-instruction");
	return 0;
}

#define O struct arc_opts
static const struct opt opts[] = {
	OPT_FLAG(0, "compact", O, compact, "arc: one row per visit of a function"),
	OPT_FLAG(0, "every-instruction", O, every_instruction, "arc: one row per instruction"),
	OPT_FLAG(0, "collapse-kernel", O, collapse_kernel, "arc: merge consecutive kernel rows"),
	OPT_END
};
#undef O

static const struct report_reason reasons[] = {
	{ "from-zero", "an instruction trace has no zero point" },
	{ NULL, NULL },
};

const struct report report_arc = {
	.name = "arc",
	.help = "list an instruction trace block by block",
	.formats = FORMATS_TABLE,
	.opts_title = "For --arc",
	.opts = opts,
	.opts_size = sizeof(struct arc_opts),
	.check = arc_report_check,
	.legend = legend,
	.needs = "an instruction trace",
	.follows = FOLLOWS_THREADS FOLLOWS_CHOICE
		   "module symbol from to limit signatures addresses collapse-plt",
	.reasons = reasons,
	.print_trace = arc_print,
};
