/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * openwaits.h - waits for locks of native code that go on when the recording ends, or the process: nobody
 * tells of them (jvm/waiting.h).
 */
#ifndef COLLECT_OPENWAITS_H
#define COLLECT_OPENWAITS_H

#include <stdint.h>

struct collect;
struct java;

/*
 * Tell of those of a program that the library is in. They last until then, or until their thread ended. The
 * threads themselves tell of these no more.
 */
void openwaits_tell(struct collect *c, struct java *program, uint64_t now_ns);

#endif
