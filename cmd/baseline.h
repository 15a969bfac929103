/* SPDX-License-Identifier: GPL-2.0-or-later */
/* baseline.h - what a recording is compared with: files, or the traces that a store has of a commit. */
#ifndef CMD_BASELINE_H
#define CMD_BASELINE_H

#include "folder.h"

/*
 * List the traces that text names: FILE[,FILE...]; or from a store, a folder with a folder of traces for
 * each commit, STORE@COMMIT or STORE alone, the commit that was stored last. The beginning of a commit is
 * enough, if it is the only one. Release the list with fleet_list_release(), also after an error.
 */
int baseline_list(struct fleet_paths *p, const char *text, struct err *e);

#endif
