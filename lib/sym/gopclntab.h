/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gopclntab.h - the table of functions that Go's linker puts into every program: names, lines,
 * inlined calls and how much each has on the stack.  The runtime needs it, so no strip takes it away.
 *
 * 64-bit programs of Go 1.2 and later; inlined calls of Go 1.16 and later.
 */
#ifndef SYM_GOPCLNTAB_H
#define SYM_GOPCLNTAB_H

#include "base/span.h"
#include "sym/image.h"
#include "sym/symfile.h"

enum gopcln_format {
	GOPCLN_1_2,
	GOPCLN_1_16,	/* parts of their own, files by compilation unit */
	GOPCLN_1_18,	/* functions by their distance from the first */
	GOPCLN_1_20,	/* shorter inline trees */
};

struct gopcln {
	struct image_bytes bytes;	/* with the addresses that the loader would fill in */
	uint64_t vaddr;			/* of bytes.data[0] */
	enum gopcln_format format;
	uint8_t quantum;		/* what addresses are counted in */
	uint64_t text;			/* entries count from here; 0: they are addresses */
	uint64_t nr_funcs;
	/* offsets of its parts */
	uint64_t index, records, names, units, files, values;
	uint64_t nr_files;		/* of GOPCLN_1_2 */
	uint64_t trees;			/* the address that inline trees are counted from, 0: not known */
	const struct image *im;		/* has the trees; outlives this */
};

/* -ENODATA: im is not a Go program. im outlives t. */
int gopcln_load(struct gopcln *t, const struct image *im, struct err *e);
void gopcln_release(struct gopcln *t);

/* Read the offsets in the header, as a part of gopcln_load(). */
int gopcln_read_header(struct gopcln *t, struct err *e);
/* Return whether functions ascend and are in executable segments. text must be known. */
bool gopcln_is_sound(const struct gopcln *t);
/* Return whether inline trees are consistent if they are where trees says. */
bool gopcln_trees_fit(const struct gopcln *t);

struct gopcln_func {
	uint64_t start, end;	/* [start, end), as linked; with what fills up to the next one */
	uint64_t record;
	const char *name;	/* lives as long as the table; "" when damaged */
};

/* Return where function i begins; for the index behind the last, where that ends. */
uint64_t gopcln_start(const struct gopcln *t, uint64_t i);
/* Return the function that covers vaddr, SIZE_MAX: none. */
size_t gopcln_find(const struct gopcln *t, uint64_t vaddr);
bool gopcln_func(const struct gopcln *t, size_t i, struct gopcln_func *f);
/* name is that of the assembler function, of whichever calling convention. */
bool gopcln_name_is(const char *name, const char *of);

/* A value that holds for ranges of addresses of a function. */
struct gopcln_values {
	struct span code;
	uint64_t start, end;	/* of the range: [start, end) */
	int32_t value;
	uint8_t quantum;
	bool any;
};

/*
 * Find the bytes between the stack pointer and where it was at entry. Return false if nothing is known of f.
 */
bool gopcln_depths(const struct gopcln *t, const struct gopcln_func *f, struct gopcln_values *v);
/* Move to the next range; return false if there is none. */
bool gopcln_next(struct gopcln_values *v);

/* Do what symfile_lines() does. */
size_t gopcln_lines(const struct gopcln *t, uint64_t vaddr, struct srcline *out, size_t max);

#endif
