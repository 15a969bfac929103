/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loads.h - what belongs to the load of a class and is in records of its own: which method caused it
 * (struct rec_load_cause), when it began and how long it took (EVENT_CLASS_TIME).
 */
#ifndef MODEL_LOADS_H
#define MODEL_LOADS_H

#include <stddef.h>
#include <stdint.h>

struct event;

struct load_part {		/* of such a record */
	uint64_t time_ns, duration_ns, own_ns;
	uint32_t proc, thread;	/* numbers of the trace */
	uint32_t what;		/* string: the class; 0 of a cause */
	uint32_t text;		/* string: the method, or where the class came from */
};

struct load_parts {
	struct load_part *list;
	size_t nr, alloc;
};

void load_parts_add(struct load_parts *p, const struct load_part *part);
/*
 * Adds each to the load that it belongs to: a cause to that of its time, a duration to the first one of its
 * class and thread since it began. Those that have none are forgotten.
 */
void load_parts_join(struct load_parts *p, struct event *list, size_t nr);
/*
 * Leave out loads of a class that its loader had loaded before. A JVM reports a class again when another
 * loader gets it from that one, and those present each time that the events are switched on. Returns how
 * many events are left.
 */
size_t loads_drop_repeated(struct event *list, size_t nr);
void load_parts_release(struct load_parts *p);

#endif
