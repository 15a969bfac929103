/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach.h - loads an agent into a running JVM, by HotSpot's own mechanism: a file
 * .attach_pidN and SIGQUIT make it listen on a Unix socket, which takes the command.
 */
#ifndef JVM_ATTACH_H
#define JVM_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum attach_serves {
	ATTACH_WAITS,
	ATTACH_TALKS,		/* the agent has begun to talk, so it is only to be waited for */
	ATTACH_STOPS,		/* there is nothing to wait for any more */
};

/* called every few ms while the JVM loads the agent, which may need answers from us meanwhile */
typedef enum attach_serves (*attach_serve_fn)(void *ctx);

/*
 * Loads file (a path as the JVM sees it) with this option. Returns when Agent_OnAttach has returned; an error
 * when it could not be loaded, in one line with its remedy, or when a signal to end is pending for us, or
 * serve says so.
 * SIGINT, SIGTERM and SIGHUP are blocked meanwhile. Nothing is left behind.
 */
int attach_load(int pid, const char *file, const char *option, attach_serve_fn serve, void *ctx,
		struct err *e);

/*
 * Has it do something else: words are the command and its arguments, "" where it has fewer. Appends the code
 * and text of its answer to *reply; an error if the code is not 0. Takes as long as the command does, but of
 * attach_ask() patience_ns at most: -ETIMEDOUT, as of a JVM that is busy collecting garbage.
 */
enum { ATTACH_WORDS = 4 };
int attach_command(int pid, const char *const words[ATTACH_WORDS], struct buf *reply, struct err *e);
int attach_ask(int pid, const char *const words[ATTACH_WORDS], uint64_t patience_ns, struct buf *reply,
	       struct err *e);

#endif
