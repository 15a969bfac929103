/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - of the samples and events of a trace, those that rules keep (base/rules.h). What was found out
 * of a thread or a class is remembered, so that a sample costs a look-up.
 */
#ifndef MODEL_FILTER_H
#define MODEL_FILTER_H

#include "base/rules.h"
#include "model/names.h"

struct filter;

/*
 * Make a filter; x must be read, and is borrowed with r until filter_free(). *out is NULL without rules.
 * -EINVAL: rules name an unknown event; -ENODATA: they need what the trace lacks.
 */
int filter_new(struct filter **out, struct names *x, const struct rules *r, struct trace_reader *t,
	       struct err *e);
void filter_free(struct filter *f);

/* All functions below keep everything if f is NULL. */

/*
 * Return whether to keep a sample; must be called for all samples, in order: what counts waits depends on the
 * previous sample. Rules about lengths keep no charges for waits. cut_next() finds which phases a sample with
 * a duration is in (model/cut.h).
 */
bool filter_wants_sample(struct filter *f, const struct rec_sample *r, const struct stack_epoch *ep);
/* Return whether to keep the exact calls of a thread of the trace, whose name is a string of the model. */
bool filter_wants_calls(struct filter *f, uint32_t name, uint32_t thread, bool virtual);

/* An event that is not sampled: class, where it has one, and duration_ns, else UINT64_MAX. */
struct filter_event {
	struct rule_event event;
	uint64_t time_ns, duration_ns;
	bool any_phase;			/* which it is in is not asked here */
	uint32_t proc, thread;		/* of the trace; thread 0: none */
	const char *class_name;		/* NULL: none */
};
bool filter_wants_event(struct filter *f, const struct filter_event *x);
/* Return whether rules about phases keep what happens in that process then. */
bool filter_in_phases(const struct filter *f, uint32_t proc, uint64_t time_ns);
/*
 * Find the first part of the time from *from_ns to to_ns that rules about phases keep of that thread: up
 * to *end_ns. Returns false if there is none.
 */
bool filter_next_part(const struct filter *f, uint32_t thread, uint64_t *from_ns, uint64_t to_ns,
		      uint64_t *end_ns);

#endif
