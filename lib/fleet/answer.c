// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "fleet/answer.h"
#include "fleet/id.h"

enum { NAME_FIELDS = 5, ROW_FIELDS = 9, MAX_FIELDS = 9 };

struct field {
	const char *s;
	int len;
};

struct reader {
	struct strtab texts;		/* functions, and processes and threads that are known */
	struct map name_of;		/* a function's text -> index in name_at[], which has its line */
	const char **name_at;
	size_t nr_name_at, alloc_name_at;
	struct map seen;		/* processes and threads that have a line */
	struct buf key;
	struct buf *tree;
};

/* The fields of the line at *p, which then is behind it; false: there are more or fewer. */
static bool split(const char **p, struct field *f, int nr)
{
	const char *s = *p, *end = s + strcspn(s, "\n");
	int i;

	for (i = 0; i < nr && s; i++) {
		const char *tab = memchr(s, '\t', end - s);

		f[i] = (struct field){ s, (tab ? tab : end) - s };
		s = tab ? tab + 1 : NULL;
	}
	*p = end + (*end == '\n');
	return i == nr && !s;
}

static int bad_line(struct err *e, const char *what, size_t line)
{
	return err_set(e, EINVAL, "the server's answer: %s in line %zu does not have the expected fields", what,
		       line);
}

static int read_names(struct reader *x, const char *p, struct err *e)
{
	struct field f[MAX_FIELDS];
	size_t line;

	for (line = 1; *p; line++) {
		const char *at = p;

		if (!split(&p, f, NAME_FIELDS))
			return bad_line(e, "the function", line);
		*map_put(&x->name_of, strtab_add(&x->texts, f[0].s, f[0].len)) = x->nr_name_at;
		VEC_GROW(x->name_at, x->nr_name_at, x->alloc_name_at);
		x->name_at[x->nr_name_at++] = at;
	}
	return 0;
}

static void put_fields(struct buf *b, const struct field *f, int nr)
{
	for (; nr; nr--, f++) {
		buf_add(b, f->s, f->len);
		buf_putc(b, '\t');
	}
}

/* Appends the line of a process or thread, if it is the first time; returns its number. */
static uint32_t head(struct reader *x, uint32_t parent, struct field name, const char *kind,
		     struct field labels)
{
	uint32_t id;

	buf_reset(&x->key);
	buf_fmt(&x->key, "%s %u %.*s\t%.*s", kind, parent, name.len, name.s, labels.len, labels.s);
	id = strtab_add(&x->texts, x->key.data, x->key.len);
	if (map_get(&x->seen, id) == MAP_NONE) {
		*map_put(&x->seen, id) = id;
		buf_fmt(x->tree, "h%u\t", id);
		buf_fmt(x->tree, parent ? "h%u\t" : "%u\t", parent);
		buf_fmt(x->tree, "0\t0\t%.*s\t%s\t\t%.*s\t0\n", name.len, name.s, kind, labels.len, labels.s);
	}
	return id;
}

/* What the process or thread consumed itself: a further row of it. */
static void put_own(struct reader *x, const struct field *f, uint32_t thread, uint32_t process)
{
	bool is_thread = f[1].len;
	struct field name = is_thread ? f[1] : f[0], labels = is_thread ? (struct field){ "", 0 } : f[2];
	uint32_t parent = is_thread ? process : 0;

	buf_fmt(x->tree, "h%u\t", thread);
	buf_fmt(x->tree, parent ? "h%u\t" : "%u\t", parent);
	put_fields(x->tree, f + 7, 2);
	buf_fmt(x->tree, "%.*s\t%s\t\t%.*s\t0\n", name.len, name.s, is_thread ? "thread" : "process",
		labels.len, labels.s);
}

static bool is(struct field f, const char *text)
{
	return f.len == (int)strlen(text) && !memcmp(f.s, text, f.len);
}

static int answer_put_row(struct reader *x, const struct field *f, size_t line, struct err *e)
{
	const struct field none = { "", 0 };
	uint32_t process = f[0].len ? head(x, 0, f[0], "process", f[2]) : 0;
	uint32_t thread = f[1].len ? head(x, process, f[1], "thread", none) : process;
	uint32_t name = map_get(&x->name_of, strtab_add(&x->texts, f[5].s, f[5].len));
	struct field of[MAX_FIELDS];
	const char *at;

	if (name == MAP_NONE)
		return err_set(e, EINVAL, "the server's answer: the function in line %zu has no name", line);
	at = x->name_at[name];
	split(&at, of, NAME_FIELDS);
	if (thread && is(of[1], "mark") && is(of[2], FLEET_OWN)) {
		put_own(x, f, thread, process);
		return 0;
	}
	buf_fmt(x->tree, "%u:%.*s:%.*s\t", thread, f[3].len, f[3].s, f[5].len, f[5].s);
	if (!is(f[4], "0"))
		buf_fmt(x->tree, "%u:%.*s:%.*s\t", thread, f[4].len, f[4].s, f[6].len, f[6].s);
	else
		buf_fmt(x->tree, thread ? "h%u\t" : "%u\t", thread);
	put_fields(x->tree, f + 7, 2);
	put_fields(x->tree, of + 2, 1);
	put_fields(x->tree, of + 1, 1);
	put_fields(x->tree, of + 3, 2);
	buf_str(x->tree, "0\n");
	return 0;
}

int answer_tree(const char *names, const char *rows, struct buf *tree, struct err *e)
{
	struct reader x = { .tree = tree };
	struct field f[MAX_FIELDS];
	size_t line;
	int r;

	strtab_init(&x.texts);
	r = read_names(&x, names, e);
	for (line = 1; !r && *rows; line++)
		r = split(&rows, f, ROW_FIELDS) ? answer_put_row(&x, f, line, e) : bad_line(e, "the context", line);
	strtab_release(&x.texts);
	map_release(&x.name_of);
	map_release(&x.seen);
	free(x.name_at);
	buf_release(&x.key);
	return r;
}
