/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfsample.h - the fields of a PERF_RECORD_SAMPLE, in the order of include/uapi/linux/perf_event.h: of our
 * own events, and of those in a perf.data.
 */
#ifndef UNWIND_PERFSAMPLE_H
#define UNWIND_PERFSAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "unwind/unwind.h"

#define PERF_SAMPLE_NO_CPU UINT32_MAX

/* The members of struct perf_event_attr that decide which fields there are. */
struct perf_sample_format {
	uint64_t sample_type, read_format, branch_type, regs_user;
};

/* fields that the format does not have are 0 */
struct perf_sample {
	uint64_t id;		/* PERF_SAMPLE_IDENTIFIER */
	uint64_t ip, time_ns, period;
	uint64_t data_addr;	/* PERF_SAMPLE_ADDR */
	uint32_t pid, tid, cpu;	/* cpu: PERF_SAMPLE_NO_CPU not known */
	const void *chain;	/* nr_chain numbers of 8 bytes; as aligned as the record is */
	size_t nr_chain;
	const void *raw;	/* PERF_SAMPLE_RAW, of nr_raw bytes */
	size_t nr_raw;
	struct unwind_stack stack;
	bool has_regs;
	bool user;		/* for readers: the record's header says so */
	struct unwind_regs regs;
};

/* Read a sample from what follows the record's header, s. Returns false if it is damaged. */
bool perf_sample_read(struct perf_sample *ps, const struct perf_sample_format *format, struct span s);

#endif
