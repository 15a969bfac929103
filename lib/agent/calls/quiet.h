/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - when is no thread inside code that was switched off?
 */
#ifndef AGENT_QUIET_H
#define AGENT_QUIET_H

#include <stdbool.h>

/*
 * Returns when every thread of the process but the calling one has been seen waiting, or has run for some
 * milliseconds, since the call; false: not within so long. For code that takes microseconds and
 * does not wait.
 */
bool quiet_wait(int max_ms);

#endif
