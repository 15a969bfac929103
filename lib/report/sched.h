/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sched.h - the reports of dispatches and interrupts, and the parts common to both. */
#ifndef REPORT_SCHED_H
#define REPORT_SCHED_H

#include "base/json.h"
#include "model/filter.h"
#include "model/sched.h"
#include "report/report.h"

/* what --filter keeps: threads that conditions without an event select */
struct sched_kept {
	const struct rules *rules;
	struct filter *filter;
	uint64_t nr_left_out;		/* threads, of those that are selected */
};

/* Prepare the filter; m stays borrowed. */
int sched_kept_init(struct sched_kept *k, struct sched_model *m, const struct selection *s,
		    struct trace_reader *t, struct err *e);
void sched_kept_release(struct sched_kept *k);

/* Print the first lines of a text report; or write the first members of JSON, whose object stays open. */
void sched_head_text(const struct sched_model *m, const struct sched_kept *k, size_t nr_threads, FILE *out);
void sched_head_json(const struct sched_model *m, const struct sched_kept *k, struct json *j,
		     const char *report);
/* Return whether --pid, --tid, --comm, --thread and --filter select a thread; NULL selects all. */
bool sched_selected(const struct selection *s, const struct sched_kept *k, const struct sched_thread *t);

/*
 * wallthreads.c: print the report "threads" from the source wall, if no dispatches were recorded; as struct
 * report.print_trace. -ENODATA with *e unchanged: the trace has no such source.
 */
int wall_threads_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

#endif
