// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - writes what the stepper sees to its output (stepper.h). */
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

void report(struct stepper *s, const struct tracee *t, struct wire head, const void *p)
{
	if (!head.time_ns)
		head.time_ns = clock_mono_ns();
	head.pid = t ? t->pid : 0;
	head.tid = t ? t->tid : 0;
	buf_add(&s->out, &head, sizeof(head));
	buf_add(&s->out, p, head.len);
	if (s->out.len >= OUT_FULL)
		report_flush(s);
}

void report_run(struct stepper *s, struct tracee *t)
{
	const struct wire head = {
		.type = WIRE_RUN, .len = t->run.len, .time_ns = t->run_ns, .a = t->run_start, .b = t->run_nr,
	};

	if (t->run_nr)
		report(s, t, head, t->run.data);
	buf_reset(&t->run);
	t->run_nr = 0;
}

/* Report first what the process did before, which belongs to the old mappings. */
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
		report(s, t, (struct wire){ .type = WIRE_MAPS, .len = b.len }, b.data);
		steady_maps(&s->steady, t->pid, b.data);
	}
	report_flush(s);	/* the files are opened while they are there */
	buf_release(&b);
}
