/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * incoming.h - profiles as programs and collectors send them over HTTP: what a body is made of, and what the
 * request says of each profile in it.
 *
 * POST /v1development/profiles		OpenTelemetry's, as OTLP/HTTP
 * POST /ingest?name=app{key=value}	Pyroscope's: a profile, or a form with one
 * POST /push.v1.PusherService/Push	Pyroscope's newer one: profiles of pprof with labels, in protobuf
 *
 * Source: collector.h; Pyroscope's "Server HTTP API" and api/push/v1/push.proto.
 */
#ifndef FLEET_INCOMING_H
#define FLEET_INCOMING_H

#include "fleet/request.h"

struct incoming_profile {
	const char *data;		/* in the body; may be compressed */
	size_t len;
	char *name;			/* of the program; NULL: the profile itself says it */
	char *labels;			/* "key=value,..." (base/labels.h) */
	uint64_t start_ns;		/* since 1970; 0: the request does not say */
};

struct incoming {
	struct incoming_profile *items;
	size_t nr_items, alloc_items;
	bool otlp;			/* profiles must be OpenTelemetry's */
};

struct incoming_way;			/* one of those above */

/* Return the endpoint of a request's path, or NULL if there is none. */
const struct incoming_way *incoming_find(const struct request *q);
/* Fills *in, which incoming_release() frees in any case. -EINVAL: the body or a parameter is wrong. */
int incoming_parse(struct incoming *in, const struct incoming_way *way, const struct request *q,
		   const char *body, size_t len, struct err *e);
void incoming_release(struct incoming *in);

#endif
