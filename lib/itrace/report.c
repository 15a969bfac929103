// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/clock.h"
#include "base/io.h"
#include "itrace/stepper.h"

enum { OUT_FULL = 48 << 10 };

void report_flush(struct stepper *s)
{
	if (s->out.len && !s->broken && io_write_all(s->out_fd, s->out.data, s->out.len))
		s->broken = true;
	buf_reset(&s->out);
}

void report(struct stepper *s, enum wire_type type, const struct tracee *t, uint64_t a, uint64_t b,
	    const void *p, size_t len)
{
	struct wire w = {
		.type = type, .len = len, .time_ns = clock_mono_ns(), .pid = t ? t->pid : 0,
		.tid = t ? t->tid : 0,
		.a = a, .b = b,
	};

	if (type == WIRE_RUN)
		w.time_ns = t->run_ns;
	buf_add(&s->out, &w, sizeof(w));
	buf_add(&s->out, p, len);
	if (s->out.len >= OUT_FULL)
		report_flush(s);
}

void report_run(struct stepper *s, struct tracee *t)
{
	if (t->run_nr)
		report(s, WIRE_RUN, t, t->run_start, t->run_nr, t->run.data, t->run.len);
	buf_reset(&t->run);
	t->run_nr = 0;
}

/* What the process did before must be reported first: it belongs to the old mappings. */
void report_maps(struct stepper *s, struct tracee *t)
{
	struct buf b = BUF_INIT;
	char path[64];
	size_t i;

	for (i = 0; i < s->nr_tracees; i++)
		if (s->tracees[i]->pid == t->pid)
			report_run(s, s->tracees[i]);
	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	if (!io_slurp(path, &b) && b.len) {
		report(s, WIRE_MAPS, t, 0, 0, b.data, b.len);
		steady_maps(&s->steady, t->pid, b.data);
	}
	report_flush(s);	/* the files are opened while they are there */
	buf_release(&b);
}
