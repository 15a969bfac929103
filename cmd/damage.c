// SPDX-License-Identifier: GPL-2.0-or-later
/* damage.c - what every command says that read a damaged trace, and the exit status it gives. */
#include <inttypes.h>

#include "base/log.h"
#include "cmd.h"
#include "trace/reader.h"

int warn_of_damage(const char *path, const struct trace_damage *d)
{
	bool damaged = d->nr_places || d->nr_bytes || d->nr_bad_records;

	if (damaged)
		log_warn("%s is damaged: %" PRIu64 " bytes in %" PRIu64 " place%s and %" PRIu64
			 " record%s skipped; first: %s",
			 path, d->nr_bytes, d->nr_places, plural(d->nr_places), d->nr_bad_records,
			 plural(d->nr_bad_records), d->first);
	if (d->truncated)
		log_warn("%s has no end: the recording was cut off after %.2f s, or still goes on", path,
			 d->span_ns / 1e9);
	return damaged || d->truncated ? 1 : 0;
}
