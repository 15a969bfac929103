// SPDX-License-Identifier: GPL-2.0-or-later
/* same.c - names without addresses, counts and hashes. */
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "model/made.h"
#include "model/same.h"

static bool same_begins_with(const char *s, const char *with)
{
	return *s == *with && !strncmp(s, with, strlen(with));	/* asked at each letter of each name */
}

/* ---- native code ---- */

/*
 * Check for the mark of a clone or a part of a function: from here to the end the name only says which
 * one.
 */
static bool is_clone_mark(const char *s, size_t left)
{
	static const char *const marks[] = { ".cold", ".part", ".constprop", ".isra", ".llvm", ".lto_priv" };
	size_t i, len;

	if (*s == ' ')
		return left > 8 && same_begins_with(s, " [clone ");
	if (*s != '.')
		return false;
	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		len = strlen(marks[i]);
		if (len <= left && same_begins_with(s, marks[i]) && (len == left || s[len] == '.'))
			return true;
	}
	return false;
}

enum { RUST_HASH = 19 };	/* "::h" and 16 digits */

static size_t len_native(const char *name, size_t len)
{
	const char *hash;
	size_t i;

	for (i = 1; i < len; i++)
		if (is_clone_mark(name + i, len - i))
			return i;
	hash = name + len - RUST_HASH;
	if (len > RUST_HASH && same_begins_with(hash, "::h") && len_hex(hash + 3) >= RUST_HASH - 3)
		return len - RUST_HASH;
	return len;
}

/* Append the name without marks at its end; removing one may expose another. */
static void put_native(const char *name, struct buf *b)
{
	size_t len = strlen(name), cut;

	while ((cut = len_native(name, len)) < len)
		len = cut;
	buf_add(b, name, len);
}

/* ---- modules ---- */

/*
 * Return the length of a random part in the name of a temporary file: digits and hex digits, long and mixed.
 */
static size_t len_random(const char *s)
{
	size_t len = len_hex(s);

	return len >= 6 && strcspn(s, "0123456789") < len ? len : 0;
}

/* Find the last part of a path, without what follows its name: from *s to the result. */
static const char *end_of_module(const char **s)
{
	const char *end = strstr(*s, " (deleted)"), *slash, *so;

	if (!end)
		end = *s + strlen(*s);
	while (end > *s && end[-1] == '/')
		end--;
	for (slash = end; slash > *s && slash[-1] != '/'; slash--)
		;
	*s = slash;
	so = strstr(slash, ".so.");
	return so && so < end ? so + 3 : end;
}

void same_module(const char *path, struct buf *b)
{
	const char *end = end_of_module(&path);
	size_t len;

	buf_reset(b);
	buf_str(b, "");
	while (path < end) {
		len = MIN(len_random(path), (size_t)(end - path));
		buf_putc(b, len ? '*' : *path);
		path += len ? len : 1;
	}
}

/* "[unknown in libz.so.1.2.13]" */
static void put_unresolved(const char *name, struct buf *b)
{
	static const char in[] = "[unknown in ";
	struct buf module = BUF_INIT, same = BUF_INIT;
	size_t len = strlen(name);

	if (!same_begins_with(name, in) || name[len - 1] != ']') {
		buf_str(b, name);
		return;
	}
	buf_add(&module, name + strlen(in), len - strlen(in) - 1);
	same_module(module.data, &same);
	buf_fmt(b, "%s%s]", in, same.data);
	buf_release(&module);
	buf_release(&same);
}

/* ---- all ---- */

void same_name(const char *name, uint32_t kind, struct buf *b)
{
	buf_reset(b);
	buf_str(b, "");
	if (kind_is(kind, KIND_NATIVE) || kind == CONSUMER_KERNEL)
		put_native(name, b);
	else if (kind_is(kind, KIND_JVM) || kind == CONSUMER_ANY || kind == CONSUMER_FOLDED ||
		 kind == CONSUMER_CLASS)
		made_put(name, kind_is(kind, KIND_JAVA), b);
	else if (kind == CONSUMER_UNRESOLVED)
		put_unresolved(name, b);
	else
		buf_str(b, name);
}

static void put_same_thread(const char *name, struct buf *b)
{
	size_t len;

	buf_reset(b);
	buf_str(b, "");
	while (*name) {
		len = len_digits(name);
		buf_putc(b, len ? '*' : *name);
		name += len ? len : 1;
	}
}

static uint32_t kind_of_identity(const struct same_opts *o, uint32_t kind)
{
	if (o->kinds)
		return kind;
	return kind_is(kind, KIND_JAVA) ? CONSUMER_JAVA : kind_is(kind, KIND_NATIVE) ? CONSUMER_NATIVE : kind;
}

static uint64_t key_of_identity(const struct same_opts *o, const struct consumer *c)
{
	if (c->kind == CONSUMER_PROCESS && o->pids)
		return c->key;
	if (c->kind == CONSUMER_THREAD)
		return (o->pids ? c->key >> 32 << 32 : 0) | (o->tids ? (uint32_t)c->key : 0);
	return 0;
}

/* Append the labels of a process, without where it was. */
static void put_same_labels(const char *labels, struct buf *b)
{
	static const char *const of_groups[] = { LABEL_CGROUP "=", LABEL_CONTAINER "=" };
	size_t len;

	buf_reset(b);
	buf_str(b, "");
	for (; *labels; labels += len + (labels[len] == ',')) {
		len = strcspn(labels, ",");
		if (same_begins_with(labels, of_groups[0]) || same_begins_with(labels, of_groups[1]))
			continue;
		if (b->len)
			buf_putc(b, ',');
		buf_add(b, labels, len);
	}
}

void same_identify(const void *ctx, const struct model *from, uint32_t consumer, struct strtab *to,
		   struct consumer *x)
{
	static const struct same_opts none = { false };
	const struct same_opts *o = ctx ? ctx : &none;
	const struct consumer *c = &from->consumers.items[consumer];
	struct buf b = BUF_INIT;

	*x = (struct consumer){ .kind = kind_of_identity(o, c->kind), .key = key_of_identity(o, c) };
	if (c->kind == CONSUMER_THREAD && o->thread_digits)
		put_same_thread(model_str(from, c->name), &b);
	else
		same_name(model_str(from, c->name), c->kind, &b);
	x->name = strtab_add(to, b.data, b.len);
	if (c->module) {
		same_module(model_str(from, c->module), &b);
		x->module = strtab_add(to, b.data, b.len);
	}
	if (c->detail && c->kind == CONSUMER_PROCESS && o->labels && !o->groups) {
		put_same_labels(model_str(from, c->detail), &b);
		x->detail = strtab_add(to, b.data, b.len);
	} else if (c->detail && (c->kind != CONSUMER_PROCESS || o->labels)) {
		x->detail = strtab_adds(to, model_str(from, c->detail));
	}
	buf_release(&b);
}
