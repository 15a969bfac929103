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
 * Send m, with magic and version filled in, and the recorder's half of the key if it is of a kind that
 * has one; key is NULL if the peer knows none. At most JVM_MAX_FDS descriptors go with it. Returns false
 * if it was not sent.
 */
bool peer_send(int sock, const struct jvm_msg *m, const struct jvm_key *key, const int *fds, size_t nr_fds);

#endif
