/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push.h - sends segments, the tables of one recording each, to a server of ClickHouse: each at least once,
 * and none twice.
 *
 * A segment is one file of the spool, a folder, until the server has its rows. Several are sent in one
 * batch: one request for the names, one for the nodes, whatever their number. The nodes of a segment are in
 * one block and one partition, so that the server has them whole or not at all. Before that the server is
 * asked which it has, and whether an earlier attempt still runs. After that it is asked again, and a segment
 * is sent when the server counts all of its rows. All this takes two runs of curl. After an attempt that was
 * cut off there is a pause of a second first, and three runs: what that sent may be on its way.
 */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fleet/http.h"

enum segment_fate {
	SEGMENT_WAITS,			/* nothing is decided yet */
	SEGMENT_SENT,
	SEGMENT_KNOWN,			/* the server had it */
	SEGMENT_PARTLY,			/* it took some of it, and will never take the rest */
	SEGMENT_REFUSED,		/* it will never take it */
	SEGMENT_DIFFERS,		/* it has some of its rows, but not all: somebody must look */
	SEGMENT_DONE,			/* of no concern any more */
};

struct segment {
	int64_t id;			/* of the recording */
	uint32_t start_s;		/* t of its rows */
	uint64_t nr_rows;
	uint64_t nodes_len;		/* bytes of its file that are nodes; names follow; both compressed */
	uint64_t len;			/* bytes of its file */
	enum segment_fate fate;
	uint64_t nr_there;		/* rows that the server had when it was asked last */
};

/* Fills *s from the name of a file in the spool; false: it is not one of a segment. */
bool segment_parse(const char *name, struct segment *s);
/* Return the path of its file, malloc'd. */
char *segment_path(const char *spool, const struct segment *s);

/* Compare two segments by the order in which they are sent, for qsort(). */
int segment_compare(const void *a, const void *b);
/* Return how many of the nr segments, in that order, go in one batch: at least one. */
size_t segments_batch(const struct segment *s, size_t nr);

/*
 * Return 0 if the server answers and has the tables. -EAGAIN: it does not answer; -ENODATA: it has no tables;
 * -EPROTO: it refuses.
 */
int segments_ask(const struct http_server *server, struct err *e);

/*
 * Try once to send the waiting segments of a batch. Return 0 when the fate of each is decided. -EAGAIN: try
 * again; -EPROTO: the server refuses something of the batch, or a file cannot be read; -EIO: it does not have
 * what it took.
 */
int segments_push(const struct http_server *server, const char *spool, struct segment *s, size_t nr,
		  struct err *e);

/* Takes what a server answers to "trace, count()", for s->nr_there of each. -EPROTO: it is no such answer. */
int segments_count(struct segment *s, size_t nr, const char *answer, struct err *e);

#endif
