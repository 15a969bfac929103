/* SPDX-License-Identifier: MIT */
/* key.h - the recorder's key (jvm/key.h), found beside its socket. */
#ifndef AGENT_KEY_H
#define AGENT_KEY_H

#include "jvm/key.h"

/*
 * False: there is none, or another user than ours may have made it. Then the listener must be root or our own
 * user as far as the kernel can say.
 */
bool key_read(const char *socket_path, struct jvm_key *key);

#endif
