// SPDX-License-Identifier: GPL-2.0-or-later
/* loads.c - assigns causes and times to loads of classes (loads.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "model/events.h"
#include "model/loads.h"

void load_parts_add(struct load_parts *p, const struct load_part *part)
{
	*VEC_ADD(p->list, p->nr, p->alloc) = *part;
}

void load_parts_release(struct load_parts *p)
{
	free(p->list);
	*p = (struct load_parts){ .nr = 0 };
}

struct load {
	struct load_part key;	/* its process, thread, class and time */
	struct event *event;
	bool timed;
};

/* Order by process, thread and class, then by time. */
static int compare_load_parts(const struct load_part *x, const struct load_part *y)
{
	return COMPARE(x->proc, y->proc) ?: COMPARE(x->thread, y->thread) ?: COMPARE(x->what, y->what) ?:
	       COMPARE(x->time_ns, y->time_ns);
}

static int by_key(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return compare_load_parts(&x->key, &y->key);
}

static int by_part(const void *a, const void *b)
{
	return compare_load_parts(a, b);
}

/* Index the loads in the order of parts, or for causes by time alone. */
static struct load *index_loads(struct event *list, size_t nr, bool of_class, size_t *nr_loads)
{
	struct load *loads = xcalloc(nr, sizeof(*loads));
	size_t i;

	*nr_loads = 0;
	for (i = 0; i < nr; i++)
		if (list[i].kind == EVENT_CLASS_LOAD)
			loads[(*nr_loads)++] = (struct load){
				.key = {
					.time_ns = list[i].time_ns, .proc = list[i].proc_number,
					.thread = of_class ? list[i].carrier : 0,
					.what = of_class ? list[i].what : 0,
				},
				.event = &list[i],
			};
	qsort(loads, *nr_loads, sizeof(*loads), by_key);
	return loads;
}

/* Return the first that is not before; nr: none. */
static size_t first_since(const struct load *loads, size_t nr, const struct load_part *p)
{
	return BISECT(i, nr, compare_load_parts(&loads[i].key, p) < 0);
}

static bool same_place(const struct load_part *x, const struct load_part *y)
{
	return x->proc == y->proc && x->thread == y->thread && x->what == y->what;
}

/* Join a cause by time. For a virtual thread it has the carrier, which the VM takes for the loader. */
static void join_cause(struct load *loads, size_t nr, const struct load_part *p)
{
	const struct load_part at = { .time_ns = p->time_ns, .proc = p->proc };
	struct load *found = NULL;
	size_t i;

	for (i = first_since(loads, nr, &at); i < nr && !compare_load_parts(&loads[i].key, &at); i++)
		if (!found || loads[i].event->thread_number == p->thread)
			found = &loads[i];
	if (!found)
		return;
	found->event->by = p->text;
	found->event->carrier = p->thread;
}

static void join_time(struct load *loads, size_t nr, const struct load_part *p)
{
	size_t i = first_since(loads, nr, p);

	if (i == nr || !same_place(&loads[i].key, p) || loads[i].timed)
		return;
	loads[i].timed = true;
	loads[i].event->time_ns = p->time_ns;
	loads[i].event->duration_ns = p->duration_ns;
	loads[i].event->values[0] = p->own_ns;
	loads[i].event->source = p->text;
}

static bool is_of_class(const struct event *x)
{
	return x->kind == EVENT_CLASS_LOAD || x->kind == EVENT_CLASS_PRESENT;
}

static bool same_class(const struct event *x, const struct event *y)
{
	return x->proc_number == y->proc_number && x->what == y->what && x->cause == y->cause;
}

/* Order by process, class and loader, then as before. */
static int by_class(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return COMPARE(x->proc_number, y->proc_number) ?: COMPARE(x->what, y->what) ?:
	       COMPARE(x->cause, y->cause) ?: COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x, y);
}

size_t loads_drop_repeated(struct event *list, size_t nr)
{
	struct event **loads = xcalloc(nr, sizeof(*loads));
	bool *dropped = xcalloc(nr, sizeof(*dropped));
	size_t nr_loads = 0, left = 0, i;

	for (i = 0; i < nr; i++)
		if (is_of_class(&list[i]))
			loads[nr_loads++] = &list[i];
	qsort(loads, nr_loads, sizeof(*loads), by_class);
	for (i = 1; i < nr_loads; i++)
		if (same_class(loads[i], loads[i - 1]))
			dropped[loads[i] - list] = true;
	for (i = 0; i < nr; i++)
		if (!dropped[i])
			list[left++] = list[i];
	free(dropped);
	free(loads);
	return left;
}

void load_parts_join(struct load_parts *p, struct event *list, size_t nr)
{
	size_t nr_loads, i;
	struct load *loads;

	if (!p->nr)
		return;
	/* the last that began before a load is the one that it belongs to */
	qsort(p->list, p->nr, sizeof(*p->list), by_part);
	loads = index_loads(list, nr, false, &nr_loads);
	for (i = 0; i < nr; i++)
		list[i].carrier = list[i].thread_number;
	for (i = 0; i < p->nr; i++)
		if (!p->list[i].what)
			join_cause(loads, nr_loads, &p->list[i]);
	free(loads);
	loads = index_loads(list, nr, true, &nr_loads);
	for (i = p->nr; i-- > 0;)
		if (p->list[i].what)
			join_time(loads, nr_loads, &p->list[i]);
	free(loads);
}
