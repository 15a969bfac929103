/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.h - the files that a profile's addresses are in: their names and rules come from this machine's
 * file of that path, or perf's copy of it, if it has the build-id that the profile says.
 */
#ifndef FORMATS_MODULES_H
#define FORMATS_MODULES_H

#include "formats/sink.h"
#include "sym/symfile.h"
#include "unwind/unwind.h"

struct import_module {
	char *path;
	uint32_t flags;				/* enum module_flags */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;			/* 0: the profile does not say */
	uint64_t inode;				/* 0: the same */
	bool tried;
	struct symfile *file;			/* NULL: not there, or another one */
	struct unwind_module *unwind;
};

struct import_modules {
	struct import_module *items;		/* [number - 1] */
	size_t nr_items, alloc_items;
	struct map by_key;
	uint32_t nr_other;			/* files that are not here */
	uint32_t nr_unsure;			/* files whose build-id the profile does not say */
};

void import_modules_release(struct import_modules *m);

/* Set the build-id from its hexadecimal digits. Other text, such as ids of Go's linker, is ignored. */
void import_module_id(struct import_module *m, struct import_text digits);
/* Number of the module, written to the trace when new. */
uint32_t import_modules_get(struct import_modules *m, struct import *im, const struct import_module *like,
			    struct import_text path);
/* Return the file of a module; NULL: there is none that fits. */
struct symfile *import_modules_file(struct import_modules *m, uint32_t number);
struct unwind_module *import_modules_unwind(struct import_modules *m, uint32_t number);

/*
 * Write the names and lines of all addresses of the trace; after the last sample. kernel: the trace is of the
 * kernel running here, since the same boot.
 */
void import_modules_names(struct import_modules *m, struct import *im, bool kernel);

#endif
