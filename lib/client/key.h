/* SPDX-License-Identifier: MIT */
/* key.h - the recorder's key (jvm/key.h), found beside its socket. */
#ifndef CLIENT_KEY_H
#define CLIENT_KEY_H

#include "jvm/key.h"

/*
 * Return false if there is none, or if another user than ours may have made it. Then the listener must be
 * root or our own user as far as the kernel can say.
 */
bool client_find_key(const char *socket_path, struct jvm_key *key);

#endif
