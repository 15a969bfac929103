/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mcp_traces.h - what traces are of, from what they say of themselves. */
#ifndef CMD_MCP_TRACES_H
#define CMD_MCP_TRACES_H

#include <stdio.h>

struct fleet_paths;

/* A JSON array with an object for each, which says why it cannot be read.  Returns the exit status. */
int mcp_traces_print(const struct fleet_paths *traces, FILE *out);

#endif
