/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wallstack.h - where a blocked thread is, seen from outside, and why it waits. */
#ifndef COLLECT_WALLSTACK_H
#define COLLECT_WALLSTACK_H

#include "base/buf.h"
#include "collect/engine/tasks.h"
#include "collect/wall/waitfile.h"
#include "trace/frame.h"
#include "wall/wall.h"

struct collect;

/*
 * Frames, outermost first, of the thread whose slot is at s, of which copy was read: the user code that made
 * the system call. 0: it went on meanwhile.
 */
size_t wallstack_walk(struct collect *c, struct proc *p, const struct wall_slot *s,
		      const struct wall_slot *copy, struct frame *out);
/* Return the same of a thread that ended a block, as it was then. 0: not known. */
size_t wallstack_waker(struct collect *c, const struct wall_wake *at, struct frame *out);
/* "[read: pipe]": what it waits for, and its file. The slot's process may answer with anything. */
void wallstack_reason(const struct wall_slot *s, struct buf *text, struct waitfile *file);
/* The same when a JVM knows more; class: of what a thread is parked for, NULL: not known. */
void wallstack_java_reason(enum wall_reason reason, const char *class, struct buf *text);
/* Return the same of blocks that were not looked at: "[futex]". */
const char *wallstack_class(enum wall_class class);

#endif
