/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_receive.h - "fleet push --listen": profiles that programs send over HTTP (fleet/incoming.h) go into
 * the spool. fleet_receive.c has the processes, one for each connection; fleet_take.c is what each does.
 *
 * A request is answered with 200 when its profiles are on the disk, and has a bound on its bytes, on its time
 * and on the memory of its process, which is all that a damaged profile can take with it.
 */
#ifndef CMD_FLEET_RECEIVE_H
#define CMD_FLEET_RECEIVE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "spool.h"

enum {
	RECEIVE_CONNECTIONS = 32,	/* at a time; others wait */
	RECEIVE_IMPORTS = 4,		/* of them that import what they have read */
	RECEIVE_BODIES = 256 << 20,	/* bytes of all bodies that are read at a time */
	RECEIVE_S = 60,			/* for a request, from its connection to its answer */
};

/* Shared by the processes. */
struct receive_counts {
	_Atomic uint64_t body_len[RECEIVE_CONNECTIONS];	/* bytes that each holds, or will */
	_Atomic uint64_t spool_len;
};

struct receiver {
	const struct fleet_opts *o;
	const struct spool_kind *kind;
	const char *spool;
	char *token;			/* requests must have it; NULL: none */
	int listener, turns;		/* turns: a file, whose locks are those of RECEIVE_IMPORTS */
	struct receive_counts *counts;
	pid_t pid;
};

/*
 * Listens at --listen, and starts the process that serves, which ends with the caller. -EINVAL: an option is
 * wrong.
 */
int receiver_start(struct receiver *x, int spool_dir, struct err *e);
/* Return whether it still runs, which it should. */
bool receiver_runs(const struct receiver *x);

/* Reads one request from the connection, and answers it. peer: who is at its other end, for messages. */
void receive_request(const struct receiver *x, unsigned int connection, int fd, const char *peer);

#endif
