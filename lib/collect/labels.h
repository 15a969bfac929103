/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labels.h - what every trace says first: by whom, of what, and where it was made. */
#ifndef COLLECT_LABELS_H
#define COLLECT_LABELS_H

#include "trace/writer.h"

void labels_origin(struct trace_writer *w, const char *version, const char *command_line);

#endif
