/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.h - asks a server over HTTP.  curl(1) does it: names, TLS, proxies and ~/.netrc are its own.  It gets
 * the URL in a file that nobody else can read, so that a password in it is in no list of processes.
 */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* A server, and what it may ask of us: it may be anybody's, and anything may be in its place. */
struct http_server {
	const char *url;
	unsigned int idle_s;		/* a request ends that is slower than HTTP_LEAST_SPEED for so long, */
	unsigned int total_s;		/* or takes so long as a whole, */
	unsigned int question_s;	/* or so long if a number answers it */
	size_t max_answer;		/* bytes, where what is asked for has no smaller bound */
};

enum {
	HTTP_LEAST_SPEED = 100,		/* bytes per second, in both directions */
	HTTP_SHORT_ANSWER = 64 << 10,	/* bytes: for a line, or for what is wrong */
	HTTP_MOST_REQUESTS = 4,		/* of one http_send_all() */
};

struct http_request {
	const struct http_server *server;
	const char *const *params;	/* for its query, behind what that has: "name=value", NULL at the end;
					 * NULL: none */
	const char *text;		/* the body; NULL: */
	int body_fd;			/* a regular file, all of which is sent; -1: none, it is a GET */
	bool gzipped;			/* which it is already */
	const char *type;		/* Content-Type; NULL: bytes */
	unsigned int total_s;		/* 0: the server's */
	size_t max_answer;		/* bytes, of the headers as well; 0: the server's */
};

struct http_answer {
	struct buf body;		/* the caller's to release */
	int status;			/* 0: there was no answer */
	uint64_t wait_s;		/* Retry-After; 0: the server does not say */
};

/*
 * Fills *a with the answer, whatever its status; redirections are not followed.  -EAGAIN: no answer in time,
 * so whether the request was carried out is not known; -EMSGSIZE: the answer is longer than
 * max_answer; -ENOENT: there is no curl.
 */
int http_send(const struct http_request *q, struct http_answer *a, struct err *e);
/*
 * Send several, one after the other, over one connection where the server keeps it.  After one that
 * fails none is sent; the answers before it are there.  Any but the first may be sent twice: curl does that
 * by itself where the server closes a connection that it was expected to keep.
 */
int http_send_all(const struct http_request *q, struct http_answer *a, size_t nr, struct err *e);

/* Return 0 for status 200, else as http_query() does. */
int http_accept(const struct http_request *q, const struct http_answer *a, struct err *e);
/* Parse an answer that is one number; -EPROTO: it is something else. */
int http_take_number(const struct http_answer *a, uint64_t *number, struct err *e);

/*
 * Send a statement to a server that answers 200 with the result, or another status with text.  *answer has
 * the body alone. -EAGAIN: no answer, or the server cannot now; -EPROTO: it refused, *e has the
 * beginning of what it said.
 */
int http_query(const struct http_request *q, const char *sql, struct buf *answer, struct err *e);
/*
 * Send a statement whose answer is one number, with the timeout of a question. -EPROTO: it is something else.
 */
int http_ask_number(const struct http_server *server, const char *sql, uint64_t *number, struct err *e);

/* Fills *e with "host: text", the first line of it; returns -code. */
int http_refuse(struct err *e, int code, const char *url, const char *text);
/* Return whether the status says that the same request may be carried out later. */
bool http_is_busy(int status);

/* Return whether it is a URL that http_send() takes. */
bool http_is_url(const char *s);
/* Overwrite the password in "http://user:password@host/?password=", so that nothing shows it. */
void http_hide_secrets(char *url);

/* Return the seconds that the headers of one or several answers ask to wait, or 0. now_s: since 1970. */
uint64_t http_retry_after(const char *headers, uint64_t now_s);

#endif
