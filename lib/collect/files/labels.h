/* SPDX-License-Identifier: GPL-2.0-or-later */
/* labels.h - what a trace says of itself. */
#ifndef COLLECT_LABELS_H
#define COLLECT_LABELS_H

#include "trace/writer.h"

struct collect;

/* Write what every trace says: by whom, of what, and where it was made. */
void labels_origin(struct trace_writer *w, const char *version, const char *command_line);

/* The same of another machine. */
struct labels_machine {
	const char *host, *kernel_release, *arch;
};
void labels_origin_of(struct trace_writer *w, const char *version, const char *command_line,
		      const struct labels_machine *m);

/* Write labels of samples: what is recorded, of which events, and at the end how many there were. */
void labels_host(const struct collect *c);
void labels_recording(const struct collect *c);	/* without those of the origin */
void labels_jvm_events(const struct collect *c);
void labels_events(const struct collect *c);
/* Write how often perf event number event is sampled from now on. */
void labels_rate(const struct collect *c, size_t event);
/* Write the labels of the file that ends. last: also those of the recording. */
void labels_end(struct collect *c, bool last);
/* Note what counters have reached: what follows belongs to the next file. */
void labels_read_counts(struct collect *c);
/* one moment on each clock, so that times of other tools can be converted */
struct clocks {
	uint64_t mono_ns, real_ns, tsc;
};
struct clocks clocks_now(void);
void labels_clocks(const struct collect *c, const char *when, const struct clocks *at);
/* Write the clocks of this moment. */
void labels_clock(const struct collect *c, const char *when);

#endif
