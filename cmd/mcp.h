/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcp.h - "arcprof mcp": the protocol (mcp.c), its tools (mcp_tools.c), and the process in which a tool works
 * (mcp_work.c).
 */
#ifndef CMD_MCP_H
#define CMD_MCP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/opt.h"
#include "folder.h"
#include "formats/jsonin.h"

enum {
	MCP_ANSWER_MAX = 60000,		/* bytes of a tool's output, */
	MCP_MESSAGES_MAX = 4000,	/* and of what it says on standard error */
};

/* The server may show these traces, and no others; they do not change while it runs. */
struct mcp {
	struct fleet_paths traces;
	struct opt_list sources;	/* folders of source files */
	uint64_t timeout_ns;		/* of a tool */
};

/* A tool printed this. */
struct mcp_answer {
	struct buf out, messages;
	int status;			/* its exit status, or 128 + the signal; -1: it was not called */
	bool truncated, timed_out;
};

void mcp_answer_release(struct mcp_answer *a);
/*
 * Calls work(ctx) in a fork of this process, whose standard input is empty, and takes what it prints.  It is
 * killed when it has printed MCP_ANSWER_MAX bytes or the time is over.  Its result is its exit status.
 */
int mcp_work(int (*work)(void *ctx), void *ctx, uint64_t timeout_ns, struct mcp_answer *a, struct err *e);

/* The array of tools, with the schemas of their arguments. */
void mcp_tools_list(struct json *j);
bool mcp_tool_exists(const char *name);
/*
 * *args is at the object of arguments; NULL: there is none.  -EINVAL: they are not as the schema says.
 * Errors of the tool itself are in *a.
 */
int mcp_tool_call(const struct mcp *m, const char *name, struct jsonin *args, struct mcp_answer *a,
		  struct err *e);

/* A string as it is written, without its escapes; *s is freed by the caller.  -EINVAL: it has a zero byte. */
int mcp_text(struct import_text t, char **s, struct err *e);

#endif
