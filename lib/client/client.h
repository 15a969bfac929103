/* SPDX-License-Identifier: MIT */
/*
 * client.h - the end of a recorder's socket that is in a program or a JVM (jvm/proto.h).
 *
 * The listener must be root or our own user: no other user may see what this process runs. Where the recorder
 * has left a key beside its socket (jvm/key.h), it must prove with it who it is, before it learns more than
 * that we are there.
 *
 * All descriptors are closed on exec. Nothing here allocates, takes a lock or sets errno.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/key.h"
#include "jvm/proto.h"

struct client {
	int sock;			/* -1: closed */
	int pid;			/* the recorder's, as we see it; 0: it is in another pid namespace */
	uint32_t greeted;		/* enum jvm_flags of our HELLO */
	bool has_key;
	struct jvm_key key;		/* with has_key */
};

#define CLIENT_CLOSED { .sock = -1 }

/*
 * Connect to the recorder at path. No call for this socket takes longer than timeout_ms. Return false, with
 * the socket closed, if there is no listener, or its user is another one.
 */
bool client_open(struct client *c, const char *path, int timeout_ms);
void client_close(struct client *c);

/* Send m, with our half of the key if such messages have one. magic and version are filled in. */
bool client_send(const struct client *c, struct jvm_msg m);

/*
 * Receive a message of this type, with exactly the descriptors that its flags announce; the others of fds are
 * -1. flags: 0 or MSG_DONTWAIT. Return false, with all of them closed, if something else came, or nothing.
 */
bool client_receive(const struct client *c, uint32_t type, struct jvm_msg *m, int fds[JVM_MAX_FDS],
		    int flags);

/*
 * Say HELLO with these flags, and the address of a hook with JVM_MEMORY, and receive SETUP. Return false if
 * the recorder does not want us, or does not have the key.
 */
bool client_greet(struct client *c, uint32_t flags, uint64_t hook, struct jvm_msg *setup,
		  int fds[JVM_MAX_FDS]);

/* ---- the recorder's key (jvm/key.h), found beside its socket ---- */

/*
 * Return false if there is none, or if another user than ours may have made it. Then the listener must be
 * root or our own user as far as the kernel can say.
 */
bool client_find_key(const char *socket_path, struct jvm_key *key);

#endif
