/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sources.h - sources of samples that are not perf events: what "record -e NAME[=INTERVAL]" means where NAME
 * is one of these. A new one is a row in sources.c: Documentation/contributing/add-an-event.adoc.
 *
 * A source is an amount that adds up while programs run, of bytes or of time. Its samples are points on
 * that amount, the distances between them exponentially distributed with the interval as their mean. What
 * is sampled, such as an object, has a size v, and is hit with probability 1 - exp(-v / interval); hit by
 * several points it is one sample. So a sample stands for 1 / p things and v / p of the amount, whatever
 * the size: both sums are unbiased. With the interval 0 everything is a sample, and p is 1.
 *
 * In the trace a source is an event "event.N", numbered behind the perf events, whose samples weigh v / p.
 * A source that names what it counts has an event N + 1 as well: the same samples again, with weight 1 / p.
 * So n is the number of samples that were taken, of each event, and never an estimate; all that
 * reports do with events they do with sources. What a source blames is one more event, with samples of its
 * own.
 *
 * Weights are integers: v / p and 1 / p are rounded up with the probability of their fraction, else down.
 */
#ifndef COLLECT_SOURCES_H
#define COLLECT_SOURCES_H

#include "base/hash.h"
#include "collect/jvm/java.h"
#include "jvm/proto.h"

struct collect;

enum source_arg {
	SOURCE_NO_ARG,			/* everything is a sample */
	SOURCE_BYTES,
	SOURCE_FOLLOWS,			/* comes with the source before it, at the same interval */
	SOURCE_TIME,			/* ns */
	SOURCE_COUNT,			/* one of so many */
};

struct source_kind {
	const char *name;		/* for -e; also the metric of the amount */
	const char *unit;		/* of the amount: bytes or ns */
	const char *count;		/* what has it: a metric, and its unit; NULL: that is not counted */
	/* a metric: the same amount again, charged to who made threads wait; NULL: there is none */
	const char *blame;
	/* further amounts, metrics in the same unit; NULL: none */
	const char *more[3];
	const char *into;		/* its samples are of that source's event; NULL: of its own */
	enum source_arg arg;
	uint64_t interval;		/* when none is given */
	/* The source that agents of JVMs are asked for; JVM_NR_SOURCES: none. */
	enum jvm_source jvm;
	const char *help;		/* one line */
};

/* a source to record */
struct source_conf {
	const struct source_kind *kind;
	uint64_t interval;
	bool is_usual;			/* nobody has asked for it */
};

/* Return the i-th kind, NULL after the last. */
const struct source_kind *source_kind_at(size_t i);
/*
 * Return whether it is NAME or NAME=INTERVAL of a source. If so, source_parse() understands it, or says why
 * not (-EINVAL).
 */
bool source_is_named(const char *text);
int source_parse(const char *text, struct source_conf *s, struct err *e);
/* Check whether it labels threads, so that agents have to report labels, too. */
bool source_sets_labels(const struct source_kind *k);

/* ---- during a recording (struct collect has one) ---- */

struct sources {
	struct map functions;		/* (proc, leaf) -> function in the trace */
	uint32_t nr_functions;
	uint64_t random;		/* state of what rounds */
	uint64_t *totals;		/* [events of sources]: sums of weights in the file */
	uint64_t *longest;		/* [sources]: interval of agents, where not the one asked for */
	uint64_t unknown_bytes;		/* in it: of objects, whether they live */
	uint64_t *standing_totals, standing_unknown;	/* of both of the above, while collect.is_standing */
};

/* Release the fields that no part owns. */
void sources_release(struct sources *s);
/* Write labels of the events. */
void sources_labels(const struct collect *c);
/* Write the label event.N.WHAT of a source's first event, or of a later one: event is its number. */
void sources_label(const struct collect *c, uint32_t event, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Return the number in the trace of the first event of source i, or of the one past the last. */
uint32_t sources_event(const struct collect *c, size_t i);
/* Return an upper bound of samples per second, for the size of buffers. */
uint64_t sources_expected_hz(const struct collect *c);
/* Return the number in the trace of what an agent calls a leaf; its name is written when the agent tells. */
uint32_t sources_function(struct sources *s, const struct proc *p, uint32_t leaf);
/*
 * Take a sample of an agent: thread is its number in the trace; frames, outermost first, with room for
 * one more. Returns how many frames there are then; 0: it was not taken.
 */
size_t sources_sample(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			struct frame *frames, size_t nr);
/*
 * Write a block of that many bytes that was not freed, or of which that is not known; s has all but event and
 * weight.
 */
void sources_live(struct collect *c, const struct rec_sample *s, uint64_t value);
void sources_untracked(struct collect *c, const struct rec_sample *s, uint64_t value);
/* Return how much of source i a sample stands for. */
double sources_estimate(const struct collect *c, size_t i, const struct jvm_sample *s);
/* Write an amount of that source that no sample stands for. */
void sources_write_rest(struct collect *c, uint32_t jvm_source, uint64_t amount, const struct rec_sample *s);

/* Write a sample that stands for an amount of "count" waits. */
void sources_write_wait(struct collect *c, uint32_t jvm_source, uint64_t amount, double count,
			const struct rec_sample *s);
/* Write an amount charged to the thread of the sample; not counted as a sample of the source. */
void sources_blame(struct collect *c, uint32_t jvm_source, uint64_t amount, const struct rec_sample *s);

/* ---- of the source live (live.h) ---- */

/* Write a live object; s is of its allocation. */
void sources_survived(struct collect *c, double weight, double count, const struct rec_sample *s);
/* Write an object that survived a collection, and was freed later. */
void sources_outlived(struct collect *c, double weight, uint64_t freed_ns, const struct rec_sample *s);
/*
 * Write "count" objects that were found dead at died_ns, with their lifetime. Does nothing if that is not
 * recorded.
 */
void sources_died(struct collect *c, double count, uint64_t died_ns, const struct rec_sample *s);
/* Write an object of which it is not known whether it lives. */
void sources_unknown(struct collect *c, double weight, const struct rec_sample *s);
/* Write the end of a JVM, or of the recording. lost: samples; known_ns 0: nothing was ever known. */
void sources_ended(struct collect *c, const struct java *j, uint64_t known_ns, uint64_t lost);
/*
 * Write a sample of source i with that weight; s has all but event and weight. Returns false if a filter
 * leaves it out.
 */
bool sources_weighed(struct collect *c, size_t i, uint64_t weight, const struct rec_sample *s);
/* Add the reason for which a thread waits, and the file it waits for: new functions of the trace. */
uint32_t sources_new_reason(struct collect *c, const char *text);
uint32_t sources_new_file(struct collect *c, const char *text);

/* ---- sourceconf.c ---- */

/* Return the index of a source by its name, or by an agent's number; nr_sources: it is not recorded. */
size_t sources_find(const struct collect *c, const char *name);
size_t sources_find_jvm(const struct collect *c, uint32_t jvm_source);
bool sources_is_recorded(const struct collect *c, uint32_t jvm_source);
/* Return the interval that was asked for; 0: all. */
uint64_t sources_interval(const struct collect *c, uint32_t jvm_source);

#endif
