/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device.h - /dev/arcprof, the kernel module's end. */
#ifndef RING_DEVICE_H
#define RING_DEVICE_H

#include "arcprof_uapi.h"
#include "base/err.h"

/*
 * A descriptor of the module that is loaded, if it has all these features (enum
 * arcprof_features).  Else -ENOENT, -EACCES, -EPROTO (another version), -ENOTSUP...; *e says what to do.
 */
int device_open(unsigned int features, struct err *e);

#endif
