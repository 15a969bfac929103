/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture.h - all threads of a process at one moment: those of Java, as the agent shows them, and others. */
#ifndef THREADS_PICTURE_H
#define THREADS_PICTURE_H

#include "jvm/threads.h"
#include "threads/natives.h"

/* What there is to say of a process. */
struct picture {
	int pid;
	bool jvm;			/* java is of it */
	struct threads java;
	struct natives natives;		/* without those of Java */
};

/* Take a picture of the process; it must be released in any case. */
int picture_take(struct picture *p, int pid, struct err *e);
void picture_release(struct picture *p);

#endif
