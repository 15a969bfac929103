/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - perf.data as read_file.c takes it apart, for read.c, which gives it meaning.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h of the
 * kernel.
 */
#ifndef FORMATS_PERF_READ_H
#define FORMATS_PERF_READ_H

#include <linux/perf_event.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/span.h"
#include "formats/sink.h"
#include "unwind/perfsample.h"

/* missing in the uapi headers of older systems; records above 63 are perf's own */
enum {
	PERF_HEADER_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_HEADER_BUILD_ID = 67,
	PERF_AUXTRACE = 71,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_BUILD_ID_SIZE = 1 << 15,
};

/* An event as it was opened. */
struct perf_event {
	uint32_t type;
	uint64_t config, period;
	struct perf_sample_format format;
	bool freq, id_all;
	struct import_text name;	/* "" unknown */
	uint64_t nr_samples;
	uint32_t number;		/* of import_event(), when there are samples */
};

struct perf_build_id {
	struct import_text path;
	const uint8_t *id;
	size_t len;
};

/* A record, 8 bytes of header included. */
struct perf_record {
	uint64_t time_ns;		/* 0: before all others, or not known */
	uint64_t off;			/* for perf_file_at(); records of one time are in this order */
};

struct perf_file {
	const uint8_t *data;
	size_t len;
	bool pipe;
	struct perf_event *events;
	size_t nr_events, alloc_events;
	struct map event_of;		/* id -> index in events */
	struct perf_build_id *build_ids;
	size_t nr_build_ids, alloc_build_ids;
	struct perf_record *records;	/* in the order of time */
	size_t nr_records, alloc_records;
	struct import_text host, release, arch;
	struct buf command;
	struct buf plain;		/* records that were compressed */
	uint32_t nr_cpus;
	uint64_t wall_ns, wall_at_ns;	/* CLOCK_REALTIME at a moment of the samples' clock; 0 unknown */
	bool truncated;			/* the data ends in the middle of a record */
};

/* -EINVAL: damaged; -EOPNOTSUPP: in a way that cannot be read. Release it also then. */
int perf_file_read(struct perf_file *f, const void *data, size_t len, struct err *e);
void perf_file_release(struct perf_file *f);

/* Return a record, which is in the file or was compressed in it. */
static inline const uint8_t *perf_file_at(const struct perf_file *f, uint64_t off)
{
	return off < f->len ? f->data + off : (const uint8_t *)f->plain.data + (off - f->len);
}

/* Return the event of a record, NULL if it has none; s: what follows the header. */
struct perf_event *perf_event_of(const struct perf_file *f, const struct perf_event_header *h,
				 const struct span *s);

#endif
