/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - the two other ways in which "arcprof view" shows a trace.
 *
 * A page on a port of this machine is for a server without a browser, through ssh -L. Only 127.0.0.1 is
 * listened on, and who asks must know the address with its token: other users of the machine can connect,
 * too. A page in a browser that makes up names for 127.0.0.1 is refused by its Host.
 */
#ifndef CMD_VIEW_H
#define CMD_VIEW_H

#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct serve_opts {
	const char *trace;		/* when this changes, the page is made anew */
	const char *page;		/* the file that make() writes */
	uint16_t port;			/* 0: any that is free */
	int (*make)(void *ctx);		/* called in a process of its own; the status of that */
	void *ctx;
};

/* Prints the address, and serves until a signal ends it; 0 then. */
int serve_page(const struct serve_opts *o, struct err *e);

/* ---- view --terminal ---- */

/*
 * Runs until the user leaves it; input and import as in struct report_request; sources: folders of source
 * files. Returns the exit status.
 */
int view_terminal(const char *input, const char *import, const struct opt_list *sources);

#endif
