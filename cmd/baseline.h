/* SPDX-License-Identifier: GPL-2.0-or-later */
/* baseline.h - what a recording is compared with: files, or the traces that a store has of a commit. */
#ifndef CMD_BASELINE_H
#define CMD_BASELINE_H

#include "folder.h"

/*
 * Lists the traces that text names: FILE[,FILE...]; or of a store, a folder with a folder of traces for each
 * commit, STORE@COMMIT (of the commit the beginning is enough, if it is the only one) or STORE alone, the
 * commit that was stored last. For fleet_list_release(), also after an error.
 */
int baseline_list(struct fleet_paths *p, const char *text, struct err *e);

#endif
