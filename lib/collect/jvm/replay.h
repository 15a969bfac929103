/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - a journal, which the agent of a JVM wrote without a recorder (jvm/journal.h), becomes a trace:
 * what is in it goes the way that it would have gone in a recording, at the times that it has.
 */
#ifndef COLLECT_REPLAY_H
#define COLLECT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "trace/writer.h"

struct replay_opts {
	const void *data;		/* the journal, 8-aligned */
	size_t len;
	const char *version;		/* ours, for the label */
	bool cache;			/* use and update the cache of symbols (sym/cache.h) */
	const char *output;		/* or trace.take */
	struct trace_writer_opts trace;
};

/*
 * 0 or -errno. The trace says what of the journal is missing or damaged. -EINVAL: it is not a journal,
 * or damaged at its beginning; -EPROTO: of another version.
 */
int replay_journal(const struct replay_opts *o, struct err *e);

#endif
