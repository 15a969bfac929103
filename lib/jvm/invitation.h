/* SPDX-License-Identifier: MIT */
/*
 * invitation.h - how a recorder tells a running program where its socket is: it writes the path
 * into the program's memory, and has the program look again (api/recorder.c, jvm/invite.c).
 */
#ifndef JVM_INVITATION_H
#define JVM_INVITATION_H

#include <stdint.h>

#define JVM_INVITATION_MAGIC "arcprof invitation 1"

struct jvm_invitation {
	char magic[24];		/* by which it is found; aligned to 8 bytes */
	void *recorder;		/* where the pointer to what is known of a recorder is; NULL: ask again */
	uint32_t state_at;	/* in that, where its state is: */
	uint32_t state_on;	/* it is connected */
	char path[112];		/* of the socket, terminated; "": as the environment says */
};

#endif
