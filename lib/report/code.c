// SPDX-License-Identifier: GPL-2.0-or-later
/* code.c - instructions with their samples, disassembled where this machine has objdump and the code. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/code.h"
#include "report/measures.h"

static int disassemble_jit(const struct names *x, const struct name_code *c, struct disasm *d, struct err *e)
{
	const char *machine = names_label(x, "arch");

	if (!c->bytes)
		return err_set(e, ENODATA, "the trace does not have its bytes");
	return disasm_bytes(d, c->bytes, c->nr_bytes, c->bytes_addr, machine ? machine : "", e);
}

int code_disassemble(const struct annotate *a, const struct annotate_code *c, bool confined, struct disasm *d,
		     struct err *e)
{
	const struct name_range *r = &c->range;
	const struct name_module *m;

	*d = (struct disasm){ .insns = NULL };
	if (confined)
		return err_set(e, ENODATA, "--confined");
	if (r->module == MAP_NONE)
		return disassemble_jit(a->names, &a->names->codes[r->code], d, e);
	m = &a->names->modules[r->module];
	if (m->flags & MODULE_KERNEL)
		return err_set(e, ENODATA, "kernel code");
	if (*m->path != '/')
		return err_set(e, ENODATA, "no file has this code");
	return disasm_file(d, &(struct disasm_code){
		m->path, m->build_id, m->build_id_len, r->start, r->size }, e);
}

const struct disasm_insn *code_find_insn(const struct disasm *d, uint64_t off)
{
	size_t lo = BISECT(i, d->nr_insns, d->insns[i].off < off);

	return lo < d->nr_insns && d->insns[lo].off == off ? &d->insns[lo] : NULL;
}

struct part code_insns(const struct annotate *a, size_t code)
{
	struct part r;

	for (r.first = 0; r.first < a->nr_insns && a->insns[r.first].code < code; r.first++)
		;
	for (r.end = r.first; r.end < a->nr_insns && a->insns[r.end].code == code; r.end++)
		;
	return r;
}

/* ---- text ---- */

void code_set_samples(struct cell *c, uint64_t n, uint64_t total)
{
	c[0] = n ? cell_u64(n) : cell_absent;
	c[1] = n ? measures_percent(n, total) : cell_absent;
}

void code_begin(struct code_text *p, const char *head)
{
	const struct sheet_column columns[] = {
		{ NULL, p->unit, 8 }, { NULL, "%", 7, 2 }, { NULL, "Offset", -8, .before = "   " },
		{ NULL, "Line", 6 }, { NULL, head, .before = "  " },
	};

	memcpy(p->columns, columns, sizeof(p->columns));
	sheet_init(&p->sheet, FORMAT_TEXT, p->out);
	p->sheet.trim = true;
	sheet_columns(&p->sheet, p->columns, ARRAY_SIZE(p->columns));
}

void code_row(struct code_text *p, uint64_t n, const char *where, struct cell line, const char *text)
{
	struct cell c[] = { cell_none, cell_none, cell_text(where), line, cell_text(text) };

	code_set_samples(c, n, p->total);
	sheet_row(&p->sheet, NULL, c);
}

/*
 * Return the innermost function at an offset of compiled Java code, by its table of inlined methods. NULL for
 * other code: its lines are known only where samples hit.
 */
static const struct name_level *level_at(const struct code_text *p, const struct annotate_code *c,
					 uint64_t off)
{
	struct names *x = p->a->names;
	const struct name_code *code;
	struct name_run r;

	if (c->range.code == MAP_NONE)
		return NULL;
	code = &x->codes[c->range.code];
	r = names_consumers(x, &(struct frame){ FRAME_JIT, .proc = code->proc, .addr = code->addr + off,
				.method = code->method, .compile_id = code->compile_id }, code->time_ns);
	return r.nr ? &x->levels[r.first + r.nr - 1] : NULL;
}

