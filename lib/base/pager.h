/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pager.h - sends stdout through the user's pager. */
#ifndef BASE_PAGER_H
#define BASE_PAGER_H

/*
 * Starts $ARCPROF_PAGER, else $PAGER, else less, and makes stdout a pipe to it; does nothing
 * when that is "" or "cat", or cannot be started.  The process waits for it before it exits.
 */
void pager_start(void);
/* Ends the output and waits until the user has left the pager. */
void pager_finish(void);

#endif
