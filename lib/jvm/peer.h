/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.h - which process is at the other end of a socket, as the kernel says. */
#ifndef JVM_PEER_H
#define JVM_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	int pid;		/* as we see it */
	int own_pid;		/* as it calls itself, in its pid namespace */
	uid_t uid;		/* when it connected; its own still */
	uint64_t start_ns;	/* when it was started, CLOCK_MONOTONIC; to a clock tick */
};

/*
 * False: it has ended, or the number is another process's by now, or it has changed its user, or is
 * in no pid namespace that we see.
 */
bool peer_identify(int sock, struct peer *p);

#endif
