// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-import.c - any bytes as a foreign profile: what becomes a trace is a whole one, and its model obeys the
 * invariants.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "flow/check.h"
#include "formats/import.h"
#include "model/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take(void *ctx, const void *p, size_t len)
{
	buf_add(ctx, p, len);
}

static void check_trace(const struct buf *trace)
{
	const struct profile_opts o = { .names.no_files = true };
	struct flow_check c[FLOW_NR_CHECKS];
	const struct trace_damage *d;
	struct trace_reader *t;
	struct origin origin;
	struct names names;
	struct model m;
	struct err e;

	if (trace_reader_open_memory(&t, trace->data, trace->len, &e))
		abort();
	if (profile_read(&names, &m, &origin, t, &o, &e) || flow_check(&m.flow, c))
		abort();
	d = trace_reader_damage(t);
	if (d->nr_bytes || d->nr_bad_records || d->truncated)
		abort();
	names_release(&names);
	model_release(&m);
	trace_reader_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf trace = BUF_INIT;
	struct err e;

	if (!import_bytes(data, len, NULL, take, &trace, &e))
		check_trace(&trace);
	buf_release(&trace);
	return 0;
}
