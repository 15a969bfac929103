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

struct http_request {
	const char *url;
	const char *const *params;	/* for its query, behind what that has: "name=value", NULL at the end;
					 * NULL: none */
	int body_fd;			/* an open file, sent from where it stands */
	bool gzipped;			/* which it is already */
	const char *type;		/* Content-Type; NULL: bytes */
	unsigned int timeout_s;		/* for all of it; 0: none */
	size_t max_answer;		/* bytes; 0: any */
};

struct http_answer {
	struct buf body;		/* the caller's to release */
	int status;
	uint64_t wait_s;		/* Retry-After; 0: the server does not say */
};

/*
 * Fills *a with the answer, whatever its status.  -EAGAIN: nobody answered, so whether the request was
 * carried out is not known; -EMSGSIZE: the answer is above max_answer; -ENOENT: there is no curl.
 */
int http_send(const struct http_request *q, struct http_answer *a, struct err *e);

/*
 * The same of what answers 200 with what was asked for, or else with text.  *a has the body alone.
 * -EAGAIN: nobody answered, or the server cannot now; -EPROTO: it refused, *e has the beginning of what it
 * said.
 */
int http_post(const struct http_request *q, struct buf *answer, struct err *e);
/* With a statement as the body. */
int http_query(const char *url, const char *const *params, const char *sql, struct buf *answer,
	       struct err *e);

/* Fills *e with "host: text", the first line of it; returns -code. */
int http_refuse(struct err *e, int code, const char *url, const char *text);
/* Whether the status says that the same request may be carried out later. */
bool http_is_busy(int status);

/* Whether it is a URL that http_send() takes. */
bool http_is_url(const char *s);
/* Overwrites the password in "http://user:password@host/?password=", so that nothing shows it. */
void http_hide_secrets(char *url);

/* The seconds that headers, of one or several answers, ask to wait; now_s: since 1970. 0: they do not. */
uint64_t http_retry_after(const char *headers, uint64_t now_s);

#endif
