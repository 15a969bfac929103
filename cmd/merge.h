/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.h - "arcprof merge" for other commands. */
#ifndef CMD_MERGE_H
#define CMD_MERGE_H

/* Adds up the traces as merge does without options. Returns the exit status; what is wrong has been said. */
int merge_files(const char *output, int nr, char **paths);

#endif
