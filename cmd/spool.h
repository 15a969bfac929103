/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spool.h - what "arcprof fleet push" keeps of a recording until a server has it: fleet_tables.c for
 * ClickHouse, fleet_otlp.c for receivers of OpenTelemetry.  fleet_push.c has the folder, and sends.
 */
#ifndef CMD_SPOOL_H
#define CMD_SPOOL_H

#include <stdio.h>

#include "base/newfile.h"
#include "fleet.h"
#include "fleet/push.h"

/* What became of a recording; of all of these it leaves the spool. */
enum {
	SPOOL_SENT,
	SPOOL_KNOWN,			/* the server had it */
	SPOOL_PARTLY,			/* it took some of it, which has been said */
	SPOOL_REFUSED,			/* and will never take it, which has been said */
};

struct spool_kind {
	/* Puts a trace into the spool: 0, 1 if it was damaged, which has been said, or -errno. */
	int (*add)(const struct fleet_opts *o, const char *spool, const char *path, struct err *e);
	/* Fills *s from the name of a file in the spool; false: it is none of this kind. */
	bool (*parse)(const char *name, struct segment *s);
	/*
	 * One attempt.  -EAGAIN: try again, in *wait_s seconds if that is not 0; -EACCES: the server takes
	 * none at all; else this one cannot be sent now.
	 */
	int (*send)(const struct http_server *server, const char *spool, const struct segment *s,
		    uint64_t *wait_s, struct err *e);
	void (*drop)(const char *spool, const struct segment *s);
};

extern const struct spool_kind spool_tables, spool_profiles;

/* A compressed file that is complete when it has its name. */
struct packed {
	struct newfile file;
	FILE *raw, *out;
};

/* pack_end() follows in any case; out is what to write to. */
int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e);
/* path: of a file in the spool; NULL: it is dropped. */
int pack_end(struct packed *p, const char *path, struct err *e);

/* Removes what a push that was killed left half done; the caller holds the spool's lock. */
void spool_sweep(const char *spool);

#endif
