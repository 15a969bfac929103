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

/* Check whether a consumer is a function, or stands for some. */
static inline bool role_is_code(uint32_t kind)
{
	return kind_is(kind, KIND_CODE | KIND_FOLDS) && kind != CONSUMER_CLASS;
}

/* Check whether a method is of the JDK, or of the library or the runtime of another language of the JVM. */
bool role_is_platform(const char *method);
/*
 * Return where the qualified name begins in a demangler's output: after the return type, which only functions
 * of templates have. "bool std::operator< <char>(...)" is std::operator<.
 */
const char *role_qualified_name(const char *name);
/* Check whether a function, by its demangled name, is of the C++ library, such as a template of std. */
bool role_is_cxx_library(const char *name);
/* Check whether a function only leads from a thread's start to what the thread is for: Thread.run. */
bool role_is_entry(const struct model *m, uint32_t consumer);

/*
 * Set mine[consumer] for functions of the program's own code: those that match a pattern of the list, or
 * whose module does. Without a list, Java methods outside platforms, and native functions of programs,
 * outside shared libraries and templates of the C++ library; nothing where the model has neither.
 */
void roles_mark_mine(const struct model *m, const struct opt_list *patterns, bool *mine);

/*
 * Set idle[node] for waits of the source "wall" in which a thread waits for work, and what is below them: in
 * the queue of its pool, in a selector, or as a helper of the JVM. Waits for other threads to end count too,
 * as of a program's first thread for its workers.
 */
void roles_mark_idle(const struct model *m, bool *idle);

/* The roles of a context, as bits; in the page for a browser, too. */
enum {
	ROLE_MINE = 1 << 0,
	ROLE_ENTRY = 1 << 1,
	ROLE_WAIT = 1 << 2,		/* consumer_is_wait() */
	ROLE_CODE = 1 << 3,
	ROLE_OWN = 1 << 4,		/* what arcprof did in the program is below it */
};

/* Return the roles of a consumer; mine comes from roles_mark_mine(). */
unsigned int roles_of(const struct model *m, uint32_t consumer, const bool *mine);

/* The uses of time of the event wall, in few kinds. */
enum role_spent {
	SPENT_NONE,			/* says nothing of that */
	SPENT_RUNNING, SPENT_RUNNABLE,
	SPENT_LOCK,			/* or a condition, or another thread's signal */
	SPENT_IO, SPENT_NETWORK,
	SPENT_SLEEP,
	SPENT_GC,			/* or another stop of the whole JVM */
	SPENT_OTHER,
	SPENT_NR
};

/* "running", "lock"; "" of SPENT_NONE. */
const char *role_spent_name(enum role_spent s);
/* Return the use by the reason that a consumer is. */
enum role_spent role_spent(const struct model *m, uint32_t consumer);

#endif
