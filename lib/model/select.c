// SPDX-License-Identifier: GPL-2.0-or-later
/* select.c - selects moments, processes, threads, modules and functions (select.h). */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/labels.h"
#include "model/select.h"
#include "trace/record.h"

static bool is_empty(const struct opt_list *l)
{
	return !l || !l->nr_items;
}

bool select_number(const struct opt_list *l, uint32_t nr)
{
	size_t i;

	for (i = 0; l && i < l->nr_items; i++)
		if (strtoul(l->items[i], NULL, 10) == nr)
			return true;
	return is_empty(l);
}

/* Match the whole name, or a pattern as the shell's; "[kernel.kallsyms]" is a name, too. */
bool select_name(const struct opt_list *l, const char *name)
{
	size_t i;

	for (i = 0; l && i < l->nr_items; i++)
		if (!strcmp(l->items[i], name) || !fnmatch(l->items[i], name, 0))
			return true;
	return is_empty(l);
}

static bool same_key(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return !strncmp(a, b, len) && b[len] == '=';
}

static bool has_label(const char *item, const char *labels)
{
	const char *pattern = strchr(item, '=');
	struct buf key = BUF_INIT, value = BUF_INIT;
	bool has;

	if (!pattern)
		return false;
	buf_add(&key, item, pattern - item);
	has = labels_value(labels, key.data, &value) &&
	      (!strcmp(pattern + 1, value.data) || !fnmatch(pattern + 1, value.data, 0));
	buf_release(&key);
	buf_release(&value);
	return has;
}

/* Match a path, a pattern, or a group that the process is below. */
static bool select_cgroup(const struct opt_list *l, const char *labels)
{
	struct buf path = BUF_INIT;
	bool has = is_empty(l);
	size_t i;

	if (!has && labels_value(labels, LABEL_CGROUP, &path))
		for (i = 0; !has && i < l->nr_items; i++)
			has = cgroup_is_below(path.data, l->items[i]) || !fnmatch(l->items[i], path.data, 0);
	buf_release(&path);
	return has;
}

/* Match an id, a pattern, or the first digits of an id, as tools for containers show them. */
static bool select_container(const struct opt_list *l, const char *labels)
{
	enum { LEAST_DIGITS = 6 };
	struct buf id = BUF_INIT;
	bool has = is_empty(l), known = !has && labels_value(labels, LABEL_CONTAINER, &id);
	size_t i;

	if (known)
		has = select_name(l, id.data);
	for (i = 0; known && !has && i < l->nr_items; i++) {
		size_t len = strspn(l->items[i], "0123456789abcdef");

		has = len >= LEAST_DIGITS && !l->items[i][len] && !strncmp(id.data, l->items[i], len);
	}
	buf_release(&id);
	return has;
}

/* Return whether it is the first of its key in the list. */
static bool is_first(const struct opt_list *l, size_t i)
{
	size_t k;

	for (k = 0; k < i && !same_key(l->items[i], l->items[k]); k++)
		;
	return k == i;
}

/*
 * Return a bit for each key in the list of which one fits the labels, SELECT_LABEL the first. NULL: for
 * each key.
 */
static uint32_t label_bits(const struct opt_list *l, const char *labels)
{
	uint32_t bits = 0, bit = SELECT_LABEL;
	size_t i, k;

	for (i = 0; l && i < l->nr_items && bit & SELECT_LABELS; i++) {
		if (!is_first(l, i))
			continue;
		for (k = i; k < l->nr_items; k++)
			if (same_key(l->items[i], l->items[k]) && (!labels || has_label(l->items[k], labels)))
				bits |= bit;
		bit <<= 1;
	}
	return bits;
}

bool select_function_part(const struct opt_list *l, const char *name)
{
	size_t i, len = strcspn(name, "("), part;

	for (i = 0; i < l->nr_items; i++) {
		part = strlen(l->items[i]);
		if (part && part < len && !strpbrk(l->items[i], "*?[") &&
		    !strncmp(name + len - part, l->items[i], part) && strchr(".:", name[len - part - 1]))
			return true;
	}
	return false;
}

bool select_labels(const struct opt_list *l, const char *labels)
{
	return label_bits(l, labels) == label_bits(l, NULL);
}

bool select_module(const struct opt_list *l, const char *path)
{
	const char *slash = strrchr(path, '/');

	return select_name(l, path) || (slash && slash[1] && select_name(l, slash + 1));
}

bool selection_has_names(const struct selection *s, uint32_t pid, uint32_t tid, const char *comm,
			 const char *thread)
{
	return select_number(&s->pids, pid) && select_number(&s->tids, tid) && select_name(&s->comms, comm) &&
	       select_name(&s->threads, thread);
}

uint32_t selection_wants(const struct selection *s)
{
	return (is_empty(&s->pids) ? 0 : SELECT_PID) | (is_empty(&s->comms) ? 0 : SELECT_COMM) |
	       (is_empty(&s->tids) ? 0 : SELECT_TID) | (is_empty(&s->threads) ? 0 : SELECT_THREAD) |
	       (is_empty(&s->modules) ? 0 : SELECT_MODULE) | (is_empty(&s->symbols) ? 0 : SELECT_SYMBOL) |
	       (s->off_cpu ? SELECT_OFF_CPU : 0) | label_bits(&s->labels, NULL) |
	       (is_empty(&s->cgroups) && is_empty(&s->containers) ? 0 : SELECT_GROUP);
}

bool consumer_is_wait(const struct model *m, uint32_t consumer)
{
	const struct consumer *c = &m->consumers.items[consumer];
	const char *name = model_str(m, c->name);

	return c->kind == CONSUMER_REASON && strcmp(name, REASON_ON_CPU) != 0 &&
	       strcmp(name, REASON_RUNNABLE) != 0;
}

uint32_t selection_has(const struct selection *s, const struct model *m, uint32_t consumer)
{
	const struct consumer *c = &m->consumers.items[consumer];
	const char *name = model_str(m, c->name);
	uint32_t has = 0;

	if (c->kind == CONSUMER_PROCESS) {
		has |= select_number(&s->pids, c->key >> 32) ? SELECT_PID : 0;
		has |= select_name(&s->comms, name) ? SELECT_COMM : 0;
		has |= label_bits(&s->labels, model_str(m, c->detail));
		has |= select_cgroup(&s->cgroups, model_str(m, c->detail)) &&
		       select_container(&s->containers, model_str(m, c->detail)) ? SELECT_GROUP : 0;
	} else if (c->kind == CONSUMER_LABEL) {
		has |= label_bits(&s->labels, name);
	} else if (c->kind == CONSUMER_THREAD) {
		has |= select_number(&s->tids, c->key) ? SELECT_TID : 0;
		has |= select_name(&s->threads, name) ? SELECT_THREAD : 0;
	} else {
		has |= c->module && select_module(&s->modules, model_str(m, c->module)) ? SELECT_MODULE : 0;
		has |= select_name(&s->symbols, name) ? SELECT_SYMBOL : 0;
		has |= consumer_is_wait(m, consumer) ? SELECT_OFF_CPU : 0;
	}
	return has & selection_wants(s);
}

bool selection_has_thread(const struct selection *s, const struct model *m, uint32_t process,
			  uint32_t thread)
{
	uint32_t want = selection_wants(s) & SELECT_BY_THREAD;

	return ((selection_has(s, m, process) | selection_has(s, m, thread)) & want) == want;
}
