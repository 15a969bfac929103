/* SPDX-License-Identifier: GPL-2.0-or-later */
/* factcheck.h - which of the facts of facttable.h a running JVM has, as its memory says from outside. */
#ifndef JVM_FACTCHECK_H
#define JVM_FACTCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/facts.h"

enum fact_kind {
	FACT_OFFSET, FACT_STATIC, FACT_SIZE, FACT_NUMBER, FACT_IMPORT,
	FACT_JAVA, FACT_STUB, FACT_PROBE,	/* looked for by the agent alone */
};

struct fact {
	enum facts_feature feature;
	enum fact_kind kind;
	bool or;			/* another version's place for the row before */
	bool optional;
	bool exact;			/* its value is to be want */
	bool differs;			/* it is there with another one */
	int64_t want;
	const char *type, *name;	/* either may be NULL */
	bool found;
	uint64_t value;			/* offset, offset in libjvm, bytes or number */
};

struct facts {
	struct fact *rows;
	size_t nr_rows;
	int jdk;			/* 8, 17, ...; 0: not known */
};

struct facts_of {			/* a feature, as facttable.h has it */
	const char *name;
	int since;
};
extern const struct facts_of facts_of[FACTS_NR];

/* Look up the facts, in the order of the table. facts_release() must be called also on failure. */
int facts_look(struct facts *f, int pid, struct err *e);
void facts_release(struct facts *f);

/*
 * Return the row with which the next fact begins; row i begins one. *found: the first of its rows that was
 * found, NULL: none.
 */
size_t facts_next(const struct facts *f, size_t i, const struct fact **found);
/* Return the first fact that a feature lacks, optional ones and those of another JDK aside, or NULL. */
const struct fact *facts_missing(const struct facts *f, enum facts_feature feature);

#endif
