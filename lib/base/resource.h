/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * resource.h - what the environment of a process says for OpenTelemetry that it is part of:
 * OTEL_SERVICE_NAME, and OTEL_RESOURCE_ATTRIBUTES, whose format and order are those of OpenTelemetry's
 * specification of environment variables. In a pod of Kubernetes HOSTNAME is k8s.pod.name, unless they say.
 *
 * Whoever runs the process may have written anything there.
 */
#ifndef BASE_RESOURCE_H
#define BASE_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Add labels (base/labels.h) from an environment of len bytes, as in /proc/PID/environ. service.name becomes
 * "service" and service.version "version", as in "record --label"; all others keep their names. Invalid
 * labels are left out, and so are those beyond the 32nd. own_host: HOSTNAME is not the machine's, as in pods
 * in the machine's network.
 */
void resource_parse(const char *environment, size_t len, bool own_host, struct buf *labels);

/* Add the labels of a running process; none if its environment cannot be read. */
void resource_of(int pid, struct buf *labels);

#endif
