/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - what "arcprof calibrate" found, in a text file: a row for each metric of each set of metrics,
 * by client and CPU.
 *
 *	client, CPU, metrics, metric, within, between, spread, used, doubt, sequences, environment
 *
 * with a tab between two.
 *
 * Metrics are names with commas between; of precise time (record --precise-time), " precise" after them; of
 * call traces (record --calltrace), " trace"; with call sites (record --call-sites), " sites"; of a tier of
 * Java code (record --call-tier), its name.
 * The costs are thousandths of the metric's unit a call: within is charged to the function that is
 * called, between to its caller. spread is by how much the median of the runs exceeds the lowest, which
 * was taken, in thousandths; used is 1 when that is little, or was accepted. doubt is what a
 * call must have left for its error to be 5 % at most, with what spread says of it; it may be missing,
 * and is 0 then. sequences are of call traces: what counting costs from one event to the next, an entry, an
 * exit or an exit by an exception, with a space between two: from an entry to each of them, from an exit,
 * from an exception. Trees do not tell them apart: theirs are "-" or missing, or one number, what a call
 * costs its caller more if an exception ends it, where the metric "thrown" counts these, or this and what
 * is charged to the call site, which is a context between caller and callee. environment is what else of
 * the machine may change the costs, as calibration_environment() says it; it may be missing.
 * "#" begins a comment. The trace has "within between spread doubt", and then the sequences, if any.
 *
 * Clients are the hooks of libarcprof-hookit.a, "hookit-" and a hash of them, and the agent in a JVM:
 * "java-", its build-id, "-", a hash of the JVM's build (16 digits), a space, and the JVM's version.
 */
#ifndef CALIBRATE_TABLE_H
#define CALIBRATE_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	CALIBRATION_NAME = 128,
	CALIBRATION_STABLE = 200,	/* spread up to which a metric is stable */
	CALIBRATION_JVMS = 16,		/* that a trace has the costs of */
	CALIBRATION_STEPS = 3,		/* kinds of events: the first of enum call_event_kind */
};

/* How the code of a Java method ran when a call of it began, if the recording knows. */
enum calibration_tier {
	CALIBRATION_ANY_TIER,		/* the recording does not know */
	CALIBRATION_INTERPRETED,
	CALIBRATION_C1,
	CALIBRATION_C2,
	CALIBRATION_INLINED,		/* in the compiled code of a caller */
	CALIBRATION_NR_TIERS,
};

#define CALIBRATION_PRECISE " precise"
#define CALIBRATION_TRACE " trace"
#define CALIBRATION_SITES " sites"

struct calibration_cost {
	uint64_t within, between, spread, doubt;
	uint64_t thrown;		/* of trees: more, in the caller, if an exception ends the call */
	uint64_t site;			/* of trees: in the context of the call's site */
	bool has_sequences;
	uint64_t sequences[CALIBRATION_STEPS][CALIBRATION_STEPS];	/* [from][to] */
};

struct calibration_row {
	char client[CALIBRATION_NAME], cpu[CALIBRATION_NAME], metrics[CALIBRATION_NAME],
		metric[CALIBRATION_NAME];
	struct calibration_cost cost;
	bool used;
	char environment[CALIBRATION_NAME];	/* "": not known */
};

struct calibration {
	struct calibration_row *rows;
	size_t nr_rows, alloc_rows;
};

void calibration_release(struct calibration *c);
/* -EINVAL with the line's number; what came before it stays. */
int calibration_parse(struct calibration *c, const char *text, size_t len, struct err *e);
/*
 * Replace the row with the same names, or add one after the last of the same client and CPU; but a row that
 * is not used never replaces one that is. Return false if the row is not used.
 */
bool calibration_offer(struct calibration *c, const struct calibration_row *r);
/* Return the row of these names; NULL: not measured. */
const struct calibration_row *calibration_find(const struct calibration *c, const char *client,
					       const char *cpu, const char *metrics, const char *metric);
/* Return "interpreted", "c1", "c2" or "inlined"; "" for CALIBRATION_ANY_TIER. */
const char *calibration_tier_name(enum calibration_tier tier);
/*
 * Parse "within between spread", with or without a doubt and sequences; return false if the text is anything
 * else.
 */
bool calibration_cost(const char *text, struct calibration_cost *out);
/* Writes that text. */
void calibration_put_cost(struct buf *b, const struct calibration_cost *c);

/*
 * Get $XDG_DATA_HOME/arcprof/calibration, or that in ~/.local/share; -ENOENT: the user has no home directory.
 */
int calibration_path(struct buf *path, struct err *e);
/* Read the table; a file that does not exist is an empty one. */
int calibration_load(struct calibration *c, const char *path, struct err *e);
/* Replaces the file as a whole; folders are made. */
int calibration_store(const struct calibration *c, const char *path, struct err *e);

/* Write the names that the table uses for this machine's processor, and for the hooks of this arcprof. */
void calibration_cpu(char *out);
void calibration_hookit(char *out);
/* Write the kernel's release, its clock, and whether the machine is virtual: "Linux 6.12.9, clock tsc". */
void calibration_environment(char *out);
/*
 * Write the name of the agent with that build-id in a JVM, with a hash of the JVM's build; version is what
 * the JVM says about itself.
 */
void calibration_java(char *out, const char *agent, uint64_t jvm, const char *version);
/*
 * Return hash and version in such a client's name, "1234567890abcdef 17.0.1+2 (Vendor)"; NULL: it
 * belongs to another agent.
 */
const char *calibration_jvm(const char *client, const char *agent);
/*
 * Return the bytes of the trainer, and those of the one for JVMs, a class file, whose *len is 0 where
 * this build has none.
 */
const void *calibration_trainer(size_t *len);
const void *calibration_java_trainer(size_t *len);

#endif
