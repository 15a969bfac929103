/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.h - the checks of "arcprof doctor"; doctor_checks.c runs them, doctor.c prints them.  doctor_jvm.c
 * prints the facts about a JVM.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stddef.h>

enum check_state { CHECK_OK, CHECK_LIMITED, CHECK_NO };

struct finding {
	enum check_state state;
	char found[300];	/* what is there, or what is in the way; "" */
	char remedy[300];	/* how to get it; "" when there is nothing to do, or nothing that helps */
};

struct check {
	const char *id;		/* of JSON; stays the same from version to version */
	const char *title;
	const char *gives;	/* what it enables */
	void (*look)(struct finding *f);
};

struct check_group {
	const char *title;
	const struct check *checks;
	size_t nr_checks;
};

extern const struct check_group check_groups[];
extern const size_t nr_check_groups;

/* Show the facts of a process, or if pid is 0 of the JVM in that JAVA_HOME. Return the exit status. */
int doctor_jvm(int pid, const char *home, int format);

#endif
