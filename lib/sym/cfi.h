/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi.h - call frame information of one ELF file: which function's rules hold at an address.
 * What the rules say is lib/unwind's business.
 */
#ifndef SYM_CFI_H
#define SYM_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "sym/image.h"

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	const uint8_t *instr;	/* initial instructions */
	size_t instr_len;
	uint8_t fde_enc;	/* DW_EH_PE_* of the FDE's addresses */
	uint8_t addr_size, seg_size;
	bool augmented;		/* FDEs carry a length of augmentation data */
	bool signal;		/* a signal handler's trampoline: the caller was interrupted */
	bool pauth_b;		/* arm64: return addresses are signed with key B */
};

struct cfi_fde {
	uint64_t start, end;	/* [start, end), addresses the file was linked at */
	const uint8_t *instr;
	size_t instr_len;
	struct cfi_cie cie;
};

struct cfi_entry {
	uint32_t pc;		/* from cfi.base */
	uint32_t off;		/* of the FDE in the section */
};

/* The section .eh_frame or .debug_frame, and where the FDE of each function is. */
struct cfi {
	struct image_bytes bytes;
	uint64_t vaddr;		/* of bytes.data[0] */
	uint64_t base;		/* lowest address of the image */
	uint64_t hdr_vaddr;	/* what DW_EH_PE_datarel counts from in .eh_frame_hdr */
	bool eh;
	bool is64;
	struct cfi_entry *entries;	/* sorted by pc */
	size_t nr_entries, alloc_entries;
};

/*
 * Loads .eh_frame (through .eh_frame_hdr's table when it is there and sound) or .debug_frame.
 * text is the image that runs; im may be its debug file. -ENODATA: no such section.
 */
int cfi_load(struct cfi *c, const struct image *im, const struct image *text, bool eh, struct err *e);
void cfi_release(struct cfi *c);

/* Index of the last entry that starts at or below vaddr, SIZE_MAX: none. */
size_t cfi_index(const struct cfi *c, uint64_t vaddr);
/* Decodes the FDE at offset off of the section; false: damaged. */
bool cfi_fde_parse(const struct cfi *c, uint64_t off, struct cfi_fde *fde);
/*
 * Read the next FDE from offset *off on, which then is behind it. Returns false if there is none, or
 * damage is before it.
 */
bool cfi_next(const struct cfi *c, uint64_t *off, struct cfi_fde *fde);
/* Return an address in the encoding of fde's CIE, of an instruction that sets the location. */
uint64_t cfi_read_address(const struct cfi *c, struct span *s, const struct cfi_fde *fde);
/* Find the rules that hold at vaddr; return false for none. */
bool cfi_find(const struct cfi *c, uint64_t vaddr, struct cfi_fde *fde);

#endif
