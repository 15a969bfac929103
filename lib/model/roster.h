/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roster.h - of a recording of live objects: which of them were in use when a heap dump was made, and where
 * each was allocated (trace/roster.h).
 */
#ifndef MODEL_ROSTER_H
#define MODEL_ROSTER_H

#include "model/blame.h"

struct roster_sample {
	uint32_t site;			/* index */
	uint64_t size;			/* bytes */
};

struct roster {
	struct names names;
	struct model strings;		/* theirs */
	struct blamed *sites;
	size_t nr_sites, alloc_sites;
	struct roster_sample *samples;
	size_t nr_samples, alloc_samples;
	uint64_t interval;		/* bytes, with which they are samples; 0: every object is one */
	uint64_t time_ns;
	bool found;
	/* how they are found */
	uint64_t cookie;
	struct map sample_of;		/* the agent's number -> index */
	struct map site_of;		/* (leaf, site) -> index */
};

/* -ENODATA: the trace knows nothing of a dump with that cookie. To be released in any case. */
int roster_read(struct roster *r, struct trace_reader *t, uint64_t cookie, struct err *e);
void roster_release(struct roster *r);

/* Return the sample with the agent's number, or NULL. */
const struct roster_sample *roster_sample(const struct roster *r, uint32_t number);
/* Return how many objects it stands for. */
double roster_weight(const struct roster *r, const struct roster_sample *s);

#endif
