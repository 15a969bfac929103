// SPDX-License-Identifier: GPL-2.0-or-later
/* push.c - sends tables of recordings to a server, each once (push.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "fleet/push.h"
#include "fleet/table.h"

enum {
	/* How long what a killed sender sent may take until the server works on it, or has it. */
	ARRIVAL_NS = 1000000000,
	BATCH_SEGMENTS = 250,
	BATCH_ROWS = 1000000,		/* servers hold a batch in memory, some 200 bytes for each row */
	BATCH_BYTES = 32 << 20,		/* compressed */
	BATCH_WEEKS = 50,		/* servers refuse blocks of more than 100 partitions */
	WEEK_S = 7 * 86400,
};

/* ---- the spool ---- */

bool segment_parse(const char *name, struct segment *s)
{
	uint64_t names_len = 0;
	int end = 0;
	bool is_one;

	*s = (struct segment){ .fate = SEGMENT_WAITS };
	is_one = sscanf(name, "%10" SCNu32 "-%16" SCNx64 "-%18" SCNu64 "-%18" SCNu64 "-%18" SCNu64 ".tables.gz%n",
			&s->start_s, (uint64_t *)&s->id, &s->nr_rows, &s->nodes_len, &names_len, &end) == 5;
	s->len = s->nodes_len + names_len;
	return is_one && end && !name[end];
}

char *segment_path(const char *spool, const struct segment *s)
{
	return xasprintf("%s/%010" PRIu32 "-%016" PRIx64 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".tables.gz", spool,
			 s->start_s, (uint64_t)s->id, s->nr_rows, s->nodes_len, s->len - s->nodes_len);
}

int segment_compare(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

size_t segments_batch(const struct segment *s, size_t nr)
{
	uint64_t rows = 0, len = 0;
	size_t i;

	for (i = 0; i < nr && i < BATCH_SEGMENTS; i++) {
		rows += s[i].nr_rows;
		len += s[i].len;
		if (i && (rows > BATCH_ROWS || len > BATCH_BYTES ||
			  s[i].start_s - s[0].start_s > BATCH_WEEKS * WEEK_S))
			break;
		if (i && s[i].id == s[i - 1].id)	/* of other options: the server is asked between */
			break;
	}
	return MAX(i, (size_t)1);
}

/* Notes that an attempt begins. It is there until the server has answered. */
static char *mark_path(const char *spool)
{
	return xasprintf("%s/trying", spool);
}

static int begin_attempt(const char *spool, struct err *e)
{
	char *path = mark_path(spool);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), r = 0;

	if (fd >= 0)
		close(fd);
	else
		r = err_errno(e, "%s", path);
	free(path);
	return r;
}

static void end_attempt(const char *spool)
{
	char *path = mark_path(spool);

	unlink(path);
	free(path);
}

/* Wait for what an interrupted attempt has sent to arrive; return false if there was no such attempt. */
static bool await_arrival(const char *spool)
{
	char *path = mark_path(spool);
	bool cut_off = !access(path, F_OK);

	if (cut_off)
		clock_sleep_ns(ARRIVAL_NS);
	free(path);
	return cut_off;
}

/* ---- questions ---- */

int segments_ask(const struct http_server *server, struct err *e)
{
	uint64_t nr_tables;
	int r = http_ask_number(server, "SELECT count() FROM system.tables WHERE database = currentDatabase()"
				" AND name IN ('nodes', 'names')", &nr_tables, e);

	if (r || nr_tables == 2)
		return r;
	http_refuse(e, ENODATA, server->url, "the server does not have the tables nodes and names");
	err_hint(e, "'arcprof fleet create URL' makes them");
	return -ENODATA;
}

/* Append the ids of waiting segments, in hex or decimal, separated by "between". */
static void put_ids(struct buf *b, const struct segment *s, size_t nr, bool hex, const char *between)
{
	const char *joint = "";
	size_t i;

	for (i = 0; i < nr; i++) {
		if (s[i].fate != SEGMENT_WAITS)
			continue;
		buf_str(b, joint);
		joint = between;
		if (hex)
			buf_fmt(b, "%016" PRIx64, (uint64_t)s[i].id);
		else
			buf_fmt(b, "%" PRId64, s[i].id);
	}
}

