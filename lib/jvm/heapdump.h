/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heapdump.h - has a running JVM write its heap: by the command that its own tools send, without a JDK.
 */
#ifndef JVM_HEAPDUMP_H
#define JVM_HEAPDUMP_H

#include <stdbool.h>

#include "base/err.h"

struct heapdump_opts {
	bool all;		/* objects; else what is live, which takes a full collection first */
	/*
	 * the dump tells which objects are samples of the recording of live objects that is on (roster.h);
	 * an error if there is none
	 */
	bool samples;
};

/*
 * Write a dump of the JVM's heap to the descriptor out. The JVM, which stands still meanwhile, writes it into
 * its /tmp, from where it is copied; nothing is left there.
 */
int heapdump(int pid, const struct heapdump_opts *o, int out, struct err *e);

#endif
