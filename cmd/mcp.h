/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mcp.h - "arcprof mcp": the protocol (mcp.c), and its tools (mcp_tools.c), each in a process (work.h). */
#ifndef CMD_MCP_H
#define CMD_MCP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/opt.h"
#include "folder.h"
#include "formats/jsonin.h"
#include "work.h"

enum {
	MCP_ANSWER_MAX = 60000,		/* bytes of a tool's output */
};

/* The server may show these traces, and no others; they do not change while it runs. */
struct mcp {
	struct fleet_paths traces;
	struct opt_list sources;	/* folders of source files */
	uint64_t timeout_ns;		/* of a tool */
};

/* Write the array of tools, with the schemas of their arguments. */
void mcp_tools_list(struct json *j);
bool mcp_tool_exists(const char *name);
/*
 * Call a tool. *args is at the object of arguments; NULL: there is none.  -EINVAL: they are not as the schema
 * says. Errors of the tool itself are in *a.
 */
int mcp_tool_call(const struct mcp *m, const char *name, struct jsonin *args, struct work_answer *a,
		  struct err *e);

/* Copy a string without its escapes; *s is freed by the caller. -EINVAL: it has a zero byte. */
int mcp_text(struct import_text t, char **s, struct err *e);

/* ---- what traces are of, from what they say of themselves ---- */

/* A JSON array with an object for each, which says why it cannot be read.  Returns the exit status. */
int mcp_traces_print(const struct fleet_paths *traces, FILE *out);

#endif
