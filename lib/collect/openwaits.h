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
 * Those of a program that the library is in, as long as they are until then, or until the thread ended. It
 * is charged with them no more: what its threads tell of these later is left out.
 */
void openwaits_tell(struct collect *c, struct java *program, uint64_t now_ns);

#endif
