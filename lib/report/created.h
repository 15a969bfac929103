/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * created.h - which class created the objects of which: instead of who called whom.
 *
 * Below processes and threads are the classes whose methods allocated objects, and below these the classes
 * of what they allocated. Both are the same consumer where the class is the same, so a graph of calls becomes
 * one of classes: the parents of a class are those that create its objects, its children what it creates. Of
 * an object's creator the stack says the class alone, not which object of it that was. Code without a class
 * stands for itself: a module, or why nothing is known.
 */
#ifndef REPORT_CREATED_H
#define REPORT_CREATED_H

#include "base/err.h"
#include "flow/model.h"

/*
 * Changes the tree; what is not an object is not in it any more. -EINVAL: a metric is not of objects;
 * -ENODATA: there are none.
 */
int created_fold(struct model *m, struct err *e);

#endif
