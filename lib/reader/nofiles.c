// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nofiles.c - symfile.h without files: libarcprof.a takes all names from the trace, so that it needs neither
 * libelf nor libdw, and a trace cannot make it open anything. And progress.h without a terminal, which is the
 * program's own.
 */
#include <errno.h>

#include "base/progress.h"
#include "sym/symfile.h"

int symfile_open(struct symfile **f, const char *root, const char *path, const uint8_t *want_id,
		 size_t want_len, struct err *e)
{
	*f = NULL;
	return err_set(e, ENOTSUP, "%s: files are not read", path);
}

void symfile_close(struct symfile *f)
{
}

bool symfile_symbol(struct symfile *f, uint64_t off, struct symbol *s)
{
	return false;
}

size_t symfile_lines(struct symfile *f, uint64_t off, struct srcline *out, size_t max)
{
	return 0;
}

void progress_start(struct progress *p, const char *what, uint64_t total)
{
}

void progress_update(struct progress *p, uint64_t done)
{
}

void progress_end(struct progress *p)
{
}