static int compare_id(const void *key, const void *element)
{
	int64_t id = *(const int64_t *)key, other = (*(struct segment *const *)element)->id;

	return id < other ? -1 : id > other;
}

static int compare_ids(const void *a, const void *b)
{
	return compare_id(&(*(struct segment *const *)a)->id, b);
}

/* Parse a line of the answer; return false if it is invalid. */
static bool take_count(const char **p, int64_t *id, uint64_t *count)
{
	char *end;

	errno = 0;
	*id = strtoll(*p, &end, 10);
	if (end == *p || *end != '\t' || errno)
		return false;
	*p = end + 1;
	*count = strtoull(*p, &end, 10);
	if (end == *p || *end != '\n' || errno)
		return false;
	*p = end + 1;
	return true;
}

int segments_count(struct segment *s, size_t nr, const char *answer, struct err *e)
{
	struct segment **by_id = xcalloc(nr, sizeof(*by_id)), **found;
	const char *p = answer;
	uint64_t count;
	int64_t id;
	size_t i;
	int r = 0;

	for (i = 0; i < nr; i++) {
		by_id[i] = &s[i];
		s[i].nr_there = 0;
	}
	qsort(by_id, nr, sizeof(*by_id), compare_ids);
	while (!r && *p) {
		found = take_count(&p, &id, &count) ?
			bsearch(&id, by_id, nr, sizeof(*by_id), compare_id) : NULL;
		if (found)
			(*found)->nr_there = count;
		else
			r = err_set(e, EPROTO, "the server was asked for numbers of rows, and answered something else");
	}
	free(by_id);
	return r;
}

/* ---- requests ---- */

struct batch {
	const struct http_server *server;
	const char *spool;
	struct segment *s;
	size_t nr;
};

/* What goes to the server in one run of curl, and its answers. */
struct dialogue {
	struct http_request q[HTTP_MOST_REQUESTS];
	struct http_answer a[HTTP_MOST_REQUESTS];
	struct buf sql[HTTP_MOST_REQUESTS];
	size_t nr;
};

static void dialogue_release(struct dialogue *d)
{
	size_t i;

	for (i = 0; i < d->nr; i++) {
		if (!d->q[i].text)
			close(d->q[i].body_fd);
		buf_release(&d->sql[i]);
		buf_release(&d->a[i].body);
	}
}

static int dialogue_send(struct dialogue *d, struct err *e)
{
	return http_send_all(d->q, d->a, d->nr, e);
}

/* The text is borrowed until the dialogue is released. */
static void add_question(struct dialogue *d, const struct http_server *server, const char *sql)
{
	d->q[d->nr++] = (struct http_request){ .server = server, .text = sql, .total_s = server->question_s,
					       .max_answer = HTTP_SHORT_ANSWER };
}

/* Ask which rows of waiting segments are there. The range of t lets the server leave out most of them. */
static void ask_for_rows(struct dialogue *d, const struct batch *b)
{
	struct buf *sql = &d->sql[d->nr];

	buf_fmt(sql, "SELECT trace, count() FROM nodes WHERE t >= %" PRIu32 " AND t <= %" PRIu32 " AND trace IN (",
		b->s[0].start_s, b->s[b->nr - 1].start_s);
	put_ids(sql, b->s, b->nr, false, ",");
	buf_str(sql, ") GROUP BY trace");
	add_question(d, b->server, sql->data);
}

static int take_rows(const struct dialogue *d, size_t i, const struct batch *b, struct err *e)
{
	int r = http_accept(&d->q[i], &d->a[i], e);

	return r ? r : segments_count(b->s, b->nr, d->a[i].body.data, e);
}

static const char insert_nodes_sql[] = "INSERT INTO nodes (" FLEET_NODE_COLUMNS ")";

