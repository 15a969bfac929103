/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_priv.h - what server.c, server_end.c and replay.c share: a JVM that is connected, or whose journal
 * is read.
 */
#ifndef JVM_SERVER_PRIV_H
#define JVM_SERVER_PRIV_H

#include <sys/types.h>

#include "base/buf.h"
#include "jvm/doorway.h"
#include "jvm/key.h"
#include "jvm/peer.h"
#include "jvm/server.h"
#include "jvm/vmlog.h"
#include "jvm/wire.h"

struct jvm {
	struct jvm_server *s;
	struct jvm *next;
	int sock;
	int pid, own_pid;		/* as we see it, and as it calls itself */
	uid_t uid;
	enum { AWAIT_HELLO, AWAIT_READY, RUNNING } state;
	uint64_t came_ns;
	int tid;			/* of HELLO, as we see it */
	bool has_key;			/* we attached to it: both sides say their half */
	struct jvm_key key;
	struct nstid tids;
	bool dead;			/* socket closed or nonsense read: to be taken down */
	bool told;			/* hello() was called */
	bool callflow;			/* callflow() was called */
	bool memory;			/* its native memory is sampled, and sock is its process (pidfd) */
	bool marks;			/* a program that sends marks, and nothing else */
	/* a process of ours reports it (deputy.h), and sock is that (pidfd); 0: its agent does */
	pid_t deputy;
	bool guest;			/* a program in the process of a JVM, whose trees it uses */
	uint64_t hook;			/* of its HELLO, with memory */
	uint64_t host;			/* where that JVM's agent has its struct callflow_host; 0: nowhere */
	struct jvm_ctl *ctl;
	uint64_t *tails, *heads;	/* of each ring; heads: those to be read up to now */
	uint64_t *lost;			/* already reported */
	uint64_t log_lost;
	int log_fd;
	uint64_t log_read, log_punched;
	struct vmlog vmlog;
	struct vmlog next_vmlog;	/* takes its place when the last change is carried out */
	bool change_due;		/* it learns of it when it runs */
	uint32_t tell;			/* what it was asked for last */
	void *user;
};

struct jvm_server {
	struct jvm_server_opts o;
	struct jvm_callbacks cb;
	void *ctx;
	struct doorway door;
	struct doorway inside;		/* of a container, while attaching into it */
	struct buf agent;
	int epoll;
	uint32_t nr_rings;
	size_t area_bytes;
	struct jvm *jvms;
	size_t nr_jvms;
	uint64_t timer_ns;		/* period of timers in place of traps, 0: traps */
	struct jvm_wall_maps wall;
	struct jvm_refusals refusals;
	int attaching;			/* to this process, 0 none */
	uint32_t refusal;		/* its agent's, enum jvm_refusal */
	struct buf copy;		/* of the record being looked at */
	struct wire_scratch scratch;
};

/* Return the sink that calls the caller's callbacks, with the thread numbers that we know. */
struct wire_sink jvm_sink(struct jvm *j);
/* Read events from the lines that are there; all: also open compilations. */
void jvm_drain_vmlog(struct jvm *j, bool all);
/* Return memory of that size, which can be sealed against any other; -1: without memory. */
int jvm_memfd(const char *name, size_t size, bool seal);
/* Map the shared area in it, and set what the recorder asks for. fd -1: in memory that a fork shares. */
bool jvm_make_rings(struct jvm *j, int fd, uint32_t flags);
/* Make a JVM that no agent has connected of (replay.c), with rings in fd. NULL with errno set: no memory. */
struct jvm *jvm_without_agent(struct jvm_server *s, int pid, int fd);

/* Free a JVM that is in no list of the server's. */
void jvm_free(struct jvm *j);

#endif
