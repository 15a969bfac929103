/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - the instructions of a piece of code with their samples, for annotate.c and micro.c. */
#ifndef REPORT_CODE_H
#define REPORT_CODE_H

#include <stdio.h>

#include "model/annotate.h"
#include "report/sheet.h"
#include "sym/disasm.h"

/* A range of one of the model's vectors. */
struct part {
	size_t first, end;
};

/* Return the range of a->insns that belongs to a->codes[code]. */
struct part code_insns(const struct annotate *a, size_t code);
/*
 * *d is released by the caller also when it fails: of a kernel function, of code without bytes, where
 * objdump fails, and if confined, which is not to run it. *e says why.
 */
int code_disassemble(const struct annotate *a, const struct annotate_code *c, bool confined,
		     struct disasm *d, struct err *e);
/* Return the instruction that begins at off, or NULL. */
const struct disasm_insn *code_find_insn(const struct disasm *d, uint64_t off);

struct code_text {
	const struct annotate *a;
	FILE *out;
	const char *unit;	/* over the numbers: "Samples" */
	uint64_t total;		/* what percentages are of */
	uint64_t around;	/* instructions to show around those with samples */
	bool confined;		/* nothing is disassembled */
	bool only_hit;		/* show no others, and not where they are left out */
	bool hide_inlined;		/* do not say which method an instruction is of */
	/* scratch */
	struct sheet sheet;
	struct sheet_column columns[5];
	struct buf b;
	uint32_t owner;		/* strtab id of the method that the last instruction is of */
};

/* Print the heads of a table of code: head is that of the last column. */
void code_begin(struct code_text *p, const char *head);
/* Print a row; where is the offset, text the last column. */
void code_row(struct code_text *p, uint64_t n, const char *where, struct cell line, const char *text);
/* Print the head and the table of a->codes[code]. */
void code_print(struct code_text *p, size_t code);
/* Fill two cells: samples, and their share with two decimals.  Without samples both are absent. */
void code_set_samples(struct cell *c, uint64_t n, uint64_t total);

#endif
