/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - the instructions of a piece of code with their samples, for annotate.c and micro.c. */
#ifndef REPORT_CODE_H
#define REPORT_CODE_H

#include <stdio.h>

#include "model/annotate.h"
#include "sym/disasm.h"

/* A range of one of the model's vectors. */
struct part {
	size_t first, end;
};

/* Of a->insns: those of a->codes[code]. */
struct part code_insns(const struct annotate *a, size_t code);
/*
 * *d is released by the caller also when it fails: of a kernel function, of code without bytes, and where
 * objdump fails. *e says why.
 */
int code_disassemble(const struct annotate *a, const struct annotate_code *c, struct disasm *d,
		     struct err *e);
/* NULL: no instruction begins there. */
const struct disasm_insn *code_find_insn(const struct disasm *d, uint64_t off);

struct code_text {
	const struct annotate *a;
	FILE *out;
	const char *unit;	/* over the numbers: "Samples" */
	uint64_t total;		/* what percentages are of */
	uint64_t around;	/* instructions to show around those with samples */
	bool only_hit;		/* show no others, and not where they are left out */
	bool hide_inlined;		/* do not say which method an instruction is of */
	/* scratch */
	struct buf b;
	uint32_t owner;		/* strtab id of the method that the last instruction is of */
};

/* The head and the table of a->codes[code]. */
void code_print(struct code_text *p, size_t code);
/* The two first cells of a row: samples and their share; 0 is "-". */
void code_put_samples(struct buf *b, uint64_t n, uint64_t total);
/* Writes the row without spaces at its end. */
void code_end_row(struct buf *b, FILE *out);

#endif
