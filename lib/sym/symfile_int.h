/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symfile_int.h - what the parts of a symfile know of each other; lib/unwind asks for the
 * rules and the image, nobody else includes this.
 */
#ifndef SYM_SYMFILE_INT_H
#define SYM_SYMFILE_INT_H

#include "base/hash.h"
#include "base/mem.h"
#include "sym/cfi.h"
#include "sym/gopclntab.h"
#include "sym/image.h"
#include "sym/symfile.h"
#include "sym/symtab.h"

struct cache;
struct lines;

struct symfile {
	struct image im;
	struct cache *cache;	/* borrowed; NULL: none */
	char *root, *path;
	uint8_t id[BUILD_ID_MAX];
	size_t id_len;

	bool fetch_tried;
	bool symbols_tried, debug_tried, eh_tried, frame_tried, lines_tried, go_tried;
	struct symtab symtab;
	const char *source;
	struct image debug;	/* the file with what was stripped; nr_secs is 0 without one */
	char *debug_path;
	struct cfi eh, frame;
	struct gopcln go;
	struct lines *lines;	/* NULL: no debug information */
	const char *lines_source;

	struct arena names;	/* of functions that only the CFI knows */
	struct map made;	/* their start -> index in made_names */
	const char **made_names;
	size_t nr_made, alloc_made;
};

/* Opens path as a process whose root directory is root sees it; -1 and errno. */
int debugfile_open_below(const char *root, const char *path, struct err *e);
/*
 * Looks for the file that was stripped off im: build-id directories, perf's copies, then .gnu_debuglink.
 * Fills *debug and *path (the caller frees); false: there is none.
 */
bool debugfile_find(const struct symfile *f, struct image *debug, char **path);
/* Do the same from a server (places.h). */
bool debugfile_fetch(const struct symfile *f, struct image *debug, char **path, bool (*go_on)(void *ctx),
		     void *ctx);
/* Find the file into which dwz moved what several debug files had in common. */
bool debugfile_find_common(const struct symfile *f, const struct image *im, struct image *common);
/* Read the symbols of .gnu_debugdata, an ELF file compressed by xz. */
int debugfile_minimal(struct symtab *t, const struct image *im, struct err *e);
/* Return the image of f's debug file, or NULL. */
const struct image *symfile_debug_image(struct symfile *f);

/* Return .eh_frame or .debug_frame (of the file or its debug file); NULL: none. */
const struct cfi *symfile_cfi(struct symfile *f, bool eh);
/* Return the functions of a Go program; NULL: it is none. */
const struct gopcln *symfile_go(struct symfile *f);
const struct image *symfile_image(const struct symfile *f);

/* Open debug information; NULL: there is none that libdw can read; *why says what there is, in any case. */
struct lines *lines_new(struct symfile *f, const char **why);
void lines_free(struct lines *l);
/* Return roughly its memory; NULL: none. */
size_t lines_bytes(const struct lines *l);
size_t lines_find(struct lines *l, uint64_t vaddr, struct srcline *out, size_t max);

#endif
