/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - a request over HTTP/1.1 that somebody sends: its head, and a body in chunks.
 *
 * Source: RFC 9112. Anybody may send anything, so each part has a bound, and what is not understood is
 * refused.
 */
#ifndef FLEET_REQUEST_H
#define FLEET_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { REQUEST_MAX_HEAD = 16 << 10 };	/* bytes up to the empty line */

/* Return what a header says, and its length, or NULL without that header. The name ends with a colon. */
const char *request_header(const char *head, const char *name, size_t *len);

struct request {
	const char *head;		/* text, up to the empty line; borrowed */
	const char *method, *path, *query;	/* in the head, and not terminated */
	size_t method_len, path_len, query_len;
	uint64_t len;			/* bytes of the body, as they are sent */
	bool chunked;			/* they are not known */
	bool gzipped;			/* Content-Encoding */
	bool waits;			/* for "100 Continue", before it sends the body */
};

/*
 * Parse the head of a request, up to and with its empty line. -EINVAL: it is not a request, or says its
 * length in two ways; -EMEDIUMTYPE: the body is encoded in a way that is not known here.
 */
int request_parse(struct request *q, const char *head, struct err *e);

bool request_is(const struct request *q, const char *method);
/* Appends the value of a parameter, without its escapes; false: there is none. */
bool request_param(const struct request *q, const char *name, struct buf *value);
/* Return whether the header Content-Type begins with type. */
bool request_has_type(const struct request *q, const char *type);

/* A body in chunks, as it comes; begins with zeroes. */
struct chunks {
	uint64_t left;			/* bytes of this chunk */
	enum { CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER, CHUNKS_COMPLETE } state;
	unsigned int nr_digits, nr_others;	/* of a size; bytes since the last that were data */
	bool is_last;
};

/*
 * Appends the data of these bytes to *body: 1 when that is all of it, 0 if more must come. -EFBIG: it has
 * more than limit bytes; -EINVAL: these are not chunks.
 */
int chunks_take(struct chunks *c, const char *bytes, size_t len, size_t limit, struct buf *body,
		struct err *e);

#endif
