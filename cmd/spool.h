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
#include "reuse.h"

struct spool_kind {
	/* Returns 0 if the server takes anything at all, or -EAGAIN if it does not answer. */
	int (*ask)(const struct http_server *server, struct err *e);
	/*
	 * Puts a trace into the spool: 0, 1 if it was damaged, which has been said, or -errno. *len grows by
	 * the bytes that it takes there.
	 */
	int (*add)(const struct fleet_opts *o, const char *spool, const struct export_source *from,
		   uint64_t *len, struct err *e);
	/*
	 * Fills *s from the name of a file in the spool; len is 0 if the name does not say it. Returns false
	 * for a file of another kind.
	 */
	bool (*parse)(const char *name, struct segment *s);
	/* returns how many of the nr segments are sent at once, as segments_batch() */
	size_t (*batch)(const struct segment *s, size_t nr);
	/*
	 * tries to send a batch once, and reports what became of segments that were not simply sent. -EAGAIN:
	 * try again, after *wait_s seconds if that is not 0; -EACCES: the server refuses all; -EPROTO: some
	 * cannot be sent; else none can be sent now.
	 */
	int (*send)(const struct http_server *server, const char *spool, struct segment *s, size_t nr,
		    uint64_t *wait_s, struct err *e);
	void (*drop)(const char *spool, const struct segment *s);
};

extern const struct spool_kind spool_tables, spool_profiles;

/* A compressed file that is complete when it has its name. */
struct packed {
	struct newfile file;
	FILE *raw, *out;
	uint64_t len;			/* bytes of all parts that have ended */
	bool sync;			/* it is on the disk once it has its name; true unless changed */
};

/* Begin a file; pack_end() must follow in any case; out is what to write to. */
int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e);
/*
 * End a part, each of which can be decompressed alone. pack_begin() begins the first one, pack_end() ends the
 * last.
 */
void pack_part_end(struct packed *p);
int pack_part(struct packed *p, struct err *e);
/* End the file; path: its name in the spool; NULL: it is removed. */
int pack_end(struct packed *p, const char *path, struct err *e);

/* Return the bytes of all files in the spool. */
uint64_t spool_len(const char *spool);

/* Removes what a push that was killed left half done; the caller holds the spool's lock. */
void spool_sweep(const char *spool);

#endif
