/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - is this running process a JVM that can be attached to?  Answered from /proc alone,
 * before anything is done to it: the signal that wakes a JVM's attach listener kills whoever has no
 * handler for it.
 */
#ifndef JVM_TARGET_H
#define JVM_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct target {
	int pid;		/* as we see it */
	int own_pid;		/* as it calls itself, in its pid namespace */
	uid_t euid;
	gid_t egid;
	bool takes_signal;	/* SIGQUIT is caught */
	bool is_new;		/* may still be starting: not older than some seconds */
};

/* Return whether it has libjvm.so mapped; false also if it cannot be inspected. */
bool target_is_jvm(int pid);

/*
 * Fill in what is known of pid; an error when it is gone, stopped, another user's, not HotSpot, or
 * started with -XX:+DisableAttachMechanism.
 */
int target_check(struct target *t, int pid, struct err *e);

#endif
