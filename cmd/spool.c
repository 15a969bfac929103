// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "spool.h"

int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e)
{
	char *path = xasprintf("%s/.%s", spool, what);
	int r = newfile_open(&p->file, path, &(struct newfile_opts){ .own = true, .secret = true }, e);

	free(path);
	p->raw = p->out = NULL;
	if (r)
		return r;
	p->raw = fdopen(fcntl(p->file.fd, F_DUPFD_CLOEXEC, 3), "w");
	if (!p->raw)
		return err_errno(e, "%s", spool);
	p->out = gzip_open(p->raw, e);
	return p->out ? 0 : -e->code;
}

int pack_end(struct packed *p, const char *path, struct err *e)
{
	int r = 0;

	if (p->out)
		fclose(p->out);
	if (p->raw) {
		if (path && (fflush(p->raw) || ferror(p->raw) || fsync(fileno(p->raw))))
			r = err_errno(e, "%s", path);
		if (fclose(p->raw) && !r)
			r = err_errno(e, "%s", path);
	}
	if (!r && path) {
		newfile_rename(&p->file, strrchr(path, '/') + 1);
		return newfile_close(&p->file, e);
	}
	newfile_abandon(&p->file);
	return r;
}

/* What pack_begin() and the list of sent files write before they rename it. */
static bool is_temporary(const char *name)
{
	int end = 0;

	if (!strcmp(name, "sent.new"))		/* of an earlier version */
		return true;
	return (sscanf(name, "sent.%*6[A-Za-z0-9]%n", &end), end == 11 && !name[end]) ||
	       (sscanf(name, ".nodes.%*6[A-Za-z0-9]%n", &end), end == 13 && !name[end]) ||
	       (sscanf(name, ".names.%*6[A-Za-z0-9]%n", &end), end == 13 && !name[end]) ||
	       (sscanf(name, ".otlp.%*6[A-Za-z0-9]%n", &end), end == 12 && !name[end]);
}

/* The recording whose names, or whose mark that it was tried, a file holds. */
static bool belongs_to(const char *name, uint64_t *id)
{
	int names = 0, tried = 0;

	sscanf(name, "%16" SCNx64 ".names.gz%n", id, &names);
	sscanf(name, "%16" SCNx64 ".tried%n", id, &tried);
	return (names && !name[names]) || (tried && !name[tried]);
}

void spool_sweep(const char *spool)
{
	struct map whole = { 0 };
	struct dirent *entry;
	struct segment s;
	DIR *d = opendir(spool);
	uint64_t id;

	while (d && (entry = readdir(d)))
		if (segment_parse(entry->d_name, &s))
			*map_put(&whole, s.id) = 1;
	if (d)
		rewinddir(d);
	while (d && (entry = readdir(d)))
		if (is_temporary(entry->d_name) ||
		    (belongs_to(entry->d_name, &id) && map_get(&whole, id) == MAP_NONE))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	map_release(&whole);
}