/* Ask whether another attempt at a waiting segment still runs, ours or that of another spool. */
static void ask_whether_running(struct dialogue *d, const struct batch *b)
{
	struct buf *sql = &d->sql[d->nr];

	buf_fmt(sql, "SELECT count() FROM system.processes WHERE query LIKE '%.*s%%' AND match(query, '", 17,
		insert_nodes_sql);
	put_ids(sql, b->s, b->nr, true, "|");
	buf_str(sql, "')");
	add_question(d, b->server, sql->data);
}

static int take_running(const struct dialogue *d, size_t i, struct err *e)
{
	uint64_t running;
	int r = http_accept(&d->q[i], &d->a[i], e);

	if (!r)
		r = http_take_number(&d->a[i], &running, e);
	if (!r && running)
		r = err_set(e, EAGAIN, "the server still works on an earlier attempt");
	return r;
}

static size_t nr_waiting(const struct segment *s, size_t nr)
{
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		n += s[i].fate == SEGMENT_WAITS;
	return n;
}

/* Appends a part of a file of the spool, or with nodes false the rest. */
static int copy_part(int to, const char *spool, const struct segment *s, bool nodes, struct err *e)
{
	char *path = segment_path(spool, s);
	off_t at = nodes ? 0 : s->nodes_len;
	uint64_t left = nodes ? s->nodes_len : s->len - s->nodes_len;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r = 0;
	ssize_t n;

	if (fd < 0)
		r = err_errno(e, "%s", path);
	while (!r && left) {
		n = sendfile(to, fd, &at, MIN(left, (uint64_t)1 << 30));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			r = n ? err_errno(e, "%s", path) : err_set(e, EIO, "%s is truncated", path);
		else
			left -= n;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return r;
}

/*
 * Write the statement and the rows of all waiting segments: members of one gzip file, as RFC 1952 has them.
 */
static int make_body(int fd, const char *statement, const struct batch *b, bool nodes, struct err *e)
{
	struct buf head = BUF_INIT;
	int r = gzip_bytes(statement, strlen(statement), &head, e);
	size_t i;

	if (!r && (r = io_write_all(fd, head.data, head.len)))
		r = err_set(e, -r, "the request cannot be stored: %s", strerror(-r));
	for (i = 0; i < b->nr && !r; i++)
		if (b->s[i].fate == SEGMENT_WAITS)
			r = copy_part(fd, b->spool, &b->s[i], nodes, e);
	buf_release(&head);
	return r;
}

/* Add a request for the rows; a failure is that of the file, which cannot be sent. */
static int add_insert(struct dialogue *d, const struct batch *b, const char *const *params,
		      const char *statement, bool nodes, struct err *e)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	if (fd < 0)
		return err_errno(e, "the request cannot be stored");
	d->q[d->nr++] = (struct http_request){ .server = b->server, .params = params, .body_fd = fd,
					       .gzipped = true, .max_answer = HTTP_SHORT_ANSWER };
	return make_body(fd, statement, b, nodes, e) ? -(e->code = EPROTO) : 0;
}

static int take_insert(const struct dialogue *d, size_t i, struct err *e)
{
	int r = http_accept(&d->q[i], &d->a[i], e);

	/* "with id ... is already running" */
	if (r == -EPROTO && !strncmp(d->a[i].body.data, "Code: 216", 9))
		r = -(e->code = EAGAIN);
	return r;
}

static int add_names(struct dialogue *d, const struct batch *b, struct err *e)
{
	return add_insert(d, b, NULL, "INSERT INTO names (" FLEET_NAME_COLUMNS ") FORMAT TabSeparated\n", false,
			  e);
}

/*
 * Asks in this order: what no longer runs has either left its rows or never will. The names of new segments
 * go at once; where something may be there, only after the answer.
 */
