/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symfile.h - one ELF file on this machine: its symbols, lines, inlined calls and
 * unwind rules.  Offsets are file offsets; the program headers translate.
 *
 * libelf and libdw parse; the tables that are searched are ours.  Everything but the
 * program headers is loaded when first asked for.
 */
#ifndef SYM_SYMFILE_H
#define SYM_SYMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct cache;
struct symfile;

#define BUILD_ID_MAX 64

/*
 * Opens path below root ("" or "/proc/PID/root").  When want_id is not NULL and the file's
 * build-id differs, -ESTALE; then root "" is places_symfs() first.  An image already in memory (the vdso)
 * goes through symfile_open_memory(), which copies nothing: data outlives the symfile.
 */
int symfile_open(struct symfile **f, const char *root, const char *path, const uint8_t *want_id,
		 size_t want_len, struct err *e);
/* Do the same with a descriptor that the caller keeps (path and root are still used to find debug files). */
int symfile_open_fd(struct symfile **f, int fd, const char *root, const char *path, struct err *e);
int symfile_open_memory(struct symfile **f, const void *data, size_t len, const char *name,
			struct err *e);
void symfile_close(struct symfile *f);

/*
 * Forgets what was worked out: it is again when it is asked for. Names and lines that f gave are no longer
 * valid, nor is anything that others made of its rules.
 */
void symfile_drop_tables(struct symfile *f);
/* Return roughly the memory of all that. */
size_t symfile_table_bytes(const struct symfile *f);

/*
 * Store what is computed about f in c, which outlives f, and look there first (cache.h); NULL: nothing is
 * stored.
 */
void symfile_set_cache(struct symfile *f, struct cache *c);

/* Return the build-id, borrowed; NULL and 0 when the file has none. */
const uint8_t *symfile_build_id(const struct symfile *f, size_t *len);

/* Convert between file offset and the address the file was linked at; UINT64_MAX if in no segment. */
uint64_t symfile_off_to_vaddr(const struct symfile *f, uint64_t off);
uint64_t symfile_vaddr_to_off(const struct symfile *f, uint64_t vaddr);

/*
 * Fetch from a server what was stripped off the file, and is not on this machine (places_fetch()). If it
 * comes, names that f gave are no longer valid; its rules are.
 */
void symfile_fetch(struct symfile *f, bool (*go_on)(void *ctx), void *ctx);

struct symbol {
	uint64_t off;		/* file offset of the first byte */
	uint64_t size;
	const char *name;	/* as the linker knows it; lives as long as the symfile */
};

/*
 * Find the function that contains off. It is from the best source there is: .symtab of the file or of its
 * debug file (.gnu_debuglink, build-id directories), .gnu_debugdata, .dynsym, .gopclntab, PLT entries
 * ("name@plt"). On a file without symbols there it is from the CFI's function bounds, named
 * "module+0x...". Returns false if nothing covers it.
 */
bool symfile_symbol(struct symfile *f, uint64_t off, struct symbol *s);

/*
 * Find where the function of that name begins, in the file. The name is the linker's, then of the default
 * version where there are several, or the one in the source, with or without its parameters. Fills *e and
 * returns -ENOENT if there is none or it is another file's, -EEXIST if there are several, -ENOTSUP for an
 * ifunc or a 32-bit file.
 */
int symfile_function(struct symfile *f, const char *name, uint64_t *off, struct err *e);
/*
 * Find the instructions by which the function that begins at off, in the file, ends: returns, and jumps to
 * other functions except through a register. Fill at with at most max of them; return how many, or -ENOTSUP,
 * -E2BIG, -EILSEQ, -EIO, and *e says why they are not known.
 */
int symfile_returns(struct symfile *f, uint64_t off, uint64_t *at, size_t max, struct err *e);

/*
 * Appends the name of the variable that the file, as it was linked, has at that address, with "+0x10" when
 * that is not its begin. Reads all symbols of the file. False: it has none there.
 */
bool symfile_object(struct symfile *f, uint64_t vaddr, struct buf *name);
/* Find a variable of that name, as the file was linked. Returns false if it exports none. */
bool symfile_exported(struct symfile *f, const char *name, uint64_t *vaddr);

struct srcline {
	const char *func;	/* linkage name, or plain name; NULL for the outermost level */
	const char *file;	/* NULL unknown */
	uint32_t line;		/* 0 unknown */
};

/*
 * Find lines and inlined calls at off, innermost first; return how many levels (0: no debug information), at
 * most max. Level 0's func is the innermost inlined function.
 */
size_t symfile_lines(struct symfile *f, uint64_t off, struct srcline *out, size_t max);

/* Return which source the symbols came from, for --verbose and doctor: ".symtab", ".dynsym", */
const char *symfile_symbol_source(struct symfile *f);
/* Return the same of lines: "DWARF", ".gopclntab", "none", or why what is there cannot be read. */
const char *symfile_lines_source(struct symfile *f);

#endif
