/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view_terminal.h - a trace in the terminal, for "arcprof view --terminal". */
#ifndef CMD_VIEW_TERMINAL_H
#define CMD_VIEW_TERMINAL_H

#include "base/opt.h"

/*
 * Runs until the user leaves it; input and import as in struct report_request; sources: folders of source
 * files. Returns the exit status.
 */
int view_terminal(const char *input, const char *import, const struct opt_list *sources);

#endif
