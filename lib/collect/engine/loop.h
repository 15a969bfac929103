/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - the loop of a recording, of samples as of instructions: waits for signals, commands and
 * whatever else is watched, and takes in what was recorded, again and again until it is stopped.
 */
#ifndef COLLECT_LOOP_H
#define COLLECT_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "collect/control/control.h"
#include "jvm/server.h"

struct loop_ops {
	/* SIGINT, SIGTERM, SIGHUP and those taken; from_terminal: which sent it to the program, too. */
	void (*signal)(void *ctx, int sig, bool from_terminal);
	void (*child)(void *ctx);	/* SIGCHLD. NULL: the signal is left as it is */
	control_fn command;		/* NULL: "arcprof ctl" does not find this recording */
	/* Takes in what was recorded; the turn began at now_ns. */
	void (*drain)(void *ctx, uint64_t now_ns);
	/* Writes what was taken in: once a second. */
	void (*flush)(void *ctx);
	/* Called at the end of each turn: return whether there is a reason to stop. */
	void (*check)(void *ctx);
	/* Called after check() when due_ns has passed; it is 0 again, and may be set anew. */
	void (*due)(void *ctx);
};

struct loop {
	const struct loop_ops *ops;
	void *ctx;			/* of all ops */
	struct jvm_server *jvm;		/* NULL: no Java */
	int most_ms;			/* between two turns, */
	int jvm_ms;			/* and while there are JVMs */
	uint64_t due_ns;		/* CLOCK_MONOTONIC; 0: never */
	uint64_t turn_ns;		/* a turn is to begin by then; 0: it may be later */
	bool stop;			/* no turn follows */
	int epoll_fd, signal_fd, control_fd;	/* -1: none */
	sigset_t mask, old_mask;
};

enum { LOOP_IDLE_MS = 200 };

/* Have signals that end a recording wait for loop_open(), or for the caller to unblock them. */
void loop_hold_signals(void);
/* Return whether one of these waits. */
bool loop_is_asked_to_end(void);
/* Signals wait for the loop from here on. Call loop_close() also after an error. */
int loop_open(struct loop *l, const struct loop_ops *ops, void *ctx, struct err *e);
void loop_close(struct loop *l);
/*
 * Begins a turn whenever the descriptor is readable, or with EPOLLET in events when it becomes so;
 * -1, and errno, when that is not possible.
 */
int loop_watch(struct loop *l, int fd, uint32_t events);
int loop_watch_jvms(struct loop *l, struct jvm_server *jvm);

/* Pass the signal to ops->signal(), too; -1, with errno, if that is impossible. */
int loop_take_signal(struct loop *l, int sig);

/* Answers commands that wait, if there are any. */
void loop_serve(struct loop *l);
/* Run until stop is set. */
void loop_run(struct loop *l);
/* Waits for a signal, but not for long, and passes it on: nothing else is done meanwhile. */
void loop_wait_signal(struct loop *l);

#endif
