// SPDX-License-Identifier: GPL-2.0-or-later
/* spool.c - the spool of fleet push: names, order and limits of what waits for a server (spool.h). */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "spool.h"

int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e)
{
	char *path = xasprintf("%s/.%s", spool, what);
	int r = newfile_open(&p->file, path, &(struct newfile_opts){ .own = true, .secret = true }, e);

	free(path);
	p->raw = p->out = NULL;
	p->len = 0;
	p->sync = true;
	if (r)
		return r;
	p->raw = fdopen(fcntl(p->file.fd, F_DUPFD_CLOEXEC, 3), "w");
	if (!p->raw)
		return err_errno(e, "%s", spool);
	return pack_part(p, e);
}

int pack_part(struct packed *p, struct err *e)
{
	p->out = gzip_open(p->raw, e);
	return p->out ? 0 : -e->code;
}

void pack_part_end(struct packed *p)
{
	fclose(p->out);
	p->out = NULL;
	p->len = ftello(p->raw);
}

int pack_end(struct packed *p, const char *path, struct err *e)
{
	/* its name would have its length, which is not known of what failed */
	int folder_len = path ? strrchr(path, '/') - path : 0, r = 0;

	if (p->out)
		pack_part_end(p);
	if (p->raw) {
		if (path && (fflush(p->raw) || ferror(p->raw) || (p->sync && fsync(fileno(p->raw)))))
			r = err_errno(e, "%.*s", folder_len, path);
		if (fclose(p->raw) && !r)
			r = err_errno(e, "%.*s", folder_len, path ? path : "");
	}
	if (!r && path) {
		newfile_rename(&p->file, strrchr(path, '/') + 1);
		return newfile_close(&p->file, e);
	}
	newfile_abandon(&p->file);
	return r;
}

uint64_t spool_len(const char *spool)
{
	DIR *d = opendir(spool);
	struct dirent *entry;
	uint64_t len = 0;
	struct stat st;

	while (d && (entry = readdir(d)))
		if (!fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			len += st.st_size;
	if (d)
		closedir(d);
	return len;
}

/* Return whether pack_begin(), or the list of sent files, writes such a name before renaming it. */
static bool is_temporary(const char *name)
{
	int end = 0;

	if (!strcmp(name, "sent.new"))		/* of an earlier version */
		return true;
	return (sscanf(name, "sent.%*6[A-Za-z0-9]%n", &end), end == 11 && !name[end]) ||
	       (sscanf(name, ".tables.%*6[A-Za-z0-9]%n", &end), end == 14 && !name[end]) ||
	       (sscanf(name, ".otlp.%*6[A-Za-z0-9]%n", &end), end == 12 && !name[end]);
}

void spool_sweep(const char *spool)
{
	struct dirent *entry;
	DIR *d = opendir(spool);

	while (d && (entry = readdir(d)))
		if (is_temporary(entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
}
