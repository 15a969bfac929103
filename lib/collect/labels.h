/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labels.h - what a trace says of itself. */
#ifndef COLLECT_LABELS_H
#define COLLECT_LABELS_H

#include "trace/writer.h"

struct collect;

/* Of every trace: by whom, of what, and where it was made. */
void labels_origin(struct trace_writer *w, const char *version, const char *command_line);

/* Of samples: what is recorded, of which events, and at the end how many there were. */
void labels_host(const struct collect *c);
void labels_jvm_events(const struct collect *c);
void labels_events(const struct collect *c);
void labels_end(struct collect *c);
/* One moment on each clock, so that times of other tools can be converted. */
void labels_clock(const struct collect *c, const char *when);

#endif
