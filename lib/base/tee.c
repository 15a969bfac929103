// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tee.c - a stream that writes to standard output and a file (newfile.h). It is apart from newfile.c, which
 * the reader of libarcprof.a has, too: that refers to no stream of the program.
 */
#include <string.h>
#include <sys/types.h>

#include "base/io.h"
#include "base/newfile.h"

static void tee_note_error(struct tee *t, int code)
{
	if (code && !t->code)
		t->code = code;
}

/* Write every byte to both, even if one fails. */
static ssize_t write_both(void *cookie, const char *p, size_t len)
{
	struct tee *t = cookie;
	struct err e;

	fwrite(p, 1, len, stdout);
	if (t->code)
		return len;
	tee_note_error(t, -io_write_quietly(t->file.fd, p, len));
	if (!t->code && newfile_commit(&t->file, &e))	/* from now on others can follow it */
		tee_note_error(t, e.code);
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
	if (newfile_open(&t->file, path, &(struct newfile_opts){ .secret = false }, e))
		return err_wrap(e, "cannot write");
	t->out = fopencookie(t, "w", io);
	if (t->out)
		return 0;
	newfile_abandon(&t->file);
	return err_errno(e, "cannot write %s", path);
}

void tee_flush(struct tee *t)
{
	if (t->out != stdout)
		fflush(t->out);
	fflush(stdout);
}

int tee_close(struct tee *t, struct err *e)
{
	struct err why;

	if (t->out == stdout)
		return 0;
	tee_flush(t);
	fclose(t->out);
	t->out = stdout;
	if (t->code)
		newfile_abandon(&t->file);
	else if (newfile_close(&t->file, &why))
		tee_note_error(t, why.code);
	if (t->code)
		return err_set(e, t->code, "cannot write %s: %s", t->path, strerror(t->code));
	return 0;
}
