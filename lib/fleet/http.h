/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.h - asks a database over HTTP.  curl(1) does it: names, TLS, proxies and ~/.netrc are its own.
 */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Sends the body (a file that is open, from where it stands; gzipped says how it is encoded) to the URL,
 * whose query gets the parameters: each "name=value", NULL at the end.  Fills *answer with what came back.
 *
 * -EAGAIN: nobody answered, so whether the request was carried out is not known; -EPROTO: the server refused,
 * *e has the beginning of what it said; -ENOENT: there is no curl.
 */
int http_post(const char *url, const char *const *params, int body_fd, bool gzipped, struct buf *answer,
	      struct err *e);
/* The same with a statement as the body. */
int http_query(const char *url, const char *const *params, const char *sql, struct buf *answer,
	       struct err *e);

/* Whether it is a URL that http_post() takes. */
bool http_is_url(const char *s);

#endif
