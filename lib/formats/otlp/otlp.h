/* SPDX-License-Identifier: GPL-2.0-or-later */
/* otlp.h - profiles for a receiver of OpenTelemetry. */
#ifndef FORMATS_OTLP_OTLP_H
#define FORMATS_OTLP_OTLP_H

#include "report/report.h"

/*
 * Writes the view as --format otlp does, which is an ExportProfilesServiceRequest; its profiles have ids made
 * of the recording's number.
 */
int otlp_request(struct view *v, int64_t id, FILE *out);

#endif
