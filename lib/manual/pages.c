// SPDX-License-Identifier: GPL-2.0-or-later
/* pages.c - finds the embedded manual pages (manual.h). */
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/mem.h"
#include "manual/manual.h"

extern const char manual_pages[], manual_pages_end[];

/* A file in the binary, without the line that names it. */
struct file {
	const char *name, *text;
	size_t name_len, len;
};

int manual_open(struct manual *m, struct err *e)
{
	enum { MAX_BYTES = 16 << 20 };
	int r;

	*m = (struct manual){ .files = BUF_INIT };
	r = gunzip_bytes(manual_pages, manual_pages_end - manual_pages, MAX_BYTES, &m->files, e);
	if (r)
		manual_release(m);
	return r;
}

void manual_release(struct manual *m)
{
	buf_release(&m->files);
}

/* *at is where the file begins, and then where the next one does; begin with 0. */
static bool next_file(const struct manual *m, size_t *at, struct file *f)
{
	const char *s = m->files.data + *at, *end = m->files.data + m->files.len, *next;

	if (s == end || *s != '\f')
		return false;
	f->name = s + 1;
	f->name_len = strcspn(f->name, "\n");
	f->text = f->name + f->name_len;
	f->text += f->text < end;
	next = memchr(f->text, '\f', end - f->text);
	next = next ? next : end;
	f->len = next - f->text;
	*at = next - m->files.data;
	return true;
}

static bool find_file(const struct manual *m, const char *name, size_t len, struct file *f)
{
	size_t at = 0;

	while (next_file(m, &at, f))
		if (f->name_len == len && !memcmp(f->name, name, len))
			return true;
	return false;
}

void manual_list(const struct manual *m, struct buf *names)
{
	const char *dot;
	struct file f;
	size_t at = 0;

	while (next_file(m, &at, &f)) {
		dot = memchr(f.name, '.', f.name_len);
		if (dot && !memchr(f.name, '/', f.name_len))
			buf_fmt(names, "%.*s\n", (int)(dot - f.name), f.name);
	}
}

struct joining {
	const struct manual *m;
	manual_part *part;
	struct buf *out;
};

/* name is that of the part with ".adoc" behind it. */
static void add_part(struct joining *j, const char *name, size_t len)
{
	char *part, *text = NULL;
	size_t text_len;
	FILE *f = open_memstream(&text, &text_len);

	if (!f)
		return;
	part = xstrndup(name, len - strlen(".adoc"));
	j->part(part, f);
	fclose(f);
	buf_add(j->out, text, text_len);
	free(part);
	free(text);
}

/* Returns how long the target of an include directive is, which *target becomes; 0: the line is none. */
static size_t included(const char *line, size_t len, const char **target)
{
	static const char directive[] = "include::";
	const char *end = memchr(line, '[', len);

	if (len < sizeof(directive) || memcmp(line, directive, sizeof(directive) - 1) || !end)
		return 0;
	*target = line + sizeof(directive) - 1;
	return end - *target;
}

/* Add a file; included files include none that include them. */
static void manual_pages_add_file(struct joining *j, const struct file *f)
{
	static const char made[] = "{options}/";
	const char *s = f->text, *end = f->text + f->len, *eol, *target;
	struct file other;
	size_t len;

	for (; s < end; s = eol) {
		eol = memchr(s, '\n', end - s);
		eol = eol ? eol + 1 : end;
		len = included(s, eol - s, &target);
		if (!len)
			buf_add(j->out, s, eol - s);
		else if (len > sizeof(made) + 4 && !memcmp(target, made, sizeof(made) - 1))
			add_part(j, target + sizeof(made) - 1, len - sizeof(made) + 1);
		else if (find_file(j->m, target, len, &other))
			manual_pages_add_file(j, &other);
	}
}

bool manual_page(const struct manual *m, const char *name, manual_part *part, struct buf *out)
{
	struct joining j = { m, part, out };
	char *file = xasprintf("%s.adoc", name);
	struct file f;
	bool found = !strchr(name, '/') && find_file(m, file, strlen(file), &f);

	free(file);
	if (found)
		manual_pages_add_file(&j, &f);
	return found;
}
