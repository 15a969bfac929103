/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector.h - sends profiles to a receiver of OpenTelemetry, by OTLP/HTTP with protobuf.
 *
 * Source: docs/specification.md and collector/profiles/v1development/profiles_service.proto of
 * opentelemetry-proto 1.11.0; google/rpc/status.proto.
 */
#ifndef FLEET_COLLECTOR_H
#define FLEET_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fleet/http.h"

enum { COLLECTOR_MAX_REQUEST = 64 << 20 };	/* bytes before compression: receivers take no more */

struct collector_answer {
	uint64_t nr_rejected;		/* profiles, by a receiver that took the others */
	char *message;			/* what it says; NULL: nothing; the caller's to free */
	uint64_t wait_s;		/* for so long it wants to be left alone; 0: it does not say */
};

/* Return 0 if anything answers at the URL of the service, whatever it says; else -EAGAIN. */
int collector_ask(const struct http_server *server, struct err *e);

/*
 * Sends an ExportProfilesServiceRequest, compressed by gzip, which the open file has from where it stands.
 * Fills *a in any case.  0: it has been taken, but for nr_rejected. -EAGAIN: not known, or not now: send it
 * again; -EBADMSG: this request will never be taken; -EACCES: the server refuses, and may take it once
 * whoever runs it has changed something.
 */
int collector_send(const struct http_server *server, int fd, struct collector_answer *a, struct err *e);

/*
 * Parse an ExportProfilesServiceResponse; -EINVAL: the bytes are something else. *a must be freed in any
 * case.
 */
int collector_parse_response(const void *data, size_t len, struct collector_answer *a);
/* Return the message of a google.rpc.Status; NULL: the bytes are something else. */
char *collector_parse_status(const void *data, size_t len);
/* Return the URL of the service, malloc'd, with OTLP's path for it if it has none. */
char *collector_url(const char *url);

#endif
