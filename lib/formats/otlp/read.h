/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.h - between read.c, which reads OpenTelemetry's profiles, and read_json.c, which has them in JSON. */
#ifndef FORMATS_OTLP_READ_H
#define FORMATS_OTLP_READ_H

#include "base/span.h"
#include "formats/sink.h"

/* Reads requests in protobuf, each with a dictionary of its own. -EINVAL: damaged, or without samples. */
int otlp_read_requests(struct import *im, const struct span *requests, size_t nr, struct err *e);

#endif
