/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nstid.h - thread numbers of a process in another pid namespace (a container), as we see
 * them: the kernel's records use ours, the agent knows only its own.
 */
#ifndef JVM_NSTID_H
#define JVM_NSTID_H

#include <stdbool.h>

#include "base/hash.h"

struct nstid {
	int pid;		/* as we see it */
	bool same;		/* no other namespace: nothing to translate */
	struct map host_of;	/* their number -> ours */
};

/* own_pid is how the process calls itself. */
void nstid_init(struct nstid *n, int pid, int own_pid);
void nstid_release(struct nstid *n);
/* Our number of their thread; tid itself when the thread is gone before it was ever looked up. */
int nstid_host(struct nstid *n, int tid);
/* Return whether tid is a thread of pid now, both as we see them. */
bool nstid_is_of(int pid, int tid);
/* A new thread may have the number of an old one. */
void nstid_forget(struct nstid *n, int tid);

#endif
