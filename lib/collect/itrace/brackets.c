// SPDX-License-Identifier: GPL-2.0-or-later
/* brackets.c - selects the calls whose instructions are traced, and sums the results (brackets.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "collect/calls/callflow.h"
#include "collect/itrace/brackets.h"

struct bracket_area {
	struct bracket_area *next;
	struct jvm *jvm;
	struct callflow_area *area;
	uint64_t bytes;
};

static void set_open(struct callflow_area *a, bool open)
{
	store_relaxed(&a->bracket_closed, !open);
}

int brackets_new(struct brackets *b, struct jvm *jvm, uint64_t *bytes)
{
	struct callflow_area *area;
	struct bracket_area *x;
	int fd = callflow_make_area(b->layout, &area, bytes);

	if (fd < 0)
		return -1;
	set_open(area, b->open);
	x = xmalloc(sizeof(*x));
	*x = (struct bracket_area){ b->areas, jvm, area, *bytes };
	b->areas = x;
	b->res->nr_jvms++;
	return fd;
}

static uint64_t counter(const uint64_t *p)
{
	return load_relaxed(p);
}

void brackets_gone(struct brackets *b, struct jvm *jvm)
{
	struct bracket_area **p = &b->areas, *x;

	while ((x = *p) && x->jvm != jvm)
		p = &x->next;
	if (!x)
		return;
	b->res->nr_methods += counter(&x->area->bracket_methods);
	b->res->nr_calls += counter(&x->area->bracket_calls);
	b->res->nr_begun += counter(&x->area->bracket_begun);
	b->res->nr_refused += counter(&x->area->bracket_refused);
	*p = x->next;
	munmap(x->area, x->bytes);
	free(x);
}

void brackets_refused(struct brackets *b, const struct jvm_refused *r)
{
	char *p, *end = b->res->why_not;

	if (*b->res->why_not)
		return;
	snprintf(b->res->why_not, sizeof(b->res->why_not), "%s%s%s: %s", r->class_name,
		 *r->name ? "." : "", r->name, r->why);
	end += MIN(strlen(r->class_name), strlen(b->res->why_not));
	for (p = b->res->why_not; p < end; p++)
		if (*p == '/')
			*p = '.';
}

static void set_all(struct brackets *b, bool open)
{
	struct bracket_area *x;

	b->open = open;
	for (x = b->areas; x; x = x->next)
		set_open(x->area, open);
}

void brackets_open(struct brackets *b)
{
	set_all(b, true);
}

void brackets_close(struct brackets *b)
{
	set_all(b, false);
}
