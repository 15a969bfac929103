/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sampling.h - shared by record, top and tprof: turns options into a recording.
 */
#ifndef CMD_SAMPLING_H
#define CMD_SAMPLING_H

#include "base/opt.h"
#include "base/progress.h"
#include "base/rules.h"
#include "collect/calls/callrules.h"
#include "collect/engine/collect.h"
#include "collect/parts/sources.h"

/* Options on what is sampled, how often, and with which stacks: the same in record and top. */
struct sampling_opts {
	struct opt_list events, pids, tids, cpus, cgroups;
	const char *freq, *user;
	uint64_t count;
	bool all_cpus, all_user, all_kernel;
	int no_java;
	int java;		/* enum java_choice */
	int call_graph;			/* enum callgraph */
	uint64_t stack_size;		/* bytes */
	struct collect_opts c;		/* the limits of the recorder, as they were given */
};

/* They fill one of these. Between the first two comes the rate: its default differs. */
extern const struct opt sampling_target_opts[], sampling_event_opts[], sampling_rate_opts[];
extern const struct opt sampling_stack_opts[], sampling_when_opts[], sampling_means_opts[];
#define OPT_FREQ(h) OPT_STR('F', "freq", struct sampling_opts, freq, "hz", NULL, h)

struct ids {
	int *id;
	size_t nr_id, alloc_id;
};

struct sampling {			/* owns what the collect_opts point to */
	struct collect_opts c;
	struct pmu_event *events;
	struct ev_rate *rates;		/* of each */
	struct source_conf *sources;
	struct ids pids, tids;
	struct cgroups groups;
	char *command_line;
	bool masks_secrets;		/* of it: to be set before sampling_command() */
	struct callrules rules;
	struct rules filter;
	struct slow_rules slow;
	struct condition *conditions;
	size_t nr_conditions;
	struct event_time *times;
	size_t nr_times, alloc_times;
	struct progress progress;	/* on a terminal, where no program uses it */
};

void sampling_release(struct sampling *s);

/* -EINVAL: they cannot be combined. */
int sampling_check(const struct sampling_opts *o, int nr_operands, struct err *e);
/* Fills what they say of s->c, which begins as o->c. */
int sampling_prepare(struct sampling *s, const struct sampling_opts *o, bool samples, struct err *e);

/*
 * Each fills its part of s->c.  Lists may be empty.  freq: a number, "max", or NULL for not given;
 * period: 0 is not given; the default is 999 Hz. More samples of a counter than the kernel allows are
 * capped, with a warning; for clocks sampling_bound_rates() does that.
 */
int sampling_events(struct sampling *s, const struct opt_list *names, const char *freq, uint64_t period,
		    struct err *e);
/* Refuse sources (-EINVAL), for commands that show perf events alone. */
int sampling_no_sources(const struct sampling *s, const char *command, struct err *e);
int sampling_targets(struct sampling *s, const struct opt_list *pids, const struct opt_list *tids,
		     const struct opt_list *cpus, struct err *e);
void sampling_command(struct sampling *s, const char *command, int nr_operands, char **operands);

/* Describe what is recorded in a phrase. */
void sampling_targets_text(const struct sampling *s, char *text, size_t size);

/* Raises intervals of clocks that are too short for a program (collect/control/rates.h), with a warning. */
void sampling_bound_rates(struct sampling *s);
/* Run collect_run(), and say what is recorded, and how far it is, unless a program uses the terminal. */
int sampling_run(struct sampling *s, struct collect_result *res, struct err *e);
/* Print what was recorded, in one line on stderr, and a line for each thing that is missing. */
void sampling_summary(const struct sampling *s, const struct collect_result *r);
/* Print the warnings only. */
void sampling_warnings(const struct sampling *s, const struct collect_result *r);
/*
 * Return whether what was asked for is not in the trace: it could not be written, or not one sample came of
 * CPU time that was used. A message says so.
 */
bool sampling_failed(const struct sampling *s, const struct collect_result *r);

#endif
