// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/gzip.h"
#include "base/mem.h"
#include "spool.h"

int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e)
{
	int fd;

	p->raw = p->out = NULL;
	p->temporary = xasprintf("%s/.%s.XXXXXX", spool, what);
	fd = mkostemp(p->temporary, O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "%s", spool);
	p->raw = fdopen(fd, "w");
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
		fclose(p->raw);
	}
	if (!r && path && rename(p->temporary, path))
		r = err_errno(e, "%s", path);
	if (r || !path)
		unlink(p->temporary);
	free(p->temporary);
	return r;
}