/* Print the name of the method where the instructions of another one begin. */
static void print_owner(struct code_text *p, const struct annotate_code *c, uint64_t off)
{
	const struct name_level *l = level_at(p, c, off);
	uint32_t name = l ? p->a->names->m->consumers.items[l->consumer].name : 0;

	if (p->hide_inlined || !name || name == p->owner)
		return;
	p->owner = name;
	buf_reset(&p->b);
	quote_add(&p->b, model_str(p->a->names->m, name));
	fprintf(p->out, "%36s%s:\n", "", p->b.data);
}

static void print_insn(struct code_text *p, const struct annotate_code *c, uint64_t off,
		       const struct annotate_insn *hit, const struct disasm_insn *insn)
{
	const struct name_level *l = level_at(p, c, off);
	uint32_t line = hit ? hit->line : l ? l->line : 0;
	char where[24];

	print_owner(p, c, off);
	snprintf(where, sizeof(where), "+0x%-6" PRIx64, off);
	code_row(p, hit ? hit->n : 0, where, line ? cell_u64(line) : hit ? cell_absent : cell_text(""),
		 insn ? insn->text : "");
}

/* Return whether an instruction without samples is near one that has some, in the list of objdump. */
static bool is_near(const struct code_text *p, const struct disasm *d, size_t at, const bool *hit)
{
	uint64_t around = p->around;
	size_t i = at > around ? at - around : 0;

	for (; i <= at + around && i < d->nr_insns; i++)
		if (hit[i])
			return true;
	return false;
}

static void print_disassembly(struct code_text *p, const struct annotate_code *c, struct part r,
			      const struct disasm *d)
{
	const struct annotate_insn *insns = p->a->insns, *hit;
	bool *is_hit = xcalloc(d->nr_insns + 1, sizeof(*is_hit)), gap = false;
	const struct disasm_insn *known;
	size_t i, next;

	for (i = r.first; i < r.end; i++) {
		known = code_find_insn(d, insns[i].off);
		if (known)
			is_hit[known - d->insns] = true;
	}
	for (i = 0, next = r.first; i < d->nr_insns; i++) {
		for (; next < r.end && insns[next].off < d->insns[i].off; next++)
			print_insn(p, c, insns[next].off, &insns[next], NULL);
		hit = next < r.end && insns[next].off == d->insns[i].off ? &insns[next++] : NULL;
		if (hit || is_near(p, d, i, is_hit)) {
			if (gap)
				fputs("     ...\n", p->out);
			gap = false;
			print_insn(p, c, d->insns[i].off, hit, &d->insns[i]);
		} else {
			gap = true;
		}
	}
	for (; next < r.end; next++)
		print_insn(p, c, insns[next].off, &insns[next], NULL);
	free(is_hit);
}

void code_print(struct code_text *p, size_t code)
{
	const struct annotate_code *c = &p->a->codes[code];
	const struct name_range *range = &c->range;
	struct part r = code_insns(p->a, code);
	struct disasm d;
	struct err e;
	size_t i;
	int fail;

	p->owner = 0;
	fail = code_disassemble(p->a, c, p->confined, &d, &e);
	buf_reset(&p->b);
	buf_str(&p->b, "code of ");
	quote_add(&p->b, model_str(p->a->names->m, c->name));
	if (range->code != MAP_NONE)
		buf_fmt(&p->b, ", compilation %" PRIu32 " by %s", p->a->names->codes[range->code].compile_id,
			c->kind == CONSUMER_JAVA_C2 ? "C2" : "C1");
	buf_fmt(&p->b, ": %" PRIu64 " bytes at 0x%" PRIx64, range->size, range->start);
	if (fail) {
		buf_str(&p->b, "; not disassembled: ");
		quote_add(&p->b, e.msg);
	}
	fprintf(p->out, "\n%s\n", p->b.data);
	code_begin(p, fail ? "" : "Instruction");
	if (fail || p->only_hit)
		for (i = r.first; i < r.end; i++)
			print_insn(p, c, p->a->insns[i].off, &p->a->insns[i],
				   code_find_insn(&d, p->a->insns[i].off));
	else
		print_disassembly(p, c, r, &d);
	disasm_release(&d);
}

