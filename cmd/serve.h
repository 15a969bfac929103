/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serve.h - a page on a port of this machine: for a server without a browser, through ssh -L.
 *
 * Only 127.0.0.1 is listened on, and who asks must know the address with its token: other users of the
 * machine can connect, too. A page in a browser that makes up names for 127.0.0.1 is refused by its Host.
 */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include <stdint.h>

#include "base/err.h"

struct serve_opts {
	const char *trace;		/* when this changes, the page is made anew */
	const char *page;		/* the file that make() writes */
	uint16_t port;			/* 0: any that is free */
	int (*make)(void *ctx);		/* called in a process of its own; the status of that */
	void *ctx;
};

/* Prints the address, and serves until a signal ends it; 0 then. */
int serve_page(const struct serve_opts *o, struct err *e);

#endif
