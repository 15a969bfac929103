// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_take.c - one request to "fleet push --listen", in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "fleet/id.h"
#include "fleet/incoming.h"
#include "fleet_receive.h"
#include "formats/import.h"

enum {
	HEAD_MS = 5000, BODY_MS = 30000, ANSWER_MS = 5000, LINGER_MS = 1000,
	PIECE = 64 << 10,
	RETRY_S = 30,			/* when a spool that is full may have room again */
	AHEAD_S = 86400, BACK_S = 366 * 86400,	/* how far a profile's start may be from now */
};

struct connection {
	const struct receiver *x;
	unsigned int number;
	int fd;
	struct buf in;			/* the head, and what of the body has come with it */
	char *head;
	struct request q;
	struct buf body;
};

/* ---- bytes ---- */

/* Appends some bytes, at most most of them; -ETIMEDOUT; -ECONNRESET: there are no more. */
static int read_piece(int fd, struct buf *b, size_t most, uint64_t end_ns, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now_ns = clock_mono_ns();
	ssize_t n;

	if (now_ns >= end_ns || poll(&p, 1, (end_ns - now_ns) / 1000000 + 1) <= 0)
		return err_set(e, ETIMEDOUT, "the request did not come in time");
	n = recv(fd, buf_room(b, MIN(most, (size_t)PIECE)), MIN(most, (size_t)PIECE), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_set(e, ECONNRESET, "the request is truncated");
	b->len += n;
	return 0;
}

static void write_piece(int fd, const char *s, size_t len)
{
	uint64_t end_ns = clock_mono_ns() + ANSWER_MS * 1000000ull, now_ns;
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	for (; len; s += n, len -= n) {
		now_ns = clock_mono_ns();
		if (now_ns >= end_ns || poll(&p, 1, (end_ns - now_ns) / 1000000 + 1) <= 0)
			return;
		n = send(fd, s, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		n = MAX(n, (ssize_t)0);
	}
}

/* Read what still comes: a sender does not see the answer if the connection is closed under it. */
static void linger(int fd)
{
	uint64_t end_ns = clock_mono_ns() + LINGER_MS * 1000000ull;
	struct buf rest = BUF_INIT;
	struct err e;

	shutdown(fd, SHUT_WR);
	while (!read_piece(fd, &rest, PIECE, end_ns, &e))
		buf_reset(&rest);
	buf_release(&rest);
}

/* ---- the answer ---- */

static const struct {
	int code, status;
	const char *reason;
} statuses[] = {
	{ EINVAL, 400, "Bad Request" }, { EACCES, 401, "Unauthorized" }, { EPERM, 403, "Forbidden" },
	{ ENOENT, 404, "Not Found" }, { EOPNOTSUPP, 405, "Method Not Allowed" },
	{ ECONNRESET, 400, "Bad Request" }, { ETIMEDOUT, 408, "Request Timeout" },
	{ EFBIG, 413, "Content Too Large" }, { EMEDIUMTYPE, 415, "Unsupported Media Type" },
	{ EAGAIN, 503, "Service Unavailable" }, { ENOSPC, 503, "Service Unavailable" },
	{ 0, 500, "Internal Server Error" },
};

static void put_status(struct buf *b, int status, const char *reason, const char *type, size_t len)
{
	buf_fmt(b, "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\nContent-Type: %s\r\nConnection: close\r\n", status,
		reason, len, type);
}

/* Answer with an empty message of protobuf, or an empty object of JSON. */
static void accept_request(const struct connection *c)
{
	bool json = request_has_type(&c->q, "application/json"), old = request_has_type(&c->q, "application/proto");
	struct buf b = BUF_INIT;

	put_status(&b, 200, "OK", json ? "application/json" : old ? "application/proto" :
		 request_has_type(&c->q, "application/x-protobuf") ? "application/x-protobuf" : "text/plain",
		 json ? 2 : 0);
	buf_fmt(&b, "\r\n%s", json ? "{}" : "");
	write_piece(c->fd, b.data, b.len);
	buf_release(&b);
}

/* Send the text, as a google.rpc.Status for OTLP/HTTP, otherwise as it is. */
static void refuse_request(const struct connection *c, const struct err *e, const char *peer)
{
	bool protobuf = c->q.head && request_has_type(&c->q, "application/x-protobuf");
	struct buf b = BUF_INIT, text = BUF_INIT;
	size_t i;

	for (i = 0; statuses[i].code && statuses[i].code != e->code; i++)
		;
	log_warn("%s: %d %s", peer, statuses[i].status, e->msg);
	if (protobuf)
		protobuf_bytes(&text, 2, e->msg, strlen(e->msg));
	else
		buf_fmt(&text, "%s\n", e->msg);
	put_status(&b, statuses[i].status, statuses[i].reason, protobuf ? "application/x-protobuf" : "text/plain",
		 text.len);
	if (statuses[i].status == 503)
		buf_fmt(&b, "Retry-After: %d\r\n", RETRY_S);
	if (e->code == EACCES)
		buf_str(&b, "WWW-Authenticate: Bearer\r\n");
	if (e->code == EOPNOTSUPP)
		buf_str(&b, "Allow: POST\r\n");
	buf_str(&b, "\r\n");
	buf_add(&b, text.data, text.len);
	write_piece(c->fd, b.data, b.len);
	buf_release(&b);
	buf_release(&text);
}

/* ---- the request ---- */

static int read_request_head(struct connection *c, struct err *e)
{
	uint64_t end_ns = clock_mono_ns() + HEAD_MS * 1000000ull;
	size_t before, len;
	const char *end;
	int r;

	do {
		before = c->in.len;
		if (before == REQUEST_MAX_HEAD)
			return err_set(e, EINVAL, "the head of the request has more than %d bytes",
				       REQUEST_MAX_HEAD);
		r = read_piece(c->fd, &c->in, REQUEST_MAX_HEAD - before, end_ns, e);
		if (r)
			return r;
		end = memmem(c->in.data, c->in.len, "\r\n\r\n", 4);
	} while (!end);
	len = end - c->in.data + 4;
	if (memchr(c->in.data, '\0', len))
		return err_set(e, EINVAL, "not a request of HTTP/1.1");
	c->head = xstrndup(c->in.data, len);
	c->in.len -= len;
	memmove(c->in.data, c->in.data + len, c->in.len);
	return request_parse(&c->q, c->head, e);
}

/* All bytes are compared: how long it takes says nothing of the token. */
static bool has_token(const struct connection *c)
{
	static const char scheme[] = "Bearer ";
	const char *want = c->x->token, *s;
	unsigned char differs = 0;
	size_t len, i;

	if (!want)
		return true;
	s = request_header(c->head, "Authorization:", &len);
	if (!s || len != strlen(scheme) + strlen(want) || strncasecmp(s, scheme, strlen(scheme)) != 0)
		return false;
	for (i = 0; want[i]; i++)
		differs |= s[strlen(scheme) + i] ^ want[i];
	return !differs;
}

/* Check that the sender may send, and that something takes what is sent there. */
static int may_send(const struct connection *c, struct err *e)
{
	size_t len;

	if (!has_token(c))
		return err_set(e, EACCES, "the token of --token-file is missing, or another one");
	if (request_header(c->head, "Origin:", &len))
		return err_set(e, EPERM, "pages in a browser cannot send profiles");
	if (!incoming_find(&c->q))
		return err_set(e, ENOENT, "nothing takes profiles at %.*s",
			       (int)MIN(c->q.path_len, (size_t)80), c->q.path);
	if (!request_is(&c->q, "POST"))
		return err_set(e, EOPNOTSUPP, "profiles are sent by POST");
	if (c->q.len > c->x->o->max_request)
		return err_set(e, EFBIG, "the body has more than %" PRIu64 " bytes (--max-request)",
			       c->x->o->max_request);
	if (c->x->counts->spool_len >= c->x->o->spool_size)
		return err_set(e, EAGAIN, "%s is full (--spool-size)", c->x->spool);
	return 0;
}

/* Take room for a body of this size in what all connections may hold. */
static int reserve(const struct connection *c, uint64_t len, struct err *e)
{
	uint64_t all = 0;
	size_t i;

	c->x->counts->body_len[c->number] = len;
	for (i = 0; i < RECEIVE_CONNECTIONS; i++)
		all += c->x->counts->body_len[i];
	if (all <= MAX((uint64_t)RECEIVE_BODIES, c->x->o->max_request))
		return 0;
	c->x->counts->body_len[c->number] = 0;
	return err_set(e, EAGAIN, "other requests have all the memory for bodies");
}

static int read_chunks(struct connection *c, uint64_t end_ns, struct err *e)
{
	struct chunks chunks = { .left = 0 };
	int r;

	for (;;) {
		r = chunks_take(&chunks, c->in.data, c->in.len, c->x->o->max_request, &c->body, e);
		if (r)
			return r < 0 ? r : 0;
		buf_reset(&c->in);
		r = reserve(c, c->body.len + PIECE, e);
		if (!r)
			r = read_piece(c->fd, &c->in, PIECE, end_ns, e);
		if (r)
			return r;
	}
}

/* Read the body as it is sent. */
static int read_body(struct connection *c, struct err *e)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	uint64_t end_ns = clock_mono_ns() + BODY_MS * 1000000ull;
	int r = reserve(c, c->q.chunked ? PIECE : c->q.len, e);

	if (r)
		return r;
	if (c->q.waits)
		write_piece(c->fd, go_on, strlen(go_on));
	if (c->q.chunked)
		return read_chunks(c, end_ns, e);
	buf_add(&c->body, c->in.data, MIN((uint64_t)c->in.len, c->q.len));
	while (!r && c->body.len < c->q.len)
		r = read_piece(c->fd, &c->body, c->q.len - c->body.len, end_ns, e);
	return r;
}

static int undo_encoding(struct connection *c, struct err *e)
{
	struct buf plain = BUF_INIT;
	int r;

	if (!c->q.gzipped || !c->body.len)
		return 0;
	r = gunzip_bytes(c->body.data, c->body.len, c->x->o->max_request, &plain, e);
	if (r == -EFBIG)
		return err_set(e, EFBIG, "the body has more than %" PRIu64 " bytes (--max-request)",
			       c->x->o->max_request);
	if (r)
		return err_set(e, EINVAL, "the body is not compressed by gzip, or damaged");
	buf_release(&c->body);
	c->body = plain;
	return 0;
}

/* ---- the profiles ---- */

/* Importing takes memory, so that only some do it at a time. A lock ends with the process that has it. */
static void wait_for_turn(const struct connection *c)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	for (l.l_start = 0; l.l_start < RECEIVE_IMPORTS; l.l_start++)
		if (!fcntl(c->x->turns, F_SETLK, &l))
			return;
	l.l_start = c->number % RECEIVE_IMPORTS;
	while (fcntl(c->x->turns, F_SETLKW, &l) && errno == EINTR)
		;
}

