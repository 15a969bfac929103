// SPDX-License-Identifier: GPL-2.0-or-later
/* answer.c - turns rows of a database into text that input_tree() reads (answer.h). */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "fleet/answer.h"
#include "fleet/id.h"

enum { NAME_FIELDS = 5, HEAD_FIELDS = 4, ROW_FIELDS = 7, MAX_FIELDS = 7 };

struct field {
	const char *s;
	int len;
};

struct reader {
	struct strtab texts;		/* processes and threads that are known */
	struct map name_of;		/* a function's number -> index in name_at[], which has its line */
	const char **name_at;
	size_t nr_name_at, alloc_name_at;
	struct map head_of;		/* a head's number -> index in heads */
	struct answer_head {
		uint32_t process, thread;	/* their lines; 0: none */
		struct field name, labels;	/* of the thread, or else of the process */
	} *heads;
	size_t nr_heads, alloc_heads;
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

/* Return a key for the text of a number: itself, as every engine writes one in the same way. */
static uint64_t number_key(struct field f)
{
	bool minus = f.len && *f.s == '-';
	uint64_t v = 0;
	int i;

	for (i = minus; i < f.len; i++)
		v = v * 10 + (unsigned char)(f.s[i] - '0');
	return minus ? -v : v;
}

static int read_names(struct reader *x, const char *p, struct err *e)
{
	struct field f[MAX_FIELDS];
	size_t line;

	for (line = 1; *p; line++) {
		const char *at = p;

		if (!split(&p, f, NAME_FIELDS))
			return bad_line(e, "the function", line);
		*map_put(&x->name_of, number_key(f[0])) = x->nr_name_at;
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

static int read_heads(struct reader *x, const char *p, struct err *e)
{
	const struct field none = { "", 0 };
	struct field f[MAX_FIELDS];
	size_t line;

	for (line = 1; *p; line++) {
		struct answer_head h = { 0 };

		if (!split(&p, f, HEAD_FIELDS))
			return bad_line(e, "the thread", line);
		h.process = f[1].len ? head(x, 0, f[1], "process", f[3]) : 0;
		h.thread = f[2].len ? head(x, h.process, f[2], "thread", none) : h.process;
		h.name = f[2].len ? f[2] : f[1];
		h.labels = f[2].len ? none : f[3];
		*map_put(&x->head_of, number_key(f[0])) = x->nr_heads;
		VEC_GROW(x->heads, x->nr_heads, x->alloc_heads);
		x->heads[x->nr_heads++] = h;
	}
	return 0;
}

/* Add a further row for what the process or thread consumed itself. */
static void put_own(struct reader *x, const struct field *f, const struct answer_head *h)
{
	bool is_thread = h->thread != h->process;
	uint32_t parent = is_thread ? h->process : 0;

	buf_fmt(x->tree, "h%u\t", h->thread);
	buf_fmt(x->tree, parent ? "h%u\t" : "%u\t", parent);
	put_fields(x->tree, f + 5, 2);
	buf_fmt(x->tree, "%.*s\t%s\t\t%.*s\t0\n", h->name.len, h->name.s, is_thread ? "thread" : "process",
		h->labels.len, h->labels.s);
}

static bool is(struct field f, const char *text)
{
	return f.len == (int)strlen(text) && !memcmp(f.s, text, f.len);
}

/* Append the key of a context: its thread, its path and its function. */
static void put_context(struct buf *b, uint32_t thread, struct field path, struct field func)
{
	buf_fmt(b, "%u:", thread);
	buf_add(b, path.s, path.len);
	buf_putc(b, ':');
	buf_add(b, func.s, func.len);
	buf_putc(b, '\t');
}

static int answer_put_row(struct reader *x, const struct field *f, size_t line, struct err *e)
{
	uint32_t at = map_get(&x->head_of, number_key(f[0])), name = map_get(&x->name_of, number_key(f[3]));
	const struct answer_head *h = at == MAP_NONE ? NULL : &x->heads[at];
	struct field of[MAX_FIELDS];
	const char *s;

	if (!h || name == MAP_NONE)
		return err_set(e, EINVAL, "the server's answer: the %s in line %zu has no name",
			       h ? "function" : "thread", line);
	s = x->name_at[name];
	split(&s, of, NAME_FIELDS);
	if (h->thread && is(of[1], "mark") && is(of[2], FLEET_OWN)) {
		put_own(x, f, h);
		return 0;
	}
	put_context(x->tree, h->thread, f[1], f[3]);
	if (!is(f[2], "0"))
		put_context(x->tree, h->thread, f[2], f[4]);
	else
		buf_fmt(x->tree, h->thread ? "h%u\t" : "%u\t", h->thread);
	put_fields(x->tree, f + 5, 2);
	put_fields(x->tree, of + 2, 1);
	put_fields(x->tree, of + 1, 1);
	put_fields(x->tree, of + 3, 2);
	buf_str(x->tree, "0\n");
	return 0;
}

int answer_tree(const struct answer *a, struct buf *tree, struct err *e)
{
	struct reader x = { .tree = tree };
	const char *rows = a->rows;
	struct field f[MAX_FIELDS];
	size_t line;
	int r;

	strtab_init(&x.texts);
	r = read_names(&x, a->names, e);
	if (!r)
		r = read_heads(&x, a->heads, e);
	for (line = 1; !r && *rows; line++)
		r = split(&rows, f, ROW_FIELDS) ? answer_put_row(&x, f, line, e) :
						  bad_line(e, "the context", line);
	strtab_release(&x.texts);
	map_release(&x.name_of);
	map_release(&x.head_of);
	map_release(&x.seen);
	free(x.name_at);
	free(x.heads);
	buf_release(&x.key);
	return r;
}
