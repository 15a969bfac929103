// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fleet/push.h"

/* How long what a killed sender sent may take until the server works on it, or has it. */
enum { ARRIVAL_NS = 1000000000 };

bool segment_parse(const char *name, struct segment *s)
{
	uint64_t id, rows;
	int end = 0;

	if (sscanf(name, "%16" SCNx64 "-%18" SCNu64 ".nodes.gz%n", &id, &rows, &end) != 2 || !end ||
	    name[end])
		return false;
	*s = (struct segment){ id, rows };
	return true;
}

char *segment_nodes(const char *spool, const struct segment *s)
{
	return xasprintf("%s/%016" PRIx64 "-%" PRIu64 ".nodes.gz", spool, (uint64_t)s->id, s->nr_rows);
}

char *segment_names(const char *spool, const struct segment *s)
{
	return xasprintf("%s/%016" PRIx64 ".names.gz", spool, (uint64_t)s->id);
}

char *segment_tried(const char *spool, const struct segment *s)
{
	return xasprintf("%s/%016" PRIx64 ".tried", spool, (uint64_t)s->id);
}

/*
 * Asks in this order: what no longer runs has either left its rows or never will.  1: it has all of them.
 */
static int look(const struct http_server *server, const struct segment *s, struct err *e)
{
	uint64_t running, have = 0;
	char sql[160];
	int r;

	snprintf(sql, sizeof(sql),
		 "SELECT count() FROM system.processes WHERE query_id = 'arcprof-%016" PRIx64 "'",
		 (uint64_t)s->id);
	r = http_ask_number(server, sql, &running, e);
	if (!r && running)
		return err_set(e, EAGAIN, "the server still works on an earlier attempt");
	snprintf(sql, sizeof(sql), "SELECT count() FROM nodes WHERE trace = %" PRId64, s->id);
	if (!r)
		r = http_ask_number(server, sql, &have, e);
	if (r || !have)
		return r;
	if (have == s->nr_rows)
		return 1;
	err_set(e, EEXIST, "the server has %" PRIu64 " of the %" PRIu64 " rows of recording %" PRId64, have,
		s->nr_rows, s->id);
	err_hint(e, "ALTER TABLE nodes DELETE WHERE trace = %" PRId64 " removes them; then push again",
		 s->id);
	return -EEXIST;
}

static int insert(const struct http_server *server, const char *const *params, const char *path,
		  struct err *e)
{
	struct http_request q = { .server = server, .params = params, .gzipped = true,
				  .max_answer = HTTP_SHORT_ANSWER };
	struct buf answer = BUF_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r;

	if (fd < 0)
		return err_errno(e, "%s", path);
	q.body_fd = fd;
	r = http_post(&q, &answer, e);
	/* "with id ... is already running" */
	if (r == -EPROTO && answer.data && !strncmp(answer.data, "Code: 216", 9))
		r = -(e->code = EAGAIN);
	close(fd);
	buf_release(&answer);
	return r;
}

static int insert_names(const struct http_server *server, const char *path, struct err *e)
{
	static const char *const params[] = {
		"query=INSERT INTO names FORMAT TabSeparatedWithNames", NULL };

	return insert(server, params, path, e);
}

/* As one block, so that it is one part: there whole or not at all. */
static int insert_nodes(const struct http_server *server, const struct segment *s, const char *path,
			struct err *e)
{
	char query_id[48];
	const char *const params[] = {
		"query=INSERT INTO nodes FORMAT TabSeparatedWithNames", query_id,
		"max_insert_block_size=1000000000", "min_insert_block_size_rows=1000000000",
		"min_insert_block_size_bytes=1000000000000", "insert_distributed_sync=1", NULL };

	snprintf(query_id, sizeof(query_id), "query_id=arcprof-%016" PRIx64, (uint64_t)s->id);
	return insert(server, params, path, e);
}

/* Notes that an attempt begins; 1: one began before. */
static int begin_attempt(const char *spool, const struct segment *s, struct err *e)
{
	char *path = segment_tried(spool, s);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), r = 0;

	if (fd >= 0)
		close(fd);
	else
		r = errno == EEXIST ? 1 : err_errno(e, "%s", path);
	free(path);
	return r;
}

int segment_push(const struct http_server *server, const char *spool, const struct segment *s,
		 struct err *e)
{
	char *nodes = segment_nodes(spool, s), *names = segment_names(spool, s);
	int r = look(server, s, e);

	if (!r && (r = begin_attempt(spool, s, e)) == 1) {
		clock_sleep_ns(ARRIVAL_NS);
		r = look(server, s, e);
	}
	if (!r)
		r = insert_names(server, names, e);
	if (!r)
		r = insert_nodes(server, s, nodes, e);
	free(nodes);
	free(names);
	return r;
}