/* Return a number made of the profile and its request, so that one sent again has the same. */
static int64_t incoming_number(const struct incoming_profile *p)
{
	struct buf b = BUF_INIT;
	int64_t id;

	buf_fmt(&b, "%s\n%s\n%" PRIu64 "\n", p->name ? p->name : "", p->labels, p->start_ns);
	buf_add(&b, p->data, p->len);
	id = fleet_trace(b.data, b.len);
	buf_release(&b);
	return id;
}

/*
 * Refuse invalid starts: rows without a time are never dropped, and those of many weeks make as many parts in
 * the server.
 */
static int check_start(uint64_t start_ns, struct err *e)
{
	uint64_t now_s = clock_real_ns() / 1000000000, start_s = start_ns / 1000000000;

	if (!start_s)
		return err_set(e, EINVAL, "the profile does not say when it began, nor does the parameter from");
	if (start_s > now_s + AHEAD_S || start_s + BACK_S < now_s)
		return err_set(e, EINVAL, "the profile began more than %s", start_s > now_s ? "a day from now" :
			       "a year ago");
	return 0;
}

/* Import a profile; any failure except for its size is the profile's fault. */
static int import_profile(const struct incoming_profile *p, bool otlp, uint64_t *start_ns, struct err *e)
{
	struct import_about about = { .name = p->name, .labels = p->labels, .start_ns = p->start_ns,
				      .only = otlp ? "OTLP" : NULL };
	int r = import_memory(p->data, p->len, &about, e);

	*start_ns = about.start_ns;
	if (r < 0 && r != -ENODATA && r != -EFBIG && r != -ENOMEM)
		r = -(e->code = EINVAL);
	return r;
}