static int look(const struct batch *b, bool with_names, struct err *e)
{
	struct dialogue d = { .nr = 0 };
	size_t i;
	int r;

	ask_whether_running(&d, b);
	ask_for_rows(&d, b);
	r = with_names ? add_names(&d, b, e) : 0;
	if (!r)
		r = dialogue_send(&d, e);
	if (!r)
		r = take_running(&d, 0, e);
	if (!r)
		r = take_rows(&d, 1, b, e);
	if (!r && with_names)
		r = take_insert(&d, 2, e);
	for (i = 0; i < b->nr && !r; i++)
		if (b->s[i].fate == SEGMENT_WAITS && b->s[i].nr_there)
			b->s[i].fate = b->s[i].nr_there == b->s[i].nr_rows ? SEGMENT_KNOWN : SEGMENT_DIFFERS;
	dialogue_release(&d);
	return r;
}

static int send_names(const struct batch *b, struct err *e)
{
	struct dialogue d = { .nr = 0 };
	int r = add_names(&d, b, e);

	if (!r)
		r = dialogue_send(&d, e);
	if (!r)
		r = take_insert(&d, 0, e);
	dialogue_release(&d);
	return r;
}

/* Decides by what the server has now: a segment is sent once it counts its rows. */
static int verify(const struct batch *b, struct err *e)
{
	uint64_t rows = 0, there = 0;
	size_t i;

	for (i = 0; i < b->nr; i++) {
		struct segment *s = &b->s[i];

		if (s->fate != SEGMENT_WAITS)
			continue;
		rows += s->nr_rows;
		there += s->nr_there;
		if (s->nr_there)
			s->fate = s->nr_there == s->nr_rows ? SEGMENT_SENT : SEGMENT_DIFFERS;
	}
	if (!nr_waiting(b->s, b->nr))
		return 0;
	return err_set(e, EIO, "the server took %" PRIu64 " rows, but has %" PRIu64 " of them", rows, there);
}

/*
 * As one block, so that each segment is in one part: there whole or not at all. Their numbers are in the
 * statement, by which others see that they are being sent; and the server refuses the same batch, whose id is
 * the same, while it works on it. The block is the first request of its run, which curl never sends twice.
 */
static int send_nodes(const struct batch *b, struct err *e)
{
	char query_id[48];
	const char *const params[] = {
		query_id, "max_insert_block_size=1000000000", "min_insert_block_size_rows=1000000000",
		"min_insert_block_size_bytes=1000000000000", "insert_distributed_sync=1", NULL };
	struct dialogue d = { .nr = 0 };
	struct buf statement = BUF_INIT;
	int r;

	buf_fmt(&statement, "%s /* ", insert_nodes_sql);
	put_ids(&statement, b->s, b->nr, true, " ");
	buf_str(&statement, " */ FORMAT TabSeparated\n");
	snprintf(query_id, sizeof(query_id), "query_id=arcprof-%016" PRIx64,
		 hash_bytes(statement.data, statement.len));
	r = add_insert(&d, b, params, statement.data, true, e);
	ask_for_rows(&d, b);
	if (!r)
		r = begin_attempt(b->spool, e);
	if (!r)
		r = dialogue_send(&d, e);
	if (d.a[0].status) {
		int inserted = take_insert(&d, 0, e);

		if (!inserted || inserted == -EPROTO)
			end_attempt(b->spool);
		r = inserted ? inserted : r;
	}
	if (!r)
		r = take_rows(&d, 1, b, e);
	if (!r)
		r = verify(b, e);
	dialogue_release(&d);
	buf_release(&statement);
	return r;
}

int segments_push(const struct http_server *server, const char *spool, struct segment *s, size_t nr,
		  struct err *e)
{
	const struct batch b = { server, spool, s, nr };
	bool is_new;
	int r;

	if (!nr_waiting(s, nr))
		return 0;
	is_new = !await_arrival(spool);
	r = look(&b, is_new, e);
	if (r)
		return r;
	end_attempt(spool);
	if (!nr_waiting(s, nr))
		return 0;
	r = is_new ? 0 : send_names(&b, e);
	return r ? r : send_nodes(&b, e);
}
