/* SPDX-License-Identifier: GPL-2.0-or-later */
/* otlp.h - profiles for a receiver of OpenTelemetry. */
#ifndef FORMATS_OTLP_OTLP_H
#define FORMATS_OTLP_OTLP_H

#include "base/span.h"
#include "formats/sink.h"
#include "report/report.h"

/*
 * Write the view as --format otlp does, as an ExportProfilesServiceRequest; ids of its profiles are made from
 * the recording's number.
 */
int otlp_request(struct view *v, int64_t id, FILE *out);

/* ---- between read.c, which reads OpenTelemetry's profiles, and read_json.c, which has them in JSON ---- */

/* Reads requests in protobuf, each with a dictionary of its own. -EINVAL: damaged, or without samples. */
int otlp_read_requests(struct import *im, const struct span *requests, size_t nr, struct err *e);

#endif
