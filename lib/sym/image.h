/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - the bytes of one ELF file, read with every offset and size checked.
 *
 * A file is read with pread(), never mapped: one that is truncated or rewritten while we read
 * it gives short reads, where a mapping gives SIGBUS.  Headers are widened to 64 bits, so that
 * only this file knows the two classes.  Little-endian files only.
 */
#ifndef SYM_IMAGE_H
#define SYM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct image_section {
	const char *name;	/* lives as long as the image; "" when damaged */
	uint32_t type;
	uint32_t link, info;
	uint64_t flags;
	uint64_t addr, off, size;
};

struct image_segment {
	uint32_t type, flags;
	uint64_t off, vaddr, filesz, memsz;
};

struct image {
	int fd;			/* -1: mem */
	const uint8_t *mem;
	uint8_t *owned;		/* freed with the image, or NULL */
	uint64_t len;
	bool is64;
	uint16_t type, machine;
	uint64_t entry;
	struct image_segment *segs;
	size_t nr_segs;
	struct image_section *secs;	/* may be none: stripped of their table */
	size_t nr_secs;
	char *shstr;
};

/* Bytes of a section; release with image_bytes_release(). */
struct image_bytes {
	const uint8_t *data;
	size_t len;
	uint8_t *owned;
};

/* Takes fd, also when it fails. name is for the messages. */
int image_open_fd(struct image *im, int fd, const char *name, struct err *e);
/* Open an image in memory; data outlives it; owned (or NULL) is freed with it, also on failure. */
int image_open_memory(struct image *im, const void *data, size_t len, uint8_t *owned,
		      const char *name, struct err *e);
void image_close(struct image *im);

/* Read the len bytes at off; return 0, or -EIO if the file is shorter. */
int image_read(const struct image *im, uint64_t off, void *to, size_t len);

/* Return the first section of that name with bytes in the file, or NULL. */
const struct image_section *image_section(const struct image *im, const char *name);
const struct image_section *image_section_at(const struct image *im, uint64_t vaddr);

/*
 * Load the contents, decompressed. -ENODATA: no bytes in the file; -EILSEQ: damaged; -ENOTSUP: a compression
 * that is not built in.
 */
int image_load(const struct image *im, const struct image_section *s, struct image_bytes *b,
	       struct err *e);
/* Return how many bytes image_load() would give; the errors are the same. */
int image_loaded_size(const struct image *im, const struct image_section *s, uint64_t *size, struct err *e);
/* Do what image_load() does, to size bytes of the caller's, as many as image_loaded_size() returned. */
int image_load_into(const struct image *im, const struct image_section *s, void *to, uint64_t size,
		    struct err *e);
/* Load the len bytes at off, which no section has to describe. */
int image_load_range(const struct image *im, uint64_t off, uint64_t len, struct image_bytes *b,
		     struct err *e);
void image_bytes_release(struct image_bytes *b);

uint64_t image_off_to_vaddr(const struct image *im, uint64_t off);	/* UINT64_MAX: nowhere */
uint64_t image_vaddr_to_off(const struct image *im, uint64_t vaddr);
/* Return the executable segment that holds vaddr, or NULL. */
const struct image_segment *image_text(const struct image *im, uint64_t vaddr);
uint64_t image_base(const struct image *im);	/* lowest address of a loaded segment */

/* Get the build-id from the notes; return its length, at most max, 0: none. */
size_t image_build_id(const struct image *im, uint8_t *id, size_t max);

#endif
