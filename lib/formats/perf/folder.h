/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.h - a folder that "perf record" wrote, as a perf.data file. */
#ifndef FORMATS_PERF_FOLDER_H
#define FORMATS_PERF_FOLDER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Whether the folder has a file that could be it. */
bool perf_folder_is(const char *path);
/* Appends a perf.data file with all records of the folder. -EINVAL: damaged; or -errno. */
int perf_folder_read(const char *path, struct buf *b, struct err *e);

#endif