static int keep_profile(const struct connection *c, const struct incoming_profile *p, bool otlp,
			struct err *e)
{
	struct export_source from = { .received = true };
	uint64_t start_ns, len = 0;
	char path[32];
	int fd = import_profile(p, otlp, &start_ns, e), r;

	if (fd < 0)
		return fd == -ENODATA ? 0 : fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	from.path = path;
	from.id = incoming_number(p);
	r = check_start(start_ns, e);
	if (!r)
		r = c->x->kind->add(c->x->o, c->x->spool, &from, &len, e);
	close(fd);
	c->x->counts->spool_len += len;
	return MIN(r, 0);
}

/* Sync the folder: a name is on the disk only when its folder is. */
static int keep_names(const struct connection *c, struct err *e)
{
	int fd = open(c->x->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 || fsync(fd) ? err_errno(e, "%s", c->x->spool) : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int keep_profiles(const struct connection *c, struct err *e)
{
	const char *body = c->body.data ? c->body.data : "";
	struct incoming in;
	size_t i;
	int r = incoming_parse(&in, incoming_find(&c->q), &c->q, body, c->body.len, e);

	for (i = 0; i < in.nr_items && !r; i++)
		r = keep_profile(c, &in.items[i], in.otlp, e);
	if (!r && in.nr_items)
		r = keep_names(c, e);
	incoming_release(&in);
	return r;
}

void receive_request(const struct receiver *x, unsigned int number, int fd, const char *peer)
{
	struct connection c = { .x = x, .number = number, .fd = fd };
	struct err e = { 0 };
	int r = read_request_head(&c, &e);

	if (!r)
		r = may_send(&c, &e);
	if (!r)
		r = read_body(&c, &e);
	if (!r) {
		wait_for_turn(&c);
		r = undo_encoding(&c, &e);
	}
	if (!r)
		r = keep_profiles(&c, &e);
	if (r)
		refuse_request(&c, &e, peer);
	else
		accept_request(&c);
	linger(fd);
	buf_release(&c.in);
	buf_release(&c.body);
	free(c.head);
}
