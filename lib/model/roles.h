/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roles.h - what a context of a model is there for: the program's own code, a library that it calls, the
 * way from a thread's start into the program, or a wait of a thread that has nothing to do.
 *
 * Reports that begin with what matters group by these; no sum changes, and nothing is dropped.
 */
#ifndef MODEL_ROLES_H
#define MODEL_ROLES_H

#include "base/opt.h"
#include "flow/model.h"

/* Check whether a method is of the JDK, or of the library or the runtime of another language of the JVM. */
bool role_is_platform(const char *method);
/* Check whether a function only leads from a thread's start to what the thread is for: Thread.run. */
bool role_is_entry(const struct model *m, uint32_t consumer);

/*
 * Set mine[consumer] for functions of the program's own code: those, or those of modules, that a pattern of
 * the list fits. Without a list Java methods of no platform, and native functions of programs, not of shared
 * libraries; nothing where the model has neither.
 */
void roles_mark_mine(const struct model *m, const struct opt_list *patterns, bool *mine);

/*
 * Set idle[node] for waits of the source "wall", and what is below them, in which a thread waits for work: in
 * the queue of its pool, in a selector, as a helper of the JVM.
 */
void roles_mark_idle(const struct model *m, bool *idle);

#endif
