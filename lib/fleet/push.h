/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push.h - sends segments, the tables of one recording each, to a server of ClickHouse: each at least once,
 * and none twice.
 *
 * A segment is in the spool, a folder, until the server has it: ID-ROWS.nodes.gz and ID.names.gz, where ID is
 * the recording's number in hex. Its nodes are inserted as one block, which the server has whole or not at
 * all; before that it is asked whether it has them, and whether an earlier attempt still runs. After an
 * attempt that was cut off it is asked twice, a second apart: what that sent may be on its way.
 */
#ifndef FLEET_PUSH_H
#define FLEET_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fleet/http.h"

struct segment {
	int64_t id;
	uint64_t nr_rows;
};

/* Fills *s from the name of a file in the spool; false: it is not one of nodes. */
bool segment_parse(const char *name, struct segment *s);
/* The names of its files, malloc'd. */
char *segment_nodes(const char *spool, const struct segment *s);
char *segment_names(const char *spool, const struct segment *s);
char *segment_tried(const char *spool, const struct segment *s);	/* an attempt began */

/*
 * One attempt: 0 when the server has it now, 1 if it had it before. -EAGAIN: not known, try again;
 * -EPROTO: it refuses; -EEXIST: it has some of its rows, but not all.
 */
int segment_push(const struct http_server *server, const char *spool, const struct segment *s,
		 struct err *e);

#endif
