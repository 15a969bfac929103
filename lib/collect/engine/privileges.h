/* SPDX-License-Identifier: GPL-2.0-or-later */
/* privileges.h - what the recorder takes for itself, and what it gives up once its files are open. */
#ifndef COLLECT_PRIVILEGES_H
#define COLLECT_PRIVILEGES_H

#include <stdbool.h>

struct collect_opts;

/*
 * Raise the limit of open files, for the events, and our priority, where the user may do so. A program that
 * takes all CPUs would otherwise keep us from its own samples, and let the rings overflow. Our share is 1 %
 * of the work. A program that was forked before has neither; what is not allowed stays as it is.
 */
void privileges_raise(void);
/*
 * Keeps, of the capabilities this process has, only those that sampling other people's
 * programs takes, and with files those that writing into the folder of the caller of sudo takes.  A program
 * already forked keeps its own.  Failing changes nothing.
 */
void privileges_drop(bool files);

/* Return whether the recording may have data of several users, who may not see each other's. */
bool privileges_of_several(const struct collect_opts *o);

#endif
