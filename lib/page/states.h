/* SPDX-License-Identifier: GPL-2.0-or-later */
/* states.h - what each thread did when, where dispatches were recorded: shares of equal parts of the time. */
#ifndef PAGE_STATES_H
#define PAGE_STATES_H

#include "base/json.h"
#include "model/sched.h"
#include "report/report.h"

enum { STATES_CELLS = 600, STATES_WHOLE = 127 };

struct page_states {
	struct sched_model sched;	/* threads and their times; no threads: nothing was recorded */
	uint64_t start_ns, span_ns;
	/* [thread * STATES_CELLS + cell][state] */
	uint64_t (*cells)[SCHED_NR_BUCKETS];
	size_t nr_threads;
};

/* Leaves out what cannot be read: the page then shows no dispatches. */
void page_states_read(struct page_states *s, const struct view *v, uint64_t start_ns, uint64_t span_ns);
void page_states_release(struct page_states *s);

/* Return the share of the cell in that state; STATES_WHOLE: all of it. */
unsigned int page_states_share(const struct page_states *s, size_t thread, unsigned int cell,
			       enum sched_bucket b);

/* Write "pauses": when JVMs stopped their threads to collect garbage; ns after start_ns. */
void page_pauses_json(const struct view *v, uint64_t start_ns, struct json *j);

#endif
