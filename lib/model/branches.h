/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branches.h - the blocks of an instruction trace one by one, with the function each is in; the
 * file is read twice, names first, and nothing of the second pass is kept.
 */
#ifndef MODEL_BRANCHES_H
#define MODEL_BRANCHES_H

#include "model/names.h"
#include "sym/maps.h"
#include "trace/branch.h"

struct site {			/* where an address is */
	uint32_t consumer;	/* the function, with what the compiler split off it */
	uint32_t symbol;	/* what the linker calls it there */
	uint32_t line;		/* 0 unknown */
	uint64_t off;		/* from the symbol's first byte */
	bool plt;		/* a linkage stub */
	bool jit;		/* a compiled Java method */
};

struct block {
	uint64_t time_ns;	/* of the run it is in */
	uint32_t thread, proc;	/* numbers of the trace */
	uint16_t cpu;		/* UINT16_MAX unknown */
	bool kernel;
	struct branch b;
	struct site site;	/* of b.start */
};

typedef int (*block_fn)(void *ctx, const struct block *b);

struct branches {
	struct names *names;
	struct window window;
	uint64_t start_ns, last_ns;
	block_fn fn;
	void *ctx;
	struct branches_proc {
		struct maps maps;
		struct map site_of;	/* address -> index in sites; forgotten when maps change */
	} *procs;
	size_t nr_procs, alloc_procs;
	struct map proc_of;
	struct site *sites;
	size_t nr_sites, alloc_sites;
	struct branches_code {		/* the bytes last reported for a block */
		const uint8_t *bytes;
		size_t len;
	} *codes;
	size_t nr_codes, alloc_codes;
	struct map code_of;		/* proc, address and length -> index in codes */
	struct arena mem;
	uint64_t nr_lost;
};

void branches_init(struct branches *b, struct names *names, const struct window *w);
void branches_release(struct branches *b);

/* Read once; fn gets every block in file order, and ends this by returning non-zero. */
int branches_read(struct branches *b, struct trace_reader *t, block_fn fn, void *ctx, struct err *e);

/* Return where an address of the process is, with the mappings of now. */
struct site branches_site(struct branches *b, uint32_t proc, uint64_t addr, uint64_t time_ns);
/* Return the bytes of the block as they were when it ran; NULL: not in the trace. */
const struct branches_code *branches_code(const struct branches *b, const struct block *x);

/* Return whether the trace is one of instructions. */
bool branches_are_in(const struct names *x);

#endif
