/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heapdump.h - has a running JVM write its heap: by the command that its own tools send, without a JDK.
 */
#ifndef JVM_HEAPDUMP_H
#define JVM_HEAPDUMP_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Writes a dump of the JVM's heap to the descriptor out: of what is live, which takes a full collection
 * first, or of all objects. The JVM, which stands still meanwhile, writes it into its /tmp, from where it is
 * copied; nothing is left there.
 */
int heapdump(int pid, bool live, int out, struct err *e);

#endif
