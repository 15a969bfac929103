/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inject.h - puts the agent where a JVM can load it, and says so in the environment. */
#ifndef JVM_INJECT_H
#define JVM_INJECT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/foreign.h"

/* Return whether there is an agent for this CPU in the binary. */
bool inject_possible(void);
/* Return the agent's file; *len 0: there is none for this CPU. */
const void *inject_agent_file(size_t *len);
/* Append the build-id of that agent, in hex digits. */
void inject_build_id(struct buf *b);

/* Return whether a file with this build-id is one of those placed here. */
bool inject_is_ours(const uint8_t *build_id, size_t len);
/*
 * Return whether it is one whose functions stand for malloc(), pthread_mutex_lock() and the like, and
 * call those.
 */
bool inject_calls_on(const uint8_t *build_id, size_t len);

/*
 * Place the embedded agent in a file named by its build-id, and append the path to *path, which has no blank,
 * colon, '$' or '='. The file is never removed: processes inherit its name.
 */
int inject_place(struct buf *path, struct err *e);
/*
 * Place it where process pid can open it: among our files or, if it has others, among those that it sees
 * below root (foreign_root()), as its user; the path is as it sees it. memory: the library that samples
 * malloc(), in place of the agent.
 */
int inject_place_for(int pid, int root, const struct foreign_user *u, bool memory, struct buf *path,
		     struct err *e);
/*
 * Sets the environment so that JVMs started with it load the agent at file, as inject_place() gave it, with
 * that option: LD_PRELOAD, extended by a library placed beside the agent (lib/preload), and
 * ARCPROF_AGENT for it. what: bits of enum inject_what, what else the library does.
 */
enum inject_what {
	INJECT_MEMORY = 1 << 0,	/* samples malloc(), and goes first */
	INJECT_WAITS = 1 << 1,	/* reports waits for locks of native code */
};
int inject_setenv(const char *file, const char *option, uint32_t what, struct err *e);

#endif
