/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.h - the recorder's end of a socket: which process is at the other end, as the kernel says, and
 * messages to it (proto.h). The other end is lib/client.
 */
#ifndef JVM_PEER_H
#define JVM_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "jvm/key.h"
#include "jvm/proto.h"

struct peer {
	int pid;		/* as we see it */
	int own_pid;		/* as it calls itself, in its pid namespace */
	uid_t uid;		/* when it connected; its own still */
	uint64_t start_ns;	/* when it was started, CLOCK_MONOTONIC; to a clock tick */
};

/*
 * Identify the peer; return false if it has ended, its number is another process's by now, it has changed
 * its user, or it is in no pid namespace that we see.
 */
bool peer_identify(int sock, struct peer *p);

/*
 * Send m, with magic and version filled in and, if such messages have one, the recorder's half of the key;
 * key is NULL if the peer knows none. At most JVM_MAX_FDS descriptors go with it. Returns false if it was not
 * sent.
 */
bool peer_send(int sock, const struct jvm_msg *m, const struct jvm_key *key, const int *fds, size_t nr_fds);

/*
 * Thread numbers of a process in another pid namespace (a container), as we see them: the kernel's records
 * use ours, the agent knows only its own.
 */
struct nstid {
	int pid;		/* as we see it */
	bool same;		/* no other namespace: nothing to translate */
	struct map host_of;	/* their number -> ours */
};

/* own_pid is how the process calls itself. */
void nstid_init(struct nstid *n, int pid, int own_pid);
void nstid_release(struct nstid *n);
/* Return our number of their thread; tid itself when the thread is gone before it was ever looked up. */
int nstid_host(struct nstid *n, int tid);
/* Return whether tid is a thread of pid now, both as we see them. */
bool nstid_is_of(int pid, int tid);
/* Forget a number: a new thread may have that of an old one. */
void nstid_forget(struct nstid *n, int tid);

#endif
