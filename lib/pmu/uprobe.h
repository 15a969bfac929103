/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uprobe.h - calls of functions of user code as perf events, and their returns: "uprobe:FILE:FUNCTION" and
 * "uprobe-return:FILE:FUNCTION".
 *
 * They are tracepoints that are made in tracefs, as perf-probe(1) makes them. The kernel's type of perf
 * event for this, "uprobe", needs nothing there, but threads and children cannot inherit it: the kernel
 * would read the name of the file in their memory, with their rights, and their clone(2) fails.
 */
#ifndef PMU_UPROBE_H
#define PMU_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pmu/event.h"

/* Return whether the name of an event begins like one of these. */
bool uprobe_is_named(const char *name);
/* Return whether it is an event of returns. */
bool uprobe_is_return(const char *name);
/*
 * Parse the event of that name: a tracepoint, whose number is 0 until uprobe_add() gives one. -EINVAL: a part
 * of the name is missing, or it is too long.
 */
int uprobe_parse(const char *name, struct pmu_event *ev, struct err *e);
/* Split a name that uprobe_parse() took; function is in name. The caller frees *file. */
void uprobe_split(const char *name, char **file, const char **function);

/* Tracepoints that this process has made; {-1, -1} before the first. */
struct uprobes {
	int events, list;	/* the folder and the file of tracefs */
	unsigned int nr;
};
#define UPROBES_INIT { .events = -1, .list = -1 }

/* 0, or -EACCES or -ENOTSUP: *e says why uprobe_add() would fail, and what would help. */
int uprobes_allowed(struct err *e);
/*
 * Makes a tracepoint of the instructions at these offsets of an open file; *id is its number, for
 * perf_event_attr.config. The first one also takes away those of processes that were killed before they
 * could. -EACCES, -ENOTSUP: *e says what would help.
 */
int uprobe_add(struct uprobes *u, int fd, const uint64_t *offs, size_t nr, uint64_t *id, struct err *e);
/* Takes them away: the events on them must be closed. Rights that were given up since are not needed. */
void uprobes_release(struct uprobes *u);

#endif
