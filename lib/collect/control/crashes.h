/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crashes.h - how processes end that the recorder did not start, as far as anybody but their parents can
 * know ("record --when crash"): by the kernel's own record of it (from 6.15 on), by the process's last line
 * in /proc, if its parent does not take it before we look, and of a JVM by the file that it writes when it
 * crashes.
 */
#ifndef COLLECT_CRASHES_H
#define COLLECT_CRASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crash_watch;

struct crashes {			/* zero: none is watched */
	struct crash_watch *items;
	size_t nr_items, alloc_items;
};

/* a process that has ended */
struct crash {
	int pid;
	int status;			/* as of waitpid(); -1: not known */
	bool is_jvm;
	const char *error_file;		/* that it wrote, as it calls it; NULL: none was found */
};

/* Watch for the file that the JVM will write there. Once for each process is enough. */
void crashes_watch(struct crashes *s, int pid);
/* Becomes readable when the process ends; -1: it is not watched. */
int crashes_fd(const struct crashes *s, int pid);
/* Return whether it is watched, and has ended. */
bool crashes_has_ended(const struct crashes *s, int pid);
/* Calls ended for each that has ended since the last call. *crash is borrowed for it. */
void crashes_look(struct crashes *s, void (*ended)(void *ctx, const struct crash *crash), void *ctx);
void crashes_release(struct crashes *s);
/* Return the signal of the crash that a process died of, from its status or that of a shell; 0: none. */
int crashes_signal(int status);

/*
 * Return the file that -XX:ErrorFile= names in arguments, or in variables of the environment that JVMs
 * read, both separated by zeros as in /proc: malloc'd, with its %p; NULL: in neither.
 */
char *crashes_error_file(const char *args, size_t args_len, const char *vars, size_t vars_len);
/*
 * Find the file from what the JVM itself reports: flags from a file, and all arguments, which are separated
 * by blanks and may have been cut. seen is what crashes_error_file() found, which is taken over. The result
 * is malloc'd.
 */
char *crashes_told_file(const char *flags, const char *args, char *seen);

#endif
