/* SPDX-License-Identifier: GPL-2.0-or-later */
/* privileges.h - what root does not need any more once its files are open. */
#ifndef COLLECT_PRIVILEGES_H
#define COLLECT_PRIVILEGES_H

/*
 * Keeps, of the capabilities this process has, only those that sampling other people's
 * programs takes.  A program already forked keeps its own.  Failing changes nothing.
 */
void privileges_drop(void);

#endif
