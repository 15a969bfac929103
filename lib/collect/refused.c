// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/refused.h"

enum { NR_EXAMPLES = 3, MAX_REASONS = 64 };

static struct reason *reason_of(struct refused *f, const char *why)
{
	size_t i;

	for (i = 0; i < f->nr_reasons; i++)
		if (!strcmp(f->reasons[i].why, why))
			return &f->reasons[i];
	if (f->nr_reasons == MAX_REASONS)
		return NULL;	/* they come from a JVM: there may be any number of them */
	VEC_GROW(f->reasons, f->nr_reasons, f->alloc_reasons);
	f->reasons[f->nr_reasons] = (struct reason){ .why = xstrdup(why) };
	return &f->reasons[f->nr_reasons++];
}

static void add_example(struct reason *x, const struct rec_call_refused *r)
{
	char *name = xasprintf("%s%s%s", r->class_name, *r->name ? "." : "", r->name), *both, *p;

	for (p = name; *p; p++)
		if (*p == '/')
			*p = '.';
	if (x->examples && strstr(x->examples, name)) {	/* with another signature */
		free(name);
		return;
	}
	both = x->examples ? xasprintf("%s, %s", x->examples, name) : xstrdup(name);
	free(x->examples);
	free(name);
	x->examples = both;
	x->nr_examples++;
}

void refused_add(struct refused *f, struct trace_writer *w, const struct rec_call_refused *r)
{
	struct reason *x = reason_of(f, r->why);

	trace_write_call_refused(w, r);
	if (!x)
		return;
	if (x->nr_examples < NR_EXAMPLES)
		add_example(x, r);
	*(*r->name ? &x->nr_methods : &x->nr_classes) += 1;
}

static void put_number(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_fmt(b, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

void refused_labels(const struct refused *f, struct trace_writer *w, size_t first)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < f->nr_reasons; i++) {
		const struct reason *x = &f->reasons[i];
		char key[32];

		buf_reset(&b);
		buf_str(&b, "calls of ");
		if (x->nr_methods)
			put_number(&b, x->nr_methods, "method", "methods");
		if (x->nr_methods && x->nr_classes)
			buf_str(&b, " and ");
		if (x->nr_classes)
			put_number(&b, x->nr_classes, "class", "classes");
		buf_fmt(&b, ": %s (%s%s)", x->why, x->examples,
			x->nr_methods + x->nr_classes > x->nr_examples ? ", ..." : "");
		snprintf(key, sizeof(key), "refused.%zu", first + i);
		trace_write_label(w, key, "%s", b.data);
	}
	buf_release(&b);
}

void refused_release(struct refused *f)
{
	size_t i;

	for (i = 0; i < f->nr_reasons; i++) {
		free(f->reasons[i].why);
		free(f->reasons[i].examples);
	}
	free(f->reasons);
}
