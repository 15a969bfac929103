/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disasm.h - machine code as text, by objdump where it is installed. */
#ifndef SYM_DISASM_H
#define SYM_DISASM_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct disasm {
	struct buf out;			/* what objdump wrote */
	struct disasm_insn {
		uint64_t off;		/* from the start of what was asked for */
		const char *bytes;	/* "0f af c0" */
		const char *text;	/* "imul   %eax,%eax" */
	} *insns;			/* ascending by off */
	size_t nr_insns, alloc_insns;
};

/* Code of a program: size bytes at file offset off. */
struct disasm_code {
	const char *path;
	const uint8_t *build_id;	/* that the file must have */
	size_t build_id_len;
	uint64_t off, size;
};

/* -ESTALE: the file is not the one with that build-id; -ENOENT: there is no such file, or no objdump. */
int disasm_file(struct disasm *d, const struct disasm_code *code, struct err *e);
/* Disassemble code that was at addr; machine: as in uname(1). */
int disasm_bytes(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr, const char *machine,
		 struct err *e);
void disasm_release(struct disasm *d);

#endif
