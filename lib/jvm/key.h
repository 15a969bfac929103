/* SPDX-License-Identifier: MIT */
/*
 * key.h - how a recorder and what it loads into a running process know each other.
 *
 * The kernel names the user at the other end of a socket as it is seen from here, and in a user namespace
 * root of the machine is nobody in particular. So the recorder makes a key for each process that it attaches
 * to, in a file beside the socket that is that process's user's alone, and gone when it has attached. The
 * process says one half in HELLO or REFUSED, before it gets anything; the recorder says the other half in
 * SETUP. Who waits at that path in the recorder's place has at most the first, and who connects in the
 * process's place has neither. Nothing that shows a process's options, or logs them, shows a key.
 */
#ifndef JVM_KEY_H
#define JVM_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JVM_KEY_HALF = 16 };		/* bytes */
#define JVM_KEY_SUFFIX ".key"		/* its file is called as the socket is, and this */

struct jvm_key {
	uint8_t agents[JVM_KEY_HALF];
	uint8_t recorders[JVM_KEY_HALF];
};

/* Takes as long whatever differs. */
static inline bool jvm_key_same(const uint8_t a[JVM_KEY_HALF], const uint8_t b[JVM_KEY_HALF])
{
	uint8_t differ = 0;
	size_t i;

	for (i = 0; i < JVM_KEY_HALF; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

#endif
