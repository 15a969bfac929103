// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/tee.h"

/* Both get every byte, whatever becomes of the other. */
static ssize_t write_both(void *cookie, const char *p, size_t len)
{
	struct tee *t = cookie;

	fwrite(p, 1, len, stdout);
	errno = 0;
	if (fwrite(p, 1, len, t->file) != len && !t->code)
		t->code = errno ? errno : EIO;
	return len;
}

int tee_open(struct tee *t, const char *path, struct err *e)
{
	cookie_io_functions_t io = { .write = write_both };

	memset(t, 0, sizeof(*t));
	t->path = path;
	t->out = stdout;
	if (!path)
		return 0;
	t->file = fopen(path, "we");
	if (!t->file)
		return err_errno(e, "cannot write %s", path);
	t->out = fopencookie(t, "w", io);
	if (t->out)
		return 0;
	fclose(t->file);
	return err_errno(e, "cannot write %s", path);
}

void tee_flush(struct tee *t)
{
	if (t->file)
		fflush(t->out);
	fflush(stdout);
	if (t->file && fflush(t->file) && !t->code)
		t->code = errno;
}

int tee_close(struct tee *t, struct err *e)
{
	if (!t->file)
		return 0;
	tee_flush(t);
	fclose(t->out);
	if (fclose(t->file) && !t->code)
		t->code = errno;
	t->file = NULL;
	if (t->code)
		return err_set(e, t->code, "cannot write %s: %s", t->path, strerror(t->code));
	return 0;
}
